// SPDX-License-Identifier: Apache-2.0
// The record: what is asked for, what a record says in a line, and how a thread hangs together.
import { isObject, type Json, type JsonObject } from '../net/types';
import { t } from '../strings';
import { visible, visibleProse } from './visible';

export interface AuditRecord {
    seq: number;
    at: string;
    event: string;
    topic?: string;
    participant?: string;
    kind?: string;
    id?: string;
    correlation_id?: string;
    verdict?: string;
    by?: string;
    body?: Json;
    body_bytes?: number;
    body_hash?: string;
    hash: string;
}

export interface AuditPage {
    records: AuditRecord[];
    next?: string;
    head: string;
    indexed: number;
}

export const FILTERS = ['text', 'topic', 'participant', 'kind', 'event', 'verdict', 'since', 'until'] as const;
export type Filter = Partial<Record<typeof FILTERS[number], string>>;

const isSpan = (text: string) => /^\d+[smhdw]$/.test(text);

export function filterIn(query: URLSearchParams): Filter {
    return Object.fromEntries(FILTERS.flatMap((name) => {
        const value = query.get(name);
        return value ? [[name, value]] : [];
    }));
}

// Which of the choices for a time is in force; a span that is none of them is one of its own.
export function spanOf(filter: Filter): string {
    if (filter.until || (filter.since && !isSpan(filter.since))) return 'dates';
    return filter.since ?? '';
}

