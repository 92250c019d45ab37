// SPDX-License-Identifier: Apache-2.0
// D16: ?after=ID gives what followed, then goes on live; what is lost is said to be lost.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, expect, expectOnly, people, startGateway, takeAll, within } from './gateway.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: people('alice', 'bob', 'carol', 'dave'),
        limits: { rate_messages: 0, rate_bytes: 0 },
        topics: {
            named: {
                five: { ring_messages: 5 },
                kilo: { ring_bytes: '1KiB' },
                none: { ring_messages: 0 },
                large: { ring_messages: 100000, ring_bytes: '24MiB' },
                busy: { ring_messages: 100000, ring_bytes: '64MiB' }, // it holds all that is said while somebody is slow to return
            },
        },
    });
});
after(() => gateway.stop());

const isChat = (json) => json.kind === 'chat';
const textsOf = (jsons) => jsons.filter(isChat).map(({ payload }) => payload.text);

// Joins with ?after= and takes everything until the chat that says `last`.
async function rejoin(id, options, last) {
    const client = await gateway.open(id, options);
    const taken = [];

    assert.equal((await client.next()).kind, 'system/welcome', 'the welcome comes first');
    do
        taken.push(await client.next(`"${last}"`));
    while (!isChat(taken.at(-1)) || taken.at(-1).payload.text !== last);
    return { client, taken, texts: textsOf(taken), kinds: taken.map(({ kind }) => kind) };
}

async function say(client, from, to) {
    const said = [];

    for (let n = from; n <= to; n++)
        said.push(client.chat(String(n)));
    await expect(client, ({ id }) => id === said.at(-1).id);
    return said;
}

test('D16: a member that comes back gets what followed, byte for byte and in order, then live', async () => {
    const topic = 'back';
    const bob = await gateway.join('bob', { topic });
    const alice = await gateway.join('alice', { topic });
    const said = await say(bob, 1, 10);

    await expect(alice, ({ id }) => id === said[3].id);
    await alice.close();
    await expect(bob, ({ payload }) => payload.event === 'leave'); // a quicker return is not announced
    const { client, taken, texts } = await rejoin('alice', { topic, after: said[3].id }, '10');
    assert.deepEqual(texts, ['5', '6', '7', '8', '9', '10']);
    assert.deepEqual(taken.filter(isChat), said.slice(4));
    assert.ok(!taken.some(({ kind }) => kind === 'system/gap'), 'there is no gap');
    await expect(client, ({ kind, payload }) => kind === 'system/presence' && payload.event === 'join');
    await expectOnly([client], bob);
    await Promise.all([client.close(), bob.close()]);
});

test('D16: nothing is lost or doubled while the room goes on talking during many reconnects', async () => {
    const topic = 'busy';
    const bob = await gateway.join('bob', { topic });
    const got = [];
    let last = null;
    let said = 0;
    const talk = setInterval(() => { for (let n = 0; n < 5; n++) bob.chat(String(++said)); }, 1);

    for (let round = 0; round < 30; round++) {
        const alice = await gateway.open('alice', {
            topic,
            ...(last ? { after: last } : {}),
            ws: { perMessageDeflate: round % 2 === 0 },
            ...(round % 3 === 0 ? { routing: 'directed' } : {}),
        });
        const wanted = 10 + (round * 7) % 40;
        while (alice.frames.filter(({ json }) => isChat(json)).length < wanted)
            await alice.news('more');
        if (round % 4 === 3)
            alice.socket._socket.destroy();
        else
            alice.socket.terminate();
        await alice.closed();
        const jsons = alice.frames.map(({ json }) => json);
        assert.ok(!jsons.some(({ kind }) => kind === 'system/gap'));
        got.push(...jsons.filter(isChat));
        last = got.at(-1).id;
    }
    clearInterval(talk);
    assert.deepEqual(got.map(({ payload }) => Number(payload.text)),
        got.map((_, index) => Number(got[0].payload.text) + index));
    await bob.close();
});

