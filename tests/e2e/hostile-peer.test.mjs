// SPDX-License-Identifier: Apache-2.0
// A hostile participant in the same room, where the gateway is lazy: it says one thing and
// means another, answers for others, answers twice, floods. Nothing of it reaches an
// application on libmoot, and the count says so.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { envelope, expect, people, person, startGateway, within } from './gateway.mjs';
import { startParticipant } from './participant.mjs';
import { eventsOf, growthOf } from './programs.mjs';

const MiB = 1024 * 1024;
let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [...people('bob'), person('me', { capabilities: ['mcp/*', 'chat', 'participant/report'] }),
            person('eve', { capabilities: ['*'] }), person('mallory', { capabilities: ['*'] })],
        limits: { rate_messages: 0, rate_bytes: 0, depth: 512, outbox: '16MiB' },
        topics: { defaults: { loop_guard: 'off' } },
    });
});
after(() => gateway.stop());

// A room of its own for each test: the probe, who is honest, and who is not.
async function room(topic, settings = {}) {
    const probe = await startParticipant(gateway, 'me', { topic, messages: true, ...settings });

    await probe.do('add_tool', { name: 'echo', says: 'you called' });
    const [bob, eve] = await Promise.all(['bob', 'eve'].map((id) => gateway.join(id, { topic })));
    return {
        probe, bob, eve,
        // What the application heard up to a word of bob's, but for the gateway and bob. The
        // answer to a ping tells that everything of eve's was judged before.
        async heard() {
            eve.socket.ping();
            await within(once(eve.socket, 'pong'), 'a pong');
            const { id } = bob.chat('fence');

            await probe.event('message', (one) => one.id === id);
            return eventsOf(probe, 'message').filter(({ from }) => !['bob', 'system:gateway'].includes(from));
        },
        async finish() {
            await probe.stop(); // it is still there, and ends as it should
            await Promise.all([bob.close(), eve.close()]);
        },
    };
}

const rpc = (method, params, more = {}) => ({ jsonrpc: '2.0', id: 1, method, params, ...more });
const response = (request, from, more = {}, payload = {}) => envelope(from, request.kind.replace('request', 'response'), {
    to: [request.from], correlation_id: request.id, payload: { jsonrpc: '2.0', id: request.payload.id, result: { content: [] }, ...payload }, ...more,
});

const spoofs = {
    'a tool under another name': ['mcp/request:tools/call:safe', rpc('tools/call', { name: 'echo' }), 'kind_payload_mismatch'],
    'a call under a list': ['mcp/request:tools/list', rpc('tools/call', { name: 'echo' }), 'kind_payload_mismatch'],
    'a resource under another name': ['mcp/request:resources/read:file:///a', rpc('resources/read', { uri: 'file:///b' }), 'kind_payload_mismatch'],
    'a call without a method': ['mcp/request:tools/call:echo', { jsonrpc: '2.0', id: 1, params: { name: 'echo' } }, 'kind_payload_mismatch'],
    'a call with a result': ['mcp/request:tools/call:echo', rpc('tools/call', { name: 'echo' }, { result: {} }), 'kind_payload_mismatch'],
    'a call with a second method': ['mcp/request:tools/call:echo', rpc('tools/call', { name: 'echo' }, { Method: 'tools/list' }), 'kind_payload_mismatch'],
    'a call whose params are a list': ['mcp/request:tools/call', rpc('tools/call', ['echo']), 'kind_payload_mismatch'],
    'a call whose id is an object': ['mcp/request:tools/call:echo', rpc('tools/call', { name: 'echo' }, { id: {} }), 'kind_payload_mismatch'],
    'a notification with an id': ['mcp/request:notifications/cancelled', rpc('notifications/cancelled', {}), 'kind_payload_mismatch'],
    'a proposal under another name': ['mcp/proposal:tools/call:safe', { method: 'tools/call', params: { name: 'echo' } }, 'kind_payload_mismatch'],
    'an answer with result and error': ['mcp/response:tools/call:echo', { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: '' } },
        'kind_payload_mismatch'],
    'an answer whose error has no code': ['mcp/response:tools/call:echo', { jsonrpc: '2.0', id: 1, error: { message: 'x' } }, 'kind_payload_mismatch'],
    'talk that is no text': ['chat', { text: { $ne: null } }, 'kind_payload_mismatch'],
    'talk without a text': ['chat', {}, 'kind_payload_mismatch'],
};

