// SPDX-License-Identifier: Apache-2.0
// The pure parts of the shell: addresses, shortcuts, preferences, times, waiting.
import assert from 'node:assert/strict';
import test from 'node:test';

import { load } from './load.mjs';

const { readRoute, hrefOf } = await load('router.ts');
const { findShortcut, inOrder, readKey } = await load('state/keys.ts');
const { readPreferences } = await load('state/preferences.ts');
const time = await load('state/time.ts');
const { durationOf, countdownOf, agoOf, clockOf, minuteOf } = time;
const { backoffMs, isPlace } = await load('net/socket.ts');
const { get, path, urlOf, Refusal, sentenceOf } = await load('net/api.ts');
const { refusalIn, ticketIn } = await load('net/session.ts');
const { cell } = await load('state/cell.ts');

test('an address and what it names are the same thing, whatever the name', () => {
    for (const thing of ['lobby', 'ä b', 'a%2Fb', '100%', 'a/b', '..', '.', '?x#y', '<b>']) {
        const url = new URL(hrefOf('room', thing, { filter: 'a&b', none: undefined, empty: '' }), 'http://x');
        const route = readRoute(url.pathname, url.search);
        assert.deepEqual([route.view, route.thing, route.query.get('filter'), route.query.has('none'), route.query.has('empty')], ['room', thing, 'a&b', false, false]);
        assert.doesNotMatch(url.pathname, /%2F/i, 'no server takes that');
    }
    assert.deepEqual([readRoute('/', '').view, readRoute('/console', '').view, readRoute('/elsewhere/room', '').view], ['', '', '']);
    assert.equal(readRoute('/console/room/%', '').thing, '%');
});

test('a key leads to the newest shortcut, or to the next key of a sequence', () => {
    const run = () => {};
    const known = [{ '?': { does: 'help', run }, 'g i': { does: 'inbox', run }, a: { does: 'shell', run } }, { a: { does: 'view', run } }];

    assert.equal(findShortcut(known, 'a').does, 'view');
    assert.equal(findShortcut(known, 'g'), 'more');
    assert.equal(findShortcut(known, 'g i').does, 'inbox');
    assert.equal(findShortcut(known, 'x'), null);
    assert.equal(findShortcut(known, 'i'), null);
});

test('a key behind the first of a sequence belongs to it, and never stands for itself', () => {
    const run = () => {};
    const known = [{ 'g i': { does: 'inbox', run }, a: { does: 'approve', run } }];
    const typed = (...keys) => { // each with its time in ms
        let before = null;
        return keys.map(([key, at]) => {
            const read = readKey(known, before, key, at);
            ({ before } = read);
            return read.found?.does ?? null;
        });
    };

    assert.deepEqual(typed(['g', 0], ['i', 100]), [null, 'inbox']);
    assert.deepEqual(typed(['g', 0], ['a', 100]), [null, null], 'there is no such pair');
    assert.deepEqual(typed(['g', 0], ['a', 100], ['a', 200]), [null, null, 'approve']);
    assert.deepEqual(typed(['g', 0], ['a', 4900]), [null, null], 'late, and still meant as the second');
    assert.deepEqual(typed(['g', 0], ['a', 5100]), [null, 'approve']);
    assert.deepEqual(typed(['g', 0], ['g', 100], ['a', 200]), [null, null, null]);
    assert.deepEqual(typed(['g', 0], ['g', 100], ['i', 200]), [null, null, 'inbox']);
    assert.deepEqual(typed(['g', 0], ['Shift', 100], ['a', 200]), [null, null, null], 'held alone it is no key');
    assert.deepEqual(typed(['a', 0], ['x', 10], ['a', 20]), ['approve', null, 'approve']);
});

test('the keys of the present view are listed first, and those that lead elsewhere last', () => {
    const key = { does: '', run: () => {} };
    assert.deepEqual(inOrder({ '?': key, 'g i': key, 'g r': key, j: key, a: key }).map(([name]) => name), ['j', 'a', '?', 'g i', 'g r']);
});

test('preferences of another version, or none, are the usual ones', () => {
    const usual = { theme: 'auto', shortcuts: true, notifications: false };

    for (const text of [null, '', '{', '[]', 'null', '"x"', '{"theme":"pink","shortcuts":"no"}']) assert.deepEqual(readPreferences(text), usual, text);
    assert.deepEqual(readPreferences('{"theme":"dark","shortcuts":false,"x":1}'), { ...usual, theme: 'dark', shortcuts: false });
});

