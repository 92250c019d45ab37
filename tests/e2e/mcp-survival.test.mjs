// SPDX-License-Identifier: Apache-2.0
// What happens to MCP clients when gateways and servers go and come back.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, expect, people, person, startGateway, within } from './gateway.mjs';
import { mcpAt } from './mcp.mjs';
import { offering, sdkClient, textIn } from './mcp-room.mjs';
import { isAlive, until } from './servers.mjs';

const settings = {
    servers: { files: offering('files', { tools: ['write'], resources: ['doc://1'] }, { mode: 'shared' }) },
    tokens: [...people('ann', 'eve'), person('agent', { profile: 'proposer' })],
};
const running = new Set();

async function start(config = settings) {
    const gateway = await startGateway(config);
    running.add(gateway);
    return gateway;
}

// SIGTERM or SIGKILL; what it keeps stays.
async function again(gateway, signal) {
    gateway.signal(signal);
    await within(gateway.exited, 'its end');
    const next = await gateway.restart();
    running.delete(gateway);
    running.add(next);
    return next;
}

let gateway;
before(async () => { gateway = await start(); });
after(() => Promise.all([...running].map((one) => one.stop())));

const whoIs = async (client, name = 'who') => JSON.parse(textIn(await client.call(name, { n: 1 })));

for (const signal of ['SIGKILL', 'SIGTERM'])
    test(`a session goes on after ${signal} and a new start, and the client does not notice`, async () => {
        const client = await sdkClient(gateway, 'eve');

        await client.shows('write');
        const { pid } = await whoIs(client);
        gateway = await again(gateway, signal);
        await client.shows('write'); // the server starts again, too
        const now = await whoIs(client);
        assert.notEqual(now.pid, pid);
        assert.equal((await client.readResource({ uri: 'doc://1' })).contents[0].text, 'doc://1 of files');
        assert.deepEqual((await client.say('room_who')).you, 'eve');
        await client.close();
    });

test('what has ended stays so, and what was never begun is not there', async () => {
    const idle = await start({ ...settings, mcp: { idle: '5s' } });
    const door = mcpAt(idle, 'room', 'eve-token');
    const status = async (visit, of = door) => (await of.ask('ping', undefined, { visit })).status;
    const [visit, ended] = [await door.begin(), await door.begin()];

    assert.equal((await door.end(ended)).status, 204);
    assert.equal(await status(ended), 404);
    const expired = await door.begin();
    const count = async () => Number(/^moot_mcp_sessions (\d+)$/m.exec((await idle.request('GET /metrics')).text)[1]);
    await until(async () => await count() === 0, 'the sessions to expire');
    for (const gone of [visit, expired])
        assert.equal(await status(gone), 404);
    const fresh = await door.begin();
    assert.equal(await status(`${fresh.slice(0, -1)}${fresh.endsWith('A') ? 'B' : 'A'}`), 404);
    assert.equal(await status(fresh, mcpAt(idle, 'room', 'ann-token')), 404);
    assert.equal(await status(fresh, mcpAt(idle, 'other', 'eve-token')), 404);
    assert.equal(await status('x'.repeat(100)), 404);
});

test('another gateway with the same key takes a session up, for whom it was made and where', async () => {
    const [first, second, stranger] = await Promise.all([start(), start(), start()]);
    const doors = [first, second, stranger].map((one) => mcpAt(one, 'room', 'eve-token'));
    const visit = await doors[0].begin();
    const status = async (door) => (await door.ask('tools/list', undefined, { visit })).status;

    fs.copyFileSync(path.join(first.data, 'secret.key'), path.join(second.data, 'secret.key'));
    assert.equal(await status(mcpAt(second, 'room', 'ann-token')), 404);
    assert.equal(await status(mcpAt(second, 'other', 'eve-token')), 404);
    assert.equal(await status(doors[1]), 200);
    assert.equal(await status(doors[0]), 200);
    assert.equal(await status(doors[2]), 404);
    assert.equal((await doors[1].end(visit)).status, 204);
    assert.equal(await status(doors[1]), 404);
    assert.equal(await status(mcpAt(second, 'room', 'wrong')), 401);
});

test('a server that dies, or is restarted, is initialized again behind the back of its clients', async () => {
    const client = await sdkClient(gateway, 'eve');

    await client.shows('write');
    const first = await whoIs(client);
    process.kill(first.pid, 'SIGKILL');
    await until(() => !isAlive(first.pid), 'its end to be noticed');
    const second = await whoIs(client);
    assert.notEqual(second.pid, first.pid);
    assert.equal((await gateway.request('POST /admin/servers/files/restart', { token: gateway.adminToken() })).status, 202);
    await until(() => !isAlive(second.pid), 'the end of the second');
    const third = await whoIs(client);
    assert.notEqual(third.pid, second.pid);
    await client.shows('write');
    assert.equal((await client.names('Tools')).filter((name) => name === 'write').length, 1);
    await client.close();
});

const proposed = (ann) => expect(ann, ({ kind }) => kind === 'mcp/proposal:tools/call:write');
const fulfil = (ann, { id, payload }) => ann.send(envelope('ann', 'mcp/request:tools/call:write', {
    to: ['files'], correlation_id: id, payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: payload.params },
}));

for (const signal of ['SIGKILL', 'SIGTERM'])
    test(`a proposal outlives ${signal}: the same call again waits for it`, async () => {
        let ann = await gateway.join('ann');
        const door = () => mcpAt(gateway, 'room', 'agent-token');
        const client = await sdkClient(gateway, 'agent');
        const call = { name: 'write', arguments: { signal } };

        await client.shows('write');
        await client.close();
        const visit = await door().begin();
        const first = door().ask('tools/call', call, { visit }).catch((error) => error);
        const proposal = await proposed(ann);
        gateway = await again(gateway, signal);
        const said = await first;
        if (signal === 'SIGTERM') {
            assert.equal(said.answer.result.isError, true);
            assert.match(said.answer.result.content[0].text, /the gateway restarts: repeat the call, the proposal stays/);
        }
        ann = await gateway.join('ann');
        const back = await sdkClient(gateway, 'agent');
        await back.shows('write');
        await back.close();
        const second = door().ask('tools/call', call, { visit });
        const other = door().ask('tools/call', { name: 'write', arguments: { other: signal } }, { visit });
        const next = await proposed(ann); // of the other one: the first joined what was there
        assert.deepEqual(next.payload.params.arguments, { other: signal });
        ann.send(envelope('ann', 'mcp/reject', { correlation_id: next.id, payload: { reason: 'no' } }));
        assert.match((await other).answer.result.content[0].text, /ann rejected it: no/);
        fulfil(ann, proposal);
        assert.deepEqual((await second).answer.result, { content: [{ type: 'text', text: 'write of files' }] });
        await ann.close();
    });

test('who waits for news holds nobody up', async () => {
    const other = await start({ ...settings, limits: { drain_timeout: '20s' } });
    const client = await sdkClient(other, 'eve');
    const { next } = await client.say('room_wait', { seconds: 0 });
    const waiting = client.say('room_wait', { after: next, seconds: 50 });
    const strands = async () => Number(/^moot_mcp_streams (\d+)$/m.exec((await other.request('GET /metrics')).text)[1]);

    await until(async () => await strands() >= 2, 'the call');
    other.signal('SIGTERM');
    assert.deepEqual(await waiting, { messages: [], next });
    await client.close();
    await other.stop();
    running.delete(other);
});
