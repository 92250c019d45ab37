// SPDX-License-Identifier: Apache-2.0
// Being in a room without a view of it, and hearing the answer to what is said there.
import { get, path } from '../../net/api';
import { currentSession } from '../../net/session';
import { RoomSocket } from '../../net/socket';
import { participantsOf } from '../../net/topics';
import { GATEWAY, isObject, type Envelope, type Json, type JsonObject } from '../../net/types';
import { newId } from '../../net/envelope';
import { PROVISIONAL } from '../../state/calls';

const WAIT_S = 20; // one question
const ENTER_MS = 5000;

export function request(method: string, params: JsonObject): JsonObject {
    return { jsonrpc: '2.0', id: newId(), method, params };
}

export interface Answer {
    from: string;
    result?: Json;
    error?: { code: number; message: string };
}

function answerIn(said: Envelope): Answer {
    const { from, payload: { result, error } } = said;
    if (!isObject(error)) return { from, result: result ?? null };
    return { from, error: { code: Number(error['code']), message: String(error['message'] ?? '') } };
}

function isAsked(from: string, to: readonly string[]): boolean {
    return !to.length || to.includes(from) || from === GATEWAY;
}

interface Page { messages: Envelope[]; last?: string }

// The response to a request, read over HTTP; null where none came until then. Only those who were
// asked answer: the room lets anybody say a response.
export async function answerTo(topic: string, { id, to = [] }: Envelope, untilMs: number, onAsked: () => void = () => {}): Promise<Answer | null> {
    for (let after = id; Date.now() < untilMs;) {
        const left = Math.ceil((untilMs - Date.now()) / 1000);
        const page = await get<Page>(path`/topics/${topic}/messages`, { query: { after, wait: Math.min(WAIT_S, Math.max(1, left)), routing: 'directed' } });
        for (const said of page.messages) {
            if (!said.kind.startsWith('mcp/response:') || said.correlation_id !== id || !isAsked(said.from, to)) continue;
            const answer = answerIn(said);
            if (answer.error?.code !== PROVISIONAL) return answer;
            onAsked();
        }
        after = page.last ?? after;
    }
    return null;
}

// To be in the room: an owner who wants calls authorized takes the word of a person for
// granted only while that person is there. Gives what ends it.
export async function enter(topic: string): Promise<() => void> {
    const me = currentSession().id;
    if ((await participantsOf(topic)).some((one) => one.id === me)) return () => {};
    let isIn: () => void = () => {};
    const entered = new Promise<void>((resolve) => { isIn = resolve; });
    const socket = new RoomSocket(topic, {
        onEnvelopes: (batch) => { if (batch.some((one) => one.kind === 'system/welcome')) isIn(); },
        onStatus: (status) => { if (status.state === 'closed' || status.state === 'waiting') isIn(); }, // then without
    });

    socket.open();
    await Promise.race([entered, new Promise((resolve) => { setTimeout(resolve, ENTER_MS); })]);
    return () => socket.close();
}
