// SPDX-License-Identifier: Apache-2.0
// HTTP as such: methods, problem details, connections that stay, bodies in pieces, limits.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, people, startGateway, within } from './gateway.mjs';
import { connect } from './raw.mjs';

const settings = (limits) => ({ limits: { head: '4KiB', uri: '1KiB', body: '64KiB', envelope: '32KiB', ...limits }, tokens: people('alice') });
let gateway, hasty; // which waits for nobody

before(async () => {
    gateway = await startGateway(settings({}));
    hasty = await startGateway(settings({ head_timeout: '2s', body_timeout: '2s', keepalive_timeout: '2s' }));
});
after(() => Promise.all([gateway.stop(), hasty.stop()]));

const auth = 'Host: localhost\r\nAuthorization: Bearer alice-token\r\n';

// One answer from a raw connection: { status, head, body }.
async function answer(peer, isHead = false) {
    const head = await within(peer.head(), 'an answer');
    const status = Number(head.slice(9, 12));
    const length = Number(/^content-length: (\d+)\r$/im.exec(head)?.[1] ?? 0);
    const body = isHead ? '' : (await within(peer.read(length), 'a body')).toString();
    return { status, head, body };
}

async function exchange(text, isHead) {
    const peer = await connect(gateway.port);
    peer.send(text);
    const one = await answer(peer, isHead);
    peer.close();
    return one;
}

test('every error is a problem of its own, RFC 9457', async () => {
    const cases = [
        ['GET /nothing', {}, 404, 'not_found'], ['GET /topics', {}, 401, 'unauthorized'],
        ['PUT /topics', {}, 405, 'method_not_allowed'], ['GET /topics/..%2f/messages', { token: 'alice-token' }, 400, 'bad_request'],
        ['GET /topics/.x/messages', { token: 'alice-token' }, 400, 'bad_request'],
        ['GET /admin/tokens', { token: 'alice-token' }, 403, 'forbidden'], ['GET /ws?topic=a', { token: 'alice-token' }, 426, 'upgrade_required'],
        ['POST /topics/a/messages', { token: 'alice-token', body: 'x' }, 415, 'unsupported_media_type'],
        ['POST /topics/a/messages', { token: 'alice-token', json: 1 }, 400, 'malformed_envelope'],
    ];
    for (const [line, options, status, error] of cases) {
        const got = await gateway.request(line, options);
        assert.equal(got.status, status, line);
        assert.equal(got.headers['content-type'], 'application/problem+json');
        assert.equal(got.json.type, 'about:blank');
        assert.equal(got.json.status, status);
        assert.equal(got.json.error, error);
        assert.ok(got.json.title && got.json.detail);
        assert.equal(got.headers['x-content-type-options'], 'nosniff');
        assert.equal(got.headers['cache-control'], 'no-store');
    }
});

test('405 tells what a path answers; so does OPTIONS', async () => {
    const allowed = { '/': 'GET, HEAD, OPTIONS', '/topics/x/messages': 'POST, GET, HEAD, OPTIONS', '/session': 'GET, HEAD, POST, DELETE, OPTIONS' };
    for (const [path, allow] of Object.entries(allowed)) {
        for (const method of ['PUT', 'PATCH', 'BREW'])
            assert.match((await exchange(`${method} ${path} HTTP/1.1\r\n${auth}\r\n`)).head, new RegExp(`^HTTP/1.1 405 [^]*\\r\\nAllow: ${allow}\\r\\n`));
        const options = await gateway.request(`OPTIONS ${path}`);
        assert.deepEqual([options.status, options.headers.allow, options.text], [204, allow, '']);
    }
    assert.equal((await gateway.request('OPTIONS /nothing')).status, 404);
});

