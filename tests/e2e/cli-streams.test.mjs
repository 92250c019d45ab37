// SPDX-License-Identifier: Apache-2.0
// Standard input and output that are closed, full, or not read.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { expect, people, program, startGateway, within } from './gateway.mjs';
import { environment, startMoot } from './moot.mjs';

let gateway, bob;

before(async () => {
    gateway = await startGateway({ tokens: people('alice', 'bob') });
    bob = await gateway.join('bob');
});
after(async () => { await gateway.stop(); });

// A command with redirections of the shell: "<&-" closes standard input.
async function redirected(redirections, ...args) {
    const child = spawn('sh', ['-c', `exec "$0" "$@" ${redirections}`, program, ...args],
        { stdio: ['ignore', 'pipe', 'pipe'], env: environment(gateway, 'alice') });
    const out = { stdout: '', stderr: '' };

    for (const name of ['stdout', 'stderr'])
        child[name].on('data', (part) => { out[name] += part; });
    const [code, signal] = await within(once(child, 'close'), `moot ${args.join(' ')} ${redirections}`)
        .finally(() => child.kill('SIGKILL'));
    return { status: signal ?? code, ...out };
}

test('streams: a closed standard input is told, and nothing else is read instead', async () => {
    const { status, stdout, stderr } = await redirected('<&-', 'chat', 'room');

    assert.deepEqual([status, stdout, stderr], [1, '', 'moot: standard input: Bad file descriptor\n']);
});

test('streams: a closed standard output is told, and nothing else is written to', async () => {
    for (const args of [['who', 'room'], ['tail', 'room'], ['version']]) {
        const { status, stderr } = await redirected('>&-', ...args);

        assert.deepEqual([status, stderr], [1, 'moot: standard output: Bad file descriptor\n'], args.join(' '));
    }
});

test('streams: a closed standard error swallows complaints only', async () => {
    const { status, stdout } = await redirected('2>&-', 'who', 'room', '--json');

    assert.equal(status, 0);
    for (const line of stdout.trim().split('\n'))
        JSON.parse(line);
});

test('streams: what cannot be written is a failure of every command', async () => {
    for (const args of [['who', 'room'], ['version'], ['--help'], ['config', 'options'], ['completion', 'bash']]) {
        const { status, stderr } = await redirected('>/dev/full', ...args);

        assert.equal(status, 1, args.join(' '));
        assert.match(stderr, /^moot: standard output: .+\n$/);
    }
});

test('streams: a signal ends a command whose output nobody reads', async () => {
    const text = 'x'.repeat(60_000);
    const tail = startMoot(gateway, 'alice', ['tail', 'room', '--json', '--kind', 'chat']);

    await expect(bob, (json) => JSON.stringify(json).includes('"alice"'));
    tail.child.stdout.pause();
    for (let i = 0; i < 20; i++)
        bob.chat(text);
    await expect(bob, () => bob.frames.filter(({ json }) => json.kind === 'chat').length === 20);
    tail.child.kill('SIGTERM');
    await within(once(tail.child, 'exit'), 'the end of a command that nobody reads');
    assert.equal(tail.child.signalCode, 'SIGTERM');
});
