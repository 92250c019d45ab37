// SPDX-License-Identifier: Apache-2.0
// D3: connection options, and routing that changes while connected.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, expectOnly, people, person, startGateway, takeAll } from './gateway.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({ tokens: [...people('alice', 'bob', 'carol'), person('mute', { capabilities: ['chat'] })] });
});
after(async () => { await gateway.stop(); });

const bad = [
    { routing: '' }, { routing: 'none' }, { routing: 'ALL' }, { routing: 'directed ' },
    { echo: '' }, { echo: 'yes' }, { echo: 'true' }, { echo: 'OFF' },
    { dialect: 'latin' }, { dialect: '' },
];

for (const options of bad)
    test(`D3: ${new URLSearchParams(options)} is 400`, async () => {
        const answer = await gateway.refusal('alice', options);
        assert.equal(answer.status, 400);
        assert.match(answer.json.detail, new RegExp(Object.keys(options)[0]));
    });

test('D3: an option given twice is 400', async () => {
    for (const query of ['topic=a&topic=b', 'topic=a&echo=on&echo=on', 'topic=a&routing=all&routing=directed'])
        assert.equal((await gateway.request(`GET /ws?${query}`, { token: 'alice-token',
            headers: { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13',
                'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' } })).status, 400, query);
});

test('D3: directed members get broadcasts and what names them; the welcome says so', async () => {
    const topic = 'directed';
    const alice = await gateway.join('alice', { topic });
    const bob = await gateway.join('bob', { topic, routing: 'directed' });
    const carol = await gateway.join('carol', { topic, routing: 'all' });

    assert.deepEqual([alice, bob, carol].map((one) => one.welcome.payload.moot.routing), ['all', 'directed', 'all']);
    await expect(bob, (json) => json.payload.participant?.id === 'carol'); // presence is for everybody
    const sent = [alice.chat('to all'), alice.chat('to nobody', { to: [] }), alice.chat('to carol', { to: ['carol'] }),
        alice.chat('to both', { to: ['carol', 'bob'] }), alice.chat('to bob', { to: ['bob'] }), alice.chat('end')];
    const heard = (client) => sent.filter((one) => client.frames.some(({ json }) => json.id === one.id)).map((one) => one.payload.text);
    for (const client of [alice, bob, carol])
        await expect(client, (json) => json.id === sent.at(-1).id);
    assert.deepEqual(heard(bob), ['to all', 'to nobody', 'to both', 'to bob', 'end']);
    assert.deepEqual(heard(carol), sent.map((one) => one.payload.text));
    assert.deepEqual(heard(alice), sent.map((one) => one.payload.text));
    await Promise.all([alice, bob, carol].map((one) => one.close()));
});

test('D3: echo=off keeps back what one says oneself, on this connection only', async () => {
    const topic = 'echo';
    const quiet = await gateway.join('alice', { topic, echo: 'off' });
    const loud = await gateway.join('alice', { topic, isPresent: true });
    const bob = await gateway.join('bob', { topic });

    await expect(quiet, (json) => json.payload.participant?.id === 'bob');
    await expect(loud, (json) => json.payload.participant?.id === 'bob');
    const sent = quiet.chat('once');
    assert.equal((await loud.next()).id, sent.id);
    assert.equal((await bob.next()).id, sent.id);
    const other = loud.chat('from the other connection');
    assert.equal((await quiet.next()).id, other.id);
    quiet.send('{'); // refusals are no echo
    assert.equal((await quiet.next()).payload.error, 'malformed_envelope');
    await Promise.all([quiet, loud, bob].map((one) => one.close()));
});

test('D3: routing changes both ways while connected, needs no capability and reaches nobody', async () => {
    const topic = 'change';
    const alice = await gateway.join('alice', { topic });
    const mute = await gateway.join('mute', { topic });
    const mode = (value) => mute.send(envelope('mute', 'participant/routing', { payload: { mode: value } }));

    await expect(alice, (json) => json.payload.participant?.id === 'mute');
    mode('directed');
    const first = mute.chat('after the change'); // orders what alice does behind it
    await expect(alice, (json) => json.id === first.id);
    alice.chat('not for you', { to: ['carol'] });
    const second = alice.chat('for all');
    await expect(alice, (json) => json.id === second.id);
    mode('all'); // what was kept back is not owed
    await expect(mute, (json) => json.id === first.id);
    assert.equal((await mute.next()).id, second.id);
    const third = mute.chat('back');
    await expect(alice, (json) => json.id === third.id);
    const fourth = alice.chat('for carol again', { to: ['carol'] });
    assert.equal((await mute.next()).id, third.id);
    assert.equal((await mute.next()).id, fourth.id);
    assert.equal(alice.frames.filter(({ json }) => json.kind === 'participant/routing').length, 0);
    assert.equal(mute.frames.filter(({ json }) => json.kind === 'system/error').length, 0);
    await Promise.all([alice, mute].map((one) => one.close()));
});

test('D3: routing with another payload is malformed and changes nothing', async () => {
    const topic = 'wrong';
    const alice = await gateway.join('alice', { topic });
    const bob = await gateway.join('bob', { topic });

    await expect(alice, (json) => json.payload.participant?.id === 'bob');
    for (const payload of [{}, { mode: 'none' }, { mode: 'ALL' }, { mode: 1 }, { mode: null }, { mode: ['all'] },
        { Mode: 'directed' }, { nested: { mode: 'directed' } }]) {
        const sent = bob.send(envelope('bob', 'participant/routing', { payload }));
        const error = await bob.next();
        assert.equal(error.payload.error, 'malformed_envelope', JSON.stringify(payload));
        assert.equal(error.correlation_id, sent.id);
    }
    const mismatch = bob.send(envelope('alice', 'participant/routing', { payload: { mode: 'directed' } }));
    assert.equal((await bob.next()).payload.error, 'from_mismatch');
    assert.ok(mismatch.id);
    const sent = alice.chat('still all', { to: ['carol'] });
    assert.equal((await bob.next()).id, sent.id);
    await expectOnly([bob], alice);
    assert.deepEqual(takeAll(alice).filter((json) => json.kind !== 'chat'), []);
    await Promise.all([alice, bob].map((one) => one.close()));
});
