// SPDX-License-Identifier: Apache-2.0
// D20: slash and dotted members share a room; each hears everything in its own spelling, and
// nothing but `protocol` and `kind` differs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, expectOnly, people, person, startGateway, takeAll, within } from './gateway.mjs';

const protocols = { slash: 'mcpx/v0.1', dotted: 'mcpx/draft' };

// Every sort of kind in both spellings, with a payload that says what the kind says.
const call = { method: 'tools/call', params: { name: 'read.file/x' } };
const kinds = [
    ['chat', 'chat.message', { text: 'ü "quoted" \u2028' }],
    ['mcp/request:tools/call', 'mcp.request.tools/call', call],
    ['mcp/request:tools/call:read.file/x', 'mcp.request.tools/call:read.file/x', call],
    ['mcp/request:a.b/c', 'mcp.request.a.b/c', { method: 'a.b/c' }],
    ['mcp/request:notifications/initialized', 'mcp.request.notifications/initialized', { method: 'notifications/initialized' }],
    ['mcp/response:tools/call', 'mcp.response.tools/call', { result: {} }, { correlation_id: 'some' }],
    ['mcp/proposal:tools/call', 'mcp.proposal.tools/call', call],
    ['participant/status', 'participant.status', { status: 'busy' }],
    ['capability/grant-ack', 'capability.grant-ack', {}],
    ['a/b/c-9', 'a.b.c-9', {}],
    ['hello', 'hello', {}],
];
const decisions = [
    ['mcp/withdraw', 'mcpx.withdraw.proposal'],
    ['mcp/reject', 'mcpx.reject.proposal'],
    ['mcp/approve', 'mcpx.approve.proposal'],
];

let gateway;

before(async () => {
    const everything = { capabilities: ['*'] };

    gateway = await startGateway({
        topics: {
            named: {
                old: { dialects: 'slash' },
                told: { announce_violations: true },
            },
        },
        tokens: [person('ann', everything), person('bob', everything), person('cyd', everything),
            ...people('dan'), person('eve', { capabilities: ['mcp.proposal.*', 'chat.*', 'x/*', 'mcp/request:*/list'] })],
    });
});
after(async () => { await gateway.stop(); });

const say = (dialect, from, kind, more = {}) => ({ ...envelope(from, kind, more), protocol: protocols[dialect] });

// What a reader of the other dialect must get: the same text but for two values.
const respelt = (text, [from, to]) =>
    text.replace(`"protocol":"${protocols[from[0]]}"`, `"protocol":"${protocols[to[0]]}"`)
        .replace(`"kind":${JSON.stringify(from[1])}`, `"kind":${JSON.stringify(to[1])}`);

const heard = async (client, id) => {
    await expect(client, (json) => json.id === id);
    return client.latest.text;
};

async function exchange(readers, sender, dialect, kind, more) {
    const [own, other] = dialect === 'slash' ? kind : [kind[1], kind[0]];
    const text = JSON.stringify(say(dialect, sender.id, own, more)).replace('"payload":', '  "x" : [1, 2.50] ,\t"payload": ');
    const { id } = JSON.parse(text);
    const others = dialect === 'slash' ? 'dotted' : 'slash';

    sender.send(text);
    for (const [reader, speaks] of readers)
        assert.equal(await heard(reader, id), speaks === dialect ? text : respelt(text, [[dialect, own], [others, other]]),
            `${own} for ${reader.id}`);
    return id;
}

for (const perMessageDeflate of [false, true])
    test(`D20: every kind in both directions, ${perMessageDeflate ? 'compressed' : 'plain'}`, async () => {
        const topic = `mixed-${perMessageDeflate}`;
        const ws = { perMessageDeflate };
        const ann = await gateway.join('ann', { topic, ws });
        const bob = await gateway.join('bob', { topic, ws, dialect: 'dotted' });
        const cyd = await gateway.join('cyd', { topic, ws, dialect: 'dotted', routing: 'directed', presence: 'batch' });
        const readers = [[ann, 'slash'], [bob, 'dotted'], [cyd, 'dotted']];
        const long = 'long '.repeat(perMessageDeflate ? 300 : 1);

        for (const kind of kinds)
            for (const [sender, dialect] of [[ann, 'slash'], [bob, 'dotted']]) {
                const more = { payload: { ...kind[2], note: long }, ...(kind[3] ?? {}) };
                await exchange(readers, sender, dialect, kind, more);
            }
        for (const [sender, dialect, decider, speaks] of [[ann, 'slash', bob, 'dotted'], [bob, 'dotted', ann, 'slash']])
            for (const kind of decisions) {
                const proposal = await exchange(readers, sender, dialect, kinds[6], { payload: call });
                const own = kind[0] === 'mcp/withdraw';
                const more = { correlation_id: proposal, payload: { reason: 'so' } };
                await exchange(readers, own ? sender : decider, own ? dialect : speaks, kind, more);
            }
        for (const client of [ann, bob, cyd])
            await client.close();
    });

