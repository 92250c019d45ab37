// SPDX-License-Identifier: Apache-2.0
// What helps to decide: the tool in its owner's words, and what was decided on such calls.
import { useState } from 'preact/hooks';

import { currentSession } from '../../net/session';
import { isObject, type Json } from '../../net/types';
import { Badge, Name } from '../../parts/badge';
import { Diff } from '../../parts/diff';
import { LongText } from '../../parts/long-text';
import { Loading, Note, type Tone } from '../../parts/notes';
import { Time } from '../../parts/time';
import { hrefOf } from '../../router';
import { diff } from '../../state/diff';
import { shown } from '../../state/exact';
import { wasAgreed, type Decision } from '../../state/inbox';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { whoOf } from './ending';
import { isAsking, type Facts, type Past } from './facts';
import type { Pin, Tool } from './tools';

export function About({ facts }: { facts: Facts }) {
    if (facts.call.method !== 'tools/call') return null;
    return (
        <section class="inbox-part">
            <h3>{t.inbox.about}</h3>
            {isAsking(facts) ? <p class="quiet" role="status">{t.inbox.aboutLoading}</p> : <Known tool={facts.tool.value} />}
        </section>
    );
}

function Known({ tool }: { tool: Tool | 'unlisted' | null | undefined }) {
    if (tool === 'unlisted') return <Note tone="warn">{t.inbox.aboutOther}</Note>;
    return tool ? <ToolNote tool={tool} /> : <p class="quiet">{t.inbox.aboutUnknown}</p>;
}

function ToolNote({ tool }: { tool: Tool }) {
    const { description, annotations } = tool.about;
    const hints = Object.entries(t.inbox.hints).filter(([name]) => isObject(annotations) && annotations[name] === true);

    return (
        <>
            {(tool.pin || hints.length > 0) && (
                <div class="row">
                    <PinBadge pin={tool.pin} server={tool.server} />
                    {hints.map(([name, words]) => <Badge key={name} tone={name === 'destructiveHint' ? 'warn' : 'plain'}>{words}</Badge>)}
                </div>
            )}
            {typeof description === 'string' && description !== '' ? <LongText text={description} isSaid /> : <p class="quiet">{t.inbox.aboutNothing}</p>}
            {!tool.pin && <p class="note">{currentSession().admin ? t.inbox.pinNone : t.inbox.pinUnknown}</p>}
        </>
    );
}

const PIN_TONES: Record<Pin['state'], Tone> = { pinned: 'ok', new: 'warn', changed: 'warn', held: 'danger', off: 'plain' };

function PinBadge({ pin, server }: { pin: Pin | null; server: string | undefined }) {
    if (!pin) return null;
    return (
        <>
            <Badge tone={PIN_TONES[pin.state]} icon="pin">{t.inbox.pins[pin.state]}</Badge>
            {pin.state === 'pinned' && <span class="quiet">{pin.by ? t.inbox.pinnedBy(visible(pin.by)) : t.inbox.pinnedFirst}{pin.at && <> <Time at={pin.at} /></>}</span>}
            {PIN_TONES[pin.state] !== 'ok' && pin.state !== 'off' && currentSession().admin && <a href={hrefOf('servers', server, { tab: 'review' })}>{t.inbox.review}</a>}
        </>
    );
}

// --- what was decided ---

// What was just decided is told above, and may not be in the record yet.
export function History({ facts, isOver }: { facts: Facts; isOver: boolean }) {
    if (isOver && facts.past.value?.decisions.length === 0) return null;
    return (
        <section class="inbox-part">
            <h3>{t.inbox.history}</h3>
            <Loading of={facts.past} lines={2}>{(past) => <Decided past={past} args={facts.call.args} />}</Loading>
        </section>
    );
}

function Decided({ past, args }: { past: Past; args: Json | undefined }) {
    const { decisions, complete, isDenied } = past;
    if (isDenied) return <p class="quiet">{t.inbox.historyDenied}</p>;
    if (!decisions.length) return <p class="quiet">{t.inbox.historyNone}</p>;
    return (
        <>
            <p class="quiet">{t.inbox.historySum(decisions.filter(wasAgreed).length, decisions.length)}{!complete && ` · ${t.inbox.historyMore}`}</p>
            <ul class="inbox-history">{decisions.map((one) => <li key={one.id}><PastCall one={one} args={args} /></li>)}</ul>
        </>
    );
}

function PastCall({ one, args }: { one: Decision; args: Json | undefined }) {
    const [isOpen, setOpen] = useState(false);
    const parts = args === undefined || one.arguments === undefined ? null : diff(one.arguments, args).length;
    const words = parts === null ? t.inbox.argsUnknown : parts === 0 ? t.inbox.sameArgs : t.inbox.differs(parts);

    return (
        <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>
                <Badge tone={wasAgreed(one) ? 'ok' : one.state === 'rejected' || one.state === 'denied' ? 'danger' : 'plain'}>{t.inbox.states[one.state] ?? one.state}</Badge>
                <span class="inbox-by">{one.rule ? t.inbox.byRule : one.by === undefined ? <>{t.inbox.askedBy} <Name>{whoOf(one.proposer)}</Name></> : <Name>{whoOf(one.by)}</Name>}</span>
                {one.edited && <Badge tone="warn">{t.inbox.edited}</Badge>}
                <span class="quiet grow">{words}</span>
                <span class="quiet"><Time at={one.decided ?? one.created} /></span>
            </summary>
            {isOpen && (
                <div class="inbox-past">
                    {one.reason && <p><LongText text={t.inbox.reasonOf(one.reason)} /></p>}
                    {parts !== null && <><p class="quiet">{t.inbox.fromThat}</p><Diff before={one.arguments === undefined ? undefined : shown(one.arguments)} after={args === undefined ? undefined : shown(args)} /></>}
                </div>
            )}
        </details>
    );
}
