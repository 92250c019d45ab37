// SPDX-License-Identifier: Apache-2.0
// How the server is doing, now and over the last hour or day.
import type { ComponentChildren } from 'preact';

import { get } from '../net/api';
import { Button } from '../parts/button';
import { SelectField } from '../parts/field';
import { Loading, Note } from '../parts/notes';
import { Page } from '../parts/page';
import { Time } from '../parts/time';
import { go, hrefOf, type Route } from '../router';
import { useLoad } from '../state/load';
import type { Overview, Span } from '../state/overview';
import { sizeOf } from '../state/sizes';
import { durationOf } from '../state/time';
import { visibleProse } from '../state/visible';
import { t } from '../strings';
import { HealthSection, ProposalsSection, RefusalsSection } from './overview/health';
import { Plots } from './overview/plots';

const EVERY_MS = 5000;

export function OverviewView({ route }: { route: Route }) {
    const overview = useLoad((signal) => get<Overview>('/admin/overview', { signal }), [], { everyMs: EVERY_MS });
    const span: Span = route.query.get('span') === 'day' ? 'day' : 'hour';
    const isTable = route.query.get('as') === 'tables';
    const show = (next: { span: Span; isTable: boolean }) =>
        go(hrefOf('overview', null, { span: next.span === 'hour' ? undefined : next.span, as: next.isTable ? 'tables' : undefined }), 'replace');

    return (
        <Page title={t.overview.title} actions={<>
            <Button isPressed={isTable} onClick={() => show({ span, isTable: !isTable })}>{t.overview.tables}</Button>
            <SelectField label={t.overview.span} isLabelHidden value={span} choices={Object.entries(t.overview.spans).map(([value, title]) => ({ value, title }))}
                onInput={(value) => show({ span: value === 'day' ? 'day' : 'hour', isTable })} />
        </>}>
            <Loading of={overview} lines={8}>
                {(value) => (
                    <>
                        {value.store.failing && <Note tone="danger">{t.overview.failing} {value.store.why && <bdi>{visibleProse(value.store.why)}</bdi>}</Note>}
                        <Tiles of={value} />
                        <Plots of={value} span={span} isTable={isTable} />
                        <ProposalsSection of={value} />
                        <div class="overview-pair"><HealthSection of={value} /><RefusalsSection of={value} /></div>
                        <p class="quiet overview-foot">{t.overview.version(value.version)}, {t.overview.workers(value.workers)}, {t.overview.updated} <Time at={value.at} as="clock" /></p>
                    </>
                )}
            </Loading>
        </Page>
    );
}

function Tiles({ of }: { of: Overview }) {
    const o = t.overview;
    const number = (n: number) => n.toLocaleString();

    return (
        <dl class="overview-tiles">
            <Tile title={o.tiles.waiting} href={hrefOf('inbox')} isHot={of.proposals.open + of.authorizations > 0}>{number(of.proposals.open + of.authorizations)}</Tile>
            <Tile title={o.tiles.members} href={hrefOf('people')} note={[of.mcp_clients ? o.clients(of.mcp_clients) : '', of.agents ? o.agents(of.agents) : ''].filter(Boolean).join(', ')}>{number(of.members)}</Tile>
            <Tile title={o.tiles.connections} note={o.websockets(of.websockets)}>{number(of.connections)}</Tile>
            <Tile title={o.tiles.topics} href={hrefOf('room')}>{number(of.topics)}</Tile>
            <Tile title={o.tiles.messages} note={o.sinceStart}>{number(of.messages)}</Tile>
            <Tile title={o.tiles.refused} href={hrefOf('audit', null, { event: 'refusal' })} note={o.sinceStart}>{number(of.refused)}</Tile>
            <Tile title={o.tiles.memory}>{sizeOf(of.memory_bytes)}</Tile>
            <Tile title={o.tiles.uptime}>{durationOf(Date.parse(of.at) - Date.parse(of.started))}</Tile>
        </dl>
    );
}

function Tile({ title, href, note, isHot, children }: { title: string; href?: string; note?: string; isHot?: boolean; children: ComponentChildren }) {
    return (
        <div class={isHot ? 'tile hot' : 'tile'}>
            <dt>{href ? <a class="plain" href={href}>{title}</a> : title}</dt>
            <dd><b>{children}</b>{note && <span class="note">{note}</span>}</dd>
        </div>
    );
}

