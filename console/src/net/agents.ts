// SPDX-License-Identifier: Apache-2.0
// A question to /agents (docs/DIRECTORY.md), for who is no administrator: subscribes, asks once
// and leaves. A ticket, which is good for one use, stands for the token in the first message.
import { t } from '../strings';
import { post, Refusal } from './api';
import { newId } from './envelope';
import { currentSession } from './session';
import { isObject, type JsonObject } from './types';

const PATIENCE_MS = 15_000;

function uuid(): string {
    const id = newId();
    return `${id.slice(0, 8)}-${id.slice(8, 12)}-4${id.slice(13, 16)}-a${id.slice(17, 20)}-${id.slice(20)}`;
}

function message(performative: string, payload: JsonObject): JsonObject {
    return { protocol_version: '1.0', message_id: uuid(), timestamp: new Date().toISOString(), source_agent_id: currentSession().id, performative, payload };
}

// The data of an event, where the text is one.
function dataOf(text: unknown): { type: string; data: JsonObject } | null {
    try {
        const value = JSON.parse(String(text)) as unknown;
        const payload = isObject(value) ? value['payload'] : undefined;
        if (!isObject(payload) || !isObject(payload['data'])) return null;
        return { type: String(payload['event_type']), data: payload['data'] };
    } catch {
        return null;
    }
}

export async function askAgents<T>(performative: string, payload: JsonObject, signal: AbortSignal): Promise<T> {
    const { ticket } = await post<{ ticket: string }>('/ws-ticket', {}, { signal });
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/agents`);
    const question = message(performative, payload);

    return new Promise<T>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(t.teams.noAnswer)), PATIENCE_MS);
        const fail = (data: JsonObject) => reject(new Refusal(data['code'] === 'FORBIDDEN' ? 403 : 400, {
            detail: data['code'] === 'FORBIDDEN' ? t.teams.noRight : String(data['message'] ?? t.teams.noAnswer), error: String(data['code'] ?? ''),
        }));
        signal.addEventListener('abort', () => reject(new DOMException('left', 'AbortError')));
        socket.onopen = () => socket.send(JSON.stringify(message('CONTEXT_SUBSCRIBE', { authentication_token: ticket, event_types: ['TEAM_STATUS_UPDATED'] })));
        socket.onclose = () => { clearTimeout(timer); reject(new Error(t.teams.noAnswer)); };
        socket.onmessage = ({ data: text }) => {
            const event = dataOf(text);
            if (event?.type === 'ERROR') fail(event.data);
            else if (event?.type === 'SUBSCRIPTION_CONFIRMED') socket.send(JSON.stringify(question));
            else if (event?.data['in_reply_to'] === question['message_id']) resolve(event?.data as T);
        };
    }).finally(() => socket.close());
}
