// SPDX-License-Identifier: Apache-2.0
// Which server, which topic, as whom: the same for all commands that take part.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { makeCertificate } from './certificates.mjs';
import { people, startGateway } from './gateway.mjs';
import { moot, startMoot } from './moot.mjs';

let gateway, secure, folder, right, wrong;
const file = (name) => path.join(folder, name);

before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-where-'));
    right = makeCertificate(folder, 'right');
    wrong = makeCertificate(folder, 'wrong');
    gateway = await startGateway({ tokens: people('alice', 'bob') });
    secure = await startGateway({ tls: right, tokens: people('alice') });
    fs.writeFileSync(file('alice'), 'alice-token\n', { mode: 0o600 });
    fs.writeFileSync(file('open'), 'bob-token\n', { mode: 0o644 });
    fs.writeFileSync(file('bad'), 'no-token\n', { mode: 0o600 });
    fs.writeFileSync(file('empty'), '\n', { mode: 0o600 });
});
after(async () => {
    await gateway.stop();
    await secure.stop();
    fs.rmSync(folder, { recursive: true });
});

// Who it is, for a set of words and variables.
async function whoami(args, env, complaint = '') {
    const { status, stdout, stderr } = await moot(null, null, ['who', ...args, '--json'], { env });

    assert.deepEqual([status, stderr], [0, complaint]);
    return JSON.parse(stdout.trim().split('\n').find((line) => JSON.parse(line).you)).id;
}

test('where: the local server of the data directory, as the person of its human.token', async () => {
    assert.equal(await whoami(['room', '--data', gateway.data]), 'human');
    assert.equal(await whoami(['room'], { MOOT_DATA: gateway.data }), 'human');
    assert.equal(await whoami(['room', '--data', path.relative('.', gateway.data)]), 'human');
});

test('where: another token goes before it, from a file or the environment', async () => {
    assert.equal(await whoami(['room', '--data', gateway.data], { MOOT_TOKEN: 'bob-token' }), 'bob');
    assert.equal(await whoami(['room', '--data', gateway.data, '--token-file', file('alice')], { MOOT_TOKEN: 'bob-token' }), 'alice');
    assert.equal(await whoami(['room', '--data', gateway.data, `--token-file=${file('open')}`], {},
        `moot: ${file('open')} can be read by others; \`chmod 600 ${file('open')}\` keeps it secret\n`), 'bob');
});

test('where: another server by its address, ws or http', async () => {
    const at = (scheme) => `${scheme}://127.0.0.1:${gateway.port}`;

    for (const scheme of ['ws', 'http'])
        assert.equal(await whoami(['room', '--server', at(scheme)], { MOOT_TOKEN: 'alice-token' }), 'alice');
    assert.equal(await whoami(['room', '--token-file', file('alice')], { MOOT_SERVER: at('ws') }), 'alice');
    assert.equal(await whoami(['room', '--data', gateway.data], { MOOT_SERVER: 'ws://127.0.0.1:1' }), 'human', '--data goes before $MOOT_SERVER');
});

test('where: TLS, with a certificate that is trusted', async () => {
    const args = ['room', '--server', `wss://localhost:${secure.port}`];
    const env = { MOOT_TOKEN: 'alice-token' };

    assert.equal(await whoami([...args, '--ca', right.certificate], env), 'alice');
    for (const ca of [[], ['--ca', wrong.certificate]]) {
        const { status, stdout, stderr } = await moot(null, null, ['who', ...args, ...ca], { env });
        assert.deepEqual([status, stdout], [1, '']);
        assert.match(stderr, /certificate/);
    }
});

