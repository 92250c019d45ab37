// SPDX-License-Identifier: Apache-2.0
// moot who, moot tools: who is here, what they may do, what they offer.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';

import { envelope, person, program, startGateway } from './gateway.mjs';
import { moot, serveTools } from './moot.mjs';
import { startTerminal } from './terminal.mjs';

let gateway;
const by = (params) => ({ kind: 'mcp/request:tools/call', payload: { params } });

before(async () => {
    gateway = await startGateway({ tokens: [
        person('human', { profile: 'human' }), person('calc', { profile: 'responder', type: 'service' }), person('many', { profile: 'responder' }),
        person('mute', { profile: 'responder' }), person('liar', { profile: 'responder' }), person('talker', { capabilities: ['chat', by({ name: 'x' })] }),
        person('refuser', { profile: 'responder' }), person('watcher', { capabilities: ['chat'] }),
    ] });
    serveTools(await gateway.join('calc'), { add: () => '', odd: () => '' }, { describe: {
        add: { description: 'adds two numbers\nof any size\n\nand more', inputSchema: { type: 'object',
            properties: { a: { type: 'number' }, b: { type: 'number' }, digits: { type: 'integer' } }, required: ['a', 'b'] } },
        odd: { description: 'hostile \u001b[2J\u202etext', inputSchema: { type: 'object', properties: { '\u0007x': {} } } },
    } });
});
after(async () => { await gateway.stop(); });

test('who: everybody with what they may, ourselves included', async () => {
    const talker = await gateway.join('talker');
    const { status, stdout, stderr } = await moot(gateway, 'human', ['who', 'room']);

    assert.deepEqual([status, stderr], [0, '']);
    assert.equal(stdout, [
        'PARTICIPANT  TYPE     MAY',
        'calc         service  mcp/response:*, chat',
        'human        (you)    mcp/*, chat, participant/status, rule/accept, rule/add, rule/decline, rule/disable, rule/enable',
        'talker       agent    chat, mcp/request:tools/call (by payload)',
        '',
    ].join('\n'));
    const lines = (await moot(gateway, 'human', ['who', 'room', '--json'])).stdout.trim().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(lines, [
        { id: 'calc', type: 'service', capabilities: ['mcp/response:*', 'chat'] },
        { id: 'human', capabilities: ['mcp/*', 'chat', 'participant/status', 'rule/accept', 'rule/add', 'rule/decline', 'rule/disable', 'rule/enable'], you: true },
        { id: 'talker', type: 'agent', capabilities: ['chat', by({ name: 'x' })] },
    ]);
    await talker.close();
});

test('tools: by participant, with arguments and descriptions', async () => {
    assert.deepEqual(await moot(gateway, 'human', ['tools', 'room']), { status: 0, stderr: '', stdout: [
        'calc (service)',
        '  add(a: number, b: number, [digits: integer])',
        '      adds two numbers',
        '      of any size',
        '  odd([\\u0007x])',
        '      hostile \\u001b[2J\\u202etext',
        '',
    ].join('\n') });
});

test('tools: page by page, and who does not answer, or not as asked, is named', async () => {
    const names = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`tool-${i}`, () => '']));
    const clients = [
        serveTools(await gateway.join('many'), names, { page: 10 }), await gateway.join('mute'), await gateway.join('liar'), await gateway.join('refuser'),
        await gateway.join('talker'),
    ];
    const [, , liar, refuser] = clients;
    const answering = (client, what) => client.socket.on('message', (text) => {
        const { kind, id, from, payload } = JSON.parse(text);
        if (kind === 'mcp/request:tools/list')
            client.send(envelope(client.id, 'mcp/response:tools/list', { to: [from], correlation_id: id, payload: { jsonrpc: '2.0', id: payload.id, ...what } }));
    });

    answering(liar, { result: { tools: 'all of them' } });
    answering(refuser, { error: { code: -32603, message: 'not \u001b[2Jnow' } });
    const { status, stdout, stderr } = await moot(gateway, 'human', ['tools', 'room', '--json', '--timeout', '5']);
    const lines = stdout.trim().split('\n').map((line) => JSON.parse(line));

    assert.equal(status, 0);
    assert.deepEqual(lines.map(({ participant, tools, error }) => [participant, tools?.length ?? error]), [
        ['calc', 2], ['liar', 'its answer is no list of tools'], ['many', 25], ['mute', 'does not answer'], ['refuser', 'not \u001b[2Jnow'],
    ]);
    assert.deepEqual(lines[2].tools.map(({ name }) => name), Object.keys(names));
    assert.equal(stderr, 'moot: liar: its answer is no list of tools\nmoot: mute: does not answer\nmoot: refuser: not \\u001b[2Jnow\n');
    assert.equal((await moot(gateway, 'human', ['tools', 'room', 'mute', '--timeout', '1'])).status, 1);
    assert.equal((await moot(gateway, 'human', ['tools', 'room', 'calc'])).stdout.split('\n')[0], 'calc (service)');
    for (const client of clients)
        await client.close();
});

