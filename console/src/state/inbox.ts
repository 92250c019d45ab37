// SPDX-License-Identifier: Apache-2.0
// What waits for a word: what would run, what one may do about it, and what is compared.
import { isObject, type Envelope, type Json, type JsonObject } from '../net/types';
import type { Approvals } from './calls';
import { diff } from './diff';
import { isMismatch, paramsOf as paramsIn, parseKind, targetOf } from './kinds';
import { spelt } from './pointer';
import { visible } from './visible';

interface Waiting {
    topic: string;
    id: string;
    created: string;
    expires: string;
    may: string[];
}

// GET /inbox (docs/PROTOCOL.md, section 12).
export interface Proposal extends Waiting {
    type: 'proposal';
    proposer: string;
    kind: string;
    approvals: Approvals;
    envelope?: Envelope; // left out where it is long
}

export interface Authorization extends Waiting {
    type: 'authorization';
    owner: string;
    authorizationId: string;
    request: string;
    tool: string;
    requester: string;
    proposer?: string; // where that is somebody else
    reason?: string;
    asked?: string; // who alone decides
    arguments?: Json; // left out where they are long
}

export type Item = Proposal | Authorization;

// GET /topics/T/decisions.
export interface Decision {
    id: string;
    created: string;
    proposer: string;
    kind: string;
    tool?: string;
    arguments?: Json;
    state: string;
    by?: string;
    reason?: string;
    decided?: string;
    rule?: string;
    owner?: string; // of authorizations
    to?: string[]; // of proposals
    edited?: Json[];
}

// What names it in an address. A call to be authorized may be announced again, with another id
// of the envelope, and is still the same.
export type Ref = { topic: string; id: string } | { topic: string; authorization: string };

export function refOf(item: Item): Ref {
    if (item.type === 'proposal') return { topic: item.topic, id: item.id };
    return { topic: item.topic, authorization: JSON.stringify([item.owner, item.authorizationId]) };
}

export function refIn(query: URLSearchParams): Ref | null {
    const topic = query.get('topic'), id = query.get('id'), authorization = query.get('authorization');
    if (topic === null) return null;
    if (authorization !== null) return { topic, authorization };
    return id === null ? null : { topic, id };
}

export function keyOfRef(ref: Ref): string {
    return 'id' in ref ? `${ref.topic}/proposal/${ref.id}` : `${ref.topic}/authorization/${ref.authorization}`; // a topic has no slash
}

export function keyOf(item: Item): string {
    return keyOfRef(refOf(item));
}

export function askerOf(item: Item): string {
    return item.type === 'proposal' ? item.proposer : item.requester;
}

// --- what would run ---

export interface Call {
    method: string;
    tool: string | null; // or the prompt, or the URI
    args: Json | undefined; // undefined: not known here
    others: JsonObject; // what else is sent with it: metadata, members that no form shows
    owners: string[]; // whom it asks; nobody: whoever approves says so
    reason: string | null; // in the asker's words
    contradiction: string | null; // what the kind says where the payload says something else
}

const textIn = (value: Json | undefined) => (typeof value === 'string' ? value : null);

export function callOf(item: Item): Call {
    if (item.type === 'authorization')
        return { method: 'tools/call', tool: item.tool, args: item.arguments, others: {}, owners: [item.owner], reason: item.reason ?? null, contradiction: null };
    const { verb, method, context } = parseKind(item.kind);
    const { envelope } = item;
    if (!envelope) return { method, tool: context || null, args: undefined, others: {}, owners: [], reason: null, contradiction: null };
    const payload = isObject(envelope.payload) ? envelope.payload : {};
    const said = { kind: item.kind, payload };
    const params = paramsIn(said);

    return {
        method, tool: targetOf(said, method) || context || null, owners: envelope.to ?? [], reason: textIn(payload['reason']),
        args: method === 'tools/call' ? params['arguments'] ?? {} : membersOf(params, (name) => name !== '_meta'),
        others: membersOf(params, (name) => (method === 'tools/call' ? name !== 'name' && name !== 'arguments' : name === '_meta')),
        contradiction: verb !== 'proposal' || isMismatch(said) ? item.kind : null,
    };
}

function membersOf(params: JsonObject, isWanted: (name: string) => boolean): JsonObject {
    return Object.fromEntries(Object.entries(params).filter(([name]) => isWanted(name)));
}

// What somebody who reads it agrees to. An owner may announce the same authorization again, with
// something else in it.
export function agreedTo(item: Item): string {
    const { contradiction, reason, ...call } = callOf(item);
    return JSON.stringify([askerOf(item), call]);
}

