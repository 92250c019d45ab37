// SPDX-License-Identifier: Apache-2.0
// The commands at a terminal, which is tmux: colours, progress, TAB, and foreign text that
// stays text.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, expect, patience, person, program, startGateway } from './gateway.mjs';
import { environment, serveTools } from './moot.mjs';

const skip = spawnSync('tmux', ['-V']).status !== 0 && 'there is no tmux';
const hostile = 'a\u001b[2J\u001b]0;owned\u0007b\u202ec\u009b31md\r\ne';
let gateway, alice, calc, folder;

before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-tmux-'));
    gateway = await startGateway({ tokens: [person('alice'), person('bob', { profile: 'human' }), person('bot', { profile: 'proposer' }), person('calc')] });
    alice = await gateway.join('alice');
    calc = serveTools(await gateway.join('calc'), {
        raw: () => hostile,
        slowly: (_, { from, payload }, client) => {
            client.send(envelope('calc', 'mcp/request:notifications/progress', { to: [from], payload: { method: 'notifications/progress',
                params: { progressToken: payload.params._meta.progressToken, progress: 1, total: 2, message: hostile } } }));
            return 'done';
        },
    });
});
after(async () => {
    await gateway.stop();
    fs.rmSync(folder, { recursive: true });
});

// A terminal of its own that runs a line of shell, or bash itself.
class Terminal {
    constructor(as, line, env = {}) {
        this.socket = path.join(folder, `${Math.random()}`.slice(2));
        this.env = environment(gateway, as, { LANG: 'C.UTF-8', HOME: folder, PATH: `${path.dirname(program)}:${process.env.PATH}`, ...env });
        delete this.env.TMUX;
        this.tmux('-f', '/dev/null', 'new-session', '-d', '-x', '120', '-y', '30', line ? `trap : INT; ${line}; echo "[ended $?]"; read x` : 'bash --norc');
    }

    tmux(...args) { return execFileSync('tmux', ['-S', this.socket, ...args], { encoding: 'utf8', env: this.env }); }
    type(...keys) { this.tmux('send-keys', ...keys); }
    screen(...options) { return this.tmux('capture-pane', '-p', ...options); }
    title() { return this.tmux('display-message', '-p', '#{pane_title}').trim(); }
    end() { this.tmux('kill-server'); }

    // Until the screen has this; tmux has no way to wait for it.
    async shows(pattern) {
        const end = Date.now() + patience;

        for (;;) {
            const screen = this.screen();
            if (pattern.test(screen))
                return screen;
            if (Date.now() > end)
                throw new Error(`waited too long for ${pattern} on the screen:\n${screen}`);
            await new Promise((resolve) => { setTimeout(resolve, 50); });
        }
    }
}

const shown = 'a\\u001b[2J\\u001b]0;owned\\u0007b\\u202ec\\u009b31md';

test('terminal: a chat of hostile text is shown as it is written, line by line', { skip }, async () => {
    const terminal = new Terminal('bob', 'moot tail room --kind chat');

    await expect(alice, (json) => JSON.stringify(json).includes('"bob"'));
    alice.chat(hostile);
    alice.chat('after');
    const screen = await terminal.shows(/alice {2}after/);
    assert.match(screen, new RegExp(`^\\d\\d:\\d\\d:\\d\\d alice  ${shown.replace(/[\\[\]]/g, '\\$&')}\n +\\| e\n\\d\\d:\\d\\d:\\d\\d alice  after$`, 'm'));
    assert.doesNotMatch(terminal.title(), /owned/);
    terminal.type('C-c');
    await terminal.shows(/\[ended 130\]/);
    terminal.end();
});

test('terminal: colours, unless they are not wanted', { skip }, async () => {
    for (const [env, wanted] of [[{}, true], [{ NO_COLOR: '1' }, false]]) {
        const terminal = new Terminal('bob', 'moot tail room --count 1', env);

        await terminal.shows(/\[ended 0\]/);
        assert.equal(terminal.screen('-e').includes('\u001b[2m'), wanted);
        terminal.end();
    }
    const dumb = new Terminal('bob', 'TERM=dumb moot tail room --count 1');
    await dumb.shows(/\[ended 0\]/);
    assert.ok(!dumb.screen('-e').includes('\u001b[2m'));
    dumb.end();
});

test('terminal: a result and progress are made plain, JSON stays the same value', { skip }, async () => {
    const terminal = new Terminal('bob', 'moot call room calc raw; moot call room calc slowly; moot call room calc raw --json');
    const screen = await terminal.shows(/\[ended 0\]/);
    const json = screen.slice(screen.indexOf('{'), screen.lastIndexOf('}') + 1).replace(/\n/g, '');

    assert.ok(screen.includes(`${shown}\ne\n`), screen);
    assert.ok(screen.replace(/\n/g, '').includes(`moot: 1 of 2 ${shown}\\r\\ne`), screen);
    assert.equal(JSON.parse(json).content[0].text, hostile);
    assert.doesNotMatch(terminal.title(), /owned/);
    terminal.end();
});

test('terminal: who waits is told what for, and what is done is shown before', { skip }, async () => {
    const waiting = new Terminal('bot', 'moot call room calc raw --arg x=1 --reason because');
    const [, id] = /proposed as (\S+); it waits/.exec(await waiting.shows(/proposed as \S+; it waits/));
    const deciding = new Terminal('bob', `moot approve room ${id}`);

    assert.match(await deciding.shows(/\[ended 0\]/), /moot: making the call: bot -> calc {2}raw {"x":1}: because/);
    assert.match(await waiting.shows(/\[ended 0\]/), /moot: bob makes the call/);
    for (const terminal of [waiting, deciding])
        terminal.end();
});

test('terminal: TAB completes in bash', { skip }, async () => {
    const terminal = new Terminal('bob', null, { MOOT_DATA: gateway.data, MOOT_SERVER: '' });

    terminal.type('source <(moot completion bash)', 'Enter');
    terminal.type('moot appr', 'Tab', 'roo', 'Tab', '--ed', 'Tab');
    await terminal.shows(/moot approve room --edit-args$/m);
    terminal.type('C-u', 'moot call --topic=roo', 'Tab', 'cal', 'Tab');
    await terminal.shows(/moot call --topic=room calc$/m);
    terminal.end();
});
