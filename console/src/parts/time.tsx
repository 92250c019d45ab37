// SPDX-License-Identifier: Apache-2.0
// A point in time: how long ago, the clock, or how much is left. The tooltip has all of it.
import { agoOf, byServer, clockOf, countdownOf, fullOf, timeOfDay, useNow } from '../state/time';
import { t } from '../strings';

type As = 'ago' | 'clock' | 'minute' | 'left'; // minute: the clock alone, where there is little place

interface TimeProps {
    at: string | number; // RFC 3339, by the server's clock; or milliseconds, by this one
    as?: As;
}

export function Time({ at, as = 'ago' }: TimeProps) {
    const here = useNow();
    const now = typeof at === 'number' ? here : byServer(here);
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
