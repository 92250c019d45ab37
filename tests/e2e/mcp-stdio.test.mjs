// SPDX-License-Identifier: Apache-2.0
// `moot mcp`: a topic on standard input and output; and the settings of clients that start it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { expect, person, startGateway, within } from './gateway.mjs';
import { moot, startMoot } from './moot.mjs';

const fixture = fileURLToPath(new URL('../conformance/fixture.mjs', import.meta.url));
const modern = (more = {}) => ({ 'io.modelcontextprotocol/protocolVersion': '2026-07-28',
                                 'io.modelcontextprotocol/clientCapabilities': {}, ...more });
let alice, gateway, tokenFile;

before(async () => {
    gateway = await startGateway({
        tokens: [person('alice'), person('agent')],
        servers: { fixture: { topic: 'room', command: [process.execPath, fixture, '--era', 'dual', '--stdio'],
                              sandbox: 'off', network: 'any', pin: 'off', mode: 'shared' } },
    });
    tokenFile = path.join(gateway.data, 'agent.token');
    fs.writeFileSync(tokenFile, 'agent-token\n', { mode: 0o600 });
    alice = await gateway.join('alice', { topic: 'room' });
});
after(() => gateway.stop());

// A client that writes lines and reads lines; everything on standard output is a message.
class Peer {
    ids = 0;

    constructor(args, env = {}) {
        this.run = startMoot(null, null, ['mcp', 'room', ...args], { env });
    }

    write(text) { this.run.child.stdin.write(`${text}\n`); }
    send(method, params) {
        const id = ++this.ids;
        this.write(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) }));
        return id;
    }
    async answered(id) {
        for (;;) {
            const message = JSON.parse(await this.run.line());
            if (message.id === id && !message.method)
                return message;
        }
    }
    async ask(method, params) { return this.answered(this.send(method, params)); }
    async open() {
        const { result } = await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {},
                                                          clientInfo: { name: 'peer', version: '1' } });
        this.write('{"jsonrpc":"2.0","method":"notifications/initialized"}');
        return result;
    }
    // A server that is slow to start is left out of lists until it has.
    async tools(params) {
        for (;;) {
            const { result } = await this.ask('tools/list', params);
            if (result.tools.some(({ name }) => name.endsWith('test_simple_text')))
                return result.tools.map(({ name }) => name);
        }
    }
    async end() {
        this.run.child.stdin.end();
        return this.run.ended();
    }
}

const asAgent = () => new Peer(['--server', `ws://127.0.0.1:${gateway.port}`, '--token-file', tokenFile]);
const textOf = ({ content }) => content.map(({ text }) => text).join('\n');

test('lines go in and come out, in both eras, and nothing else does', async () => {
    const peer = asAgent();
    const { protocolVersion } = await peer.open();
    assert.equal(protocolVersion, '2025-11-25');

    const tools = await within(peer.tools(), 'the fixture');
    const name = tools.find((one) => one.endsWith('test_simple_text'));
    assert.ok(tools.includes('room_who'));
    assert.match(textOf((await peer.ask('tools/call', { name, arguments: {} })).result), /simple text/);

    const { result } = await peer.ask('server/discover', { _meta: modern() });
    assert.ok(result.supportedVersions.includes('2026-07-28'));
    const called = await peer.ask('tools/call', { name, arguments: {}, _meta: modern() });
    assert.equal(called.result.resultType, 'complete');

    peer.write('{"jsonrpc":"2.0",');
    assert.equal(JSON.parse(await peer.run.line(/-32700/)).error.code, -32700);
    peer.write('');
    assert.deepEqual((await peer.ask('ping')).result, {});

    const { status, stdout } = await peer.end();
    assert.equal(status, 0);
    for (const line of stdout.split('\n').filter(Boolean))
        assert.equal(JSON.parse(line).jsonrpc, '2.0');
    await expect(alice, ({ kind, payload }) => kind === 'system/presence' && payload.event === 'leave' &&
                                               payload.participant.id === 'agent');
});

test('a message that is too large is refused, and the next one is taken', async () => {
    const peer = asAgent();

    await peer.open();
    peer.write(`{"jsonrpc":"2.0","id":"big","method":"ping","params":{"x":"${'x'.repeat(5 << 20)}"}}`);
    assert.match(await peer.run.line(/error/), /too large/);
    assert.deepEqual((await peer.ask('ping')).result, {});
    assert.equal((await peer.end()).status, 0);
});

