// SPDX-License-Identifier: Apache-2.0
// Frames over raw sockets: what ends a connection, with which code, and how it ends.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { frame, open, startEcho } from './raw.mjs';

const deflate = { 'Sec-WebSocket-Extensions': 'permessage-deflate' };
let echo;

before(async () => { echo = await startEcho(); });
after(async () => { assert.equal(await echo.stop(), 0); });

const closeFrame = (code) => Buffer.from([0x88, 2, code >> 8, code & 255]);
const closeBody = (code, reason = '') => Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)]);

const violations = [
    ['an unmasked frame', {}, [frame(0x81, 'hello', { mask: null })], 1002],
    ['RSV1 without an extension', {}, [frame(0xc1, 'hello')], 1002],
    ['RSV2', {}, [frame(0xa1, 'hello')], 1002],
    ['RSV3', deflate, [frame(0x91, 'hello')], 1002],
    ['RSV1 on a control frame', deflate, [frame(0xc9, 'ping')], 1002],
    ['RSV1 on a continuation', deflate, [frame(0x01, 'a'), frame(0xc0, 'b')], 1002],
    ['an unknown opcode', {}, [frame(0x83, 'hello')], 1002],
    ['an unknown control opcode', {}, [frame(0x8b, 'hello')], 1002],
    ['a fragmented ping', {}, [frame(0x09, 'hello')], 1002],
    ['a ping of 126 bytes', {}, [frame(0x89, Buffer.alloc(126))], 1002],
    ['a continuation of nothing', {}, [frame(0x80, 'hello')], 1002],
    ['a message inside a message', {}, [frame(0x01, 'a'), frame(0x81, 'b')], 1002],
    ['text that is not UTF-8', {}, [frame(0x81, Buffer.from([0xff]))], 1007],
    ['text that breaks off inside a character', {}, [frame(0x81, Buffer.from([0xe2, 0x82]))], 1007],
    ['compressed garbage', deflate, [frame(0xc1, Buffer.from([0xff, 0xff, 0xff]))], 1007],
    ['a message over 16 MiB', {}, [Buffer.from([0x82, 0xff, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0])], 1009],
    ['a close frame of one byte', {}, [frame(0x88, 'x')], 1002],
    ['a close code that must not be sent', {}, [frame(0x88, closeBody(1005))], 1002],
    ['a close reason that is not UTF-8', {}, [frame(0x88, closeBody(1000, Buffer.from([0xff])))], 1007],
];

for (const [name, changes, frames, code] of violations)
    test(`${code}: ${name}`, async () => {
        const peer = await open(echo.port, changes);

        peer.send(Buffer.concat(frames));
        assert.deepEqual(await peer.end(), closeFrame(code));
        peer.close();
    });

test('a close is answered with its code, and the server ends first', async () => {
    for (const code of [1000, 1001, 3000, 4999]) {
        const peer = await open(echo.port);

        peer.send(frame(0x88, closeBody(code, 'bye')));
        assert.deepEqual(await peer.end(), closeFrame(code));
        peer.close();
    }
    const peer = await open(echo.port);
    peer.send(frame(0x88, ''));
    assert.deepEqual(await peer.end(), Buffer.from([0x88, 0]));
    peer.close();
});

test('nothing sent after a close is answered', async () => {
    const peer = await open(echo.port);

    peer.send(Buffer.concat([frame(0x88, closeBody(1000)), frame(0x81, 'late'), frame(0x89, 'late')]));
    assert.deepEqual(await peer.end(), closeFrame(1000));
    peer.close();
});

test('messages come back whole, in order, pings in between', async () => {
    const peer = await open(echo.port);
    const big = Buffer.alloc(70_000, 'x');

    peer.send(Buffer.concat([
        frame(0x81, 'one'), frame(0x01, 'tw'), frame(0x89, 'p'), frame(0x80, 'o'), frame(0x82, big),
    ]));
    assert.equal((await peer.read(5)).toString('latin1'), '\x81\x03one');
    assert.equal((await peer.read(3)).toString('latin1'), '\x8a\x01p');
    assert.equal((await peer.read(5)).toString('latin1'), '\x81\x03two');
    assert.deepEqual(await peer.read(10), Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70]));
    assert.deepEqual(await peer.read(70_000), big);
    peer.close();
});

test('frames that come byte by byte are fine', async () => {
    const peer = await open(echo.port);

    for (const byte of frame(0x81, 'slowly'))
        peer.send(Buffer.from([byte]));
    assert.equal((await peer.read(8)).toString('latin1'), '\x81\x06slowly');
    peer.close();
});

test('a peer that does not read is not read from, and loses nothing', async () => {
    const peer = await open(echo.port);
    const one = frame(0x82, Buffer.alloc(1_000_000, 'z'));
    const count = 40;

    const clock = await open(echo.port);

    peer.socket.pause();
    for (let i = 0; i < count; i++)
        peer.send(one);
    // The server holds about 4 MiB, the kernel a few more; the rest has to wait here,
    // however often the server turns meanwhile.
    for (let i = 0; i < 100; i++) {
        clock.send(frame(0x89, ''));
        await clock.read(2);
    }
    assert.equal(peer.socket.writableNeedDrain, true);
    clock.close();
    peer.socket.resume();
    await once(peer.socket, 'drain');
    for (let i = 0; i < count; i++)
        assert.equal((await peer.read(1_000_010)).readUInt32BE(6), 1_000_000);
    peer.close();
});

test('a peer that only ends its side still gets its answers', async () => {
    const peer = await open(echo.port);

    peer.socket.end(Buffer.concat([frame(0x81, 'last'), frame(0x82, Buffer.alloc(500_000))]));
    assert.equal((await peer.end()).length, 6 + 500_010);
    peer.close();
});
