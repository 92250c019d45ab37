// SPDX-License-Identifier: Apache-2.0
// GET /admin/settings: what is in force, what of it may be changed here, and what somebody is
// about to change.
import { t } from '../strings';
import { wordsOf } from './search';

export interface Setting {
    name: string; // 'limits.rate_messages'
    type: 'count' | 'size' | 'duration' | 'rate' | 'byte_rate' | 'switch' | 'choice' | 'text' | 'path' | 'texts' | 'paths';
    value: string | string[] | null;
    default?: string | string[] | null;
    min?: string;
    max?: string;
    choices?: string[];
    source: 'default' | 'file' | 'runtime';
    by?: string;
    since?: string;
    live: boolean;
    needs_restart: boolean;
    help: string;
}

export interface Settings {
    file?: string;
    settings: Setting[];
}

export interface Draft {
    next: string | null; // null: back to what the file says
    was: string; // what was in force when somebody began to change it
}

export type Drafts = Readonly<Record<string, Draft>>; // by name
export type Which = 'live' | 'changed' | 'all';

export const isOn = (value: Setting['value']) => value === 'on' || value === 'true';

export function textOf(value: Setting['value'] | undefined): string {
    if (value === null || value === undefined) return t.settings.nothing;
    return Array.isArray(value) ? value.join(', ') || t.settings.nothing : value;
}

// What a field shows; switches are spelt in several ways.
export function fieldOf(setting: Setting): string {
    if (setting.type === 'switch') return isOn(setting.value) ? 'on' : 'off';
    return setting.value === null ? '' : textOf(setting.value);
}

const standOf = (setting: Setting) => `${fieldOf(setting)}\n${setting.source}`;

// Somebody else has changed it since this one began to.
export function isOvertaken(setting: Setting, draft: Draft | undefined): boolean {
    return draft !== undefined && draft.was !== standOf(setting);
}

// Those of which somebody would overrule what he has not seen.
export function unseenIn(drafts: Drafts, shown: readonly Setting[], now: readonly Setting[]): string[] {
    const seen = new Map(shown.map((setting) => [setting.name, standOf(setting)]));
    return now.filter((setting) => Object.hasOwn(drafts, setting.name) && seen.get(setting.name) !== standOf(setting)).map(({ name }) => name);
}

// A change that changes nothing is none; undefined: it is given up.
export function withDraft(drafts: Drafts, setting: Setting, next: string | null | undefined): Drafts {
    const { [setting.name]: old, ...others } = drafts;
    return next === undefined || next === fieldOf(setting) ? others : { ...others, [setting.name]: { next, was: old?.was ?? standOf(setting) } };
}

// What is wrong with it as far as that is plain here: the gateway knows the rest.
export function problemOf(setting: Setting, text: string): string | undefined {
    if (text.trim() === '') return t.settings.badEmpty;
    if (setting.type === 'count' && !/^(\d+|auto|off)$/.test(text.trim())) return t.settings.badCount;
    return undefined;
}

export function bodyOf(drafts: Drafts, settings: readonly Setting[]): Record<string, string | boolean | null> {
    return Object.fromEntries(Object.entries(drafts).map(([name, { next }]) => {
        const isSwitch = settings.find((one) => one.name === name)?.type === 'switch';
        return [name, next !== null && isSwitch ? next === 'on' : next?.trim() ?? null];
    }));
}

export function groupOf(name: string): string {
    const [first = ''] = name.split(/[._]/);
    return Object.hasOwn(t.settings.groups, first) ? first : 'other';
}

const isOther = (setting: Setting) => setting.source !== 'default' && JSON.stringify(setting.value) !== JSON.stringify(setting.default ?? null);

export function chosen(settings: readonly Setting[], which: Which, text: string): Setting[] {
    const words = wordsOf(text);
    return settings.filter((setting) => {
        if (which === 'live' && !setting.live) return false;
        if (which === 'changed' && !isOther(setting)) return false;
        const all = `${setting.name}\n${setting.help}\n${textOf(setting.value)}`.toLowerCase();
        return words.every((word) => all.includes(word));
    });
}

export function grouped(settings: readonly Setting[]): [group: string, settings: Setting[]][] {
    const groups = new Map<string, Setting[]>();
    for (const setting of settings) groups.set(groupOf(setting.name), [...(groups.get(groupOf(setting.name)) ?? []), setting]);
    const order = Object.keys(t.settings.groups);
    return [...groups].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
}
