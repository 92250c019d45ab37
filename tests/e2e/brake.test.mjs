// SPDX-License-Identifier: Apache-2.0
// The brake of a topic: what agents call needs a proposal, and a person's word. With real clients:
// the terminal commands, which propose by themselves, and an MCP client of the SDK at the door.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';
import { offering, sdkClient, textIn } from './mcp-room.mjs';
import { moot, serveTools, startMoot } from './moot.mjs';

const config = {
    mcp: { room_tools: 'off' },
    servers: { files: offering('files', { tools: ['look'] }, { topic: 'door' }) },
    tokens: [
        person('calc', { type: 'service' }), person('boss', { profile: 'admin' }), person('ann', { profile: 'human' }),
        person('bot'), person('helper'),
        person('caller', { capabilities: ['mcp/request:*', 'mcp/response:*', 'chat'] }), // and no word of proposals
        person('mod', { capabilities: ['topic/set', 'chat'] }), person('eve', { capabilities: ['chat'] }),
    ],
};
let gateway;
let calls = 0;

const admin = (route, json) => gateway.request(route, { token: 'boss-token', ...(json ? { json } : {}) });
const set = async (topic, brake) => {
    const { status, json, text } = await admin(`POST /admin/topics/${topic}`, { brake });

    assert.equal(status, 200, text);
    return json;
};
const as = (who, ...args) => moot(gateway, who, args);
const call = (from, more = {}, params = { name: 'add', arguments: { a: 1, b: 2 } }) => envelope(from, `mcp/request:tools/call:${params.name}`,
    { to: ['calc'], payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, ...more });
const propose = (from, params = { name: 'add', arguments: { a: 1, b: 2 } }) =>
    envelope(from, `mcp/proposal:tools/call:${params.name}`, { to: ['calc'], payload: { method: 'tools/call', params } });

// What comes back to the sender of an envelope: its refusal, or itself.
async function said(client, what) {
    const { id } = client.send(what);
    const json = await expect(client, (one) => one.id === id || (one.kind === 'system/error' && one.correlation_id === id));

    return json.kind === 'system/error' ? json.payload : 'passed';
}

async function room(topic) {
    const calc = await gateway.join('calc', { topic });

    serveTools(calc, { add: ({ a, b }) => { calls++; return `${a + b}`; } });
    return calc;
}

before(async () => { gateway = await startGateway(config); });
after(async () => { await gateway.stop(); });

test('agents are refused with the proposal that they may send instead; people and lists go on', async () => {
    await room('one');
    const [bot, ann, caller] = await Promise.all(['bot', 'ann', 'caller'].map((id) => gateway.join(id, { topic: 'one' })));

    assert.equal(await said(bot, call('bot')), 'passed');
    assert.equal((await set('one', 'on')).brake, 'on');
    const event = await expect(bot, ({ kind }) => kind === 'system/topic');
    assert.deepEqual([event.from, event.payload], ['system:gateway', { brake: 'on', by: 'boss' }]);
    const refused = await said(bot, call('bot'));
    assert.deepEqual([refused.error, refused.policy, refused.propose_instead],
        ['capability_violation', 'brake', 'mcp/proposal:tools/call:add']);
    assert.match(refused.message, /the brake is on/);
    for (const kind of ['mcp/request:tools/list', 'mcp/request:ping', 'mcp/request:notifications/cancelled', 'mcp/request:authorization/respond'])
        assert.equal(await said(bot, envelope('bot', kind, { to: ['calc'], payload: { jsonrpc: '2.0', id: 1, method: kind.slice(12) } })), 'passed', kind);
    assert.equal((await said(bot, call('bot', { kind: 'mcp/request:ping' }))).error, 'kind_payload_mismatch', 'a call does not pass as a ping');
    assert.equal((await said(bot, envelope('bot', 'mcp/request:prompts/get', { to: ['calc'], payload: { method: 'prompts/get', params: { name: 'x' } } }))).policy, 'brake');
    assert.equal(await said(ann, call('ann')), 'passed');
    assert.equal(await said(bot, envelope('bot', 'chat')), 'passed');
    assert.equal(await said(caller, propose('caller')), 'passed', 'who may call may propose');
    const { json } = await gateway.post('bot-token', 'one', call('bot'));
    assert.equal(json.propose_instead, 'mcp/proposal:tools/call:add');
    assert.equal((await admin('GET /admin/members')).json.members.find(({ participantId, topic }) => participantId === 'bot' && topic === 'one').violations ?? 0, 1,
        'only the ping that was none counts');
    await set('one', 'off');
    assert.deepEqual((await expect(bot, ({ kind }) => kind === 'system/topic')).payload, { brake: 'off', by: 'boss' });
    assert.equal(await said(bot, call('bot')), 'passed');
    assert.equal((await said(caller, propose('caller'))).error, 'capability_violation', 'and then no longer');
});

