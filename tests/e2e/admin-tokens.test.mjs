// SPDX-License-Identifier: Apache-2.0
// /admin/tokens: created ones work at once, revoked ones end at once, secrets are shown once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { expect, people, startGateway, within } from './gateway.mjs';

let gateway;
let admin;

before(async () => {
    gateway = await startGateway({
        tokens: people('watcher'),
        profiles: { narrow: { capabilities: ['chat'], type: 'service' } },
        limits: { login_failures: 0 },
    });
    admin = { token: gateway.adminToken() };
});
after(() => gateway.stop());

const create = (json, auth = admin) => gateway.request('POST /admin/tokens', { ...auth, json });
const revoke = (name) => gateway.request(`DELETE /admin/tokens/${encodeURIComponent(name)}`, admin);
const list = async () => (await gateway.request('GET /admin/tokens', admin)).json.tokens;

test('tokens: a new one works at once on every worker, and tells what it is', async () => {
    const { status, json } = await create({ id: 'bot', name: 'bot-1', topics: ['a*', 'b'], capabilities: ['chat', 'mcp/proposal:*'], type: 'service' });

    assert.equal(status, 201);
    assert.match(json.token, /^moot_[\w-]{43}$/);
    assert.deepEqual({ ...json.about, created_at: 0 }, { name: 'bot-1', id: 'bot', type: 'service', topics: ['a*', 'b'],
        capabilities: ['chat', 'mcp/proposal:*'], admin: false, source: 'store', created_at: 0 });
    for (const topic of ['a1', 'a2', 'a3', 'a4', 'b']) {
        const client = await gateway.join('bot', { topic, token: json.token });
        assert.deepEqual(client.welcome.payload.you.capabilities, ['chat', 'mcp/proposal:*']);
        await client.close();
    }
    assert.equal((await gateway.refusal('bot', { topic: 'c', token: json.token })).status, 403);
});

test('tokens: lists never hold a secret', async () => {
    const { json: { token } } = await create({ id: 'secretive', profile: 'full' });
    const { text, json } = await gateway.request('GET /admin/tokens', admin);

    assert.ok(!text.includes(token) && !text.includes(admin.token) && !text.includes('watcher-token'));
    assert.ok(!/"(token|hash|secret)"/.test(text));
    assert.deepEqual(json.tokens.filter(({ id }) => ['watcher', 'admin', 'human'].includes(id)).map(({ id, source }) => `${id} ${source}`).sort(),
        ['admin store', 'human store', 'watcher config']);
});

test('tokens: a revoked one ends its connections with 1008, and is unknown then', async () => {
    const { json: { token } } = await create({ id: 'short', name: 'short-1', profile: 'proposer' });
    const other = (await create({ id: 'short', name: 'short-2', profile: 'proposer' })).json.token;
    const ends = await Promise.all(['x1', 'x2', 'x3', 'x4'].map((topic) => gateway.join('short', { topic, token })));
    const stays = await gateway.join('short', { topic: 'x1', token: other, isPresent: true });
    const { status, json } = await revoke('short-1');

    assert.equal(status, 200);
    assert.deepEqual(json, { revoked: 'short-1', connections_closed: 4 });
    for (const client of ends)
        assert.deepEqual(await client.closed(), { code: 1008, reason: 'the token was revoked' });
    assert.equal((await gateway.refusal('short', { topic: 'x1', token })).status, 401);
    assert.equal((await gateway.request('GET /topics', { token })).status, 401);
    const { id } = stays.chat('the other token goes on');
    await expect(stays, (json) => json.id === id);
    assert.ok(!(await list()).some(({ name }) => name === 'short-1'));
    assert.equal((await revoke('short-1')).status, 404);
});

test('tokens: a ticket of a revoked token is void, and so is what was opened with one', async () => {
    const { json: { token } } = await create({ id: 'ticketed', name: 'ticketed-1', profile: 'full' });
    const draw = async () => (await gateway.request('POST /ws-ticket', { token })).json.ticket;
    const client = await gateway.join('ticketed', { topic: 'x', token: null, ticket: await draw() });
    const unused = await draw();

    assert.equal((await revoke('ticketed-1')).json.connections_closed, 1);
    assert.equal((await client.closed()).code, 1008);
    assert.equal((await gateway.refusal('ticketed', { topic: 'x', token: null, ticket: unused })).status, 401);
});

