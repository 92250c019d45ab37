// SPDX-License-Identifier: Apache-2.0
// Ten seconds of coming, going, breaking off, reading slowly, reloading and administering:
// those who stay miss nothing, see nothing twice and all see the same order.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { envelope, expect, people, person, startGateway } from './gateway.mjs';

const seconds = Number(process.env.MOOT_SOAK_SECONDS ?? 8);
const topics = ['t0', 't1', 't2', 't3', 't4'];
const guests = Array.from({ length: 20 }, (_, n) => `guest-${n}`);
const residents = topics.flatMap((topic) => [0, 1].map((n) => ({ id: `stays-${topic}-${n}`, topic, n })));

// The same numbers on every run; what the clock does to them is another matter.
function randoms(seed) {
    let state = seed;
    return (below) => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return Math.floor(state / 2 ** 32 * below);
    };
}

const config = (extra = []) => ({
    tokens: [...people(...guests, ...residents.map(({ id }) => id), ...extra), person('boss', { profile: 'admin' })],
    limits: { rate_messages: 0, rate_bytes: 0, stall_timeout: '1s', outbox: '512KiB', envelope: '64KiB' },
    topics: { defaults: { ring_messages: 200, ring_bytes: '256KiB' } },
});

// Talks now and then until told to stop; remembers in what order.
async function talk(client, random, isOver) {
    while (!isOver()) {
        for (let n = random(6); n >= 0; n--)
            client.chat('r'.repeat(random(20) === 0 ? 20_000 : random(600)), { n: client.said = (client.said ?? 0) + 1 });
        await sleep(5 + random(30));
    }
}

// One visit after the other, each of another kind and with another end.
async function visit(gateway, id, random, isOver, confirmed) {
    let last = null;

    while (!isOver()) {
        const topic = topics[random(topics.length)];
        const client = await gateway.open(id, {
            topic,
            ws: { perMessageDeflate: random(2) === 0 },
            ...(random(3) === 0 ? { routing: 'directed' } : {}),
            ...(random(3) === 0 ? { echo: 'off' } : {}),
            ...(last && random(2) === 0 ? { after: last } : {}),
        }).catch(() => null);
        if (!client)
            continue;
        const sent = new Set();
        for (let n = random(8); n >= 0 && !client.ending; n--) {
            sent.add(client.send(envelope(id, 'chat', { payload: { text: 'g'.repeat(random(2000)) },
                ...(random(4) === 0 ? { to: [guests[random(guests.length)]] } : {}) })).id);
            await sleep(random(20));
        }
        if (random(5) === 0) {
            client.socket._socket?.pause(); // reads nothing for a while
            await sleep(random(1500));
        }
        for (const { json } of client.frames)
            if (sent.has(json.id))
                confirmed.push({ topic, id: json.id });
        last = client.frames.findLast(({ json }) => json.kind === 'chat')?.json.id ?? last;
        const ending = random(3);
        if (ending === 0)
            client.socket._socket?.destroy();
        else if (ending === 1)
            client.socket._socket?.resetAndDestroy();
        else
            client.socket.close();
        client.socket._socket?.resume();
    }
}

async function administer(gateway, random, isOver) {
    const ask = (line, json) => gateway.request(line, { token: 'boss-token', json });

    for (let round = 0; !isOver(); round++) {
        const guest = guests[random(guests.length)];
        fs.writeFileSync(`${gateway.config}.new`, JSON.stringify(config(round % 2 ? ['extra'] : [])));
        fs.renameSync(`${gateway.config}.new`, gateway.config);
        if (round % 3 === 0)
            gateway.signal('SIGHUP');
        const answers = await Promise.all([
            ask('POST /admin/reload'), ask('GET /admin/members'), ask('GET /admin/topics'), ask('GET /metrics'), ask('GET /topics'),
            ask(`POST /admin/participants/${guest}/capabilities`, { add: ['mcp/proposal:*'] }),
            ask('POST /admin/tokens', { id: 'made', name: `made-${round}`, profile: 'full' }),
            ask(`GET /topics/${topics[round % 5]}/messages?wait=1&after=none`),
            ask(`POST /admin/members/${guest}/pause`), ask(`POST /admin/members/${guest}/resume`), ask('POST /ws-ticket'),
        ]);
        assert.ok(answers.every(({ status }) => [200, 201, 404, 409].includes(status)), answers.map(({ status }) => status).join());
        await ask(`DELETE /admin/tokens/made-${round}`);
        await sleep(50);
    }
}

test(`soak: for ${seconds} s those who stay get everything once and in one order`, { timeout: 240_000 }, async () => {
    const gateway = await startGateway(config(), { workers: process.env.MOOT_WORKERS ?? 2 });
    const stays = await Promise.all(residents.map(async ({ id, topic, n }) => {
        const client = await gateway.join(id, { topic, ws: { perMessageDeflate: n === 1 } });
        return Object.assign(client, { topic });
    }));
    const until = Date.now() + seconds * 1000;
    const isOver = () => Date.now() > until;
    const confirmed = [];

    await Promise.all([
        ...stays.map((client, n) => talk(client, randoms(n + 1), isOver)),
        ...guests.map((id, n) => visit(gateway, id, randoms(100 + n), isOver, confirmed)),
        administer(gateway, randoms(1000), isOver),
    ]);
    for (const client of stays) {
        assert.equal(client.ending, null, `${client.id} was closed with ${client.ending?.code}`);
        const { id } = client.chat('end');
        for (const other of stays.filter(({ topic }) => topic === client.topic))
            if (!other.frames.some(({ json }) => json.id === id))
                await expect(other, (json) => json.id === id);
    }
    for (const topic of topics) {
        const [first, second] = stays.filter((client) => client.topic === topic);
        const ids = (client) => client.frames.filter(({ json }) => json.kind === 'chat').map(({ json }) => json.id);
        const order = ids(first);
        const heard = new Set(order);
        assert.deepEqual(ids(second), order, `${topic} has two orders`);
        assert.equal(heard.size, order.length, `${topic}: something came twice`);
        for (const { id, said } of [first, second]) {
            const own = first.frames.filter(({ json }) => json.from === id && 'n' in json).map(({ json }) => json.n);
            assert.deepEqual(own, Array.from({ length: said }, (_, n) => n + 1), `${topic}: not all of ${id}`);
        }
        for (const one of confirmed)
            assert.ok(one.topic !== topic || heard.has(one.id), `${topic}: a guest saw its words there, nobody else did`);
    }
    assert.ok(confirmed.length > 50, 'the guests have spoken');
    await gateway.stop();
});
