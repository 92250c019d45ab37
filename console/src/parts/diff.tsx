// SPDX-License-Identifier: Apache-2.0
// What differs between two JSON values, or two texts: place by place, before and after, with
// words and signs beside the colours.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import type { Json } from '../net/types';
import { diff, diffText, type Change } from '../state/diff';
import { readable } from '../state/pointer';
import { visible } from '../state/visible';
import { t } from '../strings';
import { Badge } from './badge';
import type { Tone } from './notes';
import { Scroll } from './scroll';

const TONES: Record<Change['kind'], Tone> = { added: 'ok', removed: 'danger', changed: 'warn' };
const STEP = 50; // places that are shown at a time
const TEXT = 20_000; // characters of one of them

export function Diff({ before, after }: { before: Json | undefined; after: Json | undefined }) {
    const changes = useMemo(() => diff(before, after), [before, after]);
    const [shown, setShown] = useState(STEP);

    if (!changes.length) return <p class="quiet">{t.parts.nothingDiffers}</p>;
    return (
        <ul class="diff">
            {changes.slice(0, shown).map((change) => <li key={change.pointer}><Place change={change} /></li>)}
            {changes.length > shown && <li><button type="button" class="json-more" onClick={() => setShown(shown + 4 * STEP)}>{t.parts.morePlaces(changes.length - shown)}</button></li>}
        </ul>
    );
}

function Place({ change }: { change: Change }) {
    const { before, after } = change;
    const place = visible(readable(change.pointer));
    const label = place || t.parts.changes[change.kind];

    return (
        <>
            <p class="diff-place"><Badge tone={TONES[change.kind]}>{t.parts.changes[change.kind]}</Badge> <bdi class="code">{place}</bdi></p>
            {typeof before === 'string' && typeof after === 'string'
                ? <TextDiff label={label} before={before} after={after} />
                : <>
                    {before !== undefined && <Before value={before} label={label} />}
                    {after !== undefined && <After value={after} label={label} />}
                </>}
        </>
    );
}

interface SideProps { value: Json; label: string }

function Before({ value, label }: SideProps) {
    return <Text label={label}><del><bdi>{textOf(value)}</bdi></del></Text>;
}

function After({ value, label }: SideProps) {
    return <Text label={label}><ins><bdi>{textOf(value)}</bdi></ins></Text>;
}

function Text({ label, children }: { label: string; children: ComponentChildren }) {
    return <Scroll class="diff-text code" label={label}>{children}</Scroll>;
}

// The beginning: where the rest matters, the value itself is shown beside the diff.
function cut(text: string): string {
    return text.length > TEXT ? `${visible(text.slice(0, TEXT))}… (${t.parts.moreText(text.length - TEXT)})` : visible(text);
}

function textOf(value: Json): string {
    return cut(typeof value === 'string' ? value : JSON.stringify(value, null, 2));
}

function TextDiff({ label, before, after }: { label: string; before: string; after: string }) {
    const pieces = useMemo(() => diffText(before, after), [before, after]);

    // With nothing in common the one would run into the other.
    if (!pieces.some((piece) => piece.kind === 'same' && piece.text.trim())) return <><Before value={before} label={label} /><After value={after} label={label} /></>;
    return (
        <Text label={label}><bdi>
            {pieces.map((piece, i) => {
                if (piece.kind === 'same') return <span key={i}>{cut(piece.text)}</span>;
                return piece.kind === 'added' ? <ins key={i}>{cut(piece.text)}</ins> : <del key={i}>{cut(piece.text)}</del>;
            })}
        </bdi></Text>
    );
}
