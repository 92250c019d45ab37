// SPDX-License-Identifier: Apache-2.0
// A request is let in at its head and carried out when its body is there: who has lost his token
// meanwhile does nothing with it any more.
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';

import { envelope, person, startGateway, within } from './gateway.mjs';

let gateway;

before(async () => { gateway = await startGateway({ tokens: [person('boss', { profile: 'admin' })] }); });
after(() => gateway.stop());

// Sends all but the last byte and waits until the server asks for the body, which it does when it has
// let the request in; gives what sends the rest and waits for the answer's status.
async function holdBack(path, token, body) {
    const socket = net.connect(gateway.port, '127.0.0.1');
    const text = JSON.stringify(body);
    let said = '';
    const says = (what) => within(new Promise((resolve) => {
        const look = () => { if (what.test(said)) resolve(what.exec(said)[1]); };
        socket.on('data', (part) => { said += part; look(); });
        look();
    }), `${what}`);

    socket.write(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\nAuthorization: Bearer ${token}\r\n`
        + `Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${text.length}\r\n\r\n`);
    await says(/HTTP\/1\.1 (100) /);
    socket.write(text.slice(0, -1));
    return async () => {
        socket.write(text.slice(-1));
        const status = await says(/HTTP\/1\.1 ([2-5]\d\d) (?!Continue)/);
        socket.destroy();
        return Number(status);
    };
}

const make = async (id, more) =>
    (await gateway.request('POST /admin/tokens', { token: 'boss-token', json: { id, name: id, ...more } })).json.token;

test('who is revoked while he sends is not heard', async () => {
    const token = await make('deputy', { profile: 'admin' });
    const finish = await Promise.all([
        holdBack('/admin/tokens', token, { id: 'backdoor', profile: 'admin' }),
        holdBack('/topics/room/messages', token, envelope('deputy', 'chat')),
        holdBack('/topics/room/messages', token, envelope('deputy', 'topic/invite', { payload: { participant: 'puppet', capabilities: ['chat'] } })),
    ]);

    assert.equal((await gateway.request('DELETE /admin/tokens/deputy', { token: 'boss-token' })).status, 200);
    for (const send of finish)
        assert.equal(await send(), 401);
    const { json } = await gateway.request('GET /admin/tokens', { token: 'boss-token' });
    assert.ok(!json.tokens.some(({ id }) => ['backdoor', 'puppet'].includes(id)));
});

test('who keeps his token is heard when he has said all', async () => {
    const token = await make('patient', { capabilities: ['chat'] });
    const send = await holdBack('/topics/room/messages', token, envelope('patient', 'chat'));

    assert.equal(await send(), 200);
});
