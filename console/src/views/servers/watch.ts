// SPDX-License-Identifier: Apache-2.0
// The number beside "Servers", for administrators: those that fail, want somebody to sign in, or have
// something to review. Nothing is in a hurry here.
import { get } from '../../net/api';
import { mark } from '../../state/marks';
import { isTroubled, type Server } from '../../state/servers';

const EVERY_MS = 60_000;

export function startServers(): () => void {
    const abort = new AbortController();
    const look = () => {
        if (document.hidden) return;
        get<{ servers: Server[] }>('/admin/servers', { signal: abort.signal })
            .then(({ servers }) => mark('servers', servers.filter(isTroubled).length), () => {}); // the view itself says what is wrong
    };
    const timer = setInterval(look, EVERY_MS);

    look();
    return () => {
        clearInterval(timer);
        abort.abort();
        mark('servers', 0);
    };
}
