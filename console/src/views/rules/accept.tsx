// SPDX-License-Identifier: Apache-2.0
// Accepting a rule: whole or narrower, acting or in shadow, so often and so long. What was shown is
// what is sent: budget and expiry may be others by then.
import { useState } from 'preact/hooks';

import { envelope } from '../../net/envelope';
import { say } from '../../net/topics';
import type { JsonObject } from '../../net/types';
import { Confirm } from '../../parts/dialog';
import { SelectField, TextField } from '../../parts/field';
import { toast } from '../../parts/toast';
import { useAct } from '../../state/act';
import { bodyOf, BUDGET_MAX, DAY_MS, isGoodBudget, type Rule, type RuleRoom } from '../../state/rules';
import { isNarrower, narrowedAll, type Narrowings } from '../../state/rule-narrow';
import { clockOf, serverNow } from '../../state/time';
import { t } from '../../strings';
import { DryRun } from './dry-run';
import { canNarrow, Narrow } from './narrow';
import { Arguments, Unreadable, Who } from './words';

interface AcceptProps { rule: Rule; room: RuleRoom; onChange: () => void; onClose: () => void }

export function AcceptDialog({ rule, room, onChange, onClose }: AcceptProps) {
    const [isShadow, setShadow] = useState(false);
    const [budget, setBudget] = useState(String(rule.budget));
    const [days, setDays] = useState('');
    const [reason, setReason] = useState('');
    const [narrowings, setNarrowings] = useState<Narrowings>(new Map());
    const act = useAct();
    const isNarrow = isNarrower(narrowings);
    const shapes = narrowedAll(rule.arguments, narrowings);
    const submit = () => act.run(async () => {
        if (!shapes) return;
        const expires = days === '' ? rule.expires_at : new Date(serverNow() + Number(days) * DAY_MS).toISOString();
        const payload: JsonObject = {
            rule: rule.id, budget: Number(budget), ...(expires !== undefined && { expires_at: expires }), ...(isShadow && { shadow: true }),
            ...(isNarrow && { narrow: shapes }), ...(reason.trim() && { reason: reason.trim() }),
        };
        await say(rule.topic, envelope('rule/accept', payload));
        toast(t.rules.done[isShadow ? 'shadow' : 'accept'] ?? '', 'ok');
        onChange();
        onClose();
    });

    return (
        <Confirm title={t.rules.acceptTitle} action={isShadow ? t.rules.doShadow : isNarrow ? t.rules.doAcceptNarrow : t.rules.doAccept} icon="check" isWide
            isBusy={act.isBusy} isDisabled={!shapes || !isGoodBudget(budget)} onConfirm={submit} error={act.error} onClose={onClose}>
            <Unreadable rule={rule} />
            <p><Who rule={rule} isWhole /></p>
            <Arguments shapes={shapes ?? rule.arguments} />
            {canNarrow(rule.arguments) && (
                <details class="fold">
                    <summary>{t.rules.narrow}{isNarrow && ` (${t.rules.narrowed})`}</summary>
                    <p class="note">{t.rules.narrowHint}</p>
                    <Narrow shapes={rule.arguments} narrowings={narrowings} onChange={setNarrowings} />
                </details>
            )}
            <Terms {...{ rule, isShadow, setShadow, budget, setBudget, days, setDays }} />
            <TextField label={t.rules.reason} hint={t.rules.reasonHint} isOptional value={reason} onInput={setReason} maxLength={300} />
            {room.may.includes('test') && (
                <details class="fold">
                    <summary>{t.rules.dryRun}</summary>
                    <DryRun topic={rule.topic} rule={isNarrow ? shapes && bodyOf(rule, shapes) : rule.id} />
                </details>
            )}
        </Confirm>
    );
}

interface TermsProps {
    rule: Rule;
    isShadow: boolean;
    setShadow: (value: boolean) => void;
    budget: string;
    setBudget: (value: string) => void;
    days: string;
    setDays: (value: string) => void;
}

function Terms({ rule, isShadow, setShadow, budget, setBudget, days, setDays }: TermsProps) {
    const until = rule.expires_at && `${t.rules.asSuggestedUntil} ${clockOf(Date.parse(rule.expires_at), Date.now())}`;
    const spans = ['1', '7', '14', '30', '90', '365'].map((value) => ({ value, title: t.rules.lastsChoices[value] ?? value }));

    return (
        <div class="rule-terms">
            <SelectField label={t.rules.mode} hint={t.rules.modeHint} value={isShadow ? 'shadow' : 'act'} onInput={(value) => setShadow(value === 'shadow')}
                choices={Object.entries(t.rules.modes).map(([value, title]) => ({ value, title }))} />
            <TextField label={t.rules.budget} type="number" value={budget} onInput={setBudget} error={isGoodBudget(budget) ? undefined : t.rules.budgetBad(BUDGET_MAX)} />
            <SelectField label={t.rules.lasts} value={days} onInput={setDays} choices={[{ value: '', title: until || (t.rules.lastsChoices[''] ?? '') }, ...spans]} />
        </div>
    );
}
