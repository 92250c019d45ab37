// SPDX-License-Identifier: Apache-2.0
// Started by root, each confined server becomes a user of its own, and stays that one.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { echo, startBridge } from './bridges.mjs';
import { people, person, startGateway } from './gateway.mjs';
import { moot } from './moot.mjs';
import { callTool, echoProgram, overSocket, textOf, until } from './servers.mjs';

const isRoot = process.getuid() === 0;
const confined = { topic: 'room', command: [echoProgram], read: [path.dirname(echoProgram)] };
const bridgePerson = person('tool', { capabilities: undefined, profile: 'bridge' });
const config = { tokens: [...people('alice'), person('root', { profile: 'admin' }), bridgePerson], servers: { b: confined, c: confined } };
const numbers = (...all) => all.map((number) => isRoot ? number : 0);
let gateway;

before(async () => {
    gateway = await startGateway(config);
});

after(() => gateway.stop());

const ask = (line, json) => gateway.request(line, { token: 'root-token', json });
const uidOf = (name) => until(async () => {
    const { status, json } = await ask(`GET /admin/servers/${name}`);

    return status === 200 && { uid: json.settings.uid ?? 0 };
}).then(({ uid }) => uid);
const uidsOf = async (...names) => {
    const all = [];

    for (const name of names)
        all.push(await uidOf(name));
    return all;
};

async function reload(servers) {
    fs.writeFileSync(gateway.config, JSON.stringify({ ...config, servers }));
    assert.equal((await ask('POST /admin/reload')).status, 200);
}

test('each has its own, and owns its folder', async () => {
    assert.deepEqual(await uidsOf('b', 'c'), numbers(64001, 64002));
    const alice = await gateway.join('alice', { topic: 'room' });

    for (const name of ['b', 'c']) {
        assert.equal(textOf(await callTool(alice, name, 'echo', { text: name })), name);
        assert.equal(fs.statSync(path.join(gateway.data, 'servers', name)).uid, isRoot ? await uidOf(name) : process.getuid());
    }
});

test('it stays the same, whoever comes and goes', async () => {
    await reload({ a: confined, c: confined });
    assert.deepEqual(await uidsOf('a', 'c'), numbers(64003, 64002));
    await gateway.kill();
    gateway = await gateway.restart();
    assert.deepEqual(await uidsOf('a', 'c'), numbers(64003, 64002));
    await reload({ c: { ...confined, uid: 64004 }, b: confined });
    await until(async () => await uidOf('c') === 64004);
    assert.deepEqual(await uidsOf('b'), numbers(64001));
});

const add = (name, settings = confined) => overSocket(gateway, 'POST /admin/servers', { name, ...settings });
async function added(name, settings) {
    const answer = await add(name, settings);

    assert.equal(answer.status, 201, answer.text);
    return uidOf(name);
}
const nextUid = async (name) => (await ask(`GET /admin/servers/${name}/uid`)).json.uid;

function runningAs(uid) {
    return fs.readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).some((pid) => {
        try {
            return new RegExp(`^Uid:\t${uid}\t`, 'm').test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
        } catch {
            return false; // it has ended
        }
    });
}

test('it is free when the server is forgotten and has ended', async () => {
    // Nothing but a kill ends it.
    const stubborn = { ...confined, start: true, command: ['sh', '-c', `trap "" TERM HUP; ${echoProgram}; while :; do sleep 1; done`] };

    assert.deepEqual([await added('d', stubborn), await added('e')], numbers(64005, 64006));
    if (isRoot)
        await until(() => runningAs(64005));
    assert.equal((await ask('DELETE /admin/servers/d')).status, 200);
    const other = await added('f');

    if (isRoot && runningAs(64005))
        assert.equal(other, 64007);
    await until(async () => !isRoot || other === 64005 || await nextUid('g') === 64005);
    assert.ok(other === 64005 || !isRoot || !runningAs(64005));
    await gateway.kill();
    gateway = await gateway.restart();
    assert.deepEqual(await uidsOf('e', 'f'), [...numbers(64006), other]);
});

