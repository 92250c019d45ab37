// SPDX-License-Identifier: Apache-2.0
// POST /topics/T/rules/test: what a rule would have done, and nothing is done.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';
import { moot } from './moot.mjs';
import { until } from './processes.mjs';

const some = Array.from({ length: 10 }, (_, i) => `some${i}`);
let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [
            person('ann', { profile: 'human' }), person('root', { profile: 'admin' }), person('robot', { capabilities: ['mcp/*', 'chat'] }),
            person('bot', { capabilities: ['mcp/proposal:*', 'mcp/withdraw', 'chat'] }), person('watcher', { capabilities: ['chat'] }),
            ...some.map((id) => person(id, { profile: 'human' })), person('away', { topics: ['elsewhere'], profile: 'human' }),
        ],
        limits: { rate_messages: 0, rate_bytes: 0 },
        topics: { defaults: { loop_guard: 'off' }, named: { closed: { access: 'private' } } },
    });
});
after(() => gateway.stop());

const payload = (path) => ({ method: 'tools/call', params: { name: 'write', arguments: { path } } });

async function post(id, kind, more) {
    const sent = envelope(id, kind, more);
    const { status, text } = await gateway.post(`${id}-token`, 'room', sent);

    assert.equal(status, 200, text);
    return sent;
}

const propose = (path) => post('bot', 'mcp/proposal:tools/call:write', { to: ['files'], payload: payload(path) });
const fulfil = (id, p, path = p.payload.params.arguments.path) =>
    post(id, 'mcp/request:tools/call:write', { to: ['files'], correlation_id: p.id, payload: payload(path) });

const rule = (more = {}) => ({
    topic: 'room', proposer: 'bot', method: 'tools/call', tool: 'write', to: 'files', budget: 20,
    arguments: { path: { under: '/srv/app', characters: 'a-z 0-9 .', max_bytes: 30, depth: 2 } }, ...more,
});
const run = (body, { token = 'ann-token', topic = 'room' } = {}) => gateway.request(`POST /topics/${topic}/rules/test`, { token, json: body });

test('it tells what the rule would have approved, and what contradicts', async () => {
    const approved = await propose('/srv/app/one.c');

    await fulfil('ann', approved);
    const rejected = await propose('/srv/app/two.c');

    await post('ann', 'mcp/reject', { correlation_id: rejected.id, payload: { reason: 'no' } });
    const corrected = await propose('/srv/app/three.c');

    await fulfil('ann', corrected, '/srv/app/other.c');
    await fulfil('robot', await propose('/srv/app/four.c'));
    await post('bot', 'mcp/withdraw', { correlation_id: (await propose('/srv/app/five.c')).id });
    await fulfil('ann', await propose('/etc/passwd'));
    let result;

    await until(async () => {
        const { status, json, text } = await run({ rule: rule() });

        assert.equal(status, 200, text);
        result = json;
        return json.proposals === 6;
    }, () => JSON.stringify(result));
    const { since, newest, false: wrongs, rule: id, records, ...counts } = result;

    assert.deepEqual(counts, { complete: true, removed: 0, proposals: 6, covered: 5, false_approvals: 2, approved: 1, rejected: 1,
        corrected: 1, by_others: 1, undecided: 1 });
    assert.ok(Math.abs(Date.now() - Date.parse(since) - 30 * 86_400_000) < 60_000);
    assert.match(id, /^r-/);
    assert.ok(records >= 11);
    assert.deepEqual(wrongs.map((one) => [one.id, one.verdict, one.by]),
        [[rejected.id, 'rejected', 'ann'], [corrected.id, 'corrected', 'ann']]);
    assert.equal(newest.length, 5);
    assert.deepEqual(newest.at(-1), { ...newest.at(-1), id: approved.id, verdict: 'approved', origin: 'person', by: 'ann' });
    assert.deepEqual(newest[0].verdict, 'undecided');
    assert.deepEqual((await run({ rule: rule({ proposer: 'other' }) })).json.covered, 0);
    assert.equal((await run({ rule: rule(), since: new Date(Date.now() + 60_000).toISOString() })).json.proposals, 0);
    assert.deepEqual((await gateway.request('GET /topics/room/rules', { token: 'ann-token' })).json.rules, [], 'nothing was added');
});

test('a rule of the topic is tried by its id, and `moot rules test` says the same', async () => {
    assert.equal((await gateway.post('ann-token', 'room', envelope('ann', 'rule/add', { payload: { rule: rule() } }))).status, 200);
    const { json: { rules: [{ id }] } } = await gateway.request('GET /topics/room/rules', { token: 'ann-token' });
    const { status, json } = await run({ rule: id });

    assert.equal(status, 200);
    assert.deepEqual([json.rule, json.covered, json.false_approvals], [id, 5, 2]);
    const { stdout, stderr } = await moot(null, null, ['rules', 'test', id, '--topic', 'room', '--json', '--person', 'ann'], { env: { MOOT_DATA: gateway.data } });
    assert.equal(stderr, '');
    const said = JSON.parse(stdout);

    assert.deepEqual([said.proposals, said.covered, said.false_approvals], [json.proposals, json.covered, json.false_approvals]);
    assert.deepEqual(said.rules[0].false, json.false.map((one) => one.id));
});