test('where: administration and completion speak TLS as well', async () => {
    const trust = ['--ca', right.certificate];
    const there = (scheme, args, ca) => moot(null, null, [...args, '--server', `${scheme}://localhost:${secure.port}`, ...ca],
        { env: { MOOT_TOKEN: secure.adminToken() } });

    for (const scheme of ['https', 'wss']) {
        const { status, stdout, stderr } = await there(scheme, ['token', 'list'], trust);
        assert.deepEqual([status, stderr], [0, '']);
        assert.match(stdout, /^alice /m);
    }
    assert.equal((await there('https', ['explain', 'chat', '--as', 'alice'], trust)).status, 0);
    for (const ca of [[], ['--ca', wrong.certificate], ['--ca', '/nonexistent']]) {
        const { status, stdout, stderr } = await there('https', ['token', 'list'], ca);
        assert.deepEqual([status, stdout], [1, '']);
        assert.match(stderr, /certificate|nonexistent/);
    }
    const plain = await there('http', ['token', 'list'], []);
    assert.equal(plain.status, 1);
    assert.match(plain.stderr, /no answer of the server can be read/);
    const { stdout } = await moot(null, null, ['completion', 'for', '--', 'tail', '--server', `wss://localhost:${secure.port}`, ...trust, ''],
        { env: { MOOT_TOKEN: 'alice-token' } });
    assert.match(stdout, /^words\nroom\t\n$/);
});

test('where: the topic is the first argument, unless it is said otherwise', async () => {
    const env = { MOOT_DATA: gateway.data };
    const topicOf = async (args, more = {}) => {
        const { stdout, stderr } = await moot(null, null, ['tail', ...args, '--count', '1'], { env: { ...env, ...more } });
        return /you are human in (\S+),/.exec(stdout)?.[1] ?? stderr;
    };

    assert.equal(await topicOf(['first']), 'first');
    assert.equal(await topicOf(['--topic', 'second']), 'second');
    assert.equal(await topicOf([], { MOOT_TOPIC: 'third' }), 'third');
    assert.equal(await topicOf(['--topic=second'], { MOOT_TOPIC: 'third' }), 'second');
    assert.match(await topicOf(['first', '--topic', 'second']), /one word too many: "first"/);
    assert.match(await topicOf(['first'], { MOOT_TOPIC: 'third' }), /one word too many: "first"\n--topic or \$MOOT_TOPIC names the topic already\./);
    assert.doesNotMatch(await topicOf(['first', 'x']), /MOOT_TOPIC/);
    assert.match(await topicOf([]), /something is missing; it needs "TOPIC/);
});

const unreachable = {
    'no server on the data directory': [['who', 'room', '--data', '/nonexistent'], {}, /no server runs on \/nonexistent; `moot serve` starts one/],
    'nobody at the address': [['who', 'room', '--server', 'ws://127.0.0.1:1'], { MOOT_TOKEN: 'x' }, /refused/],
    'no address': [['who', 'room', '--server', 'gopher://x'], { MOOT_TOKEN: 'x' }, /./, 2],
    'no token': [['who', 'room', '--server', 'ws://127.0.0.1:1'], {}, /a token is needed: --token-file FILE or \$MOOT_TOKEN/],
    'a token file that is not there': [['who', 'room', '--server', 'ws://127.0.0.1:1', '--token-file', '/nonexistent'], {}, /\/nonexistent: No such file/],
};

for (const [name, [args, env, message, code = 1]] of Object.entries(unreachable))
    test(`where: ${name} is told, exit ${code}`, async () => {
        const { status, stdout, stderr } = await moot(null, null, args, { env });

        assert.deepEqual([status, stdout], [code, ''], stderr);
        assert.match(stderr, message);
    });

test('where: a token that is wrong is told at once, and never shown', async () => {
    for (const name of ['bad', 'empty']) {
        const { status, stdout, stderr } = await moot(null, null, ['tail', 'room', '--data', gateway.data, '--token-file', file(name)]);

        assert.deepEqual([status, stdout], [1, '']);
        assert.match(stderr, name === 'bad' ? /401/ : /holds no token/);
        assert.doesNotMatch(stderr, /no-token/);
    }
});

test('where: no option takes a token, and none stays among the arguments or variables of a process', async () => {
    const { status, stderr } = await moot(null, null, ['tail', 'room', '--token', 'bob-token']);
    assert.equal(status, 2);
    assert.match(stderr, /there is no option "--token"/);

    const command = startMoot(gateway, 'bob', ['tail', 'room']);
    await command.line();
    for (const place of ['cmdline', 'environ'])
        assert.doesNotMatch(fs.readFileSync(`/proc/${command.child.pid}/${place}`, 'utf8'), /bob-token/);
    command.child.kill('SIGTERM');
    await command.ended();
});
