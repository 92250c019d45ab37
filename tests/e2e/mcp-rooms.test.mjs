// SPDX-License-Identifier: Apache-2.0
// Several MCP servers, and an agent that answers MCP itself, in one topic: one MCP server to a client.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { mcpServer, startBridge } from './bridges.mjs';
import { person, startGateway, within } from './gateway.mjs';
import { offering, plain, sdkClient, textIn } from './mcp-room.mjs';

const OFFER = { tools: ['same'], resources: ['doc://shared', 'doc://only-%'], templates: ['doc://%/{n}'], prompts: ['greet'] };
const offer = (name) => JSON.parse(JSON.stringify(OFFER).replaceAll('%', name));
const LONG = 'a_tool_with_a_name_that_is_rather_long_for_what_it_does_'.repeat(2);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-rooms-'));
let gateway, alice;

before(async () => {
    gateway = await startGateway({
        mcp: { room_tools: 'off' },
        servers: {
            first: offering('first', offer('first')),
            second: offering('second', { ...offer('second'), tools: ['same', 'own', LONG] }),
            alone: offering('alone', { tools: ['some.tool'], resources: ['doc://a'] }, { topic: 'single' }),
            many: offering('many', { tools: Array.from({ length: 950 }, (_, n) => `tool_${n}`), page: 100 }, { topic: 'crowd' }),
            more: offering('more', { tools: Array.from({ length: 40 }, (_, n) => `tool_${n}`), page: 7 }, { topic: 'crowd' }),
            everything: plain(mcpServer('everything'), { topic: 'real' }),
            memory: plain(mcpServer('memory'), { topic: 'real', env: { MEMORY_FILE_PATH: path.join(folder, 'memory.json') } }),
            files: plain(mcpServer('filesystem', folder), { topic: 'real' }),
        },
        limits: { envelope: '64KiB' },
        tokens: [
            person('alice'),
            person('third', { type: 'service' }),
        ],
    });
    alice = await sdkClient(gateway, 'alice');
    await alice.shows('second.own');
    await alice.shows('first.same');
});
after(async () => {
    await alice?.close();
    await gateway.stop();
    fs.rmSync(folder, { recursive: true, force: true });
});

test('tools and prompts of several are called PARTICIPANT.NAME, in 64 characters at most', async () => {
    const tools = await alice.names('Tools');
    const cut = tools.find((name) => name.startsWith('second.a_tool_with'));

    assert.deepEqual(tools.filter((name) => name !== cut), [
        ...['who', 'links', 'touch', 'grow', 'shout', 'heard', 'same'].map((name) => `first.${name}`),
        ...['who', 'links', 'touch', 'grow', 'shout', 'heard', 'same', 'own'].map((name) => `second.${name}`),
    ]);
    assert.equal(cut.length, 64);
    assert.match(cut, /_[0-9a-f]{6}$/);
    assert.equal(textIn(await alice.call(cut)), `${LONG} of second`);
    assert.deepEqual(await alice.names('Prompts'), ['first.greet', 'second.greet']);
    const { messages } = await alice.getPrompt({ name: 'second.greet' });
    assert.equal(messages[0].content.text, 'greet of second');
});

test('a call may use either name, where only one thing can be meant', async () => {
    assert.equal(textIn(await alice.call('second.own')), 'own of second');
    assert.equal(textIn(await alice.call('own')), 'own of second');
    assert.equal(textIn(await alice.call('first.same')), 'same of first');
    await assert.rejects(alice.call('same'), /Unknown tool: same/);
    const later = await sdkClient(gateway, 'alice');
    assert.match(later.getInstructions(), /I am first\.[^]*I am second\./);
    await later.close();
});

test('a single one is shown as it is', async () => {
    const client = await sdkClient(gateway, 'alice', { topic: 'single' });

    await client.shows('some.tool');
    const again = await sdkClient(gateway, 'alice', { topic: 'single' });
    assert.deepEqual(again.getServerVersion(), { name: 'alone', version: '1' });
    assert.equal(again.getInstructions(), 'I am alone.');
    assert.deepEqual(await client.names('Tools'), ['who', 'links', 'touch', 'grow', 'shout', 'heard', 'some.tool']);
    assert.equal(textIn(await client.call('some.tool')), 'some.tool of alone');
    assert.equal(textIn(await client.call('alone.some.tool')), 'some.tool of alone');
    await client.close();
    await again.close();
});

