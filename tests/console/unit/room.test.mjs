// SPDX-License-Identifier: Apache-2.0
// What the room view knows besides its envelopes: kinds, who is there, what is unread, mentions.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { load } from './load.mjs';

const { isMismatch, mayHave, parseKind } = await load('state/kinds.ts');
const { covers, needsNothing, slashedOf } = await load('state/patterns.ts');
const { Roster, sorted } = await load('state/roster.ts');
const { isMention, readMarks, marksText, firstUnread } = await load('state/unread.ts');
const { abilitiesOf } = await load('state/abilities.ts');
const { previewOf, resultPreview, bytesOf, sizeOf } = await load('state/preview.ts');
const { BASE64_MOST, isBase64 } = await load('state/base64.ts');
const { noteHeard, whenOf } = await load('state/when.ts');
const { mentionAt, candidates, withMention } = await load('state/complete.ts');

const steps = await load('views/room/steps.ts');

const say = (from, kind, payload = {}, more = {}) => ({ protocol: 'mcpx/v0.1', id: 'x', from, kind, payload, ...more });

test('what is done with rules is told in words, and what is unknown as it is', async () => {
    const { eventOf } = await load('views/room/steps.ts');
    const told = (kind, payload) => eventOf(say('ben', kind, payload)).what;

    assert.equal(told('rule/add', { rule: { proposer: 'bot', method: 'tools/call', tool: 'read', to: 'files', arguments: {} } }), 'adds a rule: bot may call read at files without asking');
    assert.match(told('rule/accept', { rule: 'r-1', reason: 'often' }), /^accepts the rule r-1.*often/);
    assert.equal(told('rule/disable', { rule: 'r-77d0c9a1b02e54f1c3aa90d27be4156f' }), 'stops the rule r-77d0c9a1…');
    assert.match(told('rule/other', { rule: 'r-1' }), /^rule\/other /);
    assert.match(told('constructor', { a: 1 }), /^constructor /);
});

test('how a proposal ended, and how long it took, is told in words', () => {
    assert.equal(steps.outcomeOf({ state: 'fulfilled', by: 'ann' }), 'carried out (ann)');
    assert.equal(steps.outcomeOf({ state: 'open', approvals: { given: 1, needed: 2 } }), 'open, 1 of 2 approvals');
    assert.equal(steps.outcomeOf({ state: 'constructor' }), 'constructor', 'what is unknown as it is');
    assert.deepEqual([0.4, 1, 999, 65_000].map(steps.tookText), ['took less than 1 ms', 'took 1 ms', 'took 999 ms', 'took 1 min']);
});

test('kinds are read as the protocol writes them', () => {
    assert.deepEqual(parseKind('mcp/request:resources/read:file:///a'), { verb: 'request', method: 'resources/read', context: 'file:///a' });
    assert.deepEqual(parseKind('mcp/approve'), { verb: 'other', method: '', context: '' });
});

test('patterns cover what the gateway says they cover', () => {
    const cases = JSON.parse(fs.readFileSync(new URL('../../policy/cases.json', import.meta.url), 'utf8'));
    const rows = cases.flatMap((group) => group.cases)
        .map((row) => ({ ...row, kind: slashedOf(row.kind) }))
        .filter(({ kind, capabilities: held, verdict }) => held.every((one) => typeof one === 'string') && ['allowed', 'denied'].includes(verdict) && !needsNothing(kind));

    assert.ok(rows.length >= 40, `${rows.length} rows`);
    for (const { kind, capabilities: held, verdict } of rows) {
        assert.equal(held.some((pattern) => covers(pattern, kind)), verdict === 'allowed', `${kind} by ${held}`);
        assert.equal(mayHave(held, kind), verdict === 'allowed', `${kind} by ${held}`);
    }
    assert.ok(covers('mcp/*:tools/call', 'mcp/request:tools/call:read'), 'a METHOD with any CONTEXT, whatever stands before it');
    assert.equal(mayHave([{ kind: 'mcp.request.*', payload: {} }], 'mcp/request:tools/call:read'), true, 'the payload is not asked');
    assert.equal(mayHave([{}, { kind: 7 }], 'chat'), false);
});

