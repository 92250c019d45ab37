// SPDX-License-Identifier: Apache-2.0
// /mcp/TOPIC: who is let in, with which statuses, and how sessions begin, go on and end.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import { after, before, test } from 'node:test';

import { changesIn, expect, people, person, startGateway, within } from './gateway.mjs';
import { LEGACY, MODERN, mcpAt, modern, request } from './mcp.mjs';
import { connect } from './raw.mjs';

const friend = 'https://friend.example';
const settings = {
    hosts: ['moot.example'],
    origins: [friend],
    limits: { kick_bar: '1h', body: '1MiB', envelope: '256KiB' },
    topics: { named: { closed: { access: 'restricted' } } },
    mcp: { anonymous: { id: 'guest', profile: 'full', topics: ['room'] } },
    tokens: [...people('alice', 'bob', 'watcher'), person('eve', { topics: ['elsewhere'] })],
};
let gateway;
let alice;

before(async () => {
    gateway = await startGateway(settings);
    alice = mcpAt(gateway, 'room', 'alice-token');
});
after(async () => { await gateway.stop(); });

const admin = () => ({ token: gateway.adminToken() });

// A token of its own, for tests that end it.
async function newcomer(id, more = {}) {
    const { json } = await gateway.request('POST /admin/tokens', { ...admin(), json: { id, profile: 'full', topics: ['*'], ...more } });
    return { name: json.about.name, token: json.token };
}

// room_wait is answered when something is said, or after a while: a call under way.
const waiting = (door, visit) => door.ask('tools/call', { name: 'room_wait', arguments: { seconds: 50 } }, { visit });

test('a session begins, answers, and ends', async () => {
    const visit = await alice.begin();
    const listed = await alice.ask('tools/list', undefined, { visit });

    assert.equal(listed.status, 200);
    assert.equal(listed.headers['content-type'], 'application/json');
    assert.ok(listed.answer.result.tools.some(({ name }) => name === 'room_who'));
    assert.equal((await alice.ask('ping', undefined, { visit })).status, 200);
    assert.equal((await alice.end(visit)).status, 204);
    assert.equal((await alice.ask('ping', undefined, { visit })).status, 404);
    assert.equal((await alice.end(visit)).status, 404);
});

test('the modern era needs no session', async () => {
    const { message, headers } = modern('server/discover');
    const answer = await alice.post(message, { headers });

    assert.equal(answer.status, 200);
    assert.ok(answer.json.result.supportedVersions.includes(MODERN));
    assert.equal(answer.headers['mcp-session-id'], undefined);
});

test('whatever does not belong here is refused with its own status', async () => {
    const visit = await alice.begin();
    const ping = JSON.stringify(request('ping'));
    const raw = (line, headers, body) => gateway.request(line, { token: 'alice-token', headers, body });
    const json = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': visit };
    const cases = [
        ['POST /mcp/room', { ...json, 'Content-Type': 'text/plain' }, ping, 415],
        ['POST /mcp/room', { ...json, Accept: 'text/html' }, ping, 406],
        ['POST /mcp/room', json, '{', 400],
        ['POST /mcp/room', { ...json, 'Mcp-Session-Id': `${visit}x` }, ping, 404],
        ['POST /mcp/room', { ...json, 'Mcp-Session-Id': 'x' }, ping, 404],
        ['POST /mcp/other', json, ping, 404],
        ['POST /mcp/room', { ...json, 'MCP-Protocol-Version': '1999-01-01' }, ping, 400],
        ['POST /mcp/room', { ...json, 'Mcp-Session-Id': [visit, visit] }, ping, 400],
        ['POST /mcp/room', { ...json, 'Mcp-Param-A': ['1', '2'] }, ping, 400],
        ['POST /mcp/room', json, ' '.repeat(2 << 20), 413],
        ['POST /mcp/.x', json, ping, 400],
        ['POST /mcp', json, ping, 404],
        ['GET /mcp/room', { Accept: 'text/event-stream' }, undefined, 400],
        ['GET /mcp/room', { Accept: 'application/json', 'Mcp-Session-Id': visit }, undefined, 406],
        ['HEAD /mcp/room', { 'Mcp-Session-Id': visit }, undefined, 405],
        ['PUT /mcp/room', json, ping, 405],
        ['DELETE /mcp/room', {}, undefined, 400],
        ['DELETE /mcp/room', { 'Mcp-Session-Id': 'x' }, undefined, 404],
    ];

    for (const [line, headers, body, status] of cases) {
        const answer = await raw(line, headers, body);
        assert.equal(answer.status, status, `${line} ${JSON.stringify(headers)} ${answer.text}`);
    }
    assert.match((await raw('PUT /mcp/room', json, ping)).headers.allow, /POST/);
    assert.equal((await alice.ask('ping', undefined, { visit })).status, 200);
});

