// SPDX-License-Identifier: Apache-2.0
// libmoot in a process of its own, against a real gateway: what moot.h promises, function by
// function.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, people, person, startGateway } from './gateway.mjs';
import { startParticipant, startProbe, urlOf } from './participant.mjs';

let gateway;
let topics = 0;
const freshTopic = () => `libmoot-${++topics}`;

before(async () => {
    gateway = await startGateway({
        tokens: [...people('alice', 'bob', 'eve', 'bot'), person('prop', { profile: 'proposer' }), person('mute', { capabilities: [] })],
    });
});
after(async () => { await gateway.stop(); });

const call = (from, to, method, params, more = {}) => envelope(from, `mcp/request:${method}`, {
    to: [to], payload: { jsonrpc: '2.0', id: 7, method, ...(params ? { params } : {}) }, ...more,
});
const textOf = ({ json }) => json.content[0].text;

test('participants see each other come, talk and leave', async () => {
    const topic = freshTopic();
    const alice = await gateway.join('alice', { topic });
    const bot = await startParticipant(gateway, 'bot', { topic, messages: true });
    assert.equal((await bot.do('id')).id, 'bot');
    assert.equal((await bot.do('state')).state, 'joined');
    assert.deepEqual(await bot.event('presence'), {
        event: 'presence', change: 'here', id: 'alice', type: 'agent', capabilities: ['mcp/*', 'chat'],
    });
    await expect(alice, (json) => json.payload.participant?.id === 'bot');
    assert.deepEqual((await bot.do('capabilities')).capabilities, ['mcp/*', 'chat']);
    assert.equal((await bot.do('may', { kind: 'chat' })).may, true);
    assert.equal((await bot.do('may', { kind: 'participant/kick' })).may, false);

    const bob = await gateway.join('bob', { topic });
    assert.equal((await bot.event('presence', ({ change }) => change === 'joins')).id, 'bob');
    assert.deepEqual((await bot.do('who')).participants.map(({ id }) => id).sort(), ['alice', 'bob']);
    assert.equal((await bot.do('find', { id: 'bob' })).type, 'agent');
    await bot.do('find', { id: 'nobody', err: 'unknown' });

    await bot.do('chat', { text: 'hello "all"\n\u{1f600}' });
    const heard = await expect(alice, (json) => json.kind === 'chat');
    assert.deepEqual([heard.from, heard.payload], ['bot', { text: 'hello "all"\n\u{1f600}', format: 'plain' }]);
    const said = bob.chat('and \u0000 you', { to: ['bot'], ts: '2026-11-15T14:00:00Z', correlation_id: heard.id });
    const message = await bot.event('message', ({ kind }) => kind === 'chat');
    assert.deepEqual([message.id, message.from, message.ts, message.correlation_id, message.to, message.payload],
        [said.id, 'bob', said.ts, heard.id, ['bot'], said.payload]);
    assert.deepEqual(message.message, said);
    assert.equal((await bot.event('chat')).text, 'and \u{fffd} you');
    assert.equal((await bot.do('last')).id, said.id);

    await bob.close();
    assert.equal((await bot.event('presence', ({ change }) => change === 'leaves')).id, 'bob');
    await bot.do('chat', { text: 'last words' });
    await bot.do('leave');
    await bot.event('ended');
    assert.equal((await bot.do('state')).state, 'over');
    await bot.do('chat', { text: 'too late', err: 'ended' });
    assert.equal((await expect(alice, (json) => json.kind === 'chat' && json.from === 'bot')).payload.text, 'last words');
    await expect(alice, (json) => JSON.stringify(json.payload).includes('leave'));
    await bot.stop();
});

