// SPDX-License-Identifier: Apache-2.0
// An MCP server that sits in a topic by `moot bridge`, and a participant that calls it.
//
//   const bridge = await startBridge(gateway, ['--sandbox', 'off'], [command, …], { as, env })
//       waits until it is in the room; as: default "tool". bridge.stop() ends it
//   const rpc = caller(client, 'tool')
//       await rpc.ask(method, params, more)    the response's envelope
//       await rpc.result(method, params)       its result; an error is thrown
//       await rpc.error(method, params)        the error of JSON-RPC
//       rpc.send(method, params)               the envelope, sent
//       await rpc.answered(envelope)           the response to it
//       rpc.answer(method, (params, envelope) => result)   what the client says when asked
//       await rpc.told(method, like)           the next notification like this
//   await isTrusted(gateway, 'tool')          what it offered first is all known
//   mcpServer('everything')    the command of a server from npm
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { envelope, expect, patience, takeAll, within } from './gateway.mjs';
import { startMoot } from './moot.mjs';
import { until } from './processes.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
export const echo = process.env.MOOT_MCP_ECHO ?? fileURLToPath(new URL('../../build/mcp_echo', import.meta.url));

// The file that its package runs, started by the node that runs the tests.
export function mcpServer(name, ...args) {
    const folder = path.join(root, 'node_modules/@modelcontextprotocol', `server-${name}`);
    const { bin } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
    const file = typeof bin === 'string' ? bin : Object.values(bin)[0];

    return [process.execPath, path.join(folder, file), ...args];
}
export const nodeModules = path.join(root, 'node_modules');

export async function startBridge(gateway, options, command, { as = 'tool', topic = 'room', watcher, env } = {}) {
    if (watcher)
        takeAll(watcher);
    const bridge = startMoot(gateway, as,
                             ['bridge', topic, '--as', as, '--yes', ...options, ...(command ? ['--', ...command] : [])],
                             { env: { MOOT_DATA: path.join(gateway.data, 'bridge'), ...env } });

    if (watcher)
        await Promise.race([
            expect(watcher, (json) => json.from === as && json.kind === 'participant/status' && json.payload.status !== 'stopped'),
            bridge.over.then(() => assert.fail(`it has ended: ${bridge.stderr()}`)),
        ]);
    bridge.stop = async () => {
        bridge.child.kill('SIGTERM');
        return bridge.ended();
    };
    return bridge;
}

// The first catalogue is closed a while after the last change, and that is kept: from then on what is new is held.
export const isTrusted = (gateway, as) => until(() => {
    const file = path.join(gateway.data, 'bridge/bridges', `${as}.json`);

    return fs.existsSync(file) && fs.readFileSync(file, 'utf8').includes('"trusted":true');
}, `the first catalogue of ${as} is closed`);

export function caller(client, to, { limit = patience } = {}) {
    const handlers = {};
    let seen = 0;
    const waiting = new Set();

    // Frames are looked at once, as they come.
    function look() {
        for (; seen < client.frames.length; seen++) {
            const { json } = client.frames[seen];
            const method = json?.kind?.match(/^mcp\/request:([^:]+)/)?.[1];

            if (json.from === to && method && handlers[method])
                Promise.resolve(handlers[method](json.payload.params, json)).then((result) => {
                    if (result !== undefined)
                        client.send(envelope(client.id, `mcp/response:${method}`, {
                            to: [to], correlation_id: json.id,
                            payload: { jsonrpc: '2.0', id: json.payload.id, ...(result?.error ? result : { result }) },
                        }));
                });
            for (const wait of waiting)
                wait(json);
        }
    }
    client.socket.on('message', () => setImmediate(look));

    const heard = (like, what) => {
        let done;
        const promise = new Promise((resolve) => {
            done = (json) => {
                if (!like(json))
                    return;
                waiting.delete(done);
                resolve(json);
            };
            waiting.add(done);
        });

        for (const { json } of client.frames.slice(0, seen))
            done(json);
        look();
        return within(promise, what, limit);
    };
    const rpc = {
        send(method, params = {}, more = {}) {
            const name = params.name && /^(tools\/call|prompts\/get)$/.test(method) ? `:${params.name}` : '';
            const sent = envelope(client.id, `mcp/request:${method}${name}`, { to: [to], ...more });

            sent.payload = { jsonrpc: '2.0', id: more.rpcId ?? sent.id, method, params };
            delete sent.rpcId;
            client.send(sent);
            return sent;
        },
        answered: (sent) => heard((json) => json.correlation_id === sent.id && json.kind.startsWith('mcp/response:'),
                                  `the answer to ${sent.kind}`),
        async ask(method, params, more) { return rpc.answered(rpc.send(method, params, more)); },
        async result(method, params, more) {
            const { payload } = await rpc.ask(method, params, more);

            assert.ok(payload.result, `${method}: ${JSON.stringify(payload.error)}`);
            return payload.result;
        },
        async error(method, params, more) {
            const { payload } = await rpc.ask(method, params, more);

            assert.ok(payload.error, `${method}: ${JSON.stringify(payload.result)}`);
            return payload.error;
        },
        async call(name, args = {}, more = {}) { return rpc.result('tools/call', { name, arguments: args, ...more }); },
        answer(method, handler) { handlers[method] = handler; },
        told: (method, like = () => true) =>
            heard((json) => json.from === to && json.kind === `mcp/request:${method}` && like(json), method),
        heard,
    };

    return rpc;
}
