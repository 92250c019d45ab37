// SPDX-License-Identifier: Apache-2.0
// Open proposals survive a crash, in their order and with their envelopes; each is
// fulfilled once, whatever happens in between.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { envelope, expect, people, person, startGateway } from './gateway.mjs';

const config = {
    tokens: [...people('ann', 'bob', 'carl'), person('agent', { capabilities: ['mcp/proposal:*', 'chat'] }),
        person('other', { capabilities: ['mcp/proposal:*', 'chat'] })],
    limits: { rate_messages: 0 },
    topics: { named: { brief: { proposal_expiry: '1s' } } },
};
const topics = ['one', 'two', 'three', 'four', 'five', 'six'];
const payload = { method: 'tools/call', params: { name: 'dig', arguments: { text: 'ü \\" \u2028 \t', deep: [[[1]]] } } };

async function crash(gateway, options) {
    await gateway.kill();
    return gateway.restart(options);
}

async function say(gateway, from, topic, kind, more = {}) {
    const sent = envelope(from, kind, { payload, ...more });
    const { status, json } = await gateway.post(`${from}-token`, topic, sent);

    return { sent, error: status < 300 ? undefined : json.error, state: json.state };
}

async function passes(...of) {
    const { sent, error } = await say(...of);

    assert.equal(error, undefined);
    return sent;
}

async function refused(state, ...of) {
    const { error, state: told } = await say(...of);

    assert.deepEqual([error, told], ['proposal_state', state]);
}

const propose = (gateway, from, topic, more = {}) => passes(gateway, from, topic, 'mcp/proposal:tools/call:dig', more);
const fulfilment = 'mcp/request:tools/call:dig';
const listed = (gateway, topic) => gateway.request(`GET /topics/${topic}/proposals`, { token: 'ann-token' })
    .then(({ json }) => json.proposals);

for (const [before, after] of [[1, 1], [2, 2], [2, 1], [1, 3]]) {
    test(`open proposals are open again after a crash, ${before} workers and then ${after}`, async () => {
        let gateway = await startGateway(config, { workers: before });
        const was = {};
        const mine = {};

        for (const topic of topics) {
            mine[topic] = [];
            for (const from of ['other', 'agent', 'ann', 'agent'])
                mine[topic].push(await propose(gateway, from, topic, { to: ['tool'] }));
            was[topic] = await listed(gateway, topic);
            assert.equal(was[topic].length, 4);
        }
        for (let round = 0; round < 2; round++) {
            gateway = await crash(gateway, { workers: round ? before : after });
            for (const topic of topics) {
                assert.deepEqual(await listed(gateway, topic), was[topic]);
                assert.deepEqual(was[topic].map((one) => one.envelope), mine[topic]);
            }
        }
        for (const topic of topics) {
            const [first, second, third] = mine[topic];
            const agent = await gateway.join('agent', { topic, routing: 'directed' });

            assert.deepEqual(agent.welcome.payload.moot.proposals, was[topic]);
            assert.equal((await say(gateway, 'other', topic, 'mcp/proposal:x', { id: first.id, payload: {} })).error, 'duplicate_id');
            const done = await passes(gateway, 'bob', topic, fulfilment, { to: ['tool'], correlation_id: second.id });
            await expect(agent, ({ id }) => id === done.id); // whose proposal it was
            await refused('fulfilled', gateway, 'carl', topic, fulfilment, { to: ['tool'], correlation_id: second.id });
            await refused('open', gateway, 'ann', topic, fulfilment, { to: ['tool'], correlation_id: third.id });
            assert.deepEqual((await listed(gateway, topic)).map(({ id }) => id), mine[topic].filter((one) => one !== second).map(({ id }) => id));
        }
        await gateway.stop();
    });
}

