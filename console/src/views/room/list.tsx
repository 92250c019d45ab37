// SPDX-License-Identifier: Apache-2.0
// The rooms one may enter, with what is new in those that this page is in.
import { useState } from 'preact/hooks';

import { get } from '../../net/api';
import { currentSession } from '../../net/session';
import { Badge, Name } from '../../parts/badge';
import { Button, LinkButton } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { TextField } from '../../parts/field';
import { Empty, Loading } from '../../parts/notes';
import { Page } from '../../parts/page';
import { Table } from '../../parts/table';
import { go, hrefOf } from '../../router';
import { useCell } from '../../state/cell';
import { useLoad } from '../../state/load';
import { marks } from '../../state/marks';
import { t } from '../../strings';
import { liveRoom } from './live';

interface Topic { name: string; participants: number }
interface AdminTopic extends Topic { brake?: string; automation?: string; loop_guard?: { count: number; limit: number | null } }

const FIRST = 'lobby'; // where the guide begins
export const TOPIC_NAME = /^[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,127}$/;

export function RoomList() {
    const isAdmin = currentSession().admin;
    const topics = useLoad((signal) => get<{ topics: AdminTopic[] }>(isAdmin ? '/admin/topics' : '/topics', { signal }), [], { everyMs: 5000 });
    const [isEntering, setEntering] = useState(false);
    const enter = <Button icon="plus" onClick={() => setEntering(true)}>{t.room.enter}</Button>;

    useCell(marks); // mentions come while one looks at the list
    return (
        <Page title={t.views.room.title} actions={enter}>
            <Loading of={topics}>
                {(answer) => (answer.topics.length
                    ? <Topics topics={answer.topics} isAdmin={isAdmin} />
                    : <Empty icon="room" title={t.room.none} action={isAdmin ? <LinkButton kind="primary" icon="room" href={hrefOf('room', FIRST)}>{t.room.enterFirst}</LinkButton> : enter}>{t.room.noneHint}</Empty>)}
            </Loading>
            {isEntering && <Enter onClose={() => setEntering(false)} />}
        </Page>
    );
}

function Topics({ topics, isAdmin }: { topics: readonly AdminTopic[]; isAdmin: boolean }) {
    const rows = [...topics].sort((a, b) => (a.name < b.name ? -1 : 1));
    return (
        <Table label={t.views.room.title} rows={rows} keyOf={(topic) => topic.name} onOpen={(topic) => go(hrefOf('room', topic.name))} columns={[
            { title: t.room.name, isHead: true, cell: (topic) => <a href={hrefOf('room', topic.name)}><Name>{topic.name}</Name></a> },
            { title: t.room.unread, cell: (topic) => <Unread topic={topic.name} /> },
            ...(isAdmin ? [{ title: t.room.state, cell: (topic: AdminTopic) => <State topic={topic} /> }] : []),
            { title: t.room.present, align: 'end' as const, cell: (topic) => topic.participants },
        ]} />
    );
}

function Unread({ topic }: { topic: string }) {
    const room = liveRoom(topic);
    if (!room) return <span class="quiet">–</span>;
    return (
        <span class="row">
            {room.mentions > 0 && <Badge tone="accent">{t.room.mentionCount(room.mentions)}</Badge>}
            {room.unread > 0 ? <Badge>{t.room.unreadCount(room.unread)}</Badge> : <span class="quiet">{t.room.here}</span>}
        </span>
    );
}

function State({ topic }: { topic: AdminTopic }) {
    const guard = topic.loop_guard;
    const isGuarded = guard !== undefined && guard.limit !== null && guard.count >= guard.limit;
    if (topic.brake !== 'on' && topic.automation !== 'off' && !isGuarded) return <span class="quiet">–</span>;
    return (
        <span class="row">
            {topic.brake === 'on' && <Badge tone="warn" icon="pause">{t.room.braked}</Badge>}
            {topic.automation === 'off' && <Badge tone="warn">{t.room.automationOff}</Badge>}
            {isGuarded && <Badge tone="danger" icon="stop">{t.room.guarded}</Badge>}
        </span>
    );
}

function Enter({ onClose }: { onClose: () => void }) {
    const [name, setName] = useState('');
    const [error, setError] = useState<string>();
    const enter = () => {
        if (TOPIC_NAME.test(name.trim())) go(hrefOf('room', name.trim()));
        else setError(t.room.badName);
    };

    return (
        <Confirm title={t.room.enter} action={t.room.enterAction} onConfirm={enter} onClose={onClose}>
            <form onSubmit={(event) => { event.preventDefault(); enter(); }}>
                <TextField label={t.room.enterLabel} hint={t.room.enterHint} error={error} value={name} isCode autoFocus maxLength={128}
                    onInput={(value) => { setName(value); setError(undefined); }} />
            </form>
        </Confirm>
    );
}
