// SPDX-License-Identifier: Apache-2.0
// Something that is unfolded by who wants it, and does not exist before.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export function Fold({ title, class: name = '', children }: { title: ComponentChildren; class?: string; children: ComponentChildren }) {
    const [isOpen, setOpen] = useState(false);

    return (
        <details class={`fold ${name}`} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>{title}</summary>
            {isOpen && children}
        </details>
    );
}
