// SPDX-License-Identifier: Apache-2.0
// Receivers of exported records: a syslog daemon over TCP, UDP or a local socket, and an
// OpenTelemetry collector. Each can be stopped and started again at the same place.
//
//   const daemon = await syslogOver('tcp' | 'udp' | 'unix', { pauses })   .option for `audit.syslog`
//   const collector = await otlpCollector()                   .option for `audit.otlp`
//       receiver.records     what came, in order: { event, seq, topic, kind, verdict, body, … }
//       await receiver.until((records) => …)   waits for news until it holds
//       await receiver.stop(), .start()
//       daemon.heads         the heads of the chain that came
//       daemon.pauses        true: connections are kept and nothing is read; holds from the next start
//       collector.requests   { headers, records }
//       collector.answer     (request) => ({ status, body }); undefined: none, ever
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { spawn } from 'node:child_process';

import { patience, within } from './gateway.mjs';

class Receiver {
    records = [];
    #waiting = [];

    wake() {
        for (const resolve of this.#waiting.splice(0))
            resolve();
    }

    async until(holds, limit = patience) {
        await within((async () => {
            while (!holds(this.records))
                await new Promise((resolve) => { this.#waiting.push(resolve); });
        })(), `${holds} with ${this.records.length} records`, limit);
    }
}

// <PRI>1 TIME HOST APP PROCID MSGID [moot@32473 name="value" …] body
export function parseSyslog(text) {
    const match = /^<(\d+)>1 (\S+) (\S+) moot (\d+) (\S+) \[moot@32473((?: \w+="(?:[^"\\\]]|\\["\\\]])*")*)\](?: \ufeff?(.*))?$/s.exec(text);

    if (!match)
        throw new Error(`not a message: ${text}`);
    const [, pri, time, host, , event, values, body] = match;
    const record = { pri: Number(pri), time, host, event, body };
    for (const [, name, value] of values.matchAll(/ (\w+)="((?:[^"\\\]]|\\["\\\]])*)"/g))
        record[name] = value.replaceAll(/\\(.)/g, '$1');
    return { ...record, seq: Number(record.seq) };
}

class Syslog extends Receiver {
    heads = [];
    pauses = false;
    connections = new Set();

    take(text) {
        const message = parseSyslog(text);

        (message.event === 'head' ? this.heads : this.records).push(message);
        this.wake();
    }
}

class SyslogTcp extends Syslog {
    get option() { return `tcp://127.0.0.1:${this.port}`; }

    serve(socket) {
        let bytes = Buffer.alloc(0);

        this.connections.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => this.connections.delete(socket));
        if (this.pauses)
            return;
        socket.on('data', (part) => {
            bytes = Buffer.concat([bytes, part]);
            for (let space; (space = bytes.indexOf(' ')) >= 0;) {
                const end = space + 1 + Number(bytes.subarray(0, space));
                if (bytes.length < end)
                    break;
                this.take(bytes.subarray(space + 1, end).toString());
                bytes = bytes.subarray(end);
            }
        });
        socket.on('end', () => socket.end());
    }

    async start() {
        this.server = net.createServer({ allowHalfOpen: true, pauseOnConnect: this.pauses }, (socket) => this.serve(socket));
        this.server.listen(this.port ?? 0, '127.0.0.1');
        await once(this.server, 'listening');
        this.port = this.server.address().port;
        return this;
    }

    async stop() {
        const closed = once(this.server, 'close');

        this.server.close();
        for (const socket of this.connections)
            socket.destroy();
        await closed;
    }
}

class SyslogUdp extends Syslog {
    get option() { return `udp://127.0.0.1:${this.port}`; }

    async start() {
        this.socket = createSocket('udp4');
        this.socket.on('message', (bytes) => this.take(bytes.toString()));
        this.socket.bind(this.port ?? 0, '127.0.0.1');
        await once(this.socket, 'listening');
        this.port = this.socket.address().port;
        return this;
    }

    async stop() {
        const closed = once(this.socket, 'close');

        this.socket.close();
        await closed;
    }
}

// Node has no datagrams over local sockets; a small program in Python passes them on, each
// with its length before it.
const relay = `
import os, socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
sys.stdout.buffer.write(struct.pack('>I', 0)); sys.stdout.flush()
while True:
    m = s.recv(1 << 20)
    sys.stdout.buffer.write(struct.pack('>I', len(m)) + m); sys.stdout.flush()
`;

class SyslogUnix extends Syslog {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-syslog-'));
    get option() { return `unix:${this.folder}/log`; }

    async start() {
        let bytes = Buffer.alloc(0);
        let ready;
        const started = new Promise((resolve) => { ready = resolve; });

        this.child = spawn('python3', ['-c', relay, `${this.folder}/log`], { stdio: ['ignore', 'pipe', 'inherit'] });
        this.child.stdout.on('data', (part) => {
            bytes = Buffer.concat([bytes, part]);
            while (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32BE()) {
                const message = bytes.subarray(4, 4 + bytes.readUInt32BE());
                bytes = bytes.subarray(4 + message.length);
                if (message.length)
                    this.take(message.toString());
                else
                    ready();
            }
        });
        process.once('exit', () => fs.rmSync(this.folder, { recursive: true, force: true }));
        await within(started, 'the local socket');
        return this;
    }

    async stop() {
        const exited = once(this.child, 'exit');

        this.child.kill('SIGKILL');
        await exited;
        fs.rmSync(`${this.folder}/log`, { force: true });
    }
}

const daemons = { tcp: SyslogTcp, udp: SyslogUdp, unix: SyslogUnix };

export const syslogOver = (transport, options = {}) => Object.assign(new daemons[transport](), options).start();

const valueOf = ({ stringValue, intValue }) => stringValue ?? Number(intValue);

function recordOf({ attributes, body, ...rest }) {
    const record = { ...rest, body: body?.stringValue };

    for (const { key, value } of attributes)
        record[key.replace(/^moot\./, '')] = valueOf(value);
    return record;
}

class Collector extends Receiver {
    requests = [];
    answer = () => ({ status: 200, body: {} });

    constructor(tls) {
        super();
        this.tls = tls;
    }

    get option() { return `${this.tls ? 'https' : 'http'}://127.0.0.1:${this.port}/v1/logs`; }

    async serve(req, res) {
        let text = '';

        req.on('error', () => {});
        for await (const part of req)
            text += part;
        const json = JSON.parse(text);
        const logs = json.resourceLogs[0];
        const request = {
            method: req.method, url: req.url, headers: req.headers,
            resource: Object.fromEntries(logs.resource.attributes.map(({ key, value }) => [key, valueOf(value)])),
            records: logs.scopeLogs[0].logRecords.map(recordOf),
        };
        this.requests.push(request);
        const answer = this.answer(request);
        if (!answer)
            return this.wake();
        if (answer.status < 300)
            this.records.push(...request.records);
        res.writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers });
        res.end(JSON.stringify(answer.body ?? {}));
        this.wake();
    }

    async start() {
        const serve = (req, res) => { this.serve(req, res).catch(() => res.destroy()); };

        this.server = this.tls ? https.createServer(this.tls, serve) : http.createServer(serve);
        this.server.listen(this.port ?? 0, '127.0.0.1');
        await once(this.server, 'listening');
        this.port = this.server.address().port;
        return this;
    }

    async stop() {
        const closed = once(this.server, 'close');

        this.server.close();
        this.server.closeAllConnections();
        await closed;
    }
}

export const otlpCollector = (tls) => new Collector(tls).start();
