// SPDX-License-Identifier: Apache-2.0
// moot token: through a running server, through its URL, and into the store when none runs.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { people, program, startGateway, within } from './gateway.mjs';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-e2e-'));
let gateway;

before(async () => { gateway = await startGateway({ tokens: people('alice'), limits: { login_failures: 0 } }); });
after(async () => {
    await gateway.stop();
    fs.rmSync(folder, { recursive: true });
});

// Not spawnSync: the gateway's output must go on being read.
async function run(args, env = {}) {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, HOME: folder, ...env } });
    const out = { stdout: '', stderr: '' };

    for (const name of ['stdout', 'stderr'])
        child[name].on('data', (part) => { out[name] += part; });
    const [status] = await within(once(child, 'close'), args.join(' '));
    return { status, ...out };
}

const local = (...args) => run(['token', ...args, '--data', gateway.data]);
const secretPattern = /^moot_[\w-]{43}\n$/;

test('cli token: with a running server a new token works at once, and a revoked one ends at once', async () => {
    const made = await local('create', 'bot', '--profile', 'proposer', '--topics', 'room, lobby', '--name', 'bot-1', '--expires', '7d');
    assert.equal(made.status, 0, made.stderr);
    assert.match(made.stdout, secretPattern, 'stdout has the secret and nothing else');
    assert.match(made.stderr, /"bot-1".*shown this once/);
    const token = made.stdout.trim();
    const bot = await gateway.join('bot', { token });
    assert.equal((await gateway.refusal('bot', { topic: 'elsewhere', token })).status, 403);

    const listed = await local('list');
    assert.equal(listed.status, 0);
    for (const word of ['bot-1', 'proposer', 'admin', 'human', 'alice'])
        assert.ok(listed.stdout.includes(word), word);
    assert.ok(!listed.stdout.includes(token));
    const { tokens } = JSON.parse((await local('list', '--json')).stdout);
    const { expires_at: expires } = tokens.find(({ name }) => name === 'bot-1');
    assert.ok(Math.abs(Date.parse(expires) - Date.now() - 7 * 86_400_000) < 60_000);

    const revoked = await local('revoke', 'bot-1');
    assert.deepEqual([revoked.status, revoked.stdout], [0, 'revoked bot-1\n']);
    assert.equal((await bot.closed()).code, 1008);
    assert.equal((await local('revoke', 'bot-1')).status, 1);
});

test('cli token: --json gives the secret and the name, whatever is in it', async () => {
    const name = 'a "quoted" näme';
    const { status, stdout } = await local('create', 'quoted', '--capabilities', 'chat,mcp/*', '--name', name, '--json');

    assert.equal(status, 0);
    const json = JSON.parse(stdout);
    assert.equal(json.name, name);
    assert.equal((await gateway.request('GET /topics', { token: json.token })).status, 200);
    assert.equal((await local('revoke', name)).status, 0);
});

const wrong = {
    'neither profile nor capabilities': [['create', 'x'], /one of .*capabilities.* and .*profile/i],
    'both': [['create', 'x', '--profile', 'full', '--capabilities', 'chat'], /one of/i],
    'an unknown profile': [['create', 'x', '--profile', 'fool'], /no such profile/i],
    'a bad expiry': [['create', 'x', '--profile', 'full', '--expires', 'soon'], /--expires takes/],
    'a past expiry': [['create', 'x', '--profile', 'full', '--expires', '2020-01-01T00:00:00Z'], /future/],
    'a name that is taken': [['create', 'x', '--profile', 'full', '--name', 'admin'], /There is a token of that name/i],
    'a reserved id': [['create', 'system:gateway', '--profile', 'full'], /belong to the gateway/],
    'a token of the settings': [['revoke', 'alice'], /configuration/],
    'an unknown token': [['revoke', 'nobody'], /no token/i],
};

for (const [name, [args, message]] of Object.entries(wrong))
    test(`cli token: ${name} fails with 1 and says why`, async () => {
        const { status, stdout, stderr } = await local(...args);

        assert.deepEqual([status, stdout], [1, ''], stderr);
        assert.match(stderr, message);
    });