test('what a server would become is said before', async () => {
    const mine = isRoot ? await nextUid('h') : process.getuid();

    assert.equal(await nextUid('h'), mine);
    const { stdout } = await moot(null, null, ['run', 'room', '--as', 'h', '--data', gateway.data, '--explain', '--', 'true']);

    assert.match(stdout, new RegExp(`uid ${mine}, gid ${isRoot ? mine : process.getgid()}\n`));
    assert.deepEqual([await added('h')], numbers(mine));
    assert.equal(await nextUid('h'), mine);
});

test('each bridge of a data directory has its own, and says so before', async () => {
    const alice = await gateway.join('alice', { topic: 'room' });
    const uidOfBridge = async (as) => {
        const { stdout } = await moot(null, null, ['bridge', 'room', '--as', as, '--explain', '--', 'true'],
                                      { env: { MOOT_DATA: path.join(gateway.data, 'bridge') } });

        return Number(/uid (\d+), gid/.exec(stdout)[1]);
    };
    const expected = (...all) => all.map((uid) => isRoot ? uid : process.getuid());

    assert.deepEqual([await uidOfBridge('one'), await uidOfBridge('tool'), await uidOfBridge('one')], expected(65001, 65002, 65001));
    const bridge = await startBridge(gateway, ['--read', path.dirname(echo)], [echo], { as: 'tool', watcher: alice });

    assert.equal(textOf(await callTool(alice, 'tool', 'echo', { text: 'hi' })), 'hi');
    assert.ok(runningAs(...expected(65002)));
    assert.ok(!isRoot || !runningAs(65001));
    assert.equal(fs.statSync(path.join(gateway.data, 'bridge/servers/tool')).uid, ...expected(65002));
    assert.equal((await bridge.stop()).status, 0);
});

test('bridges that begin at once differ', { skip: !isRoot }, async () => {
    const names = [...Array(8).keys()].map((n) => `at-once-${n}`);
    const all = await Promise.all(names.map((as) => moot(null, null, ['bridge', 'room', '--as', as, '--explain', '--', 'true'],
                                                         { env: { MOOT_DATA: path.join(gateway.data, 'other') } })));

    assert.deepEqual(all.map(({ stdout }) => Number(/uid (\d+), gid/.exec(stdout)[1])).sort(), names.map((_, n) => 65001 + n));
});

// The last one: a thousand servers that cannot be reached keep the gateway busy.
test('where none is left a server is not added, and those there are say what they lack', { skip: !isRoot }, async () => {
    const given = Object.fromEntries([...Array(1000).keys()].map((n) =>
        [`given-${n}`, { topic: 'given', url: 'http://127.0.0.1:1/', uid: 64001 + n }]));

    await gateway.stop();
    gateway = await startGateway({ ...config, servers: { ...given, 'given-999': confined } });
    assert.equal(await uidOf('given-999'), 65000);
    fs.writeFileSync(gateway.config, JSON.stringify({ ...config, servers: given }));
    assert.equal((await ask('POST /admin/reload')).status, 200);
    const { status, json } = await add('late');

    assert.deepEqual([status, json.detail], [503, 'There is no uid left that a further server could become: give it one by `uid`, or remove servers.']);
    assert.equal((await ask('GET /admin/servers/late')).status, 404);
    assert.equal((await ask('GET /admin/servers/late/uid')).status, 503);
    assert.equal((await add('mine', { ...confined, uid: 64999 })).status, 201);
    await reload({ ...given, 'given-999': undefined, poor: confined });
    const poor = await until(async () => {
        const answer = await ask('GET /admin/servers/poor');

        return answer.status === 200 && answer.json;
    });

    assert.equal(poor.server.why, 'there is no uid left for it: give it one');
    assert.equal(poor.settings.uid, 0);
});
