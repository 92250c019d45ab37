// SPDX-License-Identifier: Apache-2.0
// What the end-to-end tests share: a gateway of their own, clients that record every frame,
// and waiting that ends. Nothing here sleeps; every wait is bounded by `patience`.
//
//   const gateway = await startGateway(config, { args, env, workers })
//       config    the settings: YAML text, or an object (JSON is YAML)
//       gateway.port, .pid, .data (folder), .config (path of the settings), .link (printed
//       sign-in ticket or undefined), .stdout(), .stderr()
//       gateway.adminToken() / .humanToken()   those of the first start
//       gateway.signal(name)                   SIGHUP and the like, to this process only
//       await gateway.logged(/…/)              until its log, which is standard error, has this
//       await gateway.stop()                   SIGTERM; asserts status 0 and no sanitizer report
//       await gateway.kill()                   SIGKILL; its folder stays
//       await gateway.restart()                a new one where a killed one was: port, data, settings;
//                                              other options may be given, { workers }
//
//   people('alice', 'bob')     tokens for a config: token ID-token, capabilities mcp/*, chat
//   person('eve', { ... })     one of them, with other settings
//
//   const client = await gateway.join('alice', { topic, routing: 'directed', headers, … })
//       a ws client that has received its welcome and its own join; further options that ws
//       knows go under `ws`, and everything else becomes a query parameter; `isPresent`: there
//       is no join to wait for, because the id has another connection already
//   const client = await gateway.open('alice', { … })     the same, waits for 101 only
//   await gateway.refusal('alice', { … })                 an upgrade that must be refused:
//                                                         { status, headers, text, json }
//       client.frames          everything received: { text, json, isBinary }
//       client.send(value)     an object, a text or a Buffer, as it is
//       client.chat(text, more) sends a chat with a new id and gives the envelope
//       await client.next()    the frame behind the last one that was taken, none skipped
//       await client.closed()  { code, reason }
//       await client.close()   closes with 1000 and waits for it
//   await expect(client, (json, frame) => …)   the next frame like this; skips others; both
//                                              expect and next give the frame's json
//   await expectOnly(clients, sender)          nothing has arrived that was not taken: sends a
//                                              chat from `sender` and wants it to be the next
//   changesIn(json)                            the joins and leaves that a frame tells of, alone or
//                                              in a batch: { event, id, capabilities, moot }
//   takeAll(client)                            takes what has arrived so far
//
//   await gateway.request('GET /topics', { token, headers, body, json, agent, limit })
//       token is sent as it is; the answer may take `limit` ms; gives { status, headers, text, json }
//   await gateway.post(token, topic, envelope)  POST /topics/T/messages
//   envelope(from, kind, more)                  with a new id and an empty payload
//   await within(promise, what)                 a promise, bounded
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

import WebSocket from 'ws';

export const patience = 60_000; // ms: for a machine that does much else; nothing waits for its end
export const protocol = 'mcpx/v0.1';
export const program = process.env.MOOT ?? fileURLToPath(new URL('../../build/moot', import.meta.url));
const defaultWorkers = process.env.MOOT_WORKERS ?? '2';

export async function within(promise, what = 'it', limit = patience) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`waited too long for ${what}`)), limit);
    });

    try {
        return await Promise.race([promise, late]);
    } finally {
        clearTimeout(timer);
    }
}

// --- settings and envelopes ---

export const person = (id, settings = {}) => ({
    token: `${id}-token`,
    id,
    ...(settings.profile ? {} : { capabilities: ['mcp/*', 'chat'] }),
    ...settings,
});
export const people = (...ids) => ids.map((id) => person(id));

let count = 0;

export const envelope = (from, kind = 'chat', more = {}) =>
    ({ protocol, id: `${from}-${process.pid}-${++count}`, from, kind, payload: {}, ...more });

// --- clients ---

class Client {
    frames = [];
    taken = 0;
    ending = null;

    constructor(socket, id) {
        this.socket = socket;
        this.id = id;
        this.waiting = [];
        socket.on('message', (data, isBinary) => {
            const text = data.toString();
            this.frames.push({ text, json: JSON.parse(text), isBinary });
            this.wake();
        });
        socket.on('close', (code, reason) => {
            this.ending = { code, reason: reason.toString() };
            this.wake();
        });
        socket.on('error', () => {});
    }

