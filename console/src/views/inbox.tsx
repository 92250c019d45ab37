// SPDX-License-Identifier: Apache-2.0
// The inbox: everything that waits for a decision in all rooms, and what it takes to decide.
// What is open stays open when the list changes, and whoever decides is not moved on to the
// next: a second press of the key must not decide on something nobody has read.
import { useRef } from 'preact/hooks';

import { currentSession } from '../net/session';
import { Button, LinkButton } from '../parts/button';
import { SelectField, TextField } from '../parts/field';
import { Empty, ErrorNote, Note, Skeleton } from '../parts/notes';
import { Details, Page } from '../parts/page';
import { toast } from '../parts/toast';
import type { ListHandle } from '../parts/virtual-list';
import { go, hrefOf, type Route } from '../router';
import { useCell } from '../state/cell';
import { isShown, keyOf, keyOfRef, refIn, refOf, type Filter, type Item, type Ref, type Show } from '../state/inbox';
import { useShortcuts } from '../state/keys';
import { preferences } from '../state/preferences';
import { t } from '../strings';
import { InboxDetails } from './inbox/details';
import { endings, type Ended } from './inbox/endings';
import { InboxList, type Row } from './inbox/list';
import { canNotify, isNotifying, setNotifying } from './inbox/notify';
import { useSteps } from './inbox/steps';
import { inbox, look, waitingIn } from './inbox/watch';

const SHOWS: Show[] = ['decide', 'mine', 'all'];

function filterOf(query: URLSearchParams): Filter {
    const show = SHOWS.find((one) => one === query.get('show')) ?? 'decide';
    return { show, room: query.get('room') ?? '', text: query.get('q') ?? '' };
}

// The address: the filter, and what is open.
function addressOf(filter: Filter, open: Ref | null = null): string {
    return hrefOf('inbox', null, { show: filter.show === 'decide' ? undefined : filter.show, room: filter.room, q: filter.text, ...open });
}

function rowsOf(items: readonly Item[], ended: ReadonlyMap<string, Ended>, filter: Filter): Row[] {
    const waiting = items.filter((item) => !ended.has(keyOf(item)) && isShown(item, filter));
    const over = [...ended.values()].reverse().filter(({ item }) => isShown(item, filter));
    return [
        ...waiting.map((item) => ({ type: 'item' as const, item })),
        ...(over.length ? [{ type: 'heading' as const }] : []),
        ...over.map((one) => ({ type: 'ended' as const, item: one.item, ended: one })),
    ];
}

export function InboxView({ route }: { route: Route }) {
    const now = useCell(inbox);
    const ended = useCell(endings);
    const filter = filterOf(route.query);
    const ref = refIn(route.query);
    const current = ref && keyOfRef(ref);
    const rows = rowsOf(now.items, ended, filter);
    const handle = useRef<ListHandle>(null);
    const search = useRef<HTMLDivElement>(null);
    const open = (item: Item | null) => go(addressOf(filter, item && refOf(item)), 'replace');
    const close = () => open(null);
    const step = useSteps(rows, current, handle, open);
    const count = waitingIn(now.items, ended);

    useShortcuts({
        j: { does: t.inbox.next, run: () => step(1) },
        k: { does: t.inbox.previous, run: () => step(-1) },
        '/': { does: t.inbox.keySearch, run: () => search.current?.querySelector('input')?.focus() },
        Escape: { does: t.inbox.leave, run: close },
    });
    return (
        <Page title={t.views.inbox.title} name={t.inbox.tabName(count, t.views.inbox.title)} isFlush actions={<Bell />}
            tools={<div class="inbox-tools" ref={search}><Filters filter={filter} items={now.isLoaded ? now.items : null} onFilter={(next) => go(addressOf(next, ref), 'replace')} /></div>}
            details={ref !== null && current !== null && now.isLoaded && <Chosen key={current} place={ref} chosen={current} items={now.items} ended={ended} onClose={close} />}>
            {now.error && <div class="inbox-note"><ErrorNote error={now.isLoaded ? `${t.inbox.stale} ${now.error}` : now.error} onRetry={() => void look()} /></div>}
            {now.leftOff > 0 && <div class="inbox-note"><Note tone="warn">{t.inbox.leftOff(now.leftOff)}</Note></div>}
            <p class="hidden" role="status">{now.isLoaded && t.common.waiting(count)}</p>
            <div class="grow inbox-body">
                {!now.isLoaded && !now.error && <div class="inbox-note"><Skeleton /></div>}
                {rows.length > 0 && <InboxList rows={rows} current={current} handle={handle} hrefOf={(item) => addressOf(filter, refOf(item))} />}
                {rows.length === 0 && now.isLoaded && !now.error && <Nothing filter={filter} waits={now.items.length} />}
            </div>
        </Page>
    );
}

