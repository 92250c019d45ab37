// SPDX-License-Identifier: Apache-2.0
// How far somebody has read in each room (kept in this browser), and what is new since then.
import { isObject, type Envelope } from '../net/types';
import { beganAt, type Entry } from './threads';

export interface ReadMark { id: string; ts: number } // the last envelope that was seen, and when it was said

const ROOMS_MOST = 200;

export function readMarks(text: string | null): Map<string, ReadMark> {
    try {
        const kept: unknown = JSON.parse(text ?? '[]');
        if (!Array.isArray(kept)) return new Map();
        return new Map(kept.flatMap((row: unknown) => {
            if (!Array.isArray(row) || typeof row[0] !== 'string' || !isObject(row[1])) return [];
            const { id, ts } = row[1];
            return typeof id === 'string' && typeof ts === 'number' ? [[row[0], { id, ts }] as const] : [];
        }));
    } catch {
        return new Map();
    }
}

// The rooms that were read last; the others are new again, which is no harm.
export function marksText(marks: Map<string, ReadMark>): string {
    return JSON.stringify([...marks].sort(([, a], [, b]) => b.ts - a.ts).slice(0, ROOMS_MOST));
}

// "@ann" as a word of its own, or addressed to her.
export function isMention(said: Envelope, me: string): boolean {
    if (said.kind !== 'chat' || said.from === me) return false;
    if (said.to?.includes(me)) return true;
    const text = said.payload['text'];
    if (typeof text !== 'string') return false;
    const wanted = `@${me}`.toLowerCase();
    const lower = text.toLowerCase();
    for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1))
        if (!/[\p{L}\p{N}_-]/u.test(lower[at - 1] ?? ' ') && !/^[\p{L}\p{N}_-]/u.test(lower.slice(at + wanted.length))) return true;
    return false;
}

// What makes a room unread: talk and calls, of others; not who comes and goes.
export function isNews(entry: Entry, me: string): boolean {
    return (entry.type === 'chat' || (entry.type === 'call' && entry.state !== 'told')) && entry.parts[0]?.from !== me;
}

// The number of the first entry behind the mark; the count where nothing is.
export function firstUnread(entries: readonly Entry[], mark: ReadMark, atOfMark: number | undefined): number {
    if (atOfMark !== undefined) return atOfMark + 1;
    const found = entries.findIndex((entry) => beganAt(entry) > mark.ts);
    return found < 0 ? entries.length : found;
}
