// SPDX-License-Identifier: Apache-2.0
// A room while this page is in it: its history, what comes live, who is there, what is unread.
// A few rooms stay open while one looks at something else, so that marks are true and coming
// back is quick.
import { getText, path, sentenceOf } from '../../net/api';
import { envelope } from '../../net/envelope';
import { currentSession, signIn } from '../../net/session';
import { RoomSocket, type SocketStatus } from '../../net/socket';
import { say } from '../../net/topics';
import { GATEWAY, isObject, type Envelope, type Json, type JsonObject } from '../../net/types';
import { Answerer } from '../../state/answers';
import { readApprovals } from '../../state/calls';
import { cell } from '../../state/cell';
import { parseNoting } from '../../state/exact';
import { mark } from '../../state/marks';
import { Roster } from '../../state/roster';
import { Log, type Entry, type Gap } from '../../state/threads';
import { byServer } from '../../state/time';
import { firstUnread, isMention, isNews } from '../../state/unread';
import { noteHeard, whenOf } from '../../state/when';
import { keepRead, readOf } from './reads';
import { recordBefore } from './record';
import { soon } from './soon';

const OPEN_MOST = 4; // rooms
const ENVELOPES_MOST = 150_000;
const CHARS_MOST = 150_000_000;
const KEPT = 0.75; // of them, when there are too many
const FEW = 100; // envelopes: who comes for the first time finds nothing held for him
const PAGES_MOST = 10; // of the record, for one gap
const OPEN_KEY = 'moot-rooms'; // of this tab

export interface Messages { messages: Envelope[]; gap: boolean; more: boolean; last?: string }
export type Loading = { state: 'loading' } | { state: 'ready' } | { state: 'failed'; why: string };
// Whether there may be something before the first line.
export type Older = { state: 'more' } | { state: 'loading' } | { state: 'none' } | { state: 'failed'; why: string };

export class LiveRoom {
    readonly log = new Log();
    readonly roster = new Roster();
    readonly tick = cell(0); // counts what is new to show
    loading: Loading = { state: 'loading' };
    status: SocketStatus = { state: 'connecting' };
    older: Older = { state: currentSession().admin ? 'more' : 'none' };
    unread = 0;
    mentions = 0;
    newKey: string | null = null; // the first line that was not seen
    missed = 0; // lines that came before somebody looked again, until he has gone there
    hasGap = false; // and nobody has said that he knows
    mentioned: Envelope | null = null; // the latest, to be read aloud
    readonly me = currentSession().id;
    #socket: RoomSocket | null = null;
    #isWatched = false;
    #isClosed = false;
    #isDue = false;
    #restUntil = 0;
    #chars = 0;
    #isWelcome = false; // the room has said who is there
    #waiting: JsonObject[] = []; // proposals that are open, as it has them
    #misplaced = new Set<string>(); // of them those that came without their place in the order
    readonly #answerer = new Answerer(this.me);

    constructor(readonly topic: string) {
        void this.load();
    }

