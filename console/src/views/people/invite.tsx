// SPDX-License-Identifier: Apache-2.0
// A guest for one room. The link is a secret: it is shown once, here, and kept nowhere.
import { useState } from 'preact/hooks';

import type { JsonObject } from '../../net/types';
import { Confirm } from '../../parts/dialog';
import { SelectField, TextField } from '../../parts/field';
import { useAct } from '../../state/act';
import { SPANS } from '../../state/expiry';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { invite, type Invitation } from './acts';
import { Once } from './once';

const SETS = ['chat', 'proposer', 'reader', 'tools', 'full'] as const;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

interface InviteDialogProps { topics: readonly string[]; onClose: () => void; onChange: () => void }

export function InviteDialog({ topics, onClose, onChange }: InviteDialogProps) {
    const [given, setGiven] = useState<Invitation & { topic: string }>();

    if (!given) return <InviteForm topics={topics} onClose={onClose} onGiven={(invitation) => { setGiven(invitation); onChange(); }} />;
    return (
        <Once title={t.people.linkTitle} text={t.people.linkText(visible(given.participant), visible(given.topic))} label={t.people.link}
            secret={`${location.origin}${given.link}`} until={given.expires_at} onClose={onClose} />
    );
}

function InviteForm({ topics: now, onClose, onGiven }: { topics: readonly string[]; onClose: () => void; onGiven: (given: Invitation & { topic: string }) => void }) {
    const [topics] = useState(now); // what can be chosen does not change under the finger
    const [form, setForm] = useState({ topic: topics[0] ?? '', id: '', type: 'human', set: 'chat', span: 'hour' });
    const [isTried, setTried] = useState(false);
    const act = useAct();
    const set = (changes: Partial<typeof form>) => setForm({ ...form, ...changes });
    const submit = () => {
        setTried(true);
        if (!ID.test(form.id) || !form.topic) return;
        act.run(async () => {
            const may: JsonObject = form.set === 'chat' ? { capabilities: ['chat'] } : { profile: form.set };
            const expires_in = SPANS[form.span as 'hour' | 'day' | 'week'] / 1000;
            onGiven({ ...await invite(form.topic, { participant: form.id, type: form.type, expires_in, ...may }), topic: form.topic });
        });
    };

    return (
        <Confirm title={t.people.inviteTitle} action={t.people.inviteAct} isBusy={act.isBusy} onConfirm={submit} error={act.error} onClose={onClose}>
            <p class="quiet">{t.people.inviteHint}</p>
            {topics.length > 0
                ? <SelectField label={t.people.inviteRoom} value={form.topic} onInput={(topic) => set({ topic })} choices={topics.map((value) => ({ value, title: visible(value) }))} />
                : <TextField label={t.people.inviteRoom} value={form.topic} onInput={(topic) => set({ topic })} />}
            <TextField label={t.people.inviteId} isCode value={form.id} onInput={(id) => set({ id })} hint={t.people.inviteIdHint}
                error={isTried && !ID.test(form.id) ? t.people.inviteIdBad : undefined} />
            <SelectField label={t.people.inviteType} value={form.type} onInput={(type) => set({ type })}
                choices={Object.entries(t.people.inviteTypes).map(([value, title]) => ({ value, title }))} />
            <SelectField label={t.people.inviteMay} value={form.set} onInput={(value) => set({ set: value })}
                choices={SETS.map((value) => ({ value, title: t.people.sets[value].title }))} />
            <SelectField label={t.people.inviteExpiry} value={form.span} onInput={(span) => set({ span })}
                choices={Object.entries(t.people.inviteSpans).map(([value, title]) => ({ value, title }))} />
        </Confirm>
    );
}
