// SPDX-License-Identifier: Apache-2.0
// One team: who belongs to it, its room, and what is done with it.
import { useState } from 'preact/hooks';

import { currentSession } from '../../net/session';
import { Avatar, Badge, Name } from '../../parts/badge';
import { Button, LinkButton } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { TextField } from '../../parts/field';
import { Menu, type MenuItem } from '../../parts/menu';
import { Loading, Note } from '../../parts/notes';
import { Details, Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { toast, toastError } from '../../parts/toast';
import { hrefOf } from '../../router';
import { useAct } from '../../state/act';
import { useLoad } from '../../state/load';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { Ask } from '../servers/ask';
import { addMembers, answer, chosen, dissolveTeam, loadTeam, removeMember, renameTeam, seenResource, type Team, type TeamMember } from './data';
import { TeamState } from './list';

const EVERY_MS = 5000;

export function TeamDetails({ id, onChange, onClose }: { id: string; onChange: () => void; onClose: () => void }) {
    const team = useLoad((signal) => loadTeam(id, signal), [id], { everyMs: EVERY_MS });
    const changed = () => { team.reload(); onChange(); };

    return (
        <Details title={<Name>{team.value?.name ?? id}</Name>} onClose={onClose}>
            <Loading of={team}>{(value) => <Known team={value} onChange={changed} />}</Loading>
        </Details>
    );
}

type Open = { what: 'rename' | 'add' | 'dissolve' } | { what: 'out'; member: TeamMember } | { what: 'leave'; member: TeamMember };

function Known({ team, onChange }: { team: Team; onChange: () => void }) {
    const [open, setOpen] = useState<Open | null>(null);
    const { admin, id } = currentSession();
    const me = team.members.find((one) => one.participant === id);
    const isActive = team.state === 'active';
    const mayManage = isActive && (admin || team.creator === id || me?.state === 'member');
    const close = () => setOpen(null);

    return (
        <>
            <div class="row"><TeamState state={team.state} /></div>
            {isActive && me?.state === 'invited' && <Invited team={team} member={me} onChange={onChange} />}
            <div class="row">
                {isActive && team.topic && <LinkButton kind="primary" icon="room" href={hrefOf('room', team.topic)}>{t.teams.enter}</LinkButton>}
                {mayManage && <>
                    <Button icon="plus" onClick={() => setOpen({ what: 'add' })}>{t.teams.addMembers}</Button>
                    <Button icon="edit" onClick={() => setOpen({ what: 'rename' })}>{t.teams.rename}</Button>
                    <Button kind="danger" icon="cross" onClick={() => setOpen({ what: 'dissolve' })}>{t.teams.dissolve}</Button>
                </>}
                {isActive && me?.state === 'member' && <Button icon="out" onClick={() => setOpen({ what: 'leave', member: me })}>{t.teams.leave}</Button>}
            </div>
            <Facts team={team} />
            <Section title={t.teams.members} actions={<span class="count">{team.members.filter((one) => one.state === 'member').length}</span>}>
                <ul class="records">{team.members.map((member) => (
                    <li key={member.resource_id}><Member team={team} member={member} mayManage={mayManage} onOut={() => setOpen({ what: 'out', member })} onChange={onChange} /></li>
                ))}</ul>
            </Section>
            <Proposals team={team} />
            {open?.what === 'rename' && <Rename team={team} onClose={close} onChange={onChange} />}
            {open?.what === 'add' && <Add team={team} onClose={close} onChange={onChange} />}
            {open?.what === 'dissolve' && <Ask title={t.teams.dissolveTitle(visible(team.name))} text={t.teams.dissolveText} action={t.teams.dissolveAct} isDanger onClose={close}
                run={async () => { await dissolveTeam(team.team_id); toast(t.teams.dissolved(visible(team.name)), 'ok'); onChange(); }} />}
            {open?.what === 'out' && <Ask title={t.teams.takeOutTitle(visible(open.member.name))} text={t.teams.takeOutText} action={t.teams.takeOutAct} isDanger onClose={close}
                run={async () => { await removeMember(team.team_id, open.member.resource_id); toast(t.teams.changed, 'ok'); onChange(); }} />}
            {open?.what === 'leave' && <Ask title={t.teams.leaveTitle} text={t.teams.leaveText} action={t.teams.leaveAct} isDanger onClose={close}
                run={async () => { await answer(team.team_id, 'decline', open.member.resource_id); toast(t.teams.changed, 'ok'); onChange(); }} />}
        </>
    );
}

function useAnswer(team: Team, member: TeamMember, onChange: () => void) {
    const act = useAct();
    const say = (word: 'accept' | 'decline') => act.run(async () => {
        await answer(team.team_id, word, member.resource_id).then(() => toast(word === 'accept' ? t.teams.accepted : t.teams.declined, 'ok'), toastError);
        onChange();
    });
    return { isBusy: act.isBusy, say };
}

function Invited({ team, member, onChange }: { team: Team; member: TeamMember; onChange: () => void }) {
    const { isBusy, say } = useAnswer(team, member, onChange);

    return (
        <Note tone="accent" action={<span class="row">
            <Button onClick={() => say('decline')} isBusy={isBusy}>{t.teams.decline}</Button>
            <Button kind="primary" onClick={() => say('accept')} isBusy={isBusy}>{t.teams.accept}</Button>
        </span>}>{t.teams.invitedYou}</Note>
    );
}

function Facts({ team }: { team: Team }) {
    const f = t.teams.facts;
    return (
        <dl class="facts">
            <dt>{f.creator}</dt><dd><a href={hrefOf('people', team.creator)}><Name>{team.creator}</Name></a>{team.creator_present && <span class="quiet"> · {t.teams.present}</span>}</dd>
            <dt>{f.created}</dt><dd><Time at={team.created_at} as="clock" /></dd>
            {team.last_activity_at && <><dt>{f.active}</dt><dd><Time at={team.last_activity_at} /></dd></>}
            {team.contract_id && <><dt>{f.contract}</dt><dd><Name>{team.contract_id}</Name></dd></>}
            {team.topic && <><dt>{f.room}</dt><dd><Name>{team.topic}</Name></dd></>}
        </dl>
    );
}

interface MemberProps { team: Team; member: TeamMember; mayManage: boolean; onOut: () => void; onChange: () => void }

function Member({ team, member, mayManage, onOut, onChange }: MemberProps) {
    const { isBusy, say } = useAnswer(team, member, onChange);
    const { admin, id } = currentSession();
    const isThere = member.state === 'member' || member.state === 'invited';
    const mayAnswer = admin && member.state === 'invited' && member.participant !== id && team.state === 'active';
    const items: MenuItem[] = [
        ...(mayAnswer ? [
            { title: t.teams.acceptFor, icon: 'check' as const, run: () => say('accept'), isDisabled: isBusy },
            { title: t.teams.declineFor, icon: 'stop' as const, run: () => say('decline'), isDisabled: isBusy },
        ] : []),
        ...(mayManage && isThere ? [{ title: t.teams.takeOut, icon: 'cross' as const, isDanger: true, run: onOut }] : []),
    ];

    return (
        <div class="team-member">
            <Avatar id={member.resource_id} type={seenResource(member.resource_id)?.kind} />
            <div class="grow">
                <p class="row"><a class="plain strong" href={hrefOf('teams', null, { tab: 'directory', resource: member.resource_id })}><Name>{member.name}</Name></a>
                    {member.state !== 'member' && <Badge tone={member.state === 'invited' ? 'warn' : 'plain'}>{t.teams.memberStates[member.state] ?? member.state}</Badge>}
                    {member.state === 'member' && member.present && <Badge tone="ok">{t.teams.present}</Badge>}
                </p>
                <p class="note">{member.participant ? <Name>{member.participant}</Name> : admin ? t.teams.noParticipant : <Name>{member.resource_id}</Name>}</p>
            </div>
            {items.length > 0 && <Menu label={t.teams.actsOf(visible(member.name))} items={items} />}
        </div>
    );
}

function Proposals({ team }: { team: Team }) {
    const open = team.open_proposals ?? [];

    return (
        <Section title={t.teams.proposals}>
            {open.length
                ? <ul class="records">{open.map((one) => (
                    <li key={one.id}>
                        <bdi class="code words">{visible(one.kind)}</bdi>
                        <p class="note"><Name>{one.proposer}</Name> <Time at={one.created_at} /> · <Time at={one.expires_at} as="left" /></p>
                    </li>
                ))}</ul>
                : <p class="quiet">{t.teams.noProposals}</p>}
        </Section>
    );
}

function Rename({ team, onClose, onChange }: { team: Team; onClose: () => void; onChange: () => void }) {
    const [name, setName] = useState(team.name);
    const act = useAct();
    const submit = () => act.run(async () => {
        await renameTeam(team.team_id, name.trim());
        toast(t.teams.changed, 'ok');
        onChange();
        onClose();
    });

    return (
        <Confirm title={t.teams.renameTitle} action={t.teams.renameAct} isBusy={act.isBusy} isDisabled={!name.trim()} onConfirm={submit} error={act.error} onClose={onClose}>
            <TextField label={t.teams.name} value={name} onInput={setName} error={name.trim() ? undefined : t.teams.nameBad} />
        </Confirm>
    );
}

function Add({ team, onClose, onChange }: { team: Team; onClose: () => void; onChange: () => void }) {
    const [ids, setIds] = useState([...chosen.get().keys()].filter((id) => !/\s/.test(id)).join(' '));
    const act = useAct();
    const wanted = ids.split(/\s+/).filter(Boolean);
    const submit = () => act.run(async () => {
        await addMembers(team.team_id, wanted);
        toast(t.teams.changed, 'ok');
        onChange();
        onClose();
    });

    return (
        <Confirm title={t.teams.addTitle} action={t.teams.addAct} isBusy={act.isBusy} isDisabled={!wanted.length} onConfirm={submit} error={act.error} onClose={onClose}>
            <TextField label={t.teams.addIds} isCode value={ids} onInput={setIds} hint={t.teams.addIdsHint} />
        </Confirm>
    );
}
