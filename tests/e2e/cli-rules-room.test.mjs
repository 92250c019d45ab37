// SPDX-License-Identifier: Apache-2.0
// moot rules list, show, explain, accept, decline, enable, disable, remove, export, import, suggest: the rules
// of a topic, from what was learned to what acts, and moot topic set T automation.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, expect, person, program, startGateway } from './gateway.mjs';
import { moot } from './moot.mjs';
import { startTerminal } from './terminal.mjs';

let gateway, folder, ann, bot;
const at = (name) => path.join(folder, name);
const rules = (who, ...args) => moot(gateway, who, ['rules', ...args]);
const local = (...args) => moot(null, null, args, { env: { MOOT_DATA: gateway.data } });
const listed = async (topic) => JSON.parse((await rules('ann', 'list', topic, '--json')).stdout).rules;
const stateOf = async (topic, id) => (await listed(topic)).find((rule) => rule.id === id)?.state;

before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-rules-room-'));
    gateway = await startGateway({
        tokens: [
            person('ann', { profile: 'human' }), person('cat', { type: 'human', capabilities: ['mcp/*', 'chat', 'rule/*'] }), person('boss', { profile: 'admin' }),
            person('orch', { profile: 'orchestrator' }), person('robot', { capabilities: ['mcp/*', 'chat', 'rule/*'] }),
            person('bot', { capabilities: ['mcp/proposal:*', 'chat'] }),
        ],
        limits: { rate_messages: 0 },
    });
    ann = await gateway.join('ann', { topic: 'room' });
    bot = await gateway.join('bot', { topic: 'room' });
});
after(async () => {
    await gateway.stop();
    fs.rmSync(folder, { recursive: true });
});

// A file of rules; each is said by what differs.
function file(name, topic, ...some) {
    const rest = { topic, proposer: 'bot', method: 'tools/call', tool: 'write', to: 'files', budget: 20 };

    fs.writeFileSync(at(name), JSON.stringify({ rules: some.map((more) => ({ ...rest, arguments: {}, ...more })) }));
    return at(name);
}

// Rules of a topic that were suggested; their ids.
async function suggested(topic, ...some) {
    const { status, stdout, stderr } = await rules('orch', 'suggest', topic, file('suggested.json', topic, ...some), '--json');

    assert.equal(status, 0, stderr);
    return stdout.trim().split('\n').map((line) => JSON.parse(line).rule);
}

const exactly = (value) => ({ arguments: { name: { exactly: value } } });
const under = { arguments: { path: { under: '/srv/app', characters: 'a-z 0-9 .', max_bytes: 30, depth: 2 } } };

test('a topic without rules says what to do', async () => {
    const { status, stdout, stderr } = await rules('ann', 'list', 'room');

    assert.deepEqual([status, stdout], [0, '']);
    assert.match(stderr, /^moot: room has no rules yet; .*\n {2}moot rules learn --topic room > rules\.yaml\n {2}moot rules import room rules\.yaml\n$/);
    assert.deepEqual(JSON.parse((await rules('ann', 'list', '--topic', 'room', '--json')).stdout), { automation: 'on', rules: [] });
    assert.match((await rules('ann', 'show', 'room', 'r-1')).stderr, /there is no rule "r-1" in room; `moot rules list room`/);
});

