// SPDX-License-Identifier: Apache-2.0
// Values and their schemas: what is wrong, and which control suits.
import assert from 'node:assert/strict';
import test from 'node:test';

import { load } from './load.mjs';

const { validate, controlOf, emptyOf, isQuick, labelOf, resolve } = await load('state/schema.ts');
const at = (schema, value) => validate(schema, value).map(({ pointer }) => pointer);

const cases = [
    // schema, good values, bad values
    [{ type: 'string' }, ['', 'x'], [1, null, [], {}]],
    [{ type: ['string', 'null'] }, ['x', null], [1]],
    [{ type: 'integer' }, [1, -5, 1.0], [1.5, '1']],
    [{ type: 'number', minimum: 0, exclusiveMaximum: 10 }, [0, 9.9], [-1, 10]],
    [{ type: 'number', multipleOf: 0.1 }, [0.3, 1], [0.25]],
    [{ type: 'boolean' }, [true, false], [0, 'true']],
    [{ enum: ['a', 1, { b: 2 }] }, ['a', 1, { b: 2 }], ['b', 2, {}]],
    [{ const: 5 }, [5], [6]],
    [{ type: 'string', minLength: 2, maxLength: 3 }, ['ab', '🙂🙂🙂'], ['a', 'abcd']],
    [{ type: 'string', pattern: '^[a-z]+$' }, ['abc'], ['ABC', '']],
    [{ type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2, uniqueItems: true }, [['a'], ['a', 'b']], [[], ['a', 'a'], ['a', 'b', 'c'], [1]]],
    [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }, [{ a: 'x' }], [{}, { a: 1 }, { a: 'x', b: 1 }]],
    [{ type: 'object', additionalProperties: { type: 'number' } }, [{ x: 1 }], [{ x: 'y' }]],
    [{ anyOf: [{ type: 'string' }, { type: 'number', minimum: 5 }] }, ['x', 5], [4, null]],
    [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, ['x', null], [1]],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
    [{ $ref: '#/$defs/id', $defs: { id: { type: 'string' } } }, ['x'], [1]],
    [true, [1, 'x', null], []],
    [undefined, [1, 'x', null], []],
    [{ type: 'string', pattern: '(' }, ['x'], []],
];

test('a value is judged as its schema says', () => {
    for (const [schema, good, bad] of cases) {
        for (const value of good) assert.deepEqual(validate(schema, value), [], `${JSON.stringify(schema)} takes ${JSON.stringify(value)}`);
        for (const value of bad) assert.notDeepEqual(validate(schema, value), [], `${JSON.stringify(schema)} refuses ${JSON.stringify(value)}`);
    }
});

test('what is wrong is told where it is, as a sentence', () => {
    const schema = { type: 'object', required: ['path'], properties: { path: { type: 'string' }, lines: { type: 'array', items: { type: 'integer' } } } };

    assert.deepEqual(validate(schema, { lines: [1, 'x'] }), [
        { pointer: '/path', message: 'This is required.' },
        { pointer: '/lines/1', message: 'This must be a whole number.' },
    ]);
    assert.deepEqual(at(schema, { path: 1 }), ['/path']);
});

test('a hostile schema ends: circles, depth, patterns that take for ever', () => {
    const circle = { $ref: '#' };
    const tree = { type: 'object', properties: { next: { $ref: '#' } }, additionalProperties: { $ref: '#' } };
    let deep = { x: 1 };
    for (let i = 0; i < 5000; i++) deep = { next: deep };

    assert.deepEqual(validate(circle, 1), []);
    assert.deepEqual(resolve({ $ref: 'https://elsewhere/x' }, {}), {});
    validate(tree, deep);
    const started = performance.now();
    for (const pattern of ['(a+)+$', '(a|a)*b', '(.*)*x', '^(a?){50}a{50}$', 'a*a*a*b', '^a*a*a*a*b', '([a-z]+)\\1', `${'a?'.repeat(40)}${'a'.repeat(40)}`, `^${'(a|a)'.repeat(35)}b`,
        `^${'a{0,1}'.repeat(30)}b`, `^${'(?:a|)'.repeat(30)}b`])
        assert.equal(isQuick(pattern), false, pattern);
    for (const pattern of ['^[a-z]+$', '^(json|yaml|toml)$', '^https?://', '^\\d{4}-\\d{2}-\\d{2}$', '^[\\w.+-]+@[\\w.-]+$', '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}$'.replace('{3}', '')])
        assert.equal(isQuick(pattern), true, pattern);
    for (const pattern of ['^a*a*a*b', 'a*a*b']) validate({ type: 'string', pattern }, 'a'.repeat(200));
    validate({ type: 'array', items: { type: 'string' } }, Array.from({ length: 100_000 }, () => 1));
    assert.ok(performance.now() - started < 5000);
    assert.equal(validate({ items: { type: 'string' } }, Array.from({ length: 1000 }, () => 1)).length, 100, 'and it does not tell of more than anybody reads');
});

test('forms within forms end, and leave what they do not get to look at to the tool', () => {
    const twenty = (form) => Array.from({ length: 20 }, () => form);
    const started = performance.now();

    for (const schema of [{ allOf: twenty({ $ref: '#' }) }, { anyOf: twenty({ allOf: [{ $ref: '#' }, { type: 'string' }] }) }, { oneOf: twenty({ items: { $ref: '#' }, not: {} }) }])
        validate(schema, [[[[[[1]]]]]]);
    validate({ enum: Array.from({ length: 50_000 }, (_, i) => ({ i })) }, { i: -1 });
    assert.ok(performance.now() - started < 5000);
    assert.deepEqual(validate({ allOf: twenty({ $ref: '#' }) }, 1), []);
});

test('a form has the control that suits, and JSON where none does', () => {
    const controls = [
        [{ type: 'string' }, undefined, 'text'], [{ type: 'string' }, 5, 'json'], [{ type: ['string', 'null'] }, 'x', 'text'], [{ type: 'integer' }, 1, 'number'],
        [{ type: 'boolean' }, true, 'boolean'], [{ enum: [1, 2] }, 1, 'choice'], [{ type: 'object', properties: { a: {} } }, {}, 'object'],
        [{ type: 'object' }, {}, 'json'], [{ type: 'array', items: {} }, [], 'list'], [{ type: 'array' }, [], 'json'], [{}, 1, 'json'],
    ];
    controls.push([{ type: 'string' }, 'a\u202eb', 'json'], [{ type: 'string' }, 'p\u0430th', 'json'], [{ type: 'string' }, 'Größe 👍🏽', 'text']);
    for (const [schema, value, control] of controls) assert.equal(controlOf(schema, value), control, JSON.stringify(schema));
    assert.deepEqual([{ type: 'string' }, { type: 'array' }, { default: 7 }, { enum: ['a'] }, {}].map(emptyOf), ['', [], 7, 'a', null]);
});

test('a field is called what the argument is called, whatever else the tool calls it', () => {
    assert.equal(labelOf({ title: 'mode' }, '/path'), 'path (“mode”)');
    assert.equal(labelOf({ title: 'path' }, '/path'), 'path');
    assert.equal(labelOf({}, '/a\u202eb'), 'a⟨U+202E⟩b');
    assert.equal(labelOf({ title: 'x'.repeat(300) }, '/a').length < 120, true);
    assert.equal(labelOf({ title: 'All of it' }, ''), 'All of it');
});
