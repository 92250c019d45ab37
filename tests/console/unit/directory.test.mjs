// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { load } from './load.mjs';

const { filtersIn, parametersOf, questionOf, reasonOf, rateOf, formOf, resourceOf, patchOf, formFaults } = await load('state/directory.ts');

test('what stands in the address becomes a question', () => {
    const filters = filtersIn(new URLSearchParams('q=python+dev&skills=a,+b,,&kind=agent&max_rate=100&other=1&location='));

    assert.deepEqual(filters, { query: 'python dev', kind: 'agent', skills: 'a, b,,', max_rate: '100' });
    assert.deepEqual(parametersOf(filters), { query: 'python dev', kind: 'agent', max_rate: '100', skills: 'a,b' });
    assert.deepEqual(questionOf(filters, 'c'), { query: 'python dev', filters: { kind: 'agent', skills: ['a', 'b'], max_rate: 100 }, cursor: 'c' });
    assert.deepEqual(questionOf({ query: ' ' }), { query: '' });
});

test('reasons and rates are told', () => {
    assert.equal(reasonOf({ resource: {}, reason: { words: ['python'], skills: ['Python', 'Go\u202e'] } }), 'words: python · skills: Python, Go⟨U+202E⟩');
    assert.equal(reasonOf({ resource: {}, reason: {} }), null);
    assert.equal(rateOf({ amount: 120.5, currency: 'EUR' }), '120.5 EUR per hour');
    assert.equal(rateOf(80), '80 per hour');
    assert.equal(rateOf(undefined), null);
});

const ann = { id: 'ann', kind: 'human', name: 'Ann', skills: ['Python', 'Go'], rate: { amount: 120, currency: 'EUR', per: 'day' }, invite: 'ask', updated_at: 'x' };

test('a form goes there and back, and a patch has what differs', () => {
    const form = formOf(ann);
    const { updated_at, ...kept } = ann;

    assert.deepEqual(resourceOf(form), kept);
    assert.deepEqual(patchOf(form, form), {});
    assert.deepEqual(patchOf(form, { ...form, role: 'Dev', skills: '', amount: '', invite: 'auto' }), { role: 'Dev', skills: null, rate: null, invite: null });
    assert.deepEqual(patchOf(form, { ...form, skills: 'Python , Go' }), {});
    assert.deepEqual(resourceOf({ ...formOf(), name: ' Bob ' }), { kind: 'human', name: 'Bob' });
    assert.deepEqual([...formFaults({ ...form, name: ' ', amount: '-1' })], ['name', 'amount']);
});