test('moot call proposes by itself, and has its result when a person approves', async () => {
    await room('two');
    const ann = await gateway.join('ann', { topic: 'two' });

    await set('two', 'on');
    for (const who of ['bot', 'caller']) {
        const run = startMoot(gateway, who, ['call', 'two', 'calc', 'add', '--json-args', '{"a":20,"b":3}']);
        const { id } = await expect(ann, ({ kind, from }) => kind === 'mcp/proposal:tools/call:add' && from === who);

        assert.equal((await as('ann', 'approve', 'two', id)).stdout, '23\n');
        const { status, stdout } = await run.ended();
        assert.deepEqual([status, stdout], [0, '23\n']);
    }
    const direct = await as('bot', 'call', 'two', 'calc', 'add', '--json-args', '{"a":1,"b":1}', '--direct');
    assert.equal(direct.status, 4);
    assert.match(direct.stderr, /the brake is on here/);
});

test('an MCP client of the SDK waits at the door, and has its result when a person approves', async () => {
    const ann = await gateway.join('ann', { topic: 'door' });
    const client = await sdkClient(gateway, 'bot', { topic: 'door' });

    await client.shows('look');
    await set('door', 'on');
    await client.shows('look'); // lists go on
    const answer = client.call('look');
    const { id } = await expect(ann, ({ kind }) => kind === 'mcp/proposal:tools/call:look');
    const { status, stdout } = await as('ann', 'approve', 'door', id);
    assert.equal(status, 0);
    assert.equal(textIn(await answer).trim(), stdout.trim());
    const again = client.call('look');
    const other = await expect(ann, ({ kind }) => kind === 'mcp/proposal:tools/call:look');
    assert.equal((await as('ann', 'reject', 'door', other.id, 'not', 'now')).status, 0);
    assert.match(textIn(await again), /ann rejected it: not now/);
    await client.close();
});

test('agents do not wave each other through, and a person\'s word lets them', async () => {
    await room('three');
    const [bot, helper, ann] = await Promise.all(['bot', 'helper', 'ann'].map((id) => gateway.join(id, { topic: 'three' })));

    await set('three', 'on');
    const { id } = bot.send(propose('bot'));
    await expect(helper, (json) => json.id === id);
    const before = calls;
    assert.equal(await said(helper, envelope('helper', 'mcp/approve', { correlation_id: id })), 'passed');
    assert.equal((await said(helper, call('helper', { correlation_id: id }))).policy, 'brake', 'an agent\'s approval is none');
    assert.equal((await said(bot, call('bot', { correlation_id: id }))).error, 'proposal_state', 'nor is one\'s own');
    assert.equal(calls, before);
    assert.equal(await said(ann, envelope('ann', 'mcp/approve', { correlation_id: id })), 'passed');
    assert.equal((await said(helper, call('helper', { correlation_id: id }, { name: 'add', arguments: { a: 1, b: 3 } }))).policy, 'brake', 'for something else');
    assert.equal(calls, before);
    assert.equal(await said(helper, call('helper', { correlation_id: id }, { name: 'add', arguments: { a: 1, b: 2 }, _meta: { progressToken: 1 } })), 'passed');
    await expect(bot, ({ kind, from }) => kind === 'mcp/response:tools/call:add' && from === 'calc');
    assert.equal((await said(helper, call('helper', { correlation_id: id }))).error, 'proposal_state', 'once');
});

