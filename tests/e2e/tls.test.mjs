// SPDX-License-Identifier: Apache-2.0
// The same over TLS: wss, https, large messages, connections that move between workers.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import tls from 'node:tls';

import { makeCertificate } from './certificates.mjs';
import { envelope, expect, people, startGateway, within } from './gateway.mjs';
import { connect } from './raw.mjs';

let gateway, hasty; // which waits for nobody
let folder, own;

before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-tls-'));
    own = makeCertificate(folder);
    gateway = await startGateway({ tls: own, tokens: people('alice', 'bob') });
    hasty = await startGateway({ tls: own, limits: { head_timeout: '500ms' } });
});
after(async () => {
    await Promise.all([gateway.stop(), hasty.stop()]);
    fs.rmSync(folder, { recursive: true });
});

test('TLS: it says https, and a client that checks the certificate is content', async () => {
    assert.equal(gateway.scheme, 'https');
    const ca = fs.readFileSync(own.certificate);
    const alice = await gateway.join('alice', { ws: { ca, rejectUnauthorized: true } });
    assert.equal(alice.welcome.payload.you.id, 'alice');
    await alice.close();
    assert.equal((await gateway.request('GET /topics', { token: 'alice-token' })).status, 200);
    assert.equal((await gateway.request('GET /topics')).status, 401);
});

test('TLS: large and small messages arrive unchanged, in every topic', async () => {
    for (const topic of ['t1', 't2', 't3', 't4']) {
        const alice = await gateway.join('alice', { topic });
        const bob = await gateway.join('bob', { topic, ws: { perMessageDeflate: topic === 't2' } });
        await expect(alice, (json) => json.payload.participant?.id === 'bob');
        for (const size of [0, 1, 16_000, 16_384, 100_000, 1_000_000]) {
            const text = JSON.stringify(envelope('alice', 'chat', { payload: { text: 'ä'.repeat(size / 2) } }));
            alice.send(text);
            for (const client of [alice, bob]) {
                await client.next();
                assert.ok(client.latest.text === text, `${topic} ${size}`);
            }
        }
        await Promise.all([alice.close(), bob.close()]);
    }
});

test('TLS: one connection, many topics, large bodies', async () => {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    for (let i = 0; i < 10; i++) {
        const text = JSON.stringify(envelope('alice', 'chat', { payload: { text: 'x'.repeat(i * 50_000) } }));
        const options = { token: 'alice-token', agent };
        await gateway.request(`GET /topics/k${i}/messages`, options);
        const posted = await gateway.request(`POST /topics/k${i}/messages`, { ...options, body: text, headers: { 'Content-Type': 'application/json' } });
        assert.equal(posted.status, 200);
        const page = await gateway.request(`GET /topics/k${i}/messages`, options);
        assert.ok(page.text.includes(text));
    }
    agent.destroy();
});

test('TLS: many at once, and all of them are served', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => gateway.open('bob', { topic: 'many' })));
    const alice = await gateway.join('alice', { topic: 'many' });
    const { id } = alice.chat('to all');
    await Promise.all(clients.map((client) => expect(client, (json) => json.id === id)));
    await Promise.all([...clients, alice].map((client) => client.close()));
});

test('TLS: plain HTTP, silence and old versions end the connection, nothing else', async () => {
    const plain = await connect(gateway.port);
    plain.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await within(plain.end(), 'the end of a plain request');
    plain.close();
    const silent = await connect(hasty.port);
    await within(silent.end(), 'the end of silence');
    silent.close();
    const old = tls.connect({ port: gateway.port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' });
    await within(new Promise((resolve, reject) => {
        old.on('error', resolve);
        old.on('secureConnect', () => reject(new Error(old.getProtocol())));
    }), 'the refusal of TLS 1.1');
    assert.equal((await gateway.request('GET /healthz')).status, 200);
});

test('TLS: requests sent at once in one record are answered in order', async () => {
    const socket = tls.connect({ port: gateway.port, host: '127.0.0.1', rejectUnauthorized: false });
    let text = '';
    socket.on('data', (part) => { text += part; });
    const one = (i) => `GET /topics/r${i}/participants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alice-token\r\n`;
    socket.write([...Array(9).keys()].map((i) => `${one(i)}\r\n`).join('') + `${one(9)}Connection: close\r\n\r\n`);
    await within(new Promise((resolve) => { socket.on('end', resolve); }), 'ten answers');
    assert.equal(text.match(/HTTP\/1\.1 200 OK/g).length, 10);
    assert.equal(text.match(/"participants"/g).length, 10);
    socket.destroy();
});
