// SPDX-License-Identifier: Apache-2.0
// Whoever tries what he may not is counted: per participant in /admin/members and /metrics, by error in
// /metrics; and the room hears of it where the settings say so.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, expectOnly, person, startGateway } from './gateway.mjs';

const odd = 'e"v\\e';
const worst = 100;
let gateway;

before(async () => {
    gateway = await startGateway({
        topics: { defaults: { validation: 'strict' }, named: { loud: { announce_violations: 'on' }, quiet: {} }, open: true },
        tokens: [person('witness'), person('eve', { capabilities: ['chat', 'mcp/request:tools/list'] }),
            person(odd, { token: 'odd-token', capabilities: [] }), person('boss', { profile: 'admin' }),
            ...Array.from({ length: worst + 10 }, (_, i) => person(`p${i}`, { capabilities: [] }))],
    });
});
after(() => gateway.stop());

// Each of the four, and what is no violation.
const violations = (id) => [
    ['capability_violation', envelope(id, 'mcp/request:tools/call')],
    ['reserved_namespace', envelope(id, 'system/error')],
    ['from_mismatch', envelope('witness', 'chat')],
    ['kind_payload_mismatch', envelope(id, 'mcp/request:tools/list', { payload: { method: 'tools/call', secret: 'not to be told' } })],
];
const others = (id) => [
    ['malformed_kind', envelope(id, 'Chat')],
    ['unsupported_protocol', envelope(id, 'chat', { protocol: 'mcp-x/v0' })],
];
const count = async (topic, id) => (await gateway.request(`GET /admin/members?topic=${topic}`, { token: 'boss-token' }))
    .json.members.find((member) => member.participantId === id).violations;
const metrics = async () => Object.fromEntries((await gateway.request('GET /metrics')).text.split('\n')
    .filter((line) => line && !line.startsWith('#')).map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));

async function meet(topic) {
    const witness = await gateway.join('witness', { topic });
    const eve = await gateway.join('eve', { topic });
    await expect(witness, (json) => json.payload.participant?.id === 'eve');
    return { witness, eve };
}

async function refused(client, error, message) {
    client.send(message);
    assert.equal((await expect(client, (json) => json.kind === 'system/error')).payload.error, error);
}

test('all four are counted for the participant and by error, and nothing else is', async () => {
    const { witness, eve } = await meet('quiet');
    const before = await metrics();
    for (const [error, message] of [...violations('eve'), ...others('eve')])
        await refused(eve, error, message);
    const posted = await gateway.post('eve-token', 'quiet', envelope('eve', 'mcp/request:tools/call'));
    assert.equal(posted.json.error, 'capability_violation');
    const after = await metrics();
    for (const [error, by] of [['capability_violation', 2], ['reserved_namespace', 1], ['from_mismatch', 1], ['kind_payload_mismatch', 1]]) {
        const name = `moot_violations_total{error="${error}"}`;
        assert.equal(after[name] - before[name], by, name);
    }
    assert.equal(after['moot_participant_violations{topic="quiet",participant="eve"}'], 5);
    assert.equal(after['moot_participant_violations{topic="quiet",participant="witness"}'], undefined);
    assert.equal(await count('quiet', 'eve'), 5);
    assert.equal(await count('quiet', 'witness'), 0);
    await expectOnly([witness], witness); // the room was not told
    await Promise.all([witness.close(), eve.close()]);
});

test('where violations are announced the room hears of all four, and of no payload', async () => {
    const { witness, eve } = await meet('loud');
    for (const [error, message] of violations('eve')) {
        await refused(eve, error, message);
        const { kind, from, payload } = await witness.next();
        assert.deepEqual([kind, from], ['system/violation', 'system:gateway']);
        assert.deepEqual(payload, { participant: 'eve', error, attempted_kind: message.kind });
    }
    for (const [error, message] of others('eve'))
        await refused(eve, error, message);
    // Who may not speak must not speak at length through what is quoted of him.
    await refused(eve, 'reserved_namespace', envelope('eve', `system/${'x'.repeat(2000)}`));
    const { payload } = await witness.next();
    assert.equal(payload.attempted_kind, `system/${'x'.repeat(249)}`);
    assert.equal((await gateway.post('eve-token', 'loud', envelope('eve', 'system'))).status, 403);
    assert.equal((await witness.next()).payload.error, 'reserved_namespace');
    await expectOnly([witness], witness);
    await Promise.all([witness.close(), eve.close()]);
});

test('metrics name the hundred worst, with labels that can be read', async () => {
    for (let i = 0; i < worst + 10; i++)
        for (let n = 0; n < (i % 3) + 6; n++)
            await gateway.post(`p${i}-token`, `topic-${i % 7}`, envelope(`p${i}`));
    for (let n = 0; n < 9; n++)
        await gateway.post('odd-token', 'topic-0', envelope(odd));
    const named = Object.entries(await metrics()).filter(([name]) => name.startsWith('moot_participant_violations{'));
    assert.equal(named.length, worst);
    assert.deepEqual(named[0], ['moot_participant_violations{topic="topic-0",participant="e\\"v\\\\e"}', 9]);
    assert.deepEqual(named.map(([, value]) => value), named.map(([, value]) => value).sort((a, b) => b - a));
    assert.equal(named.filter(([, value]) => value === 8).length, 36); // p2, p5, … p107
    assert.ok(named.every(([, value]) => value >= 6));
});
