// SPDX-License-Identifier: Apache-2.0
// moot rules: learned from what people decided on a gateway, tried on its record, and read from a file.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';
import { moot } from './moot.mjs';
import { Recorder } from './record.mjs';

let gateway, folder, human, agent, other;
const at = (name) => path.join(folder, name);
const rules = (...args) => moot(null, null, ['rules', ...args], { env: { MOOT_DATA: gateway.data } });

before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-rules-'));
    gateway = await startGateway({
        tokens: [person('ann', { type: 'human' }), person('bot', { capabilities: ['mcp/proposal:*', 'mcp/withdraw', 'chat'] }), person('robot')],
        limits: { rate_messages: 0 },
    });
    human = await gateway.join('ann', { topic: 'room' });
    agent = await gateway.join('bot', { topic: 'room' });
    other = await gateway.join('robot', { topic: 'room' });
});
after(async () => {
    await gateway.stop();
    fs.rmSync(folder, { recursive: true });
});

const call = (name, args) => ({ method: 'tools/call', params: { name, arguments: args } });

async function propose(name, args) {
    const sent = agent.send(envelope('bot', `mcp/proposal:tools/call:${name}`, { to: ['files'], payload: call(name, args) }));

    await expect(human, ({ id }) => id === sent.id);
    return sent;
}

async function fulfil(who, proposal, name, args) {
    const sent = who.send(envelope(who.id, `mcp/request:tools/call:${name}`, { to: ['files'], correlation_id: proposal.id, payload: { jsonrpc: '2.0', id: 1, ...call(name, args) } }));

    await expect(human, ({ id }) => id === sent.id);
}

async function reject(proposal) {
    const sent = human.send(envelope('ann', 'mcp/reject', { correlation_id: proposal.id, payload: { reason: 'no' } }));

    await expect(human, ({ id }) => id === sent.id);
}

