// SPDX-License-Identifier: Apache-2.0
// The command line: help, mistakes, settings, explanations.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

import { program } from './gateway.mjs';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-e2e-'));

after(() => fs.rmSync(folder, { recursive: true }));

function moot(...args) {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: folder });
    return { status, stdout, stderr };
}

const commands = ['tail', 'chat', 'send', 'who', 'tools', 'call', 'propose', 'proposals', 'approve', 'reject', 'withdraw', 'completion',
    'serve', 'token create', 'token list', 'token revoke', 'config check', 'config print', 'config options', 'explain', 'version'];

test('cli: --help, -h and help list every command', () => {
    for (const word of ['--help', '-h', 'help']) {
        const { status, stdout, stderr } = moot(word);
        assert.deepEqual([status, stderr], [0, '']);
        for (const command of commands)
            assert.match(stdout, new RegExp(`^  ${command} +\\S`, 'm'));
    }
});

for (const command of commands)
    test(`cli: ${command} --help says how, on stdout`, () => {
        const { status, stdout, stderr } = moot(...command.split(' '), '--help');

        assert.deepEqual([status, stderr], [0, '']);
        assert.ok(stdout.includes(`Usage: moot ${command}`), stdout);
        assert.deepEqual(moot(...command.split(' '), '-h').stdout, stdout);
    });

test('cli: no line of any --help is wider than a terminal', () => {
    // The overview names every command, so that a new one is looked at as well.
    const named = moot('--help').stdout.split('\n').filter((line) => /^ {2}\S/.test(line)).map((line) => line.slice(2, 18).trim());

    assert.ok(commands.every((command) => named.includes(command)), `${named}`);
    for (const words of [[], ['token'], ['audit'], ['config'], ...named.map((name) => name.split(' '))]) {
        const { status, stdout } = moot(...words, '--help');

        assert.equal(status, 0, `${words}`);
        assert.deepEqual(stdout.split('\n').filter((line) => [...line].length > 80), [], `moot ${words.join(' ')} --help`);
    }
    assert.doesNotMatch(moot('run', '--help').stdout, /--server/);
});

test('cli: --help says as whom a command takes part', () => {
    for (const command of ['chat', 'who'])
        assert.match(moot(command, '--help').stdout, /as the person of its human\.token/, command);
    for (const command of ['bridge', 'mcp']) {
        const { stdout } = moot(command, '--help');

        assert.match(stdout.replaceAll('\n', ' '), /Without --token-file and --server a token is made/, command);
        assert.doesNotMatch(stdout, /human\.token/, command);
    }
});

const mistakes = {
    'no command': [[], /Usage: moot COMMAND/],
    'an unknown command': [['dance'], /there is no command "dance"/],
    'half a command': [['token'], /token create/],
    'an unknown half': [['token', 'dance'], /token create/],
    'an unknown option': [['serve', '--dance'], /moot serve: there is no option "--dance"/],
    'a word that looks like an option': [['chat', 'room', '-5', 'degrees'], /there is no option "-5"\nWhat is no option goes behind --\./],
    'an option without its value': [['serve', '--config'], /a value is missing after "--config"/],
    'a switch with a value': [['serve', '--no-link=yes'], /this option takes no value/],
    'a word too many': [['version', 'please'], /one word too many: "please"/],
    'a word too few': [['token', 'create'], /something is missing/],
    'nothing to explain with': [['explain', 'chat'], /--capabilities, --profile or --as/],
    'a bad pattern': [['explain', 'chat', '--capabilities', 'a b'], /capability "a b"/],
    'an unknown profile': [['explain', 'chat', '--profile', 'fool'], /there is no profile "fool"/],
};

for (const [name, [args, message]] of Object.entries(mistakes))
    test(`cli: ${name} is said on stderr, exit 2`, () => {
        const { status, stdout, stderr } = moot(...args);

        assert.equal(status, 2, stderr);
        assert.equal(stdout, '');
        assert.match(stderr, message);
    });

test('cli: version', () => {
    assert.match(moot('version').stdout, /^moot \d+\.\d+\.\d+ \(MCPx v0\.1 and its dotted draft: mcpx\/v0\.1, mcpx\/draft\)\n$/);
    assert.deepEqual(moot('--version'), moot('version'));
});

