// SPDX-License-Identifier: Apache-2.0
// Disks that fail, each in its own way: full, refusing writes, losing what was synced. Whatever it
// is, a required room stops and says so, an async one counts and says so, both go on by themselves,
// nothing that was heard is missing, and the chain holds.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

import { breakDisk, mendDisk, readRecord, recorded } from './audit.mjs';
import { envelope, expect, patience, people, person, program, startGateway, takeAll, within } from './gateway.mjs';

const library = path.join(path.dirname(program), 'tests/harness/libfault.so');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-disk-'));

after(() => fs.rmSync(folder, { recursive: true, force: true }));

// --- ways to fail: { skip, start(config), breakIt(gateway), mend(gateway), end() } ---

const limited = {
    name: 'no file can grow',
    start: (config) => startGateway(config),
    breakIt: breakDisk,
    mend: mendDisk,
};

// A line of tests/harness/fault.h.
function faulty(line) {
    const file = path.join(folder, line.replace(/\W+/g, '-'));

    return {
        name: line,
        skip: !fs.existsSync(library) && `there is no ${library}`,
        start: (config) => startGateway(config, { env: { LD_PRELOAD: library, MOOT_FAULTS: file } }),
        breakIt: () => fs.writeFileSync(file, `${line}\n`),
        mend: () => fs.rmSync(file, { force: true }),
    };
}

// A filesystem of its own that really is full.
const place = path.join(folder, 'small');
const mount = () => execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'moot', place], { stdio: 'pipe' });
const unmount = () => execFileSync('umount', ['-l', place]);

// Why there can be none here, or false.
function cannotMount() {
    if (process.getuid() !== 0)
        return 'only root can mount a filesystem';
    fs.mkdirSync(place);
    try {
        mount();
        unmount();
        return false;
    } catch (error) {
        return `nothing can be mounted here: ${error.stderr}`.trim();
    }
}

// As TMPDIR, where a gateway gets its folder.
async function startWithin(directory, config) {
    const before = process.env.TMPDIR;

    process.env.TMPDIR = directory;
    try {
        return await startGateway(config);
    } finally {
        if (before === undefined)
            delete process.env.TMPDIR;
        else
            process.env.TMPDIR = before;
    }
}

function small() {
    const filling = path.join(place, 'filling');
    let refilling;

    const fill = () => {
        const fd = fs.openSync(filling, 'a');

        try {
            for (;;)
                fs.writeSync(fd, Buffer.alloc(4096));
        } catch (error) {
            assert.equal(error.code, 'ENOSPC');
        } finally {
            fs.closeSync(fd);
        }
    };
    return {
        name: 'a full filesystem',
        skip: cannotMount(),
        start: (config) => {
            mount();
            return startWithin(place, config);
        },
        // A gateway that gives up its files may leave place on the disk, which others take before it tries again.
        breakIt: () => {
            fill();
            refilling = setInterval(fill, 5).unref();
        },
        mend: () => {
            clearInterval(refilling);
            fs.rmSync(filling, { force: true });
        },
        end: () => {
            clearInterval(refilling);
            unmount();
        },
    };
}

// --- what happens ---

const config = {
    topics: { named: { room: { audit: 'required' }, loose: { audit: 'async' } }, defaults: { loop_guard: 'off' } },
    audit: { queue: '1MiB' },
    limits: { rate_messages: 0, rate_bytes: 0, drain_timeout: '3s' },
    tokens: [...people('alice', 'bob', 'cyd'), person('boss', { profile: 'admin' })],
};

async function metric(gateway, name) {
    const { text } = await gateway.request('GET /metrics');
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)[1]);
}

async function untilFailing(gateway, wanted) {
    for (const end = Date.now() + patience; await metric(gateway, 'moot_store_failing') !== wanted;)
        assert.ok(Date.now() < end, `moot_store_failing is never ${wanted}`);
}

// A disk that is full has some place left in the files that are there: it takes a while.
async function sayUntilItFails(gateway, client) {
    const said = [];

    for (const end = Date.now() + patience; await metric(gateway, 'moot_store_failing') === 0;) {
        assert.ok(Date.now() < end, 'it never fails');
        said.push(client.chat('held'.repeat(2000)).id);
    }
    return said;
}

const idsOf = (client) => client.frames.map(({ json }) => json).filter(({ kind }) => kind === 'chat').map(({ id }) => id);
const isRefusal = ({ kind, payload }) => kind === 'system/error' && payload.error === 'unavailable';

async function checkRecord(gateway, heard) {
    const { records, verify } = await readRecord(gateway.data);
    const known = new Map();

    assert.deepEqual([verify.damaged, verify.what], [false, '']);
    for (const one of records.filter(({ event }) => event === 'envelope'))
        known.set(one.id, (known.get(one.id) ?? 0) + 1);
    for (const id of heard)
        assert.equal(known.get(id), 1, `${id} was heard`);
}

