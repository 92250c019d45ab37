// SPDX-License-Identifier: Apache-2.0
// The record is read by administrators: pages, streams, filters, and questions that are none.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway, within } from './gateway.mjs';
import { converse, questions, speakers } from './questions.mjs';

const auditor = (isAdmin) => person('auditor', { admin: isAdmin });
let gateway;
let admin;

before(async () => {
    gateway = await startGateway({
        tokens: [...speakers, auditor(true)],
        topics: { defaults: { audit: 'required', loop_guard: 'off' } },
        limits: { rate_messages: 0, rate_bytes: 0 },
    });
    admin = gateway.adminToken();
});
after(async () => { await gateway.stop(); });

const ask = (query = '', options = {}) => gateway.request(`GET /admin/audit?${new URLSearchParams(query)}`, { token: admin, ...options });
const lines = (text) => text.split('\n').slice(0, -1).map((line) => JSON.parse(line));
const stream = async (query, options = {}) =>
    lines((await ask(query, { headers: { Accept: 'application/x-ndjson' }, limit: 60_000, ...options })).text);
const ids = (answer) => answer.json.records.map((record) => record.id);

async function say(client, kind, more) {
    const sent = client.send(envelope(client.id, kind, more));

    await expect(client, (json) => json.id === sent.id || json.correlation_id === sent.id);
    return sent;
}

test('every filter finds what it names', async () => {
    const topic = 'filters';
    const said = await converse(gateway, topic);
    while ((await ask({ topic, event: 'refusal' })).json.records.length === 0); // nobody waits for those

    for (const [query, found] of questions(topic, said)) {
        const answer = await ask(query);

        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(ids(answer), found.map((sent) => sent.id), JSON.stringify(query));
        assert.deepEqual((await stream(query)).map((record) => record.id), ids(answer));
    }
    const { json } = await ask({ thread: said.one.id });
    assert.equal(json.records[0].body.payload.text, 'The quick Fuchs');
    assert.equal(json.records[0].verdict, 'allowed');
    assert.match(json.head, /^\d+:[0-9a-f]{64}$/);
    assert.equal(typeof json.indexed, 'number');
});

test('pages follow each other while new records arrive', async () => {
    const alice = await gateway.join('alice', { topic: 'pages' });
    const sent = [];
    for (let i = 0; i < 25; i++)
        sent.unshift((await say(alice, 'chat')).id);

    const found = [];
    let query = { topic: 'pages', event: 'envelope', limit: '10' };
    for (;;) {
        const answer = await ask(query);
        found.push(...ids(answer));
        if (answer.json.next === undefined)
            break;
        query = { ...query, cursor: answer.json.next };
        await say(alice, 'chat');
    }
    assert.deepEqual(found, sent);
});

test('what was indexed is found as what was not', async () => {
    const alice = await gateway.join('alice', { topic: 'indexed' });
    const { id } = await say(alice, 'chat', { payload: { text: 'Zaunkönig' } });

    const before = await ask({ text: 'zaunkönig' });
    assert.deepEqual(ids(before), [id]);
    const { seq } = before.json.records[0];
    for (;;) {
        const answer = await ask({ text: 'zaunkönig' });
        assert.deepEqual(ids(answer), [id]);
        if (answer.json.indexed >= seq)
            break;
    }
    assert.equal(fs.statSync(path.join(gateway.data, 'search.db')).mode & 0o777, 0o600);
});

