// SPDX-License-Identifier: Apache-2.0
// Reading the settings again, by SIGHUP and POST /admin/reload: all or nothing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';

import { envelope, expect, expectOnly, people, person, program, startGateway, within } from './gateway.mjs';

const boss = person('boss', { profile: 'admin' });
const base = { tokens: [...people('alice', 'bob'), boss], limits: { login_failures: 0 } };
let gateway;

process.setMaxListeners(50);
beforeEach(async () => { gateway = await startGateway(base); });
afterEach(() => gateway.stop());

// Whole or not at all: an empty file would be read as settings without tokens.
function write(config) {
    fs.writeFileSync(`${gateway.config}.new`, typeof config === 'string' ? config : JSON.stringify(config));
    fs.renameSync(`${gateway.config}.new`, gateway.config);
}

const reload = () => gateway.request('POST /admin/reload', { token: 'boss-token' });

const byRequest = async () => assert.deepEqual((await reload()).json, { reloaded: true });
const bySignal = async () => { gateway.signal('SIGHUP'); await gateway.logged(/event=config\.reload/); };

for (const [name, act] of Object.entries({ 'POST /admin/reload': byRequest, SIGHUP: bySignal }))
    test(`reload: ${name}: new tokens work, removed ones end with 1008, who stays notices nothing`, async () => {
        const rooms = ['r1', 'r2', 'r3'];
        const stays = await Promise.all(rooms.map((topic) => gateway.join('alice', { topic })));
        const goes = await Promise.all(rooms.map((topic) => gateway.join('bob', { topic })));

        assert.equal((await gateway.refusal('carol', { topic: 'r1' })).status, 401);
        write({ tokens: [...people('alice', 'carol'), boss] });
        await act();
        for (const client of goes)
            assert.deepEqual(await client.closed(), { code: 1008, reason: 'the token was revoked' });
        assert.equal((await gateway.refusal('bob', { topic: 'r1' })).status, 401);
        for (const [index, topic] of rooms.entries()) {
            const carol = await gateway.join('carol', { topic });
            const { id } = carol.chat('hello');
            await expect(stays[index], (json) => json.id === id);
            assert.equal(stays[index].frames.filter(({ json }) => json.kind === 'system/welcome').length, 1);
        }
        assert.equal((await gateway.request('GET /admin/tokens', { token: gateway.adminToken() })).status, 200, 'the store\'s stay');
    });

test('reload: tickets and sessions of a removed token end with it', async () => {
    const { json: { ticket } } = await gateway.request('POST /ws-ticket', { token: 'bob-token' });
    const second = { ...person('second', { profile: 'admin' }) };

    write({ tokens: [...base.tokens, second] });
    await byRequest();
    const { json: link } = await gateway.request('POST /admin/link', { token: 'second-token' });
    const { json: session } = await gateway.request('POST /session', { json: link.ticket ? { ticket: link.ticket } : {} });
    const client = await gateway.join('second', { token: session.token });
    write({ tokens: [...people('alice'), boss] });
    await byRequest();
    assert.equal((await client.closed()).code, 1008);
    assert.equal((await gateway.request('GET /admin/tokens', { token: session.token })).status, 401);
    assert.equal((await gateway.refusal('bob', { token: null, ticket })).status, 401);
});

test('reload: a token\'s new capabilities and topics hold for its live connections', async () => {
    const first = await gateway.join('alice', { topic: 'kept' });
    const second = await gateway.join('alice', { topic: 'lost' });
    const bob = await gateway.join('bob', { topic: 'kept' });

    write({ tokens: [person('alice', { capabilities: ['chat'], topics: ['kept'] }), ...people('bob'), boss] });
    await byRequest();
    assert.equal((await second.closed()).code, 1008);
    assert.deepEqual((await expect(first, ({ kind }) => kind === 'system/welcome')).payload.you.capabilities, ['chat']);
    first.send(envelope('alice', 'mcp/request:tools/list'));
    assert.equal((await expect(first, ({ kind }) => kind === 'system/error')).payload.error, 'capability_violation');
    await expectOnly([first], bob);
    assert.equal(bob.frames.filter(({ json }) => json.kind === 'system/welcome').length, 1, 'nobody else is welcomed again');
});

test('reload: a token that is to expire now ends its live connections then', async () => {
    const client = await gateway.join('alice', { topic: 'room' });

    write({ ...base, tokens: [person('alice', { expires_at: new Date(Date.now() + 5000).toISOString() }), person('bob'), boss] });
    await byRequest();
    assert.deepEqual(await client.closed(), { code: 1008, reason: 'the token has expired' });
});

