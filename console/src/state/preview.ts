// SPDX-License-Identifier: Apache-2.0
// A value in one short line; what is shown of it is all that is looked at.
import { isObject, type Json, type JsonObject } from '../net/types';
import { errorOf } from './calls';

export { sizeOf } from './sizes';

// `path: "/tmp/x", force: true`; the members of an object without its braces.
export function previewOf(value: Json | undefined, most = 160): string {
    if (value === undefined) return '';
    const text = isObject(value) ? membersOf(value, most) : textOf(value, most);
    return text.length > most ? `${text.slice(0, most)}…` : text;
}

function membersOf(object: JsonObject, most: number): string {
    let text = '';
    for (const name of Object.keys(object)) {
        if (text.length > most) break;
        text += `${text && ', '}${name}: ${textOf(object[name], most - text.length)}`;
    }
    return text;
}

function textOf(value: Json | undefined, most: number): string {
    if (typeof value === 'string') return `"${value.slice(0, Math.max(0, most) + 1).replace(/\s+/g, ' ')}"`;
    if (Array.isArray(value)) {
        let text = '[';
        for (const item of value) {
            if (text.length > most) break;
            text += `${text.length > 1 ? ', ' : ''}${textOf(item, most - text.length)}`;
        }
        return `${text}]`;
    }
    return isObject(value) ? `{${membersOf(value, most)}}` : String(value);
}

// What an answer comes to: the first words of its text, what went wrong, or what sort of thing it is.
export function resultPreview(payload: JsonObject, most = 160): string {
    const error = errorOf(payload);
    if (error) return error.message.slice(0, most);
    const result = payload['result'];
    if (!isObject(result)) return previewOf(result, most);
    const content = result['content'];
    const items = Array.isArray(content) ? content.slice(0, 20).filter(isObject) : [];
    const first = items.find((item) => typeof item['text'] === 'string') ?? items[0];
    if (!first) return previewOf(result, most);
    const text = first['text'];
    if (typeof text === 'string') {
        const line = text.slice(0, 4 * most).trim().replace(/\s+/g, ' ');
        return line.length > most || text.length > 4 * most ? `${line.slice(0, most)}…` : line;
    }
    const name = first['mimeType'] ?? first['uri'] ?? first['type'];
    return typeof name === 'string' ? name.slice(0, most) : '';
}

export function bytesOf(base64: string): number {
    return Math.max(0, Math.floor(base64.length * 3 / 4) - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0));
}
