// SPDX-License-Identifier: Apache-2.0
// What a bridge lets through between a server and a room, and what it does not.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { caller, startBridge } from './bridges.mjs';
import { people, person, startGateway } from './gateway.mjs';

const script = fileURLToPath(new URL('scripted-server.mjs', import.meta.url));
let alice, gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [...people('alice'), ...['tool', 'busy', 'shown', 'rising', 'bare', 'full'].map((id) =>
            person(id, { capabilities: undefined, profile: 'bridge' }))],
    });
    alice = await gateway.join('alice', { topic: 'room' });
});
after(() => gateway.stop());

const start = (as, capabilities, ...options) =>
    startBridge(gateway, ['--sandbox', 'off', ...options], [process.execPath, script, JSON.stringify(capabilities)],
                { as, watcher: alice });
const said = ({ content }) => JSON.parse(content[0].text);
const form = (properties, more) => ({ message: 'm', requestedSchema: { type: 'object', properties, ...more } });

test('questions and answers that do not fit go nowhere, and it is said why', async () => {
    const bridge = await start('tool', { tools: {} });
    const rpc = caller(alice, 'tool');
    const asked = [];
    let answer;
    const ask = async (method, params, with_) => {
        answer = with_;
        return said(await rpc.call('say', { messages: [{ id: 'q', method, params }] }))[0];
    };

    for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list'])
        rpc.answer(method, (params) => { asked.push(params); return answer; });

    // What cannot be asked.
    for (const [method, params, why] of [
        ['elicitation/create', form({ a: { type: 'object' } }), /^the question cannot be asked: a: its type/],
        ['elicitation/create', { mode: 'url', message: 'm', url: 'javascript:alert(1)', elicitationId: 'e' }, /neither https/],
        ['elicitation/create', { message: 'm', mode: 'voice' }, /./],
        ['sampling/createMessage', { maxTokens: 1, messages: [{ role: 'user', content: [
            { type: 'tool_result', toolUseId: 'a', content: [] }] }] }, /messages\[0\]: a tool_result answers no tool_use/],
    ]) {
        const { error } = await ask(method, params, {});

        assert.equal(error.code, -32602);
        assert.match(error.message, why);
    }
    assert.equal(asked.length, 0, 'nobody saw them');

    // What is no answer.
    for (const [method, params, with_, why] of [
        ['elicitation/create', form({ a: { type: 'integer' } }), { action: 'accept', content: { a: 'x' } },
         /^the answer does not fit: a: it is not an integer/],
        ['elicitation/create', form({}), { action: 'maybe' }, /action is none of/],
        ['sampling/createMessage', { maxTokens: 1, messages: [] }, { role: 'assistant' }, /content is missing/],
        ['roots/list', {}, { roots: [{ uri: 'https://x/' }] }, /roots\[0\]: uri is no file/],
    ]) {
        const { error } = await ask(method, params, with_);

        assert.equal(error.code, -32602);
        assert.match(error.message, why);
    }

    // What is one.
    assert.deepEqual(await ask('elicitation/create', form({ a: { type: 'string', default: 'A' }, b: { type: 'number' } }),
                               { action: 'accept', content: { b: 2.5 } }),
                     { result: { action: 'accept', content: { b: 2.5, a: 'A' } } });
    assert.deepEqual(await ask('roots/list', {}, { roots: [{ uri: 'file:///a' }] }), { result: { roots: [{ uri: 'file:///a' }] } });
    await bridge.stop();
});

test('a call that asks on and on is stopped', async () => {
    const bridge = await start('busy', { tools: {} });
    const rpc = caller(alice, 'busy');

    rpc.answer('elicitation/create', () => ({ action: 'decline' }));
    const answers = said(await rpc.call('say', {
        messages: Array.from({ length: 300 }, (_, id) => ({ id, method: 'elicitation/create', params: form({}) })),
    }));
    const refused = answers.filter(({ error }) => error?.message === 'this call asks too often');

    assert.ok(answers.slice(0, 32).every(({ result }) => result?.action === 'decline'), 'the first ones are asked');
    assert.ok(refused.length > 0);
    await bridge.stop();
});

