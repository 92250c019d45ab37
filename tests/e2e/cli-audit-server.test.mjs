// SPDX-License-Identifier: Apache-2.0
// moot audit through a running server, on its data directory, and on a copy: the same answers.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, expect, people, person, startGateway, within } from './gateway.mjs';
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
    assert.deepEqual((await found('--thread', ids.response, '--oldest-first')).map(({ id, kind }) => (kind === 'system/proposal' ? kind : id)),
        [ids.proposal, ids.request, 'system/proposal', ids.response], 'and what the gateway said became of it');
    assert.deepEqual((await found('--event', 'refusal')).map(({ id, verdict }) => [id, verdict]), [['refused', 'capability_violation']]);
    assert.deepEqual(await found('--since', '1h', '--until', '30m'), []);
    assert.deepEqual((await found('--kind', 'mcp/*', '--participant', 'bot', '--verdict', 'allowed')).map(({ id, by }) => [id, by]), [[ids.proposal, 'mcp/proposal:*']]);
});

test('audit server: a tree and figures', async () => {
    const { stdout } = await audit(['thread', ids.request, '--data', gateway.data], { LC_ALL: 'C' });

    assert.match(stdout, /  4 records, .*\n.*bot -> files {2}proposes rm .*\n.*\|- ann -> files {2}calls rm .*\n.*`- files -> ann(?:, bot)? {2}result of rm: .*\n.*`- .*system\/proposal .*fulfilled/);
    const figures = JSON.parse((await audit(['stats', '--data', gateway.data, '--json'])).stdout);
    assert.deepEqual([figures.messages, figures.refusals, figures.proposals.fulfilled], [1505, 1, 1]);
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

// A log that is cut or damaged ends there: what is left is an older state, which holds, or the
// record is damaged; a head that was kept tells in any case.
async function checkLog(copy) {
    const log = fs.readFileSync(`${copy}-wal`);
    const verify = async (bytes, ...args) => {
        fs.writeFileSync(`${copy}-wal`, bytes);
        fs.rmSync(`${copy}-shm`, { force: true });
        const { status, stdout, stderr } = await audit(['verify', '--file', copy, '--json', ...args]);
        assert.ok(status === 0 || status === 1, `${status} ${stderr}`);
        assert.doesNotMatch(stderr, /Sanitizer|runtime error/);
        return { status, ...(stdout ? JSON.parse(stdout) : {}) };
    };
    const { head } = await verify(log);
    let found = 0;

    for (const at of [0, 1, 2, 3, 5, 8, 9].map((tenths) => Math.floor(log.length * tenths / 10))) {
        const changed = Buffer.from(log);

        changed[at + 100] ^= 0x10;
        for (const bytes of [log.subarray(0, at), changed]) {
            const without = await verify(bytes);
            const isWhole = without.status === 0 && without.head === head;

            assert.equal((await verify(bytes, '--head', head)).status, isWhole ? 0 : 1, `at ${at}`);
            found += !isWhole;
        }
    }
    assert.ok(found > 0);
}

test('audit server: damage of a database is told, never a crash', async () => {
    const copy = at('copy.db');
    const size = 4096;

    const ann = await gateway.join('ann');
    const { id } = ann.chat('in the log'); // not in the file
    while (!lines(await audit(['search', '--data', gateway.data, '--json', '--thread', id])).length)
        continue;
    await gateway.kill(); // so that the file and its log are one moment
    for (const name of fs.readdirSync(gateway.data).filter((one) => one.startsWith('audit.db')))
        fs.copyFileSync(path.join(gateway.data, name), at(name.replace('audit.db', 'copy.db')));
    assert.equal((await audit(['verify', '--file', copy, '--json'])).status, 0);
    await checkLog(copy);
    gateway = await gateway.restart();
    gateway.signal('SIGTERM'); // which leaves no log
    await within(gateway.exited, 'the gateway to stop');
    for (const end of ['-wal', '-shm'])
        fs.rmSync(copy + end, { force: true });
    fs.copyFileSync(path.join(gateway.data, 'audit.db'), copy);
    const good = fs.readFileSync(copy);
    const whole = lines(await audit(['verify', '--file', copy, '--json']))[0];
    for (let page = 0; page * size < good.length; page += page < 8 ? 1 : 7) {
        const bad = Buffer.from(good);
        const holdsRecords = page === 0 || [0x05, 0x0d].includes(good[page * size]); // a table's page: records, bodies, checkpoints
        bad.fill(0xa5, page * size, (page + 1) * size);
        fs.writeFileSync(copy, bad);
        const { status, stdout, stderr } = await audit(['verify', '--file', copy, '--json']);
        assert.doesNotMatch(stderr, /Sanitizer|runtime error/);
        if (!holdsRecords && status === 0) {
            assert.equal(JSON.parse(stdout).head, whole.head, `page ${page} is said to hold`);
            continue;
        }
        assert.equal(status, 1, `page ${page}: ${stdout}`);
        if (!stdout)
            continue; // it could not even be opened
        const { bad_seq: first, records } = JSON.parse(stdout);
        assert.ok(first >= 1 && first <= whole.records + 1 && records <= first, stdout);
        const { stdout: before } = await audit(['search', '--file', copy, '--json', '--oldest-first', '--limit', '0']);
        const seqs = before.split('\n').filter(Boolean).map((line) => JSON.parse(line).seq);
        assert.deepEqual(seqs.slice(0, first - 1), Array.from({ length: first - 1 }, (_, i) => i + 1), `before page ${page}`);
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

    assert.deepEqual([status, stdout, stderr], [0, '4 envelopes replayed into demo\n', '']);
    for (const kind of ['replay/mcp/proposal', 'replay/mcp/request', 'replay/system/proposal', 'replay/mcp/response'])
        assert.equal((await expect(ann, ({ from }) => from === 'actor')).kind, kind);
    await ann.close();
});
