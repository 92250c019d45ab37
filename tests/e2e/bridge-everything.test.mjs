// SPDX-License-Identifier: Apache-2.0
// server-everything from npm, in a room, under the strict sandbox: all that a server may do.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { caller, mcpServer, nodeModules, startBridge } from './bridges.mjs';
import { people, person, startGateway } from './gateway.mjs';

let alice, bob, bridge, gateway, rpc;

before(async () => {
    gateway = await startGateway({
        tokens: [...people('alice', 'bob'), person('tool', { capabilities: undefined, profile: 'bridge' })],
    });
    alice = await gateway.join('alice', { topic: 'room' });
    bob = await gateway.join('bob', { topic: 'room' });
    bridge = await startBridge(gateway, ['--read', nodeModules, '--root', 'file:///srv/one'], mcpServer('everything'),
                               { watcher: alice });
    rpc = caller(alice, 'tool');
});
after(async () => {
    assert.equal((await bridge.stop()).status, 0);
    await gateway.stop();
});

const textOf = ({ content }) => content.map(({ text }) => text).join('\n');

test('it says who it is, and its lists are whole', async () => {
    const { serverInfo } = await rpc.result('initialize', { protocolVersion: '2025-06-18', capabilities: {},
                                                            clientInfo: { name: 't', version: '1' } });
    const { tools } = await rpc.result('tools/list');
    const { resources } = await rpc.result('resources/list');
    const { resourceTemplates } = await rpc.result('resources/templates/list');
    const { prompts } = await rpc.result('prompts/list');

    assert.equal(serverInfo.name, 'mcp-servers/everything');
    assert.ok(tools.length >= 13 && resources.length && resourceTemplates.length && prompts.length);
    assert.equal(textOf(await rpc.call('get-sum', { a: 2, b: 40 })), 'The sum of 2 and 40 is 42.');
});

test('resources are read, prompts got, arguments completed', async () => {
    const { resources } = await rpc.result('resources/list');
    const { contents } = await rpc.result('resources/read', { uri: resources[0].uri });
    const prompt = await rpc.result('prompts/get', { name: 'simple-prompt' });
    const { completion } = await rpc.result('completion/complete', {
        ref: { type: 'ref/prompt', name: 'completable-prompt' }, argument: { name: 'department', value: 'E' },
    });

    assert.equal(contents[0].uri, resources[0].uri);
    assert.ok(prompt.messages.length);
    assert.deepEqual(completion.values, ['Engineering']);
});

test('progress goes to the caller, with his token and bound to his call', async () => {
    const sent = rpc.send('tools/call', { name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 },
                                          _meta: { progressToken: 77 } });

    await rpc.answered(sent);
    const told = alice.frames.map(({ json }) => json).filter(({ kind }) => kind === 'mcp/request:notifications/progress');
    assert.deepEqual(told.map(({ payload }) => payload.params), [1, 2, 3].map((progress) =>
        ({ progressToken: 77, progress, total: 3 })));
    assert.ok(told.every(({ correlation_id, to }) => correlation_id === sent.id && to[0] === 'alice'));
    assert.ok(bob.frames.every(({ json }) => json.kind !== 'mcp/request:notifications/progress' || json.to?.[0] === 'alice'));
});

test('what the server asks goes to whoever called, bound to that call', async () => {
    let asked;

    rpc.answer('sampling/createMessage', (params, envelope) => {
        asked = { params, envelope };
        return { role: 'assistant', model: 'none', content: { type: 'text', text: 'forty-two' } };
    });
    const sent = rpc.send('tools/call', { name: 'trigger-sampling-request', arguments: { prompt: 'say', maxTokens: 5 } });
    const { payload } = await rpc.answered(sent);

    assert.match(textOf(payload.result), /forty-two/);
    assert.equal(asked.params.maxTokens, 5);
    assert.equal(asked.envelope.correlation_id, sent.id);
    assert.deepEqual(asked.envelope.to, ['alice']);
});

test('elicitation asks the caller as well', async () => {
    rpc.answer('elicitation/create', () => ({ action: 'accept', content: { name: 'Alice', check: true } }));
    assert.match(textOf(await rpc.call('trigger-elicitation-request')), /Alice/);
    rpc.answer('elicitation/create', () => ({ action: 'decline' }));
    assert.match(textOf(await rpc.call('trigger-elicitation-request')), /declined/i);
});

test('a question that is answered with an error ends the call, not the bridge', async () => {
    rpc.answer('sampling/createMessage', () => ({ error: { code: -32601, message: 'not here' } }));
    const result = await rpc.call('trigger-sampling-request', { prompt: 'say', maxTokens: 5 });

    assert.equal(result.isError, true);
    assert.match(textOf(result), /not here/);
});

