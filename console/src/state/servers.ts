// SPDX-License-Identifier: Apache-2.0
// MCP servers: what GET /admin/servers tells, and how it is put into words.
import type { JsonObject } from '../net/types';
import { t } from '../strings';
import { visible } from './visible';

export interface Instance {
    state: string;
    calls: number;
    caller?: string;
    pid?: number;
    last_failure?: string;
}

export interface Server {
    name: string;
    topic: string;
    id: string;
    state: string;
    why?: string;
    era?: string;
    tools?: number;
    held?: number;
    calls?: number;
    errors?: number;
    restarts?: number;
    supervisor?: { since?: string; waiting?: number; instances?: Instance[] };
}

export function isTroubled({ state, held }: Server): boolean {
    return state === 'failing' || state === 'sign_in_needed' || (held ?? 0) > 0;
}

type Variables = Record<string, string | JsonObject>;

export interface ServerSettings {
    name: string;
    command?: string[];
    url?: string;
    sandbox?: 'strict' | 'basic' | 'off';
    profile?: string;
    network?: 'none' | 'loopback' | 'hosts' | 'any';
    hosts?: string[];
    read?: string[];
    write?: string[];
    env?: Variables;
    headers?: Variables;
    memory?: number;
    processes?: number;
    cpu?: number;
    mode?: string;
    pin?: string;
    authorization?: { mode?: string };
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytesOf(bytes: number): string {
    let unit = 0;
    let value = bytes;
    for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
    return t.servers.box.bytes(Math.round(value * 10) / 10, UNITS[unit] ?? '');
}

const names = (list: readonly string[]) => list.map(visible).join(', ');

// What it may touch, as sentences; the one that matters most first.
export function sandboxOf(settings: ServerSettings): { text: string; isRisky: boolean }[] {
    const box = t.servers.box;
    if (settings.url) return [{ text: box.remote, isRisky: false }, ...variablesOf(settings.headers, box.headers, box.headers)];
    const level = settings.sandbox ?? 'strict';
    const said = [{ text: box[level], isRisky: level === 'off' }];
    if (level !== 'off') said.push(networkOf(settings), ...pathsOf(settings));
    else if (settings.network && settings.network !== 'any') said.push(networkOf(settings));
    if (settings.profile) said.push({ text: box.profile(visible(settings.profile)), isRisky: false });
    said.push(...variablesOf(settings.env, box.variables, box.secrets));
    if (settings.memory && settings.processes && settings.cpu)
        said.push({ text: box.limits(bytesOf(settings.memory), settings.processes, settings.cpu), isRisky: false });
    return said;
}

function networkOf(settings: ServerSettings) {
    const box = t.servers.box;
    const hosts = settings.hosts ?? [];
    const network = hosts.length ? 'hosts' : settings.network ?? 'none';

    if (network === 'hosts') return { text: hosts.length ? box.hosts(names(hosts)) : box.hostsNone, isRisky: hosts.some((host) => host.startsWith('*')) };
    return { text: box[network], isRisky: network === 'any' };
}

function pathsOf(settings: ServerSettings) {
    const box = t.servers.box;
    const { read = [], write = [] } = settings;

    if (!read.length && !write.length) return [{ text: box.noPaths, isRisky: false }];
    return [
        ...(read.length ? [{ text: box.reads(names(read)), isRisky: false }] : []),
        ...(write.length ? [{ text: box.writes(names(write)), isRisky: true }] : []),
    ];
}

// Names alone: what comes from a file or our own environment is a secret.
function variablesOf(variables: Variables | undefined, plain: (names: string) => string, secret: (names: string) => string) {
    const entries = Object.entries(variables ?? {});
    const of = (isSecret: boolean) => entries.filter(([, value]) => (typeof value !== 'string') === isSecret).map(([name]) => name);

    return [
        ...(of(false).length ? [{ text: plain(names(of(false))), isRisky: false }] : []),
        ...(of(true).length ? [{ text: secret(names(of(true))), isRisky: false }] : []),
    ];
}

// --- what it offers ---

export interface Offer {
    key: string;
    verdict: 'seen' | 'new' | 'changed' | 'dropped';
    held: boolean;
    digest?: string; // of what an approval pins
    why?: string;
    approved_by?: string;
    approved_at?: string;
    difference?: string;
    item: JsonObject;
}

export type OfferType = 'tool' | 'prompt' | 'resource' | 'template';

export interface Listing {
    pin: string;
    trusted: boolean;
    digest?: string; // of all of it
    tools?: Offer[];
    prompts?: Offer[];
    resources?: Offer[];
    resourceTemplates?: Offer[];
}

const LISTS = [
    { type: 'tool', list: 'tools' }, { type: 'prompt', list: 'prompts' }, { type: 'resource', list: 'resources' }, { type: 'template', list: 'resourceTemplates' },
] as const;

export interface TypedOffer {
    type: OfferType;
    list: (typeof LISTS)[number]['list'];
    offer: Offer;
}

export function offersOf(listing: Listing): TypedOffer[] {
    return LISTS.flatMap(({ type, list }) => (listing[list] ?? []).map((offer) => ({ type, list, offer })));
}

// New or changed since a person looked.
export function toReview(listing: Listing): TypedOffer[] {
    return offersOf(listing).filter(({ offer }) => offer.verdict === 'new' || offer.verdict === 'changed');
}

export interface DiffLine {
    kind: 'same' | 'added' | 'removed';
    text: string;
}

// "- …" and "+ …", as the gateway writes differences.
export function linesOfDifference(text: string): DiffLine[] {
    return text.split('\n').filter((line) => line !== '').map((line) => {
        if (line.startsWith('+ ')) return { kind: 'added', text: line.slice(2) };
        if (line.startsWith('- ')) return { kind: 'removed', text: line.slice(2) };
        return { kind: 'same', text: line };
    });
}

// --- adding one ---

export interface NewServer {
    name: string;
    topic: string;
    kind: 'command' | 'url';
    command: string;
    url: string;
    sandbox: 'strict' | 'basic' | 'off';
    read: string;
    write: string;
    hosts: string;
}

export type NewServerFault = 'name' | 'command' | 'url' | 'read' | 'write';

const lines = (text: string) => text.split('\n').map((line) => line.trim()).filter(Boolean);

export function faultsOf(form: NewServer): Set<NewServerFault> {
    const faults = new Set<NewServerFault>();
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(form.name)) faults.add('name');
    if (form.kind === 'command' && !lines(form.command).length) faults.add('command');
    if (form.kind === 'url' && !/^https?:\/\/[^\s]+$/.test(form.url)) faults.add('url');
    for (const which of ['read', 'write'] as const)
        if (form.kind === 'command' && form.sandbox !== 'off' && lines(form[which]).some((path) => !path.startsWith('/'))) faults.add(which);
    return faults;
}