test('hostile peer: what says one thing and means another reaches nobody, and is counted', async () => {
    const { probe, eve, heard, finish } = await room('spoofs');
    const sent = Object.entries(spoofs).map(([name, [kind, payload, what]]) => {
        const more = /response/.test(kind) ? { correlation_id: 'anything' } : {};
        eve.send(envelope('eve', kind, { to: ['me'], payload, ...more }));
        return [name, what];
    });

    assert.deepEqual(await heard(), []);
    const offences = eventsOf(probe, 'offence');
    assert.deepEqual(offences.map(({ what }, i) => [sent[i]?.[0], what]), sent);
    assert.deepEqual(offences.map(({ from, count }) => [from, count]), sent.map((_, i) => ['eve', i + 1]));
    assert.deepEqual(eventsOf(probe, 'call'), [], 'no tool was called');
    assert.deepEqual(eventsOf(probe, 'proposal'), [], 'nothing was proposed');
    await finish();
});

test('hostile peer: only the one who was asked can answer, once, and what was asked', async () => {
    const { probe, bob, eve, heard, finish } = await room('answers');

    await probe.do('request', { method: 'tools/call', to: 'bob', name: 'add', arguments: { a: 1 }, how: 'call' });
    const asked = await expect(bob, ({ kind }) => kind === 'mcp/request:tools/call:add');
    eve.send(response(asked, 'eve')); // not asked
    eve.send(response(asked, 'eve', {}, { result: undefined, error: { code: -32002, message: 'denied' } }));
    bob.send(response(asked, 'bob', { kind: 'mcp/response:tools/list' })); // another method
    bob.send(response(asked, 'bob', { kind: 'mcp/response:tools/call:sub' })); // another tool
    bob.send(response(asked, 'bob', {}, { id: 'another' })); // another JSON-RPC id
    bob.send(response(asked, 'bob', { correlation_id: 'me-0' })); // another call: nobody's
    assert.deepEqual(await heard(), [], 'nothing of eve');
    assert.deepEqual(eventsOf(probe, 'done'), [], 'it still waits');
    bob.send(response(asked, 'bob', {}, { result: { content: [{ type: 'text', text: 'yes' }] } }));
    const outcome = await probe.event('done');
    assert.equal(outcome.type, 'result');
    assert.equal(outcome.by, 'bob');
    bob.send(response(asked, 'bob', {}, { result: { content: [{ type: 'text', text: 'no' }] } }));
    eve.send(response(asked, 'eve', {}, { result: { content: [{ type: 'text', text: 'no' }] } }));
    assert.deepEqual(await heard(), []);
    assert.equal(eventsOf(probe, 'done').length, 1, 'exactly one outcome');
    const counted = (from) => eventsOf(probe, 'offence').filter((one) => one.from === from).map(({ what }) => what);
    assert.deepEqual(counted('eve'), ['foreign_response', 'foreign_response', 'foreign_response']);
    assert.deepEqual(counted('bob'), ['method_mismatch', 'method_mismatch', 'method_mismatch', 'second_response']);
    await finish();
});

test('hostile peer: nobody else makes a call wait, go on, or end', async () => {
    const { probe, bob, eve, heard, finish } = await room('meddling');

    await probe.do('request', { method: 'tools/call', to: 'bob', name: 'add', arguments: {}, how: 'call' });
    const asked = await expect(bob, ({ kind }) => kind === 'mcp/request:tools/call:add');
    const token = asked.payload.params._meta.progressToken;
    const notify = (client, method, params) =>
        client.send(envelope(client.id, `mcp/request:${method}`, { to: ['me'], payload: { jsonrpc: '2.0', method, params } }));

    notify(eve, 'notifications/progress', { progressToken: token, progress: 99, total: 100 });
    eve.send(response(asked, 'eve', {}, { result: undefined,
        error: { code: -32001, message: 'wait', data: { authorizationRequest: { id: 'z', expiresAt: '2099-01-01T00:00:00Z' } } } }));
    eve.send(envelope('eve', 'mcp/reject', { correlation_id: asked.id, payload: { reason: 'because' } }));
    await heard();
    assert.deepEqual(eventsOf(probe, 'progress'), []);
    assert.deepEqual(eventsOf(probe, 'done'), []);
    notify(bob, 'notifications/progress', { progressToken: token, progress: 1, total: 2 });
    await probe.event('progress');
    bob.send(response(asked, 'bob'));
    assert.equal((await probe.event('done')).type, 'result');
    await finish();
});

