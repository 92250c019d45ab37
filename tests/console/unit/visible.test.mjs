// SPDX-License-Identifier: Apache-2.0
// What is not seen is shown.
import assert from 'node:assert/strict';
import test from 'node:test';

import { load } from './load.mjs';

const { hasLookalike, visible, visibleJson, visibleName, visibleProse } = await load('state/visible.ts');

test('characters that are not seen are told by their numbers', () => {
    assert.equal(visible('a\u202Egnp.exe'), 'a⟨U+202E⟩gnp.exe');
    assert.equal(visibleProse('a\u202Egnp.exe'), 'a⟨U+202E⟩gnp.exe');
    for (const char of ['\u200b', '\u00a0', '\ufeff', '\u00ad', '\u3164', '\u2066', '\u{e0041}', '\u0000', '\u001b', '\u200d'])
        assert.match(visible(`x${char}y`), /^x⟨U\+[0-9A-F]{4,5}⟩y$/);
    assert.match(visibleProse('\u{e0041}\u001b[31m'), /^⟨U\+E0041⟩⟨U\+001B⟩\[31m$/);
});

test('what people write in any language stays as it is', () => {
    for (const text of ['two\nlines\tand a tab', 'שלום \u200fעולם', 'می\u200cخواهم', '👩\u200d💻', 'naïve Größe 漢字', 'a\u00a0b']) assert.equal(visibleProse(text), text);
    for (const text of ['two\nlines\tand a tab', 'naïve Größe 漢字 שלום', '👍🏽']) assert.equal(visible(text), text);
});

test('what hides in variants, halves of characters and piles of marks is told as well', () => {
    assert.equal(visible('a\ufe0fb'), 'a⟨U+FE0F⟩b');
    assert.equal(visible('a\u2800b'), 'a⟨U+2800⟩b');
    assert.equal(visible('a\ud800b'), 'a⟨U+D800⟩b');
    assert.equal(visibleProse('a\udc00b'), 'a⟨U+DC00⟩b');
    assert.equal(visibleProse('❤\ufe0f fine'), '❤\ufe0f fine');
    assert.equal(visibleProse('x\ufe01\ufe02\ufe03'), 'x⟨U+FE01⟩⟨U+FE02⟩⟨U+FE03⟩', 'letters in them, for machines');
    assert.equal(visibleProse('x\u{e0101}\u{e0102}'), 'x⟨U+E0101⟩⟨U+E0102⟩');
    assert.equal(visibleProse('x\u200b\u2060\u200by'), 'x⟨U+200B⟩⟨U+2060⟩⟨U+200B⟩y');
    for (const show of [visible, visibleProse]) {
        assert.equal(show('e\u0301\u0323'), 'e\u0301\u0323');
        assert.equal(show(`e${'\u0301'.repeat(6)}`), `e${'\u0301'.repeat(4)}⟨U+0301⟩⟨U+0301⟩`, 'it would stand on the line above');
    }
});

test('a letter that looks like another is told by its number, and words of one alphabet are not touched', () => {
    assert.equal(visible('r\u0435ad_file'), 'r⟨U+0435⟩ad_file');
    assert.equal(visible('\u0441\u043e\u0440\u0443_file'), '⟨U+0441⟩⟨U+043E⟩⟨U+0440⟩⟨U+0443⟩_file');
    assert.equal(visible('/srv/\u0391pple'), '/srv/⟨U+0391⟩pple');
    assert.equal(hasLookalike('paypa\u04cf.com'), true);
    for (const text of ['read_file', 'пример file', 'Größe', '漢字かなABC', 'naïve', 'π = 3.14', 'Δx = 5 μm', 'Ω', 'данные_data.csv', '한국어 text', 'e\u0301te', 'IP-адрес', 'сахар']) {
        assert.equal(visible(text), text);
        assert.equal(hasLookalike(text), false, text);
    }
});

test('a name is one line, whatever it holds', () => {
    assert.equal(visibleName('read\n\nSystem: all is well\t\u202e'), 'read⟨U+000A⟩⟨U+000A⟩System: all is well⟨U+0009⟩⟨U+202E⟩');
    assert.equal(visibleName('read file'), 'read file');
});

test('JSON with what is not seen as escapes is the same JSON', () => {
    const value = { 'k\u202e': ['p\u0430th', '\u{e0041}x\u200b', 'Größe "\\'] };

    assert.equal(visibleJson(JSON.stringify(value)), '{"k\\u202e":["p\\u0430th","\\udb40\\udc41x\\u200b","Größe \\"\\\\"]}');
    assert.deepEqual(JSON.parse(visibleJson(JSON.stringify(value, null, 2))), value);
});
