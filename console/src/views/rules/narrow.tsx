// SPDX-License-Identifier: Apache-2.0
// Each argument of a rule, and how much narrower than suggested it shall be.
import { Check, SelectField, TextField } from '../../parts/field';
import { isObject, type Json, type JsonObject } from '../../net/types';
import { readable } from '../../state/pointer';
import { beginning, narrowed, partsOf, type Narrowing, type Narrowings, type Part, type Way } from '../../state/rule-narrow';
import { textOfValue, wordsOfShape } from '../../state/rule-words';
import { visible } from '../../state/visible';
import { t } from '../../strings';

interface NarrowProps { shapes: JsonObject; narrowings: Narrowings; onChange: (next: Narrowings) => void }

export function canNarrow(shapes: JsonObject): boolean {
    return partsOf(shapes).some(({ ways }) => ways.length > 1);
}

export function Narrow({ shapes, narrowings, onChange }: NarrowProps) {
    return (
        <ul class="rule-narrow">
            {partsOf(shapes).map((part) => (
                <li key={part.pointer}>
                    <PartRow part={part} narrowing={narrowings.get(part.pointer) ?? { way: 'same' }} onChange={(next) => onChange(new Map(narrowings).set(part.pointer, next))} />
                </li>
            ))}
        </ul>
    );
}

interface RowProps { part: Part; narrowing: Narrowing; onChange: (next: Narrowing) => void }

function PartRow({ part, narrowing, onChange }: RowProps) {
    const name = visible(readable(part.pointer));
    const shape = narrowed(part.shape, narrowing);

    return (
        <>
            <div class="rule-narrow-head">
                <bdi class="code">{name}</bdi>
                {part.ways.length > 1 && (
                    <SelectField label={t.rules.wayOf(name)} isLabelHidden value={narrowing.way} onInput={(way) => onChange(beginning(part.shape, way as Way))}
                        choices={part.ways.map((way) => ({ value: way, title: t.rules.ways[way] ?? way }))} />
                )}
            </div>
            <Inputs part={part} narrowing={narrowing} onChange={onChange} />
            {shape ? <p><bdi class="quiet">{wordsOfShape(shape)}</bdi></p> : <p class="note error" role="alert">{narrowing.way === 'fewer' ? t.rules.pickOne : t.rules.badValue}</p>}
        </>
    );
}

const TEXTS: Partial<Record<Way, string>> = { exactly: t.rules.value, deeper: t.rules.directory, longer: t.rules.beginning };
const MOSTS: Partial<Record<Way, string>> = { shorter: t.rules.bytes, items: t.rules.itemsMost };

function Inputs({ part, narrowing, onChange }: RowProps) {
    const { way } = narrowing;
    const text = TEXTS[way], most = MOSTS[way];

    if (text) return <TextField label={text} isCode value={narrowing.text ?? ''} onInput={(value) => onChange({ ...narrowing, text: value })} />;
    if (most) return <TextField label={most} type="number" value={narrowing.most ?? ''} onInput={(value) => onChange({ ...narrowing, most: value })} />;
    if (way === 'range') return (
        <div class="row">
            <TextField label={t.rules.least} type="number" value={narrowing.least ?? ''} onInput={(value) => onChange({ ...narrowing, least: value })} />
            <TextField label={t.rules.most} type="number" value={narrowing.most ?? ''} onInput={(value) => onChange({ ...narrowing, most: value })} />
        </div>
    );
    return way === 'fewer' ? <Values part={part} narrowing={narrowing} onChange={onChange} /> : null;
}

function Values({ part: { shape }, narrowing, onChange }: RowProps) {
    const values = [shape['one_of'] ?? shape['endings']].flatMap((list): Json[] => (Array.isArray(list) ? list : []));
    const kept = new Set(narrowing.kept);
    const toggle = (index: number, isKept: boolean) => {
        const next = new Set(kept);
        if (isKept) next.add(index);
        else next.delete(index);
        onChange({ ...narrowing, kept: [...next].sort((a, b) => a - b) });
    };
    const titleOf = (value: Json) => (isObject(shape) && shape['endings'] ? (value === '' ? t.rules.noEnding : visible(String(value))) : textOfValue(value));

    return <div class="rule-values">{values.map((value, i) => <Check key={i} label={<bdi class="code">{titleOf(value)}</bdi>} value={kept.has(i)} onInput={(isKept) => toggle(i, isKept)} />)}</div>;
}
