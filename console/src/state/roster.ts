// SPDX-License-Identifier: Apache-2.0
// Who is in a room, from its welcome, joins and leaves, and what each of them said of itself.
import { GATEWAY, isObject, type Envelope, type Json, type JsonObject, type Participant, type ParticipantType } from '../net/types';
import { whenOf } from './when';

export interface Member {
    id: string;
    type: ParticipantType;
    capabilities: (string | JsonObject)[];
    heardAt: number; // of the last envelope; 0 where nothing was heard
    status: JsonObject | null; // the payload of its last participant/status
    isPaused: boolean; // by somebody in the room, as far as this page has heard
    pauseHeardAt: number; // when it heard of that; 0 where it did not
}

interface Heard { at: number; status: JsonObject | null; isPaused: boolean; pauseHeardAt: number }

const TYPES = new Set(['human', 'agent', 'service']);

export class Roster {
    members = new Map<string, Member>();
    you: Member | null = null;
    topic: JsonObject = {}; // `moot` of the welcome: limits, brake, automation, open proposals
    version = 0;
    grants = 0; // counts what was given and taken: whose rights are others now is asked
    #heard = new Map<string, Heard>();
    #types = new Map<string, ParticipantType>(); // also of those who left
    #since: Set<string> | null = null; // who was heard since the loop guard stopped the agents

    hear(said: Envelope): void {
        if (said.kind === 'system/welcome') this.#welcome(said.payload);
        else if (said.kind === 'system/presence') this.#presence(said.payload);
        else if (said.kind === 'system/topic') this.#set({ ...this.topic, ...said.payload });
        else if (said.kind === 'system/notice' && said.payload['notice'] === 'loop_guard') this.#since = new Set();
        else this.#heardFrom(said);
        if (said.kind === 'capability/grant-ack' && said.from === GATEWAY) this.grants++;
    }

    // Until a person says something. Of whom nobody knows what he is, that is supposed.
    get isGuarded(): boolean {
        return this.#since !== null && [...this.#since].every((id) => (this.#types.get(id) ?? 'human') !== 'human');
    }

    // The rights in force: only their owner is told when they change.
    renew(participants: readonly unknown[]): void {
        for (const one of participants) {
            const now = isObject(one) ? this.#member(one) : null;
            const known = now && this.members.get(now.id);
            if (known) known.capabilities = now.capabilities;
        }
        this.version++;
    }

    // What was said before this page came.
    remember(said: Envelope): void {
        const known = this.#note(said.from);
        known.at = Math.max(known.at, whenOf(said) || 0);
        if (said.kind === 'participant/status') known.status ??= said.payload;
        this.#copy(said.from);
    }

    #set(topic: JsonObject): void {
        this.topic = topic;
        this.version++;
    }

    #welcome(payload: JsonObject): void {
        const { you, participants, moot } = payload;
        this.members = new Map();
        for (const one of Array.isArray(participants) ? participants : []) this.#join(one);
        this.you = isObject(you) ? this.#member(you) : null;
        if (this.you) this.members.set(this.you.id, this.you);
        this.#set(isObject(moot) ? moot : {});
    }

    #presence(payload: JsonObject): void {
        const { event, participant, participants } = payload;
        const changes: Json | undefined = event === 'batch' ? participants : isObject(participant) ? [{ event: event ?? null, ...participant }] : [];
        for (const change of Array.isArray(changes) ? changes : []) {
            if (!isObject(change) || typeof change['id'] !== 'string') continue;
            if (change['event'] === 'join') this.#join(change);
            else this.members.delete(change['id']);
        }
        this.version++;
    }

    #join(one: Json): void {
        const member = isObject(one) ? this.#member(one) : null;
        if (!member) return;
        this.members.set(member.id, member);
        if (member.id === this.you?.id) this.you = member; // on another connection
    }

    #member(one: JsonObject): Member | null {
        const { id, capabilities, moot } = one as Partial<Participant>;
        if (typeof id !== 'string') return null;
        const heard = this.#heard.get(id);
        const type = moot && TYPES.has(moot.type) ? moot.type : 'agent';
        this.#types.set(id, type);
        return {
            id,
            type,
            capabilities: [...(Array.isArray(capabilities) ? capabilities : []), ...(Array.isArray(moot?.capabilities) ? moot.capabilities : [])],
            heardAt: heard?.at ?? 0, status: heard?.status ?? null, isPaused: heard?.isPaused ?? false, pauseHeardAt: heard?.pauseHeardAt ?? 0,
        };
    }

    #heardFrom(said: Envelope): void {
        const target = said.payload['participant'] ?? said.to?.[0];
        const known = this.#note(said.from);

        known.at = Math.max(known.at, whenOf(said) || Date.now());
        if (said.from !== GATEWAY) this.#since?.add(said.from);
        if (this.#isPassed(said)) this.#since = null;
        if (said.kind === 'participant/status') known.status = said.payload;
        if (typeof target === 'string' && (said.kind === 'participant/pause' || said.kind === 'participant/resume'))
            Object.assign(this.#note(target), { isPaused: said.kind === 'participant/pause', pauseHeardAt: Date.now() });
        this.#copy(said.from);
        if (said.kind.startsWith('participant/')) {
            if (typeof target === 'string') this.#copy(target);
            this.version++;
        }
    }

    // A request that the loop guard would refuse: somebody has reset it.
    #isPassed({ kind, from, to }: Envelope): boolean {
        return this.#since !== null && kind.startsWith('mcp/request:') && !kind.startsWith('mcp/request:notifications/') && this.#types.get(from) === 'agent'
            && !(to?.length && to.every((id) => this.#types.get(id) === 'service'));
    }

    #note(id: string): Heard {
        const known = this.#heard.get(id) ?? { at: 0, status: null, isPaused: false, pauseHeardAt: 0 };
        if (!this.#heard.has(id) && this.#heard.size < 10_000) this.#heard.set(id, known);
        return known;
    }

    #copy(id: string): void {
        const member = this.members.get(id);
        const heard = this.#heard.get(id);
        if (member && heard) Object.assign(member, { heardAt: heard.at, status: heard.status, isPaused: heard.isPaused, pauseHeardAt: heard.pauseHeardAt });
    }
}

const RANK: Record<ParticipantType, number> = { human: 0, agent: 1, service: 2 };

// Oneself, people, agents, services; by name.
export function sorted(members: Iterable<Member>, me: string): Member[] {
    return [...members].sort((a, b) => Number(b.id === me) - Number(a.id === me) || RANK[a.type] - RANK[b.type] || (a.id < b.id ? -1 : 1));
}
