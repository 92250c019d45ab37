// SPDX-License-Identifier: Apache-2.0
// Calls that their owner wants authorized, from the command line: moot proposals, approve, reject,
// authorizations. None of these was in the room when it was announced.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { expect, person, startGateway } from './gateway.mjs';
import { moot, startMoot } from './moot.mjs';
import { serveAuthorized } from './owner.mjs';

let gateway, owner, watcher;
const deployed = [];

before(async () => {
    gateway = await startGateway({ tokens: [
        person('ops', { profile: 'bridge' }), person('second', { profile: 'bridge' }), person('ann', { profile: 'human' }), person('bob', { profile: 'human' }),
        person('bot', { capabilities: ['mcp/request:tools/*', 'mcp/response:*', 'chat'] }),
        person('guest', { capabilities: ['chat'] }), person('watcher'),
    ] });
    owner = serveAuthorized(await gateway.join('ops'), { deploy: (args) => { deployed.push(args); return `deployed ${args.to}`; } });
    watcher = await gateway.join('watcher');
});
after(() => gateway.stop());

const as = (who, ...args) => moot(gateway, who, args);
const call = (to, who = 'bot') => startMoot(gateway, who, ['call', 'room', 'ops', 'deploy', '--arg', `to=${to}`, '--timeout', '1m']);

async function asked(to, who) {
    const caller = call(to, who);

    return [caller, await owner.announced()];
}

test('approve: the server is told, and the caller has its result', async () => {
    const [caller, { id, announcement }] = await asked('one');
    const listed = await as('ann', 'proposals', 'room');

    assert.deepEqual([listed.status, listed.stderr], [0, '']);
    assert.match(listed.stdout, new RegExp(`^ops/${id}\n {2}bot -> ops {2}deploy {"to":"one"}: it is production \\(asked by ops\\)\n {2}expires in \\d+s\n$`));
    const [line] = (await as('ann', 'proposals', 'room', '--json')).stdout.split('\n').map((text) => text && JSON.parse(text));
    assert.deepEqual([line.id, line.owner, line.proposer, line.params.arguments, line.mine], [`ops/${id}`, 'ops', 'bot', { to: 'one' }, false]);
    assert.deepEqual(await as('ann', 'approve', 'room', id, '--reason', 'go ahead'), { status: 0, stdout: `approved ${id}\n`, stderr: '' });
    assert.deepEqual(await caller.ended(), { status: 0, stdout: 'deployed one\n', stderr: '' });
    const { from, to, kind, payload } = await expect(watcher, (json) => json.kind.includes('authorization/respond'));
    assert.deepEqual([from, to, kind, payload], ['ann', ['ops'], 'mcp/request:authorization/respond',
        { jsonrpc: '2.0', method: 'authorization/respond', params: { authorizationId: id, decision: 'approve', reason: 'go ahead' } }]);
    assert.ok(announcement);
    assert.equal((await as('ann', 'proposals', 'room')).stdout, '');
});

test('reject: the caller is told who said no, and why', async () => {
    const [caller, { id }] = await asked('two');

    assert.deepEqual(await as('ann', 'reject', 'room', id, 'not on', 'a Friday'), { status: 0, stdout: `denied ${id}\n`, stderr: '' });
    assert.deepEqual(await caller.ended(), { status: 4, stdout: '', stderr: 'moot: ann: not on a Friday (denied)\n' });
});

test('approve --valid: the same call is not asked about again, until that is revoked', async () => {
    const [first, { id }] = await asked('three');

    assert.deepEqual(await as('ann', 'approve', 'room', id, '--valid', '1h', '--reason', 'for tonight'),
        { status: 0, stdout: `approved ${id}, and the same call for 1h\n`, stderr: '' });
    assert.equal((await first.ended()).stdout, 'deployed three\n');
    const { decision, validUntil } = owner.heard.at(-1);
    assert.equal(decision, 'approve');
    assert.ok(Math.abs(Date.parse(validUntil) - Date.now() - 3600_000) < 60_000, validUntil);
    assert.equal((await call('three').ended()).stdout, 'deployed three\n');

    const { status, stdout, stderr } = await as('ann', 'authorizations', 'room', 'ops');
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, new RegExp(`^${id}\n {2}bot -> ops {2}deploy {"to":"three"}: for tonight\n {2}approved by ann, for another 59m \\d+s, used once\n$`));
    const line = JSON.parse((await as('ann', 'authorizations', 'room', '--json')).stdout);
    assert.deepEqual([line.owner, line.pending, line.authorizationId, line.uses], ['ops', false, id, 1]);

    assert.deepEqual(await as('ann', 'authorizations', 'room', 'ops', '--revoke', id), { status: 0, stdout: `revoked ${id}\n`, stderr: '' });
    assert.deepEqual(await as('ann', 'authorizations', 'room', 'ops', '--revoke', id),
        { status: 3, stdout: '', stderr: 'moot: ops: there is no such authorization (-32602)\n' });
    const [again, second] = await asked('three');
    await as('ann', 'reject', 'room', second.id);
    assert.equal((await again.ended()).status, 4);
});

test('reject --valid: a no holds for a while, too', async () => {
    const [caller, { id }] = await asked('never');

    assert.equal((await as('bob', 'reject', 'room', id, 'never', '--valid', '5m')).stdout, `denied ${id}, and the same call for 5m\n`);
    assert.equal((await caller.ended()).status, 4);
    assert.equal((await call('never').ended()).stderr, 'moot: bob: never (denied)\n');
    assert.match((await as('ann', 'authorizations', 'room')).stdout, /denied by bob, for another 4m \d+s, used once\n/);
    assert.equal((await as('ann', 'authorizations', 'room', 'ops', '--revoke', id)).status, 0);
});

