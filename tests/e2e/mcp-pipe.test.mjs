// SPDX-License-Identifier: Apache-2.0
// `moot mcp` when one of its ends goes: standard input, which a script closes as soon as it has asked,
// and the gateway, which comes back.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import { envelope, expect, person, program, startGateway, within } from './gateway.mjs';
import { environment, moot, startMoot } from './moot.mjs';
import { until } from './processes.mjs';

let bot, gateway, tokenFile;

const joinBot = async () => { bot = await gateway.join('bot', { topic: 'room' }); serve(bot); };

before(async () => {
    gateway = await startGateway({
        tokens: [person('agent'), person('bot', { type: 'agent' })],
    });
    tokenFile = path.join(gateway.data, 'agent.token');
    fs.writeFileSync(tokenFile, 'agent-token\n', { mode: 0o600 });
    await joinBot();
});
after(() => gateway.stop());

// One tool, which is answered by the test.
const tool = { name: 'slow', inputSchema: { type: 'object' } };
const offered = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'bot', version: '1' } },
    'tools/list': { tools: [tool] },
};
const answer = (client, { id, from, kind, payload }, result) => client.send(envelope(client.id,
    kind.replace('request', 'response'), { to: [from], correlation_id: id, payload: { jsonrpc: '2.0', id: payload.id, result } }));

function serve(client) {
    client.socket.on('message', (text) => {
        const request = JSON.parse(text);

        if (request.kind.startsWith('mcp/request:') && request.to?.includes('bot') && offered[request.payload.method])
            answer(client, request, offered[request.payload.method]);
    });
}
const called = () => expect(bot, ({ kind }) => kind === 'mcp/request:tools/call:slow');
const done = { content: [{ type: 'text', text: 'done' }] };

const request = (id, method, params) => JSON.stringify({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });
const script = [
    request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'script', version: '1' } }),
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    request(2, 'tools/list'),
    request(3, 'tools/call', { name: 'slow', arguments: {} }),
].join('\n');
const argsOf = () => ['mcp', '--topic', 'room', '--server', `ws://127.0.0.1:${gateway.port}`,
                      '--token-file', tokenFile, '--no-room-tools'];
const start = (input) => startMoot(null, null, argsOf(), { input });
const answers = (stdout) => Object.fromEntries(stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line))
    .filter(({ id }) => id !== undefined).map((message) => [message.id, message]));

test('standard input ends: what was asked is answered first', async () => {
    const run = start(`${script}\n`);

    answer(bot, await called(), done);
    const { status, stdout, stderr } = await run.ended();
    const got = answers(stdout);
    assert.equal(status, 0, stderr);
    assert.equal(got[1].result.protocolVersion, '2025-11-25');
    assert.deepEqual(got[2].result.tools, [tool]);
    assert.deepEqual(got[3].result, done);
});

test('a signal ends what standard input has left', async () => {
    const run = start(script); // the last line without its end is one

    await called();
    run.child.kill('SIGTERM');
    const { status, stdout } = await run.ended();
    assert.equal(status, 0);
    assert.equal(answers(stdout)[3].result.isError, true);
});

test('a stream that is never answered is told that it is there, and then that was all', async () => {
    const claim = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
    const run = start(`${request(1, 'subscriptions/listen', { notifications: { toolsListChanged: true }, _meta: claim })}\n`);

    assert.equal((await run.ended()).status, 0);
    assert.match(run.stdout(), /subscriptions\/acknowledged/);
});

test('nobody is there: the request says why, and so does standard error', async () => {
    const { status, stdout, stderr } = await moot(null, null, ['mcp', '--topic', 'room', '--server', 'ws://127.0.0.1:1',
                                                               '--token-file', tokenFile], { input: `${request(1, 'tools/list')}\n` });

    assert.equal(status, 1);
    assert.match(stderr, /^moot: cannot connect to 127\.0\.0\.1:1/m);
    assert.match(answers(stdout)[1].error.message, /cannot connect to 127\.0\.0\.1:1/);
});

test('the gateway restarts: what was under way ends so, and the next call is answered', async () => {
    const run = start(undefined);
    const line = async (id) => {
        for (;;) {
            const message = JSON.parse(await run.line());
            if (message.id === id)
                return message;
        }
    };

    run.child.stdin.write(`${script}\n`);
    await called();
    await gateway.kill();
    gateway = await gateway.restart();
    await joinBot();
    const { result } = await line(3);
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /connection to the room broke|has left before it answered/);

    // Both come back, in whatever order: whoever comes later has to be asked what he offers.
    let id = 3;
    const ask = (...what) => { run.child.stdin.write(`${request(++id, ...what)}\n`); return line(id); };
    await until(async () => (await ask('tools/list')).result?.tools.length === 1, 'the tool is there again');
    const next = ask('tools/call', { name: 'slow', arguments: { again: true } });
    answer(bot, await within(called(), 'the next call'), done);
    assert.deepEqual((await next).result, done);
    run.child.stdin.end();
    assert.equal((await run.ended()).status, 0);
});

// Each answer is larger than a pipe, and the next waits already: there is never nothing left to write.
test('a client that is always behind, and reads on, misses nothing', async (t) => {
    const child = spawn(program, argsOf(), { env: environment(null, null), stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(() => child.kill());
    const long = 'x'.repeat(1 << 20);
    const ask = (number) => child.stdin.write(`${request(`${number}${long}`, 'ping')}\n`);
    const ahead = 3, count = 150; // more than it would keep of what nobody reads
    let seen = 0;

    for (let i = 0; i < ahead; i++)
        ask(i);
    for await (const line of createInterface({ input: child.stdout })) {
        const { id } = JSON.parse(line);

        if (id === undefined)
            continue; // that lists have changed
        assert.ok(id === `${seen}${long}`, `${seen}: ${id.slice(0, 8)}`);
        if (++seen + ahead <= count)
            ask(seen + ahead - 1);
        else if (seen === count)
            child.stdin.end();
    }
    assert.equal(seen, count);
});
