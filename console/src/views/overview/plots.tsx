// SPDX-License-Identifier: Apache-2.0
// What was measured, minute by minute or in stretches of five.
import type { Tone } from '../../parts/notes';
import { Plot, type Series } from '../../parts/plot';
import { beatsOf, countsOf, inUnit, levelsOf, padded, stretchOf, timeOf, type Beat, type Overview, type Span } from '../../state/overview';
import { sizeOf } from '../../state/sizes';
import { t } from '../../strings';

type Measure = Exclude<keyof Beat, 'at'>;

export function Plots({ of, span, isTable }: { of: Overview; span: Span; isTable: boolean }) {
    const beats = beatsOf(of, span);
    const { plots: p, series: s } = t.overview;
    const count = (name: string, measure: Measure, tone: Tone): Series => ({ name, tone, points: padded(countsOf(beats, measure), span) });
    const level = (name: string, measure: Measure, tone: Tone): Series => ({ name, tone, points: padded(levelsOf(beats, measure), span) });
    const per = stretchOf(span);

    return (
        <div class="overview-plots">
            <Plot isTable={isTable} title={`${p.messages} ${per}`} kind="bar" series={[count(s.messages, 'messages', 'accent')]} />
            <Plot isTable={isTable} title={`${p.refused} ${per}`} kind="bar" series={[count(s.refused, 'refused', 'danger')]} />
            <InUnit isTable={isTable} title={p.times} kind="time" series={[level(s.p50, 'p50_ms', 'accent'), level(s.p95, 'p95_ms', 'warn')]} />
            <Plot isTable={isTable} title={p.waiting} series={[level(s.waiting, 'waiting', 'warn')]} />
            <Plot isTable={isTable} title={`${p.decisions} ${per}`} series={[count(s.opened, 'opened', 'accent'), count(s.decided, 'decided', 'ok')]} />
            <Plot isTable={isTable} title={p.connections} series={[level(s.connections, 'connections', 'accent'), level(s.members, 'members', 'ok')]} />
            <InUnit isTable={isTable} title={p.queue} kind="bytes" series={[level(s.queued, 'queued_bytes', 'warn')]} />
            <InUnit isTable={isTable} title={p.memory} kind="bytes" series={[level(s.memory, 'memory_bytes', 'accent')]} />
        </div>
    );
}

// The axis has round numbers of one unit; what is told has the unit that fits it.
function InUnit({ title, kind, series, isTable }: { title: string; kind: 'time' | 'bytes'; series: Series[]; isTable: boolean }) {
    const { unit, series: scaled } = inUnit(kind, series.map(({ points }) => points));
    const told = (value: number) => (kind === 'time' ? timeOf : sizeOf)(value * unit.size);
    return <Plot isTable={isTable} title={title} unit={told} series={series.map((one, i) => ({ ...one, points: scaled[i] ?? [] }))} />;
}
