// SPDX-License-Identifier: Apache-2.0
// One room. What is searched for, filtered and open stands in the address.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { currentSession } from '../../net/session';
import type { Envelope } from '../../net/types';
import { Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Empty, ErrorNote, Skeleton } from '../../parts/notes';
import { Page } from '../../parts/page';
import type { ListHandle } from '../../parts/virtual-list';
import { go, hrefOf, type Query } from '../../router';
import { useCell } from '../../state/cell';
import { useShortcuts } from '../../state/keys';
import { isWide, placeOf, Sieve } from '../../state/search';
import type { Entry } from '../../state/threads';
import { t } from '../../strings';
import { Banners, Connection } from './banners';
import { CallDialog } from './caller';
import { Composer, type ComposerHandle } from './composer';
import { FilterBar, filterOf } from './filters';
import { openRoom, type LiveRoom } from './live';
import { PeopleButton, PeoplePanel, type PeopleActions } from './people';
import { RawPanel } from './raw';
import type { RowActions } from './row';
import { RoomMenu } from './switcher';
import { Timeline } from './timeline';

export function RoomPage({ topic, query }: { topic: string; query: URLSearchParams }) {
    const room = useMemo(() => openRoom(topic), [topic]);
    const title = <span class="room-title"><Name>{topic}</Name></span>;

    useCell(room.tick);
    if (room.loading.state === 'failed')
        return <Page title={title} name={topic}><ErrorNote error={room.loading.why} onRetry={() => void room.load()} /></Page>;
    if (room.loading.state === 'loading')
        return <Page title={title} name={topic}><Skeleton lines={12} />{room.log.count > 0 && <p class="quiet">{t.room.loaded(room.log.count)}</p>}</Page>;
    return <Room room={room} query={query} />;
}

// A query with changes; what is undefined goes.
function useAddress(topic: string, query: URLSearchParams) {
    return (change: Query) => go(hrefOf('room', topic, { ...Object.fromEntries(query), ...change }), 'replace');
}

function Room({ room, query }: { room: LiveRoom; query: URLSearchParams }) {
    const { topic, log } = room;
    const set = useAddress(topic, query);
    const filter = filterOf(query);
    const sieve = useMemo(() => new Sieve(filter), [filter.show, filter.who, filter.text]);
    const entries = sieve.update(log, log.takeTouched());
    const list = useRef<ListHandle>(null);
    const composer = useRef<ComposerHandle>(null);
    const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
    const [chosen, setChosen] = useState<string | null>(null);
    const [isAtEnd, setAtEnd] = useState(true);
    const [isToolsOpen, setToolsOpen] = useState(!isWide(filter));
    const [callee, setCallee] = useState<string | null>(null); // '' where nobody is chosen yet
    const panel = query.get('panel');
    const raw = query.get('envelope');
    const isFiltered = !isWide(filter);

    const show = (entry: Entry) => {
        if (isFiltered && entries[placeOf(entries, entry.at)] !== entry) set({ show: undefined, who: undefined, text: undefined });
        setChosen(entry.key);
        requestAnimationFrame(() => list.current?.scrollToIndex(placeOf(isFiltered && entries.includes(entry) ? entries : log.entries, entry.at)));
    };
    const search = () => {
        const focus = () => document.querySelector<HTMLInputElement>('.room-tools input')?.focus();
        focus(); // before the next key comes
        if (!isToolsOpen) setToolsOpen(true), requestAnimationFrame(focus); // on a narrow screen they are behind a button
    };
    const toggle = (entry: Entry) => setOpen((now) => {
        const next = new Set(now);
        if (!next.delete(entry.key)) next.add(entry.key);
        return next;
    });
    const showRaw = (said: Envelope) => set({ envelope: log.placeOf(said), panel: undefined });
    const found = raw === null ? null : log.find(raw);
    // The lines keep one object; what it does is that of the last rendering.
    const latest = useRef({ show, showRaw, toggle, set });
    latest.current = { show, showRaw, toggle, set };
    const actions = useMemo<RowActions>(() => ({
        topic,
        isAdmin: currentSession().admin,
        toggle: (entry) => latest.current.toggle(entry),
        showRaw: (said) => latest.current.showRaw(said),
        show: (entry) => latest.current.show(entry),
        fill: async (gap) => {
            const before = log.count;
            await room.fill(gap);
            return Math.max(0, log.count - before);
        },
        typeOf: (id) => room.roster.members.get(id)?.type,
    }), [room]);

    const people = useMemo<PeopleActions>(() => ({
        onClose: () => latest.current.set({ panel: undefined }),
        onMention: (id) => composer.current?.mention(id),
        onOnly: (id) => { setToolsOpen(true); latest.current.set({ who: id }); },
        onCall: setCallee,
    }), [room]);

    const sought = useRef(raw); // by an address that somebody was sent; it may come with the welcome
    useEffect(() => {
        if (sought.current === null || !found) return;
        sought.current = null;
        show(found.entry);
    });
    useEffect(() => () => log.stopTouched(), [log]);
    useWatching(room, isAtEnd && !isFiltered);
    useRoomKeys({ search, entries, chosen, setChosen, list, toggle, showRaw, set, isPeople: panel === 'people', focus: () => composer.current?.focus() });
    const details = raw !== null
        ? <RawPanel topic={topic} found={found} onClose={() => set({ envelope: undefined })} onShow={show} onOpen={(id) => set({ envelope: id })} />
        : panel === 'people' && <PeoplePanel room={room} actions={people} />;
    return (
        <Page isFlush title={<span class="room-title"><Name>{topic}</Name><Connection room={room} /></span>} name={room.unread > 0 ? `(${room.unread}) ${topic}` : topic}
            details={details || undefined} actions={<>
                <span class="tools-toggle"><Button kind="quiet" icon="search" label={t.room.tools} isPressed={isToolsOpen} onClick={() => setToolsOpen(!isToolsOpen)} /></span>
                <Button kind="quiet" icon="tool" label={t.room.callTool} onClick={() => setCallee('')} />
                <PeopleButton room={room} isPressed={panel === 'people'} onClick={() => set({ panel: panel === 'people' ? undefined : 'people', envelope: undefined })} />
                <RoomMenu topic={topic} />
            </>}
            tools={<FilterBar room={room} filter={filter} found={entries.length} isOpen={isToolsOpen} onChange={set} />}>
            <Banners room={room} onShow={show} />
            {entries.length > 0 || !isFiltered
                ? entries.length > 0
                    ? <Timeline room={room} entries={entries} open={open} chosen={chosen} actions={actions} handle={list} onEnd={setAtEnd} isAtEnd={isAtEnd} />
                    : <div class="grow"><Empty icon="room" title={t.room.quiet}>{t.room.quietHint}</Empty></div>
                : <div class="grow"><Empty icon="search" title={t.room.nothingFound} action={<Button onClick={() => set({ show: undefined, who: undefined, text: undefined })}>{t.room.clear}</Button>}>{t.room.nothingFoundHint}</Empty></div>}
            <Composer room={room} handle={composer} />
            {callee !== null && <CallDialog room={room} callee={callee} onClose={() => setCallee(null)} />}
        </Page>
    );
}

