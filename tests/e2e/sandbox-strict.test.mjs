// SPDX-License-Identifier: Apache-2.0
// What a command under the strict sandbox can reach, tried from inside, for root's children
// and for those of an ordinary user.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';

import { confine, escape, escapeProgram, folder, processesCalled, start, until, users } from './sandbox.mjs';

const CLONE = { NEWNS: 0x20000, NEWUSER: 0x10000000, NEWPID: 0x20000000, NEWNET: 0x40000000, NEWTIME: 0x80 };
const CALLS = process.arch === 'x64'
    ? { bpf: 321, io_uring_setup: 425, userfaultfd: 323, keyctl: 250, add_key: 248, setns: 308,
        process_vm_readv: 310, open_by_handle_at: 304, perf_event_open: 298, personality: 135 }
    : { bpf: 280, io_uring_setup: 425, userfaultfd: 282, keyctl: 219, add_key: 217, setns: 268,
        process_vm_readv: 270, open_by_handle_at: 265, perf_event_open: 241, personality: 92 };

for (const user of users) {
    const about = (name, run) => test(`${user.name}: ${name}`, { skip: user.skip }, run);

    about('paths outside are not there, permitted ones are', async () => {
        const place = folder(user);
        const other = folder(user);

        fs.writeFileSync(path.join(place, 'mine'), 'inside\n');
        fs.writeFileSync(path.join(other, 'secret'), 'outside\n');
        fs.symlinkSync(path.join(other, 'secret'), path.join(place, 'way'));
        const reads = (what) => escape(user, { read: place }, 'read', what);

        assert.equal(await reads(path.join(place, 'mine')), 'got: inside');
        assert.equal(await reads(path.join(other, 'secret')), 'refused: ENOENT');
        assert.equal(await reads(path.join(place, 'way')), 'refused: ENOENT');
        assert.equal(await reads(path.join(place, '..', path.basename(other), 'secret')), 'refused: ENOENT');
        assert.equal(await reads('/etc/shadow'), 'refused: ENOENT');
        assert.equal(await reads('/root/.bashrc'), 'refused: ENOENT');
        assert.match(await reads('/etc/passwd'), /^got: server:/);
        assert.equal(await reads('/sys/kernel/notes'), 'refused: ENOENT');
        assert.match(await reads('/proc/kmsg'), /^refused: (EPERM|EACCES)$/);
    });

    about('reading is not writing', async () => {
        const place = folder(user);

        assert.equal(await escape(user, { read: place }, 'write', path.join(place, 'x')), 'refused: EROFS');
        assert.equal(await escape(user, { write: place }, 'write', path.join(place, 'x')), 'got: written');
        for (const elsewhere of ['/x', '/usr/x', '/etc/x', '/dev/x', '/proc/sys/kernel/core_pattern'])
            assert.match(await escape(user, {}, 'write', elsewhere), /^refused: (EROFS|EACCES|EPERM)$/, elsewhere);
        assert.deepEqual(fs.readdirSync(place), ['x']);
    });

    about('what is to be read below what is written stays so', async () => {
        const place = folder(user);
        const inner = path.join(place, 'inner');

        fs.mkdirSync(inner, { mode: 0o777 });
        fs.chmodSync(inner, 0o777);
        const permit = { write: place, read: inner };

        assert.equal(await escape(user, permit, 'write', path.join(inner, 'x')), 'refused: EROFS');
        assert.equal(await escape(user, permit, 'write', path.join(place, 'x')), 'got: written');
    });

    about('a link that the server made is not followed when it starts again', async () => {
        const place = folder(user);
        const other = folder(user);
        const inner = path.join(place, 'inner');

        fs.symlinkSync(other, inner);
        const refused = await confine(user, { write: place, read: inner }, escapeProgram, 'list', inner);

        assert.equal(refused.code, 120);
        assert.match(refused.err, /is a link that the server can have made/);
        // One that the operator made, elsewhere, is.
        fs.writeFileSync(path.join(other, 'there'), '');
        const link = path.join(folder(user), 'link');

        fs.symlinkSync(other, link);
        assert.equal(await escape(user, { read: link }, 'list', link), 'there');
    });

    about('a home of its own is kept, an empty one is not', async () => {
        const home = path.join(folder(user), 'below', 'home');

        fs.chmodSync(path.dirname(path.dirname(home)), user.uid === 0 ? 0o700 : 0o777);
        assert.equal(await escape(user, { home }, 'where'), home);
        assert.equal(await escape(user, { home }, 'write', path.join(home, 'x')), 'got: written');
        assert.deepEqual(fs.readdirSync(home), ['x']);
        assert.equal(fs.statSync(home).mode & 0o777, 0o700);
        assert.equal(await escape(user, {}, 'where'), '/home/server');
        assert.equal(await escape(user, {}, 'list', '/home'), 'server');
    });

    about('it sees its own processes alone', async () => {
        const seen = (await escape(user, {}, 'list', '/proc')).split(' ').filter((name) => /^\d+$/.test(name));

        assert.ok(seen.length <= 2, seen.join(' '));
        assert.equal(await escape(user, {}, 'kill', process.pid), 'refused: ESRCH');
        assert.match(await escape(user, {}, 'read', `/proc/${process.pid}/environ`), /^refused: ENOENT$/);
        assert.match(await escape(user, {}, 'read', '/proc/1/environ'), /^refused: (EACCES|EPERM)$|^got:$/);
        assert.equal(await escape(user, {}, 'ptrace', 1), 'refused: EPERM');
    });

    about('it has nothing of ours: no privilege, descriptor or variable', async () => {
        const caps = await escape(user, {}, 'caps');

        for (const kind of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
            assert.match(caps, new RegExp(`Cap${kind}:\\t0+$`, 'm'));
        assert.match(caps, /NoNewPrivs:\t1/);
        assert.match(caps, /Seccomp:\t2/);
        assert.doesNotMatch(caps, /Uid:\t0/);
        assert.equal(await escape(user, {}, 'setuid').then((text) => text.replace('EINVAL', 'EPERM')), 'refused: EPERM');
        assert.equal(await escape(user, {}, 'descriptors'), '0 1 2');
        const variables = (await escape(user, { set: 'A=b', secret: 'KEY=hidden' }, 'env')).split('\n').sort();

        assert.deepEqual(variables, ['A=b', 'HOME=/home/server', 'KEY=hidden', 'LANG=C.UTF-8',
            'PATH=/usr/local/bin:/usr/bin:/bin', 'PWD=/home/server', 'TMPDIR=/tmp']);
    });

    about('no sockets, and none of our network', async () => {
        const server = net.createServer().listen(0, '127.0.0.1');
        const local = path.join(folder(user), 'socket');
        const named = net.createServer().listen(local);

        await new Promise((resolve) => { server.once('listening', resolve); });
        const { port } = server.address();

        for (const family of [2, 10, 16, 17, 40])
            assert.equal(await escape(user, {}, 'socket', family), 'refused: EPERM', `family ${family}`);
        assert.equal(await escape(user, {}, 'connect', port), 'refused: EPERM');
        assert.equal(await escape(user, { network: 'loopback' }, 'connect', port), 'refused: ECONNREFUSED');
        assert.equal(await escape(user, { network: 'loopback' }, 'socket', 16), 'refused: EPERM');
        assert.equal(await escape(user, {}, 'local', local), 'refused: ENOENT');
        server.close();
        named.close();
    });

    about('no new namespaces, mounts or other doors of the kernel', async () => {
        for (const [name, flag] of Object.entries(CLONE))
            assert.equal(await escape(user, {}, 'namespace', flag), 'refused: EPERM', `unshare ${name}`);
        for (const name of ['NEWNS', 'NEWUSER', 'NEWPID', 'NEWNET'])
            assert.equal(await escape(user, {}, 'clone', CLONE[name]), 'refused: EPERM', `clone ${name}`);
        assert.equal(await escape(user, {}, 'clone3'), 'refused: ENOSYS');
        assert.equal(await escape(user, {}, 'mount', '/tmp'), 'refused: EPERM');
        assert.equal(await escape(user, {}, 'chroot', '/tmp'), 'refused: EPERM');
        assert.equal(await escape(user, {}, 'type'), 'refused: EPERM');
        assert.equal(await escape(user, {}, 'call', 999), 'refused: ENOSYS');
        for (const [name, number] of Object.entries(CALLS))
            assert.equal(await escape(user, {}, 'call', number), 'refused: EPERM', name);
    });

    about('limits hold: processes, memory, files, core dumps', async () => {
        const few = { processes: 12, files: 20, memory: 64 << 20, 'file-bytes': 1 << 20 };
        const count = (text) => Number(/^\d+/.exec(text)?.[0]);

        assert.ok(count(await escape(user, few, 'forks')) <= 12);
        assert.ok(count(await escape(user, few, 'files')) <= 20);
        assert.match(await escape(user, few, 'memory', 200), /^(refused: ENOMEM|killed: 9)$/);
        assert.equal(await escape(user, few, 'memory', 16), 'got: all of it');
        assert.equal(await escape(user, few, 'core'), 'refused: EPERM');
        assert.equal(await escape(user, few, 'big-file', '/tmp/x'), 'refused: EFBIG');
        assert.ok(count(await escape(user, { memory: 64 << 20 }, 'fill', '/tmp/x')) <= 16);
        assert.ok(count(await escape(user, { memory: 64 << 20 }, 'fill', '/dev/shm/x')) <= 16);
        assert.equal(await escape(user, {}, 'fill', '/x'), 'refused: EROFS');
    });

    about('a program elsewhere is seen, what lies beside it is not', async () => {
        const place = folder(user);
        const copy = path.join(place, 'copy');

        fs.copyFileSync(escapeProgram, copy);
        fs.chmodSync(copy, 0o755);
        fs.writeFileSync(path.join(place, 'beside'), 'secret');
        assert.equal((await confine(user, {}, copy, 'list', place)).out.trimEnd(), 'copy');
    });

    about('SIGTERM reaches the command, which may finish', async () => {
        const running = start(user, {}, escapeProgram, 'wait');

        await running.says('ready');
        running.child.kill('SIGTERM');
        const end = await running.ended();

        assert.equal(end.out, 'ready\nfinished\n');
        assert.equal(end.code, 3);
    });

    about('nothing is left when the one who started it is killed', async () => {
        const name = `6${process.pid}${user.uid}`;
        const running = start(user, {}, escapeProgram, 'stay', name);
        const called = `sleep\0${name}\0`;

        await running.says('ready');
        await until(() => processesCalled(called).length === 1, 'it sleeps');
        running.child.kill('SIGKILL');
        await until(() => processesCalled(called).length === 0, 'it is gone');
    });
}

test('what cannot be had or permitted is an error, with its reason', async () => {
    const user = users.find(({ skip }) => !skip);
    const cases = [
        [{}, ['no-such-program'], /no program no-such-program/],
        [{ read: '/no/such' }, ['true'], /\/no\/such: No such file/],
        [{ read: 'relative' }, ['true'], /"relative" is no absolute path/],
        [{ write: '/' }, ['true'], /is the whole machine/],
        [{ read: '/proc/1' }, ['true'], /\/proc\/1 cannot be permitted/],
        [{ read: '/sys' }, ['true'], /cannot be permitted/],
        [{ network: 'any' }, ['true'], /only without a sandbox/],
        [{ network: 'hosts' }, ['true'], /hosts are named/],
        [{ host: 'example.org' }, ['true'], /hosts are named/],
        [{ level: 'off' }, ['true'], /say network any/],
        [{ level: 'basic', network: 'loopback' }, ['true'], /basic has no network/],
        [{ set: 'LD_PRELOAD=/tmp/x.so' }, ['true'], /LD_PRELOAD would act/],
        [{ set: '1A=x' }, ['true'], /1A cannot be set/],
        [{ folder: '/var' }, ['true'], /\/var is not among what it may read/],
    ];

    for (const [options, words, expected] of cases) {
        const { code, err } = await confine(user, options, ...words);

        assert.match(err, expected);
        assert.equal(code, 120, err);
    }
});