// Addresses are sent to people in other zones, fields show the zone of who looks:
// "2026-11-16T17:00:00.000Z" is "2026-11-16T12:00" in New York.
export function fieldOfTime(text: string | undefined): string {
    const at = new Date(text ?? '');
    if (Number.isNaN(at.getTime())) return '';
    const two = (n: number) => String(n).padStart(2, '0');
    return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

export function timeOfField(text: string): string {
    const at = new Date(text);
    return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

// The number of a record in an address; null: there is none.
export function seqIn(text: string | null): number | null {
    return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

export function headSeq(head: string): number {
    return Number(head.split(':')[0]);
}

export function isHead(text: string): boolean {
    return /^\d+:[0-9a-f]{64}$/.test(text);
}

// --- a record in a line ---

const LINE = 300;
const s = t.audit.summaries;

function briefly(value: Json | undefined): string {
    if (value === undefined) return '';
    const text = typeof value === 'string' ? visibleProse(value) : visible(JSON.stringify(value) ?? '');
    const line = text.replace(/\s+/g, ' ');
    return line.length > LINE ? `${line.slice(0, LINE)}…` : line;
}

const inside = (value: Json | undefined, ...path: string[]): Json | undefined =>
    path.reduce<Json | undefined>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value);

// "write {"path":"/x"}"
function callOf(payload: Json | undefined): string {
    const method = inside(payload, 'method'), name = inside(payload, 'params', 'name');
    const args = inside(payload, 'params', 'arguments') ?? (name === undefined ? inside(payload, 'params') : undefined);
    return `${briefly(name ?? method)} ${briefly(args)}`.trim();
}

function resultOf(payload: Json | undefined): string {
    const error = inside(payload, 'error');
    if (error !== undefined) return s.error(briefly(inside(error, 'message') ?? error));
    const content = inside(payload, 'result', 'content');
    const texts = Array.isArray(content) ? content.map((part) => inside(part, 'text')).filter((text) => typeof text === 'string') : [];
    return s.result(texts.length ? briefly(texts.join(' ')) : briefly(inside(payload, 'result')));
}

function summaryOfEnvelope(kind: string, payload: Json | undefined): string {
    const reason = briefly(inside(payload, 'reason'));
    if (kind === 'chat') return briefly(inside(payload, 'text') ?? payload);
    if (/^mcp[./]proposal/.test(kind)) return s.proposes(callOf(payload));
    if (/^mcp[./]request/.test(kind)) return (briefly(inside(payload, 'method')).startsWith('notifications/') ? s.tells : s.calls)(callOf(payload));
    if (/^mcp[./]response/.test(kind)) return resultOf(payload);
    if (kind === 'mcp/reject') return s.rejects(reason);
    if (kind === 'mcp/approve') return s.approves(reason);
    if (kind === 'mcp/withdraw') return s.withdraws(reason);
    if (kind === 'participant/status' && typeof inside(payload, 'status') === 'string') return statusText(payload);
    if (kind === 'system/proposal') return s.proposal(briefly(inside(payload, 'state')), briefly(inside(payload, 'by')));
    if (kind === 'system/rule') return s.rule(ruleText(payload), briefly(inside(payload, 'state')), briefly(inside(payload, 'by')), reason);
    if (kind.startsWith('rule/')) return s.ruleSaid(ruleText(inside(payload, 'rule')), reason);
    return briefly(payload);
}

// "is failing: it does not answer", as the room has it.
function statusText(payload: Json | undefined): string {
    const why = briefly(inside(payload, 'why'));
    return t.room.isNow(briefly(inside(payload, 'status')).replaceAll('_', ' ')) + (why && `: ${why}`);
}

// "bot: write" of a whole rule, or its id.
function ruleText(rule: Json | undefined): string {
    if (!isObject(rule)) return briefly(rule);
    return s.ruleOf(briefly(rule['proposer']), briefly(rule['tool'] ?? rule['method']));
}

export function summaryOf(record: AuditRecord): string {
    const { event, kind = '', body } = record;
    if (body === undefined) return '';
    if (event === 'envelope' || event === 'refusal') return isObject(body) && 'payload' in body ? summaryOfEnvelope(kind, body['payload']) : briefly(body);
    if (event === 'admin') return briefly(inside(body, 'request') ?? inside(body, 'path'));
    if (event === 'connect' && inside(body, 'address') !== undefined) return s.from(briefly(inside(body, 'address')), briefly(inside(body, 'token')));
    if (event === 'disconnect') return s.left(briefly(inside(body, 'reason')));
    if (event === 'config') return briefly(inside(body, 'file') ?? body);
    return briefly(body);
}

export function isRefused(record: AuditRecord): boolean {
    return record.event === 'refusal' || (record.verdict !== undefined && record.verdict !== '' && record.verdict !== 'allowed');
}

// Who it was for, where somebody was named.
export function addresseesOf(record: AuditRecord): string[] {
    const to = isObject(record.body) ? (record.body as JsonObject)['to'] : undefined;
    return Array.isArray(to) ? to.filter((one): one is string => typeof one === 'string') : [];
}

// --- threads ---

export interface Step {
    record: AuditRecord;
    depth: number;
    sinceFirstMs: number;
    sinceParentMs: number | null; // null: it answers to nothing that is here
}

const DEEPEST = 8; // more is not indented

// The records in their order, each below the one that it refers to.
export function threadOf(records: readonly AuditRecord[]): Step[] {
    const sorted = [...records].sort((a, b) => a.seq - b.seq);
    const steps = new Map<string, Step>();
    const first = Date.parse(sorted[0]?.at ?? '');
    const children = new Map<Step | null, Step[]>();

    for (const record of sorted) {
        const parent = (record.correlation_id !== undefined && steps.get(record.correlation_id)) || null;
        const at = Date.parse(record.at);
        const step: Step = {
            record, depth: parent ? Math.min(DEEPEST, parent.depth + 1) : 0,
            sinceFirstMs: at - first, sinceParentMs: parent ? at - Date.parse(parent.record.at) : null,
        };
        if (record.id !== undefined && record.event === 'envelope' && !steps.has(record.id)) steps.set(record.id, step);
        children.set(parent, [...(children.get(parent) ?? []), step]);
    }
    const flat: Step[] = [];
    const stack = [...(children.get(null) ?? [])].reverse();
    for (let step = stack.pop(); step; step = stack.pop()) {
        flat.push(step);
        stack.push(...[...(children.get(step) ?? [])].reverse());
    }
    return flat;
}

// "4 ms", "2.8 s", then as everywhere.
export function spanText(ms: number, longer: (ms: number) => string): string {
    if (ms < 1000) return t.audit.ms(Math.max(0, Math.round(ms)));
    return ms < 60_000 ? t.audit.sec((ms / 1000).toFixed(1)) : longer(ms);
}

// --- verifying ---

export interface Verification {
    state: 'none' | 'running' | 'done' | 'stopped';
    by?: string;
    started?: string;
    ended?: string;
    records?: number;
    total?: number;
    holds?: boolean;
    checkpoints?: number;
    removed?: number;
    uncovered?: number;
    head?: string;
    bad_seq?: number;
    what?: string;
}

const count = (n: number | undefined) => (n ?? 0).toLocaleString();

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

// What was found, in words.
export function outcomeOf(v: Verification): { tone: 'ok' | 'danger' | 'warn' | 'plain'; lines: string[] } | null {
    if (v.state === 'stopped') return { tone: 'warn', lines: [t.audit.stopped(count(v.records), count(v.total))] };
    if (v.state !== 'done') return null;
    if (!v.holds) return { tone: 'danger', lines: [t.audit.damaged(count(v.bad_seq)), t.audit.damagedText(sentence(visible(v.what ?? '')), count(v.records)), t.audit.damagedHint] };
    return {
        tone: 'ok',
        lines: [t.audit.holds(count(v.records), count(v.checkpoints)), ...(v.removed ? [t.audit.holdsRemoved(count(v.removed))] : []),
            ...(v.uncovered ? [t.audit.holdsUncovered(count(v.uncovered))] : [])],
    };
}
