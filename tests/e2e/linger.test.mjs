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
