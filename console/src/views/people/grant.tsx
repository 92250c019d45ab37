// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';

import { currentSession } from '../../net/session';
import type { Capability } from '../../net/types';
import { Confirm } from '../../parts/dialog';
import { Check, SelectField, TextArea, TextField } from '../../parts/field';
import { toast } from '../../parts/toast';
import { useAct } from '../../state/act';
import { capabilityFrom, sentenceOf } from '../../state/sentences';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { ALL_ROOMS, grant } from './acts';
import { CapabilityList } from './capabilities';
import { ExpiryField, forEver, termsOf, type Expiry } from './expiry';

// What is granted most.
const USUAL = ['chat', 'mcp/proposal:*', 'mcp/request:*/list', 'mcp/request:resources/read', 'mcp/request:tools/call', 'mcp/approve', 'mcp/reject', 'topic/invite'];

interface Form {
    usual: string[];
    text: string;
    room: string;
    expiry: Expiry;
    uses: string;
    reason: string;
}

// The lines that were written, and the first that is nothing.
export function linesOf(text: string): { capabilities: Capability[]; bad: number | null } {
    const lines = text.split('\n').map((line, i) => ({ line, i })).filter(({ line }) => line.trim() !== '');
    const read = lines.map(({ line, i }) => ({ capability: capabilityFrom(line), i }));

    return {
        capabilities: read.flatMap(({ capability }) => (capability === null ? [] : [capability])),
        bad: read.find(({ capability }) => capability === null)?.i ?? null,
    };
}

interface GrantDialogProps { id: string; rooms: readonly string[]; topic: string | undefined; onClose: () => void; onChange: () => void }

export function GrantDialog({ id, rooms: now, topic, onClose, onChange }: GrantDialogProps) {
    const { admin } = currentSession();
    const [rooms] = useState(now); // what can be chosen does not change under the finger
    const [form, setForm] = useState<Form>({ usual: [], text: '', room: topic ?? ALL_ROOMS, expiry: { ...forEver, span: 'hour' }, uses: '', reason: '' });
    const [isTried, setTried] = useState(false);
    const act = useAct();
    const set = (changes: Partial<Form>) => setForm({ ...form, ...changes });
    const written = linesOf(form.text);
    const capabilities = [...form.usual, ...written.capabilities];
    const terms = termsOf(form.expiry);
    const isOneRoom = form.room !== ALL_ROOMS;
    const areUsesGood = !form.uses || (isOneRoom && /^[1-9]\d{0,8}$/.test(form.uses));
    const submit = () => {
        setTried(true);
        if (!capabilities.length || written.bad !== null || !terms || !areUsesGood) return;
        act.run(async () => {
            await grant(id, {
                capabilities, topic: isOneRoom ? form.room : null, ...terms,
                ...(form.uses && { max_uses: Number(form.uses) }), ...(form.reason && { reason: form.reason }),
            });
            toast(t.people.granted(visible(id)), 'ok');
            onChange();
            onClose();
        });
    };
    const problem = written.bad !== null ? t.people.grantBad(written.bad + 1) : isTried && !capabilities.length ? t.people.grantNothing : undefined;

    return (
        <Confirm title={t.people.grantTitle(visible(id))} action={t.people.grantAct} isBusy={act.isBusy} onConfirm={submit} error={act.error} onClose={onClose}>
            <SelectField label={t.people.takeAwayWhere} value={form.room} onInput={(room) => set({ room })} choices={[
                ...rooms.map((room) => ({ value: room, title: t.people.oneRoom(visible(room)) })),
                ...(admin ? [{ value: ALL_ROOMS, title: t.people.allRooms }] : []),
            ]} />
            <fieldset class="choices">
                <legend>{t.people.grantWhat}</legend>
                {USUAL.map((one) => (
                    <Check key={one} label={sentenceOf(one)} value={form.usual.includes(one)}
                        onInput={(on) => set({ usual: on ? [...form.usual, one] : form.usual.filter((other) => other !== one) })} />
                ))}
            </fieldset>
            <TextArea label={t.people.grantCustom} isOptional isCode value={form.text} onInput={(text) => set({ text })} hint={t.people.grantCustomHint} error={problem} />
            {written.capabilities.length > 0 && <div><p class="quiet">{t.people.grantReads}</p><CapabilityList capabilities={written.capabilities} /></div>}
            <ExpiryField value={form.expiry} onInput={(expiry) => set({ expiry })} isTried={isTried} />
            <TextField label={t.people.uses} isOptional value={form.uses} onInput={(uses) => set({ uses })} hint={t.people.usesHint} error={areUsesGood ? undefined : t.people.usesBad} />
            <TextField label={t.people.reason} isOptional value={form.reason} onInput={(reason) => set({ reason })} hint={t.people.reasonHint} maxLength={500} />
        </Confirm>
    );
}
