// SPDX-License-Identifier: Apache-2.0
// From who was chosen: a new team, or more members for one that is there.
import { useState } from 'preact/hooks';

import { Avatar, Name } from '../../parts/badge';
import { Confirm } from '../../parts/dialog';
import { SelectField, TextField } from '../../parts/field';
import { toast } from '../../parts/toast';
import { go, hrefOf } from '../../router';
import { useAct } from '../../state/act';
import { useCell } from '../../state/cell';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { addMembers, chosen, chooseNobody, createTeam, seenResource, type TeamRow } from './data';

// With their ids: anybody may be called Ann.
function ChosenList() {
    const all = useCell(chosen);

    return (
        <div>
            <h3>{t.teams.with}</h3>
            <ul class="capabilities">{[...all].map(([id, name]) => <li key={id}><span class="who"><Avatar id={id} type={seenResource(id)?.kind} /><Name>{name}</Name> <span class="quiet code"><Name>{id}</Name></span></span></li>)}</ul>
        </div>
    );
}

export function CreateTeam({ onClose, onChange }: { onClose: () => void; onChange: () => void }) {
    const [form, setForm] = useState({ name: '', contract: '' });
    const [isTried, setTried] = useState(false);
    const act = useAct();
    const submit = () => {
        setTried(true);
        if (!form.name.trim()) return;
        act.run(async () => {
            const team = await createTeam(form.name.trim(), [...chosen.get().keys()], form.contract.trim());
            toast(t.teams.created(visible(team.name)), 'ok');
            onClose();
            onChange();
            chooseNobody();
            go(hrefOf('teams', team.team_id));
        });
    };

    return (
        <Confirm title={t.teams.createTitle} action={t.teams.createAct} isBusy={act.isBusy} onConfirm={submit} error={act.error} onClose={onClose}>
            <TextField label={t.teams.name} value={form.name} onInput={(name) => setForm({ ...form, name })} error={isTried && !form.name.trim() ? t.teams.nameBad : undefined} />
            <TextField label={t.teams.contract} isOptional value={form.contract} onInput={(contract) => setForm({ ...form, contract })} hint={t.teams.contractHint} />
            <ChosenList />
        </Confirm>
    );
}

export function AddToTeam({ teams, onClose, onChange }: { teams: readonly TeamRow[]; onClose: () => void; onChange: () => void }) {
    const living = teams.filter((one) => one.state === 'active');
    const [id, setId] = useState(living[0]?.team_id ?? '');
    const act = useAct();
    const submit = () => act.run(async () => {
        await addMembers(id, [...chosen.get().keys()]);
        toast(t.teams.changed, 'ok');
        onClose();
        onChange();
        chooseNobody();
        go(hrefOf('teams', id));
    });

    return (
        <Confirm title={t.teams.addTitle} action={t.teams.addAct} isBusy={act.isBusy} isDisabled={!id} onConfirm={submit} error={act.error} onClose={onClose}>
            {living.length
                ? <SelectField label={t.teams.addWhich} value={id} onInput={setId} choices={living.map((one) => ({ value: one.team_id, title: t.teams.namedTeam(one.name, one.team_id) }))} />
                : <p>{t.teams.addNone}</p>}
            <ChosenList />
        </Confirm>
    );
}
