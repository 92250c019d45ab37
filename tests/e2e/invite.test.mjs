// SPDX-License-Identifier: Apache-2.0
// topic/invite: somebody new for one topic, by a ticket that only the inviter gets.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';

const token = 'boss-token';
let gateway;
let topics = 0;
const tickets = [];

before(async () => {
    gateway = await startGateway({
        topics: { named: { club: { access: 'private' } } },
        profiles: { guests: { capabilities: ['chat', 'mcp/response:*'], type: 'human' }, people: { capabilities: ['chat'], type: 'human' },
            feeds: { capabilities: ['chat'], type: 'service' } },
        tokens: [person('boss', { profile: 'admin' }), person('host', { type: 'human', capabilities: ['topic/invite', 'capability/*', 'mcp/*', 'chat'] }),
            person('recruiter', { capabilities: ['topic/invite', 'mcp/*', 'chat'] }), person('bot'),
            person('desk', { type: 'service', capabilities: ['topic/invite', 'chat'] }), person('robot', { admin: true, capabilities: ['topic/invite', 'chat'] }),
            person('member', { topics: ['club'], capabilities: ['topic/*', 'chat'] })],
    });
});
after(async () => {
    for (const ticket of tickets)
        assert.ok(!gateway.stderr().includes(ticket) && !gateway.stdout().includes(ticket), 'logs hold no ticket');
    await gateway.logged(/invitation\.make/);
    await gateway.stop();
});

async function room(...ids) {
    const topic = `invite-${++topics}`;
    const clients = [];

    for (const id of ids)
        clients.push(await gateway.join(id, { topic }));
    return [topic, ...clients];
}

const invite = (client, payload) => client.send(envelope(client.id, 'topic/invite', { payload }));
const answer = (client, { id }) => expect(client, (json) => json.correlation_id === id);

async function ticketFor(client, payload) {
    const { kind, from, to, payload: given } = await answer(client, invite(client, payload));

    assert.deepEqual([kind, from, to], ['topic/invite', 'system:gateway', [client.id]], JSON.stringify(given));
    tickets.push(given.ticket);
    return given;
}

const redeem = (ticket) => gateway.request('POST /session', { json: { ticket } });

test('agents and services bring in agents only; humans and administrators whom they like', async () => {
    const [, ...clients] = await room('recruiter', 'desk', 'host', 'robot');
    const others = [{ capabilities: ['chat'], type: 'human' }, { profile: 'people' }, { profile: 'feeds' }];

    for (const client of clients) {
        const may = ['host', 'robot'].includes(client.id);
        for (const [i, how] of others.entries()) {
            const { kind, payload } = await answer(client, invite(client, { participant: `${client.id}s-${i}`, ...how }));
            assert.deepEqual([kind, payload.error, payload.field],
                may ? ['topic/invite', undefined, undefined] : ['system/error', 'forbidden', 'payload.type'], `${client.id} ${JSON.stringify(how)}`);
        }
        await ticketFor(client, { participant: `${client.id}s-helper`, capabilities: ['chat'] });
        await ticketFor(client, { participant: `${client.id}s-aide`, profile: 'feeds', type: 'agent' });
    }
});

