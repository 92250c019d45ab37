// SPDX-License-Identifier: Apache-2.0
// The workflows of MCPx v0.1, section 9, each with real processes: a gateway, the example
// programs on libmoot, the command line, and clients on plain WebSocket that watch and try.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { changesIn, envelope, expect, person, startGateway, takeAll } from './gateway.mjs';
import { moot } from './moot.mjs';
import { startParticipant } from './participant.mjs';
import { startExample } from './programs.mjs';

let gateway;
const running = [];

before(async () => {
    gateway = await startGateway({
        tokens: [
            person('human', { profile: 'human' }),
            person('bystander', { profile: 'human' }),
            person('agent', { profile: 'proposer' }),
            person('other', { profile: 'proposer' }),
            person('calc', { profile: 'responder' }),
            person('orchestrator', { capabilities: ['mcp/request:*', 'mcp/reject', 'chat'] }),
            person('full', { profile: 'full' }),
            person('monitor', { capabilities: ['mcp/request:*/list'] }),
            person('watcher', { capabilities: ['chat'] }),
        ],
    });
});
after(async () => {
    await Promise.all(running.map((program) => program.stop()));
    await gateway.stop();
});

function start(name, id, topic, ...args) {
    const program = startExample(name, gateway, id, { topic, args, hasFile: name === 'orchestrator' });

    running.push(program);
    return program;
}

// A room with a calculator that everybody knows to be there; gives somebody who watches.
async function roomOf(topic) {
    const watcher = await gateway.join('watcher', { topic });

    await start('calculator', 'calc', topic).says(/^here as calc$/);
    await expect(watcher, (json) => changesIn(json).some(({ id }) => id === 'calc'));
    return watcher;
}

const call = (tool, a, b) => ({ method: 'tools/call', params: { name: tool, arguments: { a, b } } });
const request = (tool, a, b) => ({ jsonrpc: '2.0', id: 1, ...call(tool, a, b) });
const proposeByHand = (client, tool, more = {}) =>
    client.send(envelope(client.id, `mcp/proposal:tools/call:${tool}`, { to: ['calc'], payload: call(tool, 1, 1), ...more }));
const kindIs = (prefix) => ({ kind }) => kind.startsWith(prefix);

async function openProposals(topic) {
    const { json } = await gateway.request(`GET /topics/${topic}/proposals`, { token: 'watcher-token' });

    return json.proposals.map(({ id }) => id);
}

// What an envelope of this sender became: 'passed', or the name of the error.
async function fate(client, kind, payload, more) {
    const sent = client.send(envelope(client.id, kind, { payload, ...more }));
    const json = await expect(client, ({ id, correlation_id, kind: heard }) =>
        id === sent.id || (heard === 'system/error' && correlation_id === sent.id));

    return json.id === sent.id ? 'passed' : json.payload.error;
}

test('9.1: an agent is refused, proposes; a human fulfils, the target executes, both learn of it', async () => {
    const topic = 'proposal';
    const watcher = await roomOf(topic);
    const agent = await gateway.join('agent', { topic });

    assert.deepEqual(agent.welcome.payload.you.capabilities, ['mcp/proposal:*', 'mcp/response:*', 'chat']);
    assert.equal(await fate(agent, 'mcp/request:tools/call:add', request('add', 2, 3), { to: ['calc'] }), 'capability_violation');
    await agent.close();

    const approver = start('approver', 'human', topic);
    const proposer = start('proposer', 'agent', topic, 'calc', 'add', '{"a":2,"b":3}', 'to know the sum');
    const [, id] = await proposer.says(/^proposed: (\S+)$/);
    await approver.says(new RegExp(`^proposal ${id}$`));
    await approver.says(/by +agent$/);
    await approver.says(/to +calc$/);
    await approver.says(/params +\{"name":"add","arguments":\{"a":2,"b":3\}\}$/);
    await approver.says(/reason +to know the sum$/);
    await approver.says(/^approve\? /);
    assert.deepEqual(await openProposals(topic), [id], 'it waits for the answer');
    approver.tell('y');
    await proposer.says(/^taken up by human$/);
    const [text] = await proposer.says(/^\{.*\}$/);
    assert.equal(JSON.parse(text).content[0].text, '5');
    assert.equal((await proposer.ended()).status, 0);
    assert.equal(JSON.parse((await approver.says(/^\{.*\}$/))[0]).content[0].text, '5', 'the fulfiller has it too');

    const proposal = await expect(watcher, kindIs('mcp/proposal:'));
    const fulfilment = await expect(watcher, kindIs('mcp/request:'));
    const response = await expect(watcher, kindIs('mcp/response:'));
    assert.equal(proposal.id, id);
    assert.ok(!('correlation_id' in proposal));
    assert.deepEqual([fulfilment.from, fulfilment.to, fulfilment.correlation_id], ['human', ['calc'], id]);
    assert.equal(fulfilment.kind, 'mcp/request:tools/call:add');
    assert.deepEqual([response.from, response.correlation_id], ['calc', fulfilment.id]);
    assert.deepEqual([...response.to].sort(), ['agent', 'human']);
    assert.deepEqual(await openProposals(topic), []);
});

