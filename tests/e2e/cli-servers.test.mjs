// SPDX-License-Identifier: Apache-2.0
// moot run, ps, logs, stop, restart, tools --server: the MCP servers of a gateway.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { caller, echo } from './bridges.mjs';
import { expect, people, program, startGateway } from './gateway.mjs';
import { moot, startMoot } from './moot.mjs';
import { startTerminal } from './terminal.mjs';

let alice, env, gateway, rpc;

before(async () => {
    gateway = await startGateway({ tokens: people('alice') });
    env = { MOOT_DATA: gateway.data };
    alice = await gateway.join('alice', { topic: 'room' });
    rpc = caller(alice, 'tool');
});
after(() => gateway.stop());

const run = (...args) => moot(null, null, args, { env });
const textOf = ({ content }) => content.map(({ text }) => text).join('\n');
const state = async () => JSON.parse((await run('ps', '--json')).stdout).servers[0].state;

test('run looks before it starts anything, and starts for good', async () => {
    const words = ['run', 'room', '--as', 'tool', '--sandbox', 'off', '--', echo, '--legacy'];

    const none = await run('ps');

    assert.equal(none.stdout.split('\n').length, 2, 'the titles alone');
    assert.match(none.stderr, /`moot run` adds one/);
    assert.match((await run(...words)).stderr, /--explain/);
    assert.equal((await run(...words.slice(0, 4), '--explain', ...words.slice(4))).status, 0);
    const end = await run(...words.slice(0, 4), '--yes', ...words.slice(4));
    assert.equal(end.status, 0, end.stderr);
    assert.match(end.stderr, /^warning: there is no sandbox/m);
    assert.match(end.stderr, /^tool is in room from now on/m);
    await expect(alice, (json) => json.from === 'tool' && json.kind === 'participant/status');
    assert.equal(textOf(await rpc.call('echo', { text: 'hi' })), 'hi');
});

test('bridge takes no name of a server that the gateway keeps', async () => {
    const { status, stderr } = await run('bridge', 'room', '--as', 'tool', '--sandbox', 'off', '--yes', '--', echo, '--legacy');

    assert.equal(status, 1);
    assert.match(stderr, /the gateway keeps a server "tool" itself \(`moot ps`\); give this one another name with --as/);
});

test('run with a topic alone, or without --as, says what is missing', async () => {
    const alone = await run('run', 'room');
    const nameless = await run('run', 'room', '--', echo);

    assert.equal(alone.status, 1);
    assert.match(alone.stderr, /there is no server "room"; `moot ps` lists them, `moot run TOPIC --as NAME -- COMMAND` adds one/);
    assert.equal(nameless.status, 2);
    assert.match(nameless.stderr, /--as NAME is missing/);
});

test('ps tells how it is', async () => {
    const { stdout } = await run('ps');

    assert.match(stdout, /^NAME +TOPIC +STATE +ERA/);
    assert.match(stdout, /^tool +room +ready +legacy +\d+ /m);
    assert.ok(stdout.split('\n').every((line) => line.length <= 80), 'as wide as a terminal');
});

test('logs are read, and followed', async () => {
    const follower = startMoot(null, null, ['logs', '-f', 'tool'], { env });

    await follower.line(/ready/);
    await rpc.call('noise', { text: 'a line of noise' });
    await follower.line(/server +a line of noise/);
    follower.child.kill('SIGTERM');
    assert.match((await run('logs', 'tool', '--lines', '1')).stdout, /^\S+Z server +a line of noise\n$/);
    assert.match((await run('logs', 'nobody')).stderr, /there is no server "nobody"; `moot ps`/);
});

test('stop, run and restart do what they say', async () => {
    const pid = textOf(await rpc.call('pid'));

    assert.equal((await run('restart', 'tool')).status, 0);
    assert.notEqual(textOf(await rpc.call('pid')), pid);
    assert.equal((await run('stop', 'tool')).status, 0);
    assert.equal((await rpc.error('tools/call', { name: 'pid', arguments: {} })).code, -32603);
    assert.equal(await state(), 'stopped');
    assert.match((await run('ps')).stdout, /^tool .*\n {2}an administrator stopped it\n/m);
    assert.equal((await run('run', 'tool')).status, 0);
    assert.match(textOf(await rpc.call('pid')), /^\d+$/);
    assert.match((await run('stop', 'nobody')).stderr, /there is no server "nobody"/);
});