test('HEAD is GET without the body', async () => {
    for (const path of ['/', '/healthz', '/topics', '/topics/x/participants']) {
        const get = await gateway.request(`GET ${path}`, { token: 'alice-token' });
        const { status, head } = await exchange(`HEAD ${path} HTTP/1.1\r\n${auth}\r\n`, true);
        assert.deepEqual([status, Number(/content-length: (\d+)/i.exec(head)[1])], [get.status, Buffer.byteLength(get.text)]);
    }
    const peer = await connect(gateway.port);
    peer.send(`HEAD /nothing HTTP/1.1\r\n${auth}\r\nGET /healthz HTTP/1.1\r\n${auth}\r\n`);
    assert.equal((await answer(peer, true)).status, 404);
    assert.equal((await answer(peer)).status, 200);
    peer.close();
});

test('a connection serves many requests, also of topics that live elsewhere', async () => {
    const peer = await connect(gateway.port);
    for (let i = 0; i < 20; i++) {
        peer.send(`GET /topics/t${i}/participants HTTP/1.1\r\n${auth}\r\n`);
        const { status, head } = await answer(peer);
        assert.equal(status, 200);
        assert.match(head, /^Connection: keep-alive\r$/m);
    }
    peer.send(`GET /healthz HTTP/1.1\r\n${auth}Connection: close\r\n\r\n`);
    assert.match((await answer(peer)).head, /^Connection: close\r$/m);
    await within(peer.end(), 'the end');
    peer.close();
});

