// SPDX-License-Identifier: Apache-2.0
// Asking the gateway. An answer that is no success becomes a Refusal, whose message is the
// sentence that people are shown.
//
//     await get<{ topics: Topic[] }>('/topics')
//     await post(path`/admin/servers/${name}/start`)
//     await get('/admin/audit', { query: { topic, text }, signal })
import { parseExact } from '../state/exact';
import { t } from '../strings';
import { currentToken } from './credential';
import { isObject, type Problem } from './types';

export class Refusal extends Error {
    constructor(readonly status: number, readonly problem: Problem) {
        super(problem.detail ?? problem.title ?? t.net.status(status));
    }

    // The word of section 10, as 'capability_violation'.
    get code(): string {
        return this.problem.error ?? '';
    }
}

// No answer came, or not all of it.
export class Unreachable extends Error {
    constructor() {
        super(t.net.unreachable);
    }
}

// Browsers tell that by a TypeError, as they do of mistakes: it is told apart where it is asked.
export async function arriving<T>(answer: Promise<T>): Promise<T> {
    try {
        return await answer;
    } catch (error) {
        throw error instanceof TypeError ? new Unreachable() : error;
    }
}

export interface Ask {
    body?: unknown; // sent as JSON
    query?: Record<string, string | number | boolean | undefined>;
    signal?: AbortSignal;
    accept?: string;
    isAnonymous?: boolean; // sent without the token
}

// A path whose parts may be any text.
export function path(texts: TemplateStringsArray, ...values: string[]): string {
    return texts.reduce((whole, text, i) => whole + encodeURIComponent(values[i - 1] ?? '') + text);
}

export function urlOf(where: string, query: Ask['query'] = {}): string {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return search ? `${where}?${search}` : where;
}

// Set by session.ts: a token that is not good any more ends the session, whoever asked.
let onSignedOut: () => void = () => {};
export function whenSignedOut(listener: () => void): void {
    onSignedOut = listener;
}

async function problemOf(answer: Response): Promise<Problem> {
    const said: unknown = await answer.json().catch(() => null);
    return isObject(said) ? said : {};
}

// The raw answer, for streams and files; refusals are thrown.
export async function ask(method: string, where: string, options: Ask = {}): Promise<Response> {
    const token = options.isAnonymous ? null : currentToken();
    const headers: Record<string, string> = { accept: options.accept ?? 'application/json' };
    const init: RequestInit = { method, headers, cache: 'no-store', credentials: 'omit' };

    if (token) headers['authorization'] = `Bearer ${token}`;
    if (options.body !== undefined) {
        headers['content-type'] = 'application/json';
        init.body = JSON.stringify(options.body);
    }
    if (options.signal) init.signal = options.signal;
    const answer = await arriving(fetch(urlOf(where, options.query), init));
    if (answer.ok) return answer;
    const refusal = new Refusal(answer.status, await problemOf(answer));
    if (answer.status === 401 && token && token === currentToken()) onSignedOut();
    throw refusal;
}

async function askJson<T>(method: string, where: string, options?: Ask): Promise<T> {
    const answer = await ask(method, where, options);
    return (answer.status === 204 ? undefined : await arriving(answer.json())) as T;
}

export const get = <T>(where: string, options?: Ask) => askJson<T>('GET', where, options);
export const post = <T>(where: string, body: unknown = {}, options?: Ask) => askJson<T>('POST', where, { ...options, body });
export const patch = <T>(where: string, body: unknown, options?: Ask) => askJson<T>('PATCH', where, { ...options, body });
export const remove = <T>(where: string, options?: Ask) => askJson<T>('DELETE', where, options);

export async function getText(where: string, options?: Ask): Promise<string> {
    const answer = await ask('GET', where, options);
    return arriving(answer.text());
}

// Numbers as they were written: somebody decides by them.
export async function getExactly<T>(where: string, options?: Ask): Promise<T> {
    return parseExact(await getText(where, options)) as T;
}

// Whatever was thrown, for people.
export function sentenceOf(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}
