// SPDX-License-Identifier: Apache-2.0
// An MCP server as a participant: `moot bridge` with a tiny server on its standard streams.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { caller, echo, isTrusted, startBridge } from './bridges.mjs';
import { expect, people, person, startGateway, within } from './gateway.mjs';
import { moot, startMoot } from './moot.mjs';

const off = ['--sandbox', 'off'];
let alice, bob, gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [...people('alice', 'bob', 'carol'), ...['tool', 'own', 'other'].map((id) =>
            person(id, { capabilities: undefined, profile: 'bridge' }))],
    });
    alice = await gateway.join('alice', { topic: 'room' });
    bob = await gateway.join('bob', { topic: 'room' });
});
after(() => gateway.stop());

const textOf = ({ content }) => content.map(({ text }) => text).join('\n');

for (const era of ['legacy', 'modern', 'exit-on-probe'])
    test(`${era}: what the server offers is listed, verbatim, and called`, async () => {
        const bridge = await startBridge(gateway, off, [echo, `--${era}`],
                                         { watcher: alice, env: { MOOT_DATA: path.join(gateway.data, era) } });
        const rpc = caller(alice, 'tool');
        const { tools, ...rest } = await rpc.result('tools/list');

        assert.ok(tools.some(({ name }) => name === 'echo'));
        assert.deepEqual(rest, {}, 'nothing of the other era');
        assert.deepEqual(await rpc.call('echo', { text: 'hi' }), { content: [{ type: 'text', text: 'hi' }] });
        assert.equal((await rpc.error('tools/call', { name: 'nothing', arguments: {} })).code, -32602);
        assert.equal((await rpc.error('prompts/get', { name: 'nothing' })).code, -32601, 'it declares no prompts');
        rpc.answer('elicitation/create', () => ({ action: 'accept', content: { ok: true } }));
        assert.match(textOf(await rpc.call('ask', { message: 'really?' })), /accept/);
        assert.equal((await bridge.stop()).status, 0);
    });

test('ids of any type come back as they were', async () => {
    const bridge = await startBridge(gateway, off, [echo], { watcher: alice });
    const rpc = caller(alice, 'tool');

    for (const id of [7, 'seven', 1e15]) {
        const { payload } = await rpc.ask('tools/call', { name: 'echo', arguments: { text: 'x' } }, { rpcId: id });

        assert.deepEqual(payload.id, id);
    }
    await bridge.stop();
});

test('a crash ends the calls that it took, and the next call finds another server', async () => {
    const bridge = await startBridge(gateway, off, [echo], { watcher: alice });
    const rpc = caller(alice, 'tool');
    const first = textOf(await rpc.call('pid'));
    const error = await rpc.error('tools/call', { name: 'crash', arguments: {} });

    assert.equal(error.code, -32603);
    assert.equal(error.data.reason, 'server_died');
    assert.notEqual(textOf(await rpc.call('pid')), first);
    await bridge.stop();
});

test('a call that is cancelled is not answered', async () => {
    const bridge = await startBridge(gateway, off, [echo], { watcher: alice });
    const rpc = caller(alice, 'tool');
    const sent = rpc.send('tools/call', { name: 'silent', arguments: {} });

    alice.send({ protocol: 'mcpx/v0.1', id: `cancel-${sent.id}`, from: 'alice', to: ['tool'],
                 kind: 'mcp/request:notifications/cancelled', correlation_id: sent.id,
                 payload: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: sent.id } } });
    assert.equal(textOf(await rpc.call('echo', { text: 'still here' })), 'still here');
    assert.ok(!alice.frames.some(({ json }) => json.correlation_id === sent.id && json.kind.startsWith('mcp/response')));
    await bridge.stop();
});

test('a question of a server that many share is not given to anybody where it cannot be told whose it is', async () => {
    const bridge = await startBridge(gateway, off, [echo, '--legacy'], { watcher: alice });
    const rpc = caller(alice, 'tool');
    const others = caller(bob, 'tool');

    rpc.answer('elicitation/create', () => ({ action: 'accept', content: { by: 'alice' } }));
    others.answer('elicitation/create', () => ({ action: 'accept', content: { by: 'bob' } }));
    await rpc.call('echo', { text: 'ready' });
    const slow = others.send('tools/call', { name: 'silent', arguments: {} });
    assert.doesNotMatch(textOf(await rpc.call('ask', { message: 'whose?' })), /"by"/);
    void slow;
    await bridge.stop();
});

test('per-caller: each has a server of his own, and is asked by it alone', async () => {
    const bridge = await startBridge(gateway, [...off, '--mode', 'per-caller'], [echo, '--legacy'],
                                     { as: 'own', watcher: alice });
    const rpc = caller(alice, 'own');
    const others = caller(bob, 'own');

    rpc.answer('elicitation/create', () => ({ action: 'accept', content: { by: 'alice' } }));
    others.answer('elicitation/create', () => ({ action: 'accept', content: { by: 'bob' } }));
    const [one, two] = await Promise.all([rpc.call('pid'), others.call('pid')]);
    assert.notEqual(textOf(one), textOf(two));
    others.send('tools/call', { name: 'silent', arguments: {} });
    assert.match(textOf(await rpc.call('ask', { message: 'whose?' })), /alice/);

    // Whoever leaves takes his server along.
    const carol = await gateway.join('carol', { topic: 'room' });
    const pid = Number(textOf(await caller(carol, 'own').call('pid')));
    assert.ok(process.kill(pid, 0));
    await carol.close();
    await within((async () => {
        for (;;) {
            try { process.kill(pid, 0); } catch { return; }
            await new Promise((resolve) => { setTimeout(resolve, 20); });
        }
    })(), 'the end of her server');
    await bridge.stop();
});

