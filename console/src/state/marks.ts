// SPDX-License-Identifier: Apache-2.0
// The numbers beside the names of views: what waits there. A view that knows its own sets it.
import { cell } from './cell';

export const marks = cell<Readonly<Record<string, number>>>({});

export function mark(view: string, count: number): void {
    if ((marks.get()[view] ?? 0) !== count) marks.set({ ...marks.get(), [view]: count });
}
