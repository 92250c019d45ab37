// SPDX-License-Identifier: Apache-2.0
// Rules in a room: who may suggest, accept, narrow, decline, disable, enable and remove them, what the
// room hears, what a restart keeps, and the switch that stops all of them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';
import { missing, startPostgres } from './postgres.mjs';

const all = ['chat', 'rule/suggest', 'rule/accept', 'rule/add', 'rule/decline', 'rule/disable', 'rule/enable', 'rule/remove'];
const config = {
    limits: { rate_messages: 0, rate_bytes: 0 },
    topics: { named: { closed: { access: 'private' } } },
    tokens: [
        person('ann', { profile: 'human' }), person('ben', { profile: 'human' }), person('boss', { profile: 'admin' }),
        person('orch', { profile: 'orchestrator' }), person('bot'), person('agent', { capabilities: all }),
        person('service', { capabilities: all, type: 'service' }), person('eve', { capabilities: ['chat'] }),
    ],
};
const day = 86_400_000;
let gateway;
let count = 0;

// One that covers something else than all before; its id goes with that, and is the gateway's to make.
const rule = (more = {}) => ({
    proposer: 'bot', method: 'tools/call', tool: `write-${++count}`, to: 'files',
    arguments: { path: { under: '/srv/docs', characters: 'a-z 0-9 .', max_bytes: 40, depth: 2 }, mode: { one_of: ['w', 'a'] } }, ...more,
});
const say = (gateway, from, topic, kind, payload, more = {}) => gateway.post(`${from}-token`, topic, envelope(from, kind, { payload, ...more }));
async function passes(from, topic, kind, payload) {
    const { status, text } = await say(gateway, from, topic, kind, payload);

    assert.ok(status < 300, `${kind}: ${text}`);
}
async function refused(wanted, from, topic, kind, payload) {
    const { status, json } = await say(gateway, from, topic, kind, payload);
    const got = Object.fromEntries(Object.keys(wanted).map((key) => [key, json?.[key]]));

    assert.ok(status >= 400, `${kind} by ${from} must not pass: ${JSON.stringify(payload)}`);
    assert.deepEqual(got, wanted, JSON.stringify(json));
    return json;
}
const list = async (topic, query = '', from = 'ann', where = gateway) => {
    const { status, json, text } = await where.request(`GET /topics/${topic}/rules${query}`, { token: `${from}-token` });

    assert.equal(status, 200, text);
    return json;
};
const find = async (topic, id) => (await list(topic)).rules.find((one) => one.id === id);
const idOf = async (topic, { tool }, where = gateway) => (await list(topic, '', 'ann', where)).rules.find((one) => one.tool === tool).id;
const told = (client, id, state) => expect(client, ({ kind, payload }) => kind === 'system/rule' && payload.rule === id && (!state || payload.state === state));

// A rule in the state that is asked for: its id.
async function make(topic, state, it = rule()) {
    await passes('orch', topic, 'rule/suggest', { rule: it });
    const id = await idOf(topic, it);

    if (state === 'declined')
        await passes('ann', topic, 'rule/decline', { rule: id });
    if (['active', 'disabled'].includes(state))
        await passes('ann', topic, 'rule/accept', { rule: id });
    if (state === 'shadow')
        await passes('ann', topic, 'rule/accept', { rule: id, shadow: true });
    if (state === 'disabled')
        await passes('ann', topic, 'rule/disable', { rule: id });
    assert.equal((await find(topic, id)).state, state);
    return id;
}

before(async () => { gateway = await startGateway(config); });
after(async () => { await gateway.stop(); });

