// SPDX-License-Identifier: Apache-2.0
// "May it do this?" for any kind.
import { useState } from 'preact/hooks';

import { currentSession } from '../../net/session';
import { Badge } from '../../parts/badge';
import { TextField } from '../../parts/field';
import type { Tone } from '../../parts/notes';
import { Section } from '../../parts/page';
import { explain, type Answer, type PolicyRow, type Reason, type Rights } from '../../state/explain';
import { slashedOf } from '../../state/patterns';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { CapabilityList } from './capabilities';

const TONES: Record<Answer, Tone> = { yes: 'ok', no: 'danger', depends: 'warn', asks: 'warn' };

export function ExplainForm({ rights }: { rights: Rights }) {
    const [kind, setKind] = useState('');
    const asked = slashedOf(kind.trim());
    const said = asked ? explain(rights, asked) : null;

    return (
        <Section title={t.people.explain}>
            <TextField label={t.people.explainKind} isCode value={kind} onInput={setKind} hint={t.people.explainHint} />
            <div class="explained" role="status">
                {said && <>
                    <p><Badge tone={TONES[said.answer]}>{t.people.explainAnswers[said.answer]}</Badge></p>
                    {said.reasons.map((reason, i) => <Because key={i} reason={reason} />)}
                    <p class="note">{currentSession().admin ? t.people.explainLimits : t.people.explainGuess}</p>
                </>}
            </div>
        </Section>
    );
}

function Because({ reason }: { reason: Reason }) {
    const r = t.people.reasons;

    switch (reason.why) {
        case 'fault': return <p>{r[reason.fault]}</p>;
        case 'held': return <><p>{r.held}</p><CapabilityList capabilities={[reason.by]} /></>;
        case 'limited': return <><p>{r.limited}</p><CapabilityList capabilities={[reason.by]} /></>;
        case 'condition': return <><p>{r.condition}</p><CapabilityList capabilities={reason.by} /></>;
        case 'policy': return <Row row={reason.row} text={reason.row.outcome === 'deny' ? r.policyDeny(reason.row.row) : r.policyAsk(reason.row.row)} />;
        case 'maybe-policy': return <Row row={reason.row} text={reason.row.outcome === 'deny' ? r.maybeDeny(reason.row.row) : r.maybeAsk(reason.row.row)} />;
        default: return <p>{r[reason.why]}</p>;
    }
}

function Row({ row, text }: { row: PolicyRow; text: string }) {
    return <p>{text}{row.message && <> <q><bdi>{visible(row.message)}</bdi></q></>} <bdi class="code quiet">{row.kind}</bdi></p>;
}
