// SPDX-License-Identifier: Apache-2.0
// moot audit on exports: what it finds, draws, copies and proves without any server.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { program } from './gateway.mjs';
import { moot } from './moot.mjs';
import { Recorder } from './record.mjs';
import { startTerminal } from './terminal.mjs';

const hasTmux = fs.existsSync('/usr/bin/tmux');
let folder, record;
const at = (...names) => path.join(folder, ...names);
const audit = (args, { input, env } = {}) => moot(null, null, ['audit', ...args], { input, env: { TZ: 'UTC0', ...env } });

// A proposal that was approved by one, fulfilled by another, and answered; and what else a day brings.
function conversation() {
    const r = new Recorder();
    const call = { method: 'tools/call', params: { name: 'delete_file', arguments: { path: '/tmp/old' } } };

    r.add({ event: 'server', kind: 'start', body: { version: '0.1.0' } });
    r.add({ event: 'connect', topic: 'room', participant: 'ann', kind: 'websocket' });
    r.say('ann', 'chat', { text: 'Shall we deploy the build?' });
    r.say('eve', 'chat', { text: 'red \u001b[31m\u202e and\nmore' }, { topic: 'other' });
    r.checkpoint();
    r.say('bot', 'mcp/proposal:tools/call:delete_file', { ...call, reason: 'it is old' }, { id: 'p1', to: ['files'] });
    r.say('bob', 'mcp/approve', {}, { id: 'a1', correlation_id: 'p1', later: 2500 });
    r.say('ann', 'mcp/request:tools/call:delete_file', { jsonrpc: '2.0', id: 'f1', ...call }, { id: 'f1', correlation_id: 'p1', to: ['files'], later: 8000 });
    r.say('files', 'mcp/response:tools/call:delete_file', { jsonrpc: '2.0', id: 'f1', result: { content: [{ type: 'text', text: 'gone' }] } },
        { id: 'r1', correlation_id: 'f1', to: ['ann', 'bot'], later: 120 });
    r.add({ event: 'refusal', topic: 'room', participant: 'bot', kind: 'mcp/request:tools/call:rm', id: 'x1', verdict: 'capability_violation',
        body: { id: 'x1', from: 'bot', kind: 'mcp/request:tools/call:rm', payload: { method: 'tools/call', params: { name: 'rm' } } } });
    r.checkpoint();
    r.say('ann', 'chat', { text: 'Deployed.' });
    return r;
}

before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-audit-'));
    record = conversation();
    fs.writeFileSync(at('record.jsonl'), record.text());
    fs.mkdirSync(at('with-key'));
    fs.writeFileSync(at('with-key', 'record.jsonl'), record.text());
    fs.writeFileSync(at('with-key', 'audit.pub'), `${record.origin}\n`);
});
after(() => fs.rmSync(folder, { recursive: true }));

// The numbers of what is found.
async function found(...args) {
    const { status, stdout, stderr } = await audit(['search', '--file', at('record.jsonl'), '--json', ...args]);

    assert.deepEqual([status, stderr], [0, ''], stderr);
    return stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line).seq);
}