test('suggested, accepted, disabled, enabled, removed: the room hears each', async () => {
    const it = rule();
    const [ann, orch, bot] = await Promise.all(['ann', 'orch', 'bot'].map((id) => gateway.join(id, { topic: 'one' })));
    const sent = orch.send(envelope('orch', 'rule/suggest',
        { payload: { rule: { ...it, state: 'active', created_by: 'ann', created_at: '2020-01-01T00:00:00Z', accepted_by: 'ann', accepted_at: '2020-01-01T00:00:00Z' } } }));

    await expect(bot, (json) => json.id === sent.id); // the envelope itself comes first
    const event = await expect(bot, ({ kind }) => kind === 'system/rule');
    const id = event.payload.rule;
    const about = { rule: id, proposer: 'bot', method: 'tools/call', tool: it.tool };
    assert.match(id, /^r-[0-9a-f]+$/);
    assert.deepEqual([event.from, event.correlation_id, event.payload], ['system:gateway', sent.id, { ...about, state: 'suggested', by: 'orch' }]);
    const shown = await find('one', id);
    assert.deepEqual([shown.state, shown.topic, shown.created_by, shown.accepted_by, shown.accepted_at, shown.budget, shown.uses, shown.used_this_hour, shown.changed_by],
        ['suggested', 'one', 'orch', undefined, undefined, 20, 0, 0, 'orch']);
    assert.deepEqual(shown.arguments, it.arguments);
    assert.ok(Math.abs(Date.parse(shown.expires_at) - Date.now() - 30 * day) < day / 2);
    assert.ok(Math.abs(Date.parse(shown.created_at) - Date.now()) < day / 2);

    const accept = envelope('ann', 'rule/accept', { payload: { rule: id, budget: 3, expires_at: new Date(Date.now() + day).toISOString(), reason: 'docs only' } });
    ann.send(accept);
    const accepted = await told(bot, id);
    assert.deepEqual([accepted.correlation_id, accepted.payload], [accept.id, { ...about, state: 'active', by: 'ann', reason: 'docs only' }]);
    const active = await find('one', id);
    assert.deepEqual([active.state, active.accepted_by, active.created_by, active.budget], ['active', 'ann', 'orch', 3]);
    assert.ok(Date.parse(active.expires_at) < Date.now() + 2 * day);

    await passes('ann', 'one', 'rule/disable', { rule: id, reason: 'not today' });
    assert.deepEqual((await told(bot, id)).payload, { ...about, state: 'disabled', by: 'ann', reason: 'not today' });
    assert.deepEqual(((one) => [one.state, one.reason, one.changed_by])(await find('one', id)), ['disabled', 'not today', 'ann']);
    await passes('ben', 'one', 'rule/enable', { rule: id });
    assert.deepEqual((await told(bot, id)).payload, { ...about, state: 'active', by: 'ben' });
    await passes('boss', 'one', 'rule/remove', { rule: id, reason: 'done' });
    assert.deepEqual((await told(bot, id)).payload, { ...about, state: 'removed', by: 'boss', reason: 'done' });
    assert.equal(await find('one', id), undefined);
    assert.match(gateway.stderr(), new RegExp(`event=rule\\.change topic=one rule=${id} state=removed by=boss`));
});

test('what is in shadow becomes active, a person changes her mind about a declined one', async () => {
    const shadow = await make('two', 'shadow');
    const declined = await make('two', 'declined');

    await passes('ben', 'two', 'rule/accept', { rule: shadow });
    await passes('ben', 'two', 'rule/accept', { rule: declined });
    for (const id of [shadow, declined])
        assert.equal((await find('two', id)).state, 'active');
    await passes('boss', 'two', 'rule/enable', { rule: await make('two', 'shadow') });
});

