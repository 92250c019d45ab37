// SPDX-License-Identifier: Apache-2.0
// moot orchestrate: what it keeps, what it says in shadow, its tools, and what it does when something is wrong.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as later } from 'node:timers/promises';

import { envelope, expect, person, startGateway } from './gateway.mjs';
import { sdkClient } from './mcp-room.mjs';
import { moot, serveTools, startMoot } from './moot.mjs';

const config = {
    limits: { rate_messages: 0 },
    mcp: { room_tools: 'off' },
    tokens: [
        person('bot', { profile: 'proposer' }), person('ann', { profile: 'human' }), person('calc', { type: 'service' }),
        person('orchestrator', { profile: 'orchestrator' }), person('boss', { profile: 'admin' }), person('agent'),
        person('keeper', { capabilities: ['chat', 'rule/suggest', 'rule/use', 'rule/shadow', 'rule/disable', 'mcp/response:*'], type: 'service' }),
    ],
};
let gateway, count = 0, calls = 0;

before(async () => { gateway = await startGateway(config); });
after(() => gateway.stop());

const folderOf = (topic) => path.join(gateway.data, `state-${topic}`);
const journalOf = (topic) => path.join(folderOf(topic), 'journal.jsonl');
const linesOf = (topic) => fs.readFileSync(journalOf(topic), 'utf8').trim().split('\n').map((line) => JSON.parse(line));

// The people of a topic, and who answers there.
async function room(topic) {
    const [ann, bot, calc] = await Promise.all(['ann', 'bot', 'calc'].map((id) => gateway.join(id, { topic })));

    serveTools(calc, { add: ({ n }) => { calls++; return `${n}`; } });
    return { topic, ann, bot, calc };
}
async function orchestrate({ topic }, more = [], as = 'orchestrator') {
    const command = startMoot(gateway, as, ['orchestrate', topic, '--days', '1', '--state', folderOf(topic), ...more]);

    await command.told(/is in /);
    command.stop = async () => {
        command.child.kill('SIGTERM');
        const { status, stderr } = await command.ended();

        assert.equal(status, 0, stderr);
    };
    return command;
}
async function propose({ bot, ann }, n, more = {}) {
    const sent = bot.send(envelope('bot', 'mcp/proposal:tools/call:add',
        { to: ['calc'], payload: { method: 'tools/call', params: { name: 'add', arguments: { n } } }, ...more }));

    await expect(ann, ({ id }) => id === sent.id);
    return sent;
}
const closed = ({ ann }, { id }) => expect(ann, ({ kind, payload }) => kind === 'system/proposal' && payload.proposal === id && payload.state !== 'open');
async function approve(where, n) {
    const proposal = await propose(where, n);

    where.ann.send(envelope('ann', 'mcp/request:tools/call:add', { to: ['calc'], correlation_id: proposal.id,
        payload: { jsonrpc: '2.0', id: ++count, method: 'tools/call', params: { name: 'add', arguments: { n } } } }));
    await closed(where, proposal);
}
async function reject(where, proposal) {
    where.ann.send(envelope('ann', 'mcp/reject', { correlation_id: proposal.id }));
    await closed(where, proposal);
}
const suggestion = ({ ann }) => expect(ann, ({ kind, from }) => kind === 'rule/suggest' && from === 'orchestrator');
const told = ({ ann }, rule, state) => expect(ann, ({ kind, payload }) => kind === 'system/rule' && payload.rule === rule && payload.state === state);
async function accept(where, rule, more = {}) {
    where.ann.send(envelope('ann', 'rule/accept', { payload: { rule, ...more } }));
    await told(where, rule, more.shadow ? 'shadow' : 'active');
}
const add = async (where, rule) => {
    where.ann.send(envelope('ann', 'rule/add', { payload: { rule: { proposer: 'bot', method: 'tools/call', tool: 'add', to: 'calc',
        arguments: { n: { between: [1, 100], whole: true } }, ...rule } } }));
    return (await expect(where.ann, ({ kind, payload }) => kind === 'system/rule' && payload.state === 'active')).payload.rule;
};
const waits = async ({ topic }, { id }) => {
    await later(1200);
    const { json } = await gateway.request(`GET /topics/${topic}/proposals`, { token: 'ann-token' });
    assert.ok(json.proposals.some((one) => one.id === id && one.state === 'open'), JSON.stringify(json));
};
const ask = async ({ topic }, tool, args = {}, whom = 'orchestrator') =>
    JSON.parse((await moot(gateway, 'ann', ['call', topic, whom, tool, '--json-args', JSON.stringify(args), '--json'])).stdout);
