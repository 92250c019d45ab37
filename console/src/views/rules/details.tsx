// SPDX-License-Identifier: Apache-2.0
// One rule: what it lets through, what it rests on, what it would have done, and what one may do
// about it.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { currentSession } from '../../net/session';
import { Name } from '../../parts/badge';
import { Button, CopyButton } from '../../parts/button';
import { Menu } from '../../parts/menu';
import { Empty, Note, Skeleton } from '../../parts/notes';
import { Details, Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { hrefOf } from '../../router';
import { useShortcuts, type Shortcuts } from '../../state/keys';
import { actsOf, doesOf, narrowedTo, standingOf, type Act, type Rule, type RuleRoom } from '../../state/rules';
import { visible, visibleProse } from '../../state/visible';
import { t } from '../../strings';
import { AcceptDialog } from './accept';
import { ChangeDialog } from './change';
import { DryRun } from './dry-run';
import { EvidenceSection } from './evidence';
import { Arguments, StandingBadge, Unreadable, Who } from './words';

interface RuleDetailsProps {
    rule: Rule | undefined;
    room: RuleRoom | undefined;
    now: number;
    isLoading: boolean;
    onChange: () => void;
    onClose: () => void;
}

export function RuleDetails({ rule, room, now, isLoading, onChange, onClose }: RuleDetailsProps) {
    const [open, setOpen] = useState<Act | null>(null);

    if (!rule || !room) return (
        <Details title={t.rules.title} onClose={onClose}>
            {isLoading ? <Skeleton /> : <Empty icon="rules" title={t.rules.gone}>{t.rules.goneHint}</Empty>}
        </Details>
    );
    return (
        <Details title={<Name>{rule.tool ?? rule.method}</Name>} onClose={onClose}>
            <div class="row"><StandingBadge rule={rule} now={now} /><span>{doesOf(rule, room, now)}</span></div>
            <Reason rule={rule} />
            <Actions {...{ rule, room, now }} onOpen={setOpen} />
            <Unreadable rule={rule} />
            <Section title={t.rules.where}>
                <p><Who rule={rule} isWhole /></p>
                <Arguments shapes={rule.arguments} />
            </Section>
            <EvidenceSection rule={rule} />
            {room.may.includes('test') && <Section title={t.rules.dryRun}><DryRun topic={rule.topic} rule={rule.id} /></Section>}
            <Facts rule={rule} />
            {open === 'accept' && <AcceptDialog rule={rule} room={room} onChange={onChange} onClose={() => setOpen(null)} />}
            {open !== null && open !== 'accept' && <ChangeDialog verb={open} rule={rule} onChange={onChange} onClose={() => setOpen(null)} />}
        </Details>
    );
}

// Why it is in its state. What was narrowed leads to what came of it.
function Reason({ rule }: { rule: Rule }) {
    const narrower = narrowedTo(rule);

    if (!rule.reason) return null;
    if (narrower) return <Note action={<a href={hrefOf('rules', narrower, { in: rule.topic })}>{t.rules.openNarrower}</a>}>{t.rules.wasNarrowed}</Note>;
    return <blockquote class="rule-reason"><bdi>{visibleProse(rule.reason)}</bdi>{rule.changed_by && <footer class="quiet"><Name>{rule.changed_by}</Name></footer>}</blockquote>;
}

function Actions({ rule, room, now, onOpen }: { rule: Rule; room: RuleRoom; now: number; onOpen: (act: Act) => void }) {
    const me = currentSession();
    const acts = actsOf(rule, room, me, now);
    const has = (act: Act) => acts.includes(act);
    const keys: Shortcuts = {};
    const accept = rule.state === 'suggested' ? t.rules.accept : rule.state === 'shadow' ? t.rules.act : t.rules.acceptAgain;

    if (has('accept')) keys['a'] = { does: t.rules.acceptTitle, run: () => onOpen('accept') };
    if (has('decline')) keys['r'] = { does: t.rules.declineTitle, run: () => onOpen('decline') };
    else if (has('disable')) keys['r'] = { does: t.rules.disableTitle, run: () => onOpen('disable') };
    useShortcuts(keys);
    return (
        <>
            {acts.length > 0 && (
                <div class="row">
                    {has('accept') && <Button kind={rule.state === 'declined' ? 'plain' : 'primary'} icon="check" onClick={() => onOpen('accept')}>{accept}</Button>}
                    {has('enable') && <Button kind="primary" icon="play" onClick={() => onOpen('enable')}>{t.rules.enable}</Button>}
                    {has('decline') && <Button icon="cross" onClick={() => onOpen('decline')}>{t.rules.decline}</Button>}
                    {has('disable') && <Button kind="danger" icon="stop" onClick={() => onOpen('disable')}>{t.rules.disable}</Button>}
                    {has('remove') && <Menu label={t.rules.more} items={[{ title: t.rules.remove, icon: 'cross', isDanger: true, run: () => onOpen('remove') }]} />}
                </div>
            )}
            <WhyNot rule={rule} room={room} acts={acts} me={me} now={now} />
        </>
    );
}

// Why the button that one looks for is not there.
function WhyNot({ rule, room, acts, me, now }: { rule: Rule; room: RuleRoom; acts: readonly Act[]; me: { id: string; type: string }; now: number }) {
    const isWaiting = ['suggested', 'shadow', 'disabled', 'suspended', 'declined'].includes(standingOf(rule, now));

    if (rule.proposer === me.id && isWaiting) return <Note>{t.rules.ownRule}</Note>;
    if (!room.may.some((act) => act !== 'test' && act !== 'automation')) return <p class="quiet">{t.rules.mayNothing}</p>;
    if (me.type !== 'human' && isWaiting && !acts.includes('accept')) return <p class="quiet">{t.rules.onlyHumans}</p>;
    return null;
}

function Facts({ rule }: { rule: Rule }) {
    const f = t.rules.facts;
    return (
        <dl class="facts">
            <dt>{f.room}</dt><dd><a href={hrefOf('room', rule.topic)}><Name>{rule.topic}</Name></a></dd>
            <dt>{f.budget}</dt><dd>{t.rules.budgetText(rule.budget)}</dd>
            {rule.expires_at && <><dt>{f.expires}</dt><dd><Time at={rule.expires_at} as="clock" /> (<Time at={rule.expires_at} />)</dd></>}
            <dt>{f.used}</dt><dd>{t.rules.timesUsed(rule.uses)}{rule.last_use && <>, {t.rules.lastUse} <Time at={rule.last_use} /></>}</dd>
            <When title={f.made} at={rule.created_at} by={rule.created_by} />
            <When title={f.accepted} at={rule.accepted_at} by={rule.accepted_by} />
            <When title={f.changed} at={rule.changed_at} by={rule.changed_by} />
            {rule.note && <><dt>{f.note}</dt><dd class="words"><bdi>{visibleProse(rule.note)}</bdi></dd></>}
            <dt>{f.id}</dt><dd class="rule-id code"><Name>{rule.id}</Name><CopyButton text={rule.id} /></dd>
        </dl>
    );
}

function When({ title, at, by }: { title: string; at: string | undefined; by: string | undefined }): ComponentChildren {
    if (!at && !by) return null;
    return <><dt>{title}</dt><dd>{at && <Time at={at} />} {by && <bdi>{t.rules.by(visible(by))}</bdi>}</dd></>;
}
