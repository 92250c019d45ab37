// SPDX-License-Identifier: Apache-2.0
// GET /admin/overview: how the gateway is doing, and was.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';
import { until } from './processes.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({ tokens: [
        person('ann', { type: 'human', profile: 'human' }), person('root', { profile: 'admin' }),
        person('tool', { profile: 'bridge' }), person('bot', { capabilities: ['mcp/proposal:*', 'mcp/withdraw', 'chat'] }),
    ] });
});
after(() => gateway.stop());

async function overview() {
    const { status, json } = await gateway.request('GET /admin/overview', { token: 'root-token' });

    assert.equal(status, 200);
    return json;
}

test('it is for administrators', async () => {
    assert.equal((await gateway.request('GET /admin/overview')).status, 401);
    assert.equal((await gateway.request('GET /admin/overview', { token: 'ann-token' })).status, 403);
});

test('what is done is counted, in all and in the minute that runs', async () => {
    const before = await overview();
    const ann = await gateway.join('ann', { topic: 'one' });
    const bot = await gateway.join('bot', { topic: 'two' });
    const propose = () => envelope('bot', 'mcp/proposal:tools/call:rm', { payload: { method: 'tools/call', params: { name: 'rm' } } });
    const [first, second, third] = [propose(), propose(), propose()];

    for (let i = 0; i < 5; i++)
        ann.chat('hello');
    bot.send(envelope('bot', 'mcp/request:tools/call:rm'));
    for (const one of [first, second, third]) {
        bot.send(one);
        await expect(bot, (json) => json.id === one.id);
    }
    assert.equal((await gateway.post('ann-token', 'two', envelope('ann', 'mcp/reject', { correlation_id: first.id }))).status, 200);
    bot.send(envelope('bot', 'mcp/withdraw', { correlation_id: second.id }));
    let now;

    await until(async () => (now = await overview()).messages - before.messages === 10 && now.proposals.withdrawn === 1, () => JSON.stringify(now));
    assert.deepEqual(now.proposals, { open: 1, opened: 3, fulfilled: 0, rejected: 1, withdrawn: 1, expired: 0 });
    assert.equal(now.refused - before.refused, 1);
    assert.deepEqual(now.refusals, { ...before.refusals, capability_violation: 1 });
    assert.equal(now.members, 2);
    assert.equal(now.websockets, 2);
    assert.ok(now.topics >= 2 && now.connections >= 3 && now.workers >= 1);
    assert.ok(now.memory_bytes > 1 << 20);
    assert.equal(now.store.failing, false);
    assert.ok(now.store.disk_bytes > 0);
    assert.match(now.record.head, /^\d+:[0-9a-f]{64}$/);
    assert.equal(now.cluster, null);
    for (const series of ['minutes', 'five_minutes']) {
        const beats = now.history[series];

        assert.ok(beats.length >= 1 && beats.length <= 3);
        const sum = (name) => beats.reduce((all, beat) => all + beat[name], 0);

        assert.equal(sum('messages'), now.messages);
        assert.equal(sum('refused'), now.refused);
        assert.equal(sum('opened'), 3);
        assert.equal(sum('decided'), 1, 'what is withdrawn was not decided');
        assert.equal(beats.at(-1).waiting, 1);
        assert.ok(beats.some((beat) => beat.decided && beat.p50_ms >= 0 && beat.p95_ms >= beat.p50_ms));
    }
    const metrics = (await gateway.request('GET /metrics')).text;

    assert.match(metrics, /^moot_proposals_opened_total 3$/m);
    assert.match(metrics, /^moot_proposals_open 1$/m);
});

test('what a rule let through is decided, and says nothing of how long people take', async () => {
    const payload = { method: 'tools/call', params: { name: 'ls', arguments: {} } };
    const say = async (from, kind, more) => {
        const said = envelope(from, kind, more);
        const { status, text } = await gateway.post(`${from}-token`, 'ruled', said);

        assert.equal(status, 200, text);
        return said.id;
    };
    const decided = ({ history }) => history.five_minutes.reduce((all, beat) => all + beat.decided, 0);
    const own = await startGateway({ tokens: [person('ann', { profile: 'human' }), person('root', { profile: 'admin' }), person('orc', { profile: 'orchestrator' }), person('tool', { profile: 'bridge' }), person('bot', { capabilities: ['mcp/proposal:*'] })] });
    const other = gateway;

    gateway = own;
    try {
        await say('ann', 'rule/add', { payload: { rule: { topic: 'ruled', proposer: 'bot', method: 'tools/call', tool: 'ls', to: 'tool', budget: 5, arguments: {} } } });
        const [{ id }] = (await gateway.request('GET /topics/ruled/rules', { token: 'ann-token' })).json.rules;
        const about = await say('bot', 'mcp/proposal:tools/call:ls', { to: ['tool'], payload });

        await say('orc', 'mcp/request:tools/call:ls', { to: ['tool'], correlation_id: about, payload, rule: id });
        let now;

        await until(async () => decided(now = await overview()) === 1, () => JSON.stringify(now));
        assert.equal(now.proposals.fulfilled, 1);
        assert.ok(now.history.minutes.every((beat) => beat.p50_ms === undefined && beat.p95_ms === undefined));
    } finally {
        gateway = other;
        await own.stop();
    }
});

test('a call that nobody authorized in its time waits no more', async () => {
    const tool = await gateway.join('tool', { topic: 'three' });
    const params = { id: 'auth-1', tool: 'rm', requester: 'bot', expiresAt: new Date(Date.now() + 2000).toISOString() };
    const { id } = tool.send(envelope('tool', 'mcp/request:notifications/authorization/request', {
        payload: { method: 'notifications/authorization/request', params } }));

    await expect(tool, (json) => json.id === id);
    assert.equal((await overview()).authorizations, 1);
    await until(async () => (await overview()).authorizations === 0, 'it is over');
    assert.match((await gateway.request('GET /metrics')).text, /^moot_authorizations_open 0$/m);
});
