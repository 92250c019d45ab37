// SPDX-License-Identifier: Apache-2.0
// Participants on libmoot whose gateway dies, or whose connections break, while they talk and
// call: all come back, nothing is heard twice, what cannot be made up for is told.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';

import { envelope, expect, people, startGateway } from './gateway.mjs';
import { startParticipant } from './participant.mjs';
import { eventsOf } from './programs.mjs';

process.setMaxListeners(50);

const ids = ['ann', 'ben', 'cleo', 'dan'];
const settings = {
    tokens: people(...ids, 'bob', 'slow'),
    limits: { rate_messages: 0, rate_bytes: 0, outbox: '16MiB' },
    topics: { defaults: { loop_guard: 'off', ring_messages: 100_000, ring_bytes: '64MiB' } },
};
const isTalk = ({ kind }) => kind === 'chat';

const startAll = (gateway) => Promise.all(ids.map(async (id) => {
    const participant = await startParticipant(gateway, id, { messages: true, retry_min_ms: 10, retry_max_ms: 500, recent: 8192 });

    await participant.do('add_tool', { name: 'echo', says: id });
    return participant;
}));

// Each says something again and again, and calls the next one's tool, as long as there is a
// connection. Gives what ends it; what was asked is kept in `asked`. Who is not here when he is
// called does not answer: that is what the timeout is for.
function load(participants) {
    let round = 0;
    const timer = setInterval(() => {
        round++;
        participants.forEach((one, i) => {
            one.do('chat', { text: `${ids[i]} ${round}` }).catch(() => {});
            one.do('request', { to: ids[(i + 1) % ids.length], method: 'tools/call', name: 'echo', arguments: { round }, how: 'call', timeout_ms: 3000 })
                .then(({ id }) => one.asked.push(id), () => {});
        });
    }, 5);

    for (const one of participants)
        one.asked = [];
    timer.unref();
    return () => clearInterval(timer);
}

// By from and id, as the protocol says.
function assertNothingTwice(participant) {
    const seen = new Set();

    for (const { from, id } of eventsOf(participant, 'message').filter(({ to, from }) => from !== 'system:gateway' || to.length === 0)) {
        assert.ok(!seen.has(`${from} ${id}`), `${participant.name} heard ${id} of ${from} twice`);
        seen.add(`${from} ${id}`);
    }
}

async function until(participant, isSo) {
    while (!isSo())
        await participant.next();
}

// What became of the calls, by id. Each has ended, once.
async function outcomesOf(participant) {
    const done = () => eventsOf(participant, 'done');

    await until(participant, () => done().length >= participant.asked.length);
    assert.deepEqual(done().map(({ id }) => id).sort(), [...participant.asked].sort());
    return done();
}

const welcomes = (participant) => eventsOf(participant, 'welcome').length;
const callSlowly = async (participant, to) => {
    const { id } = await participant.do('request', { to, method: 'tools/call', name: 'wait', how: 'call', timeout_ms: 600_000 });

    participant.asked.push(id);
    return id;
};

test('reconnect: the gateway is killed under load and comes again', async () => {
    let gateway = await startGateway(settings);
    const participants = await startAll(gateway);
    const slow = await gateway.join('slow'); // is asked and never answers
    const stop = load(participants);
    const pending = await callSlowly(participants[0], 'slow');

    await expect(slow, ({ id }) => id === pending);
    for (let run = 1; run <= 3; run++) {
        const seen = participants.map(welcomes);
        const answered = participants.map((one) => eventsOf(one, 'done').length);

        await Promise.all(participants.map((one, i) => until(one, () => eventsOf(one, 'done').length > answered[i])));
        await gateway.kill();
        gateway = await gateway.restart();
        await Promise.all(participants.map((one, i) => until(one, () => welcomes(one) > seen[i])));
    }
    stop();
    const { id } = (await gateway.join('bob')).chat('fence');
    for (const one of participants) {
        await until(one, () => eventsOf(one, 'message').some((message) => message.id === id));
        assertNothingTwice(one);
        assert.equal(eventsOf(one, 'gap').length, 3, 'a new gateway has nothing of what was: a gap each time');
        assert.ok(eventsOf(one, 'message').some(isTalk));
        assert.deepEqual(eventsOf(one, 'offence'), []);
        const outcomes = await outcomesOf(one);
        assert.deepEqual(outcomes.filter(({ type }) => !['result', 'lost', 'gone', 'timed_out'].includes(type)), []);
        assert.ok(outcomes.some(({ type }) => type === 'result'));
    }
    const lost = eventsOf(participants[0], 'done').find((one) => one.id === pending);
    assert.equal(lost.type, 'lost');
    assert.match(lost.message, /./);
    await Promise.all(participants.map((one) => one.stop()));
    await gateway.stop();
});

