// SPDX-License-Identifier: Apache-2.0
// Rules of rooms: what each does now and why it does not, and what one may do about it.
import type { JsonObject } from '../net/types';
import { t } from '../strings';
import { isKnown, textOfValue } from './rule-words';
import { wordsOf } from './search';

export const DAY_MS = 86_400_000;
export const BUDGET_MAX = 10_000;

export function isGoodBudget(text: string): boolean {
    return /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= BUDGET_MAX;
}

export interface Evidence {
    approved?: number;
    beside?: number;
    days?: number;
    bound?: number; // 0 to 1
    first_at?: string;
    last_at?: string;
    people?: string[];
    examples?: string[];
}

export type RuleState = 'suggested' | 'shadow' | 'active' | 'suspended' | 'disabled' | 'declined';

export interface Rule {
    id: string;
    topic: string;
    state: RuleState;
    proposer: string;
    method: string;
    tool?: string;
    to?: string;
    arguments: JsonObject;
    budget: number;
    expires_at?: string;
    evidence?: Evidence;
    note?: string;
    created_at?: string;
    created_by?: string;
    accepted_at?: string;
    accepted_by?: string;
    uses: number;
    used_this_hour: number;
    last_use?: string;
    changed_by?: string;
    changed_at?: string;
    reason?: string;
}

// A room of GET /rules.
export interface RuleRoom {
    name: string;
    automation: 'on' | 'off';
    automation_by?: string;
    automation_since?: string;
    may: string[];
    count: number;
    rules?: Rule[]; // left out where there are too many of them all
}

export function isLeftOut(room: RuleRoom): boolean {
    return !room.rules && room.count > 0;
}

export type Tab = 'suggested' | 'acting' | 'stopped';
export const TABS: readonly Tab[] = ['suggested', 'acting', 'stopped'];

export function isExpired(rule: Rule, now: number): boolean {
    return rule.expires_at !== undefined && Date.parse(rule.expires_at) <= now;
}

// What became of it, expiry included.
export function standingOf(rule: Rule, now: number): RuleState | 'expired' {
    const couldAct = rule.state === 'active' || rule.state === 'shadow' || rule.state === 'suggested';
    return couldAct && isExpired(rule, now) ? 'expired' : rule.state;
}

export function tabOf(rule: Rule, now: number): Tab {
    const standing = standingOf(rule, now);
    if (standing === 'suggested') return 'suggested';
    return standing === 'active' || standing === 'shadow' ? 'acting' : 'stopped';
}

// What it does now, in a sentence.
export function doesOf(rule: Rule, room: RuleRoom, now: number): string {
    const standing = standingOf(rule, now);
    if (standing === 'active' || standing === 'shadow') {
        if (room.automation === 'off') return t.rules.does['automationOff'] ?? '';
        if (standing === 'active' && rule.used_this_hour >= rule.budget) return t.rules.does['usedUp'] ?? '';
    }
    return t.rules.does[standing] ?? standing;
}

export type Act = 'accept' | 'decline' | 'disable' | 'enable' | 'remove';

const FROM: Record<Act, readonly RuleState[]> = {
    accept: ['suggested', 'shadow', 'declined'],
    decline: ['suggested'],
    disable: ['active', 'shadow', 'suspended'],
    enable: ['disabled', 'suspended'],
    remove: ['suggested', 'shadow', 'active', 'suspended', 'disabled', 'declined'],
};

// What the gateway would let this person do, as far as that is known here.
export function actsOf(rule: Rule, room: RuleRoom, me: { id: string }, now: number): Act[] {
    return (Object.keys(FROM) as Act[]).filter((act) => {
        if (!room.may.includes(act) || !FROM[act].includes(rule.state)) return false;
        const lets = act === 'accept' || act === 'enable';
        return !lets || (rule.proposer !== me.id && !isExpired(rule, now));
    });
}

// How many suggestions wait for this person.
export function waitingIn(rooms: readonly RuleRoom[], me: { id: string }, now: number): number {
    return rooms.flatMap((room) => (room.rules ?? []).filter((rule) => tabOf(rule, now) === 'suggested' && actsOf(rule, room, me, now).includes('accept'))).length;
}

export function isReadable(rule: Rule): boolean {
    return Object.values(rule.arguments).every(isKnown);
}

// The gateway says so in the reason of a rule of which less was accepted.
export function narrowedTo(rule: Rule): string | null {
    return rule.state === 'declined' ? /^narrowed to (\S+)$/.exec(rule.reason ?? '')?.[1] ?? null : null;
}

export interface RuleFilter {
    text: string;
    topic: string;
}

export function fits(rule: Rule, filter: RuleFilter): boolean {
    if (filter.topic && rule.topic !== filter.topic) return false;
    const words = wordsOf(filter.text);
    if (!words.length) return true;
    const all = [rule.id, rule.topic, rule.state, rule.proposer, rule.method, rule.tool, rule.to, rule.note, rule.created_by, rule.accepted_by, rule.reason,
        textOfValue(rule.arguments)].join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
}

// What changed last comes first.
export function byChange(a: Rule, b: Rule): number {
    const at = (rule: Rule) => rule.changed_at ?? rule.created_at ?? '';
    return at(a) < at(b) ? 1 : at(a) > at(b) ? -1 : a.id < b.id ? -1 : 1;
}

// "83.8 %", cut and never rounded up: it is a promise of "at least".
export function shareOf(bound: number): string {
    return `${(Math.floor(bound * 1000) / 10).toFixed(1)} %`;
}

// What POST …/rules/test and rule/add take.
export function bodyOf(rule: Rule, shapes: JsonObject = rule.arguments): JsonObject {
    return {
        topic: rule.topic, proposer: rule.proposer, method: rule.method, budget: rule.budget, arguments: shapes,
        ...(rule.tool !== undefined && { tool: rule.tool }), ...(rule.to !== undefined && { to: rule.to }),
    };
}

// POST /topics/T/rules/test.
export interface Trial {
    since: string;
    complete: boolean;
    reached?: string;
    removed: number;
    proposals: number;
    covered: number;
    false_approvals: number;
    approved: number;
    rejected: number;
    corrected: number;
    by_others: number;
    undecided: number;
    false: { id: string; verdict: string; by: string; at: string }[];
    newest: { id: string; verdict: string; origin?: string; by?: string; at: string }[];
}

export function trialSentence(trial: Trial): { tone: 'ok' | 'warn' | 'plain'; text: string } {
    if (trial.covered === 0) return { tone: 'plain', text: t.rules.dryNothing(trial.proposals) };
    if (trial.false_approvals === 0) return { tone: 'ok', text: t.rules.dryGood(trial.covered, trial.proposals) };
    return { tone: 'warn', text: t.rules.dryBad(trial.false_approvals, trial.covered, trial.proposals) };
}
