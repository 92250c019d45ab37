// SPDX-License-Identifier: Apache-2.0
// The record: searched, read thread by thread, verified, and taken elsewhere.
import { useEffect, useRef, useState } from 'preact/hooks';

import { Button } from '../parts/button';
import { Empty, ErrorNote, Skeleton } from '../parts/notes';
import { Page } from '../parts/page';
import { VirtualList, type ListHandle } from '../parts/virtual-list';
import { go, hrefOf, type Route } from '../router';
import { filterIn, headSeq, seqIn, type Filter } from '../state/audit';
import { useLoad } from '../state/load';
import { focusRow, useRowKeys } from '../state/row-keys';
import { get } from '../net/api';
import { t } from '../strings';
import { RecordDetails } from './audit/details';
import { ExportMenu, ExportNote, useExport } from './audit/export';
import { Filters } from './audit/filters';
import { useRecords, type Records } from './audit/records';
import { Row } from './audit/row';
import { ThreadPage } from './audit/thread';
import { VerifyDialog } from './audit/verify';

const HEAD_MS = 10_000;
const ROW_PX = 37;

export function AuditView({ route }: { route: Route }) {
    const thread = route.query.get('thread');
    return thread ? <ThreadPage key={thread} route={route} id={thread} /> : <SearchPage route={route} />;
}

function SearchPage({ route }: { route: Route }) {
    const filter = filterIn(route.query);
    const found = useRecords(filter);
    const work = useExport();
    const [isVerifying, setVerifying] = useState(false);
    const seq = seqIn(route.thing);
    const hrefOfSeq = (one: string | null) => hrefOf('audit', one, filter);
    const close = () => {
        go(hrefOfSeq(null), 'replace');
        focusRow(hrefOfSeq(route.thing));
    };

    useRowKeys(found.records.map((record) => String(record.seq)), route.thing, (key) => go(hrefOfSeq(key), seq === null ? 'push' : 'replace'));
    return (
        <Page title={t.audit.title} isFlush
            actions={<>
                <Button icon="refresh" isBusy={found.isLoading} onClick={found.reload}>{t.audit.refresh}</Button>
                <Button icon="check" onClick={() => setVerifying(true)}>{t.audit.verify}</Button>
                <ExportMenu filter={filter} work={work} />
            </>}
            tools={<Filters filter={filter} onChange={(next) => go(hrefOf('audit', null, next), 'replace')} />}
            details={seq !== null && <RecordDetails key={seq} seq={seq} known={found.records.find((record) => record.seq === seq)} onClose={close} />}>
            {work.state && <div class="audit-note"><ExportNote work={work} /></div>}
            <List found={found} filter={filter} seq={seq} hrefOfSeq={hrefOfSeq} />
            {isVerifying && <VerifyDialog onClose={() => setVerifying(false)} />}
        </Page>
    );
}

interface ListProps { found: Records; filter: Filter; seq: number | null; hrefOfSeq: (seq: string) => string }

function List({ found, filter, seq, hrefOfSeq }: ListProps) {
    const { records, isLoading, error } = found;
    const handle = useRef<ListHandle>(null);

    // Keys lead beyond what exists.
    useEffect(() => {
        const at = records.findIndex((record) => record.seq === seq);
        if (at >= 0) handle.current?.scrollToIndex(at);
    }, [seq]);
    if (!records.length) return (
        <div class="audit-note grow">
            {error ? <ErrorNote error={error} onRetry={found.retry} />
                : isLoading ? <Skeleton lines={10} />
                    : Object.keys(filter).length ? <Empty icon="search" title={t.audit.none}>{t.audit.noneHint}</Empty>
                        : <Empty icon="audit" title={t.audit.nothing}>{t.views.audit.purpose}</Empty>}
        </div>
    );
    return (
        <>
            <div class={seq === null ? 'grow' : 'grow audit-beside'}>
                <VirtualList items={records} keyOf={(record) => String(record.seq)} estimate={ROW_PX} label={t.audit.list} handle={handle} onEnd={(isAtEnd) => { if (isAtEnd) found.loadMore(); }}>
                    {(record) => <Row record={record} href={hrefOfSeq(String(record.seq))} isChosen={record.seq === seq} isWithRoom={!filter.topic && seq === null} />}
                </VirtualList>
            </div>
            <Foot found={found} />
        </>
    );
}

// How much there is, and whether there is news; the record grows while one reads.
function Foot({ found }: { found: Records }) {
    const head = useLoad((signal) => get<{ head: string }>('/admin/audit/head', { signal }), [], { everyMs: HEAD_MS });
    const newer = head.value && found.head ? headSeq(head.value.head) - headSeq(found.head) : 0;

    return (
        <div class="audit-foot">
            {found.error ? <ErrorNote error={found.error} onRetry={found.retry} />
                : found.isComplete ? <span class="quiet" role="status">{t.audit.end(found.records.length)}</span>
                    : <Button kind="quiet" icon="down" isBusy={found.isLoading} onClick={found.loadMore}>{found.isLoading ? t.audit.more : t.audit.loadMore}</Button>}
            {newer > 0 && <Button kind="quiet" icon="refresh" onClick={() => { found.reload(); head.reload(); }}>{t.audit.newer(newer)}</Button>}
        </div>
    );
}
