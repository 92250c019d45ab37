// SPDX-License-Identifier: Apache-2.0
// The agents' protocol, sentence by sentence (docs/DIRECTORY.md names them), with plain
// WebSocket clients.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { codeOf, connect, message, subscribe } from './agents.mjs';
import { envelope, person, startGateway } from './gateway.mjs';

let gateway, admin;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const put = async (resource) => {
    const { status, text } = await gateway.request(`PUT /admin/resources/${resource.id}`, { token: admin, json: resource });
    assert.ok(status < 300, text);
};

before(async () => {
    gateway = await startGateway({
        tokens: [
            person('scout', { profile: 'directory' }),
            person('other', { profile: 'directory' }),
            person('details', { capabilities: ['directory/*'] }),
            person('nobody'),
        ],
    });
    admin = gateway.adminToken();
    await put({ id: 'r-py', kind: 'human', name: 'Ann', role: 'Python developer', skills: ['python', 'fastapi'],
        availability: 'full-time', rate: { amount: 100, currency: 'EUR', per: 'hour' }, participant: 'ann' });
    await put({ id: 'r-js', kind: 'agent', name: 'Bot', role: 'JavaScript agent', skills: ['javascript'], availability: 'contract' });
    await put({ id: 'r-part', kind: 'human', name: 'Cleo', role: 'Python tester', skills: ['python'], availability: 'part-time' });
});
after(() => gateway?.stop());

// --- 3: the envelope ---

test('3: every answer has the envelope of the protocol', async () => {
    const agent = await subscribe(gateway, 'scout');
    const event = await agent.ask('RESOURCE_QUERY', { query: 'python' });

    assert.deepEqual(Object.keys(event), ['protocol_version', 'message_id', 'timestamp', 'source_agent_id', 'performative', 'payload']);
    assert.equal(event.protocol_version, '1.0');
    assert.match(event.message_id, uuid);
    assert.equal(new Date(event.timestamp).toISOString(), event.timestamp);
    assert.equal(event.source_agent_id, 'moot');
    assert.equal(event.performative, 'CONTEXT_EVENT');
    assert.deepEqual(Object.keys(event.payload), ['event_type', 'data']);
    await agent.close();
});

const envelopes = [
    ['protocol_version must be "1.0"', { protocol_version: '2.0' }, 'UNSUPPORTED_VERSION', 'protocol_version'],
    ['protocol_version is a string', { protocol_version: 1.0 }, 'MALFORMED_MESSAGE', 'protocol_version'],
    ['protocol_version is required', { protocol_version: undefined }, 'MALFORMED_MESSAGE', 'protocol_version'],
    ['message_id is a UUID', { message_id: 'one' }, 'MALFORMED_MESSAGE', 'message_id'],
    ['message_id is a string', { message_id: 7 }, 'MALFORMED_MESSAGE', 'message_id'],
    ['message_id is required', { message_id: undefined }, 'MALFORMED_MESSAGE', 'message_id'],
    ['timestamp is ISO 8601', { timestamp: 'Sun Nov 15 2026' }, 'MALFORMED_MESSAGE', 'timestamp'],
    ['timestamp is UTC', { timestamp: '2026-11-15T05:06:07+02:00' }, 'MALFORMED_MESSAGE', 'timestamp'],
    ['timestamp is a string', { timestamp: 1794719167 }, 'MALFORMED_MESSAGE', 'timestamp'],
    ['timestamp is required', { timestamp: undefined }, 'MALFORMED_MESSAGE', 'timestamp'],
    ['source_agent_id is a string', { source_agent_id: ['scout'] }, 'MALFORMED_MESSAGE', 'source_agent_id'],
    ['source_agent_id is required', { source_agent_id: undefined }, 'MALFORMED_MESSAGE', 'source_agent_id'],
    ['source_agent_id is not empty', { source_agent_id: '' }, 'MALFORMED_MESSAGE', 'source_agent_id'],
    ['source_agent_id is that of the token', { source_agent_id: 'other' }, 'SOURCE_MISMATCH', 'source_agent_id'],
    ['source_agent_id is not the gateway\'s', { source_agent_id: 'moot' }, 'SOURCE_MISMATCH', 'source_agent_id'],
    ['performative is a string', { performative: 2 }, 'MALFORMED_MESSAGE', 'performative'],
    ['performative is written as it is', { performative: 'resource_query' }, 'UNKNOWN_PERFORMATIVE', 'performative'],
    ['performative is known', { performative: 'DANCE' }, 'UNKNOWN_PERFORMATIVE', 'performative'],
    ['performative is required', { performative: undefined }, 'MALFORMED_MESSAGE', 'performative'],
    ['payload is an object', { payload: [] }, 'MALFORMED_MESSAGE', 'payload'],
    ['payload is required', { payload: undefined }, 'MALFORMED_MESSAGE', 'payload'],
];

