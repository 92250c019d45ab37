// SPDX-License-Identifier: Apache-2.0
// What a view asks the server for: loading, there, or failed.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

import { sentenceOf } from '../net/api';

export interface Loaded<T> {
    value: T | undefined; // stays while it is loaded again
    error: string | undefined; // a sentence, until there is an answer; the value may still be that of before
    isLoading: boolean;
    reload: () => void;
}

type State<T> = Omit<Loaded<T>, 'reload'>;

interface LoadOptions {
    everyMs?: number; // asks again after so long, while the page is visible, but waits for a slow answer
}

const PATIENCE_MS = 30_000;

// Loads whenever one of `keys` changes; an answer that comes after that is dropped.
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[], options: LoadOptions = {}): Loaded<T> {
    const [state, setState] = useState<State<T>>({ value: undefined, error: undefined, isLoading: true });
    const [round, setRound] = useState(0);
    const seen = useRef(keys);
    const askedAt = useRef<number | null>(null); // null: nothing is under way
    const isOther = seen.current.some((key, i) => !Object.is(key, keys[i]));
    const reload = useCallback(() => setRound((count) => count + 1), []);

    seen.current = keys;
    useEffect(() => {
        const abort = new AbortController();
        const end = (next: (old: State<T>) => State<T>) => {
            if (abort.signal.aborted) return;
            askedAt.current = null;
            setState(next);
        };
        askedAt.current = Date.now();
        setState((old) => ({ value: isOther ? undefined : old.value, error: isOther ? undefined : old.error, isLoading: true }));
        load(abort.signal).then(
            (value) => end(() => ({ value, error: undefined, isLoading: false })),
            (error: unknown) => end(({ value }) => ({ value, error: sentenceOf(error), isLoading: false })),
        );
        return () => abort.abort();
    }, [...keys, round]);
    useEffect(() => {
        if (!options.everyMs) return undefined;
        const timer = setInterval(() => {
            const isWaiting = askedAt.current !== null && Date.now() - askedAt.current < PATIENCE_MS;
            if (!document.hidden && !isWaiting) reload();
        }, options.everyMs);
        return () => clearInterval(timer);
    }, [options.everyMs, reload]);
    return isOther ? { value: undefined, error: undefined, isLoading: true, reload } : { ...state, reload };
}
