// SPDX-License-Identifier: Apache-2.0
// What tests of tool authorization (ADR-001) share: a server whose calls somebody must authorize, and what is said
// about them.
//
//   offering(authorization, more)            settings of a server of the gateway, "tool" in "room"
//   const sent = call(client, 'who', args)   tools/call, sent
//   const { first, asked } = await waits(client, sent, { by })   -32001 to the caller, the announcement as `by` hears it
//   await announced(client, sent, to)        the next announcement, to whoever `to` names ([]: to everybody)
//   respond(client, asked, 'approve', more)  authorization/respond, as somebody who heard the announcement says it
//   await final(client, sent)                the response behind the provisional one
//   await answered(client, sent)             the next response, whatever it is
//   await ask(client, 'authorization/list')  the payload of the answer of "tool"
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';

import { envelope, expect, person } from './gateway.mjs';

const program = fileURLToPath(new URL('./offering-server.mjs', import.meta.url));

export const command = (more = {}) => [process.execPath, program, JSON.stringify({ name: 'tool', tools: ['deploy'], ...more })];

export const offering = (authorization, more) =>
    ({ topic: 'room', command: command(more), sandbox: 'off', ...(authorization ? { authorization } : {}) });

// People, an agent that may call, and one that may call and decide.
export const everybody = [
    person('ann', { type: 'human' }), person('eva', { type: 'human' }),
    person('bot', { capabilities: ['mcp/request:tools/*', 'mcp/proposal:*', 'mcp/response:*', 'mcp/withdraw'] }),
    person('ops', { type: 'service' }),
];

export function call(client, name = 'who', args = {}, more = {}) {
    return client.send(envelope(client.id, `mcp/request:tools/call:${name}`, {
        to: ['tool'], ...more,
        payload: { jsonrpc: '2.0', id: `rpc-${name}`, method: 'tools/call', params: { name, arguments: args } },
    }));
}

export const answered = (client, sent) =>
    expect(client, (json) => json.kind.startsWith('mcp/response:') && json.correlation_id === sent.id, `the answer to ${sent.kind}`);

// Everybody sees those to one as well: `to` is whom it names, or undefined for the first of any.
export const announced = (client, sent, to) =>
    expect(client, (json) => json.kind === 'mcp/request:notifications/authorization/request' && json.correlation_id === sent.id &&
                             (to === undefined || (json.to ?? [])[0] === to[0]), `the announcement of ${sent.kind}`);

export async function waits(client, sent, { by = client } = {}) {
    const first = await answered(client, sent);

    assert.equal(first.payload.error?.code, -32001, JSON.stringify(first.payload));
    return { first, asked: await announced(by, sent) };
}

export const respond = (client, asked, decision, more = {}, head = {}) =>
    client.send(envelope(client.id, 'mcp/request:authorization/respond', {
        to: ['tool'], correlation_id: asked.id, ...head,
        payload: { jsonrpc: '2.0', method: 'authorization/respond', params: { authorizationId: asked.payload.params.id, decision, ...more } },
    }));

export async function ask(client, method, params = {}) {
    const sent = client.send(envelope(client.id, `mcp/request:${method}`, {
        to: ['tool'], payload: { jsonrpc: '2.0', id: method, method, params },
    }));

    return (await answered(client, sent)).payload;
}

// Everything that was said to the server before this is done.
export const settled = (client) => ask(client, 'authorization/list');

export const textOf = (response) => {
    assert.ok(response.payload.result, JSON.stringify(response.payload));
    return response.payload.result.content[0].text;
};

export const denied = (response) => {
    assert.equal(response.payload.error?.code, -32002, JSON.stringify(response.payload));
    assert.equal(response.payload.error.message, 'Authorization denied');
    return response.payload.error.data;
};

export const soon = (ms = 3600_000) => new Date(Date.now() + ms).toISOString();
