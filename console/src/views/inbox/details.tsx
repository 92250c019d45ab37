// SPDX-License-Identifier: Apache-2.0
// All that one needs to decide on one thing: who asks, what would run where, with what, and
// what others decided on the like. Below it, always in view, what one can do.
import { useMemo, useState } from 'preact/hooks';

import type { Envelope, Participant } from '../../net/types';
import { Avatar, Badge, Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Diff } from '../../parts/diff';
import { SelectField } from '../../parts/field';
import { JsonTree } from '../../parts/json-tree';
import { LongText } from '../../parts/long-text';
import { Note } from '../../parts/notes';
import { Details } from '../../parts/page';
import { Scroll } from '../../parts/scroll';
import { Time } from '../../parts/time';
import { hrefOf } from '../../router';
import { hasUnseen, mayBeChanged, rawNumbers, shown } from '../../state/exact';
import { agreedTo, askerOf, compare, ownersOf, placeOf, type Call, type Decision, type Item, type Proposal } from '../../state/inbox';
import { isLong } from '../../state/length';
import { readable } from '../../state/pointer';
import { visible, visibleName } from '../../state/visible';
import { t } from '../../strings';
import { About, History } from './about';
import { Actions } from './actions';
import { EndingNote, nameOf } from './ending';
import type { Ended } from './endings';
import { useFacts, type Facts } from './facts';
import { Left } from './list';
import { RuleDialog } from './rule';

interface InboxDetailsProps {
    item: Item;
    ended: Ended | null;
    onClose: () => void;
}

export function InboxDetails({ item: listed, ended, onClose }: InboxDetailsProps) {
    const [to, setTo] = useState('');
    const [isRuleOpen, setRuleOpen] = useState(false);
    const facts = useFacts(listed, to, `${ended?.state ?? ''} ${ended?.run?.state ?? ''}`);
    const { item, call } = facts;
    const why = useMemo(() => whyNot(facts.call, facts.isWhole), [facts.call, facts.isWhole]);
    const reading = useReading(facts);
    const tool = useToolReading(facts);
    const isBlocked = why !== null || reading.isOther || tool.isOther;

    return (
        <Details title={<span class="code"><Name>{call.tool ?? call.method}</Name></span>} onClose={onClose}
            actions={ended ? undefined : <Left at={item.expires} />}>
            {ended && <EndingNote ended={ended} />}
            {!ended && why && <Note tone="danger">{why}{call.contradiction !== null && <> <bdi class="code">{visible(call.contradiction)}</bdi></>}</Note>}
            {!ended && reading.isOther && <Note tone="danger" action={<Button onClick={reading.see}>{t.inbox.readAgain}</Button>}>{t.inbox.isOther}</Note>}
            {!ended && tool.isOther && <Note tone="danger" action={<Button onClick={tool.see}>{t.inbox.readAgain}</Button>}>{t.inbox.toolIsOther}</Note>}
            <Who facts={facts} to={to} setTo={setTo} isOver={ended !== null} />
            {ended?.edited !== undefined && <section class="inbox-part"><h3>{t.inbox.yourChanges}</h3><Diff before={call.args} after={ended.edited} /></section>}
            <Arguments facts={facts} isAll={reading.isAll} isOver={ended !== null} />
            {Object.keys(call.others).length > 0 && <Others call={call} isAll={reading.isAll} />}
            {!ended && !reading.isAll && <Note tone="warn" action={<Button onClick={reading.showAll}>{t.parts.moreOfIt}</Button>}>{t.inbox.isLong}</Note>}
            <About facts={facts} />
            <History facts={facts} isOver={ended !== null} />
            {item.type === 'proposal' && item.envelope && <Raw envelope={item.envelope} />}
            {!ended && <Actions facts={facts} to={to} isBlocked={isBlocked} isRead={reading.isAll} onRule={() => setRuleOpen(true)} />}
            {isRuleOpen && item.type === 'proposal' && <RuleDialog facts={facts} item={item} to={to} ended={ended} onClose={() => setRuleOpen(false)} />}
        </Details>
    );
}

// Why it cannot be approved here: nobody approves what he was not shown.
function whyNot(call: Call, isWhole: boolean): string | null {
    if (call.contradiction !== null) return t.inbox.contradiction;
    if (!isWhole) return t.inbox.argsLong;
    return mayBeChanged([call.args ?? null, call.others]) ? t.inbox.mayBeChanged : null;
}

interface Reading {
    isOther: boolean; // it has become something else since it was opened
    see: () => void;
    isAll: boolean; // nothing of it is folded or cut off
    showAll: () => void;
}

