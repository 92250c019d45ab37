// SPDX-License-Identifier: Apache-2.0
// Teams and resources, by the door that is open to who asks.
import { askAgents } from '../../net/agents';
import { get, path, patch, post, remove } from '../../net/api';
import { currentSession, whenAnother } from '../../net/session';
import type { JsonObject } from '../../net/types';
import { cell } from '../../state/cell';
import { parametersOf, questionOf, type Filters, type Page, type Resource } from '../../state/directory';

export interface TeamRow {
    team_id: string;
    name: string;
    state: string;
    creator: string;
    created_at: string;
    topic?: string; // none any more where it is dissolved
    members: number | { state?: string }[];
}

export interface TeamMember {
    resource_id: string;
    name: string;
    participant?: string;
    state: string;
    present?: boolean;
}

export interface Team {
    team_id: string;
    name: string;
    contract_id?: string;
    state: string;
    creator: string;
    creator_present?: boolean;
    created_at: string;
    last_activity_at?: string;
    topic?: string; // none any more where it is dissolved
    members: TeamMember[];
    open_proposals?: { id: string; proposer: string; kind: string; created_at: string; expires_at: string }[];
}

const base = () => (currentSession().admin ? '/admin/teams' : '/teams');
const teamPath = (id: string) => base() + path`/${id}`;

export const loadTeams = (signal: AbortSignal) => get<{ teams: TeamRow[]; partial?: boolean }>(base(), { signal });
export const loadTeam = (id: string, signal: AbortSignal) => get<Team>(teamPath(id), { signal });
export const createTeam = (name: string, resources: string[], contract: string) =>
    post<Team>(base(), { name, resources, ...(contract && { contract_id: contract }) });
export const renameTeam = (id: string, name: string) => patch<Team>(teamPath(id), { name });
export const dissolveTeam = (id: string) => remove<Team>(teamPath(id));
export const addMembers = (id: string, resources: string[]) => post<Team>(`${teamPath(id)}/members`, { resources });
export const removeMember = (id: string, resource: string) => remove<Team>(teamPath(id) + path`/members/${resource}`);

// For oneself; administrators answer for somebody.
export function answer(id: string, word: 'accept' | 'decline', resource: string): Promise<Team> {
    return post<Team>(`${teamPath(id)}/${word}`, currentSession().admin ? { resource } : {});
}

// --- the directory ---

// Whom this page has seen: who is no administrator cannot ask for one by its id.
const seen = new Map<string, Resource>();
export const seenResource = (id: string) => seen.get(id) ?? null;

export async function search(filters: Filters, cursor: string | undefined, signal: AbortSignal): Promise<Page> {
    const page = currentSession().admin
        ? await get<Page>('/admin/resources', { query: { ...parametersOf(filters), cursor }, signal })
        : await askAgents<Page>('RESOURCE_QUERY', questionOf(filters, cursor), signal);
    for (const { resource } of page.resources) seen.set(resource.id, resource);
    return page;
}

export const addResource = (resource: JsonObject) => post<Resource>('/admin/resources', resource);
export const changeResource = (id: string, changes: JsonObject) => patch<Resource>(path`/admin/resources/${id}`, changes);
export const removeResource = (id: string) => remove<unknown>(path`/admin/resources/${id}`);
export const loadResource = (id: string, signal: AbortSignal) => get<Resource>(path`/admin/resources/${id}`, { signal });

// Who was chosen for a team, by id: kept while one searches on.
export const chosen = cell<ReadonlyMap<string, string>>(new Map());

export function choose(id: string, name: string, isChosen: boolean): void {
    const next = new Map(chosen.get());
    if (isChosen) next.set(id, name);
    else next.delete(id);
    chosen.set(next);
}

export const chooseNobody = () => chosen.set(new Map());

whenAnother(() => {
    seen.clear();
    chooseNobody();
});
