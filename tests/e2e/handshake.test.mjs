// SPDX-License-Identifier: Apache-2.0
// The opening handshake over raw sockets: exact answers to right, wrong and slow ones.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { connect, frame, handshake, open, sampleAccept, startEcho } from './raw.mjs';

let echo, hasty; // which waits for nobody

before(async () => { [echo, hasty] = await Promise.all([startEcho(), startEcho('--head-timeout', '2000')]); });
after(async () => { assert.deepEqual([await echo.stop(), await hasty.stop()], [0, 0]); });

async function answerTo(text) {
    const peer = await connect(echo.port);

    peer.send(text);
    const head = await peer.head();
    peer.close();
    return head;
}

const extensionIn = (head) => /^Sec-WebSocket-Extensions: (.*)\r$/m.exec(head)?.[1];

test('the sample of RFC 6455 gets its answer', async () => {
    assert.equal(await answerTo(handshake()),
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${sampleAccept}\r\n\r\n`);
});

const right = {
    'other case': { Upgrade: 'WebSocket', Connection: 'upgrade' },
    'among other tokens': { Connection: 'keep-alive, Upgrade', Upgrade: 'h2c, websocket' },
    'in two headers': { Connection: ['keep-alive', 'Upgrade'] },
    'an empty body': { 'Content-Length': '0' },
    'unknown extensions': { 'Sec-WebSocket-Extensions': 'x-webkit-deflate-frame, foo; a=b' },
    'a subprotocol nobody speaks': { 'Sec-WebSocket-Protocol': 'chat, superchat' },
};

for (const [name, changes] of Object.entries(right))
    test(`accepted: ${name}`, async () => {
        assert.match(await answerTo(handshake(changes)), /^HTTP\/1\.1 101 /);
    });

const wrong = [
    ['no Host', handshake({ Host: null }), 400],
    ['two Hosts', handshake({ Host: ['a', 'b'] }), 400],
    ['no Upgrade', handshake({ Upgrade: null }), 426],
    ['another Upgrade', handshake({ Upgrade: 'h2c' }), 426],
    ['no Connection', handshake({ Connection: null }), 400],
    ['another Connection', handshake({ Connection: 'keep-alive' }), 400],
    ['no version', handshake({ 'Sec-WebSocket-Version': null }), 426],
    ['an old version', handshake({ 'Sec-WebSocket-Version': '8' }), 426],
    ['several versions at once', handshake({ 'Sec-WebSocket-Version': '13, 8' }), 426],
    ['the version twice', handshake({ 'Sec-WebSocket-Version': ['13', '13'] }), 400],
    ['no key', handshake({ 'Sec-WebSocket-Key': null }), 400],
    ['an empty key', handshake({ 'Sec-WebSocket-Key': '' }), 400],
    ['a short key', handshake({ 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZQ==' }), 400],
    ['a key that is no base64', handshake({ 'Sec-WebSocket-Key': '!GhlIHNhbXBsZSBub25jZQ==' }), 400],
    ['two keys', handshake({ 'Sec-WebSocket-Key': ['dGhlIHNhbXBsZSBub25jZQ==', 'dGhlIHNhbXBsZSBub25jZQ=='] }), 400],
    ['a body', handshake({ 'Content-Length': '5' }) + 'hello', 400],
    ['a chunked body', handshake({ 'Transfer-Encoding': 'chunked' }), 400],
    ['a broken extension header', handshake({ 'Sec-WebSocket-Extensions': 'permessage-deflate; =' }), 400],
    ['POST', handshake({}, 'POST /chat HTTP/1.1'), 405],
    ['HEAD', handshake({}, 'HEAD /chat HTTP/1.1'), 405],
    ['HTTP/1.0', handshake({}, 'GET /chat HTTP/1.0'), 400],
    ['HTTP/0.9', handshake({}, 'GET /chat'), 505],
    ['HTTP/2.0', handshake({}, 'GET /chat HTTP/2.0'), 505],
    ['no target', handshake({}, 'GET  HTTP/1.1'), 400],
    ['a long target', handshake({}, `GET /${'a'.repeat(9000)} HTTP/1.1`), 414],
    ['a folded header', handshake({ Host: 'a\r\n b' }), 400],
    ['a head without end', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17000)}`, 431],
    ['TLS on a plain port', Buffer.from('160301020001000200', 'hex'), 400],
];

for (const [name, text, status] of wrong)
    test(`${status}: ${name}`, async () => {
        const peer = await connect(echo.port);

        peer.send(text);
        const head = await peer.head();
        assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
        assert.match(head, /^Connection: (Upgrade, )?close\r$/m);
        if (status === 426) {
            assert.match(head, /^Sec-WebSocket-Version: 13\r$/m);
            assert.match(head, /^Upgrade: websocket\r$/m);
        }
        if (status === 405)
            assert.match(head, /^Allow: GET\r$/m);
        const body = await peer.end();
        if (name === 'HEAD')
            assert.equal(body.length, 0);
        else
            assert.equal(JSON.parse(body).status, status);
        peer.close();
    });

// RFC 7692: what was offered, and what must be agreed on. '' is no extension at all.
const agreed = 'permessage-deflate; server_no_context_takeover; client_no_context_takeover';
const offers = [
    ['permessage-deflate', agreed],
    ['permessage-deflate; client_max_window_bits', `${agreed}; client_max_window_bits=15`],
    ['permessage-deflate; client_max_window_bits=15', `${agreed}; client_max_window_bits=15`],
    ['permessage-deflate; client_max_window_bits=10', agreed],
    ['permessage-deflate; client_max_window_bits=8', agreed],
    ['permessage-deflate; server_max_window_bits=15', `${agreed}; server_max_window_bits=15`],
    ['permessage-deflate; server_max_window_bits=9', `${agreed}; server_max_window_bits=9`],
    ['permessage-deflate; server_max_window_bits="12"', `${agreed}; server_max_window_bits=12`],
    ['permessage-deflate; server_max_window_bits=8', ''],
    ['permessage-deflate; server_max_window_bits=16', ''],
    ['permessage-deflate; server_max_window_bits=010', ''],
    ['permessage-deflate; server_max_window_bits', ''],
    ['permessage-deflate; client_max_window_bits=7', ''],
    ['permessage-deflate; server_no_context_takeover', agreed],
    ['permessage-deflate; client_no_context_takeover; server_no_context_takeover', agreed],
    ['permessage-deflate; server_no_context_takeover=true', ''],
    ['permessage-deflate; unknown', ''],
    ['permessage-deflate; server_max_window_bits=10; server_max_window_bits=10', ''],
    ['permessage-deflate; unknown, permessage-deflate', agreed],
    ['foo, permessage-deflate; server_max_window_bits=8, permessage-deflate; server_max_window_bits=11',
        `${agreed}; server_max_window_bits=11`],
    [['foo', 'permessage-deflate; server_max_window_bits=10'], `${agreed}; server_max_window_bits=10`],
    ['  permessage-deflate ;\tserver_max_window_bits = 10  , ,', `${agreed}; server_max_window_bits=10`],
    ['permessage-bzip2', ''],
];

for (const [offer, answer] of offers)
    test(`offered ${JSON.stringify(offer)}`, async () => {
        const head = await answerTo(handshake({ 'Sec-WebSocket-Extensions': offer }));
        assert.match(head, /^HTTP\/1\.1 101 /);
        assert.equal(extensionIn(head) ?? '', answer);
    });

test('a head that comes byte by byte is fine', async () => {
    const peer = await connect(echo.port);

    for (const byte of handshake()) {
        peer.send(byte);
        await new Promise(setImmediate);
    }
    assert.match(await peer.head(), /^HTTP\/1\.1 101 /);
    peer.close();
});

test('frames right behind the head are not lost', async () => {
    const peer = await connect(echo.port);

    peer.send(Buffer.concat([Buffer.from(handshake()), frame(0x81, 'early')]));
    assert.match(await peer.head(), /^HTTP\/1\.1 101 /);
    assert.equal((await peer.read(7)).toString('latin1'), '\x81\x05early');
    peer.close();
});

test('a head that stalls times out', async () => {
    const peer = await connect(hasty.port);

    peer.send('GET /chat HTTP/1.1\r\nHost: ');
    assert.match(await peer.head(), /^HTTP\/1\.1 408 /);
    await peer.end();
    peer.close();
});

test('a connection that says nothing times out, one that has shaken hands does not', async () => {
    const quiet = await open(hasty.port);
    const silent = await connect(hasty.port);

    assert.match(await silent.head(), /^HTTP\/1\.1 408 /);
    quiet.send(frame(0x89, 'still there?'));
    assert.equal((await quiet.read(14)).toString('latin1'), '\x8a\x0cstill there?');
    silent.close();
    quiet.close();
});
