// SPDX-License-Identifier: Apache-2.0
// Teams: who may make them, see them and change them; their rooms; and that they last.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { codeOf, subscribe } from './agents.mjs';
import { expect, person, startGateway, within } from './gateway.mjs';
import { until } from './processes.mjs';

let gateway, admin;

const lead = ['directory/query', 'team/create', 'chat', 'mcp/proposal:*'];

before(async () => {
    gateway = await startGateway({
        tokens: [
            person('lead', { capabilities: lead }),
            person('poor', { capabilities: ['team/create', 'chat'] }),
            person('details', { capabilities: [...lead, 'directory/details'] }),
            person('ann', { capabilities: [] }),
            person('bob', { capabilities: [] }),
            person('cleo', { capabilities: [] }),
            person('boss', { capabilities: ['team/manage'] }),
            person('eve', { capabilities: lead }),
            person('narrow', { capabilities: [], topics: ['elsewhere'] }),
        ],
        topics: { open: false },
    });
    admin = gateway.adminToken();
    for (const [id, participant, more] of [['r-ann', 'ann'], ['r-bob', 'bob'], ['r-cleo', 'cleo', { invite: 'ask' }],
        ['r-boss', 'boss'], ['r-narrow', 'narrow'], ['r-none']])
        await ok('PUT', `/admin/resources/${id}`, admin, { kind: 'human', name: id.slice(2), ...(participant ? { participant } : {}), ...more });
});
after(() => gateway?.stop());

async function call(method, target, token, json) {
    return gateway.request(`${method} ${target}`, { token: token === admin ? admin : `${token}-token`, json });
}
async function ok(...request) {
    const { status, json, text } = await call(...request);

    assert.ok(status < 300, `${request.slice(0, 2).join(' ')}: ${status} ${text}`);
    return json;
}
async function fails(status, ...request) {
    const answer = await call(...request);

    assert.equal(answer.status, status, answer.text);
    return answer.json;
}
const create = (resources = ['r-ann'], { by = 'lead', ...more } = {}) => ok('POST', '/teams', by, { name: 'Falcon', resources, ...more });
const stateOf = (team, resource) => team.members.find((one) => one.resource_id === resource)?.state;
const capabilities = (client) => client.welcome.payload.you.capabilities;

test('teams: creation tells how to enter, and the members meet there', async () => {
    const team = await create(['r-ann', 'r-none'], { contract_id: 'c-7' });

    assert.match(team.team_id, /^t-[0-9a-f]{16}$/);
    assert.equal(team.topic, `team-${team.team_id}`);
    assert.deepEqual(team.enter, { websocket: `/ws?topic=${team.topic}`, mcp: `/mcp/${team.topic}` });
    assert.equal(team.contract_id, 'c-7');
    assert.equal(team.creator, 'lead');
    assert.deepEqual(team.members, [{ resource_id: 'r-ann', name: 'ann', state: 'member', present: false },
        { resource_id: 'r-none', name: 'none', state: 'member', present: false }]);

    const ann = await gateway.join('ann', { topic: team.topic });
    const leader = await gateway.join('lead', { topic: team.topic });

    // Of the profile `proposer`, what the creator holds.
    assert.deepEqual(capabilities(ann).sort(), ['chat', 'mcp/proposal:*']);
    ann.chat('here I am');
    await expect(leader, ({ payload }) => payload?.text === 'here I am');
    const status = await ok('GET', `/teams/${team.team_id}`, 'lead');
    assert.equal(status.members[0].present, true);
    assert.equal(status.creator_present, true);
    assert.ok(Date.parse(status.last_activity_at) >= Date.parse(status.created_at));
    await ann.close();
    await leader.close();
});

test('teams: contacts are for those who may see details, and for oneself', async () => {
    const team = await create(['r-ann', 'r-bob']);

    assert.deepEqual(team.members.map((one) => one.participant), [undefined, undefined]);
    assert.deepEqual((await ok('GET', `/teams/${team.team_id}`, 'ann')).members.map((one) => one.participant), ['ann', undefined]);
    assert.deepEqual((await ok('GET', `/admin/teams/${team.team_id}`, admin)).members.map((one) => one.participant), ['ann', 'bob']);
    assert.deepEqual((await create(['r-ann'], { by: 'details' })).members[0].participant, 'ann');
});

