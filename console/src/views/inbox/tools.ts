// SPDX-License-Identifier: Apache-2.0
// What an owner says of a tool: its description, its schema and, for administrators, whether
// that is what a person has seen (pins). Others ask the owner, as any client would; the answer
// is kept for a while, so that a room does not hear the question again and again.
import { get, path } from '../../net/api';
import { envelope } from '../../net/envelope';
import { currentSession } from '../../net/session';
import { say } from '../../net/topics';
import { isObject, type Json, type JsonObject } from '../../net/types';
import { answerTo, request } from './say';

export interface Pin {
    state: 'pinned' | 'new' | 'changed' | 'held' | 'off';
    by?: string;
    at?: string;
    difference?: string;
}

export interface Tool {
    about: JsonObject; // as MCP has it: name, description, inputSchema, annotations
    pin: Pin | null; // null: nobody told
    server?: string; // whose pins they are
}

const KEPT_MS = 120_000;
const PINS_KEPT_MS = 5000; // the gateway is asked, and no room hears of it
const ANSWER_MS = 4000;
const PAGES = 10;

const kept = new Map<string, { until: number; tools: Promise<Tool[] | null> }>();

// Null where nobody answers.
export function toolsOf(topic: string, owner: string): Promise<Tool[] | null> {
    const key = `${currentSession().id}\n${topic}\n${owner}`;
    const known = kept.get(key);
    if (known && known.until > Date.now()) return known.tools;
    const tools = findTools(topic, owner).catch(() => null);
    const keep = (ms: number) => kept.set(key, { until: Date.now() + ms, tools });
    keep(KEPT_MS);
    void tools.then((found) => {
        if (!found) kept.delete(key);
        else if (found.some((tool) => tool.pin)) keep(PINS_KEPT_MS);
    });
    return tools;
}

// 'unlisted': the owner has told of others.
export async function toolOf(topic: string, owner: string, name: string): Promise<Tool | 'unlisted' | null> {
    const tools = await toolsOf(topic, owner);
    return tools && (tools.find((tool) => tool.about['name'] === name) ?? 'unlisted');
}

async function findTools(topic: string, owner: string): Promise<Tool[] | null> {
    if (currentSession().admin) {
        const { servers } = await get<{ servers: { name: string; topic: string; id: string }[] }>('/admin/servers');
        const server = servers.find((one) => one.topic === topic && one.id === owner);
        if (server) return pinnedTools(server.name);
    }
    return askedTools(topic, owner);
}

interface Listing {
    pin: 'hold' | 'warn' | 'off';
    tools: { verdict: string; held: boolean; approved_by?: string; approved_at?: string; difference?: string; item: JsonObject }[];
}

async function pinnedTools(server: string): Promise<Tool[]> {
    const { pin, tools } = await get<Listing>(path`/admin/servers/${server}/tools`);
    return tools.map((one) => ({ about: one.item, pin: pinOf(pin, one), server }));
}

function pinOf(mode: Listing['pin'], one: Listing['tools'][number]): Pin {
    const state = mode === 'off' ? 'off' : one.held ? 'held' : one.verdict === 'new' || one.verdict === 'changed' ? one.verdict : 'pinned';
    return { state, ...(one.approved_by && { by: one.approved_by }), ...(one.approved_at && { at: one.approved_at }), ...(one.difference && { difference: one.difference }) };
}

async function askedTools(topic: string, owner: string): Promise<Tool[] | null> {
    const tools: Tool[] = [];
    let cursor: string | null = null;

    for (let page = 0; page < PAGES; page++) {
        const call = envelope('mcp/request:tools/list', request('tools/list', cursor === null ? {} : { cursor }), { to: [owner] });
        await say(topic, call);
        const answer = await answerTo(topic, call, Date.now() + ANSWER_MS);
        if (!isObject(answer?.result)) return page ? tools : null;
        tools.push(...objectsIn(answer.result['tools']).map((about) => ({ about, pin: null })));
        const next = answer.result['nextCursor'];
        if (typeof next !== 'string') break;
        cursor = next;
    }
    return tools;
}

function objectsIn(value: Json | undefined): JsonObject[] {
    return Array.isArray(value) ? value.filter(isObject) : [];
}
