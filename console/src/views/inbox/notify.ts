// SPDX-License-Identifier: Apache-2.0
// Desktop notifications, for those who want them: of what came while the page was not looked at.
import { go, hrefOf } from '../../router';
import { argumentsLine, askerOf, callOf, keyOf, refOf, type Item } from '../../state/inbox';
import { prefer, preferences } from '../../state/preferences';
import { visibleName } from '../../state/visible';
import { t } from '../../strings';

const AT_ONCE = 3; // more are one notification

export function canNotify(): boolean {
    return typeof Notification !== 'undefined';
}

export function isNotifying(): boolean {
    return canNotify() && preferences.get().notifications && Notification.permission === 'granted';
}

// True where it is as wanted now; false where the browser does not allow it.
export async function setNotifying(wanted: boolean): Promise<boolean> {
    const isAllowed = !wanted || Notification.permission === 'granted' || await Notification.requestPermission() === 'granted';
    if (isAllowed) prefer({ notifications: wanted });
    return isAllowed;
}

const SHORT = 60; // characters: it is the desktop's text, and it has no end mark of ours

function short(name: string): string {
    return visibleName(name.length > SHORT ? `${name.slice(0, SHORT)}…` : name);
}

export function notifyOf(items: readonly Item[]): void {
    if (!items.length || !isNotifying() || (!document.hidden && document.hasFocus())) return;
    if (items.length > AT_ONCE) return tell(t.inbox.notifyMany(items.length), '', 'many', hrefOf('inbox'));
    for (const item of items) {
        const call = callOf(item);
        tell(t.inbox.notifyOne(short(askerOf(item)), short(call.tool ?? call.method), short(item.topic)), argumentsLine(call.args), keyOf(item), hrefOf('inbox', null, refOf(item)));
    }
}

// Some browsers have notifications for service workers alone (Chrome on Android), which shows when one is made.
function made(title: string, options: NotificationOptions): Notification | null {
    try {
        return new Notification(title, options);
    } catch {
        prefer({ notifications: false });
        return null;
    }
}

function tell(title: string, body: string, tag: string, href: string): void {
    const told = made(title, { body, tag });
    if (told) told.onclick = () => {
        window.focus();
        go(href);
        told.close();
    };
}
