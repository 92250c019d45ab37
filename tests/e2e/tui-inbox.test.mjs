// SPDX-License-Identifier: Apache-2.0
// The inbox of the terminal room: the one that is shown is the one that is decided.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, expect, startGateway } from './gateway.mjs';
import { crowd, inRoom, startRoom } from './terminal.mjs';

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-edit-'));
let gateway;

before(async () => { gateway = await startGateway({ tokens: crowd }); });
after(async () => {
    fs.rmSync(scratch, { recursive: true, force: true });
    await gateway.stop();
});

// A room with bot and files in it.
const withRoom = (options, use) => inRoom(() => gateway, options, async (room, terminal) => {
    const bot = await room.join('bot');
    const files = await room.join('files');
    await terminal.sees('bot, files joined');
    await use(room, terminal, bot, files);
});

// Nothing was asked of this client since it was looked at last.
async function wasNotAsked(client, sender) {
    const { id } = sender.chat('a fence');
    let json;

    do {
        json = await client.next('the fence');
        assert.doesNotMatch(json.kind, /^mcp\/request/);
    } while (json.id !== id);
}

const isRequest = (tool) => (json) => json.kind === `mcp/request:tools/call:${tool}`;

test('a proposal is shown in full and run after a yes', withRoom({ columns: 72, rows: 21 }, async (room, terminal, bot, files) => {
    const args = { path: '/etc/motd', text: 'one\ntwo', deep: { list: [1, { x: null }] }, hidden: '\u202e\u001b[2J' };
    room.propose(bot, 'write_file', args, { reason: 'it is out of date', id: 'p-1' });
    await terminal.sees('1 waits: F2');
    await terminal.press('F2');
    await terminal.sees('"path": "/etc/motd"');
    await terminal.shows(`\
 room      1 waits: F2                               connected · 3 here
 bot proposes write_file → files                                   M:SS
── 1 of 1 ─────────────────────────────────────── ↓ 5 more lines (PgDn)
 proposer  bot
 runs      tools/call write_file
 at        files
 state     open, expires in M:SS
 because   it is out of date
 id        p-1

 {
   "path": "/etc/motd",
   "text": "one\\n
      two",
   "deep": {
     "list": [
       1,
       {
         "x": null
────────────────────────────────────────────────────────────────────────
 a approve  e edit  r reject  w withdraw  ↑↓ choose  PgDn read  Esc back`);
    await terminal.press('NPage');
    await terminal.sees('"hidden": "\\u202e\\u001b[2J"');
    await terminal.press('a');
    await terminal.sees(' y  run write_file at files, as proposed   n  no');
    await wasNotAsked(files, bot);
    await terminal.press('n');
    await terminal.sees('nothing was done');
    await terminal.press('a');
    await terminal.sees('as proposed');
    await terminal.press('y');
    const request = await expect(files, isRequest('write_file'));
    assert.equal(request.correlation_id, 'p-1');
    assert.deepEqual(request.payload.params, { name: 'write_file', arguments: args });
    assert.deepEqual(request.to, ['files']);
    assert.equal(request.edited, undefined);
    await terminal.sees('fulfilled by alice');
}));

test('arguments are edited in the editor, checked, and sent as edited', withRoom({
    columns: 90,
    env: { EDITOR: 'sh -c \'echo >>"$MARK"; case $(wc -l <"$MARK") in 1) echo "{ \\"path\\":" >"$1";; 2) echo >>"$1";; *) sed -i s/motd/issue/ "$1";; esac\' sh',
        MARK: path.join(scratch, 'mark') },
}, async (room, terminal, bot, files) => {
    room.propose(bot, 'read_file', { path: '/etc/motd' }, { id: 'p-1' });
    await terminal.sees('1 waits');
    await terminal.press('F2');
    await terminal.sees('1 of 1');
    await terminal.press('e');
    await terminal.sees('this is no JSON: line 2:');
    await terminal.press('e'); // the same text again, and a line more: it is still none
    await terminal.sees('this is no JSON: line 3:');
    await terminal.sees('e edit again  n leave it');
    await terminal.press('n');
    await terminal.sees('nothing was done');
    await terminal.press('e');
    await terminal.sees('AS YOU EDITED IT');
    await terminal.sees('"path": "/etc/issue"');
    await terminal.sees('run read_file at files, as you edited it');
    await terminal.press('y');
    const request = await expect(files, isRequest('read_file'));
    assert.deepEqual(request.payload.params, { name: 'read_file', arguments: { path: '/etc/issue' } });
    assert.equal(request.edited, true);
    await terminal.sees('fulfilled by alice');
    await terminal.sees('calls read_file → files (path: "/etc/issue")');
}));

