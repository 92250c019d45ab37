// SPDX-License-Identifier: Apache-2.0
// One topic, live. The connection comes back by itself and goes on where it was (`after=`);
// where envelopes are missing all the same, the gateway says so with system/gap, which is
// handed on like any other envelope: a view shows it.
import { parseNoting } from '../state/exact';
import { t } from '../strings';
import { get, path, post, Refusal, sentenceOf } from './api';
import { GATEWAY, type Envelope } from './types';

export type SocketStatus =
    | { state: 'connecting' }
    | { state: 'open' }
    | { state: 'waiting'; retryAt: number; why: string } // Date.now() of the next attempt
    | { state: 'closed'; why: string }; // it does not come back by itself

export interface SocketEvents {
    onEnvelopes(batch: Envelope[], chars: number): void; // in their order, and how long their texts were; often a second
    onStatus(status: SocketStatus): void;
}

const BATCH_MS = 16;
const LONGEST_MS = 30_000;
const QUIET_MS = 30_000;
const FINAL = new Set([1000, 1002, 1003, 1007, 1008, 4001, 4003]); // coming back would change nothing

// How long to wait before the attempt of that number, from 0; `luck` is 0 to 1 and spreads
// the clients of a server that comes back.
export function backoffMs(attempt: number, luck: number): number {
    return Math.min(LONGEST_MS, 1000 * 2 ** attempt) * (0.75 + luck / 2);
}

// What is told to one connection alone is no place in the topic's order.
export function isPlace(said: Envelope): boolean {
    return said.from !== GATEWAY || !said.to?.length;
}

function asSentence(reason: string): string {
    return reason.charAt(0).toUpperCase() + reason.slice(1) + (/[.!?]$/.test(reason) ? '' : '.');
}

export class RoomSocket {
    #socket: WebSocket | null = null;
    #attempt = 0;
    #round = 0; // the newest attempt: what becomes of an older one does not count
    #timer: ReturnType<typeof setTimeout> | undefined;
    #flush: ReturnType<typeof setTimeout> | undefined;
    #batch: Envelope[] = [];
    #chars = 0; // of it
    #isClosed = false;
    #heardAt = 0;
    #watch: ReturnType<typeof setTimeout> | undefined;
    quietMs = QUIET_MS; // after which it asks whether anybody is still there

    // `last`: the envelope that is already there, from GET /topics/T/messages.
    constructor(readonly topic: string, private readonly events: SocketEvents, private last: string | null = null) {}

    open(): void {
        addEventListener('online', this.#hurry);
        void this.#connect();
    }

    close(): void {
        this.#isClosed = true;
        removeEventListener('online', this.#hurry);
        clearTimeout(this.#timer);
        clearTimeout(this.#flush);
        clearTimeout(this.#watch);
        this.#socket?.close(1000);
        this.#socket = null;
    }

    // Tries again at once: the network is back, or somebody pressed a button.
    retry(): void {
        if (this.#isClosed || this.#socket) return;
        clearTimeout(this.#timer);
        this.#attempt = 0;
        void this.#connect();
    }

    readonly #hurry = (): void => this.retry();

    async #connect(): Promise<void> {
        const mine = ++this.#round;
        this.events.onStatus({ state: 'connecting' });
        try {
            const { ticket } = await post<{ ticket: string }>('/ws-ticket');
            if (!this.#isClosed && mine === this.#round) this.#listen(new WebSocket(this.#address(ticket)));
        } catch (error) {
            if (mine !== this.#round) return;
            if (error instanceof Refusal && error.status < 500 && error.status !== 429) this.#end(sentenceOf(error));
            else this.#wait(sentenceOf(error));
        }
    }

    #address(ticket: string): URL {
        const url = new URL('/ws', location.href);
        url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
        url.search = new URLSearchParams({ topic: this.topic, presence: 'batch', ticket, ...(this.last && { after: this.last }) }).toString();
        return url;
    }

    #listen(socket: WebSocket): void {
        let wasOpen = false;
        this.#socket = socket;
        socket.onopen = () => {
            wasOpen = true;
            this.#attempt = 0;
            this.#heardAt = Date.now();
            this.#watchOver(socket);
            this.events.onStatus({ state: 'open' });
        };
        socket.onmessage = (event) => this.#receive(String(event.data));
        socket.onclose = (event) => {
            if (this.#socket !== socket) return;
            this.#socket = null;
            clearTimeout(this.#watch);
            if (FINAL.has(event.code)) this.#end(event.reason ? asSentence(event.reason) : t.net.closed(event.code));
            else if (wasOpen) this.#wait(t.net.lost);
            else void this.#askWhy();
        };
    }

    #receive(text: string): void {
        const said = parseNoting<Envelope>(text);
        if (isPlace(said) || this.last === null) this.last = said.id; // better a gap that is told than nothing
        this.#heardAt = Date.now();
        this.#batch.push(said);
        this.#chars += text.length;
        this.#flush ??= setTimeout(() => {
            const batch = this.#batch, chars = this.#chars;
            this.#batch = [];
            this.#chars = 0;
            this.#flush = undefined;
            this.events.onEnvelopes(batch, chars);
        }, BATCH_MS);
    }

    // A server that went without a word (its power failed, a router forgot us) leaves a socket that
    // seems open for ever: pages do not see pings. So in silence another door is asked.
    #watchOver(socket: WebSocket): void {
        const leftMs = this.#heardAt + this.quietMs - Date.now();
        clearTimeout(this.#watch);
        this.#watch = setTimeout(() => { if (leftMs > 0) this.#watchOver(socket); else void this.#isThere(socket); }, Math.max(leftMs, this.quietMs / 4));
    }

    async #isThere(socket: WebSocket): Promise<void> {
        const { last } = this;
        try {
            const query = { after: last ?? undefined };
            const { messages } = await get<{ messages: unknown[] }>(path`/topics/${this.topic}/messages`, { query, signal: AbortSignal.timeout(QUIET_MS / 2) });
            if (messages.length) await new Promise((done) => { setTimeout(done, this.quietMs / 4); }); // they may be on their way
            if (this.#socket !== socket) return;
            if (messages.length && this.last === last) this.#drop(socket);
            else this.#watchOver(socket);
        } catch (error) {
            if (this.#socket !== socket) return;
            if (error instanceof Refusal) this.#watchOver(socket);
            else this.#drop(socket);
        }
    }

    #drop(socket: WebSocket): void {
        this.#socket = null;
        socket.onmessage = null; // should it come to itself
        socket.close();
        this.#wait(t.net.lost);
    }

    // A browser does not say why a handshake was refused; another door of the topic does.
    async #askWhy(): Promise<void> {
        const mine = this.#round;
        try {
            await get(path`/topics/${this.topic}/participants`);
            if (mine === this.#round) this.#wait(t.net.lost);
        } catch (error) {
            if (mine !== this.#round) return;
            if (error instanceof Refusal && error.status < 500) this.#end(sentenceOf(error));
            else this.#wait(sentenceOf(error));
        }
    }

    #wait(why: string): void {
        if (this.#isClosed) return;
        const ms = backoffMs(this.#attempt++, Math.random());
        this.#timer = setTimeout(() => void this.#connect(), ms);
        this.events.onStatus({ state: 'waiting', retryAt: Date.now() + ms, why });
    }

    #end(why: string): void {
        if (!this.#isClosed) this.events.onStatus({ state: 'closed', why });
    }
}
