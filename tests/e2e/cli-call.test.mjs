// SPDX-License-Identifier: Apache-2.0
// moot call, moot propose: arguments, results, and an exit code for each way it can end.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';
import { moot, serveTools, startMoot } from './moot.mjs';

let gateway, human;

const hostile = 'red \u001b[31m\u202e\u0007 text';
const tools = {
    add: ({ a, b }) => `${a + b}`,
    echo: (args) => JSON.stringify(args),
    raw: () => hostile,
    pair: () => ({ content: [{ type: 'text', text: 'one\n' }, { type: 'image', mimeType: 'image/png', data: 'AAAA' }, { type: 'text', text: 'two' }] }),
    shape: () => ({ content: [], structuredContent: { sum: 3 } }),
    fail: () => ({ isError: true, content: [{ type: 'text', text: `no: ${hostile}` }] }),
    silent: () => undefined,
    leave: (_, __, client) => { client.close(); },
    slowly: async (args, { id, from, payload }, client) => {
        for (const progress of [1, 2])
            client.send(envelope(client.id, 'mcp/request:notifications/progress', { to: [from], payload: {
                method: 'notifications/progress', params: { progressToken: payload.params._meta.progressToken, progress, total: 2, message: `step ${progress} of ${id.length ? 'it' : ''}` } } }));
        return 'done';
    },
};

before(async () => {
    gateway = await startGateway({ tokens: [
        person('alice'), person('human', { profile: 'human' }), person('calc', { capabilities: ['mcp/*', 'chat'], type: 'service' }),
        person('twin'), person('guest'), person('bot', { profile: 'proposer' }), person('reader', { capabilities: ['chat'] }),
    ] });
    serveTools(await gateway.join('calc'), tools);
    human = await gateway.join('human');
});
after(async () => { await gateway.stop(); });

const call = (args, options) => moot(gateway, 'alice', ['call', 'room', ...args], options);

const results = {
    'numbers become numbers': [['calc', 'add', '--arg', 'a=1', '--arg', 'b=2.5'], '3.5\n'],
    'what is no JSON is text': [['calc', 'echo', '--arg', 'a=x y', '--arg', 'b=[1]', '--arg', 'c=true', '--arg', 'd=01'],
        '{"a":"x y","b":[1],"c":true,"d":"01"}\n'],
    'JSON and single arguments together': [['calc', 'echo', '--json-args', '{"a":{"b":"5"}}', '--arg=c='], '{"a":{"b":"5"},"c":""}\n'],
    'no arguments at all': [['calc', 'echo'], '{}\n'],
    'several pieces': [['calc', 'pair'], 'one\n[image image/png, 4 bytes of base64]\ntwo\n'],
    'structured content alone': [['calc', 'shape'], '{"sum":3}\n'],
    'into a pipe, byte for byte': [['calc', 'raw'], `${hostile}\n`],
    'the result as JSON': [['calc', 'add', '--arg', 'a=1', '--arg', 'b=1', '--json'], '{"content":[{"type":"text","text":"2"}]}\n'],
    'by whoever alone offers it': [['shape'], '{"sum":3}\n'],
};

for (const [name, [args, want]] of Object.entries(results))
    test(`call: ${name}`, async () => {
        assert.deepEqual(await call(args), { status: 0, stdout: want, stderr: '' });
    });

test('call: arguments from a file and from standard input', async () => {
    const file = path.join(gateway.data, 'args.json');
    fs.writeFileSync(file, '{"a":1,\n"b":2}\n');

    assert.equal((await call(['calc', 'add', '--json-args', `@${file}`])).stdout, '3\n');
    assert.equal((await call(['calc', 'add', '--json-args', '-'], { input: '{"a":2,"b":2}' })).stdout, '4\n');
});

test('call: several offer it, so they are named and nobody is called', async () => {
    const twin = serveTools(await gateway.join('twin'), { add: () => 'twin' });
    const { status, stdout, stderr } = await call(['add', '--arg', 'a=1', '--arg', 'b=2']);

    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, /several offer "add"; say which one:\n {2}calc\n {2}twin\n/);
    await twin.close();
});

