// SPDX-License-Identifier: Apache-2.0
// Which lines of a room are shown: by what they are, by whom, and by words in them.
import type { Envelope, Json } from '../net/types';
import { isFrom, type Entry, type Log } from './threads';

export const SHOWS = ['all', 'chat', 'calls', 'waiting', 'trouble', 'events'] as const;
export type Show = (typeof SHOWS)[number];

export interface Filter {
    show: Show;
    who: string; // '' for everybody
    text: string; // words, all of them
}

const TEXT_MOST = 65_536; // characters of one envelope that are searched

export function isWide(filter: Filter): boolean {
    return filter.show === 'all' && !filter.who && !filter.text.trim();
}

export function wordsOf(text: string): string[] {
    return text.toLowerCase().split(/\s+/).filter(Boolean);
}

// The texts of an envelope that people would look for: not its member names.
export function textOf(said: Envelope): string {
    const texts = [said.from, said.kind, said.id, ...(said.to ?? [])];
    let left = TEXT_MOST;
    const walk = (value: Json | undefined): void => {
        if (left <= 0 || value === null || value === undefined || typeof value === 'boolean') return;
        if (typeof value === 'object') for (const item of Array.isArray(value) ? value : Object.values(value)) walk(item);
        else {
            const text = String(value).slice(0, left);
            left -= text.length;
            texts.push(text);
        }
    };
    walk(said.payload);
    return texts.join('\n').toLowerCase();
}

function isShown(entry: Entry, show: Show): boolean {
    if (show === 'all') return true;
    if (show === 'chat') return entry.type === 'chat';
    if (show === 'calls') return entry.type === 'call' && entry.state !== 'told';
    if (show === 'waiting') return entry.type === 'call' && (entry.state === 'open' || entry.state === 'asking');
    if (show === 'trouble') return entry.type === 'gap' || (entry.type === 'call' && (entry.state === 'failed' || entry.state === 'denied' || entry.foreign > 0));
    return entry.type === 'event' || entry.type === 'crowd';
}

export function matches(entry: Entry, filter: Filter, words = wordsOf(filter.text)): boolean {
    if (entry.type === 'echo' || !isShown(entry, filter.show)) return false; // what it tells of is found itself
    if (filter.who && !isFrom(entry, filter.who)) return false;
    if (!words.length) return true;
    const left = new Set(words);
    for (const part of entry.parts) {
        const text = textOf(part);
        for (const word of left) if (text.includes(word)) left.delete(word);
        if (!left.size) return true;
    }
    return false;
}

// The lines that a filter lets through, kept while the log grows: what is new or has changed
// costs only itself.
export class Sieve {
    entries: Entry[] = [];
    #seen = 0;
    #source: Entry[] = [];
    #words: string[];

    constructor(readonly filter: Filter) {
        this.#words = wordsOf(filter.text);
    }

    update(log: Log, touched: ReadonlySet<Entry>): Entry[] {
        if (isWide(this.filter)) return log.entries;
        if (this.#source !== log.entries) this.#restart(log);
        for (const entry of touched) if (entry.at < this.#seen) this.#judgeAgain(entry);
        for (; this.#seen < log.entries.length; this.#seen++) {
            const entry = log.entries[this.#seen];
            if (entry && matches(entry, this.filter, this.#words)) this.entries.push(entry);
        }
        return this.entries;
    }

    #restart(log: Log): void {
        this.#source = log.entries;
        this.#seen = 0;
        this.entries = [];
    }

    #judgeAgain(entry: Entry): void {
        const place = placeOf(this.entries, entry.at);
        const isHere = this.entries[place] === entry;
        const isWanted = matches(entry, this.filter, this.#words);

        if (isHere && !isWanted) this.entries.splice(place, 1);
        if (!isHere && isWanted) this.entries.splice(place, 0, entry);
    }
}

// Where the entry with that number stands, or would stand.
export function placeOf(entries: readonly Entry[], at: number): number {
    let low = 0, high = entries.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if ((entries[middle]?.at ?? 0) < at) low = middle + 1;
        else high = middle;
    }
    return low;
}
