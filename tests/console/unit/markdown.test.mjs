// SPDX-License-Identifier: Apache-2.0
// The small Markdown: what becomes what, and that nothing becomes markup.
import assert from 'node:assert/strict';
import test from 'node:test';

import { load } from './load.mjs';

const { inlinesOf, leadsTo, parseMarkdown, safeHref, textOf } = await load('state/markdown.ts');
const text = (value) => ({ kind: 'text', text: value });
const paragraph = (...children) => ({ kind: 'paragraph', children });

test('inside a line', () => {
    const cases = [
        ['a **b** c', [text('a '), { kind: 'strong', children: [text('b')] }, text(' c')]],
        ['*a* _b_ ~~c~~', [{ kind: 'em', children: [text('a')] }, text(' '), { kind: 'em', children: [text('b')] }, text(' '), { kind: 'strike', children: [text('c')] }]],
        ['**a *b* c**', [{ kind: 'strong', children: [text('a '), { kind: 'em', children: [text('b')] }, text(' c')] }]],
        ['`**x**`', [{ kind: 'code', text: '**x**' }]],
        ['snake_case_name', [text('snake_case_name')]],
        ['2 * 3 * 4', [text('2 * 3 * 4')]],
        ['\\*a\\*', [text('*a*')]],
        ['a\nb', [text('a'), { kind: 'break' }, text('b')]],
        ['[x](https://a.example/b)', [{ kind: 'link', href: 'https://a.example/b', children: [text('x')] }]],
        ['see https://a.example/b.', [text('see '), { kind: 'link', href: 'https://a.example/b', children: [text('https://a.example/b')] }, text('.')]],
        [`https://a.example/${'b'.repeat(2000)} https://c.example/`, [text(`https://a.example/${'b'.repeat(2000)} `), { kind: 'link', href: 'https://c.example/', children: [text('https://c.example/')] }]],
        ['<b>x</b> &amp;', [text('<b>x</b> &amp;')]],
        ['**open', [text('**open')]],
    ];
    for (const [given, wanted] of cases) assert.deepEqual(inlinesOf(given), wanted, given);
});

test('blocks', () => {
    assert.deepEqual(parseMarkdown('# Title\n\ntext\nmore\n\n---\n> said\n> again\n'), [
        { kind: 'heading', level: 1, children: [text('Title')] },
        paragraph(text('text'), { kind: 'break' }, text('more')),
        { kind: 'rule' },
        { kind: 'quote', blocks: [paragraph(text('said'), { kind: 'break' }, text('again'))] },
    ]);
    assert.deepEqual(parseMarkdown('```js\nlet x = "<b>";\n\n# no title\n```\nbehind'), [
        { kind: 'code', text: 'let x = "<b>";\n\n# no title' }, paragraph(text('behind')),
    ]);
    assert.deepEqual(parseMarkdown('- a\n- b\n  - c\n\n3. d\n4. e'), [
        { kind: 'list', start: null, items: [[paragraph(text('a'))], [paragraph(text('b')), { kind: 'list', start: null, items: [[paragraph(text('c'))]] }]] },
        { kind: 'list', start: 3, items: [[paragraph(text('d'))], [paragraph(text('e'))]] },
    ]);
    assert.deepEqual(parseMarkdown('```\nnever closed'), [{ kind: 'code', text: 'never closed' }]);
    assert.deepEqual(parseMarkdown(''), []);
});

test('a link leads to a page or a letter, or is none', () => {
    for (const href of ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:1', 'data:text/html,x', 'file:///etc/passwd', 'vbscript:x', '/admin/x', '//evil.example', 'blob:x', ''])
        assert.equal(safeHref(href), null, href);
    for (const href of ['https://a.example/', 'http://a.example/x?y#z', 'mailto:a@b.example']) assert.equal(safeHref(href), href);
    assert.deepEqual(inlinesOf('[x](javascript:alert)'), [text('[x](javascript:alert)')]);
    assert.ok(!JSON.stringify(inlinesOf('[https://good.example](javascript:alert)')).includes('"href":"javascript'));
});

test('a link says where it leads, unless its text does', () => {
    const cases = [
        ['https://a.example/b', 'https://a.example/b', null], ['https://a.example/', 'https://a.example', null], ['https://a.example/b', 'the page', 'a.example'],
        ['https://evil.example/', 'https://good.example', 'evil.example'], ['https://good.example.evil.example/', 'https://good.example', 'good.example.evil.example'],
        [safeHref('https://good.example@evil.example/'), 'https://good.example@evil.example/', 'evil.example'],
        [safeHref('https://\u0430pple.example/'), 'https://\u0430pple.example/', 'xn--pple-43d.example'], ['mailto:a@b.example', 'write', 'a@b.example'],
    ];
    for (const [href, said, place] of cases) assert.equal(leadsTo(href, said), place, said);
    assert.equal(textOf(inlinesOf('a **b _c_** `d`')), 'a b c d');
});

test('nothing that somebody writes takes long', () => {
    const hostile = ['*', '_', '**', '`', '[', '[a](', '~~', '> ', '- ', '# ', '\\', 'https://', '* a ', '[[[]]]', '_a ', '**a* ', '\n\n', '> - > - '];
    const started = process.cpuUsage(); // other tests run beside this one

    for (const piece of hostile) parseMarkdown(piece.repeat(Math.ceil(20_000 / piece.length)));
    parseMarkdown(`${'> '.repeat(5000)}x`);
    for (const piece of [' ', '#', ' #']) parseMarkdown(`# ${piece.repeat(20_000)}\u2028x`); // which "." does not match
    for (const piece of ['https://a', 'https://[', 'https://a.', 'https://a,https://']) parseMarkdown(piece.repeat(Math.ceil(1_000_000 / piece.length)));
    parseMarkdown(Array.from({ length: 2000 }, (_, i) => `${' '.repeat(i)}- x`).join('\n'));
    const spent = process.cpuUsage(started).user / 1000;
    assert.ok(spent < 5000, `${spent} ms`);
});
