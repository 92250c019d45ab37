// SPDX-License-Identifier: Apache-2.0
// One server: what is done with it, and its tabs.
import { useState } from 'preact/hooks';

import { get, path, post, remove } from '../../net/api';
import { Badge, Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Empty, Loading, Note, Skeleton } from '../../parts/notes';
import { Details } from '../../parts/page';
import { Tabs } from '../../parts/tabs';
import { toast, toastError } from '../../parts/toast';
import { go, hrefOf, type Route } from '../../router';
import { useAct } from '../../state/act';
import { useLoad } from '../../state/load';
import { toReview, type Listing, type Server, type ServerSettings } from '../../state/servers';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { About } from './about';
import { Ask } from './ask';
import { Log } from './log';
import { Catalogue, Review } from './offers';
import { SignIn } from './sign-in';
import { StateBadge } from './state-badge';

interface ServerDetailsProps { name: string; route: Route; server: Server | undefined; isLoading: boolean; onChange: () => void; onClose: () => void }

const TABS = ['about', 'review', 'catalogue', 'log'];
const PASSING = ['loading', 'leaving'];

export function ServerDetails({ name, route, server, isLoading, onChange, onClose }: ServerDetailsProps) {
    return (
        <Details title={<Name>{name}</Name>} onClose={onClose}>
            {server ? <Known server={server} route={route} onChange={onChange} onClose={onClose} />
                : isLoading ? <Skeleton /> : <Empty icon="servers" title={t.servers.notFound} />}
        </Details>
    );
}

function Known({ server, route, onChange, onClose }: { server: Server; route: Route; onChange: () => void; onClose: () => void }) {
    const wanted = route.query.get('tab') ?? '';
    const isThere = !PASSING.includes(server.state);
    const tab = isThere && TABS.includes(wanted) ? wanted : 'about';
    const key = `${server.state} ${server.held ?? 0} ${server.tools ?? 0}`;
    const settings = useLoad((signal) => get<{ settings: ServerSettings }>(path`/admin/servers/${server.name}`, { signal }), [server.name]);
    const listing = useLoad(async (signal) => (isThere ? get<Listing>(path`/admin/servers/${server.name}/tools`, { signal }) : null), [server.name, key]);
    const [kept, setKept] = useState<Listing>();
    const offers = listing.value ?? kept; // no flicker while it is asked again
    if (listing.value && listing.value !== kept) setKept(listing.value);
    const count = offers ? toReview(offers).length : 0;
    const choose = (next: string) => go(hrefOf('servers', server.name, { ...Object.fromEntries(route.query), tab: next === 'about' ? undefined : next }), 'replace');
    const changed = () => { listing.reload(); onChange(); };

    return (
        <>
            <div class="row"><StateBadge state={server.state} />{count > 0 && <Badge tone="warn" icon="pin">{t.servers.held(count)}</Badge>}</div>
            {server.why
                ? <Note tone={server.state === 'failing' ? 'danger' : server.state === 'sign_in_needed' ? 'warn' : 'plain'}><bdi>{server.state === 'sign_in_needed' ? t.servers.stateHints['sign_in_needed'] : visible(server.why)}</bdi></Note>
                : <p class="quiet">{t.servers.stateHints[server.state] ?? ''}</p>}
            {isThere && <Acts server={server} onChange={onChange} onClose={onClose} />}
            <Tabs label={t.servers.tabs} current={tab} onChoose={choose} tabs={[
                { name: 'about', title: t.servers.about }, { name: 'review', title: t.servers.review, ...(count > 0 && { count }) },
                { name: 'catalogue', title: t.servers.catalogue }, { name: 'log', title: t.servers.log },
            ]}>
                {tab === 'about' && <Loading of={settings}>{(value) => <About server={server} settings={value.settings} />}</Loading>}
                {tab === 'review' && (offers ? <Review name={server.name} listing={offers} onChange={changed} /> : <Loading of={listing}>{() => null}</Loading>)}
                {tab === 'catalogue' && (offers ? <Catalogue listing={offers} /> : <Loading of={listing}>{() => null}</Loading>)}
                {tab === 'log' && <Log name={server.name} />}
            </Tabs>
        </>
    );
}

type Open = 'stop' | 'remove' | 'sign-in' | null;

function Acts({ server, onChange, onClose }: { server: Server; onChange: () => void; onClose: () => void }) {
    const [open, setOpen] = useState<Open>(null);
    const act = useAct();
    const run = (verb: 'start' | 'restart', said: string) => act.run(async () => {
        await post(`${path`/admin/servers/${server.name}/`}${verb}`).then(() => toast(said, 'ok'), toastError);
        onChange();
    });
    const close = () => setOpen(null);

    return (
        <div class="row">
            {server.state === 'sign_in_needed' && <Button kind="primary" icon="link" onClick={() => setOpen('sign-in')}>{t.servers.signIn}</Button>}
            {(server.state === 'stopped' || server.state === 'resting')
                && <Button icon="play" isBusy={act.isBusy} onClick={() => run('start', t.servers.started(visible(server.name)))}>{t.servers.start}</Button>}
            {server.state !== 'stopped' && server.state !== 'resting'
                && <Button icon="refresh" isBusy={act.isBusy} onClick={() => run('restart', t.servers.restarted(visible(server.name)))}>{t.servers.restart}</Button>}
            {server.state !== 'stopped' && <Button icon="stop" onClick={() => setOpen('stop')}>{t.servers.stop}</Button>}
            <Button kind="danger" icon="cross" onClick={() => setOpen('remove')}>{t.servers.remove}</Button>
            {open === 'stop' && <Ask title={t.servers.stopTitle(visible(server.name))} text={t.servers.stopText} action={t.servers.stop} onClose={close}
                run={async () => { await post(path`/admin/servers/${server.name}/stop`); toast(t.servers.stopped(visible(server.name)), 'ok'); onChange(); }} />}
            {open === 'remove' && <Ask title={t.servers.removeTitle(visible(server.name))} text={t.servers.removeText} action={t.servers.removeAct} isDanger onClose={close}
                run={async () => { await remove(path`/admin/servers/${server.name}`); toast(t.servers.removed(visible(server.name)), 'ok'); onChange(); onClose(); }} />}
            {open === 'sign-in' && <SignIn name={server.name} onClose={close} />}
        </div>
    );
}
