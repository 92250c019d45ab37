// SPDX-License-Identifier: Apache-2.0
// The record, the overview and settings without a browser.
import assert from 'node:assert/strict';
import test from 'node:test';

import { load } from './load.mjs';

const audit = await load('state/audit.ts');
const overview = await load('state/overview.ts');
const settings = await load('state/settings.ts');
const { sizeOf } = await load('state/sizes.ts');

const record = (seq, more = {}) => ({ seq, at: new Date(1_700_000_000_000 + seq * 100).toISOString(), event: 'envelope', topic: 'room', participant: 'ann', kind: 'chat', id: `e${seq}`, verdict: 'allowed', hash: 'h', ...more });
const said = (kind, payload, more = {}) => record(1, { kind, body: { kind, payload, ...more } });

test('a record is told in a line', () => {
    const cases = [
        [said('chat', { text: 'Hello\n  there' }), 'Hello there'],
        [said('mcp/proposal:tools/call:write', { method: 'tools/call', params: { name: 'write', arguments: { path: '/x' } } }), 'proposes write {"path":"/x"}'],
        [said('mcp.request', { method: 'ping' }), 'calls ping'], [said('mcp/request:notifications/x', { method: 'notifications/x' }), 'tells notifications/x'],
        [said('mcp/response:tools/call', { result: { content: [{ type: 'text', text: 'done' }] } }), 'result: done'],
        [said('mcp/response:tools/call', { error: { code: -1, message: 'no such file' } }), 'error: no such file'],
        [said('mcp/reject', { reason: 'not now' }), 'rejects: not now'], [said('mcp/reject', {}), 'rejects'],
        [said('system/proposal', { state: 'fulfilled', by: 'ann' }), 'the proposal is fulfilled by ann'],
        [record(1, { event: 'admin', kind: 'token.create', body: { path: '/admin/tokens', request: { id: 'x' } } }), '{"id":"x"}'],
        [said('system/rule', { rule: 'r-1', state: 'declined', proposer: 'bot', tool: 'write', by: 'ann', reason: 'no' }), 'the rule for bot: write is declined by ann: no'],
        [said('rule/suggest', { rule: { proposer: 'bot', method: 'tools/call', tool: 'write' } }), 'bot: write'], [said('rule/disable', { rule: 'r-1', reason: 'why' }), 'r-1: why'],
        [record(1, { event: 'connect', kind: 'websocket', body: { address: '127.0.0.1', token: 'bot' } }), 'from 127.0.0.1 with the token bot'],
        [record(1, { event: 'presence', kind: 'join' }), ''],
        [said('chat', { text: `evil\u202e${'x'.repeat(500)}` }), `evil⟨U+202E⟩${'x'.repeat(288)}…`],
    ];

    for (const [one, line] of cases) assert.equal(audit.summaryOf(one), line);
    assert.equal(audit.summaryOf(said('participant/status', { status: 'sign_in_needed', why: 'it wants a token' })), 'is sign in needed: it wants a token');
    assert.equal(audit.summaryOf(said('participant/status', { busy: 1 })), '{"busy":1}');
    for (const odd of [said('chat', null), said('chat', 7), record(1, { body: 'text' }), record(1, { body: [] }), said('mcp/response:x', 'text')]) assert.equal(typeof audit.summaryOf(odd), 'string');
    assert.deepEqual(audit.addresseesOf(said('chat', {}, { to: ['a', 7, 'b'] })), ['a', 'b']);
    assert.ok(audit.isRefused(record(1, { event: 'refusal', verdict: 'paused' })) && !audit.isRefused(record(1)));
});

