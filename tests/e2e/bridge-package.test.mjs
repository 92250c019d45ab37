// SPDX-License-Identifier: Apache-2.0
// A server that npx would fetch: what was installed beforehand is run, confined and without
// a network, and nothing else is run under its name later.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { caller, startBridge } from './bridges.mjs';
import { people, person, startGateway } from './gateway.mjs';

const gateway = await startGateway({
    tokens: [...people('alice'), person('tool', { capabilities: undefined, profile: 'bridge' })],
});
test.after(() => gateway.stop());
const folder = path.join(gateway.data, 'bridge/packages/npm/@acme+hello@1.0.0');
const confined = spawnSync('bwrap', ['--ro-bind', '/', '/', 'true']).status === 0;

// A whole MCP server, as short as it gets.
const program = `#!/usr/bin/env node
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const results = {
        initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'hello', version: '1' } }),
        'tools/list': () => ({ tools: [{ name: 'words', inputSchema: { type: 'object' } }] }),
        'tools/call': () => ({ content: [{ type: 'text', text: JSON.stringify(process.argv.slice(2)) }] }),
    };

    if (id === undefined)
        return;
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(results[method]
        ? { result: results[method](params) } : { error: { code: -32601, message: method } }) }));
});
`;

function install(integrity) {
    const home = path.join(folder, 'node_modules/@acme/hello');

    fs.mkdirSync(home, { recursive: true });
    fs.writeFileSync(path.join(home, 'package.json'),
                     JSON.stringify({ name: '@acme/hello', version: '1.0.0', bin: { hello: 'hello.js' } }));
    fs.writeFileSync(path.join(home, 'hello.js'), program, { mode: 0o755 });
    fs.writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify({
        name: 'x', lockfileVersion: 3,
        packages: { 'node_modules/@acme/hello': { version: '1.0.0', integrity } },
    }));
}
const command = ['npx', '-y', '@acme/hello@1.0.0', 'one', 'two'];

test('what is installed is run with its arguments, in the sandbox', { skip: !confined && 'no bubblewrap' }, async () => {
    install('sha512-first');
    const alice = await gateway.join('alice', { topic: 'room' });
    const bridge = await startBridge(gateway, [], command, { watcher: alice });
    const rpc = caller(alice, 'tool');

    assert.equal((await rpc.call('words')).content[0].text, '["one","two"]');
    await bridge.stop();
});

test('another package of the same name and version is not run', { skip: !confined && 'no bubblewrap' }, async () => {
    install('sha512-second');
    const alice = await gateway.join('alice', { topic: 'room' });
    const bridge = await startBridge(gateway, ['--start'], command, { watcher: alice });
    const rpc = caller(alice, 'tool');
    const error = await rpc.error('tools/call', { name: 'words', arguments: {} });

    assert.equal(error.data.reason, 'server_not_started');
    assert.match(error.message, /not the one that was pinned/);
    await bridge.stop();
});
