// SPDX-License-Identifier: Apache-2.0
// A word about what has just happened. What somebody has to do something about is no toast.
import { sentenceOf } from '../net/api';
import { cell, useCell } from '../state/cell';
import { visibleProse } from '../state/visible';
import { t } from '../strings';
import { Button } from './button';
import { Icon } from './icon';
import type { Tone } from './notes';

interface Toast {
    id: number;
    text: string;
    tone: Tone;
}

const toasts = cell<readonly Toast[]>([]);
const SHOWN_MS = 6000;
const MOST = 4;
const TEXT = 400; // characters
let count = 0;

function drop(id: number): void {
    toasts.set(toasts.get().filter((one) => one.id !== id));
}

export function toast(text: string, tone: Tone = 'plain'): void {
    const id = count++;
    toasts.set([...toasts.get(), { id, text: text.length > TEXT ? `${text.slice(0, TEXT)}…` : text, tone }].slice(-MOST));
    setTimeout(() => drop(id), tone === 'danger' ? 2 * SHOWN_MS : SHOWN_MS);
}

export function toastError(error: unknown): void {
    toast(sentenceOf(error), 'danger');
}

export function Toasts() {
    return (
        <div class="toasts" role="status" aria-live="polite">
            {useCell(toasts).map((one) => (
                <div key={one.id} class={`toast ${one.tone}`}>
                    <Icon name={one.tone === 'danger' || one.tone === 'warn' ? 'warning' : 'check'} />
                    <span><bdi>{visibleProse(one.text)}</bdi></span>
                    <Button kind="quiet" icon="cross" label={t.parts.dismiss} onClick={() => drop(one.id)} />
                </div>
            ))}
        </div>
    );
}
