// SPDX-License-Identifier: Apache-2.0
// Kinds and the patterns over them, as docs/PROTOCOL.md has them (sections 5 and 6). The gateway
// alone decides; this is for telling people beforehand what it will say.
import type { Capability } from '../net/types';

const METHOD = '[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*';
const MCP = new RegExp(`^mcp/(request|response|proposal):(${METHOD})(?::([^\\s*\\u0000-\\u001f\\u007f-\\u009f]+))?$`, 'u');
const WORDS = /^[a-z][a-z0-9-]*(?:\/[a-z][a-z0-9-]*)*$/;
const TAKEN = ['mcp', 'mcpx', 'chat', 'presence', 'system'];
const DECISIONS = ['approve', 'reject', 'withdraw'];
const DRAFTS = ['proposal/withdraw', 'proposal/reject']; // spelt mcp/… since

export type KindFault = 'empty' | 'reserved' | 'malformed';

// What is wrong with a kind in slashes, whatever anybody holds.
export function faultOf(kind: string): KindFault | null {
    if (!kind) return 'empty';
    if (kind === 'system' || kind.startsWith('system/') || kind === 'presence') return 'reserved';
    if (kind === 'chat' || MCP.test(kind) || DECISIONS.some((word) => kind === `mcp/${word}`)) return null;
    if (DRAFTS.includes(kind)) return 'malformed';
    return WORDS.test(kind) && !TAKEN.includes(kind.split('/')[0] ?? '') ? null : 'malformed';
}

// Of one's own proposal, and about oneself.
export function needsNothing(kind: string): boolean {
    return kind === 'mcp/withdraw' || kind === 'participant/routing';
}

// The same kind with dots, for patterns that are written so.
export function dottedOf(kind: string): string {
    const mcp = /^mcp\/(request|response|proposal):/.exec(kind);
    if (mcp) return `mcp.${mcp[1]}.${kind.slice(mcp[0].length)}`;
    if (kind === 'chat') return 'chat.message';
    if (DECISIONS.some((word) => kind === `mcp/${word}`)) return `mcpx.${kind.slice(4)}.proposal`;
    return kind.replaceAll('/', '.');
}

// A kind that somebody wrote with dots, in slashes.
export function slashedOf(kind: string): string {
    const mcp = /^mcp\.(request|response|proposal)\./.exec(kind);
    if (mcp) return `mcp/${mcp[1]}:${kind.slice(mcp[0].length)}`;
    const decision = /^mcpx\.(\w+)\.proposal$/.exec(kind);
    if (decision) return `mcp/${decision[1]}`;
    if (kind === 'chat.message') return 'chat';
    return /^[a-z][a-z0-9-]*\./.test(kind) ? kind.replaceAll('.', '/') : kind;
}

export function isDotted(pattern: string): boolean {
    return /^[a-z0-9-]*\./.test(pattern);
}

// Stars take one character or more: the last one of anything, the others none of ":".
// The first place of each text is the best one, so this never tries twice.
export function fits(pattern: string, text: string, { crosses = false } = {}): boolean {
    const [first = '', ...others] = pattern.split('*');
    const last = others.pop();
    if (last === undefined) return pattern === text;
    if (!text.startsWith(first)) return false;
    let at = first.length;
    const isFree = (from: number, to: number) => to > from && (crosses || !text.slice(from, to).includes(':'));

    for (const part of others) {
        const found = text.indexOf(part, at + 1);
        if (found < 0 || !isFree(at, found)) return false;
        at = found + part.length;
    }
    if (last === '') return text.length > at;
    return text.endsWith(last) && isFree(at, text.length - last.length);
}

// Without its CONTEXT.
export function methodOf(kind: string, dotted = false): string {
    const first = kind.indexOf(':');
    const end = dotted ? first : kind.indexOf(':', first + 1);
    return end < 0 ? kind : kind.slice(0, end);
}

function namesMethod(pattern: string, dotted: boolean): boolean {
    const colons = pattern.split(':').length - 1;
    if (pattern.endsWith('*')) return false;
    return dotted ? colons === 0 && pattern.startsWith('mcp.') : colons === 1;
}

// The pattern of a capability; '', which covers nothing, where it has none.
export function kindOf(capability: Capability): string {
    return typeof capability === 'string' ? capability : typeof capability['kind'] === 'string' ? capability['kind'] : '';
}

// Whether a pattern covers a kind, which is in slashes.
export function covers(pattern: string, kind: string): boolean {
    const dotted = isDotted(pattern);
    const spelt = dotted ? dottedOf(kind) : kind;
    if (fits(pattern, spelt)) return true;
    return namesMethod(pattern, dotted) && fits(pattern, methodOf(spelt, dotted));
}

// What a pattern cannot be; the gateway says it in full.
export function isPattern(text: string): boolean {
    return text.length > 0 && text.length <= 2048 && !text.startsWith('{') && !/[\s\u0000-\u001f\u007f-\u009f]/u.test(text);
}
