// SPDX-License-Identifier: Apache-2.0
// Packages of npx, from a registry to a running server: installed once, under the strict
// sandbox, with the registry as the only host; pinned; run without a network.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import test from 'node:test';

import { caller, startBridge } from './bridges.mjs';
import { people, person, startGateway } from './gateway.mjs';
import { moot } from './moot.mjs';
import { startRegistry } from './registry.mjs';

const slow = 600_000; // npm, on a machine that does much else
const skip = (spawnSync('bwrap', ['--ro-bind', '/', '/', 'true']).status !== 0 && 'no bubblewrap') ||
    (spawnSync('npm', ['--version']).status !== 0 && 'no npm');
const registry = await startRegistry();
const version = JSON.parse(fs.readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    .dependencies['@modelcontextprotocol/server-memory'];

// A whole MCP server, as short as it gets.
const program = (name) => `#!/usr/bin/env node
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const reach = () => new Promise((resolve) => {
        require('net').connect(${new URL(registry.url).port}, '127.0.0.1')
            .on('connect', () => resolve('reached')).on('error', (error) => resolve(error.code));
    });
    const results = {
        initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: '${name}', version: '1' } }),
        'tools/list': () => ({ tools: [{ name: 'reach', inputSchema: { type: 'object' } }] }),
        'tools/call': async () => ({ content: [{ type: 'text', text: await reach() }] }),
    };

    if (id === undefined)
        return;
    Promise.resolve(results[method]?.(params)).then((result) => console.log(JSON.stringify({ jsonrpc: '2.0', id,
        ...(result ? { result } : { error: { code: -32601, message: method } }) })));
});
`;
const add = (name, more = {}, place = {}) => registry.add(
    { name, version: '1.0.0', bin: 'server.js', ...more }, { 'server.js': program(name) }, place);

let gateway = await startGateway({
    tokens: [...people('alice'), person('tool', { capabilities: undefined, profile: 'bridge' })],
    packages: { npm_registry: registry.url },
    servers: { memory: {
        topic: 'room', command: ['npx', '-y', `@modelcontextprotocol/server-memory@${version}`],
        timeout: '10m', open_timeout: '10m',
    } },
});
test.after(() => gateway.stop());
const events = async () => (await moot(null, null, ['logs', 'memory'], { env: { MOOT_DATA: gateway.data } })).stdout;

// What a call of it gives, by a bridge of its own.
async function bridged(name, run) {
    const alice = await gateway.join('alice', { topic: 'room' });
    const bridge = await startBridge(gateway, ['--npm-registry', registry.url, '--timeout', '10m'],
                                     ['npx', '-y', `${name}@1.0.0`], { watcher: alice });

    try {
        await run(caller(alice, 'tool', { limit: slow }), bridge);
    } finally {
        await bridge.stop();
        await alice.close();
    }
}
const refusalOf = async (name, expected) => bridged(name, async (rpc) => {
    const error = await rpc.error('tools/call', { name: 'reach', arguments: {} });

    assert.match(error.message, expected);
});
const folderOf = (name) => path.join(gateway.data, 'bridge/packages/npm', `${name}@1.0.0`);

test('a server with all it needs is installed with the first call, and pinned', { skip }, async () => {
    const alice = await gateway.join('alice', { topic: 'room' });
    const rpc = caller(alice, 'memory', { limit: slow });

    await rpc.call('create_entities', { entities: [{ name: 'moot', entityType: 'room', observations: ['it works'] }] });
    assert.match((await rpc.call('read_graph')).content[0].text, /it works/);
    assert.ok(registry.asked.includes(`/-/%40modelcontextprotocol%2Fserver-memory/${version}.tgz`));
    assert.ok(registry.asked.some((asked) => /^\/-\/.*sdk/.test(asked)), 'what it depends on');
    assert.match(await events(), /moot +package @modelcontextprotocol\/server-memory@.*: installing it from http:.*\n(.*\n)*.*installed and pinned: .* sha512-/);
    await alice.close();
});

test('the second start installs nothing', { skip }, async () => {
    const before = registry.asked.length;

    await gateway.kill();
    gateway = await gateway.restart();
    const alice = await gateway.join('alice', { topic: 'room' });
    const rpc = caller(alice, 'memory', { limit: slow });

    assert.match((await rpc.call('read_graph')).content[0].text, /it works/);
    assert.equal(registry.asked.length, before);
    await alice.close();
});

test('nothing of it runs while it is installed, and it has no network then', { skip }, async () => {
    const touch = 'node -e "require(\'fs\').writeFileSync(\'ran\', \'\')"';

    add('hooked', { scripts: { preinstall: touch, install: touch, postinstall: touch, prepare: touch } });
    await bridged('hooked', async (rpc, bridge) => {
        assert.notEqual((await rpc.call('reach')).content[0].text, 'reached');
        await bridge.told(/moot: package hooked@1\.0\.0: installing it from http:\/\/127\.0\.0\.1/);
        await bridge.told(/moot: package hooked@1\.0\.0: installed and pinned: hooked@1\.0\.0 sha512-/);
    });
    assert.ok(fs.existsSync(path.join(folderOf('hooked'), 'node_modules/hooked/server.js')));
    assert.ok(!fs.existsSync(path.join(folderOf('hooked'), 'node_modules/hooked/ran')));
});

test('another package under the same name and version is not run', { skip }, async () => {
    fs.rmSync(folderOf('hooked'), { recursive: true });
    add('hooked', { description: 'another' });
    await refusalOf('hooked', /not the one that was pinned/);
});

test('a package that is not what the registry says is not installed', { skip }, async () => {
    add('damaged', {}, { integrity: `sha512-${Buffer.alloc(64, 7).toString('base64')}` });
    await refusalOf('damaged', /its package damaged@1\.0\.0 could not be installed from http:.*npm ended with code 1.*EINTEGRITY/s);
});

test('what lies on another host is not fetched', { skip }, async (t) => {
    const other = http.createServer((request, response) => response.end('arrived'));
    let asked = 0;

    other.on('connection', () => { asked++; });
    await new Promise((resolve) => { other.listen(0, '127.0.0.1', resolve); });
    t.after(() => other.close());
    const elsewhere = `http://127.0.0.1:${other.address().port}/evil.tgz`;

    add('inner', {}, { tarball: elsewhere });
    add('outer', { dependencies: { inner: '1.0.0' } });
    await refusalOf('outer', /it may not reach 127\.0\.0\.1: this host and port are not permitted/);
    add('linked', { dependencies: { inner: elsewhere } });
    await refusalOf('linked', /it may not reach 127\.0\.0\.1: this host and port are not permitted/);
    assert.equal(asked, 0);
});

test('what is not there is told in the words of npm', { skip }, async () => {
    await refusalOf('nobody', /its package nobody@1\.0\.0 could not be installed from http:.*it said: .*404/s);
});

// --- the registry of this machine, wherever that is ---

const own = skip ? '' : spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim();

// Why it cannot be asked, or false.
const unreachable = skip || await new Promise((resolve) => {
    const { get } = own.startsWith('https:') ? https : http;
    const req = get(`${own}@modelcontextprotocol%2fserver-memory`, { timeout: 10_000 }, (res) => {
        res.resume();
        resolve(res.statusCode !== 200 && `the registry of npm here answers ${res.statusCode}`);
    });

    req.on('timeout', () => req.destroy(new Error('no answer')));
    req.on('error', (error) => resolve(`the registry of npm here cannot be reached: ${error.code ?? error.message}`));
});

test('a server comes from the registry that npm is set to here', { skip: unreachable }, async () => {
    const alice = await gateway.join('alice', { topic: 'room' });
    const bridge = await startBridge(gateway, ['--npm-registry', own, '--timeout', '10m'],
                                     ['npx', '-y', `@modelcontextprotocol/server-memory@${version}`], { watcher: alice });
    const rpc = caller(alice, 'tool', { limit: slow });

    assert.match((await rpc.call('read_graph')).content[0].text, /entities/);
    await bridge.told(/installed and pinned: @modelcontextprotocol\/server-memory@.* sha512-/);
    await bridge.stop();
});