test('audit search: all that is given must hold', async () => {
    assert.deepEqual(await found(), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    assert.deepEqual(await found('--oldest-first'), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert.deepEqual(await found('--topic', 'other'), [4]);
    assert.deepEqual(await found('--participant', 'ann'), [10, 7, 3, 2]);
    assert.deepEqual(await found('--participant', 'ann', '--kind', 'chat'), [10, 3]);
    assert.deepEqual(await found('--kind', 'mcp/*'), [9, 8, 7, 6, 5]);
    assert.deepEqual(await found('--event', 'refusal'), [9]);
    assert.deepEqual(await found('--verdict', 'capability_violation'), [9]);
    assert.deepEqual(await found('--thread', 'r1'), [8, 7, 6, 5]);
    assert.deepEqual(await found('--thread', 'p1', '--kind', 'mcp/request:*'), [7]);
    assert.deepEqual(await found('--thread', 'nothing'), []);
    assert.deepEqual(await found('deploy*'), [10, 3]);
    assert.deepEqual(await found('BUILD', 'deploy'), [3]);
    assert.deepEqual(await found('build', '--text', 'nowhere'), []);
    assert.deepEqual(await found('--since', '2026-11-15T18:00:05.000Z', '--until', '2026-11-15T18:00:08Z'), [6, 5]);
    assert.deepEqual(await found('--since', '2026-11-14', '--oldest-first', '--until', '2026-11-15'), []);
    assert.deepEqual(await found('--limit', '0', '--topic', 'room', '--participant', 'bot'), [9, 5]);
});

test('audit search: what is not shown is told', async () => {
    const { status, stdout, stderr } = await audit(['search', '--file', at('record.jsonl'), '--json', '--limit', '2']);

    assert.deepEqual([status, stderr], [0, 'moot: there are more than these 2; --limit 0 shows all of them\n']);
    assert.equal(stdout.trim().split('\n').length, 2);
    assert.equal((await audit(['search', '--file', at('record.jsonl'), '--limit', '10'])).stderr, '');
});

test('audit search: lines of JSON are those of the export', async () => {
    const { stdout } = await audit(['search', '--file', '-', '--json', '--oldest-first'], { input: record.text() });

    assert.equal(stdout, record.lines.filter((line) => line.startsWith('{"seq"')).map((line) => `${line}\n`).join(''));
});

test('audit search: for people, and nothing in it acts on a terminal', async () => {
    const { stdout } = await audit(['search', '--file', at('record.jsonl'), '--oldest-first', '--topic', 'other']);

    assert.equal(stdout, '2026-11-15 18:00:04.000  other   eve         chat                         allowed  red \\u001b[31m\\u202e and\\nmore\n');
    const { stdout: ids } = await audit(['search', '--file', at('record.jsonl'), '--ids', '--thread', 'a1', '--limit', '1', '--participant', 'files']);
    assert.match(ids, / files +mcp\/response:tools\/call:delete_f\.\. +allowed +-> ann, bot {2}gone {2}\[#8 r1 re f1\]\n$/);
});

test('audit thread: a tree, from any of its envelopes, from a pipe as well', async () => {
    const tree = `2026-11-15 18:00:05.000  room  4 records, 10.6 s
     +0 ms  bot -> files  proposes delete_file {"path":"/tmp/old"}: it is old  [p1 by mcp/proposal:*]
    +2.5 s  ├─ bob  approves  [a1 by mcp/approve, after 2.5 s]
   +10.5 s  └─ ann -> files  calls delete_file {"path":"/tmp/old"}  [f1 by mcp/request:*, after 10.5 s]
   +10.6 s     └─ files -> ann, bot  result of delete_file: gone  [r1 by mcp/response:*, after 120 ms]
`;
    const env = { LC_ALL: 'C.UTF-8' };

    for (const id of ['p1', 'a1', 'f1', 'r1'])
        assert.equal((await audit(['thread', id, '--file', at('record.jsonl')], { env })).stdout, tree);
    assert.equal((await audit(['thread', 'r1', '--file', '-'], { env, input: record.text() })).stdout, tree);
    assert.match((await audit(['thread', 'r1', '--file', '-'], { env: { LC_ALL: 'C' }, input: record.text() })).stdout, / \|- bob .*\n.* `- ann /);
    const { stdout } = await audit(['thread', 'p1', '--json', '--file', at('record.jsonl')]);
    const rows = stdout.trim().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(rows.map(({ record: one, ...rest }) => ({ ...rest, id: one.id })), [
        { depth: 0, since_first_ms: 0, id: 'p1' },
        { depth: 1, parent: 5, since_first_ms: 2500, since_parent_ms: 2500, id: 'a1' },
        { depth: 1, parent: 5, since_first_ms: 10500, since_parent_ms: 10500, id: 'f1' },
        { depth: 2, parent: 7, since_first_ms: 10620, since_parent_ms: 120, id: 'r1' },
    ]);
    const none = await audit(['thread', 'nothing', '--file', at('record.jsonl')]);
    assert.deepEqual([none.status, none.stdout, none.stderr], [1, '', 'moot: the record has no envelope "nothing"\n']);
});

test('audit export: whole it is the same again, and a part has no signatures', async () => {
    assert.equal((await audit(['export', '--file', at('record.jsonl')])).stdout, record.text());
    assert.equal((await audit(['export', '--file', '-', '-o', at('copy.jsonl')], { input: record.text() })).stdout, '');
    assert.equal(fs.readFileSync(at('copy.jsonl'), 'utf8'), record.text());
    assert.equal(fs.statSync(at('copy.jsonl')).mode & 0o777, 0o600);
    assert.equal((await audit(['export', '--file', at('record.jsonl'), '--topic', 'other'])).stdout, `${record.lines[4]}\n`);
    const { stdout } = await audit(['export', '--file', at('record.jsonl'), '--format', 'csv', '--topic', 'other']);
    assert.match(stdout, /^seq,at,event,topic,participant,.*\r\n4,2026-11-15T18:00:04.000Z,envelope,other,eve,chat,/);
    await audit(['export', '--file', at('record.jsonl'), '-o', at('all.csv')]);
    assert.equal(fs.readFileSync(at('all.csv'), 'utf8').split('\r\n').length, 12);
});

test('audit export: a file is there when it is whole, or as it was', async () => {
    fs.writeFileSync(at('kept.jsonl'), 'as it was');
    fs.writeFileSync(at('cut.jsonl'), record.text().slice(0, -5));
    const { status, stderr } = await audit(['export', '--file', at('cut.jsonl'), '-o', at('kept.jsonl')]);

    assert.deepEqual([status, stderr], [1, `moot: ${at('cut.jsonl')}: line 13: the last line is cut off\n`]);
    assert.equal(fs.readFileSync(at('kept.jsonl'), 'utf8'), 'as it was');
    assert.deepEqual(fs.readdirSync(folder).filter((name) => name.startsWith('kept')), ['kept.jsonl']);
    const nowhere = await audit(['export', '--file', at('record.jsonl'), '-o', at('no', 'where')]);
    assert.deepEqual([nowhere.status, nowhere.stderr], [1, `moot: ${at('no', 'where')}: No such file or directory\n`]);
    fs.symlinkSync('kept.jsonl', at('link'));
    assert.equal((await audit(['export', '--file', at('record.jsonl'), '-o', at('link')])).status, 0);
    assert.equal(fs.readlinkSync(at('link')), 'kept.jsonl');
    assert.equal(fs.readFileSync(at('kept.jsonl'), 'utf8'), record.text());
});

test('audit export: one that is interrupted leaves nothing behind', async (t) => {
    const child = spawn(program, ['audit', 'export', '--file', '-', '-o', at('halted.jsonl')], { stdio: ['pipe', 'ignore', 'ignore'] });
    const ended = new Promise((resolve) => { child.on('exit', (code, signal) => resolve(signal)); });
    const fds = `/proc/${child.pid}/fd`;
    const opened = () => fs.readdirSync(fds).map((fd) => {
        try {
            return fs.readlinkSync(path.join(fds, fd));
        } catch {
            return ''; // closed meanwhile
        }
    }).find((name) => name.startsWith(folder));
    let name;

    child.stdin.write(`${record.lines[0]}\n${record.lines[1]}\n`);
    while (!(name = opened()))
        await new Promise((resolve) => { setTimeout(resolve, 10); });
    child.kill('SIGINT');
    assert.equal(await ended, 'SIGINT');
    if (!name.endsWith('(deleted)'))
        t.skip('files without a name are unknown here');
    else
        assert.deepEqual(fs.readdirSync(folder).filter((file) => file.startsWith('halted')), []);
});

test('audit export: a pipe is written to, and not replaced', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    const reading = fs.promises.readFile(at('pipe'), 'utf8');

    assert.equal((await audit(['export', '--file', at('record.jsonl'), '-o', at('pipe')])).status, 0);
    assert.equal(await reading, record.text());
    assert.ok(fs.statSync(at('pipe')).isFIFO());
});

// --- verify ---

const warning = 'moot: without audit.pub of the installation (--key) this proves only that the file agrees with itself\n';

async function verify(text, ...args) {
    const name = at('verified.jsonl');

    fs.writeFileSync(name, text);
    const { status, stdout, stderr } = await audit(['verify', '--file', name, '--json', ...args]);
    return { status, stderr, ...(stdout ? JSON.parse(stdout) : {}) };
}

test('audit verify: a record that holds', async () => {
    const { status, stdout, stderr } = await audit(['verify', '--file', at('with-key', 'record.jsonl')]);

    assert.deepEqual([status, stderr], [0, '']);
    assert.equal(stdout, `holds  ${at('with-key', 'record.jsonl')}
  10 records, 2 signed checkpoints
  up to 2026-11-15 18:00:17.620, head ${record.head()}
  the last 1 record stands behind the last signature: only a head kept elsewhere (--head) covers it
`);
    const piped = await audit(['verify', '--file', '-', '--key', at('with-key', 'audit.pub'), '--head', record.head()], { input: record.text() });
    assert.deepEqual([piped.status, piped.stderr], [0, '']);
    assert.match(piped.stdout, /^holds {2}standard input\n[^]*it reaches the head that was given\n$/);
    const alone = await audit(['verify', '--file', at('record.jsonl')]);
    assert.deepEqual([alone.status, alone.stderr], [0, warning]);
});

test('audit verify: a head that was kept elsewhere', async () => {
    const cut = record.lines.slice(0, -1).map((line) => `${line}\n`).join('');

    assert.equal((await verify(cut)).status, 0);
    const { status, holds } = await verify(cut, '--head', record.head());
    assert.deepEqual([status, holds], [1, false]);
    assert.equal((await verify(record.text(), '--head', record.head())).status, 0);
    assert.equal((await verify(record.text(), '--head', record.head().replace(/.$/, (c) => (c === '0' ? '1' : '0')))).status, 1);
    assert.equal((await audit(['verify', '--file', at('record.jsonl'), '--head', '10:abc'])).status, 2);
});

test('audit verify: the key of another installation', async () => {
    fs.writeFileSync(at('other.pub'), `${new Recorder().origin}\n`);
    fs.writeFileSync(at('forged.pub'), `${new Recorder({ installation: record.installation }).origin}\n`);
    fs.writeFileSync(at('no.pub'), 'no key\n');
    assert.match((await verify(record.text(), '--key', at('other.pub'))).stderr, /it is the record of another installation than the key's\n$/);
    assert.match((await verify(record.text(), '--key', at('forged.pub'))).stderr, /it names another key than the one it is verified with\n$/);
    for (const name of ['no.pub', 'missing.pub'])
        assert.equal((await verify(record.text(), '--key', at(name))).status, 1);
});

test('audit verify: damage is named, and what stands before it holds', async () => {
    const lines = [...record.lines];
    const text = (list) => list.map((line) => `${line}\n`).join('');
    const changed = lines.map((line, i) => (i === 7 ? line.replace('a1', 'a2') : line));

    for (const [damaged, records, bad] of [
        [text(changed), 4, 6],                                   // within what the second checkpoint covers
        [text(lines.filter((_, i) => i !== 2)), 1, 2],           // deleted
        [text([...lines.slice(0, 3), lines[2], ...lines.slice(3)]), 2, 3], // twice
        [text([...lines.slice(0, 2), lines[3], lines[2], ...lines.slice(4)]), 1, 2], // swapped
        [text(lines).slice(0, -1), 9, 10],                       // cut
        [text(lines).replace('{"seq":10', '{"seq": 10'), 9, 10], // written in another way
    ]) {
        const result = await verify(damaged);
        assert.deepEqual([result.status, result.holds, result.bad_seq], [1, false, bad], JSON.stringify(result));
        assert.ok(result.records <= bad - 1 && result.records >= Math.min(records, 4), JSON.stringify(result));
    }
});

test('audit verify: what is no whole export', async () => {
    for (const [text, complaint] of [
        ['', /there is no record in it\n$/],
        ['\n', /line 1: /],
        ['hello\n', /line 1: /],
        [`${record.lines[1]}\n`, /it does not begin with its origin: only a whole export can be verified\n$/],
        ['\0'.repeat(5000), /line 1: the last line is cut off\n$/],
    ]) {
        const { status, stderr } = await verify(text);
        assert.equal(status, 1);
        assert.match(stderr, complaint);
    }
    assert.equal((await audit(['verify', '--file', at('missing.jsonl')])).status, 1);
    assert.equal((await audit(['verify', '--file', folder])).status, 1);
    assert.equal((await audit(['verify', '--data', at('nothing')])).status, 1);
});

// --- the rest ---

test('audit head: how far it goes', async () => {
    assert.equal((await audit(['head', '--file', at('record.jsonl')])).stdout, `${record.head()} 2026-11-15T18:00:17.620Z\n`);
    assert.deepEqual(JSON.parse((await audit(['head', '--json', '--file', at('record.jsonl')])).stdout),
        { head: record.head(), at: '2026-11-15T18:00:17.620Z' });
});

test('audit retention: what was removed, and the record still holds', async () => {
    const r = new Recorder();

    r.say('ann', 'chat', { text: 'secret' }, { removed: true });
    r.say('ann', 'chat', { text: 'kept' }, { topic: 'other' });
    const bytes = Number(/"body_bytes":(\d+)/.exec(r.lines[1])[1]);
    r.add({ event: 'retention', body: { topic: 'room', count: 1, bytes, first_seq: 1, last_seq: 1, reason: 'age' } });
    r.checkpoint();
    fs.writeFileSync(at('stripped.jsonl'), r.text());
    const { stdout } = await audit(['retention', '--file', at('stripped.jsonl')]);
    assert.equal(stdout, `2026-11-15 18:00:03.000  room    1 body, ${bytes} B, records 1 to 1, by age\n1 body removed, ${bytes} B\n`);
    assert.equal((await audit(['retention', '--file', at('record.jsonl')])).stdout, 'Nothing was removed.\n');
    const { status, removed } = await verify(r.text());
    assert.deepEqual([status, removed], [0, 1]);
    fs.writeFileSync(at('robbed.jsonl'), r.text().replace(/,"body":{"protocol"[^\n]*?"kept"}}/, ''));
    const robbed = await audit(['verify', '--file', at('robbed.jsonl')]);
    assert.equal(robbed.status, 1);
    assert.match(robbed.stdout, /\n {2}record 2: its body is missing[^\n]*\n {2}else the chain holds: 3 records\n/);
    assert.match((await audit(['search', '--file', at('stripped.jsonl'), '--oldest-first'])).stdout, /allowed {2}\(removed: \d+ bytes\)\n/);
});

test('audit stats: figures, of a file all of it', async () => {
    const { stdout } = await audit(['stats', '--file', at('record.jsonl'), '--json']);
    const figures = JSON.parse(stdout);

    assert.deepEqual([figures.records, figures.messages, figures.refusals], [10, 7, 1]);
    assert.deepEqual(figures.refusals_by_reason, { capability_violation: 1 });
    assert.deepEqual(figures.participants, { ann: 3, bob: 1, bot: 1, eve: 1, files: 1 });
    assert.deepEqual(figures.messages_over_time, { from: '2026-11-15T18:00:00.000Z', step_ms: 60000, counts: [7] });
    assert.deepEqual(figures.proposals, { proposed: 1, fulfilled: 1, rejected: 0, withdrawn: 0, open: 0,
        median_ms: figures.proposals.median_ms, p90_ms: figures.proposals.p90_ms, max_ms: 10500 });
    assert.ok(Math.abs(figures.proposals.median_ms - 10500) < 200);
    assert.match((await audit(['stats', '--file', at('record.jsonl')])).stdout, /Messages per minute[^]*Refused, by reason[^]*From proposal to decision/);
    assert.equal((await audit(['stats', '--file', at('record.jsonl'), '--until', '2020-01-01'])).stdout, 'Nothing was recorded in that time.\n');
});

test('audit: what is asked wrongly', async () => {
    for (const [args, complaint] of [
        [['search', '--since', 'yesterday'], /^moot: --since takes a time like/],
        [['search', '--since', '15'], /^moot: --since takes a time like/],
        [['search', '--since', '1h', '--until', '2h'], /^moot: --until lies before --since\n$/],
        [['search', '--event', 'party'], /^moot: --event: there is no "party"; there are envelope, refusal, /],
        [['search', '*'], /^moot: there is no word in "\*": words are of letters and digits\n$/],
        [['search', ...Array(33).fill('x')], /^moot: at most 32 words can be looked for\n$/],
        [['search', '--limit', '-1'], /^moot: --limit takes a number/],
        [['search', '--server', 'http://127.0.0.1:1'], /^moot: --file says where the record is/],
        [['export', '--format', 'xml'], /^moot: --format takes jsonl or csv, not "xml"\n$/],
        [['thread'], /something is missing; it needs "ID"/],
        [['replay', '--topic', 'room'], /^moot: --to names the topic to replay into\n$/],
        [['replay', '--to', 'room'], /^moot: --topic names the topic that is replayed\n$/],
        [['replay', '--topic', 'room', '--to', 'demo', '--speed', 'fast'], /^moot: --speed takes a number/],
    ]) {
        const { status, stderr } = await audit([...args, '--file', at('record.jsonl')]);
        assert.equal(status, 2, stderr);
        assert.match(stderr, complaint);
    }
    const nothing = await audit(['search', '--data', at('nothing')]);
    assert.deepEqual([nothing.status, nothing.stderr], [1, `moot: no server runs on ${at('nothing')}, and there is no record in it\n`]);
});

test('audit: a damaged line ends a search, and what came before was good', async () => {
    fs.writeFileSync(at('broken.jsonl'), `${record.lines.slice(0, 5).join('\n')}\n{"seq":\u001b]0;evil\u0007\n`);
    const { status, stdout, stderr } = await audit(['search', '--file', at('broken.jsonl'), '--json', '--oldest-first']);

    assert.equal(status, 1);
    assert.equal(stdout.trim().split('\n').length, 4);
    assert.match(stderr, /broken\.jsonl: line 6: /);
    assert.doesNotMatch(stderr, /\u001b/);
});

test('audit: at a terminal', { skip: !hasTmux && 'tmux is not installed' }, async () => {
    const show = async (args, columns, wanted) => {
        const terminal = await startTerminal([program, 'audit', ...args], { columns, rows: 50 });

        try {
            assert.equal(await terminal.ended(), 0);
            return await terminal.sees(wanted);
        } finally {
            await terminal.close();
        }
    };

    const screen = await show(['search', '--file', at('record.jsonl')], 80, 'server start');
    assert.match(screen, /^11-15 18:00:16 {2}room {4}bot {5}request rm {9}capability_violation {2}{"nam\.\.$/m);
    assert.match(screen, /^11-15 18:00:15 {2}room {4}ann {5}request delete_file {3}-> files {2}{"path":"\/tmp\/\.\.$/m);
    for (const line of screen.split('\n'))
        assert.ok(line.length <= 80, line);
    await show(['thread', 'p1', '--file', at('record.jsonl')], 120, '└─ files -> ann, bot  result of delete_file: gone');
    await show(['stats', '--file', at('record.jsonl')], 80, /Busiest participants\n {2}ann +3 {2}█+$/m);
});

test('audit verify: a bar tells how far it is, and is gone at the end', { skip: !hasTmux && 'tmux is not installed' }, async () => {
    // What is read never ends before the bar was seen.
    execFileSync('mkfifo', [at('slow')]);
    const script = `${program} audit verify --key ${at('with-key', 'audit.pub')} --file - < ${at('slow')}`;
    const terminal = await startTerminal(['sh', '-c', script], { columns: 100, rows: 20 });
    const lines = record.lines.map((line) => `${line}\n`);
    const pipe = await fs.promises.open(at('slow'), 'w');

    try {
        await pipe.write(lines[0] + lines[1]);
        for (let i = 2; i < 6; i++) {
            await new Promise((resolve) => { setTimeout(resolve, 400); });
            await pipe.write(lines[i]);
        }
        await terminal.sees(/^verifying \d+ records {2}\d+\/s$/m);
        await pipe.write(lines.slice(6).join(''));
        await pipe.close();
        await terminal.sees(/^ {2}10 records, 2 signed checkpoints$/m);
        assert.doesNotMatch(await terminal.screen(), /verifying/);
        assert.equal(await terminal.ended(), 0);
    } finally {
        await terminal.close();
    }
});
