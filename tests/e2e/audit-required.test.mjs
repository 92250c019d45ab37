// SPDX-License-Identifier: Apache-2.0
// A topic whose audit is required: nothing is heard that is not on disk. When the disk fails
// it stops and says so, and goes on by itself, in order and with nothing lost or said twice.
// Other topics go on, and count what the record misses.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { breakDisk, mendDisk, readRecord, recorded } from './audit.mjs';
import { envelope, expect, expectOnly, patience, people, person, startGateway, takeAll, within } from './gateway.mjs';

let gateway, alice, bob;

before(async () => {
    gateway = await startGateway({
        topics: { named: { room: { audit: 'required' }, loose: { audit: 'async' }, off: { audit: 'off' } } },
        audit: { queue: '1MiB' },
        limits: { rate_messages: 0, rate_bytes: 0 },
        tokens: [
            ...people('alice', 'bob', 'cyd', 'dan'),
            person('giver', { capabilities: ['mcp/*', 'chat', 'capability/*'] }),
            person('boss', { profile: 'admin' }),
        ],
    });
    alice = await gateway.join('alice');
    bob = await gateway.join('bob');
});

after(() => gateway.stop());

async function metric(name) {
    const { text } = await gateway.request('GET /metrics');
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)[1]);
}

async function until(what, isTrue) {
    for (const end = Date.now() + patience; !await isTrue();)
        assert.ok(Date.now() < end, `never: ${what}`);
}

// Something is said that cannot be written; from then on the store knows that it fails.
async function fail(client, say = () => client.chat('held')) {
    await breakDisk(gateway);
    const held = say();
    await until('the store fails', async () => await metric('moot_store_failing') === 1);
    return held;
}

const recover = async () => {
    await mendDisk(gateway);
    await until('the store recovers', async () => await metric('moot_store_failing') === 0);
};

test('required: what is heard stands in the record, at once', async () => {
    for (let i = 0; i < 20; i++) {
        const { id } = alice.chat(`number ${i}`);
        await expect(bob, (json) => json.id === id);
        const { records } = await readRecord(gateway.data);
        const found = records.filter((one) => one.id === id);
        assert.deepEqual(found.map((one) => [one.event, one.verdict, one.by]), [['envelope', 'allowed', 'chat']]);
    }
});

test('required: a refusal comes behind what its receiver has said before', async () => {
    takeAll(alice);
    for (let i = 0; i < 20; i++) {
        const from = alice.taken;
        const said = alice.chat('first');
        alice.send(said);
        const last = alice.chat('last');

        await expect(alice, (json) => json.id === last.id);
        assert.deepEqual(alice.frames.slice(from, alice.taken).map(({ json }) => json.payload.error ?? json.payload.text),
            ['first', 'duplicate_id', 'last']);
        await expect(bob, (json) => json.id === last.id);
    }
});

test('required: a pong comes behind refusals that wait', async () => {
    for (let i = 0; i < 20; i++) {
        const said = alice.chat('first');
        alice.send(said);
        alice.socket.ping();
        await within(once(alice.socket, 'pong'), 'the pong');
        assert.ok(takeAll(alice).some((json) => json.payload.error === 'duplicate_id'), 'what came before it was judged');
        await expect(bob, (json) => json.id === said.id);
    }
});

test('required: a post is answered when it is on disk', async () => {
    const posted = envelope('cyd', 'chat', { payload: { text: 'posted' } });
    const answer = await gateway.post('cyd-token', 'room', posted);
    assert.deepEqual([answer.status, answer.json.id], [200, posted.id]);
    assert.ok((await readRecord(gateway.data)).records.some((one) => one.id === posted.id));
    await expect(alice, (json) => json.id === posted.id);
    await expect(bob, (json) => json.id === posted.id);
});

test('required: while the disk fails nothing is heard, and it is refused; then all comes out, once and in order', async () => {
    takeAll(alice);
    takeAll(bob);
    const held = await fail(alice);
    const refused = alice.chat('refused');
    const error = await expect(alice, (json) => json.kind === 'system/error');
    assert.deepEqual([error.correlation_id, error.payload.error], [refused.id, 'unavailable']);
    assert.match(error.payload.message, /record cannot be written/);
    const posted = await gateway.post('cyd-token', 'room', envelope('cyd'));
    assert.deepEqual([posted.status, posted.json.error], [503, 'unavailable']);

    const ready = await gateway.request('GET /readyz');
    assert.equal(ready.status, 503);
    assert.match(ready.text, /record cannot be written/);
    assert.equal((await gateway.request('GET /healthz')).status, 200);
    await gateway.logged(/event=store\.fail/);
    assert.ok(await metric('moot_held_bytes') > 0);
    assert.ok(await metric('moot_unavailable_total') >= 2);

    // Whoever comes now is welcomed, sees nothing that waits, and is himself not seen.
    const cyd = await gateway.open('cyd');
    const welcome = await expect(cyd, (json) => json.kind === 'system/welcome');
    assert.deepEqual(welcome.payload.participants.map(({ id }) => id).sort(), ['alice', 'bob']);
    const page = await gateway.request('GET /topics/room/messages', { token: 'bob-token' });
    assert.ok(!page.json.messages.some(({ id }) => id === held.id));
    const here = await gateway.request('GET /topics/room/participants', { token: 'bob-token' });
    assert.deepEqual(here.json.participants.map(({ id }) => id).sort(), ['alice', 'bob']);
    const waiting = gateway.request('GET /topics/room/messages?wait=50', { token: 'dan-token' });
    assert.deepEqual([takeAll(alice), takeAll(bob), takeAll(cyd)], [[], [], []]);

    await recover();
    for (const client of [alice, bob, cyd]) {
        assert.equal((await client.next()).id, held.id, client.id);
        assert.deepEqual((await client.next()).payload.participant.id, 'cyd');
    }
    assert.equal((await within(waiting, 'the poll')).json.messages[0].id, held.id);
    assert.equal((await gateway.request('GET /readyz')).status, 200);
    await expectOnly([alice, bob, cyd], alice);
    const { records, verify } = await readRecord(gateway.data);
    assert.equal(verify.damaged, false);
    assert.equal(records.filter((one) => one.id === held.id && one.event === 'envelope').length, 1);
    assert.equal(records.find((one) => one.id === refused.id).verdict, 'unavailable');
    await cyd.close();
    await expect(alice, (json) => json.payload.event === 'leave');
    await expect(bob, (json) => json.payload.event === 'leave');
});

