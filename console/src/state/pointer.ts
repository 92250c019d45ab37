// SPDX-License-Identifier: Apache-2.0
// JSON pointers (RFC 6901): how a part of a value is named.
import { isObject, type Json } from '../net/types';

export function childPointer(parent: string, key: string | number): string {
    return `${parent}/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`;
}

export function keysOf(pointer: string): string[] {
    return pointer.split('/').slice(1).map((key) => key.replace(/~1/g, '/').replace(/~0/g, '~'));
}

const PLAIN = /^[\p{L}\p{N}_$@./-]+$/u;

// A name as it stands, or in quotes where it could be taken for more than a name.
export function spelt(name: string): string {
    return PLAIN.test(name) ? name : JSON.stringify(name);
}

// "path" of "/path", "items › 2 › name" of "/items/2/name"; for people.
export function readable(pointer: string): string {
    return keysOf(pointer).map(spelt).join(' › ');
}

export function valueAt(value: Json | undefined, pointer: string): Json | undefined {
    let found = value;
    for (const key of keysOf(pointer)) {
        if (Array.isArray(found)) found = found[Number(key)];
        else if (isObject(found) && Object.hasOwn(found, key)) found = found[key];
        else return undefined;
    }
    return found;
}

// A copy with that part replaced, or taken out where `next` is undefined.
export function withValueAt(value: Json, pointer: string, next: Json | undefined): Json {
    const [key, ...rest] = keysOf(pointer);
    if (key === undefined) return next ?? null;
    const below = rest.map((one) => childPointer('', one)).join('');

    if (Array.isArray(value)) return value.flatMap((item, i) => (String(i) === key ? changed(item, below, next) : [item]));
    const object = isObject(value) ? { ...value } : {};
    const [kept] = changed(object[key] ?? {}, below, next);
    if (kept === undefined) delete object[key];
    else define(object, key, kept);
    return object;
}

function changed(item: Json, below: string, next: Json | undefined): Json[] {
    if (below === '' && next === undefined) return [];
    return [below === '' ? next ?? null : withValueAt(item, below, next)];
}

// A name like "__proto__" is a name like any other.
function define(object: { [name: string]: Json }, key: string, value: Json): void {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
