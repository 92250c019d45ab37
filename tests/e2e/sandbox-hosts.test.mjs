// SPDX-License-Identifier: Apache-2.0
// A network of its own with a proxy as the only way out: what a command reaches through it.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import test from 'node:test';

import { confine, escape, users } from './sandbox.mjs';

// Sends a text to the proxy and prints all that comes back.
const talk = (text) => ['node', '-e', `
    const socket = require('net').connect(3128, '127.0.0.1', () => socket.write(${JSON.stringify(text)}));
    socket.on('data', (bytes) => process.stdout.write(bytes));
    socket.on('error', (error) => console.log(error.message));
    setTimeout(() => process.exit(1), 60_000).unref();`];

async function listening(server) {
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    return server.address().port;
}

for (const user of users) {
    const about = (name, run) => test(`${user.name}: ${name}`, { skip: user.skip }, run);

    about('a permitted host is reached by CONNECT, and nothing is changed on the way', async (t) => {
        const large = 'x'.repeat(1 << 20);
        const echo = net.createServer((socket) => {
            socket.on('error', () => {});
            socket.on('data', (bytes) => socket.end(`${bytes}${large}`));
        });
        const port = await listening(echo);

        t.after(() => echo.close());
        const { out, err } = await confine(user, { network: 'hosts', host: `127.0.0.1:${port}` },
            ...talk(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\nhello`));

        assert.equal(out.length, 'HTTP/1.1 200 Connection established\r\n\r\nhello'.length + large.length, err);
        assert.ok(out.startsWith('HTTP/1.1 200 Connection established\r\n\r\nhellox'));
    });

    about('plain HTTP goes through as one request', async (t) => {
        const server = http.createServer((request, response) => response.end(
            `${request.url} ${request.headers.connection} ${request.headers['proxy-authorization']}`));
        const port = await listening(server);

        t.after(() => server.close());
        const { out } = await confine(user, { network: 'hosts', host: `127.0.0.1:${port}` },
            ...talk(`GET http://127.0.0.1:${port}/a?b HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nProxy-Authorization: x\r\n\r\n`));

        assert.match(out, /^HTTP\/1\.1 200 OK/);
        assert.match(out, /\/a\?b close undefined/);
    });

    about('other hosts, ports and names of private addresses are refused', async (t) => {
        const server = net.createServer((socket) => socket.end('arrived'));
        const port = await listening(server);

        t.after(() => server.close());
        const cases = [
            ['127.0.0.1:1', `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`, /^HTTP\/1\.1 403 .*not permitted/s],
            [`localhost:${port}`, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`, /^HTTP\/1\.1 403 .*not permitted/s],
            [`*:${port}`, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`, /^HTTP\/1\.1 403 .*no public address/s],
            [`*:${port}`, `CONNECT localhost:${port} HTTP/1.1\r\n\r\n`, /^HTTP\/1\.1 403 .*no public address/s],
            ['*', 'CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 403 .*no public address/s],
            ['169.254.169.254', 'CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 403 .*no public address/s],
            ['a.org', 'GET / HTTP/1.1\r\nHost: a.org\r\n\r\n', /^HTTP\/1\.1 400 .*this is a proxy/s],
            ['a.org', 'nonsense\r\n\r\n', /^HTTP\/1\.1 400 /],
            ['127.0.0.1:1', 'CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 502 /],
        ];

        for (const [host, text, expected] of cases) {
            const { out, err } = await confine(user, { network: 'hosts', host }, ...talk(text));

            assert.match(out, expected, `${host} ${text}`);
            assert.doesNotMatch(out, /arrived/);
            assert.ok(!/ 403 /.test(out) || /confine: refused /.test(err), err);
        }
    });

    about('past the proxy there is nothing', async (t) => {
        const server = net.createServer((socket) => socket.end('arrived'));
        const port = await listening(server);
        const permit = { network: 'hosts', host: `127.0.0.1:${port}` };

        t.after(() => server.close());
        assert.equal(await escape(user, permit, 'connect', port), 'refused: ECONNREFUSED');
        assert.equal(await escape(user, permit, 'connect', 3128), 'got: connected');
        assert.equal(await escape(user, permit, 'socket', 16), 'refused: EPERM');
        assert.equal(await escape(user, permit, 'namespace', 0x40000000), 'refused: EPERM');
        assert.match(await escape(user, permit, 'caps'), /CapEff:\t0+$/m);
        assert.match(await escape(user, permit, 'env'), /^HTTPS_PROXY=http:\/\/127\.0\.0\.1:3128$/m);
        assert.equal(await escape(user, permit, 'descriptors'), '0 1 2');
    });
}