test('a thread is a tree in the order of the record, with times', () => {
    const thread = audit.threadOf([record(4, { correlation_id: 'e2' }), record(1), record(2, { correlation_id: 'e1' }), record(3, { correlation_id: 'e1' }), record(9, { correlation_id: 'gone' })]);

    assert.deepEqual(thread.map(({ record: { seq }, depth, sinceFirstMs, sinceParentMs }) => [seq, depth, sinceFirstMs, sinceParentMs]),
        [[1, 0, 0, null], [2, 1, 100, 100], [4, 2, 300, 200], [3, 1, 200, 200], [9, 0, 800, null]]);
    assert.deepEqual(audit.threadOf([]), []);
    // What refers to itself, or to what comes later, is no child of it.
    assert.deepEqual(audit.threadOf([record(1, { correlation_id: 'e1' }), record(2, { correlation_id: 'e3' }), record(3)]).map(({ depth }) => depth), [0, 0, 0]);
    const long = audit.threadOf(Array.from({ length: 3000 }, (_, i) => record(i + 1, { correlation_id: `e${i}` })));

    assert.ok(long.length === 3000 && long.at(-1).depth <= 8);
});

test('filters go through the address and to the gateway', () => {
    const filter = audit.filterIn(new URLSearchParams('text=a&topic=&kind=mcp/*&since=2026-11-16T10:00&nonsense=1'));

    assert.deepEqual(filter, { text: 'a', kind: 'mcp/*', since: '2026-11-16T10:00' });
    assert.deepEqual([audit.spanOf({}), audit.spanOf({ since: '24h' }), audit.spanOf(filter), audit.spanOf({ until: '2026-01-01T00:00' }), audit.spanOf({ since: '90s' })], ['', '24h', 'dates', 'dates', '90s']);
    assert.deepEqual(['7', null, '', 'abc', '-1', '1.5', '1e3', '9'.repeat(16)].map(audit.seqIn), [7, null, null, null, null, null, null, null]);
    assert.ok(audit.isHead(`12:${'a'.repeat(64)}`) && !audit.isHead('12:ab') && !audit.isHead(`x:${'a'.repeat(64)}`));
});

test('what verifying found, in words', () => {
    assert.equal(audit.outcomeOf({ state: 'none' }), null);
    assert.equal(audit.outcomeOf({ state: 'running', records: 1, total: 2 }), null);
    assert.deepEqual(audit.outcomeOf({ state: 'done', holds: true, records: 1, checkpoints: 1, removed: 0, uncovered: 2 }), { tone: 'ok', lines: ['The record holds: 1 record, 1 signature.', '2 records at the end are not signed yet.'] });
    const bad = audit.outcomeOf({ state: 'done', holds: false, records: 33, bad_seq: 34, what: 'its body is not what its hash says' });

    assert.equal(bad.tone, 'danger');
    assert.deepEqual(bad.lines.slice(0, 2), ['The record is damaged at record 34.', 'Its body is not what its hash says. The 33 records before it hold.']);
    assert.equal(audit.outcomeOf({ state: 'stopped', records: 5, total: 9 }).tone, 'warn');
});

test('plots have gaps where nothing was measured, no fall at the end, and round units', () => {
    const beats = [{ at: '2026-11-16T10:00:00Z', messages: 5, p50_ms: 200 }, { at: '2026-11-16T10:01:00Z', messages: 7 }, { at: '2026-11-16T10:02:00Z', messages: 1, p50_ms: 90_000 }];

    assert.deepEqual(overview.countsOf(beats, 'messages').map(([, value]) => value), [5, 7], 'the stretch that runs is left out');
    assert.deepEqual(overview.countsOf(beats.slice(0, 1), 'messages').length, 1);
    assert.deepEqual(overview.levelsOf(beats, 'p50_ms').map(([, value]) => value), [200, null, 90_000]);
    const { unit, series: [points] } = overview.inUnit('time', [overview.levelsOf(beats, 'p50_ms')]);

    assert.deepEqual([unit.name, points.map(([, value]) => value)], ['s', [0.2, null, 90]]);
    const padded = overview.padded(overview.countsOf(beats, 'messages'), 'hour');

    assert.deepEqual([padded.length, padded.at(-3)[1], padded.at(-2)[0] - padded.at(-3)[0]], [60, null, 60_000]);
    assert.deepEqual(overview.padded([], 'day'), []);
    assert.equal(overview.inUnit('bytes', [[[0, 40 << 20]]]).unit.name, 'MiB');
    assert.equal(overview.inUnit('bytes', [[[0, 0]]]).unit.name, 'KiB');
    assert.deepEqual([0, 850, 2500, 240_000, 9e6].map(overview.timeOf), ['0', '850 ms', '2.5 s', '4 min', '2.5 h']);
    assert.deepEqual(overview.refusalsOf({ refusals: { a: 1, b: 0, c: 5 } }), [['c', 5], ['a', 1]]);
    assert.deepEqual([0, 1023, 1024, 1536, 5 << 20, 200 * 1024, 1e18].map(sizeOf), ['0 B', '1023 B', '1 KiB', '1.5 KiB', '5 MiB', '200 KiB', '909495 TiB']);
});

