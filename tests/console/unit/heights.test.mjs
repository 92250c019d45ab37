// SPDX-License-Identifier: Apache-2.0
// Where the rows of a list stand, compared with adding up.
import assert from 'node:assert/strict';
import test from 'node:test';

import { load } from './load.mjs';

const { Heights } = await load('state/heights.ts');
const { ListLayout } = await load('parts/list-layout.ts');

function compare(heights, plain) {
    let sum = 0;
    plain.forEach((height, i) => {
        assert.equal(heights.offsetOf(i), sum);
        assert.equal(heights.indexAt(sum), i);
        assert.equal(heights.indexAt(sum + height - 1), i);
        sum += height;
    });
    assert.equal(heights.total, sum);
    assert.equal(heights.count, plain.length);
    assert.equal(heights.indexAt(sum + 1000), Math.max(0, plain.length - 1), 'below the last it is the last');
    assert.equal(heights.indexAt(-5), 0, 'above the first it is the first');
}

test('rows that are added, changed and replaced stand where their heights say', () => {
    const heights = new Heights();
    const plain = [];

    compare(heights, plain);
    for (let i = 0; i < 3000; i++) {
        plain.push(1 + (i * 7919) % 97);
        heights.push(plain.at(-1));
    }
    compare(heights, plain);
    for (let i = 0; i < 3000; i += 13) {
        plain[i] = 5 + i % 50;
        heights.set(i, plain[i]);
    }
    compare(heights, plain);
    plain.length = 10;
    heights.reset(10, (i) => plain[i]);
    compare(heights, plain);
});

test('a hundred thousand rows are added, and found, in no time', () => {
    const heights = new Heights();
    const started = performance.now();

    for (let i = 0; i < 100_000; i++) heights.push(20 + i % 60);
    for (let i = 0; i < 100_000; i++) heights.indexAt(i * 49);
    assert.ok(performance.now() - started < 5000);
});

test('of rows that are forgotten nothing is kept', () => {
    const layout = new ListLayout(40);
    const show = (first, count) => layout.sync(count, (index) => `row ${first + index}`);

    for (let first = 0; first < 100; first++) {
        show(1000 * first, 1000);
        for (let i = 0; i < 1000; i++) layout.measure(i, 50);
    }
    show(99_500, 1000);
    assert.deepEqual([layout.heights.heightOf(0), layout.heights.heightOf(999)], [50, 40], 'those that are still there stay');
    show(0, 1000);
    assert.equal(layout.heights.heightOf(0), 40);
});