test('a rule need not name the topic, as with rule/add, and names no other', async () => {
    const { topic, ...unnamed } = rule();
    const { status, json, text } = await run({ rule: unnamed });

    assert.equal(status, 200, text);
    assert.deepEqual([json.rule, json.covered], [(await run({ rule: rule({ topic }) })).json.rule, 5]);
    assert.equal((await run({ rule: rule({ topic: '' }) })).status, 200);
    const other = await run({ rule: rule({ topic: 'elsewhere' }) });

    assert.equal(other.status, 400);
    assert.match(other.json.detail, /topic/);
});

test('it is for those who may approve there', async () => {
    assert.equal((await run({ rule: rule() }, { token: 'root-token' })).status, 200);
    for (const token of ['bot-token', 'watcher-token', 'away-token'])
        assert.equal((await run({ rule: rule() }, { token })).status, 403, token);
    assert.equal((await run({ rule: rule() }, { topic: 'closed' })).status, 404);
    assert.equal((await run({ rule: rule() }, { token: null })).status, 401);
});

test('what cannot be tried is refused with a sentence', async () => {
    const cases = [[{}, 400], [{ rule: 7 }, 400], [{ rule: 'r-none' }, 404], [{ rule: rule({ nonsense: 1 }) }, 400],
        [{ rule: rule(), since: 'yesterday' }, 400], [{ rule: rule(), more: 1 }, 400], [{ rule: rule({ arguments: { path: { under: '/' } } }) }, 400]];

    for (const [body, status] of cases) {
        const answer = await run(body);

        assert.equal(answer.status, status, JSON.stringify(body));
        assert.match(answer.json.detail, /\.$/);
    }
});

// A request whose client goes, sooner or later.
function leave(path, body, after) {
    const request = http.request({ port: gateway.port, method: body ? 'POST' : 'GET', path, agent: false,
        headers: { Authorization: 'Bearer ann-token', 'Content-Type': 'application/json' } });

    request.on('error', () => {});
    request.end(body);
    return new Promise((resolve) => { setTimeout(() => { request.destroy(); resolve(); }, after); });
}

test('only a few run at a time, and those who go make room', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => run({ rule: rule() })));

    for (const { status } of answers)
        assert.ok(status === 200 || status === 503);
    assert.ok(answers.some(({ status }) => status === 200));
    for (let after = 0; after < 12; after++) {
        await leave('/topics/room/rules/test', JSON.stringify({ rule: rule() }), after % 6);
        await leave('/topics/room/decisions?limit=50', '', after % 6);
    }
    await until(async () => (await run({ rule: rule() })).status === 200, 'there is room again');
});

test('what nobody decided is told in pieces, also to those who go', async () => {
    const before = (await run({ rule: rule() })).json.undecided;

    for (let i = 0; i < 100; i++)
        await propose(`/srv/app/${i}.c`);
    await until(async () => (await run({ rule: rule() })).json.undecided === before + 100, 'all of them are there');
    for (let after = 0; after < 20; after++)
        await leave('/topics/room/rules/test', JSON.stringify({ rule: rule() }), after % 10);
    await until(async () => (await run({ rule: rule() })).status === 200, 'there is room again');
});

// --- what changes while it runs ---

const many = 20_000;

async function fill() {
    const robot = await gateway.open('robot', { topic: 'long', routing: 'directed' });

    for (let i = 0; i < many; i++) { // no more at once than a room holds until it is on disk
        const to = i % 2000 === 1999 ? 'robot' : 'nobody';
        const { id } = robot.send(envelope('robot', 'mcp/request:notifications/x', { to: [to], payload: { method: 'notifications/x' } }));

        if (to === 'robot')
            await expect(robot, (json) => json.id === id);
    }
    await robot.close();
}

// The answer to what takes a while when this is done to who asks, each time to somebody else until it is done soon enough.
async function overtaken(persons, act) {
    for (const id of persons) {
        const answer = run({ rule: rule({ topic: 'long' }) }, { token: `${id}-token`, topic: 'long' });

        assert.equal((await act(id)).status, 200);
        const { status, json } = await answer;

        if (status !== 200)
            return [status, json.detail];
    }
    return assert.fail('it is told all the same, or over before');
}

test('who may no longer know is told nothing, also in the midst of it', async () => {
    const admin = (line, json = {}) => gateway.request(line, { token: 'root-token', json });

    await fill();
    await until(async () => (await run({ rule: rule({ topic: 'long' }) }, { topic: 'long' })).json.records === many, 'all is recorded');
    assert.deepEqual(await overtaken(some.slice(0, 5), (id) => admin(`POST /admin/participants/${id}/capabilities`, { revoke: ['mcp/*'] })),
        [403, 'That is for those who may approve here.']);
    assert.deepEqual(await overtaken(some.slice(5), (id) => admin(`POST /admin/members/${id}/kick`)),
        [403, 'You may not enter this topic.']);
});