test('9.1: a rejected proposal tells why; an interrupted proposer takes his back', async () => {
    const topic = 'no';
    const watcher = await roomOf(topic);
    const approver = start('approver', 'human', topic);
    const refused = start('proposer', 'agent', topic, 'calc', 'add', '{"a":1,"b":1}');
    await approver.says(/^approve\? /);
    approver.tell('n');
    await refused.says(/^rejected$/);
    await refused.says(/the approver said no/);
    assert.equal((await refused.ended()).status, 4);

    const interrupted = start('proposer', 'agent', topic, 'calc', 'add', '{"a":1,"b":1}');
    const [, id] = await interrupted.says(/^proposed: (\S+)$/);
    await approver.says(new RegExp(`^proposal ${id}$`));
    interrupted.child.kill('SIGINT');
    assert.equal((await interrupted.ended()).status, 4);
    const withdrawn = await expect(watcher, kindIs('mcp/withdraw'));
    assert.deepEqual([withdrawn.from, withdrawn.correlation_id], ['agent', id]);
    await approver.says(/^decided elsewhere: agent$/);
    assert.deepEqual(await openProposals(topic), []);
});

test('9.1: an approver with a list decides what is in it at once, asks for the rest, and never decides his own', async () => {
    const topic = 'list';
    const watcher = await roomOf(topic);
    const approver = start('approver', 'human', topic, 'add');
    const human = await gateway.join('human', { topic });
    const agent = await gateway.join('agent', { topic });
    const own = proposeByHand(human, 'add');
    const asked = proposeByHand(agent, 'sub', { payload: { ...call('sub', '\u202e\u001b[2J', 1), reason: 'see\u001b[31m\u0007\u202e' } });
    await approver.says(new RegExp(`^proposal ${asked.id}$`));
    const listed = proposeByHand(agent, 'add');
    await approver.says(new RegExp(`^approved: ${listed.id}$`));
    assert.equal((await expect(watcher, kindIs('mcp/request:'))).correlation_id, listed.id);
    approver.tell('y'); // answers what was shown, although something else came later
    await approver.says(new RegExp(`^approved: ${asked.id}$`));
    await expect(watcher, ({ correlation_id }) => correlation_id === asked.id);
    assert.deepEqual(await openProposals(topic), [own.id], 'his own stays open');
    assert.match(approver.stdout(), /^[\n -~]*$/, 'nothing that a terminal would obey');
    assert.ok(approver.stdout().includes('reason  see\\x1b[31m\\x07\\xe2\\x80\\xae'));
});

test('9.1: the same from the command line', async () => {
    const topic = 'shell';
    const watcher = await roomOf(topic);
    const refused = await moot(gateway, 'agent', ['call', topic, 'calc', 'add', '--direct', '--arg', 'a=2', '--arg', 'b=3']);
    const waiting = moot(gateway, 'agent', ['propose', topic, 'calc', 'add', '--arg', 'a=2', '--arg', 'b=3', '--reason', 'to know']);
    const { id } = await expect(watcher, kindIs('mcp/proposal:'));
    const listed = await moot(gateway, 'human', ['proposals', topic]);
    const approved = await moot(gateway, 'human', ['approve', topic, id]);

    assert.equal(refused.status, 4, refused.stderr);
    assert.ok(listed.stdout.includes(id));
    assert.match(listed.stdout, /agent -> calc {2}add \{"a":2,"b":3\}: to know/);
    assert.deepEqual([approved.status, approved.stdout], [0, '5\n']);
    const { status, stdout } = await waiting;
    assert.deepEqual([status, stdout], [0, '5\n'], 'the proposer has it too');
});

