// SPDX-License-Identifier: Apache-2.0
// What ./dev calls, with programs that only write down how they were called.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

// A folder with nothing but what ./dev itself needs.
function project() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-dev-'));
    const programs = path.join(folder, 'programs');
    const fake = (name, script) => fs.writeFileSync(path.join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

    for (const name of ['dev', 'tools/packages', 'console/package-lock.json', 'console/build.mjs']) {
        fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
        fs.copyFileSync(path.join(root, name), path.join(folder, name));
    }
    fs.mkdirSync(programs);
    fake('dpkg-query', 'for one; do echo "ii $one"; done'); // everything is installed
    fake('meson', 'echo "meson $*" >>"$CALLS"; mkdir -p "$2"; : >"$2/build.ninja"');
    fake('ninja', 'echo "ninja $*" >>"$CALLS"');
    fake('npm', 'echo "npm $* in $(basename "$PWD")" >>"$CALLS"; mkdir -p node_modules');
    const env = { ...process.env, PATH: `${programs}:${process.env.PATH}`, CALLS: path.join(folder, 'calls') };
    const dev = (...args) => {
        fs.rmSync(env.CALLS, { force: true });
        const { status, stderr } = spawnSync('./dev', args, { cwd: folder, env, encoding: 'utf8' });
        return { status, stderr, calls: fs.existsSync(env.CALLS) ? fs.readFileSync(env.CALLS, 'utf8').trim().split('\n') : [] };
    };
    return { folder, dev, remove: () => fs.rmSync(folder, { recursive: true }) };
}

test('a build gets what the console is made of, once, and is made in its own folder', () => {
    const { folder, dev, remove } = project();

    for (const [args, place] of [[[], 'build'], [['--clang'], 'build-clang'], [['--asan'], 'build-asan']]) {
        const { status, stderr, calls } = dev('build', ...args);
        assert.equal(status, 0, stderr);
        assert.equal(calls.filter((call) => call.startsWith('npm ci')).length, place === 'build' ? 1 : 0, calls.join('\n'));
        assert.match(calls.find((call) => call.startsWith('meson')), new RegExp(`^meson setup ${place} `));
        assert.equal(calls.at(-1), `ninja -C ${place}`);
        assert.ok(fs.existsSync(path.join(folder, 'console/build.mjs')), 'and what is no build stays');
    }
    fs.appendFileSync(path.join(folder, 'console/package-lock.json'), '\n');
    assert.deepEqual(dev('build').calls.map((call) => call.split(' ')[0]), ['npm', 'ninja'], 'a new list of packages is installed');
    remove();
});
