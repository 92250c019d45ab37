// SPDX-License-Identifier: Apache-2.0
// Rules without a browser: their words, what they do, who may do what, and how they are narrowed.
import assert from 'node:assert/strict';
import test from 'node:test';

import { load, loadSource } from './load.mjs';

const { wordsOfShape, kindOfShape, isKnown } = await load('state/rule-words.ts');
const { actsOf, byChange, doesOf, fits, isReadable, shareOf, standingOf, tabOf, trialSentence, waitingIn } = await load('state/rules.ts');
const { beginning, narrowed, narrowedAll, partsOf } = await load('state/rule-narrow.ts');
const { parseExact } = await loadSource("export { parseExact } from './state/exact';");

const now = Date.parse('2026-11-16T12:00:00Z');
const rule = (more = {}) => ({
    id: 'r-1', topic: 'room', state: 'active', proposer: 'bot', method: 'tools/call', tool: 'write', to: 'files', arguments: {}, budget: 10, uses: 0, used_this_hour: 0,
    expires_at: '2026-12-01T00:00:00Z', ...more,
});
const room = (more = {}) => ({ name: 'room', automation: 'on', may: ['accept', 'decline', 'disable', 'enable', 'remove', 'test'], count: 1, rules: [], ...more });

test('every shape has words, and what is invisible or unknown is told', () => {
    const cases = [
        [{ exactly: 'w' }, 'exactly "w"'], [{ exactly: [1, 'a'] }, 'exactly [1, "a"]'], [{ exactly: null }, 'exactly null'],
        [{ one_of: ['a', 'b', 3] }, '"a", "b" or 3'], [{ boolean: true }, 'true or false'],
        [{ between: [1, 40], whole: true }, 'a whole number from 1 to 40'], [{ between: [0.5, 2] }, 'a number from 0.5 to 2'],
        [{ under: '/srv', characters: 'a-z .', max_bytes: 40, depth: 1, endings: ['.c', ''] }, 'a path beneath /srv, ending in .c or without an ending, at most 40 bytes long, and the rest made only of the characters “a-z .”'],
        [{ prefix: 'https://x/', characters: 'a-z', max_bytes: 40, depth: 2 }, 'a text that begins with https://x/, up to 2 levels deep, at most 40 bytes long, and the rest made only of the characters “a-z”'],
        [{ text: true, max_bytes: 200 }, 'any text of 200 bytes at most'], [{ text: true, max_bytes: 9, lines: true }, 'any text of 9 bytes at most, also of several lines'],
        [{ members: { a: { exactly: 1 }, b: { boolean: true, optional: true } } }, 'an object: a is exactly 1; b (may be absent) is true or false'],
        [{ items: { one_of: ['x', 'y'] }, min_items: 1, max_items: 3 }, '1 to 3 items, each "x" or "y"'],
        [{ exactly: 'a\u202eb' }, 'exactly "a⟨U+202E⟩b"'],
    ];

    for (const [shape, words] of cases) assert.equal(wordsOfShape(shape), words);
    for (const odd of [{}, null, [], 'text', { pattern: '.*' }, { exactly: 1, one_of: [1, 2] }]) {
        assert.equal(kindOfShape(odd), null);
        assert.match(wordsOfShape(odd), /does not know/);
    }
    assert.equal(isKnown({ members: { a: { pattern: 'x' } } }), false);
    assert.equal(isReadable(rule({ arguments: { a: { items: { surprise: 1 }, max_items: 2 } } })), false);
});

test('a number is told as it was written', () => {
    const shape = parseExact('{"exactly":9007199254740993}');
    if (JSON.rawJSON) assert.equal(wordsOfShape(shape), 'exactly 9007199254740993');
});

test('what a rule does depends on its state, its end, its budget and its room', () => {
    assert.deepEqual(['suggested', 'shadow', 'active', 'suspended', 'disabled', 'declined'].map((state) => tabOf(rule({ state }), now)),
        ['suggested', 'acting', 'acting', 'stopped', 'stopped', 'stopped']);
    const old = { expires_at: '2026-11-16T12:00:00Z' };

    assert.equal(standingOf(rule(old), now), 'expired');
    assert.equal(tabOf(rule({ ...old, state: 'suggested' }), now), 'stopped');
    assert.equal(standingOf(rule({ ...old, state: 'disabled' }), now), 'disabled');
    assert.match(doesOf(rule(), room(), now), /go through without asking/);
    assert.match(doesOf(rule(), room({ automation: 'off' }), now), /automation is off/);
    assert.match(doesOf(rule({ used_this_hour: 10 }), room(), now), /used up/);
    assert.match(doesOf(rule(old), room({ automation: 'off' }), now), /expired/);
    assert.match(doesOf(rule({ state: 'suggested' }), room({ automation: 'off' }), now), /until a person accepts/);
});

test('what one may do follows from the state, the capabilities, and whose proposals it is about', () => {
    const acts = (state, who = 'ann', more = {}) => actsOf(rule({ state, ...more }), room(), { id: who }, now);

    assert.deepEqual(acts('suggested'), ['accept', 'decline', 'remove']);
    assert.deepEqual(acts('shadow'), ['accept', 'disable', 'remove']);
    assert.deepEqual(acts('active'), ['disable', 'remove']);
    assert.deepEqual(acts('suspended'), ['disable', 'enable', 'remove']);
    assert.deepEqual(acts('declined'), ['accept', 'remove']);
    assert.deepEqual(acts('suggested', 'bot'), ['decline', 'remove'], 'nobody for himself');
    assert.deepEqual(acts('disabled', 'ann', { expires_at: '2020-01-01T00:00:00Z' }), ['remove'], 'what has expired is not enabled');
    assert.deepEqual(actsOf(rule(), room({ may: ['test'] }), { id: 'ann' }, now), []);
});

