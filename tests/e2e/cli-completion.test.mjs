// SPDX-License-Identifier: Apache-2.0
// moot completion: what the program offers, and the scripts in the shells they are for.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, expect, person, program, startGateway } from './gateway.mjs';
import { environment, moot } from './moot.mjs';

let gateway, env;
const hostile = '$(touch owned)';

before(async () => {
    gateway = await startGateway({ tokens: [person('alice'), person('bob'), person(hostile, { token: 'mallory-token' })] });
    const alice = await gateway.join('alice', { topic: 'lobby' });
    await gateway.join('bob', { topic: 'lobby' });
    await gateway.join(hostile, { topic: 'lobby', token: 'mallory-token' });
    alice.send(envelope('alice', 'mcp/proposal:tools/call:x', { id: 'prop-1', payload: { method: 'tools/call', params: { name: 'x' } } }));
    alice.send(envelope('alice', 'mcp/proposal:tools/call:x', { id: '`id`', payload: { method: 'tools/call', params: { name: 'x' } } }));
    await expect(alice, (json) => json.id === '`id`');
    for (const id of ['ann', '$(touch owned)'])
        await gateway.request('POST /admin/resources', { token: gateway.adminToken(), json: { id, kind: 'human', name: 'x' } });
    fs.mkdirSync(path.join(gateway.data, 'fruit', 'apples'), { recursive: true });
    fs.writeFileSync(path.join(gateway.data, 'fruit', 'apricot'), '');
    env = { MOOT_DATA: gateway.data };
});
after(async () => { await gateway.stop(); });

// The sort of what is offered, then the words.
async function offered(words, more = {}) {
    const { status, stdout, stderr } = await moot(null, null, ['completion', 'for', '--', ...words], { env: { ...env, ...more } });
    const [sort, ...lines] = stdout.split('\n');

    assert.deepEqual([status, stderr], [0, '']);
    return [sort, ...lines.filter(Boolean).map((line) => line.split('\t')[0])];
}

const cases = [
    [['ta'], 'words tail'],
    [['toke'], 'words token'],
    [['token', ''], 'words create list revoke'],
    [['token', 'r'], 'words revoke'],
    [['--v'], 'words --version'],
    [['tail', ''], 'words lobby'],
    [['tail', 'x'], 'words'],
    [['tail', 'lobby', '--k'], 'words --kind'],
    [['tail', 'lobby', '--kind', 'chat', '--k'], 'words --kind'],
    [['tail', 'lobby', '--count', '1', '--co'], 'words'],
    [['tail', 'lobby', '--json', '--', '--k'], 'words'],
    [['resource', ''], 'words export import list remove search set show'],
    [['resource', 'show', ''], 'words ann'],
    [['resource', 'show', 'ann', ''], 'words'],
    [['resource', 'remove', 'ann', ''], 'words ann'],
    [['resource', 'set', 'ann', 'na'], 'words name='],
    [['resource', 'set', 'ann', 'name=x', 'p'], 'words participant= per= profile='],
    [['resource', 'import', ''], 'files'],
    [['resource', 'import', '--format', ''], 'words csv jsonl'],
    [['resource', 'list', '--kind', 'a'], 'words agent'],
    [['tail', '--data', ''], 'dirs'],
    [['tail', '--token-file', ''], 'files'],
    [['tail', '--token-file=x'], 'files'],
    [['tail', '--topic=l'], 'words --topic=lobby'],
    [['tail', '--json=l'], ''],
    [['tail', 'lobby', '--from', ''], 'words alice bob'],
    [['call', 'lobby', 'a'], 'words alice'],
    [['call', '--topic', 'lobby', 'b'], 'words bob'],
    [['call', '--json', 'lobby', '--arg', 'a=b', 'b'], 'words bob'],
    [['approve', 'lobby', ''], 'words prop-1'],
    [['approve', 'lobby', 'prop-1', ''], 'words'],
    [['reject', 'nowhere', ''], 'words'],
    [['completion', ''], 'words bash fish zsh'],
    [['config', 'check', ''], 'files'],
    [['rules', ''], 'words accept check decline disable enable explain export import learn list remove show suggest test'],
    [['rules', 'import', 'lobby', ''], 'files'],
    [['rules', 'accept', 'lobby', ''], 'words'],
    [['rules', 'list', 'lobby', '--state', 's'], 'words shadow suggested suspended'],
    [['topic', 'set', 'lobby', ''], 'words automation brake'],
    [['topic', 'set', 'lobby', 'automation', ''], 'words off on'],
    [['rules', 'test', ''], 'files'],
    [['rules', 'learn', '--to'], 'words --token-file --topic'],
    [['rules', 'learn', '--topic', ''], 'words lobby'],
    [['serve', '--config', ''], 'files'],
    [['token', 'create', ''], 'words'],
    [['nosuch', ''], 'words'],
];

for (const [words, want] of cases)
    test(`completion: behind "${words.join(' ')}"`, async () => {
        const [sort, ...names] = await offered(words); // in the server's order
        assert.equal([sort, ...names.sort()].join(' ').trim(), want);
    });

