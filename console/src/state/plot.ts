// SPDX-License-Identifier: Apache-2.0
// The arithmetic of plots.
export type Point = readonly [at: number, value: number | null]; // milliseconds; null: not known

export interface Box {
    left: number;
    top: number;
    width: number;
    height: number;
}

export interface Scale {
    from: number;
    to: number;
    most: number; // the value at the top
    ticks: readonly number[]; // round numbers from 0 up to that
}

const STEPS = [1, 2, 2.5, 5, 10], WHOLE_STEPS = [1, 2, 5, 10];

// Round numbers from 0 up to the first that is enough, at most `count` + 1 of them. There is no
// half of what is counted: such steps are whole.
export function ticksOf(most: number, count = 4, isWhole = false): number[] {
    if (!(most > 0) || !Number.isFinite(most)) return [0, 1];
    const rough = isWhole ? Math.max(1, most / count) : most / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ((isWhole ? WHOLE_STEPS : STEPS).find((one) => one * power >= rough) ?? 10);
    return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

// Null: nothing is known.
export function scaleOf(series: readonly (readonly Point[])[], isWhole = false): Scale | null {
    const points = series.flat();
    if (!points.some(([, value]) => value !== null)) return null;
    const times = points.map(([at]) => at);
    const from = times.reduce((a, b) => Math.min(a, b)), to = times.reduce((a, b) => Math.max(a, b));
    const ticks = ticksOf(points.reduce((high, [, value]) => Math.max(high, value ?? 0), 0), 3, isWhole);
    return { from, to: to > from ? to : from + 1, most: ticks.at(-1) ?? 1, ticks };
}

export function xOf(at: number, scale: Scale, box: Box): number {
    return box.left + ((at - scale.from) / (scale.to - scale.from)) * box.width;
}

export function yOf(value: number, scale: Scale, box: Box): number {
    return box.top + box.height * (1 - value / scale.most);
}

const isKnown = (points: readonly Point[], i: number) => (points[i]?.[1] ?? null) !== null;

function placeOf([at, value]: Point, scale: Scale, box: Box): string {
    return `${xOf(at, scale, box).toFixed(1)} ${yOf(value ?? 0, scale, box).toFixed(1)}`;
}

// Lines between what is known; a gap stays a gap.
export function lineOf(points: readonly Point[], scale: Scale, box: Box): string {
    return points.map((point, i) => {
        if (!isKnown(points, i) || (!isKnown(points, i - 1) && !isKnown(points, i + 1))) return '';
        return `${isKnown(points, i - 1) ? 'L' : 'M'}${placeOf(point, scale, box)}`;
    }).join('');
}

// Points that have no neighbour, and would not be seen as a line.
export function dotsOf(points: readonly Point[], scale: Scale, box: Box): string {
    return points.map((point, i) => (isKnown(points, i) && !isKnown(points, i - 1) && !isKnown(points, i + 1) ? `M${placeOf(point, scale, box)}h0` : '')).join('');
}

// The points are in order of time; the index of the nearest.
export function nearest(points: readonly Point[], at: number): number {
    let low = 0, high = points.length - 1;
    while (low < high) {
        const middle = (low + high) >> 1;
        if ((points[middle]?.[0] ?? 0) < at) low = middle + 1;
        else high = middle;
    }
    const before = points[low - 1]?.[0], here = points[low]?.[0];
    return before !== undefined && here !== undefined && at - before < here - at ? low - 1 : low;
}
