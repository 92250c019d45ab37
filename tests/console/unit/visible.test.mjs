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

test('other forms of our letters and separators, and whole words that look like ours, are told as well', () => {
    const told = {
        '\u217cs -la': '⟨U+217C⟩s -la', '\u{1d68a}\u{1d68b}': '⟨U+1D68A⟩⟨U+1D68B⟩', '\uff52m': '⟨U+FF52⟩m', 'pro\ufb01le': 'pro⟨U+FB01⟩le', '\u212aey': '⟨U+212A⟩ey',
        '/etc\u2044passwd': '/etc⟨U+2044⟩passwd', '/etc\u2215passwd': '/etc⟨U+2215⟩passwd', '\uff0fetc': '⟨U+FF0F⟩etc', 'good.example\uff0eevil': 'good.example⟨U+FF0E⟩evil',
        'a\u2024b': 'a⟨U+2024⟩b', 'rm \u2212rf': 'rm ⟨U+2212⟩rf', 'rm \u2013rf': 'rm ⟨U+2013⟩rf', 'rm\u2010rf': 'rm⟨U+2010⟩rf', 'me\uff20host': 'me⟨U+FF20⟩host',
        'adm\u0131n': 'adm⟨U+0131⟩n', '\u0261it': '⟨U+0261⟩it', 'r\u0251t': 'r⟨U+0251⟩t',
        '\u0430\u04cf\u0456\u0441\u0435': '⟨U+0430⟩⟨U+04CF⟩⟨U+0456⟩⟨U+0441⟩⟨U+0435⟩',
        '/srv/\u0441\u043e\u0440\u0443': '/srv/⟨U+0441⟩⟨U+043E⟩⟨U+0440⟩⟨U+0443⟩',
        '\u0440\u0430\u0443\u0440\u0430.example': '⟨U+0440⟩⟨U+0430⟩⟨U+0443⟩⟨U+0440⟩⟨U+0430⟩.example',
    };
    for (const [text, shown] of Object.entries(told)) {
        assert.equal(visible(text), shown);
        assert.equal(hasLookalike(text), true, shown);
    }
    assert.deepEqual(JSON.parse(visibleJson(JSON.stringify(Object.keys(told)))), Object.keys(told));
    for (const text of Object.keys(told)) assert.equal(visibleProse(text), text);
});

test('what people write in their languages has nothing that looks like something else', () => {
    const texts = [
        'Die Größe ist 5 µm – ungefähr ½ davon, „zum Beispiel“ 3–5 m²…', 'Straße, Ärger, Öl: 20 % Rabatt für 10 €', 'L’été, c’est « déjà » fini — hélas ! Œuvre nº 3',
        'Сахар и соль: вот так мы все и едим. Он нет, кот там, нос.', 'Тест № 5 — как обычно', 'сахар', 'кот', 'ОСА', 'і ні, сік', 'јас сум', 'Και τα λοιπά: όχι', 'Հայերեն',
        '你好，世界！（版本：v2）２０２６年', '第Ⅳ章：ＮＨＫの番組', '設定／保存', '使用（abc）', '한국어 문장, 그리고 더', 'kadın ve çocuk, şimdi', 'ışığın', 'e=mc²', 'x ≤ 5 − 3', 'a → b', 'I ♥ NY™', '東京–大阪',
        'https://ru.wikipedia.org/wiki/Москва', '{"имя":["сахар",{"k":"кот"}]}',
    ];
    for (const text of texts) {
        assert.equal(visible(text), text);
        assert.equal(hasLookalike(text), false, text);
        assert.equal(visibleJson(text), text);
    }
    const started = process.cpuUsage();
    for (const text of texts) visible(text.repeat(20_000));
    for (const text of ['\u2044', 'a\u2044', '\u0131', '\uff41', '\u0430', 'a\u0430']) visible(text.repeat(200_000));
    assert.ok(process.cpuUsage(started).user < 30e6);
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
