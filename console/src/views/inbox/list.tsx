// SPDX-License-Identifier: Apache-2.0
// The list: what waits, what runs out first on top, and below what was decided meanwhile.
import type { RefObject } from 'preact';

import { Avatar, Badge, Name } from '../../parts/badge';
import { Icon } from '../../parts/icon';
import { Time } from '../../parts/time';
import { VirtualList, type ListHandle } from '../../parts/virtual-list';
import { argumentsLine, askerOf, callOf, keyOf, type Item } from '../../state/inbox';
import { byServer, useNow } from '../../state/time';
import { visibleName } from '../../state/visible';
import { t } from '../../strings';
import { stateOf, toneOf } from './ending';
import type { Ended } from './endings';

export type Row =
    | { type: 'item'; item: Item }
    | { type: 'heading' }
    | { type: 'ended'; item: Item; ended: Ended };

const SOON_MS = 60_000;
const REASON = 300; // characters, of which a line shows as many as fit

export function rowKey(row: Row): string {
    return row.type === 'heading' ? 'heading' : keyOf(row.item);
}

interface ListProps {
    rows: readonly Row[];
    current: string | null; // key of what is open
    hrefOf: (item: Item) => string;
    handle: RefObject<ListHandle>;
}

export function InboxList({ rows, current, hrefOf, handle }: ListProps) {
    return (
        <VirtualList items={rows} keyOf={rowKey} estimate={96} label={t.inbox.list} handle={handle}>
            {(row) => {
                if (row.type === 'heading') return <h2 class="inbox-recent">{t.inbox.recent}</h2>;
                return <Entry item={row.item} ended={row.type === 'ended' ? row.ended : null} isCurrent={keyOf(row.item) === current} href={hrefOf(row.item)} />;
            }}
        </VirtualList>
    );
}

function Entry({ item, ended, isCurrent, href }: { item: Item; ended: Ended | null; isCurrent: boolean; href: string }) {
    const call = callOf(item);
    const asker = askerOf(item);

    return (
        <a class={ended ? 'inbox-entry ended' : 'inbox-entry'} href={href} data-key={keyOf(item)} aria-current={isCurrent ? 'true' : undefined}>
            <span class="inbox-line">
                <span class="inbox-what"><span class="code"><Name>{call.tool ?? call.method}</Name></span><On owners={call.owners} /></span>
                {ended ? <Badge tone={toneOf(ended)}>{stateOf(ended)}</Badge> : <Left at={item.expires} />}
            </span>
            <span class="inbox-line">
                <Avatar id={asker} />
                <span class="inbox-who"><Name>{asker}</Name> <span class="quiet">{t.inbox.does[item.type][ended ? 'did' : 'does']}</span></span>
                <span class="inbox-tags">
                    {item.type === 'proposal' && item.approvals.needed > 1 && <Badge tone="accent">{t.inbox.quorum(item.approvals.given, item.approvals.needed)}</Badge>}
                    <span class="inbox-topic quiet"><Icon name="room" /><Name>{item.topic}</Name></span>
                </span>
            </span>
            {call.reason !== null && call.reason !== '' && <span class="inbox-reason"><bdi>{visibleName(call.reason.slice(0, REASON))}</bdi></span>}
            {call.args !== undefined && <span class="inbox-args code quiet"><bdi>{argumentsLine(call.args)}</bdi></span>}
        </a>
    );
}

// Whose tool it is.
function On({ owners: [owner, ...others] }: { owners: readonly string[] }) {
    if (owner === undefined) return null;
    return <span class="inbox-on quiet">{t.inbox.on} <Name>{owner}</Name>{others.length > 0 && ` ${t.inbox.andOthers(others.length)}`}</span>;
}

// How much time is left, more loudly when it is little. What the server still lists is not over, whatever
// the clocks say.
export function Left({ at }: { at: string }) {
    const left = Date.parse(at) - byServer(useNow());
    return <Badge tone={left <= 0 ? 'danger' : left < SOON_MS ? 'warn' : 'plain'} icon="clock">{left <= 0 ? t.inbox.anyMoment : <Time at={at} as="left" />}</Badge>;
}
