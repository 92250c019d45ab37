// SPDX-License-Identifier: Apache-2.0
// Deciding. The gateway judges; where somebody else was quicker, what that one did is shown
// as the ending, and nothing else happens.
import { Refusal } from '../../net/api';
import { envelope, newId } from '../../net/envelope';
import { currentSession } from '../../net/session';
import { say } from '../../net/topics';
import { isObject, type Envelope, type Json, type JsonObject } from '../../net/types';
import { paramsOf, type Authorization, type Item, type Proposal } from '../../state/inbox';
import { parseKind } from '../../state/kinds';
import { t } from '../../strings';
import { note, noteRun, type Ending, type Run } from './endings';
import { answerTo, enter, request } from './say';
import { endingsIn, look } from './watch';

const RUN_MS = 180_000; // how long an answer is waited for
const WORD_MS = 5000; // to hear whether a decision counted

const OVER = new Set(['proposal_state', 'not_found']);

// Does it; where it is over already, the ending is noted instead, and null is given.
async function orEnding<T>(item: Item, act: () => Promise<T>): Promise<T | null> {
    try {
        return await act();
    } catch (error) {
        const ending = error instanceof Refusal && OVER.has(error.code) ? await endingOf(item) : null;
        if (!ending) throw lacks(error);
        note(item, { ...ending, note: t.inbox.tooLate });
        return null;
    } finally {
        void look();
    }
}

// It still waits: one's own word is not enough.
function lacks(error: unknown): unknown {
    const { needed, given } = error instanceof Refusal && error.code === 'proposal_state' ? error.problem : {};
    return typeof needed === 'number' && typeof given === 'number' ? new Error(t.inbox.lacks(given, needed)) : error;
}

async function endingOf(item: Item): Promise<Ending | null> {
    return (await endingsIn(item.topic, [item])).get(item.id) ?? null;
}

export interface Terms {
    to?: string; // whom to ask, where the proposal does not say
    edited?: Json; // other arguments
}

// The approver makes the call. Gives whether it was made.
export async function fulfil(item: Proposal, terms: Terms = {}): Promise<boolean> {
    const { method } = parseKind(item.kind);
    const named = item.envelope?.to ?? [];
    const to = named.length || !terms.to ? named : [terms.to];
    const call = envelope(item.kind.replace('mcp/proposal:', 'mcp/request:'), request(method, paramsOf(item, terms.edited)), {
        correlation_id: item.id, ...(to.length && { to }), ...(terms.edited !== undefined && { edited: true }),
    });
    const leave = await enter(item.topic);
    const startedAt = Date.now();
    const isMade = await orEnding(item, async () => {
        await say(item.topic, call);
        note(item, { state: 'fulfilled', by: currentSession().id, run: { state: 'running', startedAt }, ...(terms.edited !== undefined && { note: t.inbox.editedNote, edited: terms.edited }) });
        return true;
    }).catch((error: unknown) => { leave(); throw error; });

    if (isMade) void follow(item, call, startedAt).finally(leave);
    else leave();
    return isMade === true;
}

async function follow(item: Item, call: Envelope, startedAt: number): Promise<void> {
    const tell = (run: Partial<Run> & { state: Run['state'] }) => noteRun(item, { startedAt, ...run });
    try {
        const answer = await answerTo(item.topic, call, startedAt + RUN_MS, () => tell({ state: 'asked' }));
        if (!answer) tell({ state: 'silent', endedAt: Date.now() });
        else if (answer.error) tell({ state: 'failed', endedAt: Date.now(), error: t.inbox.saysError(answer.from, answer.error.message) });
        else tell({ state: isFailure(answer.result) ? 'failed' : 'done', endedAt: Date.now(), result: answer.result ?? null });
    } catch {
        tell({ state: 'silent', endedAt: Date.now() }); // it runs all the same
    }
}

function isFailure(result: Json | undefined): boolean {
    return isObject(result) && result['isError'] === true;
}

async function word(item: Proposal, kind: string, state: string | null, payload: JsonObject = {}): Promise<boolean> {
    return await orEnding(item, async () => {
        await say(item.topic, envelope(kind, payload, { correlation_id: item.id }));
        if (state) note(item, { state, by: currentSession().id, ...(typeof payload['reason'] === 'string' && { reason: payload['reason'] }) });
        return true;
    }) === true;
}

const withReason = (reason: string): JsonObject => (reason ? { reason } : {});

export const approve = (item: Proposal) => word(item, 'mcp/approve', null);
export const reject = (item: Proposal, reason: string) => word(item, 'mcp/reject', 'rejected', withReason(reason));
export const withdraw = (item: Proposal, reason: string) => word(item, 'mcp/withdraw', 'withdrawn', withReason(reason));

// --- authorizations ---

export interface Word {
    decision: 'approve' | 'deny' | 'delegate';
    delegate?: string;
    reason?: string;
    validUntil?: string;
}

const ENDS = { approve: 'approved', deny: 'denied' } as const;

// It has an id, so that an owner who answers can say whether it counted.
export async function respond(item: Authorization, said: Word): Promise<boolean> {
    const params: JsonObject = { authorizationId: item.authorizationId, ...said };
    const call = envelope('mcp/request:authorization/respond', request('authorization/respond', params), {
        to: [item.owner], correlation_id: item.id, id: newId(),
    });
    return await orEnding(item, async () => {
        await say(item.topic, call);
        const answer = await answerTo(item.topic, call, Date.now() + WORD_MS).catch(() => null);
        if (answer?.error) return await lost(item, answer.error.message);
        if (said.decision !== 'delegate') note(item, { state: ENDS[said.decision], by: currentSession().id, ...(said.reason && { reason: said.reason }) });
        return true;
    }) === true;
}

// Somebody else was quicker, or one may not: which, says what is known of it.
async function lost(item: Authorization, why: string): Promise<boolean> {
    const ending = await endingOf(item);
    if (!ending || ending.by === currentSession().id) throw new Error(why ? t.inbox.notCountedWhy(item.owner, why) : t.inbox.notCounted);
    note(item, { ...ending, note: t.inbox.tooLate });
    return false;
}

// --- rules ---

export async function acceptRule(topic: string, { id, budget, expires_at }: { id: string; budget: number; expires_at?: string }): Promise<void> {
    await say(topic, envelope('rule/accept', { rule: id, budget, ...(expires_at !== undefined && { expires_at }) }));
}

export async function addRule(topic: string, rule: JsonObject): Promise<void> {
    await say(topic, envelope('rule/add', { rule }));
}
