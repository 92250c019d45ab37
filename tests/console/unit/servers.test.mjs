// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

import { load } from './load.mjs';

const { sandboxOf, bytesOf, linesOfDifference, toReview, offersOf, faultsOf, settingsOf, commandOf, yamlOf, quoted } = await load('state/servers.ts');

const texts = (settings) => sandboxOf(settings).map(({ text }) => text).join(' ');
const risks = (settings) => sandboxOf(settings).filter(({ isRisky }) => isRisky).map(({ text }) => text);

test('what a server may touch is said in words, and what is risky is marked', () => {
    const strict = { name: 'a', command: ['x'], sandbox: 'strict', network: 'none', memory: 512 << 20, processes: 64, cpu: 100 };

    assert.match(texts(strict), /sandbox of its own.*no network.*Nothing else.*512 MiB of memory, 64 processes and 100 % of a core/);
    assert.deepEqual(risks(strict), []);
    assert.deepEqual(risks({ ...strict, write: ['/srv/notes'] }), ['It may change /srv/notes.']);
    assert.match(texts({ ...strict, hosts: ['api.example:443'], network: 'hosts' }), /these hosts and no others: api\.example:443/);
    assert.equal(risks({ ...strict, hosts: ['*.example'] }).length, 1);
    assert.match(risks({ name: 'a', command: ['x'], sandbox: 'off', network: 'any' })[0], /not confined/);
    assert.match(texts({ name: 'a', url: 'https://x', headers: { Authorization: { file: '/secret' } } }), /elsewhere.*Authorization/);
    const env = texts({ ...strict, env: { MODE: 'dev', KEY: { env: 'OURS' } } });
    assert.match(env, /Variables are set for it: MODE\..*Secrets are given to it as variables: KEY/);
    assert.doesNotMatch(env, /OURS|dev/);
    assert.match(texts({ ...strict, read: ['/a\u202eb'] }), /⟨U\+202E⟩/);
    assert.equal(bytesOf(1536), '1.5 KiB');
});

test('differences are lines, and what nobody has seen is to be reviewed', () => {
    const offer = (key, verdict, held = verdict !== 'seen') => ({ key, verdict, held, item: {} });
    const listing = { pin: 'hold', trusted: true, tools: [offer('a', 'seen'), offer('b', 'changed'), offer('c', 'dropped')], resourceTemplates: [offer('d', 'new')] };

    assert.deepEqual(linesOfDifference('- a\n+ b\n  c\n'), [{ kind: 'removed', text: 'a' }, { kind: 'added', text: 'b' }, { kind: 'same', text: '  c' }]);
    assert.deepEqual(toReview(listing).map(({ type, offer: { key } }) => [type, key]), [['tool', 'b'], ['template', 'd']]);
    assert.equal(offersOf(listing).length, 4);
});

const form = { name: 'files', topic: 'lobby', kind: 'command', command: 'npx\n-y\nserver\n/srv/it\'s mine', url: '', sandbox: 'strict', read: '', write: '/srv/a b\n', hosts: '' };

test('a form becomes settings, a command and YAML', () => {
    assert.deepEqual(settingsOf(form), { name: 'files', topic: 'lobby', command: ['npx', '-y', 'server', '/srv/it\'s mine'], sandbox: 'strict', write: ['/srv/a b'] });
    assert.equal(commandOf(form), 'moot run lobby --as files --write \'/srv/a b\' -- npx -y server \'/srv/it\'\\\'\'s mine\'');
    assert.equal(commandOf({ ...form, kind: 'url', url: 'https://x/?a=b&c' }), 'moot run lobby --as files --url \'https://x/?a=b&c\'');
    assert.match(yamlOf(form), /^servers:\n {2}"files":\n {4}topic: "lobby"\n {4}command: \["npx"/);
    assert.deepEqual([...faultsOf(form)], []);
    assert.deepEqual([...faultsOf({ ...form, name: '-x', command: ' ', read: 'relative' })], ['name', 'command', 'read']);
    assert.deepEqual([...faultsOf({ ...form, kind: 'url', url: 'javascript:alert(1)' })], ['url']);
});

test('no word means anything to a shell', () => {
    for (const word of ['$(id)', '`id`', 'a;b', '\'"\\', '', 'a\nb', '*', '~', '-x', '#'])
        assert.equal(execFileSync('sh', ['-c', `printf %s ${quoted(word)}`], { encoding: 'utf8' }), word);
});
