// SPDX-License-Identifier: Apache-2.0
// The shell: signs in, then shows the navigation and the view that the address names.
import { useEffect, useRef, useState } from 'preact/hooks';

import { Navigation } from './navigation';
import { acceptTicket, offeredTicket, signIn } from './net/session';
import type { Session } from './net/types';
import { Boundary } from './parts/boundary';
import { LinkButton } from './parts/button';
import { Confirm, Dialog } from './parts/dialog';
import { Empty, Skeleton } from './parts/notes';
import { Page } from './parts/page';
import { toastError, Toasts } from './parts/toast';
import { go, hrefOf, route, type Route } from './router';
import { useCell } from './state/cell';
import { inOrder, shortcuts, startKeys, useShortcuts, type Shortcuts } from './state/keys';
import { visibleName } from './state/visible';
import { t } from './strings';
import { views, type View } from './views';
import { startInbox } from './views/inbox/watch';
import { startServers } from './views/servers/watch';
import { startRules } from './views/rules/watch';
import { SignInView } from './views/signin';

const HOME = 'inbox';

export function App() {
    const who = useCell(signIn);

    if (who.state === 'starting') return <main class="signin" id="content"><div class="signin-box"><Skeleton lines={3} /></div></main>;
    if (who.state === 'out') return <SignInView why={who.why} />;
    return <Shell key={who.session.id} session={who.session} />;
}

function viewsFor(session: Session): View[] {
    return views.filter((view) => session.admin || !view.isForAdmins);
}

function Shell({ session }: { session: Session }) {
    const here = useCell(route);
    const mine = viewsFor(session);
    const ticket = useCell(offeredTicket);
    const [isHelpOpen, setHelpOpen] = useState(false);
    const content = useFocusOnChange(here.view);
    const keys: Shortcuts = { '?': { does: t.common.shortcuts, run: () => setHelpOpen(true) } };

    for (const view of mine) keys[`g ${view.key}`] = { does: t.common.goTo(view.title), run: () => go(hrefOf(view.name)) };
    useShortcuts(keys);
    useEffect(startKeys, []);
    useEffect(startInbox, []); // the number in the navigation
    useEffect(startRules, []);
    useEffect(() => (session.admin ? startServers() : undefined), []);
    useEffect(() => { if (!here.view) go(hrefOf(homeOf(session), aloneTopic(session)), 'replace'); }, [here.view]);
    return (
        <div class="shell">
            <a class="skip" href="#content">{t.common.skip}</a>
            <Navigation views={mine} current={here.view} session={session} onHelp={() => setHelpOpen(true)} />
            <main id="content" tabIndex={-1} ref={content}><Boundary key={here.view}><Current views={mine} here={here} /></Boundary></main>
            <Toasts />
            {isHelpOpen && <Help onClose={() => setHelpOpen(false)} />}
            {ticket && <OfferedTicket key={ticket} ticket={ticket} session={session} />}
        </div>
    );
}

// Whoever goes to another view is in it with the next key, and hears that it is another.
function useFocusOnChange(view: string) {
    const element = useRef<HTMLElement>(null);
    const before = useRef('');

    useEffect(() => {
        if (before.current) element.current?.focus({ preventScroll: true });
        before.current = view;
    }, [view]);
    return element;
}

// A guest of one topic goes there; everybody else begins with what waits.
function aloneTopic(session: Session): string | null {
    const [only, ...others] = session.topics;
    return only && !others.length && !only.endsWith('*') ? only : null;
}

function homeOf(session: Session): string {
    return aloneTopic(session) ? 'room' : HOME;
}

function Current({ views: mine, here }: { views: readonly View[]; here: Route }) {
    const view = mine.find(({ name }) => name === here.view);

    if (!here.view) return null; // on the way to the first
    if (view) return <view.component key={view.name} route={here} />;
    return (
        <Page title={t.common.noView}>
            <Empty icon="warning" title={t.common.noViewHint} action={<LinkButton href={hrefOf(HOME)}>{t.common.home}</LinkButton>} />
        </Page>
    );
}

function OfferedTicket({ ticket, session }: { ticket: string; session: Session }) {
    const [isBusy, setBusy] = useState(false);
    const close = () => offeredTicket.set(null);
    const accept = () => {
        setBusy(true);
        acceptTicket(ticket).catch((error: unknown) => { close(); toastError(error); });
    };

    return (
        <Confirm title={t.signin.offered} action={t.signin.accept} isBusy={isBusy} onConfirm={accept} onClose={close}>
            <p><bdi>{t.signin.offeredWhy(visibleName(session.id))}</bdi></p>
            <p class="quiet">{t.signin.offeredHint}</p>
        </Confirm>
    );
}

function Help({ onClose }: { onClose: () => void }) {
    const known = inOrder(Object.assign({}, ...useCell(shortcuts)) as Shortcuts);

    return (
        <Dialog title={t.common.shortcuts} onClose={onClose}>
            <dl class="keys">
                {known.map(([keys, shortcut]) => (
                    <div key={keys}><dt>{keys.split(' ').map((key) => <kbd key={key}>{key}</kbd>)}</dt><dd>{shortcut.does}</dd></div>
                ))}
            </dl>
            <p class="quiet">{t.common.shortcutsHint}</p>
        </Dialog>
    );
}
