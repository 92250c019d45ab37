// SPDX-License-Identifier: Apache-2.0
// Exports: the browser asks with the token in a header, so what comes goes through the page into
// a file. An answer that was cut off is no file.
import { useEffect, useRef, useState } from 'preact/hooks';

import { ask, sentenceOf, urlOf } from '../../net/api';
import { Button } from '../../parts/button';
import { Menu } from '../../parts/menu';
import { ErrorNote, Note } from '../../parts/notes';
import { toast } from '../../parts/toast';
import type { Filter } from '../../state/audit';
import { sizeOf } from '../../state/sizes';
import { t } from '../../strings';

const WHOLE = { order: 'oldest', checkpoints: '1' };

export interface Export {
    state: { bytes: number } | { error: string } | null; // null: nothing is under way
    start: (query: Record<string, string>, name: string) => void;
    stop: () => void;
}

export function useExport(): Export {
    const [state, setState] = useState<Export['state']>(null);
    const abort = useRef<AbortController>();
    useEffect(() => () => abort.current?.abort(), []); // who leaves the view waits for nothing
    const start = (query: Record<string, string>, name: string) => {
        const mine = new AbortController();
        abort.current?.abort();
        abort.current = mine;
        setState({ bytes: 0 });
        fetchFile(query, mine.signal, (bytes) => setState({ bytes })).then(
            (file) => { save(file, name); setState(null); toast(t.audit.exportDone(name), 'ok'); },
            (error: unknown) => setState(mine.signal.aborted ? null : { error: error instanceof TypeError ? t.audit.exportCut : sentenceOf(error) }),
        );
    };
    return { state, start, stop: () => { abort.current?.abort(); setState(null); } };
}

async function fetchFile(query: Record<string, string>, signal: AbortSignal, onBytes: (bytes: number) => void): Promise<Blob> {
    const answer = await ask('GET', urlOf('/admin/audit', query), { accept: 'application/x-ndjson', signal });
    let bytes = 0, told = 0;
    const counter = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, out) {
            bytes += chunk.length;
            if (bytes - told > 1 << 18) onBytes(told = bytes);
            out.enqueue(chunk);
        },
    });
    return new Response(answer.body?.pipeThrough(counter) ?? null, { headers: { 'content-type': 'application/x-ndjson' } }).blob();
}

function save(file: Blob, name: string): void {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(file);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// "moot-audit-2026-11-16.jsonl": the day by the viewer's clock.
function nameOf(what: string): string {
    const now = new Date();
    const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
    return `moot-audit-${what}${day}.jsonl`;
}

export function ExportMenu({ filter, work }: { filter: Filter; work: Export }) {
    const isDisabled = work.state !== null && 'bytes' in work.state;
    return (
        <Menu label={t.audit.exportTitle} title={t.audit.exportTitle} icon="download" kind="plain" items={[
            { title: t.audit.exportFound, isDisabled, run: () => work.start({ ...filter }, nameOf('found-')) },
            { title: t.audit.exportAll, isDisabled, run: () => work.start(WHOLE, nameOf('')) },
        ]} />
    );
}

export function ExportNote({ work }: { work: Export }) {
    if (!work.state) return null;
    if ('error' in work.state) return <ErrorNote error={work.state.error} />;
    return <Note action={<Button icon="stop" onClick={work.stop}>{t.audit.exportStop}</Button>}>{t.audit.exporting} <span class="quiet">{t.audit.exportBytes(sizeOf(work.state.bytes))}</span></Note>;
}
