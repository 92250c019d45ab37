// SPDX-License-Identifier: Apache-2.0
// MCP clients that others have written, at a server that asks before it runs a call: a person allows it with
// `moot approve` or denies it with `moot reject`, and the client gets a result, never a code of the room.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as later } from 'node:timers/promises';

import * as modern from '@modelcontextprotocol/client';

import { envelope, person, program, startGateway, within } from './gateway.mjs';
import { offering, sdkClient, textIn } from './mcp-room.mjs';
import { mcpAt, modern as modernRequest } from './mcp.mjs';
import { moot } from './moot.mjs';
import { serveAuthorized } from './owner.mjs';

let gateway, owner;
const tokens = [person('ops', { profile: 'bridge' }), person('hasty', { profile: 'bridge' }), person('ann', { profile: 'human' }),
    person('agent', { capabilities: ['mcp/request:initialize', 'mcp/request:*/list', 'mcp/request:tools/call', 'mcp/response:*'] })];

// An owner that asks, and answers for itself when nobody did.
function denies(client) {
    client.socket.on('message', (text) => {
        const { id, from, to, kind, payload } = JSON.parse(text);
        const say = (what) => client.send(envelope('hasty', kind.replace('request', 'response'),
            { to: [from], correlation_id: id, payload: { jsonrpc: '2.0', id: payload.id, ...what } }));

        if (!to?.includes('hasty') || !kind.startsWith('mcp/request:'))
            return;
        if (payload.method === 'initialize')
            say({ result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'hasty', version: '1' } } });
        if (payload.method === 'tools/list')
            say({ result: { tools: [{ name: 'rush', inputSchema: { type: 'object' } }] } });
        if (payload.method === 'tools/call') {
            say({ error: { code: -32001, message: 'Authorization required', data: { authorizationRequest: { id: 'x' } } } });
            say({ error: { code: -32002, message: 'Authorization denied', data: { authorizationId: 'x', reason: 'nobody decided in time' } } });
        }
    });
}

before(async () => {
    gateway = await startGateway({ mcp: { room_tools: 'off', hold: '1s' }, tokens });
    owner = serveAuthorized(await gateway.join('ops'), { deploy: ({ to }) => `deployed ${to}` }, { reason: 'it is "production"' });
    denies(await gateway.join('hasty', { topic: 'other' }));
});
after(() => gateway.stop());

