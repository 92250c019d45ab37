// SPDX-License-Identifier: Apache-2.0
// server-filesystem and server-memory from npm, under the strict sandbox: what they are
// permitted, and nothing else.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { caller, mcpServer, nodeModules, startBridge } from './bridges.mjs';
import { people, person, startGateway } from './gateway.mjs';

let alice, gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [...people('alice'), ...['files', 'memory'].map((id) =>
            person(id, { capabilities: undefined, profile: 'bridge' }))],
    });
    alice = await gateway.join('alice', { topic: 'room' });
});
after(() => gateway.stop());

const textOf = ({ content }) => content.map(({ text }) => text).join('\n');

test('server-filesystem works in its folder and nowhere else', async () => {
    const folder = fs.mkdtempSync(path.join(gateway.data, 'folder-'));
    const secret = path.join(gateway.data, 'secret.txt');

    fs.chmodSync(gateway.data, 0o755);
    fs.chmodSync(folder, 0o777);
    fs.writeFileSync(path.join(folder, 'a.txt'), 'inside');
    fs.writeFileSync(secret, 'outside');
    fs.symlinkSync(secret, path.join(folder, 'link.txt'));
    // The server itself may use all of "/". It is not run by its own name, since folders among the
    // arguments of a well-known server are permitted by its profile.
    const bridge = await startBridge(gateway, ['--read', nodeModules, '--write', folder],
                                     ['/bin/sh', '-c', 'exec "$0" "$@"', ...mcpServer('filesystem', folder, '/')],
                                     { as: 'files', watcher: alice });
    const rpc = caller(alice, 'files');

    assert.equal(textOf(await rpc.call('read_text_file', { path: path.join(folder, 'a.txt') })), 'inside');
    await rpc.call('write_file', { path: path.join(folder, 'b.txt'), content: 'new' });
    assert.equal(fs.readFileSync(path.join(folder, 'b.txt'), 'utf8'), 'new');
    for (const there of [secret, path.join(folder, 'link.txt'), '/root/.profile'])
        assert.equal((await rpc.call('read_text_file', { path: there })).isError, true, there);
    assert.equal((await rpc.call('write_file', { path: '/usr/b.txt', content: 'x' })).isError, true);
    assert.equal((await bridge.stop()).status, 0);
});

test('server-memory remembers from one start to the next, in its own home', async () => {
    const file = path.join(gateway.data, 'bridge/servers/memory/graph.json');
    const start = () => startBridge(gateway, ['--read', nodeModules, '--env', `MEMORY_FILE_PATH=${file}`],
                                    mcpServer('memory'), { as: 'memory', watcher: alice });
    const rpc = caller(alice, 'memory');
    let bridge = await start();

    fs.chmodSync(gateway.data, 0o755);
    await rpc.call('create_entities', { entities: [{ name: 'Moot', entityType: 'room', observations: ['is open'] }] });
    assert.equal((await bridge.stop()).status, 0);
    bridge = await start();
    assert.match(textOf(await rpc.call('read_graph')), /is open/);
    assert.equal((await bridge.stop()).status, 0);
});
