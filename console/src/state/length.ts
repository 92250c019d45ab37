// SPDX-License-Identifier: Apache-2.0
// How much there is to read in a value.
import { isObject, type Json } from '../net/types';

export interface Length { entries: number; characters: number } // entries: on all levels

export function lengthOf(value: Json): Length {
    const left: Json[] = [value];
    let entries = 0, characters = 0;

    for (let one = left.pop(); one !== undefined; one = left.pop()) {
        entries++;
        if (Array.isArray(one)) for (const item of one) left.push(item);
        else if (isObject(one)) for (const [name, item] of Object.entries(one)) {
            characters += name.length;
            left.push(item);
        } else characters += String(one).length;
    }
    return { entries, characters };
}

const ENTRIES = 1000;
const CHARACTERS = 65_536;

// More than is shown without being asked for.
export function isLong(value: Json): boolean {
    const { entries, characters } = lengthOf(value);
    return entries > ENTRIES || characters > CHARACTERS;
}
