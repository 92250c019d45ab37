// SPDX-License-Identifier: Apache-2.0
// A gateway whose store is a PostgreSQL: what it keeps, where, and who else may.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { setTimeout as pause } from 'node:timers/promises';

import { expect, people, program, startGateway } from './gateway.mjs';
import { missing, startPostgres } from './postgres.mjs';

let postgres, gateway;

const settings = () => ({
    store: postgres.url,
    topics: { named: { strict: { audit: 'required' } } },
    tokens: people('alice', 'bob'),
});
const moot = (...args) => spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
const tokens = (...args) => moot('token', 'list', '--json', ...args);
const names = (json) => JSON.parse(json).tokens.map((token) => token.name).sort();

before(async () => {
    if (missing)
        return;
    postgres = await startPostgres();
    gateway = await startGateway(settings());
}, { timeout: 120_000 });
after(async () => {
    await gateway?.stop();
    await postgres?.remove();
});

test('nothing but keys and first tokens lies in the data directory', { skip: missing }, () => {
    const files = fs.readdirSync(gateway.data);

    assert.deepEqual(files.filter((name) => name.includes('.db')), []);
    for (const name of ['audit.key', 'redact.key', 'admin.token'])
        assert.ok(files.includes(name), name);
    assert.equal(fs.statSync(path.join(gateway.data, 'audit.key')).mode & 0o777, 0o600);
});

test('a token outlives a restart', { skip: missing }, async () => {
    const token = gateway.adminToken();
    const { status, json } = await gateway.request('POST /admin/tokens', { token, json: { id: 'carol', profile: 'human', name: 'carol-1' } });

    assert.equal(status, 201);
    await gateway.kill();
    gateway = await gateway.restart();
    const carol = await gateway.join('carol', { token: json.token });
    await carol.close();
    const [[hash]] = await postgres.query("SELECT length(hash) FROM moot.token WHERE name = 'carol-1'");
    assert.equal(hash, '32');
});

test('a second gateway is refused, and told why', { skip: missing }, async () => {
    await assert.rejects(startGateway(settings()),
        /moot ended with 1: .*store\.open.*PostgreSQL: another gateway uses this database \(connected from this machine, server process \d+\)/s);
});

