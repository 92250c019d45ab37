// SPDX-License-Identifier: Apache-2.0
// What is asked for to decide on one thing: all of it, who is there, the tool, the past.
import { useEffect, useMemo, useRef } from 'preact/hooks';

import { getExactly, path, Refusal } from '../../net/api';
import { participantsOf } from '../../net/topics';
import { isObject, type Json, type Participant } from '../../net/types';
import { rawNumbers } from '../../state/exact';
import { askerOf, baselineOf, callOf, keyOf, type Call, type Decision, type Item, type Proposal } from '../../state/inbox';
import { useLoad, type Loaded } from '../../state/load';
import { validate, type SchemaProblem } from '../../state/schema';
import { toolOf, type Tool } from './tools';

const AGAIN_MS = 30_000; // somebody may read for a while

export interface Past {
    decisions: Decision[];
    complete: boolean;
    isDenied: boolean; // one who may not approve is told nothing
}

export interface Facts {
    item: Item; // with its envelope
    call: Call;
    owners: readonly string[]; // whom it asks, or would
    isWhole: boolean; // nothing is missing of what would run
    participants: Loaded<Participant[]>;
    tool: Loaded<Tool | 'unlisted' | null>;
    past: Loaded<Past>;
    baseline: Decision | null;
    problems: SchemaProblem[]; // of the arguments, by the tool's schema
}

// Long envelopes are not in the list.
async function wholeOf(item: Item): Promise<Item> {
    if (item.type === 'authorization' || item.envelope) return item;
    const { proposals: [found] } = await getExactly<{ proposals: Proposal[] }>(path`/topics/${item.topic}/proposals`, { query: { id: item.id } });
    return found?.envelope ? { ...item, envelope: found.envelope } : item;
}

async function pastOf(item: Item, call: Call, signal: AbortSignal): Promise<Past> {
    const query = { method: call.method, tool: call.tool ?? undefined, limit: 10, ...(item.type === 'authorization' && { type: 'authorization' }) };
    try {
        return { ...await getExactly<Omit<Past, 'isDenied'>>(path`/topics/${item.topic}/decisions`, { query, signal }), isDenied: false };
    } catch (error) {
        if (error instanceof Refusal && error.status === 403) return { decisions: [], complete: true, isDenied: true };
        if (error instanceof Refusal && error.status === 400) return { decisions: [], complete: true, isDenied: false }; // a name that the record cannot have
        throw error;
    }
}

export function schemaOf(tool: Tool | 'unlisted' | null | undefined): Json | undefined {
    const schema = tool && tool !== 'unlisted' ? tool.about['inputSchema'] : undefined;
    return isObject(schema) ? schema : undefined;
}

// Its owner is still asked, for the first time.
export function isAsking({ tool, participants }: Facts): boolean {
    return [tool, participants].some((one) => one.isLoading && one.value === undefined);
}

// `to`: who is to run it, where the proposal does not say. `decided`: what is new in the past.
export function useFacts(listed: Item, to: string, decided: string): Facts {
    const key = keyOf(listed);
    const isLong = listed.type === 'proposal' && !listed.envelope;
    const whole = useLoad(() => (isLong ? wholeOf(listed) : Promise.resolve(listed)), [key]);
    const item = useMemo(() => (isLong && whole.value?.type === 'proposal' && whole.value.envelope ? { ...listed, envelope: whole.value.envelope } : listed), [listed, isLong, whole.value]);
    const call = useMemo(() => callOf(item), [item]);
    const owners = useMemo(() => (call.owners.length || !to ? call.owners : [to]), [call, to]);
    const owner = owners[0] ?? '';
    const participants = useLoad((signal) => participantsOf(item.topic, signal), [item.topic], { everyMs: 10_000 });
    // The owner is asked where somebody may decide: a room need not hear of those who only watch.
    const isThere = listed.may.length > 0 && (participants.value?.some((one) => one.id === owner) ?? false);
    const tool = useLoad(() => (isThere && call.tool && call.method === 'tools/call' ? toolOf(item.topic, owner, call.tool) : Promise.resolve(null)),
        [key, owner, call.tool, isThere], { everyMs: AGAIN_MS });
    const past = useLoad((signal) => pastOf(item, call, signal), [key, call.tool], { everyMs: AGAIN_MS });
    const seen = useRef(decided);
    useEffect(() => {
        if (seen.current !== decided) past.reload();
        seen.current = decided;
    }, [decided]);
    const schema = schemaOf(tool.value);
    const problems = useMemo(() => (schema && call.args !== undefined && !rawNumbers(call.args).length ? validate(schema, call.args) : []), [schema, call]);

    return {
        item, call, owners, participants, tool, past, problems,
        isWhole: call.args !== undefined,
        baseline: baselineOf(past.value?.decisions ?? [], askerOf(item)),
    };
}