test('9.2: an administrator expands what an agent may; its next call goes directly', async () => {
    const topic = 'expansion';
    const watcher = await roomOf(topic);
    const approver = start('approver', 'human', topic, 'add');
    const before = start('proposer', 'other', topic, 'calc', 'add', '{"a":2,"b":3}');
    await before.says(/^proposed: /);
    assert.equal((await before.ended()).status, 0);
    await approver.says(/^approved: /);
    await expect(watcher, kindIs('mcp/response:'));

    const { status, json } = await gateway.request(`POST /admin/participants/other/capabilities?topic=${topic}`,
        { token: gateway.adminToken(), json: { add: ['mcp/request:tools/call:add'] } });
    assert.equal(status, 200);
    assert.ok(json.newCapabilities.includes('mcp/request:tools/call:add'));

    const direct = start('proposer', 'other', topic, 'calc', 'add', '{"a":20,"b":3}');
    const [text] = await direct.says(/^\{.*\}$/);
    assert.equal(JSON.parse(text).content[0].text, '23');
    assert.equal((await direct.ended()).status, 0);
    const asked = await expect(watcher, kindIs('mcp/'));
    assert.deepEqual([asked.kind, asked.from, asked.to], ['mcp/request:tools/call:add', 'other', ['calc']]);
    const shell = await moot(gateway, 'other', ['call', topic, 'calc', 'add', '--arg', 'a=1', '--arg', 'b=1', '--direct']);
    assert.deepEqual([shell.status, shell.stdout], [0, '2\n']);
    const beyond = start('proposer', 'other', topic, 'calc', 'mul', '{"a":20,"b":3}');
    await beyond.says(/^proposed: /);
    assert.ok((await expect(watcher, kindIs('mcp/proposal:'))).kind.endsWith(':mul'), 'no more than that');
});

test('9.2: an agent that stays connected goes over to calling, and back', async () => {
    const topic = 'staying';
    await roomOf(topic);
    const approver = start('approver', 'human', topic, 'add');
    const agent = await startParticipant(gateway, 'agent', { topic });
    const change = (json) => gateway.request(`POST /admin/participants/agent/capabilities?topic=${topic}`,
        { token: gateway.adminToken(), json });
    const ask = async (tag) => {
        await agent.do('request', { to: 'calc', method: 'tools/call', name: 'add', arguments: { a: 2, b: 3 }, tag });
        const { type, json } = await agent.outcome(tag);

        assert.deepEqual([type, json.content[0].text], ['result', '5']);
        return agent.events.filter((event) => event.event === 'progress' && event.tag === tag).map((event) => event.type);
    };

    assert.deepEqual(await ask('first'), ['proposed', 'taken_up']);
    await approver.says(/^approved: /);
    await change({ add: ['mcp/request:tools/call:add'] });
    await agent.event('welcome');
    assert.deepEqual(await ask('second'), [], 'asked directly, without anybody in between');
    await change({ remove: ['mcp/request:tools/call:add'] });
    await agent.event('welcome');
    assert.deepEqual(await ask('third'), ['proposed', 'taken_up']);
    await agent.stop();
});