test('the inviter alone gets a ticket; it opens this topic once, with these capabilities', async () => {
    const [topic, host, bot] = await room('host', 'bot');
    const sent = invite(host, { participant: 'guest', capabilities: ['chat', 'mcp/request:tools/*'], type: 'human', reason: 'welcome' });
    const { payload } = await answer(host, sent);

    tickets.push(payload.ticket);
    assert.deepEqual(Object.keys(payload).sort(), ['expires_at', 'link', 'participant', 'ticket']);
    assert.equal(payload.link, `/#ticket=${payload.ticket}`);
    const left = Date.parse(payload.expires_at) - Date.now();
    assert.ok(left > 3500_000 && left <= 3600_000, 'an hour');
    const heard = await expect(bot, ({ kind }) => kind === 'topic/invite');
    assert.deepEqual([heard.from, heard.correlation_id, heard.payload],
        ['system:gateway', sent.id, { inviter: 'host', participant: 'guest', expires_at: payload.expires_at }]);
    const session = await redeem(payload.ticket);
    assert.deepEqual([session.status, session.json.id, session.json.admin, session.json.topics], [200, 'guest', false, [topic]]);
    assert.equal((await redeem(payload.ticket)).status, 401, 'once');
    const guest = await gateway.join('guest', { topic, token: session.json.token });
    assert.deepEqual(guest.welcome.payload.you, { id: 'guest', capabilities: ['chat', 'mcp/request:tools/*'], moot: { type: 'human' } });
    guest.chat('hello', { id: `hello-${topic}` });
    await expect(bot, ({ id }) => id === `hello-${topic}`);
    assert.equal((await gateway.refusal('guest', { topic: 'lobby', token: session.json.token })).status, 403);
    assert.ok(!bot.frames.some(({ text }) => text.includes(payload.ticket)), 'the others never see it');
    assert.ok(!bot.frames.some(({ json }) => json.id === sent.id), 'nor the request');
    assert.equal(host.frames.filter(({ text }) => text.includes(payload.ticket)).length, 1);
    const late = await gateway.request(`GET /topics/${topic}/messages`, { token: 'bot-token' });
    assert.ok(!late.text.includes(payload.ticket), 'nor does the log hold it');
});

test('over HTTP the answer carries the invitation', async () => {
    const [topic, bot] = await room('bot');
    const sent = envelope('host', 'topic/invite', { payload: { participant: 'caller', profile: 'guests', expires_in: 60 } });
    const { status, json } = await gateway.post('host-token', topic, sent);

    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json).sort(), ['expires_at', 'id', 'link', 'participant', 'ticket']);
    assert.deepEqual([json.id, json.participant], [sent.id, 'caller']);
    tickets.push(json.ticket);
    await expect(bot, ({ kind, payload }) => kind === 'topic/invite' && payload.participant === 'caller');
    const session = await redeem(json.ticket);
    assert.ok(Date.parse(session.json.expires_at) - Date.now() > 3600_000, 'the session lasts, whatever the invitation did');
    const guest = await gateway.join('caller', { topic, token: session.json.token });
    assert.deepEqual(guest.welcome.payload.you, { id: 'caller', capabilities: ['chat', 'mcp/response:*'], moot: { type: 'human' } });
    const again = await gateway.post('host-token', topic, envelope('host', 'topic/invite', { payload: { participant: 'caller', profile: 'guests' } }));
    assert.deepEqual([again.status, again.json.error], [409, 'conflict']);
    const tooMuch = await gateway.post('host-token', topic, envelope('host', 'topic/invite', { payload: { participant: 'other', profile: 'admin' } }));
    assert.deepEqual([tooMuch.status, tooMuch.json.error], [403, 'capability_violation']);
});

