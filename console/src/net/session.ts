// SPDX-License-Identifier: Apache-2.0
// Who uses this page. A link brings a ticket in the fragment, which no server logs; it is
// taken out of the address before anything else happens.
import { go } from '../router';
import { cell } from '../state/cell';
import { t } from '../strings';
import { get, post, Refusal, remove, sentenceOf, whenSignedOut } from './api';
import { currentToken, keepToken, restoreToken } from './credential';
import type { Session } from './types';

export type SignIn =
    | { state: 'starting' }
    | { state: 'out'; why: string | null } // a sentence, where there is something to say
    | { state: 'in'; session: Session };

const AGAIN_MS = 3000;

export const signIn = cell<SignIn>({ state: 'starting' });

// The ticket of a link that was opened where somebody is signed in: whoever sent the link may want
// him to act as somebody else without noticing, so that he is asked first.
export const offeredTicket = cell<string | null>(null);

// The session, for components that are only shown inside one.
export function currentSession(): Session {
    const now = signIn.get();
    if (now.state !== 'in') throw new Error('nobody is signed in');
    return now.session;
}

export function ticketIn(fragment: string): string | null {
    return new URLSearchParams(fragment.replace(/^#/, '')).get('ticket');
}

// Why the identity provider signed nobody in, as a sentence of ours; whatever else stands
// there is not shown.
export function refusalIn(fragment: string): string | null {
    const word = new URLSearchParams(fragment.replace(/^#/, '')).get('refused');
    return word !== null && Object.hasOwn(t.signin.refused, word) ? t.signin.refused[word] ?? null : null;
}

// What the address brings along is taken out of it before anything else happens.
function takeFragment(): string {
    const fragment = location.hash;
    if (fragment) history.replaceState(null, '', location.pathname + location.search);
    return fragment;
}

// How one may sign in besides a link and a token.
export interface Ways {
    provider?: { name: string };
}

export const waysToSignIn = (signal: AbortSignal): Promise<Ways> => get<Ways>('/session/ways', { signal });

// The identity provider sends browsers back to the root: where one was is kept in this tab.
const BACK = 'moot-back';

export function leaveForProvider(): void {
    sessionStorage.setItem(BACK, location.pathname + location.search);
}

function comeBack(): void {
    const back = sessionStorage.getItem(BACK);
    sessionStorage.removeItem(BACK);
    if (back?.startsWith('/console/') && location.pathname === '/') go(back, 'replace');
}

// --- what belongs to one person ---

const forgets: (() => void)[] = [];
let before: string | null = null; // who was signed in last

// Runs before somebody else signs in than the last one, or the same with other rights: whatever a module
// keeps for longer than its view is shown was that one's.
export function whenAnother(forget: () => void): void {
    forgets.push(forget);
}

async function enter(): Promise<void> {
    const session = await get<Session>('/session');
    const who = JSON.stringify([session.id, session.admin, session.topics]);

    if (before !== null && before !== who) for (const forget of forgets) forget();
    before = who;
    signIn.set({ state: 'in', session });
}

function leave(why: string | null): void {
    keepToken(null);
    offeredTicket.set(null);
    signIn.set({ state: 'out', why });
}

// Throws where the ticket is not good; then nothing has changed.
async function spendTicket(ticket: string): Promise<void> {
    try {
        keepToken((await post<{ token: string }>('/session', { ticket }, { isAnonymous: true })).token);
    } catch (error) {
        throw error instanceof Refusal ? new Error(t.signin.badTicket) : error;
    }
}

export function startSession(): void {
    whenSignedOut(() => { if (signIn.get().state === 'in') leave(t.signin.ended); }); // else it has not begun
    addEventListener('hashchange', () => { if (ticketIn(location.hash)) void arrive(); });
    void arrive();
}

// With what the address or this tab brings along.
async function arrive(): Promise<void> {
    const fragment = takeFragment();
    const ticket = ticketIn(fragment);

    comeBack();
    if (signIn.get().state !== 'in' && restoreToken()) await enterOrLeave();
    if (signIn.get().state === 'in') return offeredTicket.set(ticket);
    try {
        if (ticket) await acceptTicket(ticket);
        else if (signIn.get().state === 'starting') leave(refusalIn(fragment));
    } catch (error) {
        fall(error);
    }
}

// Never shows one while it acts as another.
async function enterOrLeave(): Promise<void> {
    try {
        await enter();
    } catch (error) {
        fall(error);
    }
}

// A server that does not answer has not refused: the token stays, and is tried again.
function fall(error: unknown): void {
    if (!currentToken() || (error instanceof Refusal && error.status === 401)) return leave(sentenceOf(error));
    signIn.set({ state: 'out', why: sentenceOf(error) });
    setTimeout(() => { if (signIn.get().state === 'out' && currentToken()) void enterOrLeave(); }, AGAIN_MS);
}

// Yes to what was offered. Throws where the ticket is not good; then one stays who one was.
export async function acceptTicket(ticket: string): Promise<void> {
    await spendTicket(ticket);
    offeredTicket.set(null);
    signIn.set({ state: 'starting' }); // the former is out before the other is in
    await enterOrLeave();
}

// Throws a Refusal where the token is not good.
export async function signInWith(token: string): Promise<void> {
    keepToken(token);
    try {
        await enter();
    } catch (error) {
        keepToken(null);
        throw error;
    }
}

export async function signOut(): Promise<void> {
    const now = signIn.get();
    try {
        if (now.state === 'in' && now.session.source !== 'token') await remove('/session');
    } catch {
        // The server ends it by itself in time; here it is over now.
    }
    leave(t.signin.signedOut);
}
