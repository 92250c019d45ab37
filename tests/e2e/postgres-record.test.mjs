// SPDX-License-Identifier: Apache-2.0
// The record in PostgreSQL: the same questions have the same answers as with SQLite, asked of the
// gateway, with `moot audit` through it, and with `moot audit --config` when it is gone.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, startGateway, takeAll } from './gateway.mjs';
import { moot } from './moot.mjs';
import { missing, startPostgres } from './postgres.mjs';
import { asArguments, converse, questions, speakers } from './questions.mjs';

const topic = 'filters';
let postgres, gateway, said, table;

before(async () => {
    if (missing)
        return;
    postgres = await startPostgres();
    gateway = await startGateway({
        store: postgres.url,
        tokens: speakers,
        topics: { named: { loose: { audit: 'async' } }, defaults: { audit: 'required', loop_guard: 'off' } },
        audit: { queue: '1MiB' },
        limits: { rate_messages: 0, rate_bytes: 0 },
    });
    said = await converse(gateway, topic);
    table = questions(topic, said);
    while ((await ask({ topic, event: 'disconnect', participant: 'mute' })).json.records.length === 0); // behind all of it
}, { timeout: 120_000 });
after(async () => {
    await gateway?.stop();
    await postgres?.remove();
});

const ask = (query) => gateway.request(`GET /admin/audit?${new URLSearchParams(query)}`, { token: gateway.adminToken() });
const audit = (...args) => moot(null, null, ['audit', ...args], { env: { TZ: 'UTC0', LC_ALL: 'C' } });
const place = () => ['--config', gateway.config, '--data', gateway.data];

async function lines(...args) {
    const { status, stdout, stderr } = await audit(...args);

    assert.equal(status, 0, stderr);
    return stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

async function checkCommandLine() {
    for (const [query, found] of table)
        assert.deepEqual((await lines('search', '--json', ...place(), ...asArguments(query))).map(({ id }) => id),
            found.map(({ id }) => id), JSON.stringify(query));
    const { stdout } = await audit('thread', said.four.id, ...place());
    assert.match(stdout, / 2 records, .*\n.*alice -> bob .*\n.*`- bob -> alice /);
    const figures = (await lines('stats', '--json', ...place()))[0];
    assert.deepEqual([figures.messages, figures.refusals, figures.refusals_by_reason], [4, 1, { capability_violation: 1 }]);
    assert.match((await audit('head', ...place())).stdout, /^\d+:[0-9a-f]{64} /);
    assert.equal((await audit('retention', ...place())).stdout, 'Nothing was removed.\n');
}

test('every filter finds what it names', { skip: missing }, async () => {
    for (const [query, found] of table) {
        const { status, json, text } = await ask(query);

        assert.equal(status, 200, text);
        assert.deepEqual(json.records.map(({ id }) => id), found.map(({ id }) => id), JSON.stringify(query));
    }
});

test('moot audit asks the gateway, and without one the database', { skip: missing, timeout: 120_000 }, async () => {
    await checkCommandLine();
    await gateway.kill();
    await checkCommandLine();
    const elsewhere = await audit('search', '--data', gateway.data);
    assert.equal(elsewhere.status, 1);
    assert.match(elsewhere.stderr, /keeps its record elsewhere: name its settings with --config/);
    gateway = await gateway.restart();
});

test('an export and the database itself verify, and damage in it is named', { skip: missing, timeout: 120_000 }, async () => {
    const file = path.join(gateway.data, 'record.jsonl');
    const key = path.join(gateway.data, 'audit.pub');

    assert.equal((await audit('export', ...place(), '-o', file)).status, 0);
    const report = (await lines('verify', '--file', file, '--key', key, '--json'))[0];
    assert.deepEqual([report.holds, report.has_key], [true, true]);
    // The gateway runs: its database is verified nevertheless.
    const live = (await lines('verify', ...place(), '--head', report.head, '--json'))[0];
    assert.deepEqual([live.holds, live.has_key], [true, true]);
    while ((await postgres.query('SELECT 1 FROM moot.checkpoint LIMIT 1')).length === 0)
        await sleep(50); // it signs within a second
    await gateway.kill();
    const verify = async (...args) => {
        const { status, stdout } = await audit('verify', '--json', ...place(), ...args);
        return { status, ...JSON.parse(stdout) };
    };
    const { head, records } = await verify();
    const keep = 'CREATE TABLE good AS SELECT * FROM moot.record; CREATE TABLE signed AS SELECT * FROM moot.checkpoint;';
    const putBack = 'TRUNCATE moot.record, moot.checkpoint; INSERT INTO moot.record SELECT * FROM good;'
        + ' INSERT INTO moot.checkpoint SELECT * FROM signed; DROP TABLE good, signed';
    const lastBody = '(SELECT max(seq) FROM moot.record WHERE body IS NOT NULL)';
    for (const [damage, bad] of [
        ["UPDATE moot.record SET kind = 'chap' WHERE seq = 4", '4'],
        ['UPDATE moot.record SET topic = participant, participant = topic WHERE seq = 5', '5'],
        ['DELETE FROM moot.record WHERE seq = 3', '3'],
        [`UPDATE moot.record SET body = set_byte(body, 3, get_byte(body, 3) # 1) WHERE seq = ${lastBody}`, lastBody],
        [`UPDATE moot.record SET body = NULL WHERE seq = ${lastBody}`, lastBody],
        ['UPDATE moot.checkpoint SET signature = set_byte(signature, 0, get_byte(signature, 0) # 1)', '(SELECT 1 + min(seq) FROM moot.checkpoint)'],
    ]) {
        const [[wanted]] = await postgres.query(`SELECT ${bad}`);

        await postgres.query(`${keep} ${damage}`);
        const result = await verify();
        await postgres.query(putBack);
        assert.deepEqual([result.status, result.holds, result.bad_seq], [1, false, Number(wanted)], `${damage}: ${JSON.stringify(result)}`);
    }
    assert.equal((await verify()).holds, true);
    // What is removed behind the last signature is missed by whoever has kept the head.
    await postgres.query(`${keep} DELETE FROM moot.record WHERE seq = ${records}; DELETE FROM moot.checkpoint WHERE seq = ${records}`);
    assert.equal((await verify()).status, 0);
    assert.equal((await verify('--head', head)).status, 1);
    await postgres.query(putBack);
    assert.equal((await verify('--head', head)).status, 0);
    gateway = await gateway.restart();
});

