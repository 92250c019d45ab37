// SPDX-License-Identifier: Apache-2.0
// From one room to another.
import { get } from '../../net/api';
import { Menu, type MenuItem } from '../../parts/menu';
import { go, hrefOf } from '../../router';
import { useLoad } from '../../state/load';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { leaveRoom, liveRoom } from './live';

const MOST = 15;

export function RoomMenu({ topic }: { topic: string }) {
    const loaded = useLoad((signal) => get<{ topics: { name: string }[] }>('/topics', { signal }), [], { everyMs: 30_000 });
    const others = (loaded.value?.topics ?? []).map(({ name }) => name).filter((name) => name !== topic).sort().slice(0, MOST);
    const items: MenuItem[] = [
        ...others.map((name): MenuItem => {
            const unread = liveRoom(name)?.unread ?? 0;
            return { title: unread ? `${visible(name)} (${t.room.unreadCount(unread)})` : visible(name), icon: 'room', run: () => go(hrefOf('room', name)) };
        }),
        { title: t.room.rooms, icon: 'left', run: () => go(hrefOf('room')) },
        { title: t.room.leave, icon: 'out', run: () => { leaveRoom(topic); go(hrefOf('room')); } },
    ];
    return <Menu label={t.room.switchTo} items={items} />;
}
