// SPDX-License-Identifier: Apache-2.0
// The timeline: a long list that keeps its place, or its end.
import type { RefObject } from 'preact';
import { useState } from 'preact/hooks';

import { Button } from '../../parts/button';
import { Icon } from '../../parts/icon';
import { VirtualList, type ListHandle } from '../../parts/virtual-list';
import { beganAt, type Entry } from '../../state/threads';
import { isMention } from '../../state/unread';
import { visible, visibleProse } from '../../state/visible';
import { t } from '../../strings';
import type { LiveRoom } from './live';
import { Row, type RowActions } from './row';

const MISSED_FEW = 10; // lines that are on the screen anyway
const SPOKEN = 120; // characters that are read aloud
const PAUSE_MS = 5 * 60_000; // after which somebody who goes on talking is named again

interface TimelineProps {
    room: LiveRoom;
    entries: readonly Entry[];
    open: ReadonlySet<string>;
    chosen: string | null;
    actions: RowActions;
    handle: RefObject<ListHandle>;
    onEnd: (isAtEnd: boolean) => void;
    isAtEnd: boolean;
}

const days = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const daysOfYears = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });

// Whole days of the viewer's zone; NaN where nobody said when.
function dayOf(entry: Entry | undefined): number {
    const at = entry ? beganAt(entry) : NaN;
    return Number.isNaN(at) ? NaN : new Date(at).setHours(0, 0, 0, 0);
}

function dayTitle(entry: Entry, before: Entry | undefined): string {
    const day = dayOf(entry), last = dayOf(before);
    return Number.isNaN(day) || day === last || (before && Number.isNaN(last)) ? '' : (new Date(day).getFullYear() === new Date().getFullYear() ? days : daysOfYears).format(day);
}

function isFollowing(entry: Entry, before: Entry | undefined): boolean {
    if (entry.type !== 'chat' || before?.type !== 'chat' || entry.about) return false;
    const [said] = entry.parts, [last] = before.parts;
    return said?.from === last?.from && String(said?.to ?? '') === String(last?.to ?? '') && beganAt(entry) - beganAt(before) < PAUSE_MS;
}

export function Timeline({ room, entries, open, chosen, actions, handle, onEnd, isAtEnd }: TimelineProps) {
    return (
        <div class="timeline grow">
            <VirtualList items={entries} keyOf={(entry) => entry.key} estimate={48} label={t.room.timeline} role="list" stickToEnd handle={handle}
                onTop={() => { if (room.older.state === 'more' && entries === room.log.entries) void room.loadOlder(); }} onEnd={onEnd}>
                {(entry, index) => {
                    const before = entries[index - 1];
                    const day = dayTitle(entry, before);
                    const isNew = entry.key === room.newKey;
                    const said = entry.parts[0];
                    return (
                        <>
                            {index === 0 && <Beginning room={room} isAdmin={actions.isAdmin} />}
                            <Row entry={entry} version={entry.version} day={day} isNew={isNew} isOpen={open.has(entry.key)} isChosen={entry.key === chosen}
                                isMention={said !== undefined && isMention(said, room.me)} isFollowing={!day && !isNew && isFollowing(entry, before)} actions={actions} />
                        </>
                    );
                }}
            </VirtualList>
            {room.missed >= MISSED_FEW && <ToMissed room={room} actions={actions} />}
            {!isAtEnd && <ToEnd room={room} onClick={() => handle.current?.scrollToEnd()} />}
            <Mentioned room={room} />
        </div>
    );
}

function Beginning({ room, isAdmin }: { room: LiveRoom; isAdmin: boolean }) {
    const { older } = room;
    if (older.state === 'loading') return <p class="beginning quiet">{t.room.olderLoading}</p>;
    if (older.state === 'none') return <p class="beginning quiet">{isAdmin ? t.room.olderNone : t.room.olderMember}</p>;
    return (
        <p class="beginning quiet">
            {older.state === 'failed' && <span>{older.why} </span>}
            <Button icon="up" onClick={() => void room.loadOlder()}>{t.room.olderLoad}</Button>
        </p>
    );
}

// Everything is read as soon as its end is seen; this leads to where it began.
function ToMissed({ room, actions }: { room: LiveRoom; actions: RowActions }) {
    const go = () => {
        const entry = room.goToMissed();
        if (entry) actions.show(entry);
    };
    return <button type="button" class="to-end to-missed" onClick={go}><Icon name="up" />{t.room.missed(room.missed)}</button>;
}

function ToEnd({ room, onClick }: { room: LiveRoom; onClick: () => void }) {
    return (
        <button type="button" class="to-end" onClick={onClick}>
            <Icon name="down" />
            {room.unread > 0 ? t.room.newBelow(room.unread) : t.room.toEnd}
            {room.mentions > 0 && <span class="count">@{room.mentions}</span>}
        </button>
    );
}

// Read aloud: of all that happens only what is said to oneself.
function Mentioned({ room }: { room: LiveRoom }) {
    const [first] = useState(room.mentioned);
    const said = room.mentioned;
    return <p class="hidden" role="status">{said && said !== first ? t.room.mentionedYou(visible(said.from), visibleProse(String(said.payload['text'] ?? '').slice(0, SPOKEN))) : ''}</p>;
}
