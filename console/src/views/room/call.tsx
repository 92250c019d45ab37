// SPDX-License-Identifier: Apache-2.0
// The card of a call: what is asked of whom, how it stands, and, unfolded, all of it.
import type { ComponentChildren } from 'preact';

import { GATEWAY, isObject, type Envelope, type JsonObject } from '../../net/types';
import { Badge, Name } from '../../parts/badge';
import { Button, LinkButton } from '../../parts/button';
import { Icon } from '../../parts/icon';
import { JsonTree } from '../../parts/json-tree';
import { LongText } from '../../parts/long-text';
import { Time } from '../../parts/time';
import { hrefOf } from '../../router';
import { useCell } from '../../state/cell';
import { exactly } from '../../state/exact';
import { isMismatch, isRoutine, paramsOf, targetOf } from '../../state/kinds';
import { previewOf, resultPreview } from '../../state/preview';
import type { CallEntry } from '../../state/threads';
import { visible, visibleProse } from '../../state/visible';
import { t } from '../../strings';
import { inbox } from '../inbox/watch';
import { Answer, Thumbnail } from './content';
import type { RowActions } from './row';
import { progressOf, proposedWhy, stepOf, tookMs, tookText, TONES, whyOf, wordOf } from './steps';
import { When } from './when';

const STEPS_MOST = 60;
const REASON_MOST = 300; // characters in a line

interface CallProps { call: CallEntry; isOpen: boolean; actions: RowActions }

export function CallCard({ call, isOpen, actions }: CallProps) {
    const asked = call.request ?? call.proposal;
    const isSmall = !isOpen && isRoutine(call.method) && call.state !== 'open' && call.state !== 'failed' && call.foreign === 0;

    return (
        <article class={`call ${isSmall ? 'small-call' : TONES[call.state]}`} aria-label={`${call.target || call.method}: ${t.room.states[call.state]}`}>
            <header>
                <button type="button" class="call-fold" aria-expanded={isOpen} onClick={() => actions.toggle(call)}
                    aria-label={`${isOpen ? t.room.fold : t.room.unfold}: ${visible(call.target || call.method)}`}><Icon name={isOpen ? 'down' : 'right'} /></button>
                <span class="call-title">{isSmall && asked && <Name>{asked.from}</Name>}<Title call={call} /></span>
                <State call={call} topic={actions.topic} />
                <span class="quiet small"><When said={asked ?? call.parts[0]} /></span>
                <Button kind="quiet" icon="more" label={t.room.raw} onClick={() => actions.showRaw(asked ?? call.parts[0] as Envelope)} />
            </header>
            {!isSmall && <p class="call-who quiet"><Who call={call} /></p>}
            {asked && isMismatch(asked) && <p class="call-warning"><Icon name="warning" />{t.room.mismatch(visible(targetOf(asked, call.method) || String(asked.payload['method'])))}</p>}
            {call.foreign > 0 && <p class="call-warning"><Icon name="warning" />{t.room.foreign(call.foreign)}</p>}
            {isOpen ? <Whole call={call} actions={actions} /> : !isSmall && <Short call={call} />}
            {(call.state === 'open' || call.state === 'asking') && (
                <footer><LinkButton href={decideHref(call, actions.topic)} kind="primary" icon="inbox">{t.room.decide}</LinkButton></footer>
            )}
        </article>
    );
}

// Where the inbox has it open.
function decideHref(call: CallEntry, topic: string): string {
    const { announcement, proposal } = call;
    if (call.state === 'open') return hrefOf('inbox', null, { topic, id: proposal?.id });
    const id = announcement && paramsOf(announcement)['id'];
    return hrefOf('inbox', null, typeof id === 'string' ? { topic, authorization: JSON.stringify([announcement?.from, id]) } : {});
}

function Title({ call }: { call: CallEntry }) {
    const whom = (call.request ?? call.proposal)?.to ?? (call.response ? [call.response.from] : []);
    return (
        <>
            <Icon name={call.method === 'tools/call' || !call.method ? 'tool' : 'right'} />
            <strong><Name>{call.target || call.method || t.room.states.part}</Name></strong>
            {call.target && call.method !== 'tools/call' && <span class="quiet small">{call.method}</span>}
            {whom.length > 0 && <span class="quiet call-whom">{t.room.on(visible(whom.join(', ')))}</span>}
        </>
    );
}

// By the gateway's word: what the sender wishes may be cut. The inbox hears of what came meanwhile.
function Expiry({ call, topic }: { call: CallEntry; topic: string }) {
    const { items } = useCell(inbox);
    const expires = call.expires ?? items.find((item) => item.type === 'proposal' && item.topic === topic && item.id === call.proposal?.id)?.expires ?? call.proposal?.expires_at;
    return expires === undefined ? null : <span class="quiet small"><Time at={expires} as="left" /></span>;
}

