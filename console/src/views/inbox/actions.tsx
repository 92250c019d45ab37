// SPDX-License-Identifier: Apache-2.0
// What one can do about it. The keys do what the buttons do, and nothing else happens by a key.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { currentSession } from '../../net/session';
import { Button } from '../../parts/button';
import { Menu } from '../../parts/menu';
import { ErrorNote } from '../../parts/notes';
import { toast } from '../../parts/toast';
import { useAct } from '../../state/act';
import { rawNumbers } from '../../state/exact';
import { mayEdit, stepOf, type Authorization, type Proposal } from '../../state/inbox';
import { useShortcuts, type Shortcuts } from '../../state/keys';
import { serverNow } from '../../state/time';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { approve, fulfil, reject, respond, withdraw, type Word } from './act';
import { DelegateDialog, ReasonDialog } from './dialogs';
import { EditDialog } from './edit';
import type { Facts } from './facts';

export interface ActionsProps {
    facts: Facts;
    to: string; // who is to run it, where the proposal does not say
    isBlocked: boolean; // it can only be turned down
    isRead: boolean; // all of it is shown
    onRule: () => void; // asks for a rule; that dialog outlives the decision
}

export function Actions(props: ActionsProps) {
    const { item } = props.facts;
    return item.type === 'proposal' ? <ProposalActions {...props} item={item} /> : <AuthorizationActions {...props} item={item} />;
}

function Bar({ error, children }: { error?: string | undefined; children: ComponentChildren }) {
    return <div class="inbox-actions">{error && <ErrorNote error={error} />}<div class="row">{children}</div></div>;
}

function Key({ children }: { children: string }) {
    return <kbd aria-hidden="true">{children}</kbd>;
}

function keysOf(acts: { a?: (() => void) | null; e?: (() => void) | null; r?: (() => void) | null }): Shortcuts {
    const does = { a: t.inbox.keyApprove, e: t.inbox.keyEdit, r: t.inbox.keyReject };
    const keys: Shortcuts = {};
    for (const key of ['a', 'e', 'r'] as const) {
        const run = acts[key];
        if (run) keys[key] = { does: does[key], run, isOnce: true };
    }
    return keys;
}

// --- proposals ---

function approveTitle(item: Proposal, step: 'fulfil' | 'approve'): string {
    const { needed, given, by } = item.approvals;
    if (step === 'fulfil') {
        if (needed <= 1) return t.inbox.approve;
        return given >= needed || by.includes(currentSession().id) ? t.inbox.runNow : t.inbox.approveLast(needed);
    }
    return needed > 1 ? t.inbox.approveNth(given + 1, needed) : t.inbox.approve;
}

function waitWords({ approvals: { needed, given } }: Proposal): string {
    return given >= needed ? t.inbox.toFulfil : t.inbox.approved(needed - given);
}

