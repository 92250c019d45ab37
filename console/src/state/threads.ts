// SPDX-License-Identifier: Apache-2.0
// A room's envelopes as what people look at: a line for what was said, and one card for each
// call with all that belongs to it along `correlation_id`. Each envelope costs a few steps,
// however many came before. Where something is put before, filled in or forgotten, only what hangs
// together with that is folded again; the rest is put in its place as it is.
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
const PASSES_MOST = 6; // through all of them, to find what hangs together
const PARTS_MOST = 2000; // of one thread: of a call that tells its progress for hours, the rest is not kept

// Kinds that tell this connection something and are no part of the room's story.
const UNTOLD = new Set(['system/welcome', 'system/error']);

// What one envelope did: the line that it began, and the call that it ended late.
interface Step { said: Envelope; place: string; began: Entry | null; late: { call: CallEntry; state: CallEntry['state'] } | null }

interface Held { entry: Entry; said: Envelope | null } // null: it was only cited so far

// The gateway tells again what somebody missed, and forgets ids in time: then they may be those of something else.
function isSame(a: Envelope, b: Envelope): boolean {
    if (a.from !== b.from || a.kind !== b.kind) return false;
    return a.from === GATEWAY || (a.ts === b.ts && a.correlation_id === b.correlation_id && JSON.stringify(a.payload) === JSON.stringify(b.payload));
}

// Which of the steps hang together with these envelopes, through the ids that each has and cites. Who came
// and went does with all of them: a line has as many as stand beside each other.
function tiedTo(changed: readonly Envelope[], steps: readonly Step[]): Set<Step> {
    const ids = new Set<string>();
    const citing: Envelope[] = [];
    for (const { id, correlation_id } of changed) {
        ids.add(id);
        if (correlation_id !== undefined) ids.add(correlation_id);
    }
    for (const { said } of steps) {
        if (said.correlation_id !== undefined) citing.push(said);
        if (said.kind === 'system/presence') ids.add(said.id);
    }
    for (let pass = 0, before = -1; ids.size !== before; pass++) {
        if (pass === PASSES_MOST) return new Set(steps);
        before = ids.size;
        for (const { id, correlation_id: cited = '' } of citing) {
            if (ids.has(cited)) ids.add(id);
            else if (ids.has(id)) ids.add(cited);
        }
    }
    return new Set(steps.filter(({ said }) => ids.has(said.id)));
}

export class Log {
    entries: Entry[] = []; // grows in place; another array where something else happened
    readonly open = new Set<CallEntry>(); // proposals that wait
    #steps: Step[] = [];
    #now: Step | null = null; // the one that is made
    #held = new Map<string, Held>(); // by their places
    #touched: Set<Entry> | null = null; // null: nobody asks

    get count(): number {
        return this.#steps.length;
    }

    get first(): Envelope | undefined {
        return this.#steps[0]?.said;
    }

    get last(): Envelope | undefined {
        return this.#steps.at(-1)?.said;
    }

    append(batch: readonly Envelope[]): void {
        for (const said of batch) this.#add(said);
    }

    // What changed since the last time this was asked, of what was there before; nothing where `entries` is
    // another array since then.
    takeTouched(): Set<Entry> {
        const touched = this.#touched ?? new Set();
        this.#touched = new Set();
        return touched;
    }

    // Nobody asks any more.
    stopTouched(): void {
        this.#touched = null;
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
        this.#replace(0, 0, older);
    }

    // What a gap had swallowed, in its place. The gap stays where that was not all.
    fill(gap: Gap, found: readonly Envelope[], isAll: boolean): void {
        const place = this.#steps.findIndex(({ said }) => said === gap.parts[0]);
        if (place >= 0) this.#replace(place, isAll ? 1 : 0, found);
    }

    // Forgets the oldest; what is left of their threads stays.
    drop(count: number): void {
        this.#replace(0, count, []);
    }

    // The proposals that are open by the gateway's word; others that seemed so have ended unheard.
    settle(openIds: ReadonlySet<string>): void {
        for (const call of this.open) {
            if (!call.proposal || openIds.has(call.proposal.id)) continue;
            call.state = 'ended';
            this.#change(call);
        }
    }

    // Others in the place of `count` from there on: as if all had been said in that order.
    #replace(from: number, count: number, others: readonly Envelope[]): void {
        const before = this.#steps.slice(0, from), gone = this.#steps.slice(from, from + count), after = this.#steps.slice(from + count);
        const tied = tiedTo([...gone.map(({ said }) => said), ...others], before.concat(after));
        const ended = new Set<string>();
        const forget = ({ said: { correlation_id: cited }, place, began }: Step) => {
            this.#held.delete(place);
            if (cited !== undefined && this.#held.get(cited)?.said === null) this.#held.delete(cited);
            if (began?.type === 'call' && began.state === 'ended') ended.add(began.key);
        };
        const again = (step: Step) => {
            if (tied.has(step)) this.#add(step.said);
            else this.#repeat(step);
        };

        gone.forEach(forget);
        tied.forEach(forget);
        this.entries = [];
        this.open.clear();
        this.#steps = [];
        this.#touched?.clear();
        before.forEach(again);
        this.append(others);
        after.forEach(again);
        for (const call of this.open)
            if (ended.has(call.key)) {
                call.state = 'ended';
                this.#change(call);
            }
    }

    // What it did once, in another place.
    #repeat(step: Step): void {
        const { began } = step;
        this.#steps.push(step);
        if (began) {
            began.at = this.entries.length;
            this.entries.push(began);
            if (began.type === 'call' && began.state === 'open') this.open.add(began);
        }
        this.#echo(step);
    }

    #add(said: Envelope): void {
        if (UNTOLD.has(said.kind)) return;
        const place = this.placeOf(said);
        if (this.#held.has(place)) return; // told again
        const rest = this.#restOf(said);
        this.#now = { said, place: rest ? said.id : place, began: null, late: null };
        this.#steps.push(this.#now);
        const entry = rest ? this.#beginLate(rest, said) : this.#entryOf(said, place);
        this.#held.set(this.#now.place, { entry, said });
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
        if (this.#now) this.#now.began = entry;
        return entry;
    }

    #join(thread: CallEntry | Event, said: Envelope): Entry {
        const before = thread.type === 'call' ? thread.state : null;
        if (thread.parts.length < PARTS_MOST) thread.parts.push(said);
        if (thread.type === 'call') addToCall(thread, said);
        this.#change(thread);
        if (thread.type === 'call' && thread.state !== before && isOver(thread.state)) this.#end(thread, said);
        return thread;
    }

    #end(call: CallEntry, said: Envelope): void {
        if (!this.#now || !(whenOf(said) - beganAt(call) > LATE_MS)) return;
        this.#now.late = { call, state: call.state };
        this.#echo(this.#now);
    }

    #echo({ said, place, late }: Step): void {
        if (!late || this.entries.length - late.call.at <= FAR) return;
        this.entries.push({ type: 'echo', key: `\n${place}`, at: this.entries.length, version: 0, parts: [said], about: late.call, state: late.state });
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
        this.#touched?.add(entry);
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
