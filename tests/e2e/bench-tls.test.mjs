// SPDX-License-Identifier: Apache-2.0
// The load generator over TLS: it checks whom it talks to, accounts as it does without, and
// counts complete and resumed handshakes.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { makeCertificate } from './certificates.mjs';
import { people, program, startGateway } from './gateway.mjs';

const run = promisify(execFile);
let gateway;
let folder;
let certificate;

before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-bench-tls-'));
    const tls = makeCertificate(folder, 'own', 'DNS:localhost');
    certificate = tls.certificate;
    gateway = await startGateway({ tls, tokens: people('alice'),
        limits: { rate_messages: 0, rate_bytes: 0, connections_per_participant: 100 } });
});
after(async () => {
    await gateway.stop();
    fs.rmSync(folder, { recursive: true });
});

const bench = async (host, ...options) => JSON.parse((await run(program, ['bench', '--json', '--seconds', '1', '--warm-ms', '100',
    '--url', `wss://${host}:${gateway.port}/ws`, ...options],
    { env: { ...process.env, MOOT_TOKEN: 'alice-token' }, timeout: 60_000 })).stdout);

test('bench: over TLS everything arrives, whole and in order', async () => {
    for (const size of ['300', '40000']) {
        const result = await bench('localhost', '--cacert', certificate, '--members', '5', '--window', '4', '--size', size);
        assert.ok(result.deliveries > 0);
        for (const fault of ['lost', 'duplicates', 'disorder', 'order_differs', 'errors', 'closed'])
            assert.equal(result[fault], 0, fault);
    }
});

test('bench: a certificate that is not trusted, or is for another host, ends the run', async () => {
    await assert.rejects(bench('localhost'), /TLS: self-signed certificate/);
    await assert.rejects(bench('127.0.0.1', '--cacert', certificate), /TLS: IP address mismatch/);
    await assert.rejects(bench('localhost', '--cacert', path.join(folder, 'none.pem')), /none\.pem/);
    assert.ok((await bench('127.0.0.1', '--insecure')).deliveries > 0);
});

test('bench: handshakes are counted, and resumed only when asked for', async () => {
    const options = ['--cacert', certificate, '--handshakes', '--topics', '4', '--members', '1', '--pid', String(gateway.pid)];
    const complete = await bench('localhost', ...options);
    const resumed = await bench('localhost', ...options, '--resume');

    assert.ok(complete.joined > 0 && complete.cpu_us_per_join > 0);
    assert.equal(complete.resumed, 0);
    assert.ok(resumed.resumed > 0 && resumed.resumed <= resumed.joined);
    assert.equal(complete.closed + resumed.closed, 0);
});
