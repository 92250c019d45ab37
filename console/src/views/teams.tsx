// SPDX-License-Identifier: Apache-2.0
// Teams, and the directory from which they are made.
import { useState } from 'preact/hooks';

import { currentSession } from '../net/session';
import { Button, LinkButton } from '../parts/button';
import { Page } from '../parts/page';
import { Tabs } from '../parts/tabs';
import { go, hrefOf, type Route } from '../router';
import { useCell } from '../state/cell';
import { useLoad } from '../state/load';
import { focusRow } from '../state/row-keys';
import { visible } from '../state/visible';
import { t } from '../strings';
import { chosen, chooseNobody, loadTeams } from './teams/data';
import { Directory } from './teams/directory';
import { AddToTeam, CreateTeam } from './teams/make';
import { ResourceDetails } from './teams/resource';
import { ResourceDialog } from './teams/resource-form';
import { TeamDetails } from './teams/team';
import { TeamList } from './teams/list';

const EVERY_MS = 10_000;

export function TeamsView({ route }: { route: Route }) {
    const teams = useLoad(loadTeams, [], { everyMs: EVERY_MS });
    const tab = route.query.get('tab') === 'directory' ? 'directory' : 'teams';
    const resource = route.query.get('resource');
    const [open, setOpen] = useState<'create' | 'add' | 'resource' | null>(null);
    const [round, setRound] = useState(0); // of the directory
    const close = () => setOpen(null);
    const changed = () => { setRound(round + 1); teams.reload(); };
    const leave = () => go(hrefOf('teams', null, { ...Object.fromEntries(route.query), resource: undefined }), 'replace');

    return (
        <Page title={t.views.teams.title}
            actions={tab === 'teams' ? <LinkButton icon="plus" href={hrefOf('teams', null, { tab: 'directory' })}>{t.teams.newTeam}</LinkButton>
                : currentSession().admin && <Button icon="plus" onClick={() => setOpen('resource')}>{t.teams.addResource}</Button>}
            details={tab === 'directory' && resource !== null ? <ResourceDetails key={resource} id={resource} round={round} onChange={changed} onClose={leave} />
                : route.thing !== null && <TeamDetails key={route.thing} id={route.thing} onChange={teams.reload} onClose={() => { leave(); focusRow(hrefOf('teams', route.thing)); }} />}>
            <Tabs label={t.teams.tabs} current={tab} onChoose={(name) => go(hrefOf('teams', null, { tab: name === 'teams' ? undefined : name }), 'replace')} tabs={[
                { name: 'teams', title: t.teams.teams, ...(teams.value && { count: teams.value.teams.length }) },
                { name: 'directory', title: t.teams.directory },
            ]}>
                {tab === 'teams' ? <TeamList teams={teams} route={route} /> : <Directory route={route} round={round} onAdd={() => setOpen('resource')} />}
            </Tabs>
            {tab === 'directory' && <Chosen onCreate={() => setOpen('create')} onAdd={() => setOpen('add')} />}
            {open === 'create' && <CreateTeam onClose={close} onChange={teams.reload} />}
            {open === 'add' && <AddToTeam teams={teams.value?.teams ?? []} onClose={close} onChange={teams.reload} />}
            {open === 'resource' && <ResourceDialog onClose={close} onChange={changed} />}
        </Page>
    );
}

// Stays in sight while one scrolls.
function Chosen({ onCreate, onAdd }: { onCreate: () => void; onAdd: () => void }) {
    const all = useCell(chosen);

    if (!all.size) return null;
    return (
        <div class="chosen-bar" role="status">
            <span class="grow"><strong>{t.teams.chosen(all.size)}</strong> <bdi class="quiet">{[...all.values()].map(visible).join(', ')}</bdi></span>
            <Button kind="quiet" onClick={chooseNobody}>{t.teams.clear}</Button>
            <Button onClick={onAdd}>{t.teams.addTo}</Button>
            <Button kind="primary" onClick={onCreate}>{t.teams.create}</Button>
        </div>
    );
}