test('teams: unknown resources are refused by name, and nothing is done', async () => {
    const before = (await ok('GET', '/admin/teams', admin)).teams.length;
    const problem = await fails(404, 'POST', '/teams', 'lead', { name: 'A', resources: ['r-ann', 'r-who', 'r-what'] });

    assert.equal(problem.detail, 'There is no such resource: r-who, r-what.');
    assert.equal(problem.field, 'resources');
    assert.equal((await ok('GET', '/admin/teams', admin)).teams.length, before);
});

for (const [what, body, pattern] of [
    ['a name', { resources: ['r-ann'] }, /name/],
    ['a name that is a line', { name: 'a\nb', resources: ['r-ann'] }, /control/],
    ['members', { name: 'A', resources: [] }, /No resource/],
    ['each member once', { name: 'A', resources: ['r-ann', 'r-ann'] }, /twice/],
    ['a contract that is a line', { name: 'A', resources: ['r-ann'], contract_id: '\u0001' }, /contract_id/],
    ['nothing else', { name: 'A', resources: ['r-ann'], boss: 1 }, /boss/],
])
    test(`teams: to make one it takes ${what}`, async () => {
        assert.match((await fails(400, 'POST', '/teams', 'lead', body)).detail, pattern);
    });

test('teams: making one needs team/create', async () => {
    assert.match((await fails(403, 'POST', '/teams', 'ann', { name: 'A', resources: ['r-bob'] })).detail, /team\/create/);
});

test('teams: nobody is granted more than the creator holds', async () => {
    const team = await create(['r-ann'], { by: 'poor' });
    const ann = await gateway.join('ann', { topic: team.topic });

    assert.deepEqual(capabilities(ann), ['chat']);
    await ann.close();
});

test('teams: others learn nothing of a team, and do not come in', async () => {
    const { team_id: id, topic } = await create();
    const unknown = await fails(404, 'GET', '/teams/t-0000000000000000', 'eve');
    const hidden = await fails(404, 'GET', `/teams/${id}`, 'eve');

    assert.equal(hidden.detail, unknown.detail);
    for (const [method, rest, body] of [['PATCH', '', { name: 'B' }], ['DELETE', ''], ['POST', '/members', { resources: ['r-bob'] }],
        ['DELETE', '/members/r-ann'], ['POST', '/accept'], ['POST', '/decline']])
        await fails(404, method, `/teams/${id}${rest}`, 'eve', body);
    assert.equal((await gateway.refusal('eve', { topic })).status, 404);
    assert.equal((await gateway.refusal('eve', { topic: 'team-t-0000000000000000' })).status, 404);
    assert.equal((await gateway.request(`GET /topics/${topic}/messages`, { token: 'eve-token' })).status, 404);
    assert.deepEqual((await ok('GET', '/teams', 'eve')).teams, []);
    assert.ok((await ok('GET', '/teams', 'ann')).teams.some((one) => one.team_id === id));
});

test('teams: the topics of a credential bind it in teams as elsewhere', async () => {
    const { topic } = await create(['r-narrow']);

    assert.equal((await gateway.refusal('narrow', { topic })).status, 403);
});

test('teams: its creator, a member with team/manage and administrators change it', async () => {
    const { team_id: id, topic } = await create(['r-ann', 'r-boss']);

    assert.match((await fails(403, 'PATCH', `/teams/${id}`, 'ann', { name: 'Mine' })).detail, /team\/manage/);
    assert.equal((await ok('PATCH', `/teams/${id}`, 'boss', { name: 'Eagle' })).name, 'Eagle');
    assert.equal((await ok('PATCH', `/admin/teams/${id}`, admin, { name: 'Hawk' })).name, 'Hawk');
    assert.equal(stateOf(await ok('POST', `/teams/${id}/members`, 'lead', { resources: ['r-bob'] }), 'r-bob'), 'member');
    assert.match((await fails(409, 'POST', `/teams/${id}/members`, 'lead', { resources: ['r-bob'] })).detail, /r-bob/);
    assert.match((await fails(404, 'POST', `/teams/${id}/members`, 'lead', { resources: ['r-who'] })).detail, /r-who/);

    const bob = await gateway.join('bob', { topic });
    assert.equal(stateOf(await ok('DELETE', `/teams/${id}/members/r-bob`, 'lead'), 'r-bob'), 'removed');
    assert.equal((await bob.closed()).code, 4003);
    assert.equal((await gateway.refusal('bob', { topic })).status, 404);
    await fails(404, 'GET', `/teams/${id}`, 'bob');
    await fails(404, 'DELETE', `/teams/${id}/members/r-bob`, 'lead');
});

