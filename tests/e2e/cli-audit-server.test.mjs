// SPDX-License-Identifier: Apache-2.0
// moot audit through a running server, on its data directory, and on a copy: the same answers.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, expect, people, person, startGateway } from './gateway.mjs';
import { moot } from './moot.mjs';

let gateway, folder, ids;
const at = (name) => path.join(folder, name);
const audit = (args, env = {}) => moot(null, null, ['audit', ...args], { env: { TZ: 'UTC0', ...env } });
const lines = ({ status, stdout, stderr }) => {
    assert.equal(status, 0, stderr);
    return stdout.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
};

// A proposal, its fulfilment, its answer; a refusal; and enough talk for several pieces of an answer.
before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-audit-'));
    gateway = await startGateway({ tokens: [...people('ann', 'files'), person('bot', { capabilities: ['chat', 'mcp/proposal:*'] }),
        person('actor', { capabilities: ['chat', 'replay/*'] })], limits: { rate_messages: '0' } });
    const [ann, bot, files] = [await gateway.join('ann'), await gateway.join('bot'), await gateway.join('files')];
    const payload = { method: 'tools/call', params: { name: 'rm', arguments: { path: '/tmp/x' } } };
    const proposal = bot.send(envelope('bot', 'mcp/proposal:tools/call:rm', { to: ['files'], payload }));
    await expect(ann, ({ id }) => id === proposal.id);
    const request = ann.send(envelope('ann', 'mcp/request:tools/call:rm', { to: ['files'], correlation_id: proposal.id, payload: { jsonrpc: '2.0', id: '1', ...payload } }));
    await expect(files, ({ id }) => id === request.id);
    const response = files.send(envelope('files', 'mcp/response:tools/call:rm', { to: ['ann'], correlation_id: request.id, payload: { jsonrpc: '2.0', id: '1', result: { done: true } } }));
    await expect(ann, ({ id }) => id === response.id);
    bot.send(envelope('bot', 'mcp/request:tools/call:rm', { id: 'refused', to: ['files'], payload: { jsonrpc: '2.0', id: '2', ...payload } }));
    await expect(bot, ({ kind }) => kind === 'system/error');
    for (let i = 0; i < 1500; i++)
        ann.chat(`remark number${i} of many`);
    const last = ann.chat('the very last remark');
    await expect(bot, ({ id }) => id === last.id);
    ids = { proposal: proposal.id, request: request.id, response: response.id };
    for (const client of [ann, bot, files])
        await client.close();
    // What was noted becomes durable in its order: this comes behind all of it.
    while (!lines(await audit(['search', '--data', gateway.data, '--json', '--event', 'disconnect', '--participant', 'files'])).length)
        continue;
});
after(async () => {
    await gateway.stop();
    fs.rmSync(folder, { recursive: true });
});

test('audit server: over the local socket, or with the token of an administrator', async () => {
    const local = lines(await audit(['search', '--data', gateway.data, '--json', '--limit', '0', '--kind', 'chat']));
    const url = `http://127.0.0.1:${gateway.port}`;

    assert.equal(local.length, 1501);
    assert.equal(local[0].body.payload.text, 'the very last remark');
    assert.deepEqual(lines(await audit(['search', '--server', url, '--json', '--limit', '0', '--kind', 'chat'], { MOOT_TOKEN: gateway.adminToken() })), local);
    const refused = await audit(['search', '--server', url], { MOOT_TOKEN: 'ann-token' });
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /^moot: .*admin/i);
    assert.equal((await audit(['search', '--server', 'http://127.0.0.1:1'], { MOOT_TOKEN: 'x' })).status, 1);
});

test('audit server: what is found', async () => {
    const found = async (...args) => lines(await audit(['search', '--data', gateway.data, '--json', ...args]));

    assert.deepEqual((await found('number77', 'remark')).map(({ body }) => body.payload.text), ['remark number77 of many']);
    assert.deepEqual((await found('--thread', ids.response, '--oldest-first')).map(({ id }) => id), [ids.proposal, ids.request, ids.response]);
    assert.deepEqual((await found('--event', 'refusal')).map(({ id, verdict }) => [id, verdict]), [['refused', 'capability_violation']]);
    assert.deepEqual(await found('--since', '1h', '--until', '30m'), []);
    assert.deepEqual((await found('--kind', 'mcp/*', '--participant', 'bot', '--verdict', 'allowed')).map(({ id, by }) => [id, by]), [[ids.proposal, 'mcp/proposal:*']]);
});

