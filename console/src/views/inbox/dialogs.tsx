// SPDX-License-Identifier: Apache-2.0
// The words that go with a no, and handing a decision on.
import { useState } from 'preact/hooks';

import { currentSession } from '../../net/session';
import { Confirm } from '../../parts/dialog';
import { SelectField, TextField } from '../../parts/field';
import { useAct } from '../../state/act';
import type { Authorization } from '../../state/inbox';
import { t } from '../../strings';
import type { Facts } from './facts';

const REASON_MAX = 1000; // the gateway keeps 1,024 bytes

interface ReasonDialogProps {
    title: string;
    action: string;
    hint?: string;
    times?: Record<number, string>; // minutes: for how long it is to hold
    onDone: (reason: string, minutes: number) => Promise<unknown>;
    onClose: () => void;
}

export function ReasonDialog({ title, action, hint, times, onDone, onClose }: ReasonDialogProps) {
    const [reason, setReason] = useState('');
    const [minutes, setMinutes] = useState('0');
    const act = useAct(onClose);
    const submit = () => act.run(() => onDone(reason.trim(), Number(minutes)));

    return (
        <Confirm title={title} action={action} isDanger isBusy={act.isBusy} onConfirm={submit} error={act.error} onClose={onClose}>
            <form onSubmit={(event) => { event.preventDefault(); submit(); }}>
                <TextField label={t.inbox.reason} hint={t.inbox.reasonHint} isOptional value={reason} onInput={setReason} maxLength={REASON_MAX} autoFocus />
            </form>
            {times && <SelectField label={t.inbox.denyFor} value={minutes} onInput={setMinutes}
                choices={Object.entries(times).map(([value, text]) => ({ value, title: text }))} />}
            {hint && <p class="quiet">{hint}</p>}
        </Confirm>
    );
}

interface DelegateDialogProps {
    facts: Facts;
    item: Authorization;
    onDone: (delegate: string, reason: string) => Promise<unknown>;
    onClose: () => void;
}

export function DelegateDialog({ facts, item, onDone, onClose }: DelegateDialogProps) {
    const none = [item.requester, item.proposer, item.owner, currentSession().id]; // nobody decides on his own call
    const others = (facts.participants.value ?? []).filter((one) => one.moot.type === 'human' && !none.includes(one.id));
    const [delegate, setDelegate] = useState('');
    const [reason, setReason] = useState('');
    const act = useAct(onClose);
    const submit = () => { if (delegate) act.run(() => onDone(delegate, reason.trim())); };

    return (
        <Confirm title={t.inbox.delegateTitle(item.tool)} action={t.inbox.delegateIt} isBusy={act.isBusy} isDisabled={!delegate} onConfirm={submit} error={act.error} onClose={onClose}>
            {others.length
                ? <SelectField label={t.inbox.delegateTo} value={delegate} onInput={setDelegate}
                    choices={[{ value: '', title: t.inbox.choose }, ...others.map(({ id }) => ({ value: id, title: id }))]} />
                : <p>{t.inbox.delegateNobody}</p>}
            <form onSubmit={(event) => { event.preventDefault(); submit(); }}>
                <TextField label={t.inbox.reason} isOptional value={reason} onInput={setReason} maxLength={REASON_MAX} />
            </form>
        </Confirm>
    );
}
