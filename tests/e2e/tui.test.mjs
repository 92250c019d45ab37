// SPDX-License-Identifier: Apache-2.0
// The terminal room, driven in tmux: chat, threads, completion, reading back, coming and going.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { envelope, expect, expectOnly, program, startGateway } from './gateway.mjs';
import { answer, crowd, inRoom, startRoom, startTerminal } from './terminal.mjs';

let gateway;

before(async () => { gateway = await startGateway({ tokens: crowd }); });
after(() => gateway.stop());

const withRoom = (options, use) => inRoom(() => gateway, options, use);

test('people talk with each other, and threads stand together with their state', withRoom({ columns: 90, rows: 18 }, async (room, terminal) => {
    const bot = await room.join('bot');
    await terminal.sees('bot joined');
    const files = await room.join('files');
    await terminal.sees('bot, files joined');

    bot.chat('Good morning');
    await terminal.sees('Good morning');
    await terminal.type('What is in the message of the day?');
    await terminal.press('Enter');
    const question = await expect(bot, (json) => json.kind === 'chat' && json.from === 'alice');
    assert.equal(question.payload.text, 'What is in the message of the day?');
    await terminal.sees('alice        What is');

    const proposal = room.propose(bot, 'read_file', { path: '/etc/motd' });
    await terminal.sees('open  #5');
    await terminal.type('/approve 5');
    await terminal.press('Enter');
    await terminal.sees('run read_file at files, as proposed');
    await terminal.press('y');
    const request = await expect(files, (json) => json.kind === 'mcp/request:tools/call:read_file');
    assert.equal(request.correlation_id, proposal.id);
    assert.deepEqual(request.payload.params, proposal.payload.params);
    await terminal.sees('waiting');
    bot.chat('while we wait');
    await terminal.sees('while we wait');
    files.send(answer(request, 'It goes down\non Friday.'));
    await terminal.sees('on Friday.');

    await terminal.shows(`\
 room                                                                  connected · 3 here





HH:MM              You are alice. F1 or /help tells what can be done here.
HH:MM              bot, files joined
HH:MM bot          Good morning
HH:MM alice        What is in the message of the day?
HH:MM bot          proposes read_file → files (path: "/etc/motd")  fulfilled by alice  #5
HH:MM ├ alice      calls read_file → files (as proposed)  answered  #6
HH:MM └ files      answers
                   It goes down
                   on Friday.
HH:MM bot          while we wait
── approved ──────────────────────────────────────────────────────────────────────────────
›`);
}));

test('a wide screen shows who is here and what they may do', withRoom({ columns: 110, rows: 12 }, async (room, terminal) => {
    await room.join('bot');
    await room.join('bob');
    await terminal.sees(/bob +human/);
    await terminal.shows(`\
 room                                                                                      connected · 3 here
                                                                               │ alice                    you
                                                                               │   everything
                                                                               │ bob                    human
                                                                               │   everything
                                                                               │ bot                    agent
                                                                               │   talks, proposes, answers
                                                                               │
HH:MM              You are alice. F1 or /help tells what can be done here.     │
HH:MM              bot, bob joined                                             │
──────────────────────────────────────────────────────────────────────────────────────────────────────────────
›`);
    await terminal.press('Tab', 'Tab', 'Down', 'Down');
    await terminal.sees('bot may send');
    await terminal.shows(`\
 room                                                                                      connected · 3 here
 alice                   you      everything
 bob                     human    everything
 bot                     agent    talks, proposes, answers
── 3 of 3 ────────────────────────────────────────────────────────────────────────────────────────────────────
 bot may send

 mcp/proposal:*
 mcp/response:*
 chat
──────────────────────────────────────────────────────────────────────────────────────────────────────────────
 t ask for tools  ↑↓ choose  PgDn read  Esc back`);
}));

test('the line is edited by what is seen, and remembered', withRoom({}, async (room, terminal) => {
    const bob = await room.join('bob');
    const said = async () => (await expect(bob, (json) => json.from === 'alice')).payload.text;

    await terminal.type('日本語 cafe');
    await terminal.type('\u0301 x');
    await terminal.press('Left', 'Left', 'BSpace', 'BSpace', 'C-a', 'Right', 'DC', 'C-e');
    await terminal.type('!');
    await terminal.press('Enter');
    assert.equal(await said(), '日語 ca x!');
    await terminal.type('one two three');
    await terminal.press('C-w', 'C-a', 'C-k', 'C-y', 'C-y', 'C-u', 'C-y', 'Enter');
    assert.equal(await said(), 'one two one two ');
    await terminal.press('Up', 'Up', 'Enter');
    assert.equal(await said(), '日語 ca x!');
    await terminal.type('draft');
    await terminal.press('Up', 'Down', 'Enter');
    assert.equal(await said(), 'draft');
    await terminal.type('//usr is a path');
    await terminal.press('Enter');
    assert.equal(await said(), '/usr is a path');
}));

