// SPDX-License-Identifier: Apache-2.0
// What each part of a thread was, in words.
import { GATEWAY, isObject, type Envelope, type JsonObject } from '../../net/types';
import type { Tone } from '../../parts/notes';
import { errorOf, type Call, type CallState } from '../../state/calls';
import { paramsOf, parseKind } from '../../state/kinds';
import { previewOf, resultPreview } from '../../state/preview';
import { durationOf } from '../../state/time';
import { whenOf } from '../../state/when';
import { t } from '../../strings';

export const TONES: Record<CallState, Tone> = {
    open: 'warn', rejected: 'danger', withdrawn: 'plain', expired: 'plain', ended: 'plain', approved: 'ok', running: 'accent',
    asking: 'warn', done: 'ok', failed: 'danger', denied: 'danger', cancelled: 'plain', told: 'plain', part: 'plain',
};

// Ids of rules have 32 digits, of which the first tell them apart for people.
const shorter = (said: string): string => said.replace(/\br-([0-9a-f]{8})[0-9a-f]{24}\b/g, 'r-$1…');

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function reasonOf(payload: JsonObject): string {
    const reason = text(payload['reason']).slice(0, 300);
    return reason && ` ${t.room.reason(reason)}`;
}

// "rejected “too late”", behind the name of who did it.
export function stepOf(said: Envelope, call: Call): string {
    const { verb, method } = parseKind(said.kind);

    if (said.kind === 'mcp/approve') return t.room.approvedIt + reasonOf(said.payload);
    if (said.kind === 'mcp/reject') return t.room.rejectedIt + reasonOf(said.payload);
    if (said.kind === 'mcp/withdraw') return t.room.withdrewIt + reasonOf(said.payload);
    if (said.kind === 'system/proposal') return t.room.gatewaySays(outcomeOf(said.payload));
    if (verb === 'proposal') return t.room.proposed;
    if (verb === 'response') return `${t.room.answered}: ${resultPreview(said.payload, 80)}`;
    if (verb === 'request') return requestStep(said, method, call);
    return `${said.kind} ${previewOf(said.payload, 80)}`;
}

function requestStep(said: Envelope, method: string, call: Call): string {
    const params = paramsOf(said);
    if (said === call.request) {
        const run = call.proposal ? t.room.ran : t.room.called;
        return said.rule ? `${run} ${t.room.byRule(shorter(said.rule))}` : said.edited ? `${run} (${t.room.edited})` : run;
    }
    if (method === 'notifications/progress') return progressOf(said);
    if (method === 'notifications/cancelled') return t.room.cancelledIt;
    if (method === 'notifications/authorization/request') return t.room.asksWord + reasonOf(params);
    if (method === 'authorization/respond') {
        const word = params['decision'];
        return (word === 'approve' || word === 'deny' || word === 'delegate' ? t.room.gaveWord[word] : previewOf(params)) + reasonOf(params);
    }
    return t.room.asks(`${method} ${previewOf(params, 80)}`);
}

// What became of a proposal, in our words where we have some.
export function wordOf(state: string): string {
    return Object.hasOwn(t.room.outcomes, state) ? t.room.outcomes[state] ?? state : state;
}

export function outcomeOf(payload: JsonObject): string {
    const { state, by, approvals } = payload;
    const given = state === 'open' && isObject(approvals) ? `, ${t.room.approvalsOf(Number(approvals['given']), Number(approvals['needed']))}` : '';
    return `${wordOf(text(state))}${given}${text(by) && ` (${text(by)})`}${reasonOf(payload)}`;
}

export function progressOf(said: Envelope): string {
    const { progress, total, message } = paramsOf(said);
    const amount = typeof total === 'number' && total > 0 ? `${progress} / ${total}` : String(progress ?? '');
    return `${t.room.progress} ${amount}${typeof message === 'string' ? ` ${message.slice(0, 200)}` : ''}`;
}

