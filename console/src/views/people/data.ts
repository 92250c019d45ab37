// SPDX-License-Identifier: Apache-2.0
// Who there is, as far as the one who asks may know.
import { get } from '../../net/api';
import { currentSession } from '../../net/session';
import { participantsOf } from '../../net/topics';
import { peopleIn, peopleOf, tokensInOrder, type Member, type Person, type Token } from '../../state/people';

export interface Everybody {
    people: Person[];
    tokens: Token[];
    topics: string[];
}

const MOST_ROOMS = 50; // that a member asks for one by one

export async function loadEverybody(signal: AbortSignal): Promise<Everybody> {
    return currentSession().admin ? loadAsAdmin(signal) : loadAsMember(signal);
}

async function loadAsAdmin(signal: AbortSignal): Promise<Everybody> {
    const [{ tokens }, { members }, { topics }] = await Promise.all([
        get<{ tokens: Token[] }>('/admin/tokens', { signal }),
        get<{ members: Member[] }>('/admin/members', { signal }),
        get<{ topics: { name: string }[] }>('/admin/topics', { signal }),
    ]);
    return { people: peopleOf(tokens, members), tokens: tokensInOrder(tokens), topics: roomNames(topics.map(({ name }) => name), tokens) };
}

// Rooms that are, and those that tokens name.
function roomNames(topics: string[], tokens: readonly Token[]): string[] {
    const named = tokens.flatMap((token) => token.topics).filter((name) => !name.endsWith('*'));
    return [...new Set([...topics, ...named])].sort();
}

async function loadAsMember(signal: AbortSignal): Promise<Everybody> {
    const { topics } = await get<{ topics: { name: string }[] }>('/topics', { signal });
    const names = topics.map(({ name }) => name).sort().slice(0, MOST_ROOMS);
    const rooms = await Promise.all(names.map(async (topic) => ({ topic, participants: await participantsOf(topic, signal) })));
    return { people: peopleIn(rooms), tokens: [], topics: names };
}
