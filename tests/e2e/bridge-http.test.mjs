// SPDX-License-Identifier: Apache-2.0
// `moot bridge --url`: servers over HTTP in a room, one of each era; two callers at a time.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { caller, startBridge } from './bridges.mjs';
import { people, person, startGateway } from './gateway.mjs';
import { everything, freePort, startServer } from './urls.mjs';

let alice, bob, gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [...people('alice', 'bob'), ...['old', 'new'].map((id) =>
            person(id, { capabilities: undefined, profile: 'bridge' }))],
    });
    alice = await gateway.join('alice', { topic: 'room' });
    bob = await gateway.join('bob', { topic: 'room' });
});
after(() => gateway.stop());

const textOf = ({ content }) => content.map(({ text }) => text).join('\n');

test('legacy: what is asked on the stream of a call goes to its caller, though many share the server', async () => {
    const port = await freePort();

    await startServer([everything, 'streamableHttp'], { env: { PORT: port }, ready: /listening on port/i });
    const bridge = await startBridge(gateway, ['--url', `http://127.0.0.1:${port}/mcp`], null, { as: 'old', watcher: alice });
    const rpc = caller(alice, 'old');
    const others = caller(bob, 'old');

    rpc.answer('sampling/createMessage', () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'of alice' } }));
    others.answer('sampling/createMessage', () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'of bob' } }));
    const results = await Promise.all([rpc, others].map((who) =>
        who.call('trigger-sampling-request', { prompt: 'p', maxTokens: 5 })));
    assert.match(textOf(results[0]), /of alice/);
    assert.match(textOf(results[1]), /of bob/);
    assert.equal((await bridge.stop()).status, 0);
});

test('modern: questions, progress and changes reach a room that speaks the older way', async () => {
    const server = await startServer([fileURLToPath(new URL('./modern-server.mjs', import.meta.url))], { ready: /^\d+\n/ });
    const bridge = await startBridge(gateway, ['--url', `http://127.0.0.1:${server.output().trim()}/mcp`], null,
                                     { as: 'new', watcher: alice });
    const rpc = caller(alice, 'new');
    let asked;

    rpc.answer('elicitation/create', (params, envelope) => {
        asked = envelope;
        return { action: 'accept', content: { name: 'Ada' } };
    });
    assert.deepEqual(await rpc.call('add', { a: 2, b: 3 }), { content: [{ type: 'text', text: '5' }] });
    assert.equal(textOf(await rpc.call('place', { region: 'eu' })), 'eu eu');
    const sent = rpc.send('tools/call', { name: 'greet', arguments: {} });
    assert.equal(textOf((await rpc.answered(sent)).payload.result), 'hello Ada');
    assert.equal(asked.correlation_id, sent.id);
    await rpc.result('tools/call', { name: 'count', arguments: {}, _meta: { progressToken: 'mine' } });
    await rpc.told('notifications/progress', ({ payload }) => payload.params.progressToken === 'mine');
    assert.equal((await bridge.stop()).status, 0);
});