    wake() {
        for (const resolve of this.waiting.splice(0))
            resolve();
    }

    // The next news, or an error that shows what there was instead.
    async news(what) {
        try {
            await within(new Promise((resolve) => { this.waiting.push(resolve); }), what);
        } catch (error) {
            const last = this.frames.slice(-5).map((frame) => frame.text.slice(0, 500)).join('\n  ');
            throw new Error(`${error.message}; ${this.frames.length} frames, the last:\n  ${last}`);
        }
    }

    async next(what = 'a frame') {
        while (this.taken === this.frames.length) {
            if (this.ending)
                throw new Error(`closed with ${this.ending.code} instead of ${what}`);
            await this.news(`${what} for ${this.id}`);
        }
        return this.frames[this.taken++].json;
    }

    // The frame that was taken last; others may have come since.
    get latest() {
        return this.frames[this.taken - 1];
    }

    async closed() {
        while (!this.ending)
            await this.news(`the close of ${this.id}`);
        return this.ending;
    }

    send(value) {
        this.socket.send(typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value));
        return value;
    }

    chat(text = '', more = {}) {
        return this.send(envelope(this.id, 'chat', { payload: { text }, ...more }));
    }

    async close() {
        this.socket.close(1000);
        return this.closed();
    }
}

export async function expect(client, matches, what = matches.toString()) {
    for (;;) {
        const json = await client.next(what);
        if (matches(json, client.latest))
            return json;
    }
}

export async function expectOnly(clients, sender) {
    const { id } = sender.chat('nothing else');

    for (const client of clients)
        assert.equal((await client.next('the fence')).id, id, `${client.id} got something else first`);
}

export function changesIn({ kind, payload }) {
    if (!/^system[/.]presence$/.test(kind))
        return [];
    return payload.event === 'batch' ? payload.participants : [{ event: payload.event, ...payload.participant }];
}

export function takeAll(client) {
    const frames = client.frames.slice(client.taken);
    client.taken = client.frames.length;
    return frames.map((frame) => frame.json);
}

// --- the gateway ---

// A gateway that a failed test left behind keeps connections open, and they this process:
// when the tests have ended, and their own hooks had time, it is killed.
const running = new Set();

if (process.env.NODE_TEST_CONTEXT)
    after(() => { setTimeout(() => running.forEach((child) => child.kill('SIGKILL')), patience).unref(); });

class Gateway {
    #out = '';
    #err = '';

