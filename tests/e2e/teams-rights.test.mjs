// SPDX-License-Identifier: Apache-2.0
// What teams give is never more than it should be, whatever happens later; what is over stays over at every door; and
// nobody learns of teams and resources that are not his to know.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { codeOf, subscribe } from './agents.mjs';
import { envelope, expect, person, startGateway } from './gateway.mjs';
import { mcpAt, modern } from './mcp.mjs';

const unknown = 't-0000000000000000';
let gateway, admin;

before(async () => {
    gateway = await startGateway({
        tokens: [
            person('lead', { capabilities: ['team/create', 'directory/query', 'chat', 'mcp/*'] }),
            person('ann', { capabilities: [] }),
            person('bob', { capabilities: [] }),
            person('cleo', { capabilities: [] }),
            person('giver', { capabilities: ['team/create', 'chat', 'capability/*'] }),
            person('boss', { capabilities: ['team/manage', 'chat', 'mcp/*'] }),
            person('eve', { capabilities: ['team/create', 'directory/query', 'chat', 'mcp/*'] }),
            person('narrow', { capabilities: ['chat'], topics: ['elsewhere'] }),
        ],
    }, { workers: 2 });
    admin = gateway.adminToken();
    for (const [id, participant, more] of [['r-ann', 'ann'], ['r-bob', 'bob'], ['r-cleo', 'cleo', { invite: 'ask' }], ['r-boss', 'boss']])
        assert.equal((await call('PUT', `/admin/resources/${id}`, admin, { kind: 'human', name: id, participant, ...more })).status, 201);
});
after(() => gateway?.stop());

const call = (method, target, token, json) => gateway.request(`${method} ${target}`, { token, json });
async function ok(...request) {
    const answer = await call(...request);

    assert.ok(answer.status < 300, `${request.slice(0, 2).join(' ')}: ${answer.status} ${answer.text}`);
    return answer.json;
}
const create = (resources, token = 'lead-token') => ok('POST', '/teams', token, { name: 'T', resources });
async function holds(who, topic) {
    const client = await gateway.join(who, { topic });
    const { capabilities } = client.welcome.payload.you;

    await client.close();
    return [...capabilities].sort();
}
const makeToken = async (id, capabilities) => ok('POST', '/admin/tokens', admin, { id, capabilities, topics: ['*'] });
const proposer = ['chat', 'mcp/proposal:*', 'mcp/response:*'];

test('rights: who accepts gets what the creator holds by then', async () => {
    const { token, about } = await makeToken('wane', ['team/create', 'chat', 'mcp/*']);
    const { team_id: id, topic } = await create(['r-cleo', 'r-boss'], token);

    await makeToken('wane', ['chat']);
    await ok('DELETE', `/admin/tokens/${about.name}`, admin);
    await ok('POST', `/teams/${id}/accept`, 'cleo-token');
    assert.deepEqual(await holds('cleo', topic), ['chat']);
    // A manager who holds more himself hands on no more either; an administrator gives what was held at first.
    await ok('POST', `/teams/${id}/members`, 'boss-token', { resources: ['r-ann'] });
    assert.deepEqual(await holds('ann', topic), ['chat']);
    await ok('POST', `/admin/teams/${id}/members`, admin, { resources: ['r-bob'] });
    assert.deepEqual(await holds('bob', topic), proposer);
});

test('rights: a creator without credentials gives nothing any more', async () => {
    const { token, about } = await makeToken('gone', ['team/create', 'chat']);
    const { team_id: id, topic } = await create(['r-cleo'], token);

    await ok('DELETE', `/admin/tokens/${about.name}`, admin);
    await ok('POST', `/teams/${id}/accept`, 'cleo-token');
    assert.deepEqual(await holds('cleo', topic), []);
});

test('rights: renaming and a second resource of the same participant add nothing', async () => {
    const { token } = await makeToken('poor', ['team/create', 'chat']);
    const { team_id: id, topic } = await create(['r-ann'], token);

    await ok('PATCH', `/admin/teams/${id}`, admin, { name: 'Renamed' });
    await ok('PUT', '/admin/resources/r-ann2', admin, { kind: 'human', name: 'Ann again', participant: 'ann' });
    await ok('POST', `/admin/teams/${id}/members`, admin, { resources: ['r-ann2'] });
    assert.deepEqual(await holds('ann', topic), ['chat']);
    // One of the two goes: he stays, with what he has.
    await ok('DELETE', `/teams/${id}/members/r-ann`, token);
    assert.deepEqual(await holds('ann', topic), ['chat']);
    await ok('DELETE', `/teams/${id}/members/r-ann2`, token);
    assert.equal((await gateway.refusal('ann', { topic })).status, 404);
});