test('roots that are configured are answered by the bridge', async () => {
    assert.match(textOf(await rpc.call('get-roots-list')), /file:\/\/\/srv\/one/);
});

test('a tool that must run as a task runs as one', async () => {
    rpc.answer('elicitation/create', () => ({ action: 'accept', content: { interpretation: 'technical' } }));
    assert.match(textOf(await rpc.call('simulate-research-query', { topic: 'rooms', ambiguous: false })), /rooms/);
});

test('a task of one\'s own is polled by its owner alone', async () => {
    const { task } = await rpc.result('tools/call', { name: 'simulate-research-query', arguments: { topic: 'rooms' },
                                                      task: { ttl: 60_000 } });
    const other = caller(bob, 'tool');

    assert.equal((await rpc.result('tasks/get', { taskId: task.taskId })).taskId, task.taskId);
    assert.equal((await other.error('tasks/get', { taskId: task.taskId })).code, -32602);
    assert.deepEqual((await rpc.result('tasks/list')).tasks.map(({ taskId }) => taskId), [task.taskId]);
    assert.deepEqual((await other.result('tasks/list')).tasks, []);
    assert.match(textOf(await rpc.result('tasks/result', { taskId: task.taskId })), /rooms/);
});

test('a modern caller finds the questions and the end of his task in it', async () => {
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28',
                    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } } };
    const { capabilities } = await rpc.result('server/discover', { _meta });
    const { resultType, taskId } = await rpc.result('tools/call', {
        name: 'simulate-research-query', arguments: { topic: 'rooms', ambiguous: true }, _meta,
    });
    const look = () => rpc.result('tasks/get', { taskId, _meta });
    let task = await look();

    assert.deepEqual(capabilities.extensions['io.modelcontextprotocol/tasks'], {});
    assert.equal(resultType, 'task');
    for (; task.status === 'working'; task = await look())
        await pause(50);
    assert.equal(task.status, 'input_required');
    const [[key, { method, params }]] = Object.entries(task.inputRequests);
    assert.equal(method, 'elicitation/create');
    assert.equal(params._meta?.['io.modelcontextprotocol/related-task'], undefined);
    const update = await rpc.result('tasks/update', {
        taskId, inputResponses: { [key]: { action: 'accept', content: { interpretation: 'technical' } } }, _meta,
    });
    assert.equal(update.resultType, 'complete');
    for (task = await look(); task.status === 'working'; task = await look())
        await pause(50);
    assert.equal(task.status, 'completed', JSON.stringify(task));
    assert.match(textOf(task.result), /rooms/);
    assert.equal(task.result._meta?.['io.modelcontextprotocol/related-task'], undefined);
    assert.equal((await rpc.result('tasks/cancel', { taskId, _meta })).resultType, 'complete');
});

test('updates go to those who subscribed', async () => {
    const uri = 'demo://resource/dynamic/text/1';

    assert.deepEqual(await rpc.result('resources/subscribe', { uri }), {});
    await rpc.call('toggle-subscriber-updates');
    const told = await rpc.told('notifications/resources/updated', ({ payload }) => payload.params.uri === uri);
    assert.deepEqual(told.to, ['alice']);
    assert.deepEqual(await rpc.result('resources/unsubscribe', { uri }), {});
    await rpc.call('toggle-subscriber-updates');
});

test('messages go to those who want that level', async () => {
    assert.equal((await rpc.error('logging/setLevel', { level: 'loud' })).code, -32602);
    assert.deepEqual(await rpc.result('logging/setLevel', { level: 'debug' }), {});
    await rpc.call('toggle-simulated-logging');
    assert.deepEqual((await rpc.told('notifications/message')).to, ['alice']);
    await rpc.call('toggle-simulated-logging');
});

test('a caller of the modern era gets what that demands', async () => {
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const list = await rpc.result('tools/list', { _meta });
    const result = await rpc.result('tools/call', { name: 'echo', arguments: { message: 'hi' }, _meta });

    assert.equal(list.resultType, 'complete');
    assert.equal(list.ttlMs, 0);
    assert.equal(result.resultType, 'complete');
    assert.equal((await rpc.error('initialize', { _meta })).code, -32601);
});

test('its environment is what it was given, and nothing of ours', async () => {
    const env = JSON.parse(textOf(await rpc.call('get-env')));

    assert.ok(!('MOOT_TOKEN' in env) && !('MOOT_DATA' in env));
});
