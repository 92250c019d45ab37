// SPDX-License-Identifier: Apache-2.0
// One client cannot make the gateway keep more than a little for it.
import assert from 'node:assert/strict';
import net from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';

import { people, startGateway, within } from './gateway.mjs';

async function rawSocket(gateway, id) {
    const socket = net.connect(gateway.port, '127.0.0.1');
    let received = 0;

    socket.on('error', () => {});
    socket.on('data', (bytes) => { received += bytes.length; });
    socket.write(`GET /ws?topic=room HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n` +
        'Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n' +
        `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer ${id}-token\r\n\r\n`);
    await within(once(socket, 'data'), 'the upgrade');
    return { socket, received: () => received };
}

test('a flood of pings is read no faster than its pongs leave', async () => {
    const gateway = await startGateway({ tokens: people('alice') });
    const { socket, received } = await rawSocket(gateway, 'alice');
    const count = 2_000_000;
    const pings = Buffer.alloc(6 * 20_000);

    for (let i = 0; i < pings.length; i += 6)
        pings.set([0x89, 0x80, 0, 0, 0, 0], i);
    for (let i = 0; i < count / 20_000; i++)
        if (!socket.write(pings))
            await within(once(socket, 'drain'), 'the gateway to read');
    const { json } = await gateway.request('GET /admin/members', { token: gateway.adminToken() });
    assert.ok(json.members[0].waiting_bytes < 1 << 20, `${json.members[0].waiting_bytes} bytes wait`);
    while (received() < 2 * count)
        await within(once(socket, 'data'), 'the last pong');
    socket.destroy();
    await gateway.stop();
});

test('whoever shows no token is kept no large body for', async () => {
    const gateway = await startGateway({});
    const body = 'x'.repeat(100_000);

    assert.equal((await gateway.request('POST /session', { body })).status, 413);
    const socket = net.connect(gateway.port, '127.0.0.1');

    socket.on('error', () => {});
    socket.write('POST /session HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n');
    const [answer] = await within(once(socket, 'data'), 'the refusal');
    assert.match(answer.toString(), /^HTTP\/1.1 413 /);
    socket.destroy();
    assert.equal((await gateway.request('GET /healthz', { body })).status, 413);
    assert.equal((await gateway.request('GET /healthz', { body: 'x' })).status, 200);
    await gateway.stop();
});
