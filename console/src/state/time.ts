// SPDX-License-Identifier: Apache-2.0
// Times, in the viewer's zone and words.
import { useEffect } from 'preact/hooks';

import { t } from '../strings';
import { cell, useCell } from './cell';

const MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

// One unit, rounded down: "3 min".
export function durationOf(ms: number): string {
    const seconds = Math.max(0, Math.floor(ms / 1000));
    if (seconds < MINUTE) return t.parts.seconds(seconds);
    if (seconds < HOUR) return t.parts.minutes(Math.floor(seconds / MINUTE));
    if (seconds < DAY) return t.parts.hours(Math.floor(seconds / HOUR));
    return t.parts.days(Math.floor(seconds / DAY));
}

// "4:09" under an hour, "1 h 59 min" above, for what runs out.
export function countdownOf(ms: number): string {
    const seconds = Math.max(0, Math.ceil(ms / 1000));
    if (seconds >= DAY) return durationOf(ms);
    if (seconds >= HOUR) return [t.parts.hours(Math.floor(seconds / HOUR)), ...(seconds % HOUR >= MINUTE ? [t.parts.minutes(Math.floor(seconds % HOUR / MINUTE))] : [])].join(' ');
    return `${Math.floor(seconds / MINUTE)}:${String(seconds % MINUTE).padStart(2, '0')}`;
}

export function agoOf(at: number, now: number): string {
    const ms = now - at;
    if (Math.abs(ms) < 5000) return t.parts.now;
    return ms > 0 ? t.parts.ago(durationOf(ms)) : t.parts.in(durationOf(-ms));
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayAndClock = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' });
const yearAndClock = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' });
const minute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

// With the day where it is another, with the year where that is.
export function clockOf(at: number, now: number): string {
    return format(at, now, clock);
}

// The same, to the minute.
export function minuteOf(at: number, now: number): string {
    return format(at, now, minute);
}

// Without the day, where there is little place, and the day stands nearby.
export function timeOfDay(at: number): string {
    return minute.format(at);
}

function format(at: number, now: number, today: Intl.DateTimeFormat): string {
    const then = new Date(at), here = new Date(now);
    if (then.toDateString() === here.toDateString()) return today.format(at);
    return (then.getFullYear() === here.getFullYear() ? dayAndClock : yearAndClock).format(at);
}

export function fullOf(at: number): string {
    return full.format(at);
}

// --- the server's clock: by it things expire, and times are sent ---

const SLOW_MS = 5000; // an answer that takes longer says little about the time
let aheadMs = 0; // how much the server's clock is ahead of this one

// Of an answer that says what time it is there. An older server does not.
export function noteServerTime(said: string | undefined, askedAt: number, heardAt: number): void {
    const ms = Date.parse(said ?? '') - (askedAt + heardAt) / 2;
    if (!Number.isNaN(ms) && heardAt - askedAt < SLOW_MS) aheadMs = ms;
}

export function byServer(here: number): number {
    return here + aheadMs;
}

export function serverNow(): number {
    return byServer(Date.now());
}

// One timer for all that tells the time.
const now = cell(Date.now());
let users = 0;
let timer: ReturnType<typeof setInterval> | undefined;

export function useNow(): number {
    if (users === 0) now.set(Date.now()); // nobody has kept it
    useEffect(() => {
        if (users++ === 0) timer = setInterval(() => now.set(Date.now()), 1000);
        return () => { if (--users === 0) clearInterval(timer); };
    }, []);
    return useCell(now);
}