test('what is learned is suggested, explained, accepted and exported', async () => {
    const call = (i) => ({ method: 'tools/call', params: { name: 'write', arguments: { path: `/srv/app/m${i % 3}/f${i}.c`, mode: 'w' } } });

    for (let i = 0; i < 20; i++) {
        const sent = bot.send(envelope('bot', 'mcp/proposal:tools/call:write', { to: ['files'], payload: call(i) }));
        await expect(ann, ({ id }) => id === sent.id);
        const made = ann.send(envelope('ann', 'mcp/request:tools/call:write', { to: ['files'], correlation_id: sent.id, payload: { jsonrpc: '2.0', id: 1, ...call(i) } }));
        await expect(ann, ({ id }) => id === made.id);
    }
    const learned = (await local('rules', 'learn', '--topic', 'room', '--days', '1')).stdout;
    const given = await moot(gateway, 'orch', ['rules', 'suggest', 'room', '-'], { input: learned });
    assert.match(given.stdout, /^suggested {2}r-[0-9a-f]{32} {2}bot: write at files\n$/);
    assert.deepEqual([given.status, given.stderr], [0, 'moot: 1 suggested\n']);
    const [{ id, state, created_by, evidence }] = await listed('room');
    assert.deepEqual([state, created_by, evidence.approved, evidence.people], ['suggested', 'orch', 20, ['ann']]);

    const table = (await rules('ann', 'list', 'room')).stdout.split('\n');
    assert.match(table[0], /^ID +STATE +EXPIRES +USES\/H +PROPOSER +WHAT$/);
    assert.match(table[1], new RegExp(`^${id.slice(0, 8)} +suggested +\\d+d +0/\\d+ +bot +write at files: mode="w" .*$`));
    assert.ok(table.every((line) => line.length <= 80));

    const words = (await rules('ann', 'explain', 'room', id.slice(0, 6))).stdout;
    assert.match(words, /may call write of files/);
    assert.match(words, /\n {2}path is a path beneath \/srv\/app/);
    assert.match(words, /Those numbers are the word of orch/);
    assert.match(words, /It does not act: it was only suggested by orch/);

    const shown = (await rules('ann', 'show', 'room', id)).stdout;
    assert.match(shown, /\n {4}evidence:\n {6}approved: 20\n/);
    assert.match(shown, /\n {4}# Not used yet\.\n$/);
    fs.writeFileSync(at('shown.yaml'), shown);
    assert.equal((await local('rules', 'check', at('shown.yaml'))).status, 0);

    const tried = await local('rules', 'test', id.slice(0, 8), '--topic', 'room');
    assert.equal(tried.status, 0, tried.stderr);
    assert.match(tried.stdout, /would have approved 20: people approved 20 of them and rejected 0/);
    assert.deepEqual([(await local('rules', 'test', id)).status, (await local('rules', 'test', 'r-0', '--topic', 'room')).status], [2, 1]);

    const accepted = await rules('ann', 'accept', 'room', id.slice(0, 8), '--budget', '3', '--expires', '14d');
    assert.deepEqual(accepted, { status: 0, stdout: `${id} is active: it acts from now on\n`, stderr: '' });
    const [active] = await listed('room');
    assert.deepEqual([active.state, active.budget, active.accepted_by], ['active', 3, 'ann']);
    assert.ok(Math.abs(Date.parse(active.expires_at) - Date.now() - 14 * 86_400_000) < 600_000);
    assert.match((await rules('ann', 'explain', 'room', id)).stdout, /It acts: it was made active by ann, 20/);
    assert.deepEqual(JSON.parse((await rules('ann', 'explain', 'room', id, '--json')).stdout).acts, true);

    const exported = (await rules('ann', 'export', 'room')).stdout;
    fs.writeFileSync(at('exported.yaml'), exported);
    assert.match((await local('rules', 'check', at('exported.yaml'))).stdout, /is fine: 1 rule\./);
    const again = await rules('ann', 'import', 'room', at('exported.yaml'));
    assert.deepEqual([again.status, again.stdout, again.stderr], [0, `there      ${id}  active\n`, 'moot: 1 there already\n']);
});

test('what does not go says what does', async () => {
    const [one, two, own] = await suggested('states', exactly('a'), exactly('b'), { ...exactly('c'), proposer: 'ann' });
    const refused = async (who, wanted, ...args) => {
        const { status, stdout, stderr } = await rules(who, ...args);

        assert.deepEqual([status, stdout], [4, ''], stderr);
        assert.match(stderr, wanted);
    };

    await refused('ann', /is suggested; `moot rules accept states r-\w+` lets it act/, 'enable', 'states', one);
    await refused('ann', /is suggested; `moot rules decline states r-\w+` says no to it/, 'disable', 'states', one);
    await refused('robot', /--token-file takes the token of a person/, 'accept', 'states', one);
    await refused('ann', /it is about your own proposals; somebody else decides/, 'accept', 'states', own);
    await refused('ann', /you may not send rule\/remove in states; admin\.token may \(--token-file\)/, 'remove', 'states', one);
    await refused('bot', /you may not send rule\/accept in states/, 'accept', 'states', one);
    assert.equal((await rules('ann', 'accept', 'states', one)).status, 0);
    await refused('ann', /is active already/, 'accept', 'states', one);
    await refused('ann', /is active; `moot rules disable states r-\w+` stops it/, 'decline', 'states', one);

    assert.equal((await rules('ann', 'decline', 'states', two, 'too', 'much')).stdout, `${two} is declined\n`);
    assert.match((await rules('ann', 'explain', 'states', two)).stdout, /It does not act: it was declined by ann, .*: too much\./);
    await refused('ann', /is declined already/, 'decline', 'states', two);
    const json = await rules('ann', 'decline', 'states', two, '--json');
    assert.deepEqual([json.status, JSON.parse(json.stdout).error], [4, 'rule_state']);
    assert.equal((await rules('ann', 'accept', 'states', two)).status, 0, 'a person changes her mind');

    for (const [wanted, ...args] of [
        [/--budget takes 1 to 10000 uses an hour, not "0"/, 'accept', 'states', own, '--budget', '0'],
        [/--expires takes a time ahead/, 'accept', 'states', own, '--expires', 'soon'],
        [/--expires takes a time ahead/, 'accept', 'states', own, '--expires', '30'],
        [/366 days at most, and not for the past/, 'accept', 'states', own, '--expires', '2020-01-31'],
        [/366 days at most/, 'accept', 'states', own, '--expires', '400d'],
        [/a rule is suggested, shadow, active/, 'list', 'states', '--state', 'odd'],
        [/the reason is longer than 1024 bytes/, 'disable', 'states', one, 'x'.repeat(2000)],
    ]) {
        const { status, stderr } = await rules('ann', ...args);

        assert.equal(status, 2, args.join(' '));
        assert.match(stderr, wanted);
    }
});

test('shadow, disabled, enabled, removed', async () => {
    const [id] = await suggested('life', under);
    const said = async (...args) => (await rules('cat', ...args)).stdout;

    assert.equal(await said('accept', 'life', id, '--shadow'), `${id} is in shadow: it only says what it would do\n`);
    assert.match(await said('explain', 'life', id), /It does not act: it was put in shadow by cat/);
    assert.deepEqual(JSON.parse(await said('accept', 'life', id, '--json')), { rule: id, state: 'active' });
    assert.equal(await said('disable', 'life', id, '--reason', 'over the weekend'), `${id} is disabled: it does not act\n`);
    assert.match(await said('explain', 'life', id), /it was disabled by cat, .*: over the weekend\.\n`moot rules enable life r-\w+` lets it act again\./);
    assert.match(await said('list', 'life', '--state', 'disabled'), /disabled/);
    assert.match((await rules('cat', 'list', 'life', '--state', 'active')).stderr, /no rule of life is active/);
    assert.equal(await said('enable', 'life', id), `${id} is active again\n`);
    assert.equal((await rules('boss', 'remove', 'life', id)).stdout, `${id} is removed\n`);
    assert.deepEqual(await listed('life'), []);
});

test('less than suggested is a rule of its own', async () => {
    const [id, other] = await suggested('less', under, { ...under, tool: 'remove' });
    const shown = (await rules('ann', 'show', 'less', id)).stdout;
    const narrow = async (text, ...more) => {
        fs.writeFileSync(at('less.yaml'), text);
        return rules('ann', 'accept', 'less', id, '--narrow', at('less.yaml'), ...more);
    };

    const wide = await narrow(shown.replace('"/srv/app"', '"/srv/data"'));
    assert.deepEqual([wide.status, wide.stdout], [4, ''], 'it is not within what was suggested');
    assert.match(wide.stderr, /r-\w+ was not accepted: narrow: is not within what was suggested/);
    const bad = await narrow(shown.replace('budget: 20', 'budget: 30'));
    assert.deepEqual([bad.status, bad.stdout], [1, '']);
    assert.match(bad.stderr, /less\.yaml:.*must be the same rule but for its arguments; --budget and --expires say the rest/);
    assert.match((await narrow('path: { under: /, characters: a-z, max_bytes: 9 }\n')).stderr, /less\.yaml:1:.*must be a directory/);

    const done = await narrow(shown.replace('"/srv/app"', '"/srv/app/tests"').replace('depth: 2', 'depth: 1'), '--budget', '2');
    assert.equal(done.status, 0, done.stderr);
    const [, fresh] = /^(\S+) is active: it acts from now on\n(\S+) is declined: narrowed to that\n$/.exec(done.stdout);
    const all = await listed('less');
    const less = all.find((rule) => rule.id === fresh);
    assert.deepEqual([less.state, less.budget, less.arguments.path.under], ['active', 2, '/srv/app/tests']);
    assert.equal(all.find((rule) => rule.id === id).state, 'declined');
    assert.match((await rules('ann', 'explain', 'less', id)).stdout, new RegExp(`it was declined by ann, .*: narrowed to ${fresh}`));

    const piped = await moot(gateway, 'ann', ['rules', 'accept', 'less', other, '--narrow', '-', '--shadow', '--json'],
        { input: 'path: { exactly: /srv/app/one }\n' });
    const { rule, state, narrowed_to: to } = JSON.parse(piped.stdout);
    assert.deepEqual([piped.status, rule, state], [0, other, 'declined']);
    assert.equal(await stateOf('less', to), 'shadow');
});

test('import: of each rule it is said what became of it', async () => {
    const [known] = await suggested('brought', exactly('known'));
    const some = file('some.json', 'brought', exactly('known'), exactly('new'), { ...exactly('x'), topic: 'elsewhere' },
        { ...exactly('y'), state: 'suspended' }, { ...exactly('z'), proposer: 'ann' }, { ...exactly('old'), expires_at: '2020-01-01T00:00:00Z' });
    const fates = (text) => text.trim().split('\n').map((line) => line.split(/ {2,}/)[0]);

    const dry = await rules('ann', 'import', 'brought', some, '--dry');
    assert.deepEqual(fates(dry.stdout), ['to add', 'to add', 'refused', 'left out', 'to add', 'to add']);
    assert.match(dry.stderr, /^moot: 4 to add, 1 left out, 1 refused; nothing was sent \(--dry\)\n$/);
    assert.equal((await listed('brought')).length, 1);

    const done = await rules('ann', 'import', 'brought', some);
    assert.equal(done.status, 4, done.stderr);
    assert.deepEqual(fates(done.stdout), ['added', 'added', 'refused', 'left out', 'refused', 'refused']);
    assert.match(done.stdout, /it is for the topic elsewhere\n/);
    assert.match(done.stdout, /its state in the file is suspended, and imported rules act\n/);
    assert.match(done.stdout, /it is about your own proposals; somebody else decides\n/);
    assert.match(done.stdout, / {2}it was not added: expires_at: .*future/);
    assert.equal(done.stderr, 'moot: 2 added, 1 left out, 3 refused\n');
    assert.equal(await stateOf('brought', known), 'active');
    assert.equal((await listed('brought')).length, 2);

    const again = await rules('ann', 'import', 'brought', some, '--json');
    assert.deepEqual(again.stdout.trim().split('\n').map((line) => JSON.parse(line).result),
        ['there', 'there', 'refused', 'left out', 'refused', 'refused']);

    const barred = await rules('bot', 'import', 'brought', file('other.json', 'brought', exactly('p'), exactly('q')));
    assert.equal(barred.status, 1);
    assert.match(barred.stdout, /^refused .*you may not send rule\/add in brought/);
    assert.equal(barred.stderr, 'moot: 1 refused; 1 not tried, run it again\n');
    const robot = await rules('robot', 'import', 'brought', at('other.json'));
    assert.deepEqual([robot.status, fates(robot.stdout)], [4, ['refused', 'refused']]);
});

test('what is exported can be imported, as it was or elsewhere', async () => {
    const some = await suggested('full', exactly('a'), under, { method: 'resources/read', tool: undefined, to: '*', note: 'by # hand', ...exactly('b') });

    assert.equal((await rules('ann', 'accept', 'full', some[1])).status, 0);
    fs.writeFileSync(at('full.yaml'), (await rules('ann', 'export', 'full')).stdout);
    assert.match((await local('rules', 'check', at('full.yaml'))).stdout, /is fine: 3 rules\./);
    for (const id of some)
        assert.equal((await rules('boss', 'remove', 'full', id)).status, 0);
    assert.equal((await rules('ann', 'import', 'full', at('full.yaml'))).stderr, 'moot: 3 added\n');
    assert.deepEqual((await listed('full')).map(({ id, state }) => `${id} ${state}`).sort(), some.map((id) => `${id} active`).sort());

    const { stdout } = await rules('ann', 'export', 'full', some[2], some[2].slice(0, 10), '--json');
    assert.deepEqual(JSON.parse(stdout).rules.map(({ id, note }) => [id, note]), [[some[2], 'by # hand']]);
    const missing = await rules('ann', 'export', 'full', 'r-nothing');
    assert.deepEqual([missing.status, missing.stdout], [1, '']);
    assert.match((await rules('ann', 'show', 'full', 'r-')).stderr, /several rules begin with "r-": r-\w+, r-\w+, r-\w+; give more of it/);
});

test('suggest: what is there already, and what was declined', async () => {
    const [one, two] = await suggested('again', exactly('a'), exactly('b'));
    const some = file('again.json', 'again', exactly('a'), exactly('b'), exactly('c'));

    assert.equal((await rules('ann', 'accept', 'again', one)).status, 0);
    assert.equal((await rules('ann', 'decline', 'again', two)).status, 0);
    const { status, stdout } = await rules('orch', 'suggest', 'again', some);
    assert.equal(status, 4);
    assert.deepEqual(stdout.trim().split('\n').map((line) => line.split(/ {2,}/)[0]), ['there', 'refused', 'suggested']);
    assert.match(stdout, /was not suggested: .*declined/);
    const human = await rules('ann', 'suggest', 'again', some);
    assert.match(human.stdout, /you may not send rule\/suggest in again/);
});

test('automation: the switch of a topic', async () => {
    const [id] = await suggested('switch', exactly('a'));
    const off = await local('topic', 'set', 'switch', 'automation', 'off');

    assert.match(off.stdout, /\nautomation +off\n {2}by +local\n {2}since +20.*\n(.*\n)*rules +1\n/);
    assert.match((await local('topic', 'list')).stdout, /^TOPIC +PARTICIPANTS +BRAKE +AUTOMATION\n(.*\n)*switch +\d+ +off +off\n/);
    const { status, stdout, stderr } = await rules('ann', 'accept', 'switch', id);
    assert.deepEqual([status, stdout], [0, `${id} is active: it acts from now on\n`]);
    assert.match(stderr, /automation is off in switch, so it does not act yet; `moot topic set switch automation on` lets it/);
    assert.match((await rules('ann', 'list', 'switch')).stderr, /automation is off in switch: no rule acts/);
    assert.match((await rules('ann', 'explain', 'switch', id)).stdout, /It does not act: automation is off in switch/);
    assert.deepEqual(JSON.parse((await rules('ann', 'explain', 'switch', id, '--json')).stdout).why_not, 'automation is off');
    assert.match((await local('topic', 'set', 'switch', 'automation', 'on')).stdout, /automation +on\n/);
    assert.match((await rules('ann', 'explain', 'switch', id)).stdout, /It acts/);
    assert.match((await local('topic', 'set', 'switch', 'automation', 'perhaps')).stderr, /the automation is on or off, not "perhaps"/);
});

test('a rule is used, and stops when a person objects', async () => {
    const [id] = await suggested('work', exactly('a'));
    const [eve, worker] = [await gateway.join('bot', { topic: 'work' }), await gateway.join('orch', { topic: 'work' })];
    const call = { method: 'tools/call', params: { name: 'write', arguments: { name: 'a' } } };
    const proposed = async () => {
        const sent = eve.send(envelope('bot', 'mcp/proposal:tools/call:write', { to: ['files'], payload: call }));
        await expect(worker, (json) => json.id === sent.id);
        return sent.id;
    };
    const use = async (proposal) => {
        worker.send(envelope('orch', 'mcp/request:tools/call:write', { to: ['files'], correlation_id: proposal, rule: id, payload: { jsonrpc: '2.0', id: 1, ...call } }));
        await expect(eve, ({ kind, payload }) => kind === 'system/proposal' && payload.proposal === proposal && payload.rule === id);
    };
    const words = async () => (await rules('ann', 'explain', 'work', id)).stdout;

    assert.equal((await rules('ann', 'accept', 'work', id, '--budget', '2')).status, 0);
    const [first, second, third] = [await proposed(), await proposed(), await proposed()];
    await use(first);
    assert.match(await words(), /It acts: .*\n.*\nUsed once, 1 of 2 within this hour, the last time 20/);
    await use(second);
    assert.match(await words(), /It does not act: its budget is used up: 2 of 2 uses within this hour\.\nUsed 2 times/);
    assert.match((await rules('ann', 'list', 'work')).stdout, /active +\d+d +2\/2 /);
    assert.match((await rules('ann', 'show', 'work', id)).stdout, /\n {4}# Used 2 times, 2 of 2 within this hour/);

    const late = await moot(gateway, 'ann', ['reject', 'work', first, 'not', 'that', 'one']);
    assert.deepEqual(late, { status: 0, stdout: `rejected ${first}, too late to stop it; the rule that let it through is suspended\n`, stderr: '' });
    assert.match(await words(), /It does not act: it was suspended by ann, .*: not that one\.\n`moot rules enable work r-\w+` lets it act again/);
    assert.equal((await rules('ann', 'enable', 'work', id)).status, 0);
    assert.equal((await moot(gateway, 'ann', ['reject', 'work', third])).stdout, `rejected ${third}\n`);
    assert.equal(await stateOf('work', id), 'suspended', 'it covers what was rejected');
    const over = await moot(gateway, 'ann', ['reject', 'work', third]);
    assert.deepEqual([over.status, over.stdout], [1, '']);
    assert.match(over.stderr, /there is no open proposal/);
    assert.match((await moot(gateway, 'ann', ['reject', 'work', 'nosuch'])).stderr, /there is no open proposal "nosuch" in work/);
});

test('the local server is asked as its human', async () => {
    const path_ = file('home.json', 'home', exactly('a'));

    assert.match((await local('rules', 'import', 'home', path_)).stderr, /^moot: 1 added\n$/);
    const [{ id, accepted_by: by }] = JSON.parse((await local('rules', 'list', 'home', '--json')).stdout).rules;
    assert.equal(by, 'human');
    assert.equal((await local('rules', 'disable', 'home', id)).status, 0);
    const words = async (...given) => (await local('completion', 'for', '--', ...given)).stdout.split('\n').slice(1).map((line) => line.split('\t')[0]).filter(Boolean);
    await gateway.join('ann', { topic: 'home' });
    assert.deepEqual(await words('rules', 'enable', 'home', 'r-'), [id]);
    assert.deepEqual(await words('rules', 'export', 'home', id, 'r-'), [id]);
    const nowhere = await moot(null, null, ['rules', 'list', 'home'], { env: { MOOT_DATA: folder } });
    assert.deepEqual([nowhere.status, nowhere.stdout], [1, '']);
    assert.match(nowhere.stderr, /no server runs on/);
});

test('what is accepted is what was shown, whatever is suggested meanwhile', { skip: spawnSync('tmux', ['-V']).status !== 0 && 'there is no tmux' }, async () => {
    const soon = (ms) => new Date(Date.now() + ms).toISOString();
    const [id] = await suggested('swap', { ...under, budget: 3, expires_at: soon(86_400_000) });
    const terminal = await startTerminal([program, 'rules', 'accept', 'swap', id],
        { columns: 80, env: { MOOT_SERVER: `http://127.0.0.1:${gateway.port}`, MOOT_TOKEN: 'ann-token', NO_COLOR: '1' } });

    await terminal.sees('Let it act? [y/N]');
    assert.equal((await rules('boss', 'remove', 'swap', id)).status, 0);
    assert.deepEqual(await suggested('swap', { ...under, budget: 9000, expires_at: soon(300 * 86_400_000) }), [id]);
    await terminal.type('y');
    await terminal.press('Enter');
    await terminal.sees('is active');
    await terminal.close();
    const [active] = await listed('swap');
    assert.deepEqual([active.id, active.state, active.budget], [id, 'active', 3]);
    assert.ok(Date.parse(active.expires_at) < Date.now() + 2 * 86_400_000);
});

test('what has expired is not accepted as it is', async () => {
    const [id] = await suggested('late', { ...under, expires_at: new Date(Date.now() + 1500).toISOString() });

    await new Promise((done) => { setTimeout(done, 1600); });
    const { status, stderr } = await rules('ann', 'accept', 'late', id);
    assert.deepEqual([status, stderr], [4, 'moot: it has expired; with --expires it holds for longer\n']);
    assert.equal((await rules('ann', 'accept', 'late', id, '--expires', '2d')).status, 0);
});

test('at a terminal it is shown what will act, and asked', { skip: spawnSync('tmux', ['-V']).status !== 0 && 'there is no tmux' }, async () => {
    const [id] = await suggested('seen', under);
    const open = (...args) => startTerminal([program, 'rules', ...args],
        { columns: 80, env: { MOOT_SERVER: `http://127.0.0.1:${gateway.port}`, MOOT_TOKEN: 'ann-token', NO_COLOR: '1' } });

    let terminal = await open('accept', 'seen', id);
    const screen = await terminal.sees('Let it act? [y/N]');
    assert.match(screen, /^In seen, bot may call write of files, 20 times an hour at most, until\n20\d\d-\d\d-\d\d, where\n {2}path is a path beneath \/srv\/app/);
    await terminal.press('Enter');
    await terminal.sees('moot: it was not accepted');
    await terminal.close();
    assert.equal(await stateOf('seen', id), 'suggested');

    terminal = await open('import', 'seen', file('seen.json', 'seen', under, exactly('a')));
    await terminal.sees('Let these 2 rules act? [y/N]');
    await terminal.sees(`${id} (suggested here)`);
    await terminal.type('y');
    await terminal.press('Enter');
    await terminal.sees('moot: 2 added');
    await terminal.close();
    assert.equal(await stateOf('seen', id), 'active');

    terminal = await open('list', 'seen');
    const table = await terminal.sees(/write at files: path=\/srv\/app\/\.\./);
    assert.ok(table.split('\n').every((line) => line.length <= 80));
    await terminal.close();
});
