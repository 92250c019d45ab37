// SPDX-License-Identifier: Apache-2.0
// What a server offers, and what of that nobody has looked at yet.
import { useState } from 'preact/hooks';

import { path, post, Refusal } from '../../net/api';
import type { Json } from '../../net/types';
import { Badge, Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Icon } from '../../parts/icon';
import { Fold } from '../../parts/fold';
import { JsonTree } from '../../parts/json-tree';
import { LongText } from '../../parts/long-text';
import { Some } from '../../parts/more';
import { Empty, ErrorNote, Note, type Tone } from '../../parts/notes';
import { Section } from '../../parts/page';
import { Scroll } from '../../parts/scroll';
import { Time } from '../../parts/time';
import { toast } from '../../parts/toast';
import { useAct } from '../../state/act';
import { linesOfDifference, offersOf, toReview, type Listing, type Offer, type TypedOffer } from '../../state/servers';
import { visible, visibleName } from '../../state/visible';
import { t } from '../../strings';
import { Ask } from './ask';

const TONES: Record<Offer['verdict'], Tone> = { seen: 'ok', new: 'warn', changed: 'warn', dropped: 'danger' };

const FIRST_CHARS = 200;
const DESCRIPTION = 4000; // characters; the rest is a click away

// --- review ---

export function Review({ name, listing, onChange }: { name: string; listing: Listing; onChange: () => void }) {
    const waiting = toReview(listing);
    const [isAsking, setAsking] = useState(false);
    const all = useSeen(listing);

    if (!waiting.length)
        return <Empty icon="check" title={t.servers.nothingHeld}>{listing.trusted ? t.servers.nothingHeldHint : t.servers.notTrusted}</Empty>;
    return (
        <div class="stack">
            <Note tone="plain">{waiting.some(({ offer }) => offer.held) ? t.servers.heldHint : t.servers.warnHint}</Note>
            <Some of={waiting}>{(some) => some.map((one) => <Waiting key={`${one.type} ${one.offer.key}`} server={name} of={one} onChange={onChange} />)}</Some>
            {waiting.length > 1 && all.isOther && <Note tone="warn" action={<Button onClick={all.see}>{t.servers.readAll}</Button>}>{t.servers.othersMeanwhile}</Note>}
            {waiting.length > 1 && <div class="row"><Button isDisabled={all.isOther} onClick={() => setAsking(true)}>{t.servers.approveAll}</Button></div>}
            {isAsking && <Ask title={t.servers.approveAllTitle(waiting.length)} text={t.servers.approveAllText} action={t.servers.approve} onClose={() => setAsking(false)}
                run={async () => { await post(path`/admin/servers/${name}/pins`, { all: true, digest: all.seen.digest }).catch(changedMeanwhile(onChange)); toast(t.servers.approvedAll, 'ok'); onChange(); }} />}
        </div>
    );
}

// What somebody reads stays as it is until he wants to see what it has become: nobody approves what came
// under the finger.
function useSeen<T extends { digest?: string }>(now: T): { seen: T; isOther: boolean; see: () => void } {
    const [seen, setSeen] = useState(now);
    const isOther = seen.digest !== now.digest;
    return { seen: isOther ? seen : now, isOther, see: () => setSeen(now) };
}

// A server may change what it offers while somebody reads it: then nothing is approved, and what it
// offers now is shown.
function changedMeanwhile(onChange: () => void): (error: unknown) => never {
    return (error) => {
        if (error instanceof Refusal && error.status === 409) onChange();
        throw error;
    };
}

