// SPDX-License-Identifier: Apache-2.0
// A button with a menu: arrow keys move, Escape, scrolling and a click elsewhere close it. The
// menu is in the top layer, so that nothing cuts it off.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import { Count } from './badge';
import { Icon, type IconName } from './icon';

export interface MenuItem {
    title: string;
    icon?: IconName;
    isDanger?: boolean;
    isDisabled?: boolean;
    isChosen?: boolean; // of several that exclude each other
    isCurrent?: boolean; // one is there already
    count?: number; // what waits there
    run: () => void;
}

interface MenuProps {
    label: string; // of the button, which shows its icon alone unless `title` is given
    title?: string;
    icon?: IconName;
    kind?: 'plain' | 'quiet'; // as of a button
    side?: 'start' | 'end'; // which edges are aligned
    opens?: 'down' | 'up'; // where there is room for both
    isCurrent?: boolean; // one of what it leads to is shown
    items: readonly MenuItem[];
}

export function Menu({ label, title, icon = 'more', kind = 'quiet', side = 'end', opens = 'down', isCurrent = false, items }: MenuProps) {
    const [isOpen, setOpen] = useState(false);
    const element = useRef<HTMLDivElement>(null);
    const count = items.reduce((sum, item) => sum + (item.count ?? 0), 0);
    const close = () => {
        setOpen(false);
        element.current?.querySelector('button')?.focus();
    };

    useLayoutEffect(() => {
        if (!isOpen) return undefined;
        const onElsewhere = (event: Event) => {
            const { target } = event;
            if (!(target instanceof Node) || element.current?.contains(target)) return;
            if (event.type !== 'scroll' || target.contains(element.current)) setOpen(false); // a list beside it may scroll by itself
        };
        place(element.current, side, opens);
        element.current?.querySelector<HTMLElement>('[role^=menuitem]:not([disabled])')?.focus({ preventScroll: true });
        for (const name of ['mousedown', 'scroll', 'wheel']) document.addEventListener(name, onElsewhere, true);
        return () => { for (const name of ['mousedown', 'scroll', 'wheel']) document.removeEventListener(name, onElsewhere, true); };
    }, [isOpen]);
    return (
        <div class="menu" ref={element} onKeyDown={(event) => onMenuKey(event, element.current, close)}>
            <button type="button" class={`button ${kind}${title ? '' : ' bare'}`} aria-haspopup="menu" aria-expanded={isOpen} aria-current={isCurrent ? 'true' : undefined}
                aria-label={title ? undefined : label} title={title ? undefined : label} onClick={() => setOpen(!isOpen)}>
                <Icon name={icon} />{title && <span>{title}</span>}<Count of={count} />
            </button>
            {isOpen && (
                <div class="menu-items" role="menu" aria-label={label} popover="manual">
                    {items.map((item) => <Item key={item.title} item={item} close={close} />)}
                </div>
            )}
        </div>
    );
}

const GAP_PX = 4;

// Beside its button, and inside the window.
function place(menu: HTMLElement | null, side: 'start' | 'end', opens: 'down' | 'up'): void {
    const items = menu?.querySelector<HTMLElement>('.menu-items');
    if (!menu || !items) return;
    items.showPopover();
    const button = menu.getBoundingClientRect(), size = items.getBoundingClientRect();
    const fitsBelow = button.bottom + GAP_PX + size.height <= innerHeight;
    const fitsAbove = button.top - GAP_PX - size.height >= 0;
    const isBelow = fitsBelow && (opens === 'down' || !fitsAbove);
    const left = side === 'start' ? button.left : button.right - size.width;

    items.style.top = `${Math.max(0, isBelow ? button.bottom + GAP_PX : button.top - GAP_PX - size.height)}px`;
    items.style.left = `${Math.max(GAP_PX, Math.min(left, innerWidth - size.width - GAP_PX))}px`;
}

function Item({ item, close }: { item: MenuItem; close: () => void }) {
    return (
        <button type="button" role={item.isChosen === undefined ? 'menuitem' : 'menuitemradio'} aria-checked={item.isChosen}
            tabIndex={-1} class={item.isDanger ? 'danger' : ''} disabled={item.isDisabled} aria-current={item.isCurrent ? 'page' : undefined}
            onClick={() => { close(); item.run(); }}>
            {item.isChosen ? <Icon name="check" /> : item.icon && <Icon name={item.icon} />}<span>{item.title}</span><Count of={item.count ?? 0} />
        </button>
    );
}

function onMenuKey(event: KeyboardEvent, element: HTMLElement | null, close: () => void): void {
    const items = [...(element?.querySelectorAll<HTMLElement>('[role^=menuitem]:not([disabled])') ?? [])];
    if (!items.length) return;
    const at = items.findIndex((item) => item === document.activeElement);
    const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const to = moves[event.key];

    if (event.key === 'Tab') return close();
    if (event.key !== 'Escape' && to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (to === undefined) close();
    else items.at(to % items.length)?.focus();
}