test('each change has its states, and a refusal names the one that the rule is in', async () => {
    const ids = {};
    const fits = {
        'rule/accept': ['suggested', 'shadow', 'declined'], 'rule/decline': ['suggested'], 'rule/disable': ['active', 'shadow'], 'rule/enable': ['disabled', 'shadow'],
    };

    const whole = {};

    for (const state of ['suggested', 'shadow', 'active', 'disabled', 'declined'])
        ids[state] = await make('three', state, whole[state] = rule());
    for (const [kind, states] of Object.entries(fits))
        for (const [state, id] of Object.entries(ids))
            if (!states.includes(state))
                await refused({ error: 'rule_state', rule: id, state, field: 'payload.rule' }, 'ann', 'three', kind, { rule: id });
    for (const kind of ['rule/accept', 'rule/decline', 'rule/disable', 'rule/enable', 'rule/remove'])
        await refused({ error: 'not_found', field: 'payload.rule' }, 'boss', 'three', kind, { rule: 'nobody' });
    for (const state of ['shadow', 'active', 'disabled', 'declined'])
        await refused({ error: 'rule_state', rule: ids[state], state }, 'orch', 'three', 'rule/suggest', { rule: whole[state] });
    for (const state of ['shadow', 'active'])
        await refused({ error: 'rule_state', rule: ids[state], state }, 'ann', 'three', 'rule/add', { rule: whole[state] });
    await refused({ error: 'malformed_envelope', field: 'payload.rule.id' }, 'orch', 'three', 'rule/suggest', { rule: rule({ id: 'nicer' }) });
    for (const it of [whole.disabled, whole.declined, rule({ id: 'nicer' })]) {
        await passes('ann', 'three', 'rule/add', { rule: it });
        assert.deepEqual(((one) => [one.state, one.created_by, one.accepted_by])(await find('three', await idOf('three', it))), ['active', 'ann', 'ann']);
    }
    assert.equal(await idOf('three', { tool: (await find('three', 'nicer')).tool }), 'nicer');
});

test('what is suggested again brings new evidence', async () => {
    const it = rule();
    const evidence = (approved) => ({ approved, beside: 0, days: 3, last_at: `2026-01-${approved}T00:00:00Z`, people: ['ann'], examples: [`p-${approved}`] });

    await passes('orch', 'four', 'rule/suggest', { rule: { ...it, evidence: evidence(20) } });
    await passes('orch', 'four', 'rule/suggest', { rule: { ...it, evidence: evidence(25) } });
    const { rules } = await list('four');
    assert.deepEqual([rules.length, rules[0].evidence.approved, rules[0].evidence.examples], [1, 25, ['p-25']]);
    await refused({ error: 'rule_state', state: 'suggested', field: 'payload.rule.evidence' }, 'orch', 'four', 'rule/suggest', { rule: { ...it, evidence: evidence(22) } });
});

test('only humans accept, add and enable, whatever others hold', async () => {
    const suggested = await make('five', 'suggested');
    const disabled = await make('five', 'disabled');

    for (const who of ['agent', 'service']) {
        await refused({ error: 'forbidden' }, who, 'five', 'rule/accept', { rule: suggested });
        await refused({ error: 'forbidden' }, who, 'five', 'rule/accept', { rule: suggested, shadow: true });
        await refused({ error: 'forbidden' }, who, 'five', 'rule/add', { rule: rule() });
        await refused({ error: 'forbidden' }, who, 'five', 'rule/enable', { rule: disabled });
    }
    assert.deepEqual((await list('five')).rules.map(({ state }) => state).sort(), ['disabled', 'suggested']);
    await passes('agent', 'five', 'rule/suggest', { rule: rule() });
    await passes('agent', 'five', 'rule/decline', { rule: suggested });
    await passes('service', 'five', 'rule/remove', { rule: suggested });
});

test('nobody agrees to his own proposals in advance', async () => {
    const own = await make('six', 'suggested', rule({ proposer: 'ann' }));
    const off = await make('six', 'suggested', rule({ proposer: 'ann' }));

    await refused({ error: 'forbidden', field: 'from' }, 'ann', 'six', 'rule/accept', { rule: own });
    await refused({ error: 'forbidden', field: 'from' }, 'ann', 'six', 'rule/add', { rule: rule({ proposer: 'ann' }) });
    await passes('ben', 'six', 'rule/accept', { rule: off });
    await passes('ann', 'six', 'rule/disable', { rule: off });
    await refused({ error: 'forbidden', field: 'from' }, 'ann', 'six', 'rule/enable', { rule: off });
    await passes('ben', 'six', 'rule/accept', { rule: own });
});