test('what is pasted is text, also its line breaks', withRoom({}, async (room, terminal) => {
    const bob = await room.join('bob');

    await terminal.tmux('set-buffer', 'one\n/quit\ttwo');
    await terminal.tmux('paste-buffer', '-p', '-t', 'room');
    await terminal.sees('one /quit two');
    await expectOnly([bob], bob);
    await terminal.press('Enter');
    assert.equal((await expect(bob, (json) => json.from === 'alice')).payload.text, 'one\n/quit two');
}));

test('who does not know of tools has none, which is no failure', withRoom({}, async (room, terminal) => {
    const files = await room.join('files');

    await terminal.sees('files joined');
    await terminal.press('F3', 'Down');
    await terminal.sees('files may send');
    await terminal.press('t');
    const list = await expect(files, (json) => json.kind === 'mcp/request:tools/list');
    files.send(answer(list, '', { payload: { jsonrpc: '2.0', id: list.payload.id, error: { code: -32601, message: 'it did not declare tools' } } }));
    assert.doesNotMatch(await terminal.sees(/Tools\n\n none/), /declare/);
}));

test('what a server asks back is declined, and both sides are told', withRoom({ columns: 160 }, async (room, terminal) => {
    const bob = await room.join('bob');

    await terminal.sees('bob joined');
    const asked = bob.send(envelope('bob', 'mcp/request:elicitation/create', {
        to: ['alice'], payload: { jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: { message: 'Your name?', requestedSchema: {} } } }));
    const { payload } = await expect(bob, (json) => json.correlation_id === asked.id);
    assert.deepEqual(payload.result, { action: 'decline' });
    await terminal.sees(/bob asked you something that cannot be answered here: declined/);
}));

test('commands, participants and tools are completed; tools are asked for', withRoom({}, async (room, terminal) => {
    const files = await room.join('files');
    await terminal.sees('files joined');

    await terminal.type('/ca');
    await terminal.press('Tab');
    await terminal.sees('› /call');
    await terminal.type('f');
    await terminal.press('Tab');
    await terminal.sees('› /call files');
    await terminal.press('Tab');
    const list = await expect(files, (json) => json.kind === 'mcp/request:tools/list');
    files.send(answer(list, '', { payload: { jsonrpc: '2.0', id: list.payload.id,
        result: { tools: [{ name: 'read_file' }, { name: 'read_dir' }, { name: 'not callable' }] } } }));
    await terminal.sees('› /call files read_');
    await terminal.sees('read_file  read_dir');
    await terminal.type('f');
    await terminal.press('Tab');
    await terminal.type('path=/etc/motd deep={"a":[1]}');
    await terminal.press('Enter');
    const call = await expect(files, (json) => json.kind === 'mcp/request:tools/call:read_file');
    assert.deepEqual(call.payload.params.arguments, { path: '/etc/motd', deep: { a: [1] } });
    files.send(answer(call, 'welcome'));
    assert.doesNotMatch(await terminal.sees('answers: welcome'), /tools\/list|read_dir|said before/);
    await terminal.type('hello @fi');
    await terminal.press('Tab');
    await terminal.sees('› hello @files');
}));

test('what cannot be done is said, and stays on the line', withRoom({}, async (room, terminal) => {
    await terminal.type('/nonsense');
    await terminal.press('Enter');
    await terminal.sees('there is no such command');
    await terminal.sees('› /nonsense');
    await terminal.press('C-u');
    await terminal.type('/call nobody x y');
    await terminal.press('Enter');
    await terminal.sees('arguments are NAME=VALUE');
    await terminal.press('C-c');
    await terminal.type('/approve 99');
    await terminal.press('Enter');
    await terminal.sees('no such proposal is open');
}));

test('who has scrolled up stays, and is told of what comes', withRoom({ columns: 90, rows: 10 }, async (room, terminal) => {
    const bob = await room.join('bob');

    for (let i = 1; i <= 20; i++)
        bob.chat(`number ${i}.`);
    await terminal.sees('number 20.');
    await terminal.press('PPage');
    const before = await terminal.sees('more below');
    assert.match(before, /number 14\.\n/);
    assert.doesNotMatch(before, /number 15\./);
    bob.chat('news');
    const after = await terminal.sees('1 new below');
    assert.deepEqual(after.split('\n').slice(1, 8), before.split('\n').slice(1, 8));
    await terminal.press('NPage', 'NPage');
    await terminal.sees('news');
    assert.doesNotMatch(await terminal.screen(), /below/);
}));