test('D4, D20: welcome, presence and capabilities in the spelling of the reader', async () => {
    const topic = 'greetings';
    const ann = await gateway.join('ann', { topic });
    const eve = await gateway.join('eve', { topic, dialect: 'dotted' });
    const { protocol, kind, payload } = eve.welcome;

    assert.deepEqual([protocol, kind], ['mcpx/draft', 'system.welcome']);
    assert.deepEqual(payload.you.capabilities, ['mcp.proposal.*', 'chat.*', 'x.*', 'mcp.request.*/list']);
    assert.deepEqual([payload.moot.dialect, payload.moot.validation], ['dotted', 'strict']);
    const came = await expect(ann, (json) => json.payload.participant?.id === 'eve');
    assert.deepEqual([came.protocol, came.kind], ['mcpx/v0.1', 'system/presence']);
    assert.deepEqual(came.payload.participant.capabilities, ['mcp/proposal:*', 'chat', 'x/*', 'mcp/request:*/list']);

    const dan = await gateway.join('dan', { topic, dialect: 'dotted', presence: 'batch' });
    const full = ['mcp.*', 'mcpx.withdraw.*', 'mcpx.reject.*', 'mcpx.approve.*', 'chat.message'];
    assert.deepEqual(dan.welcome.payload.you.capabilities, full);
    assert.deepEqual(dan.welcome.payload.participants.find(({ id }) => id === 'eve').capabilities,
        ['mcp.proposal.*', 'chat.*', 'x.*', 'mcp.request.*/list']);
    const joined = await expect(eve, (json) => json.payload.participant?.id === 'dan');
    assert.deepEqual([joined.protocol, joined.kind], ['mcpx/draft', 'system.presence']);
    assert.deepEqual(joined.payload.participant.capabilities, full);
    const batch = dan.frames.map(({ json }) => json).find((json) => json.payload.event === 'batch');
    assert.deepEqual([batch.protocol, batch.kind], ['mcpx/draft', 'system.presence']);
    assert.deepEqual(batch.payload.participants.find(({ id }) => id === 'dan').capabilities, full);

    const slash = await gateway.request(`GET /topics/${topic}/participants`, { token: 'ann-token' });
    const dotted = await gateway.request(`GET /topics/${topic}/participants?dialect=dotted`, { token: 'ann-token' });
    assert.deepEqual(slash.json.participants.find(({ id }) => id === 'dan').capabilities, ['mcp/*', 'chat']);
    assert.deepEqual(dotted.json.participants.find(({ id }) => id === 'dan').capabilities, full);
    for (const client of [ann, eve, dan])
        await client.close();
});

test('D20: what a pattern allows is decided in the spelling it was written in', async () => {
    const topic = 'rights';
    const eve = await gateway.join('eve', { topic, dialect: 'dotted' });
    const old = await gateway.join('eve', { topic, isPresent: true });

    for (const [kind, allowed, more] of [
        ['mcp.proposal.tools/call', true, { payload: call }], ['chat.message', true], ['x.y.z', true],
        ['mcp.request.tools/list', true, { payload: { method: 'tools/list' } }],
        ['mcp.request.tools/call', false], ['mcpx.approve.proposal', false], ['y.z', false],
    ]) {
        const sent = eve.send(say('dotted', 'eve', kind, { correlation_id: undefined, ...more }));
        const got = await expect(eve, (json) => json.id === sent.id || json.correlation_id === sent.id);
        assert.equal(got.id === sent.id, allowed, kind);
        if (allowed)
            continue;
        assert.equal(got.kind, 'system.error');
        assert.equal(got.protocol, 'mcpx/draft');
        assert.equal(got.payload.error, 'capability_violation');
        assert.equal(got.payload.attempted_kind, kind);
        assert.deepEqual(got.payload.your_capabilities, ['mcp.proposal.*', 'chat.*', 'x.*', 'mcp.request.*/list']);
    }
    const sent = old.send(envelope('eve', 'mcp/request:tools/call'));
    const got = await expect(old, (json) => json.correlation_id === sent.id);
    assert.deepEqual(got.payload.your_capabilities, ['mcp/proposal:*', 'chat', 'x/*', 'mcp/request:*/list']);
    await eve.close();
    await old.close();
});

