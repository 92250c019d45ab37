// SPDX-License-Identifier: Apache-2.0
const HIDDEN_MS = 1000;

// With the next frame; a page that nobody sees has none, and still tells in its title what is new.
export function soon(run: (now: number) => void): void {
    const once = (now: number) => {
        cancelAnimationFrame(frame);
        clearTimeout(timer);
        run(now);
    };
    const frame = requestAnimationFrame(once);
    const timer = setTimeout(() => once(performance.now()), HIDDEN_MS);
}