test('approve --delegate: somebody else decides, and nobody but him', async () => {
    const [caller, { id }] = await asked('four');

    assert.deepEqual(await as('ann', 'approve', 'room', id, '--delegate', 'nobody'),
        { status: 1, stdout: '', stderr: 'moot: nobody is not in room; `moot who` says who is\n' });
    const bob = await gateway.join('bob');
    assert.deepEqual(await as('ann', 'approve', 'room', id, '--delegate', 'bob', '--reason', 'you know it'),
        { status: 0, stdout: `left ${id} to bob\n`, stderr: '' });
    await owner.announced();
    assert.deepEqual(owner.heard.at(-1), { from: 'ann', correlation_id: undefined, authorizationId: id, decision: 'delegate', delegate: 'bob', reason: 'you know it' });
    await expect(bob, (json) => json.kind.includes('authorization/request') && json.to?.[0] === 'bob');
    assert.match((await as('ann', 'proposals', 'room')).stdout, /\n {2}asked of bob; expires in \d+s\n/);
    assert.deepEqual(await as('ann', 'approve', 'room', id), { status: 4, stdout: '', stderr: 'moot: bob is asked to decide; nobody else\'s answer counts\n' });
    assert.equal((await as('ann', 'reject', 'room', id)).status, 4);
    assert.equal((await as('bob', 'approve', 'room', id)).status, 0);
    assert.equal((await caller.ended()).stdout, 'deployed four\n');
    bob.socket.terminate();
});

test('what cannot be decided so is left alone', async () => {
    const [caller, { id }] = await asked('five', 'watcher');
    const ids = owner.heard.length;
    const cases = [
        ['watcher', ['approve', 'room', id], 4, /it is your own; somebody else decides/],
        ['watcher', ['reject', 'room', id], 4, /it is your own/],
        ['guest', ['approve', 'room', id], 1, /there is no open proposal/],
        ['guest', ['authorizations', 'room'], 4, /you may not ask for authorizations here \(mcp\/request:authorization\/list\)/],
        ['ann', ['withdraw', 'room', id], 1, /there is no open proposal/],
        ['ann', ['approve', 'room', 'auth-0'], 1, /there is no open proposal "auth-0"/],
        ['ann', ['approve', 'room', id, '--edit-args', '{}'], 2, /a call that is to be authorized cannot be edited/],
        ['ann', ['approve', 'room', id, '--valid', '0'], 2, /--valid takes a time up to a day/],
        ['ann', ['approve', 'room', id, '--valid', '25h'], 2, /--valid takes a time up to a day/],
        ['ann', ['approve', 'room', id, '--valid', '1h', '--delegate', 'bot'], 2, /--delegate decides nothing/],
        ['ann', ['authorizations', 'room', '--revoke', id], 2, /--revoke: whose\?/],
        ['ann', ['authorizations', 'room', 'nobody'], 1, /nobody is not in room/],
    ];

    for (const [who, args, code, message] of cases) {
        const { status, stdout, stderr } = await as(who, ...args);
        assert.deepEqual([status, stdout], [code, ''], `${args}: ${stderr}`);
        assert.match(stderr, message);
    }
    assert.equal(owner.heard.length, ids, 'nothing was said');
    assert.equal((await as('ann', 'approve', 'room', id)).status, 0);
    assert.equal((await caller.ended()).status, 0);
});

test('an id that two servers use is not guessed', async () => {
    const other = await gateway.join('second');
    const [caller, { id }] = await asked('six');

    other.socket.on('message', (text) => {
        const { id: request, from, to, kind, payload } = JSON.parse(text);
        if (to?.includes('second') && kind === 'mcp/request:authorization/list')
            other.send({ protocol: 'mcpx/v0.1', id: `l${Math.random()}`, from: 'second', to: [from], kind: 'mcp/response:authorization/list', correlation_id: request,
                payload: { jsonrpc: '2.0', id: payload.id, result: { pending: [{ authorizationId: id, tool: 'evil', requester: 'bot', arguments: {} }] } } });
    });
    const { status, stderr } = await as('ann', 'approve', 'room', id);
    assert.deepEqual([status, stderr], [2, `moot: "${id}" is what several call theirs; --to says whose\n`]);
    assert.equal((await as('ann', 'approve', 'room', id, '--to', 'ops')).status, 0);
    assert.equal((await caller.ended()).stdout, 'deployed six\n');
    other.socket.terminate();
});

test('arguments that were not listed are not approved unseen', async () => {
    const other = await gateway.join('second');

    other.socket.on('message', (text) => {
        const { id: request, from, to, kind, payload } = JSON.parse(text);
        if (to?.includes('second') && kind === 'mcp/request:authorization/list')
            other.send({ protocol: 'mcpx/v0.1', id: `m${Math.random()}`, from: 'second', to: [from], kind: 'mcp/response:authorization/list', correlation_id: request,
                payload: { jsonrpc: '2.0', id: payload.id, result: { pending: [{ authorizationId: 'big', tool: 'x', requester: 'bot', reason: '\u001b[2J' }, { authorizationId: 'bad\u001b', tool: 'x', requester: 'bot', arguments: {} }] } } });
    });
    const { stdout } = await as('ann', 'proposals', 'room');
    assert.match(stdout, /^second\/big\n {2}bot -> second {2}x \(its arguments are not known here\): \\u001b\[2J \(asked by second\)\n[^\n]+\n$/);
    const { status, stderr } = await as('ann', 'approve', 'room', 'big');
    assert.equal(status, 1);
    assert.match(stderr, /its arguments are too long to be listed, and nothing is approved unseen/);
    other.socket.terminate();
});
