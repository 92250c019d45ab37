// SPDX-License-Identifier: Apache-2.0
// One line of the timeline. A line is made anew only when it has changed: hundreds may come in
// a second, and most of what is on the screen stays as it is.
import { Component } from 'preact';
import { useState } from 'preact/hooks';

import { GATEWAY, isObject, type Envelope, type ParticipantType } from '../../net/types';
import { Avatar, Badge, Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Icon } from '../../parts/icon';
import { JsonTree } from '../../parts/json-tree';
import { Markdown } from '../../parts/markdown';
import { toastError, toast } from '../../parts/toast';
import type { Chat, Crowd, Echo, Entry, Event, Gap } from '../../state/threads';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { CallCard } from './call';
import { cutText, PlainText } from './content';
import { eventOf, TONES } from './steps';
import { When } from './when';

// What a line can ask the view for; the same object for all of them, always.
export interface RowActions {
    topic: string;
    isAdmin: boolean;
    toggle(entry: Entry): void;
    showRaw(said: Envelope): void;
    show(entry: Entry): void;
    fill(gap: Gap): Promise<number>;
    typeOf(id: string): ParticipantType | undefined;
}

interface RowProps {
    entry: Entry;
    version: number;
    day: string; // '' where it is that of the line above
    isNew: boolean; // the first that was not seen
    isOpen: boolean;
    isChosen: boolean;
    isMention: boolean;
    isFollowing: boolean; // somebody goes on talking
    actions: RowActions;
}

const COMPARED = ['entry', 'version', 'day', 'isNew', 'isOpen', 'isChosen', 'isMention', 'isFollowing'] as const;

export class Row extends Component<RowProps> {
    override shouldComponentUpdate(next: RowProps): boolean {
        return COMPARED.some((name) => this.props[name] !== next[name]);
    }

    render() {
        const { entry, day, isNew, isChosen, isMention } = this.props;
        return (
            <div class={`line line-${entry.type}${isChosen ? ' chosen' : ''}${isMention ? ' mention' : ''}`} data-key={entry.key} tabIndex={-1}>
                {day && <p class="day"><span>{day}</span></p>}
                {isNew && <p class="new-line"><span>{t.room.newLine}</span></p>}
                <Content {...this.props} />
            </div>
        );
    }
}

function Content({ entry, isOpen, isFollowing, actions }: RowProps) {
    switch (entry.type) {
    case 'chat': return <ChatLine chat={entry} isFollowing={isFollowing} actions={actions} />;
    case 'call': return <CallCard call={entry} isOpen={isOpen} actions={actions} />;
    case 'echo': return <EchoLine echo={entry} actions={actions} />;
    case 'crowd': return <CrowdLine crowd={entry} actions={actions} />;
    case 'gap': return <GapLine gap={entry} actions={actions} />;
    case 'event': return <EventLine event={entry} isOpen={isOpen} actions={actions} />;
    }
}

function ChatLine({ chat, isFollowing, actions }: { chat: Chat; isFollowing: boolean; actions: RowActions }) {
    const said = chat.parts[0] as Envelope;
    const { text, format } = said.payload;
    const about = chat.about;
    const replayed = replayOf(said);

    return (
        <article class={isFollowing ? 'chat-line following' : 'chat-line'}>
            {isFollowing ? <span class="chat-clock quiet small" aria-hidden="true"><When said={said} as="minute" /></span> : <Avatar id={said.from} type={actions.typeOf(said.from)} />}
            <div class="chat-body">
                <p class={isFollowing ? 'hidden' : 'chat-head'}>
                    <strong><Name>{said.from}</Name></strong>
                    {said.to?.length ? <span class="quiet small">{t.room.to(visible(said.to.join(', ')))}</span> : null}
                    <span class="quiet small"><When said={said} /></span>
                    {replayed && <span class="quiet small">{t.room.replayed(visible(said.from))}: <Name>{replayed}</Name></span>}
                </p>
                {about && <button type="button" class="chat-about" onClick={() => actions.show(about)}><Icon name="up" />{t.room.about(visible(nameOf(about)))}</button>}
                {typeof text !== 'string' ? <JsonTree value={said.payload} open={1} />
                    : format === 'plain' ? <PlainText text={text} />
                        : text.trim() ? <Talk text={text} /> : <p class="quiet">{t.room.noText}</p>}
            </div>
            <Button kind="quiet" icon="more" label={t.room.raw} onClick={() => actions.showRaw(said)} />
        </article>
    );
}

// What is very long begins, and goes on when somebody wants it: a line is to be passed by.
function Talk({ text }: { text: string }) {
    const [isWhole, setWhole] = useState(false);
    const head = isWhole ? text : cutText(text);

    return (
        <>
            <Markdown text={head} />
            {head.length < text.length && <button type="button" class="json-more" onClick={() => setWhole(true)}>{t.parts.moreText(text.length - head.length)}</button>}
        </>
    );
}