// The params of the call that is made of it: those that were proposed, or with other arguments.
export function paramsOf(proposal: Proposal, edited?: Json): JsonObject {
    const proposed = proposal.envelope ? paramsIn(proposal.envelope) : {};
    if (edited === undefined) return proposed;
    if (parseKind(proposal.kind).method === 'tools/call') return { ...proposed, arguments: edited };
    return { ...(isObject(edited) ? edited : {}), ...(proposed['_meta'] !== undefined && { _meta: proposed['_meta'] }) };
}

// --- what one may do ---

export type Step =
    | 'fulfil' // the approval is enough: the call is made with it
    | 'approve' // others must agree as well, or make the call
    | 'wait' // it was approved, and others are waited for
    | null;

export function stepOf(item: Item, me: string): Step {
    if (item.type === 'authorization') return item.may.includes('respond') ? 'approve' : null;
    const { needed, given, by } = item.approvals;
    const isMine = by.includes(me);
    const isEnough = needed <= 1 || given + (isMine ? 0 : 1) >= needed;

    if (item.may.includes('fulfil') && isEnough) return 'fulfil';
    if (isMine) return 'wait';
    return item.may.includes('approve') ? 'approve' : null;
}

// Section 9, editing: a person whose word alone is enough.
export function mayEdit(item: Item, me: { id: string; type: string }): boolean {
    return item.type === 'proposal' && me.type === 'human' && item.may.includes('approve') && item.approvals.needed <= 1
        && stepOf(item, me.id) === 'fulfil';
}

export function isForMe(item: Item): boolean {
    return item.may.some((act) => act !== 'withdraw');
}

export function isOver(item: Item, now: number): boolean {
    return Date.parse(item.expires) <= now;
}

// --- the list ---

export type Show = 'mine' | 'decide' | 'all';

export interface Filter {
    show: Show;
    room: string; // '' is any
    text: string;
}

function textOf(item: Item): string {
    const call = callOf(item);
    return [askerOf(item), item.topic, call.method, call.tool, ...call.owners, JSON.stringify(call.args) ?? ''].join('\n').toLowerCase();
}

export function isShown(item: Item, filter: Filter): boolean {
    if (filter.show === 'decide' && !isForMe(item)) return false;
    if (filter.show === 'mine' && !item.may.includes('withdraw')) return false;
    if (filter.room && item.topic !== filter.room) return false;
    return filter.text === '' || textOf(item).includes(filter.text.toLowerCase());
}

// What runs out first stands first; among equals nothing moves.
export function sorted(items: readonly Item[]): Item[] {
    return [...items].sort((a, b) => Date.parse(a.expires) - Date.parse(b.expires) || (keyOf(a) < keyOf(b) ? -1 : 1));
}

const PREVIEW = 160;

// Arguments in a line: path="/tmp/x" mode="w".
export function argumentsLine(args: Json | undefined): string {
    if (!isObject(args)) return args === undefined ? '' : visible(JSON.stringify(args).slice(0, PREVIEW));
    let line = '';
    for (const [name, value] of Object.entries(args)) {
        line += `${line && '  '}${spelt(name)}=${JSON.stringify(value)}`;
        if (line.length > PREVIEW) break;
    }
    return visible(line.slice(0, PREVIEW));
}

// --- the last similar call ---

const AGREED = new Set(['fulfilled', 'approved']);

export function wasAgreed(decision: Decision): boolean {
    return AGREED.has(decision.state);
}

// What people agreed to last says what is usual; of the same asker, if there is one.
export function baselineOf(decisions: readonly Decision[], asker: string): Decision | null {
    const usable = decisions.filter((one) => wasAgreed(one) && one.arguments !== undefined && !one.edited);
    return usable.find((one) => one.proposer === asker) ?? usable[0] ?? null;
}

// Whether it would run where that one did.
export function placeOf(decision: Decision, owners: readonly string[]): 'same' | 'other' | 'unknown' {
    const before = ownersOf(decision);
    if (!before.length || !owners.length) return 'unknown';
    return before.length === owners.length && before.every((id) => owners.includes(id)) ? 'same' : 'other';
}

// Nobody: it is not known.
export function ownersOf({ owner, to = [] }: Decision): string[] {
    return owner === undefined ? to : [owner];
}

export interface Comparison {
    marks: Set<string>; // what is other, or new
    missing: string[]; // what was there and is not
}

export function compare(before: Json, now: Json): Comparison {
    const changes = diff(before, now);
    return {
        marks: new Set(changes.filter((one) => one.kind !== 'removed').map((one) => one.pointer)),
        missing: changes.filter((one) => one.kind === 'removed').map((one) => one.pointer),
    };
}
