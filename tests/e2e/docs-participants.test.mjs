// SPDX-License-Identifier: Apache-2.0
// docs/PARTICIPANTS.md cannot rot: what it shows is run, compiled, or stands in the examples.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { WebSocketServer } from 'ws';

import { check, Offence } from '../../examples/node/check.mjs';
import { envelope, expect, person, program, startGateway, within } from './gateway.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = fs.readFileSync(path.join(root, 'docs/PARTICIPANTS.md'), 'utf8');
let folder;

before(() => { folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-e2e-')); });
after(() => fs.rmSync(folder, { recursive: true, force: true }));

// The fenced blocks: { language, mark, text }, where mark is the comment before it.
const blocks = [...page.matchAll(/(?:<!-- ([^\n]*) -->\n)?```(\w*)\n(.*?)\n```\n/gs)]
    .map(([, mark = '', language, text]) => ({ mark, language, text }));
const marked = (word) => blocks.filter(({ mark }) => mark.split(':')[0] === word)
    .map((block) => ({ ...block, name: block.mark.slice(word.length + 2) }));

test('every block of a programming language is accounted for', () => {
    const odd = blocks.filter(({ language, mark }) => ['js', 'c', 'sh', 'python'].includes(language) && !/^(run|from|compile)\b/.test(mark));

    assert.deepEqual(odd, []);
    assert.ok(marked('run').length >= 1 && marked('from').length >= 4 && marked('compile').length >= 3);
});

test('what is taken from the examples stands there like that', () => {
    for (const { name, text } of marked('from'))
        assert.ok(fs.readFileSync(path.join(root, name), 'utf8').includes(`${text}\n`), `not in ${name}:\n${text}`);
});

test('C compiles without a warning, as C99 and as newest C', () => {
    for (const [n, { text }] of marked('compile').entries()) {
        const file = path.join(folder, `block${n}.c`);

        fs.writeFileSync(file, `${text}\n`);
        for (const compiler of [['cc', '-std=c99'], ['cc', '-std=gnu2x']]) {
            const { status, stderr } = spawnSync(compiler[0], [...compiler.slice(1), '-Wall', '-Wextra', '-Wpedantic', '-Werror',
                '-fsyntax-only', '-I', path.join(root, 'include'), file], { encoding: 'utf8' });
            assert.equal(status, 0, `${compiler.join(' ')}: ${stderr}`);
        }
    }
});

// Blocks of JSON hold one value, or several with an empty line between them.
const values = blocks.filter(({ language }) => language === 'json').flatMap(({ text }) => text.split('\n\n'));

test('every envelope that it shows passes the checks that it demands', () => {
    assert.ok(values.length > 10);
    for (const text of values)
        assert.ok(check(text).type, text);
});

// RFC 7396, so that a row can say what is different.
function merge(target, patch) {
    if (patch === null || typeof patch !== 'object' || Array.isArray(patch))
        return patch;
    const result = target !== null && typeof target === 'object' && !Array.isArray(target) ? { ...target } : {};

    for (const [name, value] of Object.entries(patch)) {
        if (value === null)
            delete result[name];
        else
            result[name] = merge(result[name], value);
    }
    return result;
}

// What must be dropped: { what, text, offence }, where offence is its name and field.
const bad = (() => {
    const [good] = marked('the good one').map(({ text }) => JSON.parse(text));
    const [, table] = page.match(/<!-- the bad ones -->\n.*\n\|---.*\n((?:\|.*\n)+)/);
    const rows = table.trim().split('\n').map((row) => row.split(' | ').map((cell) => cell.replace(/^\| |(^| )\|$/g, '').replace(/^`|`$/g, '')));

    return rows.map(([what, changed, name, field = '']) =>
        ({ what, text: JSON.stringify(merge(good, JSON.parse(changed))), offence: `${name} ${field}` }));
})();

test('everything that it says must be dropped is dropped, for the reason given', () => {
    assert.ok(bad.length > 20);
    for (const { what, text, offence } of bad)
        assert.throws(() => check(text), (error) => {
            assert.ok(error instanceof Offence, `${what}: ${error}`);
            assert.equal(error.message, offence, `${what}: ${text}`);
            return true;
        }, `${what}: ${text}`);
});

// --- with libmoot ---

const build = path.dirname(path.resolve(program));
const cannotLink = !fs.existsSync(path.join(build, 'src/libmoot.a')) && 'a library with sanitizers is not for every program';

function compile(name, text) {
    const source = path.join(folder, `${name}.c`);
    const binary = path.join(folder, name);

    fs.writeFileSync(source, `${text}\n`);
    const { status, stderr } = spawnSync('cc', ['-std=c99', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Werror', '-I', path.join(root, 'include'), source, '-o', binary,
        '-L', path.join(build, 'src'), `-Wl,-rpath,${path.join(build, 'src')}`, '-lmoot', '-lm'], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return binary;
}

function start(t, binary, token, args) {
    const child = spawn(binary, args, { env: { ...process.env, MOOT_TOKEN: token }, stdio: ['ignore', 'pipe', 'inherit'] });

    t.after(() => child.kill('SIGKILL'));
    return child;
}

const LISTENER = `
#include <moot.h>
#include <stdio.h>

static void on_offence(struct moot *m, void *user, const struct moot_offence *offence)
{
    (void)m, (void)user;
    (void)printf("%s %s\\n", offence->what, offence->field);
}

static void on_chat(struct moot *m, void *user, const struct moot_message *message, const char *text)
{
    (void)user, (void)message, (void)text;
    moot_stop(m);
}

int main(int argc, char **argv)
{
    struct moot_options options = { .url = argv[argc - 1], .topic = "lobby", .token = "x",
                                    .handlers = { .on_offence = on_offence, .on_chat = on_chat } };
    struct moot *m;
    enum moot_err err = moot_new(&options, &m);

    if (!err)
        err = moot_run(m);
    moot_free(m);
    return err != MOOT_OK;
}`;

test('libmoot drops the same, for the same reasons', { skip: cannotLink }, async (t) => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    t.after(() => server.close());
    await once(server, 'listening');
    const system = (kind, payload) => envelope('system:gateway', kind, { to: ['bot'], payload });
    const welcome = { you: { id: 'bot', capabilities: ['chat'] }, participants: [{ id: 'alice', capabilities: ['mcp/*'] }], moot: { topic: 'lobby', proposals: [] } };

    server.on('connection', (socket) => {
        socket.send(JSON.stringify(system('system/welcome', welcome)));
        bad.forEach(({ text }) => socket.send(text));
        socket.send(JSON.stringify(envelope('alice', 'chat', { payload: { text: 'That was all.' } })));
    });
    const child = start(t, compile('listener', LISTENER), '', [`ws://127.0.0.1:${server.address().port}`]);
    let output = '';
    child.stdout.on('data', (data) => { output += data; });
    const [status] = await within(once(child, 'close'), 'the listener'); // all it said has been read
    assert.equal(status, 0);
    assert.deepEqual(output.trimEnd().split('\n').map((line) => line.trim()), bad.map(({ offence }) => offence.trim()));
});

test('the participant in C is one', { skip: cannotLink }, async (t) => {
    const [{ text }] = marked('compile').filter((block) => block.text.includes('int main'));
    const gateway = await startGateway({ tokens: [person('roots', { profile: 'responder' }), person('alice')] });
    t.after(() => gateway.stop());
    const alice = await gateway.join('alice', { topic: 'lobby' });
    const child = start(t, compile('roots', text), 'roots-token', [`ws://127.0.0.1:${gateway.port}`]);

    await expect(alice, ({ kind, payload }) => kind === 'system/presence' && payload.participant.id === 'roots');
    for (const [x, payload] of [[2, { result: { content: [{ type: 'text', text: '1.4142135623731' }] } }],
        [-1, { result: { content: [{ type: 'text', text: 'there is none' }], isError: true } }], ['2', { error: { code: -32602, message: 'x must be a number' } }]]) {
        const sent = alice.send(envelope('alice', 'mcp/request:tools/call:root',
            { to: ['roots'], payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'root', arguments: { x } } } }));
        const answer = await expect(alice, ({ correlation_id }) => correlation_id === sent.id);

        assert.deepEqual(answer.payload, { jsonrpc: '2.0', id: 1, ...payload });
    }
    child.kill('SIGTERM');
    await alice.close();
});

test('the first connection is one', async (t) => {
    const [{ name, text }] = marked('run');
    const gateway = await startGateway({ tokens: [person('bot', { profile: 'proposer' }), person('alice')] });
    t.after(() => gateway.stop());
    const alice = await gateway.join('alice', { topic: 'lobby' });

    fs.writeFileSync(path.join(folder, name), text);
    fs.symlinkSync(path.join(root, 'tests/node_modules'), path.join(folder, 'node_modules'));
    const child = spawn(process.execPath, [path.join(folder, name), `ws://127.0.0.1:${gateway.port}`],
        { env: { ...process.env, MOOT_TOKEN: 'bot-token' }, stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    let output = '';
    child.stdout.on('data', (data) => { output += data; });
    const heard = await expect(alice, ({ kind }) => kind === 'chat');
    assert.deepEqual([heard.from, heard.payload.text], ['bot', 'Hello.']);
    await within((async () => {
        while (!output.includes('Hello.'))
            await once(child.stdout, 'data');
    })(), 'its output');
    assert.ok(page.includes(output), `the page shows something else:\n${output}`);
    await alice.close();
});
