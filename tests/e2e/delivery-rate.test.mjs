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

// Sends `count` chats and gives what came of them: ids that passed, errors, and the seconds it took,
// in which the bucket is filled again.
async function burst(client, count, text = '') {
    const started = performance.now();
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
    return { sent, passed, errors, seconds: (performance.now() - started) / 1000 };
}

test('D19: over rate_messages a chat is refused with rate_limited and retry_after_ms; others go on', async () => {
    await withGateway({ rate_messages: '10/s', burst: '1s' }, async (gateway, calm, fast) => {
        takeAll(calm);
        const { sent, passed, errors, seconds } = await burst(fast, 60);

        assert.ok(passed.length >= 10 && passed.length <= 10 + Math.ceil(10 * seconds), `${passed.length} passed in ${seconds} s`);
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
        const { passed, errors, seconds } = await burst(fast, 12, 'x'.repeat(3000));
        assert.ok(passed.length >= 3 && passed.length <= 3 + Math.ceil(10_240 / 3000 * seconds), `${passed.length} passed in ${seconds} s`);
        const { retry_after_ms: wait } = errors[0].payload;
        assert.ok(wait > 50 - 1000 * seconds && wait > 0 && wait < 320, `${wait} ms`);
        assert.equal((await burst(calm, 3, 'x'.repeat(3000))).errors.length, 0, 'the rate is each one\'s own');
        await sleep(errors.at(-1).payload.retry_after_ms + 50);
        assert.equal((await burst(fast, 1, 'x'.repeat(3000))).errors.length, 0);
        for (let n = 0; n < 8; n++)
            fast.send('x'.repeat(3000)); // not envelopes at all, and yet too much
        await expect(fast, ({ payload }) => payload.error === 'rate_limited');
        await sleep(1100);
        const large = fast.chat('x'.repeat(30_000));
        const behind = await burst(fast, 6, 'x'.repeat(5000));
        assert.ok(fast.frames.some(({ json }) => json.id === large.id), 'one envelope always fits a full bucket');
        assert.ok(behind.passed.length <= 2.1 * behind.seconds, 'and empties it');
        assert.ok(behind.errors.length > 0);
    });
});

test('D19: reconnecting, another connection and another door do not refill the bucket', async () => {
    await withGateway({ rate_messages: '1/s', burst: '20s', rate_strikes: 10_000 }, async (gateway, calm, fast) => {
        const started = performance.now();
        let count = 0;
        const passed = ({ length }, what) => { // what was saved up, and one a second since
            count += length;
            assert.ok(count <= 20 + Math.ceil((performance.now() - started) / 1000), `${count} passed with ${what}`);
        };
        const first = await burst(fast, 40);
        assert.ok(first.passed.length >= 20);
        passed(first.passed, 'the first connection');
        const second = await gateway.join('fast', { isPresent: true });
        passed((await burst(second, 40)).passed, 'another connection');
        await Promise.all([fast.close(), second.close()]);
        await expect(calm, ({ payload }) => payload.event === 'leave');
        const back = await gateway.join('fast');
        passed((await burst(back, 40)).passed, 'a new connection');
        const posts = await Promise.all(Array.from({ length: 20 }, () => gateway.post('fast-token', 'room', envelope('fast'))));
        passed(posts.filter(({ status }) => status === 200), 'posts');
        const posted = posts.find(({ status }) => status === 429);
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
        const { passed, errors, seconds } = await burst(fast, 10);
        assert.ok(passed.length >= 1 && passed.length <= 2 + 2 * seconds, `${passed.length} passed in ${seconds} s`);
        assert.ok(errors.at(-1).payload.retry_after_ms <= 500);
        await sleep(errors.at(-1).payload.retry_after_ms + 20);
        assert.equal((await burst(fast, 1)).passed.length, 1);
    });
});
