// SPDX-License-Identifier: Apache-2.0
// The directory, searched in everyday words. What is searched for stands in the address.
import { useEffect, useRef, useState } from 'preact/hooks';

import { sentenceOf } from '../../net/api';
import { currentSession } from '../../net/session';
import { Avatar, Badge, Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { SelectField, TextField } from '../../parts/field';
import { Empty, ErrorNote, Loading, Note } from '../../parts/notes';
import { go, hrefOf, type Query, type Route } from '../../router';
import { useCell } from '../../state/cell';
import { filtersIn, FILTERS, rateOf, reasonOf, type Filters, type Found, type Page } from '../../state/directory';
import { useLoad } from '../../state/load';
import { useRowKeys } from '../../state/row-keys';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { choose, chosen, search } from './data';

const PAUSE_MS = 250; // while somebody types
const SKILLS_SHOWN = 8;

export function Directory({ route, round, onAdd }: { route: Route; round: number; onAdd: () => void }) {
    const filters = filtersIn(route.query);
    const settled = useSettled(JSON.stringify(filters));
    const set = (changes: Query) => go(hrefOf('teams', null, { ...Object.fromEntries(route.query), resource: undefined, ...changes }), 'replace');

    return (
        <div class="stack">
            <Search filters={filters} set={set} />
            <Results key={`${settled} ${round}`} filters={JSON.parse(settled) as Filters} route={route} onAdd={onAdd} />
        </div>
    );
}

// The value, once it has not changed for a moment.
function useSettled(value: string): string {
    const [settled, setSettled] = useState(value);

    useEffect(() => {
        const timer = setTimeout(() => setSettled(value), PAUSE_MS);
        return () => clearTimeout(timer);
    }, [value]);
    return settled;
}

function Search({ filters, set }: { filters: Filters; set: (changes: Query) => void }) {
    const count = FILTERS.filter((name) => filters[name]).length;
    const [isOpen, setOpen] = useState(count > 0);
    const choices = (of: Record<string, string>) => Object.entries(of).map(([value, title]) => ({ value, title }));

    return (
        <search class="stack tight">
            <div class="filters wide" data-search>
                <TextField label={t.teams.searchLabel} isLabelHidden placeholder={t.teams.search} type="search" value={filters.query} onInput={(q) => set({ q })} />
                <Button icon="filter" isPressed={isOpen} onClick={() => setOpen(!isOpen)}>{count ? t.teams.filtersOn(count) : t.teams.filters}</Button>
            </div>
            {isOpen && (
                <div class="filter-grid">
                    <SelectField label={t.teams.kind} value={filters.kind ?? ''} choices={choices(t.teams.kinds)} onInput={(kind) => set({ kind })} />
                    <SelectField label={t.teams.availability} value={filters.availability ?? ''} choices={choices(t.teams.availabilities)} onInput={(availability) => set({ availability })} />
                    <TextField label={t.teams.skills} value={filters.skills ?? ''} onInput={(skills) => set({ skills })} placeholder={t.teams.skillsHint} />
                    <TextField label={t.teams.location} value={filters.location ?? ''} onInput={(location) => set({ location })} />
                    <TextField label={t.teams.maxRate} type="number" value={filters.max_rate ?? ''} onInput={(max_rate) => set({ max_rate })} />
                    <TextField label={t.teams.currency} value={filters.currency ?? ''} onInput={(currency) => set({ currency: currency.toUpperCase() })} maxLength={3} />
                </div>
            )}
        </search>
    );
}

function Results({ filters, route, onAdd }: { filters: Filters; route: Route; onAdd: () => void }) {
    const first = useLoad((signal) => search(filters, undefined, signal), []);
    const [others, setOthers] = useState<Page[]>([]);
    const [state, setState] = useState<{ isBusy: boolean; error?: string }>({ isBusy: false });
    const abort = useRef(new AbortController());
    const pages = first.value ? [first.value, ...others] : [];
    const all = pages.flatMap((page) => page.resources);
    const next = pages.at(-1)?.next;
    const open = (id: string) => go(hrefOf('teams', null, { ...Object.fromEntries(route.query), resource: id }), route.query.has('resource') ? 'replace' : 'push');
    const more = () => {
        setState({ isBusy: true });
        search(filters, next, abort.current.signal).then(
            (page) => { setOthers([...others, page]); setState({ isBusy: false }); },
            (error: unknown) => { if (!abort.current.signal.aborted) setState({ isBusy: false, error: sentenceOf(error) }); });
    };

    useEffect(() => () => abort.current.abort(), []);
    useRowKeys(all.map(({ resource }) => resource.id), route.query.get('resource'), open);
    return (
        <Loading of={first}>
            {() => {
                if (!all.length) return <Nobody filters={filters} onAdd={onAdd} />;
                return (
                    <>
                        {pages.some((page) => page.partial) && <Note>{t.teams.partialResults}</Note>}
                        <p class="quiet">{t.teams.chooseHint}</p>
                        <ul class="found" aria-label={t.teams.results}>
                            {all.map((found) => <li key={found.resource.id} class={found.resource.id === route.query.get('resource') ? 'chosen' : ''}><Entry found={found} route={route} /></li>)}
                        </ul>
                        {state.error && <ErrorNote error={state.error} onRetry={more} />}
                        {next && <div class="row"><Button isBusy={state.isBusy} onClick={more}>{t.teams.more}</Button></div>}
                    </>
                );
            }}
        </Loading>
    );
}

function Nobody({ filters, onAdd }: { filters: Filters; onAdd: () => void }) {
    const { admin } = currentSession();
    const isAsked = filters.query.trim() !== '' || FILTERS.some((name) => filters[name]);

    if (isAsked) return <Empty icon="search" title={t.teams.noResults}>{t.teams.noResultsHint}</Empty>;
    return <Empty icon="people" title={t.teams.emptyDirectory} action={admin && <Button kind="primary" icon="plus" onClick={onAdd}>{t.teams.addResource}</Button>}>{admin && t.teams.emptyHint}</Empty>;
}

function Entry({ found, route }: { found: Found; route: Route }) {
    const { resource } = found;
    const reason = reasonOf(found);
    const skills = resource.skills ?? [];
    const facts = [resource.role, resource.location, rateOf(resource.rate)].filter((one): one is string => Boolean(one)).map(visible);

    return (
        <>
            <input type="checkbox" aria-label={t.teams.choose(visible(resource.name))} checked={useCell(chosen).has(resource.id)}
                onChange={(event) => choose(resource.id, resource.name, event.currentTarget.checked)} />
            <Avatar id={resource.id} type={resource.kind} />
            <div class="grow">
                <div class="row">
                    <a class="plain strong" href={hrefOf('teams', null, { ...Object.fromEntries(route.query), resource: resource.id })}><Name>{resource.name}</Name></a>
                    {resource.availability && <Badge tone={resource.availability === 'unavailable' ? 'plain' : 'ok'}>{visible(resource.availability)}</Badge>}
                </div>
                {facts.length > 0 && <p class="quiet"><bdi>{facts.join(' · ')}</bdi></p>}
                {skills.length > 0 && <p class="skills">
                    {skills.slice(0, SKILLS_SHOWN).map((skill) => <Badge key={skill} tone={found.reason?.skills?.includes(skill) ? 'accent' : 'plain'}><Name>{skill}</Name></Badge>)}
                    {skills.length > SKILLS_SHOWN && <span class="quiet">{t.people.more(skills.length - SKILLS_SHOWN)}</span>}
                </p>}
                {reason && <p class="note">{t.teams.found} <bdi>{reason}</bdi></p>}
            </div>
        </>
    );
}
