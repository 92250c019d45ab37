// SPDX-License-Identifier: Apache-2.0
// Members and topics as an administrator sees them; kick, pause and resume.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, patience, people, person, startGateway } from './gateway.mjs';
import { until } from './processes.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [...people('alice', 'bob', 'carol'), person('boss', { profile: 'admin' })],
        limits: { kick_bar: '4s' },
    });
});
after(() => gateway.stop());

const admin = (line) => gateway.request(line, { token: 'boss-token' });
const members = async (topic) => (await admin(`GET /admin/members?topic=${topic}`)).json.members;

// Whoever was kicked comes back as soon as his bar is over.
async function letIn(id, options) {
    let client;

    await until(async () => (client = await gateway.join(id, options).catch(() => null)), `${id} is let in again`);
    return client;
}

async function fate(client, sent) {
    const json = await expect(client, ({ id, correlation_id }) => id === sent.id || correlation_id === sent.id);
    return json.id === sent.id ? 'passed' : json.payload.error;
}

test('members: the list has the fields of the seed\'s 10.1, one entry per connection', async () => {
    const first = await gateway.join('alice', { topic: 'listed' });
    await gateway.join('alice', { topic: 'listed', isPresent: true, routing: 'directed', dialect: 'dotted' });
    await gateway.join('bob', { topic: 'listed-too' });
    const listed = await members('listed');

    assert.equal(listed.length, 2);
    for (const { connectionId, participantId, capabilities, connectedAt } of listed) {
        assert.match(connectionId, /^ws-\d+-\d+$/);
        assert.equal(participantId, 'alice');
        assert.deepEqual(capabilities, ['mcp/*', 'chat']);
        assert.ok(Math.abs(Date.parse(connectedAt) - Date.now()) < patience);
    }
    assert.notEqual(listed[0].connectionId, listed[1].connectionId);
    assert.deepEqual(listed.map(({ routing }) => routing).sort(), ['all', 'directed']);
    assert.deepEqual(listed.map(({ dialect }) => dialect).sort(), ['dotted', 'slash']);
    const all = (await admin('GET /admin/members')).json.members;
    assert.equal(new Set(all.map(({ connectionId }) => connectionId)).size, all.length, 'names are unique over the workers');
    assert.deepEqual(new Set(all.map(({ topic }) => topic)), new Set(['listed', 'listed-too']));
    await first.close();
    assert.equal((await members('listed')).length, 1);
    assert.deepEqual(await members('empty'), []);
});

test('topics: the lists count participants, and show each caller what it may enter', async () => {
    const { json: { token } } = await gateway.request('POST /admin/tokens',
        { token: 'boss-token', json: { id: 'guest', topics: ['counted-1', 'other*'], profile: 'full' } });
    await gateway.join('alice', { topic: 'counted-1' });
    await gateway.join('alice', { topic: 'counted-1', isPresent: true });
    await gateway.join('bob', { topic: 'counted-1' });
    await gateway.join('bob', { topic: 'counted-2' });
    const counted = (await admin('GET /admin/topics')).json.topics.filter(({ name }) => name.startsWith('counted'));

    assert.deepEqual(counted.map(({ name, participants, connections }) => `${name} ${participants} ${connections}`).sort(),
        ['counted-1 2 3', 'counted-2 1 1']);
    const shown = await gateway.request('GET /topics', { token });
    assert.deepEqual(shown.json.topics, [{ name: 'counted-1', participants: 2 }]);
    const present = await gateway.request('GET /topics/counted-1/participants', { token });
    assert.deepEqual(present.json.participants.map(({ id }) => id).sort(), ['alice', 'bob']);
    assert.equal((await gateway.request('GET /topics/counted-2/participants', { token })).status, 403);
});

