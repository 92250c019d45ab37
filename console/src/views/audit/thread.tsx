// SPDX-License-Identifier: Apache-2.0
// All that hangs together: from a proposal to what became of it, with how long each step took.
import { LinkButton } from '../../parts/button';
import { Empty, Loading, Note } from '../../parts/notes';
import { Page } from '../../parts/page';
import { Name } from '../../parts/badge';
import { Time } from '../../parts/time';
import { go, hrefOf, type Route } from '../../router';
import { seqIn, spanText, summaryOf, threadOf, type Step } from '../../state/audit';
import { useLoad } from '../../state/load';
import { focusRow, useRowKeys } from '../../state/row-keys';
import { durationOf } from '../../state/time';
import { t } from '../../strings';
import { RecordDetails } from './details';
import { readThread } from './records';
import { OutcomeBadge, WhoToWhom } from './row';

export function ThreadPage({ route, id }: { route: Route; id: string }) {
    const topic = route.query.get('topic') ?? '';
    const thread = useLoad((signal) => readThread(id, topic, signal), [id, topic]);
    const steps = threadOf(thread.value?.records ?? []);
    const seq = seqIn(route.thing);
    const hrefOfSeq = (one: string | null) => hrefOf('audit', one, { thread: id, topic });
    const close = () => {
        go(hrefOfSeq(null), 'replace');
        focusRow(hrefOfSeq(route.thing));
    };

    useRowKeys(steps.map(({ record }) => String(record.seq)), route.thing, (key) => go(hrefOfSeq(key), seq === null ? 'push' : 'replace'));
    return (
        <Page title={t.audit.thread} actions={<LinkButton href={hrefOf('audit', null, topic ? { topic } : {})} icon="left">{t.audit.back}</LinkButton>}
            details={seq !== null && <RecordDetails key={seq} seq={seq} known={steps.find(({ record }) => record.seq === seq)?.record} onClose={close} />}>
            <Loading of={thread}>
                {({ isCut }) => (steps.length
                    ? <>
                        {isCut && <Note tone="warn">{t.audit.threadCut}</Note>}
                        <ol class="audit-thread" aria-label={t.audit.threadList}>
                            {steps.map((step) => <li key={step.record.seq} style={{ marginInlineStart: `${step.depth * 20}px` }}><StepRow step={step} href={hrefOfSeq(String(step.record.seq))} isChosen={step.record.seq === seq} /></li>)}
                        </ol>
                    </>
                    : <Empty icon="audit" title={t.audit.threadNone}>{t.audit.threadNoneHint}</Empty>)}
            </Loading>
        </Page>
    );
}

function StepRow({ step: { record, sinceFirstMs, sinceParentMs }, href, isChosen }: { step: Step; href: string; isChosen: boolean }) {
    return (
        <a class={isChosen ? 'audit-step chosen' : 'audit-step'} href={href} aria-current={isChosen ? 'true' : undefined}>
            <span class="audit-step-head">
                <WhoToWhom record={record} />
                <span class="code quiet"><Name>{record.kind ?? ''}</Name></span>
                <OutcomeBadge record={record} />
                <span class="audit-step-time quiet">
                    {sinceFirstMs === 0 ? <Time at={record.at} as="clock" /> : `+${spanText(sinceFirstMs, durationOf)}`}
                    {sinceParentMs !== null && sinceParentMs !== sinceFirstMs && <> ({t.audit.after(spanText(sinceParentMs, durationOf))})</>}
                </span>
            </span>
            <bdi class="audit-step-text">{summaryOf(record)}</bdi>
        </a>
    );
}