// Without a sandbox they would say nothing.
function pathsIn(form: NewServer): Pick<ServerSettings, 'read' | 'write'> {
    return { ...(lines(form.read).length && { read: lines(form.read) }), ...(lines(form.write).length && { write: lines(form.write) }) };
}

// The body of POST /admin/servers.
export function settingsOf(form: NewServer): ServerSettings & { topic: string } {
    const base = { name: form.name, topic: form.topic };
    if (form.kind === 'url') return { ...base, url: form.url };
    const hosts = form.sandbox === 'strict' ? lines(form.hosts) : []; // the others have no such network
    return {
        ...base, command: lines(form.command), sandbox: form.sandbox, ...(form.sandbox === 'off' && { network: 'any' as const }),
        ...(form.sandbox !== 'off' && pathsIn(form)),
        ...(hosts.length && { hosts, network: 'hosts' as const }),
    };
}

// What runs on the gateway's machine, or is reached without TLS, is added there alone.
export function isAddedThere({ kind, url }: NewServer): boolean {
    return kind === 'command' || /^http:/.test(url);
}

// For a shell: what is not plain stands in quotes, in which nothing has a meaning.
export function quoted(word: string): string {
    return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function commandOf(form: NewServer): string {
    const { url, command = [], read = [], write = [], hosts = [], sandbox } = settingsOf(form);
    const words = ['moot', 'run', form.topic, '--as', form.name];

    if (url) return [...words, '--url', url].map(quoted).join(' ');
    for (const path of read) words.push('--read', path);
    for (const path of write) words.push('--write', path);
    for (const host of hosts) words.push('--host', host);
    if (sandbox !== 'strict') words.push('--sandbox', sandbox ?? '');
    return [...words, '--', ...command].map(quoted).join(' ');
}

// JSON is YAML, so texts stand as JSON has them.
export function yamlOf(form: NewServer): string {
    const { name, ...settings } = settingsOf(form);
    const rows = Object.entries(settings).map(([key, value]) => `    ${key}: ${JSON.stringify(value)}`);
    return ['servers:', `  ${JSON.stringify(name)}:`, ...rows].join('\n');
}
