// SPDX-License-Identifier: Apache-2.0
// Whoever is killed, no process of a server is left, nor what it had started in a session of its
// own, and the next call finds a new one.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { caller, echo, startBridge } from './bridges.mjs';
import { people, person, startGateway, within } from './gateway.mjs';
import { end, marked, nothingLeft, parentOf, until } from './processes.mjs';

const tokens = [...people('alice'), person('tool', { profile: 'bridge' })];

// A room with a server in it that has started a process of its own, and who is who.
async function stage(sandbox) {
    const gateway = await startGateway({ tokens });
    const folder = path.dirname(gateway.data);
    const ledger = path.join(folder, 'ledger');
    const alice = await gateway.join('alice');

    fs.writeFileSync(ledger, '');
    fs.chmodSync(folder, 0o711);
    fs.chmodSync(ledger, 0o666);
    const bridge = await startBridge(gateway,
        ['--sandbox', sandbox, ...(sandbox === 'off' ? [] : ['--read', path.dirname(echo), '--write', ledger])],
        [echo, '--legacy', '--ledger', ledger], { watcher: alice });
    const rpc = caller(alice, 'tool');

    await rpc.call('fork');
    // Bubblewrap, its wrappers and the fork have the mark as well as the server; the bridge has it too.
    const all = () => marked(ledger).filter(({ pid }) => pid !== bridge.child.pid);
    const spawner = () => marked('spawner').find(({ parent, words }) => parent === bridge.child.pid && words[1] === 'spawner')?.pid;

    return {
        gateway, bridge, rpc, ledger, all, spawner,
        keeper: () => marked('spawner').find(({ parent }) => parent === spawner())?.pid,
        server: () => all().find(({ pid, words }) => words[0] === echo && all().some(({ parent }) => parent === pid))?.pid,
        async close() {
            await bridge.stop();
            await gateway.stop();
        },
    };
}

for (const sandbox of ['off', 'strict'])
    for (const victim of ['server', 'keeper', 'spawner'])
        test(`${sandbox}: the ${victim} is killed`, async () => {
            const room = await stage(sandbox);
            const before = room.all().map(({ pid }) => pid);
            const lost = room.rpc.send('tools/call', { name: 'silent', arguments: {} });

            await until(() => fs.readFileSync(room.ledger, 'utf8').split('\n').length > 2, 'the call has begun');
            assert.ok(before.length > 1);
            assert.ok(end(room[victim]()));
            const { payload } = await room.rpc.answered(lost);
            assert.equal(payload.error.code, -32603);
            assert.equal(payload.error.data?.reason, 'server_died');
            assert.deepEqual((await room.rpc.call('echo', { text: 'again' })).content, [{ type: 'text', text: 'again' }]);
            await until(() => !room.all().some(({ pid }) => before.includes(pid)), 'nothing of the old one is left');
            await room.close();
            await nothingLeft(room.ledger);
        });

for (const sandbox of ['off', 'strict'])
    test(`${sandbox}: the bridge is killed`, async () => {
        const room = await stage(sandbox);
        const { bridge } = room;
        const helpers = [room.spawner(), room.keeper()];

        assert.ok(helpers.every((pid) => pid > 1) && marked(room.ledger).length > 1);
        assert.ok(end(bridge.child.pid));
        await within(bridge.over, 'the end of the bridge');
        await nothingLeft(room.ledger);
        await until(() => helpers.every((pid) => parentOf(pid) === 0), 'its helpers have gone');
        await room.gateway.stop();
    });

test('a bridge that is asked to end leaves nothing', async () => {
    const room = await stage('off');

    const began = performance.now();
    assert.equal((await room.bridge.stop()).status, 0);
    // It waits until they have gone, but not longer than a second.
    assert.deepEqual(performance.now() - began < 1000 ? marked(room.ledger) : [], []);
    await nothingLeft(room.ledger);
    await room.gateway.stop();
});