test('9.3: in a mixed room each may exactly what his profile says', async () => {
    const topic = 'mixed';
    await roomOf(topic);
    const ids = ['full', 'calc', 'agent', 'monitor'];
    const clients = Object.fromEntries(await Promise.all(ids.map(async (id) =>
        [id, await gateway.join(id, { topic, isPresent: id === 'calc' })])));
    const list = { jsonrpc: '2.0', id: 7, method: 'tools/list' };
    const acts = {
        'mcp/request:tools/call:add': [request('add', 1, 2), { to: ['calc'] }],
        'mcp/request:tools/list': [list, { to: ['calc'] }],
        'mcp/proposal:tools/call:add': [call('add', 1, 2), { to: ['calc'] }],
        'mcp/response:tools/call:add': [{ jsonrpc: '2.0', id: 1, result: {} }, { to: ['full'], correlation_id: 'x' }],
        chat: [{ text: 'hello' }, {}],
    };
    const allowed = {
        full: Object.keys(acts),
        calc: ['mcp/response:tools/call:add', 'chat'],
        agent: ['mcp/proposal:tools/call:add', 'mcp/response:tools/call:add', 'chat'],
        monitor: ['mcp/request:tools/list'],
    };

    for (const [id, client] of Object.entries(clients))
        for (const [kind, [payload, more]] of Object.entries(acts))
            assert.equal(await fate(client, kind, payload, more),
                allowed[id].includes(kind) ? 'passed' : 'capability_violation', `${id} ${kind}`);

    const { status, stdout } = await moot(gateway, 'monitor', ['tools', topic, 'calc', '--json']);
    assert.equal(status, 0);
    for (const tool of ['add', 'div', 'mul', 'sub'])
        assert.ok(stdout.includes(`"${tool}"`), `a monitor sees ${tool}: ${stdout}`);
    assert.equal((await moot(gateway, 'monitor', ['call', topic, 'calc', 'add', '--arg', 'a=1', '--arg', 'b=2'])).status, 4);
});

test('9.4: a human directs an orchestrator, which learns what it may fulfil by itself', async () => {
    const topic = 'delegated';
    await roomOf(topic);
    const orchestrator = start('orchestrator', 'orchestrator', topic, 'human');
    const human = await gateway.join('human', { topic });
    const bystander = await gateway.join('bystander', { topic });
    const agent = await gateway.join('agent', { topic });
    const answerOf = async (text) => (await expect(human, ({ from, kind, payload }) =>
        from === 'orchestrator' && kind === 'chat' && payload.text.startsWith(text))).payload.text;
    const propose = async (tool) => {
        const proposer = start('proposer', 'other', topic, 'calc', tool, '{"a":6,"b":3}');
        const [, id] = await proposer.says(/^proposed: (\S+)$/);

        await orchestrator.says(new RegExp(`^proposed: ${id}$`));
        return { proposer, id };
    };
    const resultOf = async ({ proposer }) => {
        const [text] = await proposer.says(/^\{.*\}$/);

        assert.equal((await proposer.ended()).status, 0);
        return JSON.parse(text).content[0].text;
    };

    const first = await propose('add');
    agent.chat(`@orchestrator approve ${first.id}`); // who has no say
    agent.chat('@orchestrator always add');
    bystander.chat(`@orchestrator approve ${first.id}`);
    bystander.chat('@orchestrator always add');
    human.chat('@somebody always add');
    human.chat('@orchestrator always mul');
    assert.equal(await answerOf('learned'), 'learned: always mul');
    assert.deepEqual(await openProposals(topic), [first.id], 'so far nobody has said it who may');
    takeAll(human);
    assert.equal((await moot(gateway, 'human', ['chat', topic, `@orchestrator approve ${first.id}`])).status, 0);
    const made = await expect(human, kindIs('mcp/request:'));
    assert.deepEqual([made.from, made.to, made.correlation_id], ['orchestrator', ['calc'], first.id]);
    assert.equal(await answerOf('done'), `done: ${first.id}`);
    assert.equal(await resultOf(first), '9');

    const second = await propose('add'); // one approval is no rule
    human.chat('@orchestrator always add');
    assert.equal(await answerOf('learned'), 'learned: always add');
    assert.equal(await resultOf(second), '9', 'also what waited already');
    takeAll(human);
    const third = await propose('add');
    assert.equal(await resultOf(third), '9');
    assert.equal((await expect(human, kindIs('mcp/request:'))).from, 'orchestrator');

    const beyond = await propose('sub'); // learned boundaries: another tool is asked about
    human.chat(`@orchestrator reject ${beyond.id}`);
    assert.equal((await expect(human, kindIs('mcp/reject'))).from, 'orchestrator');
    assert.equal((await beyond.proposer.ended()).status, 4);
    human.chat('@orchestrator never add');
    await answerOf('forgotten');
    const last = await propose('add');
    human.chat(`@orchestrator reject ${last.id}`);
    assert.equal((await last.proposer.ended()).status, 4);
});
