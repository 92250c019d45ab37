// SPDX-License-Identifier: Apache-2.0
// An MCP client on raw JSON, for either era, over HTTP or stdio, that records what it gets: the text
// of numbers and the order of members included (fixture/lossless.mjs).
//
//   const peer = await connect({ url } or { command }, 'legacy' | 'modern', { headers })
//       has initialized, and listens to what belongs to no request (legacy; modern: peer.listen())
//   await peer.exchange(method, params)     a list of rounds { status, before, response }:
//       more than one when input is required; status: of HTTP; questions are answered by ANSWERS
//   peer.send(method, params)          the same without waiting: { id, done }; peer.cancel(sent)
//   await peer.heard(method, from)     the first notification like this after `from` of peer.notices
//   peer.opening                       rounds of initialize or server/discover
//   peer.answers                       what is answered, by method: a function of params
//   await peer.close()
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { createInterface } from 'node:readline';

import { parse, write } from './fixture/lossless.mjs';

const PATIENCE_MS = 60_000;
const PREFIX = 'io.modelcontextprotocol/';
const REVISION = { legacy: '2025-11-25', modern: '2026-07-28' };
const CAPABILITIES = {
    legacy: { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } },
    modern: { roots: {}, sampling: {}, elicitation: { form: {}, url: {} }, extensions: { [`${PREFIX}tasks`]: {} } },
};
const CLIENT = { name: 'peer', version: '1' };
const NAMED = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri', 'tasks/get': 'taskId', 'tasks/update': 'taskId', 'tasks/cancel': 'taskId' };
// Belong to no request, or to a subscription.
const NOTICE = /^notifications\/((tools|prompts|resources)\/list_changed|resources\/updated|tasks|elicitation\/complete|subscriptions\/acknowledged)/;

// By property; else the last of what can be chosen, or a text. What has a default is left out, once
// there is something else: whether it is filled in is the client's business, and nobody else's.
const FIELDS = { name: 'Alice', color: 'blue', ok: true, confirm: true };
const chosen = ({ enum: names, oneOf, anyOf, items }) =>
    (items ? [chosen(items)] : (names ?? (oneOf ?? anyOf)?.map((one) => one.const))?.slice(-1)[0]);
const filled = ({ properties }) => Object.fromEntries(Object.entries(properties)
    .filter(([key, field]) => key in FIELDS || field.default === undefined)
    .map(([key, field]) => [key, FIELDS[key] ?? chosen(field) ?? key]));
const ANSWERS = {
    'sampling/createMessage': () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'Paris' }, stopReason: 'endTurn' }),
    'roots/list': () => ({ roots: [{ uri: 'file:///work', name: 'work' }] }),
    'elicitation/create': ({ requestedSchema }) => requestedSchema
        ? { action: 'accept', content: filled(requestedSchema) }
        : { action: 'accept' },
};

export async function within(promise, what, limit = PATIENCE_MS) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`waited too long for ${what}`)), limit);
        timer.unref(); // what is cancelled is waited for by nobody
    });

    try {
        return await Promise.race([promise, late]);
    } finally {
        clearTimeout(timer);
    }
}

// --- transports: post(text, exchange), and every message to peer.take(text, exchange) ---

class Stdio {
    constructor(peer, { command: [file, ...args] }) {
        this.child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
        process.once('exit', () => this.child.kill('SIGKILL'));
        createInterface({ input: this.child.stdout }).on('line', (line) => peer.take(line, peer.current));
    }

    post(text) { this.child.stdin.write(`${text}\n`); }

    cancel(peer, { id }) { peer.tell('notifications/cancelled', { requestId: id }); }

    async close() {
        const exited = this.child.exitCode === null && once(this.child, 'exit');

        this.child.stdin.end();
        await within(exited, 'the end of the server');
    }
}

class Http {
    #agent = new http.Agent({ keepAlive: true });
    #open = new Set();

    constructor(peer, { url }, headers) { Object.assign(this, { peer, url, headers }); }

    request(method, headers, body, onAnswer) {
        const req = http.request(this.url, {
            method, agent: this.#agent,
            headers: { Accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream', ...this.headers, ...headers },
        });

        this.#open.add(req);
        req.on('close', () => this.#open.delete(req));
        req.on('error', () => {});
        req.on('response', onAnswer);
        req.end(body);
        return req;
    }

    #session() {
        return { ...(this.id && { 'Mcp-Session-Id': this.id, 'MCP-Protocol-Version': REVISION.legacy }) };
    }

    post(text, exchange) {
        const message = JSON.parse(text);
        const length = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
        const headers = this.peer.era === 'modern' ? this.#modern(message) : this.#session();
        const req = this.request('POST', { ...length, ...headers }, text, (res) => this.#read(res, exchange));

        if (exchange)
            exchange.req = req;
    }

    #modern({ method, params }) {
        const name = params[NAMED[method]];

        return {
            'MCP-Protocol-Version': params._meta[`${PREFIX}protocolVersion`], 'Mcp-Method': method,
            ...(name !== undefined && { 'Mcp-Name': name }),
            ...(params.name === 'test_header_parameter' && { 'Mcp-Param-Region': params.arguments.region, 'Mcp-Param-Count': params.arguments.count }),
        };
    }

    async #read(res, exchange) {
        this.id ??= res.headers['mcp-session-id'];
        if (exchange)
            exchange.status = res.statusCode;
        if (/event-stream/.test(res.headers['content-type'] ?? ''))
            return this.#stream(res, exchange);
        let text = '';
        for await (const part of res.setEncoding('utf8'))
            text += part;
        if (text)
            this.peer.take(text, exchange);
    }

