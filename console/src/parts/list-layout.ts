// SPDX-License-Identifier: Apache-2.0
// What a VirtualList remembers between renderings: how tall the rows are, and which one the
// reader looks at, so that it stays where it is whatever happens above it.
import { Heights } from '../state/heights';

const MARGIN_PX = 600; // rendered above and below what is visible
const FORGOTTEN_MOST = 1000; // rows that are hidden may come back

export interface Range {
    first: number;
    last: number; // exclusive
}

export class ListLayout {
    readonly heights = new Heights();
    #keys: string[] = [];
    #measured = new Map<string, number>();
    #anchor: { key: string; index: number; delta: number } | null = null;
    scrollTop = 0;
    viewPx = 800;

    constructor(private readonly estimate: number) {}

    // Rows are added at the end most of the time, which costs only them; whatever else happened
    // costs a look at all.
    sync(count: number, keyAt: (index: number) => string): void {
        const old = this.#keys.length;
        const isGrown = count >= old && (old === 0 || (keyAt(0) === this.#keys[0] && keyAt(old - 1) === this.#keys[old - 1]));

        if (!isGrown) {
            this.#keys.length = 0;
            this.heights.reset(0, () => 0);
            if (this.#measured.size > 2 * count + FORGOTTEN_MOST) this.#forget(count, keyAt);
        }
        for (let i = this.#keys.length; i < count; i++) {
            const key = keyAt(i);
            this.#keys.push(key);
            this.heights.push(this.#measured.get(key) ?? this.estimate);
        }
        if (!isGrown) this.#findAnchor();
    }

    // Heights of rows that are not there any more.
    #forget(count: number, keyAt: (index: number) => string): void {
        const here = new Set(Array.from({ length: count }, (_, index) => keyAt(index)));
        for (const key of this.#measured.keys()) if (!here.has(key)) this.#measured.delete(key);
    }

    #findAnchor(): void {
        const anchor = this.#anchor;
        if (!anchor) return;
        const index = this.#keys.indexOf(anchor.key);
        if (index < 0) this.#anchor = null;
        else anchor.index = index;
    }

    range(): Range {
        const { heights, scrollTop, viewPx } = this;
        if (!heights.count) return { first: 0, last: 0 };
        return { first: heights.indexAt(scrollTop - MARGIN_PX), last: heights.indexAt(scrollTop + viewPx + MARGIN_PX) + 1 };
    }

    // True where it is news.
    measure(index: number, px: number): boolean {
        const key = this.#keys[index];
        if (key === undefined || Math.abs(this.heights.heightOf(index) - px) < 0.5) return false;
        this.#measured.set(key, px);
        this.heights.set(index, px);
        return true;
    }

    // The reader has moved: from now on the row at the top is the one that stays.
    scrolled(scrollTop: number): void {
        const index = this.heights.indexAt(scrollTop);
        const key = this.#keys[index];
        this.scrollTop = scrollTop;
        this.#anchor = key === undefined ? null : { key, index, delta: scrollTop - this.heights.offsetOf(index) };
    }

    // Where the list must be scrolled to for that row to be where it was.
    wantedTop(): number {
        return this.#anchor ? this.heights.offsetOf(this.#anchor.index) + this.#anchor.delta : this.scrollTop;
    }

    isAtEnd(tolerancePx = 32): boolean {
        return this.scrollTop + this.viewPx >= this.heights.total - tolerancePx;
    }
}
