// SPDX-License-Identifier: Apache-2.0
// Presence in its modes: each change by itself, a batch per flush, or nothing; what a burst of
// joins costs; and that the welcome and what follows it are together complete.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { changesIn, expect, expectOnly, people, person, startGateway, within } from './gateway.mjs';

const crowd = Array.from({ length: 200 }, (_, n) => `m${n}`);
const plain = { ws: { perMessageDeflate: false } };
let gateway;

before(async () => {
    gateway = await startGateway({ tokens: people('each', 'batch', 'off', 'loud', ...crowd), limits: { rate_messages: 0 } });
});
after(() => gateway.stop());

const presenceOf = (client) => client.frames.map(({ json }) => json).filter(({ kind }) => kind === 'system/presence');
const changesOf = (client) => presenceOf(client).flatMap(changesIn);
const named = ({ event, id }) => `${event} ${id}`;

// Who is here for a client that adds up its welcome and the frames behind it.
function known(client) {
    const here = new Set();

    for (const { json } of client.frames) {
        if (json.kind === 'system/welcome')
            for (const { id } of [json.payload.you, ...json.payload.participants])
                here.add(id);
        for (const { event, id } of changesIn(json))
            event === 'join' ? here.add(id) : here.delete(id);
    }
    return [...here].sort();
}

test('an unknown mode is refused with a sentence', async () => {
    for (const presence of ['bogus', '', 'Batch']) {
        const { status, json } = await gateway.refusal('each', { presence });
        assert.deepEqual([status, json.detail], [400, '`presence` is each, batch or off.']);
    }
});

test('the welcome says which mode is in force and whether the own join is still to come', async () => {
    for (const [query, presence] of [[{}, 'each'], [{ presence: 'each' }, 'each'], [{ presence: 'batch' }, 'batch'], [{ presence: 'off' }, 'off']]) {
        const topic = `mode-${JSON.stringify(query).length}`;
        const client = await gateway.open('each', { topic, ...query });
        const { moot } = (await client.next()).payload;
        assert.deepEqual([moot.presence, moot.announced], [presence, false]);
        assert.ok(moot.features.includes('presence'));
        await gateway.request(`GET /topics/${topic}/participants`, { token: 'each-token' }); // flushes
        const second = await gateway.open('each', { topic, ...query });
        assert.equal((await second.next()).payload.moot.announced, true);
        await Promise.all([client.close(), second.close()]);
    }
});

for (const [name, options] of Object.entries({
    'plain': plain, 'compressed': {}, 'directed': { ...plain, routing: 'directed' },
}))
    test(`a burst of joins and leaves is few frames for batch, none for off, and the same for all (${name})`, async () => {
        const topic = `burst-${name}`;
        const began = performance.now();
        const [each, batch, off] = await Promise.all(['each', 'batch', 'off'].map((id) =>
            gateway.join(id, { topic, presence: id, ...options })));
        const modes = ['each', 'batch', 'off'];
        const members = await Promise.all(crowd.map((id, n) => gateway.open(id, { topic, presence: modes[n % 3], ...options })));
        const { id } = each.chat('all are here');

        await Promise.all([each, batch, off, ...members].map((client) => expect(client, (json) => json.id === id)));
        assert.deepEqual(known(each), ['each', 'batch', 'off', ...crowd].sort());
        assert.deepEqual(known(batch), known(each));
        for (const client of members.filter((_, n) => n % 3 !== 2))
            assert.deepEqual(known(client), known(each), `${client.id} knows other people`);
        await Promise.all(members.map((client) => client.close()));
        await expect(each, () => known(each).length === 3, 'the last leave');
        const fence = each.chat('all have gone');
        await Promise.all([each, batch, off].map((client) => expect(client, (json) => json.id === fence.id)));

        const changes = changesOf(each);
        const since = changes.slice(-400);
        assert.equal(presenceOf(each).length, changes.length, 'each comes by itself');
        assert.deepEqual(since.map(named).sort(), crowd.flatMap((one) => [`join ${one}`, `leave ${one}`]).sort());
        assert.deepEqual(changesOf(batch).slice(-400), since);
        assert.ok(presenceOf(batch).every(({ payload }) => payload.event === 'batch'));
        const most = Math.max(100, (performance.now() - began) / 50); // each takes presence_delay
        assert.ok(presenceOf(batch).length < most, `${presenceOf(batch).length} batches for 400 changes`);
        assert.deepEqual(presenceOf(off), []);
        await expectOnly([each, batch, off], each);
        await Promise.all([each, batch, off].map((client) => client.close()));
    });

