// SPDX-License-Identifier: Apache-2.0
// What somebody else wrote: as text, whatever it says, and the beginning of it where it is long.
import { useState } from 'preact/hooks';

import { visibleProse } from '../state/visible';
import { t } from '../strings';

interface LongTextProps {
    text: string;
    most?: number; // characters that are shown at first
    isSaid?: boolean; // stands beside a rule: no line of it passes for one of the console
}

export function LongText({ text, most = 500, isSaid }: LongTextProps) {
    const [isWhole, setWhole] = useState(false);
    const isCut = !isWhole && text.length > most;

    return (
        <span class={isSaid ? 'long-text said' : 'long-text'}>
            <bdi>{visibleProse(isCut ? `${text.slice(0, most)}…` : text)}</bdi>
            {isCut && <> <button type="button" class="json-more" onClick={() => setWhole(true)}>{t.parts.moreOfIt}</button></>}
        </span>
    );
}