// Whether somebody looks at the end of it: then all of it counts as read.
function useWatching(room: LiveRoom, isAtEnd: boolean): void {
    useEffect(() => {
        const tell = () => room.watch(isAtEnd && !document.hidden && document.hasFocus());
        tell();
        document.addEventListener('visibilitychange', tell);
        addEventListener('focus', tell);
        addEventListener('blur', tell);
        return () => {
            document.removeEventListener('visibilitychange', tell);
            removeEventListener('focus', tell);
            removeEventListener('blur', tell);
            room.watch(false);
        };
    }, [room, isAtEnd]);
}

interface KeyState {
    search: () => void;
    entries: readonly Entry[];
    chosen: string | null;
    setChosen: (key: string) => void;
    list: { readonly current: ListHandle | null };
    toggle: (entry: Entry) => void;
    showRaw: (said: Envelope) => void;
    set: (change: Query) => void;
    isPeople: boolean;
    focus: () => void;
}

function useRoomKeys({ search, entries, chosen, setChosen, list, toggle, showRaw, set, isPeople, focus }: KeyState): void {
    const at = () => { // the line that has the focus, or was chosen last
        const wanted = document.activeElement?.closest<HTMLElement>('.line')?.dataset['key'] ?? chosen;
        return wanted === null ? -1 : entries.findLastIndex(({ key }) => key === wanted);
    };
    const current = () => entries[at()];
    const move = (by: number) => {
        const from = at();
        const to = from < 0 ? entries.length - 1 : from + by;
        const entry = entries[Math.max(0, Math.min(entries.length - 1, to))];
        if (!entry) return;
        setChosen(entry.key);
        list.current?.scrollToIndex(entries.indexOf(entry, Math.max(0, to - 1)));
        requestAnimationFrame(() => document.querySelector<HTMLElement>(`.line[data-key="${CSS.escape(entry.key)}"]`)?.focus({ preventScroll: true }));
    };

    useShortcuts({
        j: { does: t.room.keyDown, run: () => move(1) },
        k: { does: t.room.keyUp, run: () => move(-1) },
        o: { does: t.room.keyOpen, run: () => { const entry = current(); if (entry) toggle(entry); } },
        v: { does: t.room.keyRaw, run: () => { const said = current()?.parts[0]; if (said) showRaw(said); } },
        '/': { does: t.room.keySearch, run: search },
        c: { does: t.room.keyWrite, run: focus },
        w: { does: t.room.keyPeople, run: () => set({ panel: isPeople ? undefined : 'people', envelope: undefined }) },
        '.': { does: t.room.keyEnd, run: () => list.current?.scrollToEnd() },
    });
}
