// SPDX-License-Identifier: Apache-2.0
// A story: an agent subscribes, finds a developer and an agent, makes a team of them, all meet
// in its room, and a tool call is proposed and approved there.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { subscribe } from './agents.mjs';
import { envelope, expect, person, startGateway } from './gateway.mjs';
import { sdkClient } from './mcp-room.mjs';

let gateway;

const tools = ['mcp/response:*', 'mcp/request:*'];

before(async () => {
    gateway = await startGateway({
        tokens: [
            person('scout', { capabilities: ['directory/query', 'team/create', 'mcp/*', 'chat'] }),
            person('ann', { type: 'human', capabilities: ['mcp/*', 'chat'] }),
            person('build-bot', { capabilities: tools }),
            person('passer-by', { capabilities: ['directory/query', 'mcp/*', 'chat'] }),
        ],
    });
    const token = gateway.adminToken();

    for (const resource of [
        { id: 'ann', kind: 'human', name: 'Ann Meier', role: 'Backend developer', skills: ['Python', 'FastAPI'], availability: 'full-time',
            participant: 'ann' },
        { id: 'old', kind: 'human', name: 'Otto', role: 'Backend developer', skills: ['Python'], availability: 'unavailable' },
        { id: 'bot', kind: 'agent', name: 'Build bot', role: 'Runs builds', skills: ['docker', 'builds'], participant: 'build-bot' },
        { id: 'cook', kind: 'human', name: 'Cleo', role: 'Cook', skills: ['soup'], availability: 'full-time' },
    ])
        assert.equal((await gateway.request(`PUT /admin/resources/${resource.id}`, { token, json: resource })).status, 201);
});
after(() => gateway?.stop());

const call = { method: 'tools/call', params: { name: 'build', arguments: { target: 'release' } } };

test('an agent finds people and agents, makes them a team, and work is proposed and approved in its room', async () => {
    // It subscribes and looks around.
    const scout = await subscribe(gateway, 'scout');
    const find = async (payload) => {
        const { payload: { event_type: type, data } } = await scout.ask('RESOURCE_QUERY', payload);

        assert.equal(type, 'RESOURCE_RESULTS');
        return data.resources;
    };
    const [developer] = await find({ query: 'developer with Python experience' });
    const [agent] = await find({ query: 'builds', filters: { kind: 'agent' } });
    assert.equal(developer.resource.id, 'ann');
    assert.deepEqual(developer.reason.skills, ['Python']);
    assert.equal(agent.resource.id, 'bot');

    // The team, and what the others hear of it.
    const created = await scout.ask('TEAM_CREATE', { team_name: 'Release', member_resource_ids: [developer.resource.id, agent.resource.id],
        contract_id: 'c-1' });
    const { team_id: id, topic, enter } = created.payload.data;
    assert.equal(created.payload.event_type, 'TEAM_CREATED');
    assert.equal(enter.websocket, `/ws?topic=${topic}`);

    // All meet in its room; nobody else does.
    const ann = await gateway.join('ann', { topic });
    const bot = await gateway.join('build-bot', { topic });
    const leader = await gateway.join('scout', { topic });
    assert.equal((await gateway.refusal('passer-by', { topic })).status, 404);
    // The team gave the agent what its own token has not.
    assert.ok(bot.welcome.payload.you.capabilities.includes('chat'), JSON.stringify(bot.welcome.payload.you));

    // A tool call is proposed, and the status shows it.
    const proposal = leader.send(envelope('scout', 'mcp/proposal:tools/call:build', { to: ['build-bot'], payload: call }));
    await expect(ann, (json) => json.id === proposal.id);
    const { payload: { data: during } } = await scout.ask('TEAM_GET_STATUS', { team_id: id });
    assert.deepEqual(during.open_proposals.map((one) => [one.id, one.proposer]), [[proposal.id, 'scout']]);
    assert.deepEqual(during.members.map((one) => one.present), [true, true]);

    // Ann approves by fulfilling it; the agent answers.
    const request = ann.send(envelope('ann', 'mcp/request:tools/call:build', { to: ['build-bot'], correlation_id: proposal.id, payload: call }));
    const asked = await expect(bot, (json) => json.id === request.id);
    bot.send(envelope('build-bot', 'mcp/response:tools/call:build', { to: ['ann', 'scout'], correlation_id: asked.id,
        payload: { result: { content: [{ type: 'text', text: 'built' }] } } }));
    const answer = await expect(leader, (json) => json.kind.startsWith('mcp/response') && json.from === 'build-bot');
    assert.equal(answer.payload.result.content[0].text, 'built');
    const { payload: { data: later } } = await scout.ask('TEAM_GET_STATUS', { team_id: id });
    assert.deepEqual(later.open_proposals, []);

    // What the scout has heard without asking.
    await bot.close();
    const heard = [];
    while (!heard.some((one) => one.status === 'left'))
        heard.push((await scout.next()).payload.data);
    assert.equal(heard[0].change, 'created');
    assert.deepEqual(heard.filter((one) => one.status === 'joined').map((one) => one.resource_id ?? one.participant).sort(),
        ['ann', 'bot', 'scout']);
    assert.equal(heard.at(-1).resource_id, 'bot');
    await Promise.all([ann, leader, scout].map((one) => one.close()));
});