const knows = async (where, id, whom) => {
    while (!(await ask(where, 'list_rules', {}, whom)).structuredContent.rules.some((one) => one.id === id))
        await later(50);
};

test('what it learned survives a restart, counts once, and is for its owner alone', async () => {
    const where = await room('kept');
    const first = await orchestrate(where);

    for (let n = 1; n <= 10; n++)
        await approve(where, n);
    const open = await propose(where, 99);
    await first.stop();
    assert.equal(fs.statSync(journalOf('kept')).mode & 0o777, 0o600);
    assert.equal(fs.statSync(folderOf('kept')).mode & 0o777, 0o700);
    assert.equal(linesOf('kept').filter(({ what }) => what === 'decided').length, 10);
    assert.ok(!fs.readFileSync(journalOf('kept'), 'utf8').includes('-token'));

    await reject(where, open); // while it is away, of what it knew
    fs.appendFileSync(journalOf('kept'), '{"at":"2026-11-16T'); // as a crash would leave it
    const second = await orchestrate(where);
    await second.told(/the last line of .* is not whole, and is left out/);
    for (let n = 11; n <= 16; n++)
        await approve(where, n);
    const { payload: { rule } } = await suggestion(where);
    assert.deepEqual([rule.evidence.approved, rule.evidence.beside, rule.arguments], [16, 1, { n: { between: [1, 16], whole: true } }]);
    await told(where, rule.id, 'suggested');
    const { payload: { text } } = await expect(where.ann, ({ kind, from }) => kind === 'chat' && from === 'orchestrator');
    assert.match(text, new RegExp(`moot rules accept kept ${rule.id}`));
    assert.equal(linesOf('kept').filter(({ what }) => what === 'decided').length, 17);

    // The same is not suggested again, whatever is approved: people have it before them.
    await approve(where, 17);
    await later(1500);
    where.ann.send(envelope('ann', 'rule/decline', { payload: { rule: rule.id } }));
    await told(where, rule.id, 'declined');
    await approve(where, 18);
    await second.stop();
    const third = await orchestrate(where);
    await approve(where, 19);
    await later(1500);
    assert.equal(where.ann.frames.filter(({ json }) => json?.kind === 'rule/suggest').length, 1);
    await third.stop();
});

test('in shadow it only says what it would do, and counts how often people did the same', async () => {
    const where = await room('shadow');
    const command = await orchestrate(where, ['--min', '5', '--threshold', '0.5']);

    for (let n = 1; n <= 5; n++)
        await approve(where, n);
    const { payload: { rule: { id } } } = await suggestion(where);
    await accept(where, id, { shadow: true });
    await later(300);
    const noted = (proposal) => expect(where.ann, ({ kind, payload }) => kind === 'rule/shadow' && payload.proposal === proposal.id);
    const before = calls;
    for (const [n, decide] of [[2, 'approve'], [3, 'approve'], [4, 'reject']]) {
        const proposal = await propose(where, n);

        assert.deepEqual((await noted(proposal)).payload, { rule: id, proposal: proposal.id, would: 'fulfil' });
        if (decide === 'reject') {
            await reject(where, proposal);
            continue;
        }
        where.ann.send(envelope('ann', 'mcp/request:tools/call:add', { to: ['calc'], correlation_id: proposal.id,
            payload: { jsonrpc: '2.0', id: ++count, method: 'tools/call', params: { name: 'add', arguments: { n } } } }));
        await closed(where, proposal);
    }
    assert.equal(calls, before + 2, 'nothing but what ann did');
    const stats = (await ask(where, 'get_stats')).structuredContent;
    assert.deepEqual(stats.rules.map(({ rule, state, shadow }) => [rule, state, shadow]), [[id, 'shadow', { would: 3, agreed: 2, disagreed: 1 }]]);
    assert.deepEqual([stats.learned.approved, stats.learned.rejected, stats.needs.approvals], [7, 1, 5]);
    await command.stop();
});