// From the call to the answer; null where either is missing or makes no sense.
export function tookMs(call: Call): number | null {
    const ms = whenOf(call.response ?? undefined) - whenOf(call.request ?? undefined);
    return Number.isNaN(ms) || ms < 0 ? null : ms;
}

export function tookText(ms: number): string {
    return t.room.took(ms < 1 ? t.room.noMs : ms < 1000 ? t.room.ms(ms) : durationOf(ms));
}

// Why it ended so, in one line.
export function whyOf(call: Call): string {
    if (call.response && errorOf(call.response.payload)) return resultPreview(call.response.payload);
    return call.outcome ? text(call.outcome['reason']) : '';
}

// Why it was proposed, in the proposer's words.
export function proposedWhy(call: Call): string {
    return call.proposal ? text(call.proposal.payload['reason']).trim() : '';
}

// --- what is no call ---

const list = (value: unknown): string => (Array.isArray(value) ? value.map((one) => (typeof one === 'string' ? one : previewOf(one as JsonObject, 80))).join(', ') : '');

// Who did it, and what; of the gateway's own the one it tells of.
export function eventOf(said: Envelope): { who: string; what: string; tone: Tone } {
    const { payload, kind, from } = said;
    const whom = text(payload['participant']) || text(payload['recipient']) || (said.to?.join(', ') ?? '');
    const plain = (what: string, tone: Tone = 'plain', who = '') =>
        ({ who: (from === GATEWAY && who) || from, what: what + reasonOf(payload), tone }); // others do not say what somebody did

    switch (kind) {
    case 'capability/grant': return plain(t.room.gave(whom, list(payload['capabilities'])));
    case 'capability/revoke': return plain(t.room.took_(whom, list(payload['capabilities']) || text(payload['grant_id'])));
    case 'capability/grant-ack': return plain(`${list(payload['capabilities'])}: ${t.room.grantStates[text(payload['status'])] ?? text(payload['status'])}`, 'plain', whom);
    case 'participant/pause': return plain(t.room.paused(whom), 'warn');
    case 'participant/resume': return plain(t.room.resumed(whom));
    case 'participant/kick': return plain(t.room.kicked(whom), 'warn');
    case 'topic/invite': return plain(t.room.invited(whom), 'plain', text(payload['inviter']));
    case 'topic/set':
    case 'system/topic': return plain(switchesOf(payload), 'warn', text(payload['by']));
    case 'system/notice': return plain(text(payload['message']), 'warn');
    case 'system/violation': return { who: GATEWAY, what: t.room.violation(whom, text(payload['attempted_kind'])), tone: 'danger' };
    case 'system/rule': return plain(shorter(t.room.ruleNow(text(payload['rule']), text(payload['state']))));
    case 'participant/status': return statusOf(said);
    default: return { who: from, what: ruleSaid(said) ?? `${kind} ${previewOf(payload)}`, tone: 'plain' };
    }
}

// What somebody does with a rule: told whole where it is new, and by its id where the room has it.
function ruleSaid({ kind, payload }: Envelope): string | null {
    const verb = kind.startsWith('rule/') ? t.room.ruleVerbs[kind] : undefined; // what is no rule may be called anything
    if (verb === undefined) return null;
    const { rule } = payload;
    return `${verb} ${isObject(rule) ? t.room.ruleOf(text(rule['proposer']), text(rule['tool']) || text(rule['method']), text(rule['to'])) : shorter(text(rule))}${shorter(reasonOf(payload))}`;
}

function switchesOf(payload: JsonObject): string {
    return [t.room.brake[text(payload['brake'])], t.room.automation[text(payload['automation'])]].filter(Boolean).join('; ') || previewOf(payload);
}

function statusOf({ from, payload }: Envelope): { who: string; what: string; tone: Tone } {
    const status = text(payload['status']);
    const why = text(payload['why']);
    const isBad = status === 'failing' || status === 'stopped' || status === 'sign_in_needed';
    return { who: from, what: status ? t.room.isNow(status.replaceAll('_', ' ')) + (why && `: ${why}`) : previewOf(payload), tone: isBad ? 'warn' : 'plain' };
}
