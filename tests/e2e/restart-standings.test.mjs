// SPDX-License-Identifier: Apache-2.0
// Pauses, and the bar after a kick, survive a crash.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { envelope, expect, people, person, startGateway } from './gateway.mjs';

const config = {
    tokens: [...people('bot', 'eve'), person('boss', { profile: 'admin' }),
        person('mod', { capabilities: ['participant/*', 'chat'] })],
    limits: { rate_messages: 0 },
};
const topics = ['one', 'two', 'three', 'four'];

async function crash(gateway, options) {
    await gateway.kill();
    return gateway.restart(options);
}

async function act(gateway, verb, id, topic) {
    const { status, text } = await gateway.request(`POST /admin/members/${id}/${verb}${topic ? `?topic=${topic}` : ''}`, { token: 'boss-token' });

    assert.equal(status, 200, text);
}

async function isPaused(gateway, id, topic) {
    const { status, json } = await gateway.post(`${id}-token`, topic, envelope(id, 'mcp/request:tools/list'));

    return status >= 300 && (assert.equal(json.error, 'paused'), true);
}

const isBarred = (gateway, id, topic) =>
    gateway.post(`${id}-token`, topic, envelope(id)).then(({ status }) => status === 403);

async function moderate(mod, verb, participant) {
    const { id } = mod.send(envelope('mod', `participant/${verb}`, { payload: { participant } }));
    const json = await expect(mod, (one) => one.id === id || one.correlation_id === id);

    return json.payload.error ?? 'done';
}

for (const [before, after] of [[1, 1], [2, 2], [2, 1], [1, 3]]) {
    test(`pauses hold after a crash until they are lifted, ${before} workers and then ${after}`, async () => {
        let gateway = await startGateway(config, { workers: before });

        for (const topic of topics) {
            const mod = await gateway.join('mod', { topic });
            await gateway.join('bot', { topic });
            await gateway.join('eve', { topic });
            assert.equal(await moderate(mod, 'pause', 'bot'), 'done');
        }
        await act(gateway, 'pause', 'eve', 'one');
        await act(gateway, 'pause', 'eve', 'two');
        await act(gateway, 'resume', 'eve', 'two');
        await act(gateway, 'pause', 'mod');
        gateway = await crash(gateway, { workers: after });
        for (const topic of topics) {
            assert.ok(await isPaused(gateway, 'bot', topic));
            assert.equal(await isPaused(gateway, 'eve', topic), topic === 'one');
            assert.ok((await gateway.post('mod-token', topic, envelope('mod', 'participant/x'))).status >= 300);
        }
        await act(gateway, 'resume', 'mod');
        const mod = await gateway.join('mod', { topic: 'one' });
        assert.equal(await moderate(mod, 'resume', 'eve'), 'forbidden', 'an administrator has paused it');
        assert.equal(await moderate(mod, 'resume', 'bot'), 'done');
        await act(gateway, 'resume', 'bot', 'two');
        gateway = await crash(gateway, { workers: before });
        assert.ok(!await isPaused(gateway, 'bot', 'one'));
        await act(gateway, 'resume', 'bot', 'three'); // where nobody has been since
        assert.ok(!await isPaused(gateway, 'bot', 'two'));
        assert.ok(!await isPaused(gateway, 'bot', 'three'));
        assert.ok(await isPaused(gateway, 'bot', 'four'));
        assert.ok(await isPaused(gateway, 'eve', 'one'));
        await act(gateway, 'resume', 'bot'); // everywhere
        await act(gateway, 'resume', 'eve');
        gateway = await crash(gateway, { workers: before });
        assert.ok(!await isPaused(gateway, 'bot', 'four'));
        assert.doesNotMatch(gateway.stderr(), /state\.restore/, 'nothing is left of it');
        await gateway.stop();
    });
}

test('whoever was kicked stays out for as long as it was said, a crash or not', async () => {
    let gateway = await startGateway({ ...config, limits: { ...config.limits, kick_bar: '8s' } });
    const mod = await gateway.join('mod');
    const bot = await gateway.join('bot');

    await gateway.join('eve');
    const began = Date.now();
    assert.equal(await moderate(mod, 'kick', 'bot'), 'done');
    assert.equal((await bot.closed()).code, 4003);
    await act(gateway, 'kick', 'eve');
    const since = Date.now();
    gateway = await crash(gateway);
    const [barred, elsewhere, everywhere] = [await isBarred(gateway, 'bot', 'room'), await isBarred(gateway, 'bot', 'other'),
        await isBarred(gateway, 'eve', 'other')];
    if (Date.now() - began < 7500) // else the machine was too slow to tell
        assert.deepEqual([barred, elsewhere, everywhere], [true, false, true]);
    await sleep(Math.max(0, since + 8100 - Date.now()));
    assert.ok(!await isBarred(gateway, 'bot', 'room'));
    assert.ok(!await isBarred(gateway, 'eve', 'other'));
    await gateway.stop();
});

test('a bar that runs out while the gateway is down is over, and kept no more', async () => {
    let gateway = await startGateway({ ...config, limits: { ...config.limits, kick_bar: '1s' } });

    await gateway.join('bot');
    await act(gateway, 'kick', 'bot', 'room');
    await gateway.kill();
    await sleep(1100);
    gateway = await gateway.restart();
    assert.ok(!await isBarred(gateway, 'bot', 'room'));
    assert.doesNotMatch(gateway.stderr(), /state\.restore/);
    await gateway.stop();
});
