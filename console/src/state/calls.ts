// SPDX-License-Identifier: Apache-2.0
// One call, from the proposal to the result. What the gateway says of a proposal counts, and of
// answers only those of the one who was asked: anybody in the room can cite an id.
import { isObject, type Envelope, type Json, type JsonObject } from '../net/types';
import { parseKind, targetOf } from './kinds';

export type CallState =
    | 'open' // proposed: waits for a decision
    | 'rejected' | 'withdrawn' | 'expired'
    | 'ended' // no longer open; how it ended was not heard
    | 'approved' // fulfilled; the call itself was not heard
    | 'running'
    | 'asking' // the owner of the tool wants somebody's word
    | 'done' | 'failed' | 'denied' | 'cancelled'
    | 'told' // a notification: nobody answers
    | 'part'; // only something that belongs to a call whose beginning is not here

export interface Approvals { needed: number; given: number; by: string[] }

export interface Call {
    parts: Envelope[];
    state: CallState;
    method: string;
    target: string; // the tool, prompt or resource
    proposal: Envelope | null;
    request: Envelope | null;
    response: Envelope | null; // the one that counts
    progress: Envelope | null; // the latest
    announcement: Envelope | null; // the latest request for somebody's word
    approvals: Approvals | null;
    expires: string | null; // when the proposal runs out, by the gateway's word
    outcome: JsonObject | null; // the payload of the system/proposal that ended it
    foreign: number; // answers of somebody who was not asked
}

export const PROVISIONAL = -32001; // not the end: another response follows
export const DENIED = -32002;

export function newCall(): Call {
    return {
        parts: [], state: 'part', method: '', target: '', proposal: null, request: null, response: null,
        progress: null, announcement: null, approvals: null, expires: null, outcome: null, foreign: 0,
    };
}

export function addToCall(call: Call, said: Envelope): void {
    const { verb, method } = parseKind(said.kind);

    if (verb === 'proposal') begin(call, said, 'proposal');
    else if (verb === 'request') addRequest(call, said, method);
    else if (verb === 'response') addResponse(call, said);
    else if (said.kind === 'system/proposal') addOutcome(call, said.payload);
}

function begin(call: Call, said: Envelope, role: 'proposal' | 'request'): void {
    const { method, context } = parseKind(said.kind);

    if (call[role]) return;
    call[role] = said;
    if (!call.method || role === 'proposal') call.method = method;
    if (!call.target || role === 'proposal') call.target = context || targetOf(said, method);
    if (role === 'proposal') call.state = 'open';
    else call.state = method.startsWith('notifications/') ? 'told' : 'running';
}

// What is asked within a call, by who runs it or about it.
const WITHIN = new Set(['sampling/createMessage', 'elicitation/create', 'roots/list', 'ping', 'authorization/respond']);

function isWithin(said: Envelope, method: string): boolean {
    return said.correlation_id !== undefined && (WITHIN.has(method) || method.startsWith('notifications/'));
}

function isBeginning(call: Call, said: Envelope, method: string): boolean {
    if (call.request || call.response) return false;
    return !call.proposal || (call.method === method && said.correlation_id === call.proposal.id && call.state !== 'rejected');
}

// Whether it is a part of that call, which it cites. Whatever else is asked or done has a line of
// its own: nobody hides a call in the card of another.
export function belongs(call: Call, said: Envelope): boolean {
    const { verb, method } = parseKind(said.kind);
    if (verb === 'request') return isWithin(said, method) || isBeginning(call, said, method);
    return verb !== 'proposal' && (said.kind.startsWith('mcp/') || said.kind === 'system/proposal');
}

function addRequest(call: Call, said: Envelope, method: string): void {
    if (!isWithin(said, method)) {
        if (isBeginning(call, said, method)) begin(call, said, 'request');
    } else if (!call.request) return;
    else if (method === 'notifications/progress') call.progress = said;
    else if (method === 'notifications/cancelled') cancel(call, said);
    else if (method === 'notifications/authorization/request') announce(call, said);
}

function cancel(call: Call, said: Envelope): void {
    if (said.from === call.request?.from && !call.response) call.state = 'cancelled';
}

function announce(call: Call, said: Envelope): void {
    if (call.response || !wasAsked(call, said.from)) return;
    call.announcement = said;
    call.state = 'asking';
}

function wasAsked(call: Call, who: string): boolean {
    const to = call.request?.to;
    return !to?.length || to.includes(who);
}

function addResponse(call: Call, said: Envelope): void {
    if (call.request && said.correlation_id !== call.request.id) return; // to a question within the call
    if (!wasAsked(call, said.from) || (call.proposal && !call.request)) { // or nobody was
        call.foreign++;
        return;
    }
    if (call.response) return; // of several who were asked the first counts here; all are steps
    const state = stateOf(said.payload);
    if (state !== 'asking') call.response = said;
    call.state = state;
    if (!call.method) {
        const { method, context } = parseKind(said.kind);
        call.method = method;
        call.target = context;
    }
}

function stateOf(payload: JsonObject): 'done' | 'failed' | 'denied' | 'asking' {
    const error = errorOf(payload);
    if (error) {
        if (error.code === PROVISIONAL && isObject(error.data) && isObject(error.data['authorizationRequest'])) return 'asking';
        return error.code === DENIED && isObject(error.data) && error.data['authorizationId'] !== undefined ? 'denied' : 'failed';
    }
    const result = payload['result'];
    return isObject(result) && result['isError'] === true ? 'failed' : 'done';
}

export function errorOf(payload: JsonObject): { code: Json | undefined; message: string; data: Json | undefined } | null {
    const error = payload['error'];
    if (error === undefined) return null;
    if (!isObject(error)) return { code: undefined, message: String(error), data: undefined };
    return { code: error['code'], message: typeof error['message'] === 'string' ? error['message'] : '', data: error['data'] };
}

const ENDS = new Set(['rejected', 'withdrawn', 'expired']);

function addOutcome(call: Call, payload: JsonObject): void {
    const state = payload['state'];
    const approvals = readApprovals(payload['approvals']);

    if (approvals) call.approvals = approvals;
    if (typeof payload['expires'] === 'string') call.expires = payload['expires'];
    if (typeof state !== 'string' || state === 'open') return;
    call.outcome = payload;
    if (ENDS.has(state)) call.state = state as CallState;
    else if (state === 'fulfilled' && !call.request) call.state = 'approved';
    if (!call.method && typeof payload['kind'] === 'string') {
        const { method, context } = parseKind(payload['kind']);
        call.method = method;
        call.target = context;
    }
}

export function readApprovals(value: Json | undefined): Approvals | null {
    if (!isObject(value)) return null;
    const { needed, given, by } = value;
    return {
        needed: typeof needed === 'number' ? needed : 1,
        given: typeof given === 'number' ? given : 0,
        by: Array.isArray(by) ? by.filter((id) => typeof id === 'string') : [],
    };
}

// Whether nothing more is expected of it.
export function isOver(state: CallState): boolean {
    return state !== 'open' && state !== 'running' && state !== 'asking' && state !== 'approved';
}
