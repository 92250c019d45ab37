// SPDX-License-Identifier: Apache-2.0
// Where the rows of a long list stand: heights in a Fenwick tree, so that changing one, adding
// one at the end and asking which row is at a place take a few steps, however many there are.
export class Heights {
    #tree = new Float64Array(1024); // 1-based: #tree[i] sums the values of (i - lowbit(i), i]
    #values = new Float64Array(1024);
    #count = 0;

    get count(): number {
        return this.#count;
    }

    get total(): number {
        return this.offsetOf(this.#count);
    }

    heightOf(index: number): number {
        return this.#values[index] ?? 0;
    }

    reset(count: number, heightOf: (index: number) => number): void {
        this.#count = 0;
        for (let i = 0; i < count; i++) this.push(heightOf(i));
    }

    push(height: number): void {
        const at = this.#count + 1;
        if (at >= this.#tree.length) this.#grow();
        this.#values[this.#count] = height;
        let sum = height;
        for (let child = at - 1, stop = at - (at & -at); child > stop; child -= child & -child) sum += this.#tree[child] ?? 0;
        this.#tree[at] = sum;
        this.#count = at;
    }

    set(index: number, height: number): void {
        const change = height - (this.#values[index] ?? 0);
        this.#values[index] = height;
        for (let at = index + 1; at <= this.#count; at += at & -at) this.#tree[at] = (this.#tree[at] ?? 0) + change;
    }

    // The top of that row; of the count, the bottom of the last.
    offsetOf(index: number): number {
        let sum = 0;
        for (let at = Math.min(index, this.#count); at > 0; at -= at & -at) sum += this.#tree[at] ?? 0;
        return sum;
    }

    // The row at that distance from the top; the first or the last where there is none.
    indexAt(offset: number): number {
        let at = 0;
        let left = offset;
        for (let step = 2 ** Math.floor(Math.log2(Math.max(1, this.#count))); step >= 1; step /= 2) {
            const sum = this.#tree[at + step];
            if (at + step <= this.#count && sum !== undefined && sum <= left) {
                at += step;
                left -= sum;
            }
        }
        return Math.max(0, Math.min(at, this.#count - 1));
    }

    #grow(): void {
        const tree = new Float64Array(this.#tree.length * 2);
        const values = new Float64Array(this.#tree.length * 2);
        tree.set(this.#tree);
        values.set(this.#values);
        this.#tree = tree;
        this.#values = values;
    }
}