test('cli: config check says that a file is fine, or where it is not, exit 1', () => {
    const file = path.join(folder, 'moot.yaml');
    const check = (text) => { fs.writeFileSync(file, text); return moot('config', 'check', file); };

    const fine = check('tokens:\n  - {token: abc, id: a, profile: full}\ntopics:\n  named: [x, y]\n');
    assert.deepEqual([fine.status, fine.stderr], [0, '']);
    assert.match(fine.stdout, /is fine: 1 tokens?, 0 profiles, 2 named topics/);
    for (const [text, where] of [
        ['limits:\n  envelop: 1\n', /moot\.yaml:2:3: unknown key "envelop" \(did you mean "envelope"\?\)/],
        ['limits:\n  envelope: many\n', /moot\.yaml:2:13: /],
        ['workers: 65\n', /moot\.yaml:1:10: /],
        ['tokens:\n  - {token: abc, id: a, profile: fool}\n', /moot\.yaml:2:34: there is no profile "fool"/],
        ['tokens:\n  - {token: abc, profile: full}\n', /moot\.yaml:2:5: /],
        ['profiles:\n  p: {capabilities: ["x y"]}\n', /moot\.yaml:2:2\d: capability "x y"/],
        ['topics:\n  named:\n    "a b": {}\n', /moot\.yaml:3:\d+: a topic name/],
        ['a: [1\nb: 2\n', /moot\.yaml:\d+:\d+: /],
        ['limits: {}\nlimits: {}\n', /moot\.yaml:2:1: /],
        ['log: loud\n', /moot\.yaml:1:6: .*error.*warn.*info.*debug/],
        ['tokens:\n  - {token_file: nowhere, id: a, profile: full}\n', /moot\.yaml:2:18: token_file .*nowhere.*: No such file/],
    ]) {
        const { status, stdout, stderr } = check(text);
        assert.deepEqual([status, stdout], [1, ''], text);
        assert.match(stderr, where);
    }
    assert.equal(moot('config', 'check', path.join(folder, 'nothing.yaml')).status, 1);
    assert.equal(moot('serve', '--config', path.join(folder, 'nothing.yaml')).status, 1);
});

test('cli: config print gives settings that are read back the same, and no secret', () => {
    const file = path.join(folder, 'print.yaml');
    fs.writeFileSync(file, 'tokens:\n  - {token: secret-abc, id: a, profile: full}\nlimits: {envelope: 2MiB, outbox: 8MiB}\n');
    const printed = moot('config', 'print', file);

    assert.equal(printed.status, 0);
    assert.match(printed.stdout, /^ {2}envelope: 2MiB$/m);
    assert.ok(!printed.stdout.includes('secret-abc'));
    assert.match(printed.stdout, /\*\*\*/);
    const defaults = moot('config', 'print');
    fs.writeFileSync(file, defaults.stdout);
    assert.equal(moot('config', 'check', file).status, 0);
    assert.equal(moot('config', 'print', file).stdout, defaults.stdout);
    for (const name of ['rate_messages', 'ring_bytes', 'listen', 'token_file', 'kick_bar'])
        assert.ok(moot('config', 'options').stdout.includes(name), name);
});

test('cli: explain exits with 0 when allowed, 1 when denied, and gives a reason for each capability', () => {
    const allowed = moot('explain', 'mcp/request:tools/call:dig', '--capabilities', 'chat, mcp/request:tools/*');
    assert.equal(allowed.status, 0);
    assert.match(allowed.stdout, /allowed by "mcp\/request:tools\/\*"/);
    const denied = moot('explain', 'mcp/request:tools/call', '--profile', 'proposer');
    assert.equal(denied.status, 1);
    assert.match(denied.stdout, /denied: no capability covers it/);
    assert.equal(denied.stdout.match(/ {2}no: /g).length, 3);
    for (const [kind, status] of [['system/welcome', 1], ['no kind', 1], ['chat', 0], ['mcp/withdraw', 0]])
        assert.equal(moot('explain', kind, '--capabilities', '*').status, status, kind);
    const { stdout } = moot('explain', 'chat', '--json', '--capabilities', '["mcp/*","chat"]');
    const json = JSON.parse(stdout);
    assert.deepEqual([json.allowed, json.capabilities.map(({ covers }) => covers)], [true, [false, true]]);
});
