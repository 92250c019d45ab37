// SPDX-License-Identifier: Apache-2.0
// POST /admin/participants/{id}/capabilities, as the seed shows it in 11.3.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, patience, people, person, startGateway } from './gateway.mjs';
import { until } from './processes.mjs';

const agents = ['agent-a', 'agent-b', 'agent-c', 'agent-d', 'agent-e', 'weird id: ü', 'agent-f'];
let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [...people('watcher'), ...agents.map((id, n) => person(id, { token: `agent-${n}-token`, capabilities: ['mcp/proposal:*', 'chat'] })),
            person('boss', { profile: 'admin' }), person('star', { capabilities: ['*'] }),
            person('mute', { capabilities: [] })],
    });
});
after(() => gateway.stop());

const tokenOf = (id) => (agents.includes(id) ? `agent-${agents.indexOf(id)}-token` : `${id}-token`);
const join = (id, options = {}) => gateway.join(id, { token: tokenOf(id), ...options });
const change = (id, json, { query = '', token = 'boss-token' } = {}) =>
    gateway.request(`POST /admin/participants/${encodeURIComponent(id)}/capabilities${query}`, { token, json });

// Does a request of this client pass?
async function mayCall(client) {
    const { id } = client.send(envelope(client.id, 'mcp/request:tools/call:dig'));
    const json = await expect(client, (one) => one.id === id || one.correlation_id === id);

    return json.id === id || (assert.equal(json.payload.error, 'capability_violation'), false);
}

const isWelcome = ({ kind }) => kind === 'system/welcome';

test('11.3: the answer has the fields of the seed, and the id of the grant', async () => {
    const { status, json } = await change('agent-a', { add: ['mcp/request:tools/*'], remove: [] });

    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json), ['participantId', 'oldCapabilities', 'newCapabilities', 'modifiedBy', 'modifiedAt', 'grant_id']);
    assert.equal(json.participantId, 'agent-a');
    assert.deepEqual(json.oldCapabilities, ['mcp/proposal:*', 'chat']);
    assert.deepEqual(new Set(json.newCapabilities), new Set(['mcp/proposal:*', 'mcp/request:tools/*', 'chat']));
    assert.equal(json.modifiedBy, 'boss');
    assert.ok(Math.abs(Date.parse(json.modifiedAt) - Date.now()) < patience);
    assert.match(json.modifiedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
});

test('11.3: a change holds for the next envelope on every live connection, and a welcome tells it', async () => {
    const first = await join('agent-b', { topic: 'live-1' });
    const second = await join('agent-b', { topic: 'live-1', isPresent: true, routing: 'directed', ws: { perMessageDeflate: false } });
    const third = await join('agent-b', { topic: 'live-2' });

    for (const client of [first, second, third])
        assert.equal(await mayCall(client), false);
    assert.equal((await change('agent-b', { add: ['mcp/request:*'] })).status, 200);
    for (const client of [first, second, third]) {
        const { to, payload } = await expect(client, isWelcome);
        assert.deepEqual(to, ['agent-b']);
        assert.deepEqual(new Set(payload.you.capabilities), new Set(['mcp/proposal:*', 'chat', 'mcp/request:*']));
        assert.equal(await mayCall(client), true);
    }
    assert.equal((await change('agent-b', { remove: ['mcp/request:*', 'chat'] })).status, 200);
    for (const client of [first, second, third]) {
        assert.deepEqual((await expect(client, isWelcome)).payload.you.capabilities, ['mcp/proposal:*']);
        assert.equal(await mayCall(client), false);
    }
    const { json } = await gateway.request('GET /admin/members?topic=live-1', { token: 'boss-token' });
    assert.deepEqual(json.members.map(({ capabilities }) => capabilities), [['mcp/proposal:*'], ['mcp/proposal:*']]);
});

test('11.3: ?topic= limits it to one topic; it survives a reconnect and goes before the token', async () => {
    const here = await join('agent-c', { topic: 'here' });
    const there = await join('agent-c', { topic: 'there' });

    assert.equal((await change('agent-c', { add: ['mcp/request:*'] }, { query: '?topic=here' })).status, 200);
    await expect(here, isWelcome);
    assert.deepEqual([await mayCall(here), await mayCall(there)], [true, false]);
    await here.close();
    const again = await join('agent-c', { topic: 'here' });
    assert.deepEqual(new Set(again.welcome.payload.you.capabilities), new Set(['mcp/proposal:*', 'chat', 'mcp/request:*']));
    assert.equal(await mayCall(again), true);
    assert.equal((await gateway.post('agent-2-token', 'here', envelope('agent-c', 'mcp/request:tools/list'))).status, 200, 'at the other door too');
    const onceMore = await change('agent-c', { remove: ['mcp/request:*'] }, { query: '?topic=here' });
    assert.ok(onceMore.json.oldCapabilities.includes('mcp/request:*'), 'it starts from what holds there');
    await expect(again, isWelcome);
    assert.equal(await mayCall(again), false);
});

