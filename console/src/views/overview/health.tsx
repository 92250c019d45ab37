// SPDX-License-Identifier: Apache-2.0
// Is everything that must work working? And what was refused.
import type { ComponentChildren } from 'preact';

import { Badge } from '../../parts/badge';
import type { Tone } from '../../parts/notes';
import { Section } from '../../parts/page';
import { Table } from '../../parts/table';
import { Time } from '../../parts/time';
import { JsonTree } from '../../parts/json-tree';
import { hrefOf } from '../../router';
import { fineOf, recordSeq, refusalsOf, type Overview } from '../../state/overview';
import { sizeOf } from '../../state/sizes';
import { visible } from '../../state/visible';
import { t } from '../../strings';

const WORDS: Partial<Record<Tone, string>> = { ok: t.overview.good, warn: t.overview.attention, danger: t.overview.bad };

export function HealthSection({ of }: { of: Overview }) {
    const { servers } = of;
    const serverTone: Tone = servers.failing ? 'danger' : servers.sign_in_needed ? 'warn' : 'ok';

    return (
        <Section title={t.overview.health}>
            <dl class="overview-health">
                <Line title={t.overview.store} tone={of.store.failing ? 'danger' : of.store.failures ? 'warn' : 'ok'}><StoreWords of={of} /></Line>
                <Line title={t.overview.record} tone="ok"><RecordWords of={of} /></Line>
                <Line title={t.overview.servers} tone={serverTone}>
                    {servers.all === 0 ? t.overview.serversNone : <a href={hrefOf('servers')}>{t.overview.serversFine(fineOf(of), servers.all)}</a>}
                    {servers.failing > 0 && <>, {t.overview.serversBad(servers.failing)}</>}
                    {servers.sign_in_needed > 0 && <>, {t.overview.serversSignIn(servers.sign_in_needed)}</>}
                </Line>
                <Line title={t.overview.cluster} tone="ok">{of.cluster === null ? t.overview.clusterNone : <JsonTree value={of.cluster} open={1} />}</Line>
            </dl>
        </Section>
    );
}

function Line({ title, tone, children }: { title: string; tone: Tone; children: ComponentChildren }) {
    return <div><dt>{title}</dt><dd><Badge tone={tone}>{WORDS[tone]}</Badge><span>{children}</span></dd></div>;
}

function StoreWords({ of: { store } }: { of: Overview }) {
    const o = t.overview;
    const commits = store.commits.toLocaleString();
    return (
        <>
            {store.failing && <>{o.storeBad}{store.failing_since && <>, {o.storeSince} <Time at={store.failing_since} /></>}. </>}
            {store.disk_bytes ? o.storeFacts(sizeOf(store.disk_bytes), commits) : o.storeNoSize(commits)}
            {store.queued_bytes > 0 && <>, {o.storeQueue(sizeOf(store.queued_bytes))}</>}
            {store.failures > 0 && <>, {o.storeFailures(store.failures)}</>}
        </>
    );
}

function RecordWords({ of }: { of: Overview }) {
    const { record } = of;
    const seq = recordSeq(of);
    if (!record || seq === 0) return <>{t.overview.recordNone}</>;
    return (
        <>
            <a href={hrefOf('audit')}>{t.overview.recordFacts(seq.toLocaleString())}</a>
            {record.at && <>, {t.overview.recordLast} <Time at={record.at} /></>}, {t.overview.recordSigned(record.signed.toLocaleString())}
            {seq > record.indexed && <>, {t.overview.recordIndexing((seq - record.indexed).toLocaleString())}</>}
        </>
    );
}

export function RefusalsSection({ of }: { of: Overview }) {
    const rows = refusalsOf(of);
    return (
        <Section title={t.overview.refusals}>
            {rows.length === 0 ? <p class="quiet">{t.overview.noRefusals}</p> : (
                <Table label={t.overview.refusals} rows={rows} keyOf={([reason]) => reason} columns={[
                    { title: t.overview.reason, isHead: true, cell: ([reason]) => <a href={hrefOf('audit', null, { verdict: reason })}>{t.audit.verdicts[reason] ?? visible(reason)}</a> },
                    { title: t.overview.count, align: 'end', cell: ([, count]) => count.toLocaleString() },
                ]} />
            )}
        </Section>
    );
}

export function ProposalsSection({ of }: { of: Overview }) {
    return (
        <Section title={t.overview.proposals}>
            <dl class="overview-proposals">
                {Object.entries(t.overview.proposalParts).map(([part, title]) => (
                    <div key={part}><dt>{title}</dt><dd>{(of.proposals[part as keyof Overview['proposals']] ?? 0).toLocaleString()}</dd></div>
                ))}
            </dl>
        </Section>
    );
}
