// SPDX-License-Identifier: Apache-2.0
// The data directory's own socket: the administrator without a credential; whoever brings one
// is judged by it. Participants on this machine use it with their tokens.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import WebSocket from 'ws';

import { envelope, expect, people, person, program, startGateway, within } from './gateway.mjs';

let gateway, own;

before(async () => {
    gateway = await startGateway({
        tokens: [...people('alice', 'bob'), person('root', { profile: 'admin' })],
        limits: { login_failures: 3 },
    });
    own = path.join(gateway.data, 'moot.sock');
});
after(() => gateway.stop());

const bearer = (token) => ({ Authorization: `Bearer ${token}` });

async function ask(target, headers = {}, socketPath = own) {
    const req = http.request({ socketPath, path: target, headers: { Host: 'localhost', ...headers }, agent: false });
    let text = '';

    req.end();
    const [res] = await within(once(req, 'response'), target);
    res.on('data', (part) => { text += part; });
    await within(once(res, 'end'), target);
    return { status: res.statusCode, json: res.headers['content-type'] === 'application/json' ? JSON.parse(text) : null };
}

// A WebSocket over the socket: its frames one by one, or the status of the refusal.
async function connect(target, headers = {}) {
    const socket = new WebSocket(`ws+unix://${own}:${target}`, { headers });
    const frames = [];
    const waiting = [];

    socket.on('error', () => {});
    socket.on('message', (data) => {
        frames.push(JSON.parse(data));
        waiting.shift()?.();
    });
    const status = await within(Promise.race([
        once(socket, 'open').then(() => 101),
        once(socket, 'unexpected-response').then(([, res]) => res.statusCode),
    ]), target);
    const next = async () => {
        if (frames.length === 0)
            await within(new Promise((resolve) => { waiting.push(resolve); }), 'a frame');
        return frames.shift();
    };

    return { socket, status, next };
}

test('a token counts on the local socket, for what it is good for and no more', async () => {
    for (const [target, headers, status] of [
        ['/admin/tokens', {}, 200],
        ['/topics', {}, 200],
        ['/topics', bearer('alice-token'), 200],
        ['/admin/tokens', bearer('alice-token'), 403],
        ['/metrics', bearer('alice-token'), 403],
        ['/admin/tokens', bearer('root-token'), 200],
        ['/topics', bearer('nonsense'), 401],
        ['/admin/tokens', bearer('nonsense'), 401],
        ['/admin/tokens', { Authorization: 'Basic YTpi' }, 401],
        ['/admin/tokens', { Authorization: '' }, 401],
        ['/topics?token=alice-token', {}, 400],
    ])
        assert.equal((await ask(target, headers)).status, status, `${target} ${JSON.stringify(headers)}`);
});

test('who fails on the local socket is not shut out', async () => {
    for (let n = 0; n < 10; n++)
        assert.equal((await ask('/topics', bearer('nonsense'))).status, 401);
    assert.equal((await ask('/topics', bearer('alice-token'))).status, 200);
});

test('what happens on the local socket and on another one has no effect on each other', async (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-e2e-'));
    const proxied = path.join(folder, 'proxied.sock');
    const trusted = path.join(folder, 'data', 'moot.sock');
    const settings = path.join(folder, 'moot.yaml');

    fs.writeFileSync(settings, JSON.stringify({
        listen: [`unix:${proxied}`], data: path.join(folder, 'data'), workers: 1, tokens: people('alice'), limits: { login_failures: 3 },
    }));
    const child = spawn(program, ['serve', '--config', settings, '--no-link'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    t.after(async () => {
        child.kill('SIGTERM');
        await within(exited, 'the end');
        fs.rmSync(folder, { recursive: true, force: true });
    });
    await within(once(child.stdout, 'data'), 'the start');
    for (let n = 0; n < 10; n++)
        assert.equal((await ask('/topics', bearer('nonsense'), trusted)).status, 401);
    assert.equal((await ask('/topics', bearer('alice-token'), proxied)).status, 200);
    for (let n = 0; n < 10; n++) {
        await ask('/topics', bearer('nonsense'), proxied);
        assert.equal((await ask('/topics', bearer('alice-token'), trusted)).status, 200);
    }
    assert.equal((await ask('/topics', bearer('alice-token'), proxied)).status, 429, 'its successes excuse nothing there');
});

test('GET /ws works over the local socket, as the token\'s participant or as local', async () => {
    const alice = await connect('/ws?topic=lobby&presence=off', bearer('alice-token'));
    const local = await connect('/ws?topic=lobby&presence=off');
    const welcome = await alice.next();

    assert.equal(welcome.kind, 'system/welcome');
    assert.equal(welcome.payload.you.id, 'alice');
    assert.equal((await local.next()).payload.you.id, 'local');
    const bob = await gateway.join('bob', { topic: 'lobby' });
    const said = envelope('alice', 'chat', { payload: { text: 'from this machine' } });
    alice.socket.send(JSON.stringify(said));
    assert.deepEqual(await expect(bob, ({ id }) => id === said.id), said);
    assert.deepEqual(await alice.next(), said, 'echoed');
    const pretended = envelope('local', 'chat');
    alice.socket.send(JSON.stringify(pretended));
    assert.equal((await alice.next()).payload.error, 'from_mismatch');
    alice.socket.terminate();
    local.socket.terminate();
    await bob.close();
});

test('an upgrade on the local socket is refused as anywhere else', async () => {
    assert.equal((await connect('/ws?topic=lobby', bearer('nonsense'))).status, 401);
    assert.equal((await connect('/ws?topic=.bad', bearer('alice-token'))).status, 400);
    assert.equal((await connect('/ws?topic=lobby&ticket=nonsense')).status, 401);
});

test('a ticket counts on the local socket as well', async () => {
    const { json } = await gateway.request('POST /ws-ticket', { token: 'alice-token' });
    const alice = await connect(`/ws?topic=lobby&ticket=${json.ticket}`);

    assert.equal((await alice.next()).payload.you.id, 'alice');
    alice.socket.terminate();
});