test('an address is neither logged nor printed', { skip: missing }, async () => {
    const store = postgres.url.replace('moot@', 'moot:sesame@').replace('postgres?', 'nowhere?');
    const file = path.join(gateway.data, 'secret.yaml');

    fs.writeFileSync(file, JSON.stringify({ store }));
    await assert.rejects(startGateway({ store }), (error) => {
        assert.match(error.message, /database "nowhere" does not exist/);
        assert.doesNotMatch(error.message, /sesame/);
        return true;
    });
    for (const command of [['config', 'print', file], ['config', 'check', file], ['token', 'list', '--config', file]]) {
        const { stdout, stderr } = moot(...command);
        assert.doesNotMatch(stdout + stderr, /sesame/);
    }
    assert.match(moot('config', 'print', file).stdout, /^store: "\*\*\*"/m);
    fs.writeFileSync(file, JSON.stringify({ store: 'mysql://ann:sesame@x/y' }));
    const { status, stderr } = moot('config', 'check', file);
    assert.equal(status, 1);
    assert.match(stderr, /secret\.yaml:1:\d+: store must begin with postgresql:\/\//);
    assert.doesNotMatch(stderr, /sesame/);
});

test('the command line uses the database while no gateway does', { skip: missing }, async () => {
    const { config, data } = gateway;

    assert.ok(names(tokens('--data', data).stdout).includes('carol-1'), 'through the gateway');
    await gateway.kill();
    const kept = tokens('--config', config, '--data', data);
    assert.deepEqual(names(kept.stdout), ['admin', 'carol-1', 'human']);
    assert.equal(moot('token', 'revoke', 'carol-1', '--config', config, '--data', data).stdout, 'revoked carol-1\n');
    const made = moot('token', 'create', 'dave', '--profile', 'human', '--config', config, '--data', data);
    assert.equal(made.status, 0, made.stderr);
    for (const args of [['list'], ['create', 'eve', '--profile', 'human']]) {
        const { status, stderr } = moot('token', ...args, '--data', data);
        assert.equal(status, 1);
        assert.match(stderr, /keeps its tokens elsewhere: name its settings with --config/);
    }
    assert.deepEqual(fs.readdirSync(data).filter((name) => name.includes('.db')), []);
    gateway = await gateway.restart();
    const dave = await gateway.join('dave', { token: made.stdout.trim() });
    await dave.close();
});

test('a database belongs to the key it began with', { skip: missing }, async () => {
    const other = await startGateway({});

    await other.kill();
    for (const name of fs.readdirSync(other.data).filter((file) => file.includes('.db')))
        fs.rmSync(path.join(other.data, name));
    await gateway.kill();
    await assert.rejects(startGateway(settings()), /audit\.key is missing: bring back/);
    await assert.rejects(startGateway(settings(), { args: ['--data', other.data] }), /audit\.key is not the key of this record/);
    gateway = await gateway.restart();
});

// Says something every now and then, until it is told to stop.
class Talker {
    said = [];
    isTalking = true;

    constructor(client) {
        this.client = client;
        this.ended = (async () => {
            while (this.isTalking) {
                this.said.push(client.chat('something').id);
                await pause(2);
            }
        })();
    }

    stop() {
        this.isTalking = false;
        return this.ended;
    }
}

const chats = (client) => client.frames.map((frame) => frame.json).filter((json) => json.kind === 'chat').map((json) => json.id);

test('a crash of the database under load loses nothing that was heard, and the gateway resumes', { skip: missing }, async () => {
    const alice = await gateway.join('alice', { topic: 'strict' });
    const bob = await gateway.join('bob', { topic: 'strict' });
    const talker = new Talker(alice);
    const isRefusal = (json) => json.kind === 'system/error' && json.payload.error === 'unavailable';

    for (const how of ['immediate', 'fast']) {
        await expect(bob, (json) => json.kind === 'chat');
        await postgres.stop(how);
        await expect(alice, isRefusal);
        await postgres.start();
        const after = talker.said.length;
        await expect(bob, (json) => talker.said.indexOf(json.id) >= after, 'what is said when it is back');
    }
    await talker.stop();
    let last;
    do
        last = alice.chat('the end').id;
    while ((await expect(alice, (json) => json.id === last || json.correlation_id?.includes(last))).id !== last);
    await expect(bob, (json) => json.id === last);
    const kept = await postgres.query("SELECT convert_from(id, 'UTF8') FROM moot.record"
        + " WHERE topic = 'strict' AND kind = 'chat' AND verdict = 'allowed' ORDER BY seq");
    assert.deepEqual(chats(bob), kept.map(([id]) => id));
    const refused = alice.frames.filter((frame) => isRefusal(frame.json)).length;
    assert.equal(kept.length + refused, talker.said.length + 1);
    assert.deepEqual(await postgres.query('SELECT count(*) = max(seq) FROM moot.record'), [['t']]);
    await alice.close();
    await bob.close();
});

test('the record is asked again when the database is back, and says so while it is not', { skip: missing }, async () => {
    const ask = () => moot('audit', 'search', '--data', gateway.data, '--limit', '1', '--json');

    for (let i = 0; i < 4; i++) // every reader has a connection now
        assert.equal(ask().status, 0);
    await postgres.stop('immediate');
    const away = ask();
    assert.deepEqual([away.status, away.stdout], [1, '']);
    assert.match(away.stderr, /The record cannot be read now\./);
    await postgres.start();
    for (let i = 0; i < 4; i++) {
        const back = ask();
        assert.deepEqual([back.status, back.stderr.replace(/^moot: there are more.*\n/, '')], [0, '']);
    }
});