test('D16: an id that has rolled out of the ring gives system/gap first, then what is left', async () => {
    const bob = await gateway.join('bob', { topic: 'five' });
    const alice = await gateway.join('alice', { topic: 'five' });
    const [first] = await say(bob, 1, 1);

    await alice.close();
    await expect(bob, ({ payload }) => payload.event === 'leave');
    await say(bob, 2, 20);
    const { client, taken, texts } = await rejoin('alice', { topic: 'five', after: first.id }, '20');
    assert.equal(taken[0].kind, 'system/gap');
    assert.deepEqual(taken[0].to, ['alice']);
    assert.equal(taken[0].payload.after, first.id);
    assert.deepEqual(texts, ['16', '17', '18', '19', '20'], 'five are held');
    await Promise.all([client.close(), bob.close()]);
});

test('D16: the ring is bounded by bytes as well, and may be off', async () => {
    for (const topic of ['kilo', 'none']) {
        const bob = await gateway.join('bob', { topic });
        const alice = await gateway.join('alice', { topic });
        const said = [];

        for (let n = 0; n < 9; n++)
            said.push(bob.chat('y'.repeat(200)));
        await expect(bob, ({ id }) => id === said.at(-1).id);
        await alice.close();
        await expect(bob, ({ payload }) => payload.event === 'leave');
        const back = await gateway.open('alice', { topic, after: said[0].id });
        assert.equal((await back.next()).kind, 'system/welcome');
        assert.equal((await back.next()).kind, 'system/gap');
        await expect(back, ({ payload }) => payload.event === 'join'); // behind the replay
        const mark = bob.chat('end');
        await expect(back, ({ id }) => id === mark.id);
        const sizes = back.frames.filter(({ json }) => isChat(json) && json.id !== mark.id).map(({ text }) => text.length);
        assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 1024, `${sizes} are more than 1 KiB`);
        assert.ok(topic === 'none' ? sizes.length === 0 : sizes.length >= 2, `${topic} holds ${sizes.length}`);
        await Promise.all([back.close(), bob.close()]);
    }
});

test('D16: an id that never was gives system/gap, and then everything that is held', async () => {
    const bob = await gateway.join('bob', { topic: 'unknown' });
    const alice = await gateway.join('alice', { topic: 'unknown' });

    await say(bob, 1, 3);
    await alice.close();
    const { client, kinds, texts } = await rejoin('alice', { topic: 'unknown', after: 'never-was' }, '3');
    assert.equal(kinds[0], 'system/gap');
    assert.equal(kinds.filter((kind) => kind === 'system/gap').length, 1);
    assert.deepEqual(texts, ['1', '2', '3']);
    await Promise.all([client.close(), bob.close()]);
});

