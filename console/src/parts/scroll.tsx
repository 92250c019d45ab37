// SPDX-License-Identifier: Apache-2.0
// A box that scrolls where there is more in it than it shows, and is then reached with the Tab
// key like anything else.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface ScrollProps {
    label: string; // read aloud with it
    class: string;
    children: ComponentChildren;
}

export function Scroll({ label, class: name, children }: ScrollProps) {
    const box = useRef<HTMLDivElement>(null);
    const inside = useRef<HTMLDivElement>(null);
    const [isStop, setStop] = useState(false);

    useLayoutEffect(() => {
        const update = () => {
            const { current } = box;
            if (current) setStop(current.scrollHeight > current.clientHeight + 1 || current.scrollWidth > current.clientWidth + 1);
        };
        const observer = new ResizeObserver(update);
        if (box.current) observer.observe(box.current);
        if (inside.current) observer.observe(inside.current);
        update();
        return () => observer.disconnect();
    }, []);
    return <div class={isStop ? `${name} scroll` : name} ref={box} {...(isStop && { 'tabIndex': 0, 'role': 'group', 'aria-label': label })}><div ref={inside}>{children}</div></div>;
}
