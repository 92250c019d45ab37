// SPDX-License-Identifier: Apache-2.0
// The frame of every view: its title and what one can do, the main column, and beside it the
// details of what is chosen, which cover the view on a phone.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { t } from '../strings';
import { Button } from './button';

interface PageProps {
    title: ComponentChildren;
    name?: string; // of the browser's tab, where the title is no text
    actions?: ComponentChildren; // buttons at the end of the title
    tools?: ComponentChildren; // a second line: filters, search
    details?: ComponentChildren; // a <Details>
    isFlush?: boolean; // the content brings its own margins and scrolling (timelines)
    children: ComponentChildren;
}

export function Page({ title, name, actions, tools, details, isFlush, children }: PageProps) {
    const text = name ?? (typeof title === 'string' ? title : t.common.name);

    useEffect(() => { document.title = `${text} · ${t.common.name}`; }, [text]);
    return (
        <div class={details ? 'page with-details' : 'page'}>
            <div class="page-main">
                <header class="page-head">
                    <div class="page-title"><h1>{title}</h1>{actions && <div class="row">{actions}</div>}</div>
                    {tools && <div class="page-tools">{tools}</div>}
                </header>
                <div class={isFlush ? 'page-body flush' : 'page-body'}>{children}</div>
            </div>
            {details}
        </div>
    );
}

export function Details({ title, onClose, actions, children }: { title: ComponentChildren; onClose: () => void; actions?: ComponentChildren; children: ComponentChildren }) {
    const element = useRef<HTMLElement>(null);

    // Where it covers the view, the focus goes along.
    useEffect(() => { if (matchMedia('(max-width: 900px)').matches) element.current?.focus(); }, []);
    return (
        <aside class="details" aria-label={t.parts.details} tabIndex={-1} ref={element}
            onKeyDown={(event) => { if (event.key === 'Escape' && !event.defaultPrevented && !isInDialog(event.target)) onClose(); }}>
            <header><h2>{title}</h2>{actions}<Button kind="quiet" icon="cross" label={t.common.close} onClick={onClose} /></header>
            <div class="details-body">{children}</div>
        </aside>
    );
}

// A dialog above the details closes alone.
function isInDialog(target: EventTarget | null): boolean {
    return target instanceof Element && target.closest('dialog') !== null;
}

// A titled part of a view.
export function Section({ title, actions, children }: { title: string; actions?: ComponentChildren; children: ComponentChildren }) {
    return (
        <section class="section">
            <header><h2>{title}</h2>{actions}</header>
            {children}
        </section>
    );
}
