// SPDX-License-Identifier: Apache-2.0
// The inbox, kept up to date while somebody is signed in: for the view, and for the number in
// the navigation beside all others. It asks again every few seconds. A connection to each room
// would tell everybody there that one has come, who only reads what waits.
import { get, getExactly, path, sentenceOf } from '../../net/api';
import type { JsonObject } from '../../net/types';
import { route } from '../../router';
import { cell } from '../../state/cell';
import { isSame } from '../../state/diff';
import { isForMe, isOver, keyOf, sorted, type Decision, type Item } from '../../state/inbox';
import { mark } from '../../state/marks';
import { noteServerTime, serverNow } from '../../state/time';
import { notifyOf } from './notify';
import { endings, note, type Ended, type Ending } from './endings';

export interface Inbox {
    items: readonly Item[]; // what runs out first stands first
    leftOff: number;
    isLoaded: boolean;
    error: string | null; // of the last attempt
}

const NOTHING: Inbox = { items: [], leftOff: 0, isLoaded: false, error: null };
const HERE_MS = 2000; // somebody looks at it
const ELSEWHERE_MS = 5000; // another view is shown
const HIDDEN_MS = 15_000;
const AWAY_MS = 4000; // the server does not answer, and somebody waits for it
const TOLD = 50; // endings that are asked for at a time

export const inbox = cell<Inbox>(NOTHING);

let timer: ReturnType<typeof setTimeout> | undefined;
let failures = 0;
let round = 0; // the newest attempt: an answer to an older one is dropped
let isRunning = false;

function pauseMs(): number {
    if (document.hidden) return HIDDEN_MS;
    if (failures > 1) return AWAY_MS;
    return route.get().view === 'inbox' ? HERE_MS : ELSEWHERE_MS;
}

// Asks now, and then again and again.
export async function look(): Promise<void> {
    const mine = ++round;

    clearTimeout(timer);
    try {
        const askedAt = Date.now();
        const answer = await getExactly<{ items: Item[]; left_off: number; now?: string }>('/inbox');
        noteServerTime(answer.now, askedAt, Date.now());
        if (mine !== round || !isRunning) return;
        failures = 0;
        take(answer.items, answer.left_off);
    } catch (error) {
        if (mine !== round || !isRunning) return;
        failures++;
        inbox.set({ ...inbox.get(), error: sentenceOf(error) });
    }
    if (mine === round && isRunning) timer = setTimeout(() => void look(), pauseMs());
}

function take(items: Item[], leftOff: number): void {
    const before = inbox.get();
    const known = new Map(before.items.map((item) => [keyOf(item), item]));
    const now = new Set(items.map(keyOf));
    const gone = before.items.filter((item) => !now.has(keyOf(item)) && !endings.get().has(keyOf(item)));

    forget(items);
    inbox.set({ items: sorted(items.map((item) => kept(known.get(keyOf(item)), item))), leftOff, isLoaded: true, error: null });
    count();
    if (before.isLoaded) notifyOf(items.filter((item) => !known.has(keyOf(item)) && isForMe(item)));
    if (gone.length && !leftOff) void tellEndings(gone.slice(0, TOLD));
}

// What is as it was stays the same object: nothing that is made of it is made again.
function kept(before: Item | undefined, now: Item): Item {
    return before && isSame({ ...before } as JsonObject, { ...now } as JsonObject) ? before : now;
}

// What was taken for decided, and is not. That what was decided just now is still listed means nothing.
function forget(items: readonly Item[]): void {
    const listed = new Set(items.map(keyOf));
    const over = [...endings.get()].filter(([key, { notedAt }]) => !listed.has(key) || Date.now() - notedAt <= HERE_MS * 2);
    if (over.length < endings.get().size) endings.set(new Map(over));
}

// What one is asked to decide, and has not.
export function waitingIn(items: readonly Item[], ended: ReadonlyMap<string, Ended>): number {
    return items.filter((item) => isForMe(item) && !ended.has(keyOf(item))).length;
}

function count(): void {
    mark('inbox', waitingIn(inbox.get().items, endings.get()));
}

// What became of those that others decided, or nobody.
async function tellEndings(gone: readonly Item[]): Promise<void> {
    await Promise.all([...new Set(gone.map((item) => item.topic))].map(async (topic) => {
        const here = gone.filter((item) => item.topic === topic);
        const ends = await endingsIn(topic, here);
        for (const item of here)
            if (!endings.get().has(keyOf(item))) note(item, ends.get(item.id) ?? { state: isOver(item, serverNow()) ? 'expired' : 'gone' });
    }));
}

const TRIES = 4;
const TRY_MS = 500;

// By the id of the envelope. Nothing is known of what has expired long ago, or is not told to everybody.
export async function endingsIn(topic: string, items: readonly Item[]): Promise<Map<string, Ending>> {
    const [proposals, words] = await Promise.all([
        items.some((item) => item.type === 'proposal') ? closedIn(topic) : [],
        wordsIn(topic, items.filter((item) => item.type === 'authorization').map((item) => item.id)),
    ]);
    return new Map([...proposals, ...words].map(({ id, state, by, reason, decided }) => [id, {
        state, ...(by !== undefined && { by }), ...(reason !== undefined && { reason }), ...(decided !== undefined && { decided }),
    }]));
}

async function closedIn(topic: string): Promise<Decision[]> {
    const answer = await get<{ proposals: Decision[] }>(path`/topics/${topic}/proposals`, { query: { state: 'closed' } }).catch(() => null);
    return answer?.proposals ?? [];
}

// What was said of authorizations comes from the record, which may be a moment behind.
async function wordsIn(topic: string, ids: readonly string[]): Promise<Decision[]> {
    for (let i = 0; ids.length && i < TRIES; i++) {
        if (i) await new Promise((resolve) => { setTimeout(resolve, TRY_MS); });
        const answer = await get<{ decisions: Decision[] }>(path`/topics/${topic}/decisions`, { query: { type: 'authorization', limit: 50 } }).catch(() => null);
        if (!answer) break;
        if (i === TRIES - 1 || ids.every((id) => answer.decisions.some((one) => one.id === id))) return answer.decisions;
    }
    return [];
}

function onSeen(): void {
    if (!document.hidden) void look();
}

export function startInbox(): () => void {
    let view = route.get().view;
    const uncount = endings.subscribe(count);
    const unsubscribe = route.subscribe(() => {
        if (route.get().view !== view && route.get().view === 'inbox') void look();
        view = route.get().view;
    });

    isRunning = true;
    failures = 0;
    inbox.set(NOTHING);
    endings.set(new Map());
    document.addEventListener('visibilitychange', onSeen);
    void look();
    return () => {
        isRunning = false;
        clearTimeout(timer);
        unsubscribe();
        uncount();
        document.removeEventListener('visibilitychange', onSeen);
        mark('inbox', 0);
    };
}
