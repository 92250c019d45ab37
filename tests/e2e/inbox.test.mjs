// SPDX-License-Identifier: Apache-2.0
// GET /inbox: what waits for somebody's word, in all topics that the asker may enter, and in no other.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { call, everybody, offering, respond, waits } from './authorization.mjs';
import { changesIn, envelope, expect, people, person, startGateway } from './gateway.mjs';
import { until } from './processes.mjs';

let gateway;

afterEach(() => gateway.stop());

const proposing = ['mcp/proposal:*', 'chat'];
const payload = { method: 'tools/call', params: { name: 'dig', arguments: { deep: 3 } } };

async function inbox(token) {
    const { status, json } = await gateway.request('GET /inbox', { token });

    assert.equal(status, 200);
    return json;
}

const named = (items) => items.map(({ topic, id }) => `${topic}:${id}`).sort();

async function propose(id, topic, more = {}) {
    const sent = envelope(id, 'mcp/proposal:tools/call:dig', { payload, ...more });

    assert.equal((await gateway.post(`${id}-token`, topic, sent)).status, 200);
    return sent;
}

const settings = {
    tokens: [
        person('ann', { type: 'human', profile: 'human' }), person('bot', { capabilities: proposing }),
        person('narrow', { topics: ['a'], capabilities: ['mcp/*', 'chat'] }), person('mute', { capabilities: ['chat'] }),
        person('insider', { topics: ['secret', 'a'], capabilities: ['mcp/*'] }), person('root', { profile: 'admin' }),
        person('seer', { topics: ['secret'], capabilities: proposing }), ...people('other'),
    ],
    topics: { named: { secret: { access: 'private' }, staff: { access: 'restricted' }, many: { quorum: 2 } } },
};

test('proposals of all topics come with topic, age, expiry and quorum', async () => {
    gateway = await startGateway(settings);
    const one = await propose('bot', 'a');
    const two = await propose('bot', 'many');

    await gateway.post('other-token', 'many', envelope('other', 'mcp/approve', { correlation_id: two.id }));
    const { items, left_off: rest, now } = await inbox('ann-token');

    assert.equal(rest, 0);
    assert.ok(items.every(({ created, expires }) => created <= now && now < expires), now);
    assert.deepEqual(named(items), [`a:${one.id}`, `many:${two.id}`]);
    const [first] = items.filter((item) => item.topic === 'a');
    const [second] = items.filter((item) => item.topic === 'many');

    assert.deepEqual({ ...first, created: 0, expires: 0 }, {
        topic: 'a', type: 'proposal', id: one.id, proposer: 'bot', kind: 'mcp/proposal:tools/call:dig', state: 'open', created: 0,
        expires: 0, approvals: { needed: 1, given: 0, by: [] }, envelope: one, may: ['approve', 'fulfil', 'reject'],
    });
    assert.ok(Date.parse(first.expires) - Date.parse(first.created) === 300_000);
    assert.deepEqual(second.approvals, { needed: 2, given: 1, by: ['other'] });
    assert.equal((await gateway.post('ann-token', 'a', envelope('ann', 'mcp/reject', { correlation_id: one.id }))).status, 200);
    assert.deepEqual(named((await inbox('ann-token')).items), [`many:${two.id}`], 'what was decided is gone');
});

test('nobody is told of topics that he may not enter', async () => {
    gateway = await startGateway(settings);
    const open = await propose('bot', 'a');
    const secret = await propose('seer', 'secret');

    assert.deepEqual(named((await inbox('ann-token')).items), [`a:${open.id}`], 'a pattern of * opens no private topic');
    assert.deepEqual(named((await inbox('narrow-token')).items), [`a:${open.id}`]);
    assert.deepEqual(named((await inbox('seer-token')).items), [`secret:${secret.id}`]);
    assert.deepEqual(named((await inbox('insider-token')).items), [`a:${open.id}`, `secret:${secret.id}`]);
    assert.deepEqual(named((await inbox('root-token')).items), [`a:${open.id}`, `secret:${secret.id}`], 'administrators enter all');
    assert.equal((await gateway.request('GET /inbox')).status, 401);
    assert.equal((await gateway.request('POST /admin/members/narrow/kick?topic=a', { token: 'root-token' })).status, 404);
    await gateway.join('narrow', { topic: 'a' });
    assert.equal((await gateway.request('POST /admin/members/narrow/kick?topic=a', { token: 'root-token' })).status, 200);
    assert.deepEqual((await inbox('narrow-token')).items, [], 'who was kicked is kept out');
});