test('the end of a URL is told once, to who was shown it; an error may show one as well', async () => {
    const bridge = await start('shown', { tools: {} });
    const rpc = caller(alice, 'shown');
    const complete = (elicitationId) => ({ method: 'notifications/elicitation/complete', params: { elicitationId } });
    const url = (elicitationId, more) => ({ mode: 'url', message: 'm', url: 'https://x/', elicitationId, ...more });
    const ends = () => alice.frames.map(({ json }) => json)
        .filter(({ kind }) => kind === 'mcp/request:notifications/elicitation/complete')
        .map(({ payload }) => payload.params.elicitationId);
    const needed = (...elicitations) => rpc.error('tools/call', { name: 'say', arguments: {
        error: { code: -32042, message: 'first', data: { elicitations } } } });

    rpc.answer('elicitation/create', () => ({ action: 'accept' }));
    await rpc.call('say', { messages: [{ id: 1, method: 'elicitation/create', params: url('one') },
                                       complete('none'), complete('one'), complete('one')] });
    assert.equal((await needed(url('two'))).code, -32042);
    await rpc.call('say', { messages: [complete('two'), complete('two')] });
    assert.deepEqual(ends(), ['one', 'two']);
    const { code, message } = await needed(url('three', { url: 'file:///etc/passwd' }));
    assert.equal(code, -32603);
    assert.match(message, /-32042 cannot be shown: url is neither https nor http/);
    await bridge.stop();
});

test('progress rises, and its last value comes before the answer', async () => {
    const bridge = await start('rising', { tools: {} });
    const rpc = caller(alice, 'rising');
    const tell = (progress, token = '$token') => ({ method: 'notifications/progress', params: { progressToken: token, progress } });
    const sent = rpc.send('tools/call', { name: 'say', _meta: { progressToken: 'mine' }, arguments: {
        messages: [tell(1), tell(2), tell(2), tell(1), tell(7, 'unknown'), tell(7, 999), ...Array.from({ length: 500 }, (_, i) => tell(3 + i))] } });

    await rpc.answered(sent);
    const seen = alice.frames.map(({ json }) => json).filter(({ correlation_id }) => correlation_id === sent.id);
    const values = seen.filter(({ kind }) => kind === 'mcp/request:notifications/progress').map(({ payload }) => payload.params.progress);

    assert.deepEqual(values, [...new Set(values)].sort((a, b) => a - b), 'rising');
    assert.equal(values[0], 1);
    assert.equal(values.at(-1), 502);
    assert.ok(values.length < 400, `${values.length} of 502`);
    assert.match(seen.at(-1).kind, /^mcp\/response:/);
    await bridge.stop();
});

test('a server is sent nothing that it did not declare', async () => {
    const bridge = await start('bare', { tools: {} });
    const rpc = caller(alice, 'bare');
    const methods = ['prompts/list', 'prompts/get', 'resources/list', 'resources/templates/list', 'resources/read',
                     'resources/subscribe', 'completion/complete', 'logging/setLevel', 'tasks/list', 'tasks/get',
                     'tasks/result', 'tasks/cancel'];

    for (const method of methods) {
        const { code, message } = await rpc.error(method, { name: 'x', uri: 'x:y', level: 'info', taskId: 't' });

        assert.equal(code, -32601, method);
        assert.match(message, new RegExp(`^the server does not offer ${method}: it declares no `));
    }
    // `task` is the business of a server that has tasks; others are not sent it.
    const heard = said(await rpc.call('heard', {}, { task: {} }));

    assert.equal(heard.task, undefined);
    assert.deepEqual(new Set(heard.methods), new Set(['initialize', 'notifications/initialized', 'tools/list', 'tools/call']
        .concat(heard.methods.includes('server/discover') ? ['server/discover'] : [])));
    await bridge.stop();
});

test('a task is asked of a tool that runs as one; changes of roots reach the server', async () => {
    const bridge = await start('full', { tools: {}, tasks: { requests: { tools: { call: {} } } } });
    const rpc = caller(alice, 'full');
    const { code, message } = await rpc.error('tools/call', { name: 'say', arguments: {}, task: {} });

    assert.equal(code, -32601);
    assert.equal(message, 'this tool does not run as a task');
    alice.send({ protocol: 'mcpx/v0.1', id: 'roots-changed', from: 'alice', to: ['full'],
                 kind: 'mcp/request:notifications/roots/list_changed',
                 payload: { jsonrpc: '2.0', method: 'notifications/roots/list_changed' } });
    assert.ok(said(await rpc.call('heard')).methods.includes('notifications/roots/list_changed'));
    assert.deepEqual(said(await rpc.call('heard', {}, { task: {} })).task, {});
    await bridge.stop();
});
