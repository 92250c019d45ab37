// SPDX-License-Identifier: Apache-2.0
// The participant in plain ws (examples/node) against the real gateway: it serves, calls,
// proposes, approves, drops what is forged, and comes back.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { envelope, expect, people, person, startGateway, within } from './gateway.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
let gateway, folder, url;

before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-e2e-'));
    fs.cpSync(here('../../examples/node'), folder, { recursive: true });
    fs.symlinkSync(here('../node_modules'), path.join(folder, 'node_modules'));
    gateway = await startGateway({
        tokens: [...people('calculator', 'caller', 'tool', 'eve'), person('boss', { type: 'human' }),
            person('agent', { profile: 'proposer' })],
        topics: { named: { tiny: { ring_messages: 2 } } },
    });
    url = `ws://127.0.0.1:${gateway.port}`;
});
after(async () => {
    await gateway.stop();
    fs.rmSync(folder, { recursive: true, force: true });
});

// One of the programs; `said(text)` waits until it has printed that, `ended()` for its end.
function start(t, program, id, args, token = `${id}-token`) {
    const child = spawn(process.execPath, [path.join(folder, program), ...args],
        { env: { ...process.env, MOOT_TOKEN: token }, stdio: ['ignore', 'pipe', 'pipe'] });
    const exited = once(child, 'close'); // all it said has been read
    let output = '';
    let tell = () => {};
    const hear = (data) => {
        output += data;
        tell();
    };

    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    t.after(() => child.kill('SIGKILL'));
    return {
        said: (text) => within((async () => {
            while (!output.includes(text))
                await new Promise((resolve) => { tell = resolve; });
        })(), `"${text}"`).catch((error) => { throw new Error(`${error.message}; it said: ${output}`); }),
        ended: async () => {
            const [status] = await within(exited, `the end of ${program}`);

            return { status, output: output.trim() };
        },
        stop: () => child.kill('SIGTERM'),
    };
}

async function calculator(t, topic, at = url) {
    const program = start(t, 'calculator.mjs', 'calculator', [at, topic]);

    await program.said('here as calculator');
    return program;
}

const ask = (client, method, params, more = {}) => {
    const name = params?.name ? `:${params.name}` : '';

    return client.send(envelope(client.id, `mcp/request:${method}${name}`,
        { to: ['calculator'], payload: { jsonrpc: '2.0', id: 7, method, ...(params ? { params } : {}) }, ...more }));
};
const answerTo = (client, sent) => expect(client, (json) => json.correlation_id === sent.id);

test('the calculator answers lists and calls, and says what is wrong with the rest', async (t) => {
    await calculator(t, 'serve');
    const caller = await gateway.join('caller', { topic: 'serve' });
    const list = await answerTo(caller, ask(caller, 'tools/list', undefined, { to: [] }));

    assert.equal(list.kind, 'mcp/response:tools/list');
    assert.deepEqual(list.payload.result.tools.map(({ name }) => name), ['add', 'subtract', 'multiply', 'divide']);
    assert.ok(list.payload.result.tools.every(({ inputSchema, call }) => inputSchema.type === 'object' && call === undefined));
    for (const [args, text, isError] of [[{ a: 1, b: 2 }, '3'], [{ a: 1 }, 'a and b must be numbers', true], [{ a: 1e308, b: 1e308 }, 'that has no result', true]]) {
        const sent = ask(caller, 'tools/call', { name: 'add', arguments: args });
        const { from, to, kind, payload } = await answerTo(caller, sent);

        assert.deepEqual([from, to, kind, payload.id], ['calculator', ['caller'], 'mcp/response:tools/call:add', 7]);
        assert.deepEqual(payload.result, { content: [{ type: 'text', text }], ...(isError && { isError }) });
    }
    const codes = [];
    for (const [method, params] of [['tools/call', { name: 'constructor' }], ['tools/call', { name: 'add', arguments: [] }], ['resources/list']])
        codes.push((await answerTo(caller, ask(caller, method, params))).payload.error.code);
    assert.deepEqual(codes, [-32602, -32602, -32601]);
    assert.deepEqual((await answerTo(caller, ask(caller, 'ping'))).payload.result, {});
    await caller.close();
});

