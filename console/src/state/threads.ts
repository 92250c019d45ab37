// SPDX-License-Identifier: Apache-2.0
// A room's envelopes as what people look at: a line for what was said, and one card for each
// call with all that belongs to it along `correlation_id`. Each envelope costs a few steps,
// however many came before.
import { GATEWAY, type Envelope } from '../net/types';
import { addToCall, belongs, isOver, newCall, type Call } from './calls';
import { parseKind } from './kinds';
import { whenOf } from './when';

export interface Chat { type: 'chat'; key: string; at: number; version: number; parts: Envelope[]; about: Entry | null }
export interface Event { type: 'event'; key: string; at: number; version: number; parts: Envelope[] }
export interface Crowd { type: 'crowd'; key: string; at: number; version: number; parts: Envelope[] } // joins and leaves without anything between
export interface Gap { type: 'gap'; key: string; at: number; version: number; parts: Envelope[] }
// Something ended long after it began, far above: told again where people look.
export interface Echo { type: 'echo'; key: string; at: number; version: number; parts: Envelope[]; about: CallEntry; state: CallEntry['state'] }
export type CallEntry = Call & { type: 'call'; key: string; at: number; version: number };
export type Entry = Chat | Event | Crowd | Gap | Echo | CallEntry;

const CROWD_MOST = 200; // envelopes in one line
const FAR = 12; // lines
const LATE_MS = 30_000;
const PARTS_MOST = 2000; // of one thread: of a call that tells its progress for hours, the rest is not kept

// Kinds that tell this connection something and are no part of the room's story.
const UNTOLD = new Set(['system/welcome', 'system/error']);

interface Held { entry: Entry; said: Envelope | null } // null: it was only cited so far

// The gateway tells again what somebody missed, and forgets ids in time: then they may be those of something else.
function isSame(a: Envelope, b: Envelope): boolean {
    if (a.from !== b.from || a.kind !== b.kind) return false;
    return a.from === GATEWAY || (a.ts === b.ts && a.correlation_id === b.correlation_id && JSON.stringify(a.payload) === JSON.stringify(b.payload));
}

export class Log {
    entries: Entry[] = []; // grows in place; another array where something else happened
    readonly open = new Set<CallEntry>(); // proposals that wait
    #order: Envelope[] = [];
    #held = new Map<string, Held>(); // by their places
    #touched = new Set<Entry>();

    get count(): number {
        return this.#order.length;
    }

    get first(): Envelope | undefined {
        return this.#order[0];
    }

    get last(): Envelope | undefined {
        return this.#order.at(-1);
    }

    append(batch: readonly Envelope[]): void {
        for (const said of batch) this.#add(said);
    }

    // What changed since the last time this was asked, of what was there before.
    takeTouched(): Set<Entry> {
        const touched = this.#touched;
        this.#touched = new Set();
        return touched;
    }

    find(place: string): { entry: Entry; said: Envelope } | null {
        const { entry, said } = this.#held.get(place) ?? {};
        return entry && said ? { entry, said } : null;
    }

    // Where it is held, or would be: under its id, or beside those who have that already. Ids have no line breaks.
    placeOf(said: Envelope): string {
        let place = said.id;
        for (let n = 1; ; n++) {
            const there = this.#held.get(place);
            if (!there || (there.said && isSame(there.said, said))) return place;
            place = `${said.id}\n${n}`;
        }
    }

    has(id: string): boolean {
        return Boolean(this.#held.get(id)?.said);
    }

    // Older ones, before all.
    prepend(older: readonly Envelope[]): void {
        this.#rebuild([...older, ...this.#order]);
    }

    // What a gap had swallowed, in its place. The gap stays where that was not all.
    fill(gap: Gap, found: readonly Envelope[], isAll: boolean): void {
        const place = this.#order.findIndex((said) => said === gap.parts[0]);
        if (place < 0) return;
        const after = this.#order.slice(isAll ? place + 1 : place);
        this.#rebuild([...this.#order.slice(0, place), ...found, ...after]);
    }

    // Forgets the oldest; what is left of their threads stays.
    drop(count: number): void {
        this.#rebuild(this.#order.slice(count));
    }

    // The proposals that are open by the gateway's word; others that seemed so have ended unheard.
    settle(openIds: ReadonlySet<string>): void {
        for (const call of this.open) {
            if (!call.proposal || openIds.has(call.proposal.id)) continue;
            call.state = 'ended';
            this.#change(call);
        }
    }

    #rebuild(order: readonly Envelope[]): void {
        const ended = new Set(this.entries.filter((entry) => entry.type === 'call' && entry.state === 'ended').map(({ key }) => key));
        this.entries = [];
        this.open.clear();
        this.#order = [];
        this.#held = new Map();
        this.append(order);
        for (const call of this.open)
            if (ended.has(call.key)) {
                call.state = 'ended';
                this.#change(call);
            }
    }

