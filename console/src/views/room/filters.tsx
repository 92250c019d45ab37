// SPDX-License-Identifier: Apache-2.0
// Search and filters of a room. On a phone they are behind a button.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { currentSession } from '../../net/session';
import { LinkButton } from '../../parts/button';
import { SelectField, TextField } from '../../parts/field';
import { hrefOf, type Query } from '../../router';
import { sorted } from '../../state/roster';
import { isWide, SHOWS, type Filter, type Show } from '../../state/search';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import type { LiveRoom } from './live';

const MOST = 2000; // people to choose from
const PAUSE_MS = 150; // while somebody types

export function filterOf(query: URLSearchParams): Filter {
    const show = query.get('show');
    return { show: SHOWS.includes(show as Show) ? show as Show : 'all', who: query.get('who') ?? '', text: query.get('text') ?? '' };
}

interface FilterBarProps { room: LiveRoom; filter: Filter; found: number; isOpen: boolean; onChange: (change: Query) => void }

export function FilterBar({ room, filter, found, isOpen, onChange }: FilterBarProps) {
    const choices = useMemo(() => {
        const ids = sorted(room.roster.members.values(), room.me).slice(0, MOST).map(({ id }) => id);
        if (filter.who && !ids.includes(filter.who)) ids.push(filter.who);
        return [{ value: '', title: t.room.everybody }, ...ids.map((id) => ({ value: id, title: visible(id).slice(0, 80) }))];
    }, [room, room.roster.version, filter.who]);

    return (
        <div class={isOpen ? 'room-tools open' : 'room-tools'}>
            <div class="chips" role="group" aria-label={t.room.showsLabel}>
                {SHOWS.map((show) => (
                    <button key={show} type="button" class="chip" aria-pressed={filter.show === show} onClick={() => onChange({ show: show === 'all' ? undefined : show })}>
                        {t.room.shows[show]}{show === 'waiting' && room.log.open.size > 0 && <span class="count">{room.log.open.size}</span>}
                    </button>
                ))}
            </div>
            <Search text={filter.text} onText={(text) => onChange({ text: text || undefined })} />
            <SelectField label={t.room.by} isLabelHidden value={filter.who} onInput={(who) => onChange({ who: who || undefined })} choices={choices} />
            {!isWide(filter) && <span class="quiet small" role="status">{t.room.found(found, room.log.entries.length)}</span>}
            {filter.text.trim() && currentSession().admin && <LinkButton kind="quiet" icon="audit" href={hrefOf('audit', null, { topic: room.topic, text: filter.text })}>{t.room.searchRecord}</LinkButton>}
        </div>
    );
}

function Search({ text, onText }: { text: string; onText: (text: string) => void }) {
    const [typed, setTyped] = useState(text);
    const sent = useRef(text);
    const latest = useRef(onText);

    latest.current = onText;
    useEffect(() => { if (text !== sent.current) { sent.current = text; setTyped(text); } }, [text]); // changed elsewhere
    useEffect(() => {
        if (typed === sent.current) return undefined;
        const timer = setTimeout(() => {
            sent.current = typed;
            latest.current(typed);
        }, PAUSE_MS);
        return () => clearTimeout(timer);
    }, [typed]);
    return <TextField type="search" label={t.room.search} isLabelHidden placeholder={t.room.searchHint} value={typed} onInput={setTyped} />;
}
