// SPDX-License-Identifier: Apache-2.0
// A list of any length: only the rows around the visible ones exist. Rows may have any height,
// and may change it. What the reader looks at stays in place while rows come and go above it;
// at the end, with `stickToEnd`, the end stays in view. Whoever drops old rows does so many at
// a time: any change but rows at the end looks at all of them.
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { ListLayout } from './list-layout';

export interface ListHandle {
    scrollToIndex(index: number): void; // brings it into view, if it is not
    scrollToEnd(): void;
    isAtEnd(): boolean;
}

interface VirtualListProps<T> {
    items: readonly T[];
    keyOf: (item: T) => string; // unique
    estimate: number; // px of a row that was never shown
    label: string;
    role?: 'list' | 'log'; // a log is not read aloud by itself: much may happen in it
    stickToEnd?: boolean;
    handle?: RefObject<ListHandle>;
    onTop?: () => void; // near the first row: older ones may be loaded
    onEnd?: (isAtEnd: boolean) => void; // follows the end, or does so no longer
    children: (item: T, index: number) => ComponentChildren;
}

const NEAR_PX = 200;

export function VirtualList<T>(props: VirtualListProps<T>) {
    const { items, keyOf, estimate, label, role = 'list', stickToEnd = false, handle, children } = props;
    const view = useRef<HTMLDivElement>(null);
    const rows = useRef<HTMLDivElement>(null);
    const layout = useRef<ListLayout>();
    const isStuck = useRef(stickToEnd);
    const [, redraw] = useState({});
    const list = (layout.current ??= new ListLayout(estimate));

    list.sync(items.length, (index) => keyOf(items[index] as T));
    const range = list.range();
    const stick = (isWanted: boolean) => {
        if (isStuck.current === isWanted) return;
        isStuck.current = isWanted;
        props.onEnd?.(isWanted);
    };
    const onScroll = () => {
        const element = view.current;
        if (!element) return;
        const before = list.range();
        const goesUp = element.scrollTop < list.scrollTop;
        list.scrolled(element.scrollTop);
        stick(list.isAtEnd(goesUp ? 1 : 32)); // whoever begins to go up is let go at once
        if (element.scrollTop < NEAR_PX) props.onTop?.();
        const after = list.range();
        if (after.first !== before.first || after.last !== before.last) redraw({});
    };

    // A row that is scrolled away takes the focus along; the keys that scroll are to go on.
    const hadFocus = rows.current?.contains(document.activeElement) ?? false;
    useLayoutEffect(() => { if (hadFocus && document.activeElement === document.body) view.current?.focus({ preventScroll: true }); });
    useLayoutEffect(() => settle(list, view.current, rows.current, stickToEnd && isStuck.current, () => redraw({})));
    useEffect(() => props.onEnd?.(isStuck.current), []);
    useResize(view, rows, () => redraw({}));
    const jumps = handleOf(list, view, stick, () => redraw({}));
    // The browser's own way there is animated past rows whose heights are guesses.
    const onKeyDown = (event: KeyboardEvent) => {
        if (event.target !== view.current || (event.key !== 'Home' && event.key !== 'End')) return;
        event.preventDefault();
        if (event.key === 'Home') jumps.scrollToIndex(0);
        else jumps.scrollToEnd();
    };
    if (handle) handle.current = jumps;
    return (
        <div class="virtual-list" ref={view} role={role} aria-label={label} aria-live={role === 'log' ? 'off' : undefined}
            tabIndex={0} onScroll={onScroll} onKeyDown={onKeyDown}>
            <div class="virtual-space" style={{ height: `${list.heights.total}px` }} role="presentation">
                <div class="virtual-rows" ref={rows} role="presentation" style={{ transform: `translateY(${list.heights.offsetOf(range.first)}px)` }}>
                    {items.slice(range.first, range.last).map((item, i) => (
                        <div key={keyOf(item)} class="virtual-row" data-index={range.first + i} role={role === 'list' ? 'listitem' : undefined}
                            aria-setsize={role === 'list' ? items.length : undefined} aria-posinset={role === 'list' ? range.first + i + 1 : undefined}>
                            {children(item, range.first + i)}
                        </div>
                    ))}
                </div>
            </div>
        </div>
    );
}

// After each rendering: the rows tell their heights, and the place is kept.
function settle(list: ListLayout, view: HTMLElement | null, rows: HTMLElement | null, staysAtEnd: boolean, redraw: () => void): void {
    if (!view || !rows) return;
    const before = list.range();
    let isNew = list.viewPx !== view.clientHeight;

    if (Math.abs(view.scrollTop - list.scrollTop) > 1 && !staysAtEnd) list.scrolled(view.scrollTop); // not told of it yet
    list.viewPx = view.clientHeight;
    for (const row of rows.children)
        if (row instanceof HTMLElement && list.measure(Number(row.dataset['index']), row.getBoundingClientRect().height)) isNew = true;
    const wanted = Math.max(0, staysAtEnd ? list.heights.total - list.viewPx : list.wantedTop());
    if (Math.abs(wanted - view.scrollTop) > 0.5) {
        const space = rows.parentElement;
        if (space) space.style.height = `${list.heights.total}px`; // it must be tall enough to scroll there
        view.scrollTop = wanted;
    }
    list.scrolled(view.scrollTop);
    const after = list.range();
    if (isNew || after.first !== before.first || after.last !== before.last) redraw();
}

// Rows that change by themselves (an image came, something was unfolded), and the window.
function useResize(view: RefObject<HTMLElement>, rows: RefObject<HTMLElement>, redraw: () => void): void {
    useEffect(() => {
        const observer = new ResizeObserver(redraw);
        if (view.current) observer.observe(view.current);
        if (rows.current) observer.observe(rows.current);
        return () => observer.disconnect();
    }, []);
}

function handleOf(list: ListLayout, view: RefObject<HTMLElement>, stick: (isWanted: boolean) => void, redraw: () => void): ListHandle {
    const jump = (top: number) => {
        if (!view.current) return;
        view.current.scrollTop = top;
        list.scrolled(view.current.scrollTop);
        redraw();
    };

    return {
        scrollToIndex(index) {
            const top = list.heights.offsetOf(index);
            const bottom = top + list.heights.heightOf(index);
            stick(index >= list.heights.count - 1); // who looks at one stays there, whatever comes
            if (top < list.scrollTop) jump(top);
            else if (bottom > list.scrollTop + list.viewPx) jump(Math.min(top, bottom - list.viewPx));
        },
        scrollToEnd() {
            stick(true);
            redraw();
            jump(list.heights.total);
        },
        isAtEnd: () => list.isAtEnd(),
    };
}