test('rules learn: what a person approved often is suggested, what others did is not', async () => {
    const write = (i) => ({ path: `/srv/app/m${i % 3}/f${i}.c`, mode: 'w' });

    for (let i = 0; i < 20; i++)
        await fulfil(human, await propose('write', write(i)), 'write', write(i));
    for (let i = 0; i < 20; i++)
        await fulfil(other, await propose('remove', { path: '/srv/app/old' }), 'remove', { path: '/srv/app/old' });
    await reject(await propose('write', { path: '/srv/app/keys', mode: 'w' }));
    await propose('write', write(3)); // nobody decides
    agent.send(envelope('bot', 'mcp/withdraw', { correlation_id: (await propose('write', write(4))).id }));

    const few = await rules('learn', '--topic', 'room');
    assert.deepEqual([few.status, few.stdout], [0, 'rules: []\n'], 'all of it was on one day');
    assert.match(few.stderr, /41 decisions, of which 20 approvals and 1 rejections by people teach; 0 rules/);
    assert.match(few.stderr, /20 decisions are by others than people/);

    const { status, stdout } = await rules('learn', '--topic', 'room', '--days', '1');
    assert.equal(status, 0);
    assert.match(stdout, /^rules:\n {2}# In room, bot may call write of files, 20 times an hour at most, until /);
    assert.match(stdout, /\n {4}tool: "write"\n/);
    assert.match(stdout, /\n {6}mode: \{ exactly: "w" \}\n {6}path: \{ under: "\/srv\/app", characters: "a-z 0-9 \.", max_bytes: 17, depth: 2, endings: \["\.c"\] \}\n/);
    assert.match(stdout, /\n {4}evidence:\n {6}approved: 20\n {6}beside: 1\n {6}days: 1\n/);
    assert.equal(stdout.match(/- id:/g).length, 1);
    fs.writeFileSync(at('rules.yaml'), stdout);

    const json = JSON.parse((await rules('learn', '--days', '1', '--json')).stdout);
    assert.deepEqual(json.rules.map(({ tool, evidence }) => [tool, evidence.approved, evidence.people]), [['write', 20, ['ann']]]);
    assert.deepEqual(JSON.parse((await rules('learn', '--topic', 'elsewhere', '--days', '1', '--json')).stdout), { rules: [] });
});

test('rules learn: who is a person can be told, but not of whom the record knows better', async () => {
    const { stdout } = await rules('learn', '--days', '1', '--person', 'robot', '--json');

    assert.deepEqual(JSON.parse(stdout).rules.map(({ tool }) => tool), ['write']);
});

test('rules check: says it in words, and where it is wrong', async () => {
    const { status, stdout } = await rules('check', at('rules.yaml'));

    assert.equal(status, 0);
    assert.match(stdout, /^r-[0-9a-f]{32} \(suggested\)\nIn room, bot may call write of files, 20 times an hour/);
    assert.match(stdout, /\n {2}path is a path beneath \/srv\/app, of a-z 0-9 \. alone, 17 bytes and 2 parts at most, ending with \.c\n/);
    assert.match(stdout, /rules\.yaml is fine: 1 rule\.\n$/);

    const head = 'rules:\n  - topic: room\n    proposer: bot\n    method: tools/call\n    tool: write\n';
    const cases = [
        ['rulez: []\n', /:1:1: unknown key "rulez"|:1:1: "rules" is missing/],
        [`${head}    arguments: {}\n    colour: red\n`, /:7:5: unknown key "colour"/],
        [`${head}    arguments:\n      path: { under: /, characters: a-z, max_bytes: 9 }\n`, /:7:22: must be a directory/],
        [`${head}    arguments:\n      path: { under: /home/ann, characters: a-z, max_bytes: 9 }\n`, /:7:22: must be a directory/],
        [`${head}    arguments:\n      path: { under: /srv/../etc, characters: a-z, max_bytes: 9 }\n`, /:7:22: must be a directory/],
        [`${head}    arguments:\n      path: { under: /srv/app }\n`, /:7:13: "max_bytes" must be/],
        [`${head}    arguments:\n      n: { between: [3, 1] }\n`, /:7:21: ends before it begins/],
        [`${head}    arguments:\n      n: { exactly: 1, one_of: [1, 2] }\n`, /:7:32: "one_of" does not go with "exactly"/],
        [`${head}    arguments:\n      n: { prefix: ab, characters: a-z, max_bytes: 9 }\n`, /:7:20: must be 3 characters or more/],
        [`${head}    arguments: {}\n    state: perhaps\n`, /:7:12: "state" must be/],
        [`${head}    arguments: {}\n    tool: write\n`, /:7:5: duplicate key "tool"/],
        [`${head}    arguments: {}\n  - [\n`, /not valid YAML/],
        ['', /"rules" is missing/],
    ];
    for (const [text, wanted] of cases) {
        fs.writeFileSync(at('bad.yaml'), text);
        const { status: code, stderr } = await rules('check', at('bad.yaml'));

        assert.equal(code, 1, text);
        assert.match(stderr, wanted, text);
        assert.match(stderr, /bad\.yaml/);
    }
    assert.equal((await rules('check', at('missing.yaml'))).status, 1);
});

test('rules test: a dry run says what people did, and fails where they said no', async () => {
    const good = await rules('test', at('rules.yaml'), '--topic', 'room');
    assert.equal(good.status, 0, good.stderr);
    assert.match(good.stdout, /would have approved 22: people approved 20 of them and rejected 0; 0 were decided by others, 2 by nobody\n/);
    assert.match(good.stdout, /22 of 43 proposals are covered, 0 of them falsely\.\n$/);

    const no = await propose('write', { path: '/srv/app/m1/f1.c', mode: 'w' });
    await reject(no);
    const edited = await propose('write', { path: '/srv/app/m1/f2.c', mode: 'w' });
    await fulfil(human, edited, 'write', { path: '/srv/app/m1/f3.c', mode: 'w' });
    const bad = await rules('test', at('rules.yaml'));
    assert.equal(bad.status, 1);
    assert.match(bad.stdout, new RegExp(`false approvals: 2\n {4}${no.id}: rejected by ann, .*\n {4}${edited.id}: made with other arguments by ann, `));
    const json = JSON.parse((await rules('test', at('rules.yaml'), '--json')).stdout);
    assert.deepEqual([json.covered, json.false_approvals, json.rules[0].approved, json.rules[0].rejected, json.rules[0].corrected, json.rules[0].false],
        [24, 2, 20, 1, 1, [no.id, edited.id]]);

    const { stdout } = await rules('learn', '--days', '1');
    assert.equal(stdout, 'rules: []\n', 'what was rejected since is in no rule');
});

test('rules: what a gateway wrote, it reads; an export does as well', async () => {
    const r = new Recorder({ at: Date.parse('2026-10-01T00:00:00Z') });

    r.add({ event: 'connect', topic: 'room', participant: 'ann', kind: 'websocket', body: { type: 'human' } });
    for (let i = 0; i < 20; i++) {
        const id = r.say('bot', 'mcp/proposal:tools/call:tag', call('tag', { name: `v1.${i}`, 'odd "name"': 'a\\b', n: 1e3 }), { later: 6 * 3_600_000 });

        if (i % 2) // a person approves, a program carries it out
            r.say('ann', 'mcp/approve', {}, { correlation_id: id });
        r.say(i % 2 ? 'robot' : 'ann', 'mcp/request:tools/call:tag', { jsonrpc: '2.0', id: 1, ...call('tag', { n: 1000, 'odd "name"': 'a\\b', name: `v1.${i}` }) }, { correlation_id: id });
    }
    for (let i = 0; i < 30; i++) { // by a rule, by the proposer's own client, and without anybody
        const id = r.say('bot', 'mcp/proposal:tools/call:push', call('push', {}));

        r.add({ event: 'envelope', topic: 'room', participant: 'ann', kind: 'mcp/request:tools/call:push', id: `x${i}`, correlation_id: id, verdict: 'allowed',
            body: { protocol: 'mcpx/v0.1', id: `x${i}`, from: 'ann', kind: 'mcp/request:tools/call:push', correlation_id: id, ...(i % 2 ? { rule: 'r-1' } : { self_approved: 'bot' }), payload: call('push', {}) } });
    }
    fs.writeFileSync(at('record.jsonl'), r.text());
    const { status, stdout, stderr } = await rules('learn', '--file', at('record.jsonl'));

    assert.equal(status, 0, stderr);
    assert.match(stdout, /name: \{ prefix: "v1\.", characters: "0-9", max_bytes: 5, depth: 1 \}/);
    assert.match(stdout, /"odd \\"name\\"": \{ exactly: "a\\\\b" \}/);
    assert.match(stdout, /n: \{ exactly: 1000 \}/);
    assert.equal(stdout.match(/- id:/g).length, 1, stdout);
    fs.writeFileSync(at('export.yaml'), stdout);
    const tried = await rules('test', at('export.yaml'), '--file', at('record.jsonl'));
    assert.equal(tried.status, 0, tried.stderr);
    assert.match(tried.stdout, /would have approved 20: people approved 20/);
});

test('rules: options that make no sense are refused', async () => {
    for (const args of [['learn', '--days', '0'], ['learn', '--approvals', 'x'], ['learn', '--bound', '1.5'], ['learn', '--since', '5'], ['check'], ['test']])
        assert.equal((await rules(...args)).status, 2, args.join(' '));
});
