// SPDX-License-Identifier: Apache-2.0
// Icons of our own: lines on a grid of 20, as thick as the text around them.
const PATHS = {
    inbox: 'M3 11.5V15a1.5 1.5 0 0 0 1.5 1.5h11A1.5 1.5 0 0 0 17 15v-3.5M3 11.5 5 4.5h10l2 7M3 11.5h4l1 2h4l1-2h4',
    room: 'M3.5 4.5h13v9h-7l-3.5 3v-3H3.5z',
    people: 'M7.5 9.5a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5M2.5 16.5c0-3 2-4.5 5-4.5s5 1.5 5 4.5M13 4.4a2.6 2.6 0 0 1 0 4.8M14.5 12.3c2 .5 3 1.9 3 4.2',
    servers: 'M3.5 4h13v5h-13zM3.5 11h13v5h-13zM6.5 6.5h.01M6.5 13.5h.01',
    rules: 'M4 5.5 5.2 6.7 7.5 4.2M4 13.5l1.2 1.2 2.3-2.5M10.5 5.5H17M10.5 14H17',
    teams: 'M10 8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M5 17a2 2 0 1 0 0-4 2 2 0 0 0 0 4M15 17a2 2 0 1 0 0-4 2 2 0 0 0 0 4M8.9 8.3 6 13.2M11.1 8.3l2.9 4.9M7 15h6',
    audit: 'M5 3.5h7l3 3v10H5zM12 3.5v3h3M7.5 10h5M7.5 13h5',
    overview: 'M3.5 3.5v13h13M6.5 13l3-4 2.5 2 4-5.5',
    settings: 'M4 6h7M15 6h1M4 14h1M9 14h7M13 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4M7 16a2 2 0 1 0 0-4 2 2 0 0 0 0 4',
    more: 'M4.5 9.3a.7.7 0 1 0 0 1.4.7.7 0 0 0 0-1.4M10 9.3a.7.7 0 1 0 0 1.4.7.7 0 0 0 0-1.4M15.5 9.3a.7.7 0 1 0 0 1.4.7.7 0 0 0 0-1.4',
    check: 'M4 10.5l4 4 8-9',
    cross: 'M5 5l10 10M15 5 5 15',
    edit: 'M4 16l.7-3.5L13.5 3.7l2.8 2.8L7.5 15.3z',
    search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11M13 13l4 4',
    plus: 'M10 4v12M4 10h12',
    warning: 'M10 3.5 17.5 16.5h-15zM10 8.5v3.5M10 14.3v.01',
    info: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14M10 9.5V13M10 6.8v.01',
    clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14M10 6v4l2.5 2',
    copy: 'M7.5 7.5h8.5v8.5H7.5zM12.5 7.5v-3.5H4v8.5h3.5',
    right: 'M8 5l5 5-5 5',
    down: 'M5 8l5 5 5-5',
    left: 'M12 5l-5 5 5 5',
    up: 'M5 12l5-5 5 5',
    play: 'M6.5 4.5v11l9-5.5z',
    stop: 'M5.5 5.5h9v9h-9z',
    power: 'M10 3v6.5M6.3 5.2a6.5 6.5 0 1 0 7.4 0',
    pause: 'M7 5v10M13 5v10',
    refresh: 'M16 9a6.2 6.2 0 0 0-11.5-2M4 4v3.2h3.2M4 11a6.2 6.2 0 0 0 11.5 2M16 16v-3.2h-3.2',
    out: 'M8 4H4v12h4M12.5 6.5 16 10l-3.5 3.5M16 10H8',
    link: 'M8.5 11.5a3 3 0 0 0 4.3 0l2.7-2.7a3 3 0 0 0-4.3-4.3L10 5.7M11.5 8.5a3 3 0 0 0-4.3 0l-2.7 2.7a3 3 0 0 0 4.3 4.3l1.2-1.2',
    tool: 'M12.5 3.5a4 4 0 0 0-3.8 5.3L3.5 14l2.5 2.5 5.2-5.2a4 4 0 0 0 5.3-3.8 4 4 0 0 0-.3-1.5L13.8 8.4 11.6 6.2 14 3.8a4 4 0 0 0-1.5-.3z',
    person: 'M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6M4 17c0-3.3 2.5-5 6-5s6 1.7 6 5',
    agent: 'M5 7.5h10v8H5zM10 7.5v-3M8 11h.01M12 11h.01M3 10.5v2.5M17 10.5v2.5',
    bell: 'M5.5 13.5V9a4.5 4.5 0 0 1 9 0v4.5l1.5 1.5h-12zM8.5 17h3',
    filter: 'M3.5 5h13l-5 6v4.5l-3-1.5v-3z',
    download: 'M10 3.5v9M6 9l4 4 4-4M4 16.5h12',
    pin: 'M7.5 3.5h5l-.5 5 2.5 2.5h-9L8 8.5zM10 11v6',
} as const;

export type IconName = keyof typeof PATHS;

// Beside a word it is decoration; alone it has a label.
export function Icon({ name, label }: { name: IconName; label?: string }) {
    return (
        <svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden={label ? undefined : 'true'}
            role={label ? 'img' : undefined} aria-label={label}>
            <path d={PATHS[name]} />
        </svg>
    );
}
