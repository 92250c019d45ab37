// SPDX-License-Identifier: Apache-2.0
// The arithmetic of plots.
import assert from 'node:assert/strict';
import test from 'node:test';

import { load } from './load.mjs';

const { ticksOf, scaleOf, lineOf, dotsOf, nearest } = await load('state/plot.ts');
const box = { left: 0, top: 0, width: 100, height: 100 };

test('ticks are round, begin at 0 and reach the highest value', () => {
    for (const most of [0.003, 0.7, 1, 3, 7, 12, 99, 100, 101, 1234, 5e9]) {
        const ticks = ticksOf(most);
        assert.equal(ticks[0], 0);
        assert.ok(ticks.at(-1) >= most && ticks.at(-2) < most, `${most}: ${ticks}`);
        assert.ok(ticks.length <= 6);
    }
    assert.deepEqual(ticksOf(10), [0, 2.5, 5, 7.5, 10]);
    assert.deepEqual([1, 2, 7, 10, 31].map((most) => ticksOf(most, 3, true)), [[0, 1], [0, 1, 2], [0, 5, 10], [0, 5, 10], [0, 20, 40]], 'what is counted has no halves');
    for (const nothing of [0, -1, NaN, Infinity]) assert.deepEqual(ticksOf(nothing), [0, 1]);
});

test('lines are drawn between what is known, and a gap stays one', () => {
    const points = [[0, 0], [50, 100], [60, null], [100, 50]];
    const scale = scaleOf([points]);

    assert.deepEqual(scale, { from: 0, to: 100, most: 100, ticks: [0, 50, 100] });
    assert.equal(lineOf(points, scale, box), 'M0.0 100.0L50.0 0.0');
    assert.equal(dotsOf(points, scale, box), 'M100.0 50.0h0', 'a point alone is a dot');
    assert.deepEqual([scaleOf([[], []]), scaleOf([[[0, null], [5, null]]])], [null, null], 'where nothing is known nothing is drawn');
    assert.equal(scaleOf([[[5, 1]]]).to, 6, 'a point alone has a place as well');
});

test('the nearest point is found', () => {
    const points = [[0, 1], [10, 1], [20, 1]];

    assert.deepEqual([-5, 0, 4, 6, 14, 16, 99].map((at) => nearest(points, at)), [0, 0, 0, 1, 1, 2, 2]);
    assert.equal(nearest([], 5), 0);
});
