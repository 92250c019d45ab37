// SPDX-License-Identifier: Apache-2.0
// Servers behind `moot bridge` that crash, that are one for each caller, that are several,
// that end when they are probed, and that change what they offer.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { caller, echo, isTrusted, startBridge } from './bridges.mjs';
import { expect, people, person, startGateway } from './gateway.mjs';
import { until } from './processes.mjs';

const names = ['crash', 'own', 'pool', 'probe', 'pinned', 'broken', 'idle', 'once', 'older', 'failing'];
const gateway = await startGateway({
    tokens: [...people('alice', 'bob'),
             ...names.map((name) => person(name, { capabilities: undefined, profile: 'bridge' }))],
});
const ledger = path.join(gateway.data, 'ledger');
const bridges = [];

// In a topic of its own: each sees its own.
async function stage(as, options, command) {
    const topic = `room-${as}`;
    const alice = await gateway.join('alice', { topic });
    const bob = await gateway.join('bob', { topic });
    const bridge = await startBridge(gateway, ['--sandbox', 'off', ...options], command, { as, topic, watcher: alice });

    bridges.push(bridge);
    return { bridge, client: alice, alice: caller(alice, as), bob: caller(bob, as), bobClient: bob };
}
const text = ({ content }) => content[0].text;
const pid = async (rpc) => Number(text(await rpc.call('pid')));
const runs = (process) => fs.existsSync(`/proc/${process}`);
const gone = (process) => until(() => !runs(process), `${process} is gone`);

test.after(async () => {
    for (const bridge of bridges)
        await bridge.stop();
    await gateway.stop();
});

test('a call during which the server dies ends with an error, and the next one is answered by another', async () => {
    const { alice, bob } = await stage('crash', [], [echo, '--legacy', '--ledger', ledger]);
    const first = await pid(alice);
    const held = bob.send('tools/call', { name: 'silent', arguments: { text: 'held' } });
    const error = await alice.error('tools/call', { name: 'crash', arguments: { text: 'crash' } });

    assert.equal(error.code, -32603);
    assert.equal(error.data.reason, 'server_died');
    assert.equal((await bob.answered(held)).payload.error.data.reason, 'server_died');

    const second = await pid(alice);

    assert.notEqual(second, first);
    await gone(first);
    // What was sent to it is not sent again.
    const began = fs.readFileSync(ledger, 'utf8').split('\n');

    assert.equal(began.filter((line) => line === 'crash').length, 1);
    assert.equal(began.filter((line) => line === 'held').length, 1);
});

test('a server that is killed comes back without being called', async () => {
    const { alice, client } = await stage('idle', [], [echo, '--legacy']);
    const first = await pid(alice);

    process.kill(first, 'SIGKILL');
    await expect(client, (json) => json.from === 'idle' && json.kind === 'participant/status' &&
        /fail/.test(JSON.stringify(json.payload)));
    assert.notEqual(await pid(alice), first);
});

test('each caller has a process of his own, which ends when he leaves', async () => {
    const { alice, bob, bobClient } = await stage('own', ['--mode', 'per-caller', '--instances', '4'], [echo, '--legacy']);
    const hers = await pid(alice);
    const his = await pid(bob);

    assert.notEqual(his, hers);
    assert.equal(await pid(alice), hers);
    assert.equal(await pid(bob), his);
    // A crash of one is nothing to the other.
    await bob.error('tools/call', { name: 'crash', arguments: {} });
    assert.equal(await pid(alice), hers);
    const next = await pid(bob);

    assert.notEqual(next, his);
    bobClient.socket.close();
    await gone(next);
    assert.equal(await pid(alice), hers);
});

test('a pool has several processes, each with one call at a time', async () => {
    const { alice } = await stage('pool', ['--mode', 'pooled', '--instances', '3'], [echo, '--legacy']);
    // The last ones wait for a free one; all three have begun by then.
    const sent = [1, 2, 3, 4, 5].map(() => alice.send('tools/call', { name: 'slow', arguments: { ms: 300 } }));
    const pids = new Set();

    for (const { payload } of await Promise.all(sent.map(alice.answered)))
        assert.equal(text(payload.result), 'done');
    // While two are busy, the third answers, whichever it is.
    for (let i = 0; i < 20 && pids.size < 3; i++) {
        const busy = [1, 2].map(() => alice.send('tools/call', { name: 'slow', arguments: { ms: 50 } }));

        pids.add(await pid(alice));
        await Promise.all(busy.map(alice.answered));
        pids.add(await pid(alice));
    }
    assert.ok(pids.size > 1, 'there are several');
});

