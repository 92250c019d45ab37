// SPDX-License-Identifier: Apache-2.0
// Servers that are added while the gateway runs: by a token public ones behind https, all others on the
// machine itself alone; kept, and gone when they are removed. What is known of servers outlives the
// gateway.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { makeCertificate } from './certificates.mjs';
import { changesIn, envelope, expect, people, person, startGateway } from './gateway.mjs';
import { callTool, echoProgram, echoServer, isAlive, overSocket, textOf, until } from './servers.mjs';
import { everything, freePort, startProxy, startSecure, startServer } from './urls.mjs';

const config = {
    tokens: [...people('alice'), person('root', { profile: 'admin' })],
    servers: { settled: echoServer('room', { start: true }) },
    topics: { open: false, named: { room: {}, side: {}, hall: {} } },
};
const spec = (name, topic, more = {}) => ({ name, topic, command: [echoProgram], sandbox: 'off', network: 'any', ...more });
const proxy = await startProxy();
let folder, gateway, own;

before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-added-'));
    own = makeCertificate(folder, 'own', 'DNS:far.example');
    gateway = await startGateway(config, { env: { SSL_CERT_FILE: own.certificate, https_proxy: proxy, no_proxy: 'localhost' } });
});
after(async () => {
    await gateway.stop();
    fs.rmSync(folder, { recursive: true });
});

const ask = (line, json) => gateway.request(line, { token: 'root-token', ...(json ? { json } : {}) });

async function joinWith(topic, server) {
    const client = await gateway.join('alice', { topic });

    if (!client.welcome.payload.participants.some((one) => one.id === server))
        await expect(client, (json) => changesIn(json).some((one) => one.event === 'join' && one.id === server));
    return client;
}

test('a token adds nothing that runs, reaches or reads something of this machine, whoever it belongs to', async () => {
    const far = (more) => ({ name: 'evil', topic: 'room', url: 'https://evil.example/mcp', ...more });
    const cases = [
        [spec('evil', 'room'), /it is a program.*`moot run`/],
        [far({ url: 'http://127.0.0.1:1/mcp' }), /not https.*`moot run`/],
        [far({ headers: { 'X-Key': { file: '/etc/passwd' } } }), /a file.*`moot run`/],
        [far({ headers: { 'X-Key': { env: 'HOME' } } }), /a variable.*`moot run`/],
        [far({ oauth_client_secret_file: '/etc/passwd' }), /a file.*`moot run`/],
    ];

    for (const token of ['root-token', 'alice-token', gateway.adminToken()])
        for (const [json, why] of cases) {
            const got = await gateway.request('POST /admin/servers', { token, json });
            assert.equal(got.status, 403, got.text);
            assert.match(got.json.detail, token === 'alice-token' ? /administrator/ : why);
        }
    assert.equal((await gateway.request('POST /admin/servers', { token: 'alice-token', json: far() })).status, 403);
    assert.deepEqual((await ask('GET /admin/servers')).json.servers.map((one) => one.name), ['settled']);
});

test('what cannot be is refused, and says why', async () => {
    const cases = [
        [spec('settled', 'room'), 409, /configuration/],
        [spec('x', 'nowhere'), 404, /topic/],
        [spec('x', 'not/a/topic'), 404, /topic/],
        [spec('../x', 'room'), 400, /name/],
        [{ name: 'x', topic: 'room' }, 400, /command or a url/],
        [spec('x', 'room', { network: 'none' }), 400, /network/],
        [spec('x', 'room', { colour: 'red' }), 400, /colour/],
        ['nothing', 400, /./],
    ].map((one) => (one.length === 3 ? one : [one[0], one[1], /./]));

    for (const [body, status, why] of cases) {
        const got = await overSocket(gateway, 'POST /admin/servers', body);
        assert.equal(got.status, status, `${JSON.stringify(body)} ${got.text}`);
        assert.match(got.json.detail, why);
    }
    assert.equal((await ask('GET /admin/servers')).json.servers.length, 1);
});

test('a token of an administrator adds a public server behind https', async () => {
    const port = await freePort();
    await startServer([everything, 'streamableHttp'], { env: { PORT: port }, ready: /listening on port/i });
    const url = `https://far.example:${new URL(await startSecure(port, own)).port}/mcp`;

    assert.deepEqual((await ask('POST /admin/servers', { name: 'far', topic: 'side', url })).json, { name: 'far' });
    assert.equal((await ask('POST /admin/servers', { name: 'far', topic: 'side', url })).status, 409);
    const client = await joinWith('side', 'far');
    assert.equal(textOf(await callTool(client, 'far', 'echo', { message: 'hi' })), 'Echo: hi');
    await client.close();
    assert.equal((await ask('DELETE /admin/servers/far')).status, 200);
});

test('a server that a token has added never leads to this machine or its network, whatever its name is', async () => {
    let heard = 0;
    const listener = net.createServer((socket) => { heard++; socket.destroy(); }).listen(0, '127.0.0.1').unref();
    await once(listener, 'listening');
    const { port } = listener.address();

    for (const [i, host] of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '10.0.0.1', '169.254.169.254'].entries()) {
        const name = `near-${i}`;
        const added = await ask('POST /admin/servers', { name, topic: 'side', url: `https://${host}:${port}/mcp`, public: false, start: true });

        assert.equal(added.status, 201, added.text);
        const { why } = await until(async () => {
            const { server } = (await ask(`GET /admin/servers/${name}`)).json;
            return server?.why && server;
        });
        assert.match(why, /must not be reached/, host);
        assert.equal((await ask(`DELETE /admin/servers/${name}`)).status, 200);
    }
    assert.equal(heard, 0);
    const added = await overSocket(gateway, 'POST /admin/servers', { name: 'near', topic: 'side', url: `https://localhost:${port}/mcp`, start: true });
    assert.equal(added.status, 201, added.text);
    await until(() => heard > 0, 'who is on the machine may add it');
    assert.equal((await ask('DELETE /admin/servers/near')).status, 200);
});