for (const [name, wrong, code, field] of envelopes)
    test(`3.1: ${name}`, async () => {
        const agent = await subscribe(gateway, 'scout');
        const sent = agent.send(message('scout', 'RESOURCE_QUERY', { query: '' }, wrong));
        const event = await agent.next();

        assert.equal(codeOf(event), code);
        assert.equal(event.payload.data.field, field);
        assert.equal(event.payload.data.in_reply_to, field === 'message_id' ? undefined : sent.message_id);
        assert.equal((await agent.ask('RESOURCE_QUERY', { query: '' })).payload.event_type, 'RESOURCE_RESULTS', 'it goes on');
        await agent.close();
    });

test('3.1: fields that are not known pass', async () => {
    const agent = await subscribe(gateway, 'scout');
    const event = await agent.ask('RESOURCE_QUERY', { query: '' }, { trace: { id: [1, null] }, Payload: 7 });

    assert.equal(event.payload.event_type, 'RESOURCE_RESULTS');
    await agent.close();
});

test('3.1: a timestamp may say +00:00, and any fraction', async () => {
    const agent = await subscribe(gateway, 'scout');

    for (const timestamp of ['2026-11-15T05:06:07+00:00', '2026-11-15T05:06:07.123456Z'])
        assert.equal((await agent.ask('RESOURCE_QUERY', { query: '' }, { timestamp })).payload.event_type, 'RESOURCE_RESULTS');
    await agent.close();
});

// --- 4.1: CONTEXT_SUBSCRIBE ---

test('4.1: a page subscribes with a ticket, once, so that its token goes over no WebSocket', async () => {
    const draw = async (token) => (await gateway.request('POST /ws-ticket', { token })).json.ticket;
    const ticket = await draw('scout-token');
    const page = await connect(gateway, 'scout');
    const confirmed = await page.ask('CONTEXT_SUBSCRIBE', { authentication_token: ticket });

    assert.deepEqual([confirmed.payload.event_type, confirmed.payload.data.agent_id], ['SUBSCRIPTION_CONFIRMED', 'scout']);
    assert.equal((await page.ask('RESOURCE_QUERY', { query: 'python' })).payload.event_type, 'RESOURCE_RESULTS');
    await page.close();
    for (const [wrong, code] of [[ticket, 'AUTHENTICATION_FAILED'], [await draw('other-token'), 'SOURCE_MISMATCH']]) {
        const again = await connect(gateway, 'scout');

        assert.equal(codeOf(await again.ask('CONTEXT_SUBSCRIBE', { authentication_token: wrong })), code);
        await again.closed();
    }
});

test('4.1: a ticket is worth nothing without its token', async () => {
    const { json } = await gateway.request('POST /admin/tokens', { token: admin, json: { id: 'brief', name: 'brief-1', profile: 'directory' } });
    const { ticket } = (await gateway.request('POST /ws-ticket', { token: json.token })).json;
    const agent = await connect(gateway, 'brief');

    assert.equal((await gateway.request(`DELETE /admin/tokens/brief-1`, { token: admin })).status, 200);
    assert.equal(codeOf(await agent.ask('CONTEXT_SUBSCRIBE', { authentication_token: ticket })), 'AUTHENTICATION_FAILED');
    await agent.closed();
});