// Nobody approves something else than was read, because it became that under the finger, or because
// the rest of it was never shown.
function useReading({ item, call, isWhole }: Facts): Reading {
    const now = useMemo(() => (isWhole ? agreedTo(item) : null), [item, isWhole]);
    const isShort = useMemo(() => !isLong([call.args ?? null, call.others]), [call]);
    const [seen, setSeen] = useState(now);
    const [all, setAll] = useState<string | null>(null);

    if (seen === null && now !== null) setSeen(now);
    return { isOther: seen !== null && now !== null && seen !== now, see: () => setSeen(now), isAll: isShort || all === now, showAll: () => setAll(now) };
}

// What its owner tells of the tool, and whether that was reviewed, may change meanwhile as well.
function useToolReading({ tool: { value }, owners: [owner] }: Facts): Pick<Reading, 'isOther' | 'see'> {
    const told = useMemo(() => (value ? JSON.stringify(value === 'unlisted' ? value : [value.about, value.pin?.state]) : null), [value]);
    const [seen, setSeen] = useState<{ owner: string | undefined; told: string } | null>(null);
    const see = () => { if (told !== null) setSeen({ owner, told }); };

    if (told !== null && seen?.owner !== owner) see();
    return { isOther: told !== null && seen !== null && seen.owner === owner && seen.told !== told, see };
}

// --- who asks, what runs where ---

function Somebody({ id, among }: { id: string; among: readonly Participant[] | undefined }) {
    const type = among?.find((one) => one.id === id)?.moot.type;
    return <span class="inbox-somebody"><Avatar id={id} type={type} /><Name>{id}</Name>{type && <span class="quiet">{t.parts.types[type]}</span>}</span>;
}

interface WhoProps { facts: Facts; to: string; setTo: (id: string) => void; isOver: boolean }

function Who({ facts, to, setTo, isOver }: WhoProps) {
    const { item, call, participants } = facts;
    const among = participants.value;

    return (
        <dl class="facts inbox-facts">
            <dt>{t.inbox.asks}</dt><dd><Somebody id={askerOf(item)} among={among} /></dd>
            {call.reason !== null && call.reason !== '' && <><dt>{item.type === 'proposal' ? t.inbox.inWords : t.inbox.ownerSays}</dt><dd><LongText text={call.reason} most={300} isSaid /></dd></>}
            <dt>{t.inbox.runs}</dt><dd><bdi class="code inbox-whole">{visibleName(call.tool ?? call.method)}</bdi> {call.tool !== null && call.method !== 'tools/call' && <span class="quiet code">{call.method}</span>}</dd>
            <dt>{t.inbox.where}</dt><dd><Where {...{ facts, to, setTo, isOver }} /></dd>
            <dt>{t.inbox.room}</dt><dd><a href={hrefOf('room', item.topic, { envelope: item.id })}><Name>{item.topic}</Name></a></dd>
            {item.type === 'authorization' && item.asked && <><dt>{t.inbox.asked}</dt><dd><Somebody id={item.asked} among={among} /></dd></>}
            <dt>{isOver ? t.inbox.waited : t.inbox.waits}</dt><dd><Time at={item.created} as="clock" /> <span class="quiet">(<Time at={item.created} />)</span></dd>
            {item.type === 'proposal' && (item.approvals.needed > 1 || item.approvals.given > 0) && <><dt>{t.inbox.approvals}</dt><dd><Quorum item={item} /></dd></>}
        </dl>
    );
}

function Where({ facts, to, setTo, isOver }: WhoProps) {
    const { item, call, participants: { value: among } } = facts;

    if (!call.owners.length && !isOver && item.may.includes('fulfil')) return <Chooser {...{ item, call, among, to, setTo }} />;
    return (
        <span class="row">
            {call.owners.length ? call.owners.map((id) => <Somebody key={id} id={id} among={among} />) : <span class="quiet">{t.inbox.nobodyNamed}</span>}
            {among && !isOver && call.owners.map((id) => !among.some((one) => one.id === id) && <Badge key={id} tone="warn" icon="warning">{t.inbox.isNotHere}</Badge>)}
            {call.owners.length > 1 && <span class="quiet">{t.inbox.several(call.owners.length)}</span>}
        </span>
    );
}

interface ChooserProps { item: Item; call: Call; among: readonly Participant[] | undefined; to: string; setTo: (id: string) => void }

