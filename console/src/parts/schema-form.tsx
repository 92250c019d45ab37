// SPDX-License-Identifier: Apache-2.0
// A form made of a JSON schema. It only edits: what is wrong with the value says validate() of
// state/schema.ts, whose answer is shown at the fields.
import type { ComponentChildren } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';

import { isObject, type Json, type JsonObject } from '../net/types';
import { childPointer, valueAt, withValueAt } from '../state/pointer';
import { controlOf, emptyOf, labelOf, problemAt, propertiesOf, requiredOf, resolve, type SchemaProblem } from '../state/schema';
import { visibleJson, visibleProse } from '../state/visible';
import { t } from '../strings';
import { Button } from './button';
import { SelectField, TextArea, TextField } from './field';

interface SchemaFormProps {
    schema: Json | undefined; // without one it is a text of JSON
    value: Json;
    onInput: (next: Json, isReadable: boolean) => void; // isReadable: false while some JSON text is none
    problems: readonly SchemaProblem[];
}

interface Form extends SchemaFormProps {
    set: (pointer: string, next: Json | undefined) => void;
    setBroken: (pointer: string, isBroken: boolean) => void;
}

export function SchemaForm(props: SchemaFormProps) {
    const broken = useRef(new Set<string>());
    const { value, onInput } = props;
    const form: Form = {
        ...props,
        set(pointer, next) {
            for (const one of broken.current) if (one.startsWith(`${pointer}/`)) broken.current.delete(one); // its field is gone, or new
            onInput(withValueAt(value, pointer, next), broken.current.size === 0);
        },
        setBroken(pointer, isBroken) {
            if (isBroken) broken.current.add(pointer);
            else broken.current.delete(pointer);
            onInput(value, broken.current.size === 0);
        },
    };

    return <div class="schema-form"><Control form={form} schema={resolve(props.schema, props.schema)} pointer="" isRequired /></div>;
}

interface ControlProps { form: Form; schema: JsonObject; pointer: string; isRequired: boolean; label?: string }

const FIELDS_MAX = 200; // of one object or list

// Which one it is says the value it begins with: a field that is typed into is not replaced by another.
function Control(props: ControlProps) {
    const { form, schema, pointer } = props;
    const control = useMemo(() => controlOf(schema, valueAt(form.value, pointer)), [schema, pointer]);

    switch (control) {
    case 'text': return <Text {...props} />;
    case 'number': return <NumberControl {...props} />;
    case 'boolean': return <Choices {...props} of={[true, false]} />;
    case 'choice': return <Choices {...props} of={Array.isArray(props.schema['enum']) ? props.schema['enum'].slice(0, 500) : []} />;
    case 'object': return <ObjectControl {...props} />;
    case 'list': return <List {...props} />;
    case 'json': return <JsonControl {...props} />;
    }
}

function common({ form, schema, pointer, isRequired, label }: ControlProps) {
    const description = schema['description'];
    return {
        label: label ?? labelOf(schema, pointer),
        error: problemAt(form.problems, pointer),
        isOptional: !isRequired,
        ...(typeof description === 'string' && { hint: visibleProse(description.slice(0, 600)) }),
    };
}

function Text(props: ControlProps) {
    const { form, schema, pointer, isRequired } = props;
    const value = valueAt(form.value, pointer);
    const text = typeof value === 'string' ? value : '';
    const onInput = (next: string) => form.set(pointer, next === '' && !isRequired ? undefined : next);
    const [isLong] = useState(text.length > 80 || text.includes('\n') || (typeof schema['maxLength'] === 'number' && schema['maxLength'] > 400));

    if (isLong) return <TextArea {...common(props)} isCode rows={Math.min(16, Math.max(4, text.split('\n').length + 1))} value={text} onInput={onInput} />;
    return <TextField {...common(props)} isCode value={text} onInput={onInput} />;
}

// What is no number stays as it was typed, and validate() says so.
function NumberControl(props: ControlProps) {
    const { form, pointer, isRequired } = props;
    const value = valueAt(form.value, pointer);
    const [text, setText] = useState(value === undefined ? '' : String(value));
    const onInput = (next: string) => {
        setText(next);
        if (next.trim() === '' && !isRequired) form.set(pointer, undefined);
        else form.set(pointer, /^\s*-?\d+(\.\d+)?(e[+-]?\d+)?\s*$/i.test(next) ? Number(next) : next);
    };

    return <TextField {...common(props)} isCode value={text} onInput={onInput} />;
}

