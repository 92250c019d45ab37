// SPDX-License-Identifier: Apache-2.0
// What a credential that expires gives, to those it grants to and to those it invites, ends no later than itself.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';

const end = new Date(Date.now() + 1800_000).toISOString();
const later = new Date(Date.now() + 1801_000).toISOString();
const capabilities = ['capability/*', 'topic/invite', 'mcp/*', 'chat'];
let gateway;
let topics = 0;

before(async () => {
    gateway = await startGateway({
        tokens: [person('boss', { admin: true, capabilities }), person('deputy', { admin: true, capabilities, expires_at: end }),
            person('temp', { capabilities, expires_at: end }), person('bot', { capabilities: ['chat'] })],
    });
});
after(() => gateway.stop());

const newTopic = () => `lasting-${++topics}`;
const redeem = async (ticket) => (await gateway.request('POST /session', { json: { ticket } })).json;

async function sessionOf(id) {
    const { json } = await gateway.request('POST /admin/link', { token: `${id}-token` });
    return redeem(json.ticket);
}

// Which ends may a grant have, if this credential gives it?
async function mayGrantUntil(id, token, topic = newTopic()) {
    const ends = [undefined, later, end];
    const may = [];

    for (const expires_at of ends) {
        const { status, json } = await gateway.post(token, topic,
            envelope(id, 'capability/grant', { payload: { recipient: 'bot', capabilities: ['mcp/request:x'], expires_at } }));
        assert.ok(status === 200 || (json.error === 'forbidden' && json.field === 'payload.expires_at'), JSON.stringify(json));
        may.push(status === 200);
    }
    return may;
}

test('a grant ends no later than the token of the granter, and needs an end if that has one', async () => {
    assert.deepEqual(await mayGrantUntil('temp', 'temp-token'), [false, false, true]);
    assert.deepEqual(await mayGrantUntil('boss', 'boss-token'), [true, true, true]);
});

test('what a session grants is bounded by the token behind it, not by the session', async () => {
    assert.deepEqual(await mayGrantUntil('boss', (await sessionOf('boss')).token), [true, true, true]);
    const session = await sessionOf('deputy');
    assert.equal(session.expires_at, end);
    assert.deepEqual(await mayGrantUntil('deputy', session.token), [false, false, true]);
});

test('an invitation, its session and whatever the guest gives end with the inviter', async () => {
    const topic = newTopic();
    const invite = (token, from, participant) => gateway.post(token, topic,
        envelope(from, 'topic/invite', { payload: { participant, capabilities, expires_in: 7200 } }));
    const { json } = await invite('temp-token', 'temp', 'second');
    const second = await redeem(json.ticket);

    assert.deepEqual([json.expires_at, second.expires_at], [end, end]);
    assert.deepEqual(await mayGrantUntil('second', second.token, topic), [false, false, true]);
    const third = await redeem((await invite(second.token, 'second', 'third')).json.ticket);
    assert.equal(third.expires_at, end);
    assert.deepEqual(await mayGrantUntil('third', third.token, topic), [false, false, true]);
});

test('whoever was invited by somebody who stays may give for good', async () => {
    const topic = newTopic();
    const { json } = await gateway.post('boss-token', topic,
        envelope('boss', 'topic/invite', { payload: { participant: 'lasting-guest', capabilities, expires_in: 60 } }));
    const guest = await redeem(json.ticket);

    assert.ok(guest.expires_at > end);
    assert.deepEqual(await mayGrantUntil('lasting-guest', guest.token, topic), [true, true, true]);
});

test('what a passing credential was granted for good is not passed on for good', async () => {
    const topic = newTopic();
    const boss = await gateway.join('boss', { topic });
    const { id } = boss.send(envelope('boss', 'capability/grant', { payload: { recipient: 'temp', capabilities: ['mcp/*'] } }));

    await expect(boss, ({ kind, correlation_id }) => kind === 'capability/grant-ack' && correlation_id === id);
    assert.deepEqual(await mayGrantUntil('temp', 'temp-token', topic), [false, false, true]);
});
