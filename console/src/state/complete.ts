// SPDX-License-Identifier: Apache-2.0
// Completing "@na" to "@name" in what somebody writes.

export interface Mention { from: number; typed: string } // where the "@" stands, and what follows it

// The word that the caret is in or behind, if it begins with "@".
export function mentionAt(text: string, caret: number): Mention | null {
    const from = text.lastIndexOf('@', caret - 1);
    if (from < 0 || (from > 0 && !/[\s(]/.test(text[from - 1] ?? ''))) return null;
    const typed = text.slice(from + 1, caret);
    return /\s/.test(typed) ? null : { from, typed };
}

// Those who begin so first, then those who have it somewhere; by name.
export function candidates(ids: readonly string[], typed: string, most = 6): string[] {
    const wanted = typed.toLowerCase();
    const place = (id: string) => id.toLowerCase().indexOf(wanted);
    const rank = (id: string) => Number(place(id) > 0);
    return ids.filter((id) => place(id) >= 0).sort((a, b) => rank(a) - rank(b) || a.localeCompare(b)).slice(0, most);
}

export function withMention(text: string, mention: Mention, id: string): { text: string; caret: number } {
    const head = `${text.slice(0, mention.from)}@${id} `;
    const tail = text.slice(mention.from + 1 + mention.typed.length).replace(/^ /, '');
    return { text: head + tail, caret: head.length };
}
