// SPDX-License-Identifier: Apache-2.0
// A room with several MCP servers, and clients of the SDK in it.
//
//   offering('a', { tools: ['x'] })        the settings of a server (offering-server.mjs) in topic room
//   const client = await sdkClient(gateway, 'alice', { topic, capabilities, session })
//       connected; client.told.METHOD: how often it was told a notification, .lastTold.METHOD: its last params;
//       session: that of another client goes on; it is not initialized again
//       await client.names('Tools')        what it is shown, in order
//       await client.say('room_chat', {})  a tool of the room: its structuredContent
//       await client.shows(name)           waits until a tool is listed
//   textIn(result)                         of its first content
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { setTimeout as later } from 'node:timers/promises';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { patience, within } from './gateway.mjs';

const server = fileURLToPath(new URL('offering-server.mjs', import.meta.url));
const lists = { Tools: ['tools', 'name'], Prompts: ['prompts', 'name'], Resources: ['resources', 'uri'], ResourceTemplates: ['resourceTemplates', 'uriTemplate'] };

export const plain = (command, more = {}) => ({ topic: 'room', command, sandbox: 'off', network: 'any', pin: 'off', ...more });
export const offering = (name, offer = {}, more = {}) =>
    plain([process.execPath, server, JSON.stringify({ name, ...offer })], more);

export const textIn = ({ content }) => content[0].text;

const clients = new Set();

after(() => Promise.all([...clients].map((client) => client.close()))); // those of a test that failed, too

class RoomClient extends Client {
    told = {};
    lastTold = {};

    async names(list) {
        const [member, key] = lists[list];
        const all = [];
        let cursor;

        do {
            const page = await this[`list${list}`](cursor ? { cursor } : undefined);
            all.push(...page[member].map((item) => item[key]));
            cursor = page.nextCursor;
        } while (cursor);
        return all;
    }

    async shows(name, list = 'Tools') {
        await within((async () => {
            while (!(await this.names(list)).includes(name))
                await later(50);
        })(), `${name} in the list`);
    }

    call(name, args = {}, options = {}) { return this.callTool({ name, arguments: args }, undefined, { timeout: patience, ...options }); }

    async say(name, args = {}) {
        const result = await this.call(name, args);
        assert.ok(!result.isError, JSON.stringify(result));
        return result.structuredContent;
    }

    async isTold(method, count = 1) {
        while ((this.told[method] ?? 0) < count)
            await within(new Promise((resolve) => { this.onTold = resolve; }), method);
    }
}

export async function sdkClient(gateway, id, { topic = 'room', token = `${id}-token`, capabilities = {}, session, handle } = {}) {
    const client = new RoomClient({ name: 'e2e', version: '1' }, { capabilities });
    const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${gateway.port}/mcp/${topic}`), {
        requestInit: { headers: { authorization: `Bearer ${token}` } }, ...(session ? { sessionId: session } : {}),
        reconnectionOptions: { initialReconnectionDelay: 50, maxReconnectionDelay: 500, reconnectionDelayGrowFactor: 1.5, maxRetries: 1000 },
    });

    client.fallbackNotificationHandler = async ({ method, params }) => {
        client.told[method] = (client.told[method] ?? 0) + 1;
        client.lastTold[method] = params;
        client.onTold?.();
    };
    clients.add(client);
    handle?.(client);
    await client.connect(transport);
    return client;
}
