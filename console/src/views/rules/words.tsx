// SPDX-License-Identifier: Apache-2.0
// A rule in words: who may call what, and only with which arguments.
import { Badge, Name } from '../../parts/badge';
import { Note, type Tone } from '../../parts/notes';
import { mayBeChanged } from '../../state/exact';
import { spelt } from '../../state/pointer';
import { isReadable, standingOf, type Rule } from '../../state/rules';
import { isOptional, wordsOfShape } from '../../state/rule-words';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import type { JsonObject } from '../../net/types';

const TONES: Record<string, Tone> = { suggested: 'accent', shadow: 'accent', active: 'ok', suspended: 'danger', disabled: 'plain', declined: 'plain', expired: 'warn' };

export function StandingBadge({ rule, now }: { rule: Rule; now: number }) {
    const standing = standingOf(rule, now);
    return <Badge tone={TONES[standing] ?? 'plain'}>{t.rules.states[standing] ?? standing}</Badge>;
}

// "bot may call write at files": the names are others', the words ours. Whole where somebody
// decides, cut where rules are listed.
export function Who({ rule, isWhole = false }: { rule: Rule; isWhole?: boolean }) {
    const owner = rule.to === '*' ? t.rules.anybody : rule.to === undefined ? t.rules.nobody : null;
    return (
        <span class={isWhole ? 'rule-who whole' : 'rule-who'}>
            <Name>{rule.proposer}</Name>
            <span class="quiet">{rule.tool === undefined ? t.rules.mayAsk : t.rules.mayCall}</span>
            <b><Name>{rule.tool ?? rule.method}</Name></b>
            <span class="quiet">{t.rules.at}</span>
            {owner === null ? <Name>{rule.to ?? ''}</Name> : <span>{owner}</span>}
        </span>
    );
}

export function Arguments({ shapes }: { shapes: JsonObject }) {
    const entries = Object.entries(shapes);
    if (!entries.length) return <p>{t.rules.noArguments}</p>;
    return (
        <dl class="rule-arguments">
            {entries.map(([name, shape]) => (
                <div key={name}>
                    <dt class="code"><bdi>{visible(spelt(name))}</bdi>{isOptional(shape) && <span class="quiet"> ({t.rules.optional})</span>}</dt>
                    <dd><bdi>{wordsOfShape(shape)}</bdi></dd>
                </div>
            ))}
        </dl>
    );
}

// What would keep somebody from knowing what he decides about; null: nothing.
export function whyUnreadable(rule: Rule): string | null {
    if (!isReadable(rule)) return t.rules.unread;
    return mayBeChanged(rule.arguments) ? t.rules.inexact : null;
}

export function Unreadable({ rule }: { rule: Rule }) {
    const why = whyUnreadable(rule);
    return why ? <Note tone="warn">{why}</Note> : null;
}