test('nobody is invited under a name that somebody has', async () => {
    const [topic, host] = await room('host');
    const pending = await ticketFor(host, { participant: 'pending', capabilities: ['chat'] });

    for (const participant of ['bot', 'host', 'boss', 'local', 'pending', 'BOT', 'Boss', 'LOCAL', 'pENDING']) {
        const { kind, payload } = await answer(host, invite(host, { participant, capabilities: ['chat'] }));
        assert.deepEqual([kind, payload.error, payload.field], ['system/error', 'conflict', 'payload.participant'], participant);
    }
    const session = await redeem(pending.ticket);
    const { payload } = await answer(host, invite(host, { participant: 'pending', capabilities: ['chat'] }));
    assert.equal(payload.error, 'conflict', 'the session has it now');
    await gateway.request('DELETE /session', { token: session.json.token });
    const again = await ticketFor(host, { participant: 'pending', capabilities: ['chat'] });
    const guest = await gateway.join('pending', { topic, token: (await redeem(again.ticket)).json.token });
    const grant = host.send(envelope('host', 'capability/grant', { payload: { recipient: 'pending', capabilities: ['mcp/request:x'] } }));
    await expect(guest, ({ kind, correlation_id }) => kind === 'capability/grant-ack' && correlation_id === grant.id);
    await guest.close();
    await gateway.request('GET /topics', { token });
    const { json } = await gateway.request('GET /admin/tokens', { token });
    const { name } = json.tokens.find(({ id }) => id === 'pending');
    assert.equal((await gateway.request(`DELETE /admin/tokens/${name}`, { token })).status, 200);
    const next = await ticketFor(host, { participant: 'pending', capabilities: ['chat'] });
    const heir = await gateway.join('pending', { topic, token: (await redeem(next.ticket)).json.token });
    assert.deepEqual(heir.welcome.payload.you.capabilities, ['chat'], 'nobody inherits what was granted');
});

test('an invitation opens a private topic', async () => {
    const member = await gateway.join('member', { topic: 'club' });
    const { ticket } = await ticketFor(member, { participant: 'fellow', capabilities: ['chat'] });
    const { json } = await redeem(ticket);

    assert.equal((await gateway.refusal('bot', { topic: 'club' })).status, 404);
    const fellow = await gateway.join('fellow', { topic: 'club', token: json.token });
    fellow.chat('in', { id: 'fellow-in' });
    await expect(member, ({ id }) => id === 'fellow-in');
});

test('two at once: one of them gets the name', async () => {
    const [, host] = await room('host');

    for (let i = 0; i < 10; i++) {
        const sent = [1, 2].map(() => invite(host, { participant: `twin-${i}`, capabilities: ['chat'] })); // judged in one turn
        const found = () => sent.map(({ id }) => host.frames.find(({ json }) => json.to && json.correlation_id === id)?.json.payload);
        while (found().includes(undefined))
            await host.next();
        assert.deepEqual(found().map(({ error }) => error ?? 'ok').sort(), ['conflict', 'ok']);
    }
});

test('nobody gives what he does not hold, and nobody without the capability invites', async () => {
    const [, host, bot] = await room('host', 'bot');

    for (const capabilities of [['chat', 'x/y'], ['*'], ['participant/kick']]) {
        const { payload } = await answer(host, invite(host, { participant: 'newcomer', capabilities }));
        assert.deepEqual([payload.error, payload.capability], ['capability_violation', capabilities.at(-1)]);
    }
    const { payload } = await answer(bot, invite(bot, { participant: 'newcomer', capabilities: ['chat'] }));
    assert.deepEqual([payload.error, payload.attempted_kind], ['capability_violation', 'topic/invite']);
});

const malformed = {
    'nobody': { capabilities: ['chat'] },
    'a name of the gateway': { participant: 'system:gateway', capabilities: ['chat'] },
    'a name with a line break': { participant: 'a\nb', capabilities: ['chat'] },
    'a name too long': { participant: 'x'.repeat(65), capabilities: ['chat'] },
    'no name': { participant: '', capabilities: ['chat'] },
    'a name that looks like another': { participant: 'b\u043ess', capabilities: ['chat'] },
    'a name with something that is not seen': { participant: 'boss\u200b', capabilities: ['chat'] },
    'a name that ends in a blank': { participant: 'boss ', capabilities: ['chat'] },
    'a name that begins with a dash': { participant: '-boss', capabilities: ['chat'] },
    'a name that looks like the gateway': { participant: 'System-Gateway', capabilities: ['chat'] },
    'neither capabilities nor profile': { participant: 'x' },
    'both': { participant: 'x', capabilities: ['chat'], profile: 'guests' },
    'no such profile': { participant: 'x', profile: 'nothing' },
    'a service': { participant: 'x', capabilities: ['chat'], type: 'service' },
    'no time': { participant: 'x', capabilities: ['chat'], expires_in: 0 },
    'more than a week': { participant: 'x', capabilities: ['chat'], expires_in: 604_801 },
    'a time in words': { participant: 'x', capabilities: ['chat'], expires_in: '60' },
    'something else': { participant: 'x', capabilities: ['chat'], admin: true },
};