test('two lines of Accept are one list', async () => {
    const { status } = await alice.post(request('initialize', { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'x', version: '1' } }),
        { headers: { Accept: ['application/json', 'text/event-stream'] } });
    assert.equal(status, 200);
});

test('who has no token, a wrong one, or no business in the topic is told so before anything is read', async () => {
    const nobody = await mcpAt(gateway, 'elsewhere', null).ask('ping');
    assert.equal(nobody.status, 401);
    assert.match(nobody.headers['www-authenticate'], /^Bearer/);
    assert.equal((await mcpAt(gateway, 'room', 'wrong').ask('ping')).status, 401);
    assert.equal((await mcpAt(gateway, 'room', 'eve-token').ask('ping')).status, 403);
    assert.equal((await mcpAt(gateway, 'closed', 'alice-token').ask('ping')).status, 403);
});

test('without a token only programs of this machine get in, and only where it is said', async () => {
    const guest = mcpAt(gateway, 'room', null);
    const opening = request('initialize', { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'x', version: '1' } });
    const cases = [
        [{}, 200],
        [{ Host: 'localhost' }, 200],
        [{ Origin: `http://127.0.0.1:${gateway.port}`, Host: `127.0.0.1:${gateway.port}` }, 200],
        [{ Host: 'moot.example' }, 401],
        [{ Origin: friend }, 401],
        [{ 'Sec-Fetch-Site': 'cross-site' }, 401],
        [{ 'X-Forwarded-For': '127.0.0.1' }, 401],
        [{ 'x-forwarded-proto': 'https' }, 401],
        [{ Forwarded: 'for=127.0.0.1' }, 401],
        [{ Via: '1.1 proxy' }, 401],
        [{ 'X-Real-IP': '127.0.0.1' }, 401],
        [{ Authorization: 'Bearer wrong' }, 401],
        [{ Origin: 'https://evil.example' }, 403],
        [{ Host: 'evil.example' }, 421],
    ];

    for (const [headers, status] of cases)
        assert.equal((await guest.post(opening, { headers })).status, status, JSON.stringify(headers));
    assert.equal((await gateway.request('GET /topics')).status, 401); // by MCP alone
    assert.equal((await gateway.request('POST /topics/room/messages', { json: {} })).status, 401);
});

