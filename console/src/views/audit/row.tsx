// SPDX-License-Identifier: Apache-2.0
// A record in a line, and its outcome in a word.
import { Badge, Name } from '../../parts/badge';
import { Time } from '../../parts/time';
import { addresseesOf, isRefused, summaryOf, type AuditRecord } from '../../state/audit';
import { parseKind } from '../../state/kinds';
import { visible } from '../../state/visible';
import { t } from '../../strings';

export function OutcomeBadge({ record }: { record: AuditRecord }) {
    if (isRefused(record)) return <Badge tone="danger">{t.audit.verdicts[record.verdict ?? ''] ?? visible(record.verdict ?? t.audit.eventNames['refusal'] ?? '')}</Badge>;
    if (record.event === 'envelope') return null;
    return <Badge>{t.audit.eventNames[record.event] ?? visible(record.event)}</Badge>;
}

export function WhoToWhom({ record }: { record: AuditRecord }) {
    const to = addresseesOf(record);
    return (
        <span class="audit-who">
            {record.participant ? <Name>{record.participant}</Name> : <span class="quiet">{t.audit.gateway}</span>}
            {to.length > 0 && <span class="quiet">→ <Name>{to.join(', ')}</Name></span>}
        </span>
    );
}

// Where there is little place the beginning is cut: the name of a tool stands at the end.
function Kind({ kind }: { kind: string }) {
    const { context } = parseKind(kind);
    const head = context ? kind.slice(0, -context.length) : kind;
    return <span class="audit-kind code" title={visible(kind)}>{head && <Name>{head}</Name>}{context && <Name>{context}</Name>}</span>;
}

interface RowProps { record: AuditRecord; href: string; isChosen: boolean; isWithRoom: boolean }

export function Row({ record, href, isChosen, isWithRoom }: RowProps) {
    const summary = summaryOf(record);
    return (
        <a class={`audit-row${isChosen ? ' chosen' : ''}${isWithRoom ? ' with-room' : ''}`} href={href} aria-current={isChosen ? 'true' : undefined}>
            <span class="audit-at"><Time at={record.at} as="clock" /></span>
            <WhoToWhom record={record} />
            <Kind kind={record.kind ?? ''} />
            <span class="audit-text"><OutcomeBadge record={record} /><bdi>{summary}</bdi></span>
            {isWithRoom && <span class="audit-room quiet">{record.topic && <Name>{record.topic}</Name>}</span>}
        </a>
    );
}
