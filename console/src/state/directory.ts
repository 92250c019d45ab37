// SPDX-License-Identifier: Apache-2.0
// Resources of the directory (docs/DIRECTORY.md), as they are searched, shown and edited.
import type { Json, JsonObject } from '../net/types';
import { t } from '../strings';
import { visible } from './visible';

export interface Rate {
    amount: number | string;
    currency?: string;
    per?: 'hour' | 'day' | 'month';
}

export interface Resource {
    id: string;
    kind: 'human' | 'agent';
    name: string;
    role?: string;
    skills?: string[];
    availability?: string;
    location?: string;
    rate?: Rate | number;
    languages?: string[];
    time_zone?: string;
    profile?: string;
    participant?: string;
    invite?: 'auto' | 'ask';
    updated_at?: string;
}

export interface Found {
    resource: Resource;
    score?: number;
    present?: boolean;
    reason?: { words?: string[]; skills?: string[] };
}

export interface Page {
    resources: Found[];
    next?: string;
    partial?: boolean;
}

// --- searching ---

export const FILTERS = ['kind', 'availability', 'skills', 'location', 'max_rate', 'currency'] as const;
export type Filters = Partial<Record<(typeof FILTERS)[number], string>> & { query: string };

export function filtersIn(query: URLSearchParams): Filters {
    const filters: Filters = { query: query.get('q') ?? '' };
    for (const name of FILTERS) {
        const value = query.get(name)?.trim();
        if (value) filters[name] = value;
    }
    return filters;
}

export const listOf = (text: string) => text.split(',').map((one) => one.trim()).filter(Boolean);

// Parameters of GET /admin/resources.
export function parametersOf({ skills, ...others }: Filters): Record<string, string> {
    const list = listOf(skills ?? '').join(',');
    return { ...others, query: others.query.trim(), ...(list && { skills: list }) };
}

// The payload of a RESOURCE_QUERY.
export function questionOf({ query, skills, max_rate, ...others }: Filters, cursor?: string): JsonObject {
    const rate = Number(max_rate);
    const filters: JsonObject = {
        ...others,
        ...(skills && listOf(skills).length && { skills: listOf(skills) }),
        ...(max_rate && !Number.isNaN(rate) && { max_rate: rate }),
    };
    return { query: query.trim(), ...(Object.keys(filters).length && { filters }), ...(cursor && { cursor }) };
}

// Why it was found, where anything was asked for.
export function reasonOf(found: Found): string | null {
    const { words = [], skills = [] } = found.reason ?? {};
    const parts = [
        ...(words.length ? [t.teams.foundWords(words.map(visible).join(', '))] : []),
        ...(skills.length ? [t.teams.foundSkills(skills.map(visible).join(', '))] : []),
    ];
    return parts.length ? parts.join(' · ') : null;
}

export function rateOf(rate: Rate | number | undefined): string | null {
    if (rate === undefined) return null;
    const { amount, currency = '', per = 'hour' } = typeof rate === 'number' ? { amount: rate } as Rate : rate;
    return t.teams.rate(`${visible(String(amount))}${currency ? ` ${visible(currency)}` : ''}`, t.teams.pers[per] ?? per);
}

// --- editing ---

export type ResourceForm = Record<'id' | 'kind' | 'name' | 'role' | 'skills' | 'availability' | 'location' | 'amount' | 'currency' | 'per' | 'languages' | 'time_zone' | 'profile' | 'participant' | 'invite', string>;

export function formOf(resource?: Resource): ResourceForm {
    const rate = typeof resource?.rate === 'number' ? { amount: resource.rate } as Rate : resource?.rate;
    return {
        id: resource?.id ?? '', kind: resource?.kind ?? 'human', name: resource?.name ?? '', role: resource?.role ?? '',
        skills: (resource?.skills ?? []).join(', '), availability: resource?.availability ?? '', location: resource?.location ?? '',
        amount: rate === undefined ? '' : String(rate.amount), currency: rate?.currency ?? '', per: rate?.per ?? 'hour',
        languages: (resource?.languages ?? []).join(', '), time_zone: resource?.time_zone ?? '', profile: resource?.profile ?? '',
        participant: resource?.participant ?? '', invite: resource?.invite ?? 'auto',
    };
}

export function formFaults(form: ResourceForm): Set<'name' | 'amount'> {
    const faults = new Set<'name' | 'amount'>();
    if (!form.name.trim()) faults.add('name');
    if (form.amount && !/^\d+(\.\d+)?$/.test(form.amount)) faults.add('amount');
    return faults;
}

// Members that have a value; the id only where one was given.
export function resourceOf(form: ResourceForm): JsonObject {
    const texts = ['id', 'role', 'availability', 'location', 'time_zone', 'profile', 'participant'] as const;
    const resource: JsonObject = { kind: form.kind, name: form.name.trim() };

    for (const name of texts) if (form[name].trim()) resource[name] = form[name].trim();
    for (const name of ['skills', 'languages'] as const) if (listOf(form[name]).length) resource[name] = listOf(form[name]);
    if (form.amount) resource['rate'] = { amount: Number(form.amount), ...(form.currency && { currency: form.currency.toUpperCase() }), per: form.per };
    if (form.invite === 'ask') resource['invite'] = 'ask';
    return resource;
}

// What a PATCH takes: only what differs, null for what is gone. What was not touched stays as it
// was written, digits of a rate included.
export function patchOf(before: ResourceForm, after: ResourceForm): JsonObject {
    const old = resourceOf(before), next = resourceOf(after);
    const patch: JsonObject = {};

    for (const name of new Set([...Object.keys(old), ...Object.keys(next)])) {
        if (name === 'id' || same(old[name], next[name])) continue;
        patch[name] = next[name] ?? null;
    }
    return patch;
}

const same = (a: Json | undefined, b: Json | undefined) => JSON.stringify(a) === JSON.stringify(b);
