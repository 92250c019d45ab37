// SPDX-License-Identifier: Apache-2.0
// Who is here: what each of them may do, and how it is.
import { useEffect, useMemo, useState } from 'preact/hooks';

import { get } from '../../net/api';
import { currentSession } from '../../net/session';
import { participantsOf } from '../../net/topics';
import type { Capability, ParticipantType } from '../../net/types';
import { Avatar, Badge, Name } from '../../parts/badge';
import { TextField } from '../../parts/field';
import { Icon } from '../../parts/icon';
import { Menu, type MenuItem } from '../../parts/menu';
import { Details } from '../../parts/page';
import { Time } from '../../parts/time';
import { go, hrefOf } from '../../router';
import { abilitiesOf } from '../../state/abilities';
import { useLoad } from '../../state/load';
import { mayHave } from '../../state/kinds';
import { previewOf, sizeOf } from '../../state/preview';
import { sorted, type Member } from '../../state/roster';
import { useNow } from '../../state/time';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import type { LiveRoom } from './live';

interface Seat { participantId: string; paused: boolean; violations: number; waiting_bytes: number; askedAt: number }

export interface PeopleActions {
    onClose(): void;
    onMention(id: string): void;
    onOnly(id: string): void;
    onCall(id: string): void;
}

const CROWD = 20; // members among whom one searches
const MOST = 300; // members that are listed; a room of thousands wants the view of people
const GROUPS: ParticipantType[] = ['human', 'agent', 'service'];
const BAD = new Set(['failing', 'stopped', 'sign_in_needed']);

export function PeoplePanel({ room, actions }: { room: LiveRoom; actions: PeopleActions }) {
    const seats = useSeats(room.topic);
    const now = useNow();
    useRights(room);

    // Not with each envelope: nobody reads that quickly.
    return useMemo(() => <Panel room={room} seats={seats} actions={actions} />, [room, room.roster.version, seats, now]);
}

function Panel({ room, seats, actions }: { room: LiveRoom; seats: ReadonlyMap<string, Seat[]>; actions: PeopleActions }) {
    const [wanted, setWanted] = useState('');
    const all = sorted(room.roster.members.values(), room.me);
    const members = all.filter(({ id }) => id.toLowerCase().includes(wanted.trim().toLowerCase()));

    return (
        <Details title={t.room.people} onClose={actions.onClose}>
            <p class="quiet">{t.room.peopleCount(all.length)}</p>
            {all.length > CROWD && <TextField type="search" label={t.room.findPerson} isLabelHidden placeholder={t.room.findPerson} value={wanted} onInput={setWanted} />}
            {!members.length && <p class="quiet">{t.room.nobodyFound}</p>}
            {GROUPS.map((type) => {
                const group = members.filter((member) => member.type === type);
                return group.length > 0 && (
                    <section key={type} class="people-group" aria-label={t.room.types[type]}>
                        <h3>{t.room.types[type]} <span class="count">{group.length}</span></h3>
                        <ul>{group.slice(0, MOST).map((member) => <li key={member.id}><Person room={room} member={member} seats={seats.get(member.id) ?? []} actions={actions} /></li>)}</ul>
                        {group.length > MOST && <p class="quiet">{t.room.andMore(group.length - MOST)}</p>}
                    </section>
                );
            })}
        </Details>
    );
}

// What each may do now: it may have changed since the one came.
function useRights({ topic, roster }: LiveRoom): void {
    const loaded = useLoad((signal) => participantsOf(topic, signal), [topic, roster.grants], { everyMs: 15_000 });
    useEffect(() => { if (loaded.value) roster.renew(loaded.value); }, [loaded.value]);
}

// What only the gateway knows of each connection; for administrators.
function useSeats(topic: string): Map<string, Seat[]> {
    const isAdmin = currentSession().admin;
    const load = async (signal: AbortSignal): Promise<Seat[]> => {
        const askedAt = Date.now();
        const { members } = isAdmin ? await get<{ members: Seat[] }>('/admin/members', { query: { topic }, signal }) : { members: [] };
        return members.map((seat) => ({ ...seat, askedAt }));
    };
    const loaded = useLoad(load, [topic], { everyMs: 5000 });
    return useMemo(() => {
        const seats = new Map<string, Seat[]>();
        for (const seat of loaded.value ?? []) seats.set(seat.participantId, [...(seats.get(seat.participantId) ?? []), seat]);
        return seats;
    }, [loaded.value]);
}

