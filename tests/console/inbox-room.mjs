// SPDX-License-Identifier: Apache-2.0
// What tests of the inbox share: a room with a service whose tools have schemas, people who decide, and an agent that asks.
//
//   const gateway = await startRoom({ topics, servers, … })   a gateway with these people; more settings may be given
//   const files = await serve(gateway, 'files', { topic })    a service; files.calls: what it was called with, in order
//   await propose(gateway, 'write_file', args, { topic, from, to, reason, kind, payload })   an open proposal: its envelope
//   const open = opener(browser, gateway)                     open('ann', item, { topic, … }): a page of that person with the item open, or the list
//   details(page), button(page, name), entry(page, text)      the open item, a button of it, a row of the list
//   await isOver(page, sentence)                              until that is said of the open item
import assert from 'node:assert/strict';

import { envelope, person, startGateway } from '../e2e/gateway.mjs';

export const humans = ['ann', 'ben', 'eva'];

export const startRoom = (more = {}) => startGateway({
    tokens: [
        ...humans.map((id) => person(id, { profile: 'human' })),
        person('root', { profile: 'admin' }),
        person('bot', { type: 'agent', capabilities: ['mcp/proposal:*', 'mcp/response:*', 'mcp/withdraw', 'mcp/request:*/list', 'mcp/request:initialize', 'chat'] }),
        person('caller', { type: 'agent', capabilities: ['mcp/request:*', 'mcp/response:*', 'chat'] }),
        person('watcher', { type: 'human', capabilities: ['chat'] }),
        person('files', { type: 'service', capabilities: ['mcp/*', 'chat'] }),
        person('orchestrator', { profile: 'orchestrator' }),
    ],
    ...more,
});

export const TOOLS = {
    write_file: {
        description: 'Writes a text to a file, and makes the file where there is none.',
        annotations: { destructiveHint: true },
        inputSchema: {
            type: 'object', required: ['path', 'text'], additionalProperties: false,
            properties: {
                path: { type: 'string', pattern: '^/srv/', description: 'Where to' },
                text: { type: 'string' },
                mode: { type: 'string', enum: ['create', 'replace', 'append'] },
                lines: { type: 'integer', minimum: 1, maximum: 500 },
            },
        },
        run: ({ path }) => `wrote ${path}`,
    },
    delete_file: { description: 'Deletes a file.', inputSchema: { type: 'object', properties: { path: { type: 'string' } } }, run: ({ path }) => { throw new Error(`${path} is in use`); } },
};

export async function serve(gateway, id = 'files', { topic = 'lobby', tools = TOOLS } = {}) {
    const client = await gateway.join(id, { topic });
    const service = { client, calls: [] };
    const answers = {
        initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: id, version: '1' } }),
        'tools/list': () => ({ tools: Object.entries(tools).map(([name, { run, ...about }]) => ({ name, ...about })) }),
        'tools/call': ({ name, arguments: args }) => {
            service.calls.push({ name, args });
            try {
                return { content: [{ type: 'text', text: tools[name].run(args) }] };
            } catch (error) {
                return { isError: true, content: [{ type: 'text', text: error.message }] };
            }
        },
    };

    client.socket.on('message', (text) => {
        const { id: asked, from, kind, to, payload } = JSON.parse(text);
        const answer = kind.startsWith('mcp/request:') && to?.includes(id) && answers[payload.method];

        if (answer)
            client.send(envelope(id, kind.replace('request', 'response'), { to: [from], correlation_id: asked,
                payload: { jsonrpc: '2.0', id: payload.id, result: answer(payload.params) } }));
    });
    return service;
}

export async function post(gateway, from, topic, kind, more = {}) {
    const sent = envelope(from, kind, more);
    const { status, text } = await gateway.post(`${from}-token`, topic, sent);

    assert.equal(status, 200, text);
    return sent;
}

export const propose = (gateway, name, args, { topic = 'lobby', from = 'bot', to = ['files'], reason, ...more } = {}) =>
    post(gateway, from, topic, `mcp/proposal:tools/call:${name}`, {
        ...(to && { to }), payload: { method: 'tools/call', params: { name, arguments: args }, ...(reason && { reason }) }, ...more });

export const opener = (browser, gateway) => (who, item, { topic = 'lobby', ...options } = {}) => browser.page(gateway, {
    token: `${who}-token`, path: item ? `/console/inbox?topic=${topic}&id=${item.id}` : '/console/inbox', ...options });

export const details = (page) => page.getByRole('complementary', { name: 'Details' });
export const button = (page, name) => details(page).getByRole('button', { name });
export const entry = (page, text) => page.getByRole('listitem').filter({ hasText: text }).getByRole('link');
export const isOver = (page, sentence) => details(page).getByText(sentence).waitFor();
