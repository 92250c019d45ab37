// SPDX-License-Identifier: Apache-2.0
// Rules in use, over real connections: what passes by one and what does not, what is counted and
// recorded, what suspends it, and what a restart must not lose.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { breakDisk, mendDisk, recorded } from './audit.mjs';
import { envelope, expect, patience, person, startGateway } from './gateway.mjs';
import { offering, sdkClient, textIn } from './mcp-room.mjs';

const human = (id) => person(id, {
    type: 'human', capabilities: ['mcp/*', 'chat', 'topic/set', 'rule/add', 'rule/disable', 'rule/enable', 'rule/remove'],
});
const config = {
    limits: { rate_messages: 0 },
    mcp: { room_tools: 'off' },
    servers: { shelf: offering('shelf', { tools: ['look'] }, { topic: 'door' }) },
    topics: {
        named: {
            exact: { proposals: 'exact' }, free: { proposals: 'free' }, two: { quorum: 2 }, sure: { audit: 'required' },
        },
    },
    policy: [{ outcome: 'ask', kind: 'mcp/request:tools/call:*', topics: ['asks'] }],
    tokens: [
        human('ann'), human('ben'), person('boss', { profile: 'admin' }),
        person('files', { type: 'service', capabilities: ['mcp/response:*', 'chat'] }),
        person('bot', { capabilities: ['mcp/proposal:*', 'mcp/request:tools/list', 'mcp/response:*', 'chat'] }), person('guy'),
        person('orc', { profile: 'orchestrator' }), person('org', { profile: 'orchestrator' }),
        person('agent', { capabilities: ['mcp/*', 'rule/use', 'chat'] }),
    ],
};
const payload = (path) => ({ method: 'tools/call', params: { name: 'write', arguments: { path } } });
const rule = (topic, more = {}) => ({
    topic, proposer: 'bot', method: 'tools/call', tool: 'write', to: 'files', budget: 20,
    arguments: { path: { under: '/srv/app', characters: 'a-z 0-9', max_bytes: 60, depth: 2 } }, ...more,
});
let gateway;
let topics = 0;

// A topic of its own, with a rule that a person has added; the calls are those of its members.
async function room({ name = `t${++topics}`, more = {} } = {}) {
    const say = async (from, kind, rest = {}) => {
        const sent = envelope(from, kind, rest);
        const { status, json } = await gateway.post(`${from}-token`, name, sent);

        return { id: sent.id, sent, status, ...json };
    };
    const passes = async (...of) => {
        const told = await say(...of);

        assert.equal(told.status, 200, JSON.stringify(told));
        return told.id;
    };
    const rules = async () => (await gateway.request(`GET /topics/${name}/rules`, { token: 'ann-token' })).json;
    const add = async (what) => {
        const had = (await rules()).rules.map(({ id }) => id);

        await passes('ann', 'rule/add', { payload: { rule: rule(name, what) } });
        return (await rules()).rules.find(({ id }) => !had.includes(id)).id;
    };
    const id = await add(more);

    return {
        name, id, say, passes, rules, add,
        held: async (one = id) => (await rules()).rules.find((each) => each.id === one),
        proposal: async (one) => (await gateway.request(`GET /topics/${name}/proposals?state=all&id=${one}`, { token: 'ann-token' })).json.proposals[0],
        propose: (path = '/srv/app/x', rest = {}) =>
            passes('bot', 'mcp/proposal:tools/call:write', { to: ['files'], payload: payload(path), ...rest }),
        use: (about, rest = {}, from = 'orc') => say(from, 'mcp/request:tools/call:write',
            { to: ['files'], correlation_id: about, payload: payload('/srv/app/x'), rule: id, ...rest }),
        reject: (from, about, reason) => say(from, 'mcp/reject', { correlation_id: about, payload: reason ? { reason } : {} }),
        set: (settings) => passes('ann', 'topic/set', { payload: settings }),
    };
}