test('a server that ends when it is probed is started again as an old one', async () => {
    const { alice } = await stage('probe', [], [echo, '--exit-on-probe']);

    assert.equal(text(await alice.call('echo', { text: 'still here' })), 'still here');
});

test('a command that fails is not started a second time at once', async () => {
    // Its second start would wait for ever: that the first one failed must be told before.
    const starts = path.join(gateway.data, 'starts');
    const { client } = await stage('once', [], ['sh', '-c', `echo start >> ${starts}
        while [ $(wc -l < ${starts}) -ge 2 ]; do sleep 0.1; done; exit 3`]);

    await expect(client, (json) => json.from === 'once' && json.kind === 'participant/status' &&
        json.payload.status === 'failing' && /code 3/.test(json.payload.why));
});

test('a server that fails again and again says so once, and again when it is well', async () => {
    const [starts, program] = ['attempts', 'failing'].map((name) => path.join(gateway.data, name));

    fs.writeFileSync(program, `#!/bin/sh\necho start >> ${starts}\nexit 3\n`, { mode: 0o755 });
    const { client } = await stage('failing', [], [program]);
    const attempts = () => (fs.existsSync(starts) ? fs.readFileSync(starts, 'utf8').split('\n').length - 1 : 0);
    const statuses = () => client.frames.map(({ json }) => json).filter(({ from, kind }) => from === 'failing' && kind === 'participant/status')
        .map(({ payload }) => payload.status);

    await until(() => attempts() >= 4, 'it was tried several times');
    await until(() => statuses().includes('failing'), 'it has said so');
    const told = statuses();
    assert.equal(told.filter((status) => status === 'failing').length, 1, told.join());
    assert.equal(told.at(-1), 'failing', told.join());
    fs.copyFileSync(echo, program);
    await until(() => statuses().at(-1) === 'ready', 'it is well again');
});

test('a server that was modern and has become an old one is found out', async () => {
    const program = path.join(gateway.data, 'older');
    const become = (era) => fs.writeFileSync(program, `#!/bin/sh\nexec ${echo} --${era}\n`, { mode: 0o755 });

    become('modern');
    const { alice, client } = await stage('older', [], [program]);
    const said = (era) => expect(client, (json) => json.from === 'older' && json.kind === 'participant/status' &&
        json.payload.status === 'ready' && json.payload.era === era);

    await alice.call('echo', { text: 'modern' });
    become('legacy');
    process.kill(await pid(alice), 'SIGKILL');
    await said('legacy');
    assert.equal(text(await alice.call('echo', { text: 'old' })), 'old');
    become('modern');
    process.kill(await pid(alice), 'SIGKILL');
    await said('modern');
    assert.equal(text(await alice.call('echo', { text: 'new' })), 'new');
});

test('a server that cannot be started any more is told to who calls it, and comes back', async () => {
    const program = path.join(gateway.data, 'server');

    fs.copyFileSync(echo, program);
    const { alice } = await stage('broken', [], [program, '--legacy']);

    await pid(alice);
    fs.renameSync(program, `${program}.away`);
    await alice.error('tools/call', { name: 'crash', arguments: {} });
    const error = await alice.error('tools/call', { name: 'pid', arguments: {} });

    assert.equal(error.data.reason, 'server_not_started');
    assert.match(error.message, /cannot be started: .*server/);
    fs.renameSync(`${program}.away`, program);
    for (;;) {
        const { payload } = await alice.ask('tools/call', { name: 'pid', arguments: {} });

        if (payload.result)
            break;
        assert.equal(payload.error.data.reason, 'server_not_started');
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
});

test('a tool that has changed is held', async () => {
    const { alice, client } = await stage('pinned', [], [echo, '--legacy']);
    const before = (await alice.result('tools/list')).tools;

    assert.ok(before.some(({ name }) => name === 'echo'));
    await isTrusted(gateway, 'pinned');
    await alice.call('change');
    await expect(client, (json) => json.from === 'pinned' &&
        (json.kind === 'mcp/request:notifications/tools/list_changed' || /held/.test(JSON.stringify(json.payload))));
    const after = (await alice.result('tools/list')).tools;

    assert.ok(!after.some(({ name }) => name === 'echo'), 'it is not listed');
    assert.deepEqual(after, before.filter(({ name }) => name !== 'echo'));
    const error = await alice.error('tools/call', { name: 'echo', arguments: { text: 'x' } });

    assert.equal(error.code, -32602);
    assert.match(error.message, /held/);
});