test('4.1: an agent subscribes with its token, and that is confirmed', async () => {
    const agent = await connect(gateway, 'scout');
    const sent = agent.send(message('scout', 'CONTEXT_SUBSCRIBE', { authentication_token: 'scout-token' }));
    const { payload: { event_type: type, data } } = await agent.next();

    assert.equal(type, 'SUBSCRIPTION_CONFIRMED');
    assert.equal(data.in_reply_to, sent.message_id);
    assert.equal(data.status, 'subscribed');
    assert.equal(data.agent_id, 'scout');
    assert.match(data.epoch, uuid);
    assert.equal(typeof data.sequence, 'number');
    assert.deepEqual(data.rights, ['directory/query', 'team/create']);
    await agent.close();
});

const failures = [
    ['a token that is not known', { authentication_token: 'wrong' }, 'scout', 'AUTHENTICATION_FAILED', 'payload.authentication_token'],
    ['no token', {}, 'scout', 'INVALID_PAYLOAD', 'payload.authentication_token'],
    ['an empty token', { authentication_token: '' }, 'scout', 'INVALID_PAYLOAD', 'payload.authentication_token'],
    ['a token that is no text', { authentication_token: 7 }, 'scout', 'INVALID_PAYLOAD', 'payload.authentication_token'],
    ['more than it may say', { authentication_token: 'scout-token', admin: true }, 'scout', 'INVALID_PAYLOAD', 'payload.admin'],
    ['the token of another', { authentication_token: 'other-token' }, 'scout', 'SOURCE_MISMATCH', 'source_agent_id'],
    ['the name of the gateway', { authentication_token: 'scout-token' }, 'moot', 'SOURCE_MISMATCH', 'source_agent_id'],
];

for (const [name, payload, source, code, field] of failures)
    test(`4.1: ${name}: an error, and 1008`, async () => {
        const agent = await connect(gateway);
        const sent = agent.send(message(source, 'CONTEXT_SUBSCRIBE', payload));
        const event = await agent.next();

        assert.equal(codeOf(event), code);
        assert.equal(event.payload.data.field, field);
        assert.equal(event.payload.data.in_reply_to, sent.message_id);
        assert.equal((await agent.closed()).code, 1008);
    });

for (const performative of ['RESOURCE_QUERY', 'TEAM_CREATE', 'TEAM_GET_STATUS'])
    test(`4.1: ${performative} before a subscription: an error, and 1008`, async () => {
        const agent = await connect(gateway);
        agent.send(message('scout', performative, {}));

        assert.equal(codeOf(await agent.next()), 'NOT_SUBSCRIBED');
        assert.equal((await agent.closed()).code, 1008);
    });

test('4.1: what comes behind a subscription that failed is not read', async () => {
    const agent = await connect(gateway);
    agent.send(message('scout', 'CONTEXT_SUBSCRIBE', { authentication_token: 'wrong' }));
    agent.send(message('scout', 'CONTEXT_SUBSCRIBE', { authentication_token: 'scout-token' }));

    assert.equal(codeOf(await agent.next()), 'AUTHENTICATION_FAILED');
    assert.equal((await agent.closed()).code, 1008);
    assert.equal(agent.events.length, 1);
});

test('4.1: whoever does not subscribe in time is told so, and 1008; whoever has may be silent', async () => {
    const own = await startGateway({ tokens: [person('scout', { profile: 'directory' })], directory: { subscribe_timeout: '2s' } });
    try {
        const quiet = await subscribe(own, 'scout'); // its time is up before the other's
        const agent = await connect(own);
        const event = await agent.next();

        assert.equal(codeOf(event), 'NOT_SUBSCRIBED');
        assert.equal(event.payload.data.in_reply_to, undefined);
        assert.equal((await agent.closed()).code, 1008);
        assert.equal((await quiet.ask('RESOURCE_QUERY', { query: '' })).payload.event_type, 'RESOURCE_RESULTS');
        await quiet.close();
    } finally {
        await own.stop();
    }
});

test('4.1: a subscription may be changed, by the same agent only', async () => {
    const agent = await subscribe(gateway, 'scout');
    const again = await agent.ask('CONTEXT_SUBSCRIBE', { authentication_token: 'scout-token', teams: ['t-1'] });

    assert.equal(again.payload.event_type, 'SUBSCRIPTION_CONFIRMED');
    agent.send(message('scout', 'CONTEXT_SUBSCRIBE', { authentication_token: 'other-token' }));
    assert.equal(codeOf(await agent.next()), 'SOURCE_MISMATCH');
    assert.equal((await agent.closed()).code, 1008);
});

