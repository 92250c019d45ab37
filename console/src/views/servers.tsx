// SPDX-License-Identifier: Apache-2.0
// Servers: the MCP servers that sit in rooms, how they are, and what of theirs waits for a review.
import { useState } from 'preact/hooks';

import { get } from '../net/api';
import { Badge, Name } from '../parts/badge';
import { Button } from '../parts/button';
import { TextField } from '../parts/field';
import { Empty, Loading } from '../parts/notes';
import { Page } from '../parts/page';
import { Table, type Column } from '../parts/table';
import { go, hrefOf, route as here, type Route } from '../router';
import { useLoad } from '../state/load';
import { focusRow, useRowKeys } from '../state/row-keys';
import type { Server } from '../state/servers';
import { visible } from '../state/visible';
import { t } from '../strings';
import { AddServer } from './servers/add';
import { ServerDetails } from './servers/details';
import { StateBadge } from './servers/state-badge';

const EVERY_MS = 3000;

export function ServersView({ route }: { route: Route }) {
    const all = useLoad(async (signal) => (await get<{ servers: Server[] }>('/admin/servers', { signal })).servers.sort(byName), [], { everyMs: EVERY_MS });
    const [isAdding, setAdding] = useState(false);
    const text = route.query.get('q') ?? '';
    const servers = (all.value ?? []).filter((one) => `${one.name}\n${one.topic}`.toLowerCase().includes(text.trim().toLowerCase()));
    const show = (name: string | null) => go(hrefOf('servers', name, name ? Object.fromEntries(route.query) : { q: text }), route.thing ? 'replace' : 'push');

    useRowKeys(servers.map(({ name }) => name), route.thing, show);
    return (
        <Page title={t.views.servers.title} actions={<Button icon="plus" onClick={() => setAdding(true)}>{t.servers.add}</Button>}
            tools={<div class="filters" data-search>
                <TextField label={t.servers.search} isLabelHidden placeholder={t.servers.search} type="search" value={text}
                    onInput={(q) => go(hrefOf('servers', route.thing, { ...Object.fromEntries(route.query), q }), 'replace')} />
            </div>}
            details={route.thing !== null && <ServerDetails key={route.thing} name={route.thing} route={route} server={all.value?.find((one) => one.name === route.thing)}
                isLoading={all.value === undefined} onChange={all.reload} onClose={() => { show(null); focusRow(hrefOf('servers', route.thing)); }} />}>
            <Loading of={all}>
                {(value) => {
                    if (!value.length) return <Empty icon="servers" title={t.servers.none} action={<Button icon="plus" onClick={() => setAdding(true)}>{t.servers.add}</Button>}>{t.views.servers.purpose}</Empty>;
                    if (!servers.length) return <Empty icon="search" title={t.servers.noneFits}>{t.servers.noneFitsHint}</Empty>;
                    return <Table label={t.servers.title} columns={columns} rows={servers} keyOf={(one) => one.name}
                        onOpen={(one) => show(one.name)} isChosen={(one) => one.name === route.thing} />;
                }}
            </Loading>
            {isAdding && <AddServer onClose={() => setAdding(false)} onChange={all.reload} />}
        </Page>
    );
}

function byName(a: Server, b: Server): number {
    return a.name < b.name ? -1 : 1;
}

const columns: Column<Server>[] = [
    {
        title: t.servers.columns.name, isHead: true,
        cell: (one) => <a class="plain" href={hrefOf('servers', one.name, Object.fromEntries(here.get().query))}><Name>{one.name}</Name></a>,
    },
    {
        title: t.servers.columns.state,
        cell: (one) => (
            <>
                <span class="row"><StateBadge state={one.state} />{(one.held ?? 0) > 0 && <Badge tone="warn" icon="pin">{t.servers.held(one.held ?? 0)}</Badge>}</span>
                {one.state === 'failing' && one.why && <span class="server-why quiet small" title={visible(one.why)}><bdi>{visible(one.why)}</bdi></span>}
            </>
        ),
    },
    { title: t.servers.columns.room, cell: (one) => <a href={hrefOf('room', one.topic)}><Name>{one.topic}</Name></a> },
    { title: t.servers.columns.tools, align: 'end', cell: (one) => one.tools ?? 0 },
    {
        title: t.servers.columns.calls, isExtra: true, align: 'end',
        cell: (one) => <span>{one.calls ?? 0}{(one.errors ?? 0) > 0 && <span class="quiet"> ({t.servers.errors(one.errors ?? 0)})</span>}</span>,
    },
    { title: t.servers.columns.restarts, isExtra: true, align: 'end', cell: (one) => one.restarts ?? 0 },
];
