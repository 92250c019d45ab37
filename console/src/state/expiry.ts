// SPDX-License-Identifier: Apache-2.0
// How long something shall hold, as people choose it.
const HOUR = 3_600_000;
export const SPANS = { hour: HOUR, shift: 8 * HOUR, day: 24 * HOUR, week: 7 * 24 * HOUR } as const;
export type Span = keyof typeof SPANS | 'never' | 'at';

// RFC 3339; null for ever, undefined where the date is none or has passed.
export function expiryOf(span: Span, at: string, now: number): string | null | undefined {
    if (span === 'never') return null;
    if (span !== 'at') return new Date(now + SPANS[span]).toISOString();
    const ms = Date.parse(at); // of a field for local times: in the viewer's zone
    return Number.isNaN(ms) || ms <= now ? undefined : new Date(ms).toISOString();
}