    // A stream that ends before its answer is asked for again.
    async #stream(res, exchange) {
        let text = '';
        let last;

        try {
            for await (const part of res.setEncoding('utf8')) {
                const events = (text + part).split('\n\n');
                text = events.pop();
                for (const event of events) {
                    last = /^id: ?(.*)$/m.exec(event)?.[1] ?? last;
                    const [, data] = /^data: ?(.*)$/m.exec(event) ?? [];
                    if (data)
                        this.peer.take(data, exchange);
                }
            }
        } catch (error) {
            if (!error.code) // else the connection ended
                throw error;
            return;
        }
        if (exchange && !exchange.isDone && last && !exchange.isCancelled)
            this.request('GET', { ...this.#session(), 'Last-Event-ID': last }, undefined, (again) => this.#stream(again, exchange));
    }

    // What belongs to no request; resolves when the stream is there.
    async common() {
        await within(new Promise((resolve) => {
            this.request('GET', this.#session(), undefined, (res) => { resolve(); this.#stream(res); });
        }), 'the common stream');
    }

    cancel(peer, { id, exchange }) {
        exchange.isCancelled = true;
        if (peer.era === 'modern')
            exchange.req.destroy();
        else
            peer.tell('notifications/cancelled', { requestId: id });
    }

    async close() {
        for (const req of this.#open)
            req.destroy();
        this.#agent.destroy();
    }
}

// --- the client ---

class Peer {
    notices = [];
    answers = ANSWERS;
    #next = 1;
    #exchanges = new Map();
    #waiting = new Set();

    constructor(target, era, headers) {
        Object.assign(this, { era, current: null });
        this.carrier = target.url ? new Http(this, target, headers) : new Stdio(this, target);
    }

    take(text, exchange) {
        const message = JSON.parse(text);
        const tree = parse(text);

        if (message.method === undefined)
            return this.#answered(message, tree, exchange);
        if (NOTICE.test(message.method)) {
            this.notices.push({ method: message.method, tree });
            return this.#waiting.forEach((check) => check());
        }
        (exchange ?? this.current)?.before.push(tree);
        if (message.id !== undefined)
            this.carrier.post(write({ jsonrpc: '2.0', id: message.id, result: this.answers[message.method](message.params) }));
    }

    #answered(message, tree, given) {
        const exchange = this.#exchanges.get(message.id) ?? given;

        if (!exchange || exchange.isDone)
            return;
        exchange.isDone = true;
        exchange.response = tree;
        exchange.resolve({ status: exchange.status, before: exchange.before, response: tree, message });
    }

    // A text stays as it is, so that numbers can be written as they are meant.
    #body(id, method, params) {
        const { _meta, ...rest } = params;
        const meta = this.era === 'legacy' ? _meta : {
            ..._meta, [`${PREFIX}protocolVersion`]: REVISION.modern,
            [`${PREFIX}clientInfo`]: CLIENT, [`${PREFIX}clientCapabilities`]: CAPABILITIES.modern,
        };
        return write({ jsonrpc: '2.0', id, method, params: { ...rest, _meta: meta } });
    }

    tell(method, params = {}) { this.carrier.post(this.#body(undefined, method, params)); }

    send(method, params = {}) {
        const id = this.#next++;
        const exchange = { before: [], isDone: false };
        const done = within(new Promise((resolve) => { exchange.resolve = resolve; }), `the answer to ${method}`);

        done.catch(() => {});
        this.#exchanges.set(id, exchange);
        if (method !== 'subscriptions/listen')
            this.current = exchange;
        this.carrier.post(this.#body(id, method, params), exchange);
        return { id, done, exchange };
    }

    cancel(sent) { this.carrier.cancel(this, sent); }

    async exchange(method, params = {}) {
        const rounds = [];

        for (let more = {}; more && rounds.length < 8;) {
            const { status, before, response, message } = await this.send(method, { ...params, ...more }).done;
            const { resultType, inputRequests, requestState } = message.result ?? {};

            rounds.push({ status, before, response });
            more = resultType === 'input_required' && {
                inputResponses: Object.fromEntries(Object.entries(inputRequests ?? {}).map(([key, one]) => [key, this.answers[one.method](one.params)])),
                requestState,
            };
        }
        return rounds;
    }

    heard(method, from = 0) {
        const find = () => this.notices.slice(from).find((one) => one.method === method)?.tree;

        return within(new Promise((resolve) => {
            const check = () => {
                const found = find();
                if (!found)
                    return;
                this.#waiting.delete(check);
                resolve(found);
            };
            this.#waiting.add(check);
            check();
        }), method);
    }

    async open() {
        if (this.era === 'modern') {
            this.opening = await this.exchange('server/discover');
            return;
        }
        this.opening = await this.exchange('initialize', { protocolVersion: REVISION.legacy, capabilities: CAPABILITIES.legacy, clientInfo: CLIENT });
        this.tell('notifications/initialized');
        await this.carrier.common?.();
    }

    async close() { await this.carrier.close(); }
}

export async function connect(target, era, { headers = {} } = {}) {
    const peer = new Peer(target, era, headers);

    await peer.open();
    return peer;
}
