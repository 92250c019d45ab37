// SPDX-License-Identifier: Apache-2.0
// Making the arguments of a rule narrower before it is accepted. What is offered for a shape lies
// within it by the way it is made; the gateway looks again.
import { isObject, type Json, type JsonObject } from '../net/types';
import { isRaw } from './exact';
import { childPointer } from './pointer';
import { kindOfShape } from './rule-words';

export type Way = 'same' | 'exactly' | 'fewer' | 'true' | 'false' | 'range' | 'deeper' | 'longer' | 'shorter' | 'items';

export interface Narrowing {
    way: Way;
    text?: string; // exactly, deeper, longer: what was typed
    least?: string;
    most?: string; // range, shorter, items
    kept?: readonly number[]; // fewer: indices of values or endings
}

export type Narrowings = ReadonlyMap<string, Narrowing>; // by pointer; what is not in it stays

// One argument, or a member of one, that may be made narrower or not.
export interface Part {
    pointer: string;
    shape: JsonObject;
    ways: Way[]; // 'same' alone: it is as narrow as can be
}

const bytesOf = (text: string) => new TextEncoder().encode(text).length;
const arrayIn = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

function waysOf(shape: JsonObject): Way[] {
    switch (kindOfShape(shape)) {
        case 'one_of': return ['same', 'fewer'];
        case 'boolean': return ['same', 'true', 'false'];
        case 'between': return arrayIn(shape['between']).some((end) => isRaw(end)) ? ['same'] : ['same', 'range'];
        case 'under': return ['same', 'deeper', ...(arrayIn(shape['endings']).length > 1 ? ['fewer' as const] : []), 'exactly'];
        case 'prefix': return ['same', 'longer', 'exactly'];
        case 'text': return ['same', 'shorter', 'exactly'];
        case 'items': return ['same', 'items'];
        default: return ['same'];
    }
}

export function partsOf(shapes: JsonObject, pointer = ''): Part[] {
    return Object.entries(shapes).flatMap(([name, shape]) => {
        const at = childPointer(pointer, name);
        if (!isObject(shape)) return [];
        if (isObject(shape['members'])) return partsOf(shape['members'], at);
        return [{ pointer: at, shape, ways: waysOf(shape) }];
    });
}

// What the fields of a way begin with.
export function beginning(shape: JsonObject, way: Way): Narrowing {
    const [least, most] = arrayIn(shape['between']);
    const values = arrayIn(shape['one_of'] ?? shape['endings']);
    switch (way) {
        case 'range': return { way, least: String(least), most: String(most) };
        case 'fewer': return { way, kept: values.map((_, i) => i) };
        case 'deeper': return { way, text: `${String(shape['under'])}/` };
        case 'longer': return { way, text: String(shape['prefix']) };
        case 'exactly': return { way, text: String(shape['under'] ?? shape['prefix'] ?? '') };
        case 'shorter': return { way, most: String(shape['max_bytes']) };
        case 'items': return { way, most: String(shape['max_items']) };
        default: return { way };
    }
}

// The narrower shape; null where what was typed is none, or not within.
export function narrowed(shape: JsonObject, narrowing: Narrowing | undefined): JsonObject | null {
    const optional: JsonObject = shape['optional'] === true ? { optional: true } : {};
    const next = narrowing && narrowing.way !== 'same' ? changed(shape, narrowing) : shape;
    return next && { ...next, ...optional };
}

function changed(shape: JsonObject, narrowing: Narrowing): JsonObject | null {
    switch (narrowing.way) {
        case 'true': return { exactly: true };
        case 'false': return { exactly: false };
        case 'range': return smallerRange(shape, narrowing);
        case 'fewer': return fewer(shape, narrowing.kept ?? []);
        case 'deeper': return deeper(shape, narrowing.text ?? '');
        case 'longer': return longer(shape, narrowing.text ?? '');
        case 'exactly': return exactly(shape, narrowing.text ?? '');
        case 'shorter': return withMost(shape, 'max_bytes', narrowing.most, 1);
        case 'items': return withMost(shape, 'max_items', narrowing.most, Math.max(1, Number(shape['min_items'] ?? 0)));
        default: return shape;
    }
}

function numberIn(text: string | undefined): number | null {
    return text === undefined || text.trim() === '' || !Number.isFinite(Number(text)) ? null : Number(text);
}

function smallerRange(shape: JsonObject, { least, most }: Narrowing): JsonObject | null {
    const [from, to] = arrayIn(shape['between']).map(Number);
    const low = numberIn(least), high = numberIn(most);
    if (from === undefined || to === undefined || low === null || high === null || low > high || low < from || high > to) return null;
    if (shape['whole'] === true && !(Number.isSafeInteger(low) && Number.isSafeInteger(high))) return null;
    return low === high ? { exactly: low } : { between: [low, high], ...(shape['whole'] === true && { whole: true }) };
}

function fewer(shape: JsonObject, kept: readonly number[]): JsonObject | null {
    const pick = (values: Json[]) => values.filter((_, i) => kept.includes(i));
    if (!kept.length) return null;
    if (shape['endings']) return { ...shape, endings: pick(arrayIn(shape['endings'])) };
    const values = pick(arrayIn(shape['one_of']));
    return values.length === 1 ? { exactly: values[0] ?? null } : { one_of: values };
}

// Each part that is added in front is one level less behind.
function deeper(shape: JsonObject, text: string): JsonObject | null {
    const under = String(shape['under']);
    const directory = text.replace(/\/+$/, '');
    const depth = Number(shape['depth'] ?? 1) - (directory.slice(under.length).match(/\//g)?.length ?? 0);
    if (!directory.startsWith(`${under}/`) || /\/\/|\/\.|\.\./.test(directory.slice(under.length)) || depth < 1) return null;
    return { ...shape, under: directory, depth };
}

function longer(shape: JsonObject, text: string): JsonObject | null {
    const prefix = String(shape['prefix']);
    const depth = Number(shape['depth'] ?? 1) - (text.slice(prefix.length).match(/\//g)?.length ?? 0);
    return text.startsWith(prefix) && text !== prefix && depth >= 1 && bytesOf(text) < Number(shape['max_bytes']) ? { ...shape, prefix: text, depth } : null;
}

function exactly(shape: JsonObject, text: string): JsonObject | null {
    const begin = shape['under'] !== undefined ? `${String(shape['under'])}/` : String(shape['prefix'] ?? '');
    const isWithin = text.startsWith(begin) && text.length > begin.length && bytesOf(text) <= Number(shape['max_bytes'] ?? Infinity);
    return isWithin ? { exactly: text } : null;
}

function withMost(shape: JsonObject, name: string, text: string | undefined, least: number): JsonObject | null {
    const most = numberIn(text);
    return most !== null && Number.isInteger(most) && most >= least && most <= Number(shape[name]) ? { ...shape, [name]: most } : null;
}

// All arguments; null where one of them is not right.
export function narrowedAll(shapes: JsonObject, narrowings: Narrowings, pointer = ''): JsonObject | null {
    const entries: [string, Json][] = [];
    for (const [name, shape] of Object.entries(shapes)) {
        const at = childPointer(pointer, name);
        const members = isObject(shape) && isObject(shape['members']) ? narrowedAll(shape['members'], narrowings, at) : undefined;
        const next = !isObject(shape) || members === null ? null : members ? { ...shape, members } : narrowed(shape, narrowings.get(at));
        if (!next) return null;
        entries.push([name, next]);
    }
    return Object.fromEntries(entries);
}

export function isNarrower(narrowings: Narrowings): boolean {
    return [...narrowings.values()].some(({ way }) => way !== 'same');
}