test('an envelope is shown as it came, and help tells the commands', withRoom({ rows: 30 }, async (room, terminal) => {
    const bob = await room.join('bob');

    bob.send(envelope('bob', 'chat', { id: 'the-id', payload: { text: 'x', 'a\u001b[2J': '\u202e' } }));
    await terminal.sees('bob          x');
    await terminal.type('/raw');
    await terminal.press('Enter');
    await terminal.sees('"id": "the-id"');
    await terminal.sees('"a\\u001b[2J": "\\u202e"');
    await terminal.press('Escape');
    await terminal.press('F1');
    await terminal.sees('Ctrl-A, Ctrl-E');
    await terminal.press('NPage');
    await terminal.sees('/withdraw N');
    await terminal.press('q');
    await terminal.sees('bob          x');
}));

test('what may not be done is told, by oneself or by the gateway', withRoom({ env: { MOOT_TOKEN: 'bot-token' } }, async (room, terminal) => {
    const bob = await room.join('bob');

    await terminal.sees('bob joined');
    await terminal.type('/call bob x');
    await terminal.press('Enter');
    await terminal.sees('(/propose asks others to do it)');
    await terminal.press('C-u');
    await terminal.type('/propose bob x a=1 -- it is time');
    await terminal.press('Enter');
    const proposal = await expect(bob, (json) => json.kind === 'mcp/proposal:tools/call:x');
    assert.deepEqual(proposal.payload.params, { name: 'x', arguments: { a: 1 } });
    assert.equal(proposal.payload.reason, 'it is time');
    await terminal.sees('proposes x → bob');
    bob.send(envelope('bob', 'participant/pause', { payload: { participant: 'bot' } }));
    await terminal.sees('participant/pause');
    await terminal.type('/propose bob y');
    await terminal.press('Enter');
    await terminal.sees(/The gateway refused it: .*\(paused\)/);
}));

test('a gateway that goes and comes again is waited for, and what was missed is said', async () => {
    const first = await startGateway({ tokens: crowd });
    const { terminal, join } = await startRoom(first, { columns: 100, rows: 14 });
    let second;

    try {
        await terminal.sees('connected');
        const bob = await join('bob');
        bob.chat('before');
        await terminal.sees('before');
        first.signal('SIGKILL');
        await terminal.sees(/no connection, next try in \d+ s \(/);
        await terminal.type('is anybody there?');
        await terminal.press('Enter');
        await terminal.sees('not connected');
        await terminal.sees('› is anybody there?');
        second = await startGateway(fs.readFileSync(first.config, 'utf8'), { args: ['--listen', `127.0.0.1:${first.port}`] });
        await terminal.sees('some messages were missed while there was no connection (Esc)');
        await terminal.sees('connected · ');
        await terminal.press('Enter');
        await terminal.sees('alice        is anybody there?');
        assert.match(await terminal.sees('some messages were missed here'), /before/);
        await terminal.press('Escape');
        await terminal.lacks('(Esc)');
    } finally {
        await terminal.close();
        await second?.stop();
    }
});

test('one leaves with a command, a key or a signal', async () => {
    const bob = await gateway.join('bob', { topic: 'leaving' });
    const leave = [
        async (terminal) => { await terminal.type('/quit'); await terminal.press('Enter'); },
        async (terminal) => { await terminal.press('C-d'); },
        (terminal) => terminal.signal('SIGTERM'),
    ];
    const heard = (event) => expect(bob, (json) => json.payload.participant?.id === 'alice' && json.payload.event === event);

    for (const by of leave) {
        const { terminal } = await startRoom(gateway, { topic: 'leaving' });
        try {
            await terminal.sees('connected');
            await heard('join');
            await by(terminal);
            assert.equal(await terminal.ended(), 0);
            await heard('leave');
        } finally {
            await terminal.close();
        }
    }
});

test('without a server the local one is asked, as the person of its token', async () => {
    const terminal = await startTerminal([program, 'join', 'local', '--data', gateway.data]);

    try {
        await terminal.sees('You are human.');
        await terminal.sees('connected');
    } finally {
        await terminal.close();
    }
});

test('who is not let in is told why', async () => {
    const terminal = await startTerminal(['sh', '-c', '"$0" "$@"; echo "ended with $?"; read x', program, 'join', 'room',
        '--server', `http://127.0.0.1:${gateway.port}`], { env: { MOOT_TOKEN: 'nonsense' } });

    try {
        await terminal.sees('ended with 1');
        await terminal.sees('moot: the server answered 401 Unauthorized');
    } finally {
        await terminal.close();
    }
});
