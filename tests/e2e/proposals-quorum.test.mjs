// SPDX-License-Identifier: Apache-2.0
// Where a topic asks for several approvals, or for those of certain people, nothing is
// fulfilled before they were given; a restart forgets none.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';

let gateway;
const config = {
    profiles: { lead: { type: 'human', capabilities: ['mcp/*', 'chat'] } },
    tokens: [person('agent', { capabilities: ['mcp/proposal:*', 'chat'] }), person('caller', { capabilities: ['mcp/request:*', 'chat'] }),
        person('bot', { capabilities: ['mcp/*', 'chat'] }),
        ...['ann', 'ben', 'cyd'].map((id) => person(id, { profile: 'human' })), ...['lea', 'leo'].map((id) => person(id, { profile: 'lead' }))],
    limits: { rate_messages: 0 },
    topics: {
        named: {
            two: { quorum: 2 },
            leads: { quorum: 2, approvals: [{ kind: 'tools/call:deploy_*', quorum: 2, profiles: ['lead'] }, { kind: 'tools/call:read', quorum: 1 }] },
            brief: { quorum: 2, proposal_expiry: '1s' },
        },
    },
};

before(async () => {
    gateway = await startGateway(config);
});
after(() => gateway.stop());

const payloadOf = (name) => ({ method: 'tools/call', params: { name, arguments: {} } });
const say = (from, topic, kind, more = {}) => gateway.post(`${from}-token`, topic, envelope(from, kind, more));
const decide = (from, topic, word, id, payload = {}) => say(from, topic, `mcp/${word}`, { correlation_id: id, payload });
const fulfil = (from, topic, id, name = 'dig', kind = `tools/call:${name}`) =>
    say(from, topic, `mcp/request:${kind}`, { correlation_id: id, payload: payloadOf(name) });
const shown = (topic, query = '') => gateway.request(`GET /topics/${topic}/proposals${query}`, { token: 'ann-token' }).then(({ json }) => json.proposals);

async function propose(topic, name = 'dig', kind = `tools/call:${name}`) {
    const { status, json } = await say('agent', topic, `mcp/proposal:${kind}`, { payload: payloadOf(name) });

    assert.equal(status, 200, JSON.stringify(json));
    return json.id;
}

function lacks({ status, json }, needed, given) {
    assert.deepEqual([status, json.error, json.state, json.needed, json.given], [409, 'proposal_state', 'open', needed, given]);
}

test('quorum: everybody counts once, the fulfiller as well, the proposer never', async () => {
    const watcher = await gateway.join('caller', { topic: 'two' });
    const id = await propose('two');
    const about = { proposal: id, proposer: 'agent', kind: 'mcp/proposal:tools/call:dig' };
    const heard = async () => (await expect(watcher, ({ kind }) => kind === 'system/proposal')).payload;

    assert.deepEqual((await shown('two'))[0].approvals, { needed: 2, given: 0, by: [] });
    lacks(await fulfil('ann', 'two', id), 2, 0);
    assert.equal((await decide('ann', 'two', 'approve', id)).status, 200);
    assert.deepEqual(await heard(), { ...about, state: 'open', approvals: { needed: 2, given: 1, by: ['ann'] } });
    assert.equal((await decide('ann', 'two', 'approve', id)).status, 200, 'said again it changes nothing');
    lacks(await fulfil('ann', 'two', id), 2, 1);
    lacks(await fulfil('caller', 'two', id), 2, 1);
    const late = await gateway.join('bot', { topic: 'two' });
    assert.deepEqual(late.welcome.payload.moot.proposals[0].approvals, { needed: 2, given: 1, by: ['ann'] });
    assert.equal((await fulfil('ben', 'two', id)).status, 200);
    assert.deepEqual(await heard(), { ...about, state: 'fulfilled', by: 'ben', approvals: { needed: 2, given: 2, by: ['ann', 'ben'] } });
    const [closed] = await shown('two', '?state=closed');
    assert.deepEqual([closed.id, closed.state, closed.by, closed.approvals.given, closed.envelope], [id, 'fulfilled', 'ben', 2, undefined]);
    assert.ok(Date.parse(closed.decided) >= Date.parse(closed.created));
    assert.deepEqual(await shown('two'), []);
    await Promise.all([watcher, late].map((client) => client.close()));
});

test('quorum: who may only call does so when enough have approved', async () => {
    const id = await propose('two');

    await decide('bot', 'two', 'approve', id);
    lacks(await fulfil('caller', 'two', id), 2, 1);
    await decide('ann', 'two', 'approve', id);
    assert.equal((await fulfil('caller', 'two', id)).status, 200);
});

test('quorum: what was approved is what is fulfilled, in a topic that is not exact as well', async () => {
    const id = await propose('two');
    const other = (from, payload) => say(from, 'two', 'mcp/request:tools/call:dig', { correlation_id: id, payload });

    await decide('ann', 'two', 'approve', id);
    const { status, json } = await other('ben', { method: 'tools/call', params: { name: 'dig', arguments: { deep: true } } });
    assert.deepEqual([status, json.error, json.path], [409, 'argument_mismatch', '/params/arguments/deep']);
    for (const more of [{ Arguments: { deep: true } }, { arguments: {}, ARGUMENTS: { deep: true } }])
        assert.equal((await other('ben', { method: 'tools/call', params: { name: 'dig', ...more } })).json.error, 'kind_payload_mismatch');
    assert.equal((await fulfil('ben', 'two', id)).status, 200);
});