test('required: a post that waits for the disk is answered when it is there', async () => {
    takeAll(alice);
    await breakDisk(gateway);
    const posted = envelope('cyd', 'chat', { payload: { text: 'late' } });
    let isAnswered = false;
    const answered = gateway.post('cyd-token', 'room', posted).then((answer) => { isAnswered = true; return answer; });
    await until('the store fails', async () => await metric('moot_store_failing') === 1);
    const again = await gateway.post('cyd-token', 'room', posted);
    assert.equal(again.status, 503);
    assert.equal(isAnswered, false);
    assert.deepEqual(takeAll(alice), []);
    await mendDisk(gateway);
    assert.equal((await within(answered, 'the answer')).status, 200);
    await expect(alice, (json) => json.id === posted.id);
    await until('the store recovers', async () => await metric('moot_store_failing') === 0);
});

test('required: many at once, broken in the middle, keep their order and are all heard once', async () => {
    takeAll(bob);
    const sent = [];
    for (let i = 0; i < 200; i++)
        sent.push(alice.chat(`row ${i}`).id);
    await breakDisk(gateway);
    for (let i = 200; i < 400; i++)
        sent.push(alice.chat(`row ${i}`).id);
    await until('the store fails', async () => await metric('moot_store_failing') === 1);
    const before = new Set((await readRecord(gateway.data)).records.map((one) => one.id));
    for (const { id } of takeAll(bob))
        assert.ok(before.has(id), 'heard, and not on disk');
    await recover();
    const last = alice.chat('the last');
    await expect(bob, (json) => json.id === last.id);
    await expect(alice, (json) => json.id === last.id);
    const refused = new Set(alice.frames.filter(({ json }) => json.kind === 'system/error').map(({ json }) => json.correlation_id));
    const heard = bob.frames.map(({ json }) => json.id).filter((id) => sent.includes(id));
    assert.deepEqual(heard, sent.filter((id) => !refused.has(id)));
});

test('state: in other topics talk goes on, and what must survive a restart is refused', async () => {
    const giver = await gateway.join('giver', { topic: 'loose' });
    const quiet = await gateway.join('alice', { topic: 'off' });
    await fail(alice);
    giver.chat('goes on');
    await expect(giver, (json) => json.payload.text === 'goes on');
    quiet.chat('goes on');
    await expect(quiet, (json) => json.payload.text === 'goes on');
    for (const [client, kind, payload] of [
        [giver, 'mcp/proposal:tools/call', { method: 'tools/call', params: { name: 'x' } }],
        [quiet, 'mcp/proposal:tools/call', { method: 'tools/call', params: { name: 'x' } }],
        [giver, 'capability/grant', { recipient: 'bob', capabilities: ['chat'] }],
    ]) {
        const asked = client.send(envelope(client.id, kind, { payload }));
        const error = await expect(client, (json) => json.kind === 'system/error');
        assert.deepEqual([error.correlation_id, error.payload.error], [asked.id, 'unavailable'], kind);
    }
    const { json } = await gateway.request('GET /topics/loose/proposals', { token: 'giver-token' });
    assert.deepEqual(json.proposals, []);
    await recover();
    const proposal = quiet.send(envelope('alice', 'mcp/proposal:tools/call', { payload: { method: 'tools/call', params: { name: 'x' } } }));
    await expect(quiet, (json) => json.id === proposal.id);
    await giver.close();
    await quiet.close();
});

test('async: a full queue drops, counts, tells the room and the record', async () => {
    const cyd = await gateway.join('cyd', { topic: 'loose' });
    const dan = await gateway.join('dan', { topic: 'loose' });
    await fail(alice);
    const before = await metric('moot_audit_dropped_total');
    const text = 'x'.repeat(50_000);
    const sent = [];
    for (let i = 0; i < 60; i++)
        sent.push(cyd.chat(text).id);
    for (const id of sent)
        await expect(dan, (json) => json.id === id); // nobody waits for the disk
    const dropped = await metric('moot_audit_dropped_total') - before;
    assert.ok(dropped > 20 && dropped < 60, `${dropped} dropped`);
    await gateway.logged(/event=audit\.drop/);
    assert.ok(!takeAll(dan).some((json) => json.payload.notice === 'audit_gap'));
    await recover();
    const notice = await expect(dan, (json) => json.payload.notice === 'audit_gap');
    assert.equal(notice.kind, 'system/notice');
    const drop = await recorded(gateway, (one) => one.event === 'drop' && one.topic === 'loose');
    assert.equal(drop.body.dropped, notice.payload.dropped);
    const { records, verify } = await readRecord(gateway.data);
    const missing = sent.filter((id) => !records.some((one) => one.id === id)).length;
    assert.ok(missing > 0 && missing <= dropped);
    assert.equal(verify.damaged, false);
    const after = cyd.chat('recorded again');
    await recorded(gateway, (one) => one.id === after.id);
    await cyd.close();
    await dan.close();
});
