// SPDX-License-Identifier: Apache-2.0
// How it runs, and what it may touch, in words.
import type { Json } from '../../net/types';
import { Badge, Name } from '../../parts/badge';
import { Icon } from '../../parts/icon';
import { JsonTree } from '../../parts/json-tree';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { hrefOf } from '../../router';
import { quoted, sandboxOf, type Instance, type Server, type ServerSettings } from '../../state/servers';
import { visible } from '../../state/visible';
import { t } from '../../strings';

export function About({ server, settings }: { server: Server; settings: ServerSettings }) {
    const f = t.servers.facts;
    const { supervisor } = server;

    return (
        <div class="stack">
            <dl class="facts">
                <dt>{f.room}</dt><dd><a href={hrefOf('room', server.topic)}><Name>{server.topic}</Name></a></dd>
                <dt>{f.id}</dt><dd><a href={hrefOf('people', server.id)}><Name>{server.id}</Name></a></dd>
                {supervisor?.since && <><dt>{f.since}</dt><dd><Time at={supervisor.since} as="clock" /></dd></>}
                {settings.command && <><dt>{f.runs}</dt><dd class="code words"><bdi>{visible(settings.command.map(quoted).join(' '))}</bdi></dd></>}
                {settings.url && <><dt>{f.reaches}</dt><dd class="code words"><bdi>{visible(settings.url)}</bdi></dd></>}
                {settings.mode && !settings.url && <><dt>{f.mode}</dt><dd>{t.servers.modes[settings.mode] ?? settings.mode}</dd></>}
                <dt>{f.era}</dt><dd>{t.servers.eras[server.era ?? 'unknown'] ?? server.era}</dd>
                <dt>{f.calls}</dt><dd>{t.servers.callsOf(server.calls ?? 0, server.errors ?? 0)}</dd>
                {(supervisor?.waiting ?? 0) > 0 && <><dt>{f.waiting}</dt><dd>{supervisor?.waiting}</dd></>}
                <dt>{f.uses}</dt><dd>{t.servers.authorizations[settings.authorization?.mode ?? 'always-allow']}</dd>
                <dt>{f.pins}</dt><dd>{t.servers.pins[settings.pin ?? 'hold']}</dd>
            </dl>
            <Instances of={supervisor?.instances ?? []} />
            <Section title={t.servers.sandbox}>
                <ul class="box">
                    {sandboxOf(settings).map(({ text, isRisky }) => (
                        <li key={text} class={isRisky ? 'risky' : ''}><Icon name={isRisky ? 'warning' : 'check'} /><bdi>{text}</bdi></li>
                    ))}
                </ul>
            </Section>
            <details class="fold">
                <summary>{t.servers.sandboxRaw}</summary>
                <JsonTree value={settings as unknown as Json} open={1} />
            </details>
        </div>
    );
}

function Instances({ of }: { of: readonly Instance[] }) {
    const shown = of.filter((one) => one.pid !== undefined || one.last_failure);

    if (!shown.length) return null;
    return (
        <ul class="records">
            {shown.map((one, i) => (
                <li key={i}>
                    <span class="row">
                        <Badge>{t.servers.states[one.state] ?? one.state}</Badge>
                        {one.pid !== undefined && <span class="quiet">{t.servers.pid(one.pid)}</span>}
                        {one.caller && <span class="quiet"><bdi>{t.servers.forCaller(visible(one.caller))}</bdi></span>}
                    </span>
                    {one.last_failure && <p class="note">{t.servers.lastFailure} <bdi>{visible(one.last_failure)}</bdi></p>}
                </li>
            ))}
        </ul>
    );
}
