// SPDX-License-Identifier: Apache-2.0
// Events that nobody asked for: who hears what, in which order, and where he goes on.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, test } from 'node:test';

import { connect, message, subscribe } from './agents.mjs';
import { person, startGateway } from './gateway.mjs';

let gateway, admin, number = 0;

before(async () => {
    gateway = await startGateway({
        tokens: [
            person('scout', { profile: 'directory' }),
            person('details', { capabilities: ['directory/*'] }),
            person('nobody'),
            person('later'),
        ],
        directory: { events: 200 },
    });
    admin = gateway.adminToken();
});
after(() => gateway?.stop());

const put = async (more = {}) => {
    const id = `r-${++number}`;
    const { status, text } = await gateway.request(`PUT /admin/resources/${id}`,
        { token: admin, json: { kind: 'human', name: `Person ${number}`, ...more } });

    assert.ok(status < 300, text);
    return id;
};
const dataOf = (event, type = 'RESOURCE_UPDATED') => {
    assert.equal(event.payload.event_type, type, JSON.stringify(event));
    return event.payload.data;
};

test('a change is told to who may query, once, with its number', async () => {
    const agent = await subscribe(gateway, 'scout');
    const { epoch, sequence } = agent.confirmed;
    const id = await put({ role: 'tester' });
    const data = dataOf(await agent.next());

    assert.deepEqual([data.change, data.resource_id, data.resource.role], ['put', id, 'tester']);
    assert.deepEqual([data.epoch, data.sequence, data.in_reply_to], [epoch, sequence + 1, undefined]);
    await gateway.request(`DELETE /admin/resources/${id}`, { token: admin });
    const gone = dataOf(await agent.next());
    assert.deepEqual([gone.change, gone.resource_id, gone.resource, gone.sequence], ['removed', id, undefined, sequence + 2]);
    await agent.close();
});

test('details are told to who may see them', async () => {
    const agent = await subscribe(gateway, 'scout');
    const insider = await subscribe(gateway, 'details');

    await put({ rate: 80, participant: 'zoe' });
    const outside = dataOf(await agent.next()).resource;
    const inside = dataOf(await insider.next()).resource;
    assert.deepEqual([outside.rate, outside.participant], [undefined, undefined]);
    assert.deepEqual([inside.rate.amount, inside.participant], [80, 'zoe']);
    await agent.close();
    await insider.close();
});

test('whoever may not query hears nothing, from one event to the next', async () => {
    const agent = await subscribe(gateway, 'later');
    const fence = async () => { // the answer comes behind all events
        await agent.ask('TEAM_GET_STATUS', { team_id: 't' });
        return agent.events.length;
    };
    const change = (json) => gateway.request('POST /admin/participants/later/capabilities', { token: admin, json });
    const witness = await subscribe(gateway, 'scout');
    const told = async () => { await put(); await witness.next(); };

    await told();
    assert.equal(await fence(), 0);
    await change({ add: ['directory/query'] });
    await told();
    dataOf(await agent.next());
    await change({ remove: ['directory/query'] });
    await told();
    assert.equal(await fence(), 1);
    await agent.close();
    await witness.close();
});

test('a subscription is narrowed by types of events, teams and topics', async () => {
    const all = await subscribe(gateway, 'scout');
    const wanted = await subscribe(gateway, 'scout', { event_types: ['RESOURCE_UPDATED'] });
    const others = await Promise.all([
        subscribe(gateway, 'scout', { event_types: ['TEAM_STATUS_UPDATED', 'MEMBER_STATUS_CHANGED'] }),
        subscribe(gateway, 'scout', { teams: ['t-1'] }),
        subscribe(gateway, 'scout', { topics: ['team-t-1'] }),
    ]);

    await put();
    dataOf(await all.next());
    dataOf(await wanted.next());
    for (const other of others) {
        await other.ask('RESOURCE_QUERY', { query: '' });
        assert.equal(other.events.length, 0);
        await other.close();
    }
    await wanted.ask('CONTEXT_SUBSCRIBE', { authentication_token: 'scout-token', event_types: ['TEAM_STATUS_UPDATED'] });
    await put();
    dataOf(await all.next());
    await wanted.ask('RESOURCE_QUERY', { query: '' });
    assert.equal(wanted.events.length, wanted.taken, 'a later subscription replaces the narrowing');
    await all.close();
    await wanted.close();
});

