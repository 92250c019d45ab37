// SPDX-License-Identifier: Apache-2.0
// Proposals: open, then fulfilled, withdrawn, rejected or expired, and never twice.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { envelope, expect, people, person, startGateway } from './gateway.mjs';
import { until } from './processes.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [person('human', { type: 'human' }), ...people('other'), person('agent', { capabilities: ['mcp/proposal:*', 'chat'] }),
            person('full', { profile: 'full' }), person('watcher', { capabilities: ['chat'] })],
        limits: { rate_messages: 0 },
        topics: { named: { tiny: { ring_messages: 2, proposal_expiry: '3s' }, brief: { proposal_expiry: '8s' }, free: { proposals: 'free' } } },
    });
});
after(() => gateway.stop());

const hour = 3_600_000;
const call = { method: 'tools/call', params: { name: 'dig', arguments: { deep: 3 } } };
const propose = (client, more = {}) =>
    client.send(envelope(client.id, 'mcp/proposal:tools/call:dig', { to: ['tool'], payload: call, ...more }));
const fulfil = (client, proposal, more = {}) =>
    client.send(envelope(client.id, 'mcp/request:tools/call:dig', { to: ['tool'], correlation_id: proposal.id, payload: call, ...more }));
const decide = (client, word, proposal) => client.send(envelope(client.id, `mcp/${word}`, { correlation_id: proposal.id }));

// What came of it: 'passed', or the error's payload.
async function fate(client, sent) {
    const json = await expect(client, ({ id, correlation_id, kind }) =>
        id === sent.id || (kind === 'system/error' && correlation_id === sent.id));

    return json.id === sent.id ? 'passed' : json.payload;
}

async function refused(client, sent, state) {
    const payload = await fate(client, sent);

    assert.equal(payload.error, 'proposal_state');
    assert.equal(payload.state, state);
}

async function openOnes(topic) {
    const { status, json } = await gateway.request(`GET /topics/${topic}/proposals`, { token: 'watcher-token' });

    assert.equal(status, 200);
    return json.proposals;
}

async function members(topic, ...ids) {
    return Promise.all(ids.map((id) => gateway.join(id, { topic })));
}

test('proposals: one is listed while it is open, in the welcome too, and fulfilled once', async () => {
    const [agent, human, other] = await members('once', 'agent', 'human', 'other');
    const proposal = propose(agent);

    assert.equal(await fate(human, proposal), 'passed');
    const [listed, ...more] = await openOnes('once');
    assert.equal(more.length, 0);
    assert.deepEqual({ ...listed, created: 0, expires: 0 },
        { id: proposal.id, proposer: 'agent', kind: 'mcp/proposal:tools/call:dig', state: 'open', created: 0, expires: 0,
            approvals: { needed: 1, given: 0, by: [] }, envelope: proposal });
    assert.equal(Date.parse(listed.expires) - Date.parse(listed.created), 300_000, 'five minutes are the default');
    const late = await gateway.join('watcher', { topic: 'once' });
    assert.deepEqual(late.welcome.payload.moot.proposals, [listed]);
    assert.equal(await fate(human, fulfil(human, proposal)), 'passed');
    assert.deepEqual(await openOnes('once'), []);
    await refused(other, fulfil(other, proposal), 'fulfilled');
    await refused(human, fulfil(human, proposal), 'fulfilled');
    await refused(agent, decide(agent, 'withdraw', proposal), 'fulfilled');
    await refused(human, decide(human, 'reject', proposal), 'fulfilled');
});

test('proposals: nobody fulfils, approves or rejects his own', async () => {
    const [full, other] = await members('own', 'full', 'other');
    const second = await gateway.join('full', { topic: 'own', isPresent: true });
    const proposal = propose(full);

    await refused(full, fulfil(full, proposal), 'open');
    await refused(second, fulfil(second, proposal), 'open');
    await refused(full, decide(full, 'approve', proposal), 'open');
    await refused(full, decide(full, 'reject', proposal), 'open');
    const posted = await gateway.post('full-token', 'own', envelope('full', 'mcp/request:tools/call:dig',
        { to: ['tool'], correlation_id: proposal.id }));
    assert.deepEqual([posted.status, posted.json.state], [409, 'open']);
    assert.equal((await openOnes('own')).length, 1);
    assert.equal(await fate(other, decide(other, 'approve', proposal)), 'passed');
    assert.equal((await openOnes('own')).length, 1, 'an approval alone closes nothing');
});

test('proposals: withdrawing needs no capability, but only the proposer may', async () => {
    const [agent, human] = await members('withdraw', 'agent', 'human');
    const proposal = propose(agent);

    assert.equal(await fate(human, proposal), 'passed');
    await refused(human, decide(human, 'withdraw', proposal), 'open');
    const withdrawal = decide(agent, 'withdraw', proposal);
    assert.equal(await fate(agent, withdrawal), 'passed');
    assert.equal(await fate(human, withdrawal), 'passed', 'and the room hears of it');
    assert.deepEqual(await openOnes('withdraw'), []);
    await refused(human, fulfil(human, proposal), 'withdrawn');
    const unknown = await fate(agent, decide(agent, 'withdraw', { id: 'never-was' }));
    assert.equal(unknown.error, 'proposal_state');
});

