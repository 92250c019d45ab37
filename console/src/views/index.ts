// SPDX-License-Identifier: Apache-2.0
// Every view, one row each: where it stands in the navigation, its key, who sees it. To add
// one: its file, its row, its strings (strings/views.ts).
import type { ComponentType } from 'preact';

import type { IconName } from '../parts/icon';
import type { Route } from '../router';
import { t } from '../strings';
import { AuditView } from './audit';
import { InboxView } from './inbox';
import { OverviewView } from './overview';
import { PeopleView } from './people';
import { RoomView } from './room';
import { RulesView } from './rules';
import { ServersView } from './servers';
import { SettingsView } from './settings';
import { TeamsView } from './teams';

export interface View {
    name: string; // /console/NAME
    title: string;
    icon: IconName;
    key: string; // behind "g"
    isForAdmins: boolean;
    isOnPhoneBar: boolean; // the others are behind "More"
    component: ComponentType<{ route: Route }>;
}

const row = (name: keyof typeof t.views, icon: IconName, key: string, component: View['component'], more: Partial<View> = {}): View => ({
    name, title: t.views[name].title, icon, key, component, isForAdmins: false, isOnPhoneBar: false, ...more,
});

export const views: readonly View[] = [
    row('inbox', 'inbox', 'i', InboxView, { isOnPhoneBar: true }),
    row('room', 'room', 'r', RoomView, { isOnPhoneBar: true }),
    row('people', 'people', 'p', PeopleView, { isOnPhoneBar: true }),
    row('servers', 'servers', 's', ServersView, { isForAdmins: true }),
    row('rules', 'rules', 'u', RulesView),
    row('teams', 'teams', 't', TeamsView),
    row('audit', 'audit', 'a', AuditView, { isForAdmins: true }),
    row('overview', 'overview', 'o', OverviewView, { isForAdmins: true, isOnPhoneBar: true }),
    row('settings', 'settings', 'e', SettingsView),
];
