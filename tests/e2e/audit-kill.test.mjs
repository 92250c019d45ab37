// SPDX-License-Identifier: Apache-2.0
// kill -9 at random moments while a topic whose audit is required speaks at full speed: whatever
// a member has received is in the record, the file opens, and the chain verifies. How many times:
// MOOT_KILLS; MOOT_LEAST_RATE: a life that spoke slower than so many a second is one more, not
// one of them. Recovery builds on recovery, in one data directory for many of them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { readRecord } from './audit.mjs';
import { envelope, people, startGateway } from './gateway.mjs';

const kills = Number(process.env.MOOT_KILLS ?? 25);
const leastRate = Number(process.env.MOOT_LEAST_RATE ?? 0);
const batch = 64;    // envelopes under way from one sender
const lifetime = 50; // kills, then another directory: all of it is verified each time
const senders = ['alice', 'bob'];

let gateway;

process.setMaxListeners(0); // each gateway has one

async function begin() {
    gateway = await startGateway({
        topics: { defaults: { audit: 'required', loop_guard: 'off' } },
        limits: { rate_messages: 0, rate_bytes: 0 },
        tokens: people(...senders, 'cyd'),
    }, { workers: 1 });
}

before(begin);
after(() => gateway.stop());

// Says something, and something more for each of its own that comes back.
function speak(client, round) {
    const say = () => client.socket.readyState === 1 &&
        client.send(envelope(client.id, 'chat', { payload: { round, text: 'x'.repeat(Math.random() * 400) } }));

    client.socket.on('message', (data) => {
        if (data.includes(`"from":"${client.id}"`))
            say();
    });
    for (let i = 0; i < batch; i++)
        say();
}

// Lives for a while after the first envelope was heard, then dies. What was heard, and how fast.
async function live(round) {
    const clients = await Promise.all([...senders, 'cyd'].map((id) => gateway.open(id)));
    const first = new Promise((resolve) => { clients[2].socket.on('message', (data) => data.includes('"round"') && resolve()); });

    for (const client of clients.slice(0, senders.length))
        speak(client, round);
    await first;
    const began = process.hrtime.bigint();
    await new Promise((resolve) => { setTimeout(resolve, 20 + Math.random() * 180); });
    await gateway.kill();
    const seconds = Number(process.hrtime.bigint() - began) / 1e9;
    await Promise.all(clients.map((client) => client.closed()));
    const heard = new Set();
    for (const client of clients)
        for (const { json } of client.frames)
            if (!['system/welcome', 'system/error'].includes(json.kind))
                heard.add(json.id);
    return { heard, rate: clients[2].frames.length / seconds };
}

test(`required: what was heard survives ${kills} kills`, { timeout: 60_000 + kills * 5000 }, async (t) => {
    const rates = [];
    let last = 0;
    let count = 0;
    let total = 0;

    for (let round = 0; rates.length < kills && round < 3 * kills; round++) {
        const { heard, rate } = await live(round);
        const { records, verify } = await readRecord(gateway.data, last);
        const known = new Set(records.filter(({ event }) => event === 'envelope' || event === 'presence').map(({ id }) => id));

        assert.deepEqual([verify.damaged, verify.what], [false, ''], `round ${round}`);
        for (const id of heard)
            assert.ok(known.has(id), `round ${round}: ${id} was heard and is not recorded`);
        last = records.at(-1).seq;
        count += heard.size;
        total += records.length;
        if (rate >= leastRate)
            rates.push(rate);
        gateway = await gateway.restart();
        if ((round + 1) % lifetime === 0) {
            await gateway.stop();
            await begin();
            last = 0;
        }
    }
    rates.sort((a, b) => a - b);
    t.diagnostic(`${count} envelopes heard, ${total} records, ${Math.round(rates[rates.length >> 1])} envelopes/s in the middle, ` +
        `${Math.round(rates[0])} at least`);
    assert.equal(rates.length, kills);
    assert.ok(count > kills);
});
