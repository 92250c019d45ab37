// SPDX-License-Identifier: Apache-2.0
// D5: several connections of one id.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { expect, expectOnly, people, startGateway } from './gateway.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        limits: { connections_per_participant: 3 },
        topics: { named: { replace: { duplicate: 'replace' }, refuse: { duplicate: 'refuse' }, share: { duplicate: 'share' } } },
        tokens: people('alice', 'bob'),
    });
});
after(async () => { await gateway.stop(); });

for (const topic of ['share', 'unnamed'])
    test(`D5: ${topic}: join on the first, leave on the last connection, messages to all`, async () => {
        const bob = await gateway.join('bob', { topic });
        const laptop = await gateway.join('alice', { topic });
        await expect(bob, (json) => json.payload.event === 'join');
        const phone = await gateway.join('alice', { topic, isPresent: true });
        assert.deepEqual(phone.welcome.payload.participants.map((one) => one.id), ['bob']);
        await expectOnly([bob, laptop, phone], bob); // and no second join
        await expectOnly([bob, laptop, phone], phone);

        await laptop.close();
        await expectOnly([bob, phone], bob); // and no leave
        await phone.close();
        const { payload } = await bob.next();
        assert.deepEqual([payload.event, payload.participant.id], ['leave', 'alice']);
        await bob.close();
    });

test('D5: share has a limit of connections per participant', async () => {
    const all = [];
    for (let i = 0; i < 3; i++)
        all.push(await gateway.open('alice', { topic: 'full' }));
    assert.equal((await gateway.refusal('alice', { topic: 'full' })).status, 503);
    await (await gateway.join('bob', { topic: 'full' })).close();
    await Promise.all(all.map((one) => one.close()));
});

test('D5: replace closes the older connection with 4001, and nobody hears of it', async () => {
    const topic = 'replace';
    const bob = await gateway.join('bob', { topic });
    const old = await gateway.join('alice', { topic });
    await expect(bob, (json) => json.payload.event === 'join');
    const young = await gateway.join('alice', { topic, isPresent: true });

    assert.equal((await old.closed()).code, 4001);
    await expectOnly([bob, young], bob);
    await expectOnly([bob, young], young);
    await young.close();
    assert.equal((await bob.next()).payload.event, 'leave');
    await bob.close();
});

test('D5: refuse answers 409 while there is one, and not afterwards', async () => {
    const topic = 'refuse';
    const alice = await gateway.join('alice', { topic });
    const answer = await gateway.refusal('alice', { topic });
    assert.equal(answer.status, 409);
    assert.equal(answer.json.error, 'conflict');
    await expectOnly([alice], alice);
    await alice.close();
    await (await gateway.join('alice', { topic })).close();
});
