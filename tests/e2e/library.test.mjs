// SPDX-License-Identifier: Apache-2.0
// libmoot as it is installed: what it shows, what it shares, what it needs, and that programs build
// with what pkg-config says, whichever way they are linked.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { program } from './gateway.mjs';
import { isSanitized } from './programs.mjs';

const skip = isSanitized && 'a library with sanitizers is not for every program';
const build = path.dirname(path.resolve(program));
const compiler = 'gcc';
let root;
let libdir;
let shared;

const run = (command, args, more = {}) => execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], ...more });
const lines = (text) => text.split('\n').filter(Boolean);

before(() => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-library-'));
    run('meson', ['install', '-C', build, '--no-rebuild', '--quiet', '--destdir', root]);
    libdir = path.dirname(run('find', [root, '-name', 'libmoot.so.0']).trim());
    shared = path.join(libdir, 'libmoot.so.0');
});
after(() => fs.rmSync(root, { recursive: true }));

// Every function that the header declares, and nothing else.
const declared = () => {
    const header = fs.readFileSync(run('find', [root, '-name', 'moot.h']).trim(), 'utf8');
    return [...header.matchAll(/^MOOT_API [^;]*?(\bmoot_\w+)\(/gm)].map(([, name]) => name).sort();
};
const shown = (...args) => lines(run('nm', args)).filter((line) => / [A-TV-Z] /.test(line)).map((line) => line.split(' ').pop()).sort();

test('library: it shows what its header declares', () => {
    assert.ok(declared().length > 50);
    assert.deepEqual(shown('-D', '--defined-only', shared), declared());
});

test('library: the static one shows the same', { skip }, () => {
    assert.deepEqual(shown('--defined-only', path.join(libdir, 'libmoot.a')), declared());
});

// Handles know nothing of each other: there is nothing that they could share.
const allowed = {
    '__dso_handle': 'of the C runtime: which library registers destructors; has no content',
    '__TMC_END__': 'of the C runtime: the end of a table; has no content',
    'completed.0': 'of the C runtime: whether its destructors have run',
    '__cpu_model': 'of the compiler: which instructions there are; written once, before main()',
    '__cpu_features2': 'of the compiler: the same',
};

test('library: it has no variables', { skip }, () => {
    const variables = lines(run('objdump', ['-t', shared])).filter((line) => /\s\.t?(data|bss)\s/.test(line) && !/ d {2}\./.test(line))
        .map((line) => line.split(/\s+/).pop());
    assert.ok(variables.includes('__dso_handle'), 'objdump lists nothing: is it stripped?');
    assert.deepEqual(variables.filter((name) => !allowed[name]), []);
});

test('library: it needs OpenSSL, zlib and the C library, and no more', { skip }, () => {
    const needed = [...run('readelf', ['-d', shared]).matchAll(/NEEDED.*\[(.*)\]/g)].map(([, name]) => name.replace(/\.so.*/, ''));
    assert.deepEqual(needed.filter((name) => !['libssl', 'libcrypto', 'libz', 'libc', 'ld-linux-x86-64', 'libgcc_s'].includes(name)), []);
    assert.match(run('readelf', ['-d', shared]), /SONAME.*\[libmoot\.so\.0\]/);
});

// Its own buf_init() is not the library's, however it is linked.
const source = `
#include <moot.h>
#include <stdio.h>
#include <string.h>

int buf_init(void);
int buf_init(void)
{
    return 42;
}

int main(void)
{
    struct moot_options options = { 0 };
    struct moot *m = NULL;

    options.url = "ftp://x";
    options.topic = "lobby";
    if (moot_new(&options, &m) != MOOT_INVALID || !strstr(moot_why(m), "ws://"))
        return 1;
    moot_free(m);
    printf("%s %d\\n", moot_version(), buf_init());
    return 0;
}
`;

const pkgConfig = (...args) => run('pkg-config', args, { env: { ...process.env, PKG_CONFIG_SYSROOT_DIR: root,
    PKG_CONFIG_PATH: path.join(libdir, 'pkgconfig') } }).trim().split(/\s+/);
const version = () => pkgConfig('--modversion', 'moot')[0];
const strict = ['-std=c99', '-pedantic', '-Wall', '-Wextra', '-Werror'];

function buildProgram(name, ...libraries) {
    const file = path.join(root, `${name}.c`);
    const output = path.join(root, name);

    fs.writeFileSync(file, source);
    run(compiler, [...strict, ...pkgConfig('--cflags', 'moot'), '-o', output, file, ...libraries]);
    return run(output, [], { env: { ...process.env, LD_LIBRARY_PATH: libdir } });
}

test('library: a program builds with the shared one', { skip }, () => {
    assert.equal(buildProgram('shared', ...pkgConfig('--libs', 'moot')), `${version()} 42\n`);
});

test('library: a program builds with the static one', { skip }, () => {
    const others = pkgConfig('--libs', '--static', 'moot').filter((flag) => flag !== '-lmoot');

    assert.equal(buildProgram('static', path.join(libdir, 'libmoot.a'), ...others), `${version()} 42\n`);
    assert.doesNotMatch(run('readelf', ['-d', path.join(root, 'static')]), /libmoot/);
});

// Every function is named, so that what the header says of it is found in the library under C's names.
test('library: a program in C++ builds with it', { skip }, (t) => {
    const file = path.join(root, 'all.cpp');
    const output = path.join(root, 'all');
    const names = declared().map((name) => `    reinterpret_cast<any *>(&::${name}),\n`).join('');

    if (spawnSync('clang', ['--version']).status !== 0)
        return t.skip('there is no compiler for C++');
    fs.writeFileSync(file, `#include <moot.h>\n#include <stdio.h>\ntypedef void any(void);\nstatic any *const all[] = {\n${names}};\n
int main()
{
    struct moot_options options = {};
    struct moot *m = nullptr;
    enum moot_err err = moot_new(&options, &m);
    int count = 0;

    for (any *one : all)
        count += one != nullptr;
    moot_free(m);
    printf("%d %d\\n", err == MOOT_INVALID, count);
    return MOOT_PROPOSED;
}
`);
    run('clang', ['-x', 'c++', '-std=c++11', '-pedantic', '-Wall', '-Wextra', '-Werror', ...pkgConfig('--cflags', 'moot'), '-o', output, file,
        '-x', 'none', ...pkgConfig('--libs', 'moot')]);
    assert.equal(run(output, [], { env: { ...process.env, LD_LIBRARY_PATH: libdir } }), `1 ${declared().length}\n`);
});

test('library: the examples build with their Makefile', { skip }, () => {
    const folder = path.join(root, 'examples');
    const env = { ...process.env, PKG_CONFIG_SYSROOT_DIR: root, PKG_CONFIG_PATH: path.join(libdir, 'pkgconfig'), LD_LIBRARY_PATH: libdir };
    const from = fileURLToPath(new URL('../../examples', import.meta.url));

    fs.mkdirSync(folder);
    for (const name of fs.readdirSync(from).filter((one) => /\.[ch]$|^Makefile$/.test(one)))
        fs.copyFileSync(path.join(from, name), path.join(folder, name));
    run('make', ['-C', folder, 'CFLAGS=-Werror'], { env });
    for (const name of ['calculator', 'proposer', 'approver', 'orchestrator']) {
        const { status, stderr } = spawnSync(path.join(folder, name), [], { env, encoding: 'utf8' });

        assert.equal(status, 2);
        assert.match(stderr, /^usage: \S+ \[--token-file FILE\] URL TOPIC/);
    }
});
