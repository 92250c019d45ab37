// SPDX-License-Identifier: Apache-2.0
// Shortcuts. A component says which keys it knows while it is shown; "?" lists them all.
// "g i" is one key after the other. They are off while somebody types or a dialog is open.
import { useEffect, useRef } from 'preact/hooks';

import { cell } from './cell';
import { preferences } from './preferences';

export interface Shortcut {
    does: string; // for the list
    isOnce?: boolean; // not again while the key is held down
    run: () => void;
}
export type Shortcuts = Record<string, Shortcut>;

const PAUSE_MS = 5000; // so long the next key may be meant as the second of a sequence

// The newest last: a view's key goes before the same one of the shell.
export const shortcuts = cell<readonly Shortcuts[]>([]);

// What a key leads to: a shortcut, the beginning of one, or nothing.
export function findShortcut(known: readonly Shortcuts[], typed: string): Shortcut | 'more' | null {
    for (const table of [...known].reverse()) {
        const exact = table[typed];
        if (exact) return exact;
    }
    return known.some((table) => Object.keys(table).some((keys) => keys.startsWith(`${typed} `))) ? 'more' : null;
}

// For people: what is of the present view first, what leads elsewhere last.
export function inOrder(known: Shortcuts): [string, Shortcut][] {
    const rank = (keys: string) => (keys.includes(' ') ? 2 : keys === '?' ? 1 : 0);
    return Object.entries(known).sort(([a], [b]) => rank(a) - rank(b));
}

function isTyping(target: EventTarget | null): boolean {
    return target instanceof HTMLElement
        && (target.isContentEditable || target.closest('input, textarea, select, dialog, [role=menu]') !== null);
}

export interface First { key: string; at: number } // of a sequence

// Which key was pressed behind which. What comes behind the first one of a sequence belongs to it, and
// never stands for itself: who goes to a view that is not his ("g a") does not approve ("a").
export function readKey(known: readonly Shortcuts[], before: First | null, key: string, at: number): { found: Shortcut | null; before: First | null } {
    if (key === 'Shift' || key === 'CapsLock') return { found: null, before };
    const found = findShortcut(known, before && at - before.at < PAUSE_MS ? `${before.key} ${key}` : key);
    if (found && found !== 'more') return { found, before: null };
    return { found: null, before: findShortcut(known, key) === 'more' ? { key, at } : null };
}

let before: First | null = null;

function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    if (!preferences.get().shortcuts || isTyping(event.target) || document.querySelector('dialog[open]')) return;
    const read = readKey(shortcuts.get(), before, event.key, event.timeStamp);
    const { found } = read;
    ({ before } = read);
    if (!found) return;
    event.preventDefault();
    if (!event.repeat || !found.isOnce) found.run();
}

export function startKeys(): () => void {
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
}

export function useShortcuts(table: Shortcuts): void {
    const latest = useRef(table);
    latest.current = table;
    useEffect(() => {
        // Through the reference, so that each rendering's own functions are called.
        const mine: Shortcuts = {};
        for (const keys of Object.keys(table))
            mine[keys] = { does: '', ...table[keys], run: () => latest.current[keys]?.run() };
        shortcuts.set([...shortcuts.get(), mine]);
        return () => shortcuts.set(shortcuts.get().filter((other) => other !== mine));
    }, [Object.keys(table).join('\n')]);
}
