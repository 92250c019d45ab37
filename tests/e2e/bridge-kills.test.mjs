// SPDX-License-Identifier: Apache-2.0
// Random kill -9 while calls are under way: of servers, of what they started, of those who keep
// them, of the bridge and of the gateway. No process is left behind, no call runs twice, no call is
// answered twice, and whoever is left goes on. MOOT_KILLS says how many; MOOT_SEED repeats a run.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { echo, startBridge } from './bridges.mjs';
import { envelope, people, person, startGateway, within } from './gateway.mjs';
import { end, marked, nothingLeft, parentOf, until } from './processes.mjs';

process.setMaxListeners(0); // each program that is started adds one
const kills = Number(process.env.MOOT_KILLS ?? 16);
let seed = Number(process.env.MOOT_SEED ?? Date.now() % 1e9) | 0;

// mulberry32
function random(below) {
    seed = (seed + 0x6d2b79f5) | 0;
    let x = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) % below;
}
const oneOf = (list) => list[random(list.length)];

// A room whose server sits there by a bridge, or inside the gateway.
class Room {
    calls = new Map(); // id of the envelope → texts of the answers
    refused = new Set(); // those that the gateway did not take
    deaths = 0; // since the bridge, or the gateway where it is inside, was started

    constructor(sandbox, isInside) {
        Object.assign(this, { sandbox, isInside });
    }

    async open() {
        this.folder = fs.mkdtempSync('/tmp/moot-kills-');
        this.ledger = path.join(this.folder, 'ledger');
        fs.writeFileSync(this.ledger, '');
        fs.chmodSync(this.folder, 0o711);
        fs.chmodSync(this.ledger, 0o666);
        const command = [echo, '--ledger', this.ledger];
        const inside = { topic: 'room', command, sandbox: this.sandbox, start: true,
            ...(this.sandbox === 'off' ? { network: 'any' } : { read: [path.dirname(echo)], write: [this.ledger] }) };

        this.command = command;
        this.gateway = await startGateway({
            tokens: [...people('alice'), ...(this.isInside ? [] : [person('tool', { profile: 'bridge' })])],
            ...(this.isInside ? { servers: { tool: inside } } : {}),
            topics: { defaults: { loop_guard: 'off' } },
            limits: { rate_messages: 0, rate_bytes: 0 },
        });
        await this.join();
        await this.startBridge();
        return this;
    }

    async join() {
        this.alice = await this.gateway.join('alice');
        this.seen = 0;
        this.alice.socket.on('message', () => this.look());
        this.look();
    }

    look() {
        for (const { json, text } of this.alice.frames.slice(this.seen)) {
            if (json.kind.startsWith('mcp/response:'))
                this.calls.get(json.correlation_id)?.push(text);
            else if (json.kind === 'system/error')
                this.refused.add(json.correlation_id);
        }
        this.seen = this.alice.frames.length;
    }

    async startBridge() {
        if (this.isInside)
            return;
        const options = this.sandbox === 'off' ? [] : ['--read', path.dirname(echo), '--write', this.ledger];

        this.bridge = await startBridge(this.gateway, ['--sandbox', this.sandbox, ...options], this.command);
    }

    call(name, args = {}) {
        const sent = envelope('alice', `mcp/request:tools/call:${name}`, { to: ['tool'] });

        sent.payload = { jsonrpc: '2.0', id: sent.id, method: 'tools/call',
            params: { name, arguments: { ...args, text: sent.id } } };
        this.calls.set(sent.id, []);
        this.alice.send(sent);
        return sent.id;
    }

    // A call that must come through. Who leaves and comes back at once is not told of, and what was
    // sent to it meanwhile is lost: then there is another.
    async succeed() {
        let id, late;

        await until(async () => {
            const answer = id && JSON.parse(this.calls.get(id)[0] ?? 'null');

            if (answer?.payload.result)
                return true;
            // A bridge that finds no gateway at its start ends.
            if (this.bridge?.status !== undefined)
                await this.startBridge();
            if (!id || answer || this.refused.has(id) || Date.now() > late) {
                id = this.call('echo');
                late = Date.now() + 3_000;
            }
            return false;
        }, () => `a call succeeds: ${this.calls.get(id)} ${this.state()}`);
    }

    state() {
        const { status, child } = this.bridge ?? this.gateway;

        return JSON.stringify({ status, pid: child.pid, heard: this.alice.frames.length, servers: this.servers(),
            last: this.alice.frames.slice(-3).map(({ text }) => text.slice(0, 300)) }, null, 1) +
            (this.bridge ?? this.gateway).stderr().slice(-2000);
    }

    servers() { return marked(this.ledger).filter(({ pid }) => pid !== this.bridge?.child.pid); }
    owner() { return this.isInside ? this.gateway.pid : this.bridge.child.pid; }
    spawner() { return marked('spawner').filter(({ parent }) => parent === this.owner()); }
    keepers() {
        const [spawner] = this.spawner();
        return spawner ? marked('spawner').filter(({ parent }) => parent === spawner.pid) : [];
    }

    async killBridge() {
        end(this.bridge.child.pid);
        await within(this.bridge.over, 'the end of the bridge');
        await this.startBridge();
        this.deaths = 0;
    }

    async killGateway() {
        await this.gateway.kill();
        this.gateway = await this.gateway.restart();
        this.deaths = this.isInside ? 0 : this.deaths;
        await this.join();
    }

    // After two deaths of a server the next one would take long to come back: whoever waits for that
    // is killed instead.
    async killSomebody() {
        const isOwner = this.deaths >= 2 || random(5) === 0;

        if (isOwner && (this.isInside || (this.deaths < 2 && random(2))))
            await this.killGateway();
        else if (isOwner)
            await this.killBridge();
        else {
            this.deaths++;
            return end(oneOf(oneOf([this.spawner, this.keepers, this.servers, this.servers]).call(this))?.pid);
        }
        return true;
    }

    async close() {
        if (this.bridge)
            await this.bridge.stop();
        await this.gateway.stop();
        fs.rmSync(this.folder, { recursive: true });
    }
}

const kinds = [['off', false], ['strict', false], ['off', true], ['strict', true]];
const share = Math.ceil(kills / kinds.length);

for (const [sandbox, isInside] of kinds)
    test(`${share} kills, ${sandbox}, ${isInside ? 'in the gateway' : 'by a bridge'}`, { timeout: 60_000 + share * 10_000 }, async (t) => {
        t.diagnostic(`seed ${seed}`);
        const room = await new Room(sandbox, isInside).open();

        await room.succeed();
        for (let i = 0; i < share;) {
            for (let j = random(5); j >= 0; j--)
                room.call(...oneOf([['echo'], ['slow', { ms: random(30) }], ['fork'], ['silent']]));
            await sleep(random(40));
            if (await room.killSomebody())
                i++;
            if (random(2))
                await room.succeed();
        }
        await room.succeed();

        for (const [id, answers] of room.calls)
            assert.ok(answers.length <= 1, `${id} was answered ${answers.length} times: ${answers.join('\n')}`);
        const begun = fs.readFileSync(room.ledger, 'utf8').split('\n').filter(Boolean);
        assert.equal(new Set(begun).size, begun.length, 'a call ran twice');

        const helpers = [...room.spawner(), ...room.keepers()].map(({ pid }) => pid);
        await room.close();
        await nothingLeft(room.ledger);
        await until(() => helpers.every((pid) => parentOf(pid) === 0), 'its helpers have gone');
    });