test('rights: who was removed is out at once, and may be taken in again at once', async () => {
    const { team_id: id, topic } = await create(['r-ann']);
    const ann = await gateway.join('ann', { topic });
    const waiting = gateway.request(`GET /topics/${topic}/messages?wait=30`, { token: 'ann-token' });
    const lead = await gateway.join('lead', { topic });

    await expect(ann, ({ kind }) => kind === 'system/presence');
    await ok('DELETE', `/teams/${id}/members/r-ann`, 'lead-token');
    assert.equal((await ann.closed()).code, 4003);
    lead.chat('not for ann');
    assert.doesNotMatch((await waiting).text, /not for ann/);
    const { text, status } = await call('GET', `/topics/${topic}/messages`, 'ann-token');
    assert.equal(status, 404, text);
    await ok('POST', `/teams/${id}/members`, 'lead-token', { resources: ['r-ann'] });
    const again = await gateway.join('ann', { topic });
    again.chat('back');
    await expect(lead, ({ payload }) => payload?.text === 'back');
    await again.close();
    await lead.close();
});

test('rights: who has too many grants in the room is not taken in, and nothing is half done', async () => {
    const { team_id: id, topic } = await create(['r-boss', 'r-cleo'], 'giver-token');
    const giver = await gateway.join('giver', { topic });
    const state = async () => (await ok('GET', `/teams/${id}`, 'giver-token')).members.map((one) => [one.resource_id, one.state]);
    const before = await state();
    let last;

    for (const recipient of ['bob', 'cleo'])
        for (let i = 0; i < 256; i++)
            last = giver.send(envelope('giver', 'capability/grant', { payload: { recipient, capabilities: ['chat'] } }));
    await expect(giver, ({ kind, correlation_id: of }) => kind === 'capability/grant-ack' && of === last.id);
    for (const [path, token, body] of [['members', 'giver-token', { resources: ['r-ann', 'r-bob'] }], ['accept', 'cleo-token']]) {
        const { status, json } = await call('POST', `/teams/${id}/${path}`, token, body);

        assert.equal(status, 503, path);
        assert.match(json.detail, /too many grants/);
        assert.deepEqual(await state(), before);
    }
    assert.equal((await gateway.refusal('ann', { topic })).status, 404);
    giver.send(envelope('giver', 'capability/revoke', { payload: { recipient: 'cleo', grant_id: last.id } }));
    await expect(giver, ({ kind, payload }) => kind === 'capability/grant-ack' && payload.status === 'revoked');
    await ok('POST', `/teams/${id}/accept`, 'cleo-token');
    await giver.close();
});

// Every way into a topic, and what it says.
async function doors(who, topic, token = `${who}-token`) {
    const { message, headers } = modern('tools/list');
    const refusal = await gateway.refusal(who, { topic, token });
    const mcp = await mcpAt(gateway, topic, token).post(message, { headers });
    const others = await Promise.all([
        call('GET', `/topics/${topic}/messages`, token),
        call('POST', `/topics/${topic}/messages`, token, envelope(who, 'chat', { payload: { text: 'x' } })),
        call('GET', `/topics/${topic}/participants`, token),
        call('GET', `/topics/${topic}/proposals`, token),
        call('GET', `/topics/${topic}/rules`, token),
    ]);

    return [refusal, mcp, ...others].map(({ status, json }) => [status, json?.title, json?.detail?.replaceAll(topic, 'T')]);
}

test('rights: what is dissolved is closed at every door, to everybody, over a restart too', async () => {
    const { team_id: id, topic } = await create(['r-ann', 'r-cleo']);
    const { token: exact } = await ok('POST', '/admin/tokens', admin, { id: 'exact', capabilities: ['chat'], topics: [topic] });
    const lead = await gateway.join('lead', { topic });

    lead.chat('a secret');
    await expect(lead, ({ payload }) => payload?.text === 'a secret');
    const inside = await gateway.join('exact', { topic, token: exact });
    await inside.close();
    await ok('DELETE', `/teams/${id}`, 'lead-token');
    const check = async () => {
        for (const [who, token] of [['lead'], ['ann'], ['eve'], ['exact', exact], ['admin', admin]])
            assert.deepEqual((await doors(who, topic, token)).map(([status]) => status), Array(7).fill(404), who);
        assert.equal((await call('POST', `/teams/${id}/accept`, 'cleo-token')).status, 409);
        assert.ok(!(await ok('GET', '/topics', admin)).topics.some(({ name }) => name === topic));
    };
    await check();
    await gateway.kill();
    gateway = await gateway.restart();
    await check();
});

