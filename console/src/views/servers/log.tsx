// SPDX-License-Identifier: Apache-2.0
// What a server writes and what happens to it, as it comes: a stream of lines of JSON.
import { useEffect, useRef, useState } from 'preact/hooks';

import { arriving, ask, path, sentenceOf } from '../../net/api';
import { isObject } from '../../net/types';
import { Button } from '../../parts/button';
import { Empty, ErrorNote, Skeleton } from '../../parts/notes';
import { Time } from '../../parts/time';
import { VirtualList, type ListHandle } from '../../parts/virtual-list';
import { visible } from '../../state/visible';
import { t } from '../../strings';

interface Line {
    at: number; // counts
    ts: string;
    by: string;
    line: string;
}

const KEPT = 5000, DROPPED = 1000; // many at a time, as the list wants it
const SHOWN_CHARS = 4000;

// Lines of a stream, which may be cut anywhere.
export async function readLines(body: ReadableStream<Uint8Array>, onLines: (lines: string[]) => void): Promise<void> {
    const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
    let rest = '';

    for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        const lines = (rest + value).split('\n');
        rest = lines.pop() ?? '';
        if (lines.length) onLines(lines);
    }
}

function lineOf(text: string, at: number): Line | null {
    try {
        const value = JSON.parse(text) as unknown;
        if (!isObject(value)) return null;
        return { at, ts: String(value['ts'] ?? ''), by: String(value['by'] ?? ''), line: String(value['line'] ?? '') };
    } catch {
        return null;
    }
}

function useLog(name: string): { lines: readonly Line[]; error: string | undefined; isOver: boolean; isOpen: boolean; again: () => void } {
    const [state, setState] = useState<{ lines: Line[]; error?: string; isOver: boolean; isOpen: boolean }>({ lines: [], isOver: false, isOpen: false });
    const [round, setRound] = useState(0);

    useEffect(() => {
        const abort = new AbortController();
        let count = 0;
        const take = (texts: string[]) => {
            const fresh = texts.flatMap((text) => lineOf(text, count++) ?? []);
            setState((old) => {
                const lines = [...old.lines, ...fresh];
                return { ...old, lines: lines.length > KEPT ? lines.slice(lines.length - KEPT + DROPPED) : lines };
            });
        };
        const read = async () => {
            const answer = await ask('GET', path`/admin/servers/${name}/logs`, { query: { follow: 1 }, signal: abort.signal, accept: 'application/x-ndjson' });
            setState((old) => ({ ...old, isOpen: true }));
            if (answer.body) await arriving(readLines(answer.body, take));
        };

        setState({ lines: [], isOver: false, isOpen: false });
        read().then(() => setState((old) => ({ ...old, isOver: true })), (error: unknown) => {
            if (!abort.signal.aborted) setState((old) => ({ ...old, error: sentenceOf(error), isOver: true }));
        });
        return () => abort.abort();
    }, [name, round]);
    return { ...state, error: state.error, again: () => setRound(round + 1) };
}

export function Log({ name }: { name: string }) {
    const { lines, error, isOver, isOpen, again } = useLog(name);
    const handle = useRef<ListHandle>(null);
    const [isAtEnd, setAtEnd] = useState(true);

    if (!isOpen && !error) return <Skeleton />;
    return (
        <div class="stack">
            {isOver && <ErrorNote error={error ?? t.servers.logEnded} onRetry={again} />}
            {lines.length
                ? <div class="log">
                    <VirtualList items={lines} keyOf={(line) => String(line.at)} estimate={22} label={t.servers.logLabel(visible(name))} role="log" stickToEnd handle={handle} onEnd={setAtEnd}>
                        {(line) => <LogLine line={line} />}
                    </VirtualList>
                    {!isAtEnd && <div class="log-end"><Button icon="down" onClick={() => handle.current?.scrollToEnd()}>{t.servers.toEnd}</Button></div>}
                </div>
                : <Empty icon="audit" title={t.servers.logEmpty} />}
        </div>
    );
}

function LogLine({ line }: { line: Line }) {
    return (
        <div class={line.by === 'moot' ? 'log-line by-moot' : 'log-line'}>
            <span class="quiet"><Time at={line.ts} as="clock" /></span>
            {line.by === 'moot' && <span class="quiet">{t.servers.byMoot}</span>}
            <bdi>{visible(line.line.slice(0, SHOWN_CHARS))}</bdi>
        </div>
    );
}
