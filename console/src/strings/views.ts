// SPDX-License-Identifier: Apache-2.0
// The name of each view, and the purpose of some in one line, which is shown where they are empty.
export const views = {
    inbox: { title: 'Inbox', purpose: 'What agents propose and tools ask for waits here until somebody decides.' },
    room: { title: 'Rooms' },
    people: { title: 'People', purpose: 'Who is here, and what each of them may do.' },
    servers: { title: 'Servers', purpose: 'The MCP servers that bring tools into rooms.' },
    rules: { title: 'Rules' },
    teams: { title: 'Teams' },
    audit: { title: 'Audit', purpose: 'Everything that was said and decided, in an order that nobody can change afterwards.' },
    overview: { title: 'Overview' },
    settings: { title: 'Settings' },
};
