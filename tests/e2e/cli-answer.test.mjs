// SPDX-License-Identifier: Apache-2.0
// How the command line reads what a server answers: a length, chunks, or all up to the end.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';

import { moot } from './moot.mjs';

const body = JSON.stringify({ tokens: [{ name: 'one', id: 'ann', topics: ['*'], capabilities: ['chat'] }] });
const head = (...lines) => `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
const chunk = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

// Answers every request with these bytes, some at a time, and hangs up.
async function list(answer, step = answer.length) {
    const server = net.createServer(async (socket) => {
        socket.on('error', () => {}).setNoDelay(true);
        await once(socket, 'data');
        for (let at = 0; at < answer.length; at += step)
            await new Promise((resolve) => { socket.write(answer.slice(at, at + step), () => setImmediate(resolve)); });
        socket.end();
    });

    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { status, stdout, stderr } = await moot(null, null,
        ['token', 'list', '--json', '--server', `http://127.0.0.1:${server.address().port}`], { env: { MOOT_TOKEN: 'x' } });
    server.close();
    return [status, stdout.includes('"ann"'), stderr];
}

const good = [0, true, ''];
const broken = (why) => [1, false, `moot: no answer of the server can be read: ${why}\n`];

for (const [what, answer, wanted] of [
    ['a length', head(`Content-Length: ${body.length}`) + body, good],
    ['a length, and more than that', `${head(`Content-Length: ${body.length}`) + body}{"x":`, good],
    ['nothing but the end', head() + body, good],
    ['chunks', head('Transfer-Encoding: chunked') + chunk(body.slice(0, 9)) + chunk(body.slice(9)) + chunk(''), good],
    ['chunks of one byte', head('Transfer-Encoding: chunked') + [...body].map(chunk).join('') + chunk(''), good],
    ['chunks with extensions and trailers', `${head('Transfer-Encoding: chunked')}${body.length.toString(16)};a=b\r\n${body}\r\n0\r\nX: y\r\n\r\n`, good],
    ['a length that is not reached', head(`Content-Length: ${body.length + 1}`) + body, broken('the connection broke')],
    ['chunks without the last', head('Transfer-Encoding: chunked') + chunk(body), broken('the connection broke')],
    ['chunks that are none', `${head('Transfer-Encoding: chunked')}zz\r\n${body}`, broken('this is no HTTP')],
    ['a length that is none', head('Content-Length: -1') + body, broken('this is no HTTP')],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', broken('this is no HTTP')],
    ['nothing', '', broken('the connection broke')],
]) {
    test(`answer: ${what}`, async () => {
        assert.deepEqual(await list(answer), wanted);
        assert.deepEqual(await list(answer, 1), wanted);
    });
}
