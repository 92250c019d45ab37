// SPDX-License-Identifier: Apache-2.0
// D4: the first frame, and who is told about whom.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, expectOnly, people, person, startGateway } from './gateway.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        limits: { envelope: '64KiB', outbox: '1MiB', depth: 20, rate_messages: '500/s', rate_bytes: '1MiB/s' },
        tokens: [
            ...people('alice', 'bob'),
            person('pro', { capabilities: ['mcp/proposal:*', 'chat'] }),
            person('ann', { profile: 'human' }),
            person('tool', { capabilities: [], type: 'service' }),
        ],
    });
});
after(async () => { await gateway.stop(); });

const member = (id, capabilities = ['mcp/*', 'chat'], type = 'agent') => ({ id, capabilities, moot: { type } });

test('D4: the welcome comes first, in exactly this shape', async () => {
    const client = await gateway.open('pro', { topic: 'shape' });
    const { id, ts, ...welcome } = await client.next();

    assert.match(id, /^\S+$/);
    assert.ok(Math.abs(Date.parse(ts) - Date.now()) < 60_000);
    assert.match(welcome.payload.moot.server, /^moot\/\d+\.\d+\.\d+/);
    delete welcome.payload.moot.server;
    for (const feature of ['replay', 'dialects', 'validation', 'conditions', 'grants', 'moderation', 'invitations', 'loop_guard',
        'approvals', 'policy', 'rules', 'directory'])
        assert.ok(welcome.payload.moot.features.includes(feature), feature);
    delete welcome.payload.moot.features;
    assert.deepEqual(welcome, {
        protocol: 'mcpx/v0.1',
        from: 'system:gateway',
        to: ['pro'],
        kind: 'system/welcome',
        payload: {
            you: member('pro', ['mcp/proposal:*', 'chat']),
            participants: [],
            moot: {
                limits: { envelope_bytes: 65536, outbox_bytes: 1048576, depth: 20, messages_per_second: 500,
                    bytes_per_second: 1048576 },
                topic: 'shape',
                routing: 'all',
                presence: 'each',
                dialect: 'slash',
                validation: 'lazy',
                brake: 'off',
                automation: 'on',
                announced: false,
                proposals: [],
            },
        },
    });
    const { id: presenceId, ts: presenceTs, ...presence } = await client.next();
    assert.notEqual(presenceId, id);
    assert.ok(Date.parse(presenceTs) >= Date.parse(ts));
    assert.deepEqual(presence, {
        protocol: 'mcpx/v0.1',
        from: 'system:gateway',
        kind: 'system/presence',
        payload: { event: 'join', participant: member('pro', ['mcp/proposal:*', 'chat']) },
    });
    await client.close();
});

test('D4: everybody learns of each join and leave, once; the welcome lists exactly the others', async () => {
    const topic = 'others';
    const clients = [];

    for (const id of ['alice', 'bob', 'ann', 'tool']) {
        const client = await gateway.join(id, { topic });
        const listed = client.welcome.payload.participants.map((one) => one.id).sort();
        assert.deepEqual(listed, clients.map((one) => one.id).sort());
        for (const other of clients) {
            const { payload } = await other.next();
            assert.deepEqual([payload.event, payload.participant.id], ['join', id]);
        }
        clients.push(client);
    }
    const [alice, bob, ann, tool] = clients;
    assert.deepEqual(ann.welcome.payload.you.moot, { type: 'human' });
    assert.deepEqual(tool.welcome.payload.participants.find((one) => one.id === 'ann'),
        member('ann', ['mcp/*', 'chat', 'participant/status', 'rule/accept', 'rule/add', 'rule/decline', 'rule/disable', 'rule/enable'], 'human'));
    assert.deepEqual(tool.welcome.payload.you, member('tool', [], 'service'));

    await bob.close();
    for (const other of [alice, ann, tool]) {
        const { payload } = await other.next();
        assert.equal(payload.event, 'leave');
        assert.equal(payload.participant.id, 'bob');
        assert.equal(payload.participant.capabilities, undefined);
    }
    ann.socket.terminate(); // without a word
    await expect(alice, (json) => json.payload.event === 'leave' && json.payload.participant.id === 'ann');
    await expect(tool, (json) => json.payload.event === 'leave' && json.payload.participant.id === 'ann');
    await expectOnly([alice, tool], alice);
    const again = await gateway.join('bob', { topic });
    assert.deepEqual(again.welcome.payload.participants.map((one) => one.id).sort(), ['alice', 'tool']);
    await Promise.all([alice, tool, again].map((one) => one.close()));
});

test('D4: a late joiner sees the proposals that are open, and no others', async () => {
    const topic = 'late';
    const pro = await gateway.join('pro', { topic });
    const alice = await gateway.join('alice', { topic });
    const propose = (name) => pro.send(envelope('pro', `mcp/proposal:tools/call:${name}`, { payload: { method: 'tools/call', params: { name } } }));
    const [open, withdrawn, fulfilled] = ['a', 'b', 'c'].map(propose);

    pro.send(envelope('pro', 'mcp/withdraw', { correlation_id: withdrawn.id }));
    await expect(alice, (json) => json.kind === 'mcp/withdraw');
    const request = alice.send(envelope('alice', 'mcp/request:tools/call:c', { correlation_id: fulfilled.id, payload: fulfilled.payload }));
    await expect(pro, (json) => json.id === request.id);
    const bob = await gateway.join('bob', { topic });
    const [one, ...more] = bob.welcome.payload.moot.proposals;
    assert.deepEqual(more, []);
    assert.deepEqual(Object.keys(one).sort(), ['approvals', 'created', 'envelope', 'expires', 'id', 'kind', 'proposer', 'state']);
    assert.deepEqual(one.envelope, open);
    assert.deepEqual([one.id, one.proposer, one.kind], [open.id, 'pro', 'mcp/proposal:tools/call:a']);
    assert.equal(Date.parse(one.expires) - Date.parse(one.created), 300_000);
    const listed = await gateway.request(`GET /topics/${topic}/proposals`, { token: 'bob-token' });
    assert.deepEqual(listed.json, { proposals: [one] });
    await Promise.all([pro, alice, bob].map((client) => client.close()));
});

test('D4: nothing said before the welcome follows it, and topics do not mix', async () => {
    const alice = await gateway.join('alice', { topic: 'one' });
    const bob = await gateway.join('bob', { topic: 'two' });

    alice.chat('before');
    const { id } = alice.chat('before, too');
    await expect(alice, (json) => json.id === id);
    await expectOnly([bob], bob);
    const late = await gateway.open('bob', { topic: 'one' });
    assert.equal((await late.next()).kind, 'system/welcome');
    assert.equal((await late.next()).payload.participant.id, 'bob');
    await expectOnly([late], late);
    await Promise.all([alice, bob, late].map((client) => client.close()));
});