test('an editor that fails or changes nothing changes nothing', withRoom({ env: { VISUAL: 'false', EDITOR: 'true' } }, async (room, terminal, bot, files) => {
    room.propose(bot, 'read_file', { path: '/etc/motd' });
    await terminal.sees('1 waits');
    await terminal.press('F2');
    await terminal.sees('1 of 1');
    await terminal.press('e');
    await terminal.sees('the editor failed: nothing was changed');
    await wasNotAsked(files, bot);
}));

test('a proposal is rejected with a reason', withRoom({}, async (room, terminal, bot) => {
    room.propose(bot, 'read_file', {}, { id: 'p-1' });
    await terminal.sees('1 waits');
    await terminal.press('F2');
    await terminal.sees('1 of 1');
    await terminal.press('r');
    await terminal.sees('reject, because:');
    await terminal.type('not tonight');
    await terminal.press('Enter');
    const reject = await expect(bot, (json) => json.kind === 'mcp/reject');
    assert.equal(reject.correlation_id, 'p-1');
    assert.equal(reject.payload.reason, 'not tonight');
    await terminal.sees('rejects it: not tonight');
    await terminal.sees('rejected by alice');
    room.propose(bot, 'rm', {}, { id: 'p-2' });
    await terminal.sees('proposes rm');
    const [, number] = /rm → files.*#(\d+)/.exec(await terminal.screen());
    await terminal.type(`/reject ${number} never`);
    await terminal.press('Enter');
    assert.equal((await expect(bot, (json) => json.kind === 'mcp/reject')).payload.reason, 'never');
}));

test('what is one\'s own is withdrawn, not decided', withRoom({}, async (room, terminal, bot) => {
    const withdrawn = async (id) => expect(bot, (json) => json.kind === 'mcp/withdraw' && json.correlation_id === id);
    const propose = async (tool) => {
        await terminal.type(`/propose files ${tool}`);
        await terminal.press('Enter');
        await terminal.sees(`proposes ${tool}`);
        return expect(bot, (json) => json.kind === `mcp/proposal:tools/call:${tool}`);
    };

    const first = await propose('first');
    assert.doesNotMatch(await terminal.screen(), /waits/);
    await terminal.press('F2');
    await terminal.sees('It is your own');
    await terminal.press('a');
    await terminal.sees('it is your own: others decide on it, you can withdraw it');
    await terminal.press('w');
    await terminal.sees('y withdraw it');
    await terminal.press('y');
    await withdrawn(first.id);
    await terminal.sees(/first → files {2}withdrawn/);
    const second = await propose('second');
    const [, number] = /second → files.*#(\d+)/.exec(await terminal.screen());
    await terminal.type(`/withdraw ${number}`);
    await terminal.press('Enter');
    await withdrawn(second.id);
    await terminal.sees(/second → files {2}withdrawn/);
}));

test('what arrives or goes meanwhile changes neither the choice nor the verdict', withRoom({ columns: 80, rows: 24 }, async (room, terminal, bot, files) => {
    room.propose(bot, 'first', { n: 1 }, { id: 'p-1' });
    room.propose(bot, 'second', { n: 2 }, { id: 'p-2' });
    await terminal.sees('2 wait');
    await terminal.press('F2');
    await terminal.sees('1 of 2');
    await terminal.press('Down');
    await terminal.sees('"n": 2');
    room.propose(bot, 'third', { n: 3 }, { id: 'p-3' });
    await terminal.sees('2 of 3');
    bot.send(envelope('bot', 'mcp/withdraw', { correlation_id: 'p-1' }));
    await terminal.sees(/first.*withdrawn/);
    const screen = await terminal.screen();
    assert.match(screen, /2 of 3/); // the first one stays where it was
    assert.match(screen, /"n": 2/);
    await terminal.press('a');
    await terminal.sees('run second at files');
    room.propose(bot, 'fourth', { n: 4 }, { id: 'p-4' });
    await terminal.sees('2 of 4');
    await terminal.sees('run second at files');
    await terminal.press('y');
    assert.deepEqual((await expect(files, isRequest('second'))).payload.params.arguments, { n: 2 });

    // Withdrawn before the yes: nothing is done, and the next one is not taken instead.
    await terminal.press('Down');
    await terminal.sees('"n": 3');
    await terminal.press('a');
    await terminal.sees('run third at files');
    bot.send(envelope('bot', 'mcp/withdraw', { correlation_id: 'p-3' }));
    await terminal.sees('it was withdrawn: nothing was done');
    await terminal.press('y');
    await terminal.press('a');
    await terminal.sees('it was withdrawn: nothing was done');
    await terminal.press('y');
    await terminal.sees('"n": 3');
    await wasNotAsked(files, bot);
}));

test('keys that were typed ahead answer no question', withRoom({}, async (room, terminal, bot, files) => {
    room.propose(bot, 'rm', { path: '/' });
    await terminal.sees('proposes rm');
    const [, number] = /rm → files.*#(\d+)/.exec(await terminal.screen());
    await terminal.press(...`/approve ${number}`.split('').map((c) => (c === ' ' ? 'Space' : c)), 'Enter', 'y');
    await terminal.sees('run rm at files');
    await wasNotAsked(files, bot);
    await terminal.press('Escape');
    await terminal.sees('nothing was done');
}));