test('its tools tell, suggest and ask; none of them makes a rule act', async () => {
    const where = await room('tools');
    const command = await orchestrate(where);
    const rule = { proposer: 'bot', method: 'tools/call', tool: 'add', to: 'calc', arguments: { n: { exactly: 1 } } };
    const client = await sdkClient(gateway, 'agent', { topic: 'tools' });

    await client.shows('get_stats');
    const names = await client.names('Tools');
    assert.deepEqual(['add_rule', 'get_stats', 'list_rules', 'remove_rule'].filter((one) => !names.includes(one)), []);
    const { tools } = await client.listTools();
    for (const tool of tools.filter((one) => /_rule|_stats/.test(one.name)))
        assert.ok(tool.outputSchema?.required && tool.inputSchema.type === 'object', tool.name);

    const added = await client.call('add_rule', { rule: { ...rule, state: 'active', evidence: { approved: 500 } } });
    const { rule: id } = added.structuredContent;
    assert.deepEqual(added.structuredContent, { rule: id, state: 'suggested' });
    const { payload: { rule: suggested } } = await suggestion(where);
    assert.deepEqual([suggested.note, suggested.evidence?.approved ?? 0, suggested.state], ['asked for by agent', 0, 'suggested']);
    await told(where, id, 'suggested');
    await knows(where, id);
    const listed = await client.call('list_rules', { state: 'suggested' });
    assert.deepEqual(listed.structuredContent.rules.map((one) => [one.id, one.created_by]), [[id, 'orchestrator']]);
    const twice = await client.call('add_rule', { rule });
    assert.match(twice.content[0].text, /suggested already/);
    assert.equal(twice.isError, true);
    assert.match((await client.call('add_rule', { rule: { ...rule, topic: 'elsewhere' } })).content[0].text, /another topic/);
    await waits(where, await propose(where, 1));

    const removed = await client.call('remove_rule', { rule: id, reason: 'too wide' });
    assert.deepEqual(removed.structuredContent, { rule: id, done: 'asked' });
    await expect(where.ann, ({ kind, from, payload }) => kind === 'chat' && from === 'orchestrator' && payload.text === `agent asks that rule ${id} be removed: too wide`);
    assert.match((await client.call('remove_rule', { rule: 'r-none' })).content[0].text, /no rule of this id/);
    await command.stop();
});

test('who may disable rules does so when asked', async () => {
    const where = await room('keeper');
    const command = await orchestrate(where, [], 'keeper');
    const id = await add(where, {});

    await knows(where, id, 'keeper');
    const { structuredContent } = await ask(where, 'remove_rule', { rule: id }, 'keeper');
    assert.deepEqual(structuredContent, { rule: id, done: 'disabled' });
    assert.match((await told(where, id, 'disabled')).payload.reason, /ann asks that rule/);
    await command.stop();
});

test('a budget is kept to, and what comes then is left to people', async () => {
    const where = await room('budget');
    const command = await orchestrate(where);

    await add(where, { budget: 2 });
    await later(300);
    const one = await propose(where, 1), two = await propose(where, 2);
    assert.deepEqual([(await closed(where, one)).payload.state, (await closed(where, two)).payload.state], ['fulfilled', 'fulfilled']);
    const three = await propose(where, 3);
    await expect(where.ann, ({ kind, payload }) => kind === 'chat' && /waits for a person/.test(payload.text));
    await waits(where, three);
    await propose(where, 4);
    await later(500);
    assert.equal(where.ann.frames.filter(({ json }) => json?.kind === 'chat' && /waits for a person/.test(json.payload.text)).length, 1);
    await command.stop();
});

test('--dry says what it would do, and sends nothing', async () => {
    const where = await room('dry');
    const command = await orchestrate(where, ['--dry', '--min', '5', '--threshold', '0.5']);

    for (let n = 1; n <= 5; n++)
        await approve(where, n);
    await command.line(/^would say: I suggest the rule r-.*bot may call add of calc/);
    await add(where, {});
    await later(300);
    const proposal = await propose(where, 1);
    await command.line(new RegExp(`^would fulfil ${proposal.id} with rule r-`));
    await waits(where, proposal);
    assert.equal(where.ann.frames.filter(({ json }) => json?.from === 'orchestrator' && /^(chat|rule|mcp.request:tools)/.test(json.kind)).length, 0);
    await command.stop();
});

