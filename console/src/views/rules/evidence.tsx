// SPDX-License-Identifier: Apache-2.0
// What a rule rests on, and whose word that is.
import { Note } from '../../parts/notes';
import { Section } from '../../parts/page';
import { shareOf, type Rule } from '../../state/rules';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { ThreadLink } from './dry-run';

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const dayOf = (at: string) => (Number.isNaN(Date.parse(at)) ? visible(at) : day.format(Date.parse(at)));

export function EvidenceSection({ rule }: { rule: Rule }) {
    const { evidence } = rule;
    const approved = evidence?.approved ?? 0;

    if (!evidence || approved === 0) return <Section title={t.rules.evidence}><p class="quiet">{t.rules.noEvidence}</p></Section>;
    return (
        <Section title={t.rules.evidence}>
            <p>
                <b>{t.rules.approved(approved)}</b>
                {evidence.first_at && evidence.last_at && <> ({dayOf(evidence.first_at)} – {dayOf(evidence.last_at)})</>}
                {evidence.days !== undefined && <>, {t.rules.onDays(evidence.days)}</>}
                {evidence.people && evidence.people.length > 0 && <>, <bdi>{t.rules.byPeople(evidence.people.map(visible).join(', '))}</bdi></>}
                ; {t.rules.neverRejected}.
            </p>
            {evidence.bound !== undefined && <p class="quiet">{t.rules.bound(shareOf(evidence.bound))}</p>}
            {(evidence.beside ?? 0) > 0 && <Note tone="warn">{t.rules.beside(evidence.beside ?? 0)}</Note>}
            {evidence.examples && evidence.examples.length > 0 && (
                <p class="rule-examples"><span class="quiet">{t.rules.examples}:</span>{evidence.examples.map((id) => <ThreadLink key={id} topic={rule.topic} id={id} />)}</p>
            )}
            {rule.created_by && <p class="note"><bdi>{t.rules.claimed(visible(rule.created_by))}</bdi></p>}
        </Section>
    );
}
