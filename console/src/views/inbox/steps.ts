// SPDX-License-Identifier: Apache-2.0
// Stepping through the list by key.
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import type { ListHandle } from '../../parts/virtual-list';
import type { Item } from '../../state/inbox';
import { rowKey, type Row } from './list';

type Entry = Exclude<Row, { type: 'heading' }>;

// `left`: where it stood among those that wait, of one that was decided while it was open. What
// came after it is next then, and not what was decided before.
export function entryBeside(rows: readonly Row[], current: string | null, by: 1 | -1, left: number | null): Entry | null {
    const waiting = rows.filter((row): row is Entry => row.type === 'item');
    if (left !== null && waiting.length) return waiting[Math.min(Math.max(by > 0 ? left : left - 1, 0), waiting.length - 1)] ?? null;
    const entries = rows.filter((row): row is Entry => row.type !== 'heading');
    const at = entries.findIndex((row) => rowKey(row) === current);
    if (at < 0) return entries.at(by > 0 ? 0 : -1) ?? null;
    return entries[at + by] ?? null;
}

export function useSteps(rows: readonly Row[], current: string | null, handle: RefObject<ListHandle>, open: (item: Item) => void): (by: 1 | -1) => void {
    const stood = useRef<{ key: string; at: number } | null>(null);
    const hasStepped = useRef(false);
    const at = rows.findIndex((row) => rowKey(row) === current);
    const isWaiting = rows[at]?.type === 'item';

    if (current !== null && isWaiting) stood.current = { key: current, at };
    useFocus(current, hasStepped);
    return (by) => {
        const left = !isWaiting && stood.current?.key === current ? stood.current.at : null;
        const next = entryBeside(rows, current, by, left);
        if (!next) return;
        hasStepped.current = true;
        handle.current?.scrollToIndex(rows.indexOf(next));
        open(next.item);
    };
}

// Who steps by key has the focus there, too, and it is read aloud; who closes what was open is
// back in the list. At once: a moment later the focus may be somewhere else for a reason.
function useFocus(current: string | null, hasStepped: { current: boolean }): void {
    const before = useRef(current);

    useLayoutEffect(() => {
        const wanted = hasStepped.current ? current : current === null ? before.current : null;
        hasStepped.current = false;
        before.current = current;
        if (wanted === null) return;
        [...document.querySelectorAll<HTMLElement>('.inbox-entry')].find((entry) => entry.dataset['key'] === wanted)?.focus();
    }, [current]);
}