test('rules in use', async (t) => {
    gateway = await startGateway(config, { workers: 2 });

    await t.test('a rule fulfils a proposal, in both spellings, and the room and the record know by what', async () => {
        const it = await room();

        for (const [dialect, kind, protocol] of [['slash', 'mcp/request:tools/call:write', 'mcpx/v0.1'],
            ['dotted', 'mcp.request.tools/call:write', 'mcpx/draft']]) {
            const [orc, bot] = await Promise.all([gateway.join('orc', { topic: it.name, dialect }),
                gateway.join('bot', { topic: it.name, routing: 'directed' })]);
            const about = await it.propose();
            const sent = { ...envelope('orc', kind, { to: ['files'], correlation_id: about, payload: payload('/srv/app/x'), rule: it.id }), protocol };

            orc.send(sent);
            assert.equal((await expect(bot, ({ id }) => id === sent.id)).rule, it.id, 'the proposer hears it');
            const told = (await expect(bot, ({ kind: of, correlation_id: to }) => of === 'system/proposal' && to === about)).payload;
            assert.deepEqual([told.state, told.by, told.rule], ['fulfilled', 'orc', it.id]);
            const { state, by, rule: named } = await it.proposal(about);
            assert.deepEqual([state, by, named], ['fulfilled', 'orc', it.id]);
            const line = await recorded(gateway, ({ id }) => id === sent.id);
            assert.deepEqual([line.verdict, line.by], ['allowed', `rule:${it.id}`]);
            const answer = await it.say('files', 'mcp/response:tools/call:write', { correlation_id: sent.id, to: ['orc'], payload: { result: {} } });
            assert.equal(answer.status, 200);
            await expect(bot, ({ id }) => id === answer.id);
            await Promise.all([orc.close(), bot.close()]);
        }
        const { uses, used_this_hour: lately, last_use: last } = await it.held();
        assert.deepEqual([uses, lately], [2, 2]);
        assert.ok(Math.abs(Date.parse(last) - Date.now()) < 60_000);
    });

    await t.test('what is not just that is refused, by either door, and costs nothing', async () => {
        for (const name of [undefined, 'exact', 'free']) {
            const it = await room({ name });
            const about = await it.propose();
            const refused = async (error, rest, from) => {
                const told = await it.use(about, rest, from);

                assert.equal(told.error, error, JSON.stringify([rest, told]));
                return told;
            };

            assert.equal((await refused('capability_violation', {}, 'guy')).capability, 'rule/use');
            assert.equal((await refused('capability_violation', { rule: undefined })).field, 'kind');
            await refused('argument_mismatch', { payload: payload('/srv/app/y') });
            await refused('proposal_state', { edited: true });
            await refused('rule_state', { to: ['guy'] });
            await refused('rule_state', { to: [] });
            await refused('rule_state', { correlation_id: undefined });
            await refused('rule_state', { correlation_id: 'nothing' });
            await refused('rule_state', { kind: 'mcp/request:tools/call' });
            await refused('rule_state', { kind: 'chat' });
            await refused('malformed_envelope', { rule: [it.id] });
            assert.deepEqual([(await refused('rule_state', { rule: 'r-none' })).state, (await refused('rule_state', { rule: 'r-none' })).rule], ['unknown', 'r-none']);
            const other = await it.propose('/etc/passwd');
            const { error, rule: named, state, path } = await it.use(other, { payload: payload('/etc/passwd') });
            assert.deepEqual([error, named, state, path], ['rule_state', it.id, 'active', 'arguments.path']);
            const twice = JSON.stringify(envelope('orc', 'mcp/request:tools/call:write', { to: ['files'], correlation_id: about,
                rule: it.id, payload: payload('/srv/app/x') })).replace('"path"', '"path":"/etc/passwd","path"');
            const { json } = await gateway.request(`POST /topics/${it.name}/messages`,
                { token: 'orc-token', headers: { 'content-type': 'application/json' }, body: twice });
            assert.equal(json.error, 'kind_payload_mismatch');
            const orc = await gateway.join('orc', { topic: it.name });
            const bad = envelope('orc', 'mcp/request:tools/call:write', { to: ['files'], correlation_id: about, payload: payload('/srv/app/x'), rule: 'r-none' });
            orc.send(bad);
            const { payload: told } = await expect(orc, ({ kind, correlation_id: to }) => kind === 'system/error' && to === bad.id);
            assert.deepEqual([told.error, told.rule, told.state, told.field], ['rule_state', 'r-none', 'unknown', 'rule']);
            await orc.close();
            assert.equal((await it.held()).uses, 0);
            assert.equal((await it.proposal(about)).state, 'open');
            assert.equal((await it.use(about)).status, 200);
            assert.equal((await it.use(about)).error, 'proposal_state', 'once, in every mode');
            assert.equal((await it.held()).uses, 1);
        }
    });

    await t.test('where several must agree a rule does not', async () => {
        const it = await room({ name: 'two' });
        const about = await it.propose();
        const { error, needed, given } = await it.use(about);

        assert.deepEqual([error, needed, given], ['proposal_state', 2, 0]);
        assert.equal((await it.held()).uses, 0);
    });

    await t.test('many try at once and the same again: one passes, and one use is counted', async () => {
        const it = await room();

        for (let round = 1; round <= 5; round++) {
            const about = await it.propose();
            const tries = await Promise.all(Array.from({ length: 12 }, (_, i) => it.use(about, {}, i % 2 ? 'orc' : 'org')));
            const passed = tries.filter(({ status }) => status === 200);

            assert.equal(passed.length, 1);
            assert.ok(tries.every(({ status, error }) => status === 200 || error === 'proposal_state'));
            const again = await gateway.post(`${passed[0].sent.from}-token`, it.name, passed[0].sent);
            assert.equal(again.status, 200, 'the same bytes are no second one');
            assert.equal((await it.held()).uses, round);
        }
    });

    await t.test('a budget is what is admitted within the hour', async () => {
        const it = await room({ more: { budget: 2 } });

        for (let i = 0; i < 2; i++)
            assert.equal((await it.use(await it.propose())).status, 200);
        const told = await it.use(await it.propose());
        assert.deepEqual([told.error, told.state], ['rule_state', 'used up']);
        assert.ok(told.retry_after_ms > 3_000_000 && told.retry_after_ms <= 3_660_000);
        const { uses, used_this_hour: lately } = await it.held();
        assert.deepEqual([uses, lately], [2, 2]);
    });

    await t.test('automation is off at once, and only that', async () => {
        const it = await room();
        const about = await it.propose();
        const orc = await gateway.join('orc', { topic: it.name });
        const sent = envelope('orc', 'mcp/request:tools/call:write', { to: ['files'], correlation_id: about, payload: payload('/srv/app/x'), rule: it.id });

        await it.set({ automation: 'off' });
        orc.send(sent);
        const { payload: told } = await expect(orc, ({ kind, correlation_id: to }) => kind === 'system/error' && to === sent.id);
        assert.deepEqual([told.error, told.state], ['rule_state', 'off']);
        assert.equal((await it.held()).uses, 0);
        await it.passes('ann', 'mcp/request:tools/call:write', { to: ['files'], correlation_id: about, payload: payload('/srv/app/x') });
        await it.set({ automation: 'on' });
        assert.equal((await it.use(await it.propose())).status, 200);
        await orc.close();
    });

    await t.test('for ask and the brake a rule is a person\'s word, and an agent is none', async () => {
        for (const [name, brake] of [['asks', 'off'], [undefined, 'on']]) {
            const it = await room({ name });

            await it.set({ brake });
            for (const from of ['orc', 'agent']) {
                const about = await it.propose();

                assert.equal((await it.use(about, { rule: undefined }, 'agent')).policy, brake === 'on' ? 'brake' : 'ask');
                assert.equal((await it.use(about, {}, from)).status, 200);
            }
            await it.set({ automation: 'off' });
            assert.equal((await it.use(await it.propose(), {}, 'agent')).error, 'rule_state');
        }
    });

    await t.test('a person\'s no suspends what covers it, until a person enables it', async () => {
        const it = await room();
        const wide = await it.add({ to: '*' });
        const aside = await it.add({ tool: 'read' });
        const ben = await gateway.join('ben', { topic: it.name });
        const first = await it.propose();

        assert.equal((await it.reject('guy', first)).status, 200);
        assert.equal((await it.held()).state, 'active', 'an agent\'s is none');
        const about = await it.propose();
        const { id: no } = await it.reject('ben', about, 'not this');
        for (const one of [it.id, wide]) {
            const { payload: told } = await expect(ben, ({ kind, correlation_id: to }) => kind === 'system/rule' && to === no);
            assert.deepEqual([told.rule, told.state, told.by, told.reason], [one, 'suspended', 'ben', 'not this']);
            const { state, changed_by: by, reason } = await it.held(one);
            assert.deepEqual([state, by, reason], ['suspended', 'ben', 'not this']);
        }
        assert.equal((await it.held(aside)).state, 'active');
        const next = await it.propose();
        const told = await it.use(next);
        assert.deepEqual([told.error, told.state], ['rule_state', 'suspended']);
        await it.passes('ann', 'rule/enable', { payload: { rule: it.id } });
        assert.equal((await it.use(next)).status, 200);
        await ben.close();
    });

    await t.test('a person objects to what it has let through; nobody to what a person has', async () => {
        const it = await room();
        const about = await it.propose();

        assert.equal((await it.use(about)).status, 200);
        assert.equal((await it.reject('guy', about)).error, 'proposal_state');
        assert.equal((await it.reject('orc', about)).error, 'capability_violation');
        const ann = await gateway.join('ann', { topic: it.name });
        const { id: no, status } = await it.reject('ben', about);
        assert.equal(status, 200);
        const { payload: told } = await expect(ann, ({ kind, correlation_id: to }) => kind === 'system/rule' && to === no);
        assert.deepEqual([told.rule, told.state, told.by], [it.id, 'suspended', 'ben']);
        assert.ok(!ann.frames.some(({ json }) => json.kind === 'system/proposal' && json.payload.state === 'rejected'));
        const { state, rule: named } = await it.proposal(about);
        assert.deepEqual([state, named], ['fulfilled', it.id]);
        assert.equal((await it.reject('ann', about)).status, 200, 'another joins him');
        const own = await it.propose();
        await it.passes('ann', 'mcp/request:tools/call:write', { to: ['files'], correlation_id: own, payload: payload('/srv/app/x') });
        assert.equal((await it.reject('ben', own)).error, 'proposal_state');
        await ann.close();
    });

    await t.test('what an MCP client asks for at the door comes back to it by a rule, and nobody names one there', async () => {
        const it = await room({ name: 'door', more: { tool: 'look', to: 'shelf', arguments: {} } });
        const [orc, ben] = await Promise.all(['orc', 'ben'].map((id) => gateway.join(id, { topic: 'door' })));
        const client = await sdkClient(gateway, 'bot', { topic: 'door' });

        await client.shows('look');
        const answer = client.call('look');
        const proposal = await expect(orc, ({ kind }) => kind === 'mcp/proposal:tools/call:look');
        const { from: proposer, id: about, to, payload: { method, params } } = proposal;
        assert.equal(proposer, 'bot');
        const sent = envelope('orc', 'mcp/request:tools/call:look', { to, correlation_id: about, rule: it.id, payload: { jsonrpc: '2.0', id: 1, method, params } });
        orc.send(sent);
        await expect(ben, ({ id }) => id === sent.id);
        ben.send(envelope('ben', 'mcp/reject', { correlation_id: about, payload: {} })); // too late for this one
        assert.match(textIn(await answer), /look/);
        assert.equal((await it.held()).uses, 1);
        assert.equal((await expect(ben, ({ kind }) => kind === 'system/rule')).payload.state, 'suspended');
        const other = await sdkClient(gateway, 'orc', { topic: 'door' }); // holds rule/use, and no call is one
        await assert.rejects(async () => { const { isError } = await other.call('look', { rule: it.id }); assert.ok(!isError); });
        await Promise.all([client.close(), other.close(), orc.close(), ben.close()]);
    });

    await t.test('what waits for the disk is spent once, and what cannot be recorded not at all', async () => {
        const failing = async () => (await gateway.request('GET /metrics', { token: 'boss-token' })).text.match(/^moot_store_failing(?:{.*?})? (\d)/m)[1];
        const until = async (value) => { for (const end = Date.now() + patience; await failing() !== value;) assert.ok(Date.now() < end); };
        const it = await room({ name: 'sure' });
        const [held, late] = [await it.propose(), await it.propose()];
        const ann = await gateway.join('ann', { topic: it.name });

        await breakDisk(gateway);
        const waiting = it.use(held);
        await until('1');
        assert.equal((await it.use(late)).error, 'unavailable');
        assert.equal((await it.use(held)).error, 'unavailable');
        assert.ok(!ann.frames.some(({ json }) => json.correlation_id === held), 'nobody has heard of it');
        await mendDisk(gateway);
        assert.equal((await waiting).status, 200);
        await until('0');
        await expect(ann, ({ kind, correlation_id: to }) => kind === 'system/proposal' && to === held);
        assert.equal((await it.held()).uses, 1);
        assert.equal((await it.use(late)).status, 200);
        assert.equal((await it.held()).uses, 2);
        await ann.close();
    });
    await gateway.stop();
});

