// SPDX-License-Identifier: Apache-2.0
// What is looked for. It stands in the address, a moment after the last key.
import { useEffect, useRef, useState } from 'preact/hooks';

import { Button } from '../../parts/button';
import { SelectField, TextField } from '../../parts/field';
import { fieldOfTime, FILTERS, spanOf, timeOfField, type Filter } from '../../state/audit';
import { visible } from '../../state/visible';
import { t } from '../../strings';

const PAUSE_MS = 300;

interface FiltersProps { filter: Filter; onChange: (next: Filter) => void }

export function Filters({ filter, onChange }: FiltersProps) {
    const [draft, setDraft] = useState(filter);
    const sent = useRef(JSON.stringify(filter));
    const [span, setSpan] = useState(spanOf(filter));
    const [isOpen, setOpen] = useState(false); // on a phone the others are folded away
    const edit = (change: Filter) => setDraft({ ...draft, ...change });
    const chooseSpan = (next: string) => {
        setSpan(next);
        edit({ since: next === 'dates' ? '' : next, until: '' });
    };

    // Somebody else has changed it: a link, or the way back.
    useEffect(() => {
        if (JSON.stringify(filter) === sent.current) return;
        sent.current = JSON.stringify(filter);
        setDraft(filter);
        setSpan(spanOf(filter));
    }, [JSON.stringify(filter)]);
    useEffect(() => {
        const given = Object.fromEntries(FILTERS.flatMap((name) => (draft[name] ? [[name, draft[name]]] : []))) as Filter; // always in one order
        if (JSON.stringify(given) === sent.current) return undefined;
        const timer = setTimeout(() => {
            sent.current = JSON.stringify(given);
            onChange(given);
        }, PAUSE_MS);
        return () => clearTimeout(timer);
    }, [JSON.stringify(draft)]);
    return (
        <div class={isOpen ? 'filters audit-filters open' : 'filters audit-filters'} data-search>
            <TextField label={t.audit.search} isLabelHidden placeholder={t.audit.searchHint} type="search" value={draft.text ?? ''} onInput={(text) => edit({ text })} />
            <div class="audit-fold"><Button icon="filter" label={t.audit.moreFilters} isPressed={isOpen} onClick={() => setOpen(!isOpen)} /></div>
            <TextField label={t.audit.topic} isLabelHidden placeholder={t.audit.topic} type="search" isCode value={draft.topic ?? ''} onInput={(topic) => edit({ topic })} />
            <TextField label={t.audit.participant} isLabelHidden placeholder={t.audit.participant} type="search" isCode value={draft.participant ?? ''} onInput={(participant) => edit({ participant })} />
            <TextField label={t.audit.kind} isLabelHidden placeholder={`${t.audit.kind} (mcp/*)`} type="search" isCode value={draft.kind ?? ''} onInput={(kind) => edit({ kind })} />
            <SelectField label={t.audit.event} isLabelHidden value={draft.event ?? ''} onInput={(event) => edit({ event })} choices={choicesOf(t.audit.anyEvent, withOwn(t.audit.events, draft.event))} />
            <SelectField label={t.audit.verdict} isLabelHidden value={draft.verdict ?? ''} onInput={(verdict) => edit({ verdict })}
                choices={choicesOf(t.audit.anyVerdict, withOwn(t.audit.verdicts, draft.verdict))} />
            <SelectField label={t.audit.since} isLabelHidden value={span} onInput={chooseSpan} choices={choicesOf(t.audit.anyTime, withOwn(t.audit.spans, span))} />
            {span === 'dates' && <>
                <TextField label={t.audit.from} type="datetime-local" value={fieldOfTime(draft.since)} onInput={(since) => edit({ since: timeOfField(since) })} />
                <TextField label={t.audit.until} type="datetime-local" value={fieldOfTime(draft.until)} onInput={(until) => edit({ until: timeOfField(until) })} />
            </>}
            {(Object.keys(filter).length > 0 || span === 'dates') && <Button kind="quiet" icon="cross" onClick={() => { setSpan(''); setDraft({}); }}>{t.audit.clear}</Button>}
        </div>
    );
}

// One that came with the address is among the choices.
function withOwn(names: Record<string, string>, own: string | undefined): Record<string, string> {
    return own && !Object.hasOwn(names, own) ? { ...names, [own]: visible(own) } : names;
}

function choicesOf(none: string, names: Record<string, string>) {
    return [{ value: '', title: none }, ...Object.entries(names).map(([value, title]) => ({ value, title }))];
}
