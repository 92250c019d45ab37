// SPDX-License-Identifier: Apache-2.0
// Values over time, as lines or bars. Series differ by dashes as well as by colour; the legend
// tells the values at the pointer, or the last ones. Arrow keys move the pointer. The same values
// as a table are for those who do not see them.
import { useEffect, useRef, useState } from 'preact/hooks';

import { dotsOf, lineOf, nearest, scaleOf, xOf, yOf, type Box, type Point, type Scale } from '../state/plot';
import { minuteOf } from '../state/time';
import { t } from '../strings';
import type { Tone } from './notes';
import { Scroll } from './scroll';
import { Table, type Column } from './table';

export interface Series {
    name: string;
    tone?: Tone;
    points: readonly Point[]; // in order of time, the same times in all series
}

interface PlotProps {
    title: string;
    series: readonly Series[];
    unit?: (value: number) => string; // a number for people; without it things are counted
    kind?: 'line' | 'bar';
    height?: number;
    isTable?: boolean; // instead of a drawing
}

const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

export function Plot({ isTable, ...props }: PlotProps) {
    return isTable ? <Values {...props} /> : <Drawing {...props} />;
}

function Drawing({ title, series, unit: given, kind = 'line', height = 160 }: PlotProps) {
    const element = useRef<HTMLElement>(null);
    const width = useWidth(element);
    const [at, setAt] = useState<number | null>(null); // the index under the pointer
    const [isSaid, setSaid] = useState(false); // keys have moved it there
    const unit = given ?? short.format;
    const scale = scaleOf(series.map(({ points }) => points), !given);
    const first = series[0]?.points ?? [];
    const left = leftOf(scale, unit);
    const box: Box = { left, top: 8, width: Math.max(60, width - left - 8), height: height - 32 };
    const valueAt = (one: Series) => one.points[at ?? one.points.length - 1]?.[1] ?? null;
    const move = (x: number) => {
        if (scale) setAt(nearest(first, scale.from + ((x - box.left) / box.width) * (scale.to - scale.from)));
    };
    const onKey = (event: KeyboardEvent) => {
        const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
        if (!step) return;
        event.preventDefault();
        setSaid(true);
        setAt(Math.max(0, Math.min(first.length - 1, (at ?? first.length - 1) + step)));
    };

    const leave = () => {
        setAt(null);
        setSaid(false);
    };
    const when = at !== null && first[at] ? minuteOf(first[at][0], Date.now()) : null;

    return (
        <figure class="plot" ref={element}>
            <figcaption>
                <span class="plot-title">{title}</span>
                {series.map((one, i) => (
                    <span key={one.name} class="plot-legend">
                        <svg width="18" height="8" aria-hidden="true"><path d="M0 4H18" class={`plot-line ${one.tone ?? 'accent'} dash${i}`} /></svg>
                        {one.name} <b>{textOf(valueAt(one), unit)}</b>
                    </span>
                ))}
                {when !== null && <span class="quiet">{when}</span>}
                <span class="hidden" role="status">{isSaid && when !== null && t.parts.plotAt(when, series.map((one) => `${one.name} ${textOf(valueAt(one), unit)}`).join(', '))}</span>
            </figcaption>
            {scale
                ? <svg width={width} height={height} role="img" tabIndex={0} aria-label={t.parts.plot(title, summaryOf(series, unit))} onKeyDown={onKey}
                    onPointerMove={(event) => move(event.offsetX)} onPointerLeave={leave} onBlur={leave}>
                    <Axes scale={scale} box={box} unit={unit} />
                    {series.map((one, i) => <Shape key={one.name} {...{ one, scale, box, kind }} index={i} count={series.length} />)}
                    {at !== null && first[at] && <path class="plot-pointer" d={`M${xOf(first[at][0], scale, box)} ${box.top}v${box.height}`} />}
                </svg>
                : <p class="quiet plot-none" style={{ height: `${height}px` }}>{t.parts.noPoints}</p>}
        </figure>
    );
}

