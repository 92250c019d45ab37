// SPDX-License-Identifier: Apache-2.0
// /admin/settings: all that is in force, and some of it changed while the server runs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { afterEach, test } from 'node:test';

import { envelope, person, startGateway } from './gateway.mjs';
import { until } from './processes.mjs';

let gateway;

afterEach(() => gateway.stop());

const base = {
    tokens: [person('ann', { token: 'a-secret-of-the-file' }), person('root', { profile: 'admin' })],
    limits: { rate_messages: '900/s', login_failures: 0 },
};

const ask = (method, json, token = 'root-token') => gateway.request(`${method} /admin/settings`, { token, ...(json ? { json } : {}) });
const find = (json, name) => json.settings.find((one) => one.name === name);
const get = async (name) => find((await ask('GET')).json, name);

async function set(json) {
    const { status, json: answer, text } = await ask('PATCH', json);

    assert.equal(status, 200, text);
    return answer;
}

test('all settings are told, with where they come from; no secret, and to administrators alone', async () => {
    gateway = await startGateway(base);
    const { status, json, text } = await ask('GET');

    assert.equal(status, 200);
    assert.deepEqual(find(json, 'limits.rate_messages'), {
        name: 'limits.rate_messages', type: 'rate', value: '900/s', default: '1000/s', min: '0', max: '1000000000/s', source: 'file',
        live: true, needs_restart: false, help: 'envelopes per participant and second; 0 is unlimited',
    });
    assert.deepEqual(find(json, 'log').choices, ['error', 'warn', 'info', 'debug']);
    assert.deepEqual([find(json, 'limits.depth').source, find(json, 'limits.depth').live], ['default', false]);
    assert.equal(find(json, 'workers').needs_restart, true);
    assert.ok(Array.isArray(find(json, 'listen').value));
    assert.equal(find(json, 'tls.key').value, null);
    assert.equal(find(json, 'store'), undefined);
    assert.doesNotMatch(text, /a-secret-of-the-file|root-token/);
    for (const method of ['GET', 'PATCH']) {
        assert.equal((await ask(method, undefined, null)).status, 401);
        assert.equal((await ask(method, undefined, 'a-secret-of-the-file')).status, 403);
    }
});

test('what is set is in force at once, also after a reload and a restart, until it is taken back', async () => {
    gateway = await startGateway(base);
    const answer = await set({ 'limits.rate_messages': '2/s', 'topics.defaults.loop_guard': 7, compression: false });
    const { value, source, by, since } = find(answer, 'limits.rate_messages');

    assert.deepEqual([value, source, by], ['2/s', 'runtime', 'root']);
    assert.ok(Math.abs(Date.parse(since) - Date.now()) < 60_000);
    assert.equal(find(answer, 'topics.defaults.loop_guard').value, '7');
    assert.equal(find(answer, 'compression').value, 'off');
    const says = async () => {
        const all = await Promise.all(Array.from({ length: 12 }, () => gateway.post('a-secret-of-the-file', 'room', envelope('ann'))));

        return all.some(({ status }) => status === 429);
    };

    assert.ok(await says(), 'the rate counts');
    assert.equal((await gateway.request('POST /admin/reload', { token: 'root-token' })).status, 200);
    assert.equal((await get('limits.rate_messages')).value, '2/s');
    await gateway.kill();
    gateway = await gateway.restart();
    assert.deepEqual([(await get('limits.rate_messages')).source, (await get('limits.rate_messages')).by], ['runtime', 'root']);
    assert.ok(await says(), 'and counts again');
    assert.equal((await get('topics.defaults.loop_guard')).value, '7');
    const back = await set({ 'limits.rate_messages': null });

    assert.deepEqual([find(back, 'limits.rate_messages').value, find(back, 'limits.rate_messages').source], ['900/s', 'file']);
    await gateway.kill();
    gateway = await gateway.restart();
    assert.equal((await get('limits.rate_messages')).value, '900/s');
    assert.equal((await get('topics.defaults.loop_guard')).source, 'runtime');
});

test('what cannot be is refused with a sentence, and nothing of it is done', async () => {
    gateway = await startGateway(base);
    const cases = [
        {}, [], { listen: ['0.0.0.0:1'] }, { nonsense: 1 }, { 'topics.defaults.access': 'public' }, { 'topics.defaults.audit': 'off' },
        { 'limits.rate_messages': 'fast' }, { 'limits.rate_messages': -1 }, { 'limits.rate_messages': [] }, { 'limits.rate_messages': {} },
        { log: 'loud' }, { log: '' }, { 'limits.kick_bar': '25h' }, { 'limits.kick_bar': '1m\n' }, { 'limits.wait_max': 'x'.repeat(500) },
        { 'limits.kick_bar': '5m', log: 'loud' }, { 'policy': [] }, { 'tokens': null },
    ];

    for (const json of cases) {
        const { status, json: answer } = await ask('PATCH', json);

        assert.equal(status, 400, JSON.stringify(json));
        assert.match(answer.detail, /\.$/);
    }
    assert.equal((await gateway.request('PATCH /admin/settings', { token: 'root-token', body: 'no json' })).status, 400);
    assert.deepEqual((await ask('GET')).json.settings.filter((one) => one.source === 'runtime'), []);
});

test('a file that cannot be read changes nothing', async () => {
    gateway = await startGateway(base);
    fs.writeFileSync(gateway.config, 'limitz: {}\n');
    const { status, json } = await ask('PATCH', { log: 'debug' });

    assert.equal(status, 409);
    assert.match(json.detail, /limitz/);
    assert.equal((await get('log')).source, 'default');
    fs.writeFileSync(gateway.config, JSON.stringify(base));
    assert.equal(find(await set({ log: 'warn' }), 'log').value, 'warn');
});

test('a change is recorded with who made it', async () => {
    gateway = await startGateway(base);
    await set({ 'limits.kick_bar': '5m' });
    const acts = async () => (await gateway.request('GET /admin/audit?event=admin&kind=settings.change', { token: 'root-token' })).json.records;

    await until(async () => (await acts()).length === 1, 'the act is recorded');
    const [act] = await acts();

    assert.equal(act.participant, 'root');
    assert.deepEqual(act.body.request, { 'limits.kick_bar': '5m' });
});

test('several changes at once: each is whole, or told that another is under way', async () => {
    gateway = await startGateway(base);
    const answers = await Promise.all(['1m', '2m', '3m', '4m'].map((value) => ask('PATCH', { 'limits.kick_bar': value })));
    const taken = answers.filter(({ status }) => status === 200);

    assert.ok(taken.length >= 1);
    for (const { status } of answers)
        assert.ok(status === 200 || status === 409);
    const values = taken.map(({ json }) => find(json, 'limits.kick_bar').value);

    assert.ok(values.includes((await get('limits.kick_bar')).value));
});