test('without a token it makes one at the local server, and revokes it', async () => {
    const env = { MOOT_DATA: gateway.data };
    const command = startMoot(null, null, ['orchestrate', 'local', '--as', 'helper'], { env });

    await command.told(/helper is in local/);
    assert.match((await moot(null, null, ['token', 'list'], { env })).stdout, /helper.*orchestrator/);
    assert.ok(fs.existsSync(path.join(gateway.data, 'orchestrate/local/journal.jsonl')));
    command.child.kill('SIGINT');
    assert.equal((await command.ended()).status, 0);
    assert.doesNotMatch((await moot(null, null, ['token', 'list'], { env })).stdout, /helper/);
});

test('the gateway goes and comes: it is back, and acts', async () => {
    const where = await room('back');
    const command = await orchestrate(where);
    const rule = await add(where, {});

    await later(300);
    assert.equal((await closed(where, await propose(where, 1))).payload.rule, rule);
    await gateway.kill();
    await command.told(/the connection is lost/);
    gateway = await gateway.restart();
    const again = await room('back');
    const proposal = await propose(again, 2);
    assert.equal((await closed(again, proposal)).payload.rule, rule);
    await command.stop();
});

test('what is wrong is said, and it ends', async () => {
    const run = (args, as = 'orchestrator', topic = 'wrong') => moot(gateway, as, ['orchestrate', topic, '--state', folderOf(topic), ...args]);
    const cases = [
        [['--min', '0'], 2, /--min takes a number above 0/],
        [['--days', 'two'], 2, /--days takes a number above 0/],
        [['--threshold', '1.5'], 2, /--threshold takes a rate such as 0.80/],
        [['--state', '/proc/none/such'], 1, /\/proc\/none\/such: /],
    ];
    for (const [args, status, wanted] of cases) {
        const done = await run(args);

        assert.equal(done.status, status, done.stderr);
        assert.match(done.stderr, wanted);
    }
    const agent = await run([], 'bot');
    assert.equal(agent.status, 4, agent.stderr);
    assert.match(agent.stderr, /the token of bot does not allow rule\/suggest; one of the profile orchestrator does:\n {2}moot token create orchestrator --profile orchestrator --topics wrong/);
    assert.equal((await moot(gateway, 'nobody', ['orchestrate', 'wrong', '--state', folderOf('wrong')])).status, 1);

    const held = await orchestrate({ topic: 'wrong' });
    const second = await run([]);
    assert.equal(second.status, 1);
    assert.match(second.stderr, /another `moot orchestrate` uses/);
    await held.stop();
    assert.match((await moot(gateway, 'orchestrator', ['orchestrate', 'other', '--state', folderOf('wrong')])).stderr, /is the journal of another topic/);
    fs.appendFileSync(journalOf('wrong'), 'nonsense\n');
    assert.match((await run([])).stderr, /journal\.jsonl:\d+: this is no line of a journal/);
    fs.chmodSync(journalOf('wrong'), 0o644);
    assert.match((await run([])).stderr, /can be read or written by others/);
});

test('a journal that has become long is made shorter, and no rejection is lost', async () => {
    const at = (days) => new Date(Date.now() - days * 86_400_000).toISOString();
    const decided = (id, days, verdict) => `${JSON.stringify({ at: at(days), after: 'e1', what: 'decided', proposal: id, proposer: 'bot', method: 'tools/call',
        tool: 'add', to: 'calc', arguments: { n: 'x'.repeat(10_000) }, verdict, by: 'ann' })}\n`;
    const lines = [`${JSON.stringify({ at: at(300), what: 'topic', topic: 'long' })}\n`, decided('no', 200, 'rejected')];

    for (let i = 0; i < 5000; i++)
        lines.push(decided(`p${i}`, i < 2000 ? 100 : 1, 'approved'));
    fs.mkdirSync(folderOf('long'), { mode: 0o700 });
    fs.writeFileSync(journalOf('long'), lines.join(''), { mode: 0o600 });
    const before = fs.statSync(journalOf('long')).size;
    const command = await orchestrate({ topic: 'long' });
    await command.stop();
    const { size, mode } = fs.statSync(journalOf('long'));
    assert.ok(before > 50_000_000 && size < 32 << 20, `${size}`);
    assert.equal(mode & 0o777, 0o600);
    const kept = new Set(linesOf('long').map(({ proposal }) => proposal));
    assert.deepEqual(['no', 'p0', 'p4999'].map((id) => kept.has(id)), [true, false, true]);
});