test('what was sent is judged: taken, or refused with a name', async () => {
    const topic = freshTopic();
    const bot = await startParticipant(gateway, 'bot', { topic });
    const alice = await gateway.join('alice', { topic });
    const { id } = await bot.do('send', { kind: 'chat', payload: { text: 'x' }, to: ['alice'], tag: 'one' });
    const sent = await bot.outcome('one');
    assert.deepEqual([sent.type, sent.id], ['sent', id]);
    assert.deepEqual((await expect(alice, (json) => json.kind === 'chat')).to, ['alice']);
    await bot.do('send', { kind: 'mcp/approve', correlation_id: 'none', tag: 'two' });
    const refused = await bot.outcome('two');
    assert.deepEqual([refused.type, refused.error, refused.by], ['refused', 'proposal_state', 'system:gateway']);
    assert.equal(refused.json.error, 'proposal_state');
    await bot.do('send', { kind: 'mcp/approve', correlation_id: 'none' });
    assert.equal((await bot.event('refusal')).error, 'proposal_state');

    for (const [args, err] of [
        [{ kind: 'participant/kick' }, 'forbidden'],
        [{ kind: 'No Kind' }, 'invalid'],
        [{ kind: 'system/error' }, 'invalid'],
        [{ kind: 'chat', payload: [] }, 'invalid'],
        [{ kind: 'chat', payload: { text: 'x'.repeat(1 << 20) } }, 'too_large'],
        [{ kind: 'chat', to: new Array(1025).fill('x') }, 'invalid'],
    ]) {
        const { why } = await bot.do('send', { ...args, err });
        assert.ok(why);
    }
    await bot.stop();
});

test('tools are listed and called, answered now and later', async () => {
    const topic = freshTopic();
    const bot = await startParticipant(gateway, 'bot', { topic, name: 'calculator', version: '2' });
    const asker = await startParticipant(gateway, 'alice', { topic });
    await bot.do('add_tool', { name: 'hello', says: 'world', description: 'greets' });
    await bot.do('add_tool', { name: 'later', input_schema: { type: 'object', properties: { a: { type: 'number' } } } });
    await bot.do('add_tool', { name: 'no good', err: 'invalid' });

    await asker.do('request', { to: 'bot', method: 'tools/list', tag: 'list' });
    const list = await asker.outcome('list');
    assert.equal(list.type, 'result');
    assert.deepEqual(list.json.tools, [
        { name: 'hello', inputSchema: { type: 'object' }, description: 'greets' },
        { name: 'later', inputSchema: { type: 'object', properties: { a: { type: 'number' } } } },
    ]);
    await asker.do('request', { to: 'bot', method: 'tools/call', name: 'hello', tag: 'now' });
    const now = await asker.outcome('now');
    assert.deepEqual([now.type, textOf(now), now.by], ['result', 'world', 'bot']);
    assert.equal((await bot.event('call')).call, 0);

    await asker.do('request', { to: 'bot', method: 'tools/call', name: 'later', arguments: { a: 1.5, b: ['\u0000'] }, tag: 'later' });
    const asked = await bot.event('call');
    assert.deepEqual([asked.from, asked.method, asked.name, asked.params.arguments],
        ['alice', 'tools/call', 'later', { a: 1.5, b: ['\u0000'] }]);
    await bot.do('progress', { call: asked.call, done: 0.1, total: 3, message: 'begun' });
    await bot.do('progress', { call: asked.call, done: 0.1, err: 'invalid' });
    const progress = await asker.event('progress');
    assert.deepEqual([progress.type, progress.done, progress.total, progress.message, progress.tag],
        ['underway', 0.1, 3, 'begun', 'later']);
    await bot.do('reply_json', { call: asked.call, result: { content: [], structuredContent: { sum: 2 } } });
    assert.deepEqual((await asker.outcome('later')).json, { content: [], structuredContent: { sum: 2 } });
    await bot.do('reply_text', { call: asked.call, text: 'twice', err: 'unknown' });

    for (const [reply, type, more] of [
        [['reply_failure', { text: 'no' }], 'tool_error', { message: /.*/ }],
        [['reply_error', { code: -5, message: 'bad' }], 'error', { message: /bad/, code: -5 }],
        [['reply_json', { result: [1], err: 'invalid' }], 'error', { message: /not a JSON object/, code: -32603 }],
        [['reply_text', { text: 'x'.repeat(1 << 20), err: 'too_large' }], 'error', { message: /too large/, code: -32603 }],
    ]) {
        await asker.do('request', { to: 'bot', method: 'tools/call', name: 'later', tag: type });
        const { call: number } = await bot.event('call');
        await bot.do(reply[0], { call: number, ...reply[1] });
        const outcome = await asker.outcome(type);
        assert.equal(outcome.type, type);
        assert.match(outcome.message, more.message);
        assert.equal(outcome.code, more.code ?? 0);
    }
    for (const [request, code] of [
        [{ method: 'tools/call', name: 'nothing' }, -32602],
        [{ method: 'tools/call', params: { name: 'later', arguments: 5 } }, -32602],
        [{ method: 'own/method' }, -32601],
    ]) {
        await asker.do('request', { to: 'bot', ...request, tag: 'bad' });
        const outcome = await asker.outcome('bad');
        assert.deepEqual([outcome.type, outcome.code], ['error', code]);
    }
    await Promise.all([bot.stop(), asker.stop()]);
});