for (const way of [limited, faulty('sync EIO audit.db'), faulty('write EIO audit.db'), faulty('write ENOSPC /data/'),
    small()])
    test(`disk: ${way.name}`, { skip: way.skip, timeout: 300_000 }, async () => {
        let gateway = await way.start(config);

        try {
            const [alice, bob] = [await gateway.join('alice'), await gateway.join('bob')];
            const cyd = await gateway.join('cyd', { topic: 'loose' });
            const sent = Array.from({ length: 20 }, (_, i) => alice.chat(`number ${i}`).id);
            await expect(bob, ({ id }) => id === sent.at(-1));

            await way.breakIt(gateway);
            sent.push(...await sayUntilItFails(gateway, alice));
            takeAll(alice);
            const refused = alice.chat('refused').id;
            const error = await expect(alice, (json) => json.correlation_id === refused);
            assert.ok(isRefusal(error), JSON.stringify(error));
            const ready = await gateway.request('GET /readyz');
            assert.equal(ready.status, 503);
            assert.match(ready.text, /record cannot be written/);
            await gateway.logged(/event=store\.fail/);
            const text = 'x'.repeat(50_000);
            const loose = Array.from({ length: 60 }, () => cyd.chat(text).id);
            for (const wanted of loose)
                await expect(cyd, ({ id }) => id === wanted); // nobody waits for the disk
            const dropped = await metric(gateway, 'moot_audit_dropped_total');
            assert.ok(dropped > 0 && dropped <= 61, `${dropped} dropped`);
            assert.equal(await metric(gateway, 'moot_store_failing'), 1);

            await way.mend(gateway);
            await untilFailing(gateway, 0);
            const last = alice.chat('the last').id;
            await expect(bob, ({ id }) => id === last);
            await expect(alice, ({ id }) => id === last);
            const refusals = new Set(alice.frames.filter(({ json }) => isRefusal(json)).map(({ json }) => json.correlation_id));
            const wanted = [...sent, last].filter((id) => !refusals.has(id));
            assert.deepEqual(idsOf(bob), wanted, 'all that was not refused, once and in order');
            assert.deepEqual(idsOf(alice), wanted);
            const notice = await expect(cyd, ({ payload }) => payload.notice === 'audit_gap');
            assert.ok(notice.payload.dropped > 0 && notice.payload.dropped <= dropped);
            assert.equal((await recorded(gateway, ({ event, topic }) => event === 'drop' && topic === 'loose')).body.dropped, notice.payload.dropped);
            assert.equal((await gateway.request('GET /readyz')).status, 200);
            await checkRecord(gateway, wanted);

            // It dies while the disk fails: what was heard is there, of the rest nothing was.
            await way.breakIt(gateway);
            await sayUntilItFails(gateway, alice);
            const heard = idsOf(bob);
            await gateway.kill();
            if (way !== limited) // that was a limit of the process
                await way.mend(gateway);
            gateway = await gateway.restart();
            await checkRecord(gateway, heard);
            const again = await gateway.join('bob');
            const { id } = again.chat('it goes on');
            await expect(again, (json) => json.id === id);
            await gateway.stop();
        } finally {
            gateway.child.kill('SIGKILL');
            way.end?.();
        }
    });

// A request that is under way when the disk begins to fail; where something else met the fault
// first it is answered at once, and asked again.
async function askAndWait(gateway, way, ask) {
    for (;;) {
        let isAnswered = false;

        await untilFailing(gateway, 0);
        way.breakIt();
        const answer = ask(gateway).finally(() => { isAnswered = true; });
        await untilFailing(gateway, 1);
        await gateway.request('GET /healthz');
        if (!isAnswered)
            return { answer }; // not yet
        await answer;
        way.mend();
    }
}

for (const [name, ask] of [
    ['pause', (gateway) => gateway.request('POST /admin/members/bob/pause', { token: gateway.adminToken(), json: {} })],
    ['capabilities', (gateway) => gateway.request('POST /admin/participants/bob/capabilities?topic=loose', { token: gateway.adminToken(), json: { add: ['x/*'] } })],
    ['post', (gateway) => gateway.post('alice-token', 'room', envelope('alice'))],
])
    test(`disk: whoever waits for it while the gateway stops is told so: ${name}`, { skip: faulty('x').skip, timeout: 240_000 }, async () => {
        const way = faulty('sync ENOSPC /data/');
        const gateway = await way.start(config);

        try {
            const bob = await gateway.join('bob', { topic: 'loose' });
            await recorded(gateway, ({ event }) => event === 'presence');
            const { answer } = await within(askAndWait(gateway, way, ask), 'a request that waits');
            const stopped = gateway.stop();
            const { status, json } = await within(answer, 'the answer');
            assert.deepEqual([status, json.error], [503, 'unavailable']);
            await stopped;
            await bob.closed();
        } finally {
            gateway.child.kill('SIGKILL');
            way.mend();
        }
    });
