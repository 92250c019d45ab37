// SPDX-License-Identifier: Apache-2.0
// The console's idea of patterns is the gateway's: the worked cases of the policy are put to it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { load } from './load.mjs';

const { covers, faultOf, fits, slashedOf, dottedOf, isPattern } = await load('state/patterns.ts');
const { explain } = await load('state/explain.ts');
const sections = JSON.parse(fs.readFileSync(new URL('../../policy/cases.json', import.meta.url), 'utf8'));
const rights = (more) => ({
    participantId: 'bot', topic: 'room', type: 'agent', capabilities: [], limited: [], paused: false, may_enter: true, validation: 'lazy', ...more,
});
const answerTo = (kind, more) => explain(rights(more), kind).answer;

test('every worked case of the policy comes out as it does at the gateway', () => {
    let count = 0;

    for (const { title, cases } of sections)
        for (const { kind, dialect, capabilities, verdict, error } of cases) {
            if (dialect === 'dotted' && error === 'malformed_kind') continue; // slashes are asked for here, and understood
            const { answer } = explain(rights({
                capabilities: capabilities.filter((one) => typeof one === 'string'),
                moot: { capabilities: capabilities.filter((one) => typeof one !== 'string') },
            }), slashedOf(kind));
            const isByPayload = error === 'kind_payload_mismatch' || answer === 'depends';
            const expected = verdict === 'allowed' ? 'yes' : 'no';
            if (!isByPayload) assert.equal(answer, expected, `${title}: ${kind} with ${JSON.stringify(capabilities)}`);
            else assert.ok(['yes', 'depends'].includes(answer), kind);
            count++;
        }
    assert.ok(count > 60);
});

test('stars cross a colon at the end alone, and take one character at least', () => {
    for (const [pattern, text, expected] of [
        ['a*c*e', 'abcde', true], ['a*c*e', 'ace', false], ['*', '', false], ['*', 'x:y', true], ['a*:b', 'a:x:b', false],
        ['a*:b', 'ax:b', true], ['*b*', 'abc:d', true], ['a*ba', 'aba', false], ['*ab*ab', 'xabyab', true], ['*ab*ab', 'xab:ab', false],
    ])
        assert.equal(fits(pattern, text), expected, `${pattern} ${text}`);
    assert.equal(fits('*:b', 'a:a:b', { crosses: true }), true);
    const long = 'a'.repeat(2000);
    assert.equal(fits('*a'.repeat(900) + 'b', long), false); // and in no time
});

test('spellings go over into each other', () => {
    for (const kind of ['mcp/request:tools/call:x.y', 'mcp/approve', 'chat', 'participant/status', 'mcp/proposal:a/b'])
        assert.equal(slashedOf(dottedOf(kind)), kind);
    assert.ok(covers('chat.*', 'chat'));
    assert.ok(!covers('mcp.*', 'mcp/approve'));
    assert.deepEqual(['chat', 'system/x', '', 'Chat', 'mcp/x', 'a/b', 'proposal/reject'].map(faultOf),
        [null, 'reserved', 'empty', 'malformed', 'malformed', null, 'malformed']);
    assert.deepEqual(['a*', '{', 'a b', ''].map(isPattern), [true, false, false, false]);
});

test('what else decides: the door, a pause, the policy, the brake', () => {
    const held = { capabilities: ['mcp/*', 'chat'] };
    const call = 'mcp/request:tools/call:drop_all';
    const row = (outcome, kind, more) => ({ row: 1, outcome, kind, ...more });

    assert.equal(answerTo(call, held), 'yes');
    assert.equal(answerTo(call, { ...held, may_enter: false }), 'no');
    assert.equal(answerTo(call, { ...held, paused: true }), 'no');
    assert.equal(answerTo('chat', { ...held, paused: true }), 'yes');
    assert.equal(answerTo('mcp/withdraw', { ...held, paused: true }), 'no');
    assert.equal(answerTo(call, { ...held, brake: 'on' }), 'asks');
    assert.equal(answerTo(call, { ...held, brake: 'on', type: 'human' }), 'yes');
    assert.equal(answerTo('mcp/request:tools/list', { ...held, brake: 'on' }), 'yes');
    assert.equal(answerTo(call, { ...held, policy: [row('deny', 'mcp/request:tools/call:drop_*')] }), 'no');
    assert.equal(answerTo('mcp/request:tools/call', { ...held, policy: [row('deny', 'mcp/request:tools/call:drop_*')] }), 'depends');
    assert.equal(answerTo(call, { ...held, policy: [row('ask', 'mcp/request:tools/call')] }), 'asks');
    assert.equal(answerTo(call, { ...held, policy: [row('allow', call), row('deny', 'mcp/request:*')] }), 'yes');
    assert.equal(answerTo(call, { ...held, policy: [row('ask', 'mcp/request:tools/call', { payload: { x: 1 } })] }), 'depends');
    assert.equal(answerTo(call, { policy: [row('allow', '*')] }), 'no'); // policy gives nothing
    assert.equal(explain(rights({ limited: ['mcp/request:*'] }), call).reasons[0].why, 'limited');
});
