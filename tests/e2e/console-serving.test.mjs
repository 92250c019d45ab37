// SPDX-License-Identifier: Apache-2.0
// How the gateway serves the console: its page and assets, their codings, how long they are
// kept, and what a browser may do with them.
import assert from 'node:assert/strict';
import http from 'node:http';
import test, { after, before } from 'node:test';
import zlib from 'node:zlib';

import { people, startGateway } from './gateway.mjs';

let gateway;
let page; // the plain text
let assets; // paths that it asks for

before(async () => {
    gateway = await startGateway({ tokens: people('alice') });
    page = String((await ask('/')).body);
    assets = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path);
});
after(async () => { await gateway.stop(); });

function ask(path, headers = {}, method = 'GET') {
    return new Promise((resolve, reject) => {
        http.request({ port: gateway.port, host: '127.0.0.1', path, method, headers }, async (answer) => {
            const pieces = [];
            for await (const piece of answer) pieces.push(piece);
            resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(pieces) });
        }).on('error', reject).end();
    });
}

const decode = { br: zlib.brotliDecompressSync, gzip: zlib.gunzipSync };

test('the page is answered at the root and at every path of a view', async () => {
    assert.match(page, /^<!doctype html>/);
    for (const path of ['/', '/?x=1', '/console', '/console/inbox', '/console/room/lobby', '/console/room/%C3%A4b', '/console/nothing?a=b']) {
        const answer = await ask(path);
        assert.equal(answer.status, 200, path);
        assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
        assert.equal(String(answer.body), page);
    }
    for (const path of ['/console/a/b/c', '/console/', '/assets', '/assets/', '/assets/index.html', '/assets/main.js', '/index.html'])
        assert.equal((await ask(path)).status, 404, path);
    for (const path of ['/assets/..', '/assets/..%2Findex.html', '/console/%00', '/console/room/%C3']) assert.equal((await ask(path)).status, 400, path);
    assert.equal((await ask('/console/inbox', {}, 'POST')).status, 405);
});

test('there is no inline code, and nothing from elsewhere', () => {
    assert.ok(assets.length >= 3);
    for (const path of assets) assert.match(path, /^\/assets\/[a-z]+-[A-Za-z0-9]{8}\.(js|css|svg)$/);
    assert.doesNotMatch(page, /<script(?![^>]*src=)|<style|style=|\son\w+=|https?:\/\//);
});

test('a page and its assets come with the headers that keep foreign code out', async () => {
    for (const path of ['/', ...assets]) {
        const { headers } = await ask(path);
        const policy = new Map(headers['content-security-policy'].split(';').map((one) => one.trim().split(/ (.*)/)));

        assert.equal(policy.get('default-src'), "'none'");
        for (const name of ['script-src', 'style-src', 'connect-src']) assert.equal(policy.get(name), "'self'", name);
        for (const name of ['base-uri', 'form-action', 'frame-ancestors', 'trusted-types']) assert.equal(policy.get(name), "'none'", name);
        assert.equal(policy.get('require-trusted-types-for'), "'script'");
        assert.doesNotMatch(headers['content-security-policy'], /unsafe|\*|http/);
        assert.equal(headers['x-content-type-options'], 'nosniff');
        assert.equal(headers['referrer-policy'], 'no-referrer');
        assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
        assert.match(headers['permissions-policy'], /camera=\(\)/);
    }
});

test('each comes as Brotli, gzip or plain, as the client takes it, and is the same', async () => {
    const cases = { 'gzip, deflate, br, zstd': 'br', 'gzip, deflate': 'gzip', 'br;q=0, gzip': 'gzip', identity: undefined, '*': undefined, 'br;q=0.1': 'br' };

    for (const path of ['/', ...assets]) {
        const plain = await ask(path);
        assert.equal(plain.headers['content-encoding'], undefined);
        const tags = new Set([plain.headers.etag]);
        for (const [accepted, coding] of Object.entries(cases)) {
            const answer = await ask(path, { 'accept-encoding': accepted });
            assert.equal(answer.headers['content-encoding'], coding, `${path} ${accepted}`);
            assert.equal(answer.headers.vary, 'Accept-Encoding');
            assert.equal(Number(answer.headers['content-length']), answer.body.length);
            assert.deepEqual(coding ? decode[coding](answer.body) : answer.body, plain.body);
            assert.ok(!coding || answer.body.length < plain.body.length);
            tags.add(answer.headers.etag);
        }
        assert.equal(tags.size, 3, 'what is coded otherwise has another tag');
    }
});

test('the page is asked for again, an asset never; who has it already is told so', async () => {
    for (const path of ['/', ...assets]) {
        const first = await ask(path, { 'accept-encoding': 'br' });
        const { etag } = first.headers;

        assert.equal(first.headers['cache-control'], path === '/' ? 'no-cache' : 'public, max-age=31536000, immutable');
        assert.match(etag, /^"[0-9a-f]{16}-br"$/);
        for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
            const again = await ask(path, { 'accept-encoding': 'br', 'if-none-match': known });
            assert.equal(again.status, 304, known);
            assert.equal(again.body.length, 0);
            assert.equal(again.headers.etag, etag);
            assert.equal(again.headers['cache-control'], first.headers['cache-control']);
        }
        for (const other of ['"x"', etag.slice(1, -1), (await ask(path)).headers.etag])
            assert.equal((await ask(path, { 'accept-encoding': 'br', 'if-none-match': other })).status, 200, other);
    }
});

test('HEAD tells the same without the body', async () => {
    for (const path of ['/', ...assets]) {
        const [get, head] = [await ask(path, { 'accept-encoding': 'gzip' }), await ask(path, { 'accept-encoding': 'gzip' }, 'HEAD')];
        assert.equal(head.status, 200);
        assert.equal(head.body.length, 0);
        assert.deepEqual(head.headers, get.headers);
    }
});

test('the script is under 150 KB as it is sent', async () => {
    const [script] = assets.filter((path) => path.endsWith('.js'));
    for (const coding of ['br', 'gzip']) assert.ok((await ask(script, { 'accept-encoding': coding })).body.length < 150_000);
});

test('GET /session says whose token it is', async () => {
    const { json } = await gateway.request('GET /session', { token: 'alice-token' });

    assert.deepEqual({ ...json, name: '', now: '' }, { id: 'alice', type: 'agent', admin: false, topics: ['*'], name: '', source: 'token', now: '' });
    assert.equal(new Date(json.now).toISOString(), json.now);
    assert.equal((await gateway.request('GET /session')).status, 401);
    const { json: link } = await gateway.request('POST /session', { body: JSON.stringify({ ticket: gateway.link ?? '' }) });
    if (link.token) assert.equal((await gateway.request('GET /session', { token: link.token })).json.source, 'session');
});