    constructor(child, data, config, options) {
        Object.assign(this, { child, exited: once(child, 'exit'), data, config, options, pid: child.pid });
        this.ended = once(child, 'close'); // all that it wrote has been read
        child.stdout.on('data', (part) => { this.#out += part; });
        child.stderr.on('data', (part) => { this.#err += part; });
        for (const held of [child, child.stdout, child.stderr])
            held.unref(); // a test that failed must end nevertheless
    }

    stdout() { return this.#out; }
    stderr() { return this.#err; }
    adminToken() { return fs.readFileSync(path.join(this.data, 'admin.token'), 'utf8').trim(); }
    humanToken() { return fs.readFileSync(path.join(this.data, 'human.token'), 'utf8').trim(); }
    signal(name) { this.child.kill(name); }

    async logged(pattern) {
        await within((async () => {
            while (!pattern.test(this.#err))
                await once(this.child.stderr, 'data');
        })(), `${pattern} in the log`).catch((error) => { throw new Error(`${error.message}:\n${this.#err}`); });
    }

    async started() {
        while (!/^(Sign in|Data directory).*\n/m.test(this.#out))
            await within(Promise.race([
                once(this.child.stdout, 'data'),
                this.ended.then(([code]) => { throw new Error(`moot ended with ${code}: ${this.#err}`); }),
            ]), 'the gateway to start');
        const [, scheme, host, port] = /listening on (https?):\/\/(.*):(\d+)\n/.exec(this.#out);
        Object.assign(this, { scheme, host, port: Number(port) });
        this.link = /#ticket=(\S+)/.exec(this.#out)?.[1];
    }

    async kill() {
        this.child.kill('SIGKILL');
        await within(this.exited, 'the gateway to die');
    }

    restart(options = {}) { return startIn(path.dirname(this.data), this.port, { ...this.options, ...options }); }

    async stop(status = 0) {
        this.child.kill('SIGTERM');
        try {
            const [code, signal] = await within(this.exited, 'the gateway to stop');
            assert.deepEqual([code, signal], [status, null], this.#err);
        } finally {
            this.child.kill('SIGKILL');
            fs.rmSync(path.dirname(this.data), { recursive: true, force: true });
        }
        assert.doesNotMatch(this.#err, /Sanitizer|runtime error/);
    }

    #socket(id, { topic = 'room', token = `${id}-token`, headers = {}, ws = {}, ...query } = {}) {
        const parameters = new URLSearchParams(topic === null ? query : { topic, ...query });
        const authorization = token === null ? {} : { Authorization: `Bearer ${token}` };

        return new WebSocket(`${this.scheme.replace('http', 'ws')}://${this.host}:${this.port}/ws?${parameters}`,
            { headers: { ...authorization, ...headers }, rejectUnauthorized: false, ...ws });
    }

    async open(id, options) {
        const socket = this.#socket(id, options);
        const client = new Client(socket, id);
        const problem = await within(new Promise((resolve) => {
            socket.once('open', () => resolve(null));
            socket.once('unexpected-response', (_, res) => { resolve(res.statusCode); socket.terminate(); });
            socket.once('error', (error) => resolve(error.message));
        }), `the upgrade of ${id}`);

        if (problem !== null)
            throw new Error(`${id} was not let in: ${problem}`);
        return client;
    }

    async join(id, { isPresent = false, ...options } = {}) {
        const client = await this.open(id, options);

        client.welcome = await expect(client, (json) => /^system[/.]welcome$/.test(json.kind));
        const { announced, presence } = client.welcome.payload.moot;
        if (!isPresent && !announced && presence !== 'off')
            await expect(client, (json) => changesIn(json).some((one) => one.event === 'join' && one.id === id));
        return client;
    }

    async refusal(id, options) {
        const socket = this.#socket(id, options);

        socket.on('error', () => {});
        const [, res] = await within(Promise.race([
            once(socket, 'unexpected-response'),
            once(socket, 'open').then(() => { socket.terminate(); throw new Error('it was let in'); }),
        ]), 'the refusal');
        const answer = await readAnswer(res);
        socket.terminate();
        return answer;
    }

    async request(line, { token, headers = {}, body, json, agent = false, limit } = {}) {
        const [method, target] = line.split(' ');
        const content = json === undefined ? body : JSON.stringify(json);
        const options = {
            host: this.host, port: this.port, method, path: target, agent, rejectUnauthorized: false,
            headers: {
                ...(token ? { Authorization: `Bearer ${token}` } : {}),
                ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
                ...(content === undefined ? {} : { 'Content-Length': Buffer.byteLength(content) }),
                ...headers,
            },
        };
        const req = (this.scheme === 'https' ? https : http).request(options);
        const answered = once(req, 'response');

        req.end(content);
        const [res] = await within(answered, `the answer to ${line}`);
        return readAnswer(res, limit);
    }

    post(token, topic, message) {
        return this.request(`POST /topics/${topic}/messages`, {
            token,
            headers: { 'Content-Type': 'application/json' },
            body: typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message),
        });
    }
}

async function readAnswer(res, limit = patience) {
    let text = '';

    res.on('data', (part) => { text += part; });
    await within(once(res, 'end'), 'the end of an answer', limit);
    const json = /[/+]json/.test(res.headers['content-type'] ?? '') && text ? JSON.parse(text) : undefined;
    return { status: res.statusCode, headers: res.headers, text, json };
}

export async function startGateway(config = {}, options = {}) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-e2e-'));

    fs.writeFileSync(path.join(folder, 'moot.yaml'), typeof config === 'string' ? config : JSON.stringify(config));
    return startIn(folder, 0, options);
}

async function startIn(folder, port, options) {
    const { args = [], env = {}, workers = defaultWorkers } = options;
    const data = path.join(folder, 'data');
    const file = path.join(folder, 'moot.yaml');
    const child = spawn(program, ['serve', '--config', file, '--data', data, '--listen', `127.0.0.1:${port}`,
        '--workers', String(workers), ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    const gateway = new Gateway(child, data, file, options);

    running.add(child);
    child.once('exit', () => running.delete(child));

    process.once('exit', () => {
        child.kill('SIGKILL');
        fs.rmSync(folder, { recursive: true, force: true });
    });
    await gateway.started();
    return gateway;
}