test('proposals: rejecting needs the capability and closes it', async () => {
    const [agent, human, watcher] = await members('reject', 'agent', 'human', 'watcher');
    const proposal = propose(agent);

    assert.equal(await fate(watcher, proposal), 'passed');
    assert.equal((await fate(watcher, decide(watcher, 'reject', proposal))).error, 'capability_violation');
    assert.equal(await fate(human, decide(human, 'reject', proposal)), 'passed');
    await refused(human, fulfil(human, proposal), 'rejected');
    await refused(agent, decide(agent, 'withdraw', proposal), 'rejected');
});

test('proposals: one expires after the topic\'s time, or at expires_at', async () => {
    const [agent, human] = await members('brief', 'agent', 'human');
    const plain = propose(agent);
    const longer = propose(agent, { expires_at: new Date(Date.now() + hour).toISOString() });
    const shorter = propose(agent, { expires_at: new Date(Date.now() + 4000).toISOString() });

    assert.equal(await fate(human, shorter), 'passed');
    assert.deepEqual((await openOnes('brief')).map(({ id }) => id), [plain.id, longer.id, shorter.id]);
    await until(async () => (await openOnes('brief')).length < 3, 'one of them expires');
    assert.deepEqual((await openOnes('brief')).map(({ id }) => id), [plain.id, longer.id]);
    await refused(human, fulfil(human, shorter), 'expired');
    await until(async () => (await openOnes('brief')).length < 2, 'another expires');
    await refused(human, fulfil(human, plain), 'expired');
    await refused(agent, decide(agent, 'withdraw', plain), 'expired');
    assert.equal(await fate(human, fulfil(human, longer)), 'passed');
});

test('proposals: expires_at is capped at a day; malformed or past it is refused', async () => {
    const [agent] = await members('expiry', 'agent');
    const far = propose(agent, { expires_at: '2999-01-01T00:00:00Z' });

    assert.equal(await fate(agent, far), 'passed');
    const [{ created, expires }] = await openOnes('expiry');
    assert.equal(Date.parse(expires) - Date.parse(created), 24 * hour);
    for (const expires_at of ['tomorrow', '', 12, null, {}, '2026-13-01T00:00:00Z', new Date(Date.now() - 1000).toISOString()]) {
        const payload = await fate(agent, propose(agent, { expires_at }));
        assert.deepEqual([payload.error, payload.field], ['malformed_envelope', 'expires_at'], `${expires_at}`);
    }
    assert.equal((await openOnes('expiry')).length, 1);
});

test('proposals: a request of another method, context or addressee is a thread and fulfils nothing', async () => {
    const [agent, human] = await members('threads', 'agent', 'human');
    const proposal = propose(agent);

    assert.equal(await fate(human, proposal), 'passed');
    assert.equal(await fate(human, fulfil(human, proposal, { kind: 'mcp/request:tools/list' })), 'passed');
    assert.equal(await fate(human, fulfil(human, proposal, { kind: 'mcp/request:tools/call:fill' })), 'passed');
    assert.equal(await fate(human, fulfil(human, proposal, { to: ['someone'] })), 'passed');
    assert.equal((await openOnes('threads')).length, 1);
    assert.equal(await fate(human, fulfil(human, proposal)), 'passed');
    assert.equal((await openOnes('threads')).length, 0);
});

test('proposals: free topics take any number of fulfilments, one\'s own too', async () => {
    const [full, human] = await members('free', 'full', 'human');
    const proposal = propose(full);

    assert.equal(await fate(human, proposal), 'passed');
    for (const client of [full, human, full])
        assert.equal(await fate(client, fulfil(client, proposal)), 'passed');
});

// Says something often enough for the ring of `tiny` to forget what was before.
async function roll(client) {
    for (let n = 0; n < 3; n++)
        await fate(client, client.chat('on and on'));
}

test('D7a: the id of an open proposal or an unanswered request is taken, even out of the ring', async () => {
    const [agent, human] = await members('tiny', 'agent', 'human');
    const proposal = propose(agent, { expires_at: new Date(Date.now() + hour).toISOString() });

    assert.equal(await fate(human, proposal), 'passed');
    await roll(human);
    assert.equal((await fate(human, human.chat('', { id: proposal.id }))).error, 'duplicate_id');
    const request = fulfil(human, proposal);
    assert.equal(await fate(human, request), 'passed');
    await roll(human);
    assert.equal((await fate(human, human.chat('', { id: request.id }))).error, 'duplicate_id');
    assert.equal(await fate(human, human.chat('', { id: proposal.id })), 'passed', 'a closed one is free again');
    await Promise.all([agent.close(), human.close()]);
});

