// SPDX-License-Identifier: Apache-2.0
// Where one is: /console/VIEW or /console/VIEW/THING, with a query for what can be told to
// somebody else (filters, what is open). The gateway answers all of these with the page.
import { cell } from './state/cell';

export interface Route {
    view: string; // '' at the root
    thing: string | null;
    query: URLSearchParams;
}

// In the query, what cannot be a segment: no server takes an escaped "/", and ".." leads up.
const THING = 'thing';

export function readRoute(path: string, search: string): Route {
    const [, first, view = '', thing] = path.split('/');
    const query = new URLSearchParams(search);
    const isOurs = first === 'console';

    return { view: isOurs ? view : '', thing: isOurs && thing ? decode(thing) : query.get(THING), query };
}

function decode(segment: string): string {
    try {
        return decodeURIComponent(segment);
    } catch {
        return segment; // a lone "%": shown as it is
    }
}

export type Query = Record<string, string | undefined>;

export function hrefOf(view: string, thing?: string | null, query: Query = {}): string {
    const isSegment = thing && !/\/|^\.{1,2}$/.test(thing);
    const given = Object.entries(isSegment || !thing ? query : { ...query, [THING]: thing }).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '');
    const search = new URLSearchParams(given).toString();

    return `/console/${view}${isSegment ? `/${encodeURIComponent(thing)}` : ''}${search ? `?${search}` : ''}`;
}

export const route = cell<Route>({ view: '', thing: null, query: new URLSearchParams() });

function follow(): void {
    route.set(readRoute(location.pathname, location.search));
}

export function startRouter(): void {
    follow();
    addEventListener('popstate', follow);
    document.addEventListener('click', onClick);
}

// `replace`: no step back to where one was, for filters and the like.
export function go(href: string, how: 'push' | 'replace' = 'push'): void {
    if (how === 'push') history.pushState(null, '', href);
    else history.replaceState(null, '', href);
    follow();
}

// Ordinary links work, also with a middle click; only a plain click stays in this page.
function onClick(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.target || link.hash || link.origin !== location.origin || !link.pathname.startsWith('/console')) return;
    event.preventDefault();
    go(link.pathname + link.search);
}
