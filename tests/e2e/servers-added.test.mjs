// SPDX-License-Identifier: Apache-2.0
// Servers that are added while the gateway runs: on the machine itself alone, kept, and gone when
// they are removed. What is known of servers outlives the gateway.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { changesIn, envelope, expect, people, person, startGateway } from './gateway.mjs';
import { callTool, echoProgram, echoServer, isAlive, overSocket, textOf, until } from './servers.mjs';

const config = {
    tokens: [...people('alice'), person('root', { profile: 'admin' })],
    servers: { settled: echoServer('room', { start: true }) },
    topics: { open: false, named: { room: {}, side: {}, hall: {} } },
};
const spec = (name, topic, more = {}) => ({ name, topic, command: [echoProgram], sandbox: 'off', network: 'any', ...more });
let gateway;

before(async () => { gateway = await startGateway(config); });
after(() => gateway.stop());

const ask = (line, json) => gateway.request(line, { token: 'root-token', ...(json ? { json } : {}) });

async function joinWith(topic, server) {
    const client = await gateway.join('alice', { topic });

    if (!client.welcome.payload.participants.some((one) => one.id === server))
        await expect(client, (json) => changesIn(json).some((one) => one.event === 'join' && one.id === server));
    return client;
}

test('a token does not add a server, whoever it belongs to', async () => {
    for (const token of ['root-token', 'alice-token', gateway.adminToken()]) {
        const { status } = await gateway.request('POST /admin/servers', { token, json: spec('evil', 'room') });
        assert.equal(status, 403);
    }
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