    async load(): Promise<void> {
        this.loading = { state: 'loading' };
        this.#changed();
        try {
            const last = await this.#history();
            if (this.#isClosed) return;
            this.#findUnread();
            this.loading = { state: 'ready' };
            this.#socket = new RoomSocket(this.topic, {
                onEnvelopes: (batch, chars) => this.#hear(batch, chars),
                onStatus: (status) => this.#turn(status),
            }, last);
            this.#socket.open();
            if (this.older.state === 'more' && this.log.count < FEW) void this.loadOlder();
        } catch (error) {
            this.loading = { state: 'failed', why: sentenceOf(error) };
        }
        this.#changed();
    }

    // What the gateway holds, page by page; gives the last id.
    async #history(): Promise<string | null> {
        let last: string | null = null;
        for (;;) {
            const text: string = await getText(path`/topics/${this.topic}/messages`, { query: { after: last ?? undefined } });
            const page: Messages = parseNoting<Messages>(text, ({ messages }) => messages);
            this.#chars += text.length;
            if (page.gap && last) {
                this.log.append([localGap(last)]);
                this.hasGap = true;
            }
            for (const said of page.messages) this.roster.hear(said);
            this.log.append(page.messages);
            this.#limit();
            last = page.last ?? last;
            if (!page.more || this.#isClosed) return last;
            this.#changed();
        }
    }

    close(): void {
        this.#isClosed = true;
        this.#socket?.close();
    }

    retry(): void {
        this.#socket?.retry();
    }

    #turn(status: SocketStatus): void {
        if (status.state === 'connecting') this.#answerer.connect();
        this.status = status;
        this.#changed();
    }

    #hear(batch: readonly Envelope[], chars: number): void {
        const before = this.log.entries.length;
        const now = Date.now();
        const isFirst = !this.#isWelcome;
        for (const said of batch) {
            noteHeard(said, now);
            this.roster.hear(said);
            if (said.kind === 'system/welcome') this.#welcomed(said);
            if (said.kind === 'system/gap') this.hasGap = true;
            this.#answer(said, now);
        }
        this.log.append(batch);
        this.#chars += chars;
        this.#count(before);
        if (isFirst || batch.some(({ kind }) => kind === 'system/gap')) this.#addWaiting();
        if (currentSession().admin) {
            const gap = this.log.entries.slice(before).find((entry) => entry.type === 'gap');
            if (gap) void this.#doubt(gap);
        }
        this.#limit();
        this.#changed();
    }

    // Nobody waits for it: what is refused was not needed.
    #answer(said: Envelope, now: number): void {
        const answer = this.#answerer.hear(said, this.roster.you?.capabilities ?? [], now, byServer(now));
        if (!answer) return;
        const { kind, payload, to, correlation_id } = answer;
        say(this.topic, envelope(kind, payload, { to, correlation_id })).catch(() => undefined);
    }

    // Proposals that seemed open and are not listed have ended unheard.
    #welcomed(welcome: Envelope): void {
        const moot = welcome.payload['moot'];
        this.#isWelcome = true;
        this.#waiting = isObject(moot) && Array.isArray(moot['proposals']) ? moot['proposals'].filter(isObject) : [];
        this.log.settle(new Set(this.#waiting.map(({ id }) => String(id))));
        this.#readWaiting();
    }

    #readWaiting(): void {
        for (const { id, approvals, expires } of this.#waiting) {
            const entry = this.log.find(String(id))?.entry;
            if (entry?.type !== 'call') continue;
            entry.approvals = readApprovals(approvals) ?? entry.approvals;
            if (typeof expires === 'string') entry.expires = expires;
        }
    }

    // What waits and is not held is older, or was said in a gap: it is told here, and not as new.
    #addWaiting(): void {
        for (const { envelope, created } of this.#waiting) {
            if (!isEnvelope(envelope) || this.log.has(envelope.id)) continue;
            noteHeard(envelope, Date.parse(String(created)));
            this.#misplaced.add(envelope.id);
            this.log.append([envelope]);
        }
        this.#readWaiting();
    }

    #isInPlace({ id }: Envelope): boolean {
        return this.log.has(id) && !this.#misplaced.has(id);
    }

    #count(before: number): void {
        const { entries } = this.log;
        for (let i = before; i < entries.length; i++) {
            const entry = entries[i];
            const said = entry?.parts[0];
            if (!entry || !said || !isNews(entry, this.me)) continue;
            const isMine = isMention(said, this.me);
            if (isMine) this.mentioned = said;
            if (this.#isWatched) continue;
            if (this.unread++ === 0) this.newKey = entry.key; // stays when it was read, until there is more
            if (isMine) this.mentions++;
        }
        if (this.#isWatched) this.#read();
        else markAll();
    }

    #findUnread(): void {
        const read = readOf(this.topic, this.me);
        const { entries } = this.log;
        if (!read) return;
        const from = firstUnread(entries, read, this.log.find(read.id)?.entry.at);
        const news = entries.slice(from).filter((entry) => isNews(entry, this.me));
        this.unread = news.length;
        this.mentions = news.filter((entry) => entry.parts[0] && isMention(entry.parts[0], this.me)).length;
        this.newKey = news[0]?.key ?? null;
        markAll();
    }

    // Whether somebody sees the end of it now.
    watch(isWatched: boolean): void {
        if (isWatched === this.#isWatched) return;
        this.#isWatched = isWatched;
        if (isWatched) {
            this.missed = this.unread;
            this.#read();
        }
        this.#changed();
    }

    #read(): void {
        const { last } = this.log;
        this.unread = 0;
        this.mentions = 0;
        if (last) keepRead(this.topic, this.me, { id: last.id, ts: whenOf(last) || Date.now() });
        markAll();
    }

    #limit(): void {
        if (this.log.count <= ENVELOPES_MOST && this.#chars <= CHARS_MOST) return;
        this.log.drop(Math.floor(this.log.count * (1 - KEPT)));
        this.#chars *= KEPT;
        this.older = { state: currentSession().admin ? 'more' : 'none' };
    }

    async loadOlder(): Promise<void> {
        if (this.older.state === 'loading') return;
        this.older = { state: 'loading' };
        this.#changed();
        try {
            const page = await recordBefore(this.topic, this.log.first);
            const news = page.envelopes.filter((said) => !this.#isInPlace(said));
            this.log.prepend(news);
            for (const said of news.toReversed()) {
                this.roster.remember(said);
                this.#misplaced.delete(said.id);
            }
            this.older = page.isAll || !news.length ? { state: 'none' } : { state: 'more' };
        } catch (error) {
            this.older = { state: 'failed', why: sentenceOf(error) };
        }
        this.#changed();
    }

    // Asks the record for what is missing there, from the end of the gap backwards.
    async fill(gap: Gap): Promise<void> {
        const { found, isAll } = await this.#missingIn(gap);
        this.#filled(gap, found, isAll);
    }

    // Nothing is missing where people only came and went, as after every restart. What cannot be
    // asked stays in doubt.
    async #doubt(gap: Gap): Promise<void> {
        const missing = await this.#missingIn(gap).catch(() => null);
        if (missing?.isAll && missing.found.every(({ kind }) => kind === 'system/presence')) this.#filled(gap, missing.found, true);
    }

    async #missingIn(gap: Gap): Promise<{ found: Envelope[]; isAll: boolean }> {
        let at = this.log.entries.slice(gap.at + 1).find(({ parts: [said] }) => said && this.#isInPlace(said))?.parts[0];
        const found: Envelope[] = [];
        for (let page = 0; page < PAGES_MOST; page++) {
            const { envelopes, isAll } = await recordBefore(this.topic, at, 1000);
            while (envelopes.length && this.#isInPlace(envelopes.at(-1) as Envelope)) envelopes.pop(); // of the same moment
            const place = envelopes.findLastIndex((said) => this.#isInPlace(said));
            found.unshift(...envelopes.slice(place + 1));
            if (place >= 0 || isAll || !envelopes.length) return { found, isAll: true };
            at = envelopes[0];
        }
        return { found, isAll: false };
    }

    #filled(gap: Gap, found: readonly Envelope[], isAll: boolean): void {
        this.log.fill(gap, found, isAll);
        for (const { id } of found) this.#misplaced.delete(id);
        if (isAll) this.hasGap = false;
        this.#changed();
    }

    // Gives the first line that was not seen.
    goToMissed(): Entry | null {
        this.missed = 0;
        this.#changed();
        return this.log.entries.findLast(({ key }) => key === this.newKey) ?? null;
    }

    knowsGap(): void {
        this.hasGap = false;
        this.#changed();
    }

    // Shown with the next frame; under load as often as frames are quick, so that scrolling and
    // typing stay so.
    #changed(): void {
        if (this.#isDue) return;
        this.#isDue = true;
        const draw = (now: number) => {
            if (now < this.#restUntil) return soon(draw);
            this.#isDue = false;
            this.tick.set(this.tick.get() + 1);
            requestAnimationFrame((after) => { this.#restUntil = after + 2 * (after - now); });
        };
        soon(draw);
    }
}

function isEnvelope(value: Json | undefined): value is Json & Envelope {
    return isObject(value) && typeof value['id'] === 'string' && typeof value['kind'] === 'string' && typeof value['from'] === 'string' && isObject(value['payload']);
}

function localGap(after: string): Envelope {
    return { protocol: '', id: `gap after ${after}`, from: GATEWAY, kind: 'system/gap', payload: { after } };
}

// --- the rooms that are open ---

const rooms = new Map<string, LiveRoom>(); // the one that was looked at last is last

signIn.subscribe(() => {
    if (signIn.get().state === 'in') {
        for (const topic of keptTopics()) openRoom(topic); // marks are true after a reload, too
        return;
    }
    for (const room of rooms.values()) room.close();
    rooms.clear();
    keepTopics();
    mark('room', 0);
});

function keptTopics(): string[] {
    try {
        const kept: unknown = JSON.parse(sessionStorage.getItem(OPEN_KEY) ?? '[]');
        return Array.isArray(kept) ? kept.filter((topic) => typeof topic === 'string').slice(-OPEN_MOST) : [];
    } catch {
        return [];
    }
}

function keepTopics(): void {
    sessionStorage.setItem(OPEN_KEY, JSON.stringify([...rooms.keys()]));
}

export function openRoom(topic: string): LiveRoom {
    const room = rooms.get(topic) ?? new LiveRoom(topic);
    rooms.delete(topic);
    rooms.set(topic, room);
    for (const [name, other] of rooms) {
        if (rooms.size <= OPEN_MOST) break;
        other.close();
        rooms.delete(name);
    }
    keepTopics();
    return room;
}

export function liveRoom(topic: string): LiveRoom | undefined {
    return rooms.get(topic);
}

export function leaveRoom(topic: string): void {
    rooms.get(topic)?.close();
    rooms.delete(topic);
    keepTopics();
    markAll();
}

function markAll(): void {
    mark('room', [...rooms.values()].reduce((sum, room) => sum + room.mentions, 0));
}
