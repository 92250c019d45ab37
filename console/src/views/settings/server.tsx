// SPDX-License-Identifier: Apache-2.0
// The settings of the server: all of them shown, those that are safe to change while it runs
// changed together, all or nothing.
import { useState } from 'preact/hooks';

import { get, patch, post } from '../../net/api';
import { Button } from '../../parts/button';
import { SelectField, TextField } from '../../parts/field';
import { Empty, ErrorNote, Loading } from '../../parts/notes';
import { Section } from '../../parts/page';
import { toast } from '../../parts/toast';
import type { Query } from '../../router';
import { useAct } from '../../state/act';
import { useLoad } from '../../state/load';
import { bodyOf, chosen, grouped, problemOf, unseenIn, withDraft, type Drafts, type Settings, type Which } from '../../state/settings';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { SettingRow } from './row';

const WHERE = '/admin/settings';
const EVERY_MS = 10_000; // others may change them as well

interface ServerProps { which: Which; text: string; set: (changes: Query) => void }

export function ServerSettings({ which, text, set }: ServerProps) {
    const settings = useLoad((signal) => get<Settings>(WHERE, { signal }), [], { everyMs: EVERY_MS });
    const [drafts, setDrafts] = useState<Drafts>({});

    return (
        <Loading of={settings} lines={12}>
            {(value) => (
                <div class="stack">
                    <File file={value.file} onChange={settings.reload} />
                    <div class="filters" data-search>
                        <TextField label={t.settings.search} isLabelHidden placeholder={t.settings.search} type="search" value={text} onInput={(q) => set({ q })} />
                        <SelectField label={t.settings.which} isLabelHidden value={which} onInput={(next) => set({ which: next === 'live' ? undefined : next })}
                            choices={Object.entries(t.settings.whichChoices).map(([name, title]) => ({ value: name, title }))} />
                    </div>
                    <List {...{ value, which, text, drafts, setDrafts }} />
                    {Object.keys(drafts).length > 0 && <Pending value={value} drafts={drafts} onDiscard={() => setDrafts({})} onDone={() => setDrafts({})} onChange={settings.reload} />}
                </div>
            )}
        </Loading>
    );
}

interface ListProps { value: Settings; which: Which; text: string; drafts: Drafts; setDrafts: (next: Drafts) => void }

function List({ value, which, text, drafts, setDrafts }: ListProps) {
    const found = chosen(value.settings, which, text);
    if (!found.length) return <Empty icon="search" title={t.settings.none} />;
    return (
        <>
            {grouped(found).map(([group, settings]) => (
                <Section key={group} title={t.settings.groups[group] ?? group}>
                    <ul class="settings-list">
                        {settings.map((setting) => (
                            <SettingRow key={setting.name} setting={setting} draft={drafts[setting.name]} onDraft={(next) => setDrafts(withDraft(drafts, setting, next))} />
                        ))}
                    </ul>
                </Section>
            ))}
        </>
    );
}

function File({ file, onChange }: { file: string | undefined; onChange: () => void }) {
    const act = useAct();
    const reload = () => act.run(async () => {
        await post('/admin/reload');
        toast(t.settings.reloaded, 'ok');
        onChange();
    });

    if (!file) return <p class="quiet">{t.settings.noFile}</p>;
    return (
        <div class="settings-file">
            <p>{t.settings.file} <code><bdi>{visible(file)}</bdi></code></p>
            <Button icon="refresh" isBusy={act.isBusy} onClick={reload}>{t.settings.reload}</Button>
            {act.error && <ErrorNote error={act.error} />}
        </div>
    );
}

interface PendingProps { value: Settings; drafts: Drafts; onDiscard: () => void; onDone: () => void; onChange: () => void }

// Stays in sight while somebody goes on changing.
function Pending({ value, drafts, onDiscard, onDone, onChange }: PendingProps) {
    const act = useAct();
    const count = Object.keys(drafts).length;
    const isBad = value.settings.some((setting) => typeof drafts[setting.name]?.next === 'string' && problemOf(setting, drafts[setting.name]?.next ?? ''));
    const apply = () => act.run(async () => {
        try {
            const unseen = unseenIn(drafts, value.settings, (await get<Settings>(WHERE)).settings);
            if (unseen.length) throw new Error(t.settings.unseen(unseen.join(', ')));
            await patch(WHERE, bodyOf(drafts, value.settings));
            toast(t.settings.applied(count), 'ok');
            onDone();
        } finally {
            onChange();
        }
    });

    return (
        <div class="settings-pending" role="region" aria-label={t.settings.changes(count)}>
            {act.error && <ErrorNote error={act.error} />}
            <div class="row">
                <span class="grow" role="status">{t.settings.changes(count)}</span>
                <Button onClick={onDiscard}>{t.settings.discard}</Button>
                <Button kind="primary" icon="check" isBusy={act.isBusy} isDisabled={isBad} onClick={apply}>{t.settings.apply}</Button>
            </div>
        </div>
    );
}
