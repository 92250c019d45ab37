// SPDX-License-Identifier: Apache-2.0
import type { Envelope } from '../../net/types';
import { Time } from '../../parts/time';
import { whenOf } from '../../state/when';

export function When({ said, as = 'clock' }: { said: Envelope | undefined; as?: 'clock' | 'minute' }) {
    const at = whenOf(said);
    return Number.isNaN(at) ? null : <Time at={at} as={as} />;
}
