// SPDX-License-Identifier: Apache-2.0
// Who is shown in a room by MCP, and to whom: participants that answer late or never, agents that
// answer MCP themselves, and clients that may use only some of what there is.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway, within } from './gateway.mjs';
import { mcpAt, modern, request } from './mcp.mjs';
import { offering, sdkClient, textIn } from './mcp-room.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        servers: {
            first: offering('first', { tools: ['own', 'secret'], resources: ['doc://open', 'doc://closed'], prompts: ['greet', 'hidden'] }),
            second: offering('second'),
            alone: offering('alone', { tools: ['own', 'secret'] }, { topic: 'single' }),
        },
        tokens: [
            person('alice'),
            ...['robot', 'silent', 'late', 'odd'].map((id) => person(id, { type: 'agent' })),
            person('some', { capabilities: [
                'mcp/request:tools/call:own', 'mcp/proposal:tools/call:grow', 'mcp/request:resources/read:doc://open',
                'mcp/request:prompts/get:greet',
            ] }),
        ],
    });
});
after(() => gateway.stop());

const answer = (client, { id, from, payload }, method, result) =>
    client.send(envelope(client.id, `mcp/response:${method}`, { to: [from], correlation_id: id, payload: { jsonrpc: '2.0', id: payload.id, ...result } }));
const asked = (client, method) => expect(client, ({ kind }) => kind.startsWith(`mcp/request:${method}`), method);

const served = {
    initialize: { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'robot', version: '1' } } },
    'tools/list': { result: { tools: [{ name: 'dance', inputSchema: { type: 'object' } }] } },
    'tools/call:dance': { result: { content: [{ type: 'text', text: 'it dances' }] } },
};

// An agent that speaks the room's protocol, and MCP in it.
function serve(client) {
    client.socket.on('message', (data) => {
        const json = JSON.parse(data);
        const [, method] = /^mcp\/request:(.*)/.exec(json.kind) ?? [];

        if (served[method])
            answer(client, json, method.split(':')[0], served[method]);
    });
}

test('an agent of the room that answers MCP itself is listed as anybody else', async () => {
    const robot = await gateway.join('robot', { topic: 'robots' });

    serve(robot);
    const client = await sdkClient(gateway, 'alice', { topic: 'robots' });
    await client.shows('dance');
    assert.equal(textIn(await client.call('dance')), 'it dances');
    await robot.close();
    await within((async () => { while ((await client.names('Tools')).includes('dance')); })(), 'the robot to be gone');
    await client.close();
});

test('who does not answer is left out and named, and appears when it does', async () => {
    const silent = await gateway.join('silent', { topic: 'waiting' });
    const late = await gateway.join('late', { topic: 'waiting' });
    const robot = await gateway.join('robot', { topic: 'waiting' });

    serve(robot);
    const client = await sdkClient(gateway, 'alice', { topic: 'waiting' });
    const question = await asked(late, 'initialize');

    await client.shows('dance'); // nobody waits for the others
    await within((async () => {
        while ((await client.say('room_who')).does_not_answer !== 'late, silent');
    })(), 'both to be named');
    await gateway.logged(/late is left out: initialize: no answer/);
    serve(late);
    answer(late, question, 'initialize', served.initialize);
    await client.shows('late.dance');
    assert.equal((await client.say('room_who')).does_not_answer, 'silent');
    serve(silent);
    silent.send(envelope('silent', 'mcp/request:notifications/tools/list_changed',
        { payload: { jsonrpc: '2.0', method: 'notifications/tools/list_changed' } }));
    await client.shows('silent.dance');
    assert.equal((await client.say('room_who')).does_not_answer, undefined);
    assert.equal(textIn(await client.call('silent.dance')), 'it dances');
    await Promise.all([client, silent, late, robot].map((one) => one.close()));
});

