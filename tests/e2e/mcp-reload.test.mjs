// SPDX-License-Identifier: Apache-2.0
// Other settings come into force while an MCP client is under way.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';

import { people, startGateway, within } from './gateway.mjs';
import { LEGACY, mcpAt, request } from './mcp.mjs';

const tokens = people('alice');
const opening = JSON.stringify(request('initialize', { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'x', version: '1' } }));

async function reload(gateway, mcp) {
    fs.writeFileSync(gateway.config, JSON.stringify({ ...JSON.parse(fs.readFileSync(gateway.config, 'utf8')), mcp }));
    assert.equal((await gateway.request('POST /admin/reload', { token: gateway.adminToken() })).status, 200);
}

// A request whose head has been judged, and whose body is still to come: gives the answer to it.
async function begin(gateway, path) {
    const socket = net.connect(gateway.port, gateway.host);
    let text = '';
    const until = async (pattern) => {
        while (!pattern.test(text))
            await within(once(socket, 'data'), pattern);
    };

    socket.setEncoding('utf8');
    socket.on('data', (part) => { text += part; });
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alice-token\r\n`
        + 'Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n'
        + `Content-Length: ${opening.length}\r\nExpect: 100-continue\r\n\r\n`);
    await until(/^HTTP\/1.1 100 .*\r\n\r\n/);
    return async () => {
        text = '';
        socket.write(opening);
        await until(/^HTTP\/1.1 \d+/);
        socket.destroy();
        return Number(/^HTTP\/1.1 (\d+)/.exec(text)[1]);
    };
}

test('the door is closed before the body has come', async () => {
    const gateway = await startGateway({ tokens });
    const finish = await begin(gateway, '/mcp/room');

    await reload(gateway, { open: false });
    assert.equal(await finish(), 404);
    await gateway.stop();
});

test('another topic is that of /mcp before the body has come', async () => {
    const gateway = await startGateway({ tokens, mcp: { topic: 'first' } });
    const finish = await begin(gateway, '/mcp');

    await reload(gateway, { topic: 'second' });
    assert.equal(await finish(), 200);
    const { json } = await gateway.request('GET /topics', { token: gateway.adminToken() });
    assert.deepEqual(json.topics.map(({ name }) => name), ['first']);
    await gateway.stop();
});

// A call that waits: it has become a stream, of which this gives the rest.
async function call(gateway, visit, message) {
    const req = http.request({
        host: gateway.host, port: gateway.port, path: '/mcp/room', method: 'POST', agent: false,
        headers: {
            Authorization: 'Bearer alice-token', 'Content-Type': 'application/json',
            Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': visit,
        },
    });

    req.end(JSON.stringify(message));
    const [res] = await within(once(req, 'response'), 'the head of a stream');
    return async () => {
        let text = '';

        for await (const part of res)
            text += part;
        return JSON.parse(/^data: (\{.*)$/m.exec(text)[1]);
    };
}

test('who waits for news is told that the tools of the room are gone', async () => {
    const gateway = await startGateway({ tokens });
    const visit = await mcpAt(gateway, 'room', 'alice-token').begin();
    const rest = await call(gateway, visit, request('tools/call', { name: 'room_wait', arguments: { seconds: 50 } }));

    await reload(gateway, { room_tools: 'off' });
    const { result } = await within(rest(), 'the answer');
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /no longer offered/);
    await gateway.stop();
});
