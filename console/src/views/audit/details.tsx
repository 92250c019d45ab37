// SPDX-License-Identifier: Apache-2.0
// One record, whole: who, what, why it was allowed, what it said, and what proves it.
import { Name } from '../../parts/badge';
import { CopyButton, LinkButton } from '../../parts/button';
import { JsonTree } from '../../parts/json-tree';
import { Empty, Loading, Note } from '../../parts/notes';
import { Details, Section } from '../../parts/page';
import { go, hrefOf } from '../../router';
import { addresseesOf, type AuditRecord } from '../../state/audit';
import { shown } from '../../state/exact';
import { useLoad } from '../../state/load';
import { fullOf } from '../../state/time';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { Menu } from '../../parts/menu';
import { readRecord } from './records';
import { OutcomeBadge } from './row';

// `known`: it is in the list already. A link from elsewhere leads to one that is not.
export function RecordDetails({ seq, known, onClose }: { seq: number; known: AuditRecord | undefined; onClose: () => void }) {
    const record = useLoad(async (signal) => known ?? await readRecord(seq, signal), [seq]);

    return (
        <Details title={t.audit.record(seq)} onClose={onClose} actions={record.value && <Narrow record={record.value} />}>
            <Loading of={record}>
                {(value) => (value ? <Whole record={value} /> : <Empty icon="audit" title={t.audit.noRecord} />)}
            </Loading>
        </Details>
    );
}

function Narrow({ record }: { record: AuditRecord }) {
    const only = (query: Record<string, string>) => () => go(hrefOf('audit', null, query));
    const items = [
        ...(record.kind ? [{ title: t.audit.onlyKind(visible(record.kind)), run: only({ kind: record.kind }) }] : []),
        ...(record.participant ? [{ title: t.audit.onlyWho(visible(record.participant)), run: only({ participant: record.participant }) }] : []),
        ...(record.topic ? [{ title: t.audit.onlyRoom(visible(record.topic)), run: only({ topic: record.topic }) },
            { title: t.audit.openRoom, run: () => go(hrefOf('room', record.topic ?? '')) }] : []),
    ];
    return items.length ? <Menu label={t.audit.onlySuch} icon="filter" items={items} /> : null;
}

function Whole({ record }: { record: AuditRecord }) {
    const thread = record.correlation_id ?? record.id;
    return (
        <>
            {thread && record.topic && ['envelope', 'refusal'].includes(record.event) && (
                <div class="row"><LinkButton href={hrefOf('audit', null, { thread: record.id ?? thread, topic: record.topic })} icon="link">{t.audit.openThread}</LinkButton></div>
            )}
            <Facts record={record} />
            <Section title={t.audit.body}>
                {record.body !== undefined
                    ? <JsonTree value={shown(record.body)} open={4} canCopy />
                    : record.body_hash ? <Note>{t.audit.bodyGone}</Note> : <p class="quiet">{t.audit.bodyNone}</p>}
            </Section>
            <dl class="facts">
                {record.body_bytes !== undefined && <><dt>{t.audit.facts.length}</dt><dd>{t.audit.bytes(record.body_bytes)}</dd></>}
                {record.body_hash && <Hash title={t.audit.facts.bodyHash} hash={record.body_hash} />}
                <Hash title={t.audit.facts.hash} hash={record.hash} />
            </dl>
        </>
    );
}

function Facts({ record }: { record: AuditRecord }) {
    const f = t.audit.facts;
    const to = addresseesOf(record);
    return (
        <dl class="facts">
            <dt>{f.at}</dt><dd>{fullOf(Date.parse(record.at))} <span class="quiet code">{visible(record.at)}</span></dd>
            <dt>{f.event}</dt><dd>{t.audit.eventNames[record.event] ?? visible(record.event)}</dd>
            {record.topic && <><dt>{f.topic}</dt><dd><Name>{record.topic}</Name></dd></>}
            {record.participant && <><dt>{f.who}</dt><dd><a href={hrefOf('people', record.participant)}><Name>{record.participant}</Name></a></dd></>}
            {to.length > 0 && <><dt>{f.to}</dt><dd><Name>{to.join(', ')}</Name></dd></>}
            {record.kind && <><dt>{f.kind}</dt><dd class="code"><Name>{record.kind}</Name></dd></>}
            {record.id && <><dt>{f.id}</dt><dd class="audit-hash code"><Name>{record.id}</Name><CopyButton text={record.id} /></dd></>}
            {record.correlation_id && <><dt>{f.thread}</dt><dd class="code"><Name>{record.correlation_id}</Name></dd></>}
            {record.verdict && <><dt>{f.verdict}</dt><dd>{record.verdict === 'allowed' ? t.audit.verdicts['allowed'] : <OutcomeBadge record={record} />}</dd></>}
            {record.by && <><dt>{f.by}</dt><dd class="code"><Name>{record.by}</Name></dd></>}
        </dl>
    );
}

function Hash({ title, hash }: { title: string; hash: string }) {
    return <><dt>{title}</dt><dd class="audit-hash code"><Name>{hash}</Name><CopyButton text={hash} /></dd></>;
}