test('cli token: --server takes $MOOT_TOKEN or --token-file, and neither a wrong nor a missing one', async () => {
    const url = `http://127.0.0.1:${gateway.port}`;
    const file = path.join(folder, 'admin.secret');
    fs.writeFileSync(file, `${gateway.adminToken()}\n`, { mode: 0o600 });
    const there = (args, env) => run(['token', ...args, '--server', url], env);

    const byEnv = await there(['create', 'far', '--profile', 'full', '--name', 'far-1'], { MOOT_TOKEN: gateway.adminToken() });
    assert.equal(byEnv.status, 0, byEnv.stderr);
    assert.match(byEnv.stdout, secretPattern);
    const byFile = await there(['list', '--token-file', file]);
    assert.ok(byFile.stdout.includes('far-1'));
    assert.equal((await run(['token', 'revoke', 'far-1', '--server', `${url}/`, `--token-file=${file}`])).status, 0);
    assert.equal((await gateway.request('GET /topics', { token: byEnv.stdout.trim() })).status, 401);

    for (const [env, message] of [[{}, /--token-file FILE or \$MOOT_TOKEN/], [{ MOOT_TOKEN: 'wrong' }, /not known/], [{ MOOT_TOKEN: 'alice-token' }, /administrator/]]) {
        const { status, stdout, stderr } = await there(['list'], env);
        assert.deepEqual([status, stdout], [1, '']);
        assert.match(stderr, message);
    }
    const nobody = await run(['token', 'list', '--server', 'http://127.0.0.1:1'], { MOOT_TOKEN: 'x' });
    assert.equal(nobody.status, 1);
    assert.match(nobody.stderr, /nothing answers at 127\.0\.0\.1:1: Connection refused/);
    assert.equal((await run(['token', 'list', '--server', 'ftp://x'], { MOOT_TOKEN: 'x' })).status, 1);
    assert.match((await there(['list', '--token-file', path.join(folder, 'nothing')])).stderr, /nothing: No such file/);
});

test('cli token: what a server says is shown as text, whatever it is', async () => {
    const evil = 'x\u001b[31m\u202e';
    const bodies = {
        list: { tokens: [{ name: evil, id: evil, type: evil, source: evil, capabilities: [evil], moot: { capabilities: [{ kind: evil }] } }] },
        refuse: { detail: evil },
    };
    const server = http.createServer((request, response) => {
        const what = request.headers.authorization.split(' ')[1];
        const body = JSON.stringify(bodies[what]);
        response.writeHead(what === 'list' ? 200 : 400, { 'Content-Length': Buffer.byteLength(body) }).end(body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${server.address().port}`;

    for (const [what, status] of [['list', 0], ['refuse', 1]]) {
        const told = await run(['token', 'list', '--server', url], { MOOT_TOKEN: what });
        assert.equal(told.status, status);
        assert.match(told.stdout + told.stderr, /x\\u001b\[31m\\u202e/);
        assert.doesNotMatch(told.stdout + told.stderr, /[\u001b\u202e]/);
    }
    server.close();
});

test('cli token: without a server it uses the store, and a server started later knows them', async () => {
    const data = path.join(folder, 'quiet', 'data');
    const quiet = (...args) => spawnSync(program, ['token', ...args], { encoding: 'utf8', env: { PATH: process.env.PATH, MOOT_DATA: data } });
    fs.mkdirSync(path.dirname(data));
    const first = quiet('create', 'early', '--profile', 'full', '--name', 'early-1');
    const second = quiet('create', 'early', '--profile', 'full', '--name', 'early-2');

    assert.equal(first.status, 0, first.stderr);
    assert.match(first.stdout, secretPattern);
    assert.equal((fs.statSync(data).mode & 0o777).toString(8), '700');
    assert.match(quiet('list').stdout, /early-1[^]*early-2|early-2[^]*early-1/);
    assert.match(quiet('create', 'other', '--profile', 'full', '--name', 'early-1').stderr, /token .*that name|token "early-1"/i);
    assert.equal(quiet('revoke', 'early-2').status, 0);
    assert.match(quiet('revoke', 'early-2').stderr, /there is no token "early-2"/);
    const server = await startGateway({}, { args: ['--data', data] });
    assert.equal((await server.request('GET /topics', { token: first.stdout.trim() })).status, 200);
    assert.equal((await server.request('GET /topics', { token: second.stdout.trim() })).status, 401);
    await server.stop();
});
