// SPDX-License-Identifier: Apache-2.0
// Rooms over HTTP: saying something there, and who is there.
import { get, path, post, Refusal } from './api';
import { currentSession } from './session';
import type { Envelope, Participant } from './types';

// Gives what the gateway answers: an invitation has its link there.
export function say(topic: string, said: Envelope): Promise<unknown> {
    return post(path`/topics/${topic}/messages`, said);
}

// What somebody may press for again because no answer came: it may have been said all the same, so the same
// envelope goes once more, which the gateway counts once.
export class Once {
    #last: { what: string; said: Envelope } | null = null;

    // `what` tells whether it is the same; `make` makes it where it is not.
    async say(topic: string, what: string, make: () => Envelope): Promise<void> {
        const whole = JSON.stringify([currentSession().id, topic, what]);
        const isAgain = this.#last?.what === whole;
        const said = this.#last && isAgain ? this.#last.said : make();

        this.#last = { what: whole, said };
        try {
            await say(topic, said);
        } catch (error) {
            if (!isAnswer(error)) throw error;
            this.#last = null;
            if (!isAgain || error.code !== 'duplicate_id') throw error;
        }
        this.#last = null;
    }

    // The next is another, even if it is the same.
    forget(): void {
        this.#last = null;
    }
}

// Whether the gateway itself has said no.
function isAnswer(error: unknown): error is Refusal {
    return error instanceof Refusal && error.status < 500;
}

export async function participantsOf(topic: string, signal?: AbortSignal): Promise<Participant[]> {
    return (await get<{ participants: Participant[] }>(path`/topics/${topic}/participants`, signal ? { signal } : {})).participants;
}