const decide = async (...words) => {
    const { status, stderr } = await moot(gateway, 'ann', words);

    assert.equal(status, 0, stderr);
};
const modernClient = (mode) => new modern.Client({ name: 'Desk Top', version: '1' }, { versionNegotiation: { mode } });
const http = () => new modern.StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${gateway.port}/mcp/room`),
    { requestInit: { headers: { authorization: 'Bearer agent-token' } } });

async function listed(client) {
    while (!(await client.listTools()).tools.some(({ name }) => name === 'deploy'))
        await later(50);
}

const ways = {
    'SDK 1.x': async () => sdkClient(gateway, 'agent'),
    'SDK 2.x, legacy': async () => { const client = modernClient('legacy'); await client.connect(http()); return client; },
    'SDK 2.x, modern': async () => { const client = modernClient({ pin: '2026-07-28' }); await client.connect(http()); return client; },
};

for (const [name, connect] of Object.entries(ways))
    test(`${name}: a person allows one call and denies another`, async () => {
        const client = await connect();

        await within(listed(client), 'the tool of the owner');
        const first = client.callTool({ name: 'deploy', arguments: { to: name } });
        await decide('approve', 'room', (await owner.announced()).id);
        const { content, isError } = await first;
        assert.deepEqual(content, [{ type: 'text', text: `deployed ${name}` }]);
        assert.ok(!isError);

        const second = client.callTool({ name: 'deploy', arguments: { to: `${name} again` } });
        await decide('reject', 'room', (await owner.announced()).id, 'not today');
        const denied = await second;
        assert.equal(denied.isError, true);
        assert.deepEqual(denied.content, [{ type: 'text', text: 'ann denied it: not today' }]);
        await client.close();
    });

test('who asks for progress hears what it waits for, and why', async () => {
    const client = await sdkClient(gateway, 'agent');
    const heard = [];

    await client.shows('deploy');
    const call = client.call('deploy', { to: 'progress' }, { onprogress: ({ message }) => heard.push(message) });
    const { id } = await owner.announced();
    while (!heard.includes('ops asks whether it may run this: it is "production"'))
        await later(20);
    await decide('approve', 'room', id, '--valid', '5m');
    assert.equal(textIn(await call), 'deployed progress');
    assert.equal(textIn(await client.call('deploy', { to: 'progress' })), 'deployed progress', 'it is not asked again');
    await client.close();
});

test('a modern client that knows tasks is given one, and its status says what it waits for', async () => {
    const door = mcpAt(gateway, 'room', 'agent-token');
    const ask = async (method, params) => {
        const { message, headers } = modernRequest(method, params);

        message.params._meta['io.modelcontextprotocol/clientCapabilities'] = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
        if (params.taskId)
            headers['mcp-name'] = params.taskId;
        const { result, error } = (await door.post(message, { headers })).messages.at(-1);
        assert.ok(result, JSON.stringify(error));
        return result;
    };
    const task = await ask('tools/call', { name: 'deploy', arguments: { to: 'task' } });

    assert.deepEqual([task.resultType, task.status, task.statusMessage], ['task', 'working', 'ops asks whether it may run this: it is "production"']);
    await decide('approve', 'room', (await owner.announced()).id);
    let now;
    do
        now = await ask('tasks/get', { taskId: task.taskId });
    while (now.status === 'working');
    assert.equal(now.status, 'completed');
    assert.equal(now.result.content[0].text, 'deployed task');
});

test('where nobody decided, the client is told that', async () => {
    const client = await sdkClient(gateway, 'agent', { topic: 'other' });

    await client.shows('rush');
    const result = await client.call('rush');
    assert.equal(result.isError, true);
    assert.equal(textIn(result), 'it was denied: nobody decided in time');
    await client.close();
});

// --- a bridged server with `authorization:` ---

const guarded = { mcp: { room_tools: 'off' }, tokens,
    servers: { forge: offering('forge', { tools: ['weld'] }, { authorization: { mode: 'always-prompt' } }) } };

function knowsGates() {
    const file = path.join(gateway.data, 'guarded.json');

    fs.writeFileSync(file, JSON.stringify(guarded), { mode: 0o600 });
    try {
        execFileSync(program, ['config', 'check', file], { stdio: 'pipe' });
        return true;
    } catch (error) {
        assert.match(String(error.stderr) + String(error.stdout), /authorization/);
        return false;
    }
}

test('a bridged server that always prompts', async (t) => {
    if (!knowsGates()) {
        t.skip('servers have no `authorization:` here');
        return;
    }
    const forge = await startGateway(guarded);

    try {
        const client = await sdkClient(forge, 'agent');
        const pending = async () => {
            for (;;) {
                const { stdout } = await moot(forge, 'ann', ['proposals', 'room', '--json']);
                const found = stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line)).find((one) => one.owner);
                if (found)
                    return found.id;
            }
        };
        await client.shows('weld');
        const first = client.call('weld', { n: 1 });
        assert.equal((await moot(forge, 'ann', ['approve', 'room', await within(pending(), 'what is pending'), '--valid', '1h'])).status, 0);
        assert.equal(textIn(await first), 'weld of forge');
        assert.equal(textIn(await client.call('weld', { n: 1 })), 'weld of forge', 'it is not asked again');
        const [kept] = (await moot(forge, 'ann', ['authorizations', 'room', '--json'])).stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
        assert.deepEqual([kept.owner, kept.decidedBy, kept.decision, kept.uses > 0], ['forge', 'ann', 'approve', true]);
        assert.equal((await moot(forge, 'ann', ['authorizations', 'room', 'forge', '--revoke', kept.authorizationId])).status, 0);
        const second = client.call('weld', { n: 1 });
        assert.equal((await moot(forge, 'ann', ['reject', 'room', await within(pending(), 'what is pending'), 'not now'])).status, 0);
        const denied = await second;
        assert.deepEqual([denied.isError, textIn(denied)], [true, 'ann denied it: not now']);
        await client.close();
    } finally {
        await forge.stop();
    }
});
