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

test('terminal: a result is made plain, JSON stays the same value', { skip }, async () => {
    const terminal = new Terminal('bob', 'moot call room calc raw; moot call room calc raw --json');
    const screen = await terminal.shows(/\[ended 0\]/);
    const json = screen.slice(screen.indexOf('{'), screen.lastIndexOf('}') + 1).replace(/\n/g, '');

    assert.ok(screen.includes(`${shown}\ne\n`), screen);
    assert.equal(JSON.parse(json).content[0].text, hostile);
    assert.doesNotMatch(terminal.title(), /owned/);
    terminal.end();
});

test('terminal: who waits is told what for, and what is done is shown before', { skip }, async () => {
    const waiting = new Terminal('bot', 'moot call room calc raw --arg x=1 --reason because');
    const [, id] = /proposed as (\S+); it waits/.exec(await waiting.shows(/proposed as \S+; it waits/));
    const deciding = new Terminal('bob', `moot approve room ${id}`);

    await deciding.shows(/because because\nRun it\? \[y\/N\]/);
    deciding.type('y', 'Enter');

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

const proposing = { kind: 'mcp/proposal:tools/call:raw', to: ['calc'] };

async function proposed(bot, args, id) {
    const sent = bot.send(envelope('bot', proposing.kind, { to: proposing.to, ...(id ? { id } : {}),
        payload: { method: 'tools/call', params: { name: 'raw', arguments: args } } }));

    await expect(bot, (json) => json.id === sent.id && json.kind === proposing.kind);
    return sent.id;
}

test('terminal: approve shows what will run, all of it, and asks; only a y runs it', { skip }, async () => {
    const bot = await gateway.join('bot');
    const cases = [['n', 4, false], ['', 4, false], ['yarn build', 4, false], ['y', 0, true], ['Yes', 0, true]];

    for (const [answer, status, runs] of cases) {
        const id = await proposed(bot, { path: hostile, long: 'x'.repeat(1500) });
        const terminal = new Terminal('bob', `moot approve room ${id}`);
        const screen = await terminal.shows(/Run it\? \[y\/N\]/);

        assert.match(screen, /^bot proposes tools\/call raw at calc:$/m);
        assert.ok(screen.replaceAll('\n', '').includes(`"path":"${shown}`));
        assert.ok(screen.replaceAll('\n', '').includes(`"long":"${'x'.repeat(1500)}"`), 'nothing is cut');
        terminal.type(...(answer ? [answer] : []), 'Enter');
        await terminal.shows(new RegExp(`\\[ended ${status}\\]`));
        assert.equal(bot.frames.some(({ json }) => json.correlation_id === id), runs);
        terminal.end();
    }
    await bot.close();
});

test('terminal: a y is for what was shown, not for what the id has come to stand for', { skip }, async () => {
    const small = await startGateway({ topics: { defaults: { ring_messages: 3 } }, limits: { rate_messages: 0 },
        tokens: [person('bob', { profile: 'human' }), person('bot'), person('calc')] });
    const bot = await small.join('bot');
    const calc = await small.join('calc');
    const id = await proposed(bot, { path: '/tmp/x' });
    const terminal = new Terminal('bob', `moot approve room ${id}`, { MOOT_SERVER: `ws://127.0.0.1:${small.port}` });

    await terminal.shows(/Run it\?/);
    bot.send(envelope('bot', 'mcp/withdraw', { correlation_id: id }));
    for (let i = 0; i < 1000; i++) // as many as are known of one proposer: then what is closed is forgotten
        bot.send(envelope('bot', 'mcp/withdraw', { correlation_id: bot.send(envelope('bot', proposing.kind, { payload: {} })).id }));
    bot.chat('all of them');
    await expect(bot, (json) => json.payload.text === 'all of them');
    await proposed(bot, { path: '/etc' }, id);
    await new Promise((resolve) => { setTimeout(resolve, 2000); }); // the one at the terminal shows nothing of it
    terminal.type('y', 'Enter');
    await terminal.shows(/another proposal now[^]*\[ended 4\]/);
    assert.ok(!calc.frames.some(({ json }) => json.kind.startsWith('mcp/request')));
    terminal.end();
    await small.stop();
});

test('terminal: approve --yes asks nothing', { skip }, async () => {
    const bot = await gateway.join('bot');
    const id = await proposed(bot, {});
    const terminal = new Terminal('bob', `moot approve room ${id} --yes`);

    assert.doesNotMatch(await terminal.shows(/\[ended 0\]/), /Run it/);
    terminal.end();
    await bot.close();
});
