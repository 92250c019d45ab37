// SPDX-License-Identifier: Apache-2.0
// MCP clients that others have written, and that may call nothing: a person decides with `moot approve`
// and `moot reject`, and the client never knows that it did not call.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import * as modern from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { expect, person, program, startGateway, within } from './gateway.mjs';
import { mcpAt, modern as modernRequest } from './mcp.mjs';
import { environment, moot } from './moot.mjs';

const fixture = fileURLToPath(new URL('../conformance/fixture.mjs', import.meta.url));
const TOOL = 'test_simple_text';
let alice, gateway, tokenFile;

before(async () => {
    gateway = await startGateway({
        mcp: { room_tools: 'off', hold: '1s' },
        servers: { fixture: { topic: 'room', command: [process.execPath, fixture, '--era', 'dual', '--stdio'],
                              sandbox: 'off', network: 'any', pin: 'off', mode: 'shared' } },
        tokens: [person('alice'), person('agent', { capabilities: ['mcp/request:initialize', 'mcp/request:*/list',
                                                                   'mcp/proposal:*', 'mcp/response:*'] })],
    });
    tokenFile = path.join(gateway.data, 'agent.token');
    fs.writeFileSync(tokenFile, 'agent-token\n', { mode: 0o600 });
    alice = await gateway.join('alice', { topic: 'room' });
});
after(() => gateway.stop());

const http = (Transport) => new Transport(new URL(`http://127.0.0.1:${gateway.port}/mcp/room`),
                                          { requestInit: { headers: { authorization: 'Bearer agent-token' } } });
const stdio = (Stdio) => new Stdio({
    command: program,
    args: ['mcp', '--topic', 'room', '--server', `ws://127.0.0.1:${gateway.port}`, '--token-file', tokenFile, '--no-room-tools'],
    env: environment(null, null, { HOME: gateway.data }), stderr: 'inherit',
});
const legacyClient = () => new LegacyClient({ name: 'Desk Top', version: '1.2.3' });
const newClient = (mode) => new modern.Client({ name: 'Desk Top', version: '1.2.3' }, { versionNegotiation: { mode } });
const pin = { pin: '2026-07-28' };

const ways = {
    'SDK 1.x over HTTP': () => [legacyClient(), http(StreamableHTTPClientTransport)],
    'SDK 2.x, legacy, over HTTP': () => [newClient('legacy'), http(modern.StreamableHTTPClientTransport)],
    'SDK 2.x, modern, over HTTP': () => [newClient(pin), http(modern.StreamableHTTPClientTransport)],
    'SDK 1.x through moot mcp': () => [legacyClient(), stdio(StdioClientTransport)],
    'SDK 2.x, modern, through moot mcp': () => [newClient(pin), stdio(ModernStdio)],
};

// A server that is slow to start is left out of lists until it has.
async function listed(client) {
    while (!(await client.listTools()).tools.some(({ name }) => name === TOOL))
        await later(50);
}

const proposed = () => expect(alice, ({ kind, from }) => kind === `mcp/proposal:tools/call:${TOOL}` && from === 'agent');
const decide = async (...words) => {
    const { status, stderr } = await moot(gateway, 'alice', words);

    assert.equal(status, 0, stderr);
};

for (const [name, connect] of Object.entries(ways))
    test(`${name}: a person approves one call and rejects another`, async () => {
        const [client, transport] = connect();

        await client.connect(transport);
        await within(listed(client), 'the fixture in the room');

        const first = client.callTool({ name: TOOL, arguments: { way: name } });
        const { id, payload } = await proposed();
        assert.match(JSON.stringify(payload), /"for MCP client Desk Top 1\.2\.3"/);
        await decide('approve', 'room', id);
        const { content, isError } = await first;
        assert.deepEqual(content, [{ type: 'text', text: 'This is a simple text response for testing.' }]);
        assert.ok(!isError);

        const second = client.callTool({ name: TOOL, arguments: { way: name, n: 2 } });
        await decide('reject', 'room', (await proposed()).id, 'not today');
        const refused = await second;
        assert.equal(refused.isError, true);
        assert.match(refused.content[0].text, /^alice rejected it: not today/);
        await client.close();
    });

// --- who it says it is ---

const named = async (begin, clientInfo) => {
    const call = begin(clientInfo);
    const { id, payload } = await proposed();

    await decide('reject', 'room', id);
    await call;
    return /"reason":"(for [^]*? client[^]*?)"[,}]/.exec(JSON.stringify(payload))[1];
};
let count = 0;
const params = () => ({ name: TOOL, arguments: { count: ++count } });

const legacyCall = async (clientInfo) => {
    const door = mcpAt(gateway, 'room', 'agent-token');
    const { headers } = await door.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });

    return door.ask('tools/call', params(), { visit: headers['mcp-session-id'] });
};
const modernCall = async (clientInfo) => {
    const { message, headers } = modernRequest('tools/call', params());

    message.params._meta['io.modelcontextprotocol/clientInfo'] = clientInfo;
    return mcpAt(gateway, 'room', 'agent-token').post(message, { headers });
};

for (const [era, begin] of [['legacy', legacyCall], ['modern', modernCall]])
    test(`the name of a ${era} client is cut, and moves no cursor`, async () => {
        assert.equal(await named(begin, { name: 'a\u001b[2J\nb', version: '\u202e1' }),
                     'for MCP client a\\\\u001b[2J\\\\nb \\\\u202e1');
        const long = await named(begin, { name: 'n'.repeat(1000), version: 'v'.repeat(1000) });
        assert.match(long, /^for MCP client n{64,96} v{32,48}$/);
    });