test('where nobody is named, one says who', withRoom({}, async (room, terminal, bot, files) => {
    room.propose(bot, 'reboot', {}, { to: null, id: 'p-1' });
    await terminal.sees('1 waits');
    await terminal.press('F2');
    await terminal.sees('nobody is named: you will be asked');
    await terminal.press('a');
    await terminal.sees('whom to call:');
    await terminal.type('nobody');
    await terminal.press('Enter');
    await terminal.sees('nobody of that name is here');
    await terminal.press('C-u');
    await terminal.type('files');
    await terminal.press('Enter');
    await terminal.sees('run reboot at files');
    await terminal.press('y');
    assert.deepEqual((await expect(files, isRequest('reboot'))).to, ['files']);
}));

test('a call that its owner wants authorized is allowed or not', withRoom({ rows: 26 }, async (room, terminal, bot, files) => {
    const ask = (id) => files.send(envelope('files', 'mcp/request:notifications/authorization/request', {
        id: `ask-${id}`, payload: { jsonrpc: '2.0', method: 'notifications/authorization/request',
            params: { id, tool: 'rm', arguments: { path: '/tmp/x' }, requester: 'bot', reason: 'it deletes' } },
    }));
    const respond = (json) => json.kind === 'mcp/request:authorization/respond';

    ask('auth-1');
    await terminal.sees('asks whether bot may call rm');
    await terminal.press('F2');
    await terminal.sees('"path": "/tmp/x"');
    await terminal.press('e');
    await terminal.sees('cannot be edited');
    await terminal.press('a');
    await terminal.sees('allow rm at files');
    await terminal.press('y');
    const yes = await expect(files, respond);
    assert.equal(yes.correlation_id, 'ask-auth-1');
    assert.equal(yes.payload.params.authorizationId, 'auth-1');
    assert.equal(yes.payload.params.decision, 'approve');
    await terminal.lacks('1 waits');
    ask('auth-2');
    await terminal.sees('1 waits');
    await terminal.press('F2');
    await terminal.sees('ask-auth-2');
    await terminal.press('r');
    await terminal.type('no');
    await terminal.press('Enter');
    const no = await expect(files, respond);
    assert.equal(no.payload.params.decision, 'deny');
    assert.equal(no.payload.params.reason, 'no');
}));

test('what was proposed before one came is in the inbox, and expires', async () => {
    const topic = 'before';
    const bob = await gateway.join('bob', { topic });

    bob.send(envelope('bob', 'mcp/proposal:tools/call:late', { id: 'p-late', to: ['files'],
        expires_at: new Date(Date.now() + 10_000).toISOString(),
        payload: { method: 'tools/call', params: { name: 'late', arguments: { a: 1 } } } }));
    await expect(bob, (json) => json.id === 'p-late');
    const { terminal } = await startRoom(gateway, { topic });
    try {
        await terminal.sees('1 waits');
        await terminal.press('F2');
        await terminal.sees('"a": 1');
        await terminal.sees(/late → files +expired/);
        await terminal.press('a');
        await terminal.sees('it has expired: nothing was done');
    } finally {
        await terminal.close();
    }
});

test('a program is told of each proposal, and texts of others are no commands', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-hook-'));
    const evil = `"; touch ${folder}/evil; $(touch ${folder}/evil) \`touch ${folder}/evil\``;
    const command = 'cat > "$OUT/json"; printf "%s|" "$MOOT_PROPOSAL_NAME" "$MOOT_PROPOSAL_REASON" "${MOOT_TOKEN-no token}" > "$OUT/new"; '
        + 'echo noise; tty >&2; mv "$OUT/new" "$OUT/values"';

    try {
        await inRoom(() => gateway, { args: ['--on-proposal', command], env: { OUT: folder } }, async (room, terminal) => {
            room.propose(await room.join('bot'), 'rm', { path: '/' }, { reason: evil });
            await terminal.until(() => fs.existsSync(path.join(folder, 'values')), 'the program');
            assert.equal(fs.readFileSync(path.join(folder, 'values'), 'utf8'), `rm|${evil}|no token|`);
            const told = JSON.parse(fs.readFileSync(path.join(folder, 'json'), 'utf8'));
            assert.deepEqual(told.params, { name: 'rm', arguments: { path: '/' } });
            assert.deepEqual([told.type, told.topic, told.proposer, told.to], ['proposal', room.topic, 'bot', ['files']]);
            assert.equal(fs.existsSync(path.join(folder, 'evil')), false);
            assert.doesNotMatch(await terminal.sees('1 waits'), /noise|tty/);
        })();
    } finally {
        fs.rmSync(folder, { recursive: true, force: true });
    }
});
