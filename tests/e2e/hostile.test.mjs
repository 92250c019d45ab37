// SPDX-License-Identifier: Apache-2.0
// Hostile input over raw sockets: each attack gets its status or close code, the connection
// ends, and two members who chat meanwhile get exactly their messages, in order.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { expect, people, startGateway, within } from './gateway.mjs';
import { connect, frame, handshake, open } from './raw.mjs';

let gateway;
let talk;

before(async () => {
    gateway = await startGateway({ limits: { login_failures: 0, rate_messages: '0', envelope: '64KiB', head_timeout: '30s' }, tokens: people('witness', 'peer', 'eve') });
    talk = await startTalk();
});
after(async () => {
    await talk.stop();
    await gateway.stop();
});

// The witness and its peer answer each other until told to stop; what they get must be that.
async function startTalk() {
    const witness = await gateway.join('witness');
    const peer = await gateway.join('peer');
    await expect(witness, (json) => json.payload.participant?.id === 'peer');
    const said = [];
    let goesOn = true;
    const talking = (async () => {
        for (let turn = 0; goesOn; turn++) {
            const speaker = turn % 2 ? peer : witness;
            said.push(speaker.chat(`turn ${turn}`).id);
            await Promise.all([witness, peer].map(async (client) => assert.equal((await client.next()).id, said.at(-1))));
        }
    })();

    return {
        said,
        async stop() {
            goesOn = false;
            await talking;
            assert.ok(said.length > 10);
            for (const client of [witness, peer])
                assert.deepEqual(client.frames.map(({ json }) => json).filter((json) => json.kind !== 'system/welcome' && json.kind !== 'system/presence')
                    .map((json) => json.id), said);
        },
    };
}

const host = 'Host: localhost\r\n';
const hidden = `GET /hidden HTTP/1.1\r\n${host}\r\n`;
const post = (more, body = '') => `POST /session HTTP/1.1\r\n${host}${more}\r\n${body}`;

// RFC 9112, and what has fooled servers and proxies before.
const malformed = [
    ['two lengths', post('Content-Length: 0\r\nContent-Length: 5\r\n', hidden), 400],
    ['two equal lengths', post('Content-Length: 0\r\nContent-Length: 0\r\n', hidden), 400],
    ['a list of lengths', post('Content-Length: 0, 5\r\n', hidden), 400],
    ['a signed length', post('Content-Length: +5\r\n', hidden), 400],
    ['a negative length', post('Content-Length: -1\r\n', hidden), 400],
    ['a hexadecimal length', post('Content-Length: 0x5\r\n', hidden), 400],
    ['a length with a leading zero', post('Content-Length: 00\r\n', hidden), 400],
    ['an empty length', post('Content-Length: \r\n', hidden), 400],
    ['a length beyond 64 bits', post('Content-Length: 18446744073709551617\r\n', hidden), 400],
    ['length and chunks', post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${hidden}`), 400],
    ['chunks and length', post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', `0\r\n\r\n${hidden}`), 400],
    ['chunked twice', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${hidden}`), 400],
    ['chunked, chunked', post('Transfer-Encoding: chunked, chunked\r\n', `0\r\n\r\n${hidden}`), 400],
    ['chunked, then identity', post('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${hidden}`), 400],
    ['gzip, chunked', post('Transfer-Encoding: gzip, chunked\r\n', `0\r\n\r\n${hidden}`), 501],
    ['xchunked', post('Transfer-Encoding: xchunked\r\n', hidden), 400],
    ['chunked with a control character', post('Transfer-Encoding: \x0bchunked\r\n', hidden), 400],
    ['chunked with quotes', post('Transfer-Encoding: "chunked"\r\n', hidden), 400],
    ['a space before the colon', post('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${hidden}`), 400],
    ['a tab before the colon', post('Content-Length\t: 5\r\n', hidden), 400],
    ['a folded header', post('X: a\r\n Transfer-Encoding: chunked\r\n', hidden), 400],
    ['a header without a name', post(': x\r\n'), 400],
    ['a header without a colon', post('Nothing\r\n'), 400],
    ['a NUL in a header', post('X: a\0b\r\n'), 400],
    ['a bare CR in a header', post('X: a\rContent-Length: 5\r\n'), 400],
    ['a bare LF', `GET / HTTP/1.1\nHost: localhost\n\n`, 400],
    ['a bare LF between headers', `GET / HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n`, 400],
    ['chunks in HTTP/1.0', `POST /session HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`, 400],
    ['a chunk size with a sign', post('Transfer-Encoding: chunked\r\n', `+0\r\n\r\n${hidden}`), 400],
    ['a chunk size with 0x', post('Transfer-Encoding: chunked\r\n', `0x0\r\n\r\n${hidden}`), 400],
    ['a chunk size that wraps', post('Transfer-Encoding: chunked\r\n', `10000000000000000\r\n${hidden}`), 413],
    ['a chunk that ends with LF', post('Transfer-Encoding: chunked\r\n', `1\r\nx\n0\r\n\r\n${hidden}`), 400],
    ['a chunk longer than it says', post('Transfer-Encoding: chunked\r\n', `1\r\nxx\r\n0\r\n\r\n${hidden}`), 400],
    ['a chunk extension with a line end', post('Transfer-Encoding: chunked\r\n', `1;a\nb\r\nx\r\n0\r\n\r\n${hidden}`), 400],
    ['two hosts', `GET / HTTP/1.1\r\n${host}${host}\r\n`, 400],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['a host with a path', 'GET / HTTP/1.1\r\nHost: localhost/x\r\n\r\n', 400],
    ['a host with a user', 'GET / HTTP/1.1\r\nHost: a@localhost\r\n\r\n', 400],
    ['another host in the target', `GET http://evil/ HTTP/1.1\r\n${host}\r\n`, 400],
    ['a request line with two spaces', `GET  / HTTP/1.1\r\n${host}\r\n`, 400],
    ['a request line with a tab', `GET\t/ HTTP/1.1\r\n${host}\r\n`, 400],
    ['a fragment in the target', `GET /#x HTTP/1.1\r\n${host}\r\n`, 400],
    ['a space in the target', `GET /a b HTTP/1.1\r\n${host}\r\n`, 400],
    ['dots in the target', `GET /topics/../admin/tokens HTTP/1.1\r\n${host}\r\n`, 400],
    ['NUL in the target', `GET /a%00b HTTP/1.1\r\n${host}\r\n`, 400],
    ['a broken escape', `GET /a%zz HTTP/1.1\r\n${host}\r\n`, 400],
    ['a path that is not UTF-8', `GET /%ff HTTP/1.1\r\n${host}\r\n`, 400],
    ['HTTP/2 with prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
    ['HTTP/0.9', 'GET /\r\n', 505],
    ['HTTP/1.2', `GET / HTTP/1.2\r\n${host}\r\n`, 505],
    ['lower case http', `GET / http/1.1\r\n${host}\r\n`, 400],
    ['a TLS hello', Buffer.from('16030102000100020001fc0303', 'hex'), 400],
    ['random bytes', Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 197 + 255) % 256)), 400],
    ['CONNECT', `CONNECT localhost:80 HTTP/1.1\r\n${host}\r\n`, 400],
    ['two tokens', `GET /topics HTTP/1.1\r\n${host}Authorization: Bearer eve-token\r\nAuthorization: Bearer witness-token\r\n\r\n`, 400, 'stays'],
];

for (const [name, text, status, stays] of malformed)
    test(`HTTP: ${name} is ${status}, and nothing behind it is read`, async () => {
        const peer = await connect(gateway.port);
        peer.send(text);
        const head = await within(peer.head(), name);
        assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
        if (!stays) {
            assert.match(head, /^Connection: close\r$/m);
            const body = (await within(peer.end(), `the end of ${name}`)).toString();
            assert.equal(JSON.parse(body).status, status); // one answer, no second
        }
        peer.close();
    });

const upgrade = (topic = 'room') => [{ Host: 'localhost', Authorization: 'Bearer eve-token' }, `GET /ws?topic=${topic} HTTP/1.1`];
const violations = [
    ['an unmasked frame', frame(0x81, '{}', { mask: null }), 1002],
    ['a reserved bit', frame(0xa1, '{}'), 1002],
    ['a reserved opcode', frame(0x83, '{}'), 1002],
    ['a continuation of nothing', frame(0x80, '{}'), 1002],
    ['a long ping', frame(0x89, Buffer.alloc(126)), 1002],
    ['a length of 2^63', Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]), 1002],
    ['a length that is not minimal', Buffer.from([0x81, 0xfe, 0, 2, 1, 2, 3, 4, 0, 0]), 1002],
    ['a binary frame', frame(0x82, 'x'), 1003],
    ['text that is not UTF-8', frame(0x81, Buffer.from([0xff])), 1007],
    ['a length of 2^40', Buffer.from([0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4]), 1009],
    ['compressed without an agreement', frame(0xc1, 'xxxx'), 1002],
];