test('4.1: a token that expires ends the connection: 1008', async () => {
    const { json } = await gateway.request('POST /admin/tokens',
        { token: admin, json: { id: 'soon', profile: 'directory', expires_at: new Date(Date.now() + 3000).toISOString() } });
    const agent = await subscribe(gateway, 'soon', { token: json.token });

    assert.ok(agent.confirmed.expires_at);
    assert.equal(codeOf(await agent.next()), 'AUTHENTICATION_FAILED');
    assert.equal((await agent.closed()).code, 1008);
});

test('4.1: a token that is revoked ends the connection: 1008', async () => {
    const made = await gateway.request('POST /admin/tokens', { token: admin, json: { id: 'temp', profile: 'directory', name: 'temp' } });
    const agent = await subscribe(gateway, 'temp', { token: made.json.token });

    await gateway.request('DELETE /admin/tokens/temp', { token: admin });
    assert.equal(codeOf(await agent.next()), 'AUTHENTICATION_FAILED');
    assert.equal((await agent.closed()).code, 1008);
});

test('4.1: secrets do not stand in the log', () => {
    assert.doesNotMatch(gateway.stderr(), /scout-token|"wrong"/);
});

// --- 4.2: RESOURCE_QUERY ---

const idsOf = (event) => {
    assert.equal(event.payload.event_type, 'RESOURCE_RESULTS', JSON.stringify(event));
    return event.payload.data.resources.map(({ resource }) => resource.id);
};

test('4.2: resources are searched by words and filters', async () => {
    const agent = await subscribe(gateway, 'scout');

    assert.deepEqual(idsOf(await agent.ask('RESOURCE_QUERY', { query: 'Python developer with experience in a certain field',
        filters: { skills: ['python', 'fastapi'], availability: 'full-time' } })), ['r-py']);
    assert.deepEqual(idsOf(await agent.ask('RESOURCE_QUERY', { query: '', filters: { kind: 'agent' } })), ['r-js']);
    assert.deepEqual(idsOf(await agent.ask('RESOURCE_QUERY', { query: 'python' })).sort(), ['r-part', 'r-py']);
    assert.deepEqual(idsOf(await agent.ask('RESOURCE_QUERY', { query: '' })).sort(), ['r-js', 'r-part', 'r-py']);
    await agent.close();
});

test('4.2: a hit says why it was found', async () => {
    const agent = await subscribe(gateway, 'scout');
    const event = await agent.ask('RESOURCE_QUERY', { query: 'javascript' });

    assert.deepEqual(event.payload.data.resources[0].reason.skills, ['javascript']);
    assert.deepEqual(event.payload.data.resources[0].reason.words, ['javascript']);
    await agent.close();
});

test('4.2: pages follow each other', async () => {
    const agent = await subscribe(gateway, 'scout');
    const first = await agent.ask('RESOURCE_QUERY', { query: '', limit: 2 });
    const second = await agent.ask('RESOURCE_QUERY', { query: '', limit: 2, cursor: first.payload.data.next });

    assert.equal(idsOf(first).length, 2);
    assert.deepEqual([...idsOf(first), ...idsOf(second)].sort(), ['r-js', 'r-part', 'r-py']);
    assert.equal(second.payload.data.next, undefined);
    const bad = await agent.ask('RESOURCE_QUERY', { query: '', cursor: 'zzz' });
    assert.equal(codeOf(bad), 'INVALID_PAYLOAD');
    assert.equal(bad.payload.data.field, 'payload.cursor');
    await agent.close();
});

