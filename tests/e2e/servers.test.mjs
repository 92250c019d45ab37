// SPDX-License-Identifier: Apache-2.0
// MCP servers of the configuration sit in their topics, whichever worker that is, and answer;
// they follow the configuration, and nothing of them is left when the gateway stops.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';

import { changesIn, expect, people, person, startGateway, within } from './gateway.mjs';
import { callTool, echoProgram, echoServer, isAlive, textOf, until } from './servers.mjs';

const topics = ['r1', 'r2', 'r3', 'r4']; // on both workers
const tokens = [...people('alice', 'bob'), person('root', { profile: 'admin' })];
const servers = Object.fromEntries(topics.map((topic) => [`echo-${topic}`, echoServer(topic, { as: 'echo' })]));
const base = { tokens, servers, limits: { login_failures: 0, kick_bar: '0s' } };
let gateway;

beforeEach(async () => { gateway = await startGateway(base); });
afterEach(() => gateway.stop());

const ask = (line, json) => gateway.request(line, { token: 'root-token', ...(json ? { json } : {}) });

function write(config) {
    fs.writeFileSync(`${gateway.config}.new`, JSON.stringify(config));
    fs.renameSync(`${gateway.config}.new`, gateway.config);
}

async function reload(config) {
    write(config);
    assert.deepEqual((await ask('POST /admin/reload')).json, { reloaded: true });
}

// Somebody in the topic, and the server as well.
async function joinWith(topic, id = 'alice') {
    const client = await gateway.join(id, { topic });

    if (!client.welcome.payload.participants.some((one) => one.id === 'echo'))
        await expect(client, (json) => changesIn(json).some((one) => one.event === 'join' && one.id === 'echo'));
    return client;
}

const pidIn = async (client) => Number(textOf(await callTool(client, 'echo', 'pid')));

test('servers of the configuration answer in their topics, on every worker', async () => {
    const pids = new Set();

    for (const topic of topics) {
        const client = await joinWith(topic);
        assert.equal(textOf(await callTool(client, 'echo', 'echo', { text: `in ${topic}` })), `in ${topic}`);
        pids.add(await pidIn(client));
    }
    assert.equal(pids.size, topics.length);
    const { json } = await ask('GET /admin/servers');
    assert.deepEqual(json.servers.map((one) => [one.name, one.topic, one.id, one.state]).sort(),
        topics.map((topic) => [`echo-${topic}`, topic, 'echo', 'ready']));
    for (const topic of topics) {
        const one = await ask(`GET /admin/servers/echo-${topic}`);
        assert.equal(one.json.server.topic, topic);
        assert.equal(one.json.server.calls, 2);
        assert.ok(isAlive(one.json.server.supervisor.instances[0].pid));
        assert.equal(one.json.settings.sandbox, 'off');
    }
    const { json: { members } } = await ask('GET /admin/members?topic=r1');
    assert.deepEqual(members.map((one) => [one.participantId, one.server, one.connectionId.replace(/[-\d]+$/, '')]).sort(),
        [['alice', undefined, 'ws'], ['echo', 'echo-r1', 'server']]);
    const { text } = await ask('GET /metrics');
    assert.match(text, /^moot_servers 4$/m);
    assert.match(text, /^moot_servers_ready 4$/m);
    assert.match(text, /^moot_server_calls_total 8$/m);
});

test('only administrators see servers, and one that is not there is not found', async () => {
    const lines = ['GET /admin/servers', 'GET /admin/servers/echo-r1', 'GET /admin/servers/nobody', 'POST /admin/servers/echo-r1/stop',
        'GET /admin/servers/echo-r1/logs', 'POST /admin/servers/echo-r1/pins', 'DELETE /admin/servers/echo-r1'];

    for (const line of lines)
        assert.equal((await gateway.request(line, { token: 'alice-token' })).status, 403, line);
    for (const line of ['GET /admin/servers/nobody', 'POST /admin/servers/nobody/restart', 'GET /admin/servers/nobody/logs',
        'GET /admin/servers/nobody/tools', 'DELETE /admin/servers/nobody'])
        assert.equal((await ask(line)).status, 404, line);
    assert.equal((await ask('DELETE /admin/servers/echo-r1')).status, 409);
    assert.doesNotMatch((await ask('GET /admin/tokens')).text, /echo/);
});