test('questions that are none are refused, and say why', async () => {
    for (const [query, wrong] of [
        ['since=yesterday', /`since` is a time/],
        ['since=2026-13-01T00:00:00Z', /`since` is a time/],
        ['until=5y', /`until` is a time/],
        ['until=99999999999d', /`until` is a time/],
        ['event=party', /`event` is envelope/],
        ['thread=', /`thread` is the id/],
        ['text=', /no word/],
        ['text=%21%21', /no word/],
        [`text=${'a+'.repeat(33)}`, /at most 32 words/],
        ['order=sideways', /`order` is/],
        ['limit=0', /from 1 to 1000/],
        ['limit=1001', /from 1 to 1000/],
        ['limit=-1', /from 1 to 1000/],
        ['cursor=0', /`cursor` is/],
        ['cursor=99999999999999999999', /`cursor` is/],
        ['topic=a&topic=b', /twice/],
        ['tpoic=a', /no parameter `tpoic`/],
        ['topic=%ff', /./],
        ['topic=%00', /./],
        [`topic=${'x'.repeat(1025)}`, /1024 bytes/],
        ['checkpoints=1', /Checkpoints come with all records/],
        ['checkpoints=yes', /`checkpoints` is/],
    ]) {
        const answer = await gateway.request(`GET /admin/audit?${query}`, { token: admin });
        assert.equal(answer.status, 400, query);
        assert.equal(answer.json.error, 'bad_request');
        assert.match(answer.json.detail, wrong, query);
    }
    for (const text of ['"', "'; DROP TABLE record; --", 'a OR b', 'NEAR(a b)', 'a*b*', '\\u0000 x', ':t0123456789ab'])
        assert.equal((await ask({ text: `x ${text}`, topic: text, kind: text, verdict: text, participant: text, thread: text })).status, 200, text);
});

test('only administrators read it, on every path', async () => {
    for (const route of ['audit', 'audit/head', 'audit/origin']) {
        assert.equal((await gateway.request(`GET /admin/${route}`)).status, 401);
        assert.equal((await gateway.request(`GET /admin/${route}`, { token: 'alice-token' })).status, 403);
        assert.equal((await gateway.request(`POST /admin/${route}`, { token: admin })).status, 405);
        assert.equal((await gateway.request(`HEAD /admin/${route}`, { token: admin })).text, '');
    }
    const head = await gateway.request('HEAD /admin/audit', { token: admin, headers: { Accept: 'application/x-ndjson' } });
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
    const socket = http.get({ socketPath: path.join(gateway.data, 'moot.sock'), path: '/admin/audit/origin', agent: false });
    const [answer] = await once(socket, 'response');
    assert.equal(answer.statusCode, 200);
    answer.resume();
});

test('an export has its origin, every record and the signatures', async () => {
    const origin = (await gateway.request('GET /admin/audit/origin', { token: admin })).json;
    assert.deepEqual(Object.keys(origin), ['moot_audit', 'installation', 'public_key']);
    for (;;) {
        const { json } = await gateway.request('GET /admin/audit/head', { token: admin });
        if (json.signed === Number(json.head.split(':')[0]))
            break;
    }
    const all = await stream({ order: 'oldest', checkpoints: '1' });
    assert.deepEqual(all[0], origin);
    const records = all.filter((line) => line.seq);
    assert.deepEqual(records.map((record) => record.seq), records.map((_, i) => i + 1));
    const signed = all.map((line, i) => [line.checkpoint, all[i - 1]]).filter(([checkpoint]) => checkpoint);
    assert.ok(signed.length > 0);
    for (const [checkpoint, before] of signed)
        assert.equal(checkpoint.hash, (before.checkpoint ?? before).hash);
});

// --- much of it ---

const many = 50_000;

async function fill() {
    const client = await gateway.open('alice', { topic: 'many', routing: 'directed' });
    for (let i = 0; i < many; i++) { // no more at once than a room holds until it is on disk
        const to = i % 5000 === 4999 ? 'alice' : 'nobody';
        const { id } = client.send(envelope('alice', 'chat', { to: [to], payload: { text: `number ${i} ${'x'.repeat(200)}` } }));
        if (to === 'alice')
            await expect(client, (json) => json.id === id);
    }
    await client.close();
}

