// SPDX-License-Identifier: Apache-2.0
// D16: a topic has one order, the same for every member, and each envelope comes once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, expectOnly, people, person, startGateway } from './gateway.mjs';

const publishers = ['p1', 'p2', 'p3', 'p4', 'p5'];
const receivers = ['r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8', 'r9', 'r10'];
let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [...people(...publishers, ...receivers), person('poster')],
        limits: { rate_messages: 0, rate_bytes: 0 },
    });
});
after(() => gateway.stop());

// Every second receiver takes compressed frames, every third reads directed.
const optionsOf = (index, topic) => ({
    topic,
    ws: { perMessageDeflate: index % 2 === 0 },
    ...(index % 3 === 0 ? { routing: 'directed' } : {}),
});

const chats = (client) => client.frames.filter(({ json }) => json.kind === 'chat').map(({ text }) => text);

async function joinAll(topic) {
    const senders = await Promise.all(publishers.map((id) => gateway.join(id, { topic })));
    const readers = await Promise.all(receivers.map((id, index) => gateway.join(id, optionsOf(index, topic))));

    return { senders, readers, all: [...senders, ...readers] };
}

async function untilAll(clients, id) {
    await Promise.all(clients.map((client) => expect(client, (json) => json.id === id, `the last one, ${id}`)));
}

test('D16: ten receivers see what five publishers said in one order, each envelope once', async () => {
    const { senders, all } = await joinAll('one-order');
    const perSender = 400;
    const sent = new Map(senders.map(({ id }) => [id, []]));

    for (let n = 0; n < perSender; n++) {
        for (const sender of senders) {
            const size = n % 50 === 0 ? 20_000 : (n * 37) % 900;
            sent.get(sender.id).push(JSON.stringify(sender.chat('x'.repeat(size), { n })));
        }
        if (n % 40 === 0)
            await new Promise(setImmediate);
    }
    const ends = senders.map((sender) => sender.chat('end'));
    for (const { id } of ends)
        await Promise.all(all.map((client) =>
            client.frames.some(({ json }) => json.id === id) || expect(client, (json) => json.id === id)));

    const order = chats(all[0]);
    assert.equal(order.length, perSender * senders.length + senders.length);
    assert.equal(new Set(order).size, order.length, 'something came twice');
    for (const client of all)
        assert.deepEqual(chats(client), order, `${client.id} saw another order`);
    for (const sender of senders)
        assert.deepEqual(order.filter((text) => JSON.parse(text).from === sender.id).slice(0, -1),
            sent.get(sender.id), 'a sender\'s own order and bytes are kept');
    await Promise.all(all.map((client) => client.close()));
});

test('D16: what was posted over HTTP stands in the same order for all', async () => {
    const { senders, readers, all } = await joinAll('posted');
    const rounds = 20;

    await Promise.all([...Array(rounds).keys()].map(async (n) => {
        senders[n % senders.length].chat(`ws ${n}`);
        assert.equal((await gateway.post('poster-token', 'posted', envelope('poster'))).status, 200);
    }));
    const arrived = () => chats(readers[0]).length === 2 * rounds;
    while (!arrived())
        await readers[0].news('all of it');
    const { id } = senders[0].chat('end');
    await untilAll(all, id);
    const order = chats(readers[0]);
    assert.equal(order.length, 2 * rounds + 1);
    for (const client of all)
        assert.deepEqual(chats(client), order);
    await Promise.all(all.map((client) => client.close()));
});

test('D16: joins and leaves stand in that order too', async () => {
    const first = await gateway.join('p1', { topic: 'comings' });
    const second = await gateway.join('p2', { topic: 'comings' });
    const seen = (client) => client.frames.filter(({ json }) => json.kind !== 'system/welcome').map(({ text }) => text);

    for (let n = 0; n < 10; n++) {
        const visitor = await gateway.join('r1', { topic: 'comings' });
        visitor.chat(`visit ${n}`);
        first.chat(`hello ${n}`);
        await visitor.close();
        await expect(second, ({ payload }) => payload.event === 'leave' && payload.participant.id === 'r1');
    }
    const { id } = first.chat('end');
    await untilAll([first, second], id);
    const order = seen(second);
    assert.deepEqual(seen(first).slice(-order.length), order);
    const presence = order.map((text) => JSON.parse(text)).filter(({ payload }) => payload.participant?.id === 'r1');
    assert.deepEqual(presence.map(({ payload }) => payload.event).slice(0, 20),
        Array(10).fill(['join', 'leave']).flat());
    await Promise.all([first.close(), second.close()]);
});

test('D16: a sender without echo gets everything but its own, in the order of the others', async () => {
    const silent = await gateway.join('p1', { topic: 'echo', echo: 'off' });
    const other = await gateway.join('p2', { topic: 'echo' });

    for (let n = 0; n < 100; n++) {
        silent.chat(`mine ${n}`);
        other.chat(`yours ${n}`);
    }
    await expect(other, ({ payload }) => payload.text === 'mine 99');
    const { id } = other.chat('end');
    await untilAll([other, silent], id);
    const order = chats(other);
    assert.equal(order.length, 201);
    assert.deepEqual(chats(silent), order.filter((text) => JSON.parse(text).from === 'p2'));
    await expectOnly([silent, other], other);
    await Promise.all([silent.close(), other.close()]);
});