test('a reload leaves equal servers alone, restarts changed ones, ends and starts others', async () => {
    const clients = Object.fromEntries(await Promise.all(topics.map(async (topic) => [topic, await joinWith(topic)])));
    const before = Object.fromEntries(await Promise.all(topics.map(async (topic) => [topic, await pidIn(clients[topic])])));
    const { 'echo-r1': gone, 'echo-r2': changed, ...same } = servers;

    assert.ok(gone);
    await reload({ ...base, servers: { ...same, 'echo-r2': { ...changed, env: { COLOUR: 'red' } }, 'echo-r5': echoServer('r5', { as: 'echo' }) } });
    await expect(clients.r1, (json) => changesIn(json).some((one) => one.event === 'leave' && one.id === 'echo'));
    await until(() => !isAlive(before.r1));
    for (const status of ['stopped', 'resting']) // what it offers is known: it starts with a call
        await expect(clients.r2, (json) => json.kind === 'participant/status' && json.payload.status === status);
    assert.notEqual(await pidIn(clients.r2), before.r2);
    assert.ok(!isAlive(before.r2));
    for (const topic of ['r3', 'r4'])
        assert.equal(await pidIn(clients[topic]), before[topic]);
    assert.ok(await pidIn(await joinWith('r5')));
    assert.deepEqual((await ask('GET /admin/servers')).json.servers.map((one) => one.name).sort(), ['echo-r2', 'echo-r3', 'echo-r4', 'echo-r5']);
});

test('a configuration with a server that cannot be is refused, and nothing changes', async () => {
    const client = await joinWith('r1');
    const pid = await pidIn(client);
    const bad = { 'a server needs': { ...base, servers: { ...servers, x: { topic: 'r1' } } },
        'is not named': { ...base, topics: { open: false }, servers },
        'topic': { ...base, servers: { ...servers, x: echoServer('not/a/topic') } } };

    for (const config of Object.values(bad)) {
        write(config);
        assert.equal((await ask('POST /admin/reload')).status, 409);
    }
    assert.equal(await pidIn(client), pid);
});

test('an administrator stops, starts and restarts a server, and the record says who', async () => {
    const client = await joinWith('r1');
    const pid = await pidIn(client);

    assert.equal((await ask('POST /admin/servers/echo-r1/restart')).status, 202);
    const second = await until(async () => {
        const now = await pidIn(client);
        return now !== pid && now;
    });
    assert.ok(!isAlive(pid));
    assert.equal((await ask('POST /admin/servers/echo-r1/stop')).status, 202);
    await until(() => !isAlive(second));
    assert.ok((await callTool(client, 'echo', 'pid')).error);
    assert.equal((await ask('GET /admin/servers/echo-r1')).json.server.state, 'stopped');
    assert.equal((await ask('POST /admin/servers/echo-r1/start')).status, 202);
    assert.ok(await pidIn(client));
    const { records } = await until(async () => {
        const { json } = await ask('GET /admin/audit?event=admin&kind=server.*');
        return json.records.length === 3 && json;
    });
    assert.deepEqual(records.map((one) => [one.kind, one.participant, one.topic]).sort(), [
        ['server.restart', 'root', 'r1'], ['server.start', 'root', 'r1'], ['server.stop', 'root', 'r1']]);
});

test('a server that is kicked comes back to its place', async () => {
    const client = await joinWith('r1');
    const pid = await pidIn(client);

    assert.equal((await ask('POST /admin/members/echo/kick?topic=r1')).status, 200);
    await expect(client, (json) => changesIn(json).some((one) => one.event === 'leave' && one.id === 'echo'));
    await expect(client, (json) => changesIn(json).some((one) => one.event === 'join' && one.id === 'echo'));
    assert.equal(await pidIn(client), pid);
});

// GET …/logs?follow=1: the lines as they come.
async function follow(target) {
    const req = http.request({ host: gateway.host, port: gateway.port, path: target, headers: { Authorization: 'Bearer root-token' } });
    const stream = { text: '', lines: () => stream.text.split('\n').filter(Boolean).map((line) => JSON.parse(line)) };

    req.end();
    const [res] = await within(once(req, 'response'), target);
    assert.equal(res.statusCode, 200);
    assert.equal(res.headers['content-type'], 'application/x-ndjson');
    res.on('data', (part) => { stream.text += part; });
    stream.ended = new Promise((resolve) => { res.once('close', resolve); });
    res.on('error', () => {});
    req.on('error', () => {});
    stream.close = () => req.destroy();
    return stream;
}

