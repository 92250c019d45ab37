// SPDX-License-Identifier: Apache-2.0
// An envelope as it came.
import { currentSession } from '../../net/session';
import type { Envelope, Json } from '../../net/types';
import { Name } from '../../parts/badge';
import { Button, CopyButton, LinkButton } from '../../parts/button';
import { Empty } from '../../parts/notes';
import { JsonTree } from '../../parts/json-tree';
import { Details } from '../../parts/page';
import { Time } from '../../parts/time';
import { hrefOf } from '../../router';
import { exactly } from '../../state/exact';
import type { Entry } from '../../state/threads';
import { visible } from '../../state/visible';
import { t } from '../../strings';

interface RawProps {
    topic: string;
    found: { entry: Entry; said: Envelope } | null;
    onClose: () => void;
    onShow: (entry: Entry) => void;
    onOpen: (id: string) => void;
}

export function RawPanel({ topic, found, onClose, onShow, onOpen }: RawProps) {
    if (!found) return <Details title={t.room.rawTitle} onClose={onClose}><Empty icon="info" title={t.room.rawGone} /></Details>;
    const { entry } = found;
    const said = exactly(found.said);
    return (
        <Details title={t.room.rawTitle} onClose={onClose} actions={<CopyButton text={JSON.stringify(said, null, 2)} />}>
            <dl class="facts">
                <dt>{t.room.rawKind}</dt><dd><bdi class="code">{visible(said.kind)}</bdi></dd>
                <dt>{t.room.rawFrom}</dt><dd><Name>{said.from}</Name></dd>
                <dt>{t.room.rawTo}</dt><dd>{said.to?.length ? <bdi>{visible(said.to.join(', '))}</bdi> : <span class="quiet">{t.room.toAll}</span>}</dd>
                {said.ts && <><dt>{t.room.rawWhen}</dt><dd><Time at={said.ts} as="clock" /> <span class="quiet">(<Time at={said.ts} />)</span></dd></>}
                <dt>{t.room.rawId}</dt><dd><bdi class="code">{visible(said.id)}</bdi></dd>
                {said.correlation_id !== undefined && (
                    <><dt>{t.room.rawThread}</dt><dd><button type="button" class="json-more code" onClick={() => onOpen(said.correlation_id ?? '')}><bdi>{visible(said.correlation_id)}</bdi></button></dd></>
                )}
            </dl>
            <div class="row">
                <Button icon="room" onClick={() => onShow(entry)}>{t.room.showInTimeline}</Button>
                {currentSession().admin && <LinkButton icon="audit" href={hrefOf('audit', null, { topic, thread: said.id })}>{t.room.rawRecord}</LinkButton>}
            </div>
            <JsonTree value={said as unknown as Json} open={4} />
        </Details>
    );
}
