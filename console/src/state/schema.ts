// SPDX-License-Identifier: Apache-2.0
// JSON Schema, as much of it as tools use for their arguments: what a value must be, and which
// control of a form suits it. Schemas come from tools, so they are bounded and believed in
// nothing: the server and the tool check again.
import { isObject, type Json, type JsonObject } from '../net/types';
import { t } from '../strings';
import { isSame } from './diff';
import { childPointer, keysOf, valueAt } from './pointer';
import { hasHidden, visible } from './visible';

export interface SchemaProblem {
    pointer: string;
    message: string; // a sentence
}

const PROBLEMS_MAX = 100;
const DEPTH_MAX = 24;
const REFS_MAX = 8;
const MESSAGE_MAX = 300; // characters: some of it are the tool's words
const WAYS_MAX = 24; // twofold choices of a pattern
const STEPS_MAX = 50_000; // schemas that refer to themselves several times have no end worth waiting for

// A schema may be `true`, missing or nonsense: then anything goes.
export function resolve(schema: Json | undefined, root: Json | undefined): JsonObject {
    let found = schema;
    for (let i = 0; i < REFS_MAX && isObject(found) && typeof found['$ref'] === 'string'; i++) {
        const ref = found['$ref'];
        found = ref === '#' ? root : ref.startsWith('#/') ? valueAt(root, decodeRef(ref.slice(1))) : undefined;
    }
    return isObject(found) ? found : {};
}

function decodeRef(pointer: string): string {
    try {
        return decodeURIComponent(pointer);
    } catch {
        return pointer;
    }
}

export function typesOf(schema: JsonObject): string[] {
    const type = schema['type'];
    if (typeof type === 'string') return [type];
    return Array.isArray(type) ? type.filter((one) => typeof one === 'string') : [];
}

function hasType(value: Json, type: string): boolean {
    if (type === 'null') return value === null;
    if (type === 'array') return Array.isArray(value);
    if (type === 'object') return isObject(value);
    if (type === 'integer') return typeof value === 'number' && Number.isInteger(value);
    return typeof value === type;
}

export function validate(schema: Json | undefined, value: Json | undefined): SchemaProblem[] {
    const found: SchemaProblem[] = [];
    check(schema, value, { root: schema, found, pointer: '', depth: 0, steps: { left: STEPS_MAX } });
    return found;
}

interface Place {
    root: Json | undefined;
    found: SchemaProblem[];
    pointer: string;
    depth: number;
    steps: { left: number }; // of all that is checked together
}

function complain(place: Place, message: string): void {
    if (place.found.length < PROBLEMS_MAX && !place.found.some(({ pointer }) => pointer === place.pointer))
        place.found.push({ pointer: place.pointer, message: visible(message.slice(0, MESSAGE_MAX)) });
}

function check(given: Json | undefined, value: Json | undefined, place: Place): void {
    if (place.depth > DEPTH_MAX || place.found.length >= PROBLEMS_MAX || place.steps.left-- <= 0) return;
    if (given === false) return complain(place, t.schema.unknown);
    if (value === undefined) return;
    const schema = resolve(given, place.root);
    const types = typesOf(schema);

    if (types.length && !types.some((type) => hasType(value, type)))
        return complain(place, t.schema.type(types.map((type) => t.schema.types[type] ?? type).join(t.schema.or)));
    if (Array.isArray(schema['enum']) && !schema['enum'].some((one) => isSame(one, value))) return complain(place, t.schema.choice);
    if (schema['const'] !== undefined && !isSame(schema['const'], value)) return complain(place, t.schema.fixed(JSON.stringify(schema['const'])));
    if (typeof value === 'number') checkNumber(schema, value, place);
    if (typeof value === 'string') checkText(schema, value, place);
    if (Array.isArray(value)) checkList(schema, value, place);
    else if (isObject(value)) checkObject(schema, value, place);
    checkForms(schema, value, place);
}

function numberIn(schema: JsonObject, name: string): number | undefined {
    const value = schema[name];
    return typeof value === 'number' ? value : undefined;
}

// For each bound that the schema has: is it broken, and what to say.
function checkBounds(schema: JsonObject, place: Place, rows: [string, (bound: number) => boolean, (bound: number) => string][]): void {
    for (const [name, isBroken, say] of rows) {
        const bound = numberIn(schema, name);
        if (bound !== undefined && isBroken(bound)) complain(place, say(bound));
    }
}

function checkNumber(schema: JsonObject, value: number, place: Place): void {
    checkBounds(schema, place, [
        ['minimum', (n) => value < n, t.schema.least],
        ['maximum', (n) => value > n, t.schema.most],
        ['exclusiveMinimum', (n) => value <= n, t.schema.above],
        ['exclusiveMaximum', (n) => value >= n, t.schema.below],
        ['multipleOf', (n) => n > 0 && Math.abs(value / n - Math.round(value / n)) > 1e-9, t.schema.step],
    ]);
}

function checkText(schema: JsonObject, value: string, place: Place): void {
    const length = [...value].length;
    const pattern = schema['pattern'];

    checkBounds(schema, place, [
        ['minLength', (n) => length < n, t.schema.shortest],
        ['maxLength', (n) => length > n, t.schema.longest],
    ]);
    if (typeof pattern === 'string' && isQuick(pattern) && value.length <= 200 && !matches(pattern, value)) complain(place, t.schema.pattern(pattern));
}