test('leaks: a foreign team and none are the same at every door', async () => {
    const { team_id: id, topic } = await create(['r-ann']);
    const requests = [['GET', ''], ['PATCH', '', { name: 'B' }], ['DELETE', ''], ['POST', '/members', { resources: ['r-bob'] }],
        ['POST', '/members', { resources: ['no-such-resource'] }], ['DELETE', '/members/r-ann'], ['POST', '/accept'], ['POST', '/decline', { resource: 'r-ann' }]];

    for (const [method, rest, body] of requests) {
        const [foreign, none] = await Promise.all([id, unknown].map((team) => call(method, `/teams/${team}${rest}`, 'eve-token', body)));

        assert.deepEqual([foreign.status, foreign.json], [404, none.json], `${method} ${rest}`);
        assert.equal(none.status, 404);
        assert.match(none.json.detail, /no such team/);
    }
    for (const who of ['eve', 'narrow'])
        assert.deepEqual(await doors(who, topic), await doors(who, `team-${unknown}`), who);
    const agent = await subscribe(gateway, 'eve');
    for (const [performative, payload] of [['TEAM_GET_STATUS', (team) => ({ team_id: team })],
        ['RESOURCE_QUERY', (team) => ({ query: '', filters: { team } })]]) {
        const [foreign, none] = [await agent.ask(performative, payload(id)), await agent.ask(performative, payload(unknown))];

        assert.equal(codeOf(foreign), 'NOT_FOUND');
        assert.deepEqual({ ...foreign.payload.data, in_reply_to: '' }, { ...none.payload.data, in_reply_to: '' });
    }
    await agent.close();
});

test('leaks: a member who may not change the team does not learn which resources there are', async () => {
    const { team_id: id } = await create(['r-ann']);

    for (const resource of ['r-bob', 'no-such-resource'])
        assert.equal((await call('POST', `/teams/${id}/members`, 'ann-token', { resources: [resource] })).status, 403, resource);
});

test('events: of a change hear its creator, its members, administrators, and nobody else', async () => {
    const makeAgent = (id, token) => subscribe(gateway, id, token ? { token } : {});
    const [lead, ann, bob, eve] = await Promise.all(['lead', 'ann', 'bob', 'eve'].map((id) => makeAgent(id)));
    const chief = await makeAgent('admin', admin);
    const { team_id: id } = await create(['r-ann', 'r-cleo']);
    const steps = [
        ['POST', '/members', { resources: ['r-bob'] }, 'added'],
        ['PATCH', '', { name: 'X' }, 'renamed'],
        ['DELETE', '/members/r-ann', undefined, 'removed'],
        ['PATCH', '', { name: 'Y' }, 'renamed'],
        ['DELETE', '', undefined, 'dissolved'],
    ];

    for (const [method, rest, body] of steps)
        await ok(method, `/teams/${id}${rest}`, 'lead-token', body);
    const all = ['created', ...steps.map((step) => step[3])];
    const heard = async (agent, last) => {
        const seen = [];

        while (seen.at(-1) !== last || seen.length < 2) {
            const { payload: { event_type: type, data } } = await agent.next();

            if (type === 'TEAM_STATUS_UPDATED' && data.team_id === id)
                seen.push(data.change);
        }
        return seen;
    };
    assert.deepEqual(await heard(lead, 'dissolved'), all);
    assert.deepEqual(await heard(chief, 'dissolved'), all);
    assert.deepEqual(await heard(bob, 'dissolved'), all.slice(1));
    assert.deepEqual(await heard(ann, 'removed'), all.slice(0, 4));
    // Whatever they might have been told came before this.
    for (const agent of [ann, eve]) {
        await agent.ask('TEAM_GET_STATUS', { team_id: unknown });
        assert.deepEqual(agent.events.slice(agent.taken ?? 0).filter(({ payload }) =>
            payload.data.team_id === id && ['renamed', 'dissolved'].includes(payload.data.change)).slice(agent === ann ? 1 : 0), []);
    }
    await Promise.all([lead, ann, bob, eve, chief].map((agent) => agent.close()));
});