test('what was fulfilled, withdrawn or rejected before a crash is over after it', async () => {
    let gateway = await startGateway(config);
    const [fulfilled, withdrawn, rejected, open] = await Promise.all([1, 2, 3, 4].map(() => propose(gateway, 'agent', 'room')));

    await passes(gateway, 'bob', 'room', fulfilment, { correlation_id: fulfilled.id });
    await passes(gateway, 'agent', 'room', 'mcp/withdraw', { correlation_id: withdrawn.id, payload: {} });
    await passes(gateway, 'bob', 'room', 'mcp/reject', { correlation_id: rejected.id, payload: {} });
    for (let round = 0; round < 2; round++) {
        gateway = await crash(gateway);
        assert.deepEqual((await listed(gateway, 'room')).map(({ id }) => id), [open.id]);
        await refused('fulfilled', gateway, 'carl', 'room', fulfilment, { correlation_id: fulfilled.id });
        await refused('withdrawn', gateway, 'carl', 'room', fulfilment, { correlation_id: withdrawn.id });
        await refused('rejected', gateway, 'carl', 'room', fulfilment, { correlation_id: rejected.id });
    }
    await gateway.stop();
});

test('a proposal that expires while the gateway is down is neither open nor kept', async () => {
    let gateway = await startGateway(config);

    await propose(gateway, 'agent', 'brief');
    await gateway.kill();
    await sleep(1100);
    gateway = await gateway.restart();
    assert.deepEqual(await listed(gateway, 'brief'), []);
    await propose(gateway, 'agent', 'brief');
    await propose(gateway, 'agent', 'room');
    await sleep(1100);
    assert.deepEqual(await listed(gateway, 'brief'), []);
    await propose(gateway, 'agent', 'room'); // what was noticed is on disk by now
    gateway = await crash(gateway);
    await gateway.logged(/state\.restore.*proposals=2 /);
    await gateway.stop();
});

test('an envelope of the dotted dialect comes back in both', async () => {
    let gateway = await startGateway(config);
    const agent = await gateway.join('agent', { dialect: 'dotted' });
    const sent = agent.send(envelope('agent', 'mcp.proposal.tools/call:dig', { protocol: 'mcpx/draft', payload }));
    const mine = await expect(agent, ({ id }) => id === sent.id);

    gateway = await crash(gateway);
    const again = await gateway.join('agent', { dialect: 'dotted' });
    const [one] = again.welcome.payload.moot.proposals;
    assert.equal(one.kind, 'mcp.proposal.tools/call:dig');
    assert.deepEqual(one.envelope.payload, mine.payload);
    assert.equal((await listed(gateway, 'room'))[0].kind, 'mcp/proposal:tools/call:dig');
    await gateway.stop();
});

test('what was delivered is open after a crash, and what was fulfilled is not, however soon that comes', async () => {
    let gateway = await startGateway(config);

    for (let round = 0; round < 8; round++) {
        const topic = `t${round % 3}`;
        const [agent, bob] = [await gateway.join('agent', { topic }), await gateway.join('bob', { topic })];
        const proposals = [];

        for (let i = 0; i < 20; i++)
            proposals.push(agent.send(envelope('agent', 'mcp/proposal:tools/call:dig', { payload })));
        await expect(bob, ({ id }) => id === proposals[9].id);
        const request = bob.send(envelope('bob', fulfilment, { payload, correlation_id: proposals[3].id }));
        await expect(agent, ({ id }) => id === request.id);
        const heard = bob.frames.map(({ json }) => json).filter(({ kind }) => kind === 'mcp/proposal:tools/call:dig').map(({ id }) => id);
        await gateway.kill();
        gateway = await gateway.restart();
        const open = (await listed(gateway, topic)).map(({ id }) => id);
        for (const id of heard)
            assert.equal(open.includes(id), id !== proposals[3].id);
        await refused('fulfilled', gateway, 'carl', topic, fulfilment, { correlation_id: proposals[3].id });
        for (const id of open)
            await passes(gateway, 'agent', topic, 'mcp/withdraw', { correlation_id: id, payload: {} });
    }
    await gateway.stop();
});
