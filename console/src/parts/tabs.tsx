// SPDX-License-Identifier: Apache-2.0
// Tabs: arrow keys move between them, the chosen one is in the order of the Tab key.
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

export interface Tab {
    name: string;
    title: string;
    count?: number;
}

interface TabsProps {
    label: string;
    tabs: readonly Tab[];
    current: string;
    onChoose: (name: string) => void;
    children: ComponentChildren; // of the current one
}

export function Tabs({ label, tabs, current, onChoose, children }: TabsProps) {
    const id = useId();
    const list = useRef<HTMLDivElement>(null);
    const onKey = (event: KeyboardEvent) => {
        const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        const at = tabs.findIndex((tab) => tab.name === current);
        const next = step && tabs.at((at + step) % tabs.length);
        if (!next) return;
        event.preventDefault();
        onChoose(next.name);
        list.current?.querySelector<HTMLElement>(`[data-name="${CSS.escape(next.name)}"]`)?.focus();
    };

    return (
        <div class="tabs">
            <div class="tab-list" role="tablist" aria-label={label} ref={list} onKeyDown={onKey}>
                {tabs.map((tab) => (
                    <button key={tab.name} type="button" role="tab" id={`${id}-${tab.name}`} data-name={tab.name}
                        aria-selected={tab.name === current} aria-controls={`${id}-panel`} tabIndex={tab.name === current ? 0 : -1}
                        onClick={() => onChoose(tab.name)}>
                        {tab.title}{tab.count !== undefined && <span class="count">{tab.count}</span>}
                    </button>
                ))}
            </div>
            <div class="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current}`}>{children}</div>
        </div>
    );
}
