// SPDX-License-Identifier: Apache-2.0
// Started by root, each confined server becomes a user of its own, and stays that one.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { people, person, startGateway } from './gateway.mjs';
import { callTool, echoProgram, overSocket, textOf, until } from './servers.mjs';

const isRoot = process.getuid() === 0;
const confined = { topic: 'room', command: [echoProgram], read: [path.dirname(echoProgram)] };
const config = { tokens: [...people('alice'), person('root', { profile: 'admin' })], servers: { b: confined, c: confined } };
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

test('it is free when the server is forgotten', async () => {
    const add = async (name) => {
        const added = await overSocket(gateway, 'POST /admin/servers', { name, ...confined });

        assert.equal(added.status, 201, added.text);
        return uidOf(name);
    };

    assert.deepEqual([await add('d'), await add('e')], numbers(64005, 64006));
    assert.equal((await ask('DELETE /admin/servers/d')).status, 200);
    assert.deepEqual([await add('f')], numbers(64005));
    await gateway.kill();
    gateway = await gateway.restart();
    assert.deepEqual(await uidsOf('e', 'f'), numbers(64006, 64005));
});
