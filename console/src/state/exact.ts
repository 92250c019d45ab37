// SPDX-License-Identifier: Apache-2.0
// JSON with numbers that a browser cannot count with (9007199254740993 becomes …992). What
// somebody approves is sent as it was proposed, so such numbers keep their spelling.
import { isObject, type Json } from '../net/types';
import { hasHidden } from './visible';

interface Raw { rawJSON: string }
type Source = { source?: string } | undefined;
const json = JSON as typeof JSON & { rawJSON?: (text: string) => Raw; isRawJSON?: (value: unknown) => boolean };

// Most texts have nothing like it, and need no second look.
const SUSPECT = /[\d.]{16}|\d[eE][+-]?\d{2}/; // 15 digits are always exact

// Counted from the end: somebody may write millions of zeros.
function zerosBehind(digits: string): number {
    let count = 0;
    while (count < digits.length && digits[digits.length - 1 - count] === '0') count++;
    return count;
}

// A number's value, whatever its spelling: digits without zeros around them, and where the point is.
export function decimalOf(text: string): string {
    const [, sign = '', whole = '', fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
    const digits = (whole + fraction).replace(/^0+/, '');
    const short = digits.slice(0, digits.length - zerosBehind(digits));
    return short === '' ? '0' : `${sign}${short}e${Number(power) - fraction.length + digits.length - short.length}`;
}

export function isExact(source: string, value: number): boolean {
    return Number.isFinite(value) && decimalOf(source) === decimalOf(String(value));
}

// An older browser changes such numbers before anybody can look, and cannot send them. There each
// is a text that nobody else can have written.
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARK = `${crypto.getRandomValues(new Uint32Array(2)).join('-')}:`;

function marked(token: string): string {
    return token.startsWith('"') || isExact(token, Number(token)) ? token : `"${MARK}${token}"`;
}

// As JSON.parse(); numbers that would change are kept as they stand (and go out so with JSON.stringify()).
export function parseExact(text: string): unknown {
    const { rawJSON } = json;
    if (!SUSPECT.test(text)) return JSON.parse(text);
    if (!rawJSON) return JSON.parse(text.replace(TOKEN, marked));
    const keep = (_name: string, value: unknown, context?: Source) =>
        (typeof value === 'number' && context?.source !== undefined && !isExact(context.source, value) ? rawJSON(context.source) : value);
    return JSON.parse(text, keep as (name: string, value: unknown) => unknown);
}

// --- what is not sent again, and counted with: the numbers as they were written stand beside it ---

const NUMBER = /[:[,]\s*-?(?:[\d.]{16}|[\d.]+[eE])/; // outside of texts, most of the time
const written = new WeakMap<object, Json>();

// As JSON.parse(), for envelopes: numbers are numbers, and exactly() has their spelling. `each` gives those
// of a text that has several.
export function parseNoting<T extends object>(text: string, each: (parsed: T) => readonly object[] = (parsed) => [parsed]): T {
    const parsed = JSON.parse(text) as T;
    if (!NUMBER.test(text)) return parsed;
    const exact = each(parseExact(text) as T) as readonly Json[];
    each(parsed).forEach((said, i) => {
        const found = exact[i] as Json;
        if (rawNumbers(found).length || mayBeChanged(found)) written.set(said, found);
    });
    return parsed;
}

// For the eye.
export function exactly<T extends object>(said: T): T {
    const found = written.get(said);
    return found === undefined ? said : shown(found) as T;
}

export function isRaw(value: unknown): value is Raw {
    return json.isRawJSON?.(value) ?? false;
}

// The numbers in it that keep their spelling.
export function rawNumbers(value: Json | undefined): string[] {
    if (isRaw(value)) return [value.rawJSON];
    if (Array.isArray(value)) return value.flatMap(rawNumbers);
    return isObject(value) ? Object.values(value).flatMap(rawNumbers) : [];
}

// For the eye: such a number is a text there.
export function shown(value: Json): Json {
    if (isRaw(value)) return value.rawJSON;
    if (typeof value === 'string' && value.startsWith(MARK)) return value.slice(MARK.length);
    if (Array.isArray(value)) return value.map(shown);
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shown(item)])) : value;
}

export function hasUnseen(value: Json | undefined): boolean {
    return hasHidden(JSON.stringify(value ?? null));
}

export function mayBeChanged(value: Json | undefined): boolean {
    return !json.rawJSON && (JSON.stringify(value) ?? '').includes(MARK);
}