function Choices(props: ControlProps & { of: readonly Json[] }) {
    const { form, pointer, isRequired, of } = props;
    const value = valueAt(form.value, pointer);
    const choices = of.map((one) => ({ value: JSON.stringify(one), title: typeof one === 'string' ? one : JSON.stringify(one) }));
    const isKnown = value === undefined || choices.some((choice) => choice.value === JSON.stringify(value));

    if (value !== undefined && !isKnown) choices.unshift({ value: JSON.stringify(value), title: JSON.stringify(value) });
    if (value === undefined || !isRequired) choices.unshift({ value: '', title: t.schema.notSet });
    return <SelectField {...common(props)} choices={choices} value={value === undefined ? '' : JSON.stringify(value)}
        onInput={(next) => form.set(pointer, next === '' ? undefined : JSON.parse(next) as Json)} />;
}

function ObjectControl(props: ControlProps) {
    const { form, schema, pointer } = props;
    const known = propertiesOf(schema);
    const required = requiredOf(schema);
    const value = valueAt(form.value, pointer);
    const others = isObject(value) ? Object.keys(value).filter((name) => !Object.hasOwn(known, name)) : [];
    const names = [...Object.keys(known), ...others];
    const fields = names.slice(0, FIELDS_MAX).map((name) => (
        <Control key={name} form={form} schema={resolve(known[name], form.schema)} pointer={childPointer(pointer, name)} isRequired={required.includes(name)} />
    ));

    // What is not there has no fields: a schema that holds itself would have them without end.
    if (value === undefined) return <Group {...props}><div><Button icon="plus" onClick={() => form.set(pointer, {})}>{t.schema.addObject}</Button></div></Group>;
    if (names.length > FIELDS_MAX) fields.push(<p key="" class="note">{t.schema.moreFields(names.length - FIELDS_MAX)}</p>);
    if (pointer === '') return <>{fields.length ? fields : <p class="quiet">{t.schema.nothing}</p>}</>;
    return <Group {...props}>{fields}</Group>;
}

function Group({ children, ...props }: ControlProps & { children: ComponentChildren }) {
    const { label, error, hint } = common(props);
    return (
        <fieldset class="schema-group">
            <legend>{label}</legend>
            {hint && <p class="note">{hint}</p>}
            {error && <p class="note error">{error}</p>}
            {children}
        </fieldset>
    );
}

function List(props: ControlProps) {
    const { form, schema, pointer } = props;
    const value = valueAt(form.value, pointer);
    const entries = Array.isArray(value) ? value : [];
    const item = resolve(schema['items'], form.schema);

    return (
        <Group {...props}>
            {entries.slice(0, FIELDS_MAX).map((_, i) => (
                <div key={`${i} of ${entries.length}`} class="schema-entry">
                    <Control form={form} schema={item} label={t.schema.entry(i + 1)} pointer={childPointer(pointer, i)} isRequired />
                    <Button kind="quiet" icon="cross" label={t.schema.removeEntry(i + 1)}
                        onClick={() => form.set(pointer, entries.filter((_other, k) => k !== i))} />
                </div>
            ))}
            {entries.length > FIELDS_MAX && <p class="note">{t.schema.moreFields(entries.length - FIELDS_MAX)}</p>}
            <div><Button icon="plus" onClick={() => form.set(pointer, [...entries, emptyOf(item)])}>{t.schema.add}</Button></div>
        </Group>
    );
}

function JsonControl(props: ControlProps) {
    const { form, pointer, isRequired } = props;
    const value = valueAt(form.value, pointer);
    const [text, setText] = useState(value === undefined ? '' : visibleJson(JSON.stringify(value, null, 2)));
    const [why, setWhy] = useState<string>();
    const onInput = (next: string) => {
        setText(next);
        try {
            const parsed = next.trim() === '' && !isRequired ? undefined : JSON.parse(next) as Json;
            if (why !== undefined) form.setBroken(pointer, false);
            setWhy(undefined);
            form.set(pointer, parsed);
        } catch (error) {
            setWhy(t.schema.notJson(error instanceof Error ? error.message : ''));
            form.setBroken(pointer, true);
        }
    };
    const shared = common(props);

    return <TextArea {...shared} label={`${shared.label} (${t.schema.asJson})`} error={why ?? shared.error} isCode value={text} onInput={onInput}
        rows={Math.min(16, Math.max(3, text.split('\n').length))} />;
}