test('each kind needs the capability of its name', async () => {
    const id = await make('seven', 'suggested');
    const kinds = ['rule/accept', 'rule/decline', 'rule/disable', 'rule/enable', 'rule/remove'];

    for (const kind of ['rule/suggest', 'rule/add'])
        await refused({ error: 'capability_violation', attempted_kind: kind }, 'eve', 'seven', kind, { rule: rule() });
    for (const kind of kinds) {
        await refused({ error: 'capability_violation', attempted_kind: kind }, 'eve', 'seven', kind, { rule: id });
        await refused({ error: 'capability_violation', attempted_kind: kind }, 'orch', 'seven', kind, { rule: id });
    }
    await refused({ error: 'capability_violation' }, 'ann', 'seven', 'rule/suggest', { rule: rule() });
    await refused({ error: 'capability_violation' }, 'ann', 'seven', 'rule/remove', { rule: id });
    await passes('orch', 'seven', 'rule/shadow', { rule: id, proposal: 'p1', would: 'fulfil' });
    await refused({ error: 'capability_violation' }, 'eve', 'seven', 'rule/shadow', { rule: id });
});

test('what is accepted may be narrower than what was suggested, and nothing else', async () => {
    const bot = await gateway.join('bot', { topic: 'eight' });
    const id = await make('eight', 'suggested');
    const wide = rule().arguments;
    const accept = (narrow, more = {}) => ({ rule: id, narrow, ...more });

    for (const narrow of [
        { ...wide, path: { ...wide.path, under: '/srv' } }, { path: wide.path }, { ...wide, mode: { one_of: ['w', 'x'] } },
        { ...wide, path: { ...wide.path, max_bytes: 41 } }, { ...wide, more: { exactly: 1 } },
    ])
        await refused({ error: 'malformed_envelope', field: 'payload.narrow', rule: id }, 'ann', 'eight', 'rule/accept', accept(narrow));
    await refused({ error: 'malformed_envelope', field: 'payload.narrow' }, 'ann', 'eight', 'rule/accept', accept({ path: { under: '/' } }));
    assert.equal((await list('eight')).rules.length, 1);

    const narrow = { path: { exactly: '/srv/docs/a.md' }, mode: { one_of: ['w', 'a'] } };
    await passes('ann', 'eight', 'rule/accept', accept(narrow, { budget: 2 }));
    const was = await told(bot, id, 'declined');
    const to = was.payload.narrowed_to;
    assert.deepEqual([was.payload.reason, was.payload.by], [`narrowed to ${to}`, 'ann']);
    const is = await told(bot, to);
    assert.deepEqual([is.payload.state, is.payload.by, is.correlation_id], ['active', 'ann', was.correlation_id]);
    const { rules } = await list('eight');
    assert.deepEqual(rules.map((one) => [one.id, one.state, one.accepted_by]), [[id, 'declined', undefined], [to, 'active', 'ann']]);
    assert.deepEqual([rules[1].arguments, rules[1].budget], [narrow, 2]);
    assert.deepEqual(rules[0].arguments, wide);
});

test('what cannot be read is refused with its field', async () => {
    for (const [payload, field] of [
        [{}, 'payload.rule'], [{ rule: 'x' }, 'payload.rule'], [{ rule: rule({ colour: 'red' }) }, 'payload.rule'],
        [{ rule: rule({ arguments: { path: { under: '/' } } }) }, 'payload.rule'], [{ rule: rule({ topic: 'other' }) }, 'payload.rule.topic'],
        [{ rule: rule({ expires_at: '2020-01-01T00:00:00Z' }) }, 'payload.rule.expires_at'],
        [{ rule: rule({ expires_at: new Date(Date.now() + 367 * day).toISOString() }) }, 'payload.rule.expires_at'],
        [{ rule: rule(), state: 'active' }, 'payload.state'],
    ]) {
        const { offset } = await refused({ error: 'malformed_envelope', field }, 'orch', 'nine', 'rule/suggest', payload);

        assert.ok(offset > 0);
    }
    for (const [payload, field] of [[{ rule: rule() }, 'payload.rule'], [{ rule: 'r', budget: 0 }, 'payload.budget'], [{ rule: 'r', shadow: 'yes' }, 'payload.shadow'],
        [{ rule: 'r', expires_at: '2020-01-01T00:00:00Z' }, 'payload.expires_at'], [{ rule: 'r', wide: true }, 'payload.wide']])
        await refused({ error: 'malformed_envelope', field }, 'ann', 'nine', 'rule/accept', payload);
    assert.deepEqual((await list('nine')).rules, []);
});

