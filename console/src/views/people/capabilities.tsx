// SPDX-License-Identifier: Apache-2.0
// Capabilities as sentences, each with the pattern that it is.
import type { ComponentChildren } from 'preact';

import type { Capability } from '../../net/types';
import { Badge } from '../../parts/badge';
import { isWide, sentenceOf, textOf } from '../../state/sentences';
import { visible } from '../../state/visible';
import { t } from '../../strings';

interface CapabilityListProps {
    capabilities: readonly Capability[];
    action?: (capability: Capability) => ComponentChildren;
}

export function CapabilityList({ capabilities, action }: CapabilityListProps) {
    if (!capabilities.length) return <p class="quiet">{t.people.mayNothing}</p>;
    return (
        <ul class="capabilities">
            {capabilities.map((capability) => (
                <li key={textOf(capability)}>
                    <div class="grow">
                        <p><bdi>{sentenceOf(capability)}</bdi> {isWide(capability) && <Badge tone="warn">{t.people.wide}</Badge>}</p>
                        <bdi class="code quiet">{visible(textOf(capability))}</bdi>
                    </div>
                    {action?.(capability)}
                </li>
            ))}
        </ul>
    );
}
