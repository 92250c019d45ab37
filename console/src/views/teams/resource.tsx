// SPDX-License-Identifier: Apache-2.0
// One entry of the directory.
import { useState } from 'preact/hooks';

import { currentSession } from '../../net/session';
import { Avatar, Badge, Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Check } from '../../parts/field';
import { Empty, Loading } from '../../parts/notes';
import { Details } from '../../parts/page';
import { Time } from '../../parts/time';
import { toast } from '../../parts/toast';
import { hrefOf } from '../../router';
import { useCell } from '../../state/cell';
import { rateOf, type Resource } from '../../state/directory';
import { useLoad } from '../../state/load';
import { visible, visibleProse } from '../../state/visible';
import { t } from '../../strings';
import { Ask } from '../servers/ask';
import { choose, chosen, loadResource, removeResource, seenResource } from './data';
import { ResourceDialog } from './resource-form';

async function find(id: string, signal: AbortSignal): Promise<Resource | null> {
    return currentSession().admin ? loadResource(id, signal) : seenResource(id);
}

interface ResourceDetailsProps { id: string; round: number; onChange: () => void; onClose: () => void }

export function ResourceDetails({ id, round, onChange, onClose }: ResourceDetailsProps) {
    const found = useLoad((signal) => find(id, signal), [id, round]);
    const title = <span class="who"><Avatar id={id} type={found.value?.kind} /><Name>{found.value?.name ?? id}</Name></span>;

    return (
        <Details title={title} onClose={onClose}>
            <Loading of={found}>
                {(resource) => (resource ? <Known resource={resource} onChange={onChange} onClose={onClose} /> : <Empty icon="search" title={t.teams.notHere} />)}
            </Loading>
        </Details>
    );
}

function Known({ resource, onChange, onClose }: { resource: Resource; onChange: () => void; onClose: () => void }) {
    const [open, setOpen] = useState<'edit' | 'remove' | null>(null);
    const close = () => setOpen(null);
    const f = t.teams.fields;
    const rate = rateOf(resource.rate);

    return (
        <>
            <Check label={t.teams.choose(visible(resource.name))} value={useCell(chosen).has(resource.id)} onInput={(on) => choose(resource.id, resource.name, on)} />
            {currentSession().admin && <div class="row">
                <Button icon="edit" onClick={() => setOpen('edit')}>{t.teams.edit}</Button>
                <Button kind="danger" icon="cross" onClick={() => setOpen('remove')}>{t.teams.remove}</Button>
            </div>}
            <dl class="facts">
                <dt>{f.id}</dt><dd class="code"><Name>{resource.id}</Name></dd>
                <dt>{f.kind}</dt><dd>{t.teams.kindOf[resource.kind]}</dd>
                {resource.role && <><dt>{f.role}</dt><dd><bdi>{visible(resource.role)}</bdi></dd></>}
                {resource.availability && <><dt>{f.availability}</dt><dd><bdi>{visible(resource.availability)}</bdi></dd></>}
                {resource.location && <><dt>{f.location}</dt><dd><bdi>{visible(resource.location)}</bdi></dd></>}
                {rate && <><dt>{f.rate}</dt><dd>{rate}</dd></>}
                {resource.languages && <><dt>{f.languages}</dt><dd><bdi>{resource.languages.map(visible).join(', ')}</bdi></dd></>}
                {resource.time_zone && <><dt>{f.time_zone}</dt><dd><bdi>{visible(resource.time_zone)}</bdi></dd></>}
                {resource.participant && <><dt>{f.participant}</dt><dd><a href={hrefOf('people', resource.participant)}><Name>{resource.participant}</Name></a></dd></>}
                <dt>{f.invite}</dt><dd>{t.teams.invites[resource.invite ?? 'auto']}</dd>
                {resource.updated_at && <><dt>{f.updated_at}</dt><dd><Time at={resource.updated_at} /></dd></>}
            </dl>
            {resource.skills && resource.skills.length > 0 && <p class="skills">{resource.skills.map((skill) => <Badge key={skill}><Name>{skill}</Name></Badge>)}</p>}
            {resource.profile && <p class="prose whole"><bdi>{visibleProse(resource.profile)}</bdi></p>}
            {open === 'edit' && <ResourceDialog resource={resource} onClose={close} onChange={onChange} />}
            {open === 'remove' && <Ask title={t.teams.removeTitle(visible(resource.name))} text={t.teams.removeText} action={t.teams.removeAct} isDanger onClose={close}
                run={async () => { await removeResource(resource.id); choose(resource.id, '', false); toast(t.teams.removed(visible(resource.name)), 'ok'); onClose(); onChange(); }} />}
        </>
    );
}