test('programs leave room for people: so many rules, so many suggestions', async () => {
    let suggested = 0;

    while ((await say(gateway, 'orch', 'ten', 'rule/suggest', { rule: rule() })).status < 300)
        assert.ok(++suggested <= 128);
    assert.equal(suggested, 128);
    await refused({ error: 'unavailable' }, 'orch', 'ten', 'rule/suggest', { rule: rule() });
    for (let i = 0; i < 128; i++)
        await passes('ann', 'ten', 'rule/add', { rule: rule() });
    await refused({ error: 'unavailable' }, 'ann', 'ten', 'rule/add', { rule: rule() });
    const { rules } = await list('ten', '?state=suggested');
    assert.equal(rules.length, 128);
    await passes('boss', 'ten', 'rule/remove', { rule: rules[0].id });
    await passes('ann', 'ten', 'rule/add', { rule: rule() });
});

test('what was declined makes room for what people add', async () => {
    const bot = await gateway.join('bot', { topic: 'full' });
    const old = await make('full', 'declined');

    for (let i = 0; i < 255; i++)
        await passes('ann', 'full', 'rule/add', { rule: rule() });
    const last = envelope('ann', 'rule/add', { payload: { rule: rule() } });
    assert.equal((await gateway.post('ann-token', 'full', last)).status, 200);
    const { correlation_id, payload } = await told(bot, old, 'removed');
    assert.deepEqual([correlation_id, payload.by, payload.reason], [last.id, 'ann', 'it made room for another one']);
    assert.equal((await list('full')).rules.length, 256);
    await refused({ error: 'unavailable' }, 'ann', 'full', 'rule/add', { rule: rule() });
});

test('suggestions in all topics together leave room for people', async () => {
    const own = await startGateway(config, { workers: 1 });
    const words = (i) => Array.from({ length: 16 }, (_, j) => `${i}-${j}-${'x'.repeat(100)}`);
    const large = () => rule({ arguments: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`member_${i}`, { one_of: words(i) }])) });
    let refusal;

    for (let topic = 0; !refusal; topic++) {
        assert.ok(topic < 100, 'there is an end');
        for (;;) {
            const { status, json } = await say(own, 'orch', `t-${topic}`, 'rule/suggest', { rule: large() });

            if (status < 300)
                continue;
            assert.equal(json.error, 'unavailable', json.detail);
            if (!/in this topic/.test(json.detail))
                refusal = json.detail;
            break;
        }
    }
    assert.match(refusal, /in all topics together/);
    assert.equal((await say(own, 'ann', 'people', 'rule/add', { rule: large() })).status, 200);
    assert.equal((await say(own, 'orch', 'people', 'rule/suggest', { rule: rule() })).status, 503);
    for (const { id } of (await list('t-0', '', 'ann', own)).rules.slice(0, 3))
        assert.equal((await say(own, 'boss', 't-0', 'rule/remove', { rule: id })).status, 200);
    assert.equal((await say(own, 'orch', 'people', 'rule/suggest', { rule: rule() })).status, 200, 'what is removed is given back');
    await own.kill();
    const again = await own.restart();
    const statuses = [];
    for (let i = 0; i < 4; i++)
        statuses.push((await say(again, 'orch', 'people', 'rule/suggest', { rule: large() })).status);
    assert.equal(statuses.at(-1), 503, 'and what is kept weighs as much as before');
    await again.stop();
});

test('the list is for whoever may read the topic, and may be of one state', async () => {
    const id = await make('eleven', 'active');

    await make('eleven', 'suggested');
    assert.deepEqual((await list('eleven', '?state=active', 'eve')).rules.map((one) => one.id), [id]);
    assert.deepEqual((await list('eleven', '?state=suspended')).rules, []);
    for (const query of ['?state=open', '?state=', '?state=active&state=shadow'])
        assert.equal((await gateway.request(`GET /topics/eleven/rules${query}`, { token: 'ann-token' })).status, 400, query);
    assert.equal((await gateway.request('GET /topics/eleven/rules', {})).status, 401);
    assert.equal((await gateway.request('GET /topics/closed/rules', { token: 'ann-token' })).status,
        (await gateway.request('GET /topics/closed/proposals', { token: 'ann-token' })).status);
    assert.notEqual((await gateway.request('GET /topics/closed/rules', { token: 'ann-token' })).status, 200);
    assert.equal((await gateway.request('POST /topics/eleven/rules', { token: 'boss-token', json: {} })).status, 405);
    assert.equal((await gateway.request('GET /admin/topics/eleven', { token: 'boss-token' })).json.rules, 2);
});