test('a call that is cancelled, times out or loses its addressee ends once', async () => {
    const topic = freshTopic();
    const bot = await startParticipant(gateway, 'bot', { topic });
    const asker = await startParticipant(gateway, 'alice', { topic });
    const witness = await gateway.join('eve', { topic });
    await bot.do('add_tool', { name: 'slow' });
    const { id } = await asker.do('request', { to: 'bot', method: 'tools/call', name: 'slow', tag: 'cancel' });
    const first = await bot.event('call');
    witness.send(call('eve', 'bot', 'notifications/cancelled', undefined, {
        correlation_id: id, payload: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } },
    }));
    witness.chat('fence');
    await bot.event('chat');
    assert.deepEqual(bot.events.filter(({ event }) => event === 'cancelled'), []);
    await asker.do('cancel', { id, reason: 'enough' });
    assert.equal((await asker.outcome('cancel')).type, 'cancelled');
    assert.deepEqual(await bot.event('cancelled'), { event: 'cancelled', call: first.call, is_cancelled: true });
    await bot.do('reply_text', { call: first.call, text: 'nobody wants it' });
    await asker.do('cancel', { id, err: 'unknown' });
    await bot.do('chat', { text: 'fence' });
    await expect(witness, ({ from, kind }) => from === 'bot' && kind === 'chat');
    assert.deepEqual(witness.frames.filter(({ json }) => json.correlation_id === id && json.from === 'bot'), []);

    await asker.do('request', { to: 'bot', method: 'tools/call', name: 'slow', timeout_ms: 50, tag: 'late' });
    const late = await asker.outcome('late');
    assert.deepEqual([late.type, late.error], ['timed_out', 'timeout']);
    await bot.event('cancelled');

    await asker.do('request', { to: 'bot', method: 'tools/call', name: 'slow', tag: 'gone' });
    await bot.event('call');
    await bot.do('free');
    assert.equal((await asker.outcome('gone')).type, 'gone');
    assert.equal(asker.events.filter(({ event }) => event === 'done').length, 3);
    assert.deepEqual(asker.events.filter(({ event }) => event === 'offence'), []);
    await Promise.all([bot.stop(), asker.stop()]);
});

test('who serves more than its limit says so', async () => {
    const topic = freshTopic();
    const bot = await startParticipant(gateway, 'bot', { topic, served: 2 });
    const asker = await startParticipant(gateway, 'alice', { topic });
    await bot.do('add_tool', { name: 'slow' });
    for (const tag of ['a', 'b', 'c'])
        await asker.do('request', { to: 'bot', method: 'tools/call', name: 'slow', tag });
    const busy = await asker.outcome('c');
    assert.deepEqual([busy.type, busy.code], ['error', -32603]);
    assert.match(busy.message, /too many/);
    const { call: number } = await bot.event('call');
    await bot.event('call');
    await bot.do('reply_text', { call: number, text: 'a' });
    assert.equal(textOf(await asker.outcome('a')), 'a');
    await asker.do('request', { to: 'bot', method: 'tools/call', name: 'slow', tag: 'd' });
    await bot.event('call');
    await Promise.all([bot.stop(), asker.stop()]);

    const small = await startParticipant(gateway, 'bot', { topic, served_bytes: 50_000 });
    const alice = await gateway.join('alice', { topic });
    await small.do('add_tool', { name: 'slow' });
    alice.send(call('alice', 'bot', 'tools/call', { name: 'slow', arguments: { a: 'x'.repeat(30_000) } }));
    const answer = await expect(alice, ({ kind }) => kind === 'mcp/response:tools/call');
    assert.match(answer.payload.error.message, /too many/);
    alice.send(call('alice', 'bot', 'tools/call', { name: 'slow' }));
    await small.event('call');
    await small.stop();
});