const failures = {
    'the tool fails': [['calc', 'fail'], 3, /^moot: calc: no: red \\u001b\[31m\\u202e\\u0007 text\n$/],
    'there is no such tool': [['calc', 'nosuch'], 3, /^moot: calc: there is no nosuch \(-32602\)\n$/],
    'nobody offers it': [['nosuch'], 1, /nobody here offers "nosuch"/],
    'the participant is not here': [['nobody', 'add'], 1, /nobody is not in room/],
    'it takes too long': [['calc', 'silent', '--timeout', '1'], 5, /\(timeout\)/],
    'an argument without a name': [['calc', 'add', '--arg', '=1'], 2, /--arg takes NAME=VALUE/],
    'an argument given twice': [['calc', 'add', '--arg', 'a=1', '--json-args', '{"a":2}'], 2, /"a" is given twice/],
    'arguments that are no object': [['calc', 'add', '--json-args', '[1]'], 2, /--json-args takes a JSON object/],
    'arguments that are nothing': [['calc', 'add', '--json-args', ''], 2, /--json-args: this is no JSON/],
    'a timeout that is none': [['calc', 'add', '--timeout', 'soon'], 2, /--timeout takes a time/],
    'a timeout of nothing': [['calc', 'add', '--timeout', '0'], 2, /--timeout takes a time/],
    'a timeout of more than a day': [['calc', 'add', '--timeout', '2d'], 2, /--timeout takes a time like .*, up to 86400 seconds, not "2d"/],
    'more than an envelope takes': [['calc', 'add', '--json-args', '-'], 1, /longer than an envelope may be here/, `{"a":"${'x'.repeat(2 << 20)}"}`],
    'both ways at once': [['calc', 'add', '--direct', '--propose'], 2, /either --propose or --direct/],
};

for (const [name, [args, code, message, input]] of Object.entries(failures))
    test(`call: ${name}: exit ${code}`, async () => {
        const { status, stdout, stderr } = await call(args, { input });

        assert.deepEqual([status, stdout], [code, ''], stderr);
        assert.match(stderr, message);
    });

test('call --json: failures are JSON as well', async () => {
    const failed = JSON.parse((await call(['calc', 'fail', '--json'])).stdout);
    const unknown = JSON.parse((await call(['calc', 'nosuch', '--json'])).stdout);

    assert.equal(failed.isError, true);
    assert.deepEqual([unknown.outcome, unknown.by, unknown.details], ['error', 'calc', { code: -32602, message: 'there is no nosuch' }]);
});

test('call: whoever leaves before answering is told, exit 1', async () => {
    serveTools(await gateway.join('guest'), tools);
    const { status, stderr } = await call(['guest', 'leave']);

    assert.equal(status, 1);
    assert.match(stderr, /^moot: .*guest/);
});

test('call: progress is for terminals, not for pipes', async () => {
    assert.deepEqual(await call(['calc', 'slowly']), { status: 0, stdout: 'done\n', stderr: '' });
});

test('call: interrupted, the call is taken back and the signal ends it', async () => {
    const command = startMoot(gateway, 'alice', ['call', 'room', 'calc', 'silent']);
    const { id } = await expect(human, (json) => json.kind === 'mcp/request:tools/call:silent' && json.from === 'alice');

    command.child.kill('SIGINT');
    const { payload } = await expect(human, (json) => json.kind === 'mcp/request:notifications/cancelled');
    assert.equal(payload.params.requestId, id);
    assert.equal((await command.ended()).status, 'SIGINT');
});

test('call, tools: interrupted while others are asked for their tools, nothing is called and nothing told', async () => {
    for (const args of [['call', 'room', 'shape'], ['tools', 'room']]) {
        const command = startMoot(gateway, 'alice', args);

        await expect(human, (json) => json.kind === 'mcp/response:tools/list' && json.from === 'calc');
        command.child.kill('SIGINT');
        assert.deepEqual(await command.ended(), { status: 'SIGINT', stdout: '', stderr: '' });
    }
});

// --- proposals ---

const proposal = () => expect(human, (json) => json.kind.startsWith('mcp/proposal:'));
const decide = (kind, { id }, payload = {}) => human.send(envelope('human', kind, { correlation_id: id, payload }));

test('call: who may not call proposes, and gets the result of the one who may', async () => {
    const command = startMoot(gateway, 'bot', ['call', 'room', 'calc', 'add', '--arg', 'a=3', '--arg', 'b=4', '--reason', 'I want it']);
    const { id, kind, to, payload } = await proposal();

    assert.deepEqual([kind, to, payload.params, payload.reason], ['mcp/proposal:tools/call:add', ['calc'], { name: 'add', arguments: { a: 3, b: 4 } }, 'I want it']);
    human.send(envelope('human', 'mcp/request:tools/call:add', { to: ['calc'], correlation_id: id,
        payload: { jsonrpc: '2.0', id: 7, method: 'tools/call', params: payload.params } }));
    assert.deepEqual(await command.ended(), { status: 0, stdout: '7\n', stderr: '' });
});

test('propose: rejected is exit 4 with the reason, expired is exit 5', async () => {
    const command = startMoot(gateway, 'bot', ['propose', 'room', 'calc', 'add']);

    decide('mcp/reject', await proposal(), { reason: 'not today\u001b[2J' });
    const { status, stdout, stderr } = await command.ended();
    assert.deepEqual([status, stdout], [4, '']);
    assert.equal(stderr, 'moot: human: not today\\u001b[2J (rejected)\n');
    const late = await moot(gateway, 'bot', ['propose', 'room', 'add', '--timeout', '1']);
    assert.equal(late.status, 5);
    assert.match(late.stderr, /\(expired\)/);
    await proposal();
});

test('propose: interrupted, it is withdrawn', async () => {
    const command = startMoot(gateway, 'bot', ['propose', 'room', 'calc', 'add']);
    const { id } = await proposal();

    command.child.kill('SIGTERM');
    assert.equal((await expect(human, (json) => json.kind === 'mcp/withdraw')).correlation_id, id);
    assert.equal((await command.ended()).status, 'SIGTERM');
});

test('propose --no-wait: the id is printed, and the proposal stays', async () => {
    const { status, stdout, stderr } = await moot(gateway, 'bot', ['propose', 'room', 'add', '--no-wait', '--timeout', '1h']);
    const { id, to, expires_at: expires } = await proposal();

    assert.deepEqual([status, stdout, stderr, to], [0, `${id}\n`, '', undefined]);
    assert.ok(Math.abs(Date.parse(expires) - Date.now() - 3_600_000) < 60_000);
    const { json } = await gateway.request('GET /topics/room/proposals', { token: 'human-token' });
    assert.ok(json.proposals.some((open) => open.id === id));
    decide('mcp/reject', { id });
});

test('call --direct: who may not is refused, exit 4, and nothing is proposed', async () => {
    const { status, stderr } = await moot(gateway, 'bot', ['call', 'room', 'calc', 'add', '--direct']);

    assert.equal(status, 4);
    assert.match(stderr, /capabilities do not allow/);
    assert.equal((await moot(gateway, 'reader', ['call', 'room', 'calc', 'add'])).status, 4);
    assert.equal((await moot(gateway, 'reader', ['call', 'room', 'add'])).status, 4);
    assert.ok(!human.frames.slice(human.taken).some(({ json }) => json.kind.startsWith('mcp/proposal')));
});

test('call --propose: proposes although it might call', async () => {
    const command = startMoot(gateway, 'alice', ['call', 'room', 'calc', 'add', '--propose']);

    decide('mcp/reject', await proposal());
    assert.equal((await command.ended()).status, 4);
});