// A pattern that a tool wrote runs only if it cannot take for ever: no group that is repeated,
// no reference back, a short value, and few ways to go. Others are left to the tool.
export function isQuick(pattern: string): boolean {
    if (pattern.length > 200 || /\)[*+?{]|\\[1-9k]|\(\?<?[=!]/.test(pattern)) return false;
    const bare = pattern.replace(/\\./g, '.').replace(/\(\?:/g, '(').replace(/([*+?}])\?/g, '$1'); // lazy is no less
    const count = (what: RegExp) => bare.match(what)?.length ?? 0;
    const repeated = count(/[*+]|\{\d+,\d*\}/g) + (pattern.startsWith('^') ? 0 : 1); // each multiplies the steps by the length
    const chosen = count(/[?|]/g); // and each of these by two
    return repeated <= 3 && 8 * repeated + chosen <= WAYS_MAX;
}

function matches(pattern: string, value: string): boolean {
    try {
        return new RegExp(pattern, 'u').test(value);
    } catch {
        return true; // no pattern that this browser knows
    }
}

function checkList(schema: JsonObject, value: Json[], place: Place): void {
    checkBounds(schema, place, [
        ['minItems', (n) => value.length < n, t.schema.fewest],
        ['maxItems', (n) => value.length > n, t.schema.manyest],
    ]);
    if (schema['uniqueItems'] === true && value.length <= 200 && value.some((item, i) => value.slice(0, i).some((other) => isSame(item, other))))
        complain(place, t.schema.twice);
    value.forEach((item, i) => check(schema['items'], item, below(place, i)));
}

function below(place: Place, key: string | number): Place {
    return { ...place, pointer: childPointer(place.pointer, key), depth: place.depth + 1 };
}

function checkObject(schema: JsonObject, value: JsonObject, place: Place): void {
    const known = propertiesOf(schema);

    for (const name of requiredOf(schema))
        if (!Object.hasOwn(value, name)) complain(below(place, name), t.schema.required);
    for (const [name, item] of Object.entries(value)) {
        if (Object.hasOwn(known, name)) check(known[name], item, below(place, name));
        else if (!isObject(schema['patternProperties'])) check(schema['additionalProperties'], item, below(place, name));
    }
}

export function propertiesOf(schema: JsonObject): JsonObject {
    return isObject(schema['properties']) ? schema['properties'] : {};
}

export function requiredOf(schema: JsonObject): string[] {
    const required = schema['required'];
    return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

function checkForms(schema: JsonObject, value: Json, place: Place): void {
    const fits = (form: Json) => {
        const inner: Place = { ...place, found: [], depth: place.depth + 1 };
        check(form, value, inner);
        return inner.found.length === 0;
    };

    if (Array.isArray(schema['allOf'])) for (const form of schema['allOf'].slice(0, 20)) check(form, value, { ...place, depth: place.depth + 1 });
    for (const name of ['anyOf', 'oneOf'])
        if (Array.isArray(schema[name]) && !schema[name].slice(0, 20).some(fits)) complain(place, t.schema.noMatch);
}

export type Control = 'text' | 'number' | 'boolean' | 'choice' | 'object' | 'list' | 'json';

// What a form shows for it; JSON as text where nothing else suits.
export function controlOf(schema: JsonObject, value: Json | undefined): Control {
    const types = typesOf(schema).filter((type) => type !== 'null');
    const type = types.length === 1 ? types[0] : '';

    if (typeof value === 'string' && hasHidden(value)) return 'json'; // which spells it out
    if (Array.isArray(schema['enum'])) return 'choice';
    if (type === 'string' && (value === undefined || typeof value === 'string')) return 'text';
    if ((type === 'number' || type === 'integer') && (value === undefined || typeof value === 'number' || typeof value === 'string')) return 'number';
    if (type === 'boolean' && (value === undefined || typeof value === 'boolean')) return 'boolean';
    if (type === 'object' && Object.keys(propertiesOf(schema)).length && (value === undefined || isObject(value))) return 'object';
    if (type === 'array' && schema['items'] !== undefined && (value === undefined || Array.isArray(value))) return 'list';
    return 'json';
}

// What a new entry begins with.
export function emptyOf(schema: JsonObject): Json {
    if (schema['default'] !== undefined) return schema['default'];
    const [type] = typesOf(schema);
    if (Array.isArray(schema['enum'])) return schema['enum'][0] ?? null;
    return ({ string: '', number: 0, integer: 0, boolean: false, object: {}, array: [] } as Record<string, Json>)[type ?? ''] ?? null;
}

// The problem of exactly that place.
export function problemAt(problems: readonly SchemaProblem[], pointer: string): string | undefined {
    return problems.find((problem) => problem.pointer === pointer)?.message;
}

const TITLE_MAX = 80;

// The last name of a place, for a label. A tool may call an argument what another one is called,
// so that its title stands behind the name.
export function labelOf(schema: JsonObject, pointer: string): string {
    const title = typeof schema['title'] === 'string' ? visible(schema['title'].slice(0, TITLE_MAX)) : '';
    const name = keysOf(pointer).at(-1);

    if (name === undefined) return title || t.schema.value;
    return title && title !== name ? t.schema.titled(visible(name), title) : visible(name);
}
