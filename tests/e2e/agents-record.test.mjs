// SPDX-License-Identifier: Apache-2.0
// What agents at /agents did stands in the record: who came, with which token and from where, what was refused, what
// became of teams.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { codeOf, connect, message, subscribe } from './agents.mjs';
import { readRecord, recorded } from './audit.mjs';
import { person, startGateway } from './gateway.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [person('scout', { profile: 'directory' }), person('poor', { capabilities: ['chat'] })],
        limits: { login_failures: 0 },
    });
    await gateway.request('PUT /admin/resources/r-1', { token: gateway.adminToken(), json: { kind: 'human', name: 'Ann', participant: 'ann' } });
});
after(() => gateway?.stop());

test('an agent that comes and goes', async () => {
    const agent = await subscribe(gateway, 'scout');
    const came = await recorded(gateway, ({ event, participant }) => event === 'connect' && participant === 'scout');

    assert.deepEqual([came.kind, came.topic, came.verdict, came.body.address], ['agent', undefined, 'allowed', '127.0.0.1']);
    assert.ok(came.body.token);
    await agent.ask('CONTEXT_SUBSCRIBE', { authentication_token: 'scout-token', teams: ['t'] });
    await agent.close();
    const left = await recorded(gateway, ({ event, id }) => event === 'disconnect' && id === came.id);
    assert.deepEqual([left.kind, left.participant, left.body.code], ['left', 'scout', 1000]);
    const { records } = await readRecord(gateway.data);
    assert.equal(records.filter(({ event, id }) => event === 'connect' && id === came.id).length, 1, 'the same token is no news');
});

test('one that is lost', async () => {
    const agent = await subscribe(gateway, 'scout');

    agent.socket.terminate();
    await recorded(gateway, ({ event, kind, participant }) => event === 'disconnect' && kind === 'lost' && participant === 'scout');
});

test('a request without the right to it', async () => {
    const agent = await subscribe(gateway, 'poor');
    const sent = message('poor', 'RESOURCE_QUERY', { query: '' });

    assert.equal(codeOf(await agent.answer(agent.send(sent))), 'FORBIDDEN');
    const refused = await recorded(gateway, ({ id }) => id === sent.message_id);
    assert.deepEqual([refused.event, refused.kind, refused.participant, refused.verdict], ['refusal', 'RESOURCE_QUERY', 'poor', 'forbidden']);
    await agent.close();
});

test('a team that is made here and changed elsewhere', async () => {
    const agent = await subscribe(gateway, 'scout');
    const { payload: { data: { team_id: id, topic } } } = await agent.ask('TEAM_CREATE', { team_name: 'Phoenix', member_resource_ids: ['r-1'], contract_id: 'c-1' });
    const made = await recorded(gateway, ({ kind, topic: of }) => kind === 'team.created' && of === topic);

    assert.deepEqual([made.event, made.participant, made.verdict], ['admin', 'scout', 'allowed']);
    assert.deepEqual([made.body.team_id, made.body.name, made.body.contract_id], [id, 'Phoenix', 'c-1']);
    assert.deepEqual(made.body.members.map((member) => [member.resource_id, member.participant]), [['r-1', 'ann']]);
    await gateway.request(`PATCH /teams/${id}`, { token: 'scout-token', json: { name: 'Eagle' } });
    const renamed = await recorded(gateway, ({ kind, topic: of }) => kind === 'team.renamed' && of === topic);
    assert.equal(renamed.body.name, 'Eagle');
    await agent.close();
});

test('whoever could not say who he is has done nothing; and no token stands there', async () => {
    const agent = await connect(gateway);

    agent.send(message('scout', 'CONTEXT_SUBSCRIBE', { authentication_token: 'a-wrong-token' }));
    await agent.closed();
    await (await subscribe(gateway, 'poor')).close();
    await recorded(gateway, ({ event, kind, participant }) => event === 'disconnect' && kind === 'left' && participant === 'poor');
    const { records, verify } = await readRecord(gateway.data);
    assert.doesNotMatch(JSON.stringify(records), /a-wrong-token|scout-token/);
    assert.equal(records.filter(({ event, kind, participant }) => event === 'connect' && kind === 'agent' && !participant).length, 0);
    assert.ok(verify);
});
