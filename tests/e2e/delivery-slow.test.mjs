// SPDX-License-Identifier: Apache-2.0
// D18: whoever does not read is warned, then closed with 4008; nobody else notices.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { envelope, expect, expectOnly, patience, people, startGateway, within } from './gateway.mjs';
import { until } from './processes.mjs';

const crowd = Array.from({ length: 99 }, (_, n) => `m${n}`);
const body = 'w'.repeat(16 * 1024);
const settings = (stall_timeout) => ({
    tokens: people('loud', 'lazy', ...crowd),
    limits: { rate_messages: 0, rate_bytes: 0, outbox: '2MiB', stall_timeout },
    topics: { defaults: { audit: 'off' } }, // what waits for the disk is not what is measured here
});
let gateway, patient; // which closes nobody for want of progress

before(async () => {
    gateway = await startGateway(settings('1500ms'));
    patient = await startGateway(settings('1h'));
});
after(() => Promise.all([gateway.stop(), patient.stop()]));

const plain = { ws: { perMessageDeflate: false } };
const residentBytes = ({ pid } = gateway) =>
    Number(/VmRSS:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
const metric = async (name, of = gateway) =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await of.request('GET /metrics')).text)[1]);

// Says `count` things in portions, each heard by the speaker and others before the next. The
// others remember what they heard in `heard`.
async function flood(loud, count, others = []) {
    const said = [];

    for (let n = 0; n < count; n++) {
        said.push(loud.send(envelope('loud', 'chat', { payload: { text: body } })).id);
        if (n % 20 !== 19 && n !== count - 1)
            continue;
        await Promise.all([loud, ...others].map(async (client) => {
            await expect(client, ({ id }) => id === said.at(-1), 'its own words');
            client.heard = [...client.heard ?? [], ...client.frames.map(({ json }) => json)
                .filter(({ kind }) => kind === 'chat').map(({ id }) => id)];
            client.frames.length = client.taken = 0;
        }));
    }
    return said;
}

async function stalled(topic, options, of = gateway) {
    const lazy = await of.join('lazy', { topic, ...options });

    lazy.socket._socket.pause();
    return lazy;
}

const isLeave = (json) => json.kind === 'system/presence' && json.payload.event === 'leave' &&
    json.payload.participant.id === 'lazy';

test('D18: one of 100 stalls; it is closed with 4008, the others get everything in order', async () => {
    const topic = 'crowd';
    const others = await Promise.all(crowd.slice(0, 98).map((id) => patient.join(id, { topic, ...plain })));
    const loud = await patient.join('loud', { topic, ...plain });
    const lazy = await stalled(topic, plain, patient);
    const before = residentBytes(patient);
    const said = [];
    let most = 0;

    // It begins to read again when the others see it go.
    others[0].socket.on('message', (data) => {
        if (data.length < 1000 && isLeave(JSON.parse(data)))
            lazy.socket._socket.resume();
    });
    for (let round = 0; round < 10; round++) {
        said.push(...await flood(loud, 60, others));
        most = Math.max(most, residentBytes(patient));
    }
    for (const client of others)
        assert.deepEqual(client.heard, said, `${client.id} missed something`);
    // The ring holds 4 MiB, an outbox 2 MiB; 10 MiB were said to 100.
    if (!/asan|tsan/.test(process.env.MOOT ?? ''))
        assert.ok(most - before < 24 * 2 ** 20, `memory grew by ${most - before} bytes`);
    const { code, reason } = await lazy.closed();
    assert.deepEqual([code, reason.split(':')[0]], [4008, 'slow_consumer']);
    const got = lazy.frames.filter(({ json }) => json.kind === 'chat').map(({ json }) => json.id);
    assert.deepEqual(got, said.slice(0, got.length), 'what it still got is whole and in order');
    await expectOnly(others, others[0]);
    await Promise.all([...others, loud].map((client) => client.close()));
});

for (const [name, options] of Object.entries({ 'plain': plain, 'compressed, the only one of its kind': {}, 'directed': { ...plain, routing: 'directed' } }))
    test(`D18: over the hard mark a stalled reader is closed at once (${name})`, async () => {
        const topic = `hard-${name.split(',')[0]}`;
        const loud = await patient.join('loud', { topic, ...plain });
        const lazy = await stalled(topic, options, patient);
        const slow = await metric('moot_slow_consumers_total', patient);
        let isGone = false;
        // Compresses badly, so that compressed frames fill buffers as well.
        const noise = Array.from({ length: 4000 }, (_, n) => Math.sin(n * 12.9898).toString(36).slice(3)).join('');

        for (let n = 0; n < 60 && !isGone; n++) {
            for (let m = 0; m < 8; m++)
                loud.send(envelope('loud', 'chat', { payload: { text: noise + n + m } }));
            const fence = loud.chat('fence');
            isGone = await expect(loud, (json) => json.id === fence.id || isLeave(json)).then(isLeave);
        }
        if (!isGone)
            await expect(loud, isLeave, 'its leave');
        assert.equal(await metric('moot_slow_consumers_total', patient), slow + 1);
        lazy.socket._socket.resume();
        assert.deepEqual(await lazy.closed(), { code: 4008, reason: 'slow_consumer: the outbox is full' });
        await loud.close();
    });

