// SPDX-License-Identifier: Apache-2.0
// A server of the gateway that wants a token: everybody sees that a sign-in is needed, an
// administrator is told where, the browser comes back to the gateway, and nobody is asked again.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { expect, people, person, startGateway } from './gateway.mjs';
import { startGuarded, TOKEN } from './guarded.mjs';
import { moot } from './moot.mjs';
import { callTool, echoServer, overSocket, textOf, until } from './servers.mjs';

let alice, gateway, server;
let told = ''; // by all gateways, on standard error
const addresses = [];

const ask = (line, more = {}) => gateway.request(line, { token: 'root-token', ...more });
const run = (...args) => moot(null, null, args, { env: { MOOT_DATA: gateway.data } });
const stateOf = async (name = 'guarded') => (await ask(`GET /admin/servers/${name}`)).json.server.state;
const known = () => until(async () => (await ask('GET /admin/servers')).json.servers.every(({ state }) => state !== 'loading'));

async function askWhere(more) {
    const answer = await ask('POST /admin/servers/guarded/sign-in', more);

    assert.equal(answer.status, 200, answer.text);
    addresses.push(answer.json.url);
    return new URL(answer.json.url);
}

const comesBack = (name, query) => gateway.request(`GET /oauth/callback/${name}?${query}`);

function* filesBelow(folder) {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
        const name = path.join(folder, entry.name);

        if (entry.isDirectory())
            yield* filesBelow(name);
        else if (entry.isFile())
            yield name;
    }
}

before(async () => {
    server = await startGuarded();
    gateway = await startGateway({
        tokens: [...people('alice'), person('root', { profile: 'admin' })],
        servers: {
            guarded: { topic: 'room', url: `${server.url}/mcp` },
            fixed: { topic: 'room', url: `${server.url}/mcp`, headers: { Authorization: 'env:FIXED' } },
            command: echoServer('room'),
        },
        hosts: ['moot.example'],
    }, { env: { FIXED: 'Bearer wrong' } });
    alice = await gateway.join('alice', { topic: 'room' });
});

after(async () => {
    await gateway.stop();
    server.stop();
});

test('everybody sees that somebody must sign in, and a call says so', async () => {
    await until(async () => await stateOf() === 'sign_in_needed');
    const status = await expect(alice, (json) => json.kind === 'participant/status' && json.payload.status === 'sign_in_needed');
    assert.equal(status.from, 'guarded');
    assert.match((await run('ps')).stdout, /^guarded +room +sign_in_needed .*\n +.*moot sign-in/m);
    const { error } = await callTool(alice, 'guarded', 'hello');
    assert.match(JSON.stringify(error), /sign-in/);
    const { text } = await ask('GET /metrics');
    assert.match(text, /^moot_servers_sign_in_needed 1$/m);
    assert.match(text, /^moot_servers_failing [01]$/m); // `fixed` has a wrong token
    assert.ok(server.asked.every((line) => !line.includes('/register')), 'nobody is registered before somebody asks');
});

test('where to sign in is for administrators, and for servers where one signs in', async () => {
    assert.equal((await gateway.request('POST /admin/servers/guarded/sign-in', { token: 'alice-token' })).status, 403);
    assert.equal((await gateway.request('POST /admin/servers/guarded/sign-in')).status, 401);
    assert.equal((await ask('POST /admin/servers/nobody/sign-in')).status, 404);
    assert.match((await run('sign-in', 'nobody')).stderr, /there is no server "nobody"/);
    for (const name of ['fixed', 'command'])
        assert.equal((await ask(`POST /admin/servers/${name}/sign-in`)).status, 409);
    assert.notEqual(await stateOf('fixed'), 'sign_in_needed');
});

test('the browser comes back to this gateway and to nobody else', async () => {
    const back = async (more) => (await askWhere(more)).searchParams.get('redirect_uri');
    const here = `http://127.0.0.1:${gateway.port}`;

    assert.equal(await back(), `${here}/oauth/callback/guarded`);
    assert.equal(await back({ headers: { Host: `localhost:${gateway.port}` } }), `http://localhost:${gateway.port}/oauth/callback/guarded`);
    assert.equal(await back({ headers: { Host: 'moot.example', Origin: 'https://moot.example' } }),
        'https://moot.example/oauth/callback/guarded');
    assert.equal(await back({ json: { origin: 'https://moot.example/' } }), 'https://moot.example/oauth/callback/guarded');
    const { json } = await overSocket(gateway, 'POST /admin/servers/guarded/sign-in');
    assert.equal(new URL(json.url).searchParams.get('redirect_uri'), `${here}/oauth/callback/guarded`);
    for (const origin of ['https://evil.example', 'http://moot.example', 'https://moot.example/x', 'https://moot.example?x', 'moot', 'ftp://localhost'])
        assert.equal((await ask('POST /admin/servers/guarded/sign-in', { json: { origin } })).status, 400, origin);
    assert.equal((await ask('POST /admin/servers/guarded/sign-in', { headers: { Host: 'moot.example' } })).status, 400);
    assert.equal((await ask('POST /admin/servers/guarded/sign-in', { json: { origin: 7 } })).status, 400);
});

