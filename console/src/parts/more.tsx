// SPDX-License-Identifier: Apache-2.0
// A table shows so many rows, and more where somebody wants them: most who have thousands search.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { t } from '../strings';
import { Button } from './button';

const STEP = 200;

export function Some<T>({ of, children }: { of: readonly T[]; children: (some: readonly T[]) => ComponentChildren }) {
    const [count, setCount] = useState(STEP);
    const left = of.length - count;

    return (
        <>
            {children(of.slice(0, count))}
            {left > 0 && (
                <p class="row more"><span class="quiet">{t.rows.hidden(count, of.length)}</span> <Button onClick={() => setCount(count + STEP)}>{t.rows.more(Math.min(STEP, left))}</Button></p>
            )}
        </>
    );
}
