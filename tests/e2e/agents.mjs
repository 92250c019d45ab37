// SPDX-License-Identifier: Apache-2.0
// Agents at /agents: plain WebSocket clients that send exact messages and record every event.
//
//   const agent = await connect(gateway)             101 and no more
//   const agent = await subscribe(gateway, 'scout', { token, teams, since, … })
//       agent.confirmed                              the data of its SUBSCRIPTION_CONFIRMED
//       agent.send(value)                            an object, a text or a Buffer, as it is
//       await agent.next()                           the next event, none skipped
//       await agent.ask('TEAM_CREATE', payload)      sends it and gives the event that answers it;
//                                                    unsolicited ones that come before are kept
//       await agent.closed()                         { code, reason }
//   message(source, performative, payload, more)     with a new message_id
//   jwt(claims, { secret, header })                  signed with HS256
//   codeOf(event)                                    of an ERROR; asserts that it is one
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';

import WebSocket from 'ws';

import { within } from './gateway.mjs';

export const message = (source, performative, payload = {}, more = {}) => ({
    protocol_version: '1.0',
    message_id: randomUUID(),
    timestamp: new Date().toISOString(),
    source_agent_id: source,
    performative,
    payload,
    ...more,
});

class Agent {
    events = [];
    taken = 0;
    ending = null;
    waiting = [];

    constructor(socket, id) {
        Object.assign(this, { socket, id });
        socket.on('message', (data, isBinary) => {
            assert.equal(isBinary, false);
            this.events.push(JSON.parse(data.toString()));
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

    news(what) { return within(new Promise((resolve) => { this.waiting.push(resolve); }), what); }

    send(value) {
        this.socket.send(typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value));
        return value;
    }

    async next(what = 'an event') {
        while (this.taken === this.events.length) {
            if (this.ending)
                throw new Error(`closed with ${this.ending.code} ${this.ending.reason} instead of ${what}`);
            await this.news(`${what} for ${this.id}`);
        }
        return this.events[this.taken++];
    }

    // The answer to a message that was sent; others may wait for theirs meanwhile.
    async answer({ message_id: id }) {
        for (;;) {
            const at = this.events.findIndex((event, i) => i >= this.taken && event.payload.data.in_reply_to === id);
            if (at >= 0)
                return this.events.splice(at, 1)[0];
            if (this.ending)
                throw new Error(`closed with ${this.ending.code} ${this.ending.reason} without an answer`);
            await this.news(`the answer to ${id}`);
        }
    }

    ask(performative, payload, more) { return this.answer(this.send(message(this.id, performative, payload, more))); }

    async closed() {
        while (!this.ending)
            await this.news(`the close of ${this.id}`);
        return this.ending;
    }

    async close() {
        this.socket.close(1000);
        return this.closed();
    }
}

export async function connect(gateway, id = 'agent', options = {}) {
    const socket = new WebSocket(`${gateway.scheme.replace('http', 'ws')}://${gateway.host}:${gateway.port}/agents`, options);
    const agent = new Agent(socket, id);

    await within(new Promise((resolve, reject) => {
        socket.once('open', resolve);
        socket.once('unexpected-response', (_, res) => { reject(new Error(`refused with ${res.statusCode}`)); socket.terminate(); });
        socket.once('error', reject);
    }), 'the upgrade');
    return agent;
}

export async function subscribe(gateway, id, { token = `${id}-token`, ...more } = {}) {
    const agent = await connect(gateway, id);
    const event = await agent.ask('CONTEXT_SUBSCRIBE', { authentication_token: token, ...more });

    assert.equal(event.payload.event_type, 'SUBSCRIPTION_CONFIRMED', JSON.stringify(event));
    agent.confirmed = event.payload.data;
    return agent;
}

export function codeOf(event) {
    assert.equal(event.payload.event_type, 'ERROR', JSON.stringify(event));
    assert.match(event.payload.data.message, /\.$/);
    return event.payload.data.code;
}

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

export function jwt(claims, { secret, header = { alg: 'HS256', typ: 'JWT' } }) {
    const text = `${encode(header)}.${encode(claims)}`;

    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}