test('whoever speaks has been announced before, in every mode', async () => {
    const topic = 'speakers';
    const watchers = await Promise.all(['each', 'batch', 'off'].map((id) => gateway.join(id, { topic, presence: id })));
    const members = await Promise.all(crowd.slice(0, 60).map(async (id, n) => {
        const client = await gateway.open(id, { topic, presence: ['each', 'batch'][n % 2] });
        client.chat('here I am');
        return client;
    }));

    for (let heard = 0; heard < members.length;)
        heard += (await watchers[0].next()).kind === 'chat';
    const { id } = watchers[0].chat('fence');
    for (const client of [...watchers, ...members]) {
        const present = new Set();

        await expect(client, (json) => json.id === id);
        for (const { json } of client.frames) {
            if (json.kind === 'system/welcome')
                json.payload.participants.forEach((one) => present.add(one.id));
            changesIn(json).forEach((one) => present.add(one.id));
            if (json.kind === 'chat' && client.id !== 'off')
                assert.ok(present.has(json.from), `${client.id} heard ${json.from} before he came`);
        }
    }
    await Promise.all([...watchers, ...members].map((client) => client.close()));
});

test('after a batch the replay goes on exactly behind it, in batches; off replays none', async () => {
    const topic = 'replayed';
    const loud = await gateway.join('loud', { topic });
    const batch = await gateway.join('batch', { topic, presence: 'batch' });
    const last = presenceOf(batch).at(-1).id;
    const away = await Promise.all(crowd.slice(0, 20).map((id) => gateway.join(id, { topic })));
    const { id } = loud.chat('said');

    await expect(loud, (json) => json.id === id);
    await Promise.all(away.map((client) => client.close()));
    await expect(loud, () => known(loud).length === 2, 'the last leave');
    const fence = loud.chat('fence');
    await expect(loud, (json) => json.id === fence.id);
    const truth = presenceOf(loud).flatMap(changesIn).slice(-40);
    for (const [presence, frames] of [['each', 40], ['batch', 2], ['off', 0]]) {
        const back = await gateway.open('batch', { topic, presence, after: last });
        await expect(back, (json) => json.id === fence.id);
        assert.equal(presenceOf(back).length, frames);
        assert.deepEqual(changesOf(back), frames ? truth : []);
        assert.equal(back.frames.filter(({ json }) => json.kind === 'chat').length, 2);
        await back.close();
    }
    await Promise.all([loud, batch].map((client) => client.close()));
});

// 60 participants of 256 KiB each: a welcome that no socket buffer takes.
test('joiners that stall in a large welcome share it, and get it whole in the end', async (t) => {
    const capabilities = Array.from({ length: 128 }, (_, n) => `mcp/request:${n}:${'x'.repeat(2000)}`);
    const ids = crowd.slice(0, 60);
    const other = await startGateway({
        profiles: { large: { capabilities } },
        tokens: [...ids.map((id) => person(id, { profile: 'large' })), ...people('late')],
        topics: { defaults: { presence_delay: '1s' } },
        limits: { stall_timeout: '2s' },
    });
    t.after(() => other.stop());
    const resident = () => Number(/VmRSS:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${other.pid}/status`, 'utf8'))[1]) * 1024;
    const metric = async () => Number(/^moot_slow_consumers_total (\d+)$/m.exec((await other.request('GET /metrics')).text)[1]);
    const present = await Promise.all(ids.map((id) => other.join(id, { presence: 'off' })));
    const { json } = await other.request('GET /topics/room/participants', { token: 'late-token' });

    assert.equal(json.participants.length, 60);
    const first = await other.join('late', { presence: 'off', ...plain });
    assert.deepEqual(first.welcome.payload.participants.map(({ id }) => id).sort(), [...ids].sort());
    const size = first.frames[0].text.length;
    assert.ok(size > 15e6);
    const before = resident();
    const late = await Promise.all(Array.from({ length: 8 }, async (_, n) => {
        const client = await other.open('late', { presence: 'off', ...(n % 2 ? plain : {}) });
        client.socket._socket.pause();
        return client;
    }));
    if (!/asan|tsan/.test(process.env.MOOT ?? ''))
        assert.ok(resident() - before < 4 * size, `8 stalled joiners grew it by ${resident() - before}`);
    const slow = async () => { while (await metric() < late.length) await sleep(50); };
    await within(slow(), 'the stalled to be closed');
    for (const client of late)
        client.socket._socket.resume();
    for (const client of late) {
        assert.equal((await client.closed()).code, 4008);
        assert.equal(client.frames.length, 1);
        assert.deepEqual(client.frames[0].json.payload.participants, first.welcome.payload.participants);
    }
    await Promise.all([first, ...present].map((client) => client.close()));
});