test('resources, templates and prompts are listed, found and read', async () => {
    const topic = freshTopic();
    const bot = await startParticipant(gateway, 'bot', { topic });
    const alice = await gateway.join('alice', { topic });
    await bot.do('add_resource', { uri: 'note:one', name: 'one', mime_type: 'text/plain', says: 'first' });
    await bot.do('add_resource', { uri: 'log:{day}/{hour}', name: 'log' });
    await bot.do('add_resource', { uri: 'log:{+day}', err: 'invalid' });
    await bot.do('add_prompt', { name: 'greet', arguments: [{ name: 'who', required: true }], says: 'Greet them.' });
    const ask = async (method, params) => {
        alice.send(call('alice', 'bot', method, params));
        return (await expect(alice, ({ kind }) => kind === `mcp/response:${method}`)).payload;
    };

    assert.deepEqual((await ask('resources/list')).result, { resources: [{ uri: 'note:one', name: 'one', mimeType: 'text/plain' }] });
    assert.deepEqual((await ask('resources/templates/list')).result, { resourceTemplates: [{ uriTemplate: 'log:{day}/{hour}', name: 'log' }] });
    assert.deepEqual((await ask('prompts/list')).result, { prompts: [{ name: 'greet', arguments: [{ name: 'who', required: true }] }] });
    assert.deepEqual((await ask('resources/read', { uri: 'note:one' })).result,
        { contents: [{ uri: 'note:one', mimeType: 'text/plain', text: 'first' }] });
    assert.deepEqual((await ask('prompts/get', { name: 'greet', arguments: { who: 'bob' } })).result,
        { messages: [{ role: 'user', content: { type: 'text', text: 'Greet them.' } }] });
    assert.equal((await ask('prompts/get', { name: 'greet' })).error.code, -32602);
    assert.equal((await ask('resources/read', { uri: 'log:mon' })).error.code, -32602);
    alice.send(call('alice', 'bot', 'resources/read', { uri: 'log:mon/12' }));
    const { call: number, name } = await bot.event('call', ({ name: uri }) => uri === 'log:mon/12');
    assert.equal(name, 'log:mon/12');
    await bot.do('reply_failure', { call: number, text: 'no log' });
    assert.deepEqual((await expect(alice, ({ kind }) => kind === 'mcp/response:resources/read')).payload.error,
        { code: -32603, message: 'no log' });
    await bot.stop();
});

test('MCP clients of both eras are answered in their own', async () => {
    const topic = freshTopic();
    const bot = await startParticipant(gateway, 'bot', { topic, name: 'calc', version: '9' });
    const alice = await gateway.join('alice', { topic });
    await bot.do('add_tool', { name: 'hello', says: 'world' });
    const modern = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
    const ask = async (method, params) => {
        alice.send(call('alice', 'bot', method, params));
        return (await expect(alice, ({ kind }) => kind === `mcp/response:${method}`)).payload;
    };
    assert.deepEqual(await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {} }), {
        jsonrpc: '2.0', id: 7, result: {
            protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'calc', version: '9' },
        },
    });
    assert.deepEqual((await ask('ping')).result, {});
    assert.deepEqual((await ask('tools/call', { name: 'hello', ...modern })).result,
        { resultType: 'complete', content: [{ type: 'text', text: 'world' }] });
    const { resultType, ttlMs, cacheScope, supportedVersions } = (await ask('server/discover', modern)).result;
    assert.deepEqual([resultType, ttlMs, cacheScope, supportedVersions[0]], ['complete', 0, 'private', '2026-07-28']);
    assert.equal((await ask('ping', modern)).error.code, -32601);
    await bot.stop();
});

