// SPDX-License-Identifier: Apache-2.0
// Rules are read over HTTP and changed by envelopes in their room, as people and programs do
// everywhere else.
import { getExactly, path, post } from '../../net/api';
import { envelope } from '../../net/envelope';
import { say } from '../../net/topics';
import type { JsonObject } from '../../net/types';
import { isLeftOut, type Rule, type RuleRoom, type Trial } from '../../state/rules';

const MOST_ROOMS = 30; // that are asked for one by one, where one answer had no room for all

// `wanted`: the room that somebody looks at, if any.
export async function loadRooms(wanted: string, signal: AbortSignal): Promise<RuleRoom[]> {
    const { topics } = await getExactly<{ topics: RuleRoom[] }>('/rules', { signal });
    const without = topics.filter(isLeftOut).sort((a, b) => Number(b.name === wanted) - Number(a.name === wanted)).slice(0, MOST_ROOMS);

    await Promise.all(without.map(async (room) => {
        room.rules = (await getExactly<{ rules: Rule[] }>(path`/topics/${room.name}/rules`, { signal })).rules;
    }));
    return topics.sort((a, b) => (a.name < b.name ? -1 : 1));
}

// An administrator who does not hold topic/set has a door of his own.
export async function setAutomation(room: RuleRoom, automation: 'on' | 'off'): Promise<void> {
    if (room.may.includes('automation')) await say(room.name, envelope('topic/set', { automation }));
    else await post(path`/admin/topics/${room.name}`, { automation });
}

export function tryRule(topic: string, rule: string | JsonObject, since: string, signal: AbortSignal): Promise<Trial> {
    return post<Trial>(path`/topics/${topic}/rules/test`, { rule, since }, { signal });
}

