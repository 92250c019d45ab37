// SPDX-License-Identifier: Apache-2.0
// Sockets on this machine: the data directory's own is the administrator's, others are not.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { test } from 'node:test';

import { people, program, startGateway, within } from './gateway.mjs';

async function status(socketPath, target, headers = {}) {
    const req = http.request({ socketPath, path: target, headers: { Host: 'localhost', ...headers }, agent: false });

    req.end();
    const [res] = await within(once(req, 'response'), target);
    res.resume();
    return res.statusCode;
}

test('a configured unix socket asks for a token like any other address', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-e2e-'));
    const proxied = path.join(folder, 'proxied.sock');
    const settings = path.join(folder, 'moot.yaml');

    fs.writeFileSync(settings, JSON.stringify({
        listen: ['127.0.0.1:0', `unix:${proxied}`], data: path.join(folder, 'data'), tokens: people('alice'),
    }));
    const child = spawn(program, ['serve', '--config', settings, '--no-link'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');

    try {
        await within(once(child.stdout, 'data'), 'the start');
        assert.equal(await status(proxied, '/healthz'), 200);
        assert.equal(await status(proxied, '/topics'), 401);
        assert.equal(await status(proxied, '/topics', { Authorization: 'Bearer alice-token' }), 200);
        assert.equal(await status(proxied, '/admin/tokens'), 401);
        assert.equal(await status(proxied, '/metrics'), 401);
        assert.equal(await status(proxied, '/healthz', { Host: 'rebound.example' }), 421);
    } finally {
        child.kill('SIGTERM');
        await within(exited, 'the end');
        fs.rmSync(folder, { recursive: true, force: true });
    }
});

test('the local socket is for its owner alone, and open when everything is full', async () => {
    const gateway = await startGateway({ tokens: people('alice'), limits: { connections: 3 } });
    const own = path.join(gateway.data, 'moot.sock');
    const others = Array.from({ length: 5 }, () => net.connect(gateway.port, '127.0.0.1').on('error', () => {}));

    assert.equal(fs.statSync(own).mode & 0o777, 0o600);
    await within(Promise.all(others.map((socket) => once(socket, 'connect'))), 'connections');
    assert.equal(await status(own, '/admin/tokens'), 200);
    assert.equal(await status(own, '/metrics'), 200);
    for (const socket of others)
        socket.destroy();
    await gateway.stop();
});
