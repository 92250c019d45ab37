// SPDX-License-Identifier: Apache-2.0
// Whether somebody may send a kind, and why: what the rights of GET /admin/participants/ID/rights
// say. The gateway asks more when it comes to it (the payload, the room), and it alone decides.
import { isObject, type Capability, type JsonObject, type ParticipantType } from '../net/types';
import { covers, faultOf, kindOf, methodOf, needsNothing, type KindFault } from './patterns';

export interface PolicyRow {
    row: number;
    outcome: 'allow' | 'ask' | 'deny';
    kind: string;
    payload?: JsonObject;
    message?: string;
}

export interface Rights {
    participantId: string;
    token?: string;
    topic: string;
    type: ParticipantType;
    capabilities: string[];
    moot?: { capabilities?: JsonObject[] };
    limited: Capability[];
    paused: boolean;
    may_enter: boolean;
    brake?: 'on' | 'off';
    policy?: PolicyRow[];
    validation: 'lazy' | 'strict';
}

export type Answer = 'yes' | 'no' | 'depends' | 'asks';
export type Reason =
    | { why: 'fault'; fault: KindFault }
    | { why: 'free' } // needs nothing
    | { why: 'held'; by: Capability }
    | { why: 'limited'; by: Capability }
    | { why: 'condition'; by: JsonObject[] }
    | { why: 'nothing' }
    | { why: 'outside' } // may not enter
    | { why: 'paused' }
    | { why: 'policy'; row: PolicyRow }
    | { why: 'maybe-policy'; row: PolicyRow } // its payload decides
    | { why: 'brake' };

export interface Explanation {
    answer: Answer;
    reasons: Reason[]; // the one that decides first
}

// All that is in force for good, patterns before objects, as the gateway asks them.
export function heldOf(rights: Pick<Rights, 'capabilities' | 'moot'>): Capability[] {
    return [...rights.capabilities, ...(rights.moot?.capabilities ?? [])];
}

function byHolding(rights: Rights, kind: string): Explanation {
    if (needsNothing(kind)) return { answer: 'yes', reasons: [{ why: 'free' }] };
    const pattern = rights.capabilities.find((one) => covers(one, kind));
    if (pattern) return { answer: 'yes', reasons: [{ why: 'held', by: pattern }] };
    const objects = [...(rights.moot?.capabilities ?? []), ...rights.limited.filter(isObject)].filter((one) => covers(kindOf(one), kind));
    const limited = rights.limited.find((one) => !isObject(one) && covers(one, kind));
    if (limited) return { answer: 'yes', reasons: [{ why: 'limited', by: limited }] };
    if (objects.length) return { answer: 'depends', reasons: [{ why: 'condition', by: objects }] };
    return { answer: 'no', reasons: [{ why: 'nothing' }] };
}

// What neither a row that asks nor the brake holds up (section 6, policy).
function isNeverAsked(kind: string): boolean {
    const method = /^mcp\/request:([^:]+)/.exec(kind)?.[1];
    if (!method) return true;
    return /\/list$|^ping$|^initialize$|^server\/discover$|^notifications\/|^authorization\//.test(method);
}

const PASSES_PAUSE = /^(mcp\/response:|chat$|participant\/routing$)/;

function byPolicy(rights: Rights, kind: string): { stop: Explanation | null; maybe: Reason[] } {
    const maybe: Reason[] = [];
    for (const row of rights.policy ?? []) {
        if (row.outcome === 'ask' && isNeverAsked(kind)) continue;
        if (!covers(row.kind, kind) && !mayConcern(row, kind)) continue;
        if (row.payload || !covers(row.kind, kind)) {
            if (row.outcome !== 'allow') maybe.push({ why: 'maybe-policy', row });
            continue;
        }
        if (row.outcome === 'allow') return { stop: null, maybe };
        const answer = row.outcome === 'deny' ? 'no' : 'asks';
        return { stop: { answer, reasons: [{ why: 'policy', row }] }, maybe };
    }
    return { stop: null, maybe };
}

// A request without a CONTEXT is judged by what its payload names.
function mayConcern(row: PolicyRow, kind: string): boolean {
    return kind.startsWith('mcp/request:') && methodOf(kind) === kind && methodOf(row.kind) !== row.kind && covers(methodOf(row.kind), kind);
}

export function explain(rights: Rights, kind: string): Explanation {
    const fault = faultOf(kind);
    if (fault) return { answer: 'no', reasons: [{ why: 'fault', fault }] };
    if (!rights.may_enter) return { answer: 'no', reasons: [{ why: 'outside' }] };
    if (rights.paused && !PASSES_PAUSE.test(kind)) return { answer: 'no', reasons: [{ why: 'paused' }] };
    const held = byHolding(rights, kind);
    if (held.answer === 'no') return held;
    const { stop, maybe } = byPolicy(rights, kind);
    if (stop?.answer === 'no' || (stop && !maybe.length)) return { answer: stop.answer, reasons: stop.answer === 'no' ? stop.reasons : [...stop.reasons, ...held.reasons] };
    if (rights.brake === 'on' && rights.type === 'agent' && !isNeverAsked(kind)) return { answer: 'asks', reasons: [{ why: 'brake' }, ...held.reasons] };
    if (maybe.length) return { answer: 'depends', reasons: [...maybe, ...(stop?.reasons ?? []), ...held.reasons] };
    return held;
}
