// SPDX-License-Identifier: Apache-2.0
// Where a topic says so, the user of an MCP client decides what it has proposed: in the client.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import * as modern from '@modelcontextprotocol/client';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { envelope, expect, people, person, startGateway } from './gateway.mjs';
import { offering, sdkClient, textIn } from './mcp-room.mjs';

let gateway, ann;

before(async () => {
    gateway = await startGateway({
        servers: { files: offering('files', { tools: ['write'] }, { topic: 'own' }), strict: offering('strict', { tools: ['write'] }) },
        topics: { named: { own: { self_approve: 'on' } } },
        tokens: [...people('ann'), person('agent', { profile: 'proposer' })],
    });
    ann = await gateway.join('ann', { topic: 'own' });
});
after(() => gateway.stop());

const asked = [];
let answer;

const capabilities = { elicitation: { form: {} } };
const handler = async ({ params }) => {
    asked.push(params);
    return answer;
};

async function legacy(topic) {
    const client = await sdkClient(gateway, 'agent', {
        topic, capabilities, handle: (one) => one.setRequestHandler(ElicitRequestSchema, handler),
    });

    await client.shows('write');
    return client;
}

async function ofBoth() {
    const client = new modern.Client({ name: 'e2e', version: '1' }, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });

    client.setRequestHandler('elicitation/create', handler);
    await client.connect(new modern.StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${gateway.port}/mcp/own`),
        { requestInit: { headers: { authorization: 'Bearer agent-token' } } }));
    client.call = (name, args) => client.callTool({ name, arguments: args });
    return client;
}

for (const [era, connect] of [['legacy', () => legacy('own')], ['modern', ofBoth]]) {
    test(`yes: it is called, and the room sees who has approved (${era})`, async () => {
        const client = await connect();

        asked.length = 0;
        answer = { action: 'accept', content: { approve: true } };
        assert.equal(textIn(await client.call('write', { path: `/yes/${era}` })), 'write of files');
        assert.equal(asked.length, 1);
        assert.match(asked[0].message, new RegExp(`write.*"/yes/${era}"`));
        assert.deepEqual(asked[0].requestedSchema.required, ['approve']);
        const proposal = await expect(ann, ({ kind, from }) => kind === 'mcp/proposal:tools/call:write' && from === 'agent');
        const request = await expect(ann, ({ kind, correlation_id }) => kind === 'mcp/request:tools/call:write' && correlation_id === proposal.id);
        assert.equal(request.from, 'mcp');
        assert.equal(request.self_approved, 'agent');
        await client.close();
    });

    test(`no: it is withdrawn (${era})`, async () => {
        const client = await connect();

        answer = { action: 'decline' };
        const result = await client.call('write', { path: `/no/${era}` });
        assert.equal(result.isError, true);
        assert.match(textIn(result), /not approved/);
        const proposal = await expect(ann, ({ kind, from }) => kind === 'mcp/proposal:tools/call:write' && from === 'agent');
        await expect(ann, ({ kind, correlation_id }) => kind === 'mcp/withdraw' && correlation_id === proposal.id);
        await client.close();
    });
}

test('who does not fill the form in leaves it to others', async () => {
    const client = await legacy('own');

    answer = { action: 'cancel' };
    const result = client.call('write', { path: '/others' });
    const { id, payload } = await expect(ann, ({ kind, from }) => kind === 'mcp/proposal:tools/call:write' && from === 'agent');
    ann.send(envelope('ann', 'mcp/request:tools/call:write', {
        to: ['files'], correlation_id: id, payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: payload.params },
    }));
    assert.equal(textIn(await result), 'write of files');
    await client.close();
});

test('elsewhere nobody is asked', async () => {
    const other = await gateway.join('ann', { topic: 'room' });
    const client = await legacy('room');

    asked.length = 0;
    answer = { action: 'accept', content: { approve: true } };
    const result = client.call('write', {});
    const { id } = await expect(other, ({ kind }) => kind === 'mcp/proposal:tools/call:write');
    other.send(envelope('ann', 'mcp/reject', { correlation_id: id, payload: { reason: 'I decide here' } }));
    assert.match(textIn(await result), /ann rejected it: I decide here/);
    assert.deepEqual(asked, []);
    await Promise.all([other, client].map((one) => one.close()));
});