test('4.2: rate and contact are for those who may see details', async () => {
    const agent = await subscribe(gateway, 'scout');
    const insider = await subscribe(gateway, 'details');
    const ask = { query: 'fastapi' };
    const [{ resource: outside }] = (await agent.ask('RESOURCE_QUERY', ask)).payload.data.resources;
    const [{ resource: inside }] = (await insider.ask('RESOURCE_QUERY', ask)).payload.data.resources;

    assert.deepEqual([outside.rate, outside.participant], [undefined, undefined]);
    assert.deepEqual([inside.rate.amount, inside.participant], [100, 'ann']);
    const guess = await agent.ask('RESOURCE_QUERY', { query: '', filters: { max_rate: 100 } });
    assert.equal(codeOf(guess), 'FORBIDDEN');
    assert.equal(guess.payload.data.field, 'payload.filters.max_rate');
    assert.deepEqual(idsOf(await insider.ask('RESOURCE_QUERY', { query: '', filters: { max_rate: 100, currency: 'EUR' } })), ['r-py']);
    await agent.close();
    await insider.close();
});

test('4.2: a hit tells whether it is here now', async () => {
    const agent = await subscribe(gateway, 'scout');
    const present = async () => (await agent.ask('RESOURCE_QUERY', { query: 'fastapi' })).payload.data.resources[0].present;

    assert.equal(await present(), false);
    const { json } = await gateway.request('POST /admin/tokens', { token: admin, json: { id: 'ann', profile: 'human' } });
    const ann = await gateway.join('ann', { token: json.token });
    assert.equal(await present(), true);
    await ann.close();
    await agent.close();
});

test('4.2: where there are too many rooms to look through it is not said who is here, but for those subscribed', async () => {
    const own = await startGateway({ tokens: [person('scout', { profile: 'directory' }), person('many')] }, { workers: 1 });
    try {
        const rows = Array.from({ length: 100 }, (_, i) => JSON.stringify({ id: `r-${i}`, kind: 'agent', name: `Agent ${i}`, participant: i ? `p-${i}` : 'scout' }));
        await own.request('POST /admin/resources/import',
            { token: own.adminToken(), headers: { 'Content-Type': 'application/x-ndjson' }, body: rows.join('\n') });
        const agent = await subscribe(own, 'scout');
        const present = async (limit) => (await agent.ask('RESOURCE_QUERY', { query: '', limit })).payload.data.resources;
        for (let i = 0; i <= 2000; i += 20) // what was said is remembered, and so is the room
            await Promise.all(Array.from({ length: 20 }, (_, k) =>
                own.request(`POST /topics/t-${i + k}/messages`, { token: 'many-token', json: envelope('many') })));
        const all = await present(100);
        assert.equal(all.find(({ resource }) => resource.id === 'r-0').present, true);
        assert.deepEqual([...new Set(all.filter(({ resource }) => resource.id !== 'r-0').map((hit) => hit.present))], [undefined]);
        assert.deepEqual([...new Set((await present(20)).map((hit) => typeof hit.present))], ['boolean']);
        await agent.close();
    } finally {
        await own.stop();
    }
});

test('4.2: it needs the capability', async () => {
    const agent = await subscribe(gateway, 'nobody');

    assert.deepEqual(agent.confirmed.rights, []);
    assert.equal(codeOf(await agent.ask('RESOURCE_QUERY', { query: '' })), 'FORBIDDEN');
    await gateway.request('POST /admin/participants/nobody/capabilities', { token: admin, json: { add: ['directory/query'] } });
    assert.equal((await agent.ask('RESOURCE_QUERY', { query: '' })).payload.event_type, 'RESOURCE_RESULTS', 'asked every time');
    await gateway.request('POST /admin/participants/nobody/capabilities', { token: admin, json: { remove: ['directory/query'] } });
    assert.equal(codeOf(await agent.ask('RESOURCE_QUERY', { query: '' })), 'FORBIDDEN');
    await agent.close();
});