test('completion: without words all commands are offered, each once, with what they do', async () => {
    const { stdout } = await moot(null, null, ['completion', 'for'], { env });
    const lines = stdout.trim().split('\n').slice(1).map((line) => line.split('\t'));
    const help = (await moot(null, null, ['--help'])).stdout;
    const names = [...help.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => name);

    assert.deepEqual(lines.map(([name]) => name), [...new Set(names), '--help', '--version']);
    assert.equal(Object.fromEntries(lines).tail, 'follow what is said in a topic');
});

test('completion: all options of every command are offered', async () => {
    const help = (await moot(null, null, ['--help'])).stdout;
    const commands = [...help.matchAll(/^ {2}([a-z][a-z-]*(?: [a-z]+)?) {2,}/gm)].map(([, name]) => name.split(' '));

    for (const words of commands) {
        const about = (await moot(null, null, [...words, '--help'])).stdout;
        const options = [...about.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, name]) => name);
        assert.deepEqual(await offered([...words, '--']), ['words', ...options, '--help'], words.join(' '));
    }
});

test('completion: the topic may be said by the environment', async () => {
    assert.deepEqual(await offered(['call', 'b'], { MOOT_TOPIC: 'lobby' }), ['words', 'bob']);
    assert.deepEqual(await offered(['approve', ''], { MOOT_TOPIC: 'lobby' }), ['words', 'prop-1']);
});

test('completion: other shells are not known', async () => {
    for (const args of [['tcsh'], ['bash', 'zsh'], []])
        assert.equal((await moot(null, null, ['completion', ...args])).status, 2);
});

// --- in shells ---

const has = (shell) => spawnSync(shell, ['-c', 'exit 0']).status === 0;
const inShell = (shell, args, script) => execFileSync(shell, [...args, script], {
    encoding: 'utf8', cwd: gateway.data, env: environment(null, null, { ...env, HOME: gateway.data, PROGRAM: program, PATH: `${path.dirname(program)}:${process.env.PATH}` }),
}).split('\n').filter(Boolean);

// Words as readline cuts them; the last one is completed.
const bash = (...words) => inShell('bash', ['--norc', '-c'], `
    source <("$PROGRAM" completion bash)
    compopt() { :; }
    COMP_WORDS=(moot ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
    _moot moot; printf '%s\\n' "\${COMPREPLY[@]}"`);

test('completion: bash', () => {
    assert.deepEqual(bash('ta'), ['tail']);
    assert.deepEqual(bash('token', ''), ['create', 'list', 'revoke']);
    assert.deepEqual(bash('call', 'lobby', '').sort(), ['alice', 'bob']);
    assert.deepEqual(bash('tail', '--topic', '=', 'l'), ['lobby'], '--topic=l is three words to readline');
    assert.deepEqual(bash('tail', '--topic', '='), ['lobby']);
    assert.deepEqual(bash('tail', '--token-file', '=', 'fruit/a').sort(), ['fruit/apples', 'fruit/apricot']);
    assert.deepEqual(bash('tail', '--data', 'fruit/a'), ['fruit/apples']);
    assert.deepEqual(bash('tail', 'x', ':', 'y', '--k'), ['--kind']);
    assert.ok(!fs.existsSync(path.join(gateway.data, 'owned')));
});

test('completion: zsh', { skip: !has('zsh') && 'there is no zsh' }, () => {
    // The functions of its completion system are stood in for: they say what they are given.
    const zsh = (...words) => inShell('zsh', ['-f', '-c'], `
        compdef() { :; }; compset() { :; }
        _describe() { print -l -- "\${(@P)2}"; }
        _files() { print -r -- files "$@"; }
        source <("$PROGRAM" completion zsh)
        words=(moot ${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length + 1}
        _moot`);

    assert.deepEqual(zsh('ta'), ['tail:follow what is said in a topic']);
    assert.deepEqual(zsh('call', 'lobby', '').sort(), ['alice:', 'bob:']);
    assert.deepEqual(zsh('tail', '--token-file', ''), ['files']);
    assert.deepEqual(zsh('tail', '--data', ''), ['files -/']);
    assert.deepEqual(zsh('who', '--s'), ['--server:wss://HOST:PORT, https:// …; or $MOOT_SERVER']);
    assert.deepEqual(zsh('tail', '--topic=l'), ['--topic=lobby:']);
});

test('completion: fish', { skip: !has('fish') && 'there is no fish' }, () => {
    const fish = (line) => inShell('fish', ['--no-config', '-c'], `"$PROGRAM" completion fish | source; complete -C '${line}'`);

    assert.deepEqual(fish('moot ta'), ['tail\tfollow what is said in a topic']);
    assert.deepEqual(fish('moot call lobby ').map((line) => line.trim()).sort(), ['alice', 'bob']);
    assert.deepEqual(fish('moot tail --token-file fruit/a').map((line) => line.split('\t')[0]), ['fruit/apples/', 'fruit/apricot']);
    assert.deepEqual(fish('moot tail --data fruit/a').map((line) => line.split('\t')[0]), ['fruit/apples/']);
    assert.deepEqual(fish('moot tail --topic=l').map((line) => line.trim()), ['--topic=lobby']);
});
