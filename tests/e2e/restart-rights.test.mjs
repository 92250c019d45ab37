// SPDX-License-Identifier: Apache-2.0
// Grants and strikes survive a crash, with as many workers as before or not: whatever was
// acknowledged holds, and what was taken back or has run out stays so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { envelope, expect, person, startGateway } from './gateway.mjs';

const config = {
    tokens: [
        person('boss', { profile: 'admin' }),
        person('lead', { capabilities: ['capability/*', 'x/*', 'y/*', 'chat'] }),
        person('bot', { capabilities: ['chat', 'own/a', 'own/b'] }),
        person('eve', { capabilities: ['chat'] }),
    ],
    limits: { rate_messages: 0 },
};
const topics = ['one', 'two', 'three', 'four', 'five', 'six']; // on different workers
const isAck = ({ kind }) => kind === 'capability/grant-ack';

async function crash(gateway, options) {
    await gateway.kill();
    return gateway.restart(options);
}

const change = (gateway, json, { id = 'bot', topic } = {}) =>
    gateway.request(`POST /admin/participants/${id}/capabilities${topic ? `?topic=${topic}` : ''}`, { token: 'boss-token', json })
        .then(({ status, json: answer, text }) => (assert.equal(status, 200, text), answer));
const rightsOf = (gateway, id) =>
    gateway.request(`GET /admin/participants/${id}/grants`, { token: 'boss-token' }).then(({ json }) => json.rights);

// Does an envelope of this kind pass? Not by way of the room, where order is everything.
async function may(gateway, id, topic, kind) {
    const { status, json } = await gateway.post(`${id}-token`, topic, envelope(id, kind));

    if (status === 200 || status === 202)
        return true;
    assert.equal(json.error ?? json.code ?? 'capability_violation', 'capability_violation');
    return false;
}

async function grant(lead, recipient, capabilities, more = {}) {
    const sent = lead.send(envelope(lead.id, 'capability/grant', { payload: { recipient, capabilities, ...more } }));
    await expect(lead, (json) => isAck(json) && json.correlation_id === sent.id);
    return sent.id;
}

async function revoke(lead, recipient, payload) {
    const sent = lead.send(envelope(lead.id, 'capability/revoke', { payload: { recipient, ...payload } }));
    await expect(lead, (json) => isAck(json) && json.correlation_id === sent.id);
}

for (const [before, after] of [[1, 1], [2, 2], [2, 1], [1, 3]]) {
    test(`grants, strikes and revocations hold after a crash, ${before} workers and then ${after}`, async () => {
        let gateway = await startGateway(config, { workers: before });

        for (const topic of topics) {
            const lead = await gateway.join('lead', { topic });
            await grant(lead, 'bot', ['x/granted', 'y/kept'], { reason: 'because' });
            const revoked = await grant(lead, 'bot', ['x/revoked']);
            await grant(lead, 'bot', ['x/struck', 'y/beside']);
            await revoke(lead, 'bot', { grant_id: revoked });
            await revoke(lead, 'bot', { capabilities: ['x/struck'] });
            await change(gateway, { add: ['z/here'], remove: ['own/a'] }, { topic });
        }
        await change(gateway, { add: ['z/all'], revoke: ['own/b'] });
        await change(gateway, { revoke: ['y/kept'] }); // reaches into the topics
        await change(gateway, { add: ['z/struck-in-one'] });
        await change(gateway, { revoke: ['z/struck-in-one'] }, { topic: 'one' });
        await change(gateway, { remove: ['z/again'], add: ['z/again'] }, { topic: 'two' });
        const was = await rightsOf(gateway, 'bot');

        for (let round = 0; round < 2; round++) {
            gateway = await crash(gateway, { workers: round ? before : after });
            const rows = (list) => list.map((row) => JSON.stringify(row)).sort();
            assert.deepEqual(rows(await rightsOf(gateway, 'bot')), rows(was));
            for (const topic of topics) {
                const kinds = ['x/granted', 'y/beside', 'z/here', 'z/all', 'chat'];
                const gone = ['x/revoked', 'x/struck', 'y/kept', 'own/a', 'own/b'];

                for (const kind of kinds)
                    assert.ok(await may(gateway, 'bot', topic, kind), `${kind} in ${topic}`);
                for (const kind of gone)
                    assert.ok(!await may(gateway, 'bot', topic, kind), `${kind} in ${topic}`);
                assert.equal(await may(gateway, 'bot', topic, 'z/struck-in-one'), topic !== 'one');
            }
            assert.ok(await may(gateway, 'bot', 'two', 'z/again'));
            const bot = await gateway.join('bot', { topic: 'one' });
            const { grants } = bot.welcome.payload.moot;
            assert.ok(grants.some(({ reason }) => reason === 'because'));
            await bot.close();
        }
        await gateway.stop();
    });
}

