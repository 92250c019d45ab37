// SPDX-License-Identifier: Apache-2.0
// Rooms without members are kept for those who come back, but not without bound.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';

import { envelope, people, startGateway, within } from './gateway.mjs';

test('empty rooms together hold a bounded number of bytes; the newest are kept', async (t) => {
    const gateway = await startGateway({
        tokens: people('alice'),
        limits: { rate_messages: 0, rate_bytes: 0 },
    }, { workers: 1 });
    t.after(() => gateway.stop());
    const text = 'x'.repeat(1_000_000);
    const held = async () => (await gateway.request('GET /topics', { token: 'alice-token' })).json.topics;

    for (let i = 0; i < 80; i++)
        assert.equal((await gateway.post('alice-token', `t${i}`, envelope('alice', 'chat', { payload: { text } }))).status, 200);
    await within((async () => {
        while ((await held()).length > 68)
            await sleep(100);
    })(), 'the oldest rooms to go');
    const names = (await held()).map(({ name }) => name);
    assert.ok(names.length >= 60, `${names.length} rooms are left`);
    assert.ok(names.includes('t79') && !names.includes('t0'), 'the oldest go first');
});

test('what empty rooms keep of open proposals is counted as well', async (t) => {
    const proposers = ['alice', 'bob', 'carol', 'dave'];
    const gateway = await startGateway({
        tokens: people(...proposers), // more than one, since none may take all
        limits: { rate_messages: 0, rate_bytes: 0 },
        topics: { defaults: { ring_bytes: 0 } },
    }, { workers: 1 });
    t.after(() => gateway.stop());
    const payload = { method: 'x', pad: 'x'.repeat(1_000_000) };
    const held = async () => (await gateway.request('GET /topics', { token: 'alice-token' })).json.topics;

    for (let i = 0; i < 80; i++) {
        const who = proposers[i % proposers.length];

        assert.equal((await gateway.post(`${who}-token`, `t${i}`, envelope(who, 'mcp/proposal:x', { payload }))).status, 200);
    }
    await within((async () => {
        while ((await held()).length > 68)
            await sleep(100);
    })(), 'the oldest rooms to go');
    assert.ok((await held()).length >= 60);
});

test('rooms that are polled stay, and those of others do not go for them', async (t) => {
    const gateway = await startGateway({
        tokens: people('alice', 'bob'),
        limits: { rate_messages: 0, rate_bytes: 0 },
    }, { workers: 1 });
    t.after(() => gateway.stop());
    const text = 'x'.repeat(1_000_000);
    const names = async () => (await gateway.request('GET /topics', { token: 'alice-token' })).json.topics.map(({ name }) => name);

    await gateway.post('bob-token', 'quiet', envelope('bob', 'chat'));
    for (let i = 0; i < 20; i++) {
        let last;

        for (let n = 0; n < 4; n++) {
            last = envelope('alice', 'chat', { payload: { text } });
            assert.equal((await gateway.post('alice-token', `polled${i}`, last)).status, 200);
        }
        gateway.request(`GET /topics/polled${i}/messages?wait=30&after=${last.id}`, { token: 'alice-token' }).catch(() => {});
    }
    await sleep(5000); // two sweeps
    const held = await names();
    assert.ok(held.includes('quiet'), 'the room of another');
    assert.equal(held.filter((name) => name.startsWith('polled')).length, 20);
});