test('a payload that says something else than the kind is noticed', () => {
    const call = (kind, payload) => isMismatch(say('bot', kind, payload));

    assert.equal(call('mcp/request:tools/call:read', { method: 'tools/call', params: { name: 'read' } }), false);
    assert.equal(call('mcp/request:tools/call:read', { method: 'tools/call', params: { name: 'delete' } }), true);
    assert.equal(call('mcp/request:tools/list', { method: 'tools/call' }), true);
    assert.equal(call('mcp/request:tools/call', { method: 'tools/call', params: { name: 'delete' } }), false);
});

test('who is here follows the welcome, joins, leaves and what they say of themselves', () => {
    const roster = new Roster();
    const one = (id, type, capabilities = ['chat']) => ({ id, capabilities, moot: { type } });

    roster.hear(say('system:gateway', 'system/welcome', { you: one('me', 'human'), participants: [one('bot', 'agent')], moot: { brake: 'off' } }));
    roster.hear(say('bot', 'participant/status', { status: 'failing' }, { ts: '2026-01-01T00:00:00Z' }));
    roster.hear(say('system:gateway', 'system/presence', { event: 'batch', participants: [
        { event: 'join', ...one('tool', 'service') }, { event: 'leave', id: 'bot' }, { event: 'join', ...one('bot', 'agent') }, { event: 'join', ...one('ann', 'human') }] }));
    roster.hear(say('system:gateway', 'system/topic', { brake: 'on', by: 'ann' }));
    roster.hear(say('ann', 'participant/pause', { participant: 'tool' }));
    assert.deepEqual(sorted(roster.members.values(), 'me').map(({ id }) => id), ['me', 'ann', 'bot', 'tool']);
    assert.equal(roster.members.get('bot').status.status, 'failing', 'also after it came back');
    assert.equal(roster.members.get('tool').isPaused, true);
    assert.equal(roster.topic.brake, 'on');
    roster.hear(say('system:gateway', 'system/presence', { event: 'leave', participant: { id: 'tool' } }));
    assert.equal(roster.members.has('tool'), false);
    for (const payload of [{}, { participants: [1, null, { id: 7 }] }, { you: [], participants: {}, moot: 1 }]) roster.hear(say('system:gateway', 'system/welcome', payload));
    assert.equal(roster.members.size, 0);
});

test('a mention is a word of its own, or an address', () => {
    const chat = (text, more) => isMention(say('bot', 'chat', { text }, more), 'Ann');

    assert.equal(chat('hello @ann, look'), true);
    assert.equal(chat('(@ann)'), true);
    assert.equal(chat('mail x@ann.example'), false);
    assert.equal(chat('@annette'), false);
    assert.equal(chat('@annette and @ann'), true);
    assert.equal(chat('look', { to: ['Ann'] }), true);
    assert.equal(isMention(say('Ann', 'chat', { text: '@ann' }), 'Ann'), false, 'not by oneself');
    assert.equal(chat(['@ann']), false);
});

test('how far one has read survives, whatever stands in the storage', () => {
    const marks = new Map([['lobby', { id: 'a', ts: 5 }], ['ops', { id: 'b', ts: 9 }]]);

    assert.deepEqual([...readMarks(marksText(marks))].sort(), [...marks].sort());
    for (const text of [null, '', '{}', '[1]', '[["x"]]', '[["x",{"id":1,"ts":2}]]', 'nonsense']) assert.equal(readMarks(text).size, 0);
    const many = new Map(Array.from({ length: 500 }, (_, i) => [`r${i}`, { id: 'x', ts: i }]));
    assert.equal(readMarks(marksText(many)).size, 200);
    assert.ok(readMarks(marksText(many)).has('r499'));
    const entries = [1, 2, 3].map((ts) => ({ parts: [{ ts: new Date(ts * 1000).toISOString() }] }));
    assert.equal(firstUnread(entries, { id: 'x', ts: 0 }, 1), 2);
    assert.equal(firstUnread(entries, { id: 'gone', ts: 1500 }, undefined), 1);
    assert.equal(firstUnread(entries, { id: 'gone', ts: 9000 }, undefined), 3);
});

