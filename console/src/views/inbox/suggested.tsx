// SPDX-License-Identifier: Apache-2.0
// Rules that were suggested for just such calls, by whoever learns from decisions: one of them may
// be accepted with the approval. What is shown is what is sent: budget and end may be others by then.
import { getExactly, path } from '../../net/api';
import { Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Time } from '../../parts/time';
import { useLoad } from '../../state/load';
import { isExpired, type Rule } from '../../state/rules';
import { serverNow } from '../../state/time';
import { t } from '../../strings';
import { Arguments, Unreadable, whyUnreadable } from '../rules/words';
import type { Facts } from './facts';

const MOST = 5; // there are more in the view of rules

async function suggestedIn(topic: string, signal: AbortSignal): Promise<Rule[]> {
    return (await getExactly<{ rules: Rule[] }>(path`/topics/${topic}/rules`, { query: { state: 'suggested' }, signal })).rules;
}

export function useSuggested({ call, item }: Facts, proposer: string): Rule[] {
    const [owner] = call.owners;
    const isOfSuch = (rule: Rule) => rule.proposer === proposer && rule.method === call.method && !isExpired(rule, serverNow())
        && (rule.tool ?? null) === (call.method === 'tools/call' ? call.tool : null) && (rule.to === '*' || rule.to === owner);
    const all = useLoad((signal) => suggestedIn(item.topic, signal), [item.id]);

    return (all.value ?? []).filter(isOfSuch);
}

interface SuggestedProps { rules: readonly Rule[]; isBusy: boolean; isApproved: boolean; onAccept: (rule: Rule) => void }

export function Suggested({ rules, isBusy, isApproved, onAccept }: SuggestedProps) {
    if (!rules.length) return null;
    return (
        <section class="inbox-part">
            <h3>{t.inbox.ruleSuggested}</h3>
            <ul class="inbox-suggested">
                {rules.slice(0, MOST).map((rule) => (
                    <li key={rule.id}>
                        <Arguments shapes={rule.arguments} />
                        <p class="quiet">
                            {t.inbox.ruleBudget(rule.budget)}{rule.expires_at && <>, {t.inbox.ruleUntil} <Time at={rule.expires_at} as="clock" /></>}
                            {rule.created_by && <>. {t.inbox.ruleBy} <Name>{rule.created_by}</Name></>}
                        </p>
                        <Unreadable rule={rule} />
                        {!whyUnreadable(rule) && <div class="row"><Button icon="check" isBusy={isBusy} onClick={() => onAccept(rule)}>{isApproved ? t.inbox.ruleAcceptOnly : t.inbox.ruleAccept}</Button></div>}
                    </li>
                ))}
            </ul>
        </section>
    );
}
