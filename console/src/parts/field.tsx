// SPDX-License-Identifier: Apache-2.0
// Form fields: a label above, a hint or what is wrong below, both tied to the input.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

import { visibleName } from '../state/visible';
import { t } from '../strings';

export interface FieldIds {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean | undefined;
}

interface FieldProps {
    label: string;
    hint?: ComponentChildren;
    error?: string | undefined; // a sentence
    isOptional?: boolean;
    isLabelHidden?: boolean; // still read aloud
    children: (ids: FieldIds) => ComponentChildren;
}

export function Field({ label, hint, error, isOptional, isLabelHidden, children }: FieldProps) {
    const id = useId();
    const note = error ?? hint;

    return (
        <div class="field">
            <label for={id} class={isLabelHidden ? 'hidden' : ''}>
                {label}{isOptional && <span class="quiet"> ({t.parts.optional})</span>}
            </label>
            {children({ id, 'aria-describedby': note ? `${id}-note` : undefined, 'aria-invalid': error ? true : undefined })}
            {note && <p id={`${id}-note`} class={error ? 'note error' : 'note'}>{note}</p>}
        </div>
    );
}

type Common = Omit<FieldProps, 'children'> & { value: string; onInput: (value: string) => void; isDisabled?: boolean };

interface TextFieldProps extends Common {
    type?: 'text' | 'password' | 'search' | 'number' | 'datetime-local';
    placeholder?: string;
    isCode?: boolean; // identifiers, patterns: no spelling, fixed width
    autoFocus?: boolean;
    maxLength?: number;
}

export function TextField({ value, onInput, type = 'text', placeholder, isCode, autoFocus, maxLength, isDisabled, ...field }: TextFieldProps) {
    return (
        <Field {...field}>
            {(ids) => (
                <input {...ids} class={isCode ? 'code' : ''} type={type} value={value} placeholder={placeholder} disabled={isDisabled}
                    maxLength={maxLength} autoFocus={autoFocus} autoComplete="off" spellcheck={!isCode}
                    autoCapitalize={isCode ? 'off' : undefined} onInput={(event) => onInput(event.currentTarget.value)} />
            )}
        </Field>
    );
}

export function TextArea({ value, onInput, rows = 3, isCode, isDisabled, ...field }: Common & { rows?: number; isCode?: boolean }) {
    return (
        <Field {...field}>
            {(ids) => (
                <textarea {...ids} class={isCode ? 'code' : ''} rows={rows} value={value} disabled={isDisabled} spellcheck={!isCode}
                    onInput={(event) => onInput(event.currentTarget.value)} />
            )}
        </Field>
    );
}

export interface Choice {
    value: string;
    title: string;
}

export function SelectField({ value, onInput, choices, isDisabled, ...field }: Common & { choices: readonly Choice[] }) {
    return (
        <Field {...field}>
            {(ids) => (
                <select {...ids} value={value} disabled={isDisabled} onChange={(event) => onInput(event.currentTarget.value)}>
                    {choices.map((choice) => <option key={choice.value} value={choice.value}>{visibleName(choice.title)}</option>)}
                </select>
            )}
        </Field>
    );
}

interface CheckProps { label: ComponentChildren; value: boolean; onInput: (value: boolean) => void; hint?: string; isDisabled?: boolean }

export function Check({ label, value, onInput, hint, isDisabled }: CheckProps) {
    const id = useId();
    return (
        <div class="field check">
            <input id={id} type="checkbox" checked={value} disabled={isDisabled} aria-describedby={hint ? `${id}-note` : undefined}
                onChange={(event) => onInput(event.currentTarget.checked)} />
            <label for={id}>{label}</label>
            {hint && <p id={`${id}-note`} class="note">{hint}</p>}
        </div>
    );
}
