// SPDX-License-Identifier: Apache-2.0
// The terminal room on all sorts of terminals, and with people who do not mean it well.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, program, startGateway } from './gateway.mjs';
import { crowd, inRoom, startTerminal } from './terminal.mjs';

let gateway;

before(async () => { gateway = await startGateway({ tokens: crowd }); });
after(() => gateway.stop());

const withRoom = (options, use) => inRoom(() => gateway, options, use);

test('the room fits whatever size the terminal gets', withRoom({ columns: 100, rows: 12 }, async (room, terminal) => {
    const bob = await room.join('bob');

    bob.chat('a text that is long enough to be broken into several lines where there is not much room for it');
    await terminal.sees('for it');
    await terminal.type('half a sentence');
    await terminal.resize(50, 12);
    await terminal.shows(`\
 room                          connected · 2 here



HH:MM           You are alice. F1 or /help tells
                what can be done here.
HH:MM           bob joined
HH:MM bob       a text that is long enough to be
                broken into several lines where
                there is not much room for it
──────────────────────────────────────────────────
› half a sentence`);
    await terminal.resize(22, 4);
    await terminal.sees(/^too small$/);
    await terminal.resize(30, 8);
    await terminal.shows(`\
 room      connected · 2 here
bob       a text that is long
          enough to be broken
          into several lines
          where there is not
          much room for it
──────────────────────────────
› half a sentence`);
    await terminal.resize(100, 12);
    await terminal.sees(/bob +human/);
    await terminal.sees('› half a sentence');
}));

// Everything that a text could do to a terminal, if it got there.
const hostile = [
    '\u001b[2J\u001b[1;1H', '\u001b]0;owned\u0007', '\u001b[31;5mred', '\u001bc', '\u0007', '\b\b\b', '\r', '\u000b\f', '\u009b2J\u0090',
    '\u202eesrever\u202c', '\u2066\u2067', '\u200b\u200d\ufeff', '\u0000', `z${'\u0301'.repeat(50)}`, '日本語'.repeat(30), '\u0301first',
    '👩‍💻❤️🏳️‍🌈', '\u2028\u2029', 'a\tb', '\u{e0041}', '\ufffe', 'x'.repeat(500),
];

test('hostile text moves no cursor, rings no bell and hides nothing', withRoom({ columns: 80, rows: 20 }, async (room, terminal) => {
    const bob = await room.join('bob');
    const bot = await room.join('bot');
    let proposal;

    for (const text of hostile) {
        bob.chat(text);
        bob.chat(`${text}\n${text}`);
        bob.send(envelope('bob', 'mcp/request:tools/call', { to: [text.slice(0, 200) || 'x'],
            payload: { method: 'tools/call', params: { name: text, arguments: { [text]: text } } } }));
        proposal = room.propose(bot, 'x', { [text]: text }, { reason: text });
    }
    await expect(bob, ({ id }) => id === proposal.id); // two connections have no order
    bob.chat('the last one');
    await terminal.sees('the last one');
    await terminal.press('PPage', 'PPage', 'PPage');
    for (const [keys, bottom] of [[[], /^›/], [['F2'], /^ a approve/], [['NPage'], /^ a approve/], [['Down', 'Down'], /^ a approve/],
        [['Escape', 'F3'], /^ t ask/], [['Escape'], /^›/]]) {
        if (keys.length)
            await terminal.press(...keys);
        const screen = await terminal.until((now) => {
            const lines = now.split('\n');
            return /^ room.* connected · 3 here$/.test(lines[0]) && /^──/.test(lines[18]) && bottom.test(lines[19]);
        }, 'an intact screen');
        assert.equal(screen.split('\n').length, 20);
        assert.doesNotMatch(screen, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/u);
    }
    assert.equal(await terminal.rang(), false);
    assert.equal(await terminal.ask('#{pane_title}'), await terminal.ask('#{host}'));
    await terminal.press('Escape', 'Escape');
    await terminal.sees('the last one');
}));

