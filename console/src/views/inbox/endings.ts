// SPDX-License-Identifier: Apache-2.0
// What became of what waited, for as long as this page is open. There is one ending of each:
// what the gateway says, whoever tried what.
import type { Json } from '../../net/types';
import { cell } from '../../state/cell';
import { keyOf, type Item } from '../../state/inbox';

// How the call goes that was made.
export interface Run {
    state: 'running' | 'asked' | 'done' | 'failed' | 'silent'; // asked: its owner wants it authorized
    startedAt: number;
    endedAt?: number;
    result?: Json;
    error?: string;
}

export interface Ending {
    state: string; // fulfilled, rejected, withdrawn, expired; approved, denied; gone: nobody says
    by?: string;
    reason?: string;
    decided?: string;
    note?: string; // a sentence about what one did oneself
    edited?: Json; // what it was made with, where that is not what was proposed
    run?: Run;
}

export interface Ended extends Ending {
    item: Item;
    notedAt: number;
}

const MOST = 50;

export const endings = cell<ReadonlyMap<string, Ended>>(new Map());

export function note(item: Item, ending: Ending): void {
    const next = new Map(endings.get());
    const before = next.get(keyOf(item));

    next.delete(keyOf(item)); // the newest last
    next.set(keyOf(item), { ...(before?.run && { run: before.run }), ...ending, item, notedAt: before?.notedAt ?? Date.now() });
    for (const key of next.keys()) {
        if (next.size <= MOST) break;
        next.delete(key);
    }
    endings.set(next);
}

export function noteRun(item: Item, run: Run): void {
    const before = endings.get().get(keyOf(item));
    if (before) endings.set(new Map(endings.get()).set(keyOf(item), { ...before, run }));
}
