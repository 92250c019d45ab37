// SPDX-License-Identifier: Apache-2.0
// D19: rates per participant; what is too fast is refused with the time to wait.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { envelope, expect, people, startGateway, takeAll } from './gateway.mjs';

const isLimited = ({ kind, payload }) => kind === 'system/error' && payload.error === 'rate_limited';

// One gateway per set of limits.
async function withGateway(limits, run) {
    const gateway = await startGateway({ tokens: people('fast', 'calm', 'eager'), limits });

    try {
        await run(gateway, await gateway.join('calm'), await gateway.join('fast'));
    } finally {
        await gateway.stop();
    }
}

// Sends `count` chats and gives what came of them: ids that passed, errors.
async function burst(client, count, text = '') {
    const sent = Array.from({ length: count }, () => client.chat(text).id);
    const wanted = new Set(sent);
    const passed = [];
    const errors = [];

    while (wanted.size) {
        const json = await expect(client, (one) => wanted.delete(one.id) || wanted.delete(one.correlation_id));
        if (isLimited(json))
            errors.push(json);
        else
            passed.push(json.id);
    }
    return { sent, passed, errors };
}

test('D19: over rate_messages a chat is refused with rate_limited and retry_after_ms; others go on', async () => {
    await withGateway({ rate_messages: '10/s', burst: '1s' }, async (gateway, calm, fast) => {
        takeAll(calm);
        const { sent, passed, errors } = await burst(fast, 30);

        assert.ok(passed.length >= 10 && passed.length <= 13, `${passed.length} passed`);
        assert.deepEqual(passed.slice(0, 10), sent.slice(0, 10), 'what was saved up passes');
        for (const { to, from, payload } of errors) {
            assert.deepEqual([to, from], [['fast'], 'system:gateway']);
            assert.ok(payload.retry_after_ms > 0 && payload.retry_after_ms <= 100, `${payload.retry_after_ms} ms`);
            assert.match(payload.message, /try again in \d+ ms/);
        }
        assert.deepEqual(errors.map(({ correlation_id }) => correlation_id), sent.filter((id) => !passed.includes(id)));
        const fence = calm.chat('calm is not concerned');
        await expect(calm, ({ id }) => id === fence.id);
        assert.deepEqual(calm.frames.filter(({ json }) => json.from === 'fast').map(({ json }) => json.id), passed,
            'a refused envelope reaches nobody');
        await sleep(errors.at(-1).payload.retry_after_ms + 20);
        assert.equal((await burst(fast, 1)).errors.length, 0, 'after the time it works');
    });
});

test('D19: rate_bytes counts bytes, well-formed or not', async () => {
    await withGateway({ rate_messages: 0, rate_bytes: '10KiB/s', burst: '1s' }, async (gateway, calm, fast) => {
        const first = await burst(fast, 4, 'x'.repeat(3000));
        assert.equal(first.passed.length, 3);
        assert.equal(first.errors.length, 1);
        const { retry_after_ms: wait } = first.errors[0].payload;
        assert.ok(wait > 50 && wait < 300, `${wait} ms`);
        assert.equal((await burst(calm, 3, 'x'.repeat(3000))).errors.length, 0, 'the rate is each one\'s own');
        await sleep(wait + 50);
        assert.equal((await burst(fast, 1, 'x'.repeat(3000))).errors.length, 0);
        fast.send('x'.repeat(3000)); // not an envelope at all, and yet too much
        assert.equal((await expect(fast, ({ kind }) => kind === 'system/error')).payload.error, 'rate_limited');
        await sleep(1100);
        assert.equal((await burst(fast, 1, 'x'.repeat(30_000))).errors.length, 0, 'one envelope always fits a full bucket');
        assert.equal((await burst(fast, 1, 'x'.repeat(5000))).errors.length, 1, 'and empties it');
    });
});

test('D19: reconnecting, another connection and another door do not refill the bucket', async () => {
    await withGateway({ rate_messages: '1/s', burst: '5s' }, async (gateway, calm, fast) => {
        assert.equal((await burst(fast, 6)).passed.length, 5);
        const second = await gateway.join('fast', { isPresent: true });
        assert.equal((await burst(second, 1)).errors.length, 1);
        await Promise.all([fast.close(), second.close()]);
        await expect(calm, ({ payload }) => payload.event === 'leave');
        const back = await gateway.join('fast');
        assert.equal((await burst(back, 1)).errors.length, 1);
        const posted = await gateway.post('fast-token', 'room', envelope('fast'));
        assert.equal(posted.status, 429);
        assert.ok(posted.json.retry_after_ms > 0);
        assert.equal(posted.headers['retry-after'], '1');
        const elsewhere = await gateway.join('fast', { topic: 'elsewhere' });
        assert.equal((await burst(elsewhere, 1)).errors.length, 0, 'rates are per participant and topic');
    });
});

test('D19: persistent abuse closes with 4029, and again after a reconnect', async () => {
    await withGateway({ rate_messages: '2/s', burst: '1s', rate_strikes: 20 }, async (gateway, calm, fast) => {
        for (let n = 0; n < 50; n++)
            fast.chat('again');
        const { code, reason } = await fast.closed();
        assert.deepEqual([code, reason.split(':')[0]], [4029, 'rate_limited']);
        const errors = fast.frames.filter(({ json }) => isLimited(json));
        assert.ok(errors.length >= 20 && errors.length <= 22, `${errors.length} were forgiven`);
        const back = await gateway.join('fast');
        for (let n = 0; n < 50; n++)
            back.chat('again');
        assert.equal((await back.closed()).code, 4029);
        assert.ok(back.frames.filter(({ json }) => isLimited(json)).length <= 3, 'the count was not forgotten');
        const fence = calm.chat('still here');
        await expect(calm, ({ id }) => id === fence.id);
    });
});

test('D19: 0 is unlimited', async () => {
    await withGateway({ rate_messages: 0, rate_bytes: 0 }, async (gateway, calm, fast) => {
        const { passed } = await burst(fast, 5000, 'y'.repeat(100));
        assert.equal(passed.length, 5000);
    });
});

test('D19: a small rate with a short burst is a limit too', async () => {
    await withGateway({ rate_messages: '2/s', burst: '100ms' }, async (gateway, calm, fast) => {
        const { passed, errors } = await burst(fast, 10);
        assert.ok(passed.length >= 1 && passed.length <= 2, `${passed.length} passed`);
        assert.ok(errors.at(-1).payload.retry_after_ms <= 500);
        await sleep(errors.at(-1).payload.retry_after_ms + 20);
        assert.equal((await burst(fast, 1)).passed.length, 1);
    });
});