test('tools --server shows what is held and how it differs; --approve lets it go', async () => {
    // Held only behind the first catalogue, which is closed a while after the last change.
    for (;;) {
        const { trusted } = JSON.parse((await run('tools', '--server', 'tool', '--json')).stdout);

        if (trusted)
            break;
        await new Promise((resolve) => { setTimeout(resolve, 100); });
    }
    await rpc.call('change');
    await rpc.told('notifications/tools/list_changed');
    const { stdout } = await run('tools', '--server', 'tool');
    assert.match(stdout, /^ {2}held {5}echo: .*\n {6}- .*\n {6}\+ /m);
    assert.match(stdout, /^ {2}shown {4}pid$/m);
    assert.match((await rpc.error('tools/call', { name: 'echo', arguments: { text: 'x' } })).message, /^held/);
    assert.match((await run('tools', '--server', 'tool', '--approve', 'nothing')).stderr, /nothing of that name/);
    assert.match((await run('tools', '--server', 'tool', '--approve', 'echo')).stdout, /shown {4}echo$/m);
    assert.equal(textOf(await rpc.call('echo', { text: 'x' })), 'x');
    assert.equal((await run('tools')).status, 2);
});

test('what is approved in a terminal is what was shown there, and nothing that came meanwhile', async () => {
    const approve = (...words) => startTerminal(['sh', '-c', '"$@"; echo "status $?"', 'sh', program, 'tools', '--server', 'tool', ...words], { env });
    const digest = async () => JSON.parse((await run('tools', '--server', 'tool', '--json')).stdout).digest;
    const change = async () => {
        const before = await digest();

        await rpc.call('change');
        while (await digest() === before);
    };

    await change();
    for (const words of [['--approve', 'echo'], ['--all']]) {
        const late = await approve(...words);
        await late.sees(/held +echo:[^]*Approve this\? \[y\/N\]/);
        await change();
        await late.type('y');
        await late.press('Enter');
        await late.sees('The server offers something else by now than you saw. Look at it again.');
        await late.sees('status 1');
        await late.close();
    }
    assert.match((await rpc.error('tools/call', { name: 'echo', arguments: { text: 'x' } })).message, /^held/);
    const no = await approve('--all');
    await no.sees('Approve this? [y/N]');
    await no.press('Enter');
    await no.sees('nothing was approved');
    await no.close();
    const yes = await approve('--approve', 'echo');
    await yes.sees('Approve this? [y/N]');
    await yes.type('y');
    await yes.press('Enter');
    await yes.sees(/shown +echo$/m);
    await yes.sees('status 0');
    await yes.close();
    assert.equal(textOf(await rpc.call('echo', { text: 'x' })), 'x');
    await change();
    assert.match((await run('tools', '--server', 'tool', '--all', '--yes')).stdout, /shown {4}echo$/m);
});

test('stop --remove takes it away', async () => {
    assert.equal((await run('stop', '--remove', 'tool')).status, 0);
    await expect(alice, (json) => json.kind === 'system/presence' && json.payload.event === 'leave');
    assert.equal((await run('ps')).stdout.split('\n').length, 2);
});

// Offers a tool whose name MCP does not allow.
const misnamed = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const results = {
        initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }),
        'tools/list': () => ({ tools: [{ name: 'no name!', inputSchema: { type: 'object' } }] }),
    };
    if (id !== undefined)
        console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(results[method] ? { result: results[method]() } : { error: { code: -32601, message: '' } }) }));
}).on('close', () => process.exit(0));`;

test('what is dropped is not held: nobody can approve it', async () => {
    assert.equal((await run('run', 'room', '--as', 'tool', '--sandbox', 'off', '--yes', '--', process.execPath, '-e', misnamed)).status, 0);
    await expect(alice, (json) => json.kind === 'system/presence' && json.payload.event === 'join');
    assert.deepEqual(await rpc.result('tools/list'), { tools: [] }); // is answered when the catalogue is known
    assert.match((await run('tools', '--server', 'tool')).stdout, /^ {2}dropped {2}no name!: the name of a tool is made of/m);
    const [server] = JSON.parse((await run('ps', '--json')).stdout).servers;
    assert.equal(server.tools, 0);
    assert.equal(server.held ?? 0, 0);
    assert.match((await rpc.error('tools/call', { name: 'another', arguments: {} })).message, /^there is no tool of that name$/);
    assert.match((await run('tools', '--server', 'nobody')).stderr, /there is no server "nobody"; `moot ps` lists them/);
    assert.equal((await run('stop', '--remove', 'tool')).status, 0);
});

test('whoever says --yes is told what stands in the way', async () => {
    const { status, stderr } = await run('run', 'room', '--as', 'none', '--sandbox', 'off', '--yes', '--', '/no/such/program');

    assert.equal(status, 0, stderr);
    assert.match(stderr, /^warning: it cannot start: there is no program \/no\/such\/program$/m);
    assert.equal((await run('stop', '--remove', 'none')).status, 0);
});