test('whoever comes back goes on where he was', async () => {
    const agent = await subscribe(gateway, 'scout');
    await put();
    const { epoch, sequence } = dataOf(await agent.next());
    await agent.close();

    const missed = [await put(), await put(), await put()];
    const back = await subscribe(gateway, 'scout', { since: { epoch, sequence } });
    assert.equal(back.confirmed.gap, false);
    assert.equal(back.confirmed.sequence, sequence);
    for (const [at, id] of missed.entries()) {
        const data = dataOf(await back.next());
        assert.deepEqual([data.resource_id, data.sequence], [id, sequence + 1 + at]);
    }
    const fresh = await put();
    assert.equal(dataOf(await back.next()).resource_id, fresh);
    await back.close();
});

test('a gap is told: another epoch, a number that is to come, or too long ago', async () => {
    const agent = await subscribe(gateway, 'scout');
    const { epoch, sequence } = agent.confirmed;

    for (const since of [{ epoch: 'another', sequence }, { epoch, sequence: sequence + 1000 }]) {
        const back = await subscribe(gateway, 'scout', { since });
        assert.equal(back.confirmed.gap, true);
        await back.close();
    }
    for (let i = 0; i < 210; i++)
        await put();
    const late = await subscribe(gateway, 'scout', { since: { epoch, sequence } });
    assert.equal(late.confirmed.gap, true);
    assert.equal(dataOf(await late.next()).sequence, late.confirmed.sequence + 1);
    await late.close();
    await agent.close();
});

test('an import is one event', async () => {
    const agent = await subscribe(gateway, 'scout');
    const rows = Array.from({ length: 500 }, (_, i) => JSON.stringify({ id: `i-${i}`, kind: 'agent', name: `Agent ${i}` })).join('\n');
    const { status, text } = await gateway.request('POST /admin/resources/import',
        { token: admin, headers: { 'Content-Type': 'application/x-ndjson' }, body: rows });

    assert.equal(status, 200, text);
    const data = dataOf(await agent.next());
    assert.deepEqual([data.change, data.rows], ['imported', 500]);
    await agent.close();
});