test('in the room: who has the capability sets it, nobody else', async () => {
    await room('four');
    const [bot, mod, eve] = await Promise.all(['bot', 'mod', 'eve'].map((id) => gateway.join(id, { topic: 'four' })));

    assert.equal((await said(eve, envelope('eve', 'topic/set', { payload: { brake: 'on' } }))).error, 'capability_violation');
    assert.equal((await said(bot, envelope('bot', 'topic/set', { payload: { brake: 'on' } }))).error, 'capability_violation');
    for (const payload of [{}, { brake: 'maybe' }, { brake: true }, { brake: 'on', break: 'off' }])
        assert.equal((await said(mod, envelope('mod', 'topic/set', { payload }))).error, 'malformed_envelope', JSON.stringify(payload));
    const order = envelope('mod', 'topic/set', { payload: { brake: 'on', reason: 'too fast' } });
    assert.equal(await said(mod, order), 'passed');
    const event = await expect(bot, ({ kind }) => kind === 'system/topic');
    assert.deepEqual([event.correlation_id, event.payload], [order.id, { brake: 'on', by: 'mod' }]);
    assert.equal((await said(bot, call('bot'))).policy, 'brake');
    const late = await gateway.join('helper', { topic: 'four' });
    assert.equal(late.frames.find(({ json }) => json.kind === 'system/welcome').json.payload.moot.brake, 'on');
    assert.equal(await said(mod, envelope('mod', 'topic/set', { payload: { brake: 'off' } })), 'passed');
    await expect(bot, ({ kind, payload }) => kind === 'system/topic' && payload.brake === 'off');
    assert.equal(await said(bot, call('bot')), 'passed');
});

test('the admin route says what is wrong', async () => {
    for (const [route, json, status] of [
        ['POST /admin/topics/five', { brake: 'maybe' }, 400], ['POST /admin/topics/five', {}, 400], ['POST /admin/topics/five', { brake: 'on', x: 1 }, 400],
        ['POST /admin/topics/a%20b', { brake: 'on' }, 400],
    ])
        assert.equal((await admin(route, json)).status, status, `${route} ${JSON.stringify(json)}`);
    for (const token of ['mod-token', 'bot-token'])
        assert.equal((await gateway.request('POST /admin/topics/five', { token, json: { brake: 'on' } })).status, 403);
    assert.equal((await admin('GET /admin/topics/five')).json.brake, 'off');
});

test('moot topic: list, show and set', async () => {
    const local = (...args) => moot(null, null, [...args, '--data', gateway.data]);

    assert.match((await local('topic', 'set', 'six', 'brake', 'on')).stdout, /^topic +six\nbrake +on\n {2}by +local\n {2}since +20/);
    assert.match((await local('topic', 'list')).stdout, /^TOPIC +PARTICIPANTS +BRAKE +AUTOMATION\n(.*\n)*six +0 +on +on\n/);
    assert.equal(JSON.parse((await local('topic', 'show', 'six', '--json')).stdout).brake_by, 'local');
    assert.match((await local('topic', 'set', 'six', 'brake', 'off')).stdout, /brake +off\n/);
    assert.deepEqual((await local('topic', 'set', 'six', 'brake', 'maybe')).status, 2);
    assert.match((await local('topic', 'set', 'six', 'colour', 'red')).stderr, /nothing called "colour"/);
    assert.match((await local('topic', 'show', 'a b')).stderr, /topic/);
    assert.doesNotMatch((await local('topic', 'list')).stdout, /six/);
});

test('it is in the record, and in the log', async () => {
    const { json } = await admin('GET /admin/audit?limit=1000&event=admin');
    const acts = json.records ?? json.items ?? [];

    assert.match(gateway.stderr(), /event=topic\.brake topic=one brake=on by=boss/);
    assert.ok(JSON.stringify(acts).includes('topic.set'), JSON.stringify(json).slice(0, 300));
});

for (const [first, second] of [[1, 1], [2, 2], [2, 1], [1, 3]])
    test(`it holds over a crash, with ${first} workers and then ${second}, whether anybody is there or not`, async () => {
        let own = await startGateway(config, { workers: first });
        const boss = (topic, brake) => own.request(`POST /admin/topics/${topic}`, { token: 'boss-token', json: { brake } });
        const topics = ['a', 'b', 'c', 'd'];

        await own.join('bot', { topic: 'a' });
        for (const topic of topics)
            assert.equal((await boss(topic, 'on')).status, 200);
        assert.equal((await boss('d', 'off')).status, 200);
        await own.kill();
        own = await own.restart({ workers: second });
        for (const topic of topics) {
            const bot = await own.join('bot', { topic });
            const wanted = topic === 'd' ? 'off' : 'on';

            assert.equal(bot.frames[0].json.payload.moot.brake, wanted);
            assert.equal((await said(bot, call('bot'))) === 'passed', topic === 'd');
        }
        for (const topic of topics)
            await boss(topic, 'off');
        await own.kill();
        own = await own.restart({ workers: first });
        assert.doesNotMatch(own.stderr(), /state\.restore/, 'nothing is left of it');
        await own.stop();
    });