test('changes are in the record: the envelope, and what the gateway said', async () => {
    const id = await make('twelve', 'active');
    const { json } = await gateway.request('GET /admin/audit?topic=twelve&limit=100', { token: 'boss-token' });
    const kinds = json.records.map(({ kind }) => kind);

    for (const kind of ['rule/suggest', 'rule/accept'])
        assert.ok(kinds.includes(kind), kind);
    assert.equal(kinds.filter((kind) => kind === 'system/rule').length, 2, id);
});

test('in dots the same is said and heard', async () => {
    const [ann, orch] = await Promise.all(['ann', 'orch'].map((who) => gateway.join(who, { topic: 'dots', dialect: 'dotted' })));
    const it = rule();
    const dotted = (from, kind, payload) => envelope(from, kind, { protocol: 'mcpx/draft', payload });

    orch.send(dotted('orch', 'rule.suggest', { rule: it }));
    const { payload: { rule: id } } = await expect(ann, ({ kind, payload }) => kind === 'system.rule' && payload.tool === it.tool);
    ann.send(dotted('ann', 'rule.accept', { rule: id }));
    await expect(orch, ({ kind, payload }) => kind === 'system.rule' && payload.state === 'active');
    assert.equal((await find('dots', id)).state, 'active');
});

// --- the switch ---

test('automation: by who may, heard by all, and the brake beside it', async () => {
    const [bot, boss] = await Promise.all(['bot', 'boss'].map((id) => gateway.join(id, { topic: 'switch' })));
    const set = (json) => gateway.request('POST /admin/topics/switch', { token: 'boss-token', json });
    const order = envelope('boss', 'topic/set', { payload: { automation: 'off', reason: 'stop' } });

    assert.equal(bot.frames[0].json.payload.moot.automation, 'on');
    boss.send(order);
    const event = await expect(bot, ({ kind }) => kind === 'system/topic');
    assert.deepEqual([event.correlation_id, event.payload], [order.id, { automation: 'off', by: 'boss' }]);
    assert.equal((await list('switch')).automation, 'off');
    const late = await gateway.join('ann', { topic: 'switch' });
    assert.deepEqual((({ automation, brake }) => [automation, brake])(late.frames[0].json.payload.moot), ['off', 'off']);
    for (const who of ['ann', 'bot'])
        await refused({ error: 'capability_violation' }, who, 'switch', 'topic/set', { automation: 'on' });
    for (const payload of [{}, { automation: 'maybe' }, { automation: true }, { reason: 'x' }])
        await refused({ error: 'malformed_envelope' }, 'boss', 'switch', 'topic/set', payload);

    const { json } = await set({ automation: 'on', brake: 'on' });
    assert.deepEqual([json.automation, json.automation_by, json.brake, json.brake_by], ['on', undefined, 'on', 'boss']);
    assert.deepEqual((await expect(bot, ({ kind }) => kind === 'system/topic')).payload, { brake: 'on', by: 'boss' });
    assert.deepEqual((await expect(bot, ({ kind }) => kind === 'system/topic')).payload, { automation: 'on', by: 'boss' });
    assert.equal((await set({ automation: 'on' })).status, 200);
    for (const wrong of [{}, { automation: 'maybe' }, { brake: 'off', automation: 1 }, { automation: 'off', colour: 'red' }])
        assert.equal((await set(wrong)).status, 400, JSON.stringify(wrong));
    assert.equal((await gateway.request('GET /admin/topics/switch', { token: 'boss-token' })).json.brake, 'on', 'nothing of it was done');
    const off = (await set({ automation: 'off', brake: 'off' })).json;
    assert.deepEqual([off.automation, off.automation_by, off.brake], ['off', 'boss', 'off']);
    const { topics } = (await gateway.request('GET /admin/topics', { token: 'boss-token' })).json;
    assert.equal(topics.find(({ name }) => name === 'switch').automation, 'off');
    assert.match(gateway.stderr(), /event=topic\.automation topic=switch automation=off by=boss/);
});

