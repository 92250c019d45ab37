// SPDX-License-Identifier: Apache-2.0
// D2: tickets, sign-in links and sessions, and tokens in queries.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { people, person, startGateway } from './gateway.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        limits: { login_failures: 0 },
        tokens: people('alice'),
    });
});
after(async () => { await gateway.stop(); });

const ticketOf = async (token = 'alice-token') => (await gateway.request('POST /ws-ticket', { token })).json.ticket;

test('D2: a ticket stands for its token, once', async () => {
    const answer = await gateway.request('POST /ws-ticket', { token: 'alice-token' });
    assert.equal(answer.status, 200);
    assert.deepEqual(Object.keys(answer.json).sort(), ['expires_in', 'ticket']);
    assert.equal(answer.json.expires_in, 30);

    const { ticket } = answer.json;
    const client = await gateway.join('alice', { token: null, ticket });
    assert.equal(client.welcome.payload.you.id, 'alice');

    const second = await gateway.refusal('alice', { token: null, ticket });
    assert.equal(second.status, 401);
    assert.match(second.headers['www-authenticate'], /^Bearer/);
    await client.close();
});

test('D2: of many who use one ticket at once, one gets in', async () => {
    const ticket = await ticketOf();
    const tries = await Promise.allSettled(Array.from({ length: 8 },
        () => gateway.open('alice', { token: null, ticket, topic: `race-${Math.random()}` })));
    const opened = tries.filter((one) => one.status === 'fulfilled');

    assert.equal(opened.length, 1);
    await opened[0].value.close();
});

test('D2: a ticket needs a token, and a wrong one is 401', async () => {
    assert.equal((await gateway.request('POST /ws-ticket')).status, 401);
    for (const ticket of ['', 'x', 'A'.repeat(43), 'B'.repeat(500)])
        assert.equal((await gateway.refusal('alice', { token: null, ticket })).status, 401, ticket);
});

test('D2: a ticket and a token together are 400, and the ticket is not spent', async () => {
    const ticket = await ticketOf();

    assert.equal((await gateway.refusal('alice', { ticket })).status, 400);
    await (await gateway.join('alice', { token: null, ticket })).close();
});

test('D2: a ticket opens the WebSocket and nothing else', async () => {
    const ticket = await ticketOf();

    assert.equal((await gateway.request(`GET /topics?ticket=${ticket}`)).status, 401);
    assert.equal((await gateway.request('GET /topics', { token: ticket })).status, 401);
});

const routes = ['GET /', 'GET /console/inbox', 'GET /assets/x', 'GET /ws', 'POST /ws-ticket', 'GET /session', 'POST /session', 'DELETE /session', 'GET /topics',
    'POST /topics/room/messages', 'GET /topics/room/messages', 'GET /topics/room/participants',
    'GET /topics/room/proposals', 'GET /admin/tokens', 'GET /healthz', 'GET /readyz', 'GET /metrics'];

test('D2: tokens in a query are 400 on every route, with or without a header', async () => {
    for (const route of routes)
        for (const name of ['token', 'access_token', 'a=1&access_token', '%74oken'])
            for (const token of [undefined, 'alice-token']) {
                const topic = route === 'GET /ws' ? '&topic=room' : '';
                const answer = await gateway.request(`${route}?${name}=alice-token${topic}`, { token });
                assert.equal(answer.status, 400, `${route} ${name}`);
                assert.doesNotMatch(answer.text, /alice-token/);
            }
    assert.equal((await gateway.refusal('alice', { token: null, access_token: 'alice-token' })).status, 400);
    assert.doesNotMatch(gateway.stderr(), /alice-token/);
});

test('D2: the printed link signs in once, for a session that can be ended', async () => {
    const signIn = (ticket) => gateway.request('POST /session', { json: { ticket } });
    const first = await signIn(gateway.link);
    assert.equal(first.status, 200);
    assert.equal(first.json.id, 'admin');
    assert.equal(first.json.admin, true);
    assert.equal((await signIn(gateway.link)).status, 401);

    const { token } = first.json;
    assert.equal((await gateway.request('GET /admin/tokens', { token })).status, 200);
    const client = await gateway.join('admin', { token });
    assert.equal((await gateway.request('DELETE /session', { token })).status, 204);
    assert.equal((await client.closed()).code, 1008);
    assert.equal((await gateway.request('GET /topics', { token })).status, 401);
    assert.equal((await gateway.refusal('admin', { token })).status, 401);
    assert.equal((await gateway.request('DELETE /session', { token })).status, 401);
});

test('D2: a session is asked for with a ticket, and a token is no session', async () => {
    for (const body of ['', '{}', '[]', '{"ticket":1}', '{"ticket":"x"', 'ticket=x'])
        assert.equal((await gateway.request('POST /session', { body })).status, 400, body);
    assert.equal((await gateway.request('POST /session', { json: { ticket: 'x' } })).status, 401);
    assert.equal((await gateway.request('DELETE /session', { token: 'alice-token' })).status, 409);
    assert.equal((await gateway.request('DELETE /session')).status, 401);
});

test('D2: a ticket for a WebSocket is no session, nor a link a ticket', async () => {
    const token = gateway.adminToken();
    const { json: { ticket: link } } = await gateway.request('POST /admin/link', { token });

    assert.equal((await gateway.request('POST /session', { json: { ticket: await ticketOf() } })).status, 401);
    assert.equal((await gateway.refusal('admin', { token: null, ticket: link })).status, 401);
    assert.equal((await gateway.request('POST /session', { json: { ticket: link } })).status, 200);
});

test('session: a token tells who it stands for, and shows no secret', async () => {
    const own = await startGateway({ tokens: [person('ann', { type: 'human', profile: 'human', topics: ['a', 'b*'] }), person('root', { profile: 'admin' })] });

    try {
        const who = (token) => own.request('GET /session', { token });
        const { json, text } = await who('ann-token');

        assert.deepEqual({ ...json, name: '', now: '' }, { id: 'ann', name: '', now: '', source: 'token', type: 'human', profile: 'human', admin: false, topics: ['a', 'b*'] });
        assert.doesNotMatch(text, /ann-token/);
        assert.equal((await who('root-token')).json.admin, true);
        const { json: { ticket } } = await own.request('POST /admin/link', { token: 'root-token' });
        const { json: session } = await own.request('POST /session', { json: { ticket } });
        const { json: mine } = await who(session.token);

        assert.deepEqual([mine.id, mine.source, mine.admin, mine.expires_at], ['root', 'session', true, session.expires_at]);
        assert.equal((await who(null)).status, 401);
        assert.equal((await who('wrong')).status, 401);
    } finally {
        await own.stop();
    }
});