test('the calculator drops what pretends to be something else, and ignores what is not for it', async (t) => {
    const program = await calculator(t, 'forged');
    const eve = await gateway.join('eve', { topic: 'forged' });

    eve.send(envelope('eve', 'mcp/request:tools/call:add',
        { to: ['calculator'], payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'divide', arguments: { a: 1, b: 1 } } } }));
    await program.said('dropped something of eve: kind_payload_mismatch (payload.params.name), 1 so far');
    eve.send(envelope('eve', 'mcp/request:tools/list', { to: ['calculator'], payload: { jsonrpc: '2.0', id: 1, method: 'tools/call' } }));
    await program.said('kind_payload_mismatch (payload.method), 2 so far');
    eve.send(envelope('eve', 'chat', { payload: { text: 7 } }));
    await program.said('kind_payload_mismatch (payload.text), 3 so far');
    ask(eve, 'tools/call', { name: 'add', arguments: { a: 1, b: 2 } }, { to: ['caller'] });
    ask(eve, 'tools/call', { name: 'add', arguments: { a: 1, b: 2 } }, { to: [] });
    eve.send(envelope('eve', 'mcp/request:notifications/initialized', { to: ['calculator'], payload: { jsonrpc: '2.0', method: 'notifications/initialized' } }));
    const last = ask(eve, 'ping');
    await answerTo(eve, last);
    const answers = eve.frames.filter(({ json }) => json.from === 'calculator');
    assert.deepEqual(answers.map(({ json }) => json.correlation_id), [last.id], 'nothing else was answered');
    await eve.close();
});

test('ask prints the result and its exit status tells success from a tool error', async (t) => {
    await calculator(t, 'ask');
    const args = [url, 'ask'];

    assert.deepEqual(await start(t, 'ask.mjs', 'caller', ['calculator', 'multiply', '{"a":6,"b":7}', ...args]).ended(), { status: 0, output: '42' });
    assert.deepEqual(await start(t, 'ask.mjs', 'caller', ['calculator', 'divide', '{"a":1,"b":0}', ...args]).ended(), { status: 3, output: 'that has no result' });
    assert.deepEqual(await start(t, 'ask.mjs', 'caller', ['calculator', 'power', '{}', ...args]).ended(), { status: 1, output: 'no such tool, or no object of arguments' });
    assert.deepEqual(await start(t, 'ask.mjs', 'nobody', ['calculator', 'add', '{}', ...args]).ended(), { status: 1, output: 'HTTP 401' });
});

test('what one may not call is proposed; somebody approves or rejects; the proposer gets the answer', async (t) => {
    await calculator(t, 'propose');
    const watcher = await gateway.join('caller', { topic: 'propose' });
    const args = [url, 'propose'];
    const early = start(t, 'ask.mjs', 'agent', ['calculator', 'add', '{"a":20,"b":22}', ...args]);

    await early.said('proposed as');
    const approver = start(t, 'approve.mjs', 'boss', ['add', ...args]); // learns of it from the welcome
    const { status, output } = await early.ended();
    assert.equal(status, 0);
    assert.match(output, /^I may not call it; proposed as .*\n42$/);
    const request = await expect(watcher, ({ kind, from }) => kind === 'mcp/request:tools/call:add' && from === 'boss');
    const answer = await answerTo(watcher, request);
    assert.deepEqual(answer.to, ['boss', 'agent'], 'both are named');
    await approver.said('agent wanted add of calculator: done');
    const rejected = await start(t, 'ask.mjs', 'agent', ['calculator', 'divide', '{"a":1,"b":1}', ...args]).ended();
    assert.equal(rejected.status, 1);
    assert.match(rejected.output, /boss said reject: I approve of some tools only/);
    await watcher.close();
});