test('tools: who does not know of tools has none', async () => {
    const client = await gateway.join('refuser');

    client.socket.on('message', (text) => {
        const { kind, id, from, payload } = JSON.parse(text);
        if (kind === 'mcp/request:tools/list')
            client.send(envelope('refuser', 'mcp/response:tools/list', { to: [from], correlation_id: id,
                payload: { jsonrpc: '2.0', id: payload.id, error: { code: -32601, message: 'the server did not declare tools' } } }));
    });
    const { status, stdout, stderr } = await moot(gateway, 'human', ['tools', 'room', 'refuser']);

    assert.equal(stderr, '');
    assert.match(stdout, /^refuser \(.*\): no tools\n$/);
    assert.equal(status, 0);
    assert.match((await moot(gateway, 'human', ['call', 'room', 'nothing'])).stderr, /^moot: nobody here offers "nothing"; `moot tools`/);
    await client.close();
});

test('tools: a list without end is cut', async () => {
    const liar = await gateway.join('liar');
    let pages = 0;

    liar.socket.on('message', (text) => {
        const { kind, id, from, payload } = JSON.parse(text);
        if (kind !== 'mcp/request:tools/list')
            return;
        pages++;
        liar.send(envelope('liar', 'mcp/response:tools/list', { to: [from], correlation_id: id,
            payload: { jsonrpc: '2.0', id: payload.id, result: { tools: [{ name: `t${pages}` }, { nameless: true }, 'x'], nextCursor: 'again' } } }));
    });
    const { status, stdout } = await moot(gateway, 'human', ['tools', 'room', 'liar', '--json']);
    assert.equal(status, 0);
    assert.equal(pages, 100);
    assert.equal(JSON.parse(stdout).tools.length, 100);
    await liar.close();
});

test('tools: who may not ask, and who is not here', async () => {
    const refused = await moot(gateway, 'watcher', ['tools', 'room']);
    const absent = await moot(gateway, 'human', ['tools', 'room', 'nobody']);

    assert.deepEqual([refused.status, absent.status], [4, 1]);
    assert.match(refused.stderr, /you may not ask for tools here/);
    assert.match(absent.stderr, /nobody is not in room/);
});

test('who and tools fit a terminal: what is long goes on below itself', { skip: spawnSync('tmux', ['-V']).status !== 0 && 'there is no tmux' }, async () => {
    const far = await startGateway({ tokens: [person('bob'), person('ann', { capabilities: Array.from({ length: 9 }, (_, i) => `chat/number-${i}`).concat('mcp/*') })] });
    const ann = await far.join('ann');
    const wide = 'a description of many words '.repeat(9);

    serveTools(ann, { tool: () => '' }, { describe: { tool: { description: wide, inputSchema: { type: 'object',
        properties: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`parameter-${i}`, { type: 'string' }])) } } } });
    for (const [command, pattern] of [['who', /^ann +[^]*\n {22}\S/m], ['tools', /^ {2}tool\([^]*\n {6}\S[^]*\n {6}a description[^]*\n {6}\S/m]]) {
        const terminal = await startTerminal([program, command, 'room', '--server', `http://127.0.0.1:${far.port}`],
                                             { columns: 80, rows: 40, env: { MOOT_TOKEN: 'bob-token', NO_COLOR: '1' } });

        try {
            assert.equal(await terminal.ended(), 0);
            const screen = await terminal.tmux('capture-pane', '-t', 'room', '-p', '-J', '-S', '-');
            assert.match(screen, pattern);
            assert.deepEqual(screen.split('\n').filter((line) => line.trimEnd().length > 80), []);
        } finally {
            await terminal.close();
        }
    }
    await far.stop();
});
