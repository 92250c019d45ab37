// SPDX-License-Identifier: Apache-2.0
// GET /admin/overview, and what is drawn of it.
import type { Json } from '../net/types';
import { t } from '../strings';
import { headSeq } from './audit';
import type { Point } from './plot';

export interface Beat {
    at: string;
    messages: number;
    refused: number;
    opened: number;
    decided: number;
    p50_ms?: number;
    p95_ms?: number;
    waiting: number;
    queued_bytes: number;
    members: number;
    connections: number;
    memory_bytes: number;
}

export interface Overview {
    at: string;
    started: string;
    version: string;
    workers: number;
    connections: number;
    websockets: number;
    members: number;
    topics: number;
    messages: number;
    refused: number;
    refusals: Record<string, number>;
    proposals: Record<'open' | 'opened' | 'fulfilled' | 'rejected' | 'withdrawn' | 'expired', number>;
    authorizations: number;
    servers: { all: number; ready: number; failing: number; sign_in_needed: number };
    mcp_clients: number;
    agents: number;
    memory_bytes: number;
    store: { failing: boolean; failing_since?: string; why?: string; queued_bytes: number; disk_bytes: number; commits: number; failures: number };
    record: { head: string; at?: string; signed: number; indexed: number } | null;
    cluster: Json;
    history: { minutes: Beat[]; five_minutes: Beat[] };
}

// Servers that run, or rest until somebody calls them.
export function fineOf({ servers }: Overview): number {
    return servers.all - servers.failing - servers.sign_in_needed;
}

export type Span = 'hour' | 'day';
type Measure = Exclude<keyof Beat, 'at'>;

const STRETCH_MS: Record<Span, number> = { hour: 60_000, day: 300_000 };

const COUNT: Record<Span, number> = { hour: 60, day: 288 };

export function beatsOf(overview: Overview, span: Span): Beat[] {
    return span === 'hour' ? overview.history.minutes : overview.history.five_minutes;
}

// A server that has just begun: what was before is not known, and the axis is the same.
export function padded(points: readonly Point[], span: Span): Point[] {
    const first = points[0]?.[0];
    const missing = first === undefined ? 0 : Math.max(0, COUNT[span] - points.length);
    return [...Array.from({ length: missing }, (_, i): Point => [(first ?? 0) - (missing - i) * STRETCH_MS[span], null]), ...points];
}

// The last stretch still runs: its counts would look like a fall. Levels are true at any time.
export function countsOf(beats: readonly Beat[], measure: Measure): Point[] {
    const whole = beats.length > 1 ? beats.slice(0, -1) : beats;
    return levelsOf(whole, measure);
}

// Where nothing was measured (nothing was decided) there is a gap and no zero.
export function levelsOf(beats: readonly Beat[], measure: Measure): Point[] {
    return beats.map((beat) => [Date.parse(beat.at), beat[measure] ?? null]);
}

export function stretchOf(span: Span): string {
    return STRETCH_MS[span] === 60_000 ? t.overview.perMinute : t.overview.perFive;
}

export interface Unit {
    name: string;
    size: number;
}

const TIMES: readonly Unit[] = [{ name: 'ms', size: 1 }, { name: 's', size: 1000 }, { name: 'min', size: 60_000 }, { name: 'h', size: 3_600_000 }];
const BYTES: readonly Unit[] = [{ name: 'KiB', size: 1 << 10 }, { name: 'MiB', size: 1 << 20 }, { name: 'GiB', size: 1 << 30 }];
const ENOUGH = 3; // of a unit at the top, before the next smaller one is better

// The unit in which the highest of them is told, so that the axis has round numbers.
function unitOf(units: readonly Unit[], series: readonly (readonly Point[])[]): Unit {
    const most = series.flat().reduce((high, [, value]) => Math.max(high, value ?? 0), 0);
    return units.filter(({ size }) => most >= ENOUGH * size).at(-1) ?? units[0] ?? { name: '', size: 1 };
}

export function inUnit(kind: 'time' | 'bytes', series: readonly (readonly Point[])[]): { unit: Unit; series: Point[][] } {
    const unit = unitOf(kind === 'time' ? TIMES : BYTES, series);
    return { unit, series: series.map((points) => points.map(([at, value]): Point => [at, value === null ? null : value / unit.size])) };
}

// "850 ms", "2.5 s", "4 min".
export function timeOf(ms: number): string {
    const unit = TIMES.filter(({ size }) => ms >= size).at(-1) ?? TIMES[0] ?? { name: '', size: 1 };
    return ms === 0 ? '0' : `${Number((ms / unit.size).toFixed(1))} ${unit.name}`;
}

export function refusalsOf(overview: Overview): [reason: string, count: number][] {
    return Object.entries(overview.refusals).filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a);
}

export function recordSeq(overview: Overview): number {
    return overview.record ? headSeq(overview.record.head) || 0 : 0;
}