test('ids are repeated as they stood, and who must not be answered is not', async () => {
    const topic = freshTopic();
    const bot = await startParticipant(gateway, 'bot', { topic });
    const alice = await gateway.join('alice', { topic });
    await bot.do('add_tool', { name: 'hello', says: 'world' });
    const raw = (id) => JSON.stringify(call('alice', 'bot', 'tools/call', { name: 'hello' })).replace('"id":7', `"id":${id}`);
    for (const id of ['"a\\u0062\\/"', '1.50', '-0', '""']) {
        alice.send(raw(id));
        await expect(alice, ({ kind }) => kind === 'mcp/response:tools/call');
        assert.match(alice.latest.text, new RegExp(`"id":${id.replace(/[\\.]/g, '\\$&')},`));
    }
    const silent = [
        call('alice', 'bot', 'tools/call', { name: 'hello' }, { payload: { jsonrpc: '2.0', method: 'tools/call', params: { name: 'hello' } } }),
        call('alice', 'bot', 'notifications/tools/list_changed', undefined, { payload: { jsonrpc: '2.0', method: 'notifications/tools/list_changed' } }),
        call('alice', 'bob', 'tools/call', { name: 'hello' }), // for somebody else
        { ...call('alice', 'bot', 'tools/call', { name: 'hello' }), to: [] }, // everybody may not call
        { ...call('alice', 'bot', 'prompts/list'), to: [] }, // … and hears nothing of what there is not
        { ...call('alice', 'bot', 'own/list'), to: [] },
        { ...call('alice', 'bot', 'tools/list', { cursor: 'bad' }), to: [] }, // … nor of errors
    ];
    for (const one of silent)
        alice.send(one);
    alice.send({ ...call('alice', 'bot', 'tools/list'), to: [] });
    const kinds = [];
    for (;;) {
        const json = await expect(alice, ({ from }) => from === 'bot');
        kinds.push(json.kind);
        if (json.payload.result?.tools)
            break;
    }
    assert.deepEqual(kinds, ['mcp/response:tools/list']);
    await bot.stop();
});

test('other requests go to whoever serves them', async () => {
    const topic = freshTopic();
    const bot = await startParticipant(gateway, 'bot', { topic });
    const asker = await startParticipant(gateway, 'alice', { topic });
    await bot.do('serve_others', { says: 'whatever' });
    await asker.do('request', { to: 'bot', method: 'own/method', name: 'thing', params: { name: 'thing' }, tag: 'x' });
    const asked = await bot.event('call');
    assert.deepEqual([asked.method, asked.name, asked.params.name], ['own/method', 'thing', 'thing']);
    assert.equal(textOf(await asker.outcome('x')), 'whatever');
    await Promise.all([bot.stop(), asker.stop()]);
});

test('the room is told of changes once per step, and only what may be told', async () => {
    const topic = freshTopic();
    const alice = await gateway.join('alice', { topic });
    const bot = startProbe('bot');
    await bot.do('hold');
    await bot.do('new', { url: urlOf(gateway), topic, token: 'bot-token' });
    await bot.do('add_tool', { name: 'before' });
    await bot.do('go');
    await bot.event('welcome');
    await bot.do('hold');
    await bot.do('add_tool', { name: 'one' });
    await bot.do('add_tool', { name: 'two' });
    await bot.do('remove_tool', { name: 'one' });
    await bot.do('remove_tool', { name: 'one', err: 'unknown' });
    await bot.do('add_resource', { uri: 'x:{y}' });
    await bot.do('go');
    await bot.do('chat', { text: 'done' });
    const heard = [];
    for (;;) {
        const json = await expect(alice, ({ from }) => from === 'bot');
        if (json.kind === 'chat')
            break;
        heard.push([json.kind, json.to, json.payload]);
    }
    assert.deepEqual(heard.sort(), ['resources', 'tools'].map((what) => [`mcp/request:notifications/${what}/list_changed`, undefined,
        { jsonrpc: '2.0', method: `notifications/${what}/list_changed` }]));

    const mute = await startParticipant(gateway, 'mute', { topic });
    await mute.do('add_tool', { name: 'tool' });
    const asked = alice.send(call('alice', 'mute', 'tools/call', { name: 'tool' }));
    const { call: number } = await mute.event('call');
    await mute.do('reply_text', { call: number, text: 'x', err: 'forbidden' });
    alice.send(call('alice', 'mute', 'tools/list', undefined, { to: [] }));
    await expect(alice, ({ id }) => id === asked.id);
    alice.chat('fence', { to: ['mute'] });
    await mute.event('chat', ({ text }) => text === 'fence');
    assert.deepEqual(mute.events.filter(({ event }) => event === 'refusal'), []);
    assert.deepEqual(alice.frames.filter(({ json }) => json.from === 'mute'), []);
    await Promise.all([bot.stop(), mute.stop()]);
});

