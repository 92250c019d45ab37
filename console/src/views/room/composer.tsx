// SPDX-License-Identifier: Apache-2.0
// Where one writes. What is refused stays in the field, with the reason.
import type { RefObject } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { sentenceOf, Unreachable } from '../../net/api';
import { envelope } from '../../net/envelope';
import { whenAnother } from '../../net/session';
import { Once } from '../../net/topics';
import { Avatar, Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { candidates, mentionAt, withMention } from '../../state/complete';
import { mayHave } from '../../state/kinds';
import { t } from '../../strings';
import type { LiveRoom } from './live';

const NAME_MOST = 24; // characters of the room's name in the empty field
const ROWS_PX = 200; // as high as the field becomes

export interface ComposerHandle { focus(): void; mention(id: string): void }

// What was begun in each room stays while one looks at another.
const drafts = new Map<string, string>();
whenAnother(() => drafts.clear());

const once = new Once();

export function Composer({ room, handle }: { room: LiveRoom; handle: RefObject<ComposerHandle> }) {
    const { topic, roster } = room;
    const [text, setText] = useState(drafts.get(topic) ?? '');
    const [caret, setCaret] = useState(0);
    const [problem, setProblem] = useState({ text: '', isOfLine: false }); // isOfLine: over when the room is live again
    const [isSending, setSending] = useState(false);
    const [at, setAt] = useState(0); // the candidate that is chosen
    const [isDismissed, setDismissed] = useState(false);
    const field = useRef<HTMLTextAreaElement>(null);
    const wanted = useRef<number | null>(null);
    const id = useId();
    const mention = isDismissed ? null : mentionAt(text, caret);
    const others = mention ? candidates([...roster.members.keys()].filter((one) => one !== room.me), mention.typed) : [];
    const write = (next: string, place: number) => {
        if (next !== text) once.forget();
        setText(next);
        setCaret(place);
        setAt(0);
        setDismissed(false);
        drafts.set(topic, next);
    };
    const put = (next: string, place: number) => {
        write(next, place);
        wanted.current = place; // before the next key comes
        field.current?.focus();
    };
    const choose = (name: string) => {
        if (!mention) return;
        const done = withMention(text, mention, name);
        put(done.text, done.caret);
    };
    const send = async () => {
        if (!text.trim() || isSending) return;
        setSending(true);
        setProblem({ text: '', isOfLine: false });
        try {
            await once.say(topic, text, () => envelope('chat', { text, format: 'markdown' }));
            setText((now) => (now === text ? '' : now)); // unless somebody went on writing
            if (drafts.get(topic) === text) drafts.delete(topic);
        } catch (error) {
            setProblem({ text: t.room.notSent(sentenceOf(error)), isOfLine: error instanceof Unreachable });
        }
        setSending(false);
        field.current?.focus();
    };
    const onKeyDown = (event: KeyboardEvent) => {
        if (event.isComposing) return; // an input method's own Enter
        const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
        if (others.length && step) setAt((at + step + others.length) % others.length);
        else if (others.length && (event.key === 'Enter' || event.key === 'Tab')) choose(others[at] ?? '');
        else if (others.length && event.key === 'Escape') setDismissed(true);
        else if (event.key === 'Enter' && !event.shiftKey) void send();
        else if (event.key === 'Escape') field.current?.blur();
        else return;
        event.preventDefault();
        event.stopPropagation();
    };

    handle.current = {
        focus: () => field.current?.focus(),
        mention: (name) => put(`${text}${text && !text.endsWith(' ') ? ' ' : ''}@${name} `, text.length + name.length + 3),
    };
    useLayoutEffect(() => {
        if (wanted.current !== null) field.current?.setSelectionRange(wanted.current, wanted.current);
        wanted.current = null;
    });
    useEffect(() => {
        if (room.status.state === 'open') setProblem((now) => (now.isOfLine ? { text: '', isOfLine: false } : now));
    }, [room.status.state]);
    useGrowing(field, text);
    if (roster.you && !mayHave(roster.you.capabilities, 'chat')) return <p class="composer quiet">{t.room.mayNotTalk}</p>;
    return (
        <form class="composer" onSubmit={(event) => { event.preventDefault(); void send(); }}>
            {problem.text && <p class="note error" role="alert">{problem.text}</p>}
            {others.length > 0 && (
                <ul class="candidates" role="listbox" aria-label={t.room.mentions} id={`${id}-list`}>
                    {others.map((name, i) => (
                        <li key={name} id={`${id}-${i}`} role="option" aria-selected={i === at} class={i === at ? 'chosen' : ''}
                            onMouseDown={(event) => { event.preventDefault(); choose(name); }}>
                            <Avatar id={name} type={roster.members.get(name)?.type} /><Name>{name}</Name>
                        </li>
                    ))}
                </ul>
            )}
            <div class="composer-field">
                <textarea ref={field} rows={1} value={text} aria-label={t.room.message} placeholder={t.room.placeholder(topic.length > NAME_MOST ? `${topic.slice(0, NAME_MOST)}…` : topic)} title={t.room.sendHint}
                    aria-autocomplete="list" aria-controls={others.length ? `${id}-list` : undefined}
                    aria-activedescendant={others.length ? `${id}-${at}` : undefined}
                    onInput={(event) => write(event.currentTarget.value, event.currentTarget.selectionStart)}
                    onSelect={(event) => setCaret(event.currentTarget.selectionStart)} onKeyDown={onKeyDown} />
                <Button type="submit" kind="primary" isBusy={isSending} isDisabled={!text.trim()}>{t.room.send}</Button>
            </div>
        </form>
    );
}

// As high as its text, up to a measure.
function useGrowing(field: RefObject<HTMLTextAreaElement>, text: string): void {
    const fit = () => {
        const element = field.current;
        if (!element) return;
        element.style.height = 'auto';
        element.style.height = `${Math.min(ROWS_PX, element.scrollHeight + 2)}px`;
    };
    useLayoutEffect(fit, [text]);
    useEffect(() => {
        addEventListener('resize', fit);
        return () => removeEventListener('resize', fit);
    }, []);
}
