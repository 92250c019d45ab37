// SPDX-License-Identifier: Apache-2.0
// People and agents: who is known and who is here, what each may do, and the credentials.
import { useState } from 'preact/hooks';

import { currentSession } from '../net/session';
import { Button } from '../parts/button';
import { Check, SelectField, TextField } from '../parts/field';
import { Some } from '../parts/more';
import { Empty, Loading } from '../parts/notes';
import { Page } from '../parts/page';
import { Tabs } from '../parts/tabs';
import { go, hrefOf, type Query, type Route } from '../router';
import { useLoad } from '../state/load';
import { filterPeople } from '../state/people';
import { focusRow, useRowKeys } from '../state/row-keys';
import { t } from '../strings';
import { loadEverybody, type Everybody } from './people/data';
import { PersonDetails } from './people/details';
import { InviteDialog } from './people/invite';
import { PeopleTable } from './people/list';
import { NewTokenDialog, TokensTable } from './people/tokens';

const EVERY_MS = 5000, AS_MEMBER_MS = 15_000; // a member asks room by room

export function PeopleView({ route }: { route: Route }) {
    const { admin } = currentSession();
    const all = useLoad(loadEverybody, [], { everyMs: admin ? EVERY_MS : AS_MEMBER_MS });
    const [open, setOpen] = useState<'invite' | 'token' | null>(null);
    const filter = { text: route.query.get('q') ?? '', type: route.query.get('type') ?? '', isHere: route.query.has('here') };
    const tab = admin && route.query.get('tab') === 'tokens' ? 'tokens' : 'people';
    const set = (changes: Query) => go(hrefOf('people', route.thing, { ...Object.fromEntries(route.query), ...changes }), 'replace');
    const show = (id: string | null) => go(hrefOf('people', id, Object.fromEntries(route.query)), route.thing ? 'replace' : 'push');
    const people = filterPeople(all.value?.people ?? [], filter);
    const chosen = route.thing === null ? undefined : all.value?.people.find((one) => one.id === route.thing);

    useRowKeys(tab === 'people' ? people.map(({ id }) => id) : [], route.thing, show);
    return (
        <Page title={t.views.people.title}
            actions={<>
                <Button icon="link" onClick={() => setOpen('invite')}>{t.people.invite}</Button>
                {admin && <Button icon="plus" onClick={() => setOpen('token')}>{t.people.newToken}</Button>}
            </>}
            tools={<Filters filter={filter} set={set} isWithPresence={tab === 'people'} />}
            details={route.thing !== null && all.value && (
                <PersonDetails key={route.thing} id={route.thing} person={chosen} all={all.value} onChange={all.reload} onClose={() => { show(null); focusRow(hrefOf('people', route.thing)); }} />
            )}>
            <Loading of={all}>
                {(value) => (admin
                    ? <Tabs label={t.people.tabs} current={tab} onChoose={(name) => set({ tab: name === 'tokens' ? name : undefined })} tabs={[
                        { name: 'people', title: t.people.people, count: value.people.length },
                        { name: 'tokens', title: t.people.tokens, count: value.tokens.length },
                    ]}>
                        {tab === 'people' ? <List people={people} value={value} chosen={route.thing} onOpen={show} /> : <TokensTable tokens={value.tokens} text={filter.text} type={filter.type} onChange={all.reload} />}
                    </Tabs>
                    : <List people={people} value={value} chosen={route.thing} onOpen={show} />)}
            </Loading>
            {open === 'invite' && <InviteDialog topics={all.value?.topics ?? []} onClose={() => setOpen(null)} onChange={all.reload} />}
            {open === 'token' && <NewTokenDialog onClose={() => setOpen(null)} onChange={all.reload} />}
        </Page>
    );
}

interface ListProps { people: ReturnType<typeof filterPeople>; value: Everybody; chosen: string | null; onOpen: (id: string) => void }

function List({ people, value, chosen, onOpen }: ListProps) {
    if (!value.people.length) return <Empty icon="people" title={t.people.nobody}>{t.views.people.purpose}</Empty>;
    if (!people.length) return <Empty icon="search" title={t.people.none}>{t.people.noneHint}</Empty>;
    return <Some of={people}>{(some) => <PeopleTable people={some} chosen={chosen} onOpen={onOpen} />}</Some>;
}

interface FiltersProps { filter: { text: string; type: string; isHere: boolean }; set: (changes: Query) => void; isWithPresence: boolean }

function Filters({ filter, set, isWithPresence }: FiltersProps) {
    const types = [{ value: '', title: t.people.anyType }, ...Object.entries(t.people.types).map(([value, title]) => ({ value, title }))];

    return (
        <div class="filters" data-search>
            <TextField label={t.people.search} isLabelHidden placeholder={t.people.search} type="search" value={filter.text} onInput={(q) => set({ q })} />
            <SelectField label={t.people.type} isLabelHidden value={filter.type} choices={types} onInput={(type) => set({ type })} />
            {isWithPresence && <Check label={t.people.isHere} value={filter.isHere} onInput={(here) => set({ here: here ? '1' : undefined })} />}
        </div>
    );
}