test('an answer counts only from the one who was asked; a provisional one keeps the call waiting', async (t) => {
    const [tool, eve] = await Promise.all(['tool', 'eve'].map((id) => gateway.join(id, { topic: 'bound' })));
    const asking = start(t, 'ask.mjs', 'caller', ['tool', 'dig', '{}', url, 'bound']);
    const request = await expect(tool, ({ kind }) => kind === 'mcp/request:tools/call:dig');
    const answer = (client, payload, more = {}) => client.send(envelope(client.id, 'mcp/response:tools/call:dig',
        { to: ['caller'], correlation_id: request.id, payload: { jsonrpc: '2.0', id: request.payload.id, ...payload }, ...more }));
    const text = (words) => ({ result: { content: [{ type: 'text', text: words }] } });

    answer(eve, text('forged'));
    await expect(tool, ({ from }) => from === 'eve');
    answer(tool, { ...text('another id'), id: 'x' });
    answer(tool, text('another tool'), { kind: 'mcp/response:tools/call:fill' });
    const authorizationRequest = { id: 'auth-1', tool: 'dig', expiresAt: new Date(Date.now() + 60_000).toISOString() };
    answer(tool, { error: { code: -32001, message: 'Authorization required', data: { authorizationRequest } } });
    answer(tool, text('the real one'));
    assert.deepEqual(await asking.ended(), { status: 0, output: 'the real one' });
    await Promise.all([tool.close(), eve.close()]);
});

// Stands between a participant and the gateway, and can cut what it carries.
async function startProxy(t) {
    const sockets = new Set();
    let isDown = false;
    const server = net.createServer((one) => {
        if (isDown) {
            one.destroy();
            return;
        }
        const other = net.connect(gateway.port, '127.0.0.1');

        for (const socket of [one, other]) {
            sockets.add(socket);
            socket.on('error', () => {}).on('close', () => { one.destroy(); other.destroy(); });
        }
        one.pipe(other).pipe(one);
    });

    t.after(() => { server.close(); sockets.forEach((socket) => socket.destroy()); });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return {
        url: `ws://127.0.0.1:${server.address().port}`,
        cut: () => {
            isDown = true;
            sockets.forEach((socket) => socket.destroy());
        },
        mend: () => { isDown = false; },
    };
}

test('when the connection breaks it comes back and answers what was asked meanwhile, once', async (t) => {
    const proxy = await startProxy(t);
    const program = await calculator(t, 'again', proxy.url);
    const caller = await gateway.join('caller', { topic: 'again' });
    const first = ask(caller, 'tools/call', { name: 'add', arguments: { a: 1, b: 1 } });

    await answerTo(caller, first);
    proxy.cut();
    await expect(caller, ({ kind, payload }) => kind === 'system/presence' && payload.event === 'leave');
    const meanwhile = ask(caller, 'tools/call', { name: 'add', arguments: { a: 2, b: 2 } });
    proxy.mend();
    assert.equal((await answerTo(caller, meanwhile)).payload.result.content[0].text, '4');
    await answerTo(caller, ask(caller, 'ping'));
    for (const { id } of [first, meanwhile])
        assert.equal(caller.frames.filter(({ json }) => json.correlation_id === id).length, 1);
    program.stop();
    const { status, output } = await program.ended();
    assert.equal(status, 0);
    assert.match(output, /over: closed with 1000/);
    await caller.close();
});

test('it says so when more was said than is held, and ends when it is told to go', async (t) => {
    const proxy = await startProxy(t);
    const program = await calculator(t, 'tiny', proxy.url);
    const caller = await gateway.join('caller', { topic: 'tiny' });

    proxy.cut();
    await expect(caller, ({ kind, payload }) => kind === 'system/presence' && payload.event === 'leave');
    for (let n = 0; n < 5; n++) {
        const { id } = caller.chat('on and on');
        await expect(caller, (json) => json.id === id);
    }
    proxy.mend();
    await program.said('something was said that I did not hear');
    const { token } = (await gateway.request('POST /admin/tokens', { token: gateway.adminToken(), json: { id: 'brief', profile: 'responder' } })).json;
    const brief = start(t, 'calculator.mjs', 'brief', [url, 'tiny'], token);
    await brief.said('here as brief');
    const { json: { tokens } } = await gateway.request('GET /admin/tokens', { token: gateway.adminToken() });
    await gateway.request(`DELETE /admin/tokens/${tokens.find(({ id }) => id === 'brief').name}`, { token: gateway.adminToken() });
    assert.match((await brief.ended()).output, /over: closed with 1008/);
    await caller.close();
});