test('requests sent at once are answered in order', async () => {
    const peer = await connect(gateway.port);
    const ids = [];
    let text = '';
    for (let i = 0; i < 20; i++) {
        const body = JSON.stringify(envelope('alice'));
        ids.push(JSON.parse(body).id);
        text += `POST /topics/p${i}/messages HTTP/1.1\r\n${auth}Content-Type: application/json\r\n`;
        text += i % 2 ? `Content-Length: ${body.length}\r\n\r\n${body}`
            : `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
        text += `GET /nothing/${i} HTTP/1.1\r\n${auth}\r\n`;
    }
    peer.send(text);
    for (const id of ids) {
        assert.equal(JSON.parse((await answer(peer)).body).id, id);
        assert.equal((await answer(peer)).status, 404);
    }
    peer.close();
});

test('HTTP/1.0 closes unless it asks not to', async () => {
    assert.match((await exchange(`GET /healthz HTTP/1.0\r\n${auth}\r\n`)).head, /Connection: close/);
    assert.match((await exchange(`GET /healthz HTTP/1.0\r\n${auth}Connection: keep-alive\r\n\r\n`)).head, /Connection: keep-alive/);
});

const postHead = (more, topic = 'body') => `POST /topics/${topic}/messages HTTP/1.1\r\n${auth}Content-Type: application/json\r\n${more}\r\n`;

test('a body in chunks, byte by byte, with extensions and trailers', async () => {
    const peer = await connect(gateway.port);
    const body = JSON.stringify(envelope('alice'));
    const text = `${postHead('Transfer-Encoding: chunked\r\n')}5;a=b;c="d"\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16).toUpperCase()}\r\n` +
        `${body.slice(5)}\r\n0\r\nX-Trailer: yes\r\n\r\n`;
    for (const byte of text) {
        peer.send(byte);
        if (Math.random() < 0.1)
            await new Promise(setImmediate);
    }
    assert.equal((await answer(peer)).status, 200);
    peer.close();
});

test('Expect: 100-continue is answered when the body is wanted, and only then', async () => {
    const peer = await connect(gateway.port);
    const body = JSON.stringify(envelope('alice'));
    peer.send(postHead(`Expect: 100-continue\r\nContent-Length: ${body.length}\r\n`));
    assert.equal(await within(peer.head(), '100'), 'HTTP/1.1 100 Continue\r\n\r\n');
    peer.send(body);
    assert.equal((await answer(peer)).status, 200);
    peer.close();

    const refused = await connect(gateway.port);
    refused.send(postHead(`Expect: 100-continue\r\nContent-Length: ${body.length}\r\n`).replace('alice-token', 'nobody'));
    const { status, head } = await answer(refused);
    assert.equal(status, 401);
    assert.match(head, /^Connection: close\r$/m); // its body may or may not follow
    await within(refused.end(), 'the end');
    refused.close();
    assert.equal((await exchange(`GET / HTTP/1.1\r\n${auth}Expect: tea\r\n\r\n`)).status, 417);
});

// A refusal before the body was read must not leave the body to be read as a request.
test('what was refused before its body was read closes the connection', async () => {
    const hidden = `GET /hidden HTTP/1.1\r\n${auth}\r\n`;
    const cases = [
        ['too large', postHead('Content-Length: 70000\r\n') + hidden, 413],
        ['larger than any number', postHead('Content-Length: 9223372036854775807\r\n') + hidden, 413],
        ['no such path', `POST /nothing HTTP/1.1\r\n${auth}Content-Length: ${hidden.length}\r\n\r\n${hidden}`, 404],
        ['no token', `POST /ws-ticket HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`, 401],
        ['another host', `POST /ws-ticket HTTP/1.1\r\nHost: evil\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`, 421],
        ['a bad topic', postHead(`Content-Length: ${hidden.length}\r\n`, '.x') + hidden, 400],
        ['a chunk too large', postHead('Transfer-Encoding: chunked\r\n') + `fffff\r\n${hidden}`, 413],
        ['a wrong chunk', postHead('Transfer-Encoding: chunked\r\n') + `x\r\n${hidden}`, 400],
    ];
    for (const [name, text, status] of cases) {
        const peer = await connect(gateway.port);
        peer.send(text);
        const got = await answer(peer);
        assert.equal(got.status, status, name);
        assert.match(got.head, /^Connection: close\r$/m, name);
        assert.equal((await within(peer.end(), name)).length, 0, name);
        peer.close();
    }
});

test('too much of anything has a status of its own', async () => {
    assert.equal((await exchange(`GET /${'a'.repeat(1100)} HTTP/1.1\r\n${auth}\r\n`)).status, 414);
    assert.equal((await exchange(`GET /${'a'.repeat(1100)}`)).status, 414); // told before the line ends
    assert.equal((await exchange(`GET / HTTP/1.1\r\n${auth}X: ${'a'.repeat(5000)}`)).status, 431);
    assert.equal((await exchange(`GET / HTTP/1.1\r\n${auth}${'X: y\r\n'.repeat(100)}\r\n`)).status, 431);
    assert.equal((await exchange(postHead('Content-Length: 40000\r\n') + 'x'.repeat(40000))).status, 413);
    assert.equal((await exchange(`${'A'.repeat(40)} / HTTP/1.1\r\n${auth}\r\n`)).status, 501);
});

test('what comes too slowly is 408, and the connection ends', async () => {
    const begun = [
        'GET / HT', `GET / HTTP/1.1\r\n${auth}`, postHead('Content-Length: 10\r\n') + '{',
        postHead('Transfer-Encoding: chunked\r\n') + '5\r\nab', postHead('Content-Length: 10\r\nExpect: 100-continue\r\n'),
    ];
    await Promise.all(begun.map(async (text) => {
        const peer = await connect(hasty.port);
        peer.send(text);
        const head = await within(peer.head(), text);
        const { status } = head.includes(' 100 ') ? await answer(peer) : { status: Number(head.slice(9, 12)) };
        assert.equal(status, 408, text);
        await within(peer.end(), 'the end');
        peer.close();
    }));
});

test('a trickle of bytes does not stretch the time for a head', async () => {
    const peer = await connect(hasty.port);
    const timer = setInterval(() => peer.send('a'), 50);
    peer.send('GET /');
    assert.equal((await answer(peer)).status, 408);
    clearInterval(timer);
    await within(peer.end(), 'the end');
    peer.close();
});

test('silence ends a connection, before and after a request', async () => {
    const silent = await connect(hasty.port);
    const kept = await connect(hasty.port);
    kept.send(`GET /healthz HTTP/1.1\r\n${auth}\r\n`);
    assert.equal((await answer(kept)).status, 200);
    await within(Promise.all([silent.end(), kept.end()]), 'both to end');
    silent.close();
    kept.close();
});