test('the same by MCP alone: find_resources, create_team, team_status', async () => {
    const client = await sdkClient(gateway, 'scout', { topic: 'lobby' });
    const { tools: listed } = await client.listTools();
    const own = listed.filter(({ name }) => ['find_resources', 'create_team', 'team_status'].includes(name));

    assert.equal(own.length, 3);
    for (const tool of own)
        assert.ok(tool.inputSchema.properties && tool.outputSchema.properties, tool.name);
    const { resources } = await client.say('find_resources', { query: 'python developer', limit: 1 });
    assert.deepEqual(resources.map(({ resource }) => resource.id), ['ann']);
    const team = await client.say('create_team', { name: 'By MCP', resources: ['ann', 'bot'] });
    assert.equal(team.enter.mcp, `/mcp/${team.topic}`);
    assert.equal((await client.say('team_status', { team_id: team.team_id })).name, 'By MCP');

    // In the room of the team as well.
    const inside = await sdkClient(gateway, 'scout', { topic: team.topic });
    assert.equal((await inside.say('team_status', { team_id: team.team_id })).team_id, team.team_id);

    for (const [name, args, pattern] of [
        ['create_team', { name: 'A', resources: ['ann', 'nobody'] }, /nobody/],
        ['create_team', { name: 'A' }, /resources/],
        ['find_resources', { quest: 'ion' }, /quest/],
        ['find_resources', { query: '', limit: 1000 }, /limit/],
        ['find_resources', { query: '', max_rate: 100 }, /directory\/details/],
        ['team_status', { team_id: 't-0000000000000000' }, /no such team/],
    ]) {
        const { isError, content } = await client.call(name, args);

        assert.equal(isError, true, name);
        assert.match(content[0].text, pattern);
    }

    // Each is offered to those who may use it.
    const other = await sdkClient(gateway, 'ann', { topic: 'lobby' });
    const theirs = (await other.listTools()).tools.map(({ name }) => name);
    for (const name of ['find_resources', 'create_team', 'team_status'])
        assert.ok(!theirs.includes(name), name);
    const passing = await sdkClient(gateway, 'passer-by', { topic: 'lobby' });
    const few = (await passing.listTools()).tools.map(({ name }) => name);
    assert.ok(few.includes('find_resources') && !few.includes('create_team'));
    const { isError } = await passing.call('team_status', { team_id: team.team_id });
    assert.equal(isError, true);
    await Promise.all([client, inside, other, passing].map((one) => one.close()));
});