test('hostile peer: proposals of others are decided by those who did decide', async () => {
    const { probe, bob, eve, heard, finish } = await room('deciding');

    await probe.do('request', { method: 'tools/call', to: 'bob', name: 'add', arguments: {}, how: 'propose' });
    const proposal = await expect(eve, ({ kind }) => kind === 'mcp/proposal:tools/call:add');
    const fulfilment = { ...rpc('tools/call', { name: 'add', arguments: {} }) };
    // Cites it, but asks for something else, or somebody else: a thread, no fulfilment.
    eve.send(envelope('eve', 'mcp/request:tools/call:sub', { to: ['bob'], correlation_id: proposal.id, payload: rpc('tools/call', { name: 'sub' }) }));
    eve.send(envelope('eve', 'mcp/request:tools/call:add', { to: ['eve'], correlation_id: proposal.id, payload: fulfilment }));
    eve.send(envelope('eve', 'mcp/response:tools/call:add', { to: ['me'], correlation_id: proposal.id, payload: { jsonrpc: '2.0', id: 1, result: {} } }));
    await heard();
    assert.deepEqual(eventsOf(probe, 'done'), []);
    const real = bob.send(envelope('bob', 'mcp/request:tools/call:add', { to: ['bob'], correlation_id: proposal.id, payload: fulfilment }));
    await probe.event('progress', ({ type }) => type === 'taken_up');
    eve.send(response(real, 'eve')); // the one who fulfils asked bob, not eve
    await heard();
    assert.deepEqual(eventsOf(probe, 'done'), []);
    bob.send(response(real, 'bob'));
    assert.equal((await probe.event('done')).by, 'bob');
    await finish();
});

test('hostile peer: a flood of rubbish is counted to the last one, and nothing of it is kept', async () => {
    const { probe, eve, heard, finish } = await room('flood');
    const total = 20_000;
    await heard();
    const grown = growthOf(probe);

    for (let i = 0; i < total; i++)
        eve.send(envelope('eve', 'mcp/request:tools/call:safe', { to: ['me'], payload: rpc('tools/call', { name: 'dangerous', i }) }));
    assert.deepEqual(await heard(), []);
    assert.equal(eventsOf(probe, 'offence').at(-1).count, total);
    assert.ok(grown() < 32 * MiB);
    await finish();
});

test('hostile peer: more proposals than are kept push none of the open ones out', async () => {
    const { probe, bob, eve, heard, finish } = await room('proposals', { proposals: 16 });
    const first = bob.send(envelope('bob', 'mcp/proposal:tools/call:add', { payload: { method: 'tools/call', params: { name: 'add' } } }));

    await probe.event('proposal', ({ id }) => id === first.id);
    for (let i = 0; i < 500; i++)
        eve.send(envelope('eve', 'mcp/proposal:tools/call:add', { payload: { method: 'tools/call', params: { name: 'add', arguments: { i } } } }));
    await heard();
    assert.ok(eventsOf(probe, 'proposal').length <= 16);
    assert.ok(eventsOf(probe, 'offence').some(({ what }) => what === 'flood'));
    const { proposals } = await probe.do('proposals');
    assert.ok(proposals.some(({ id, state }) => id === first.id && state === 'open'));
    await finish();
});

test('hostile peer: what is long and deep, but allowed, arrives as it is', async () => {
    const { probe, eve, heard, finish } = await room('long');
    const deep = (depth) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
    const long = 'ü'.repeat(128); // 256 bytes
    const names = Array.from({ length: 1000 }, (_, i) => `${i}-${'n'.repeat(250)}`);
    const sent = [
        eve.send(envelope('eve', 'chat', { id: `1${long.slice(1)}`, correlation_id: long, payload: { text: 'ids' } })),
        eve.send(envelope('eve', 'chat', { to: names, payload: { text: 'names' } })),
        eve.send(envelope('eve', `mcp/request:tools/call:${'t'.repeat(2000)}`, { to: ['bob'], payload: rpc('tools/call', { name: 't'.repeat(2000) }) })),
        eve.send(envelope('eve', 'chat', { payload: { text: 'deep', more: deep(100) } })),
        eve.send(envelope('eve', 'chat', { payload: { text: 'x'.repeat(MiB - 300) } })),
        eve.send(envelope('eve', 'chat', { payload: { text: '\u0000\u001b[2J\u202e' } })),
    ];
    const tooDeep = eve.send(envelope('eve', 'chat', { payload: { text: 'deeper', more: deep(400) } }));

    assert.deepEqual((await heard()).map(({ id, to }) => [id, to.length]), sent.map(({ id, to = [] }) => [id, to.length]));
    const offences = eventsOf(probe, 'offence');
    assert.deepEqual(offences.map(({ from, what }) => [from, what]), [['', 'malformed_envelope']], 'who said it stands in what cannot be read');
    assert.ok(!eventsOf(probe, 'message').some(({ id }) => id === tooDeep.id));
    await finish();
});

test('hostile peer: the room is told of offenders, once for many', async () => {
    const { probe, bob, eve, heard, finish } = await room('reports', { reports: true });

    for (let i = 0; i < 50; i++)
        eve.send(envelope('eve', 'chat', { payload: { text: i } }));
    await heard();
    const report = await expect(bob, ({ kind }) => kind === 'participant/report');
    assert.equal(report.from, 'me');
    assert.equal(report.payload.participant, 'eve');
    assert.equal(report.payload.what, 'kind_payload_mismatch');
    await heard();
    assert.equal(bob.frames.filter(({ json }) => json.kind === 'participant/report').length, 1);
    assert.equal(eventsOf(probe, 'offence').at(-1).count, 50);
    await finish();
});
