// SPDX-License-Identifier: Apache-2.0
// /metrics, /healthz and /readyz.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, test } from 'node:test';

import { connect } from './raw.mjs';
import { envelope, expect, people, person, startGateway } from './gateway.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({ tokens: [...people('alice', 'bob'), person('eve', { capabilities: ['chat'] })] });
});
after(() => gateway.stop());

// Prometheus text, read strictly: name with labels → value.
async function metrics() {
    const { status, headers, text } = await gateway.request('GET /metrics');
    const found = {};
    const lines = text.split('\n');

    assert.equal(status, 200);
    assert.match(headers['content-type'], /^text\/plain; version=0\.0\.4/);
    assert.equal(lines.pop(), '', 'the last line ends');
    while (lines.length) {
        const [, helped] = /^# HELP ([a-zA-Z_:][\w:]*) \S.*$/.exec(lines.shift());
        const [, typed, type] = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge)$/.exec(lines.shift());
        assert.equal(helped, typed);
        assert.equal(typed.endsWith('_total'), type === 'counter', `${typed} is a ${type}`);
        while (lines.length && !lines[0].startsWith('#')) {
            const [, sample, name, value] = /^(([a-zA-Z_:][\w:]*)(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})?) (\d+)$/.exec(lines.shift());
            assert.equal(name, typed);
            assert.ok(!(sample in found), `${sample} comes twice`);
            found[sample] = Number(value);
        }
    }
    return found;
}

test('metrics: the text parses, and what happens moves the counters', async () => {
    const before = await metrics();
    const alice = await gateway.join('alice');
    const eve = await gateway.join('eve', { topic: 'other' });
    const sent = alice.chat('counted');
    await expect(alice, ({ id }) => id === sent.id);
    eve.send(envelope('eve', 'mcp/request:tools/list'));
    await expect(eve, ({ kind }) => kind === 'system/error');
    assert.equal((await gateway.request('GET /topics', { token: 'wrong' })).status, 401);
    const after = await metrics();
    const moved = Object.fromEntries(Object.keys(after).map((name) => [name.replace(/^moot_/, ''), after[name] - before[name]]));

    for (const [name, by] of Object.entries({ envelopes_received_total: 2, envelopes_admitted_total: 1, envelopes_refused_total: 1,
        'violations_total{error="capability_violation"}': 1,
        'violations_total{error="from_mismatch"}': 0, websockets_opened_total: 2, members: 2, topics: 2, logins_failed_total: 1 }))
        assert.equal(moved[name], by, `${name} moved by ${moved[name]}; all: ${JSON.stringify(moved)}`);
    await Promise.all([alice.close(), eve.close()]);
    assert.equal((await metrics()).moot_members, before.moot_members);
});

test('health: /healthz and /readyz answer anyone, GET and HEAD', async () => {
    for (const [path, text] of [['/healthz', 'ok\n'], ['/readyz', 'ready\n']]) {
        const get = await gateway.request(`GET ${path}`);
        const head = await gateway.request(`HEAD ${path}`);
        assert.deepEqual([get.status, get.text], [200, text]);
        assert.deepEqual([head.status, head.text, head.headers['content-length']], [200, '', String(text.length)]);
        assert.equal((await gateway.request(`POST ${path}`)).status, 405);
    }
});

test('ready: 503 while draining, and nobody new is let in', async () => {
    const draining = await startGateway({ tokens: people('alice') });
    const alice = await draining.join('alice');
    const peer = await connect(draining.port);

    alice.socket._socket.pause(); // keeps it from being over at once
    peer.send('GET /readyz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nx');
    assert.equal((await draining.request('GET /readyz')).status, 200);
    draining.signal('SIGTERM');
    await draining.logged(/event=server\.drain/);
    peer.send('x');
    assert.match((await peer.end()).toString(), /^HTTP\/1\.1 503 [^]*\r\nConnection: close\r\n[^]*"status":503/);
    const late = net.connect(draining.port, '127.0.0.1');
    const [error] = await once(late, 'error');
    assert.match(error.code, /^ECONN(REFUSED|RESET)$/); // reset, if it was in the backlog
    alice.socket._socket.resume();
    assert.equal((await alice.closed()).code, 1001);
    await draining.stop();
});