function Person({ room, member, seats, actions }: { room: LiveRoom; member: Member; seats: readonly Seat[]; actions: PeopleActions }) {
    const [isOpen, setOpen] = useState(false);
    const isMe = member.id === room.me;
    const items: MenuItem[] = [
        ...(isMe ? [] : [{ title: t.room.mention, run: () => actions.onMention(member.id) }]),
        { title: t.room.onlyHis, icon: 'filter', run: () => actions.onOnly(member.id) },
        ...(!isMe && mayHave(member.capabilities, 'mcp/response:tools/call') ? [{ title: t.room.callTool, icon: 'tool' as const, run: () => actions.onCall(member.id) }] : []),
        ...(currentSession().admin ? [{ title: t.room.manage, icon: 'people' as const, run: () => go(hrefOf('people', member.id, { topic: room.topic })) }] : []),
    ];

    return (
        <div class="member">
            <Avatar id={member.id} type={member.type} />
            <div class="grow">
                <p class="member-name"><Name>{member.id}</Name>{isMe && <span class="quiet small">{t.room.you}</span>}<Health member={member} seats={seats} /></p>
                <p class="quiet small">{wordsOf(member.capabilities)}</p>
                <p class="quiet small">
                    {member.heardAt > 0 ? <>{t.room.heard} <Time at={member.heardAt} /></> : t.room.never}{' · '}
                    <button type="button" class="json-more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>{t.room.capabilities(member.capabilities.length)}</button>
                </p>
                {isOpen && <ul class="capabilities code">{member.capabilities.map((one, i) => <li key={i}><bdi>{visible(typeof one === 'string' ? one : previewOf(one, 400))}</bdi></li>)}</ul>}
            </div>
            <Menu label={`${t.common.more}: ${visible(member.id)}`} items={items} />
        </div>
    );
}

function wordsOf(capabilities: readonly Capability[]): string {
    const words = abilitiesOf(capabilities).map(({ word, isAll }) => {
        const name = t.room.abilities[word] ?? word;
        return isAll ? name : t.room.some(name);
    });
    return words.length ? words.join(', ') : t.room.mayNothing;
}

function Health({ member, seats }: { member: Member; seats: readonly Seat[] }) {
    const status = member.status?.['status'];
    const violations = Math.max(0, ...seats.map((seat) => seat.violations));
    const waiting = Math.max(0, ...seats.map((seat) => seat.waiting_bytes));
    const isPaused = seats.some((seat) => seat.askedAt > member.pauseHeardAt) ? seats.some((seat) => seat.paused) : member.isPaused;

    return (
        <>
            {isPaused && <Badge tone="warn" icon="pause">{t.room.isPaused}</Badge>}
            {typeof status === 'string' && <Badge tone={BAD.has(status) ? 'danger' : 'plain'}>{t.room.reason(visible(status.slice(0, 40).replaceAll('_', ' ')))}</Badge>}
            {violations > 0 && <Badge tone="warn">{t.people.violations(violations)}</Badge>}
            {waiting > 65_536 && <Badge tone="warn">{t.room.waiting(sizeOf(waiting))}</Badge>}
            {seats.length > 1 && <Badge>{t.room.connections(seats.length)}</Badge>}
        </>
    );
}

export function PeopleButton({ room, isPressed, onClick }: { room: LiveRoom; isPressed: boolean; onClick: () => void }) {
    const count = room.roster.members.size;
    return (
        <button type="button" class="button" aria-pressed={isPressed} aria-label={`${t.room.people}: ${t.room.peopleCount(count)}`} title={t.room.people} onClick={onClick}>
            <Icon name="people" /><span>{count}</span>
        </button>
    );
}

