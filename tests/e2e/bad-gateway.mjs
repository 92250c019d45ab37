// SPDX-License-Identifier: Apache-2.0
// A server that speaks WebSocket and MCPx exactly as badly as a test asks for. It judges
// nothing; it plays what it is given to every connection, and tells what came.
//
//   const gateway = await startBadGateway(async (peer, number) => { … })
//       called with each connection when its request head has come; number counts from 1
//       gateway.port, .url, .peers (all so far), await gateway.arrived(count), await gateway.stop()
//
//       peer.head                the request, as text; peer.target is its path and query
//       peer.raw(bytes)          sends them as they are; false: they wait in memory
//       peer.accept(changes)     the 101; changes: headers to be other, null: left out
//       peer.text(value)         a text frame: an object or a text
//       peer.frame(opcode, bytes, { fin, rsv, mask, length })     any frame
//       peer.welcome(changes)    a welcome for `me`, payload changed by the given members
//       peer.received            frames that came, unmasked: { opcode, bytes }
//       await peer.drained(), await peer.ended()
//       await peer.closeCode()   of the close frame; null: cut, or none in it
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

import { protocol, within } from './gateway.mjs';

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'; // RFC 6455 1.3
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 };

let count = 0;
const nextId = () => `sys-bad-${++count}`;

export const fromGateway = (kind, payload, more = {}) =>
    ({ protocol, id: nextId(), ts: '2026-11-15T06:07:37.706Z', from: 'system:gateway', kind, payload, ...more });

export const welcomeOf = (changes = {}) => fromGateway('system/welcome', {
    you: { id: 'me', capabilities: ['mcp/*', 'chat'], moot: { type: 'agent' } },
    participants: [{ id: 'eve', capabilities: ['mcp/*', 'chat'], moot: { type: 'agent' } }],
    moot: { server: 'moot/0.1.0', limits: { envelope_bytes: 1048576, outbox_bytes: 2097152, depth: 128 }, features: ['replay'],
        topic: 'room', routing: 'all', presence: 'batch', dialect: 'slash', validation: 'lazy', announced: true, proposals: [] },
    ...changes,
}, { to: ['me'] });

// The head of a frame; `length` is what it claims.
function headOf(opcode, length, { fin = true, rsv = 0, mask = false }) {
    const first = (fin ? 0x80 : 0) | rsv << 4 | opcode;
    const bit = mask ? 0x80 : 0;

    if (length < 126)
        return Buffer.from([first, bit | Number(length)]);
    if (length < 65536) {
        const head = Buffer.from([first, bit | 126, 0, 0]);
        head.writeUInt16BE(Number(length), 2);
        return head;
    }
    const head = Buffer.from([first, bit | 127, 0, 0, 0, 0, 0, 0, 0, 0]);
    head.writeBigUInt64BE(BigInt(length), 2);
    return head;
}

class Peer {
    received = [];
    head = null;
    #rest = Buffer.alloc(0);

    constructor(socket) {
        this.socket = socket;
        this.isOver = false;
        socket.unref(); // a test that failed must end nevertheless
        socket.unref(); // a test that failed must end nevertheless
        socket.on('error', () => {});
        socket.on('drain', () => socket.emit('news'));
        socket.on('close', () => { this.isOver = true; socket.emit('news'); });
    }

    // Everything up to the empty line is the head, the rest are frames.
    take(part) {
        this.#rest = Buffer.concat([this.#rest, part]);
        if (this.head === null) {
            const end = this.#rest.indexOf('\r\n\r\n');
            if (end < 0)
                return;
            this.head = this.#rest.subarray(0, end).toString('latin1');
            this.target = this.head.split(' ')[1];
            this.#rest = this.#rest.subarray(end + 4);
            this.socket.emit('head');
        }
        while (this.#takeFrame());
        this.socket.emit('news');
    }

    #takeFrame() {
        const bytes = this.#rest;
        if (bytes.length < 6)
            return false;
        const short = bytes[1] & 0x7f;
        const size = short < 126 ? 2 : short === 126 ? 4 : 10;
        if (bytes.length < size + 4)
            return false;
        const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
        const start = size + 4;
        if (bytes.length < start + length)
            return false;
        const mask = bytes.subarray(size, start);
        const body = Buffer.from(bytes.subarray(start, start + length).map((byte, i) => byte ^ mask[i & 3]));
        this.received.push({ opcode: bytes[0] & 15, bytes: body });
        this.#rest = bytes.subarray(start + length);
        if ((bytes[0] & 15) === opcodes.ping && this.answersPings)
            this.frame(opcodes.pong, body);
        return true;
    }

    answersPings = true;

    raw(bytes) { return this.isOver || this.socket.write(bytes); }
    frame(opcode, bytes = Buffer.alloc(0), { length, ...bits } = {}) {
        return this.raw(Buffer.concat([headOf(opcode, length ?? bytes.length, bits),
            ...bits.mask ? [Buffer.alloc(4)] : [], Buffer.from(bytes)]));
    }
    text(value) { return this.frame(opcodes.text, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))); }
    welcome(changes) { return this.text(welcomeOf(changes)); }

    accept(changes = {}) {
        const key = /^sec-websocket-key: *(\S+)/im.exec(this.head)[1];
        const headers = {
            Upgrade: 'websocket',
            Connection: 'Upgrade',
            'Sec-WebSocket-Accept': createHash('sha1').update(key + guid).digest('base64'),
            ...changes,
        };
        const lines = Object.entries(headers).filter(([, value]) => value !== null).map(([name, value]) => `${name}: ${value}`);
        return this.raw(['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n'));
    }

    // Not once(), which fails when the client breaks off.
    #news() { return new Promise((resolve) => { this.socket.once('news', resolve); }); }
    async drained() {
        while (!this.isOver && this.socket.writableNeedDrain)
            await within(this.#news(), 'the client to read');
    }
    async until(matches, what) {
        while (!this.isOver && !matches())
            await within(this.#news(), what);
    }
    async ended() { await this.until(() => this.isOver, 'the client to hang up'); }
    async closeCode() {
        await this.until(() => this.received.some(({ opcode }) => opcode === opcodes.close), 'a close frame');
        const close = this.received.find(({ opcode }) => opcode === opcodes.close);
        return close && close.bytes.length >= 2 ? close.bytes.readUInt16BE(0) : null;
    }
}

export async function startBadGateway(play) {
    const peers = [];
    const server = net.createServer((socket) => {
        const peer = new Peer(socket);

        peers.push(peer);
        server.emit('arrival');
        socket.on('data', (part) => peer.take(part));
        socket.once('head', () => Promise.resolve(play(peer, peers.length)).catch((error) => { gateway.failure = error; }));
    });
    const gateway = {
        peers,
        failure: null,
        async arrived(number) {
            while (peers.length < number)
                await within(once(server, 'arrival'), `connection ${number}`);
            return peers[number - 1];
        },
        async stop() {
            server.close();
            for (const { socket } of peers)
                socket.destroy();
            if (gateway.failure)
                throw gateway.failure;
        },
    };

    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    gateway.port = server.address().port;
    gateway.url = `ws://127.0.0.1:${gateway.port}`;
    return gateway;
}
