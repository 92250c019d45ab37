// SPDX-License-Identifier: Apache-2.0
// MCP clients that others have written, in a room: over HTTP at /mcp/TOPIC, and over stdio through
// `moot mcp`. Each looks at what there is, calls a tool, and is asked back where it can be.
//
//   client ─HTTP─► gateway, /mcp/room ─┐
//   client ─stdio─► moot mcp ─────────┴─► room ─► fixture of the conformance suite
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import * as modern from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { person, program, startGateway, within } from './gateway.mjs';
import { environment, startProgram } from './moot.mjs';

const folder = fileURLToPath(new URL('../', import.meta.url));
const fixture = path.join(folder, 'conformance/fixture.mjs');
const modules = path.join(folder, 'node_modules');
const newNode = path.join(folder, 'conformance/node_modules/node/bin/node'); // what programs of others want
const inspector = path.join(modules, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const remote = path.join(modules, 'mcp-remote/dist/proxy.js');
const about = { name: 'test', version: '1' };

let gateway, tokenFile, url;

const server = (topic, era) => ({ topic, command: [process.execPath, fixture, '--era', era, '--stdio'],
                                  sandbox: 'off', network: 'any', pin: 'off', mode: 'shared' });

before(async () => {
    gateway = await startGateway({
        tokens: [person('agent', { topics: ['room', 'older'] })],
        mcp: { room_tools: 'off' },
        servers: { fixture: server('room', 'dual'), older: server('older', 'legacy') },
    });
    url = `http://127.0.0.1:${gateway.port}/mcp/room`;
    tokenFile = path.join(gateway.data, 'agent.token');
    fs.writeFileSync(tokenFile, 'agent-token\n', { mode: 0o600 });
});
after(() => gateway.stop());

// --- ways ---

const headers = { authorization: 'Bearer agent-token' };
const mcp = (...more) => ['mcp', 'room', '--server', `ws://127.0.0.1:${gateway.port}`, '--token-file', tokenFile,
                          '--no-room-tools', ...more];
const stdio = (Transport, command, args) =>
    new Transport({ command, args, env: environment(null, null, { HOME: gateway.data }), stderr: 'inherit' });

const ways = {
    http: (Transport) => new Transport(new URL(url), { requestInit: { headers } }),
    stdio: (_, Stdio) => stdio(Stdio, program, mcp()),
};

// --- what each does ---

const isThere = (tools) => tools.some(({ name }) => name === 'test_simple_text');

// A server that is slow to start is left out of lists until it has.
async function listed(client) {
    for (;;) {
        const { tools } = await client.listTools();

        if (isThere(tools))
            return tools;
    }
}

async function use(client, transport) {
    await client.connect(transport);
    await within(listed(client), 'the fixture in the room');

    const said = await client.callTool({ name: 'test_simple_text', arguments: {} });
    assert.equal(said.content[0].text, 'This is a simple text response for testing.');

    const asked = await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } });
    assert.match(JSON.stringify(asked.content), /accept/);
    assert.match(JSON.stringify(asked.content), /ann/);

    const { resources } = await client.listResources();
    const { contents } = await client.readResource({ uri: resources[0].uri });
    assert.equal(contents[0].uri, resources[0].uri);

    const failed = await client.callTool({ name: 'test_error_handling', arguments: {} });
    assert.equal(failed.isError, true);
    await client.close();
}

const answer = ({ params }) => {
    const fields = Object.keys(params.requestedSchema?.properties ?? {});

    return { action: 'accept', content: Object.fromEntries(fields.map((name) => [name, 'ann'])) };
};

function legacyClient() {
    const client = new LegacyClient(about, { capabilities: { elicitation: {} } });

    client.setRequestHandler(ElicitRequestSchema, answer);
    return client;
}

function newClient(mode) {
    const client = new modern.Client(about, { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } });

    client.setRequestHandler('elicitation/create', answer);
    return client;
}

for (const way of Object.keys(ways)) {
    test(`the SDK of the legacy line, over ${way}`, () =>
        use(legacyClient(), ways[way](StreamableHTTPClientTransport, StdioClientTransport)));

    for (const [name, mode] of [['legacy', 'legacy'], ['auto', 'auto'], ['modern', { pin: '2026-07-28' }]])
        test(`the SDK of both eras as ${name}, over ${way}`, async () => {
            const client = newClient(mode);

            await use(client, ways[way](modern.StreamableHTTPClientTransport, ModernStdio));
        });
}

test('the SDK of both eras finds the modern one in both ways', async () => {
    for (const way of Object.keys(ways)) {
        const client = newClient('auto');

        await client.connect(ways[way](modern.StreamableHTTPClientTransport, ModernStdio));
        assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28', way);
        await client.close();
    }
});

// --- programs ---

async function inspect(era, target, more) {
    const run = startProgram(newNode, [inspector, '--cli', ...target, '--protocol-era', era, '--format', 'json', ...more],
                             environment(null, null, { HOME: gateway.data, MCP_INSPECTOR_SECRET_STORE: 'memory' }));
    run.child.stdin.end();
    const { status, stdout, stderr } = await run.ended();

    assert.equal(status, 0, stderr);
    return JSON.parse(stdout);
}

for (const era of ['legacy', 'modern'])
    for (const way of Object.keys(ways))
        test(`the Inspector's command line, ${era}, over ${way}`, async () => {
            const target = way === 'http' ? [url, '--transport', 'http', '--header', 'Authorization: Bearer agent-token']
                                          : [program, 'mcp', 'room', '--token-file', tokenFile, '--no-room-tools',
                                             '-e', `MOOT_SERVER=ws://127.0.0.1:${gateway.port}`]; // its --server is another
            const call = ['--method', 'tools/call', '--tool-name', 'test_simple_text'];

            await use(newClient('legacy'), ways.http(modern.StreamableHTTPClientTransport)); // the fixture is there
            assert.match(JSON.stringify(await inspect(era, target, ['--method', 'tools/list'])), /test_simple_text/);
            assert.match(JSON.stringify(await inspect(era, target, call)), /simple text response for testing/);
        });

// As auto it is a modern client, and gives a legacy one the modern list as it is: no outputSchema in it
// may be other than an object's, so the server there is a legacy one.
for (const [protocol, topic] of [['legacy', 'room'], ['auto', 'older']])
    test(`mcp-remote, ${protocol}, between a client on stdio and the gateway`, () =>
        use(legacyClient(), stdio(StdioClientTransport, newNode,
                                  [remote, `http://127.0.0.1:${gateway.port}/mcp/${topic}`, '--transport', 'http-only',
                                   '--protocol', protocol, '--allow-http', '--header', 'Authorization: Bearer agent-token'])));
