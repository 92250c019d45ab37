// SPDX-License-Identifier: Apache-2.0
// A program in a terminal of its own: tmux with a private socket and no settings.
//
//   const terminal = await startTerminal(['moot', 'join', 'room'], { columns, rows, env, term })
//       await terminal.type('text')       characters, as they are
//       await terminal.press('Enter', 'F2')   keys, by their names in tmux
//       await terminal.sees('text' | /…/)  the screen, once it shows this; waits, bounded
//       await terminal.shows('…')         … is exactly this, but for times and names of topics
//       await terminal.lacks('text')      … once it does not
//       await terminal.screen()           its lines, without the spaces at their ends
//       await terminal.colours()          the same with escape sequences
//       await terminal.resize(columns, rows)
//       await terminal.rang()             whether the bell was rung
//       terminal.signal('SIGTERM')        sent to the program
//       await terminal.ended()            the exit status, once it has ended and all it wrote is there
//       await terminal.close()
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { envelope, patience, person, program, startGateway } from './gateway.mjs';

const run = promisify(execFile);
let count = 0;
const folders = new Set();

process.once('exit', () => {
    for (const folder of folders)
        fs.rmSync(folder, { recursive: true, force: true });
});

const quote = (word) => `'${String(word).replaceAll("'", `'\\''`)}'`;
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

// tmux drops what it has not read by the time that it hears of the end of its child, and does
// not always learn how that ended. So its child is a shell that stays, and tells by the title.
const STAYING = `trap : INT QUIT
sh -c 'echo $$ >"$0"; exec "$@"' "$0" "$@"
printf '\\033]2;ended %s\\007' $?
read x`;

class Terminal {
    constructor(folder) {
        Object.assign(this, { folder, socket: path.join(folder, 'socket'), pidFile: path.join(folder, 'pid') });
    }

    async tmux(...words) {
        const { stdout } = await run('tmux', ['-u', '-S', this.socket, '-f', '/dev/null', ...words]);
        return stdout;
    }

    async type(text) {
        await this.tmux('send-keys', '-t', 'room', '-l', '--', text);
    }

    async press(...keys) {
        await this.tmux('send-keys', '-t', 'room', ...keys);
    }

    async colours() {
        return (await this.tmux('capture-pane', '-t', 'room', '-p', '-e')).trimEnd();
    }

    async screen() {
        const text = await this.tmux('capture-pane', '-t', 'room', '-p');
        return text.split('\n').map((line) => line.trimEnd()).join('\n').trimEnd();
    }

    // Looks again and again until the screen is as it should be.
    async until(isGood, what) {
        const deadline = Date.now() + patience;

        for (;;) {
            const screen = await this.screen();
            if (isGood(screen))
                return screen;
            if (Date.now() > deadline)
                throw new Error(`waited too long for ${what}; the screen is\n${screen}`);
            await pause(30);
        }
    }

    async sees(wanted) {
        return this.until((screen) => (wanted instanceof RegExp ? wanted.test(screen) : screen.includes(wanted)),
            `${wanted}`);
    }

    // The whole screen, but for what differs from run to run.
    async shows(wanted) {
        const screen = await this.until((now) => timeless(now) === wanted, 'a screen').catch(() => this.screen());
        assert.equal(timeless(screen), wanted);
    }

    async lacks(unwanted) {
        return this.until((screen) => !(unwanted instanceof RegExp ? unwanted.test(screen) : screen.includes(unwanted)),
            `${unwanted} to go`);
    }

    async ask(format) {
        return (await this.tmux('display-message', '-t', 'room', '-p', format)).trim();
    }

    async resize(columns, rows) {
        await this.tmux('resize-window', '-t', 'room', '-x', String(columns), '-y', String(rows));
    }

    async rang() {
        return await this.ask('#{window_bell_flag}') === '1';
    }

    signal(name) {
        process.kill(Number(fs.readFileSync(this.pidFile, 'utf8')), name);
    }

    async ended() {
        const deadline = Date.now() + patience;

        for (;;) {
            const [, status] = /^ended (\d+)$/.exec(await this.ask('#{pane_title}')) ?? [];
            if (status)
                return Number(status);
            if (Date.now() > deadline)
                throw new Error(`it does not end; the screen is\n${await this.screen()}`);
            await pause(30);
        }
    }

    async close() {
        await this.tmux('kill-server').catch(() => {});
        fs.rmSync(this.folder, { recursive: true, force: true });
    }
}

export async function startTerminal(words, { columns = 100, rows = 24, env = {}, term = 'tmux-256color' } = {}) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), `moot-tmux-${++count}-`));
    const terminal = new Terminal(folder);
    const settings = { LC_ALL: 'C.UTF-8', TZ: 'UTC0', ...env, TERM: term };
    const command = ['exec', 'env', ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
        'sh', '-c', STAYING, terminal.pidFile, ...words];

    folders.add(folder);
    await terminal.tmux('start-server', ';', 'set', '-g', 'remain-on-exit', 'on', ';',
        'set', '-g', 'default-terminal', term, ';', 'set', '-g', 'status', 'off', ';',
        'new-session', '-d', '-s', 'room', '-x', String(columns), '-y', String(rows),
        command.map((word, i) => (i < 2 ? word : quote(word))).join(' '));
    return terminal;
}

// `moot join` in a terminal, with what the tests of the terminal room need:
//
//   const gateway = await startGateway({ tokens: crowd })
//       alice (a person who may do everything), bob (another), bot (may propose), files (may answer)
//   const room = await startRoom(gateway, { columns, rows, env, term, args })
//       room.terminal       alice is in a topic of its own, room.topic, and the terminal is hers
//       await room.join('bot')
//       room.propose(bot, tool, args, { to, reason, id })   the envelope of a proposal, sent
//   test(name, inRoom(() => gateway, options, async (room, terminal) => …))   that, and the end of it
export const crowd = [
    person('alice', { type: 'human', capabilities: ['*'] }),
    person('bob', { type: 'human', capabilities: ['*'] }),
    person('bot', { type: 'agent', capabilities: ['mcp/proposal:*', 'mcp/response:*', 'chat'] }),
    person('files', { type: 'service', capabilities: ['mcp/response:*', 'mcp/request:notifications/*', 'chat'] }),
];

export async function startRoom(gateway, { args = [], env = {}, topic = `room${String(++count).padStart(3, '0')}`, ...size } = {}) {
    const terminal = await startTerminal(
        [program, 'join', topic, '--server', `http://127.0.0.1:${gateway.port}`, ...args],
        { env: { MOOT_TOKEN: 'alice-token', NO_COLOR: '1', ...env }, ...size });

    return {
        gateway, terminal, topic,
        join: (id, options) => gateway.join(id, { topic, ...options }),
        propose: (from, tool, given, { to = ['files'], reason, id } = {}) => from.send(envelope(from.id,
            `mcp/proposal:tools/call:${tool}`, {
                ...(id ? { id } : {}), ...(to ? { to } : {}),
                payload: { method: 'tools/call', params: { name: tool, arguments: given }, ...(reason ? { reason } : {}) },
            })),
    };
}

export const inRoom = (gateway, options, use) => async () => {
    const room = await startRoom(gateway(), options);

    try {
        await room.terminal.sees('connected');
        await use(room, room.terminal);
        // It ends in order, with nothing that a sanitizer has to complain about.
        room.terminal.signal('SIGTERM');
        assert.equal(await room.terminal.ended(), 0, await room.terminal.screen());
    } finally {
        await room.terminal.close();
    }
};

// The answer of a participant to a request that it got.
export const answer = (request, text, more = {}) => envelope(request.to[0],
    request.kind.replace('mcp/request:', 'mcp/response:'), {
        to: [request.from], correlation_id: request.id,
        payload: { jsonrpc: '2.0', id: request.payload.id, result: { content: [{ type: 'text', text }] } }, ...more,
    });

// Names of topics, times of the day and countdowns differ from run to run.
export const timeless = (screen) => screen
    .replace(/^ room\d+( +)/, (all) => ' room'.padEnd(all.length))
    .replace(/^\d\d:\d\d /gm, 'HH:MM ')
    .replace(/\b\d:\d\d\b/g, 'M:SS');