test('settings: what changes nothing is no change, and switches go out as such', () => {
    const rate = { name: 'limits.rate_messages', type: 'rate', value: '900/s', default: '1000/s', source: 'file', live: true, help: 'envelopes' };
    const zip = { name: 'compression', type: 'switch', value: 'true', default: 'on', source: 'default', live: true, help: '' };
    const fixed = { name: 'workers', type: 'count', value: '2', default: 'auto', source: 'file', live: false, help: 'threads' };
    const all = [rate, zip, fixed];
    const drafts = settings.withDraft(settings.withDraft({}, rate, '5/s'), zip, 'off');

    assert.deepEqual(settings.bodyOf(drafts, all), { 'limits.rate_messages': '5/s', compression: false });
    assert.deepEqual(Object.keys(settings.withDraft(drafts, rate, '900/s')), ['compression']);
    assert.deepEqual(Object.keys(settings.withDraft(drafts, rate, undefined)), ['compression'], 'it is given up');
    assert.deepEqual(settings.withDraft({}, zip, 'on'), {});
    assert.deepEqual(settings.bodyOf(settings.withDraft({}, rate, null), all), { 'limits.rate_messages': null });
    const theirs = { ...rate, value: '7/s', source: 'runtime' };

    assert.deepEqual([rate, theirs].map((one) => settings.isOvertaken(one, drafts[rate.name])), [false, true]);
    assert.ok(settings.isOvertaken(theirs, settings.withDraft(drafts, theirs, '6/s')[rate.name]), 'also when somebody goes on typing');
    assert.deepEqual([settings.unseenIn(drafts, all, all), settings.unseenIn(drafts, all, [theirs, zip, fixed]), settings.unseenIn({}, all, [theirs])], [[], [rate.name], []]);
    assert.deepEqual(['live', 'changed', 'all'].map((which) => settings.chosen(all, which, '').length), [2, 2, 3]);
    assert.deepEqual(settings.chosen(all, 'all', 'THREADS').map(({ name }) => name), ['workers']);
    assert.ok(settings.problemOf(fixed, 'many') && settings.problemOf(rate, ' ') && !settings.problemOf(fixed, 'auto') && !settings.problemOf(rate, 'anything'));
    assert.deepEqual(settings.grouped(all).map(([group]) => group), ['limits', 'compression', 'other']);
});

test('a time in the address is the same for everybody, a field shows it by the clock of who looks', () => {
    const zone = process.env.TZ;

    try {
        for (const [name, field] of [['America/New_York', '2026-11-16T12:00'], ['Asia/Kolkata', '2026-11-16T22:30'], ['UTC', '2026-11-16T17:00']]) {
            process.env.TZ = name;
            assert.equal(audit.fieldOfTime('2026-11-16T17:00:00.000Z'), field);
            assert.equal(audit.timeOfField(field), '2026-11-16T17:00:00.000Z');
        }
        assert.deepEqual([audit.fieldOfTime(undefined), audit.fieldOfTime('24h'), audit.timeOfField('')], ['', '', '']);
    } finally {
        if (zone === undefined) delete process.env.TZ;
        else process.env.TZ = zone;
    }
});