test('proposals: the id of one that was closed is not used again as long as it is known; then it stands for the second', async () => {
    const [agent, human] = await members('tiny', 'agent', 'human');
    const first = propose(agent);

    assert.equal(await fate(agent, decide(agent, 'withdraw', first)), 'passed');
    await roll(agent);
    const taken = propose(agent, { id: first.id });
    assert.equal((await fate(agent, taken)).error, 'duplicate_id', 'a word about the first would be one about the second');
    agent.frames.length = agent.taken = 0;
    const second = propose(agent, { expires_at: new Date(Date.now() + hour).toISOString() });
    assert.equal(await fate(agent, second), 'passed');
    assert.deepEqual((await openOnes('tiny')).map(({ id }) => id), [second.id]);
    await sleep(3100);
    // More than the ledger keeps: what has expired is swept out.
    for (let n = 0; n < 10_100; n++) {
        const one = propose(agent);
        decide(agent, 'withdraw', one);
        if (n % 500 === 0 || n === 10_099) {
            const fence = agent.chat('fence');
            assert.equal(await fate(agent, fence), 'passed');
            assert.ok(!agent.frames.some(({ json }) => json.kind === 'system/error'), 'closed ones do not fill it');
            agent.frames.length = agent.taken = 0;
        }
    }
    assert.deepEqual((await openOnes('tiny')).map(({ id }) => id), [second.id]);
    assert.equal(await fate(human, fulfil(human, second)), 'passed');
    assert.deepEqual(await openOnes('tiny'), []);
    await refused(human, fulfil(human, second), 'fulfilled');
    const third = propose(agent, { id: first.id });
    assert.equal(await fate(agent, third), 'passed', 'nobody knows of the first any more');
    assert.deepEqual((await openOnes('tiny')).map(({ id }) => id), [third.id]);
    assert.equal(await fate(human, fulfil(human, third)), 'passed');
    await refused(human, fulfil(human, third), 'fulfilled');
});

const padded = (client, bytes, more = {}) => propose(client, { payload: { ...call, pad: 'x'.repeat(bytes) }, ...more });

test('proposals: the welcome brings short envelopes, as many as fit; the list brings more, and each can be asked for', async () => {
    const [agent, full] = await members('long', 'agent', 'full');
    const sizes = [70_000, 60_000, 60_000, 60_000, 60_000, 60_000, 10];
    const sent = sizes.map((bytes) => padded(agent, bytes));

    assert.equal(await fate(full, sent.at(-1)), 'passed');
    const late = await gateway.join('watcher', { topic: 'long' });
    const shown = late.welcome.payload.moot.proposals;
    assert.deepEqual(shown.map(({ id }) => id), sent.map(({ id }) => id));
    assert.deepEqual(shown.map(({ envelope: text }) => text?.id ?? null),
        [null, ...sent.slice(1, 5).map(({ id }) => id), null, sent[6].id], 'too long; four; no room; room');
    assert.deepEqual((await openOnes('long')).map((one) => one.envelope), sent);

    const large = Array.from({ length: 4 }, () => padded(agent, 900_000));
    assert.equal(await fate(agent, large[3]), 'passed');
    large.push(padded(full, 900_000), padded(full, 900_000));
    assert.equal(await fate(full, large[5]), 'passed');
    const all = await openOnes('long');
    const without = all.filter((one) => !('envelope' in one));
    assert.equal(all.length, 13);
    assert.deepEqual(without.map(({ id }) => id), large.slice(4).map(({ id }) => id), 'four megabytes and no more');
    const { json } = await gateway.request(`GET /topics/long/proposals?id=${large[5].id}`, { token: 'watcher-token' });
    assert.deepEqual(json.proposals.map((one) => one.envelope), [large[5]]);
    const none = await gateway.request('GET /topics/long/proposals?id=nothing', { token: 'watcher-token' });
    assert.deepEqual(none.json, { proposals: [] });
    for (const query of [`id=${'x'.repeat(257)}`, 'id=a&id=b'])
        assert.equal((await gateway.request(`GET /topics/long/proposals?${query}`, { token: 'watcher-token' })).status, 400);
});

test('proposals: too many long ones of one proposer, and of all, are refused until some are decided', async () => {
    const [agent, full, human] = await members('heavy', 'agent', 'full', 'human');
    const mine = Array.from({ length: 4 }, () => padded(agent, 1_000_000));

    assert.equal(await fate(agent, mine[3]), 'passed');
    const one = await fate(agent, padded(agent, 1_000_000));
    assert.deepEqual([one.error, one.message], ['unavailable', 'the open proposals of this topic are too long together']);
    assert.equal(await fate(full, padded(full, 1_000_000)), 'passed', 'another has room');
    assert.equal(await fate(human, decide(human, 'reject', mine[0])), 'passed');
    assert.equal(await fate(agent, padded(agent, 1_000_000)), 'passed');
});

test('proposals: the list is for those who may enter', async () => {
    assert.equal((await gateway.request('GET /topics/once/proposals')).status, 401);
    assert.deepEqual((await gateway.request('GET /topics/nothing-yet/proposals', { token: 'human-token' })).json, { proposals: [] });
    assert.equal((await gateway.request('POST /topics/once/proposals', { token: 'human-token' })).status, 405);
});
