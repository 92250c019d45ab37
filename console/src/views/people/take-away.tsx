// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';

import { currentSession } from '../../net/session';
import type { Capability } from '../../net/types';
import { Confirm } from '../../parts/dialog';
import { SelectField } from '../../parts/field';
import { toast } from '../../parts/toast';
import { useAct } from '../../state/act';
import { sentenceOf, textOf } from '../../state/sentences';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { revoke } from './acts';

interface TakeAwayDialogProps { id: string; topic: string; capability: Capability; onClose: () => void; onChange: () => void }

export function TakeAwayDialog({ id, topic, capability, onClose, onChange }: TakeAwayDialogProps) {
    const [isEverywhere, setEverywhere] = useState(false);
    const act = useAct();
    const run = () => act.run(async () => {
        await revoke(id, isEverywhere ? null : topic, [capability]);
        toast(t.people.tookAway(visible(id)), 'ok');
        onChange();
        onClose();
    });

    return (
        <Confirm title={t.people.takeAwayTitle} action={t.people.takeAwayAct} isDanger isBusy={act.isBusy} onConfirm={run} error={act.error} onClose={onClose}>
            <p><bdi>{t.people.takeAwayText(visible(id), sentenceOf(capability))}</bdi></p>
            <p class="code quiet"><bdi>{visible(textOf(capability))}</bdi></p>
            {currentSession().admin
                ? <SelectField label={t.people.takeAwayWhere} value={isEverywhere ? 'all' : 'one'} onInput={(value) => setEverywhere(value === 'all')}
                    choices={[{ value: 'one', title: t.people.oneRoom(visible(topic)) }, { value: 'all', title: t.people.allRooms }]} />
                : <p><bdi>{t.people.oneRoom(visible(topic))}</bdi></p>}
        </Confirm>
    );
}