test('approvals: the first rule that matches says who must approve', async () => {
    const id = await propose('leads', 'deploy_web');

    await decide('ann', 'leads', 'approve', id); // is heard, and does not count
    await decide('ben', 'leads', 'approve', id);
    assert.deepEqual((await shown('leads', `?id=${id}`))[0].approvals, { needed: 2, given: 0, by: [] });
    await decide('lea', 'leads', 'approve', id);
    lacks(await fulfil('ann', 'leads', id, 'deploy_web'), 2, 1);
    assert.equal((await fulfil('leo', 'leads', id, 'deploy_web')).status, 200);
    assert.equal((await fulfil('caller', 'leads', await propose('leads', 'read'), 'read')).status, 200, 'one is enough here');
    lacks(await fulfil('ann', 'leads', await propose('leads', 'else'), 'else'), 2, 0);
});

test('approvals: a kind that names no tool does not get around a rule', async () => {
    const bare = await propose('leads', 'deploy_web', 'tools/call');
    const read = await propose('leads', 'read', 'tools/call');

    lacks(await fulfil('ann', 'leads', bare, 'deploy_web', 'tools/call'), 2, 0);
    lacks(await fulfil('ann', 'leads', bare, 'deploy_web'), 2, 0);
    lacks(await fulfil('ann', 'leads', read, 'deploy_web'), 2, 0);
    lacks(await fulfil('ann', 'leads', read, 'deploy_web', 'tools/call'), 2, 0);
    assert.equal((await fulfil('ann', 'leads', read, 'read', 'tools/call')).status, 200);
});

test('quorum: what was approved is approved after a crash, and how it ended is known', async () => {
    const open = await propose('two');
    const closed = await propose('two');

    await decide('ann', 'two', 'approve', open);
    await decide('ben', 'two', 'reject', closed, { reason: 'not now' });
    await gateway.kill();
    gateway = await gateway.restart();
    const all = await shown('two', '?state=all');
    const one = (id) => all.find((proposal) => proposal.id === id);
    assert.deepEqual([one(open).state, one(open).approvals], ['open', { needed: 2, given: 1, by: ['ann'] }]);
    assert.deepEqual([one(closed).state, one(closed).by, one(closed).reason], ['rejected', 'ben', 'not now']);
    await decide('ann', 'two', 'approve', open);
    lacks(await fulfil('ann', 'two', open), 2, 1);
    assert.equal((await fulfil('cyd', 'two', open)).status, 200);
    assert.equal((await fulfil('ben', 'two', open)).json.state, 'fulfilled');
});

test('what becomes of a proposal is told: rejected, withdrawn, expired', async () => {
    const watcher = await gateway.join('caller', { topic: 'brief' });
    const heard = async () => (await expect(watcher, ({ kind }) => kind === 'system/proposal')).payload;
    const about = { proposer: 'agent', kind: 'mcp/proposal:tools/call:dig' };
    const rejected = await propose('brief');
    const withdrawn = await propose('brief');

    await decide('ann', 'brief', 'reject', rejected, { reason: 'no "way" ü' });
    assert.deepEqual(await heard(), { ...about, proposal: rejected, state: 'rejected', by: 'ann', reason: 'no "way" ü' });
    await decide('agent', 'brief', 'withdraw', withdrawn);
    assert.deepEqual(await heard(), { ...about, proposal: withdrawn, state: 'withdrawn', by: 'agent' });
    const began = Date.now();
    const ids = [await propose('brief'), await propose('brief')];
    await decide('ann', 'brief', 'approve', ids[0]);
    await heard();
    assert.deepEqual(await heard(), { ...about, proposal: ids[0], state: 'expired', approvals: { needed: 2, given: 1, by: ['ann'] } });
    assert.deepEqual(await heard(), { ...about, proposal: ids[1], state: 'expired' });
    assert.ok(Date.now() - began >= 1000, 'not before its time');
    await watcher.close();
});

test('an expiry is noticed after a restart, and one that nobody saw is no news', async () => {
    const id = await propose('brief');
    const later = await say('agent', 'brief', 'mcp/proposal:tools/call:dig',
        { payload: payloadOf('dig'), expires_at: new Date(Date.now() + 9000).toISOString() });

    await gateway.kill();
    gateway = await gateway.restart();
    await new Promise((done) => { setTimeout(done, 1100); });
    const watcher = await gateway.join('caller', { topic: 'brief' });
    assert.deepEqual(watcher.welcome.payload.moot.proposals.map((proposal) => proposal.id), [later.json.id]);
    const { payload } = await expect(watcher, ({ kind }) => kind === 'system/proposal');
    assert.deepEqual([payload.proposal, payload.state], [later.json.id, 'expired'], `and nothing of ${id}`);
    await watcher.close();
});

test('the list takes open, closed or all, and nothing else', async () => {
    for (const query of ['?state=', '?state=fulfilled', '?state=open&state=all'])
        assert.equal((await gateway.request(`GET /topics/two/proposals${query}`, { token: 'ann-token' })).status, 400, query);
    assert.equal((await gateway.request('GET /topics/two/proposals?state=open', { token: 'ann-token' })).status, 200);
});

test('approvals: what is wrong in the configuration is named', async () => {
    for (const [topic, why] of [[{ quorum: 17 }, /quorum/], [{ approvals: [{ quorum: 2 }] }, /needs "kind"/],
        [{ approvals: [{ kind: 'x', profiles: ['nobody'] }] }, /no profile "nobody"/], [{ approvals: [{ kind: '' }] }, /kind/],
        [{ proposals: 'always' }, /exact/]]) {
        await assert.rejects(startGateway({ tokens: [], topics: { defaults: topic } }).then((started) => started.stop()), why);
    }
});