function ProposalActions({ facts, to, isBlocked, isRead, onRule, item }: ActionsProps & { item: Proposal }) {
    const me = currentSession();
    const doing = useAct();
    const [open, setOpen] = useState<'reject' | 'edit' | 'withdraw' | null>(null);
    const step = isBlocked ? null : stepOf(item, me.id);
    const needsTo = step === 'fulfil' && !facts.call.owners.length && to === '';
    const isReady = isRead && !needsTo;
    const isAsked = step === 'fulfil' || step === 'approve';
    const terms = to ? { to } : {};
    const canApprove = isAsked && isReady;
    const canEdit = canApprove && mayEdit(item, me) && !rawNumbers(facts.call.args).length;
    const canReject = item.may.includes('reject');
    const onApprove = () => doing.run(() => (step === 'fulfil' ? fulfil(item, terms) : approve(item)));
    const close = () => setOpen(null);

    useShortcuts(keysOf({ a: canApprove ? onApprove : null, e: canEdit ? () => setOpen('edit') : null, r: canReject ? () => setOpen('reject') : null }));
    return (
        <>
            <Bar error={doing.error}>
                {isAsked && !isRead && <p class="quiet">{t.inbox.readFirst}</p>}
                {needsTo && <p class="quiet">{t.inbox.chooseFirst}</p>}
                {isAsked && <Button kind="primary" icon="check" isBusy={doing.isBusy} isDisabled={!canApprove} onClick={onApprove}>{approveTitle(item, step)} <Key>a</Key></Button>}
                {step === 'wait' && <p class="quiet" role="status">{waitWords(item)}</p>}
                {canEdit && <Button icon="edit" onClick={() => setOpen('edit')}>{t.inbox.edit} <Key>e</Key></Button>}
                {canReject && <Button kind="danger" icon="cross" onClick={() => setOpen('reject')}>{t.inbox.reject} <Key>r</Key></Button>}
                {step === 'fulfil' && item.approvals.needed <= 1 && me.type === 'human' && <Button kind="quiet" icon="rules" label={t.inbox.makeRuleLabel} isDisabled={!isReady} onClick={onRule}>{t.inbox.makeRule}</Button>}
                {item.may.includes('withdraw') && <Button icon="left" onClick={() => setOpen('withdraw')}>{t.inbox.withdraw}</Button>}
                {item.may.length === 0 && <p class="quiet">{t.inbox.mayNothing}</p>}
            </Bar>
            {open === 'edit' && <EditDialog facts={facts} onClose={close} onDone={(edited) => fulfil(item, { ...terms, ...(edited !== undefined && { edited }) })} />}
            {open === 'reject' && <ReasonDialog title={t.inbox.rejectTitle(facts.call.tool ?? facts.call.method)} action={t.inbox.rejectIt} hint={t.inbox.rejectSuspends}
                onDone={(reason) => reject(item, reason)} onClose={close} />}
            {open === 'withdraw' && <ReasonDialog title={t.inbox.withdrawTitle(facts.call.tool ?? facts.call.method)} action={t.inbox.withdrawIt}
                onDone={(reason) => withdraw(item, reason)} onClose={close} />}
        </>
    );
}

// --- authorizations ---

const MINUTE_MS = 60_000;

export function inMinutes(minutes: number): string {
    return new Date(serverNow() + minutes * MINUTE_MS - 1000).toISOString(); // a day is the most, by the owner's clock
}

function AuthorizationActions({ facts, isBlocked, isRead, item }: ActionsProps & { item: Authorization }) {
    const doing = useAct();
    const [open, setOpen] = useState<'deny' | 'delegate' | null>(null);
    const mayRespond = item.may.includes('respond');
    const canAllow = mayRespond && !isBlocked;
    const answer = (word: Word) => doing.run(() => respond(item, word));
    const onAllow = () => answer({ decision: 'approve' });
    const close = () => setOpen(null);

    useShortcuts(keysOf({ a: canAllow && isRead ? onAllow : null, r: mayRespond ? () => setOpen('deny') : null }));
    if (!mayRespond) return <Bar><p class="quiet">{item.asked ? t.inbox.othersDecide(visible(item.asked)) : t.inbox.mayNothing}</p></Bar>;
    return (
        <>
            <Bar error={doing.error}>
                {canAllow && !isRead && <p class="quiet">{t.inbox.readFirst}</p>}
                {canAllow && <Button kind="primary" icon="check" isBusy={doing.isBusy} isDisabled={!isRead} onClick={onAllow}>{t.inbox.allowOnce} <Key>a</Key></Button>}
                {canAllow && isRead && <Menu label={t.inbox.allowFor} title={t.inbox.allowFor} icon="clock" side="start" opens="up"
                    items={Object.entries(t.inbox.allowForTimes).map(([minutes, title]) => ({ title, run: () => answer({ decision: 'approve', validUntil: inMinutes(Number(minutes)) }) }))} />}
                <Button kind="danger" icon="cross" onClick={() => setOpen('deny')}>{t.inbox.deny} <Key>r</Key></Button>
                <Button kind="quiet" icon="right" onClick={() => setOpen('delegate')}>{t.inbox.delegate}</Button>
            </Bar>
            {open === 'deny' && <ReasonDialog title={t.inbox.denyTitle(item.tool)} action={t.inbox.denyIt} times={t.inbox.denyForTimes} onClose={close}
                onDone={(reason, minutes) => respond(item, { decision: 'deny', ...(reason && { reason }), ...(minutes > 0 && { validUntil: inMinutes(minutes) }) })} />}
            {open === 'delegate' && <DelegateDialog facts={facts} item={item} onClose={close}
                onDone={async (delegate, reason) => {
                    if (await respond(item, { decision: 'delegate', delegate, ...(reason && { reason }) })) toast(t.inbox.handedOn(delegate), 'ok');
                }} />}
        </>
    );
}
