// SPDX-License-Identifier: Apache-2.0
// Declining, disabling, enabling and removing a rule: what that means, and why it is done.
import { useState } from 'preact/hooks';

import { envelope } from '../../net/envelope';
import { say } from '../../net/topics';
import { Confirm } from '../../parts/dialog';
import { TextField } from '../../parts/field';
import { Note } from '../../parts/notes';
import { toast } from '../../parts/toast';
import { useAct } from '../../state/act';
import type { Act, Rule } from '../../state/rules';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { Arguments, Unreadable, Who } from './words';

type Verb = Exclude<Act, 'accept'>;

const WORDS: Record<Verb, { title: string; text: string; action: string }> = {
    decline: { title: t.rules.declineTitle, text: t.rules.declineText, action: t.rules.doDecline },
    disable: { title: t.rules.disableTitle, text: t.rules.disableText, action: t.rules.doDisable },
    enable: { title: t.rules.enableTitle, text: t.rules.enableText, action: t.rules.doEnable },
    remove: { title: t.rules.removeTitle, text: t.rules.removeText, action: t.rules.doRemove },
};

export function ChangeDialog({ verb, rule, onChange, onClose }: { verb: Verb; rule: Rule; onChange: () => void; onClose: () => void }) {
    const [reason, setReason] = useState('');
    const act = useAct();
    const { title, text, action } = WORDS[verb];
    const submit = () => act.run(async () => {
        await say(rule.topic, envelope(`rule/${verb}`, { rule: rule.id, ...(reason.trim() && { reason: reason.trim() }) }));
        toast(t.rules.done[verb] ?? '', 'ok');
        onChange();
        onClose();
    });

    return (
        <Confirm title={title} action={action} isDanger={verb !== 'enable'} isBusy={act.isBusy} onConfirm={submit} error={act.error} onClose={onClose}>
            <p><Who rule={rule} isWhole /></p>
            {verb === 'enable' && <><Unreadable rule={rule} /><Arguments shapes={rule.arguments} /></>}
            {verb === 'enable' && rule.state === 'suspended' && rule.changed_by && <Note tone="warn"><bdi>{t.rules.enableSuspended(visible(rule.changed_by))}</bdi></Note>}
            <p>{text}</p>
            <TextField label={t.rules.reason} hint={t.rules.reasonHint} isOptional value={reason} onInput={setReason} maxLength={300} />
        </Confirm>
    );
}
