// SPDX-License-Identifier: Apache-2.0
// /admin/audit/verify: the record verified while the gateway runs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';

import { envelope, person, startGateway } from './gateway.mjs';
import { until } from './processes.mjs';

let gateway;

afterEach(() => gateway.stop());

const settings = { tokens: [person('ann'), person('root', { profile: 'admin' })], limits: { rate_messages: 0 } };
const ask = (method, json) => gateway.request(`${method} /admin/audit/verify`, { token: 'root-token', ...(json ? { json } : {}) });

async function ended() {
    let found;

    await until(async () => (found = (await ask('GET')).json).state !== 'running', () => JSON.stringify(found));
    return found;
}

async function verified(json) {
    const { status, text } = await ask('POST', json);

    assert.equal(status, 202, text);
    return ended();
}

async function say(...texts) {
    for (const text of texts)
        assert.equal((await gateway.post('ann-token', 'room', envelope('ann', 'chat', { payload: { text } }))).status, 200);
}

const head = async () => (await gateway.request('GET /admin/audit/head', { token: 'root-token' })).json;

test('a record that holds is said to, with its head, and who asked', async () => {
    gateway = await startGateway(settings);
    assert.deepEqual((await ask('GET')).json, { state: 'none' });
    await say(...Array.from({ length: 300 }, (_, i) => `number ${i}`));
    await until(async () => (await head()).signed > 300);
    const { json: begun } = await ask('POST');

    assert.equal(begun.state, 'running');
    assert.equal(begun.by, 'root');
    const found = await ended();

    assert.equal(found.state, 'done');
    assert.equal(found.holds, true);
    assert.ok(found.records >= 300 && found.records >= found.total, JSON.stringify(found));
    assert.ok(found.checkpoints >= 1);
    assert.match(found.head, /^\d+:[0-9a-f]{64}$/);
    assert.ok(Date.parse(found.ended) >= Date.parse(found.started));
    const acts = async () => (await gateway.request('GET /admin/audit?event=admin&kind=audit.verify', { token: 'root-token' })).json.records;

    await until(async () => (await acts())[0]?.participant === 'root', 'the act is recorded');
});

test('a head that was kept elsewhere must be reached', async () => {
    gateway = await startGateway(settings);
    await say('one', 'two');
    await until(async () => (await head()).signed > 2);
    const { head: kept } = await head();
    const wrong = kept.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));

    assert.equal((await verified({ head: kept })).holds, true);
    const found = await verified({ head: wrong });

    assert.equal(found.holds, false);
    assert.ok(found.bad_seq >= 1 && found.bad_seq <= Number(kept.split(':')[0]));
    assert.match(found.what, /\w/);
    assert.equal((await verified()).holds, true, 'it is forgotten');
});

test('what was changed on the disk is found', async () => {
    gateway = await startGateway(settings);
    await say('before', 'what was really said', 'behind');
    await until(async () => (await head()).signed > 3);
    gateway.signal('SIGTERM');
    await until(() => !fs.existsSync(path.join(gateway.data, 'audit.db-wal')));
    const file = path.join(gateway.data, 'audit.db');
    const bytes = fs.readFileSync(file);
    const at = bytes.indexOf('what was really said');

    assert.ok(at > 0);
    bytes.write('what was not so said', at);
    fs.writeFileSync(file, bytes);
    await gateway.kill();
    gateway = await gateway.restart();
    const found = await verified();

    assert.equal(found.holds, false);
    assert.ok(found.bad_seq > 1 && found.records < found.bad_seq, JSON.stringify(found));
});

test('one at a time, which may be stopped; for administrators', async () => {
    gateway = await startGateway(settings);
    for (const method of ['GET', 'POST', 'DELETE']) {
        assert.equal((await gateway.request(`${method} /admin/audit/verify`)).status, 401);
        assert.equal((await gateway.request(`${method} /admin/audit/verify`, { token: 'ann-token' })).status, 403);
    }
    for (const json of [{ head: 'x' }, { head: 7 }, { tail: '1:2' }, []])
        assert.equal((await ask('POST', json)).status, 400, JSON.stringify(json));
    assert.equal((await ask('DELETE')).json.state, 'none');
    await say(...Array.from({ length: 1500 }, (_, i) => `number ${i}`));
    const answers = await Promise.all([ask('POST'), ask('POST'), ask('DELETE')]);

    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 202, 409]);
    const found = await ended();

    assert.ok(found.state === 'stopped' || found.state === 'done');
    assert.equal((await verified()).holds, true, 'and again');
});

test('a server that is told to stop does not wait for it', async () => {
    gateway = await startGateway(settings);
    await say(...Array.from({ length: 1500 }, (_, i) => `number ${i}`));
    assert.equal((await ask('POST')).status, 202);
});
