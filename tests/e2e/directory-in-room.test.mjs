// SPDX-License-Identifier: Apache-2.0
// The directory's tools in a room: asked of the gateway itself, which answers whoever asked and nobody else; and
// what `moot mcp`, which sits there, makes of them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';
import { startMoot } from './moot.mjs';

const house = ['find_resources', 'create_team', 'team_status'];
const gatewayId = 'system:gateway';
let gateway, ann, lead;

before(async () => {
    gateway = await startGateway({
        tokens: [
            person('lead', { capabilities: ['directory/query', 'team/create', 'chat'] }),
            person('finder', { capabilities: ['directory/query'] }),
            person('ann', { capabilities: ['chat', 'mcp/*'] }),
        ],
    });
    assert.equal((await gateway.request('PUT /admin/resources/r-ann', { token: gateway.adminToken(),
        json: { kind: 'human', name: 'Ann', skills: ['Python'], rate: 100, participant: 'ann' } })).status, 201);
    ann = await gateway.join('ann');
    lead = await gateway.join('lead');
});
after(() => gateway?.stop());

const question = (from, method, params, more = {}) =>
    envelope(from, `mcp/request:${method}${params?.name ? `:${params.name}` : ''}`, { to: [gatewayId], payload: { method, params }, ...more });
async function ask(client, from, method, params, more) {
    const { id } = client.send(question(from, method, params, more));

    return expect(client, (json) => json.correlation_id === id);
}
const call = async (client, from, name, args) => (await ask(client, from, 'tools/call', { name, arguments: args })).payload;

test('in the room: the gateway lists what one may use, and answers like an owner of tools', async () => {
    const listed = await ask(lead, 'lead', 'tools/list', undefined, { payload: { jsonrpc: '2.0', id: 7, method: 'tools/list' } });

    assert.equal(listed.from, gatewayId);
    assert.equal(listed.kind, 'mcp/response:tools/list');
    assert.deepEqual(listed.to, ['lead']);
    assert.deepEqual([listed.payload.jsonrpc, listed.payload.id], ['2.0', 7]);
    assert.deepEqual(listed.payload.result.tools.map(({ name }) => name), house);

    const found = await call(lead, 'lead', 'find_resources', { query: 'python' });
    assert.deepEqual(found.result.structuredContent.resources.map(({ resource }) => [resource.id, resource.rate]), [['r-ann', undefined]]);
    const { result: { structuredContent: team } } = await call(lead, 'lead', 'create_team', { name: 'Falcon', resources: ['r-ann'] });
    assert.equal(team.topic, `team-${team.team_id}`);
    assert.equal((await call(lead, 'lead', 'team_status', { team_id: team.team_id })).result.structuredContent.name, 'Falcon');
    const within = await call(lead, 'lead', 'find_resources', { team: team.team_id });
    assert.deepEqual(within.result.structuredContent.resources.map(({ resource }) => resource.id), ['r-ann']);
    const foreign = await call(lead, 'lead', 'team_status', { team_id: 't-0000000000000000' });
    assert.equal(foreign.result.isError, true);
});

test('in the room: nobody else sees question or answer', async () => {
    await call(lead, 'lead', 'find_resources', { query: 'nobody-hears-this' });
    lead.chat('the end');
    const seen = [];
    for (;;) {
        const json = await ann.next();

        seen.push(json);
        if (json.payload?.text === 'the end')
            break;
    }
    assert.deepEqual(seen.filter((json) => json.kind.startsWith('mcp/') || JSON.stringify(json).includes('nobody-hears-this')), []);
});

test('in the room: whoever has not the right finds no such tool, whatever else he may', async () => {
    assert.deepEqual((await ask(ann, 'ann', 'tools/list')).payload.result.tools, []);
    for (const name of [...house, 'room_chat', 'nothing'])
        assert.equal((await call(ann, 'ann', name, {})).error.code, -32602, name);
    const finder = await gateway.join('finder');

    assert.deepEqual((await ask(finder, 'finder', 'tools/list')).payload.result.tools.map(({ name }) => name), ['find_resources', 'team_status']);
    assert.equal((await call(finder, 'finder', 'create_team', { name: 'A', resources: ['r-ann'] })).error.code, -32602);
    await finder.close();
});

test('in the room: what cannot be answered is refused', async () => {
    assert.equal((await ask(lead, 'lead', 'resources/list')).payload.error.code, -32601);
    assert.match((await call(lead, 'lead', 'create_team', { name: 'A' })).result.content[0].text, /resources/);
    for (const [what, field, more] of [
        ['a fulfilment', 'correlation_id', { correlation_id: 'p-1' }],
        ['a rule', 'rule', { rule: 'r-1' }],
        ['another method than the kind says', 'payload.method', { payload: { method: 'tools/list' } }],
    ]) {
        const error = await ask(lead, 'lead', 'tools/call', { name: 'find_resources' }, more);

        assert.equal(error.kind, 'system/error', what);
        assert.equal(error.payload.field, field, what);
    }
    // With somebody else it is a request like any other, and takes a capability.
    const both = await ask(lead, 'lead', 'tools/call', { name: 'find_resources' }, { to: [gatewayId, 'ann'] });
    assert.equal(both.payload.error, 'capability_violation');
    const posted = await gateway.request('POST /topics/lobby/messages', { token: 'lead-token', json: question('lead', 'tools/list') });
    assert.equal(posted.status, 400, posted.text);
    assert.match(posted.text, /posted/);
});

test('in the room: in dots as well', async () => {
    const dotted = await gateway.join('lead', { dialect: 'dotted', isPresent: true });
    const { id } = dotted.send({ ...envelope('lead', 'mcp.request.tools/call:find_resources'), protocol: 'mcpx/draft', to: [gatewayId],
        payload: { method: 'tools/call', params: { name: 'find_resources', arguments: { query: 'python' } } } });
    const answer = await expect(dotted, (json) => json.correlation_id === id);

    assert.equal(answer.kind, 'mcp.response.tools/call:find_resources');
    assert.equal(answer.payload.result.structuredContent.resources[0].resource.id, 'r-ann');
    await dotted.close();
});

test('moot mcp: the directory is among its tools', async () => {
    const run = startMoot(gateway, 'lead', ['mcp', 'lobby']);
    let count = 0;
    const say = async (method, params) => {
        const id = ++count;

        run.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
        for (;;) {
            const message = JSON.parse(await run.line());

            if (message.id === id)
                return message.result;
        }
    };

    await say('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'peer', version: '1' } });
    run.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    const { tools } = await say('tools/list');
    assert.deepEqual(tools.map(({ name }) => name).filter((name) => house.includes(name)), house);
    const { structuredContent: { resources } } = await say('tools/call', { name: 'find_resources', arguments: { query: 'python' } });
    assert.deepEqual(resources.map(({ resource }) => resource.id), ['r-ann']);
    const { structuredContent: team } = await say('tools/call', { name: 'create_team', arguments: { name: 'By stdio', resources: ['r-ann'] } });
    assert.equal((await say('tools/call', { name: 'team_status', arguments: { team_id: team.team_id } })).structuredContent.name, 'By stdio');
    assert.match((await say('tools/call', { name: 'team_status', arguments: { team_id: 'x' } })).content[0].text, /no such team/);
    run.child.stdin.end();
    assert.equal((await run.ended()).status, 0);
});
