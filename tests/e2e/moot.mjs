// SPDX-License-Identifier: Apache-2.0
// The commands of the program, run by the end-to-end tests as a person or a script would.
//
//   await moot(gateway, 'alice', ['who', 'room'], { input, env })   { status, stdout, stderr }
//       with the token of that id in the environment; status is the exit code, or the name
//       of the signal that ended it. `as` null: no token. `gateway` null: no server either
//   const tail = startMoot(gateway, 'alice', ['tail', 'room'])      the same, while it runs
//       await tail.line(pattern)   the next line of standard output like this; skips others
//       tail.stdout(), .stderr()   all of it so far
//       await tail.told(pattern)   until standard error has this
//       tail.child                 .stdin, .kill(name) …
//       await tail.ended()         { status, stdout, stderr }
//   const program = startProgram(file, args, env)                   the same with another program
//   serveTools(client, { add: ({ a, b }) => `${a + b}` })
//       a client of gateway.mjs answers tools/list and tools/call; what a tool gives is a
//       text, a whole result, a promise of one of them, or undefined: it never answers
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { envelope, program, within } from './gateway.mjs';

const clean = ['MOOT_SERVER', 'MOOT_TOKEN', 'MOOT_TOPIC', 'MOOT_DATA', 'XDG_STATE_HOME', 'NO_COLOR'];

export function environment(gateway, as, more = {}) {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !clean.includes(name)));

    return {
        ...env,
        HOME: '/nonexistent',
        ...(gateway ? { MOOT_SERVER: `ws://127.0.0.1:${gateway.port}` } : {}),
        ...(as ? { MOOT_TOKEN: `${as}-token` } : {}),
        ...more,
    };
}

class Command {
    #out = '';
    #err = '';
    taken = 0; // bytes of standard output

    constructor(file, args, env, input) {
        this.name = [path.basename(file), ...args].join(' ');
        this.child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env });
        this.child.stdin.on('error', () => {});
        if (input !== undefined)
            this.child.stdin.end(input);
        this.child.stdout.on('data', (part) => { this.#out += part; this.child.emit('news'); });
        this.child.stderr.on('data', (part) => { this.#err += part; this.child.emit('news'); });
        this.over = once(this.child, 'close').then(([code, signal]) => {
            this.status = signal ?? code;
            this.child.emit('news');
        });
        for (const held of [this.child, this.child.stdin, this.child.stdout, this.child.stderr])
            held.unref();
        process.once('exit', () => this.child.kill('SIGKILL'));
    }

    stdout() { return this.#out; }
    stderr() { return this.#err; }

    async #until(find, what) {
        for (;;) {
            const found = find();
            if (found)
                return found;
            if (this.status !== undefined)
                throw new Error(`${this.name} ended with ${this.status} without ${what}:\n${this.#out}${this.#err}`);
            await within(once(this.child, 'news'), `${this.name}: ${what}`)
                .catch((error) => { throw new Error(`${error.message}; it said:\n${this.#out}${this.#err}`); });
        }
    }

    line(pattern = /^/) {
        return this.#until(() => {
            for (;;) {
                const end = this.#out.indexOf('\n', this.taken);
                if (end < 0)
                    return null;
                const line = this.#out.slice(this.taken, end);
                this.taken = end + 1;
                if (pattern.test(line))
                    return line;
            }
        }, `a line like ${pattern}`);
    }

    told(pattern) { return this.#until(() => pattern.exec(this.#err), `${pattern} on stderr`); }

    async ended() {
        await within(this.over, `the end of ${this.name}`);
        assert.doesNotMatch(this.#err, /Sanitizer|runtime error/);
        return { status: this.status, stdout: this.#out, stderr: this.#err };
    }
}

export const startProgram = (file, args, env, input) => new Command(file, args, env, input);

export const startMoot = (gateway, as, args, { env, input } = {}) =>
    startProgram(program, args, environment(gateway, as, env), input);

export const moot = (gateway, as, args, { input = '', ...options } = {}) =>
    startMoot(gateway, as, args, { input, ...options }).ended();

// --- tools ---

const schema = { type: 'object', properties: {} };
const resultOf = (given) => (typeof given === 'string' ? { content: [{ type: 'text', text: given }] } : given);

export function serveTools(client, tools, { page = 100, describe = {} } = {}) {
    const names = Object.keys(tools);
    const answer = ({ id, from, kind, payload }, what) => client.send(envelope(client.id,
        kind.replace('request', 'response'), { to: [from], correlation_id: id, payload: { jsonrpc: '2.0', id: payload.id, ...what } }));

    client.socket.on('message', async (text) => {
        const request = JSON.parse(text);
        if (!request.kind.startsWith('mcp/request:tools/') || !request.to?.includes(client.id))
            return;
        const { method, params = {} } = request.payload;
        if (method === 'tools/list') {
            const start = Number(params.cursor ?? 0);
            answer(request, { result: {
                tools: names.slice(start, start + page).map((name) => ({ name, inputSchema: schema, ...describe[name] })),
                ...(start + page < names.length ? { nextCursor: `${start + page}` } : {}),
            } });
            return;
        }
        if (!tools[params.name])
            answer(request, { error: { code: -32602, message: `there is no ${params.name}` } });
        else {
            const given = await tools[params.name](params.arguments, request, client);
            if (given !== undefined)
                answer(request, { result: resultOf(given) });
        }
    });
    return client;
}
