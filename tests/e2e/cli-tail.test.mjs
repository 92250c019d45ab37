// SPDX-License-Identifier: Apache-2.0
// moot tail: lines for people, envelopes for programs, filters, and how it ends.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { changesIn, envelope, expect, people, startGateway } from './gateway.mjs';
import { moot, startMoot } from './moot.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({ tokens: people('alice', 'bob', 'carol', 'eve'), topics: { open: true } });
});
after(async () => { await gateway.stop(); });

// A tail that has begun: somebody else hears of its join.
async function begin(witness, who, topic, args = []) {
    const command = startMoot(gateway, who, ['tail', topic, ...args]);

    await expect(witness, (json) => changesIn(json).some(({ event, id }) => event === 'join' && id === who));
    return command;
}

async function tail(topic, args = []) {
    const alice = await gateway.join('alice', { topic });

    return { alice, command: await begin(alice, 'bob', topic, args) };
}

const request = () => envelope('alice', 'mcp/request:tools/call:rm', {
    to: ['eve'], payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'rm', arguments: { path: '/x' } } },
});

test('tail: a line for each envelope, with who, to whom and what', async () => {
    const { alice, command } = await tail('lines');

    assert.match(await command.line(), /^\d\d:\d\d:\d\d you are bob in lines, with 1 other$/);
    alice.chat('hello\nworld');
    assert.match(await command.line(/alice {2}/), /^\d\d:\d\d:\d\d alice {2}hello\\nworld$/);
    const { id } = alice.send(request());
    assert.ok((await command.line(/calls/)).endsWith(`alice -> eve  calls rm {"path":"/x"}  [${id.length > 14 ? `${id.slice(0, 4)}..${id.slice(-8)}` : id}]`));
    const proposal = alice.send(envelope('alice', 'mcp/proposal:tools/call:rm', {
        payload: { method: 'tools/call', params: { name: 'rm', arguments: {} }, reason: 'old' } }));
    assert.ok((await command.line(/proposes/)).endsWith(`alice  proposes rm: old  [${proposal.id}]`), 'proposals show their whole id');
    await alice.close();
    assert.match(await command.line(), /^\d\d:\d\d:\d\d alice leaves$/);
    command.child.kill('SIGINT');
    assert.deepEqual(await command.ended().then(({ status, stderr }) => [status, stderr]), ['SIGINT', '']);
});

test('tail --json: every envelope as it came, one a line', async () => {
    const { alice, command } = await tail('json', ['--json', '--from', 'alice', '--count', '2']);
    const first = `{ "protocol":"mcpx/v0.1",\n "id":"j1" ,"from":"alice", "kind":"chat","payload":{"text":"\u009b\u202e\\u001b"}}`;

    alice.send(first);
    const second = alice.chat('two');
    const { status, stdout } = await command.ended();
    assert.equal(status, 0);
    assert.deepEqual(stdout.split('\n'), [first.replace('\n', ' '), JSON.stringify(second), '']);
});

test('tail: filters by kind, sender and thread', async () => {
    const { alice, command: byKind } = await tail('filters', ['--json', '--kind', 'mcp/*', '--kind', 'participant/status', '--count', '2']);
    const byThread = await begin(alice, 'carol', 'filters', ['--json', '--thread', 'p1', '--count', '4']);
    const eve = await gateway.join('eve', { topic: 'filters' });

    alice.chat('not this');
    const ids = ['p1', 'f1', 'r1'];
    const call = { method: 'tools/call', params: { name: 'rm' } };
    const heard = (client, id) => expect(client, (json) => json.id === id); // each waits for the one before
    alice.send(envelope('alice', 'mcp/proposal:tools/call:rm', { id: 'p1', payload: call }));
    await heard(eve, 'p1');
    eve.send(envelope('eve', 'mcp/request:tools/call:rm', { id: 'f1', to: ['alice'], correlation_id: 'p1', payload: call }));
    await heard(alice, 'f1');
    alice.chat('nor this', { correlation_id: 'x' });
    alice.send(envelope('alice', 'mcp/response:tools/call:rm', { id: 'r1', to: ['eve'], correlation_id: 'f1', payload: { result: {} } }));
    const seen = async (command) => (await command.ended()).stdout.trim().split('\n').map((line) => JSON.parse(line))
        .map(({ id, kind }) => (kind === 'system/proposal' ? kind : id));
    assert.deepEqual(await seen(byThread), ['p1', 'f1', 'system/proposal', 'r1'], 'the proposal, its fulfilment, what became of it and its answer are one thread');
    assert.deepEqual(await seen(byKind), ids.slice(0, 2));
});

test('tail --since: begins behind an envelope that was said before', async () => {
    const alice = await gateway.join('alice', { topic: 'since' });
    const bob = await gateway.join('bob', { topic: 'since' });
    const [first, second, third] = ['one', 'two', 'three'].map((text) => alice.chat(text));

    await bob.close();
    const { status, stdout } = await moot(gateway, 'bob', ['tail', 'since', '--since', first.id, '--kind', 'chat', '--json', '--count', '2']);
    assert.equal(status, 0);
    assert.deepEqual(stdout.trim().split('\n').map((line) => JSON.parse(line).id), [second.id, third.id]);
});

test('tail: a reader that has had enough ends it quietly, also where nothing is said', async () => {
    const { command } = await tail('pipe');

    await command.line(/bob joins/); // the last that is said
    command.child.stdout.destroy();
    const { status, stderr } = await command.ended();
    assert.deepEqual([status, stderr], [0, '']);
});

test('tail: what is spoofed or broken is not shown', async () => {
    const { alice, command } = await tail('spoofed', ['--count', '3']);

    alice.send(envelope('alice', 'mcp/request:tools/list', { payload: { method: 'tools/call' } }));
    alice.chat('after');
    const { stdout } = await command.ended();
    assert.doesNotMatch(stdout, /tools\/list/);
    assert.match(stdout, /after/);
});

test('tail: a connection that breaks is told, and it goes on', async () => {
    const { alice, command } = await tail('broken');

    await command.line();
    alice.chat('before');
    await command.line(/before/);
    await gateway.request('POST /admin/members/bob/kick?topic=broken', { token: gateway.adminToken() });
    await command.told(/^moot: the connection is lost \(.*\); trying again$/m);
    command.child.kill('SIGTERM');
    assert.equal((await command.ended()).status, 'SIGTERM');
});

for (const [name, args, message] of [
    ['a count of nothing', ['--count', '0'], /--count takes a number/],
    ['a pattern that is none', ['--kind', 'a b'], /--kind "a b"/],
    ['no topic', null, /something is missing; it needs "TOPIC \[OPTIONS\]"/],
])
    test(`tail: ${name} is a mistake of usage`, async () => {
        const { status, stdout, stderr } = await moot(gateway, 'bob', args ? ['tail', 'x', ...args] : ['tail']);

        assert.deepEqual([status, stdout], [2, '']);
        assert.match(stderr, message);
    });