test('the number in the navigation counts what waits for oneself', () => {
    const rules = [rule({ state: 'suggested' }), rule({ state: 'suggested', proposer: 'ann' }), rule({ state: 'suggested', expires_at: '2020-01-01T00:00:00Z' }), rule()];

    assert.equal(waitingIn([room({ rules }), room({ rules, may: ['decline'] }), room()], { id: 'ann' }, now), 1);
});

test('searching, ordering, and a share that promises no more than was counted', () => {
    assert.ok(fits(rule({ arguments: { path: { under: '/srv/docs' } } }), { text: 'WRITE docs', topic: '' }));
    assert.ok(!fits(rule(), { text: 'write nothing', topic: '' }));
    assert.ok(!fits(rule(), { text: '', topic: 'other' }));
    assert.deepEqual([rule({ id: 'b', changed_at: '2026-01-01' }), rule({ id: 'a', changed_at: '2026-01-02' })].sort(byChange).map(({ id }) => id), ['a', 'b']);
    assert.equal(shareOf(0.8388), '83.8 %');
    assert.equal(shareOf(0.9999), '99.9 %');
});

test('the outcome of a dry run', () => {
    const trial = (covered, wrong) => trialSentence({ proposals: 40, covered, false_approvals: wrong });

    assert.equal(trial(0, 0).tone, 'plain');
    assert.equal(trial(12, 0).tone, 'ok');
    assert.deepEqual([trial(12, 2).tone, /2 of them a person rejected/.test(trial(12, 2).text)], ['warn', true]);
});

test('what is offered as narrower lies within, whatever is typed', () => {
    const under = { under: '/srv/app', characters: 'a-z', max_bytes: 40, depth: 3, endings: ['.c', '.h'] };
    const cases = [
        [{ one_of: ['a', 'b', 'c'] }, { way: 'fewer', kept: [0, 2] }, { one_of: ['a', 'c'] }],
        [{ one_of: ['a', 'b'] }, { way: 'fewer', kept: [1] }, { exactly: 'b' }],
        [{ one_of: ['a', 'b'] }, { way: 'fewer', kept: [] }, null],
        [{ boolean: true, optional: true }, { way: 'false' }, { exactly: false, optional: true }],
        [{ between: [1, 40], whole: true }, { way: 'range', least: '2', most: '9' }, { between: [2, 9], whole: true }],
        [{ between: [1, 40], whole: true }, { way: 'range', least: '3', most: '3' }, { exactly: 3 }],
        ...[['0', '9'], ['2', '41'], ['9', '2'], ['', '9'], ['1.5', '2'], ['x', '9']].map(([least, most]) => [{ between: [1, 40], whole: true }, { way: 'range', least, most }, null]),
        [under, { way: 'deeper', text: '/srv/app/lib/' }, { ...under, under: '/srv/app/lib', depth: 2 }],
        [under, { way: 'deeper', text: '/srv/app/a/b' }, { ...under, under: '/srv/app/a/b', depth: 1 }],
        ...['/srv/app', '/srv/apple', '/etc', '/srv/app/../etc', '/srv/app//x', '/srv/app/.git', '/srv/app/a/b/c', ''].map((text) => [under, { way: 'deeper', text }, null]),
        [under, { way: 'fewer', kept: [0] }, { ...under, endings: ['.c'] }],
        [under, { way: 'exactly', text: '/srv/app/a.c' }, { exactly: '/srv/app/a.c' }],
        [under, { way: 'exactly', text: '/etc/passwd' }, null],
        [{ prefix: 'INC-', characters: '0-9', max_bytes: 10, depth: 1 }, { way: 'longer', text: 'INC-12' }, { prefix: 'INC-12', characters: '0-9', max_bytes: 10, depth: 1 }],
        [{ prefix: 'INC-', characters: '0-9', max_bytes: 10, depth: 1 }, { way: 'longer', text: 'REQ-12' }, null],
        [{ text: true, max_bytes: 200 }, { way: 'shorter', most: '50' }, { text: true, max_bytes: 50 }],
        [{ text: true, max_bytes: 200 }, { way: 'shorter', most: '201' }, null],
        [{ items: { exactly: 1 }, min_items: 2, max_items: 5 }, { way: 'items', most: '1' }, null],
        [{ items: { exactly: 1 }, min_items: 2, max_items: 5 }, { way: 'items', most: '3' }, { items: { exactly: 1 }, min_items: 2, max_items: 3 }],
        [{ exactly: 1 }, undefined, { exactly: 1 }],
    ];

    for (const [shape, narrowing, wanted] of cases) assert.deepEqual(narrowed(shape, narrowing), wanted, JSON.stringify(narrowing));
    for (const [shape] of cases) for (const way of partsOf({ it: shape })[0].ways) assert.ok(beginning(shape, way).way === way);
});

test('members of members are narrowed where they stand, and names are only names', () => {
    const shapes = JSON.parse('{"a":{"members":{"b/c":{"boolean":true},"d":{"exactly":1}}},"__proto__":{"one_of":[1,2]}}');
    const parts = partsOf(shapes).map(({ pointer, ways }) => [pointer, ways.length]);

    assert.deepEqual(parts, [['/a/b~1c', 3], ['/a/d', 1], ['/__proto__', 2]]);
    assert.equal(JSON.stringify(narrowedAll(shapes, new Map([['/a/b~1c', { way: 'true' }]]))), '{"a":{"members":{"b/c":{"exactly":true},"d":{"exactly":1}}},"__proto__":{"one_of":[1,2]}}');
    assert.equal(narrowedAll(shapes, new Map([['/__proto__', { way: 'fewer', kept: [] }]])), null);
});