test('whoever comes back with something else gets nowhere', async () => {
    const earlier = (await askWhere()).searchParams.get('state');
    const state = (await askWhere()).searchParams.get('state');
    const texts = new Set();

    for (const [name, query] of [['guarded', 'code=c'], ['guarded', 'code=c&state=guess'], ['guarded', `code=c&state=${earlier}`],
        ['guarded', `code=c&state=${state}&state=${state}`], ['guarded', ''], ['nobody', `code=c&state=${state}`],
        ['command', `code=c&state=${state}`], ['fixed', `code=c&state=${state}`]]) {
        const { status, text } = await comesBack(name, query);
        assert.equal(status, 400, `${name} ${query}`);
        texts.add(text);
    }
    assert.equal(texts.size, 1, 'all of them are told the same');
    assert.ok(server.asked.every((line) => !line.includes('/token')));
    assert.equal(await stateOf(), 'sign_in_needed');
    const refused = await comesBack('guarded', `error=access_denied&state=${state}`);
    assert.equal(refused.status, 400);
    assert.match(refused.text, /not signed in: the sign-in was refused/);
});

test('an administrator signs in, and calls go through', async () => {
    const { stdout, status } = await run('sign-in', 'guarded');
    assert.equal(status, 0);
    addresses.push(stdout.trim());
    const page = await fetch(stdout.trim());

    assert.equal(page.status, 200);
    assert.match(await page.text(), /Done/);
    await until(async () => await stateOf() === 'ready');
    assert.equal(textOf(await callTool(alice, 'guarded', 'hello')), 'hello');
    assert.equal((await comesBack('guarded', new URL(page.url).searchParams)).status, 400, 'once');
});

test('after a restart nobody is asked, and what is kept tells nothing', async () => {
    gateway.signal('SIGTERM');
    await gateway.exited;
    told += gateway.stderr();
    for (const file of filesBelow(gateway.data)) {
        const bytes = fs.readFileSync(file);
        assert.ok(!bytes.includes(TOKEN) && !bytes.includes('registered'), file);
        assert.ok(addresses.every((address) => !bytes.includes(new URL(address).searchParams.get('state'))), file);
    }
    assert.equal(fs.statSync(path.join(gateway.data, 'secret.key')).mode & 0o777, 0o600);
    server.asked.length = 0;
    gateway = await gateway.restart();
    alice = await gateway.join('alice', { topic: 'room' });
    await known();
    assert.equal(textOf(await callTool(alice, 'guarded', 'hello')), 'hello');
    assert.deepEqual(server.asked.filter((line) => !line.includes(' /mcp ')), []);
});

test('a token that is good no more is a sign-in again, while it runs', async () => {
    server.forget();
    assert.match(JSON.stringify((await callTool(alice, 'guarded', 'hello')).error), /sign-in/);
    await until(async () => await stateOf() === 'sign_in_needed');
    assert.equal((await fetch(await askWhere())).status, 200);
    await until(async () => await stateOf() === 'ready');
    assert.equal(textOf(await callTool(alice, 'guarded', 'hello')), 'hello');
});

test('nothing of it is in the log', async () => {
    told += gateway.stderr();
    const { text } = await ask('GET /admin/servers/guarded/logs');
    const { text: acts } = await ask('GET /admin/audit');

    assert.match(text, /a sign-in is needed/);
    assert.match(acts, /server\.sign_in/);
    for (const address of addresses)
        for (const name of ['state', 'code_challenge'])
            for (const where of [told, text, acts])
                assert.ok(!where.includes(new URL(address).searchParams.get(name)));
    assert.ok(!`${told}${text}${acts}`.includes(TOKEN));
});

test('with another key what is kept is noise, and somebody signs in again', async () => {
    gateway.signal('SIGTERM');
    await gateway.exited;
    fs.writeFileSync(path.join(gateway.data, 'secret.key'), Buffer.alloc(32, 7));
    gateway = await gateway.restart();
    alice = await gateway.join('alice', { topic: 'room' });
    await known();
    assert.match(JSON.stringify((await callTool(alice, 'guarded', 'hello')).error), /sign-in/);
    await gateway.logged(/event=server\.secrets name=guarded/);
    assert.equal(await stateOf(), 'sign_in_needed');
});