test('each is told what he may do about it', async () => {
    gateway = await startGateway(settings);
    await propose('bot', 'a');
    const may = async (token) => (await inbox(token)).items[0].may;

    assert.deepEqual(await may('ann-token'), ['approve', 'fulfil', 'reject']);
    assert.deepEqual(await may('bot-token'), ['withdraw'], 'nobody decides on his own');
    assert.deepEqual(await may('mute-token'), []);
});

test('proposals of topics where nobody has been since a restart are in it', async () => {
    gateway = await startGateway(settings);
    const open = await propose('bot', 'many');

    await gateway.kill();
    gateway = await gateway.restart();
    const { items } = await inbox('ann-token');

    assert.deepEqual(named(items), [`many:${open.id}`]);
    assert.deepEqual(items[0].approvals, { needed: 2, given: 0, by: [] }, 'by the terms of its topic');
    assert.deepEqual(items[0].envelope, open);
});

test('longer envelopes are left out', async () => {
    gateway = await startGateway(settings);
    const long = await propose('bot', 'a', { payload: { ...payload, pad: 'x'.repeat(70_000) } });
    const { items: [item] } = await inbox('ann-token');

    assert.equal(item.id, long.id);
    assert.equal(item.envelope, undefined);
});

test('calls to be authorized are in it until somebody has decided', async () => {
    gateway = await startGateway({ tokens: [...everybody, person('chatty', { capabilities: ['chat'] })],
        servers: { tool: offering({ mode: 'always-prompt' }) } });
    const ann = await gateway.join('ann');
    const bot = await gateway.join('bot');

    if (!ann.welcome.payload.participants.some((one) => one.id === 'tool'))
        await expect(ann, (json) => changesIn(json).some((one) => one.event === 'join' && one.id === 'tool'));
    const sent = call(bot, 'who', { target: 'production' });
    const { first, asked } = await waits(bot, sent, { by: ann });
    const request = first.payload.error.data.authorizationRequest;
    const { items: [item, ...more] } = await inbox('ann-token');

    assert.equal(more.length, 0);
    assert.deepEqual({ ...item, created: 0 }, {
        topic: 'room', type: 'authorization', id: asked.id, owner: 'tool', authorizationId: request.id, request: sent.id, tool: 'who',
        requester: 'bot', reason: request.reason, created: 0, expires: request.expiresAt, arguments: { target: 'production' },
        may: ['respond'],
    });
    assert.deepEqual((await inbox('bot-token')).items[0].may, [], 'not on his own call');
    assert.deepEqual((await inbox('chatty-token')).items[0].may, []);
    respond(ann, asked, 'approve');
    await expect(bot, (json) => json.kind === 'mcp/response:tools/call:who' && json.correlation_id === sent.id);
    assert.deepEqual((await inbox('ann-token')).items, []);
});

test('a call to be authorized is not in it when its owner has gone, and when the owner has answered', async () => {
    gateway = await startGateway({ tokens: everybody });
    const ops = await gateway.join('ops');
    const ask = async (id) => {
        const params = { id, tool: 'rm', requester: 'bot', expiresAt: new Date(Date.now() + 60_000) };
        const sent = ops.send(envelope('ops', 'mcp/request:notifications/authorization/request', {
            correlation_id: `call-${id}`, to: ['eva'], payload: { method: 'notifications/authorization/request', params } }));

        await expect(ops, (json) => json.id === sent.id);
    };

    await ask('one');
    await ask('two');
    assert.deepEqual((await inbox('eva-token')).items.map(({ asked, may }) => [asked, may]), [['eva', ['respond']], ['eva', ['respond']]]);
    assert.deepEqual((await inbox('ann-token')).items.map(({ may }) => may), [[], []], 'eva alone is asked');
    ops.send(envelope('ops', 'mcp/response:tools/call:rm', { correlation_id: 'call-one', payload: { result: {} } }));
    await until(async () => (await inbox('eva-token')).items.length === 1);
    await ops.close();
    await until(async () => (await inbox('eva-token')).items.length === 0);
});