test('D20: spellings of the other dialect and of other documents are refused by name', async () => {
    const topic = 'refused';
    const ann = await gateway.join('ann', { topic });
    const bob = await gateway.join('bob', { topic, dialect: 'dotted' });

    for (const [client, dialect, kind, meant] of [
        [ann, 'slash', 'chat.message', 'chat'],
        [ann, 'slash', 'mcp.request.tools/call:x', 'mcp/request:tools/call:x'],
        [ann, 'slash', 'proposal/withdraw', 'mcp/withdraw'],
        [ann, 'slash', 'proposal/reject', 'mcp/reject'],
        [bob, 'dotted', 'chat', 'chat.message'],
        [bob, 'dotted', 'chat.message.text', 'chat.message'],
        [bob, 'dotted', 'mcp/approve', 'mcpx.approve.proposal'],
        [bob, 'dotted', 'proposal.withdraw', 'mcpx.withdraw.proposal'],
        [bob, 'dotted', 'proposal/reject', 'mcpx.reject.proposal'],
        [bob, 'dotted', 'system.welcome.participant', 'system.welcome'],
        [bob, 'dotted', 'system.presence.join', 'system.presence'],
        [bob, 'dotted', 'system.presence.leave', 'system.presence'],
        [bob, 'dotted', 'system.error.capability', 'system.error'],
        [bob, 'dotted', 'mcp.nothing', null],
    ]) {
        const sent = client.send(say(dialect, client.id, kind));
        const { payload } = await expect(client, (json) => json.correlation_id === sent.id);
        assert.equal(payload.error, 'malformed_kind', kind);
        assert.equal(payload.attempted_kind, kind);
        assert.equal(payload.message, '`kind`: not a kind of this protocol' + (meant ? `; here it is written '${meant}'` : ''));
    }
    for (const kind of ['system.welcome', 'system.x.y', 'system', 'presence']) {
        const sent = bob.send(say('dotted', 'bob', kind));
        const { payload } = await expect(bob, (json) => json.correlation_id === sent.id);
        assert.equal(payload.error, 'reserved_namespace', kind);
    }
    await expectOnly([ann], ann);
    await ann.close();
    await bob.close();
});

test('D20: one protocol per connection, at both doors', async () => {
    const topic = 'protocols';
    const ann = await gateway.join('ann', { topic });
    const bob = await gateway.join('bob', { topic, dialect: 'dotted' });
    const slash = 'mcpx/v0.1 is spoken here; mcpx/draft is with dialect=dotted';
    const dotted = 'mcpx/draft is spoken here; mcpx/v0.1 is with dialect=slash';
    const early = 'mcp-x/v0 was an early draft and is not spoken; use mcpx/v0.1, or mcpx/draft with dialect=dotted';

    for (const [client, protocol, message, supported] of [
        [ann, 'mcpx/draft', slash, 'mcpx/v0.1'], [ann, 'mcp-x/v0', early, 'mcpx/v0.1'],
        [bob, 'mcpx/v0.1', dotted, 'mcpx/draft'], [bob, 'mcp-x/v0', early, 'mcpx/draft'], [bob, 'mcpx/v9', dotted, 'mcpx/draft'],
    ]) {
        const sent = client.send({ ...envelope(client.id), protocol });
        const { payload } = await expect(client, (json) => json.correlation_id === sent.id);
        assert.deepEqual([payload.error, payload.message, payload.supported],
            ['unsupported_protocol', `\`protocol\`: ${message}`, [supported]]);
    }
    const wrong = await gateway.post('ann-token', topic, say('dotted', 'ann', 'chat.message'));
    assert.equal(wrong.status, 400);
    assert.deepEqual(wrong.json.supported, ['mcpx/v0.1']);
    await ann.close();
    await bob.close();
});