test('teams: what a manager adds is granted no more than he holds himself', async () => {
    const { team_id: id, topic } = await create(['r-boss']);

    await ok('POST', `/teams/${id}/members`, 'boss', { resources: ['r-ann'] });
    const ann = await gateway.join('ann', { topic });
    // The team gave it to him, so he hands it on.
    assert.deepEqual(capabilities(ann).sort(), ['chat', 'mcp/proposal:*']);
    await ann.close();
});

test('teams: who wants to be asked accepts or declines, and leaves', async () => {
    const team = await create(['r-cleo', 'r-ann']);
    const { team_id: id, topic } = team;

    assert.equal(stateOf(team, 'r-cleo'), 'invited');
    assert.equal((await gateway.refusal('cleo', { topic })).status, 404);
    assert.equal(stateOf(await ok('GET', `/teams/${id}`, 'cleo'), 'r-cleo'), 'invited');
    await fails(404, 'POST', `/teams/${id}/accept`, 'ann', { resource: 'r-cleo' });
    assert.equal(stateOf(await ok('POST', `/teams/${id}/accept`, 'cleo'), 'r-cleo'), 'member');
    await fails(409, 'POST', `/teams/${id}/accept`, 'cleo');

    const cleo = await gateway.join('cleo', { topic });
    assert.deepEqual(capabilities(cleo).sort(), ['chat', 'mcp/proposal:*']);
    assert.equal(stateOf(await ok('POST', `/teams/${id}/decline`, 'cleo'), 'r-cleo'), 'left');
    assert.equal((await cleo.closed()).code, 4003);
    assert.equal((await gateway.refusal('cleo', { topic })).status, 404);

    const other = await create(['r-cleo']);
    assert.equal(stateOf(await ok('POST', `/teams/${other.team_id}/decline`, 'cleo'), 'r-cleo'), 'declined');
    const third = await create(['r-cleo']);
    assert.equal(stateOf(await ok('POST', `/admin/teams/${third.team_id}/accept`, admin, { resource: 'r-cleo' }), 'r-cleo'), 'member');
});

test('teams: dissolving closes the room with a notice, for good', async () => {
    const { team_id: id, topic } = await create(['r-ann', 'r-bob']);
    const ann = await gateway.join('ann', { topic });
    const leader = await gateway.join('lead', { topic });
    const team = await ok('DELETE', `/teams/${id}`, 'lead');

    assert.equal(team.state, 'dissolved');
    for (const client of [ann, leader]) {
        await expect(client, ({ kind, payload }) => kind === 'system/notice' && payload.notice === 'team_dissolved');
        assert.equal((await client.closed()).code, 4003);
    }
    for (const who of ['ann', 'lead', 'bob'])
        assert.equal((await gateway.refusal(who, { topic })).status, 404);
    assert.equal((await gateway.refusal('admin', { topic, token: admin })).status, 404);
    const { json } = await gateway.request('GET /admin/participants/ann/grants', { token: admin });
    assert.deepEqual(json.rights.filter((one) => one.topic === topic && one.grants.length), []);
    await fails(409, 'PATCH', `/teams/${id}`, 'lead', { name: 'Again' });
    assert.equal((await ok('GET', `/teams/${id}`, 'ann')).state, 'dissolved');
});

test('teams: events go to whom the team concerns, in order', async () => {
    const agent = await subscribe(gateway, 'lead');
    const stranger = await subscribe(gateway, 'eve');
    const created = await agent.ask('TEAM_CREATE', { team_name: 'Events', member_resource_ids: ['r-ann'] });
    const { team_id: id, topic } = created.payload.data;

    assert.equal(created.payload.event_type, 'TEAM_CREATED');
    const ann = await gateway.join('ann', { topic });
    await ann.close();
    await ok('PATCH', `/teams/${id}`, 'lead', { name: 'Renamed' });
    await ok('DELETE', `/teams/${id}`, 'lead');
    const seen = [];
    while (seen.at(-1)?.[1] !== 'dissolved') {
        const { payload: { event_type: type, data } } = await agent.next();

        if (data.team_id === id)
            seen.push([type, data.change ?? data.status]);
    }
    const team = seen.filter(([type]) => type === 'TEAM_STATUS_UPDATED').map(([, what]) => what);
    const member = seen.filter(([type]) => type === 'MEMBER_STATUS_CHANGED').map(([, what]) => what);
    assert.deepEqual(team, ['created', 'renamed', 'dissolved']);
    assert.deepEqual(member.slice(0, 1), ['joined']);

    const status = await agent.ask('TEAM_GET_STATUS', { team_id: id });
    assert.equal(status.payload.event_type, 'TEAM_STATUS');
    assert.equal(status.payload.data.state, 'dissolved');
    assert.equal(codeOf(await stranger.ask('TEAM_GET_STATUS', { team_id: id })), 'NOT_FOUND');
    const refused = await agent.ask('TEAM_CREATE', { team_name: 'A', member_resource_ids: ['r-ann', 'r-who'] });
    assert.equal(codeOf(refused), 'NOT_FOUND');
    assert.equal(refused.payload.data.field, 'payload.member_resource_ids');
    assert.match(refused.payload.data.message, /r-who/);
    assert.equal(stranger.events.filter(({ payload }) => payload.data.team_id === id && !payload.data.in_reply_to).length, 0);
    await agent.close();
    await stranger.close();
});

