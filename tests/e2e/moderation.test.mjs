// SPDX-License-Identifier: Apache-2.0
// participant/pause, /resume and /kick in the room: who may, on whom, and what happens.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';

let gateway;
let topics = 0;

before(async () => {
    gateway = await startGateway({
        tokens: [
            person('boss', { profile: 'admin' }), person('chief', { profile: 'admin' }),
            person('mod', { capabilities: ['participant/*', 'chat'] }),
            person('bot'), person('eve'),
        ],
    });
});
after(() => gateway.stop());

async function room(...ids) {
    const topic = `moderation-${++topics}`;
    const clients = [];

    for (const id of ids)
        clients.push(await gateway.join(id, { topic }));
    return [topic, ...clients];
}

const act = (client, verb, participant, more = {}) =>
    client.send(envelope(client.id, `participant/${verb}`, { payload: participant === undefined ? {} : { participant }, ...more }));
const seen = (client, { id }) => expect(client, (json) => json.id === id);
const refusal = async (client, { id }) => (await expect(client, (json) => json.correlation_id === id)).payload;

async function call(client) {
    const { id } = client.send(envelope(client.id, 'mcp/request:tools/list'));
    const json = await expect(client, (one) => one.id === id || one.correlation_id === id);
    return json.id === id ? 'ok' : json.payload.error;
}

test('a pause holds at once and in this topic only; answers and chat still pass', async () => {
    const [topic, mod, bot, eve] = await room('mod', 'bot', 'eve');
    const elsewhere = await gateway.join('bot', { topic: `${topic}-other` });
    const sent = act(mod, 'pause', 'bot');

    assert.deepEqual(await seen(eve, sent), sent, 'everyone sees it');
    await seen(bot, sent);
    assert.equal(await call(bot), 'paused');
    assert.equal(await call(elsewhere), 'ok');
    bot.chat('still here', { id: `chat-${topic}` });
    await expect(eve, ({ id }) => id === `chat-${topic}`);
    assert.equal((await gateway.post('bot-token', topic, envelope('bot', 'mcp/request:x'))).json.error, 'paused');
    const { json } = await gateway.request(`GET /admin/members?topic=${topic}`, { token: 'boss-token' });
    assert.equal(json.members.find(({ participantId }) => participantId === 'bot').paused, true);
    const resumed = act(mod, 'resume', undefined, { to: ['bot'] });
    await seen(bot, resumed);
    assert.equal(await call(bot), 'ok');
});

test('a kick is seen by the one it concerns, closes with 4003 and bars here', async () => {
    const [topic, mod, bot, eve] = await room('mod', 'bot', 'eve');
    const second = await gateway.join('bot', { topic, isPresent: true });
    const elsewhere = await gateway.join('bot', { topic: `${topic}-other` });
    const sent = act(mod, 'kick', 'bot', { payload: { participant: 'bot', reason: 'noise' } });

    for (const client of [bot, second]) {
        assert.deepEqual(await seen(client, sent), sent);
        assert.equal((await client.closed()).code, 4003);
    }
    await expect(eve, ({ kind, payload }) => kind === 'system/presence' && payload.event === 'leave');
    assert.equal((await gateway.refusal('bot', { topic })).status, 403);
    assert.equal(await call(elsewhere), 'ok');
    const posted = await gateway.post('mod-token', topic, envelope('mod', 'participant/kick', { to: ['eve'] }));
    assert.equal(posted.status, 200, 'over HTTP as well');
    assert.equal((await eve.closed()).code, 4003);
});

test('only who holds the kind may', async () => {
    const [, bot] = await room('bot', 'eve');

    for (const verb of ['pause', 'resume', 'kick'])
        assert.equal((await refusal(bot, act(bot, verb, 'eve'))).error, 'capability_violation');
});

test('nobody moderates himself, somebody unknown, or several at once', async () => {
    const [, mod] = await room('mod', 'bot', 'eve');

    for (const verb of ['pause', 'resume', 'kick']) {
        assert.equal((await refusal(mod, act(mod, verb, 'mod'))).error, 'forbidden');
        assert.equal((await refusal(mod, act(mod, verb, 'stranger'))).error, 'not_found');
        assert.equal((await refusal(mod, act(mod, verb, 'boss'))).error, 'not_found', 'has a token, is not here');
        for (const more of [{}, { to: ['bot', 'eve'] }, { payload: { participant: ['bot'] } }, { payload: { participant: 'bot', why: 1 } }]) {
            const error = await refusal(mod, act(mod, verb, undefined, more));
            assert.deepEqual([error.error, /^payload/.test(error.field)], ['malformed_envelope', true]);
        }
    }
});

test('administrators are moderated by administrators only', async () => {
    const [, mod, boss, chief] = await room('mod', 'boss', 'chief');

    for (const verb of ['pause', 'resume', 'kick'])
        assert.equal((await refusal(mod, act(mod, verb, 'boss'))).error, 'forbidden');
    const sent = act(chief, 'pause', 'boss');
    await seen(boss, sent);
    assert.equal(await call(boss), 'paused');
    const kicked = act(chief, 'kick', 'boss');
    await seen(boss, kicked);
    assert.equal((await boss.closed()).code, 4003);
});

test('who was paused everywhere by an administrator is not resumed by others', async () => {
    const [, mod, bot, boss] = await room('mod', 'bot', 'boss');
    const token = 'boss-token';

    assert.equal((await gateway.request('POST /admin/members/bot/pause', { token })).status, 200);
    assert.equal((await refusal(mod, act(mod, 'resume', 'bot'))).error, 'forbidden');
    assert.equal(await call(bot), 'paused');
    await seen(boss, act(boss, 'resume', 'bot'));
    assert.equal(await call(bot), 'ok');
    assert.equal((await gateway.request('POST /admin/members/bot/resume', { token })).status, 200);
});

for (const [name, pause] of Object.entries({
    'by the endpoint': (topic) => gateway.request(`POST /admin/members/bot/pause?topic=${topic}`, { token: 'boss-token' }),
    'in the room': (topic, boss) => seen(boss, act(boss, 'pause', 'bot')),
}))
    test(`whom an administrator has paused in this topic, ${name}, others neither resume nor pause away`, async () => {
        const [topic, mod, bot, boss] = await room('mod', 'bot', 'boss');

        await pause(topic, boss);
        await seen(mod, act(mod, 'pause', 'bot'));
        assert.equal((await refusal(mod, act(mod, 'resume', 'bot'))).error, 'forbidden');
        assert.equal(await call(bot), 'paused');
        await seen(boss, act(boss, 'resume', 'bot'));
        assert.equal(await call(bot), 'ok');
        await seen(mod, act(mod, 'pause', 'bot'));
        await seen(mod, act(mod, 'resume', 'bot'));
        assert.equal(await call(bot), 'ok', 'that was his own pause');
    });

test('participant/status is passed on', async () => {
    const [, mod, bot] = await room('mod', 'bot');
    const sent = mod.send(envelope('mod', 'participant/status', { payload: { status: 'away' } }));

    assert.deepEqual(await seen(bot, sent), sent);
});
