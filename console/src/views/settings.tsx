// SPDX-License-Identifier: Apache-2.0
// What a person may change for herself, and administrators for the server.
import { currentSession } from '../net/session';
import { Page } from '../parts/page';
import { Tabs } from '../parts/tabs';
import { go, hrefOf, type Query, type Route } from '../router';
import type { Which } from '../state/settings';
import { t } from '../strings';
import { Account, Mine } from './settings/mine';
import { ServerSettings } from './settings/server';

const whichIn = (text: string | null): Which => (text === 'all' || text === 'changed' ? text : 'live');

export function SettingsView({ route }: { route: Route }) {
    const { admin } = currentSession();
    const tab = admin && route.query.get('tab') === 'server' ? 'server' : 'mine';
    const set = (changes: Query) => go(hrefOf('settings', null, { ...Object.fromEntries(route.query), ...changes }), 'replace');
    const mine = <div class="stack"><Mine /><Account /></div>;

    return (
        <Page title={t.views.settings.title}>
            {admin
                ? <Tabs label={t.settings.tabs} current={tab} onChoose={(name) => set({ tab: name === 'server' ? name : undefined })}
                    tabs={[{ name: 'mine', title: t.settings.tabMine }, { name: 'server', title: t.settings.tabServer }]}>
                    {tab === 'server' ? <ServerSettings which={whichIn(route.query.get('which'))} text={route.query.get('q') ?? ''} set={set} /> : mine}
                </Tabs>
                : mine}
        </Page>
    );
}