test('11.3: a change before anybody has connected waits for them', async () => {
    assert.equal((await change('agent-d', { add: ['mcp/request:*'], remove: ['chat'] })).status, 200);
    const client = await join('agent-d', { topic: 'later' });
    assert.equal(await mayCall(client), true);
});

test('11.3: everything can be taken away and given back', async () => {
    const client = await join('agent-e', { topic: 'nothing' });

    assert.deepEqual((await change('agent-e', { remove: ['mcp/proposal:*', 'chat'] })).json.newCapabilities, []);
    await expect(client, isWelcome);
    assert.equal(await mayCall(client), false);
    const { status, json } = await change('agent-e', { add: ['mcp/request:*'] });
    assert.deepEqual([status, json?.oldCapabilities], [200, []]);
    await expect(client, isWelcome);
    assert.equal(await mayCall(client), true);
    assert.equal((await change('mute', { add: ['chat'] })).status, 200, 'who starts with nothing is known as well');
});

test('11.3: an id with spaces, colons and letters of any sort is found', async () => {
    assert.equal((await change('weird id: ü', { add: ['mcp/request:*'] })).json?.participantId, 'weird id: ü');
});

test('11.3: an unknown id is 404, one that nobody can have 400', async () => {
    assert.equal((await change('stranger', { add: ['chat'] })).status, 404);
    assert.equal((await change('x'.repeat(256), { add: ['chat'] })).status, 404);
    assert.equal((await change('x'.repeat(256), { add: ['chat'] }, { query: `?topic=${'t'.repeat(128)}` })).status, 404);
    assert.equal((await change('x'.repeat(257), { add: ['chat'] })).status, 400);
    assert.equal((await change('x'.repeat(6000), { add: ['chat'] }, { query: `?topic=${'t'.repeat(128)}` })).status, 400);
});

const wrong = {
    'an empty pattern': { add: [''] },
    'a pattern with a space': { add: ['mcp/request: x'] },
    'a control character': { add: ['chat\n'] },
    'add that is no list': { add: 'chat' },
    'a number': { add: [1] },
    'no object': ['chat'],
};

for (const [name, json] of Object.entries(wrong))
    test(`11.3: ${name} is 400 and changes nothing`, async () => {
        const { status, headers, json: problem } = await change('watcher', json);

        assert.equal(status, 400);
        assert.match(headers['content-type'], /^application\/problem\+json/);
        assert.ok(problem.detail, problem.title);
        assert.deepEqual((await change('watcher', { add: ['chat'] })).json.oldCapabilities, ['mcp/*', 'chat']);
    });

test('11.3: a bad topic or a broken body is 400', async () => {
    assert.equal((await change('watcher', { add: ['chat'] }, { query: '?topic=..%2F' })).status, 400);
    assert.equal((await change('watcher', { add: ['chat'] }, { query: '?topic=a&topic=b' })).status, 400);
    assert.equal((await gateway.request('POST /admin/participants/watcher/capabilities', { token: 'boss-token', body: '{"add":[' })).status, 400);
});

test('11.3: no capability confers the role, not even *', async () => {
    const star = await gateway.join('star', { topic: 'stars' });

    assert.deepEqual(star.welcome.payload.you.capabilities, ['*']);
    for (const [line, json] of [['POST /admin/participants/star/capabilities', { add: ['chat'] }], ['GET /admin/tokens'],
        ['POST /admin/tokens', { id: 'x', profile: 'full' }], ['DELETE /admin/tokens/boss'], ['GET /admin/topics'], ['GET /admin/members'],
        ['POST /admin/members/star/kick'], ['POST /admin/members/star/pause'], ['POST /admin/members/star/resume'],
        ['POST /admin/reload'], ['POST /admin/link']]) {
        assert.equal((await gateway.request(line, { token: 'star-token', json })).status, 403, line);
        assert.equal((await gateway.request(line, { json })).status, 401, line);
        assert.equal((await gateway.request(line, { token: 'unknown', json })).status, 401, line);
    }
});

test('11.3: admin.token of the first start and the boss of the settings both have the role', async () => {
    const { json } = await change('watcher', { add: [] }, { token: gateway.adminToken() });
    assert.equal(json.modifiedBy, 'admin');
    assert.equal((await change('watcher', { add: [] }, { token: gateway.humanToken() })).status, 403);
});

// --- taking a grant back ---

const end = (id, grant, { query = '', token = 'boss-token' } = {}) =>
    gateway.request(`DELETE /admin/participants/${encodeURIComponent(id)}/grants?id=${encodeURIComponent(grant)}${query}`, { token });
const grantsOf = async (id) => (await gateway.request(`GET /admin/participants/${encodeURIComponent(id)}/grants`, { token: 'boss-token' }))
    .json.rights.flatMap((one) => one.grants.map((grant) => `${one.topic ?? ''}:${grant.id}`));
const recorded = async (kind) => (await gateway.request(`GET /admin/audit?event=grant&kind=${kind}&order=oldest`, { token: 'boss-token' })).json.records;

