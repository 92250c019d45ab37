// SPDX-License-Identifier: Apache-2.0
// An MCP client that does not read what it is sent: its stream is closed, and nobody else notices.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, test } from 'node:test';

import { envelope, people, person, startGateway, within } from './gateway.mjs';
import { mcpAt, request } from './mcp.mjs';
import { sdkClient, textIn } from './mcp-room.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        limits: { rate_messages: 0, rate_bytes: 0, envelope: '64KiB', outbox: '256KiB', stall_timeout: '1h' },
        topics: { defaults: { audit: 'off', loop_guard: 'off' } },
        tokens: [...people('lazy', 'eve'), person('robot', { type: 'agent' })],
    });
});
after(() => gateway.stop());

const COUNT = 1500;
const WORDS = 'x'.repeat(16 << 10);
const offers = ['shout', 'whisper'].map((name) => ({ name, inputSchema: { type: 'object' } }));
const said = (text) => ({ content: [{ type: 'text', text }] });
const served = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {}, logging: {} }, serverInfo: { name: 'robot', version: '1' } },
    'tools/list': { tools: offers },
    'logging/setLevel': {},
    'tools/call:whisper': said('whispered'),
    'tools/call:shout': said('shouted'),
};

let onShouted;
const hasShouted = new Promise((resolve) => { onShouted = resolve; });

// An agent that says a lot while it is called: faster than a server behind a bridge may.
function serve(robot) {
    robot.socket.on('message', async (data) => {
        const { kind, id, from, payload } = JSON.parse(data);
        const [, method] = /^mcp\/request:(.*)/.exec(kind) ?? [];
        const about = { to: [from], correlation_id: id };

        for (let n = 0; n < COUNT && method === 'tools/call:shout'; n++) {
            robot.send(envelope('robot', 'mcp/request:notifications/message', {
                ...about, payload: { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: WORDS } },
            }));
            while (robot.socket.bufferedAmount)
                await new Promise((resolve) => { setImmediate(resolve); }); // it has to read, too
        }
        if (served[method])
            robot.send(envelope('robot', `mcp/response:${method.split(':')[0]}`, { ...about, payload: { jsonrpc: '2.0', id: payload.id, result: served[method] } }));
        if (method === 'tools/call:shout')
            onShouted();
    });
}

// A call of which nothing is read until `rest`, which gives what had been sent by its end.
async function unread(visit, message) {
    const req = http.request({
        host: gateway.host, port: gateway.port, method: 'POST', path: '/mcp/room', agent: false,
        headers: { Authorization: 'Bearer lazy-token', 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': visit },
    });

    req.on('error', () => {});
    req.end(JSON.stringify(message));
    const [res] = await within(once(req, 'response'), 'the head of a stream');
    res.on('error', () => {});
    res.socket.pause();
    return async () => {
        let text = '';

        res.on('data', (part) => { text += part; });
        res.socket.resume();
        await within(new Promise((resolve) => { res.on('close', resolve); }), 'the end of the stream');
        return { text, isComplete: res.complete };
    };
}

test('who does not read is closed at limits.outbox, and others go on', async () => {
    const lazy = mcpAt(gateway, 'room', 'lazy-token');
    const robot = await gateway.join('robot', { routing: 'directed', ws: { perMessageDeflate: false } });

    serve(robot);
    const eve = await sdkClient(gateway, 'eve');
    await eve.shows('whisper');
    const visit = await lazy.begin();
    await lazy.ask('logging/setLevel', { level: 'debug' }, { visit });
    const rest = await unread(visit, request('tools/call', { name: 'shout', arguments: {} }));
    await hasShouted;
    assert.equal(textIn(await eve.call('whisper')), 'whispered'); // all that came before has been delivered
    const { text, isComplete } = await rest();
    assert.ok(!isComplete, `${text.length} bytes`);
    assert.ok(text.length < COUNT * WORDS.length, `${text.length} bytes`);
    assert.doesNotMatch(text, /shouted/);
    assert.equal(textIn(await eve.call('whisper')), 'whispered');
    assert.equal((await lazy.ask('ping', undefined, { visit })).status, 200); // its session goes on
    assert.equal((await lazy.ask('tools/call', { name: 'whisper', arguments: {} }, { visit })).answer.result.content[0].text, 'whispered');
    await Promise.all([eve, robot].map((one) => one.close()));
});
