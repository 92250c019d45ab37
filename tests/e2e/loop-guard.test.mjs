// SPDX-License-Identifier: Apache-2.0
// Agents that talk among themselves are held up after so many envelopes, until a human speaks or an
// administrator resets the guard.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, expectOnly, person, startGateway } from './gateway.mjs';

const limit = 5;
let gateway;

before(async () => {
    gateway = await startGateway({
        topics: { defaults: { loop_guard: limit }, named: { free: { loop_guard: 'off' }, usual: {} } },
        tokens: [person('bot'), person('peer'), person('human', { type: 'human' }), person('tool', { type: 'service' }),
            person('boss', { profile: 'admin' })],
    });
});
after(() => gateway.stop());

const ask = (client, method = 'tools/list') => client.send(envelope(client.id, `mcp/request:${method}`, { payload: { method } }));
const guardOf = async (topic) => (await gateway.request('GET /admin/topics', { token: 'boss-token' }))
    .json.topics.find(({ name }) => name === topic).loop_guard;
const trips = async () => Number(/^moot_loop_guard_trips_total (\d+)$/m.exec((await gateway.request('GET /metrics')).text)[1]);

async function meet(topic) {
    const bot = await gateway.join('bot', { topic });
    const human = await gateway.join('human', { topic });
    await expect(bot, (json) => json.payload.participant?.id === 'human');
    return { bot, human };
}

// Agents say as much as they may, by both doors.
async function exhaust(bot, topic) {
    for (let i = 0; i < limit - 1; i++) {
        const { id } = ask(bot);
        assert.equal((await bot.next()).id, id);
    }
    assert.equal((await gateway.post('peer-token', topic, envelope('peer'))).status, 200);
    assert.equal((await bot.next()).from, 'peer');
}

test('at the limit requests of agents are refused, and the room hears of it once', async () => {
    const { bot, human } = await meet('room');
    const before = await trips();
    await exhaust(bot, 'room');
    await expect(human, (json) => json.from === 'peer');
    const { id } = ask(bot);
    const { payload: error, correlation_id: about } = await bot.next();
    assert.equal(about, id);
    assert.deepEqual([error.error, error.count, error.limit], ['loop_guard', limit, limit]);
    for (const client of [bot, human]) {
        const { kind, from, to, payload } = await client.next();
        assert.deepEqual([kind, from, to], ['system/notice', 'system:gateway', undefined]);
        assert.deepEqual([payload.notice, payload.count, payload.limit], ['loop_guard', limit, limit]);
        assert.match(payload.message, /human/);
    }
    ask(bot);
    assert.equal((await bot.next()).payload.error, 'loop_guard');
    const posted = await gateway.post('peer-token', 'room', envelope('peer', 'mcp/request:tools/list'));
    assert.deepEqual([posted.status, posted.json.error, posted.json.count, posted.json.limit], [403, 'loop_guard', limit, limit]);
    assert.deepEqual(await guardOf('room'), { count: limit, limit });
    assert.equal(await trips(), before + 1);

    // Everything else goes on: talk, answers, proposals, notifications; services and humans ask as before.
    for (const [kind, more] of [['chat'], ['mcp/response:tools/list', { correlation_id: 'x' }], ['mcp/proposal:tools/call'],
        ['mcp/request:notifications/progress']]) {
        const sent = bot.send(envelope('bot', kind, more));
        assert.equal((await bot.next()).id, sent.id);
    }
    assert.equal((await gateway.post('tool-token', 'room', envelope('tool', 'mcp/request:tools/list'))).status, 200);
    assert.equal((await bot.next()).from, 'tool');
    ask(bot);
    assert.deepEqual([(await bot.next()).payload].map(({ error: name, count }) => [name, count]), [['loop_guard', limit + 4]]);

    // A human speaks, and they may go on until the next time, of which the room hears again.
    const word = human.chat('go on');
    await expect(human, (json) => json.id === word.id);
    assert.equal((await bot.next()).id, word.id);
    assert.deepEqual(await guardOf('room'), { count: 0, limit });
    await exhaust(bot, 'room');
    ask(bot);
    assert.equal((await bot.next()).payload.error, 'loop_guard');
    assert.equal((await bot.next()).kind, 'system/notice');
    await Promise.all([bot.close(), human.close()]);
});

test('an administrator resets the guard', async () => {
    const { bot, human } = await meet('reset');
    const reset = (topic, token) => gateway.request(`POST /admin/topics/${topic}/loop-guard/reset`, { token });

    await exhaust(bot, 'reset');
    ask(bot);
    assert.equal((await bot.next()).payload.error, 'loop_guard');
    assert.equal((await bot.next()).kind, 'system/notice');
    assert.equal((await reset('reset', 'human-token')).status, 403);
    const done = await reset('reset', 'boss-token');
    assert.deepEqual([done.status, done.json], [200, { topic: 'reset', was: limit }]);
    const { id } = ask(bot);
    assert.equal((await bot.next()).id, id);
    assert.equal((await reset('nowhere', 'boss-token')).status, 404);
    assert.equal((await reset('.bad', 'boss-token')).status, 400);
    await Promise.all([bot.close(), human.close()]);
});

test('what is refused, and a change of routing, is no speech', async () => {
    const { bot, human } = await meet('silent');
    await exhaust(bot, 'silent');
    human.send(envelope('human', 'participant/routing', { payload: { mode: 'all' } }));
    human.send(envelope('human', 'no/such/right'));
    await expect(human, (json) => json.kind === 'system/error');
    assert.equal((await guardOf('silent')).count, limit);
    ask(bot);
    assert.equal((await bot.next()).payload.error, 'loop_guard');
    await Promise.all([bot.close(), human.close()]);
});

test('what agents address to services alone neither counts nor is held up', async () => {
    const { bot, human } = await meet('tools');
    const tool = await gateway.join('tool', { topic: 'tools' });
    await expect(bot, (json) => json.payload.participant?.id === 'tool');
    const call = (...to) => bot.send(envelope('bot', 'mcp/request:tools/list', { to, payload: { method: 'tools/list' } }));
    const passes = async ({ id }) => assert.equal((await bot.next()).id, id);

    for (let i = 0; i < 2 * limit; i++)
        await passes(call('tool'));
    assert.equal((await guardOf('tools')).count, 0);
    await passes(call('tool', 'human'));
    await passes(call('nobody'));
    assert.equal((await guardOf('tools')).count, 2);
    for (let i = 2; i < limit; i++)
        await passes(ask(bot));
    for (const to of [['tool', 'human'], ['tool', 'nobody'], ['nobody']]) {
        const { id } = call(...to);
        const refused = await expect(bot, (json) => json.correlation_id === id);
        assert.equal(refused.payload.error, 'loop_guard');
    }
    const { id } = call('tool');
    await expect(tool, (json) => json.id === id);
    assert.equal((await guardOf('tools')).count, limit);
    await Promise.all([bot.close(), human.close(), tool.close()]);
});

test('a topic may have no guard', async () => {
    const { bot, human } = await meet('free');
    for (let i = 0; i < 3 * limit; i++) {
        const { id } = ask(bot);
        assert.equal((await bot.next()).id, id);
    }
    assert.deepEqual(await guardOf('free'), { count: 3 * limit, limit: null });
    await expect(human, (json) => json.id === bot.latest.json.id);
    await expectOnly([bot], bot);
    await Promise.all([bot.close(), human.close()]);
});
