// SPDX-License-Identifier: Apache-2.0
// The shapes of a rule's arguments in words (docs/LEARNING.md, shapes), which `moot rules explain`
// tells, too. Somebody decides by these words: what is invisible in a value is shown, numbers are
// as they were written, and a shape that is not known is said to be.
import { isObject, type Json, type JsonObject } from '../net/types';
import { t } from '../strings';
import { isRaw } from './exact';
import { visible } from './visible';

const KINDS = ['exactly', 'one_of', 'boolean', 'between', 'under', 'prefix', 'text', 'members', 'items'] as const;
export type ShapeKind = typeof KINDS[number];

export function kindOfShape(shape: Json | undefined): ShapeKind | null {
    if (!isObject(shape)) return null;
    const found = KINDS.filter((kind) => Object.hasOwn(shape, kind));
    return found.length === 1 ? found[0] ?? null : null;
}

export function textOfValue(value: Json | undefined): string {
    if (isRaw(value)) return value.rawJSON;
    if (Array.isArray(value)) return `[${value.map(textOfValue).join(', ')}]`;
    return visible(JSON.stringify(value) ?? '');
}

function listOf(texts: string[]): string {
    const { or, comma } = t.rules.shapes;
    return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(comma)}${or}${texts.at(-1) ?? ''}`;
}

const arrayIn = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
const textIn = (value: Json | undefined): string => (typeof value === 'string' ? visible(value) : textOfValue(value));

function tailOf(shape: JsonObject): string {
    const { endings: endingIn, noEnding, tail } = t.rules.shapes;
    const all = arrayIn(shape['endings']);
    const named = listOf(all.filter((ending) => ending !== '').map(textIn));
    const endings = listOf([...(named ? [endingIn(named)] : []), ...(all.includes('') ? [noEnding] : [])]);
    return tail(textIn(shape['characters']), Number(shape['max_bytes']), Number(shape['depth'] ?? 1), endings);
}

export function wordsOfShape(shape: Json | undefined): string {
    const s = t.rules.shapes;
    if (!isObject(shape)) return s.unknown;
    switch (kindOfShape(shape)) {
        case 'exactly': return s.exactly(textOfValue(shape['exactly']));
        case 'one_of': return listOf(arrayIn(shape['one_of']).map(textOfValue));
        case 'boolean': return s.boolean;
        case 'between': return s.number(textOfValue(arrayIn(shape['between'])[0]), textOfValue(arrayIn(shape['between'])[1]), shape['whole'] === true);
        case 'under': return s.under(textIn(shape['under']), tailOf(shape));
        case 'prefix': return s.prefix(textIn(shape['prefix']), tailOf(shape));
        case 'text': return s.text(Number(shape['max_bytes']), shape['lines'] === true);
        case 'members': return s.object(membersOf(shape['members']));
        case 'items': return s.items(Number(shape['min_items'] ?? 0), Number(shape['max_items']), wordsOfShape(shape['items']));
        case null: return s.unknown;
    }
}

function membersOf(members: Json | undefined): string {
    if (!isObject(members)) return t.rules.shapes.unknown;
    return Object.entries(members).map(([name, shape]) => t.rules.shapes.member(visible(name), isOptional(shape), wordsOfShape(shape))).join(t.rules.shapes.and);
}

export function isOptional(shape: Json): boolean {
    return isObject(shape) && shape['optional'] === true;
}

// Is all of it said by the words above?
export function isKnown(shape: Json | undefined): boolean {
    const kind = kindOfShape(shape);
    if (!kind || !isObject(shape)) return false;
    if (kind === 'items') return isKnown(shape['items']);
    if (kind !== 'members') return true;
    return isObject(shape['members']) && Object.values(shape['members']).every(isKnown);
}