test('URIs of several are OWNER+URI, wherever they stand', async () => {
    assert.deepEqual((await alice.names('Resources')).sort(),
        ['doc://only-first', 'doc://only-second', 'first+doc://shared', 'second+doc://shared']);
    assert.deepEqual((await alice.names('ResourceTemplates')).sort(), ['doc://first/{n}', 'doc://second/{n}']);
    const read = async (uri) => (await alice.readResource({ uri })).contents[0];

    assert.deepEqual(await read('second+doc://shared'), { uri: 'second+doc://shared', text: 'doc://shared of second' });
    assert.deepEqual(await read('first+doc://shared'), { uri: 'first+doc://shared', text: 'doc://shared of first' });
    assert.deepEqual(await read('doc://only-first'), { uri: 'doc://only-first', text: 'doc://only-first of first' });
    assert.deepEqual(await read('doc://second/7'), { uri: 'doc://second/7', text: 'doc://second/7 of second' });
    const { content: [link, embedded] } = await alice.call('second.links');
    assert.equal(link.uri, 'second+doc://shared');
    assert.equal(embedded.resource.uri, 'second+doc://shared');
    await assert.rejects(alice.readResource({ uri: 'doc://shared' }), /Resource not found/);
});

test('changes of a resource are told under the name that it has here', async () => {
    await alice.subscribeResource({ uri: 'second+doc://shared' });
    assert.equal(textIn(await alice.call('second.touch')), '["doc://shared"]');
    await alice.isTold('notifications/resources/updated');
    assert.deepEqual(alice.lastTold['notifications/resources/updated'], { uri: 'second+doc://shared' });
    assert.equal(textIn(await alice.call('first.touch')), '[]');
    await alice.unsubscribeResource({ uri: 'second+doc://shared' });
    assert.equal(textIn(await alice.call('second.touch')), '[]');
});

test('completions come from whose prompt or template it is', async () => {
    const complete = async (ref) => (await alice.complete({ ref, argument: { name: 'n', value: 'x' } })).completion.values;

    assert.deepEqual(await complete({ type: 'ref/prompt', name: 'second.greet' }), ['second x1', 'second x2']);
    assert.deepEqual(await complete({ type: 'ref/resource', uri: 'doc://first/{n}' }), ['first x1', 'first x2']);
});

test('names stay while others come and go, and clients are told', async () => {
    const before = await alice.names('Tools');
    const told = alice.told['notifications/tools/list_changed'] ?? 0;
    const { command } = offering('third', { tools: ['own'] });
    const third = await startBridge(gateway, ['--sandbox', 'off', '--pin', 'off'], command, { as: 'third' });

    await alice.shows('third.own');
    assert.deepEqual((await alice.names('Tools')).filter((name) => !name.startsWith('third.')), before);
    await assert.rejects(alice.call('own'), /Unknown tool/); // two have one now
    assert.equal(textIn(await alice.call('second.own')), 'own of second');
    await alice.isTold('notifications/tools/list_changed', told + 1);
    await third.stop();
    await within((async () => {
        while ((await alice.names('Tools')).length !== before.length);
    })(), 'the third to be gone');
    assert.deepEqual(await alice.names('Tools'), before);
    await alice.isTold('notifications/tools/list_changed', told + 2);
});

test('long lists come in pages, and none is missing or there twice', async () => {
    const client = await sdkClient(gateway, 'alice', { topic: 'crowd' });

    await client.shows('many.tool_949');
    await client.shows('more.tool_39');
    const first = await client.listTools();
    assert.ok(first.nextCursor && first.tools.length < 1000);
    const all = await client.names('Tools');
    assert.equal(all.length, 950 + 40 + 12);
    assert.equal(new Set(all).size, all.length);
    assert.equal(textIn(await client.call('more.tool_39')), 'tool_39 of more');
    await assert.rejects(client.listTools({ cursor: 'nonsense' }), { code: -32602 });
    await client.close();
});

test('servers of others, side by side', async () => {
    const client = await sdkClient(gateway, 'alice', { topic: 'real' });

    await client.shows('everything.echo');
    await client.shows('memory.read_graph');
    assert.match(textIn(await client.call('everything.echo', { message: 'hello' })), /hello/);
    const made = await client.call('memory.create_entities', { entities: [{ name: 'moot', entityType: 'room', observations: ['open'] }] });
    assert.match(JSON.stringify(made), /moot/);
    assert.match(JSON.stringify(await client.call('memory.read_graph')), /open/);
    await client.shows('files.write_file');
    await client.call('files.write_file', { path: path.join(folder, 'note.txt'), content: 'written' });
    assert.match(textIn(await client.call('read_text_file', { path: path.join(folder, 'note.txt') })), /written/);
    await client.close();
});
