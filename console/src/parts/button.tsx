// SPDX-License-Identifier: Apache-2.0
// Buttons. One primary at most in a place; danger for what cannot be undone.
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';

import { t } from '../strings';
import { Icon, type IconName } from './icon';

export type ButtonKind = 'plain' | 'primary' | 'danger' | 'quiet';

interface ButtonProps {
    onClick?: (event: JSX.TargetedMouseEvent<HTMLButtonElement>) => void;
    kind?: ButtonKind;
    icon?: IconName;
    label?: string; // the name where there is only an icon; also shown as a tooltip
    type?: 'button' | 'submit';
    isBusy?: boolean; // asked, not answered yet: pressing again does nothing
    isDisabled?: boolean;
    isPressed?: boolean; // for those that stay down
    children?: ComponentChildren;
}

export function Button({ onClick, kind = 'plain', icon, label, type = 'button', isBusy, isDisabled, isPressed, children }: ButtonProps) {
    return (
        <button type={type} class={`button ${kind}${children === undefined ? ' bare' : ''}`} disabled={isDisabled}
            aria-label={label} title={label} aria-busy={isBusy || undefined} aria-pressed={isPressed}
            onClick={(event) => { if (isBusy) event.preventDefault(); else onClick?.(event); }}>
            {icon && <Icon name={icon} />}
            {children !== undefined && <span>{children}</span>}
        </button>
    );
}

// A link that looks like a button: it leads somewhere instead of doing something.
export function LinkButton({ href, kind = 'plain', icon, children }: { href: string; kind?: ButtonKind; icon?: IconName; children: ComponentChildren }) {
    return <a class={`button ${kind}`} href={href}>{icon && <Icon name={icon} />}<span>{children}</span></a>;
}

// The text, or what makes it where that takes time.
export function CopyButton({ text, label = t.parts.copy }: { text: string | (() => string); label?: string }) {
    const [isDone, setDone] = useState(false);
    const copy = async () => {
        await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
        setDone(true);
        setTimeout(() => setDone(false), 1500);
    };

    if (!navigator.clipboard) return null; // a page over plain HTTP from another machine may not
    return <Button kind="quiet" icon={isDone ? 'check' : 'copy'} label={isDone ? t.parts.copied : label} onClick={() => void copy()} />;
}
