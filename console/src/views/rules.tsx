// SPDX-License-Identifier: Apache-2.0
// Rules of all rooms: what is suggested, what is in force, what was stopped.
import { useEffect, useState } from 'preact/hooks';

import { Name } from '../parts/badge';
import { Button } from '../parts/button';
import { SelectField, TextField } from '../parts/field';
import { Some } from '../parts/more';
import { Empty, Loading, Note, Skeleton } from '../parts/notes';
import { Page } from '../parts/page';
import { Table, type Column } from '../parts/table';
import { Tabs } from '../parts/tabs';
import { Time } from '../parts/time';
import { go, hrefOf, route as here, type Query, type Route } from '../router';
import { useLoad } from '../state/load';
import { focusRow, useRowKeys } from '../state/row-keys';
import { byChange, fits, isLeftOut, tabOf, TABS, type Rule, type RuleRoom, type Tab } from '../state/rules';
import { serverNow } from '../state/time';
import { visible } from '../state/visible';
import { t } from '../strings';
import { AutomationDialog, StoppedRooms } from './rules/automation';
import { loadRooms } from './rules/data';
import { RuleDetails } from './rules/details';
import { markRules } from './rules/watch';
import { StandingBadge, Who } from './rules/words';

const EVERY_MS = 5000;

const keyOf = (rule: Rule) => `${rule.topic}\n${rule.id}`;
// The room of the open rule is in the address: ids are chosen by people too. So is the list that it
// was opened from, which stays when the rule goes elsewhere.
const hrefOfRule = (rule: Rule) => hrefOf('rules', rule.id, { ...Object.fromEntries(here.get().query), in: rule.topic, tab: tabOf(rule, serverNow()) });

export function RulesView({ route }: { route: Route }) {
    const filter = { text: route.query.get('q') ?? '', topic: route.query.get('topic') ?? '' };
    const wanted = filter.topic || (route.query.get('in') ?? '');
    const rooms = useLoad((signal) => loadRooms(wanted, signal), [], { everyMs: EVERY_MS });
    const [isSwitching, setSwitching] = useState(false);
    const now = serverNow();
    const all = (rooms.value ?? []).flatMap((room) => room.rules ?? []);
    const leftOut = (rooms.value ?? []).filter(isLeftOut);
    const isWantedLeftOut = leftOut.some((room) => room.name === wanted);
    const chosen = all.find((rule) => rule.id === route.thing && rule.topic === (route.query.get('in') ?? rule.topic));
    const asked = TABS.find((one) => one === route.query.get('tab'));
    const found = all.filter((rule) => fits(rule, filter)).sort(byChange);
    const tab = asked ?? (chosen ? tabOf(chosen, now) : TABS.find((one) => found.some((rule) => tabOf(rule, now) === one))) ?? 'suggested';
    const shown = found.filter((rule) => tabOf(rule, now) === tab);
    const set = (changes: Query) => go(hrefOf('rules', route.thing, { ...Object.fromEntries(route.query), ...changes }), 'replace');
    const close = () => {
        go(hrefOf('rules', null, { ...Object.fromEntries(route.query), in: undefined, thing: undefined }), 'replace');
        focusRow(hrefOf('rules', route.thing));
    };
    const open = (rule: Rule | undefined) => { if (rule) go(hrefOfRule(rule), route.thing ? 'replace' : 'push'); };

    useEffect(() => { if (isWantedLeftOut) rooms.reload(); }, [wanted, isWantedLeftOut]);
    useEffect(() => { if (rooms.value) markRules(rooms.value); }, [rooms.value]);
    useRowKeys(shown.map(keyOf), chosen ? keyOf(chosen) : null, (key) => open(shown.find((rule) => keyOf(rule) === key)));
    return (
        <Page title={t.rules.title} actions={<Button icon="power" onClick={() => setSwitching(true)}>{t.rules.automation}</Button>}
            tools={<Filters filter={filter} rooms={rooms.value ?? []} set={set} />}
            details={route.thing !== null && <RuleDetails key={`${route.query.get('in') ?? ''}\n${route.thing}`} rule={chosen} room={rooms.value?.find((room) => room.name === chosen?.topic)}
                now={now} isLoading={rooms.value === undefined} onChange={rooms.reload} onClose={close} />}>
            <Loading of={rooms}>
                {(value) => (
                    <>
                        {leftOut.length > 0 && !filter.topic && <Note>{t.rules.leftOut(leftOut.length)}</Note>}
                        <StoppedRooms rooms={value} onChange={rooms.reload} />
                        <Tabs label={t.rules.tabsLabel} current={tab} onChoose={(name) => set({ tab: name })}
                            tabs={TABS.map((name) => ({ name, title: t.rules.tabs[name] ?? name, count: found.filter((rule) => tabOf(rule, now) === name).length }))}>
                            {isWantedLeftOut ? <Skeleton /> : <List rules={shown} tab={tab} isFiltered={Boolean(filter.text || filter.topic)} chosen={chosen} onOpen={open} now={now} />}
                        </Tabs>
                    </>
                )}
            </Loading>
            {isSwitching && <AutomationDialog rooms={rooms.value ?? []} onChange={rooms.reload} onClose={() => setSwitching(false)} />}
        </Page>
    );
}

function Filters({ filter, rooms, set }: { filter: { text: string; topic: string }; rooms: readonly RuleRoom[]; set: (changes: Query) => void }) {
    const names = [...new Set([...rooms.map(({ name }) => name), ...(filter.topic ? [filter.topic] : [])])];
    return (
        <div class="filters" data-search>
            <TextField label={t.rules.search} isLabelHidden placeholder={t.rules.search} type="search" value={filter.text} onInput={(q) => set({ q })} />
            <SelectField label={t.rules.room} isLabelHidden value={filter.topic} onInput={(topic) => set({ topic })}
                choices={[{ value: '', title: t.rules.anyRoom }, ...names.map((name) => ({ value: name, title: visible(name) }))]} />
        </div>
    );
}

interface ListProps { rules: readonly Rule[]; tab: Tab; isFiltered: boolean; chosen: Rule | undefined; onOpen: (rule: Rule) => void; now: number }

function List({ rules, tab, isFiltered, chosen, onOpen, now }: ListProps) {
    if (!rules.length && isFiltered) return <Empty icon="search" title={t.rules.noMatch}>{t.rules.noMatchHint}</Empty>;
    if (!rules.length) return <Empty icon="rules" title={t.rules.none[tab] ?? ''}>{t.rules.noneHints[tab]}</Empty>;
    return (
        <Some of={rules}>
            {(some) => <Table label={t.rules.title} columns={columnsOf(now)} rows={some} keyOf={keyOf} onOpen={onOpen} isChosen={(rule) => rule === chosen} />}
        </Some>
    );
}

function columnsOf(now: number): Column<Rule>[] {
    const c = t.rules.columns;
    return [
        { title: c.what, isHead: true, cell: (rule) => <a class="plain" href={hrefOfRule(rule)}><Who rule={rule} /></a> },
        { title: c.state, cell: (rule) => <StandingBadge rule={rule} now={now} /> },
        { title: c.room, isExtra: true, cell: (rule) => <Name>{rule.topic}</Name> },
        { title: c.uses, isExtra: true, align: 'end', cell: (rule) => t.rules.usesOf(rule.used_this_hour, rule.budget) },
        { title: c.expires, isExtra: true, align: 'end', cell: (rule) => (rule.expires_at ? <Time at={rule.expires_at} /> : '–') },
    ];
}