test('an invitation that says anything else is refused', async () => {
    const [, host] = await room('host');

    for (const [name, payload] of Object.entries(malformed)) {
        const { payload: error } = await answer(host, invite(host, payload));
        assert.equal(error.error, 'malformed_envelope', name);
    }
});

test('an invitation expires, and its name is free again', async () => {
    const [, host] = await room('host');
    const { ticket, expires_at } = await ticketFor(host, { participant: 'late', capabilities: ['chat'], expires_in: 1 });

    while (Date.now() <= Date.parse(expires_at) + 5)
        await gateway.request('GET /healthz');
    assert.equal((await redeem(ticket)).status, 401);
    await ticketFor(host, { participant: 'late', capabilities: ['chat'] });
});

test('invitations stand in the list of tokens and can be revoked, used or not', async () => {
    const [topic, host] = await room('host');
    const first = await ticketFor(host, { participant: 'listed', capabilities: ['chat'] });
    const find = async () => (await gateway.request('GET /admin/tokens', { token })).json.tokens.filter(({ id }) => id === 'listed');
    const [listed, ...others] = await find();

    assert.equal(others.length, 0);
    assert.deepEqual([listed.source, listed.topics, listed.capabilities, listed.admin], ['invitation', [topic], ['chat'], false]);
    assert.equal((await gateway.request(`DELETE /admin/tokens/${listed.name}`, { token })).status, 200);
    assert.equal((await redeem(first.ticket)).status, 401);
    assert.deepEqual(await find(), []);
    const second = await ticketFor(host, { participant: 'listed', capabilities: ['chat'] });
    const session = await redeem(second.ticket);
    const guest = await gateway.join('listed', { topic, token: session.json.token });
    const [used, ...more] = await find();
    assert.deepEqual([used.source, more.length], ['guest', 0], 'the session takes its place');
    assert.equal((await gateway.request(`DELETE /admin/tokens/${used.name}`, { token })).status, 200);
    assert.equal((await guest.closed()).code, 1008);
});

test('no token is made under the id of a guest', async () => {
    const [topic, host] = await room('host');
    const create = (id) => gateway.request('POST /admin/tokens', { token, json: { id, capabilities: ['chat'] } });
    const { ticket } = await ticketFor(host, { participant: 'Consul', capabilities: ['chat'] });

    for (const id of ['Consul', 'consul']) {
        const { status, json } = await create(id);
        assert.deepEqual([status, /was invited under that id; revoke `invitation-\w+` first/.test(json.detail)], [409, true], json.detail);
    }
    const session = await redeem(ticket);
    const guest = await gateway.join('Consul', { topic, token: session.json.token });
    const { status, json } = await create('consul');
    assert.equal(status, 409);
    const [, name] = /revoke `(session-\w+)`/.exec(json.detail);
    assert.equal((await gateway.request(`DELETE /admin/tokens/${name}`, { token })).status, 200);
    assert.equal((await guest.closed()).code, 1008);
    assert.equal((await create('consul')).status, 201);
});