test('who may not call proposes; others fulfil, edit, reject; proposals are withdrawn', async () => {
    const topic = freshTopic();
    const bot = await startParticipant(gateway, 'bot', { topic });
    const prop = await startParticipant(gateway, 'prop', { topic });
    const bob = await startParticipant(gateway, 'bob', { topic });
    await bot.do('add_tool', { name: 'hello', says: 'world' });
    const request = { to: 'bot', method: 'tools/call', name: 'hello', arguments: { a: 1 }, reason: 'please' };

    const { id } = await prop.do('request', { ...request, tag: 'yes' });
    assert.equal((await prop.event('progress')).type, 'proposed');
    const seen = await bob.event('proposal');
    assert.deepEqual([seen.id, seen.proposer, seen.owner, seen.method, seen.name, seen.to, seen.params, seen.reason, seen.state, seen.is_mine],
        [id, 'prop', null, 'tools/call', 'hello', ['bot'], { name: 'hello', arguments: { a: 1 } }, 'please', 'open', false]);
    assert.deepEqual((await bob.do('proposals')).proposals.map((one) => one.id), [id]);
    await prop.do('fulfil', { id, err: 'state' });
    await bob.do('fulfil', { id, tag: 'fulfil' });
    assert.deepEqual([textOf(await bob.outcome('fulfil')), (await bob.do('proposal', { id })).state], ['world', 'fulfilled']);
    assert.deepEqual([(await prop.event('progress')).by], ['bob']);
    const yes = await prop.outcome('yes');
    assert.deepEqual([yes.type, textOf(yes), yes.by], ['result', 'world', 'bot']);
    await bob.do('reject', { id, err: 'state' });
    await bob.do('fulfil', { id: 'none', err: 'unknown' });

    const no = await prop.do('request', { ...request, tag: 'no' });
    await bob.event('proposal', (one) => one.id === no.id);
    await bob.do('reject', { id: no.id, reason: 'not today' });
    const declined = await prop.outcome('no');
    assert.deepEqual([declined.type, declined.error, declined.message, declined.by], ['declined', 'rejected', 'not today', 'bob']);

    const back = await prop.do('request', { ...request, tag: 'back' });
    await bob.event('proposal', (one) => one.id === back.id);
    await prop.do('cancel', { id: back.id, reason: 'never mind' });
    const withdrawn = await prop.outcome('back');
    assert.match(withdrawn.type, /cancelled|declined/);
    assert.equal((await bob.event('proposal', (one) => one.id === back.id && one.state !== 'open')).state, 'withdrawn');

    assert.deepEqual((await bob.do('proposals')).proposals.map((one) => [one.id, one.state]),
        [[id, 'fulfilled'], [no.id, 'rejected'], [back.id, 'withdrawn']]);
    await prop.do('request', { ...request, how: 'call', err: 'forbidden' });
    await Promise.all([bot.stop(), prop.stop(), bob.stop()]);
});

