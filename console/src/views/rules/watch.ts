// SPDX-License-Identifier: Apache-2.0
// The number beside "Rules": what is suggested and one could accept. Nothing is in a hurry here.
import { currentSession } from '../../net/session';
import { mark } from '../../state/marks';
import { waitingIn, type RuleRoom } from '../../state/rules';
import { serverNow } from '../../state/time';
import { get } from '../../net/api';

const EVERY_MS = 60_000;

export function markRules(rooms: readonly RuleRoom[]): void {
    mark('rules', waitingIn(rooms, currentSession(), serverNow()));
}

export function startRules(): () => void {
    const abort = new AbortController();
    const look = () => {
        if (document.hidden) return;
        get<{ topics: RuleRoom[] }>('/rules', { query: { state: 'suggested' }, signal: abort.signal })
            .then(({ topics }) => markRules(topics), () => {}); // the view itself says what is wrong
    };
    const timer = setInterval(look, EVERY_MS);

    look();
    return () => {
        clearInterval(timer);
        abort.abort();
        mark('rules', 0);
    };
}
