// SPDX-License-Identifier: Apache-2.0
// How a participant of libmoot reaches a gateway, is turned away, and comes back.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { makeCertificate } from './certificates.mjs';
import { expect, people, person, startGateway } from './gateway.mjs';
import { startParticipant, startProbe } from './participant.mjs';

let folder;
let plain;
let secure;
let own;
let other;

before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-wire-'));
    own = makeCertificate(folder);
    other = makeCertificate(folder, 'other');
    const limits = { rate_messages: 0, rate_bytes: 0 };
    plain = await startGateway({ tokens: [...people('alice', 'bot'), person('narrow', { topics: ['elsewhere'] })], limits,
        topics: { named: { single: { duplicate: 'replace' } } } });
    secure = await startGateway({ tokens: people('alice', 'bot'), limits, tls: own });
});
after(async () => {
    await plain.stop();
    await secure.stop();
    fs.rmSync(folder, { recursive: true });
});

const over = (bot) => bot.event('state', ({ state }) => state === 'over');
const listening = async (server) => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
};
const big = 'x'.repeat(1000 * 1000);

async function checkTalk(gateway, topic, options) {
    const alice = await gateway.join('alice', { topic });
    const bot = await startParticipant(gateway, 'bot', { topic, ...options });

    await bot.do('chat', { text: big });
    assert.equal((await expect(alice, (json) => json.kind === 'chat')).payload.text, big);
    alice.chat(big);
    assert.equal((await bot.event('chat')).text, big);
    await bot.do('leave');
    await bot.event('ended');
    await expect(alice, (json) => JSON.stringify(json.payload).includes('leave'));
    await bot.stop();
    await alice.close();
}

test('wire: over TCP, by number and by name, with and without a path', async () => {
    const port = `${plain.port}`;

    await checkTalk(plain, 'number', {});
    await checkTalk(plain, 'name', { url: `ws://localhost:${port}` });
    await checkTalk(plain, 'thread', { url: `http://localhost:${port}/`, resolves_in_thread: true });
    await checkTalk(plain, 'path', { url: `ws://127.0.0.1:${port}/ws` });
});

test('wire: over the local socket, as whom the token names', async () => {
    await checkTalk(plain, 'local', { url: `unix:${path.join(plain.data, 'moot.sock')}` });
});

test('wire: over TLS, when the certificate is trusted and names the host', async () => {
    await checkTalk(secure, 'tls', { ca_file: own.certificate });
    await checkTalk(secure, 'tls-name', { url: `https://localhost:${secure.port}`, ca_file: own.certificate });
});

test('wire: a certificate that is not trusted ends it', async () => {
    for (const options of [{ ca_file: other.certificate }, {}]) {
        const bot = await startParticipant(secure, 'bot', { joins: false, ...options });
        assert.match((await over(bot)).why, /^cannot connect securely to 127\.0\.0\.1:\d+: self-signed certificate$/);
        await bot.stop();
    }
});

test('wire: a refusal is told in the words of the gateway, and no second attempt is made', async () => {
    const cases = [
        [{ token: 'wrong' }, /^the server answered 401 Unauthorized: .+/],
        [{ token: 'narrow-token' }, /^the server answered 403 Forbidden: .+/],
        [{ topic: '.hidden' }, /^the server answered 400 Bad Request: .+/],
        [{ url: `ws://127.0.0.1:${plain.port}/nowhere` }, /^the server answered 404 Not Found: .+/],
    ];
    for (const [options, why] of cases) {
        const bot = await startParticipant(plain, 'bot', { joins: false, ...options });
        assert.match((await over(bot)).why, why);
        await bot.stop();
    }
});

test('wire: what is no gateway is told', async () => {
    const page = await listening(http.createServer().on('upgrade', (_, socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello')));
    const mail = await listening(net.createServer((socket) => socket.on('data', () => socket.end('220 mail ESMTP\r\n'))));

    for (const [server, why] of [[page, /^this is no gateway, or not its address: the server answered 200 OK$/], [mail, /^this is no gateway: not an HTTP status line$/]]) {
        const bot = startProbe();
        await bot.do('new', { url: `ws://127.0.0.1:${server.address().port}`, topic: 'room', token: 't', connects_once: true });
        assert.match((await over(bot)).why, why);
        await bot.stop();
        server.close();
    }
});

test('wire: who is replaced or revoked does not come back', async () => {
    const first = await startParticipant(plain, 'bot', { topic: 'single' });
    const second = await startParticipant(plain, 'bot', { topic: 'single' });
    assert.match((await over(first)).why, /^the server closed the connection with 4001: replaced/);

    const admin = { token: plain.adminToken() };
    const { json } = await plain.request('POST /admin/tokens', { ...admin, json: { id: 'brief', name: 'brief', profile: 'full' } });
    const brief = await startParticipant(plain, 'brief', { token: json.token });
    await plain.request('DELETE /admin/tokens/brief', admin);
    assert.match((await over(brief)).why, /^the server closed the connection with 1008: the token was revoked$/);
    for (const bot of [first, second, brief])
        await bot.stop();
});

test('wire: who is cut off comes back and hears what was said meanwhile, once', async () => {
    const sockets = new Set();
    const proxy = await listening(net.createServer((socket) => {
        const far = net.connect(plain.port, '127.0.0.1');
        for (const [one, other] of [[socket, far], [far, socket]]) {
            sockets.add(one);
            one.on('error', () => {}).on('close', () => { other.destroy(); sockets.delete(one); }).pipe(other);
        }
    }));
    const alice = await plain.join('alice', { topic: 'cut' });
    const bot = await startParticipant(plain, 'bot', { topic: 'cut', url: `ws://127.0.0.1:${proxy.address().port}` });
    for (let round = 0; round < 3; round++) {
        alice.chat(`before ${round}`);
        assert.equal((await bot.event('chat')).text, `before ${round}`);
        for (const socket of sockets)
            socket.destroy();
        assert.equal((await bot.event('state')).state, 'waiting');
        alice.chat(`meanwhile ${round}`);
        assert.equal((await bot.event('welcome')).resumed, true);
        assert.equal((await bot.event('chat')).text, `meanwhile ${round}`);
    }
    alice.chat('end');
    assert.equal((await bot.event('chat')).text, 'end');
    await bot.stop();
    proxy.close();
    await alice.close();
});
