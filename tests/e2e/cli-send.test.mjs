// SPDX-License-Identifier: Apache-2.0
// moot send, moot chat: what arrives in the room, what is printed, what is refused.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { expect, people, person, startGateway } from './gateway.mjs';
import { moot, startMoot } from './moot.mjs';

let gateway, alice;

before(async () => {
    gateway = await startGateway({
        tokens: [person('alice'), person('bob', { capabilities: ['mcp/*', 'chat', 'participant/status'] }), person('mute', { capabilities: ['mcp/response:*'] })],
    });
    alice = await gateway.join('alice');
});
after(async () => { await gateway.stop(); });

const from = (id) => (json) => json.from === id;

test('send: the envelope arrives as it was said, and its id is printed', async () => {
    const { status, stdout, stderr } = await moot(gateway, 'bob',
        ['send', 'room', '--kind', 'participant/status', '--to', 'alice', '--to', 'nobody', '--correlation', 'c-1', '--payload', '{"a": [1, "x"]}']);
    const said = await expect(alice, from('bob'));

    assert.deepEqual([status, stdout, stderr], [0, `${said.id}\n`, '']);
    assert.deepEqual([said.kind, said.to, said.correlation_id, said.payload], ['participant/status', ['alice', 'nobody'], 'c-1', { a: [1, 'x'] }]);
});

test('send: the payload is nothing, a file, or standard input', async () => {
    const file = path.join(gateway.data, 'payload.json');
    fs.writeFileSync(file, '{"from":"file"}\n');

    for (const [args, input, payload] of [
        [[], '', {}],
        [['--payload', `@${file}`], '', { from: 'file' }],
        [['--payload', '-'], ' {"from":\n"stdin"}\n', { from: 'stdin' }],
    ]) {
        assert.equal((await moot(gateway, 'bob', ['send', 'room', '--kind', 'participant/status', ...args], { input })).status, 0);
        assert.deepEqual((await expect(alice, from('bob'))).payload, payload);
    }
});

test('send --json: what became of it', async () => {
    const { stdout } = await moot(gateway, 'bob', ['send', 'room', '--kind', 'participant/status', '--json']);
    const { id } = await expect(alice, from('bob'));

    assert.deepEqual(JSON.parse(stdout), { outcome: 'sent', id });
});

const mistakes = {
    'no kind': [['send', 'room'], 2, /--kind says what is sent/],
    'no JSON': [['send', 'room', '--kind', 'chat', '--payload', '{"a":1'], 2, /--payload: this is no JSON: .* at byte \d+/],
    'no object': [['send', 'room', '--kind', 'chat', '--payload', '[1]'], 2, /--payload takes a JSON object/],
    'a payload that is not what the kind says': [['send', 'room', '--kind', 'mcp/request:tools/list', '--payload', '{"method":"tools/call"}'], 2, /./],
    'no kind of the protocol': [['send', 'room', '--kind', 'Chat'], 2, /./],
    'a file that is not there': [['send', 'room', '--kind', 'chat', '--payload', '@/nowhere/x'], 1, /\/nowhere\/x: No such file/],
    'what we may not send': [['send', 'room', '--kind', 'participant/kick'], 4, /capabilities do not allow/],
    'a topic name that is none': [['send', 'a b\x1b[2J', '--kind', 'chat'], 1, /./],
};

for (const [name, [args, code, message]] of Object.entries(mistakes))
    test(`send: ${name} is told on stderr, exit ${code}`, async () => {
        const { status, stdout, stderr } = await moot(gateway, 'bob', args);

        assert.deepEqual([status, stdout], [code, ''], stderr);
        assert.match(stderr, message);
        assert.doesNotMatch(stderr, /[\x00-\x09\x0b-\x1f]/);
    });

test('send: what the gateway refuses is exit 4, with its reason', async () => {
    const { status, stdout, stderr } = await moot(gateway, 'bob', ['send', 'room', '--kind', 'mcp/reject', '--correlation', 'nosuch']);

    assert.deepEqual([status, stdout], [4, '']);
    assert.match(stderr, /^moot: .*\(proposal_state\)$/m);
    const json = await moot(gateway, 'bob', ['send', 'room', '--kind', 'mcp/reject', '--correlation', 'nosuch', '--json']);
    assert.equal(json.status, 4);
    assert.deepEqual(Object.keys(JSON.parse(json.stdout)), ['outcome', 'id', 'by', 'error', 'message', 'details']);
});

test('chat: the words on the command line are one message', async () => {
    const { status, stdout, stderr } = await moot(gateway, 'bob', ['chat', 'room', 'The build', 'is', '"green".\nReally.']);

    assert.deepEqual([status, stdout, stderr], [0, '', '']);
    assert.equal((await expect(alice, from('bob'))).payload.text, 'The build is "green".\nReally.');
});

test('chat: lines of standard input, each when it comes, and none is lost', async () => {
    const command = startMoot(gateway, 'bob', ['chat', 'room']);

    command.child.stdin.write('first\r\n\n');
    assert.equal((await expect(alice, from('bob'))).payload.text, 'first');
    command.child.stdin.write('sec');
    command.child.stdin.write('ond\nthird \u001b[2J');
    assert.equal((await expect(alice, from('bob'))).payload.text, 'second');
    command.child.stdin.end();
    assert.equal((await expect(alice, from('bob'))).payload.text, 'third \u001b[2J');
    assert.deepEqual(await command.ended(), { status: 0, stdout: '', stderr: '' });
});

test('chat: a pipe faster than the room allows is slowed down, not cut', async () => {
    const slow = await startGateway({ tokens: people('alice', 'bob'), limits: { rate_messages: '20/s', burst: '1s' } });
    const reader = await slow.join('alice');
    const lines = Array.from({ length: 60 }, (_, i) => `line ${i}`);
    const { status, stderr } = await moot(slow, 'bob', ['chat', 'room'], { input: lines.join('\n') });

    assert.deepEqual([status, stderr], [0, '']);
    for (const line of lines)
        assert.equal((await expect(reader, from('bob'))).payload.text, line);
    await slow.stop();
});

test('chat: who may not talk is told so', async () => {
    const { status, stderr } = await moot(gateway, 'mute', ['chat', 'room', 'hello']);

    assert.equal(status, 4);
    assert.match(stderr, /capabilities do not allow/);
});