function State({ call, topic }: { call: CallEntry; topic: string }) {
    const { approvals, state } = call;
    return (
        <>
            {state === 'open' && approvals && approvals.needed > 1 && <Badge>{t.room.approvalsOf(approvals.given, approvals.needed)}</Badge>}
            {state === 'open' && <Expiry call={call} topic={topic} />}
            <Badge tone={TONES[state]}>{t.room.states[state]}</Badge>
        </>
    );
}

// "bot proposed · ann approved · ben ran it · took 1 s"
function Who({ call }: { call: CallEntry }) {
    const ms = tookMs(call);
    const steps: ComponentChildren[] = [];
    const add = (who: string, what: string) => steps.push(<span key={steps.length}><Name>{who}</Name> {visible(what)}</span>);

    if (call.proposal) add(call.proposal.from, call.state === 'open' ? t.room.proposes : t.room.proposed);
    for (const by of call.approvals?.by ?? []) add(by, t.room.approvedIt);
    if (call.outcome && typeof call.outcome['by'] === 'string' && call.outcome['state'] !== 'fulfilled') add(call.outcome['by'], wordOf(String(call.outcome['state'])));
    if (call.request) add(call.request.from, call.proposal ? stepOf(call.request, call) : call.state === 'running' ? t.room.calls : t.room.called);
    if (call.response && call.response.from !== call.request?.to?.[0]) add(call.response.from, t.room.answered);
    if (!steps.length) steps.push(<span key="part">{t.room.partOnly}</span>);
    if (ms !== null) steps.push(<span key="took">{tookText(ms)}</span>);
    if (call.state === 'running' && call.progress) steps.push(<span key="progress">{visible(progressOf(call.progress))}</span>);
    return <>{steps}</>;
}

function argumentsOf(call: CallEntry): JsonObject | null {
    const asked = call.request ?? call.proposal;
    if (!asked) return null;
    const params = paramsOf(exactly(asked));
    const args = params['arguments'];
    if (call.method === 'tools/call') return isObject(args) ? args : {};
    return params;
}

function Short({ call }: { call: CallEntry }) {
    const args = argumentsOf(call);
    const reason = proposedWhy(call).replace(/\s+/g, ' ').slice(0, REASON_MOST);
    const why = whyOf(call);
    const result = call.response ? resultPreview(call.response.payload) : why;

    return (
        <>
            {reason && <p class="call-line"><bdi>{t.room.reason(visibleProse(reason))}</bdi></p>}
            {args && Object.keys(args).length > 0 && <p class="call-line code"><bdi>{visible(previewOf(args))}</bdi></p>}
            {call.response && <Thumbnail payload={call.response.payload} />}
            {result && <p class={`call-line code result ${TONES[call.state]}`}><span aria-hidden="true">→ </span><bdi>{visible(result)}</bdi></p>}
        </>
    );
}

function Whole({ call, actions }: { call: CallEntry; actions: RowActions }) {
    const args = argumentsOf(call);
    const reason = proposedWhy(call);
    const answers = call.request?.to?.length === 1 ? 0
        : call.parts.filter((said) => said.kind.startsWith('mcp/response:') && said.correlation_id === call.request?.id && said !== call.response).length;
    const late = Math.max(0, call.parts.length - STEPS_MOST);

    return (
        <div class="call-whole">
            {reason && <><p class="label">{t.room.proposedWhy}</p><LongText text={reason} isSaid /></>}
            <p class="label">{t.room.arguments}</p>
            {args && Object.keys(args).length > 0 ? <JsonTree value={args} open={2} canCopy /> : <p class="quiet">{t.room.noArguments}</p>}
            {call.response && <><p class="label">{answers > 0 ? t.room.results(answers + 1) : t.room.result}</p><Answer payload={exactly(call.response).payload} /></>}
            <p class="label">{t.room.steps}</p>
            <ol class="call-steps">
                {late > 0 && <li class="quiet">{t.room.moreSteps(late)}</li>}
                {call.parts.slice(-STEPS_MOST).map((said) => (
                    <li key={`${said.from}\n${said.id}`}>
                        <span class="quiet small"><When said={said} /></span>
                        <span class="grow">{said.from === GATEWAY ? <span class="quiet">{t.room.gateway}</span> : <Name>{said.from}</Name>} <bdi>{visible(stepOf(said, call))}</bdi></span>
                        <Button kind="quiet" icon="more" label={t.room.raw} onClick={() => actions.showRaw(said)} />
                    </li>
                ))}
            </ol>
        </div>
    );
}
