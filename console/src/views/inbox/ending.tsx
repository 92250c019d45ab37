// SPDX-License-Identifier: Apache-2.0
// What became of it: who decided, why, and how the call went that was made.
import { useEffect, useRef } from 'preact/hooks';

import type { Json, JsonObject } from '../../net/types';
import { isObject } from '../../net/types';
import { currentSession } from '../../net/session';
import { JsonTree } from '../../parts/json-tree';
import { LongText } from '../../parts/long-text';
import { Note, type Tone } from '../../parts/notes';
import { Time } from '../../parts/time';
import { durationOf } from '../../state/time';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import type { Ended, Ending, Run } from './endings';

const TONES: Record<string, Tone> = { fulfilled: 'ok', approved: 'ok', rejected: 'danger', denied: 'danger' };

export function toneOf(ending: Ending): Tone {
    return ending.run?.state === 'failed' ? 'warn' : TONES[ending.state] ?? 'plain';
}

export function whoOf(by: string | undefined): string {
    if (by === undefined) return t.inbox.somebody;
    return by === currentSession().id ? t.inbox.you : visible(by);
}

// Inside a sentence.
export function nameOf(by: string): string {
    return by === currentSession().id ? t.inbox.youInside : visible(by);
}

export function stateOf(ending: Ending): string {
    return ending.run?.state === 'failed' ? t.inbox.failed : t.inbox.states[ending.state] ?? ending.state;
}

export function EndingNote({ ended }: { ended: Ended }) {
    const sentence = t.inbox.ends[ended.state] ?? t.inbox.ends['gone'];
    const tone = toneOf(ended) === 'danger' ? 'plain' : toneOf(ended); // a no is no error
    const element = useRef<HTMLDivElement>(null);

    // The button that had the focus is gone with the decision, or what is around this has it instead.
    useEffect(() => { if (document.activeElement?.contains(element.current)) element.current?.focus(); }, []);
    return (
        <div class="inbox-ending" ref={element} tabIndex={-1}>
            <Note tone={tone}>
                <p><strong><bdi>{sentence?.(whoOf(ended.by))}</bdi></strong> {ended.note} {ended.decided && <Time at={ended.decided} />}</p>
                {ended.reason && <p><LongText text={t.inbox.reasonOf(ended.reason)} /></p>}
                {ended.run && <RunLine run={ended.run} />}
            </Note>
            {ended.run?.error && <Note tone="danger"><LongText text={ended.run.error} /></Note>}
            {ended.run?.result !== undefined && <Result value={ended.run.result} />}
        </div>
    );
}

function RunLine({ run }: { run: Run }) {
    const took = durationText((run.endedAt ?? run.startedAt) - run.startedAt);
    const words: Record<Run['state'], string> = {
        running: t.inbox.running, asked: t.inbox.runAsked, silent: t.inbox.runSilent, done: t.inbox.runDone(took), failed: t.inbox.runFailed(took),
    };
    return <p>{words[run.state]}</p>;
}

function durationText(ms: number): string {
    if (ms < 1000) return `${ms} ms`;
    return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : durationOf(ms);
}

const TEXT = 2000;

// Texts as texts, all else as JSON.
function Result({ value }: { value: Json }) {
    const blocks = isObject(value) && Array.isArray(value['content']) ? value['content'].filter(isObject) : [];
    const texts = blocks.filter(isText);

    return (
        <section class="inbox-part">
            <h3>{t.inbox.result}</h3>
            {texts.map((block, i) => <pre key={i} class="inbox-text"><LongText text={block.text} most={TEXT} /></pre>)}
            {(texts.length === 0 || texts.length < blocks.length) && <JsonTree value={value} open={2} />}
        </section>
    );
}

function isText(block: JsonObject): block is JsonObject & { text: string } {
    return block['type'] === 'text' && typeof block['text'] === 'string';
}
