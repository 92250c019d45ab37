// SPDX-License-Identifier: Apache-2.0
// D17: who sees what. `to` is an address, not a secret; directed members see less.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, expectOnly, people, person, startGateway } from './gateway.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [...people('alice', 'bob', 'carol', 'tool', 'human'),
            person('agent', { capabilities: ['mcp/proposal:*', 'chat'] })],
        compression_min: 0,
    });
});
after(() => gateway.stop());

const isPresent = true; // joins whose own join is not announced again

// Members that have settled: what they get from now on was sent from now on.
async function room(topic, ...members) {
    const clients = [];

    for (const [id, options = {}] of members)
        clients.push(await gateway.join(id, { topic, ...options }));
    await settle(clients, clients[0]);
    return clients;
}

async function settle(clients, sender) {
    const { id } = sender.chat('settled');

    for (const client of clients)
        await expect(client, (json) => json.id === id);
}

// Takes frames until the fence and gives their ids.
async function until(client, fence) {
    const ids = [];

    for (;;) {
        const { id } = await client.next('the fence');
        if (id === fence.id)
            return ids;
        ids.push(id);
    }
}

const directed = { routing: 'directed' };

test('D17: all members see every envelope, directed ones broadcasts and what names them', async () => {
    const [alice, bob, carol, tool] = await room('who', ['alice'], ['bob'], ['carol', directed], ['tool', directed]);
    const toAll = alice.chat('all');
    const toNone = alice.chat('empty list', { to: [] });
    const toCarol = alice.chat('carol', { to: ['carol'] });
    const toBoth = alice.chat('both', { to: ['carol', 'tool', 'carol'] });
    const toNobody = alice.chat('nobody here', { to: ['nobody'] });
    const toSelf = alice.chat('self', { to: ['alice'] });
    const fence = alice.chat('fence');
    const all = [toAll, toNone, toCarol, toBoth, toNobody, toSelf].map(({ id }) => id);

    assert.deepEqual(await until(alice, fence), all);
    assert.deepEqual(await until(bob, fence), all, '`to` is no secret');
    assert.deepEqual(await until(carol, fence), [toAll, toNone, toCarol, toBoth].map(({ id }) => id));
    assert.deepEqual(await until(tool, fence), [toAll, toNone, toBoth].map(({ id }) => id));
    await Promise.all([alice, bob, carol, tool].map((client) => client.close()));
});

test('D17: of one id\'s connections each gets what its own routing says, once', async () => {
    const [alice, laptop, phone, watch] = await room('mixed', ['alice'], ['bob'], ['bob', { ...directed, isPresent }],
        ['bob', { ...directed, isPresent, ws: { perMessageDeflate: false } }]);
    const toCarol = alice.chat('carol', { to: ['carol'] });
    const toBob = alice.chat('bob', { to: ['bob'] });
    const fence = alice.chat('fence');

    assert.deepEqual(await until(laptop, fence), [toCarol.id, toBob.id]);
    assert.deepEqual(await until(phone, fence), [toBob.id]);
    assert.deepEqual(await until(watch, fence), [toBob.id]);
    await Promise.all([alice, laptop, phone, watch].map((client) => client.close()));
});

test('D17: routing changes with participant/routing, and nothing is lost or doubled by it', async () => {
    const [alice, bob] = await room('changing', ['alice'], ['bob']);
    const seen = [];

    for (const mode of ['directed', 'all', 'directed', 'directed', 'all']) {
        bob.send(envelope('bob', 'participant/routing', { payload: { mode } }));
        await settle([alice, bob], bob);
        alice.chat('to carol', { to: ['carol'] });
        const fence = alice.chat('fence');
        seen.push((await until(bob, fence)).filter((id) => id.startsWith('alice')).length);
        await expect(alice, ({ id }) => id === fence.id);
    }
    assert.deepEqual(seen, [0, 1, 0, 0, 1]);
    await Promise.all([alice.close(), bob.close()]);
});

// The flow of the seed's 3.2.1, with `to` of the answer as given.
async function fulfil(topic, answerTo) {
    const members = await room(topic, ['human'], ['tool', directed], ['agent', directed],
        ['agent', { ...directed, isPresent, ws: { perMessageDeflate: false } }], ['agent', { isPresent }], ['bob', directed]);
    const [human, tool, phone, watch, laptop, bob] = members;
    const call = { method: 'tools/call', params: { name: 'dig', arguments: {} } };
    const proposal = phone.send(envelope('agent', 'mcp/proposal:tools/call:dig', { to: ['tool'], payload: call }));
    await expect(human, ({ id }) => id === proposal.id);
    const request = human.send(envelope('human', 'mcp/request:tools/call:dig',
        { to: ['tool'], correlation_id: proposal.id, payload: { jsonrpc: '2.0', id: 1, ...call } }));
    await expect(tool, ({ id }) => id === request.id);
    // Spaces and order of its own: the bytes must come through.
    const answer = `{ "payload":{"result" : {}}, "id":"answer-${topic}", "from":"tool",${answerTo ?
        ` "to":${JSON.stringify(answerTo)},` : ''} "kind":"mcp/response:tools/call:dig",  ` +
        `"correlation_id":"${request.id}", "protocol":"mcpx/v0.1" }`;
    tool.send(answer);
    await expect(human, ({ id }) => id === `answer-${topic}`);
    const second = tool.send(envelope('tool', 'mcp/response:tools/call:dig',
        { to: ['human'], correlation_id: request.id, payload: { result: {} } }));
    await expect(human, ({ id }) => id === second.id);
    const fence = human.chat('fence');
    for (const client of members)
        await expect(client, ({ id }) => id === fence.id);
    const got = (client) => client.frames.filter(({ json }) => json.id === `answer-${topic}`).map(({ text }) => text);
    return { members, request, answer, second, got, phone, watch, laptop, bob, tool };
}