test('kick: closes all of its connections with 4003, bars it for a while, and the room sees it leave', async () => {
    const bob = await gateway.join('bob', { topic: 'kick' });
    const first = await gateway.join('alice', { topic: 'kick' });
    const second = await gateway.join('alice', { topic: 'kick', isPresent: true });
    const elsewhere = await gateway.join('alice', { topic: 'kept' });
    const { status, json } = await admin('POST /admin/members/alice/kick?topic=kick');

    assert.deepEqual([status, json], [200, { participantId: 'alice', done: 'kick', topics: 1 }]);
    for (const client of [first, second])
        assert.deepEqual(await client.closed(), { code: 4003, reason: 'removed from the topic' });
    await expect(bob, ({ payload }) => payload.event === 'leave' && payload.participant.id === 'alice');
    assert.equal((await gateway.refusal('alice', { topic: 'kick' })).status, 403);
    assert.equal((await gateway.post('alice-token', 'kick', envelope('alice'))).status, 403, 'at the other door too');
    assert.equal(await fate(elsewhere, elsewhere.chat('here')), 'passed', 'other topics are not concerned');
    await letIn('alice', { topic: 'kick' });
});

test('kick: without ?topic= it is everywhere', async () => {
    const clients = await Promise.all(['k1', 'k2', 'k3', 'k4'].map((topic) => gateway.join('carol', { topic })));

    assert.equal((await admin('POST /admin/members/carol/kick')).json.topics, 4);
    for (const client of clients)
        assert.equal((await client.closed()).code, 4003);
    for (const topic of ['k1', 'k2', 'k3', 'k4', 'k5-where-nobody-was'])
        assert.equal((await gateway.refusal('carol', { topic })).status, 403);
});

test('pause: without ?topic= it holds in topics that come later, until resumed', async () => {
    assert.equal((await admin('POST /admin/members/carol/pause')).status, 200);
    const carol = await letIn('carol', { topic: 'later' }); // when the bar of the kick above is over
    const request = () => carol.send(envelope('carol', 'mcp/request:tools/list'));

    assert.equal(await fate(carol, request()), 'paused');
    assert.equal((await admin('POST /admin/members/carol/resume')).status, 200);
    assert.equal(await fate(carol, request()), 'passed');
    await carol.close();
});

test('pause: who is paused may still chat and answer, nothing else, on every connection, until resumed', async () => {
    const bob = await gateway.join('bob', { topic: 'pause' });
    const second = await gateway.join('bob', { topic: 'pause', isPresent: true });
    const alice = await gateway.join('alice', { topic: 'pause' });
    const request = (client) => client.send(envelope(client.id, 'mcp/request:tools/list'));
    const asked = request(alice);

    assert.equal(await fate(bob, asked), 'passed');
    assert.equal((await admin('POST /admin/members/bob/pause?topic=pause')).json.done, 'pause');
    assert.equal((await members('pause')).filter(({ paused }) => paused).length, 2);
    for (const client of [bob, second]) {
        assert.equal(await fate(client, request(client)), 'paused');
        assert.equal(await fate(client, client.send(envelope('bob', 'mcp/proposal:tools/call'))), 'paused');
        assert.equal(await fate(client, client.chat('I may speak')), 'passed');
    }
    assert.equal(await fate(bob, bob.send(envelope('bob', 'mcp/response:tools/list', { correlation_id: asked.id }))), 'passed');
    await Promise.all([bob.close(), second.close()]);
    const back = await gateway.join('bob', { topic: 'pause' });
    assert.equal(await fate(back, request(back)), 'paused', 'a reconnect does not help');
    const posted = await gateway.post('bob-token', 'pause', envelope('bob', 'mcp/request:tools/list'));
    assert.deepEqual([posted.status >= 400, posted.json.type?.includes('paused') || posted.json.error === 'paused' || /paused/.test(posted.text)], [true, true]);
    assert.equal(await fate(alice, request(alice)), 'passed', 'others go on');
    assert.equal((await admin('POST /admin/members/bob/resume')).json.done, 'resume');
    assert.equal(await fate(back, request(back)), 'passed');
});

test('members: nobody of that name is 404, a bad topic 400', async () => {
    for (const act of ['kick', 'pause', 'resume']) {
        assert.equal((await admin(`POST /admin/members/stranger/${act}`)).status, 404);
        assert.equal((await admin(`POST /admin/members/alice/${act}?topic=nowhere`)).status, 404);
        assert.equal((await admin(`POST /admin/members/alice/${act}?topic=.x`)).status, 400);
        assert.equal((await admin(`GET /admin/members/alice/${act}`)).status, 405);
    }
    assert.equal((await admin('POST /admin/members/alice/promote')).status, 404);
});
