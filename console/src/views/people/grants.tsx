// SPDX-License-Identifier: Apache-2.0
// What was granted besides the token, and what was taken away: for administrators.
import { useState } from 'preact/hooks';

import { get, path } from '../../net/api';
import type { Capability } from '../../net/types';
import { Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { Loading } from '../../parts/notes';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { toast, toastError } from '../../parts/toast';
import { useAct } from '../../state/act';
import { useLoad } from '../../state/load';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { grant, removeGrant } from './acts';
import { CapabilityList } from './capabilities';

interface Granted {
    id: string;
    granter: string;
    capabilities: Capability[];
    created: string;
    expires_at?: string;
    max_uses?: number;
    uses_left?: number;
    reason?: string;
}

interface Strike {
    capability: Capability;
    reach: 'same' | 'covered';
    by: string;
    created: string;
    reason?: string;
}

interface RightsOf {
    topic?: string;
    grants: Granted[];
    strikes: Strike[];
}

export function GrantRecords({ id, round, onChange }: { id: string; round: number; onChange: () => void }) {
    const records = useLoad((signal) => get<{ rights: RightsOf[] }>(path`/admin/participants/${id}/grants`, { signal }), [id, round]);

    return (
        <Section title={t.people.grants}>
            <Loading of={records} lines={2}>
                {({ rights }) => (rights.every((one) => !one.grants.length && !one.strikes.length)
                    ? <p class="quiet">{t.people.noGrants}</p>
                    : rights.map((one) => <Records key={one.topic ?? ''} id={id} of={one} onChange={onChange} />))}
            </Loading>
        </Section>
    );
}

function whereOf(topic: string | null): string {
    return topic === null ? t.people.everywhere : t.people.grantWhere(visible(topic));
}

function Records({ id, of, onChange }: { id: string; of: RightsOf; onChange: () => void }) {
    const [revoking, setRevoking] = useState<Granted | null>(null);
    const where = whereOf(of.topic ?? null);
    const giveBack = (strike: Strike) => {
        grant(id, { capabilities: [strike.capability], topic: of.topic ?? null }).then(() => {
            toast(t.people.gaveBack(visible(id)), 'ok');
            onChange();
        }, toastError);
    };

    return (
        <ul class="records">
            {of.grants.map((one) => (
                <li key={one.id}>
                    <CapabilityList capabilities={one.capabilities} />
                    <p class="note"><bdi>{where}</bdi> · <Terms of={one} /> · {t.people.grantBy} <Name>{one.granter}</Name> <Time at={one.created} /></p>
                    {one.reason && <p class="note"><q><bdi>{visible(one.reason)}</bdi></q></p>}
                    <Button onClick={() => setRevoking(one)}>{t.people.revokeGrant}</Button>
                </li>
            ))}
            {of.strikes.map((one) => (
                <li key={JSON.stringify(one.capability)}>
                    <h3>{t.people.strikes}</h3>
                    <CapabilityList capabilities={[one.capability]} />
                    <p class="note"><bdi>{where}</bdi> · {t.people.grantBy} <Name>{one.by}</Name> <Time at={one.created} /></p>
                    <Button onClick={() => giveBack(one)}>{t.people.giveBack}</Button>
                </li>
            ))}
            {revoking && <RevokeDialog id={id} topic={of.topic ?? null} granted={revoking} onClose={() => setRevoking(null)} onChange={onChange} />}
        </ul>
    );
}

function Terms({ of }: { of: Granted }) {
    return (
        <>
            {of.expires_at ? <>{t.people.until} <Time at={of.expires_at} as="clock" /> (<Time at={of.expires_at} as="left" />)</> : t.people.forGood}
            {of.max_uses !== undefined && <> · {t.people.usesLeft(of.uses_left ?? 0, of.max_uses)}</>}
        </>
    );
}

interface RevokeDialogProps { id: string; topic: string | null; granted: Granted; onClose: () => void; onChange: () => void }

function RevokeDialog({ id, topic, granted, onClose, onChange }: RevokeDialogProps) {
    const act = useAct();
    const run = () => act.run(async () => {
        await removeGrant(id, topic, granted.id);
        toast(t.people.revoked(visible(id)), 'ok');
        onChange();
        onClose();
    });

    return (
        <Confirm title={t.people.revokeTitle} action={t.people.revokeGrant} isDanger isBusy={act.isBusy} onConfirm={run} error={act.error} onClose={onClose}>
            <p><bdi>{t.people.revokeText(visible(id), whereOf(topic))}</bdi></p>
            <CapabilityList capabilities={granted.capabilities} />
        </Confirm>
    );
}