test('audit server: a tree and figures', async () => {
    const { stdout } = await audit(['thread', ids.request, '--data', gateway.data], { LC_ALL: 'C' });

    assert.match(stdout, /  3 records, .*\n.*bot -> files {2}proposes rm .*\n.*`- ann -> files {2}calls rm .*\n.*`- files -> ann(?:, bot)? {2}result of rm: /);
    const figures = JSON.parse((await audit(['stats', '--data', gateway.data, '--json'])).stdout);
    assert.deepEqual([figures.messages, figures.refusals, figures.proposals.fulfilled], [1504, 1, 1]);
});

test('audit server: an export holds, as does a copy, and so does what is there without a server', async () => {
    const key = path.join(gateway.data, 'audit.pub');
    const exported = at('record.jsonl');

    assert.equal((await audit(['export', '--data', gateway.data, '-o', exported])).status, 0);
    const whole = await audit(['verify', '--file', exported, '--key', key, '--json']);
    const report = lines(whole)[0];
    assert.deepEqual([report.holds, report.has_key], [true, true]);
    assert.ok(report.records > 1504 && report.checkpoints > 0);
    assert.ok(lines(await audit(['head', '--data', gateway.data, '--json']))[0].head.split(':')[0] >= report.records);
    // The server is running: its own file is verified nevertheless.
    assert.equal(lines(await audit(['verify', '--data', gateway.data, '--head', report.head, '--json']))[0].holds, true);
    const filtered = ['--oldest-first', '--limit', '0', '--json', '--until', JSON.parse(fs.readFileSync(exported, 'utf8').trim().split('\n').at(-2)).at ?? '1s'];
    const live = lines(await audit(['search', '--data', gateway.data, ...filtered]));

    await gateway.kill();
    assert.deepEqual(lines(await audit(['search', '--data', gateway.data, ...filtered])), live);
    assert.deepEqual(lines(await audit(['search', '--file', exported, ...filtered])), live);
    assert.deepEqual(lines(await audit(['search', '--data', gateway.data, '--json', 'number77'])).length, 1);
    assert.equal(lines(await audit(['verify', '--data', gateway.data, '--head', report.head, '--json']))[0].holds, true);
    gateway = await gateway.restart();
});

test('audit server: damage of a database is told, never a crash', async () => {
    const copy = at('copy.db');
    const size = 4096;

    await gateway.kill(); // so that the file and its log are one moment
    for (const name of fs.readdirSync(gateway.data).filter((one) => one.startsWith('audit.db')))
        fs.copyFileSync(path.join(gateway.data, name), at(name.replace('audit.db', 'copy.db')));
    assert.equal((await audit(['verify', '--file', copy, '--json'])).status, 0);
    const good = fs.readFileSync(copy);
    for (const name of ['copy.db-wal', 'copy.db-shm'])
        fs.rmSync(at(name), { force: true });
    for (let page = 1; page * size < good.length; page += 7) {
        const bad = Buffer.from(good);
        bad.fill(0xa5, page * size, (page + 1) * size);
        fs.writeFileSync(copy, bad);
        const { status, stderr } = await audit(['verify', '--file', copy, '--json']);
        assert.ok(status === 1 || status === 0, `page ${page}: ${status} ${stderr}`);
        assert.doesNotMatch(stderr, /Sanitizer|runtime error/);
    }
    for (const length of [0, 1, 100, 4096, good.length >> 1]) {
        fs.writeFileSync(copy, good.subarray(0, length));
        const { status } = await audit(['verify', '--file', copy, '--json']);
        assert.equal(status, 1, `cut to ${length}`);
    }
    gateway = await gateway.restart();
});

test('audit server: replay from the record of the same server', async () => {
    const ann = await gateway.join('ann', { topic: 'demo' });
    const { status, stdout, stderr } = await moot(null, null, ['audit', 'replay', '--data', gateway.data, '--topic', 'room', '--thread', ids.proposal,
        '--to', 'demo', '--speed', '0'], { env: { MOOT_TOKEN: 'actor-token' } });

    assert.deepEqual([status, stdout, stderr], [0, '3 envelopes replayed into demo\n', '']);
    for (const kind of ['replay/mcp/proposal', 'replay/mcp/request', 'replay/mcp/response'])
        assert.equal((await expect(ann, ({ from }) => from === 'actor')).kind, kind);
    await ann.close();
});
