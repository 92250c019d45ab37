// SPDX-License-Identifier: Apache-2.0
// MCP over HTTP as it stands on the wire, for tests that look at statuses and headers.
//
//   const door = mcpAt(gateway, 'room', 'alice-token')     null: no token
//       door.post(message, { visit, headers, … })   one POST: the answer of gateway.request(), with
//                                                   .messages, be it JSON or a stream
//       door.ask(method, params, options)           a request with a new id; its last message as .answer
//       await door.begin(version)                   initialize, and initialized: the session id
//       await door.listen(visit, headers)           GET: { status, headers, text(), ended, close() }
//       door.end(visit)                             DELETE
//   modern(method, params)                          a request of 2026-07-28: { message, headers }
import http from 'node:http';
import { once } from 'node:events';

import { within } from './gateway.mjs';

export const LEGACY = '2025-11-25';
export const MODERN = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';
const BOTH = 'application/json, text/event-stream';
const client = { name: 'e2e', version: '1' };
let count = 0;

export const request = (method, params) => ({ jsonrpc: '2.0', id: ++count, method, ...(params ? { params } : {}) });

export function modern(method, params = {}) {
    const claim = { [`${PREFIX}protocolVersion`]: MODERN, [`${PREFIX}clientInfo`]: client, [`${PREFIX}clientCapabilities`]: {} };
    const name = params.name ?? params.uri;

    return {
        message: request(method, { ...params, _meta: claim }),
        headers: { 'MCP-Protocol-Version': MODERN, 'Mcp-Method': method, ...(name ? { 'Mcp-Name': name } : {}) },
    };
}

const messagesIn = ({ headers, text, json }) => (/event-stream/.test(headers['content-type'] ?? '')
    ? [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data))
    : json === undefined ? [] : [json]);

export function mcpAt(gateway, topic, token) {
    const path = topic === null ? '/mcp' : `/mcp/${topic}`;
    const credentials = token ? { token } : {};
    const named = (visit) => (visit ? { 'Mcp-Session-Id': visit } : {});

    const post = async (message, { visit, headers, ...options } = {}) => {
        const answer = await gateway.request(`POST ${path}`, {
            ...credentials,
            headers: { Accept: BOTH, 'Content-Type': 'application/json', ...named(visit), ...headers },
            body: typeof message === 'string' ? message : JSON.stringify(message),
            ...options,
        });
        return { ...answer, messages: messagesIn(answer) };
    };

    return {
        post,
        async ask(method, params, options) {
            const answer = await post(request(method, params), options);
            return { ...answer, answer: answer.messages.at(-1) };
        },
        async begin(version = LEGACY, options = {}) {
            const { headers, status, text } = await post(request('initialize', { protocolVersion: version, capabilities: {}, clientInfo: client }), options);
            const visit = headers['mcp-session-id'];

            if (status !== 200 || !visit)
                throw new Error(`initialize was answered with ${status}: ${text}`);
            await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, { ...options, visit });
            return visit;
        },
        async listen(visit, headers = {}) {
            const req = http.get({
                host: gateway.host, port: gateway.port, path, agent: false,
                headers: { ...(token ? { Authorization: `Bearer ${token}` } : {}), Accept: 'text/event-stream', ...named(visit), ...headers },
            });
            const [res] = await within(once(req, 'response'), 'the head of a stream');
            const ended = new Promise((resolve) => { res.on('close', resolve); }); // once() would throw what went wrong
            let text = '';

            req.on('error', () => {});
            res.on('error', () => {});
            res.on('data', (part) => { text += part; });
            return { status: res.statusCode, headers: res.headers, text: () => text, ended, close: () => req.destroy() };
        },
        end: (visit, headers = {}) => gateway.request(`DELETE ${path}`, { ...credentials, headers: { ...named(visit), ...headers } }),
    };
}