test('an answer of somebody else reaches nobody, and is counted', async () => {
    const topic = freshTopic();
    const asker = await startParticipant(gateway, 'alice', { topic });
    const bot = await gateway.join('bot', { topic });
    const eve = await gateway.join('eve', { topic });
    const { id } = await asker.do('request', { to: 'bot', method: 'tools/call', name: 'x', tag: 'x' });
    const asked = await expect(eve, (json) => json.id === id);
    const answer = (from, text) => envelope(from, 'mcp/response:tools/call:x', {
        correlation_id: id, to: ['alice'], payload: { jsonrpc: '2.0', id: asked.payload.id, result: { content: [{ type: 'text', text }] } },
    });
    eve.send(answer('eve', 'forged'));
    const offence = await asker.event('offence');
    assert.deepEqual([offence.from, offence.what, offence.count], ['eve', 'foreign_response', 1]);
    bot.send(answer('bot', 'real'));
    assert.equal(textOf(await asker.outcome('x')), 'real');
    bot.send(answer('bot', 'again'));
    const second = await asker.event('offence');
    assert.deepEqual([second.from, second.what], ['bot', 'second_response']);
    await asker.stop();
});

test('moot_run() steps until it is stopped by a signal, or is over', async () => {
    const topic = freshTopic();
    const alice = await gateway.join('alice', { topic });
    const bot = await startParticipant(gateway, 'bot', { topic });
    await bot.do('add_tool', { name: 'hello', says: 'world' });
    const running = bot.do('run');
    alice.send(call('alice', 'bot', 'tools/call', { name: 'hello' }));
    await expect(alice, ({ kind }) => kind === 'mcp/response:tools/call');
    bot.kill('SIGUSR1');
    await running;
    await bot.do('leave');
    await bot.event('ended');
    await bot.do('run', { err: 'ended' });
    await bot.stop();
});

test('options that are wrong are refused with a reason, and a token is not repeated', async () => {
    const probe = startProbe();
    for (const [options, why] of [
        [{}, /no url/],
        [{ url: 'ws://127.0.0.1:1' }, /no topic/],
        [{ url: 'ftp://x', topic: 't' }, /./],
        [{ url: urlOf(gateway), topic: '' }, /./],
        [{ url: urlOf(gateway), topic: 't', token: 'se\ncret' }, /./],
        [{ url: urlOf(gateway), topic: 't', depth: 5000 }, /depth/],
        [{ url: urlOf(gateway), topic: 't', envelope_bytes: 2 ** 60 }, /envelope_bytes is above/],
        [{ url: urlOf(gateway), topic: 't', outbox_bytes: 2 ** 63 }, /outbox_bytes is above/],
        [{ url: urlOf(gateway), topic: 't', served_bytes: 2 ** 63 }, /served_bytes is above/],
        [{ url: urlOf(gateway), topic: 't', participants: 2 ** 60 }, /participants is above/],
        [{ url: urlOf(gateway), topic: 't', recent: 2 ** 62 }, /recent is above/],
        [{ url: urlOf(gateway), topic: 't', after: 'x'.repeat(300) }, /after/],
    ]) {
        const answer = await probe.do('new', { ...options, err: 'invalid' });
        assert.match(answer.why, why);
        assert.doesNotMatch(answer.why, /cret/);
        await probe.event('ended');
        await probe.do('chat', { text: 'x', err: 'ended' });
        assert.equal((await probe.do('state')).state, 'over');
    }
    await probe.do('new', { url: urlOf(gateway), topic: 'room', token: 'wrong-secret' });
    const { why } = await probe.event('ended');
    assert.match(why, /401/);
    assert.doesNotMatch(why, /secret/);
    await probe.stop();
});

test('JSON is read as it is written', async () => {
    const probe = startProbe();
    await probe.do('new', { err: 'invalid' });
    for (const json of [{ a: [1, -2.5, 'x\ny', null, true, false, [], {}], '': { b: { c: [['d']] } } }, 'text', 7, [[[]]], null])
        assert.deepEqual((await probe.do('parse', { text: JSON.stringify(json) })).json, json);
    assert.equal((await probe.do('parse', { text: '"a\\u0000b"' })).json, 'a\u{fffd}b');
    for (const text of ['', '{', '{"a":1,"a":2}', '[1,]', `${'['.repeat(129)}${']'.repeat(129)}`])
        await probe.do('parse', { text, err: 'invalid' });
    await probe.stop();
});
