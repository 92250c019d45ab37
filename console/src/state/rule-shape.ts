// SPDX-License-Identifier: Apache-2.0
// A rule made of one call (docs/LEARNING.md, shapes): each argument exactly as it is, or as
// much wider as a person chooses, from what is safe to choose.
import { isObject, type Json, type JsonObject } from '../net/types';
import { rawNumbers } from './exact';
import { childPointer } from './pointer';

export type Width = 'exactly' | 'under' | 'between' | 'either' | 'text';

export interface Pick {
    width: Width;
    least?: number; // of between; NaN while what is typed is none
    most?: number;
}

// One argument, or a member of one, with what may be chosen for it; the narrowest first.
export interface Part {
    pointer: string;
    value: Json;
    widths: Width[];
}

const LEVELS = 3; // of objects, the arguments included
const MEMBERS = 32;
const FOR_PEOPLE = new Set(['message', 'text', 'title', 'description', 'comment', 'summary', 'subject', 'note', 'reason', 'caption']);
const NO_DIRECTORIES = /^\/(?:[^/]+|(?:home|root|Users|etc|usr|var|bin|sbin|lib|proc|sys|dev|boot)(?:\/[^/]+)?)?$/;

const isSimple = (value: Json) => value === null || typeof value !== 'object';
const bytesOf = (text: string) => new TextEncoder().encode(text).length;

// --- paths ---

export function directoryOf(path: string): string {
    return path.slice(0, path.lastIndexOf('/'));
}

const CLASSES: [RegExp, string][] = [[/[a-z]/, 'a-z'], [/[A-Z]/, 'A-Z'], [/[0-9]/, '0-9']];

// The characters of what follows the directory; null where a rule has none for some of it.
export function charactersOf(rest: string): string | null {
    if (!/^[\w.+,=:@/-]+$/.test(rest) || /(^|\/)[.-]|\.\.|\/\//.test(rest)) return null;
    const classes = CLASSES.filter(([pattern]) => pattern.test(rest)).map(([, name]) => name);
    const signs = [...'._-+,=:@'].filter((sign) => rest.includes(sign));
    return [...classes, ...signs].join(' ');
}

function mayBeUnder(path: string): boolean {
    const directory = directoryOf(path);
    return path.startsWith('/') && !NO_DIRECTORIES.test(directory) && charactersOf(directory.slice(1)) !== null
        && charactersOf(path.slice(directory.length + 1)) !== null;
}

function underShape(path: string): JsonObject {
    const directory = directoryOf(path);
    const file = path.slice(directory.length + 1);
    const ending = /\.[^.]+$/.exec(file)?.[0] ?? '';
    return { under: directory, characters: charactersOf(file) ?? '', max_bytes: Math.max(64, bytesOf(path) + 16), depth: 1, endings: [ending] };
}

// --- parts ---

function widthsOf(name: string, value: Json): Width[] {
    if (typeof value === 'boolean') return ['exactly', 'either'];
    if (typeof value === 'number') return ['exactly', 'between'];
    if (typeof value !== 'string') return ['exactly'];
    return ['exactly', ...(mayBeUnder(value) ? ['under' as const] : []), ...(FOR_PEOPLE.has(name) ? ['text' as const] : [])];
}

// Null: there is no rule for such a value.
function partsIn(value: JsonObject, pointer: string, level: number): Part[] | null {
    const parts: Part[] = [];
    if (level > LEVELS) return null;
    for (const [name, item] of Object.entries(value)) {
        const at = childPointer(pointer, name);
        if (isSimple(item)) parts.push({ pointer: at, value: item, widths: widthsOf(name, item) });
        else if (Array.isArray(item) && item.every(isSimple)) parts.push({ pointer: at, value: item, widths: ['exactly'] });
        else {
            const inside = isObject(item) ? partsIn(item, at, level + 1) : null;
            if (!inside) return null;
            parts.push(...inside);
        }
    }
    return parts;
}

export function partsOf(args: Json | undefined): Part[] | null {
    if (!isObject(args) || rawNumbers(args).length) return null;
    const parts = partsIn(args, '', 1);
    return parts && parts.length <= MEMBERS ? parts : null;
}

// --- shapes ---

export function rangeOf(value: number, pick: Pick): [number, number] {
    const { least = value, most = value } = pick;
    return [Math.min(least, most), Math.max(least, most)];
}

export function isRange({ width, least = 0, most = 0 }: Pick): boolean {
    return width !== 'between' || Number.isFinite(least) && Number.isFinite(most);
}

// NaN where it is no number.
export function numberIn(text: string): number {
    return text.trim() === '' ? NaN : Number(text);
}

function shapeOf(value: Json, pick: Pick): JsonObject {
    if (pick.width === 'either') return { boolean: true };
    if (pick.width === 'between' && typeof value === 'number') {
        const [least, most] = rangeOf(value, pick);
        return { between: [least, most], ...(Number.isInteger(value) && { whole: true }) };
    }
    if (typeof value !== 'string' || pick.width === 'exactly') return { exactly: value };
    if (pick.width === 'under') return underShape(value);
    return { text: true, max_bytes: Math.max(200, 2 * bytesOf(value)), ...(value.includes('\n') && { lines: true }) };
}

export type Picks = ReadonlyMap<string, Pick>; // by pointer; what is not in it is exactly so

export function shapesOf(args: JsonObject, picks: Picks, pointer = ''): JsonObject {
    const shapes: [string, Json][] = Object.entries(args).map(([name, value]) => {
        const at = childPointer(pointer, name);
        if (isObject(value)) return [name, { members: shapesOf(value, picks, at) }];
        return [name, shapeOf(value, picks.get(at) ?? { width: 'exactly' })];
    });
    return Object.fromEntries(shapes);
}