test('the log of a server has what it wrote, can be followed, and ends with the server', async () => {
    const client = await joinWith('r1');
    const stream = await follow('/admin/servers/echo-r1/logs?follow=1');
    const gone = await follow('/admin/servers/echo-r1/logs?lines=1&follow=1');

    await callTool(client, 'echo', 'noise', { text: 'heard by nobody' });
    await until(() => stream.lines().some((one) => one.by === 'server' && /heard by nobody/.test(one.line)));
    gone.close();
    const { text } = await ask('GET /admin/servers/echo-r1/logs');
    assert.match(text, /heard by nobody/);
    assert.equal((await ask('GET /admin/servers/echo-r1/logs?lines=1')).text.trim().split('\n').length, 1);
    assert.equal((await ask('GET /admin/servers/echo-r1/logs?lines=x')).status, 400);
    assert.equal((await ask('GET /admin/servers/echo-r1/logs?follow=yes')).status, 400);
    const { 'echo-r1': removed, ...others } = servers;
    assert.ok(removed);
    await reload({ ...base, servers: others });
    await within(stream.ended, 'the end of the log');
});

test('a gateway that stops takes its servers with it, busy or not', async () => {
    const mine = await startGateway(base);
    const theirs = gateway;

    gateway = mine;
    const clients = await Promise.all(topics.map((topic) => joinWith(topic)));
    const pids = await Promise.all(clients.map(pidIn));
    void callTool(clients[0], 'echo', 'silent').catch(() => {});
    const stream = await follow('/admin/servers/echo-r2/logs?follow=1');
    gateway = theirs;
    const began = performance.now();
    await mine.stop();
    // It waits until they have gone, but not longer than a second.
    assert.deepEqual(performance.now() - began < 1000 ? pids.filter(isAlive) : [], []);
    await within(stream.ended, 'the end of the log');
    await until(() => !pids.some(isAlive), 'the end of its servers');
});

test('a confined server has a folder of its own, below the data directory', async () => {
    const mine = await startGateway({ tokens, servers: { tight: { topic: 'r1', command: [echoProgram], as: 'echo', read: [path.dirname(echoProgram)] } } });
    const theirs = gateway;

    gateway = mine;
    const client = await joinWith('r1');
    assert.equal(textOf(await callTool(client, 'echo', 'echo', { text: 'inside' })), 'inside');
    assert.ok(fs.statSync(path.join(mine.data, 'servers', 'tight')).isDirectory());
    gateway = theirs;
    await mine.stop();
});

test('what a server changes is held until an administrator approves it', async () => {
    const client = await joinWith('r1');
    const tools = async () => (await ask('GET /admin/servers/echo-r1/tools')).json;
    const held = async () => (await ask('GET /admin/servers/echo-r1')).json.server.held;

    await callTool(client, 'echo', 'echo', { text: 'before' });
    await until(async () => (await tools()).trusted);
    await callTool(client, 'echo', 'change');
    await until(held);
    assert.match((await callTool(client, 'echo', 'echo', { text: 'held' })).error.message, /held/);
    for (const [body, status] of [[{ name: 'nothing' }, 404], [{ type: 'tool' }, 400], [{ name: 'echo', type: 'hat' }, 400], [{}, 400], ['x', 400]])
        assert.equal((await ask('POST /admin/servers/echo-r1/pins', body)).status, status, JSON.stringify(body));
    assert.match((await callTool(client, 'echo', 'echo', { text: 'held' })).error.message, /held/);
    const seen = async () => (await tools()).tools.find(({ key }) => key === 'echo').digest;
    const shown = await seen(), before = (await tools()).digest;
    assert.match(shown, /^[0-9a-f]{64}$/);
    await callTool(client, 'echo', 'change');
    await until(async () => await seen() !== shown);
    const late = await ask('POST /admin/servers/echo-r1/pins', { name: 'echo', digest: shown });
    assert.deepEqual([late.status, late.json.error], [409, 'conflict'], 'it is not what was looked at');
    assert.equal((await ask('POST /admin/servers/echo-r1/pins', { all: true, digest: before })).status, 409);
    assert.match((await callTool(client, 'echo', 'echo', { text: 'held' })).error.message, /held/);
    assert.equal((await ask('POST /admin/servers/echo-r1/pins', { name: 'echo', digest: await seen() })).status, 200);
    assert.equal(textOf(await callTool(client, 'echo', 'echo', { text: 'approved' })), 'approved');
    await callTool(client, 'echo', 'change');
    await until(held);
    assert.equal((await ask('POST /admin/servers/echo-r1/pins', { all: true, digest: (await tools()).digest })).status, 200);
    assert.equal((await ask('POST /admin/servers/echo-r1/pins', { all: true })).status, 200);
    assert.equal(textOf(await callTool(client, 'echo', 'echo', { text: 'again' })), 'again');
});
