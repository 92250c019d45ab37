// SPDX-License-Identifier: Apache-2.0
// One person, agent or service: where it is, what it may do in a room and why, what was granted.
import { useState } from 'preact/hooks';

import { get, path, Refusal } from '../../net/api';
import { currentSession } from '../../net/session';
import type { Capability } from '../../net/types';
import { Avatar, Name } from '../../parts/badge';
import { Button, LinkButton } from '../../parts/button';
import { SelectField } from '../../parts/field';
import { Empty, Loading, Note } from '../../parts/notes';
import { Details, Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { hrefOf } from '../../router';
import { heldOf, type Rights } from '../../state/explain';
import { useLoad, type Loaded } from '../../state/load';
import { isPaused, roomsOf, type Person } from '../../state/people';
import { sentenceOf } from '../../state/sentences';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import type { Moderation } from './acts';
import { CapabilityList } from './capabilities';
import type { Everybody } from './data';
import { ExplainForm } from './explain';
import { GrantDialog } from './grant';
import { GrantRecords } from './grants';
import { States } from './list';
import { ModerateDialog } from './moderate';
import { TakeAwayDialog } from './take-away';

interface PersonDetailsProps { id: string; person: Person | undefined; all: Everybody; onChange: () => void; onClose: () => void }

export function PersonDetails({ id, person, all, onChange, onClose }: PersonDetailsProps) {
    const title = <span class="who"><Avatar id={id} type={person?.type} /><Name>{id}</Name></span>;

    if (!person) return <Details title={title} onClose={onClose}><Empty icon="people" title={t.people.notFound} /></Details>;
    return <Details title={title} onClose={onClose}><Known person={person} all={all} onChange={onChange} /></Details>;
}

// With the room that was shown then: who it is about may go elsewhere meanwhile.
type Open = { what: 'grant' } | { what: 'take'; capability: Capability; topic: string } | { what: Moderation };

function Known({ person, all, onChange }: { person: Person; all: Everybody; onChange: () => void }) {
    const [round, setRound] = useState(0);
    const [open, setOpen] = useState<Open | null>(null);
    const rooms = roomsFor(person, all);
    const [chosen, setChosen] = useState<string>();
    const topic = chosen !== undefined && rooms.includes(chosen) ? chosen : rooms[0];
    const rights = useLoad(async (signal) => (topic === undefined ? null : loadRights(person, topic, signal)), [person.id, topic, round]);
    const changed = () => {
        setRound(round + 1);
        onChange();
    };
    const close = () => setOpen(null);

    return (
        <>
            <States person={person} />
            <Acts person={person} isHeld={isPaused(person) || rights.value?.paused === true} onAct={(what) => setOpen({ what })} />
            {rooms.length > 0 && (
                <SelectField label={t.people.room} value={topic ?? ''} onInput={setChosen} choices={rooms.map((room) => ({ value: room, title: visible(room) }))} />
            )}
            {topic !== undefined
                ? <InRoom person={person} topic={topic} rights={rights} onTake={(capability) => setOpen({ what: 'take', capability, topic })} />
                : <p class="quiet">{t.people.noRooms}</p>}
            {currentSession().admin && !person.server && <GrantRecords id={person.id} round={round} onChange={changed} />}
            <Connections person={person} />
            {open?.what === 'grant' && <GrantDialog id={person.id} rooms={rooms} topic={topic} onClose={close} onChange={changed} />}
            {open?.what === 'take' && <TakeAwayDialog id={person.id} topic={open.topic} capability={open.capability} onClose={close} onChange={changed} />}
            {open && (open.what === 'pause' || open.what === 'resume' || open.what === 'kick') && (
                <ModerateDialog act={open.what} id={person.id} rooms={roomsOf(person)} topic={topic} onClose={close} onChange={changed} />
            )}
        </>
    );
}

// Where it is stands first.
function roomsFor(person: Person, all: Everybody): string[] {
    return [...new Set([...roomsOf(person), ...(person.server ? [] : all.topics)])];
}

function Acts({ person, isHeld, onAct }: { person: Person; isHeld: boolean; onAct: (what: 'grant' | Moderation) => void }) {
    const isMe = person.id === currentSession().id;

    return (
        <div class="row">
            {person.server
                ? currentSession().admin && <LinkButton icon="servers" href={hrefOf('servers', person.server)}>{t.people.toServer}</LinkButton>
                : !isMe && <Button icon="plus" onClick={() => onAct('grant')}>{t.people.grant}</Button>}
            {!isMe && <>
                {isHeld
                    ? <Button icon="play" onClick={() => onAct('resume')}>{t.people.resume}</Button>
                    : <Button icon="pause" onClick={() => onAct('pause')}>{t.people.pause}</Button>}
                <Button kind="danger" icon="out" onClick={() => onAct('kick')}>{t.people.kick}</Button>
            </>}
        </div>
    );
}

// --- in a room ---

// Members know only what the room shows; seats of servers have no token to ask for.
async function loadRights(person: Person, topic: string, signal: AbortSignal): Promise<Rights> {
    const shown = person.connections.find((one) => one.topic === topic);
    const guess: Rights = {
        participantId: person.id, topic, type: person.type, capabilities: shown?.capabilities ?? [], moot: { capabilities: shown?.moot?.capabilities ?? [] },
        limited: [], paused: shown?.paused ?? false, may_enter: true, validation: 'lazy',
    };
    if (!currentSession().admin || person.server) return guess;
    try {
        return await get<Rights>(path`/admin/participants/${person.id}/rights`, { query: { topic }, signal });
    } catch (error) {
        if (error instanceof Refusal && error.status === 404) return guess;
        throw error;
    }
}

interface InRoomProps { person: Person; topic: string; rights: Loaded<Rights | null>; onTake: (capability: Capability) => void }

function InRoom({ person, topic, rights, onTake }: InRoomProps) {
    const isMe = person.id === currentSession().id;

    return (
        <Loading of={rights}>
            {(value) => value && (
                <>
                    <Warnings rights={value} />
                    <Section title={t.people.mayTitle(visible(topic))}>
                        <CapabilityList capabilities={heldOf(value)} action={(capability) => !isMe && !person.server && (
                            <Button kind="quiet" icon="cross" label={t.people.takeAway(sentenceOf(capability))} onClick={() => onTake(capability)} />
                        )} />
                        {value.limited.length > 0 && <><h3>{t.people.limited}</h3><CapabilityList capabilities={value.limited} /></>}
                        {(value.policy?.length ?? 0) > 0 && <p class="note">{t.people.policyRows(value.policy?.length ?? 0)}</p>}
                    </Section>
                    <ExplainForm rights={value} />
                </>
            )}
        </Loading>
    );
}

function Warnings({ rights }: { rights: Rights }) {
    return (
        <>
            {!rights.may_enter && <Note>{t.people.mayEnterNot}</Note>}
            {rights.paused && <Note tone="warn">{t.people.isPausedHere}</Note>}
            {rights.brake === 'on' && rights.type === 'agent' && <Note>{t.people.brakeOn}</Note>}
        </>
    );
}

function Connections({ person }: { person: Person }) {
    if (!person.connections.length || !currentSession().admin) return null;
    return (
        <Section title={t.people.connections}>
            <ul class="records">
                {person.connections.map((one) => (
                    <li key={one.connectionId}>
                        <a href={hrefOf('room', one.topic)}><Name>{one.topic}</Name></a>{' '}
                        <span class="quiet">{t.people.since} <Time at={one.connectedAt} as="clock" />{one.routing && <> · {t.people.routing[one.routing] ?? one.routing}</>}</span>
                    </li>
                ))}
            </ul>
        </Section>
    );
}
