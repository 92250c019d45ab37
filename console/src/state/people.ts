// SPDX-License-Identifier: Apache-2.0
// Everybody that is known: whoever has a token, and whoever is connected, one row each.
import type { JsonObject, Participant, ParticipantType } from '../net/types';

export interface Token {
    name: string;
    id: string;
    type: ParticipantType;
    topics: string[];
    capabilities: string[];
    moot?: { capabilities?: JsonObject[] };
    profile?: string;
    admin: boolean;
    source: 'store' | 'config' | 'session' | 'invitation' | 'guest' | 'server' | 'jwt' | 'provider';
    created_at?: string;
    expires_at?: string;
}

export interface Member {
    connectionId: string;
    participantId: string;
    capabilities: string[];
    moot?: { capabilities?: JsonObject[] };
    connectedAt: string;
    topic: string;
    type: ParticipantType;
    routing?: string;
    dialect?: string;
    paused: boolean;
    violations?: number;
    waiting_bytes?: number;
    server?: string; // the seat of an MCP server
}

export interface Person {
    id: string;
    type: ParticipantType;
    isAdmin: boolean;
    tokens: Token[];
    connections: Member[];
    server: string | null;
}

export function peopleOf(tokens: readonly Token[], members: readonly Member[]): Person[] {
    const known = new Map<string, Person>();
    const personOf = (id: string, type: ParticipantType) => {
        const person = known.get(id) ?? { id, type, isAdmin: false, tokens: [], connections: [], server: null };
        known.set(id, person);
        return person;
    };

    for (const token of tokens) {
        const person = personOf(token.id, token.type);
        person.tokens.push(token);
        person.isAdmin ||= token.admin;
    }
    for (const member of members) {
        const person = personOf(member.participantId, member.type);
        person.connections.push(member);
        person.server ??= member.server ?? null;
    }
    return [...known.values()].sort(byPresence);
}

const names = new Intl.Collator(undefined, { numeric: true }); // agent-2 before agent-10

export function tokensInOrder(tokens: readonly Token[]): Token[] {
    return [...tokens].sort((a, b) => names.compare(a.id, b.id) || names.compare(a.name, b.name));
}

// Who is here stands first.
function byPresence(a: Person, b: Person): number {
    return Number(b.connections.length > 0) - Number(a.connections.length > 0) || names.compare(a.id, b.id);
}

// What who is no administrator sees: who is present in the rooms that he may enter.
export function peopleIn(rooms: readonly { topic: string; participants: readonly Participant[] }[]): Person[] {
    const members = rooms.flatMap(({ topic, participants }) => participants.map((one): Member => ({
        connectionId: `${topic}/${one.id}`, participantId: one.id, capabilities: one.capabilities, topic, type: one.moot.type,
        moot: one.moot, connectedAt: '', paused: false,
    })));
    return peopleOf([], members);
}

export interface PeopleFilter {
    text: string;
    type: string; // '' is any
    isHere: boolean;
}

export function filterPeople(people: readonly Person[], filter: PeopleFilter): Person[] {
    const wanted = filter.text.trim().toLowerCase();
    return people.filter((person) => (!filter.type || person.type === filter.type)
        && (!filter.isHere || person.connections.length > 0)
        && (!wanted || person.id.toLowerCase().includes(wanted) || roomsOf(person).some((room) => room.toLowerCase().includes(wanted))));
}

export function roomsOf(person: Person): string[] {
    return [...new Set(person.connections.map((one) => one.topic))].sort();
}

export function isPaused(person: Person): boolean {
    return person.connections.some((one) => one.paused);
}

// What stands beside a person in a list: of what is in force where he is, else of his tokens.
export function capabilitiesOf(person: Person): (string | JsonObject)[] {
    const sources = person.connections.length ? person.connections : person.tokens;
    const seen = new Map<string, string | JsonObject>();
    for (const one of sources)
        for (const capability of [...one.capabilities, ...(one.moot?.capabilities ?? [])])
            seen.set(JSON.stringify(capability), capability);
    return [...seen.values()];
}
