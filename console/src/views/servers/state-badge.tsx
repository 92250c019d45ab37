// SPDX-License-Identifier: Apache-2.0
import { Badge } from '../../parts/badge';
import type { Tone } from '../../parts/notes';
import { t } from '../../strings';

const TONES: Record<string, Tone> = { ready: 'ok', failing: 'danger', stopped: 'plain', sign_in_needed: 'warn', starting: 'accent', preparing: 'accent' };

export function StateBadge({ state }: { state: string }) {
    return <Badge tone={TONES[state] ?? 'plain'}>{t.servers.states[state] ?? state}</Badge>;
}
