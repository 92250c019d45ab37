// SPDX-License-Identifier: Apache-2.0
// A participant of libmoot in a process of its own, driven by JSON lines: what it can be
// told and tells is described in programs/participant_probe.c.
//
//   const bot = await startParticipant(gateway, 'bot', { topic, …options of moot.h })
//       joined: its welcome has come. `joins: false`: only started
//   await bot.do('chat', { text })    the answer; throws where "err" is not what `err` says
//   await bot.event('chat', (event) => …)   the next such event; skips others
//   await bot.outcome(tag)                  the event "done" of that tag
//   bot.events                              everything so far
//   await bot.stop()                        ends it; asserts status 0 and a silent stderr
//   startProbe()                            the same without a handle
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';

import { patience, within } from './gateway.mjs';

const program = process.env.MOOT_PROBE ?? fileURLToPath(new URL('../../build/participant_probe', import.meta.url));

class Participant {
    events = [];
    answers = [];
    taken = 0;
    #err = '';
    #waiting = [];

    constructor(name) {
        this.name = name;
        this.child = spawn(program, [], { stdio: ['pipe', 'pipe', 'pipe'] });
        this.exited = once(this.child, 'exit');
        this.child.stderr.on('data', (part) => { this.#err += part; });
        this.child.stdin.on('error', () => {});
        readline.createInterface({ input: this.child.stdout }).on('line', (line) => {
            const json = JSON.parse(line);
            (json.did ? this.answers : this.events).push(json);
            for (const resolve of this.#waiting.splice(0))
                resolve();
        });
        process.once('exit', () => this.child.kill('SIGKILL'));
        for (const held of [this.child, this.child.stdin, this.child.stdout, this.child.stderr])
            held.unref(); // a test that failed must end nevertheless
    }

    get stderr() { return this.#err; }

    async #news(what) {
        try {
            await within(Promise.race([
                new Promise((resolve) => { this.#waiting.push(resolve); }),
                this.exited.then(([code, signal]) => { throw new Error(`it ended with ${code ?? signal}: ${this.#err}`); }),
            ]), `${what} of ${this.name}`, patience);
        } catch (error) {
            const last = this.events.slice(-8).map((event) => JSON.stringify(event).slice(0, 300)).join('\n  ');
            throw new Error(`${error.message}; ${this.events.length} events, the last:\n  ${last}`);
        }
    }

    // Commands are answered in their order.
    async do(what, { err = 'ok', ...args } = {}) {
        this.child.stdin.write(`${JSON.stringify({ do: what, ...args })}\n`);
        while (this.answers.length === 0)
            await this.#news(`the answer to ${what}`);
        const answer = this.answers.shift();
        assert.equal(answer.did, what);
        assert.equal(answer.err, err, JSON.stringify(answer));
        return answer;
    }

    async next(what = 'an event') {
        while (this.taken === this.events.length)
            await this.#news(what);
        return this.events[this.taken++];
    }

    async event(name, matches = () => true) {
        for (;;) {
            const event = await this.next(`${name} ${matches}`);
            if (event.event === name && matches(event))
                return event;
        }
    }

    outcome(tag) {
        return this.event('done', (event) => event.tag === tag);
    }

    kill(signal) { this.child.kill(signal); }

    async stop() {
        this.child.stdin.end();
        const [code, signal] = await within(this.exited, `the end of ${this.name}`);
        assert.deepEqual([code, signal, this.#err], [0, null, '']);
    }
}

export function startProbe(name = 'probe') {
    return new Participant(name);
}

export const urlOf = (gateway) => `${gateway.scheme.replace('http', 'ws')}://${gateway.host}:${gateway.port}`;

export async function startParticipant(gateway, id, { joins = true, ...options } = {}) {
    const participant = new Participant(id);

    await participant.do('new', { url: urlOf(gateway), topic: 'room', token: `${id}-token`, retry_min_ms: 10, ...options });
    if (joins)
        await participant.event('welcome');
    return participant;
}
