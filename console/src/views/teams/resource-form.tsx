// SPDX-License-Identifier: Apache-2.0
// Adds an entry to the directory, or changes one. The gateway says what is wrong, and in which field.
import { useState } from 'preact/hooks';

import { Refusal } from '../../net/api';
import { Confirm } from '../../parts/dialog';
import { SelectField, TextArea, TextField } from '../../parts/field';
import { ErrorNote } from '../../parts/notes';
import { toast } from '../../parts/toast';
import { useAct } from '../../state/act';
import { formFaults, formOf, patchOf, resourceOf, type Resource, type ResourceForm } from '../../state/directory';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { addResource, changeResource } from './data';

interface ResourceDialogProps { resource?: Resource; onClose: () => void; onChange: () => void }

export function ResourceDialog({ resource, onClose, onChange }: ResourceDialogProps) {
    const before = formOf(resource);
    const [form, setForm] = useState(before);
    const [isTried, setTried] = useState(false);
    const [wrong, setWrong] = useState<{ field: string; detail: string } | null>(null);
    const act = useAct();
    const faults = formFaults(form);
    const submit = () => {
        setTried(true);
        setWrong(null);
        if (faults.size) return;
        act.run(async () => {
            try {
                if (resource) await changeResource(resource.id, patchOf(before, form));
                else await addResource(resourceOf(form));
            } catch (error) {
                if (!(error instanceof Refusal) || !error.problem.field) throw error;
                setWrong({ field: error.problem.field.replace(/[.[].*/, ''), detail: error.message });
                return;
            }
            toast(t.teams.saved(visible(form.name)), 'ok');
            onChange();
            onClose();
        });
    };

    return (
        <Confirm title={resource ? t.teams.editTitle(visible(resource.name)) : t.teams.newTitle} action={t.teams.save} isWide isBusy={act.isBusy} onConfirm={submit} error={act.error} onClose={onClose}>
            {wrong && !Object.hasOwn(t.teams.fields, wrong.field) && <ErrorNote error={wrong.detail} />}
            <Fields form={form} isNew={!resource} set={(changes) => setForm({ ...form, ...changes })}
                errorOf={(field) => (wrong?.field === field ? wrong.detail : isTried && field === 'name' && faults.has('name') ? t.teams.required : field === 'rate' && faults.has('amount') ? t.teams.rateBad : undefined)} />
        </Confirm>
    );
}

interface FieldsProps { form: ResourceForm; isNew: boolean; set: (changes: Partial<ResourceForm>) => void; errorOf: (field: string) => string | undefined }

function Fields({ form, isNew, set, errorOf }: FieldsProps) {
    const f = t.teams.fields;
    const choices = (of: Record<string, string>) => Object.entries(of).map(([value, title]) => ({ value, title }));
    const text = (name: 'role' | 'availability' | 'location' | 'time_zone' | 'skills' | 'languages' | 'participant', hint?: string) => (
        <TextField key={name} label={f[name]} isOptional value={form[name]} onInput={(value) => set({ [name]: value })} {...(hint && { hint })} error={errorOf(name)} />
    );

    return (
        <div class="filter-grid">
            <TextField label={f.name} value={form.name} onInput={(name) => set({ name })} error={errorOf('name')} />
            <SelectField label={f.kind} value={form.kind} onInput={(kind) => set({ kind })} choices={choices(t.teams.kindOf)} />
            {isNew && <TextField label={f.id} isOptional isCode value={form.id} onInput={(id) => set({ id })} hint={t.teams.idHint} error={errorOf('id')} />}
            {text('role')}
            {text('skills', t.teams.listHint)}
            {text('availability')}
            {text('location')}
            {text('time_zone')}
            {text('languages', t.teams.listHint)}
            <TextField label={f.rate} isOptional value={form.amount} onInput={(amount) => set({ amount })} error={errorOf('rate')} />
            <TextField label={f.currency} isOptional value={form.currency} onInput={(currency) => set({ currency: currency.toUpperCase() })} maxLength={3} />
            <SelectField label={f.per} value={form.per} onInput={(per) => set({ per })} choices={choices(t.teams.pers)} />
            {text('participant', t.teams.participantHint)}
            <SelectField label={f.invite} value={form.invite} onInput={(invite) => set({ invite })} choices={choices(t.teams.invites)} />
            <div class="whole"><TextArea label={f.profile} isOptional rows={5} value={form.profile} onInput={(profile) => set({ profile })} error={errorOf('profile')} /></div>
        </div>
    );
}
