// SPDX-License-Identifier: Apache-2.0
// What a kind says, and whether the payload says the same (PROTOCOL.md, section 5).
import { isObject, type Capability, type Envelope, type Json, type JsonObject } from '../net/types';
import { covers, kindOf } from './patterns';

type Said = Pick<Envelope, 'kind' | 'payload'>;

export interface Kind {
    verb: 'request' | 'response' | 'proposal' | 'other';
    method: string; // of the first three
    context: string; // '' where the kind names none
}

const MCP = /^mcp\/(request|response|proposal):([^:]*)(?::(.*))?$/s;
const OTHER: Kind = { verb: 'other', method: '', context: '' };

export function parseKind(kind: string): Kind {
    const found = MCP.exec(kind);
    if (!found) return OTHER;
    return { verb: found[1] as Kind['verb'], method: found[2] ?? '', context: found[3] ?? '' };
}

export function paramsOf(said: Said): JsonObject {
    const params = said.payload['params'];
    return isObject(params) ? params : {};
}

const URI_METHODS = new Set(['resources/read', 'resources/subscribe', 'resources/unsubscribe']);

// The type of a reference says which of its names counts. One that has another besides names nothing.
function referredTo(ref: Json | undefined): Json | undefined {
    if (!isObject(ref)) return undefined;
    const named = ref['type'] === 'ref/prompt' ? ref['name'] : ref['type'] === 'ref/resource' ? ref['uri'] : undefined;
    return (ref['name'] ?? ref['uri']) === named ? named : undefined;
}

// What the payload asks for: the tool, prompt or resource. '' where it names nothing.
export function targetOf(said: Said, method: string): string {
    const params = paramsOf(said);
    const name = URI_METHODS.has(method) ? params['uri']
        : method === 'completion/complete' ? referredTo(params['ref']) : params['name'];
    return typeof name === 'string' ? name : '';
}

// In lazy rooms the gateway does not compare: a kind of one tool may carry a call of another.
export function isMismatch(said: Said): boolean {
    const { verb, method, context } = parseKind(said.kind);
    if (verb !== 'request' && verb !== 'proposal') return false;
    const asked = said.payload['method'];
    if (asked !== undefined && asked !== method) return true;
    return context === '' ? said.kind.endsWith(':') : targetOf(said, method) !== context; // an empty CONTEXT is none that there can be
}

// What clients ask by themselves: lists, pings, notices. It happens in every room, all the time.
export function isRoutine(method: string): boolean {
    return method.endsWith('/list') || method === 'ping' || method === 'initialize' || method.startsWith('notifications/');
}

// Whether something of it may be sent: what conditions say is for the gateway to judge.
export function mayHave(capabilities: readonly Capability[], kind: string): boolean {
    return capabilities.some((one) => covers(kindOf(one), kind));
}