test('"@" completes a name where a word begins', () => {
    assert.deepEqual(mentionAt('hello @an', 9), { from: 6, typed: 'an' });
    assert.equal(mentionAt('mail x@an', 9), null);
    assert.equal(mentionAt('hello @an now', 13), null);
    assert.deepEqual(candidates(['manana', 'banana', 'Anton', 'bot', 'ann'], 'an'), ['ann', 'Anton', 'banana', 'manana'], 'by name');
    assert.deepEqual(withMention('hello @an now', { from: 6, typed: 'an' }, 'ann'), { text: 'hello @ann now', caret: 11 });
});

test('values are short lines, and only what is shown of them is looked at', () => {
    assert.equal(previewOf({ path: '/tmp/x', force: true, list: [1, null], deep: { a: 'b' } }), 'path: "/tmp/x", force: true, list: [1, null], deep: {a: "b"}');
    assert.equal(previewOf('a\n  b'), '"a b"');
    assert.equal(previewOf(undefined), '');
    const begin = performance.now();
    assert.ok(previewOf({ long: 'x'.repeat(1e7), many: Array.from({ length: 1e5 }, () => ({ y: 'z'.repeat(100) })) }).length < 200);
    assert.ok(performance.now() - begin < 1000);
    assert.equal(resultPreview({ result: { content: [{ type: 'image', mimeType: 'image/png', data: '' }, { type: 'text', text: ' The  first\npage. ' }] } }), 'The first page.');
    assert.equal(resultPreview({ result: { content: [{ type: 'image', mimeType: 'image/png', data: '' }] } }), 'image/png');
    assert.equal(resultPreview({ error: { code: 1, message: 'no' } }), 'no');
    assert.equal(resultPreview({ error: 'odd' }), 'odd');
    assert.equal(resultPreview({ result: { tools: [] } }), 'tools: []');
    assert.equal(resultPreview({}), '');
    assert.deepEqual([bytesOf('AAAA'), bytesOf('AAA='), bytesOf('AA=='), bytesOf('')], [3, 2, 1, 0]);
    assert.deepEqual([sizeOf(10), sizeOf(2048), sizeOf(3 << 20)], ['10 B', '2 KiB', '3 MiB']);
});

test('what is no image is found out in no time, and what is too long is not read', () => {
    for (const data of ['AAAA', 'AAA=', 'AA==', 'AA AA\nAA==\n', '+/09']) assert.equal(isBase64(data), true, data);
    for (const data of ['', 'A!', '"><script>', 'A-_A', 'A'.repeat(BASE64_MOST + 1)]) assert.equal(isBase64(data), false, data.slice(0, 20));
    const started = process.cpuUsage();
    for (const piece of [' ', 'A', '=', '= ', 'A =']) isBase64(`A${piece.repeat(1_000_000)}!`);
    assert.ok(process.cpuUsage(started).user < 2e6);
});

test('rights in a few words: all, some, or nothing of it', () => {
    const words = (...capabilities) => abilitiesOf(capabilities).map(({ word, isAll }) => (isAll ? word : `some ${word}`));

    assert.deepEqual(words('*'), ['everything']);
    assert.deepEqual(words('mcp/*', 'chat'), ['chat', 'request', 'proposal', 'response', 'approve']);
    assert.deepEqual(words('mcp/request:tools/call:read_*'), ['some request']);
    assert.deepEqual(words({ kind: 'mcp/request:tools/call', payload: { params: { name: 'x' } } }), ['some request']);
    assert.deepEqual(words('mcp/withdraw'), []);
    assert.deepEqual(words('mcp.request.*', 'chat.message'), ['chat', 'request'], 'in dots as well');
    assert.deepEqual(words({}, { kind: 7 }), []);
});