test('times are told in one unit', () => {
    assert.deepEqual([0, 59_999, 60_000, 3_599_000, 3_600_000, 86_400_000, 9e8].map(durationOf), ['0 s', '59 s', '1 min', '59 min', '1 h', '1 day', '10 days']);
    assert.deepEqual([0, 1, 61_000, 3_599_000, 7_184_000, 7_200_000, 86_400_000].map(countdownOf), ['0:00', '0:01', '1:01', '59:59', '1 h 59 min', '2 h', '1 day']);
    const [now, yesterday, lastYear] = [new Date(2026, 10, 16, 18, 44, 7), new Date(2026, 10, 15, 18, 44), new Date(2025, 10, 16, 18, 44)].map(Number);
    assert.match(clockOf(now, now), /^\D*0?6:44:07|^18:44:07/);
    assert.ok(!minuteOf(now, now).includes('07') && !clockOf(yesterday, now).includes('2026'));
    assert.match(clockOf(lastYear, now), /2025/, 'of another year');
    assert.deepEqual([agoOf(0, 3000), agoOf(0, 65_000), agoOf(65_000, 0)], ['just now', '1 min ago', 'in 1 min']);
});

test('what the server says of its clock corrects this one, half of the way aside', () => {
    const isNear = (ms) => Math.abs(time.serverNow() - Date.now() - ms) < 50;
    const said = (ms) => new Date(ms).toISOString();

    assert.ok(isNear(0));
    time.noteServerTime(undefined, 0, 100);
    time.noteServerTime('soon', 0, 100);
    assert.ok(isNear(0), 'an older server says nothing');
    time.noteServerTime(said(1_000_000), 1_059_000, 1_061_000);
    assert.ok(isNear(-60_000));
    time.noteServerTime(said(1_000_000), 1_000_000, 1_020_000);
    assert.ok(isNear(-60_000), 'an answer that took long says little');
    time.noteServerTime(said(1_000_000), 1_000_000, 1_000_000);
    assert.ok(isNear(0));
});

test('attempts to come back grow rarer, and are spread', () => {
    assert.deepEqual([0, 1, 2, 3].map((attempt) => backoffMs(attempt, 0.5)), [1000, 2000, 4000, 8000]);
    assert.equal(backoffMs(50, 0.5), 30_000);
    assert.ok(backoffMs(3, 0) < backoffMs(3, 1));
});

test('what the gateway tells one connection is no place to go on from', () => {
    assert.equal(isPlace({ from: 'system:gateway', to: ['me'], kind: 'system/welcome' }), false);
    assert.equal(isPlace({ from: 'system:gateway', kind: 'system/presence' }), true);
    assert.equal(isPlace({ from: 'ann', to: ['me'], kind: 'chat' }), true);
});

test('paths hold any name, and refusals become sentences', () => {
    assert.equal(path`/topics/${'a/b?c'}/messages`, '/topics/a%2Fb%3Fc/messages');
    assert.equal(urlOf('/x', { a: 1, b: undefined, c: '', d: 'e&f' }), '/x?a=1&d=e%26f');
    assert.equal(sentenceOf(new Refusal(403, { detail: 'You may not.', error: 'forbidden' })), 'You may not.');
    assert.match(sentenceOf(new Refusal(500, {})), /500/);
    assert.equal(sentenceOf(new TypeError('x is not a function')), 'x is not a function', 'what is our own fault blames nobody else');
});

test('a server that is not there, or goes in the middle of an answer, is told as such', async () => {
    const { fetch } = globalThis;
    const gone = async () => { throw new TypeError('Failed to fetch'); };
    const told = async (answer) => {
        globalThis.fetch = answer;
        return sentenceOf(await get('/x', { isAnonymous: true }).catch((error) => error));
    };
    try {
        assert.match(await told(gone), /does not answer/);
        assert.match(await told(async () => ({ ok: true, status: 200, json: gone })), /does not answer/);
        assert.match(await told(async () => ({ ok: true, status: 200, json: async () => JSON.parse('{') })), /JSON/);
    } finally {
        globalThis.fetch = fetch;
    }
});

test('a ticket is found in the fragment alone', () => {
    assert.equal(ticketIn('#ticket=a-b_c'), 'a-b_c');
    assert.equal(ticketIn('#x=1&ticket=y'), 'y');
    for (const none of ['', '#', '#content', '#tickets=1']) assert.equal(ticketIn(none), null);
});

test('why the identity provider signed nobody in is told in our words alone', () => {
    assert.match(refusalIn('#refused=denied'), /did not let you in/);
    for (const other of ['#refused=<img src=x>', '#refused=toString', '#refused=__proto__', '#refused=', '#', '', '#ticket=a'])
        assert.equal(refusalIn(other), null);
});

test('a cell tells whoever listens, and only news', () => {
    const one = cell(1);
    const seen = [];
    const stop = one.subscribe(() => seen.push(one.get()));

    one.set(2);
    one.set(2);
    stop();
    one.set(3);
    assert.deepEqual(seen, [2]);
});