// --- restarts ---

test('a topic that has to make place for others keeps its rules, and what was switched off', async () => {
    const own = await startGateway({ ...config, topics: { max: 2 } }, { workers: 1 });
    const crowd = async () => {
        for (const topic of ['x', 'y', 'z'])
            assert.equal((await say(own, 'ann', topic, 'chat', {})).status, 200);
    };

    assert.equal((await say(own, 'ann', 'kept', 'rule/add', { rule: rule({ id: 'docs' }) })).status, 200);
    const was = (await list('kept', '', 'ann', own)).rules;
    await crowd();
    assert.equal((await own.request('GET /admin/topics/kept', { token: 'boss-token' })).json.rules, 1);
    assert.deepEqual((await list('kept', '', 'ann', own)).rules, was);
    assert.equal((await say(own, 'boss', 'kept', 'topic/set', { automation: 'off' })).status, 200);
    await crowd();
    const { json } = await own.request('GET /admin/topics', { token: 'boss-token' });
    assert.equal(json.topics.find(({ name }) => name === 'kept').automation, 'off');
    assert.equal((await list('kept', '', 'ann', own)).automation, 'off');
    await own.stop();
});

async function survives(own, crash) {
    const wanted = {};
    const done = async (from, topic, kind, payload) => assert.ok((await say(own, from, topic, kind, payload)).status < 300);

    for (const topic of ['a', 'b', 'c', 'd', 'e']) {
        const [gone, active, disabled, narrowed, shadow] = Array.from({ length: 5 }, () => rule({ evidence: { approved: 20, days: 2, people: ['ann'] } }));

        for (const it of [gone, active, disabled, narrowed, shadow]) {
            await done('orch', topic, 'rule/suggest', { rule: it });
            it.id = await idOf(topic, it, own);
        }
        await done('boss', topic, 'rule/remove', { rule: gone.id });
        for (const it of [active, disabled])
            await done('ann', topic, 'rule/accept', { rule: it.id, budget: 7 });
        await done('ben', topic, 'rule/disable', { rule: disabled.id, reason: 'why ü' });
        await done('ann', topic, 'rule/accept', { rule: narrowed.id, narrow: { path: { exactly: '/srv/docs/a' }, mode: { exactly: 'w' } } });
        await done('ann', topic, 'rule/accept', { rule: shadow.id, shadow: true });
        wanted[topic] = (await list(topic, '', 'ann', own)).rules;
        assert.equal(wanted[topic].length, 5);
    }
    await done('boss', 'a', 'topic/set', { automation: 'off' });
    own = await crash(own);
    for (const [topic, rules] of Object.entries(wanted)) {
        const is = await list(topic, '', 'ann', own);

        assert.deepEqual(is.rules, rules, topic);
        assert.equal(is.automation, topic === 'a' ? 'off' : 'on');
        for (const { id } of rules)
            await done('boss', topic, 'rule/remove', { rule: id });
    }
    await done('boss', 'a', 'topic/set', { automation: 'on' });
    own = await crash(own);
    assert.doesNotMatch(own.stderr(), /state\.restore/, 'nothing is left of it');
    await own.stop();
}

for (const [first, second] of [[1, 1], [2, 2], [2, 1], [1, 3]])
    test(`rules outlive a crash, with ${first} workers and then ${second}`, async () => {
        await survives(await startGateway(config, { workers: first }), async (own) => {
            await own.kill();
            return own.restart({ workers: second });
        });
    });

test('rules outlive an orderly end', async () => {
    await survives(await startGateway(config), async (own) => {
        own.signal('SIGTERM');
        await own.exited;
        return own.restart();
    });
});

test('in PostgreSQL as well', { skip: missing, timeout: 240_000 }, async () => {
    const postgres = await startPostgres();

    await survives(await startGateway({ ...config, store: postgres.url }), async (own) => {
        await own.kill();
        return own.restart();
    });
    await postgres.remove();
});