test('D18: without progress it is closed after the stall timeout, below every mark', async () => {
    const loud = await gateway.join('loud', { topic: 'still', ...plain });
    const lazy = await stalled('still', plain);
    const started = Date.now();
    let isGone = false;

    loud.socket.on('message', (data) => { isGone ||= data.length < 1000 && isLeave(JSON.parse(data)); });
    // As much as the kernel takes and a little more: blocked, but far below the soft mark.
    while (!isGone && await waiting('still') === 0)
        await flood(loud, 4);
    await until(() => isGone, 'it is closed');
    assert.ok(Date.now() - started > 1200, 'it had its time');
    lazy.socket._socket.resume();
    assert.deepEqual(await lazy.closed(), { code: 4008, reason: 'slow_consumer: nothing was read for too long' });
    await loud.close();
});

async function waiting(topic, of = gateway) {
    const { json } = await of.request(`GET /admin/members?topic=${topic}`, { token: of.adminToken() });

    return json.members.find(({ participantId }) => participantId === 'lazy')?.waiting_bytes ?? 0;
}

const bytesBetween = (frames, first, second) => {
    const at = (json) => frames.findIndex((frame) => frame.json === json);

    return frames.slice(at(first) + 1, at(second)).reduce((sum, { text }) => sum + text.length, 0);
};

for (const routing of ['all', 'directed'])
    test(`D18: over the soft mark it is warned with slow_consumer, and again when it falls behind again (${routing})`, async () => {
        const topic = `soft-${routing}`;
        const loud = await patient.join('loud', { topic, ...plain });
        const lazy = await patient.join('lazy', { topic, ...plain, routing });

        for (let round = 1; round <= 2; round++) {
            const said = [];
            lazy.socket._socket.pause();
            while (await waiting(topic, patient) < 1.3 * 2 ** 20)
                said.push(...await flood(loud, 8));
            lazy.socket._socket.resume();
            await expect(lazy, ({ id }) => id === said.at(-1));
            const fence = loud.chat('fence');
            await expect(lazy, ({ id }) => id === fence.id);
            const jsons = lazy.frames.map(({ json }) => json);
            const warnings = jsons.filter(({ kind }) => kind === 'system/error');
            assert.ok(warnings.length >= 1 && warnings.every(({ payload }) => payload.error === 'slow_consumer'), `round ${round}`);
            // The kernel may take all there is, and then it falls behind again: by a whole soft mark.
            for (let i = 1; i < warnings.length; i++)
                assert.ok(bytesBetween(lazy.frames, warnings[i - 1], warnings[i]) > 2 ** 20, 'not twice for the same');
            assert.deepEqual(warnings[0].to, ['lazy']);
            assert.ok(warnings[0].payload.waiting_bytes > 2 ** 20);
            assert.equal(warnings[0].payload.outbox_bytes, 2 * 2 ** 20);
            assert.deepEqual(jsons.filter(({ payload }) => payload.text === body).map(({ id }) => id), said);
            lazy.frames.length = lazy.taken = 0;
        }
        await Promise.all([loud.close(), lazy.close()]);
    });

test('D18: what the kernel would take does not hide a reader that has stopped', async () => {
    const loud = await patient.join('loud', plain);
    const lazy = await patient.join('lazy', plain);
    let gone = false;

    await expect(loud, ({ payload }) => payload.participant?.id === 'lazy');
    lazy.socket._socket.pause();
    for (let sent = 0; sent < 3_500_000 && !gone; sent += body.length) { // the kernel would take it all
        const { id } = loud.send(envelope('loud', 'chat', { payload: { text: body } }));
        await expect(loud, (json) => {
            gone ||= json.payload.event === 'leave';
            return json.id === id;
        });
    }
    if (!gone)
        await expect(loud, ({ payload }) => payload.event === 'leave', 'the lazy one to leave');
    lazy.socket._socket.resume();
    assert.equal((await lazy.closed()).code, 4008);
});

test('D18: who sends without reading the answers is not read either, and in the end closed', async () => {
    const lazy = await stalled('errors', plain);
    const bad = JSON.stringify(envelope('lazy', 'nobody/may', { payload: { text: 'v'.repeat(100) } }));
    const deadline = Date.now() + patience;
    const before = residentBytes();

    while (!(await metric('moot_slow_consumers_total') > 0 && lazy.socket.bufferedAmount > 2 ** 20) && Date.now() < deadline) {
        if (lazy.socket.bufferedAmount < 8 * 2 ** 20)
            for (let n = 0; n < 4000; n++)
                lazy.socket.send(bad);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.ok(lazy.socket.bufferedAmount > 2 ** 20, 'the gateway has stopped reading');
    if (!/asan|tsan/.test(process.env.MOOT ?? ''))
        assert.ok(residentBytes() - before < 24 * 2 ** 20, 'and keeps little');
    await within((async () => {
        while (await waiting('errors') > 0 || (await gateway.request('GET /admin/members?topic=errors',
            { token: gateway.adminToken() })).json.members.length)
            await new Promise((resolve) => setTimeout(resolve, 50));
    })(), 'its end');
    lazy.socket.terminate();
});
