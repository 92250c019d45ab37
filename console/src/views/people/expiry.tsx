// SPDX-License-Identifier: Apache-2.0
// For how long: a choice of spans, or a date.
import { SelectField, TextField } from '../../parts/field';
import { expiryOf, type Span } from '../../state/expiry';
import { t } from '../../strings';

export interface Expiry {
    span: Span;
    at: string;
}

export const forEver: Expiry = { span: 'never', at: '' };

// { expires_at }, nothing for ever, or null where the date will not do.
export function termsOf(expiry: Expiry): { expires_at?: string } | null {
    const until = expiryOf(expiry.span, expiry.at, Date.now());
    return until === undefined ? null : until === null ? {} : { expires_at: until };
}

export function ExpiryField({ value, onInput, isTried }: { value: Expiry; onInput: (value: Expiry) => void; isTried: boolean }) {
    const choices = Object.entries(t.people.spans).map(([span, title]) => ({ value: span, title }));

    return (
        <>
            <SelectField label={t.people.expiry} value={value.span} choices={choices} onInput={(span) => onInput({ ...value, span: span as Span })} />
            {value.span === 'at' && (
                <TextField label={t.people.at} type="datetime-local" value={value.at} onInput={(at) => onInput({ ...value, at })}
                    error={isTried && !termsOf(value) ? t.people.atBad : undefined} />
            )}
        </>
    );
}
