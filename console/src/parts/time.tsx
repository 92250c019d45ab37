// SPDX-License-Identifier: Apache-2.0
// A point in time: how long ago, the clock, or how much is left. The tooltip has all of it.
import { agoOf, clockOf, countdownOf, fullOf, timeOfDay, useNow } from '../state/time';
import { t } from '../strings';

type As = 'ago' | 'clock' | 'minute' | 'left'; // minute: the clock alone, where there is little place

interface TimeProps {
    at: string | number; // RFC 3339, or milliseconds
    as?: As;
}

export function Time({ at, as = 'ago' }: TimeProps) {
    const now = useNow();
    const ms = typeof at === 'number' ? at : Date.parse(at);

    if (Number.isNaN(ms)) return <span>{String(at)}</span>;
    return <time dateTime={new Date(ms).toISOString()} title={fullOf(ms)}>{textOf(ms, now, as)}</time>;
}

function textOf(at: number, now: number, as: As): string {
    if (as === 'ago') return agoOf(at, now);
    if (as === 'clock') return clockOf(at, now);
    if (as === 'minute') return timeOfDay(at);
    return at <= now ? t.parts.over : t.parts.left(countdownOf(at - now));
}
