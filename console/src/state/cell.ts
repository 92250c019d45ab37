// SPDX-License-Identifier: Apache-2.0
// A cell holds one value that several components show. That is all the state there is besides
// the components' own: what only one of them needs stays in its hooks.
import { useEffect, useState } from 'preact/hooks';

export interface Cell<T> {
    get(): T;
    set(next: T): void; // tells nobody where nothing changed
    subscribe(listener: () => void): () => void;
}

export function cell<T>(initial: T): Cell<T> {
    const listeners = new Set<() => void>();
    let value = initial;

    return {
        get: () => value,
        set(next) {
            if (Object.is(next, value)) return;
            value = next;
            for (const listener of [...listeners]) listener();
        },
        subscribe(listener) {
            listeners.add(listener);
            return () => listeners.delete(listener);
        },
    };
}

// The value, and a new rendering whenever it changes.
export function useCell<T>(source: Cell<T>): T {
    const [, redraw] = useState({});

    useEffect(() => {
        redraw({}); // it may have changed between the rendering and now
        return source.subscribe(() => redraw({}));
    }, [source]);
    return source.get();
}