test('what a proxy forwards as HTTP/1.0 is nobody of this machine', async () => {
    const body = JSON.stringify(request('initialize', { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'x', version: '1' } }));
    const statusAs = async (version) => {
        const peer = await connect(gateway.port);
        peer.send(`POST /mcp/room HTTP/${version}\r\nHost: 127.0.0.1:${gateway.port}\r\nConnection: close\r\nContent-Type: application/json\r\n`
            + `Accept: application/json, text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
        const status = (await peer.read(12)).toString().slice(-3);
        peer.socket.destroy();
        return status;
    };

    assert.equal(await statusAs('1.1'), '200');
    assert.equal(await statusAs('1.0'), '401');
});

test('by another address of this machine nobody is anonymous', async (t) => {
    const address = Object.values(os.networkInterfaces()).flat().find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

    if (!address) {
        t.skip('this machine has no other address');
        return;
    }
    const open = await startGateway({ ...settings, hosts: [address] }, { args: ['--listen', '0.0.0.0:0'] });
    const ping = async (host) => {
        open.host = host;
        return (await mcpAt(open, 'room', null).ask('ping')).status;
    };
    assert.equal(await ping('127.0.0.1'), 400); // it is let in, and has no session
    assert.equal(await ping(address), 401);
    await open.stop();
});

test('a session is of one identity and one topic', async () => {
    const visit = await alice.begin();

    assert.equal((await mcpAt(gateway, 'room', 'bob-token').ask('ping', undefined, { visit })).status, 404);
    assert.equal((await mcpAt(gateway, 'room', null).ask('ping', undefined, { visit })).status, 404);
    assert.equal((await mcpAt(gateway, 'other', 'alice-token').ask('ping', undefined, { visit })).status, 404);
    assert.equal((await alice.ask('ping', undefined, { visit })).status, 200);
});

test('it is a member like any other, and so is who asks what is offered', async () => {
    const watcher = await gateway.join('watcher', { topic: 'seen' });
    const door = mcpAt(gateway, 'seen', 'bob-token');
    const visit = await door.begin();

    await door.ask('tools/list', undefined, { visit });
    const come = new Set();
    while (!come.has('mcp') || !come.has('bob'))
        for (const { event, id } of changesIn(await watcher.next()))
            if (event === 'join')
                come.add(id);
    const { json } = await gateway.request('GET /admin/members?topic=seen', admin());
    const bob = json.members.find(({ participantId }) => participantId === 'bob');
    assert.match(bob.connectionId, /^mcp-/);
    assert.equal(bob.server, undefined);
    await watcher.close();
});

test('one common stream of a session at a time', async () => {
    const visit = await alice.begin();
    const stream = await alice.listen(visit);

    assert.equal(stream.status, 200);
    assert.match(stream.headers['content-type'], /^text\/event-stream/);
    assert.equal((await gateway.request('GET /mcp/room', { token: 'alice-token', headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': visit } })).status, 409);
    stream.close();
    // When the gateway has noticed, another one may be opened.
    for (;;) {
        const again = await alice.listen(visit);
        again.close();
        if (again.status === 200)
            break;
    }
});

test('a token that is revoked ends its streams, its calls and its sessions', async () => {
    const { name, token } = await newcomer('carol');
    const door = mcpAt(gateway, 'room', token);
    const visit = await door.begin();
    const stream = await door.listen(visit);
    const call = waiting(door, visit);

    await within(called('carol'), 'the call');
    assert.equal((await gateway.request(`DELETE /admin/tokens/${name}`, admin())).status, 200);
    await within(stream.ended, 'the end of the stream');
    const { answer } = await within(call, 'the end of the call');
    assert.ok(answer === undefined || answer.error || answer.result.isError);
    assert.equal((await door.ask('ping', undefined, { visit })).status, 401);
});

// Somebody is a member: then a call of his has got so far.
async function called(id) {
    for (;;) {
        const { json } = await gateway.request('GET /admin/members?topic=room', admin());
        if (json.members.some(({ participantId }) => participantId === id))
            return;
    }
}

test('a token that expires ends them as well', async () => {
    const { token } = await newcomer('erin', { expires_at: new Date(Date.now() + 6000).toISOString() });
    const door = mcpAt(gateway, 'room', token);
    const stream = await door.listen(await door.begin());

    await within(stream.ended, 'the end of the stream');
    assert.equal((await door.ask('ping')).status, 401);
});

test('who is kicked is out: streams, calls and sessions', async () => {
    const { token } = await newcomer('dave');
    const door = mcpAt(gateway, 'room', token);
    const visit = await door.begin();
    const stream = await door.listen(visit);
    const call = waiting(door, visit);

    await within(called('dave'), 'the call');
    assert.equal((await gateway.request('POST /admin/members/dave/kick?topic=room', admin())).status, 200);
    await within(stream.ended, 'the end of the stream');
    await within(call, 'the end of the call');
    assert.equal((await door.ask('ping', undefined, { visit })).status, 403);
});

test('topics live on several workers, and one connection may ask for all of them', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const topics = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const visits = [];

    for (const topic of topics)
        visits.push(await mcpAt(gateway, topic, 'alice-token').begin(LEGACY, { agent }));
    for (const [i, topic] of topics.entries())
        assert.equal((await mcpAt(gateway, topic, 'alice-token').ask('ping', undefined, { visit: visits[i], agent })).status, 200);
    agent.destroy();
});

test('pages of allowed origins may send what MCP needs, and read the session id', async () => {
    const asked = 'authorization,mcp-param-region,mcp-param-bad;x,x-other';
    const { headers } = await gateway.request('OPTIONS /mcp/room', { headers: { Origin: friend, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': asked } });
    const allowed = headers['access-control-allow-headers'].split(/, */);

    for (const name of ['authorization', 'content-type', 'mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'last-event-id', 'mcp-param-region'])
        assert.ok(allowed.includes(name), name);
    assert.ok(!allowed.includes('x-other') && !allowed.some((name) => name.includes(';')));
    assert.match(headers['access-control-allow-methods'], /DELETE/);
    const answer = await alice.post(request('ping'), { headers: { Origin: friend } });
    assert.equal(answer.headers['access-control-expose-headers'], 'Mcp-Session-Id');
    const elsewhere = await gateway.request('OPTIONS /topics/room/messages', { headers: { Origin: friend } });
    assert.doesNotMatch(elsewhere.headers['access-control-allow-headers'], /mcp/);
});

test('what there is of it is counted', async () => {
    const visit = await alice.begin();
    const { text } = await gateway.request('GET /metrics');
    const value = (name) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)[1]);

    assert.ok(value('moot_mcp_sessions') >= 1);
    assert.ok(value('moot_mcp_clients') >= 1);
    assert.ok(value('moot_mcp_topics') >= 1);
    assert.ok(value('moot_mcp_requests_total') >= 1);
    await alice.end(visit);
});

test('a reload takes effect at once, and sessions go on', async () => {
    const other = await startGateway(settings);
    const door = mcpAt(other, 'room', 'alice-token');
    const guest = mcpAt(other, 'room', null);
    const visit = await door.begin();
    const stream = await guest.listen(await guest.begin());
    const reload = async (next) => {
        fs.writeFileSync(other.config, JSON.stringify(next));
        assert.equal((await other.request('POST /admin/reload', { token: other.adminToken() })).status, 200);
    };

    await reload({ ...settings, mcp: { room_tools: 'off', topic: 'room' } });
    await within(stream.ended, 'the end of the anonymous stream');
    assert.equal((await guest.ask('ping')).status, 401);
    assert.deepEqual((await door.ask('tools/list', undefined, { visit })).answer.result.tools, []);
    assert.equal((await mcpAt(other, null, 'alice-token').ask('ping', undefined, { visit })).status, 200);
    await reload({ ...settings, mcp: { open: false } });
    assert.equal((await door.ask('ping', undefined, { visit })).status, 404);
    assert.equal((await other.request('OPTIONS /mcp/room')).status, 404);
    await other.stop();
});

test('after a restart a session goes on under its id', async () => {
    const first = await startGateway(settings);
    const visit = await mcpAt(first, 'room', 'alice-token').begin();

    await first.kill();
    const second = await first.restart();
    assert.equal((await mcpAt(second, 'room', 'alice-token').ask('ping', undefined, { visit })).status, 200);
    assert.equal((await mcpAt(second, 'room', 'bob-token').ask('ping', undefined, { visit })).status, 404);
    await second.stop();
});

test('a gateway that stops ends streams, and does not wait for their clients', async () => {
    const other = await startGateway({ ...settings, limits: { drain_timeout: '10m' } });
    const door = mcpAt(other, 'room', 'alice-token');
    const stream = await door.listen(await door.begin());

    await Promise.all([other.stop(), within(stream.ended, 'the end of the stream')]);
});

test('who closes a modern request has cancelled it', async () => {
    const watcher = await gateway.join('watcher', { topic: 'left' });
    const { message, headers } = modern('tools/call', { name: 'room_wait', arguments: { seconds: 50 } });
    const req = http.request({
        host: gateway.host, port: gateway.port, method: 'POST', path: '/mcp/left', agent: false,
        headers: { ...headers, Authorization: 'Bearer bob-token', 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    });

    req.on('error', () => {});
    req.end(JSON.stringify(message));
    await expect(watcher, (json) => changesIn(json).some(({ event, id }) => event === 'join' && id === 'bob'));
    const strands = async () => Number(/^moot_mcp_streams (\d+)$/m.exec((await gateway.request('GET /metrics')).text)[1]);
    const open = await strands();
    req.destroy();
    while (await strands() >= open)
        ;
    await watcher.close();
});