test('RFC 6455 4.2.2: subprotocols choose the dialect', async () => {
    const topic = 'subprotocols';
    for (const [offers, query, dialect, agreed] of [
        [['mcpx.v0.1'], {}, 'slash', 'mcpx.v0.1'],
        [['mcpx.draft'], {}, 'dotted', 'mcpx.draft'],
        [['soap', 'mcpx.draft', 'mcpx.v0.1'], {}, 'dotted', 'mcpx.draft'],
        [['mcpx.v0.1', 'mcpx.draft'], {}, 'slash', 'mcpx.v0.1'],
        [['mcpx.v0.1', 'mcpx.draft'], { dialect: 'dotted' }, 'dotted', 'mcpx.draft'],
        [['mcpx.draft'], { dialect: 'dotted' }, 'dotted', 'mcpx.draft'],
    ]) {
        const client = await joinWith(topic, offers, query);
        assert.deepEqual([client.dialect, client.agreed], [dialect, agreed], `${offers} ${query.dialect}`);
    }
    // A ws client refuses an answer without its subprotocol, so the answer is read by hand.
    for (const [offer, query, status, agreed] of [
        ['soap', '', 101, undefined], ['soap, wamp', '&dialect=dotted', 101, undefined], ['MCPX.draft', '', 101, undefined],
        [',, mcpx.draft ,', '', 101, 'mcpx.draft'],
        ['mcpx.draft', '&dialect=slash', 400, undefined], ['mcpx.v0.1', '&dialect=dotted', 400, undefined],
    ]) {
        const answer = await handshake(topic, offer, query);
        assert.deepEqual([answer.status, answer.agreed], [status, agreed], `${offer} ${query}`);
    }
});

async function joinWith(topic, offers, query) {
    const { default: WebSocket } = await import('ws');
    const parameters = new URLSearchParams({ topic, ...query });
    const socket = new WebSocket(`ws://${gateway.host}:${gateway.port}/ws?${parameters}`, offers,
        { headers: { Authorization: 'Bearer dan-token' } });
    const welcome = await within(new Promise((resolve, reject) => {
        socket.once('message', (data) => resolve(JSON.parse(data)));
        socket.once('error', reject);
    }), 'the welcome');

    socket.terminate();
    return { dialect: welcome.payload.moot.dialect, agreed: socket.protocol };
}

async function handshake(topic, offer, query) {
    const { request } = await import('node:http');
    const req = request({
        host: gateway.host, port: gateway.port, path: `/ws?topic=${topic}${query}`, agent: false,
        headers: {
            Authorization: 'Bearer dan-token', Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': 13,
            'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Protocol': offer,
        },
    });

    req.end();
    return within(new Promise((resolve, reject) => {
        const answer = (res, socket) => {
            (socket ?? res).destroy();
            resolve({ status: res.statusCode, agreed: res.headers['sec-websocket-protocol'] });
        };
        req.once('upgrade', answer);
        req.once('response', (res) => answer(res));
        req.once('error', reject);
    }), 'the answer');
}

test('D20: dialects: slash keeps dotted ones out', async () => {
    const topic = 'old';
    const refusal = await gateway.refusal('ann', { topic, dialect: 'dotted' });
    assert.equal(refusal.status, 403);
    assert.match(refusal.json.detail, /dialect=slash only/);
    assert.equal((await gateway.request(`GET /topics/${topic}/messages?dialect=dotted`, { token: 'ann-token' })).status, 403);
    assert.equal((await gateway.request(`GET /topics/${topic}/messages?dialect=doted`, { token: 'ann-token' })).status, 400);
    const ann = await gateway.join('ann', { topic });
    assert.equal(ann.welcome.payload.moot.validation, 'lazy');
    await ann.close();
});