test('fifty thousand records stream, in order and whole', async (t) => {
    await within(fill(), 'the envelopes', 60_000);
    await t.test('all of them', async () => {
        const found = await stream({ topic: 'many', event: 'envelope', order: 'oldest' });
        assert.equal(found.length, many);
        for (let i = 0; i < many; i++)
            assert.ok(found[i].body.payload.text.startsWith(`number ${i} `));
    });
    await t.test('as many as wanted', async () => {
        assert.equal((await stream({ topic: 'many', limit: '2500' })).length, 2500);
    });
    await t.test('the connection serves another request behind it', async () => {
        const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
        assert.equal((await stream({ topic: 'many', limit: '1500' }, { agent })).length, 1500);
        assert.equal((await ask({ limit: '1' }, { agent })).status, 200);
        agent.destroy();
    });
    await t.test('HTTP/1.0 gets the same without chunks', async () => {
        const socket = net.connect(gateway.port, '127.0.0.1');
        let text = '';
        socket.on('data', (part) => { text += part; });
        socket.write(`GET /admin/audit?topic=many&limit=1200 HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${admin}\r\nAccept: application/x-ndjson\r\n\r\n`);
        await within(once(socket, 'close'), 'the end');
        const [head, body] = text.split('\r\n\r\n');
        assert.doesNotMatch(head, /chunked|Content-Length/i);
        assert.equal(lines(body).length, 1200);
    });
});

test('an export breaks off where the token is no longer an administrator\'s', async () => {
    const config = JSON.parse(fs.readFileSync(gateway.config, 'utf8'));
    const put = async (isAdmin) => {
        fs.writeFileSync(`${gateway.config}.new`, JSON.stringify({ ...config, tokens: [...speakers, auditor(isAdmin)] }));
        fs.renameSync(`${gateway.config}.new`, gateway.config);
        assert.equal((await gateway.request('POST /admin/reload', { token: admin })).status, 200);
    };
    const begin = async () => {
        const req = http.get({ host: gateway.host, port: gateway.port, path: '/admin/audit?order=oldest',
            headers: { Authorization: 'Bearer auditor-token', Accept: 'application/x-ndjson' } });
        const [res] = await within(once(req, 'response'), 'the answer');

        assert.equal(res.statusCode, 200);
        return res;
    };
    const whole = await begin();

    await put(true);
    whole.resume();
    await within(once(whole, 'end'), 'all of it', 60_000);
    const broken = await begin();

    await put(false);
    broken.resume();
    await assert.rejects(within(once(broken, 'end'), 'the end', 60_000), { code: 'ECONNRESET' });
    assert.equal((await gateway.request('GET /admin/audit', { token: 'auditor-token' })).status, 403);
});

const memory = () => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))[1]);

test('clients that go away or do not read cost nothing', async () => {
    const before = memory();
    const request = `GET /admin/audit?order=oldest HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${admin}\r\nAccept: application/x-ndjson\r\n\r\n`;
    const deaf = Array.from({ length: 20 }, () => net.connect(gateway.port, '127.0.0.1'));

    for (const socket of deaf) {
        socket.on('error', () => {});
        socket.pause();
        socket.write(request);
    }
    for (let i = 0; i < 50; i++) { // these go at once, or with the first bytes
        const socket = net.connect(gateway.port, '127.0.0.1');
        socket.on('error', () => {});
        socket.write(request);
        if (i % 2)
            await within(once(socket, 'data'), 'the first bytes');
        socket.destroy();
    }
    // Others are served meanwhile, and nothing has piled up for the deaf.
    assert.equal((await stream({ topic: 'many', limit: '5000' })).length, 5000);
    assert.ok(memory() < before + 300 * 1024, `${before} ${memory()}`);
    for (const socket of deaf)
        socket.destroy();
    for (;;) {
        const { text } = await gateway.request('GET /metrics', {});
        if (Number(/^moot_http_connections (\d+)/m.exec(text)?.[1] ?? 1) <= 1)
            break;
    }
});
