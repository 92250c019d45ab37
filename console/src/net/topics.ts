// SPDX-License-Identifier: Apache-2.0
// Rooms over HTTP: saying something there, and who is there.
import { get, path, post } from './api';
import type { Envelope, Participant } from './types';

// Gives what the gateway answers: an invitation has its link there.
export function say(topic: string, said: Envelope): Promise<unknown> {
    return post(path`/topics/${topic}/messages`, said);
}

export async function participantsOf(topic: string, signal?: AbortSignal): Promise<Participant[]> {
    return (await get<{ participants: Participant[] }>(path`/topics/${topic}/participants`, signal ? { signal } : {})).participants;
}
