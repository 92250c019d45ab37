// SPDX-License-Identifier: Apache-2.0
// Servers behind URLs as participants: seated by `moot bridge --url` and by the configuration.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { caller, startBridge } from './bridges.mjs';
import { people, person, startGateway } from './gateway.mjs';
import { everything, freePort, startServer } from './urls.mjs';

const tokens = [...people('alice', 'bob'), person('tool', { capabilities: undefined, profile: 'bridge' })];
const textOf = ({ content }) => content.map(({ text }) => text).join('\n');
const startEverything = (port) =>
    startServer([everything, 'streamableHttp'], { env: { PORT: port }, ready: /listening on port/i });

test('server-everything behind a URL: calls, progress and questions reach their caller', async () => {
    const port = await freePort();
    await startEverything(port);
    const gateway = await startGateway({ tokens });
    const alice = await gateway.join('alice', { topic: 'room' });
    const bob = await gateway.join('bob', { topic: 'room' });
    const bridge = await startBridge(gateway, ['--url', `http://127.0.0.1:${port}/mcp`, '--root', 'file:///srv/one'], null,
                                     { watcher: alice });
    const rpc = caller(alice, 'tool');
    const other = caller(bob, 'tool');

    assert.equal(textOf(await rpc.call('echo', { message: 'hi' })), 'Echo: hi');
    rpc.answer('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }));
    other.answer('elicitation/create', () => ({ action: 'accept', content: { name: 'Bob' } }));
    const [mine, his] = await Promise.all([rpc.call('trigger-elicitation-request'), other.call('trigger-elicitation-request')]);
    assert.match(textOf(mine), /Ada/); // at the same time: each on the stream of its call
    assert.match(textOf(his), /Bob/);
    const sent = rpc.send('tools/call', { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 },
                                          _meta: { progressToken: 'p' } });
    await rpc.told('notifications/progress', (json) => json.correlation_id === sent.id && json.payload.params.progress === 2);
    await rpc.answered(sent);
    assert.equal((await bridge.stop()).status, 0);
    await gateway.stop();
});

test('a server that is away is said so, and is used again when it is back', async () => {
    const port = await freePort();
    const first = await startEverything(port);
    const gateway = await startGateway({ tokens });
    const alice = await gateway.join('alice', { topic: 'room' });
    const bridge = await startBridge(gateway, ['--url', `http://127.0.0.1:${port}/mcp`], null, { watcher: alice });
    const rpc = caller(alice, 'tool');

    assert.equal(textOf(await rpc.call('echo', { message: 'one' })), 'Echo: one');
    await first.kill();
    assert.equal((await rpc.error('tools/call', { name: 'echo', arguments: { message: 'x' } })).code, -32603);
    await startEverything(port);
    assert.equal(textOf(await rpc.call('echo', { message: 'two' })), 'Echo: two');
    assert.equal((await bridge.stop()).status, 0);
    await gateway.stop();
});

// A server of one tool that knows the password.
async function startGuarded() {
    const seen = [];
    const server = http.createServer(async (req, res) => {
        let body = '';
        for await (const chunk of req)
            body += chunk;
        seen.push(req.headers);
        if (req.method !== 'POST')
            return res.writeHead(405).end();
        if (req.headers.authorization !== 'Bearer s3cret-value')
            return res.writeHead(401).end();
        const { id, method } = JSON.parse(body);
        const result = {
            initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'g', version: '1' } },
            'tools/list': { tools: [{ name: 'leak', inputSchema: { type: 'object' } }] },
            'tools/call': { content: [{ type: 'text', text: 'open' }] },
        }[method];
        if (id === undefined)
            return res.writeHead(202).end();
        res.writeHead(200, { 'Content-Type': 'application/json' });
        res.end(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) }));
    }).listen(0, '127.0.0.1');

    await once(server, 'listening');
    server.unref();
    return { url: `http://127.0.0.1:${server.address().port}/mcp`, seen };
}

test('a header comes from a file, for the server alone; without it the server is not to be had', async () => {
    const { url, seen } = await startGuarded();
    const gateway = await startGateway({ tokens });
    const alice = await gateway.join('alice', { topic: 'room' });
    const secret = path.join(gateway.data, 'secret');
    fs.writeFileSync(secret, 'Bearer s3cret-value\n', { mode: 0o600 });
    const bridge = await startBridge(gateway, ['--url', url, '--era', 'legacy', '--header', `Authorization=file:${secret}`,
                                               '--header', 'X-Plain=yes'], null, { watcher: alice });
    const rpc = caller(alice, 'tool');

    assert.equal(textOf(await rpc.call('leak')), 'open');
    assert.ok(seen.every((headers) => headers['x-plain'] === 'yes' && headers.authorization === 'Bearer s3cret-value'));
    assert.equal((await bridge.stop()).status, 0);
    assert.ok(!`${bridge.stdout?.() ?? ''}${bridge.stderr()}${gateway.stderr()}`.includes('s3cret'));
    assert.ok(alice.frames.every(({ text }) => !text.includes('s3cret')));

    const bare = await startBridge(gateway, ['--url', url, '--era', 'legacy'], null, { watcher: alice });
    assert.equal((await rpc.error('tools/call', { name: 'leak', arguments: {} })).code, -32603);
    assert.equal((await bare.stop()).status, 0);
    await gateway.stop();
});

test('servers of the configuration may be behind URLs, of either era', async () => {
    const port = await freePort();
    await startEverything(port);
    const isNew = Number(process.versions.node.split('.')[0]) >= 20; // which the SDK of the modern era needs
    const modern = isNew && await startServer([fileURLToPath(new URL('modern-server.mjs', import.meta.url))], { ready: /^\d+\n/ });
    const gateway = await startGateway({
        tokens,
        servers: {
            old: { topic: 'room', url: `http://127.0.0.1:${port}/mcp` },
            ...(isNew && { new: { topic: 'room', url: `http://127.0.0.1:${parseInt(modern.output(), 10)}/mcp` } }),
        },
    });
    const alice = await gateway.join('alice', { topic: 'room' });

    assert.equal(textOf(await caller(alice, 'old').call('echo', { message: 'hi' })), 'Echo: hi');
    if (isNew) {
        const rpc = caller(alice, 'new');
        rpc.answer('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }));
        assert.equal(textOf(await rpc.call('add', { a: 20, b: 22 })), '42');
        assert.equal(textOf(await rpc.call('greet')), 'hello Ada');
        assert.equal(textOf(await rpc.call('place', { region: 'süd' })), 'süd =?base64?c8O8ZA==?=');
    }
    await gateway.stop();
});
