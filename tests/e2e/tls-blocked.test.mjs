// SPDX-License-Identifier: Apache-2.0
// A connection that is already blocked when it becomes a member: over TLS an answer that the
// network does not take waits, encrypted, while the next request is served.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';

import { makeCertificate } from './certificates.mjs';
import { envelope, people, startGateway, within } from './gateway.mjs';
import { frame, sampleKey } from './raw.mjs';

const PONG = 0x8a;

// Asks for the page `count` times, then for the topic, and reads nothing at all.
async function comeUnread(gateway, topic, count) {
    const socket = tls.connect({ port: gateway.port, host: '127.0.0.1', rejectUnauthorized: false });
    const host = `Host: 127.0.0.1:${gateway.port}`;

    socket.on('error', () => {});
    await within(new Promise((done) => socket.once('secureConnect', done)), 'the handshake');
    socket.pause();
    socket.write(`GET / HTTP/1.1\r\n${host}\r\n\r\n`.repeat(count) +
        `GET /ws?topic=${topic} HTTP/1.1\r\n${host}\r\nAuthorization: Bearer mute-token\r\nUpgrade: websocket\r\n` +
        `Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${sampleKey}\r\n\r\n`);
    return socket;
}

async function isIn(gateway, topic) {
    const { json } = await gateway.request(`GET /topics/${topic}/participants`, { token: 'alice-token' });

    return json.participants.some(({ id }) => id === 'mute');
}

// How many answers the kernel's buffers take: one more, and nobody comes in. They may take fewer
// the next moment.
async function comeAtTheEdge(gateway, round, come) {
    let [fits, isTooMany] = [1, 4000];

    while (isTooMany - fits > 1) {
        const count = (fits + isTooMany) >> 1;
        const socket = await come(`search-${round}-${count}`, count);
        await sleep(250);
        if (await isIn(gateway, `search-${round}-${count}`))
            fits = count;
        else
            isTooMany = count;
        socket.destroy();
    }
    return Promise.all([-4, -3, -2, -1, 0, 1, 2].map(async (more) => {
        const topic = `guest-${round}-${more}`;
        return { topic, socket: await come(topic, fits + more) };
    }));
}

test('D18: over TLS, too, who reads nothing from the start is closed, whatever was under way when it came', async (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-tls-'));
    const gateway = await startGateway({
        tls: makeCertificate(folder),
        tokens: people('alice', 'mute'),
        limits: { stall_timeout: '1s', rate_messages: 0, rate_bytes: 0 },
    }, { workers: 1 });
    const sockets = [];
    t.after(async () => {
        sockets.forEach((socket) => socket.destroy());
        await gateway.stop();
        fs.rmSync(folder, { recursive: true });
    });
    const come = async (topic, count) => {
        const socket = await comeUnread(gateway, topic, count);

        sockets.push(socket);
        return socket;
    };

    let guests = [];
    const isSomebodyIn = async () => (await Promise.all(guests.map(({ topic }) => isIn(gateway, topic)))).some(Boolean);
    for (let round = 1; !await isSomebodyIn(); round++) {
        assert.ok(round <= 5, 'somebody has come in');
        guests.forEach(({ socket }) => socket.destroy());
        guests = await comeAtTheEdge(gateway, round, come);
        await sleep(500);
    }
    const alive = setInterval(() => guests.forEach(({ socket }) => socket.write(frame(PONG, ''))), 200);
    t.after(() => clearInterval(alive));
    for (const { topic } of guests)
        for (let i = 0; i < 8; i++)
            await gateway.post('alice-token', topic, envelope('alice', 'chat', { payload: { text: 'x'.repeat(900_000) } }));
    await within((async () => {
        for (const { topic } of guests)
            while (await isIn(gateway, topic))
                await sleep(100);
    })(), 'all of them to be gone');
});
