// SPDX-License-Identifier: Apache-2.0
// Answers of `moot bridge` that the gateway had no time to judge, or no room for: each arrives,
// and arrives once.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';

import { caller, echo, startBridge } from './bridges.mjs';
import { people, person, startGateway } from './gateway.mjs';

const off = ['--sandbox', 'off'];
const bridgePerson = person('tool', { capabilities: undefined, profile: 'bridge' });
const answersTo = (client, { id }) =>
    client.frames.filter(({ json }) => json.correlation_id === id && json.kind.startsWith('mcp/response:'));
const counted = async (gateway, name) =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await gateway.request('GET /metrics')).text)[1]);

async function begun(ledger, text) {
    while (!fs.existsSync(ledger) || !fs.readFileSync(ledger, 'utf8').split('\n').includes(text))
        await new Promise((resolve) => { setTimeout(resolve, 20); });
}

test('answers that a gateway took along when it was killed are given to its successor', async () => {
    let gateway = await startGateway({ tokens: [...people('alice'), bridgePerson] });
    const ledger = path.join(gateway.data, 'ledger');
    let alice = await gateway.join('alice', { topic: 'room' });
    const bridge = await startBridge(gateway, off, [echo, '--legacy', '--ledger', ledger], { watcher: alice });
    let rpc = caller(alice, 'tool');

    await rpc.call('echo', { text: 'ready' });
    // One is answered while the gateway hears and does nothing, one when it is dead.
    const sent = [rpc.send('tools/call', { name: 'slow', arguments: { ms: 2000, text: 'soon' } }),
                  rpc.send('tools/call', { name: 'slow', arguments: { ms: 6000, text: 'later' } })];

    await begun(ledger, 'soon');
    await begun(ledger, 'later');
    gateway.signal('SIGSTOP');
    await new Promise((resolve) => { setTimeout(resolve, 3000); });
    await gateway.kill();
    gateway = await gateway.restart();
    alice = await gateway.join('alice', { topic: 'room' });
    rpc = caller(alice, 'tool');
    for (const one of sent)
        assert.equal((await rpc.answered(one)).payload.result.content[0].text, 'done');
    assert.equal((await rpc.call('echo', { text: 'again' })).content[0].text, 'again');
    for (const one of sent)
        assert.equal(answersTo(alice, one).length, 1);
    await bridge.stop();
    await gateway.stop();
});

// Passes bytes on; while it is dumb, nothing comes back from the gateway.
async function startProxy(gateway) {
    const pairs = new Set();
    const proxy = { ...gateway, isDumb: false };
    const server = net.createServer((near) => {
        const far = net.connect({ port: gateway.port, host: '127.0.0.1' });

        pairs.add([near, far]);
        near.on('data', (part) => far.write(part));
        far.on('data', (part) => { if (!proxy.isDumb) near.write(part); });
        for (const [one, other] of [[near, far], [far, near]]) {
            one.on('error', () => {});
            one.on('close', () => other.destroy());
        }
    });

    proxy.cut = () => {
        for (const pair of pairs)
            pair.forEach((socket) => socket.destroy());
        pairs.clear();
    };
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    proxy.port = server.address().port;
    return proxy;
}

test('an answer that was taken when the connection broke is not given twice', async () => {
    const gateway = await startGateway({ tokens: [...people('alice'), bridgePerson] });
    const proxy = await startProxy(gateway);
    const ledger = path.join(gateway.data, 'ledger');
    const alice = await gateway.join('alice', { topic: 'room' });
    const bridge = await startBridge(proxy, off, [echo, '--legacy', '--ledger', ledger], { watcher: alice });
    const rpc = caller(alice, 'tool');

    await rpc.call('echo', { text: 'ready' });
    const sent = rpc.send('tools/call', { name: 'slow', arguments: { ms: 3000, text: 'slow' } });

    await begun(ledger, 'slow');
    proxy.isDumb = true;
    await rpc.answered(sent);
    proxy.cut();
    proxy.isDumb = false;
    assert.equal((await rpc.call('echo', { text: 'again' })).content[0].text, 'again');
    assert.equal(answersTo(alice, sent).length, 1);
    assert.ok(await counted(gateway, 'moot_envelopes_refused_total') >= 1, 'it was said again, and refused');
    await bridge.stop();
    await gateway.stop();
});

test('answers that come too fast wait, and all arrive', async () => {
    const callers = ['ann', 'ben', 'cleo', 'dan', 'eve', 'fay'];
    const gateway = await startGateway({
        limits: { rate_messages: '4/s', burst: '1s' },
        tokens: [...people('alice', ...callers), bridgePerson],
    });
    const alice = await gateway.join('alice', { topic: 'room' });
    const clients = await Promise.all(callers.map((id) => gateway.join(id, { topic: 'room' })));
    const bridge = await startBridge(gateway, off, [echo, '--legacy'], { watcher: alice });
    const all = clients.map((client) => {
        const rpc = caller(client, 'tool');

        return { client, rpc, sent: [1, 2, 3].map(() => rpc.send('tools/call', { name: 'pid', arguments: {} })) };
    });

    for (const { rpc, sent } of all)
        await Promise.all(sent.map(rpc.answered));
    for (const { client, sent } of all)
        for (const one of sent)
            assert.equal(answersTo(client, one).length, 1);
    assert.ok(await counted(gateway, 'moot_rate_limited_total') > 0);
    await bridge.stop();
    await gateway.stop();
});
