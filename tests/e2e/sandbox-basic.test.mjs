// SPDX-License-Identifier: Apache-2.0
// What a command under the basic sandbox can reach, and what one without a sandbox still is
// spared or denied: both for root's children and for those of an ordinary user.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';

import { confine, escape, escapeProgram, folder, processesCalled, start, until, users } from './sandbox.mjs';

const basic = { level: 'basic' };
const off = { level: 'off', network: 'any' };
const inside = (user) => (user.uid === 0 ? 64000 : user.uid);

for (const user of users) {
    const about = (name, run) => test(`${user.name}: ${name}`, { skip: user.skip }, run);

    about('basic: paths outside cannot be read or written', async () => {
        const place = folder(user);
        const other = folder(user);

        fs.writeFileSync(path.join(place, 'mine'), 'inside\n');
        fs.writeFileSync(path.join(other, 'secret'), 'outside\n');
        fs.symlinkSync(path.join(other, 'secret'), path.join(place, 'way'));
        const reads = (what) => escape(user, { ...basic, read: place }, 'read', what);

        assert.equal(await reads(path.join(place, 'mine')), 'got: inside');
        assert.equal(await reads(path.join(other, 'secret')), 'refused: EACCES');
        assert.equal(await reads(path.join(place, 'way')), 'refused: EACCES');
        assert.equal(await reads('/etc/hostname'), 'refused: EACCES');
        assert.equal(await escape(user, basic, 'list', '/'), 'refused: EACCES');
        assert.equal(await escape(user, basic, 'write', '/tmp/moot-basic'), 'refused: EACCES');
        assert.equal(await escape(user, { ...basic, read: place }, 'write', path.join(place, 'x')),
            'refused: EACCES');
        assert.equal(await escape(user, { ...basic, write: place }, 'write', path.join(place, 'x')),
            'got: written');
    });

    about('basic: other processes are out of reach, those of the same user as well', async (t) => {
        const uid = inside(user);
        const line = user.skip || process.getuid() !== 0
            ? ['sleep', '60'] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', 'sleep', '60'];
        const other = spawn(line[0], line.slice(1));

        t.after(() => other.kill('SIGKILL'));
        await until(() => fs.readFileSync(`/proc/${other.pid}/cmdline`, 'latin1').startsWith('sleep'), 'it sleeps');
        assert.equal(await escape(user, basic, 'kill', other.pid), 'refused: EPERM');
        assert.match(await escape(user, basic, 'read', `/proc/${other.pid}/environ`), /^refused: (EACCES|EPERM)$/);
        assert.equal(await escape(user, basic, 'ptrace', other.pid), 'refused: EPERM');
        const caps = await escape(user, basic, 'caps');

        for (const kind of ['Prm', 'Eff', 'Amb'])
            assert.match(caps, new RegExp(`Cap${kind}:\\t0+$`, 'm'));
        assert.match(caps, /NoNewPrivs:\t1/);
        assert.match(caps, /Seccomp:\t2/);
        assert.match(caps, new RegExp(`Uid:\\t${inside(user)}\\t`));
        assert.equal(await escape(user, basic, 'descriptors'), '0 1 2');
    });

    about('basic: no socket of any kind, local ones included', async () => {
        const local = path.join(folder(user), 'socket');
        const named = net.createServer().listen(local);
        const abstract = net.createServer().listen(`\0moot-${process.pid}-${user.uid}`);

        for (const family of [1, 2, 10, 16])
            assert.equal(await escape(user, basic, 'socket', family), 'refused: EPERM', `family ${family}`);
        assert.equal(await escape(user, { ...basic, write: path.dirname(local) }, 'local', local), 'refused: EPERM');
        assert.equal(await escape(user, basic, 'local', `@moot-${process.pid}-${user.uid}`), 'refused: EPERM');
        named.close();
        abstract.close();
    });

    about('basic: no namespaces; limits hold', async () => {
        assert.equal(await escape(user, basic, 'namespace', 0x10000000), 'refused: EPERM');
        assert.equal(await escape(user, basic, 'clone3'), 'refused: ENOSYS');
        assert.equal(await escape(user, basic, 'core'), 'refused: EPERM');
        assert.match(await escape(user, { ...basic, memory: 64 << 20 }, 'memory', 200),
            /^(refused: ENOMEM|killed: 9)$/);
        assert.equal(await escape(user, { ...basic, files: 20 }, 'files'), '17 files');
    });

    about('basic: node runs there', async () => {
        const home = path.join(folder(user), 'home');
        const { out, err } = await confine(user, { ...basic, home }, 'node', '-e',
            'fs.writeFileSync("x", "y"); console.log(process.cwd(), require("child_process").execSync("echo ok") + "")');

        assert.equal(out.trim(), `${home} ok`, err);
    });

    about('off: nothing is inherited but the user', async () => {
        const variables = (await escape(user, { ...off, set: 'A=b', home: '/tmp' }, 'env')).split('\n');

        assert.deepEqual(variables.map((line) => line.split('=')[0]).sort(), ['A', 'HOME', 'LANG', 'PATH', 'TMPDIR']);
        assert.ok(variables.includes('HOME=/tmp'));
        assert.equal(await escape(user, { ...off, home: '/tmp' }, 'descriptors'), '0 1 2');
        assert.equal(await escape(user, { ...off, home: '/tmp' }, 'where'), '/tmp');
        assert.match(await escape(user, { ...off, folder: '/usr' }, 'caps'), new RegExp(`Uid:\\t${user.uid}\\t`));
        assert.equal(await escape(user, { ...off, folder: '/', files: 20 }, 'files'), '17 files');
    });

    about('off: it ends with its parent, and may finish', async () => {
        const name = `7${process.pid}${user.uid}`;
        const running = start(user, { ...off, folder: '/' }, escapeProgram, 'wait', name);
        const called = `${escapeProgram}\0wait\0${name}\0`;

        await running.says('ready');
        assert.equal(processesCalled(called).length, 1);
        running.child.kill('SIGKILL');
        await until(() => processesCalled(called).length === 0, 'it is gone');
    });
}

test('root: a given uid is taken', { skip: users[0].skip }, async () => {
    for (const options of [{ level: 'off', network: 'any', folder: '/' }, basic, {}])
        assert.match(await escape(users[0], { ...options, uid: 64123 }, 'caps'), /Uid:\t64123\t64123\t64123\t64123/);
});

test('root: a home that is new is given away, one that holds something is not', { skip: users[0].skip }, async () => {
    const [root] = users;
    const fresh = path.join(folder(root), 'fresh');
    const used = folder(root);

    fs.writeFileSync(path.join(used, 'x'), '');
    await escape(root, { home: fresh }, 'where');
    await escape(root, { home: used }, 'where');
    assert.equal(fs.statSync(fresh).uid, 64000);
    assert.equal(fs.statSync(used).uid, 0);
});
