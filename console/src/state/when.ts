// SPDX-License-Identifier: Apache-2.0
// When something was said: by its own word, unless that has not come yet; else when this page
// heard it live.
import type { Envelope } from '../net/types';

const AHEAD_MS = 3_600_000; // as far as clocks may differ
const heard = new WeakMap<Envelope, number>();

export function noteHeard(said: Envelope, at: number): void {
    if (!isBelieved(said)) heard.set(said, at);
}

function isBelieved(said: Envelope): boolean {
    return Date.parse(said.ts ?? '') < Date.now() + AHEAD_MS;
}

// Milliseconds; NaN where nobody knows.
export function whenOf(said: Envelope | undefined): number {
    if (!said) return NaN;
    return isBelieved(said) ? Date.parse(said.ts ?? '') : heard.get(said) ?? NaN;
}
