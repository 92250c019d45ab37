// SPDX-License-Identifier: Apache-2.0
// moot resource: the directory at the command line, for people (tables of 80 columns,
// progress) and for scripts (exit codes, JSON, pipes).
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { patience, people, program, startGateway } from './gateway.mjs';
import { environment, moot } from './moot.mjs';

const csv = `id,kind,name,role,skills,availability,location,rate,currency,per,languages,time_zone,profile,participant,invite
ann,human,Ann Meier,Backend developer,Python;FastAPI,full-time,Zürich,120.50,CHF,hour,de;en,Europe/Zurich,"Payments.
""Tests"".",ann,ask
bot,agent,Build bot,Continuous integration,Docker,full-time,,,,,,,,,
`;
let gateway, folder;

before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-resource-'));
    gateway = await startGateway({ tokens: people('alice') });
});
after(async () => {
    await gateway.stop();
    fs.rmSync(folder, { recursive: true });
});

const file = (name, text) => { fs.writeFileSync(path.join(folder, name), text); return path.join(folder, name); };
const run = (args, options = {}) =>
    moot(null, null, ['resource', ...args], { ...options, env: { MOOT_DATA: gateway.data, ...options.env } });
async function good(args, options) {
    const { status, stdout, stderr } = await run(args, options);

    assert.deepEqual([status, stderr], [0, ''], stdout);
    return stdout;
}
async function bad(code, pattern, args, options) {
    const { status, stdout, stderr } = await run(args, options);

    assert.deepEqual([status, stdout], [code, '']);
    assert.match(stderr, pattern);
}
const all = async () => (await good(['export'])).split('\n').filter(Boolean).map((line) => JSON.parse(line));

beforeEach(async () => {
    const ids = (await all()).map(({ id }) => id);
    if (ids.length)
        await good(['remove', ...ids]);
});

test('a file is taken, dry or not, and told about in a sentence', async () => {
    const name = file('people.csv', csv);

    assert.equal(await good(['import', name, '--dry']), '2 resources could be taken; nothing was changed.\n');
    assert.deepEqual(await all(), []);
    assert.equal(await good(['import', name]), '2 resources: 2 added, 0 replaced.\n');
    assert.equal(await good(['import', '-', '--format', 'csv'], { input: csv }), '2 resources: 0 added, 2 replaced.\n');
    assert.deepEqual(JSON.parse(await good(['import', name, '--json'])), { rows: 2, added: 0, replaced: 2, dry_run: false });
    assert.equal(await good(['import', file('x.jsonl', '{"id":"c","kind":"human","name":"C"}')]), '1 resource: 1 added, 0 replaced.\n');
});