function Waiting({ server, of: { type, offer: now }, onChange }: { server: string; of: TypedOffer; onChange: () => void }) {
    const { seen: offer, isOther, see } = useSeen(now);
    const act = useAct();
    const approve = () => act.run(async () => {
        await post(path`/admin/servers/${server}/pins`, { name: offer.key, type, digest: offer.digest }).catch(changedMeanwhile(onChange));
        toast(t.servers.approved(visible(offer.key)), 'ok');
        onChange();
    });

    return (
        <section class="section" aria-label={visible(offer.key)}>
            <header>
                <h3 class="who"><bdi class="words">{visibleName(offer.key)}</bdi> <Badge tone={TONES[offer.verdict]}>{t.servers.verdicts[offer.verdict]}</Badge></h3>
                <Button kind="primary" label={t.servers.approveOf(visible(offer.key))} isBusy={act.isBusy} isDisabled={isOther} onClick={approve}>{t.servers.approve}</Button>
            </header>
            {act.error && <ErrorNote error={act.error} />}
            {isOther && <Note tone="warn" action={<Button onClick={see}>{t.servers.showNow}</Button>}>{t.servers.changedMeanwhile}</Note>}
            {offer.difference && offer.verdict === 'changed'
                ? <><p class="quiet">{t.servers.difference}</p><Difference text={offer.difference} /></>
                : <Described offer={offer} />}
            <Whole offer={offer} />
        </section>
    );
}

// Words stand before the lines for those who hear them.
function Difference({ text }: { text: string }) {
    return (
        <Scroll class="diff-text code lines" label={t.servers.difference}>
            {linesOfDifference(text).map((line, i) => {
                const shown = visible(line.text);
                if (line.kind === 'added') return <ins key={i}><span class="hidden">{t.servers.lineAdded} </span><span aria-hidden="true">{'+\u00a0'}</span><bdi>{shown}</bdi>{'\n'}</ins>;
                if (line.kind === 'removed') return <del key={i}><span class="hidden">{t.servers.lineRemoved} </span><span aria-hidden="true">{'−\u00a0'}</span><bdi>{shown}</bdi>{'\n'}</del>;
                return <span key={i}><bdi>{shown}</bdi>{'\n'}</span>;
            })}
        </Scroll>
    );
}

function Whole({ offer }: { offer: Offer }) {
    return (
        <Fold title={t.servers.more}><JsonTree value={offer.item as Json} open={2} /></Fold>
    );
}

function Described({ offer }: { offer: Offer }) {
    const text = offer.item['description'];

    if (typeof text !== 'string' || !text.trim()) return <p class="quiet">{t.servers.noDescription}</p>;
    return <Scroll class="prose" label={t.servers.description}><LongText text={text} most={DESCRIPTION} isSaid /></Scroll>;
}

// --- catalogue ---

export function Catalogue({ listing }: { listing: Listing }) {
    const all = offersOf(listing);

    if (!all.length) return <Empty icon="tool" title={t.servers.nothingOffered} />;
    return (
        <div class="stack">
            {(Object.keys(t.servers.offers) as (keyof typeof t.servers.offers)[]).map((list) => {
                const offers = all.filter((one) => one.list === list);
                return offers.length > 0 && (
                    <Section key={list} title={t.servers.offers[list]} actions={<span class="count">{offers.length}</span>}>
                        <Some of={offers}>{(some) => <ul class="offers">{some.map(({ offer }) => <li key={offer.key}><Offered offer={offer} /></li>)}</ul>}</Some>
                    </Section>
                );
            })}
        </div>
    );
}

// A line each: a server may offer hundreds.
function Offered({ offer }: { offer: Offer }) {
    const text = offer.item['description'];

    return (
        <Fold class="offer" title={<>
            <Icon name="right" />
            <strong><Name>{offer.key}</Name></strong>
            {offer.verdict !== 'seen' && <Badge tone={TONES[offer.verdict]}>{t.servers.verdicts[offer.verdict]}</Badge>}
            <bdi class="cut">{typeof text === 'string' ? visible(text.slice(0, FIRST_CHARS)) : ''}</bdi>
        </>}>
            <div class="stack tight">
                {offer.why && <p class="note error">{visible(offer.why)}</p>}
                <Described offer={offer} />
                {offer.approved_by && <p class="note">{t.servers.approvedBy} <Name>{offer.approved_by}</Name>{offer.approved_at && <> <Time at={offer.approved_at} /></>}</p>}
                <JsonTree value={offer.item as Json} open={2} />
            </div>
        </Fold>
    );
}
