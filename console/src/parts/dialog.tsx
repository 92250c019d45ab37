// SPDX-License-Identifier: Apache-2.0
// A dialog on the browser's own <dialog>: it keeps the focus inside, closes with Escape, and
// gives the focus back to where it was. A press beside it does nothing, and Escape asks first where
// something was filled in. What is outside of it cannot be used meanwhile, so that it has the toasts as well.
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { visibleName } from '../state/visible';
import { t } from '../strings';
import { Button } from './button';
import type { IconName } from './icon';
import { ErrorNote } from './notes';
import { Toasts } from './toast';

const TITLE = 160; // characters: names of others stand in it

interface DialogProps {
    title: string;
    onClose: () => void;
    actions?: ComponentChildren; // buttons; the one that matters last
    isWide?: boolean;
    children: ComponentChildren;
}

export function Dialog({ title, onClose, actions, isWide, children }: DialogProps) {
    const element = useRef<HTMLDialogElement>(null);
    const id = useId();
    const isFilled = useRef(false);
    const [isAsked, setAsked] = useState(false);
    const leave = () => {
        if (isFilled.current && !isAsked) setAsked(true);
        else onClose();
    };

    // At once: a key that is pressed before it is open would be a shortcut.
    useLayoutEffect(() => {
        const before = document.activeElement;
        element.current?.showModal();
        if (element.current) firstOf(element.current)?.focus();
        return leaving(element.current, before);
    }, []);
    return (
        <dialog ref={element} class={isWide ? 'dialog wide' : 'dialog'} aria-labelledby={id}
            onKeyDown={(event) => { if (event.key === 'Escape') event.stopPropagation(); }} // it closes this and not what is around it
            onInput={() => { isFilled.current = true; setAsked(false); }}
            onCancel={(event) => { event.preventDefault(); leave(); }}
            onClose={(event) => { if (event.currentTarget.isConnected) onClose(); }}> {/* by the browser, which does not ask twice */}
            <div class="dialog-body">
                <header><h2 id={id}><bdi>{visibleName(title.length > TITLE ? `${title.slice(0, TITLE)}…` : title)}</bdi></h2><Button kind="quiet" icon="cross" label={t.common.close} onClick={onClose} /></header>
                <div class="dialog-content" tabIndex={-1}>{children}</div>
                {isAsked && <p class="note dialog-asked" role="status">{t.common.discard}</p>}
                {actions && <footer>{actions}</footer>}
            </div>
            <Toasts />
        </dialog>
    );
}

// Behind an open dialog nothing takes the focus: it is closed first. What had it before may go in the
// same moment; then one is in what is open, or in the view.
function leaving(dialog: HTMLDialogElement | null, before: Element | null): () => void {
    return () => {
        dialog?.close();
        if (before instanceof HTMLElement) before.focus({ preventScroll: true });
        setTimeout(() => {
            if (document.activeElement !== document.body) return;
            document.querySelector<HTMLElement>('.details, #content')?.focus({ preventScroll: true });
        });
    };
}

// Where one begins: in what asks for it, in a field that stands first, or on the button that
// cancels where there is nothing to fill in. Else with what is to be read, also where a field
// would bring up the keys of a phone. Without it that were the cross in the corner.
function firstOf(dialog: HTMLElement): HTMLElement | null {
    const fields = ':is(input, select, textarea):not(:disabled)';
    const content = dialog.querySelector<HTMLElement>('.dialog-content');
    const asked = dialog.querySelector<HTMLElement>('[autofocus]');

    if (asked) return asked;
    if (!content?.querySelector(fields)) return dialog.querySelector<HTMLElement>('footer button') ?? content;
    if (matchMedia('(pointer: coarse)').matches) return content;
    return content.firstElementChild?.querySelector<HTMLElement>(fields) ?? content;
}

interface ConfirmProps {
    title: string;
    children: ComponentChildren; // what will happen, or what is to be filled in
    action: string; // a verb, not "OK"
    icon?: IconName;
    isDanger?: boolean;
    isWide?: boolean;
    isBusy?: boolean;
    isDisabled?: boolean;
    error?: string | undefined; // why it was not done
    onConfirm: () => void;
    onClose: () => void;
}

// One button that does it, and one that does not.
export function Confirm({ title, children, action, icon, isDanger, isWide = false, isBusy = false, isDisabled = false, error, onConfirm, onClose }: ConfirmProps) {
    return (
        <Dialog title={title} isWide={isWide} onClose={onClose} actions={<>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button kind={isDanger ? 'danger' : 'primary'} {...(icon && { icon })} isBusy={isBusy} isDisabled={isDisabled} onClick={onConfirm}>{action}</Button>
        </>}>
            {error && <ErrorNote error={error} />}
            {children}
        </Dialog>
    );
}