test('a tool that has changed is held, also for the next bridge', async () => {
    const start = () => startBridge(gateway, off, [echo, '--legacy'], { as: 'other', watcher: alice });
    const rpc = caller(alice, 'other');
    let bridge = await start();

    assert.ok((await rpc.result('tools/list')).tools.some(({ name }) => name === 'echo'));
    await isTrusted(gateway, 'other');
    await rpc.call('change');
    await rpc.told('notifications/tools/list_changed');
    assert.ok(!(await rpc.result('tools/list')).tools.some(({ name }) => name === 'echo'));
    assert.match((await rpc.error('tools/call', { name: 'echo', arguments: { text: 'x' } })).message, /^held: /);
    await bridge.stop();
    bridge = await start();
    await rpc.call('change');
    assert.match((await rpc.error('tools/call', { name: 'echo', arguments: { text: 'x' } })).message, /^held: /);
    await bridge.stop();
});

test('the room is told how it is', async () => {
    const bridge = await startBridge(gateway, off, [echo], { watcher: alice });
    const rpc = caller(alice, 'tool');

    await rpc.call('echo', { text: 'x' });
    const { payload } = await rpc.heard((json) => json.from === 'tool' && json.payload.status === 'ready', 'ready');
    assert.equal(payload.server, 'tool');
    await bridge.stop();
    await rpc.heard((json) => json.from === 'tool' && json.payload.status === 'stopped', 'stopped');
});

test('what it writes to standard error is ours to read, without its secrets', async () => {
    const bridge = await startBridge(gateway, [...off, '--secret', 'KEY=env:MY_KEY'], [echo],
                                     { watcher: alice, env: { MY_KEY: 'hunter2hunter2' } });

    await caller(alice, 'tool').call('noise', { text: 'my key is hunter2hunter2 today' });
    await bridge.told(/my key is \*\*\* today/);
    assert.doesNotMatch((await bridge.stop()).stderr, /hunter2/);
});

test('at the local server it makes a token of its own, and takes it back', async () => {
    const env = { MOOT_DATA: gateway.data };
    const bridge = startMoot(null, null, ['bridge', 'room', '--as', 'guest', '--yes', ...off, '--', echo], { env });

    await expect(alice, (json) => json.from === 'guest' && json.kind === 'participant/status');
    assert.equal(textOf(await caller(alice, 'guest').call('echo', { text: 'x' })), 'x');
    bridge.child.kill('SIGTERM');
    assert.equal((await bridge.ended()).status, 0);
    assert.doesNotMatch((await moot(null, null, ['token', 'list'], { env })).stdout, /guest/);
});

const refused = [
    ['nobody to be', ['room', '--', echo], 2, /--as/],
    ['neither command nor url', ['room', '--as', 'tool'], 2, /no command.*--url/],
    ['a level that there is not', ['room', '--as', 'tool', '--sandbox', 'some', '--', echo], 2, /strict, basic, off/],
    ['a secret among the arguments', ['room', '--as', 'tool', '--secret', 'KEY=hunter2', '--', echo], 2, /never from arguments/],
    ['a network that off cannot limit', ['room', '--as', 'tool', ...off, '--network', 'none', '--', echo], 2, /network/],
    ['a path that is not there', ['room', '--as', 'tool', '--read', '/no/such', '--', echo], 2, /\/no\/such/],
    ['a command for the first time', ['room', '--as', 'tool', ...off, '--', echo], 1, /--explain/],
    ['a command that is not there', ['room', '--as', 'tool', '--yes', ...off, '--explain', '--', 'no-such-command'], 1, /no-such-command/],
];

for (const [what, args, status, message] of refused)
    test(`refused: ${what}`, async () => {
        const end = await moot(gateway, 'tool', ['bridge', ...args],
                               { env: { MOOT_DATA: fs.mkdtempSync(path.join(gateway.data, 'fresh-')) } });

        assert.equal(end.status, status);
        assert.match(end.stderr, message);
        assert.doesNotMatch(end.stderr, /hunter2/);
    });

test('--explain says what would be started, and starts nothing', async () => {
    const end = await moot(gateway, 'tool', ['bridge', 'room', '--as', 'tool', '--explain', '--env', 'A=b', '--', echo],
                           { env: { MOOT_DATA: fs.mkdtempSync(path.join(gateway.data, 'fresh-')) } });

    assert.equal(end.status, 0);
    assert.match(end.stdout, /mcp_echo/);
});

test('the gateway goes and comes back: the bridge takes its place again, and no answer is lost', async () => {
    const bridge = await startBridge(gateway, off, [echo], { watcher: alice });

    await caller(alice, 'tool').call('echo', { text: 'x' });
    await gateway.kill();
    gateway = await gateway.restart();
    alice = await gateway.join('alice', { topic: 'room', isPresent: true });
    await expect(alice, (json) => json.from === 'tool' && json.kind === 'participant/status');
    assert.equal(textOf(await caller(alice, 'tool').call('echo', { text: 'again' })), 'again');
    await bridge.stop();
});