// The newest first; what was not measured has no row.
function Values({ title, series, unit = short.format }: PlotProps) {
    const rows = (series[0]?.points ?? []).map(([at], i) => ({ at, values: series.map(({ points }) => points[i]?.[1] ?? null) }))
        .filter(({ values }) => values.some((value) => value !== null)).reverse();

    return (
        <figure class="plot">
            <figcaption><span class="plot-title">{title}</span></figcaption>
            {rows.length ? (
                <Scroll label={title} class="plot-values">
                    <Table label={title} rows={rows} keyOf={({ at }) => String(at)} columns={[
                        { title: t.parts.plotTime, isHead: true, cell: ({ at }) => minuteOf(at, Date.now()) },
                        ...series.map(({ name }, i): Column<typeof rows[number]> => ({ title: name, align: 'end', cell: ({ values }) => textOf(values[i] ?? null, unit) })),
                    ]} />
                </Scroll>
            ) : <p class="quiet">{t.parts.noPoints}</p>}
        </figure>
    );
}

// Room for the longest number beside the axis, in small letters.
function leftOf(scale: Scale | null, unit: (value: number) => string): number {
    return Math.max(44, ...(scale?.ticks ?? []).map((value) => 10 + 6.4 * unit(value).length));
}

function textOf(value: number | null, unit: (value: number) => string): string {
    return value === null ? '–' : unit(value);
}

function summaryOf(series: readonly Series[], unit: (value: number) => string): string {
    return series.map(({ name, points }) => {
        const most = points.reduce((high, [, value]) => Math.max(high, value ?? 0), 0);
        return t.parts.plotSeries(name, textOf(points.at(-1)?.[1] ?? null, unit), unit(most));
    }).join(', ');
}

function useWidth(element: { current: HTMLElement | null }): number {
    const [width, setWidth] = useState(480);
    useEffect(() => {
        const observer = new ResizeObserver(([entry]) => { if (entry) setWidth(Math.floor(entry.contentRect.width)); });
        if (element.current) observer.observe(element.current);
        return () => observer.disconnect();
    }, []);
    return width;
}

function Axes({ scale, box, unit }: { scale: Scale; box: Box; unit: (value: number) => string }) {
    const count = Math.max(2, Math.floor(box.width / 130));
    const times = Array.from({ length: count }, (_, i) => scale.from + (i * (scale.to - scale.from)) / (count - 1));

    return (
        <g aria-hidden="true">
            {scale.ticks.map((value) => (
                <g key={value}>
                    <path class="plot-grid" d={`M${box.left} ${yOf(value, scale, box)}h${box.width}`} />
                    <text class="plot-text" x={box.left - 6} y={yOf(value, scale, box) + 4} text-anchor="end">{unit(value)}</text>
                </g>
            ))}
            {times.map((at, i) => (
                <text key={at} class="plot-text" x={xOf(at, scale, box)} y={box.top + box.height + 18}
                    text-anchor={i === 0 ? 'start' : i === count - 1 ? 'end' : 'middle'}>{minuteOf(at, Date.now())}</text>
            ))}
        </g>
    );
}

interface ShapeProps { one: Series; scale: Scale; box: Box; kind: 'line' | 'bar'; index: number; count: number }

function Shape({ one, scale, box, kind, index, count }: ShapeProps) {
    const tone = one.tone ?? 'accent';
    if (kind === 'line') return (
        <>
            <path class={`plot-line ${tone} dash${index}`} d={lineOf(one.points, scale, box)} />
            <path class={`plot-line plot-dots ${tone}`} d={dotsOf(one.points, scale, box)} />
        </>
    );
    const slot = box.width / Math.max(1, one.points.length);
    const width = Math.max(1, (slot - 1) / count);
    const inner: Box = { ...box, width: box.width - slot };

    return (
        <g class={`plot-bar ${tone}`}>
            {one.points.map(([at, value]) => value !== null && value > 0 && (
                <rect key={at} x={xOf(at, scale, inner) + index * width} width={width} y={yOf(value, scale, box)} height={box.top + box.height - yOf(value, scale, box)} />
            ))}
        </g>
    );
}
