// SPDX-License-Identifier: Apache-2.0
// One setting: what it is for, its value, where that comes from, and a field where it may be
// changed.
import { Badge, Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { SelectField, TextField } from '../../parts/field';
import { Time } from '../../parts/time';
import { fieldOf, isOvertaken, problemOf, textOf, type Draft, type Setting } from '../../state/settings';
import { visible } from '../../state/visible';
import { t } from '../../strings';

interface RowProps {
    setting: Setting;
    draft: Draft | undefined; // undefined: as it is
    onDraft: (next: string | null | undefined) => void;
}

export function SettingRow({ setting, draft, onDraft }: RowProps) {
    return (
        <li class={draft ? 'setting changed' : 'setting'}>
            <div class="setting-words">
                <span class="setting-name code"><bdi>{visible(setting.name)}</bdi></span>
                <span class="quiet">{visible(setting.help)}</span>
                <span class="setting-notes note">
                    <Source setting={setting} />
                    {setting.default !== undefined && setting.source !== 'default' && <span>{t.settings.standard(visible(textOf(setting.default)))}</span>}
                    {setting.live && setting.min !== undefined && setting.max !== undefined && setting.type !== 'switch' && <span>{t.settings.range(setting.min, setting.max)}</span>}
                    {setting.needs_restart && <span>{t.settings.restart}</span>}
                </span>
            </div>
            <div class="setting-value">
                {!setting.live ? <span class="code setting-fixed"><Name>{textOf(setting.value)}</Name></span>
                    : draft?.next === null ? <span class="row"><span>{t.settings.willBack}</span><Button kind="quiet" onClick={() => onDraft(undefined)}>{t.settings.keep}</Button></span>
                        : <Input setting={setting} value={draft?.next ?? fieldOf(setting)} onDraft={onDraft} />}
                {isOvertaken(setting, draft) && <span class="note setting-meanwhile"><bdi>{t.settings.meanwhile(visible(textOf(setting.value)), visible(setting.by ?? ''))}</bdi></span>}
                {setting.live && setting.source === 'runtime' && draft?.next !== null && (
                    <Button kind="quiet" icon="left" label={t.settings.backOf(setting.name)} onClick={() => onDraft(null)}>{t.settings.back}</Button>
                )}
            </div>
        </li>
    );
}

function Source({ setting }: { setting: Setting }) {
    if (setting.source !== 'runtime') return <span>{t.settings.sources[setting.source] ?? setting.source}</span>;
    return (
        <>
            <Badge tone="accent">{t.settings.sources['runtime']}</Badge>
            <span>{setting.by && <bdi>{t.settings.by(visible(setting.by))}</bdi>} {setting.since && <Time at={setting.since} />}</span>
        </>
    );
}

function Input({ setting, value, onDraft }: { setting: Setting; value: string; onDraft: (next: string) => void }) {
    const choices = setting.type === 'switch' ? [{ value: 'on', title: t.settings.on }, { value: 'off', title: t.settings.off }]
        : setting.choices?.map((choice) => ({ value: choice, title: choice }));

    if (choices) return <SelectField label={setting.name} isLabelHidden value={value} choices={choices} onInput={onDraft} />;
    return <TextField label={setting.name} isLabelHidden isCode value={value} onInput={onDraft} error={problemOf(setting, value)} />;
}