test('the uses that are left are left after a crash, and the last one ends the grant for good', async () => {
    let gateway = await startGateway(config);
    const lead = await gateway.join('lead');

    await grant(lead, 'bot', ['x/limited'], { max_uses: 3 });
    assert.ok(await may(gateway, 'bot', 'room', 'x/limited'));
    gateway = await crash(gateway);
    const bot = await gateway.join('bot');
    assert.equal(bot.welcome.payload.moot.grants[0].uses_left, 2);
    assert.ok(await may(gateway, 'bot', 'room', 'x/limited'));
    gateway = await crash(gateway);
    assert.ok(await may(gateway, 'bot', 'room', 'x/limited'));
    assert.ok(!await may(gateway, 'bot', 'room', 'x/limited'));
    gateway = await crash(gateway);
    assert.ok(!await may(gateway, 'bot', 'room', 'x/limited'));
    assert.doesNotMatch(gateway.stderr(), /state\.restore/, 'nothing is kept of it');
    await gateway.stop();
});

test('what runs out while the gateway is down is over, and what lasts longer runs out later', async () => {
    let gateway = await startGateway(config);
    const lead = await gateway.join('lead');
    const soon = Date.now() + 4000;

    await grant(lead, 'bot', ['x/brief'], { expires_at: new Date(soon).toISOString() });
    await grant(lead, 'bot', ['x/longer'], { expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    await gateway.kill();
    await sleep(Math.max(0, soon - Date.now()) + 10);
    gateway = await gateway.restart();
    assert.ok(!await may(gateway, 'bot', 'room', 'x/brief'));
    assert.ok(await may(gateway, 'bot', 'room', 'x/longer'));
    await gateway.logged(/state\.restore.*grants=1 /);
    gateway = await crash(gateway);
    await gateway.logged(/state\.restore.*grants=1 /); // the other is kept no more
    await gateway.stop();
});

test('a grant that expires after a restart is announced as any other', async () => {
    let gateway = await startGateway(config);
    const lead = await gateway.join('lead');

    await grant(lead, 'bot', ['x/brief'], { expires_at: new Date(Date.now() + 10_000).toISOString() });
    gateway = await crash(gateway);
    const bot = await gateway.join('bot');
    assert.equal(bot.welcome.payload.moot.grants.length, 1);
    const ack = await expect(bot, isAck);
    assert.equal(ack.payload.status, 'expired');
    assert.deepEqual(ack.payload.capabilities, ['x/brief']);
    await gateway.stop();
});

test('with the last credential of somebody go his rights, also those that are kept', async () => {
    let gateway = await startGateway(config);
    const token = { token: 'boss-token' };
    const make = () => gateway.request('POST /admin/tokens', { ...token, json: { id: 'temp', name: 'temp', capabilities: ['chat'] } });

    assert.equal((await make()).status, 201);
    await change(gateway, { add: ['z/all'] }, { id: 'temp' });
    await change(gateway, { add: ['z/here'] }, { id: 'temp', topic: 'one' });
    gateway = await crash(gateway);
    assert.equal((await rightsOf(gateway, 'temp')).length, 2);
    assert.ok((await gateway.request('DELETE /admin/tokens/temp', token)).status < 300);
    assert.equal((await make()).status, 201);
    gateway = await crash(gateway);
    assert.deepEqual(await rightsOf(gateway, 'temp'), []);
    await gateway.stop();
});

test('rights of those who have lost their credential while the gateway was down are dropped', async () => {
    const { writeFileSync } = await import('node:fs');
    let gateway = await startGateway(config);

    await change(gateway, { add: ['z/all'] }, { id: 'eve' });
    await gateway.kill();
    writeFileSync(gateway.config, JSON.stringify({ ...config, tokens: config.tokens.filter(({ id }) => id !== 'eve') }));
    gateway = await gateway.restart();
    await change(gateway, { add: ['z/all'] }); // what was done before is on disk by now
    await gateway.kill();
    writeFileSync(gateway.config, JSON.stringify(config));
    gateway = await gateway.restart();
    assert.deepEqual(await rightsOf(gateway, 'eve'), []);
    assert.ok(!await may(gateway, 'eve', 'one', 'z/all'));
    await gateway.stop();
});

test('whatever was acknowledged before a crash is there, however soon that comes', async () => {
    let gateway = await startGateway(config);

    for (let round = 0; round < 8; round++) {
        const lead = await gateway.join('lead');

        for (let i = 0; i < round; i++)
            grant(lead, 'eve', [`y/k${round}-${i}`]).catch(() => {}); // some are under way
        await grant(lead, 'bot', [`x/k${round}`]);
        await gateway.kill();
        gateway = await gateway.restart();
        for (let i = 0; i <= round; i++)
            assert.ok(await may(gateway, 'bot', 'room', `x/k${i}`), `x/k${i}`);
        await change(gateway, { revoke: ['y/*'] }, { id: 'eve', topic: 'room' });
        await gateway.kill();
        gateway = await gateway.restart();
        assert.ok(!await may(gateway, 'eve', 'room', `y/k${round}-0`));
    }
    await gateway.stop();
});
