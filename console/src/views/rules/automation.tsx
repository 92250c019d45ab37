// SPDX-License-Identifier: Apache-2.0
// The switch that stops all rules of a room at once.
import { sentenceOf } from '../../net/api';
import { currentSession } from '../../net/session';
import { Badge, Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { Some } from '../../parts/more';
import { ErrorNote, Note } from '../../parts/notes';
import { Time } from '../../parts/time';
import { toast } from '../../parts/toast';
import { useAct } from '../../state/act';
import type { RuleRoom } from '../../state/rules';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { setAutomation } from './data';

export function maySwitch(room: RuleRoom): boolean {
    return room.may.includes('automation') || currentSession().admin;
}

// Stopping asks nothing more: it harms nobody, and somebody is in a hurry.
export function Switch({ room, onChange }: { room: RuleRoom; onChange: () => void }) {
    const act = useAct();
    const isOn = room.automation === 'on';
    const turn = () => act.run(async () => {
        await setAutomation(room, isOn ? 'off' : 'on');
        toast(isOn ? t.rules.stoppedIn(visible(room.name)) : t.rules.startedIn(visible(room.name)), isOn ? 'warn' : 'ok');
        onChange();
    });

    if (!maySwitch(room)) return null;
    return (
        <>
            <Button kind={isOn ? 'danger' : 'plain'} icon={isOn ? 'stop' : 'play'} isBusy={act.isBusy} onClick={turn}>
                {isOn ? t.rules.stop : t.rules.start}<span class="hidden"> {t.rules.automationTitle} {visible(room.name)}</span>
            </Button>
            {act.error && <ErrorNote error={act.error} />}
        </>
    );
}

// Above the list: where nothing happens, whatever the rules say.
export function StoppedRooms({ rooms, onChange }: { rooms: readonly RuleRoom[]; onChange: () => void }) {
    return (
        <>
            {rooms.filter((room) => room.automation === 'off').map((room) => (
                <Note key={room.name} tone="warn" action={<Switch room={room} onChange={onChange} />}>
                    {t.rules.isOffIn} <Name>{room.name}</Name>{room.automation_by && <>, <bdi>{t.rules.isOffBy(visible(room.automation_by))}</bdi></>}
                    {room.automation_since && <>, <Time at={room.automation_since} /></>}.
                </Note>
            ))}
        </>
    );
}

export function AutomationDialog({ rooms, onChange, onClose }: { rooms: readonly RuleRoom[]; onChange: () => void; onClose: () => void }) {
    const act = useAct();
    const running = rooms.filter((room) => room.automation === 'on' && maySwitch(room));
    // One that fails keeps no other from being stopped.
    const stopAll = () => act.run(async () => {
        const ends = await Promise.allSettled(running.map((room) => setAutomation(room, 'off')));
        const failed = ends.flatMap((end, i) => (end.status === 'rejected' ? [t.rules.notStopped(running[i]?.name ?? '', sentenceOf(end.reason))] : []));
        onChange();
        if (failed.length) throw new Error(failed.join(' '));
    });

    return (
        <Dialog title={t.rules.automationTitle} onClose={onClose} actions={<>
            {running.length > 1 && <Button kind="danger" icon="stop" isBusy={act.isBusy} onClick={stopAll}>{t.rules.stopAll}</Button>}
            <Button onClick={onClose}>{t.common.close}</Button>
        </>}>
            {act.error && <ErrorNote error={act.error} />}
            <p>{t.rules.automationText}</p>
            {rooms.length === 0 && <p class="quiet">{t.rules.automationNone}</p>}
            <Some of={rooms}>
                {(some) => <ul class="rule-switches">{some.map((room) => <SwitchLine key={room.name} room={room} onChange={onChange} />)}</ul>}
            </Some>
        </Dialog>
    );
}

function SwitchLine({ room, onChange }: { room: RuleRoom; onChange: () => void }) {
    return (
        <li>
            <Name>{room.name}</Name>
            <span class="quiet">{t.rules.automationRules(room.count)}</span>
            <Badge tone={room.automation === 'on' ? 'ok' : 'warn'}>{room.automation === 'on' ? t.rules.automationOn : t.rules.automationOff}</Badge>
            {maySwitch(room) ? <Switch room={room} onChange={onChange} /> : <span class="note">{t.rules.mayNotSwitch}</span>}
        </li>
    );
}