for (const [name, bytes, code] of violations)
    test(`WebSocket: ${name} closes with ${code}`, async () => {
        const peer = await open(gateway.port, ...upgrade('attack'));
        peer.send(bytes);
        const all = await within(peer.end(), name);
        assert.ok(all.includes(Buffer.from([code >> 8, code & 255])), all.toString('latin1').slice(-200));
        peer.close();
    });

test('a compression bomb closes with 1009 and costs no more than the limit', async () => {
    const zlib = await import('node:zlib');
    const bomb = zlib.deflateRawSync(Buffer.alloc(50 << 20, ' '), { finishFlush: zlib.constants.Z_SYNC_FLUSH }).subarray(0, -4);
    const [headers, line] = upgrade('bomb');
    const peer = await open(gateway.port, { ...headers, 'Sec-WebSocket-Extensions': 'permessage-deflate' }, line);
    peer.send(frame(0xc1, bomb));
    const all = await within(peer.end(), 'the close');
    assert.ok(all.includes(Buffer.from([1009 >> 8, 1009 & 255])));
    peer.close();
});

test('connections cut at every byte of a handshake and of a frame harm nobody', async () => {
    const [headers, line] = upgrade('cut');
    const text = Buffer.concat([Buffer.from(handshake(headers, line)), frame(0x81, JSON.stringify({ protocol: 'x' }))]);
    for (let at = 0; at < text.length; at += 3) {
        const peer = await connect(gateway.port);
        peer.socket.on('error', () => {});
        peer.send(text.subarray(0, at));
        if (at % 2)
            peer.socket.resetAndDestroy();
        else
            peer.socket.end();
        await once(peer.socket, 'close').catch(() => {});
    }
});

test('a flood of refused envelopes in the same room is answered one by one', async () => {
    const eve = await gateway.open('eve', { topic: 'flood' });
    await expect(eve, (json) => json.kind === 'system/presence');
    for (let i = 0; i < 500; i++)
        eve.send(i % 2 ? '{"id":"x"}' : '[');
    for (let i = 0; i < 500; i++)
        assert.equal((await eve.next()).payload.error, 'malformed_envelope');
    await eve.close();
});
