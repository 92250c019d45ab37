// SPDX-License-Identifier: Apache-2.0
// What a person's page answers by itself: who asks what there is to call learns at once that there
// is nothing, instead of waiting for an answer that never comes.
import { GATEWAY, isObject, type Capability, type Envelope, type Json, type JsonObject } from '../net/types';
import { t } from '../strings';
import { parseKind } from './kinds';
import { covers } from './patterns';

const REPLAY_MS = 3000; // after which what comes is new, where the room does not tell of our coming
const OLD_MS = 30_000; // by the word of who asks
const MOST = 10; // answers a second
const KNOWN_MOST = 1000; // ids
const NO_METHOD = -32601;

const LISTS: Record<string, string> = {
    'tools/list': 'tools', 'prompts/list': 'prompts', 'resources/list': 'resources', 'resources/templates/list': 'resourceTemplates',
};

export interface Answer { kind: string; payload: JsonObject; to: string[]; correlation_id: string }

function answerOf(id: Json, method: string): JsonObject {
    const list = Object.hasOwn(LISTS, method) ? LISTS[method] : undefined;
    const base = { jsonrpc: '2.0', id };
    if (list !== undefined) return { ...base, result: { [list]: [] } };
    return method === 'ping' ? { ...base, result: {} } : { ...base, error: { code: NO_METHOD, message: t.room.nothingToCall } };
}

// Whether the room tells that one came.
function isJoin({ from, kind, payload }: Envelope, who: string): boolean {
    if (from !== GATEWAY || kind !== 'system/presence') return false;
    const { event, participant, participants } = payload;
    if (event === 'join') return isObject(participant) && participant['id'] === who;
    return Array.isArray(participants) && participants.some((one) => isObject(one) && one['event'] === 'join' && one['id'] === who);
}

export class Answerer {
    #welcomed: { at: number; ts: number } | null = null; // on this connection
    #isLive = false; // what was said before has been told
    #known = new Set<string>(); // requests that were answered, or need no answer
    #recent: number[] = []; // when it answered last

    constructor(private readonly me: string) {}

    // A connection begins: what comes first was said before.
    connect(): void {
        this.#welcomed = null;
        this.#isLive = false;
    }

    // In the order of the room. `now` by the clock of this page, `serverNow` by that of times in envelopes.
    hear(said: Envelope, capabilities: readonly Capability[], now: number, serverNow: number): Answer | null {
        if (said.kind === 'system/welcome') this.#welcomed ??= { at: now, ts: Date.parse(said.ts ?? '') };
        if (this.#welcomed) this.#isLive ||= now - this.#welcomed.at > REPLAY_MS || (isJoin(said, this.me) && Date.parse(said.ts ?? '') >= this.#welcomed.ts);
        const answer = this.#answer(said);
        if (!answer) return null;
        const key = `${said.from}\n${said.id}`;
        const isNew = this.#isLive && !this.#known.has(key) && !(Date.parse(said.ts ?? '') < serverNow - OLD_MS);
        this.#remember(key);
        return isNew && isAllowed(capabilities, answer) && this.#isDue(now) ? answer : null;
    }

    #answer(said: Envelope): Answer | null {
        const { verb, method, context } = parseKind(said.kind);
        const { id } = said.payload;
        if (verb !== 'request' || said.from === this.me || said.from === GATEWAY || !said.to?.includes(this.me)) return null;
        if (method.startsWith('notifications/') || (typeof id !== 'string' && typeof id !== 'number')) return null;
        return { kind: `mcp/response:${method}${context && `:${context}`}`, payload: answerOf(id, method), to: [said.from], correlation_id: said.id };
    }

    #remember(key: string): void {
        this.#known.add(key);
        if (this.#known.size > KNOWN_MOST) this.#known.delete(this.#known.values().next().value as string);
    }

    #isDue(now: number): boolean {
        this.#recent = this.#recent.filter((at) => now - at < 1000);
        if (this.#recent.length >= MOST) return false;
        this.#recent.push(now);
        return true;
    }
}

// What conditions say is for the gateway to judge: then nothing is tried.
function isAllowed(capabilities: readonly Capability[], { kind }: Answer): boolean {
    return capabilities.some((one) => typeof one === 'string' && covers(one, kind));
}