test('D3, D16, D17: routing, echo and replay in dots', async () => {
    const topic = 'replay';
    const ann = await gateway.join('ann', { topic });
    const bob = await gateway.join('bob', { topic, dialect: 'dotted', routing: 'directed', echo: 'off' });
    const start = ann.chat('start').id;
    await expect(bob, (json) => json.id === start);

    ann.chat('not for bob', { to: ['cyd'] });
    const forBob = ann.chat('for bob', { to: ['bob'] });
    const got = await expect(bob, (json) => json.kind === 'chat.message');
    assert.deepEqual(got, { ...forBob, protocol: 'mcpx/draft', kind: 'chat.message' });
    const own = bob.send(say('dotted', 'bob', 'chat.message', { payload: { text: 'own' } }));
    assert.deepEqual(await expect(ann, (json) => json.id === own.id), { ...own, protocol: 'mcpx/v0.1', kind: 'chat' });
    const request = ann.send(say('slash', 'ann', 'mcp/request:tools/list', { to: ['bob'], payload: { method: 'tools/list' } }));
    assert.equal((await bob.next()).kind, 'mcp.request.tools/list', 'no echo of what it said itself');
    const switched = bob.send(say('dotted', 'bob', 'participant.routing', { payload: { mode: 'all' } }));
    const fence = bob.send(say('dotted', 'bob', 'chat.message', { payload: { text: 'it has been heard' } }));
    await expect(ann, (json) => json.id === fence.id);
    const seen = ann.chat('seen', { to: ['cyd'] });
    const next = await expect(bob, (json) => json.id === seen.id || json.correlation_id === switched.id);
    assert.equal(next.id, seen.id);
    await bob.close();

    const directed = await gateway.open('bob', { topic, dialect: 'dotted', routing: 'directed', after: start, presence: 'batch' });
    const replayed = [];
    while (replayed.length < 3) {
        const json = await directed.next();
        if (!json.kind.startsWith('system.'))
            replayed.push(json);
        assert.equal(json.protocol, 'mcpx/draft');
    }
    assert.deepEqual(replayed.map(({ id, kind }) => [id, kind]),
        [[forBob.id, 'chat.message'], [own.id, 'chat.message'], [request.id, 'mcp.request.tools/list']]);
    assert.deepEqual(replayed[1], own);

    const gap = await gateway.open('bob', { topic, dialect: 'dotted', after: 'never-heard', presence: 'off' });
    const told = await expect(gap, (json) => json.kind === 'system.gap');
    assert.equal(told.protocol, 'mcpx/draft');
    for (const client of [ann, directed, gap])
        await client.close();
});

test('D20: posting and polling in dots', async () => {
    const topic = 'posts';
    const ann = await gateway.join('ann', { topic });
    const message = say('dotted', 'dan', 'mcp.proposal.tools/call:x', { payload: { method: 'tools/call', params: { name: 'x' } } });
    const post = (json) => gateway.request(`POST /topics/${topic}/messages?dialect=dotted`, { token: 'dan-token', json });

    assert.equal((await post(message)).status, 200);
    assert.equal((await post(message)).status, 200, 'the same bytes again');
    assert.equal((await post({ ...message, x: 1 })).json.error, 'duplicate_id');
    assert.deepEqual(await expect(ann, (json) => json.id === message.id),
        { ...message, protocol: 'mcpx/v0.1', kind: 'mcp/proposal:tools/call:x' });
    const refused = await post(say('dotted', 'dan', 'a.b'));
    assert.equal(refused.status, 403);
    assert.equal(refused.json.attempted_kind, 'a.b');
    assert.ok(refused.json.your_capabilities.includes('mcpx.approve.*'));
    const mismatch = await post(say('dotted', 'dan', 'mcp.request.tools/call', { payload: { method: 'tools/list' } }));
    assert.equal(mismatch.json.field, 'payload.method', 'dotted senders are checked');

    for (const [query, protocol, kind] of [['', 'mcpx/v0.1', 'mcp/proposal:tools/call:x'],
        ['&dialect=dotted', 'mcpx/draft', 'mcp.proposal.tools/call:x']]) {
        const { json } = await gateway.request(`GET /topics/${topic}/messages?routing=all${query}`, { token: 'ann-token' });
        const found = json.messages.find(({ id }) => id === message.id);
        assert.deepEqual([found.protocol, found.kind], [protocol, kind]);
        assert.ok(json.messages.every((one) => one.protocol === protocol));
        assert.equal(json.last, json.messages.at(-1).id);
        const open = await gateway.request(`GET /topics/${topic}/proposals?${query}`, { token: 'ann-token' });
        assert.deepEqual(open.json.proposals.map((one) => [one.kind, one.envelope]), [[kind, { ...message, protocol, kind }]]);
    }
    const bob = await gateway.join('bob', { topic, dialect: 'dotted' });
    assert.deepEqual(bob.welcome.payload.moot.proposals.map((one) => [one.kind, one.envelope]), [['mcp.proposal.tools/call:x', message]]);

    const { json: { last } } = await gateway.request(`GET /topics/${topic}/messages`, { token: 'ann-token' });
    const waiting = gateway.request(`GET /topics/${topic}/messages?dialect=dotted&after=${last}&wait=10`, { token: 'ann-token' });
    const news = ann.chat('news');
    const { json: { messages } } = await waiting;
    assert.deepEqual(messages.at(-1), { ...news, protocol: 'mcpx/draft', kind: 'chat.message' });
    assert.ok(messages.every((one) => one.protocol === 'mcpx/draft'));
    await ann.close();
    await bob.close();
});