interface ChosenProps { place: Ref; chosen: string; items: readonly Item[]; ended: ReadonlyMap<string, Ended>; onClose: () => void }

function Chosen({ place, chosen, items, ended, onClose }: ChosenProps) {
    const seen = useRef<Item | null>(null); // between the list without it and the word what became of it
    const over = ended.get(chosen) ?? null;
    const item = over?.item ?? items.find((one) => keyOf(one) === chosen) ?? seen.current;

    seen.current = item;
    if (item) return <InboxDetails item={item} ended={over} onClose={onClose} />;
    return <Gone place={place} onClose={onClose} />;
}

// What became of it stands in the room, and in the record, which is for administrators.
function Gone({ place, onClose }: { place: Ref; onClose: () => void }) {
    const id = 'id' in place ? place.id : null;
    return (
        <Details title={t.inbox.gone} onClose={onClose}>
            <p class="quiet">{t.inbox.goneHint}</p>
            <div class="row">
                <LinkButton icon="room" href={hrefOf('room', place.topic, { envelope: id ?? undefined })}>{t.inbox.goneRoom}</LinkButton>
                {id !== null && currentSession().admin && <LinkButton icon="audit" href={hrefOf('audit', null, { topic: place.topic, thread: id })}>{t.inbox.goneRecord}</LinkButton>}
            </div>
        </Details>
    );
}

function Nothing({ filter, waits }: { filter: Filter; waits: number }) {
    const isNarrow = filter.room !== '' || filter.text !== '';
    const title = isNarrow ? t.inbox.noMatch : { decide: t.inbox.empty, mine: t.inbox.emptyMine, all: t.inbox.emptyAll }[filter.show];
    const action = waits > 0
        ? <Button onClick={() => go(addressOf({ show: 'all', room: '', text: '' }), 'replace')}>{t.inbox.showAll}</Button>
        : <LinkButton icon="room" href={hrefOf('room')}>{t.inbox.toRooms}</LinkButton>;
    return <Empty icon="inbox" title={title} action={action}>{t.views.inbox.purpose}</Empty>;
}

// `items`: null where it is not known yet what waits.
function Filters({ filter, items, onFilter }: { filter: Filter; items: readonly Item[] | null; onFilter: (next: Filter) => void }) {
    const rooms = [...new Set([...(items ?? []).map((item) => item.topic), ...(filter.room ? [filter.room] : [])])].sort();
    const shows = SHOWS.map((name) => ({ name, title: t.inbox.shows[name], count: items?.filter((item) => isShown(item, { show: name, room: '', text: '' })).length }));

    return (
        <>
            <div class="row inbox-shows" role="group" aria-label={t.inbox.show}>
                {shows.map((one) => <Button key={one.name} kind="quiet" isPressed={one.name === filter.show} onClick={() => onFilter({ ...filter, show: one.name })}>{one.title}{one.count !== undefined && <> <span class="count">{one.count}</span></>}</Button>)}
            </div>
            {(rooms.length > 1 || filter.room) && <SelectField label={t.inbox.room} isLabelHidden value={filter.room} onInput={(room) => onFilter({ ...filter, room })}
                choices={[{ value: '', title: t.inbox.anyRoom }, ...rooms.map((room) => ({ value: room, title: room }))]} />}
            <TextField label={t.inbox.search} isLabelHidden type="search" placeholder={t.inbox.searchHint} value={filter.text} onInput={(text) => onFilter({ ...filter, text })} />
        </>
    );
}

function Bell() {
    useCell(preferences);
    if (!canNotify()) return null;
    const isOn = isNotifying();
    const turn = async () => {
        if (!await setNotifying(!isOn)) toast(t.inbox.notifyBlocked, 'warn');
        else toast(isOn ? t.inbox.notifyOff : t.inbox.notifyOn, 'ok');
    };
    return <Button kind="quiet" icon="bell" label={t.inbox.notify} isPressed={isOn} onClick={() => void turn()} />;
}