// Passes bytes on until it is told to cut, on both sides, at whatever byte they are.
// While it is shut, whoever comes is turned away.
async function startProxy({ port, scheme, host }) {
    const pairs = new Set();
    const server = net.createServer((near) => {
        if (proxy.isShut)
            return near.destroy();
        const far = net.connect({ port, host: '127.0.0.1' });
        const pair = [near, far];

        pairs.add(pair);
        for (const [from, to] of [pair, [far, near]]) {
            from.on('error', () => {});
            from.on('close', () => { to.destroy(); pairs.delete(pair); });
            from.pipe(to);
        }
    });

    const proxy = {
        isShut: false,
        scheme,
        host,
        cut() {
            for (const pair of [...pairs])
                for (const socket of pair)
                    socket.destroy();
        },
        close() {
            proxy.cut();
            server.close();
        },
    };

    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    proxy.port = server.address().port;
    return proxy;
}

test('reconnect: connections that are cut are resumed: nothing lost, nothing twice, calls answered', async () => {
    const gateway = await startGateway(settings);
    const proxy = await startProxy(gateway);
    const bob = await gateway.join('bob'); // who stays, and knows what was said
    const participants = await startAll(proxy);
    const stop = load(participants);
    const pending = await callSlowly(participants[0], 'bob');
    const { payload } = await expect(bob, ({ id }) => id === pending);

    for (let cuts = 1; cuts <= 10; cuts++) {
        const seen = participants.map(welcomes);
        const answered = participants.map((one) => eventsOf(one, 'done').length);

        await Promise.all(participants.map((one, i) => until(one, () => eventsOf(one, 'done').length > answered[i])));
        proxy.cut();
        await Promise.all(participants.map((one, i) => until(one, () => welcomes(one) > seen[i])));
    }
    stop();
    bob.send(envelope('bob', 'mcp/response:tools/call:wait', { to: ['ann'], correlation_id: pending,
        payload: { jsonrpc: '2.0', id: payload.id, result: { content: [] } } }));
    const fence = bob.chat('fence');
    await expect(bob, ({ id }) => id === fence.id);
    const said = bob.frames.map(({ json }) => json).filter(isTalk);

    for (const [i, one] of participants.entries()) {
        await until(one, () => eventsOf(one, 'message').some(({ id }) => id === fence.id));
        assertNothingTwice(one);
        assert.deepEqual(eventsOf(one, 'gap'), []);
        assert.ok(eventsOf(one, 'welcome').slice(1).every(({ resumed }) => resumed));
        const upTo = (list) => list.map(({ id }) => id).slice(0, list.findIndex(({ id }) => id === fence.id));
        const heard = upTo(eventsOf(one, 'message').filter(isTalk));
        const others = upTo(said.filter(({ from }) => from !== ids[i]));
        assert.deepEqual(heard, others.slice(others.indexOf(heard[0])), `${ids[i]} heard all of it, in the room's order`);
        for (const outcome of await outcomesOf(one))
            assert.ok(['result', 'gone', 'timed_out'].includes(outcome.type), JSON.stringify(outcome));
    }
    const answered = eventsOf(participants[0], 'done').find(({ id }) => id === pending);
    assert.equal(answered.type, 'result', 'it waited over ten connections');
    await Promise.all(participants.map((one) => one.stop()));
    proxy.close();
    await gateway.stop();
});

for (const [name, hasHeard] of [['the room remembers', true], ['it takes, having heard nothing before,', false]])
    test(`reconnect: who is away for longer than ${name} is told so, and calls end`, async () => {
        const gateway = await startGateway({ ...settings, topics: { defaults: { loop_guard: 'off', ring_messages: 4 } } });
        const proxy = await startProxy(gateway);
        const bob = await gateway.join('bob');
        const ann = await startParticipant(proxy, 'ann', { messages: true });
        const isHeard = ({ id: said }) => until(ann, () => eventsOf(ann, 'message').some(({ id }) => id === said));
        ann.asked = [];
        if (hasHeard)
            await isHeard(bob.chat('hello'));
        const pending = await callSlowly(ann, 'bob');
        await expect(bob, ({ id }) => id === pending);

        proxy.isShut = true;
        proxy.cut();
        await ann.event('state', ({ state }) => state === 'waiting');
        const said = Array.from({ length: 20 }, (_, i) => bob.chat(`said ${i}`));
        await expect(bob, ({ id }) => id === said.at(-1).id);
        proxy.isShut = false;
        await ann.event('gap');
        await isHeard(bob.chat('fence'));
        const [lost] = await outcomesOf(ann);
        assert.equal(lost.type, 'lost');
        assert.ok(eventsOf(ann, 'gap').length >= 1, 'once more if the room moves on before the rest is read');
        assert.equal(eventsOf(ann, 'welcome')[1].resumed, hasHeard);
        assertNothingTwice(ann);
        await ann.stop();
        proxy.close();
        await gateway.stop();
    });