test('D21: while a dotted member is present, payloads are looked into', async () => {
    const topic = 'watched';
    const ann = await gateway.join('ann', { topic });
    const spoof = () => ann.send(envelope('ann', 'mcp/request:tools/read', { payload: { method: 'tools/write' } }));
    const notice = (validation) => expect(ann, (json) => json.kind === 'system/notice' && json.payload.validation === validation);

    assert.equal(ann.welcome.payload.moot.validation, 'lazy');
    const before = spoof();
    await expect(ann, (json) => json.id === before.id);
    const bob = await gateway.join('bob', { topic, dialect: 'dotted' });
    assert.equal((await notice('strict')).payload.notice, 'validation');
    assert.equal(bob.frames.find(({ json }) => json.kind === 'system.notice').json.payload.validation, 'strict');
    const again = await gateway.join('bob', { topic, dialect: 'dotted', isPresent: true, after: before.id });
    const refused = spoof();
    const { payload } = await expect(ann, (json) => json.correlation_id === refused.id);
    assert.deepEqual([payload.error, payload.field, payload.expected], ['kind_payload_mismatch', 'payload.method', 'tools/read']);
    await bob.close();
    const stillRefused = spoof();
    await expect(ann, (json) => json.correlation_id === stillRefused.id);
    await again.close();
    await notice('lazy');
    const later = spoof();
    await expect(ann, (json) => json.id === later.id);

    // What was let in unseen is not told in dots.
    const poll = async (query) => (await gateway.request(`GET /topics/${topic}/messages?${query}`, { token: 'ann-token' })).json;
    const ids = ({ messages }) => messages.map(({ id }) => id);
    const [slash, dotted] = [await poll(''), await poll('dialect=dotted')];
    assert.deepEqual([before, later].map(({ id }) => [ids(slash).includes(id), ids(dotted).includes(id)]), [[true, false], [true, false]]);
    const back = await gateway.open('bob', { topic, dialect: 'dotted', after: 'nothing' });
    const fence = ann.chat('fence');
    await expect(back, (json) => json.id === fence.id);
    assert.ok(!back.frames.some(({ json }) => [before.id, later.id].includes(json.id)));
    await ann.close();
    await back.close();
});

test('D20: what the gateway says to all is respelt in its payload as well', async () => {
    const topic = 'told';
    const ann = await gateway.join('ann', { topic });
    const bob = await gateway.join('bob', { topic, dialect: 'dotted' });
    const dan = await gateway.join('dan', { topic, dialect: 'dotted' });

    dan.send(say('dotted', 'dan', 'a.b'));
    const slash = await expect(ann, (json) => json.kind === 'system/violation');
    const dotted = await expect(bob, (json) => json.kind === 'system.violation');
    assert.equal(slash.payload.attempted_kind, 'a/b');
    assert.deepEqual(dotted, { ...slash, protocol: 'mcpx/draft', kind: 'system.violation',
        payload: { ...slash.payload, attempted_kind: 'a.b' } });
    for (const client of [ann, bob, dan])
        await client.close();
});

test('D20: escapes in the two values are resolved, all else keeps its bytes', async () => {
    const topic = 'escapes';
    const ann = await gateway.join('ann', { topic });
    const bob = await gateway.join('bob', { topic, dialect: 'dotted' });
    const text = '{"kind":"mcp\\/request:a:\\"\\u00fc\\\\","id":"e1", "protocol":"mcpx\\/v0.1","from":"ann","payload":{"method":"a","params":{"name":"\\"\\u00fc\\\\"}}}';

    ann.send(text);
    assert.equal(await heard(ann, 'e1'), text);
    assert.equal(await heard(bob, 'e1'), text.replace('mcp\\/request:a:\\"\\u00fc\\\\', 'mcp.request.a:\\"ü\\\\').replace('mcpx\\/v0.1', 'mcpx/draft'));
    assert.equal(takeAll(bob).length, 0);
    await ann.close();
    await bob.close();
});
