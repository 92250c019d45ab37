// SPDX-License-Identifier: Apache-2.0
// MCP servers behind URLs, and a session with one by build/mcp_url.
//
//   const server = await startServer(command, { env, ready: /text on stderr or stdout/ })
//       server.output(), await server.kill()
//   const url = await startSecure(port, tls)       https:// of what listens at that port, with
//                                                  a certificate of certificates.mjs
//   const proxy = await startProxy()               for https_proxy: every name leads to this machine
//   const session = openSession(url, 'auto')       or legacy, modern
//       session.do('call tools/list {}')           a line, as mcp_url wants it
//       await session.told(/^ready/)               the next line like this, from the beginning on;
//                                                  each line is told once
//       session.lines                              all of them
//       await session.call(method, params)         { word: 'result', json }
//       await session.close()                      gently, until it has ended
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

import { within } from './gateway.mjs';

const program = process.env.MOOT_MCP_URL ?? fileURLToPath(new URL('../../build/mcp_url', import.meta.url));

export const everything = fileURLToPath(
    new URL('../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url));

export async function freePort() {
    const server = net.createServer().listen(0, '127.0.0.1');

    await once(server, 'listening');
    const { port } = server.address();
    server.close();
    await once(server, 'close');
    return port;
}

export async function startServer(args, { env, ready }) {
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const over = once(child, 'exit');
    let output = '';

    after(() => child.kill('SIGKILL'));
    await within(new Promise((resolve, reject) => {
        for (const stream of [child.stdout, child.stderr])
            stream.on('data', (chunk) => {
                output += chunk;
                if (ready.test(output))
                    resolve();
            });
        over.then(() => reject(new Error(`it has ended: ${output}`)));
    }), 'the server starts');
    return { output: () => output, kill: () => { child.kill('SIGKILL'); return over; } };
}

export async function startSecure(port, { certificate, key }) {
    const server = https.createServer({ cert: fs.readFileSync(certificate), key: fs.readFileSync(key) }, (request, response) => {
        const inside = http.request({ port, host: '127.0.0.1', method: request.method, path: request.url, headers: request.headers }, (answer) => {
            response.writeHead(answer.statusCode, answer.headers);
            answer.pipe(response);
        });
        inside.on('error', () => response.destroy());
        response.on('close', () => inside.destroy());
        request.pipe(inside);
    }).listen(0, '127.0.0.1');

    after(() => { server.close(); server.closeAllConnections(); });
    await once(server, 'listening');
    return `https://127.0.0.1:${server.address().port}`;
}

export async function startProxy() {
    const server = http.createServer();

    server.on('connect', (request, client, head) => {
        const inside = net.connect(Number(new URL(`http://${request.url}`).port), '127.0.0.1', () => {
            client.write('HTTP/1.1 200 OK\r\n\r\n');
            inside.write(head);
            client.pipe(inside).pipe(client);
        });
        for (const one of [client, inside])
            one.on('error', () => { client.destroy(); inside.destroy(); });
    });
    server.listen(0, '127.0.0.1');
    after(() => { server.close(); server.closeAllConnections(); });
    await once(server, 'listening');
    return `http://127.0.0.1:${server.address().port}`;
}

export function openSession(url, era) {
    const child = spawn(program, [url, era], { stdio: ['pipe', 'pipe', 'inherit'] });
    const over = once(child, 'exit');
    const lines = [];
    const told = new Set();
    const waiting = new Set();
    let calls = 0;

    after(() => child.kill('SIGKILL'));
    createInterface({ input: child.stdout }).on('line', (line) => {
        lines.push(line);
        for (const look of waiting)
            look();
    });
    const session = {
        lines,
        do: (line) => child.stdin.write(`${line}\n`),
        told: (like) => within(new Promise((resolve) => {
            const look = () => {
                const at = lines.findIndex((line, i) => !told.has(i) && like.test(line));

                if (at < 0)
                    return;
                told.add(at);
                waiting.delete(look);
                resolve(lines[at]);
            };

            waiting.add(look);
            look();
        }), `${like} in ${JSON.stringify(lines)}`),
        start: (method, params = {}) => {
            session.do(`call ${method} ${JSON.stringify(params)}`);
            return calls++;
        },
        answered: async (number) => {
            const line = await session.told(new RegExp(`^(result|error|failed|cancelled|refused) ${number} `));
            const [, word, json] = line.match(/^(\w+) \d+ (.*)$/);

            return { word, json: word === 'refused' ? json : JSON.parse(json) };
        },
        call: (method, params) => session.answered(session.start(method, params)),
        text: async (name, args = {}) => {
            const { word, json } = await session.call('tools/call', { name, arguments: args });

            return word === 'result' ? json.content.map(({ text }) => text).join('\n') : JSON.stringify(json);
        },
        close: async () => {
            session.do('close');
            await session.told(/^ended/);
            await within(over, 'the program ends');
        },
    };
    return session;
}