// The client goes at any moment: before, while or after it is committed.
test('an import is told if and only if it was made, also when nobody waits for the answer', async () => {
    const agent = await subscribe(gateway, 'scout');
    const outcomes = new Set();
    const leave = async (id, delay) => { // in 1/10 ms
        const body = JSON.stringify({ id, kind: 'agent', name: id });
        const socket = net.connect(gateway.port, gateway.host);
        socket.on('error', () => {});
        await once(socket, 'connect');
        socket.write(`POST /admin/resources/import HTTP/1.1\r\nHost: ${gateway.host}\r\nAuthorization: Bearer ${admin}\r\n` +
            `Content-Type: application/x-ndjson\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
        const until = performance.now() + delay / 10;
        while (performance.now() < until)
            ; // a timer is too coarse
        socket.resetAndDestroy();
    };
    const marker = async (id) => {
        for (;;) {
            const { status } = await gateway.request(`PUT /admin/resources/${id}`, { token: admin, json: { kind: 'agent', name: id } });
            if (status < 300)
                return;
            assert.equal(status, 409, 'the import is under way');
        }
    };

    for (let i = 0; i < 100; i++) {
        await leave(`gone-${i}`, i % 20);
        await marker(`marker-${i}`);
        let told = false;
        for (;;) {
            const data = dataOf(await agent.next());
            if (data.resource_id === `marker-${i}`)
                break;
            told ||= data.change === 'imported';
        }
        const { status } = await gateway.request(`GET /admin/resources/gone-${i}`, { token: admin });
        assert.equal(told, status === 200, `number ${i}`);
        outcomes.add(status);
    }
    assert.ok(outcomes.has(200), 'some were made');
    await agent.close();
});

test('of changes that come at once by many ways the last event says what is', async () => {
    const agent = await subscribe(gateway, 'scout');
    const last = new Map();

    for (let round = 0; round < 5; round++)
        await Promise.all(Array.from({ length: 40 }, (_, i) => gateway.request(`PUT /admin/resources/same-${i % 4}`,
            { token: admin, json: { kind: 'agent', name: `Version ${round}-${i}` } })));
    for (let i = 0; i < 200; i++) {
        const data = dataOf(await agent.next());
        last.set(data.resource_id, data.resource.name);
    }
    for (const [id, name] of last)
        assert.equal((await gateway.request(`GET /admin/resources/${id}`, { token: admin })).json.name, name);
    await agent.close();
});

// 1,000 agents of 20 names: the even names may query, the first ten have a team of their own. One agent reads
// nothing, others leave in between and come back.
test('a thousand agents hear exactly what they may, in one order, across reconnects, and a slow one harms nobody', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `a${i}`);
    const own = await startGateway({
        tokens: [...names.map((id, i) => person(id, { capabilities: [...(i % 2 ? [] : ['directory/query']), 'team/create', 'team/manage', 'chat'] })),
            person('slow', { capabilities: ['directory/query'] })],
        limits: { stall_timeout: '60s' },
    });
    try {
        const token = own.adminToken();
        const putOne = async (id, profile = '') => {
            const { status, text } = await own.request(`PUT /admin/resources/${id}`, { token, json: { kind: 'human', name: id, profile } });
            assert.ok(status < 300, text);
        };
        await putOne('member');
        const teams = [];
        for (const name of names.slice(0, 10)) {
            const agent = await subscribe(own, name);
            const event = await agent.ask('TEAM_CREATE', { team_name: `of ${name}`, member_resource_ids: ['member'] });
            teams.push(event.payload.data.team_id);
            await agent.close();
        }
        const slow = await subscribe(own, 'slow');
        slow.socket.pause();
        const agents = [];
        for (let i = 0; i < 1000; i += 50)
            agents.push(...await Promise.all(Array.from({ length: 50 }, (_, k) => subscribe(own, names[(i + k) % 20]))));
        const start = { epoch: agents[0].confirmed.epoch, sequence: agents[0].confirmed.sequence };
        const heard = agents.map(() => []);
        const wanted = new Map(names.map((name) => [name, []]));
        const change = async (round) => {
            await putOne(`r-${round}`, 'x'.repeat(4000));
            names.forEach((name, i) => i % 2 || wanted.get(name).push(`r-${round}`));
            for (const [i, id] of teams.entries()) {
                const { status, text } = await own.request(`PATCH /teams/${id}`, { token: `${names[i]}-token`, json: { name: `of ${round}` } });
                assert.equal(status, 200, text);
                wanted.get(names[i]).push(`${id} of ${round}`);
            }
        };
        const take = async (at) => {
            const count = wanted.get(agents[at].id).length;
            while (heard[at].length < count) {
                const { data } = (await agents[at].next()).payload;
                heard[at].push({ what: data.resource_id ?? `${data.team_id} ${data.name}`, sequence: data.sequence });
            }
        };

        for (let round = 0; round < 4; round++)
            await change(round);
        const leavers = agents.map((_, at) => at).filter((at) => at % 7 === 0);
        for (const at of leavers) {
            await take(at);
            await agents[at].close();
        }
        for (let round = 4; round < 8; round++)
            await change(round);
        for (const at of leavers) {
            const since = { ...start, sequence: heard[at].at(-1)?.sequence ?? start.sequence };
            agents[at] = await subscribe(own, agents[at].id, { since });
            assert.equal(agents[at].confirmed.gap, false);
        }
        await change(8);
        for (let at = 0; at < agents.length; at++) {
            await take(at);
            assert.deepEqual(heard[at].map(({ what }) => what), wanted.get(agents[at].id), agents[at].id);
        }
        // Behind the answer to a question nothing is left.
        for (const agent of agents.slice(0, 100)) {
            await agent.ask('TEAM_GET_STATUS', { team_id: 't' });
            assert.equal(agent.events.length, agent.taken, `${agent.id} hears nothing else`);
        }
        const orders = new Map();
        for (const { what, sequence } of heard.flat())
            assert.equal(orders.get(what) ?? sequence, (orders.set(what, sequence), sequence), 'one number for all');
        slow.socket.terminate();
        for (const agent of agents)
            agent.socket.terminate();
    } finally {
        await own.stop();
    }
});

// Answers fill what lies between the two; then more events come than are remembered.
test('one that does not read is overtaken: it is told of the gap, once, and goes on behind it', async () => {
    const own = await startGateway({
        tokens: [person('scout', { profile: 'directory' })],
        directory: { events: 20 },
        limits: { stall_timeout: '60s' },
    });
    try {
        const token = own.adminToken();
        const putOne = (id, profile) => own.request(`PUT /admin/resources/${id}`, { token, json: { kind: 'human', name: id, profile } });
        for (let i = 0; i < 70; i++)
            await putOne(`large-${i}`, 'x'.repeat(16_000));
        const slow = await subscribe(own, 'scout');
        const quick = await subscribe(own, 'scout');
        const { sequence } = slow.confirmed;

        slow.socket.pause();
        const questions = Array.from({ length: 40 }, () => slow.send(message('scout', 'RESOURCE_QUERY', { query: '', limit: 100 })));
        const read = async () => { // of the questions; those of the other are not counted
            const { text } = await own.request('GET /metrics', { token });
            return Number(/^moot_agent_messages_total (\d+)/m.exec(text)[1]) - 2;
        };
        for (let asked = 0, still = 0, before = -1; still < 20; asked++) {
            await quick.ask('RESOURCE_QUERY', { query: '', limit: 1 });
            const now = await read() - asked - 1;
            still = now === before ? still + 1 : 0;
            before = now;
            assert.ok(now < questions.length, 'they are not all read');
        }
        const ids = Array.from({ length: 50 }, (_, i) => `small-${i}`);
        for (const id of ids) {
            assert.ok((await putOne(id)).status < 300);
            assert.equal(dataOf(await quick.next()).resource_id, id);
        }
        slow.socket.resume();
        for (const question of questions)
            assert.equal((await slow.answer(question)).payload.event_type, 'RESOURCE_RESULTS');
        const data = dataOf(await slow.next(), 'SUBSCRIPTION_CONFIRMED');
        assert.deepEqual([data.gap, data.in_reply_to, data.epoch, data.sequence], [true, undefined, slow.confirmed.epoch, sequence + 30]);
        for (const [at, id] of ids.slice(30).entries()) {
            const { resource_id: got, sequence: number } = dataOf(await slow.next());
            assert.deepEqual([got, number], [id, sequence + 31 + at]);
        }
        await putOne('after');
        assert.equal(dataOf(await slow.next()).resource_id, 'after');
        await slow.close();
        await quick.close();
    } finally {
        await own.stop();
    }
});

test('one that reads nothing for too long is closed: 4008', async () => {
    const own = await startGateway({ tokens: [person('scout', { profile: 'directory' })], limits: { stall_timeout: '1s' } });
    try {
        const token = own.adminToken();
        for (let i = 0; i < 70; i++)
            await own.request(`PUT /admin/resources/large-${i}`, { token, json: { kind: 'human', name: 'Large', profile: 'x'.repeat(16_000) } });
        const slow = await subscribe(own, 'scout');
        slow.socket.pause();
        for (let i = 0; i < 40; i++)
            slow.send(message('scout', 'RESOURCE_QUERY', { query: '', limit: 100 }));
        for (;;) {
            const { text } = await own.request('GET /metrics', { token });
            if (/^moot_slow_consumers_total [1-9]/m.test(text))
                break;
        }
        slow.socket.resume();
        assert.equal((await slow.closed()).code, 4008);
    } finally {
        await own.stop();
    }
});

test('a subscription that is not yet confirmed hears nothing', async () => {
    const agent = await connect(gateway, 'scout');
    const witness = await subscribe(gateway, 'scout');

    await put();
    await witness.next();
    const event = await agent.answer(agent.send(message('scout', 'CONTEXT_SUBSCRIBE', { authentication_token: 'scout-token' })));
    assert.equal(event.payload.event_type, 'SUBSCRIPTION_CONFIRMED');
    assert.equal(agent.events.length, 0);
    await agent.close();
    await witness.close();
});