const payloads = [
    ['RESOURCE_QUERY', {}, 'payload.query'],
    ['RESOURCE_QUERY', { query: 7 }, 'payload.query'],
    ['RESOURCE_QUERY', { query: '', filters: [] }, 'payload.filters'],
    ['RESOURCE_QUERY', { query: '', filters: { skills: 'python' } }, 'payload.filters.skills'],
    ['RESOURCE_QUERY', { query: '', filters: { colour: 'red' } }, 'payload.filters.colour'],
    ['RESOURCE_QUERY', { query: '', limit: 101 }, 'payload.limit'],
    ['TEAM_CREATE', { team_name: 'a' }, 'payload.member_resource_ids'],
    ['TEAM_CREATE', { team_name: '', member_resource_ids: ['r-py'] }, 'payload.team_name'],
    ['TEAM_CREATE', { team_name: 'a', member_resource_ids: ['r-py', 'r-py'] }, 'payload.member_resource_ids[1]'],
    ['TEAM_CREATE', { team_name: 'a', member_resource_ids: ['r-py'], contract_id: 7 }, 'payload.contract_id'],
    ['TEAM_GET_STATUS', {}, 'payload.team_id'],
    ['TEAM_GET_STATUS', { team_id: 't', verbose: true }, 'payload.verbose'],
];

for (const [performative, payload, field] of payloads)
    test(`4: ${performative} ${JSON.stringify(payload)}: the error names ${field}`, async () => {
        const agent = await subscribe(gateway, 'scout');
        const event = await agent.ask(performative, payload);

        assert.equal(codeOf(event), 'INVALID_PAYLOAD');
        assert.equal(event.payload.data.field, field);
        await agent.close();
    });

// --- 4.3 and 4.4: TEAM_CREATE, TEAM_GET_STATUS ---

const plan = { team_name: 'Project Phoenix Team', member_resource_ids: ['r-py', 'r-js'], contract_id: 'c-1' };

test('4.3: a team is formed, and its room can be entered', async () => {
    const agent = await subscribe(gateway, 'scout');
    const { payload: { event_type: type, data } } = await agent.ask('TEAM_CREATE', plan);

    assert.equal(type, 'TEAM_CREATED', JSON.stringify(data));
    assert.equal(data.topic, `team-${data.team_id}`);
    assert.deepEqual([data.name, data.contract_id], ['Project Phoenix Team', 'c-1']);
    assert.deepEqual(data.members.map((member) => member.resource_id), ['r-py', 'r-js']);
    assert.equal(data.enter.websocket, `/ws?topic=${data.topic}`);
    const scout = await gateway.join('scout', { topic: data.topic });
    await scout.close();
    await agent.close();
});

test('4.3: the contract may be left out', async () => {
    const agent = await subscribe(gateway, 'scout');
    const event = await agent.ask('TEAM_CREATE', { team_name: 'Alone', member_resource_ids: ['r-js'] });

    assert.equal(event.payload.event_type, 'TEAM_CREATED');
    assert.equal(event.payload.data.contract_id, undefined);
    await agent.close();
});

test('4.3: a member that is not known is named, and there is no team', async () => {
    const agent = await subscribe(gateway, 'scout');
    const event = await agent.ask('TEAM_CREATE', { ...plan, member_resource_ids: ['r-py', 'r-none', 'r-nobody'] });

    assert.equal(codeOf(event), 'NOT_FOUND');
    assert.match(event.payload.data.field, /^payload\.member_resource_ids/);
    assert.match(event.payload.data.message, /r-none.*r-nobody/);
    await agent.close();
});

test('4.3: it needs the capability', async () => {
    const agent = await subscribe(gateway, 'details');

    assert.equal(codeOf(await agent.ask('TEAM_CREATE', plan)), 'FORBIDDEN');
    await agent.close();
});

test('4.3: what is sent again, by two connections at once, forms one team', async () => {
    const agents = [await subscribe(gateway, 'scout'), await subscribe(gateway, 'scout')];
    const sent = message('scout', 'TEAM_CREATE', plan);
    const answers = await Promise.all(agents.map((agent) => agent.answer(agent.send(sent))));

    assert.equal(answers[0].payload.event_type, 'TEAM_CREATED');
    assert.deepEqual(answers[1], answers[0]);
    assert.deepEqual(await agents[0].answer(agents[0].send(sent)), answers[0]);
    await Promise.all(agents.map((agent) => agent.close()));
});