test('what is wrong stands behind file, line and column', async () => {
    const name = file('bad.csv', 'id,kind,name\na,human,Ann\nb,robot,Bob\na,human,Twice\n');
    const { status, stdout, stderr } = await run(['import', name]);

    assert.deepEqual([status, stdout], [1, '']);
    assert.equal(stderr, `${name}:3:3: kind must be human or agent\n${name}:4:1: id stands in a row above as well\n`
        + 'moot: 2 of 3 rows cannot be taken; nothing was changed.\n');
    await bad(1, /^standard input:1:1: the row is not JSON: expected a value\nmoot: 1 of 1 rows/, ['import', '-', '--format', 'jsonl'], { input: 'x' });
    const many = await run(['import', file('many.jsonl', '{}\n'.repeat(150))]);
    assert.equal(many.stderr.split('\n').length, 103);
    assert.match(many.stderr, /\n… and 50 more\nmoot: 150 of 150 rows/);
    const hostile = await run(['import', file('h.csv', 'kind,name,\u001b[2Jx\u202e\n')]);
    assert.match(hostile.stderr, /:1:11: \\u001b\[2Jx\\u202e is not a field of a resource\n/);
    assert.deepEqual(await all(), []);
});

test('files that cannot be read, and words that make no sense', async () => {
    await bad(1, /nowhere\.csv: No such file/, ['import', '/nowhere.csv']);
    await bad(1, /: Is a directory/, ['import', folder, '--format', 'csv']);
    await bad(2, /is it csv or jsonl\? --format/, ['import', file('people.txt', csv)]);
    await bad(2, /--format takes csv or jsonl/, ['import', file('people.txt', csv), '--format', 'xml']);
    await bad(2, /--format takes csv or jsonl/, ['export', '--format', 'xml']);
    await bad(1, /no gateway runs on/, ['import', file('people.csv', csv), '--data', folder]);
    await bad(1, /no gateway runs on/, ['list', '--data', folder]);
    await bad(1, /: File name too long/, ['export', '-o', path.join(folder, 'x'.repeat(5000))]);
    await bad(2, /--limit is a number/, ['list', '--limit', 'x']);
    await bad(1, /max_rate/, ['list', '--max-rate', 'x']);
    const { status, stderr } = await run(['import', file('people.csv', csv), '--server', `http://127.0.0.1:${gateway.port}`], { env: { MOOT_TOKEN: 'alice-token' } });
    assert.equal(status, 1);
    assert.match(stderr, /^moot: .*role/);
});

test('what stands between, and answers otherwise than a gateway, is told with its status', async () => {
    const between = http.createServer((req, res) => { req.resume(); res.writeHead(502, { 'Content-Type': 'text/html' }).end('<p>no'); });

    between.listen(0, '127.0.0.1');
    await once(between, 'listening');
    const place = ['--server', `http://127.0.0.1:${between.address().port}`];
    for (const args of [['import', file('people.csv', csv)], ['export'], ['list']])
        await bad(1, /^moot: the server answered with status 502\n$/, [...args, ...place], { env: { MOOT_TOKEN: 'alice-token' } });
    between.close();
});

test('an export is what an import takes', async () => {
    await good(['import', file('people.csv', csv)]);
    const before = await all();
    const name = path.join(folder, 'out.csv');

    assert.equal(await good(['export', '-o', name]), '');
    assert.match(fs.readFileSync(name, 'utf8'), /^id,kind,name,.*\r\nann,human,Ann Meier,/);
    assert.deepEqual(fs.readdirSync(folder).filter((one) => one.startsWith('out.csv.')), []);
    assert.equal(await good(['export', '--format', 'csv']), fs.readFileSync(name, 'utf8'));
    await good(['remove', 'ann', 'bot']);
    await good(['import', name]);
    assert.deepEqual((await all()).map((one) => ({ ...one, updated_at: 0 })), before.map((one) => ({ ...one, updated_at: 0 })));
    await bad(1, /No such file/, ['export', '-o', path.join(folder, 'none/out.csv')]);
});

test('one is added, changed, shown and removed', async () => {
    await good(['set', 'ann', '--new', 'kind=human', 'name=Ann', 'skills=Python, Go;C', 'rate=99.90', 'currency=EUR', 'per=day', 'profile=two words']);
    assert.match(await good(['show', 'ann']), new RegExp(['^id            ann', 'kind          human', 'name          Ann', 'skills        Python, Go, C',
        'rate          99.90 EUR per day', 'profile       two words', 'invite        auto', 'updated_at    20.*\n$'].join('\n')));
    await good(['set', 'ann', 'skills=["a,b"]', 'rate=', `profile=@${file('profile.txt', 'from a file')}`]);
    const { updated_at: _, ...shown } = JSON.parse(await good(['show', 'ann', '--json']));
    assert.deepEqual(shown, { id: 'ann', kind: 'human', name: 'Ann', skills: ['a,b'], profile: 'from a file', invite: 'auto' });
    await bad(1, /There is a resource of that id/, ['set', 'ann', '--new', 'kind=human', 'name=Ann']);
    await bad(1, /there is no resource "bob"/, ['set', 'bob', 'name=Bob']);
    await bad(1, /there is no resource "bob"/, ['show', 'bob']);
    await bad(1, /it contains a slash/, ['show', 'a/b']);
    await bad(1, /kind must be human or agent/, ['set', 'ann', 'kind=robot']);
    await bad(2, /no such field to be set: "nmae=x"/, ['set', 'ann', 'nmae=x']);
    await bad(2, /no such field to be set: "id=x"/, ['set', 'ann', 'id=x']);
    await bad(2, /FIELD=VALUE is wanted: "name"/, ['set', 'ann', 'name']);
    await bad(2, /a rate is a number/, ['set', 'ann', 'rate=1x']);
    await bad(2, /go with rate=AMOUNT/, ['set', 'ann', 'currency=EUR']);
    await bad(2, /a field is given twice/, ['set', 'ann', 'name=a', 'name=b']);
    await bad(1, /there is no resource "bob"/, ['remove', 'bob', 'ann']);
    assert.deepEqual(await all(), []);
});

test('who fits is found; foreign text stays text', async () => {
    await good(['import', file('people.csv', csv)]);
    await good(['set', 'evil', '--new', 'kind=agent', 'name=a\u202eb', 'role=tester', 'skills=\u200bpython']);
    assert.match(await good(['search', 'python', 'developer']), /^ID +NAME +ROLE +AVAILABLE +LOCATION\nann +Ann Meier +Backend developer +full-time +Zürich\n {2}found: python, developer; Python, FastAPI\n/);
    assert.match(await good(['list', '--kind', 'agent', '--skills', 'docker']), /^ID.*\nbot +Build bot +Continuous integration +full-time\n {2}Docker\n$/);
    const [hit] = (await good(['search', 'zurich', '--json'])).split('\n').map((line) => line && JSON.parse(line));
    assert.deepEqual([hit.resource.id, hit.reason.words], ['ann', ['zurich']]);
    assert.match(await good(['list']), /a\\u202eb +tester[^]*\\u200bpython/);
    assert.equal((await good(['list', '--limit', '1', '--json'])).trim().split('\n').length, 1);
    const none = await run(['search', 'xylophone']);
    assert.deepEqual([none.status, none.stdout, none.stderr], [0, '', 'Nobody fits; other words, or fewer filters, may find more.\n']);
});

test('pages are put together up to the limit', async () => {
    await good(['import', file('many.jsonl', Array.from({ length: 250 }, (_, i) => `{"id":"p${i}","kind":"human","name":"P ${i}"}\n`).join(''))]);
    const ids = (await good(['list', '--limit', '230', '--json'])).trim().split('\n').map((line) => JSON.parse(line).resource.id);
    assert.equal(new Set(ids).size, 230);
    assert.equal((await good(['list', '--limit', '1000', '--json'])).trim().split('\n').length, 250);
    assert.equal((await good(['list'])).trim().split('\n').length, 21);
});

test('an id is whole, however long it is and on whatever page', async () => {
    const long = 'z'.repeat(100);
    const rows = Array.from({ length: 100 }, (_, i) => ({ id: `r${i}`, kind: 'agent', name: `Bot ${i}` }));

    await good(['import', file('ids.jsonl', [...rows, { id: long, kind: 'agent', name: 'Last' }].map((row) => JSON.stringify(row)).join('\n'))]);
    assert.match(await good(['list', '--limit', '200']), new RegExp(`\n${long} {2}Last\n`));
    await good(['remove', ...rows.map(({ id }) => id)]);
    assert.equal(await good(['list']), `ID${' '.repeat(100)}NAME  ROLE  AVAILABLE  LOCATION\n${long}  Last\n`);
});

// A terminal of 80 columns.
const tmux = spawnSync('tmux', ['-V']).status !== 0 && 'there is no tmux';

async function screenOf(line, pattern) {
    const socket = path.join(folder, `${Math.random()}`.slice(2));
    const env = environment(null, null, { LANG: 'C.UTF-8', HOME: folder, MOOT_DATA: gateway.data, PATH: `${path.dirname(program)}:${process.env.PATH}` });
    const ask = (...args) => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8', env });

    delete env.TMUX;
    ask('-f', '/dev/null', 'new-session', '-d', '-x', '80', '-y', '30', `${line}; echo "[ended $?]"; read x`);
    try {
        for (const end = Date.now() + patience; ;) {
            const screen = ask('capture-pane', '-p');
            if (pattern.test(screen))
                return screen.trimEnd().split('\n');
            assert.ok(Date.now() < end, `waited too long for ${pattern}:\n${screen}`);
            await pause(20);
        }
    } finally {
        ask('kill-server');
    }
}

test('at a terminal a table fits, ids are whole, and long texts go on below themselves', { skip: tmux }, async () => {
    await good(['import', file('wide.jsonl', [
        { id: 'r-0123456789abcdef', kind: 'human', name: 'A name that goes on and on', role: 'Chief something officer', location: 'Llanfairpwllgwyngyll',
            availability: 'full-time', skills: Array.from({ length: 30 }, (_, i) => `skill number ${i}`), profile: 'many words '.repeat(20) },
        { kind: 'agent', name: 'Bot' }].map((row) => JSON.stringify(row)).join('\n'))]);
    const rows = await screenOf('moot resource list', /\[ended 0\]/);
    assert.match(rows[1], /^r-0123456789abcdef {2}A name.*\.\. {2}Chief.*\.\. {2}full-time {2}Llanf.*\.\.$/);
    assert.match(rows[2], /^ {2}skill number 0, .*\.\.$/);
    assert.ok(rows.every((row) => row.length <= 80) && rows.length === 5, rows.join('\n'));
    const shown = await screenOf('moot resource show r-0123456789abcdef', /\[ended 0\]/);
    assert.match(shown.join('\n'), /\nprofile {7}many words[^\n]*\n {14}many|\nprofile {7}many words[^\n]*\n {14}words/);
});

test('a long import shows how far it is, and cleans up after itself', { skip: tmux }, async () => {
    const name = file('long.jsonl', Array.from({ length: 60_000 }, (_, i) => `{"id":"p${i}","kind":"human","name":"Person ${i}","profile":"${'word '.repeat(40)}"}\n`).join(''));

    const ended = await screenOf(`moot resource import ${name} --dry`, /\[ended 0\]/);
    assert.deepEqual(ended, ['60,000 resources could be taken; nothing was changed.', '[ended 0]']);
    await screenOf(`moot resource import ${name} && moot resource list --limit 1`, /There are more: --limit N shows them/);
    const began = await screenOf(`moot resource import ${name}`, /importing \[[#.]+\] +\d+ % +[\d,]+ rows/);
    assert.ok(began.every((row) => row.length <= 80), began.join('\n'));
});