test('without its database a required room stops, an async one counts, and both go on', { skip: missing, timeout: 120_000 }, async () => {
    const alice = await gateway.join('alice');
    const bob = await gateway.join('bob', { topic: 'loose' });
    const metric = async (name) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await gateway.request('GET /metrics')).text)[1]);
    const isRefused = (json) => json.kind === 'system/error' && json.payload.error === 'unavailable';

    // It goes while that is written: once it is known to have gone, nothing is held any more.
    const locked = postgres.query('BEGIN; LOCK TABLE moot.record IN EXCLUSIVE MODE; SELECT pg_sleep(600)').catch(() => 'it has gone');
    const locks = async (kind) => Number((await postgres.query(`SELECT count(*) FROM pg_locks WHERE relation = 'moot.record'::regclass AND ${kind}`))[0][0]);
    while (await locks("granted AND mode = 'ExclusiveLock'") === 0);
    const held = alice.chat('held');
    while (await locks('NOT granted') === 0);
    await postgres.stop('immediate');
    assert.equal(await locked, 'it has gone');
    while (await metric('moot_store_failing') === 0);
    alice.chat('refused');
    await expect(alice, isRefused);
    assert.equal((await gateway.request('GET /readyz')).status, 503);
    const text = 'x'.repeat(50_000);
    const loose = Array.from({ length: 60 }, () => bob.chat(text).id);
    for (const id of loose)
        await expect(bob, (json) => json.id === id);
    const dropped = await metric('moot_audit_dropped_total');
    assert.ok(dropped > 0 && dropped < 60, `${dropped}`);
    assert.ok(!takeAll(alice).some(({ id }) => id === held.id));
    const asked = await ask({ topic });
    assert.equal(asked.status, 503, asked.text);

    await postgres.start();
    await expect(alice, (json) => json.id === held.id);
    const { payload } = await expect(bob, (json) => json.payload.notice === 'audit_gap');
    assert.equal(payload.dropped, dropped);
    while (await metric('moot_store_failing') === 1);
    assert.equal((await gateway.request('GET /readyz')).status, 200);
    while ((await ask({ event: 'drop' })).json?.records?.length !== 1);
    const { json } = await ask({ topic: 'loose', event: 'envelope', participant: 'bob' });
    assert.equal(json.records.length, 60 - dropped);
    assert.equal((await lines('verify', '--json', ...place()))[0].holds, true);
    await alice.close();
    await bob.close();
});