test('who says no time was heard when it came', () => {
    const dated = say('bot', 'chat', {}, { ts: '2026-01-01T00:00:00Z' }), silent = say('bot', 'chat');

    for (const one of [dated, silent]) noteHeard(one, 7);
    assert.equal(whenOf(dated), Date.UTC(2026, 0, 1));
    assert.equal(whenOf(silent), 7);
    assert.ok(Number.isNaN(whenOf(say('bot', 'chat'))));
});

test('who says that it is tomorrow is not believed, and has read nothing for others', () => {
    const tomorrow = say('bot', 'chat', {}, { ts: '9999-12-31T23:59:59Z' }), old = { ...tomorrow };
    const roster = new Roster();

    noteHeard(tomorrow, 7);
    assert.equal(whenOf(tomorrow), 7, 'when it was heard');
    assert.ok(Number.isNaN(whenOf(old)), 'nobody knows');
    roster.hear(say('system:gateway', 'system/welcome', { participants: [{ id: 'bot', capabilities: [], moot: { type: 'agent' } }] }));
    roster.hear(old);
    assert.ok(roster.members.get('bot').heardAt <= Date.now());
    roster.hear(say('bot', 'chat', {}, { ts: '1970-01-02T00:00:00Z' }));
    assert.ok(roster.members.get('bot').heardAt > Date.UTC(2000), 'nor who says that it was long ago');
    assert.equal(firstUnread([{ parts: [old] }, { parts: [say('bot', 'chat', {}, { ts: '2026-01-01T00:00:00Z' })] }], { id: 'gone', ts: 5 }, undefined), 1);
});

test('who comes a second time is still oneself, and can be paused', () => {
    const roster = new Roster();
    const me = { id: 'me', capabilities: ['chat'], moot: { type: 'human' } };

    roster.hear(say('system:gateway', 'system/welcome', { you: me, participants: [me] }));
    roster.hear(say('system:gateway', 'system/presence', { event: 'join', participant: me }));
    roster.hear(say('ann', 'participant/pause', { participant: 'me' }));
    assert.equal(roster.you.isPaused, true);
});

test('rights are renewed, and agents are stopped until a person speaks or somebody lets them go on', () => {
    const roster = new Roster();
    const one = (id, type, capabilities = []) => ({ id, capabilities, moot: { type } });
    const stop = () => roster.hear(say('system:gateway', 'system/notice', { notice: 'loop_guard' }));

    roster.hear(say('system:gateway', 'system/welcome', { participants: [one('bot', 'agent'), one('tool', 'service'), one('ann', 'human')] }));
    roster.renew([one('bot', 'agent', ['chat']), one('gone', 'agent', ['chat']), 7]);
    assert.deepEqual(roster.members.get('bot').capabilities, ['chat']);
    assert.equal(roster.members.has('gone'), false);
    assert.equal(roster.isGuarded, false);
    stop();
    roster.hear(say('bot', 'chat'));
    roster.hear(say('bot', 'mcp/request:tools/call:x', {}, { to: ['tool'] }));
    roster.hear(say('system:gateway', 'system/presence', { event: 'leave', participant: { id: 'ann' } }));
    assert.equal(roster.isGuarded, true);
    roster.hear(say('ann', 'chat'));
    assert.equal(roster.isGuarded, false, 'also by one who has left meanwhile');
    stop();
    roster.hear(say('bot', 'mcp/request:tools/call:x', {}, { to: ['ann'] }));
    assert.equal(roster.isGuarded, false, 'it would have been refused');
});

test('only the gateway says what others did', () => {
    const { eventOf } = steps;
    const forged = (kind, payload) => eventOf(say('eve', kind, payload));

    assert.equal(forged('topic/set', { brake: 'off', by: 'root' }).who, 'eve');
    assert.equal(forged('capability/grant-ack', { participant: 'root', capabilities: ['*'], status: 'granted' }).who, 'eve');
    assert.equal(forged('topic/invite', { inviter: 'root', participant: 'x' }).who, 'eve');
    assert.equal(eventOf(say('system:gateway', 'system/topic', { brake: 'on', by: 'root' })).who, 'root');
    assert.equal(eventOf(say('system:gateway', 'capability/grant-ack', { participant: 'bot', capabilities: ['chat'], status: 'granted' })).who, 'bot');
});