for (const [name, answerTo] of Object.entries({ 'without her': ['human'], 'with her': ['human', 'agent'], nobody: ['nobody'] }))
    test(`D17: a fulfilment and its answer reach the proposer's directed connections (to ${name})`, async () => {
        const { members, request, answer, second, got, phone, watch, laptop, bob } =
            await fulfil(`fulfil-${name.replace(/ /g, '-')}`, answerTo);

        for (const client of [phone, watch, laptop]) {
            assert.equal(client.frames.filter(({ json }) => json.id === request.id).length, 1, 'else nobody could tell what the answer is to');
            assert.deepEqual(got(client), [answer], 'the same bytes, exactly once');
        }
        assert.ok(!bob.frames.some(({ json }) => json.id === request.id));
        assert.deepEqual(got(bob), [], 'others do not see it');
        assert.ok(!phone.frames.some(({ json }) => json.id === second.id), 'only the answer, nothing later');
        await Promise.all(members.map((client) => client.close()));
    });

test("D17: decisions reach the proposer's directed connections, whoever else they are for", async () => {
    const [human, agent, bob] = await room('decided', ['human'], ['agent', directed], ['bob', directed]);
    const proposal = agent.send(envelope('agent', 'mcp/proposal:tools/list', { payload: { method: 'tools/list' } }));

    await expect(human, ({ id }) => id === proposal.id);
    const [approval, rejection] = ['approve', 'reject'].map((word) => human.send(envelope('human', `mcp/${word}`,
        { to: ['tool'], correlation_id: proposal.id })));
    await expect(agent, ({ id }) => id === approval.id);
    await expect(agent, ({ id }) => id === rejection.id);
    await expect(bob, ({ id }) => id === proposal.id);
    for (const state of ['open', 'rejected']) { // what the gateway says of it is for all
        const { kind, payload } = await bob.next('what became of it');
        assert.deepEqual([kind, payload.state], ['system/proposal', state]);
    }
    await expectOnly([bob], human);
    await Promise.all([human, agent, bob].map((client) => client.close()));
});

test('D17: the answer to an ordinary request reaches nobody besides', async () => {
    const [alice, tool, bob] = await room('ordinary', ['alice'], ['tool', directed], ['bob', directed]);
    const request = alice.send(envelope('alice', 'mcp/request:tools/list', { to: ['tool'] }));

    await expect(tool, ({ id }) => id === request.id);
    const answer = tool.send(envelope('tool', 'mcp/response:tools/list',
        { to: ['alice'], correlation_id: request.id, payload: { result: {} } }));
    await expect(alice, ({ id }) => id === answer.id);
    await expectOnly([bob], alice);
    await Promise.all([alice, tool, bob].map((client) => client.close()));
});

test('D17: compressed and plain members of one room get the same texts', async () => {
    const [alice, bob, carol, tool] = await room('encodings', ['alice', { ws: { perMessageDeflate: true } }],
        ['bob', { ws: { perMessageDeflate: false } }], ['carol', { ...directed, ws: { perMessageDeflate: true } }],
        ['tool', { ...directed, ws: { perMessageDeflate: false } }]);
    const texts = ['', 'a', 'ü €', 'x'.repeat(125), 'x'.repeat(126), 'y'.repeat(65_536), 'xyz'.repeat(100_000),
        Array.from({ length: 30_000 }, (_, n) => (n * 2_654_435_761 % 2 ** 32).toString(36)).join('')];

    assert.equal(alice.socket.extensions, 'permessage-deflate');
    assert.equal(bob.socket.extensions, '');
    for (const [from, sender] of [['alice', alice], ['bob', bob]])
        for (const text of texts) {
            const sent = JSON.stringify(envelope(from, 'chat', { payload: { text } }));
            sender.send(sent);
            for (const client of [alice, bob, carol, tool]) {
                await client.next();
                assert.ok(client.latest.text === sent, `${client.id} got other bytes`);
            }
        }
    await Promise.all([alice, bob, carol, tool].map((client) => client.close()));
});
