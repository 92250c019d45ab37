// SPDX-License-Identifier: Apache-2.0
// What is done to people: by administrators through /admin, by others with messages in a room,
// which everybody there sees.
import { path, post, remove } from '../../net/api';
import { envelope } from '../../net/envelope';
import { currentSession } from '../../net/session';
import { say } from '../../net/topics';
import type { Capability, JsonObject } from '../../net/types';

export const ALL_ROOMS = '\n'; // in a choice of rooms: no room is called so

export type Moderation = 'pause' | 'resume' | 'kick';

export interface Grant {
    capabilities: Capability[];
    topic: string | null; // null: all rooms, for administrators
    expires_at?: string;
    max_uses?: number;
    reason?: string;
}

const query = (topic: string | null) => ({ query: { topic: topic ?? undefined } });

export async function grant(id: string, { topic, capabilities, ...terms }: Grant): Promise<void> {
    if (currentSession().admin) await post(path`/admin/participants/${id}/capabilities`, { add: capabilities, ...terms }, query(topic));
    else await say(topic ?? '', envelope('capability/grant', { recipient: id, capabilities, ...terms }));
}

// Whatever these cover.
export async function revoke(id: string, topic: string | null, capabilities: Capability[]): Promise<void> {
    if (currentSession().admin) await post(path`/admin/participants/${id}/capabilities`, { revoke: capabilities }, query(topic));
    else await say(topic ?? '', envelope('capability/revoke', { recipient: id, capabilities }));
}

// That grant alone: what others give stays.
export async function removeGrant(id: string, topic: string | null, grantId: string): Promise<void> {
    await remove(path`/admin/participants/${id}/grants`, { query: { id: grantId, topic: topic ?? undefined } });
}

export async function moderate(act: Moderation, id: string, topic: string | null): Promise<void> {
    if (currentSession().admin) await post(`${path`/admin/members/${id}/`}${act}`, {}, query(topic));
    else await say(topic ?? '', envelope(`participant/${act}`, { participant: id }));
}

export interface Invitation {
    participant: string;
    link: string;
    expires_at: string;
}

export async function invite(topic: string, guest: JsonObject): Promise<Invitation> {
    return (await say(topic, envelope('topic/invite', guest))) as Invitation;
}