test('D16: the newest id replays nothing; one too long or given twice is 400', async () => {
    const bob = await gateway.join('bob', { topic: 'newest' });
    const alice = await gateway.join('alice', { topic: 'newest' });
    const [last] = await say(bob, 1, 1);

    await expect(alice, ({ id }) => id === last.id);
    alice.socket.terminate();
    await expect(bob, ({ payload }) => payload.event === 'leave');
    const back = await gateway.open('alice', { topic: 'newest', after: last.id });
    await back.next();
    assert.deepEqual([await back.next(), await back.next()].map(({ payload }) => payload.event), ['leave', 'join']);
    await expectOnly([back], bob);
    assert.equal((await gateway.refusal('alice', { topic: 'newest', after: 'x'.repeat(257) })).status, 400);
    assert.equal((await gateway.request('GET /ws?topic=newest&after=a&after=b', {
        token: 'alice-token',
        headers: { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13',
            'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    })).status, 400);
    await Promise.all([back.close(), bob.close()]);
});

test('D16: replay applies the routing of the new connection', async () => {
    const topic = 'present-routing';
    const bob = await gateway.join('bob', { topic });
    const alice = await gateway.join('alice', { topic });
    const [mark] = await say(bob, 0, 0);

    await alice.close();
    bob.chat('to carol', { to: ['carol'] });
    bob.chat('to alice', { to: ['carol', 'alice'] });
    bob.chat('to all');
    await say(bob, 1, 1);
    const directed = await rejoin('alice', { topic, after: mark.id, routing: 'directed' }, '1');
    assert.deepEqual(directed.texts, ['to alice', 'to all', '1']);
    await directed.client.close();
    const all = await rejoin('alice', { topic, after: mark.id }, '1');
    assert.deepEqual(all.texts, ['to carol', 'to alice', 'to all', '1']);
    await Promise.all([all.client.close(), bob.close()]);
});

test('D16: replay never reaches before the id was first admitted', async () => {
    const bob = await gateway.join('bob', { topic: 'before' });
    const [secret] = await say(bob, 1, 3);
    const dave = await gateway.open('dave', { topic: 'before', after: secret.id });

    assert.equal((await dave.next()).kind, 'system/welcome');
    assert.equal((await dave.next()).payload.event, 'join');
    const [fourth] = await say(bob, 4, 4);
    await dave.close();
    const { client, texts } = await rejoin('dave', { topic: 'before', after: secret.id }, '4');
    assert.deepEqual(texts, ['4'], 'what was said before stays unsaid');
    const unknown = await rejoin('dave', { topic: 'before', after: 'unknown' }, '4');
    assert.deepEqual(unknown.texts, ['4']);
    assert.ok(fourth);
    await Promise.all([client.close(), unknown.client.close(), bob.close()]);
});

test('D16: a replay that the ring overtakes is told of the gap and goes on with what is held', async () => {
    const topic = 'large';
    const bob = await gateway.join('bob', { topic, ws: { perMessageDeflate: false } });
    const body = 'z'.repeat(32 * 1024);
    let said = 0;
    const flood = async (count) => {
        for (let n = 0; n < count; n += 50) {
            for (let m = 0; m < 50; m++)
                bob.send(envelope('bob', 'chat', { n: said++, payload: { text: body } }));
            const fence = bob.chat('fence');
            await expect(bob, ({ id }) => id === fence.id);
            bob.frames.length = bob.taken = 0;
        }
    };
    const alice = await gateway.join('alice', { topic });
    const [mark] = await say(bob, 0, 0);

    await alice.close();
    await flood(650);
    const late = await gateway.open('alice', { topic, after: mark.id, ws: { perMessageDeflate: false } });
    late.socket._socket.pause();
    await flood(800);
    late.socket._socket.resume();
    const end = bob.chat('end');
    await expect(late, ({ id }) => id === end.id);
    let next = 0;
    let gaps = 0;
    let missed = 0; // as the last gap said, until its end is seen
    for (const { json } of late.frames) {
        if (json.kind === 'system/gap') {
            gaps++;
            missed += json.payload.missed;
        } else if ('n' in json) {
            if (missed)
                assert.ok(json.n > next && json.n - next <= missed, `${json.n} follows a gap of ${missed} behind ${next}`);
            else
                assert.equal(json.n, next, 'nothing is missing where no gap was said');
            next = json.n + 1;
            missed = 0;
        }
    }
    assert.ok(gaps > 0, 'a gap is said');
    assert.equal(next, said, 'and the end is there');
    takeAll(late);
    await expectOnly([late], bob);
    await Promise.all([late.close(), bob.close()]);
});

test('D16: who reconnects with ?after= to a restarted server hears of the gap, not silence', async () => {
    const config = { tokens: people('alice', 'bob') };
    const old = await startGateway(config);
    const alice = await old.join('alice');
    const { id } = alice.chat('before the end');

    await expect(alice, (json) => json.id === id);
    old.signal('SIGKILL');
    await within(old.exited, 'its end');
    assert.equal((await alice.closed()).code, 1006);
    const fresh = await startGateway(config, { args: ['--data', old.data] });
    const back = await fresh.open('alice', { after: id });
    assert.equal((await back.next()).kind, 'system/welcome');
    assert.equal((await back.next()).kind, 'system/gap');
    assert.equal((await back.next()).payload.event, 'join');
    await expectOnly([back], back);
    await fresh.stop();
    fs.rmSync(path.dirname(old.data), { recursive: true });
});
