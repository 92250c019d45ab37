// SPDX-License-Identifier: Apache-2.0
// What differs between two JSON values, and between two texts.
import { isObject, type Json } from '../net/types';
import { isRaw } from './exact';
import { childPointer } from './pointer';

export interface Change {
    pointer: string;
    kind: 'added' | 'removed' | 'changed';
    before?: Json;
    after?: Json;
}

export function isSame(a: Json | undefined, b: Json | undefined): boolean {
    if (Object.is(a, b)) return true;
    if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => isSame(item, b[i]));
    if (!isObject(a) || !isObject(b)) return false;
    const names = Object.keys(a);
    return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]));
}

// The deepest places that differ, in the order of the values.
export function diff(before: Json | undefined, after: Json | undefined, pointer = ''): Change[] {
    if (isSame(before, after)) return [];
    if (before === undefined) return [{ pointer, kind: 'added', after: after ?? null }];
    if (after === undefined) return [{ pointer, kind: 'removed', before }];
    if (isObject(before) && isObject(after) && !isRaw(before) && !isRaw(after)) return diffObjects(before, after, pointer);
    if (Array.isArray(before) && Array.isArray(after)) return diffArrays(before, after, pointer);
    return [{ pointer, kind: 'changed', before, after }];
}

function diffObjects(before: { [name: string]: Json }, after: { [name: string]: Json }, pointer: string): Change[] {
    const own = (object: { [name: string]: Json }, name: string) => (Object.hasOwn(object, name) ? object[name] : undefined);
    return [...new Set([...Object.keys(before), ...Object.keys(after)])]
        .flatMap((name) => diff(own(before, name), own(after, name), childPointer(pointer, name)));
}

// Entry by entry: what stands between equal beginnings and ends has changed places.
function diffArrays(before: Json[], after: Json[], pointer: string): Change[] {
    return Array.from({ length: Math.max(before.length, after.length) },
        (_, i) => diff(before[i], after[i], childPointer(pointer, i))).flat();
}

export interface Piece {
    kind: 'same' | 'added' | 'removed';
    text: string;
}

const WORDS_MAX = 600; // of what differs; the table has the square of it

// Word by word; texts that differ in too much are simply the one and the other.
export function diffText(before: string, after: string): Piece[] {
    const a = before.split(/(?<=\s)|(?=\s)/), b = after.split(/(?<=\s)|(?=\s)/);
    let head = 0, tail = 0;
    while (head < a.length && head < b.length && a[head] === b[head]) head++;
    while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
    const middle = diffWords(a.slice(head, a.length - tail), b.slice(head, b.length - tail));

    return joined([
        { kind: 'same', text: a.slice(0, head).join('') }, ...middle, { kind: 'same', text: a.slice(a.length - tail).join('') },
    ]);
}

function diffWords(a: string[], b: string[]): Piece[] {
    if (a.length > WORDS_MAX || b.length > WORDS_MAX) return [{ kind: 'removed', text: a.join('') }, { kind: 'added', text: b.join('') }];
    const width = b.length + 1;
    const longest = new Uint16Array((a.length + 1) * width); // of the common subsequence behind (i, j)
    const at = (i: number, j: number) => longest[i * width + j] ?? 0;

    for (let i = a.length - 1; i >= 0; i--)
        for (let j = b.length - 1; j >= 0; j--)
            longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    const pieces: Piece[] = [];
    let i = 0, j = 0;
    while (i < a.length || j < b.length) {
        if (i < a.length && j < b.length && a[i] === b[j]) pieces.push({ kind: 'same', text: a[i++] ?? '' }), j++;
        else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) pieces.push({ kind: 'removed', text: a[i++] ?? '' });
        else pieces.push({ kind: 'added', text: b[j++] ?? '' });
    }
    return pieces;
}

function joined(pieces: Piece[]): Piece[] {
    const whole: Piece[] = [];
    for (const piece of pieces) {
        const last = whole.at(-1);
        if (last?.kind === piece.kind) last.text += piece.text;
        else if (piece.text) whole.push({ ...piece });
    }
    return whole;
}