test('tokens: a browser session ends with the token it came from', async () => {
    const { json: { token } } = await create({ id: 'second-admin', name: 'second-admin', profile: 'admin' });
    const { json: { ticket } } = await gateway.request('POST /admin/link', { token });
    const { status, json: session } = await gateway.request('POST /session', { json: { ticket } });

    assert.deepEqual([status, session.id, session.admin], [200, 'second-admin', true]);
    assert.equal((await gateway.request('POST /session', { json: { ticket } })).status, 401, 'a link works once');
    const client = await gateway.join('second-admin', { topic: 'sessions', token: session.token });
    assert.equal((await gateway.request('GET /admin/tokens', { token: session.token })).status, 200);
    assert.equal((await revoke('second-admin')).status, 200);
    assert.equal((await within(client.closed(), 'the end of its session')).code, 1008);
    assert.equal((await gateway.request('GET /admin/tokens', { token: session.token })).status, 401);
});

test('tokens: a session lasts no longer than its token, and signing out ends it', async () => {
    const soon = new Date(Date.now() + 60_000).toISOString();
    const { json: { token } } = await create({ id: 'brief-admin', profile: 'admin', expires_at: soon });
    const open = async () => {
        const { json: { ticket } } = await gateway.request('POST /admin/link', { token });
        return (await gateway.request('POST /session', { json: { ticket } })).json;
    };
    const session = await open();

    assert.ok(Date.parse(session.expires_at) <= Date.parse(soon), `${session.expires_at} is after ${soon}`);
    const client = await gateway.join('brief-admin', { topic: 'sessions', token: session.token });
    assert.equal((await gateway.request('DELETE /session', { token: session.token })).status, 204);
    assert.equal((await client.closed()).code, 1008);
    assert.equal((await gateway.request('GET /topics', { token: session.token })).status, 401);
    assert.equal((await gateway.request('DELETE /session', { token })).status, 409, 'a token is no session');
});

test('tokens: a name that is taken is 409, also by the settings', async () => {
    assert.equal((await create({ id: 'twin', name: 'twin', profile: 'full' })).status, 201);
    assert.equal((await create({ id: 'twin', name: 'twin', profile: 'full' })).status, 409);
    assert.equal((await create({ id: 'other', name: 'watcher', profile: 'full' })).status, 409);
    const many = await Promise.all(Array.from({ length: 8 }, () => create({ id: 'race', name: 'race', profile: 'full' })));
    assert.deepEqual(many.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409, 409, 409]);
    assert.equal((await list()).filter(({ name }) => name === 'race').length, 1);
    const unnamed = await Promise.all([1, 2, 3].map(() => create({ id: 'unnamed', profile: 'full' })));
    assert.equal(new Set(unnamed.map(({ json }) => json.about.name)).size, 3);
});

test('tokens: those of the settings cannot be revoked here', async () => {
    const { status, json } = await revoke('watcher');

    assert.equal(status, 409);
    assert.match(json.detail, /configuration/);
    assert.equal((await gateway.request('GET /topics', { token: 'watcher-token' })).status, 200);
});

test('tokens: profiles of the settings can be used, and admin is a role of its own', async () => {
    const { json } = await create({ id: 'narrow', profile: 'narrow' });
    assert.deepEqual([json.about.capabilities, json.about.type, json.about.profile, json.about.admin], [['chat'], 'service', 'narrow', false]);
    const helper = await create({ id: 'helper', capabilities: ['chat'], admin: true });
    assert.equal((await gateway.request('GET /admin/tokens', { token: helper.json.token })).status, 200);
});

const wrong = {
    'no id': { profile: 'full' },
    'neither capabilities nor profile': { id: 'x' },
    'both': { id: 'x', profile: 'full', capabilities: ['chat'] },
    'an unknown profile': { id: 'x', profile: 'fool' },
    'a bad pattern': { id: 'x', capabilities: ['a b'] },
    'a bad topic': { id: 'x', profile: 'full', topics: ['a/b'] },
    'the gateway\'s own name': { id: 'system:gateway', profile: 'full' },
    'an empty id': { id: '', profile: 'full' },
    'a past expiry': { id: 'x', profile: 'full', expires_at: '2020-01-01T00:00:00Z' },
    'an unknown type': { id: 'x', profile: 'full', type: 'ghost' },
};

for (const [name, json] of Object.entries(wrong))
    test(`tokens: ${name} is 400`, async () => {
        const { status, json: problem } = await create(json);
        assert.equal(status, 400);
        assert.ok(problem.detail);
    });

test('tokens: one that expires while connected is closed, and unknown afterwards', async () => {
    const { json: { token } } = await create({ id: 'mayfly', profile: 'full', expires_at: new Date(Date.now() + 5000).toISOString() });
    const client = await gateway.join('mayfly', { topic: 'days', token });

    assert.equal((await client.closed()).code, 1008);
    assert.equal((await gateway.refusal('mayfly', { topic: 'days', token })).status, 401);
});