    #add(said: Envelope): void {
        if (UNTOLD.has(said.kind)) return;
        const place = this.placeOf(said);
        if (this.#held.has(place)) return; // told again
        const rest = this.#restOf(said);
        const entry = rest ? this.#beginLate(rest, said) : this.#entryOf(said, place);
        this.#order.push(said);
        this.#held.set(rest ? said.id : place, { entry, said });
    }

    // What came of a call before its beginning.
    #restOf({ id, kind }: Envelope): CallEntry | null {
        const { entry, said } = this.#held.get(id) ?? {};
        const { verb } = parseKind(kind);
        return entry?.type === 'call' && !said && (verb === 'request' || verb === 'proposal') ? entry : null;
    }

    #entryOf(said: Envelope, place: string): Entry {
        const thread = said.correlation_id === undefined ? undefined : this.#held.get(said.correlation_id)?.entry;

        if (said.kind === 'chat') return this.#push({ ...this.#base('chat', said, place), about: thread ?? null });
        if (said.kind === 'system/gap') return this.#push(this.#base('gap', said, place));
        if (said.kind === 'system/presence') return this.#crowdOf(said, place);
        if (thread?.type === 'call' && belongs(thread, said)) return this.#join(thread, said);
        if (thread?.type === 'event' && said.from === GATEWAY) return this.#join(thread, said);
        if (parseKind(said.kind).verb === 'other' && !said.kind.startsWith('mcp/') && said.kind !== 'system/proposal')
            return this.#push(this.#base('event', said, place));
        return this.#callOf(said, thread ? place : said.correlation_id ?? place);
    }

    #base<T extends Entry['type']>(type: T, said: Envelope, key: string) {
        return { type, key, at: this.entries.length, version: 0, parts: [said] };
    }

    #push<T extends Entry>(entry: T): T {
        this.entries.push(entry);
        return entry;
    }

    #join(thread: CallEntry | Event, said: Envelope): Entry {
        const before = thread.type === 'call' ? thread.state : null;
        if (thread.parts.length < PARTS_MOST) thread.parts.push(said);
        if (thread.type === 'call') addToCall(thread, said);
        this.#change(thread);
        if (thread.type === 'call' && thread.state !== before && isOver(thread.state)) this.#echo(thread, said);
        return thread;
    }

    #echo(call: CallEntry, said: Envelope): void {
        if (this.entries.length - call.at <= FAR || !(whenOf(said) - beganAt(call) > LATE_MS)) return;
        this.#push({ type: 'echo', key: `\n${this.placeOf(said)}`, at: this.entries.length, version: 0, parts: [said], about: call, state: call.state });
    }

    // A call begins, or the rest of one whose beginning is not held: what cites the same joins it.
    #callOf(said: Envelope, key: string): CallEntry {
        const call: CallEntry = this.#push({ ...newCall(), ...this.#base('call', said, key) });
        addToCall(call, said);
        if (key === said.correlation_id) this.#held.set(key, { entry: call, said: null });
        this.#change(call);
        return call;
    }

    // What came first is told again from here.
    #beginLate(call: CallEntry, said: Envelope): CallEntry {
        const parts = [said, ...call.parts];
        Object.assign(call, newCall(), { parts });
        for (const part of parts) addToCall(call, part);
        this.#change(call);
        return call;
    }

    #change(entry: Entry): void {
        entry.version++;
        this.#touched.add(entry);
        if (entry.type !== 'call') return;
        if (entry.state === 'open') this.open.add(entry);
        else this.open.delete(entry);
    }

    #crowdOf(said: Envelope, place: string): Entry {
        const last = this.entries.at(-1);
        if (last?.type !== 'crowd' || last.parts.length >= CROWD_MOST) return this.#push(this.#base('crowd', said, place));
        last.parts.push(said);
        this.#change(last);
        return last;
    }
}

// Of whom a part of the story is, for filters.
export function isFrom(entry: Entry, who: string): boolean {
    return entry.parts.some((part) => part.from === who);
}

// When it began; NaN where nobody knows.
export function beganAt(entry: Entry): number {
    return whenOf(entry.parts[0]);
}
