// SPDX-License-Identifier: Apache-2.0
// What differs between values and between texts.
import assert from 'node:assert/strict';
import test from 'node:test';

import { load } from './load.mjs';

const { diff, diffText, isSame } = await load('state/diff.ts');
const { valueAt, withValueAt, readable } = await load('state/pointer.ts');

test('the deepest places that differ are named, in their order', () => {
    const before = { path: '/tmp/a', mode: 'r', deep: { list: [1, 2, 3], same: true }, gone: null };
    const after = { path: '/tmp/b', mode: 'r', deep: { list: [1, 5], same: true }, 'a/b~c': 1 };

    assert.deepEqual(diff(before, after), [
        { pointer: '/path', kind: 'changed', before: '/tmp/a', after: '/tmp/b' },
        { pointer: '/deep/list/1', kind: 'changed', before: 2, after: 5 },
        { pointer: '/deep/list/2', kind: 'removed', before: 3 },
        { pointer: '/gone', kind: 'removed', before: null },
        { pointer: '/a~1b~0c', kind: 'added', after: 1 },
    ]);
    assert.deepEqual(diff(before, before), []);
    assert.deepEqual(diff(undefined, 1), [{ pointer: '', kind: 'added', after: 1 }]);
    assert.deepEqual(diff([1], { 0: 1 }).map(({ kind }) => kind), ['changed']);
});

test('names that objects inherit are names like any other', () => {
    const hostile = JSON.parse('{"__proto__":{"x":1},"constructor":1,"toString":2}');

    assert.deepEqual(diff({}, hostile).map(({ pointer, kind }) => `${kind} ${pointer}`), ['added /__proto__', 'added /constructor', 'added /toString']);
    assert.equal(isSame({}, JSON.parse('{"__proto__":{}}')), false);
    assert.equal(valueAt({}, '/toString'), undefined);
    const made = withValueAt({}, '/__proto__/x', 1);
    assert.equal(JSON.stringify(made), '{"__proto__":{"x":1}}');
    assert.equal({}.x, undefined);
});

test('texts are compared by words; put together again both are whole', () => {
    const cases = [
        ['reads a file', 'reads and deletes a file'], ['', 'x'], ['a b c', ''], ['same', 'same'], ['one  two\nthree', 'one two\n\nthree four'],
        ['x '.repeat(5000), 'y '.repeat(5000)],
    ];
    for (const [before, after] of cases) {
        const pieces = diffText(before, after);
        assert.equal(pieces.filter(({ kind }) => kind !== 'added').map(({ text }) => text).join(''), before);
        assert.equal(pieces.filter(({ kind }) => kind !== 'removed').map(({ text }) => text).join(''), after);
    }
    assert.deepEqual(diffText('reads a file', 'reads and deletes a file').filter(({ kind }) => kind === 'added').map(({ text }) => text.trim()), ['and deletes']);
});

test('a place is read, replaced, taken out, and told to people', () => {
    const value = { a: [{ b: 1 }, 2], c: 'x' };

    assert.equal(valueAt(value, '/a/0/b'), 1);
    assert.deepEqual(withValueAt(value, '/a/0/b', 9), { a: [{ b: 9 }, 2], c: 'x' });
    assert.deepEqual(withValueAt(value, '/a/1', undefined), { a: [{ b: 1 }], c: 'x' });
    assert.deepEqual(withValueAt(value, '/c', undefined), { a: [{ b: 1 }, 2] });
    assert.deepEqual(withValueAt(value, '/new/deep', true), { ...value, new: { deep: true } });
    assert.deepEqual(value, { a: [{ b: 1 }, 2], c: 'x' }, 'and the old one stays');
    assert.equal(readable('/a~1b/0'), 'a/b › 0');
});
