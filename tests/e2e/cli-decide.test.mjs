// SPDX-License-Identifier: Apache-2.0
// moot proposals, approve, reject, withdraw: deciding on what others proposed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';
import { moot, serveTools, startMoot } from './moot.mjs';

let gateway, bot;

before(async () => {
    gateway = await startGateway({ tokens: [
        person('calc'), person('human', { profile: 'human' }), person('bot', { profile: 'proposer' }), person('watcher', { capabilities: ['chat'] }),
    ] });
    serveTools(await gateway.join('calc'), { add: ({ a, b }) => `${a + b}`, fail: () => ({ isError: true, content: [] }), silent: () => undefined });
    bot = await gateway.join('bot');
});
after(async () => { await gateway.stop(); });

function propose({ tool = 'add', args = { a: 1, b: 2 }, to = ['calc'], reason, method = 'tools/call', ...more } = {}) {
    return bot.send(envelope('bot', `mcp/proposal:${method}:${tool}`, {
        ...(to ? { to } : {}), payload: { method, params: { name: tool, arguments: args }, ...(reason ? { reason } : {}) }, ...more }));
}

// A proposal that the room has heard.
async function proposed(about) {
    const { id } = propose(about);

    await expect(bot, (json) => json.id === id);
    return id;
}

const as = (who, ...args) => moot(gateway, who, args);
const kinds = (correlation) => bot.frames.filter(({ json }) => json.correlation_id === correlation).map(({ json }) => json.kind);

test('proposals: what is open, with all its arguments', async () => {
    const long = 'x'.repeat(5000);
    const first = await proposed({ reason: 'because\u001b[2J' });
    const second = await proposed({ args: { long, odd: '\u202e' }, to: null });
    const { status, stdout, stderr } = await as('human', 'proposals', 'room');

    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, new RegExp(`^${first}\n {2}bot -> calc {2}add {"a":1,"b":2}: because\\\\u001b\\[2J\n {2}expires in \\d+m \\d+s\n`));
    assert.ok(stdout.includes(`${second}\n  bot  add {"long":"${long}","odd":"\\u202e"}\n`), 'nothing is cut');
    const lines = (await as('human', 'proposals', 'room', '--json')).stdout.trim().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(lines.map(({ id, proposer, to, method, name, params, mine }) => [id, proposer, to, method, name, params.arguments.a, mine]),
        [[first, 'bot', ['calc'], 'tools/call', 'add', 1, false], [second, 'bot', [], 'tools/call', 'add', undefined, false]]);
    assert.equal(JSON.parse((await as('bot', 'proposals', 'room', '--json')).stdout.split('\n')[0]).mine, true);
    for (const id of [first, second])
        assert.equal((await as('human', 'reject', 'room', id)).status, 0);
    assert.deepEqual(await as('human', 'proposals', 'room'), { status: 0, stdout: '', stderr: '' });
});

test('approve: makes the call, and both get the result', async () => {
    const id = await proposed();

    assert.deepEqual(await as('human', 'approve', 'room', id), { status: 0, stdout: '3\n', stderr: '' });
    const request = await expect(bot, (json) => json.correlation_id === id);
    assert.deepEqual([request.kind, request.from, request.to, request.edited, request.payload.params.arguments],
        ['mcp/request:tools/call:add', 'human', ['calc'], undefined, { a: 1, b: 2 }]);
    assert.equal((await expect(bot, (json) => json.correlation_id === request.id)).payload.result.content[0].text, '3');
});

test('approve --edit-args: with other arguments, and says so', async () => {
    const id = await proposed();

    assert.equal((await as('human', 'approve', 'room', id, '--edit-args', '{"a":5,"b":6}')).stdout, '11\n');
    const request = await expect(bot, (json) => json.correlation_id === id);
    assert.deepEqual([request.edited, request.payload.params], [true, { name: 'add', arguments: { a: 5, b: 6 } }]);
    assert.equal(bot.latest.text.split('"arguments"').length, 2, 'the old ones are gone');
});

test('approve: a proposal to nobody needs --to', async () => {
    const id = await proposed({ to: null });
    const { status, stderr } = await as('human', 'approve', 'room', id);

    assert.equal(status, 2);
    assert.match(stderr, /does not say who is to be asked: --to/);
    assert.equal((await as('human', 'approve', 'room', id, '--to', 'calc', '--json')).stdout, '{"content":[{"type":"text","text":"3"}]}\n');
});

test('approve: the tool may fail nevertheless', async () => {
    const { status, stdout } = await as('human', 'approve', 'room', await proposed({ tool: 'fail' }));

    assert.deepEqual([status, stdout], [3, '']);
});

