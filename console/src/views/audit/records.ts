// SPDX-License-Identifier: Apache-2.0
// The record, page by page.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

import { getExactly, sentenceOf } from '../../net/api';
import type { AuditPage, AuditRecord, Filter } from '../../state/audit';

const PAGE = 100;

export function readPage(query: Record<string, string | number | undefined>, signal?: AbortSignal): Promise<AuditPage> {
    return getExactly<AuditPage>('/admin/audit', { query, ...(signal && { signal }) });
}

export interface Records {
    records: readonly AuditRecord[];
    head: string | undefined;
    isLoading: boolean;
    isComplete: boolean;
    error: string | undefined;
    loadMore: () => void;
    retry: () => void; // what has failed
    reload: () => void; // from the newest on
}

interface State { records: readonly AuditRecord[]; next: string | undefined; head: string | undefined; isComplete: boolean; isLoading: boolean; error: string | undefined }

const nothing: State = { records: [], next: undefined, head: undefined, isComplete: false, isLoading: true, error: undefined };

// Begins anew whenever the filter changes; what comes for another filter is dropped. What is there
// stays until there is something newer.
export function useRecords(filter: Filter): Records {
    const [state, setState] = useState<State>(nothing);
    const abort = useRef<AbortController>();
    const last = useRef<string>(); // the cursor that was asked for
    const question = JSON.stringify(filter);
    const load = useCallback((cursor: string | undefined) => {
        const mine = new AbortController();
        abort.current?.abort();
        abort.current = mine;
        last.current = cursor;
        setState((old) => ({ ...old, isLoading: true, error: undefined }));
        readPage({ ...JSON.parse(question) as Filter, limit: PAGE, cursor }, mine.signal).then(
            (page) => {
                if (mine.signal.aborted) return;
                setState((old) => ({
                    records: cursor ? [...old.records, ...page.records] : page.records, next: page.next, head: cursor ? old.head : page.head,
                    isComplete: page.next === undefined, isLoading: false, error: undefined,
                }));
            },
            (error: unknown) => { if (!mine.signal.aborted) setState((old) => ({ ...old, isLoading: false, error: sentenceOf(error) })); },
        );
    }, [question]);

    useEffect(() => {
        setState(nothing);
        load(undefined);
        return () => abort.current?.abort();
    }, [load]);
    const loadMore = () => { if (!state.isLoading && !state.isComplete && !state.error) load(state.next); };
    return { ...state, loadMore, retry: () => load(last.current), reload: () => load(undefined) };
}

// One record by its number: the page behind the one after it.
export async function readRecord(seq: number, signal: AbortSignal): Promise<AuditRecord | null> {
    const { records } = await readPage({ cursor: seq + 1, limit: 1 }, signal);
    return records.find((record) => record.seq === seq) ?? null;
}

const THREAD_MOST = 1000;

export async function readThread(id: string, topic: string, signal: AbortSignal): Promise<{ records: AuditRecord[]; isCut: boolean }> {
    const page = await readPage({ thread: id, ...(topic && { topic }), order: 'oldest', limit: THREAD_MOST }, signal);
    return { records: page.records, isCut: page.next !== undefined };
}
