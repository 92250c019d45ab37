// SPDX-License-Identifier: Apache-2.0
// Host and Origin: by which names the gateway is called, and which pages may call it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { people, startGateway } from './gateway.mjs';

let gateway;
const friend = 'https://friend.example';

before(async () => {
    gateway = await startGateway({ hosts: ['moot.example', 'other.example:8443'], origins: [friend], tokens: people('alice') });
});
after(async () => { await gateway.stop(); });

const routes = ['GET /', 'GET /console/inbox', 'GET /assets/x', 'GET /ws?topic=room', 'POST /ws-ticket', 'GET /session', 'POST /session', 'GET /topics', 'GET /topics/room/messages',
    'POST /topics/room/messages', 'GET /topics/room/participants', 'GET /admin/tokens', 'GET /healthz', 'GET /readyz', 'GET /metrics',
    'GET /nothing', 'OPTIONS /topics', 'HEAD /'];
const token = 'alice-token';

test('another Host is 421 on every route', async () => {
    for (const route of routes)
        for (const Host of ['evil.example', 'localhost.evil.example', 'moot.example.evil', 'other.example', '127.0.0.2', '[::2]', 'xlocalhost'])
            assert.equal((await gateway.request(route, { token, headers: { Host } })).status, 421, `${route} ${Host}`);
    assert.equal((await gateway.refusal('alice', { headers: { Host: 'evil.example' } })).status, 421);
});

test('its own names, and those configured, are fine with any port and in any case', async () => {
    for (const Host of ['localhost', 'LocalHost:1', '127.0.0.1', '[::1]:80', 'moot.example', 'MOOT.example:99', 'other.example:8443'])
        assert.equal((await gateway.request('GET /healthz', { headers: { Host } })).status, 200, Host);
});

test('another Origin is 403 on every route, before anything else is said', async () => {
    for (const route of routes)
        for (const Origin of ['https://evil.example', 'null', 'http://localhost.evil.example', `${friend}.evil`, `${friend}:444`, 'http://friend.example', 'file://', '']) {
            const answer = await gateway.request(route, { token, headers: { Origin } });
            assert.equal(answer.status, 403, `${route} ${Origin}`);
            assert.equal(answer.headers['access-control-allow-origin'], undefined);
        }
    assert.equal((await gateway.refusal('alice', { headers: { Origin: 'https://evil.example' } })).status, 403);
    assert.equal((await gateway.refusal('alice', { token: null, headers: { Origin: 'https://evil.example' } })).status, 403);
});

test('two Origins are refused even where each is good', async () => {
    assert.equal((await gateway.request('GET /healthz', { headers: { Origin: [friend, friend] } })).status, 403);
});

test("the gateway's own page may call it", async () => {
    const Host = `localhost:${gateway.port}`;
    for (const headers of [{ Host, Origin: `http://${Host}` }, { Host: 'moot.example', Origin: 'https://moot.example' }]) {
        const answer = await gateway.request('GET /topics', { token, headers });
        assert.equal(answer.status, 200);
        assert.equal(answer.headers['access-control-allow-origin'], undefined);
        await (await gateway.join('alice', { headers })).close();
    }
    const other = await gateway.request('GET /topics', { token, headers: { Host, Origin: 'http://localhost:1' } });
    assert.equal(other.status, 403);
});

test('a configured origin is let in and told so', async () => {
    for (const [line, options, status] of [['GET /topics', { token }, 200], ['GET /topics', {}, 401], ['GET /nothing', {}, 404],
        ['POST /topics/room/messages', { token, json: {} }, 400]]) {
        const answer = await gateway.request(line, { ...options, headers: { Origin: friend } });
        assert.equal(answer.status, status);
        assert.equal(answer.headers['access-control-allow-origin'], friend);
        assert.equal(answer.headers.vary, 'Origin');
        assert.equal(answer.headers['access-control-allow-credentials'], undefined);
    }
    await (await gateway.join('alice', { headers: { Origin: friend } })).close();
});

test('its preflight is answered without a token', async () => {
    const headers = { Origin: friend, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization,content-type' };
    const answer = await gateway.request('OPTIONS /topics/room/messages', { headers });
    assert.equal(answer.status, 204);
    assert.equal(answer.headers['access-control-allow-origin'], friend);
    assert.match(answer.headers['access-control-allow-methods'], /\bPOST\b/);
    assert.match(answer.headers['access-control-allow-headers'], /authorization/);
    assert.match(answer.headers['access-control-allow-headers'], /content-type/);
});
