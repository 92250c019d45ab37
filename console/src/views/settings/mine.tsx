// SPDX-License-Identifier: Apache-2.0
// What a person has chosen for this browser, and who that is.
import { useState } from 'preact/hooks';

import { currentSession } from '../../net/session';
import { Name } from '../../parts/badge';
import { Check, SelectField } from '../../parts/field';
import { Note } from '../../parts/notes';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { useCell } from '../../state/cell';
import { prefer, preferences, type Theme } from '../../state/preferences';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { canNotify, isNotifying, setNotifying } from '../inbox/notify';

const themes: { value: Theme; title: string }[] = [
    { value: 'auto', title: t.common.themeAuto },
    { value: 'light', title: t.common.themeLight },
    { value: 'dark', title: t.common.themeDark },
];

export function Mine() {
    const mine = useCell(preferences);
    const [isBlocked, setBlocked] = useState(false);
    const notify = async (wanted: boolean) => setBlocked(!await setNotifying(wanted));

    return (
        <Section title={t.settings.mine}>
            <SelectField label={t.common.theme} value={mine.theme} choices={themes} onInput={(value) => prefer({ theme: value as Theme })} />
            <Check label={t.settings.shortcuts} hint={t.settings.shortcutsHint} value={mine.shortcuts} onInput={(shortcuts) => prefer({ shortcuts })} />
            <Check label={t.settings.notifications} hint={canNotify() ? t.settings.notificationsHint : t.settings.notificationsNever} isDisabled={!canNotify()}
                value={mine.notifications && isNotifying()} onInput={(wanted) => void notify(wanted)} />
            {isBlocked && <Note tone="warn">{t.settings.notificationsBlocked}</Note>}
        </Section>
    );
}

export function Account() {
    const session = currentSession();

    return (
        <Section title={t.settings.account}>
            <dl class="facts">
                <dt>{t.settings.id}</dt><dd><Name>{session.id}</Name></dd>
                <dt>{t.settings.role}</dt><dd>{session.admin ? t.settings.admin : t.settings.member}</dd>
                <dt>{t.settings.topics}</dt><dd class="words"><bdi>{session.topics.includes('*') ? t.settings.allTopics : session.topics.map(visible).join(', ')}</bdi></dd>
                {session.expires_at && <><dt>{t.settings.until}</dt><dd><Time at={session.expires_at} as="clock" /></dd></>}
            </dl>
        </Section>
    );
}