test('4.4: the status and composition of a team', async () => {
    const agent = await subscribe(gateway, 'scout');
    const { payload: { data: made } } = await agent.ask('TEAM_CREATE', plan);
    const { payload: { event_type: type, data } } = await agent.ask('TEAM_GET_STATUS', { team_id: made.team_id });

    assert.equal(type, 'TEAM_STATUS');
    assert.deepEqual([data.team_id, data.name, data.state, data.creator], [made.team_id, plan.team_name, 'active', 'scout']);
    assert.deepEqual(data.members.map((member) => member.resource_id), ['r-py', 'r-js']);
    assert.deepEqual(data.open_proposals, []);
    await agent.close();
});

test('4.4: a team of others is the same as one that is not there', async () => {
    const agent = await subscribe(gateway, 'scout');
    const other = await subscribe(gateway, 'other');
    const { payload: { data: { team_id: id } } } = await agent.ask('TEAM_CREATE', plan);
    const [theirs, none] = [await other.ask('TEAM_GET_STATUS', { team_id: id }), await other.ask('TEAM_GET_STATUS', { team_id: 't-none' })];

    assert.equal(codeOf(theirs), 'NOT_FOUND');
    const plain = ({ payload: { data: { in_reply_to: _, ...data } } }) => data;
    assert.deepEqual(plain(theirs), plain(none));
    await agent.close();
    await other.close();
});

// --- 4.5: CONTEXT_EVENT ---

test('4.5: a member of a team that comes or leaves is told of, unasked', async () => {
    const maker = await subscribe(gateway, 'scout', { event_types: ['MEMBER_STATUS_CHANGED'] });
    const other = await subscribe(gateway, 'other');
    const { payload: { data: { team_id: id, topic } } } = await maker.ask('TEAM_CREATE', plan);
    const agent = await subscribe(gateway, 'scout', { event_types: ['MEMBER_STATUS_CHANGED'], teams: [id] });
    const room = await gateway.join('scout', { topic });
    const came = await agent.next();

    assert.equal(came.payload.event_type, 'MEMBER_STATUS_CHANGED');
    assert.equal(came.payload.data.team_id, id);
    assert.equal(came.payload.data.in_reply_to, undefined);
    assert.deepEqual([came.payload.data.status, came.payload.data.present], ['joined', true]);
    await room.close();
    const left = await agent.next();
    assert.deepEqual([left.payload.data.status, left.payload.data.present], ['left', false]);
    assert.equal(left.payload.data.sequence > came.payload.data.sequence, true);
    await other.ask('RESOURCE_QUERY', { query: '' });
    assert.equal(other.events.filter((event) => event.payload.data.team_id).length, 0, 'others hear nothing of it');
    await maker.close();
    await agent.close();
    await other.close();
});

test('4.5: a team that changes is told of, unasked, to those whom it concerns, by its id or its topic', async () => {
    const maker = await subscribe(gateway, 'scout', { event_types: ['MEMBER_STATUS_CHANGED'] });
    const other = await subscribe(gateway, 'other');
    const made = [await maker.ask('TEAM_CREATE', plan), await maker.ask('TEAM_CREATE', plan)].map(({ payload }) => payload.data);
    const { token } = (await gateway.request('POST /admin/tokens', { token: admin, json: { id: 'ann', profile: 'directory' } })).json;
    const hearers = [await subscribe(gateway, 'scout', { teams: [made[0].team_id] }), await subscribe(gateway, 'scout', { topics: [made[0].topic] }),
        await subscribe(gateway, 'ann', { token, event_types: ['TEAM_STATUS_UPDATED'], teams: [made[0].team_id] })];

    for (const { team_id: id } of [...made].reverse())
        assert.equal((await gateway.request(`PATCH /teams/${id}`, { token: 'scout-token', json: { name: `Team ${id}` } })).status, 200);
    for (const agent of hearers) {
        const { event_type: type, data } = (await agent.next()).payload;
        assert.equal(type, 'TEAM_STATUS_UPDATED');
        assert.deepEqual([data.team_id, data.name, data.change, data.by, data.in_reply_to],
            [made[0].team_id, `Team ${made[0].team_id}`, 'renamed', 'scout', undefined]);
        assert.deepEqual(data.members.map((member) => member.resource_id), plan.member_resource_ids);
        await agent.close();
    }
    await other.ask('RESOURCE_QUERY', { query: '' });
    assert.equal(other.events.length, 0, 'others hear nothing of it');
    assert.equal(maker.events.length, maker.taken, 'nor does who wants to hear something else');
    await maker.close();
    await other.close();
});