test('approve: interrupted, it says that the call is made', async () => {
    const id = await proposed({ tool: 'silent' });
    const command = startMoot(gateway, 'human', ['approve', 'room', id]);

    await expect(bot, (json) => json.correlation_id === id);
    command.child.kill('SIGINT');
    assert.deepEqual(await command.ended(), { status: 'SIGINT', stdout: '', stderr: 'moot: the call is made; what comes of it is not waited for\n' });
});

test('approve: where nobody of the name is here, the proposal stays', async () => {
    for (const [about, more] of [[{ to: ['guest'] }, []], [{ to: null }, ['--to', 'guest']]]) {
        const id = await proposed(about);
        const { status, stdout, stderr } = await as('human', 'approve', 'room', id, ...more);

        assert.deepEqual([status, stdout, stderr], [1, '', 'moot: guest is not in room; `moot who` says who is\n']);
        assert.deepEqual(kinds(id), []);
        assert.equal((await as('human', 'reject', 'room', id)).status, 0);
    }
});

test('approve: what is too long for the welcome is not approved unseen', async () => {
    const id = await proposed({ args: { long: 'x'.repeat(100_000) } });
    const { status, stdout, stderr } = await as('human', 'approve', 'room', id);

    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /its arguments are too long .*; who is in the topic when it is proposed can approve it/);
    assert.equal((await as('human', 'reject', 'room', id)).status, 0);
});

test('approve --vote: says only that one is for it', async () => {
    const id = await proposed();

    assert.deepEqual(await as('human', 'approve', 'room', id, '--vote'), { status: 0, stdout: `approved ${id}\n`, stderr: '' });
    await expect(bot, (json) => json.correlation_id === id && json.kind === 'system/proposal');
    assert.deepEqual(kinds(id), ['mcp/approve', 'system/proposal']);
});

test('reject: with a reason of several words', async () => {
    const id = await proposed();

    assert.deepEqual(await as('human', 'reject', 'room', id, 'far', 'too dangerous'), { status: 0, stdout: `rejected ${id}\n`, stderr: '' });
    const { kind, payload } = await expect(bot, (json) => json.correlation_id === id);
    assert.deepEqual([kind, payload], ['mcp/reject', { reason: 'far too dangerous' }]);
});

test('withdraw: one\'s own, from another connection', async () => {
    const id = await proposed();

    assert.deepEqual(await as('bot', 'withdraw', 'room', id), { status: 0, stdout: `withdrawn ${id}\n`, stderr: '' });
    assert.equal((await expect(bot, (json) => json.correlation_id === id)).kind, 'mcp/withdraw');
});

test('what cannot be decided is left alone', async () => {
    const id = await proposed();
    const cases = [
        ['human', ['approve', 'room', 'nosuch\x1b'], 1, /there is no open proposal "nosuch\\u001b" in room/],
        ['human', ['approve', 'room', id.slice(0, -1)], 1, /there is no open proposal/],
        ['bot', ['approve', 'room', id], 4, /it is your own/],
        ['bot', ['reject', 'room', id], 4, /./],
        ['human', ['withdraw', 'room', id], 4, /it is not yours/],
        ['watcher', ['approve', 'room', id], 4, /capabilities do not allow/],
        ['watcher', ['reject', 'room', id], 4, /capabilities do not allow/],
        ['human', ['approve', 'room', id, '--edit-args', '[]'], 2, /--edit-args takes a JSON object/],
        ['human', ['approve', 'room', id, '--to', 'bot'], 2, /the proposal itself says/],
        ['human', ['approve', 'room', id, '--vote', '--to', 'calc'], 2, /--only-approve calls nothing/],
        ['human', ['approve', 'room'], 2, /something is missing/],
        ['human', ['withdraw', 'room', id, 'x'], 2, /one word too many/],
    ];

    for (const [who, args, code, message] of cases) {
        const { status, stdout, stderr } = await as(who, ...args);
        assert.deepEqual([status, stdout], [code, ''], `${args}: ${stderr}`);
        assert.match(stderr, message);
    }
    assert.deepEqual(kinds(id), []);
    assert.equal((await as('human', 'reject', 'room', id)).status, 0);
});

test('approve: a proposal that was decided meanwhile is refused', async () => {
    const id = await proposed();

    assert.equal((await as('human', 'approve', 'room', id)).status, 0);
    assert.equal((await as('human', 'approve', 'room', id)).status, 1);
});

test('approve: a second one at the same moment is refused, exit 4', async () => {
    const id = await proposed();
    const both = await Promise.all([1, 2].map(() => startMoot(gateway, 'human', ['approve', 'room', id]).ended()));
    const codes = both.map(({ status }) => status).sort();

    assert.equal(codes[0], 0);
    assert.ok([1, 4].includes(codes[1]), JSON.stringify(both));
    await expect(bot, (json) => json.correlation_id === id && json.kind === 'system/proposal');
    assert.deepEqual(kinds(id), ['mcp/request:tools/call:add', 'system/proposal'], 'it was called once');
});