test('a grant is taken back by its id, and nothing else with it, on every connection', async () => {
    const id = 'agent-f';
    const one = (await change(id, { add: ['mcp/request:tools/*'] })).json.grant_id;
    const other = (await change(id, { add: ['mcp/request:*'], expires_at: new Date(Date.now() + 3600_000).toISOString() })).json.grant_id;
    const here = (await change(id, { add: ['mcp/response:*'] }, { query: '?topic=ending-2' })).json.grant_id;
    const clients = [await join(id, { topic: 'ending-1' }), await join(id, { topic: 'ending-2' }), await join(id, { topic: 'ending-3' })];

    const { status, json } = await end(id, other);

    assert.equal(status, 200);
    assert.deepEqual([json.participantId, json.grant_id, json.modifiedBy], [id, other, 'boss']);
    assert.ok(json.oldCapabilities.includes('mcp/request:*') && !json.newCapabilities.includes('mcp/request:*'));
    assert.ok(json.newCapabilities.includes('mcp/request:tools/*'));
    for (const client of clients) {
        assert.ok(!(await expect(client, isWelcome)).payload.you.capabilities.includes('mcp/request:*'));
        assert.equal(await mayCall(client), true);
    }
    assert.equal((await end(id, one)).status, 200);
    for (const client of clients) {
        await expect(client, isWelcome);
        assert.equal(await mayCall(client), false);
    }
    assert.deepEqual(await grantsOf(id), [`ending-2:${here}`]);
    assert.equal((await end(id, here)).status, 404, 'it holds in one topic');
    assert.equal((await end(id, here, { query: '&topic=ending-1' })).status, 404, 'in another');
    assert.equal((await end(id, here, { query: '&topic=ending-2' })).status, 200);
    assert.deepEqual(await grantsOf(id), []);
    let told;

    await until(async () => (told = await recorded('revoke')).length >= 3, 'it is recorded');
    assert.deepEqual(told.map((record) => [record.id, record.participant, record.topic ?? '']),
        [[other, 'boss', ''], [one, 'boss', ''], [here, 'boss', 'ending-2']]);
});

test('a grant that the room heard of is taken back before the room, also after a restart', async () => {
    const boss = await gateway.join('boss', { topic: 'told' });
    const watcher = await gateway.join('watcher', { topic: 'told' });
    const granted = boss.send(envelope('boss', 'capability/grant', { id: 'a/b c?%2F', payload: { recipient: 'mute', capabilities: ['chat'] } }));

    await expect(watcher, (json) => json.kind === 'capability/grant-ack');
    assert.equal((await end('mute', granted.id, { query: '&topic=told' })).status, 200);
    const { payload } = await expect(watcher, (json) => json.kind === 'capability/grant-ack');

    assert.deepEqual([payload.status, payload.recipient], ['revoked', 'mute']);
    const lasting = (await change('mute', { add: ['chat'] })).json.grant_id;

    await gateway.kill();
    gateway = await gateway.restart();
    assert.deepEqual(await grantsOf('mute'), [`:${lasting}`]);
    assert.equal((await end('mute', lasting)).status, 200);
    await gateway.kill();
    gateway = await gateway.restart();
    assert.deepEqual(await grantsOf('mute'), []);
});

test('taking back is for administrators, of what there is', async () => {
    const { json: { grant_id: grant } } = await change('agent-d', { add: ['mcp/response:*'] });

    assert.equal((await end('agent-d', grant, { token: 'star-token' })).status, 403);
    assert.equal((await end('agent-d', grant, { token: null })).status, 401);
    assert.equal((await end('agent-d', 'none')).status, 404);
    assert.equal((await end('agent-d', 'x'.repeat(2000))).status, 404);
    assert.equal((await end('agent-c', grant)).status, 404);
    assert.equal((await end('nobody', grant)).status, 404);
    assert.equal((await end('agent-d', grant, { query: '&topic=not/a/topic' })).status, 400);
    assert.equal((await end('agent-d', grant, { query: '&topic=a&topic=b' })).status, 400);
    for (const query of ['', '?id=', `?id=${grant}&id=${grant}`])
        assert.equal((await gateway.request(`DELETE /admin/participants/agent-d/grants${query}`, { token: 'boss-token' })).status, 400, query);
    const both = await Promise.all([end('agent-d', grant), end('agent-d', grant)]);

    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 404]);
});

test('the end of a grant that holds in all topics is recorded once', async () => {
    const grants = [];

    for (let i = 0; i < 3; i++)
        grants.push((await change('agent-f', { add: [`mcp/response:x${i}`], expires_at: new Date(Date.now() + 300 + i * 100).toISOString() })).json.grant_id);
    await until(async () => (await recorded('expired')).some((record) => record.id === grants[2]), 'the last has expired');
    assert.deepEqual((await recorded('expired')).map((record) => record.id).filter((id) => grants.slice(0, 2).includes(id)), grants.slice(0, 2));
});