test('teams: a query can be narrowed to a team', async () => {
    const { team_id: id } = await create(['r-ann']);
    const agent = await subscribe(gateway, 'lead');
    const { payload } = await agent.ask('RESOURCE_QUERY', { query: '', filters: { team: id } });

    assert.deepEqual(payload.data.resources.map(({ resource }) => resource.id), ['r-ann']);
    const { resources } = await ok('GET', `/admin/resources?team=${id}`, admin);
    assert.deepEqual(resources.map(({ resource }) => resource.id), ['r-ann']);
    assert.match((await fails(404, 'GET', '/admin/resources?team=t-0000000000000000', admin)).detail, /no such team/);
    await fails(400, 'GET', `/admin/resources?team=${id}&team=${id}`, admin);
    const foreign = await subscribe(gateway, 'eve');
    assert.equal(codeOf(await foreign.ask('RESOURCE_QUERY', { query: '', filters: { team: id } })), 'NOT_FOUND');
    await agent.close();
    await foreign.close();
});

test('teams: they outlast a crash, with their members, grants and ends', async () => {
    const { team_id: id, topic } = await create(['r-ann', 'r-cleo']);
    const gone = await create(['r-ann']);

    await ok('DELETE', `/teams/${gone.team_id}`, 'lead');
    await gateway.kill();
    gateway = await gateway.restart({ workers: 3 });
    const team = await ok('GET', `/teams/${id}`, 'lead');
    assert.deepEqual(team.members.map((one) => [one.resource_id, one.state]), [['r-ann', 'member'], ['r-cleo', 'invited']]);
    const ann = await gateway.join('ann', { topic });
    assert.deepEqual(capabilities(ann).sort(), ['chat', 'mcp/proposal:*']);
    await ann.close();
    assert.equal((await gateway.refusal('ann', { topic: gone.topic })).status, 404);
    assert.equal((await ok('GET', `/teams/${gone.team_id}`, 'lead')).state, 'dissolved');
});

test('teams: when something was last said outlasts a stop', async () => {
    const { team_id: id, topic } = await create(['r-ann']);
    const leader = await gateway.join('lead', { topic });

    leader.chat('the last word');
    await expect(leader, ({ payload }) => payload?.text === 'the last word');
    const { last_activity_at: last } = await ok('GET', `/teams/${id}`, 'lead');
    gateway.signal('SIGTERM');
    await within(gateway.exited, 'the end of the gateway');
    gateway = await gateway.restart();
    assert.equal((await ok('GET', `/teams/${id}`, 'lead')).last_activity_at, last);
});

test('teams: an expired credential takes with it what it gave', async () => {
    const { json: { token } } = await gateway.request('POST /admin/tokens', { token: admin,
        json: { id: 'brief', capabilities: ['team/create', 'chat'], topics: ['*'], expires_at: new Date(Date.now() + 5000).toISOString() } });
    const { status, json, text } = await gateway.request('POST /teams', { token, json: { name: 'Brief', resources: ['r-ann'] } });

    assert.equal(status, 201, text);
    const ann = await gateway.join('ann', { topic: json.topic });
    assert.deepEqual(capabilities(ann), ['chat']);
    await until(async () => {
        const { json: { rights } } = await gateway.request('GET /admin/participants/ann/grants', { token: admin });

        return !rights.some((one) => one.topic === json.topic && one.grants.length);
    });
    await ann.close();
});
