// SPDX-License-Identifier: Apache-2.0
import { currentSession } from '../../net/session';
import { Avatar, Badge, Name } from '../../parts/badge';
import { Table, type Column } from '../../parts/table';
import { hrefOf, route } from '../../router';
import { capabilitiesOf, isPaused, roomsOf, type Person } from '../../state/people';
import { summaryOf } from '../../state/sentences';
import { t } from '../../strings';

const MOST_ROOMS = 3;

const columns: Column<Person>[] = [
    { title: t.people.columns.name, isHead: true, cell: (person: Person) => <Who person={person} /> },
    { title: t.people.columns.state, cell: (person) => <States person={person} /> },
    { title: t.people.columns.where, cell: (person) => <Where person={person} /> },
    { title: t.people.columns.may, isExtra: true, cell: (person) => <May person={person} /> },
];

interface PeopleTableProps { people: readonly Person[]; chosen: string | null; onOpen: (id: string) => void }

export function PeopleTable({ people, chosen, onOpen }: PeopleTableProps) {
    return (
        <Table label={t.people.title} columns={columns} rows={people} keyOf={(person) => person.id}
            onOpen={(person) => onOpen(person.id)} isChosen={(person) => person.id === chosen} />
    );
}

function Who({ person }: { person: Person }) {
    return (
        <span class="who">
            <Avatar id={person.id} type={person.type} />
            <a class="plain" href={hrefOf('people', person.id, Object.fromEntries(route.get().query))}><Name>{person.id}</Name></a>
        </span>
    );
}

export function States({ person }: { person: Person }) {
    const violations = person.connections.reduce((sum, one) => sum + (one.violations ?? 0), 0);

    return (
        <span class="row">
            {isPaused(person) && <Badge tone="warn" icon="pause">{t.people.paused}</Badge>}
            {person.id === currentSession().id && <Badge tone="accent">{t.people.you}</Badge>}
            {person.isAdmin ? <Badge>{t.people.admin}</Badge> : person.server ? <Badge icon="servers">{t.people.server}</Badge> : <Badge>{t.parts.types[person.type]}</Badge>}
            {violations > 0 && <Badge tone="warn">{t.people.violations(violations)}</Badge>}
        </span>
    );
}

function Where({ person }: { person: Person }) {
    const rooms = roomsOf(person);

    if (!rooms.length) return <span class="quiet no-wrap">{t.people.absent}</span>;
    return (
        <span class="row">
            {rooms.slice(0, MOST_ROOMS).map((room) => <a key={room} class="room" href={hrefOf('room', room)}><Name>{room}</Name></a>)}
            {rooms.length > MOST_ROOMS && <span class="quiet">{t.people.moreRooms(rooms.length - MOST_ROOMS)}</span>}
        </span>
    );
}

function May({ person }: { person: Person }) {
    const { sentences, more } = summaryOf(capabilitiesOf(person));

    if (!sentences.length) return <span class="quiet">{t.people.mayNothing}</span>;
    return <span class="may"><bdi>{sentences.join('; ')}</bdi>{more > 0 && <span class="quiet"> {t.people.more(more)}</span>}</span>;
}
