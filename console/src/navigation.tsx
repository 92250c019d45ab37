// SPDX-License-Identifier: Apache-2.0
// The navigation: a column at the left, or a bar at the bottom of a phone, whose last place
// is a menu of all that has no place of its own.
import { signOut } from './net/session';
import type { Session } from './net/types';
import { Avatar, Count, Name } from './parts/badge';
import { Icon } from './parts/icon';
import { Menu, type MenuItem } from './parts/menu';
import { go, hrefOf } from './router';
import { useCell } from './state/cell';
import { marks } from './state/marks';
import { prefer, preferences, type Theme } from './state/preferences';
import { t } from './strings';
import type { View } from './views';

interface NavigationProps {
    views: readonly View[];
    current: string;
    session: Session;
    onHelp: () => void;
}

const themes: [Theme, string][] = [['auto', t.common.themeAuto], ['light', t.common.themeLight], ['dark', t.common.themeDark]];

export function Navigation({ views, current, session, onHelp }: NavigationProps) {
    const { theme } = useCell(preferences);
    const account: MenuItem[] = [
        ...themes.map(([value, title]) => ({ title: `${t.common.theme}: ${title}`, isChosen: theme === value, run: () => prefer({ theme: value }) })),
        { title: t.common.shortcuts, icon: 'info', run: onHelp },
        { title: t.common.signOut, icon: 'out', run: () => void signOut() },
    ];
    const counts = useCell(marks);
    const hidden = views.filter((view) => !view.isOnPhoneBar);

    return (
        <nav class="navigation" aria-label={t.common.navigation}>
            <p class="brand">{t.common.name}</p>
            <ul>{views.map((view) => <Entry key={view.name} view={view} isCurrent={view.name === current} />)}</ul>
            <div class="phone-more">
                <Menu label={t.common.more} title={t.common.more} opens="up" isCurrent={hidden.some((view) => view.name === current)} items={[
                    ...hidden.map((view) => ({ title: view.title, icon: view.icon, isCurrent: view.name === current, count: counts[view.name] ?? 0, run: () => go(hrefOf(view.name)) })),
                    ...account,
                ]} />
            </div>
            <div class="account">
                <Avatar id={session.id} type={session.type} />
                <span class="account-name"><Name>{session.id}</Name></span>
                <Menu label={t.common.signedInAs(session.id)} side="start" opens="up" items={account} />
            </div>
        </nav>
    );
}

function Entry({ view, isCurrent }: { view: View; isCurrent: boolean }) {
    const count = useCell(marks)[view.name] ?? 0;

    return (
        <li class={view.isOnPhoneBar ? '' : 'not-on-phone'}>
            <a href={hrefOf(view.name)} aria-current={isCurrent ? 'page' : undefined}>
                <Icon name={view.icon} /><span>{view.title}</span>
                <Count of={count} />
            </a>
        </li>
    );
}