// The proposal names nobody: whoever approves says who is to run it. Services come first.
function Chooser({ item, among = [], to, setTo }: ChooserProps) {
    const others = among.filter((one) => one.id !== askerOf(item) && one.moot.type !== 'human');
    const ordered = [...others].sort((a, b) => Number(b.moot.type === 'service') - Number(a.moot.type === 'service'));
    const choices = [{ value: '', title: t.inbox.choose }, ...ordered.map((one) => ({ value: one.id, title: `${one.id} (${t.parts.types[one.moot.type]})` }))];

    return <SelectField label={t.inbox.whoRuns} hint={t.inbox.nobodyNamed} value={to} onInput={setTo} choices={choices} />;
}

function Quorum({ item }: { item: Proposal }) {
    const { needed, given, by } = item.approvals;
    return (
        <span class="row">
            <span class="quorum" aria-hidden="true">{Array.from({ length: Math.min(needed, 10) }, (_, i) => <span key={i} class={i < given ? 'given' : ''} />)}</span>
            <span>{t.inbox.quorum(given, needed)}</span>
            {by.length > 0 && <span class="quiet"><bdi>{t.inbox.quorumBy(by.map(nameOf).join(', '))}</bdi></span>}
        </span>
    );
}

// --- with what ---

function Arguments({ facts, isAll, isOver }: { facts: Facts; isAll: boolean; isOver: boolean }) {
    const { call, owners, baseline, problems } = facts;
    const args = useMemo(() => (call.args === undefined ? undefined : shown(call.args)), [call.args]);
    const before = isOver ? undefined : baseline?.arguments;
    const compared = useMemo(() => (before === undefined || call.args === undefined ? null : compare(before, call.args)), [before, call.args]);
    const place = baseline ? placeOf(baseline, owners) : 'unknown';
    const tree = useMemo(() => <JsonTree value={args ?? null} open={3} isWhole={isAll} canCopy {...(compared && { marks: compared.marks })} />, [args, isAll, compared]);
    const numbers = useMemo(() => rawNumbers([call.args ?? null, call.others]), [call]);
    const isUnseen = useMemo(() => hasUnseen([call.tool, call.args ?? null, call.others]), [call]);
    if (args === undefined) return null;
    const title = call.method === 'tools/call' ? t.inbox.args : t.inbox.params;

    return (
        <section class="inbox-part">
            <h3>{title}</h3>
            <Scroll class="inbox-arguments" label={title}>{tree}</Scroll>
            {compared && baseline && <p class="quiet inbox-compared">{comparedWords(compared.marks.size + compared.missing.length, place, baseline)} <Time at={baseline.decided ?? baseline.created} /></p>}
            {compared && baseline && place === 'other' && <p><Badge tone="warn">{t.parts.changes.changed}</Badge> <bdi>{t.inbox.otherPlace(ownersOf(baseline).map(visible).join(', '))}</bdi></p>}
            {compared && compared.missing.length > 0 && <p><Badge tone="warn">{t.parts.changes.removed}</Badge> <bdi>{visible(t.inbox.missing(compared.missing.slice(0, 20).map(readable).join(', ')))}</bdi></p>}
            {isUnseen && <Note tone="warn">{t.inbox.unseen}</Note>}
            {numbers.length > 0 && <Note tone="plain"><bdi>{t.inbox.rawNumbers(numbers.slice(0, 20).join(', '))}</bdi></Note>}
            {problems.length > 0 && !isOver && <Misfit problems={problems} />}
        </section>
    );
}

function Others({ call, isAll }: { call: Call; isAll: boolean }) {
    const tree = useMemo(() => <JsonTree value={shown(call.others)} isWhole={isAll} />, [call, isAll]);
    return <section class="inbox-part"><h3>{t.inbox.others}</h3>{tree}</section>;
}

function comparedWords(changes: number, place: ReturnType<typeof placeOf>, { by, rule }: Decision): string {
    const same = place === 'same' ? t.inbox.exactly : t.inbox.sameArgsAs;
    if (rule || by === undefined) return changes ? t.inbox.comparedRule : t.inbox.sameRule(same);
    return changes ? t.inbox.comparedWith(nameOf(by)) : t.inbox.sameAs(same, nameOf(by));
}

function Misfit({ problems }: { problems: Facts['problems'] }) {
    return (
        <Note tone="warn">
            <p>{t.inbox.misfit(problems.length)}</p>
            <ul>{problems.slice(0, 5).map((one) => <li key={one.pointer}><bdi class="code">{visible(readable(one.pointer)) || t.inbox.whole}</bdi>: <bdi>{one.message}</bdi></li>)}</ul>
        </Note>
    );
}

function Raw({ envelope }: { envelope: Envelope }) {
    const [isOpen, setOpen] = useState(false);
    return (
        <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>{t.inbox.raw}</summary>
            {isOpen && <JsonTree value={shown({ ...envelope })} open={2} canCopy />}
        </details>
    );
}
