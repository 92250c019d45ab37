// SPDX-License-Identifier: Apache-2.0
// Stopping: everybody is told, nobody can hold it up; and what a kill leaves behind.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { connect } from './raw.mjs';
import { envelope, expect, people, program, startGateway, within } from './gateway.mjs';

const config = { tokens: people('alice', 'bob', 'lazy'), limits: { rate_messages: 0, rate_bytes: 0 } };

// Sends the signal and gives the exit code.
async function stop(gateway, signal) {
    gateway.signal(signal);
    const [code, killer] = await within(gateway.exited, 'its end');
    return { code, killer };
}

function done(gateway) {
    assert.doesNotMatch(gateway.stderr(), /Sanitizer|runtime error/);
    fs.rmSync(path.dirname(gateway.data), { recursive: true, force: true });
}

for (const signal of ['SIGTERM', 'SIGINT'])
    test(`stop: ${signal} says 1001 to everyone, after what was said before, and ends with 0`, async () => {
        const gateway = await startGateway({ ...config, limits: { ...config.limits, drain_timeout: '10m' } });
        const topics = ['s1', 's2', 's3', 's4'];
        const clients = await Promise.all(topics.map((topic, n) => gateway.join('alice', { topic, ws: { perMessageDeflate: n % 2 === 0 } })));
        const said = clients.map((client) => client.chat('last words').id);

        await Promise.all(clients.map((client, n) => expect(client, ({ id }) => id === said[n])));
        const { code } = await stop(gateway, signal); // long before the end of its time
        assert.equal(code, 0, gateway.stderr());
        for (const client of clients)
            assert.deepEqual(await client.closed(), { code: 1001, reason: 'the server is stopping' });
        await gateway.logged(/event=server\.stop/);
        done(gateway);
    });

test('stop: a reader that stalls, half a request and a long poll hold it up no longer than farewells may take', async () => {
    // Each of them alone would last for minutes.
    const patient = { stall_timeout: '10m', body_timeout: '10m', head_timeout: '10m', wait_max: '10m' };
    const gateway = await startGateway({ ...config, limits: { ...config.limits, ...patient } });
    const lazy = await gateway.join('lazy', { ws: { perMessageDeflate: false } });
    const alice = await gateway.join('alice');

    lazy.socket._socket.pause();
    for (let n = 0; n < 300; n++)
        alice.send(envelope('alice', 'chat', { payload: { text: 'x'.repeat(20_000) } }));
    const { id } = alice.chat('end');
    await expect(alice, (json) => json.id === id);
    const half = await connect(gateway.port);
    half.send('POST /topics/room/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer bob-token\r\nContent-Length: 100\r\n\r\n{');
    const idle = await connect(gateway.port);
    const poll = gateway.request(`GET /topics/room/messages?after=${id}&wait=600`, { token: 'bob-token' }).catch(() => null);
    await gateway.request('GET /healthz');
    const { code } = await stop(gateway, 'SIGTERM');
    assert.equal(code, 0, gateway.stderr());
    assert.equal((await alice.closed()).code, 1001);
    await poll;
    for (const peer of [half, idle])
        peer.close();
    lazy.socket.terminate();
    done(gateway);
});

test('stop: a second signal ends its patience', async () => {
    const gateway = await startGateway({ ...config, limits: { ...config.limits, drain_timeout: '10m', stall_timeout: '10m' } });
    const lazy = await gateway.join('lazy', { ws: { perMessageDeflate: false } });

    lazy.socket._socket.pause();
    gateway.signal('SIGTERM');
    await gateway.logged(/event=server\.drain/);
    const { code } = await stop(gateway, 'SIGTERM');
    assert.equal(code, 0, gateway.stderr());
    lazy.socket.terminate();
    done(gateway);
});

test('stop: a second server on the same data directory refuses to start and says why', async () => {
    const gateway = await startGateway(config);
    const second = spawn(program, ['serve', '--data', gateway.data, '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'pipe'] });
    let err = '';

    second.stderr.on('data', (part) => { err += part; });
    const [code] = await within(once(second, 'close'), 'its end');
    assert.equal(code, 1);
    assert.match(err, /another server uses it/);
    assert.ok(err.includes(gateway.data));
    assert.ok(fs.existsSync(path.join(gateway.data, 'moot.sock')), 'the first one keeps its socket');
    await (await gateway.join('alice')).close();
    await gateway.stop();
});

test('stop: a port that is taken is said, with the address', async () => {
    const gateway = await startGateway(config);
    const failure = await startGateway(config, { args: ['--listen', `127.0.0.1:${gateway.port}`] }).catch((error) => error);

    assert.match(failure.message, new RegExp(`moot ended with 1: [^]*event=listen\\.fail address="?127\\.0\\.0\\.1:${gateway.port}`));
    await gateway.stop();
});

test('stop: after kill -9 it starts again with what it had: lock, socket, tokens', async () => {
    const first = await startGateway(config);
    const admin = first.adminToken();
    const made = [];

    for (let n = 0; n < 5; n++)
        made.push((await first.request('POST /admin/tokens', { token: admin, json: { id: `made-${n}`, name: `made-${n}`, profile: 'full' } })).json.token);
    assert.equal((await first.request('DELETE /admin/tokens/made-4', { token: admin })).status, 200);
    const alice = await first.join('alice');
    const { killer } = await stop(first, 'SIGKILL');
    assert.equal(killer, 'SIGKILL');
    assert.equal((await alice.closed()).code, 1006);
    assert.ok(fs.existsSync(path.join(first.data, 'moot.sock')), 'it had no time to clean up');
    const second = await startGateway(config, { args: ['--data', first.data] });
    for (const [n, token] of made.entries())
        assert.equal((await second.request('GET /topics', { token })).status, n === 4 ? 401 : 200, 'what was answered is kept');
    assert.equal(first.adminToken(), admin);
    assert.equal((await second.request('GET /admin/tokens', { token: admin })).status, 200);
    const list = spawn(program, ['token', 'list', '--data', first.data], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [text] = await within(once(list.stdout, 'data'), 'the list');
    assert.match(text.toString(), /made-3/);
    await (await second.join('alice')).close();
    await second.stop();
    done(first);
});

// The settings are read on the store's thread, for long enough that everything else has ended.
test('stop: a reload that is under way changes nothing any more', async () => {
    const named = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`t${n}`, { audit_age: '1h' }]));
    const gateway = await startGateway({ ...config, topics: { named } });

    gateway.signal('SIGHUP');
    const { code } = await stop(gateway, 'SIGTERM');
    assert.equal(code, 0, gateway.stderr());
    await gateway.logged(/event=config\.(refuse reason=.*stopping|reload)/);
    done(gateway);
});