test('a restart loses neither a use, nor a rule of a proposal, nor a suspension', async () => {
    gateway = await startGateway(config, { workers: 2 });
    const it = await room({ more: { budget: 3 } });
    const done = await it.propose();
    const open = await it.propose();

    assert.equal((await it.use(done)).status, 200);
    await gateway.kill();
    gateway = await gateway.restart({ workers: 1 });
    assert.match(gateway.stderr(), /state\.restore .*rules=1 skipped=0/);
    assert.deepEqual([(await it.held()).uses, (await it.held()).used_this_hour], [1, 1]);
    assert.equal((await it.proposal(done)).rule, it.id);
    assert.equal((await it.use(done)).error, 'proposal_state', 'it is not fulfilled again');
    assert.equal((await it.use(open)).status, 200, 'what was open is');
    assert.equal((await it.reject('ben', done, 'not that')).status, 200);
    await gateway.kill();
    gateway = await gateway.restart({ workers: 3 });
    const { state, reason, uses } = await it.held();
    assert.deepEqual([state, reason, uses], ['suspended', 'not that', 2]);
    assert.equal((await it.use(await it.propose())).state, 'suspended');
    await it.passes('ann', 'rule/enable', { payload: { rule: it.id } });
    assert.equal((await it.use(await it.propose())).status, 200);
    assert.equal((await it.use(await it.propose())).state, 'used up', 'the hour goes on');
    await gateway.stop();
});
