// SPDX-License-Identifier: Apache-2.0
import { Badge, Name } from '../../parts/badge';
import { LinkButton } from '../../parts/button';
import { TextField } from '../../parts/field';
import { Some } from '../../parts/more';
import { Empty, Loading, Note } from '../../parts/notes';
import { Table, type Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { go, hrefOf, route as here, type Route } from '../../router';
import type { Loaded } from '../../state/load';
import { useRowKeys } from '../../state/row-keys';
import { t } from '../../strings';
import type { TeamRow } from './data';

const columns: Column<TeamRow>[] = [
    {
        title: t.teams.columns.name, isHead: true,
        cell: (team) => <a class="plain" href={hrefOf('teams', team.team_id, Object.fromEntries(here.get().query))}><Name>{team.name}</Name></a>,
    },
    { title: t.teams.columns.state, cell: (team) => <TeamState state={team.state} /> },
    { title: t.teams.columns.members, align: 'end', cell: (team) => (typeof team.members === 'number' ? team.members : team.members.length) },
    { title: t.teams.columns.creator, isExtra: true, cell: (team) => <a class="plain" href={hrefOf('people', team.creator)}><Name>{team.creator}</Name></a> },
    { title: t.teams.columns.created, isExtra: true, cell: (team) => <Time at={team.created_at} /> },
];

export function TeamState({ state }: { state: string }) {
    return <Badge tone={state === 'active' ? 'ok' : 'plain'}>{t.teams.states[state] ?? state}</Badge>;
}

export function TeamList({ teams, route }: { teams: Loaded<{ teams: TeamRow[]; partial?: boolean }>; route: Route }) {
    const text = route.query.get('q') ?? '';
    const wanted = text.trim().toLowerCase();
    const rows = (teams.value?.teams ?? []).filter((one) => `${one.name}\n${one.creator}\n${one.team_id}`.toLowerCase().includes(wanted)).sort(byState);
    const show = (id: string) => go(hrefOf('teams', id, { q: text }), route.thing ? 'replace' : 'push');

    useRowKeys(rows.map((one) => one.team_id), route.thing, show);
    return (
        <Loading of={teams}>
            {(value) => (value.teams.length === 0
                ? <Empty icon="teams" title={t.teams.none} action={<LinkButton kind="primary" icon="search" href={hrefOf('teams', null, { tab: 'directory' })}>{t.teams.toDirectory}</LinkButton>}>{t.teams.noneHint}</Empty>
                : <div class="stack">
                    <div class="filters" data-search>
                        <TextField label={t.teams.searchTeams} isLabelHidden placeholder={t.teams.searchTeams} type="search" value={text}
                            onInput={(q) => go(hrefOf('teams', route.thing, { q }), 'replace')} />
                    </div>
                    {value.partial && <Note>{t.teams.partial}</Note>}
                    {rows.length
                        ? <Some of={rows}>{(some) => <Table label={t.teams.title} columns={columns} rows={some}
                            keyOf={(one) => one.team_id} onOpen={(one) => show(one.team_id)} isChosen={(one) => one.team_id === route.thing} />}</Some>
                        : <Empty icon="search" title={t.teams.noneFits} />}
                </div>)}
        </Loading>
    );
}

// Those that live first, the newest first.
function byState(a: TeamRow, b: TeamRow): number {
    return Number(b.state === 'active') - Number(a.state === 'active') || (a.created_at < b.created_at ? 1 : -1);
}
