// SPDX-License-Identifier: Apache-2.0
// What tests of MCP servers inside the gateway share.
//
//   echoServer('room', { era: 'legacy' })   settings of tests/e2e/programs/mcp_echo.c, unconfined
//   await callTool(client, 'echo', 'pid', {})   the answer's payload
//   textOf(payload)                         of its only content
//   await until(async () => …)              asks until it is true; gives what it got
//   await overSocket(gateway, 'POST /admin/servers', body)   as who is on the machine itself
//   isAlive(pid)
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';

import { envelope, expect, program, within } from './gateway.mjs';

export const echoProgram = process.env.MOOT_MCP_ECHO ?? path.join(path.dirname(program), 'mcp_echo');

export const echoServer = (topic, more = {}) => ({ topic, command: [echoProgram], sandbox: 'off', ...more });

let count = 0;

export async function callTool(client, to, name, args = {}) {
    const sent = client.send(envelope(client.id, `mcp/request:tools/call:${name}`, {
        to: [to],
        payload: { jsonrpc: '2.0', id: ++count, method: 'tools/call', params: { name, arguments: args } },
    }));
    // A server may ask something back meanwhile.
    const answer = await expect(client, (json) => json.correlation_id === sent.id && /^(mcp\/response:|system\/error$)/.test(json.kind),
        `the answer to ${name} of ${to}`);

    return answer.payload;
}

export const textOf = (payload) => {
    if (!payload.result)
        throw new Error(`no result: ${JSON.stringify(payload)}`);
    return payload.result.content[0].text;
};

export async function until(ask, what = ask.toString()) {
    let isOver = false;

    try {
        return await within((async () => {
            for (;;) {
                const got = await ask();
                if (got || isOver)
                    return got;
                await new Promise((resolve) => { setImmediate(resolve); });
            }
        })(), what);
    } finally {
        isOver = true;
    }
}

export async function overSocket(gateway, line, body) {
    const [method, target] = line.split(' ');
    const req = http.request({
        socketPath: path.join(gateway.data, 'moot.sock'), method, path: target, agent: false,
        headers: { Host: 'localhost', 'Content-Type': 'application/json' },
    });
    let text = '';

    req.end(body === undefined ? undefined : JSON.stringify(body));
    const [res] = await within(once(req, 'response'), line);
    res.on('data', (part) => { text += part; });
    await within(once(res, 'end'), line);
    return { status: res.statusCode, text, json: /json/.test(res.headers['content-type']) && text ? JSON.parse(text) : null };
}

export function isAlive(pid) {
    try {
        process.kill(pid, 0);
        return true;
    } catch {
        return false;
    }
}