function replayOf(said: Envelope): string {
    const of = (said as Envelope & { replay_of?: unknown }).replay_of;
    return isObject(of) && typeof of['from'] === 'string' ? of['from'] : '';
}

function nameOf(entry: Entry): string {
    if (entry.type === 'call') return entry.target || entry.method;
    const said = entry.parts[0];
    const text = said?.payload['text'];
    return typeof text === 'string' ? text.slice(0, 60) : said?.kind ?? '';
}

function EchoLine({ echo, actions }: { echo: Echo; actions: RowActions }) {
    const said = echo.parts[0] as Envelope;
    return (
        <p class="event-line">
            <Icon name="tool" />
            <span class="grow one-line"><button type="button" class="json-more" onClick={() => actions.show(echo.about)}><bdi>{visible(nameOf(echo.about))}</bdi></button> <Badge tone={TONES[echo.state]}>{t.room.states[echo.state]}</Badge></span>
            <span class="quiet small"><When said={said} /></span>
        </p>
    );
}

const NAMES = 5;
const NAMED = 80; // characters of a line that name its button

function CrowdLine({ crowd, actions }: { crowd: Crowd; actions: RowActions }) {
    const last = crowd.parts.at(-1) as Envelope;
    const { joined, left } = changesOf(crowd.parts);
    const names = (ids: string[]) => ids.slice(0, NAMES).map(visible).join(', ') + (ids.length > NAMES ? ` ${t.room.andMore(ids.length - NAMES)}` : '');
    const parts = [joined.length && t.room.joinedNames(names(joined)), left.length && t.room.leftNames(names(left))].filter(Boolean);

    return (
        <p class="event-line quiet">
            <Icon name="people" /><span class="grow"><bdi>{parts.join(' · ')}</bdi></span>
            <span class="small"><When said={last} /></span>
            <Button kind="quiet" icon="more" label={t.room.raw} onClick={() => actions.showRaw(last)} />
        </p>
    );
}

// Who is there in the end who was not before, and the other way round; who only came by is both.
function changesOf(parts: readonly Envelope[]): { joined: string[]; left: string[] } {
    const joined = new Set<string>(), left = new Set<string>();
    for (const { payload } of parts) {
        const { event, participant, participants } = payload;
        for (const one of Array.isArray(participants) ? participants : [participant ?? null]) {
            if (!isObject(one) || typeof one['id'] !== 'string') continue;
            const what = one['event'] ?? event;
            if (what === 'join') joined.add(one['id']);
            else left.add(one['id']);
        }
    }
    return { joined: [...joined], left: [...left] };
}

function GapLine({ gap, actions }: { gap: Gap; actions: RowActions }) {
    const [isBusy, setBusy] = useState(false);
    const missed = gap.parts[0]?.payload['missed'];
    const fill = async () => {
        setBusy(true);
        try {
            toast(t.room.gapFilled(await actions.fill(gap)), 'ok');
        } catch (error) {
            toastError(error);
        }
        setBusy(false);
    };

    return (
        <div class="gap-line">
            <Icon name="warning" />
            <div class="grow"><strong>{typeof missed === 'number' ? t.room.gapMissed(missed) : t.room.gap}</strong> <span>{t.room.gapWhy}</span></div>
            {actions.isAdmin && <Button isBusy={isBusy} onClick={() => void fill()}>{t.room.gapFill}</Button>}
        </div>
    );
}

function EventLine({ event, isOpen, actions }: { event: Event; isOpen: boolean; actions: RowActions }) {
    const said = event.parts[0] as Envelope;
    const { who, what, tone } = eventOf(said);
    const last = event.parts.at(-1);
    const then = last && last !== said ? eventOf(last).what : '';

    return (
        <div class={`event-line ${tone}`}>
            <button type="button" class="call-fold" aria-expanded={isOpen} aria-label={`${isOpen ? t.room.fold : t.room.unfold}: ${visible(`${who} ${what}`.slice(0, NAMED))}`} onClick={() => actions.toggle(event)}>
                <Icon name={isOpen ? 'down' : 'right'} />
            </button>
            <div class="grow">
                <p class={isOpen ? '' : 'one-line'}>
                    {who === GATEWAY ? <span class="quiet">{t.room.gateway}</span> : <Name>{who}</Name>} <bdi>{visible(what)}</bdi>
                    {then && !what.startsWith(then) && <span class="quiet"> · {visible(then)}</span>}
                </p>
                {isOpen && event.parts.map((part) => <JsonTree key={part.id} value={part.payload} open={2} />)}
            </div>
            <span class="quiet small"><When said={said} /></span>
            <Button kind="quiet" icon="more" label={t.room.raw} onClick={() => actions.showRaw(said)} />
        </div>
    );
}