test('an answer that is no list harms nobody', async () => {
    const odd = await gateway.join('odd', { topic: 'odd' });

    odd.socket.on('message', (data) => {
        const json = JSON.parse(data);
        if (json.kind === 'mcp/request:initialize')
            answer(odd, json, 'initialize', served.initialize);
        else if (json.kind === 'mcp/request:tools/list')
            answer(odd, json, 'tools/list', { result: { tools: 'none' } });
    });
    const client = await sdkClient(gateway, 'alice', { topic: 'odd' });
    await within((async () => { while ((await client.say('room_who')).does_not_answer !== 'odd'); })(), 'odd to be named');
    assert.ok((await client.names('Tools')).includes('room_chat'));
    await Promise.all([client, odd].map((one) => one.close()));
});

// The text of both answers must be the same, but for the name that the client has sent itself.
async function isUnknown(door, method, params, name, options) {
    const ask = async (value) => {
        const text = JSON.stringify({ ...request(method, params(value)), id: 7 });
        const { status, text: said } = await door.post(text, options);
        return { status, said: said.replaceAll(value, 'NAME') };
    };
    const [there, nowhere] = [await ask(name), await ask('no-such-thing')];

    assert.deepEqual(there, nowhere, `${method} ${name}`);
    assert.ok(JSON.parse(there.said).error, there.said);
}

test('lists hold what may be called or proposed, and all else is as if it were not there', async () => {
    const alice = await sdkClient(gateway, 'alice');
    const some = await sdkClient(gateway, 'some');
    const door = mcpAt(gateway, 'room', 'some-token');
    const visit = await door.begin();
    const tool = (name) => ({ name, arguments: {} });

    await alice.shows('first.secret');
    await alice.shows('second.who');
    const tools = await some.names('Tools');
    assert.deepEqual(tools, ['first.grow', 'first.own', 'second.grow', 'room_who', 'room_wait', 'room_propose', 'tool_search']);
    assert.deepEqual(await some.names('Resources'), ['doc://open']);
    assert.deepEqual(await some.names('Prompts'), ['first.greet']);
    assert.equal(textIn(await some.call('own')), 'own of first');
    assert.equal((await some.readResource({ uri: 'doc://open' })).contents[0].text, 'doc://open of first');
    for (const name of ['first.secret', 'secret', 'second.who', 'first.heard', 'room_chat'])
        await isUnknown(door, 'tools/call', tool, name, { visit });
    await isUnknown(door, 'prompts/get', (name) => ({ name }), 'first.hidden', { visit });
    await isUnknown(door, 'resources/read', (uri) => ({ uri }), 'doc://closed', { visit });
    await isUnknown(door, 'resources/subscribe', (uri) => ({ uri }), 'doc://closed', { visit });
    await isUnknown(door, 'completion/complete', (name) => ({ ref: { type: 'ref/prompt', name }, argument: { name: 'n', value: '' } }),
        'first.hidden', { visit });
    const found = await some.say('tool_search', { query: 'secret own', limit: 100 });
    assert.deepEqual(found.tools.map(({ name }) => name).filter((name) => /secret/.test(name)), []);
    await Promise.all([alice, some].map((one) => one.close()));
});

test('the same in the modern era, and where there is but one owner', async () => {
    const alice = await sdkClient(gateway, 'alice', { topic: 'single' });

    await alice.shows('secret');
    for (const [topic, name] of [['room', 'first.secret'], ['single', 'secret'], ['single', 'alone.secret']]) {
        const door = mcpAt(gateway, topic, 'some-token');
        const said = [];

        for (const value of [name, 'no-such-thing']) {
            const { message, headers } = modern('tools/call', { name: value, arguments: {} });
            const { status, text } = await door.post({ ...message, id: 7 }, { headers });
            said.push({ status, text: text.replaceAll(value, 'NAME') });
        }
        assert.deepEqual(said[0], said[1], `${topic} ${name}`);
        assert.match(said[0].text, /Unknown tool: NAME/);
    }
    await alice.close();
});
