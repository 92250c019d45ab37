// SPDX-License-Identifier: Apache-2.0
// Approving once, and for all that is like it: a rule as narrow as this very call, made wider
// only where a person says so. The call is approved first: somebody who uses rules would
// otherwise make it as soon as the rule is there.
import { useState } from 'preact/hooks';

import { path, post, sentenceOf } from '../../net/api';
import { isObject, type Json, type JsonObject } from '../../net/types';
import { Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { SelectField, TextField } from '../../parts/field';
import { LongText } from '../../parts/long-text';
import { ErrorNote, Note } from '../../parts/notes';
import { toast } from '../../parts/toast';
import type { Proposal } from '../../state/inbox';
import { readable } from '../../state/pointer';
import { directoryOf, isRange, numberIn, partsOf, shapesOf, type Part, type Pick, type Picks, type Width } from '../../state/rule-shape';
import { DAY_MS, isGoodBudget } from '../../state/rules';
import { serverNow } from '../../state/time';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { acceptRule, addRule, fulfil } from './act';
import type { Ended } from './endings';
import type { Facts } from './facts';
import { Suggested, useSuggested } from './suggested';

const DRY_DAYS = 30; // as the gateway does unless it is told otherwise

interface RuleDialogProps {
    facts: Facts;
    item: Proposal;
    to: string;
    ended: Ended | null; // somebody has decided meanwhile
    onClose: () => void;
}

function whyNone(facts: Facts, parts: Part[] | null): string | null {
    if (facts.call.owners.length > 1) return t.inbox.ruleSeveral;
    return parts ? null : t.inbox.ruleNone;
}

export function RuleDialog({ facts, item, to, ended, onClose }: RuleDialogProps) {
    const { call } = facts;
    const [parts] = useState(() => partsOf(call.args));
    const [picks, setPicks] = useState<Picks>(new Map());
    const [budget, setBudget] = useState('10');
    const [days, setDays] = useState('30');
    const [step, setStep] = useState<{ isBusy: boolean; isApproved: boolean; error: string | null }>({ isBusy: false, isApproved: false, error: null });
    const suggested = useSuggested(facts, item.proposer);
    const isLate = ended !== null && !step.isBusy && !step.isApproved;
    const none = isLate ? t.inbox.ends['gone']?.('') ?? '' : whyNone(facts, parts);
    const isWhole = [...picks.values()].every(isRange);
    const isUsed = facts.participants.value?.some((one) => one.capabilities.includes('rule/use')) ?? true;
    const submit = async (add: () => Promise<void>) => {
        if (step.isBusy || isLate) return;
        let { isApproved } = step;
        setStep({ isBusy: true, isApproved, error: null });
        try {
            isApproved ||= await fulfil(item, to ? { to } : {});
            if (!isApproved) return onClose(); // somebody else was quicker, which is shown
            await add();
            toast(t.inbox.ruleAdded, 'ok');
            onClose();
        } catch (error) {
            setStep({ isBusy: false, isApproved, error: isApproved ? t.inbox.ruleFailed(sentenceOf(error)) : sentenceOf(error) });
        }
    };

    return (
        <Dialog title={t.inbox.ruleTitle} isWide onClose={onClose} actions={<>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button kind="primary" icon="rules" isBusy={step.isBusy} isDisabled={none !== null || !isGoodBudget(budget) || !isWhole}
                onClick={() => void submit(() => addRule(item.topic, ruleOf(facts, item, picks, Number(budget), Number(days))))}>
                {step.isApproved ? t.inbox.ruleOnly : t.inbox.ruleAdd}
            </Button>
        </>}>
            {step.error && <ErrorNote error={step.error} />}
            {!isLate && <Suggested rules={suggested} isBusy={step.isBusy} isApproved={step.isApproved} onAccept={(rule) => void submit(() => acceptRule(item.topic, rule))} />}
            {none ? <Note tone="warn">{none}</Note> : (
                <>
                    {suggested.length > 0 && <h3>{t.inbox.ruleOwn}</h3>}
                    <p class="words"><bdi>{t.inbox.ruleIntro(visible(item.proposer), visible(call.tool ?? call.method), visible(call.owners[0] ?? t.inbox.ruleAnybody))}</bdi></p>
                    {parts?.length ? <Parts parts={parts} picks={picks} onPick={(pointer, pick) => setPicks(new Map(picks).set(pointer, pick))} /> : <p class="quiet">{t.inbox.ruleNoArgs}</p>}
                    <div class="inbox-terms">
                        <TextField label={t.inbox.budget} value={budget} onInput={setBudget} error={isGoodBudget(budget) ? undefined : t.inbox.budgetBad} />
                        <SelectField label={t.inbox.lasts} value={days} onInput={setDays} choices={Object.entries(t.inbox.lastsTimes).map(([value, title]) => ({ value, title }))} />
                    </div>
                    <DryRun key={JSON.stringify([...picks])} topic={item.topic} isDisabled={!isWhole} rule={() => ruleOf(facts, item, picks, Number(budget), Number(days))} />
                </>
            )}
            {!isUsed && <p class="quiet">{t.inbox.ruleNoUser}</p>}
        </Dialog>
    );
}

function ruleOf({ call }: Facts, item: Proposal, picks: Picks, budget: number, days: number): JsonObject {
    const [owner] = call.owners;
    return {
        topic: item.topic, proposer: item.proposer, method: call.method, budget,
        ...(call.tool !== null && call.method === 'tools/call' && { tool: call.tool }),
        ...(owner !== undefined && { to: owner }),
        arguments: shapesOf(isObject(call.args) ? call.args : {}, picks),
        expires_at: new Date(serverNow() + days * DAY_MS).toISOString(),
    };
}

interface Tried { covered: number; false_approvals: number; undecided: number }

// What the rule would have let through of what the record has; asked for again when it is changed.
function DryRun({ topic, isDisabled, rule }: { topic: string; isDisabled: boolean; rule: () => JsonObject }) {
    const [state, setState] = useState<{ isBusy: boolean; tried?: Tried; error?: string }>({ isBusy: false });
    const test = async () => {
        setState({ isBusy: true });
        try {
            setState({ isBusy: false, tried: await post<Tried>(path`/topics/${topic}/rules/test`, { rule: rule() }) });
        } catch (error) {
            setState({ isBusy: false, error: sentenceOf(error) });
        }
    };

    return (
        <div class="inbox-dry" role="status">
            <Button icon="play" isBusy={state.isBusy} isDisabled={isDisabled} onClick={() => void test()}>{t.inbox.ruleDry}</Button>
            {state.error && <ErrorNote error={state.error} />}
            {state.tried && <p class={state.tried.false_approvals ? 'note error' : 'quiet'}>{triedWords(state.tried)}</p>}
        </div>
    );
}

function triedWords({ covered, false_approvals: wrong, undecided }: Tried): string {
    if (wrong) return t.inbox.ruleDryFalse(wrong, covered);
    return covered <= undecided ? t.inbox.ruleDryNone(DRY_DAYS) : t.inbox.ruleDryFine(covered - undecided, DRY_DAYS);
}

interface PartsProps { parts: Part[]; picks: Picks; onPick: (pointer: string, pick: Pick) => void }

function Parts({ parts, picks, onPick }: PartsProps) {
    return (
        <ul class="inbox-shapes">
            {parts.map((part) => <li key={part.pointer}><PartRow part={part} pick={picks.get(part.pointer) ?? { width: 'exactly' }} onPick={(pick) => onPick(part.pointer, pick)} /></li>)}
        </ul>
    );
}

function PartRow({ part, pick, onPick }: { part: Part; pick: Pick; onPick: (pick: Pick) => void }) {
    const choices = part.widths.map((width) => ({ value: width, title: t.inbox.ruleWidths[width] }));
    return (
        <>
            <span class="code inbox-name"><Name>{readable(part.pointer)}</Name></span>
            {choices.length > 1
                ? <SelectField label={readable(part.pointer)} isLabelHidden value={pick.width} choices={choices} onInput={(width) => onPick({ ...pick, width: width as Width })} />
                : <span class="quiet">{t.inbox.ruleWidths.exactly}</span>}
            <PartWords part={part} pick={pick} onPick={onPick} />
        </>
    );
}

function PartWords({ part: { value }, pick, onPick }: { part: Part; pick: Pick; onPick: (pick: Pick) => void }) {
    if (pick.width === 'between' && typeof value === 'number') return <Range value={value} pick={pick} onPick={onPick} />;
    return <span class="code inbox-value"><LongText text={visible(wordsOf(value, pick.width))} most={200} /></span>;
}

function wordsOf(value: Json, width: Width): string {
    if (width === 'either') return t.inbox.ruleWidths.either;
    if (width === 'under' && typeof value === 'string') return t.inbox.ruleUnder(directoryOf(value), /\.[^./]+$/.exec(value)?.[0] ?? '');
    const [shape] = Object.values(shapesOf({ it: value }, new Map([['/it', { width }]])));
    if (width === 'text' && isObject(shape)) return t.inbox.ruleText(Number(shape['max_bytes']));
    return JSON.stringify(value);
}

function Range({ value, pick, onPick }: { value: number; pick: Pick; onPick: (pick: Pick) => void }) {
    return (
        <span class="inbox-range">
            <Bound label={t.inbox.least} value={pick.least ?? value} onInput={(least) => onPick({ ...pick, least })} />
            <Bound label={t.inbox.most} value={pick.most ?? value} onInput={(most) => onPick({ ...pick, most })} />
        </span>
    );
}

// What is typed stays as it is, also while it is no number.
function Bound({ label, value, onInput }: { label: string; value: number; onInput: (value: number) => void }) {
    const [text, setText] = useState(String(value));
    return <TextField label={label} isCode value={text} error={Number.isFinite(value) ? undefined : t.inbox.rangeBad} onInput={(next) => { setText(next); onInput(numberIn(next)); }} />;
}