test('without a token a client may look and propose, and somebody decides', async () => {
    const peer = new Peer(['--as', 'assistant'], { MOOT_DATA: gateway.data });

    await peer.open();
    const name = (await within(peer.tools(), 'the fixture')).find((one) => one.endsWith('test_simple_text'));
    const id = peer.send('tools/call', { name, arguments: {} });
    const { id: proposal, payload } = await expect(alice, ({ kind, from }) =>
        kind.startsWith('mcp/proposal:') && from === 'assistant');
    assert.equal(payload.method, 'tools/call');

    const { status, stderr } = await moot(gateway, 'alice', ['approve', 'room', proposal]);
    assert.equal(status, 0, stderr);
    assert.match(textOf((await peer.answered(id)).result), /simple text/);
    assert.equal((await peer.end()).status, 0);

    const { json } = await gateway.request('GET /admin/tokens', { token: gateway.adminToken() });
    assert.ok(json.tokens.every((token) => token.id !== 'assistant'), 'the token was taken back');
});

test('a token that may not ask what there is, is told what it lacks', async () => {
    const { json } = await gateway.request('POST /admin/tokens', {
        token: gateway.adminToken(), json: { id: 'blind', profile: 'proposer', topics: ['room'] },
    });
    const file = path.join(gateway.data, 'blind.token');

    fs.writeFileSync(file, json.token, { mode: 0o600 });
    const peer = new Peer(['--server', `ws://127.0.0.1:${gateway.port}`, '--token-file', file]);
    peer.open().catch(() => {});
    await peer.run.told(/grant it mcp\/request:initialize and mcp\/request:\*\/list/);
    await peer.end();
});

test('a gateway that is not there is an error', async () => {
    const peer = new Peer(['--server', 'ws://127.0.0.1:1', '--token-file', tokenFile]);

    peer.open().catch(() => {});
    const { status, stderr } = await peer.run.ended();
    assert.equal(status, 1);
    assert.match(stderr, /^moot: /m);
});

// --- settings ---

const home = (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-home-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    return folder;
};
const configure = (folder, ...args) =>
    moot(null, null, ['mcp', 'room', ...args], { env: { HOME: folder, MOOT_DATA: '' } });

test('what a client needs is printed', async (t) => {
    const folder = home(t);
    const { status, stdout } = await configure(folder, '--server', 'wss://moot.example', '--token-file', tokenFile,
                                               '--print-config', 'claude-desktop');
    const { mcpServers } = JSON.parse(stdout);

    assert.equal(status, 0);
    assert.ok(path.isAbsolute(mcpServers['moot-room'].command));
    assert.deepEqual(mcpServers['moot-room'].args,
                     ['mcp', '--topic', 'room', '--server', 'wss://moot.example', '--token-file', fs.realpathSync(tokenFile)]);
    assert.doesNotMatch(stdout, /agent-token/);

    const http = await configure(folder, '--url', 'https://moot.example', '--print-config', 'cursor');
    assert.equal(JSON.parse(http.stdout).mcpServers['moot-room'].url, 'https://moot.example/mcp/room');
    assert.equal((await configure(folder, '--print-config', 'notepad')).status, 2);
    assert.equal((await configure(folder, '--server', 'wss://moot.example', '--print-config', 'cursor')).status, 1);
});

test('it is written into the settings, and everything else stays', async (t) => {
    const folder = home(t);
    const file = path.join(folder, '.cursor/mcp.json');
    const before = '{\n  "mcpServers": {\n    "other": {"command": "x", "n": 1.50}\n  }\n}\n';

    fs.mkdirSync(path.dirname(file));
    fs.writeFileSync(file, before, { mode: 0o600 });
    const asked = await configure(folder, '--install', 'cursor');
    assert.equal(asked.status, 1);
    assert.match(asked.stderr, /\+ {5}"moot-room": \{[^]*say --yes/);
    assert.equal(fs.readFileSync(file, 'utf8'), before);

    const { status, stderr } = await configure(folder, '--install', 'cursor', '--yes');
    assert.equal(status, 0, stderr);
    const text = fs.readFileSync(file, 'utf8');
    assert.ok(text.startsWith(before.slice(0, before.indexOf('\n  }'))));
    assert.deepEqual(Object.keys(JSON.parse(text).mcpServers), ['other', 'moot-room']);
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);

    const copies = fs.readdirSync(path.dirname(file)).filter((name) => name.includes('.bak-'));
    assert.equal(copies.length, 1);
    assert.equal(fs.readFileSync(path.join(path.dirname(file), copies[0]), 'utf8'), before);
    assert.match((await configure(folder, '--install', 'cursor', '--yes')).stderr, /says so already/);
});

test('settings with comments are left alone', async (t) => {
    const folder = home(t);
    const file = path.join(folder, '.cursor/mcp.json');

    fs.mkdirSync(path.dirname(file));
    fs.writeFileSync(file, '{ // mine\n}\n');
    const { status, stdout, stderr } = await configure(folder, '--install', 'cursor', '--yes');
    assert.equal(status, 1);
    assert.match(stderr, /is left as it is: it is not strictly JSON/);
    assert.ok(JSON.parse(stdout).mcpServers['moot-room']);
    assert.equal(fs.readFileSync(file, 'utf8'), '{ // mine\n}\n');
});