test('the bell would have been noticed', async () => {
    const terminal = await startTerminal(['sh', '-c', 'printf "\\a"; echo rung; read x']);

    try {
        await terminal.sees('rung');
        assert.equal(await terminal.rang(), true);
    } finally {
        await terminal.close();
    }
});

const colour = /\u001b\[[0-9;]*\b(3[0-7]|4[0-7]|9[0-7]|38|48)\b[0-9;]*m/;

for (const [name, term, env, has] of [
    ['256 colours', 'tmux-256color', { NO_COLOR: '' }, /\u001b\[[0-9;]*38;5;\d+m/],
    ['eight colours', 'screen', { NO_COLOR: '' }, /\u001b\[3[1-7]m/],
    ['no colours, because the terminal has none', 'vt100', { NO_COLOR: '' }, null],
    ['no colours, because NO_COLOR says so', 'tmux-256color', { NO_COLOR: '1' }, null],
])
    test(`a terminal with ${name}`, withRoom({ columns: 80, rows: 10, term, env }, async (room, terminal) => {
        const bob = await room.join('bob');

        bob.send(envelope('bob', 'mcp/request:tools/call:x', { to: ['bob'], payload: { method: 'tools/call', params: { name: 'x' } } }));
        await terminal.sees('waiting');
        const screen = await terminal.colours();
        if (has)
            assert.match(screen, has);
        else
            assert.doesNotMatch(screen, colour);
        if (term === 'screen')
            assert.doesNotMatch(screen, /38;5/);
        assert.match(screen, /\u001b\[[0-9;]*(7|48;5;236)[0-9;]*m/); // the bar stands out in any case
    }));

test('without a locale everything is ASCII, and arguments can still be read', withRoom({ columns: 70, rows: 22, term: 'vt100', env: { LC_ALL: 'C' } }, async (room, terminal) => {
    const bob = await room.join('bob');
    const { id } = bob.chat('grüße');

    bob.chat('back', { correlation_id: id });
    await terminal.sees('`-bob');
    room.propose(bob, 'x', { ä: '日' });
    await terminal.sees('1 waits');
    await terminal.press('F2');
    const screen = await terminal.sees('Up/Down choose');
    assert.match(screen, /"\\u00e4": "\\u65e5"/);
    assert.doesNotMatch(screen, /[^\x20-\x7e\n]/);
    await terminal.press('Escape');
    assert.match(await terminal.sees('gr??e'), /\n-+\n>$/);
}));

test('Ctrl-Z gives the terminal back to the shell, and fg brings the room back', async () => {
    const terminal = await startTerminal(['sh', '-i'], { env: { PS1: 'shell: ', MOOT_TOKEN: 'alice-token' } });

    try {
        await terminal.sees(/^shell:/);
        await terminal.type(`${program} join asleep --server http://127.0.0.1:${gateway.port}`);
        await terminal.press('Enter');
        await terminal.sees('connected');
        await terminal.press('C-z');
        await terminal.sees(/Stopped|Suspended/);
        await terminal.type('fg');
        await terminal.press('Enter');
        await terminal.sees(/^ asleep .*connected/);
        const bob = await gateway.join('bob', { topic: 'asleep' });
        await terminal.sees('bob joined');
        await terminal.type('back again');
        await terminal.press('Enter');
        await expect(bob, (json) => json.payload.text === 'back again');
        await terminal.press('C-d');
        await terminal.sees(/shell:$/);
    } finally {
        await terminal.close();
    }
});

test('what is no terminal is refused', async () => {
    const terminal = await startTerminal(['sh', '-c', '"$0" "$@" </dev/null; echo "ended with $?"; TERM=nonsense "$0" "$@"; echo "ended with $?"; read x',
        program, 'join', 'room', '--server', `http://127.0.0.1:${gateway.port}`], { env: { MOOT_TOKEN: 'alice-token' } });

    try {
        const screen = await terminal.sees(/ended with \d[^]*ended with \d/);
        assert.match(screen, /moot: standard input and output are no terminal\n/);
        assert.match(screen, /moot: \$TERM names a terminal that is not known here\n/);
    } finally {
        await terminal.close();
    }
});