test('4.5: events are the gateway\'s alone', async () => {
    const agent = await subscribe(gateway, 'scout');
    const event = await agent.ask('CONTEXT_EVENT', { event_type: 'TEAM_STATUS_UPDATED', data: {} });

    assert.equal(codeOf(event), 'FORBIDDEN');
    await agent.close();
});

// --- what is sent again ---

test('a message that comes again gets the same answer, also after a reconnect', async () => {
    const agent = await subscribe(gateway, 'scout');
    const sent = message('scout', 'RESOURCE_QUERY', { query: 'python' });
    const first = await agent.answer(agent.send(sent));
    const again = await agent.answer(agent.send({ ...sent, timestamp: new Date().toISOString() }));

    assert.deepEqual(again, first, 'the very same event, with its message_id');
    await agent.close();
    const back = await subscribe(gateway, 'scout');
    assert.deepEqual(await back.answer(back.send(sent)), first);
    const upper = { ...sent, message_id: sent.message_id.toUpperCase() };
    back.send(upper);
    assert.deepEqual(await back.next(), first, 'a UUID means the same in either case');
    await back.close();
});

test('a message_id stands for one message', async () => {
    const agent = await subscribe(gateway, 'scout');
    const sent = message('scout', 'RESOURCE_QUERY', { query: 'python' });

    await agent.answer(agent.send(sent));
    const event = await agent.answer(agent.send({ ...sent, payload: { query: 'other' } }));
    assert.equal(codeOf(event), 'DUPLICATE_MESSAGE');
    await agent.close();
});

test('what was asked with more rights is not told to who has fewer, by another token or by now', async () => {
    const make = async (capabilities) => (await gateway.request('POST /admin/tokens', { token: admin, json: { id: 'twin', capabilities } })).json.token;
    const insider = await subscribe(gateway, 'twin', { token: await make(['directory/query', 'directory/details', 'team/create']) });
    const outsider = await subscribe(gateway, 'twin', { token: await make(['directory/query']) });
    const questions = [message('twin', 'RESOURCE_QUERY', { query: 'fastapi' }), message('twin', 'TEAM_CREATE', plan)];

    for (const sent of questions) {
        const first = await insider.answer(insider.send(sent));
        assert.match(JSON.stringify(first), /"participant":"ann"/);
        const refused = await outsider.answer(outsider.send(sent));
        assert.equal(codeOf(refused), 'FORBIDDEN');
        assert.equal(refused.payload.data.field, 'message_id');
        assert.deepEqual(await insider.answer(insider.send(sent)), first, 'and is remembered');
    }
    const asked = message('twin', 'RESOURCE_QUERY', { query: 'javascript' });
    const plain = await outsider.answer(outsider.send(asked));
    assert.deepEqual(await insider.answer(insider.send(asked)), plain, 'more rights do no harm');
    await gateway.request('POST /admin/participants/twin/capabilities', { token: admin, json: { remove: ['directory/details'] } });
    assert.equal(codeOf(await insider.answer(insider.send(questions[0]))), 'FORBIDDEN');
    await insider.close();
    await outsider.close();
});

test('the message_id of one agent is not that of another', async () => {
    const agent = await subscribe(gateway, 'scout');
    const other = await subscribe(gateway, 'other');
    const sent = message('scout', 'RESOURCE_QUERY', { query: 'python' });
    const first = await agent.answer(agent.send(sent));
    const second = await other.answer(other.send({ ...sent, source_agent_id: 'other' }));

    assert.notEqual(second.message_id, first.message_id);
    await agent.close();
    await other.close();
});

test('requests may be sent without waiting for answers; each is answered', async () => {
    const agent = await subscribe(gateway, 'scout');
    const sent = Array.from({ length: 100 }, () => agent.send(message('scout', 'RESOURCE_QUERY', { query: 'python' })));

    for (const one of sent)
        assert.equal((await agent.answer(one)).payload.event_type, 'RESOURCE_RESULTS');
    await agent.close();
});
