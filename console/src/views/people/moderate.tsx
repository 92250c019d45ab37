// SPDX-License-Identifier: Apache-2.0
// Pause, resume, remove: in one room or everywhere.
import { useState } from 'preact/hooks';

import { currentSession } from '../../net/session';
import { Confirm } from '../../parts/dialog';
import { SelectField } from '../../parts/field';
import { ErrorNote } from '../../parts/notes';
import { toast } from '../../parts/toast';
import { useAct } from '../../state/act';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { ALL_ROOMS, moderate, type Moderation } from './acts';

// `topic`: the room that is shown.
interface ModerateDialogProps { act: Moderation; id: string; rooms: readonly string[]; topic: string | undefined; onClose: () => void; onChange: () => void }

export function ModerateDialog({ act, id, rooms: now, topic, onClose, onChange }: ModerateDialogProps) {
    const { admin } = currentSession();
    const [rooms] = useState(now); // what can be chosen does not change under the finger
    const [room, setRoom] = useState(topic !== undefined && rooms.includes(topic) ? topic : admin ? ALL_ROOMS : rooms[0] ?? ALL_ROOMS);
    const doing = useAct();
    const run = () => doing.run(async () => {
        await moderate(act, id, room === ALL_ROOMS ? null : room);
        toast(t.people.moderated[act](visible(id)), 'ok');
        onChange();
        onClose();
    });

    return (
        <Confirm title={t.people.moderateTitles[act](visible(id))} action={t.people.moderateActs[act]} isDanger={act === 'kick'} isBusy={doing.isBusy} onConfirm={run} onClose={onClose}>
            {doing.error && <ErrorNote error={doing.error} />}
            <p>{t.people.moderateTexts[act]}</p>
            <SelectField label={t.people.takeAwayWhere} value={room} onInput={setRoom} choices={[
                ...(admin ? [{ value: ALL_ROOMS, title: t.people.allRooms }] : []),
                ...rooms.map((one) => ({ value: one, title: t.people.oneRoom(visible(one)) })),
            ]} />
        </Confirm>
    );
}