test('reload: limits and topics change for those who are connected', async () => {
    const alice = await gateway.join('alice');
    const bob = await gateway.join('bob');

    write({ ...base, limits: { rate_messages: '1/s', burst: '2s', envelope: '2KiB' }, topics: { defaults: { ring_messages: 3, duplicate: 'refuse' } } });
    await byRequest();
    for (let n = 0; n < 10; n++)
        alice.chat('too fast');
    assert.equal((await expect(alice, ({ kind }) => kind === 'system/error')).payload.error, 'rate_limited');
    assert.equal((await gateway.refusal('alice')).status, 409);
    bob.chat('x'.repeat(3000));
    assert.equal((await bob.closed()).code, 1009);
    write({ ...base, limits: { rate_messages: 0 }, topics: { defaults: { ring_messages: 5000 } } });
    await byRequest();
    const ids = Array.from({ length: 3000 }, () => alice.chat('as fast as it likes').id);
    await expect(alice, ({ id }) => id === ids.at(-1));
    const back = await gateway.open('alice', { after: ids[0] });
    await expect(back, ({ id }) => id === ids.at(-1));
    assert.deepEqual(back.frames.filter(({ json }) => json.kind === 'chat').map(({ json }) => json.id), ids.slice(1), 'the ring grew');
});

const broken = {
    'a broken file': ['tokens: [\n  {token: "x"', /moot\.yaml:\d+:\d+: /],
    'an unknown key': ['limits:\n  envelopes: 3\n', /moot\.yaml:2:3: unknown key "envelopes" \(did you mean "envelope"\?\)/],
    'an unknown profile': ['tokens:\n  - token: abc\n    id: new\n    profile: fool\n', /moot\.yaml:4:14: there is no profile "fool"/],
    'a bad capability': ['tokens:\n  - {token: abc, id: new, capabilities: ["a b"]}\n', /moot\.yaml:2:42: capability "a b": /],
    'limits that contradict each other': ['limits:\n  envelope: 4MiB\n  outbox: 5MiB\n', /moot\.yaml:3:11: outbox .* twice envelope/],
    'a certificate that is not there': ['tls:\n  certificate: no.pem\n  key: no.key\n', /moot\.yaml.*tls: /],
};

for (const [name, [text, message]] of Object.entries(broken))
    test(`reload: ${name} changes nothing and says where`, async () => {
        const alice = await gateway.join('alice');

        write(text);
        const { status, json } = await reload();
        assert.equal(status, 409);
        assert.match(json.detail, message);
        gateway.signal('SIGHUP');
        await gateway.logged(/event=config\.refuse.*\n[^]*event=config\.refuse.*\n/);
        await expectOnly([alice], alice);
        for (const id of ['alice', 'bob'])
            assert.equal((await gateway.request('GET /topics', { token: `${id}-token` })).status, 200);
        assert.equal((await gateway.request('GET /topics', { token: 'abc' })).status, 401);
        fs.rmSync(gateway.config);
        assert.equal((await reload()).status, 409, 'nor does a file that is gone');
        assert.equal((await gateway.request('GET /topics', { token: 'bob-token' })).status, 200);
        write(base);
        await byRequest();
    });

test('reload: many at once are done one after the other or refused, never half', async () => {
    const alice = await gateway.join('alice');
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => {
        write({ ...base, tokens: [...people('alice', `new-${n}`), boss] });
        if (n % 5 === 0)
            gateway.signal('SIGHUP');
        return reload();
    }));

    for (const { status, json } of answers)
        assert.ok(status === 200 || (status === 409 && /under way/.test(json.detail)), json.detail);
    await expectOnly([alice], alice);
});

test('reload: a signal is not lost while another reload is under way', async () => {
    for (let n = 0; n < 20; n++) {
        gateway.signal('SIGHUP');
        void reload();
        write({ ...base, tokens: [...people('alice', `new-${n}`), boss] });
        gateway.signal('SIGHUP');
        await within((async () => {
            while ((await gateway.request('GET /topics', { token: `new-${n}-token` })).status !== 200)
                await new Promise(setImmediate);
        })(), `new-${n}`);
    }
});

test('reload: what needs a restart is refused and said; the rest of the file then waits too', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-e2e-'));
    const file = path.join(folder, 'moot.yaml');
    const settings = { listen: ['127.0.0.1:0'], workers: 2, data: 'data', tokens: [boss] };
    const put = (config) => fs.writeFileSync(file, JSON.stringify(config));
    put(settings);
    const child = spawn(program, ['serve', '--config', file, '--no-link'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const [line] = await within(once(child.stdout, 'data'), 'the start');
    const url = /http:\/\/\S+/.exec(line)[0];
    const ask = async (target, token = 'boss-token', method = 'POST') => {
        const res = await fetch(url + target, { method, headers: { Authorization: `Bearer ${token}` } });
        return { status: res.status, json: await res.json() };
    };

    try {
        for (const [option, value] of Object.entries({ listen: ['127.0.0.1:1'], workers: 3, data: 'elsewhere' })) {
            put({ ...settings, [option]: value, tokens: [boss, ...people('new')] });
            const { status, json } = await ask('/admin/reload');
            assert.equal(status, 409);
            assert.match(json.detail, new RegExp(`\`${option}\` has changed, and that needs a restart`));
            assert.equal((await ask('/topics', 'new-token', 'GET')).status, 401);
        }
        put({ ...settings, tokens: [boss, ...people('new')] });
        assert.equal((await ask('/admin/reload')).status, 200);
        assert.equal((await ask('/topics', 'new-token', 'GET')).status, 200);
    } finally {
        child.kill('SIGTERM');
        assert.deepEqual(await within(exited, 'the end'), [0, null]);
        fs.rmSync(folder, { recursive: true });
    }
});
