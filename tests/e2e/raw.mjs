// SPDX-License-Identifier: Apache-2.0
// What the raw-socket tests share: starting the echo server, a socket whose bytes can be
// awaited, and frames built by hand.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { fileURLToPath } from 'node:url';

const echoPath = process.env.MOOT_WS_ECHO ??
    fileURLToPath(new URL('../../build/ws_echo', import.meta.url));

// Starts ws_echo on a free port; stop() resolves to its exit status.
export async function startEcho(...options) {
    const child = spawn(echoPath, options, { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const [line] = await Promise.race([
        once(child.stdout, 'data'),
        exited.then(() => { throw new Error('ws_echo ended at once'); }),
    ]);
    const port = Number(/^listening on 127\.0\.0\.1:(\d+)\n$/.exec(line)[1]);
    return {
        port,
        pid: child.pid,
        async stop() {
            child.kill('SIGTERM');
            const [status] = await exited;
            return status;
        },
    };
}

// A socket that collects what it receives, to be awaited and read in pieces.
export async function connect(port) {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    let parts = [];
    let hasEnded = false;
    const wake = () => socket.emit('news');
    const size = () => parts.reduce((sum, part) => sum + part.length, 0);
    const all = () => {
        if (parts.length !== 1)
            parts = [Buffer.concat(parts)];
        return parts[0];
    };

    socket.on('data', (part) => { parts.push(part); wake(); });
    socket.on('end', () => { hasEnded = true; wake(); });
    socket.on('error', () => { hasEnded = true; wake(); });
    await once(socket, 'connect');
    const peer = {
        socket,
        send: (part) => socket.write(part),
        async until(isEnough) {
            while (!isEnough()) {
                if (hasEnded)
                    throw new Error(`ended after ${JSON.stringify(all().toString('latin1'))}`);
                await once(socket, 'news');
            }
        },
        async read(count) {
            await peer.until(() => size() >= count);
            const taken = all().subarray(0, count);
            parts = [all().subarray(count)];
            return taken;
        },
        async head() {
            await peer.until(() => all().includes('\r\n\r\n'));
            return (await peer.read(all().indexOf('\r\n\r\n') + 4)).toString('latin1');
        },
        async end() { // everything that is left, once the server has shut its side
            while (!hasEnded)
                await once(socket, 'news');
            return all();
        },
        close: () => socket.destroy(),
    };
    return peer;
}

export const sampleKey = 'dGhlIHNhbXBsZSBub25jZQ=='; // RFC 6455 1.3
export const sampleAccept = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';

// The lines of a correct handshake; a null value leaves a header out, a list repeats it.
export function handshake(changes = {}, requestLine = 'GET /chat HTTP/1.1') {
    const headers = {
        Host: '127.0.0.1',
        Upgrade: 'websocket',
        Connection: 'Upgrade',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': sampleKey,
        ...changes,
    };
    const lines = Object.entries(headers).flatMap(([name, value]) =>
        (value === null ? [] : [value].flat()).map((one) => `${name}: ${one}`));

    return [requestLine, ...lines, '', ''].join('\r\n');
}

// A frame as a client sends it; `first` holds the final bit, the reserved bits and the opcode.
export function frame(first, payload, { mask = [1, 2, 3, 4] } = {}) {
    const body = Buffer.from(payload);
    const head = body.length < 126 ? [body.length]
        : body.length < 65536 ? [126, body.length >> 8, body.length & 255]
        : [127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (body.length >>> shift) & 255)];

    if (!mask)
        return Buffer.concat([Buffer.from([first, ...head]), body]);
    head[0] |= 0x80;
    return Buffer.concat([Buffer.from([first, ...head, ...mask]),
        body.map((byte, at) => byte ^ mask[at % 4])]);
}

// Connects and shakes hands; the answer must be 101.
export async function open(port, changes, requestLine) {
    const peer = await connect(port);

    peer.send(handshake(changes, requestLine));
    peer.answer = await peer.head();
    if (!peer.answer.startsWith('HTTP/1.1 101 '))
        throw new Error(peer.answer);
    return peer;
}
