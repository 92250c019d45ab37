// SPDX-License-Identifier: Apache-2.0
// What has to be known about the room as a whole: the connection, what is missing, who may not what.
import { Badge } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Note } from '../../parts/notes';
import type { Entry } from '../../state/threads';
import { countdownOf, useNow } from '../../state/time';
import { t } from '../../strings';
import type { LiveRoom } from './live';

export function Connection({ room }: { room: LiveRoom }) {
    const { state } = room.status;
    if (state === 'open') return <Badge tone="ok">{t.room.live}</Badge>;
    return state === 'connecting' ? <Badge>{t.room.connecting}</Badge> : <Badge tone="danger">{t.room.offline}</Badge>;
}

export function Banners({ room, onShow }: { room: LiveRoom; onShow: (entry: Entry) => void }) {
    const { open } = room.log;
    const showGap = () => {
        const gap = room.log.entries.findLast(({ type }) => type === 'gap');
        if (gap) onShow(gap);
    };
    const showOpen = () => {
        const [first] = open;
        if (first) onShow(first);
    };

    return (
        <div class="room-banners">
            <Lost room={room} />
            {room.hasGap && <Note tone="warn" action={<><Button onClick={showGap}>{t.room.gapShow}</Button><Button kind="quiet" onClick={() => room.knowsGap()}>{t.room.gapKnown}</Button></>}>{t.room.gapBanner}</Note>}
            {room.roster.topic['brake'] === 'on' && <Note tone="warn">{t.room.brakeBanner}</Note>}
            {room.roster.isGuarded && <Note tone="warn">{t.room.guardBanner}</Note>}
            {room.roster.you?.isPaused && <Note tone="warn">{t.room.pausedYou}</Note>}
            {open.size > 0 && <Note tone="accent" action={<Button onClick={showOpen}>{t.room.gapShow}</Button>}>{t.room.waitingCount(open.size)}</Note>}
        </div>
    );
}

function Lost({ room }: { room: LiveRoom }) {
    const { status } = room;
    const now = useNow();
    const again = <Button icon="refresh" onClick={() => room.retry()}>{t.room.back}</Button>;

    if (status.state === 'waiting') // who hears it hears it once, and no seconds
        return <Note tone="warn" action={again}>{t.room.lost(status.why)} <span aria-hidden="true">{t.room.lostLeft(countdownOf(Math.max(0, status.retryAt - now)))}</span></Note>;
    return status.state === 'closed' ? <Note tone="danger" action={again}>{t.room.closed(status.why)}</Note> : null;
}