test('what it reaches follows from the rest where nothing is said, as in the configuration', async () => {
    const cases = [
        [{ sandbox: 'off' }, 'any'],
        [{ sandbox: 'strict', hosts: ['example.org:443'] }, 'hosts'],
        [{ sandbox: 'strict' }, 'none'],
    ];

    for (const [more, network] of cases) {
        const added = await overSocket(gateway, 'POST /admin/servers', { name: 'short', topic: 'side', command: [echoProgram], ...more });

        assert.equal(added.status, 201, added.text);
        assert.equal((await until(async () => (await ask('GET /admin/servers/short')).json.settings)).network ?? 'none', network);
        assert.equal((await ask('DELETE /admin/servers/short')).status, 200);
    }
});

test('one that was added answers, outlives the gateway with what it offers, and is removed', async () => {
    for (const [name, topic] of [['one', 'side'], ['two', 'hall'], ['three', 'room']]) {
        const added = await overSocket(gateway, 'POST /admin/servers', spec(name, topic));
        assert.deepEqual([added.status, added.json], [201, { name }]);
        assert.equal((await overSocket(gateway, 'POST /admin/servers', spec(name, topic))).status, 409);
        const client = await joinWith(topic, name);
        assert.equal(textOf(await callTool(client, name, 'echo', { text: name })), name);
        await client.close();
    }
    await until(async () => (await ask('GET /admin/servers')).json.servers.every((one) => one.tools > 0));

    await gateway.kill();
    gateway = await gateway.restart();
    const { servers } = (await ask('GET /admin/servers')).json;
    assert.deepEqual(servers.map((one) => one.name).sort(), ['one', 'settled', 'three', 'two']);
    const known = await until(async () => {
        const { json } = await ask('GET /admin/servers/one');
        return json.server?.state === 'resting' && json.server;
    });
    assert.ok(known.tools > 0); // without having been started
    const client = await joinWith('side', 'one');
    assert.equal(textOf(await callTool(client, 'one', 'echo', { text: 'again' })), 'again');
    const pid = Number(textOf(await callTool(client, 'one', 'pid')));

    assert.deepEqual((await ask('DELETE /admin/servers/one')).json, { name: 'one' });
    await expect(client, (json) => changesIn(json).some((one) => one.event === 'leave' && one.id === 'one'));
    await until(() => !isAlive(pid));
    assert.equal((await ask('DELETE /admin/servers/one')).status, 404);
    assert.equal((await ask('GET /admin/servers/one')).status, 404);

    const wanted = ['server.add,local,side,allowed', 'server.add,root,,forbidden', 'server.remove,root,side,allowed'];
    await until(async () => {
        const { records } = (await ask('GET /admin/audit?event=admin&kind=server.*')).json;
        const acts = records.map((one) => `${[one.kind, one.participant, one.topic, one.verdict]}`);
        return wanted.every((one) => acts.includes(one));
    }, 'the record of what was done');

    // What was recorded last may be lost with a gateway that is killed.
    await gateway.kill();
    gateway = await gateway.restart();
    assert.deepEqual((await ask('GET /admin/servers')).json.servers.map((one) => one.name).sort(), ['settled', 'three', 'two']);
});

test('the configuration says what a server is, if both name it', async () => {
    const next = { ...config, servers: { ...config.servers, two: echoServer('hall', { as: 'second' }) } };

    fs.writeFileSync(gateway.config, JSON.stringify(next));
    assert.equal((await ask('POST /admin/reload')).status, 200);
    const client = await joinWith('hall', 'second');
    assert.equal(textOf(await callTool(client, 'second', 'echo', { text: 'x' })), 'x');
    assert.equal((await ask('GET /admin/servers')).json.servers.length, 3);
    fs.writeFileSync(gateway.config, JSON.stringify(config));
    assert.equal((await ask('POST /admin/reload')).status, 200);
    await expect(client, (json) => changesIn(json).some((one) => one.event === 'join' && one.id === 'two'));
});

test('what a server was granted stays with it, over a reload and a restart', async () => {
    const given = await ask('POST /admin/participants/settled/capabilities', { add: ['chat'] });
    const may = async () => (await ask('GET /admin/members?topic=room')).json.members
        .find((one) => one.participantId === 'settled')?.capabilities.includes('chat');

    assert.equal(given.status, 200, given.text);
    assert.ok(await until(may));
    assert.equal((await ask('POST /admin/reload')).status, 200);
    assert.ok(await may());
    await gateway.kill();
    gateway = await gateway.restart();
    assert.ok(await until(may));
});

test('nobody is invited under the id of a server', async () => {
    const client = await gateway.join('root', { topic: 'room' });
    const sent = client.send(envelope('root', 'topic/invite', { payload: { participant: 'Settled', capabilities: ['chat'] } }));
    const answer = await expect(client, (json) => json.correlation_id === sent.id);

    assert.deepEqual([answer.kind, answer.payload.error], ['system/error', 'conflict'], JSON.stringify(answer));
});