test('a token that a reload brings ends the guests of its id, and what they were granted', async () => {
    const tokens = [person('host', { type: 'human', capabilities: ['topic/invite', 'capability/*', 'mcp/*', 'chat'] }), person('boss', { profile: 'admin' })];
    const own = await startGateway({ tokens });
    const host = await own.join('host', { topic: 'reload' });
    const enter = async (participant) => {
        const { json } = await own.post('host-token', 'reload', envelope('host', 'topic/invite', { payload: { participant, capabilities: ['chat'] } }));
        return json.ticket;
    };
    const session = async (ticket) => (await own.request('POST /session', { json: { ticket } }));
    const consul = await own.join('consul', { topic: 'reload', token: (await session(await enter('consul'))).json.token });
    const other = await own.join('other', { topic: 'reload', token: (await session(await enter('other'))).json.token });
    const waiting = await enter('Waiting');
    const { id } = host.send(envelope('host', 'capability/grant', { payload: { recipient: 'consul', capabilities: ['mcp/*'] } }));
    await expect(host, ({ kind, correlation_id }) => kind === 'capability/grant-ack' && correlation_id === id);
    fs.writeFileSync(own.config, JSON.stringify({ tokens: [...tokens, person('consul', { capabilities: ['chat'] }), person('waiting')] }));
    assert.equal((await own.request('POST /admin/reload', { token })).status, 200);
    assert.equal((await consul.closed()).code, 1008);
    assert.equal((await session(waiting)).status, 401);
    const real = await own.join('consul', { topic: 'reload' });
    assert.deepEqual(real.welcome.payload.you.capabilities, ['chat']);
    other.chat('still here', { id: 'other-stays' });
    await expect(host, (json) => json.id === 'other-stays');
    await own.stop();
});

test('a hundred guests of a topic may have come', async () => {
    const [topic] = await room('host');
    const post = async (i) => gateway.post('host-token', topic, envelope('host', 'topic/invite', { payload: { participant: `visitor-${i}`, capabilities: ['chat'] } }));
    const sessions = [];

    for (let i = 0; i < 100; i++) {
        const { status, json } = await post(i);
        assert.equal(status, 200);
        sessions.push((await redeem(json.ticket)).json.token);
    }
    const { status, json } = await post(100);
    assert.deepEqual([status, json.error], [503, 'overload']);
    assert.equal((await gateway.request('DELETE /session', { token: sessions[7] })).status, 204);
    assert.equal((await post(100)).status, 200, 'one has gone');
    assert.equal((await post(101)).status, 503);
});

test('in all there are half as many guests as there may be tickets', async () => {
    const small = await startGateway({ limits: { tickets: 8 }, tokens: [person('host', { capabilities: ['topic/invite', 'chat'] })] });

    for (let i = 0; i < 5; i++) {
        const { status, json } = await small.post('host-token', `small-${i}`,
            envelope('host', 'topic/invite', { payload: { participant: `guest-${i}`, capabilities: ['chat'] } }));
        assert.equal(status, i < 4 ? 200 : 503, `guest ${i}`);
        if (i % 2)
            assert.equal((await small.request('POST /session', { json: { ticket: json.ticket } })).status, i < 4 ? 200 : 401);
    }
    await small.stop();
});

test('a hundred invitations of a topic may wait', async () => {
    const [, host] = await room('host');
    const sent = Array.from({ length: 101 }, (_, i) => invite(host, { participant: `crowd-${i}`, capabilities: ['chat'] }));
    const answers = () => sent.map(({ id }) => host.frames.find(({ json }) => json.correlation_id === id)?.json.payload.error);

    while (host.frames.filter(({ json }) => json.to && sent.some(({ id }) => id === json.correlation_id)).length < sent.length)
        await host.next();
    assert.deepEqual(answers().filter(Boolean), ['overload'], 'and not one more');
    assert.equal(answers()[100], 'overload');
});

test('who left before the answer came leaves no name taken', async () => {
    const topic = `invite-${++topics}-gone`;
    const host = await gateway.join('host', { topic });
    const sent = invite(host, { participant: 'orphan', capabilities: ['chat'] });

    host.socket.terminate();
    // Either he was answered before he went, and the name is taken, or it is free.
    const again = await gateway.join('host', { topic });
    const { kind, payload } = await answer(again, invite(again, { participant: 'orphan', capabilities: ['chat'] }));
    assert.ok(kind === 'topic/invite' || payload.error === 'conflict', sent.id);
});
