// SPDX-License-Identifier: Apache-2.0
// Lists by keys: j and k open the next row and the one before, / goes to the search field, which
// is marked with data-search, d to the details.
import { t } from '../strings';
import { useShortcuts } from './keys';

export function useRowKeys(keys: readonly string[], current: string | null, open: (key: string) => void): void {
    const step = (by: number) => {
        const at = current === null ? -1 : keys.indexOf(current);
        const next = keys[at < 0 ? (by > 0 ? 0 : keys.length - 1) : Math.min(keys.length - 1, Math.max(0, at + by))];
        if (next === undefined) return;
        open(next);
        requestAnimationFrame(() => document.querySelector('main .page-body .chosen')?.scrollIntoView({ block: 'nearest' }));
    };

    useShortcuts({
        j: { does: t.rows.next, run: () => step(1) },
        k: { does: t.rows.previous, run: () => step(-1) },
        '/': { does: t.rows.search, run: () => document.querySelector<HTMLInputElement>('[data-search] input')?.focus() },
        d: { does: t.rows.details, run: () => document.querySelector<HTMLElement>('.details')?.focus() },
    });
}

// Whoever closes the details goes on where they were opened.
export function focusRow(href: string): void {
    const at = new URL(href, location.href).pathname;
    requestAnimationFrame(() => [...document.querySelectorAll<HTMLAnchorElement>('main .page-body a')].find((link) => link.pathname === at)?.focus());
}
