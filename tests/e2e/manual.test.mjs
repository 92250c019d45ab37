// SPDX-License-Identifier: Apache-2.0
// The manual pages say what the program and the library are: every command, option, function,
// member and constant stands in them, and a formatter finds nothing wrong.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { program } from './gateway.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const man = path.join(root, 'docs/man');
const run = (...args) => execFileSync(program, args, { encoding: 'utf8' });
const all = (text, pattern) => [...text.matchAll(pattern)].map(([, group]) => group);
const pages = new Map(fs.readdirSync(man).filter((name) => name.endsWith('.3')).map((name) => [name, fs.readFileSync(path.join(man, name), 'utf8')]));
let folder;

before(() => { folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-e2e-')); });
after(() => fs.rmSync(folder, { recursive: true, force: true }));

// What mandoc has to say, but for what depends on the pages that this machine has.
function complaints(file) {
    const { error, stdout } = spawnSync('mandoc', ['-Tlint', '-Wstyle', file], { encoding: 'utf8' });

    assert.equal(error, undefined, 'mandoc is missing: tools/packages, group test');
    return stdout.split('\n').filter((line) => line && !/referenced manual not found|mandoc\.db/.test(line));
}

test('mandoc finds nothing wrong with the pages', () => {
    const own = path.join(folder, 'moot.1');

    fs.writeFileSync(own, run('manual'));
    assert.deepEqual(complaints(own), []);
    for (const name of pages.keys())
        assert.deepEqual(complaints(path.join(man, name)), []);
    fs.writeFileSync(own, '.Dd x\n.Nosuch\n');
    assert.notDeepEqual(complaints(own), [], 'it would say so');
});

test('moot(1) has every command with every option, as --help tells them', () => {
    const page = run('manual');
    const text = execFileSync('mandoc', ['-Tascii', '-O', 'width=500'], { input: page, encoding: 'utf8' }).replace(/.\x08/g, '').replace(/\s+/g, ' ');
    const commands = all(run('--help'), /^ {2}(\S+(?: [a-z]+)*) {2,}\S/gm);

    assert.ok(commands.length >= 10 && commands.includes('token create') && commands.includes('serve'));
    for (const command of commands) {
        const [summary, ...help] = run(...command.split(' '), '--help').split('\n');

        assert.ok(page.includes(`.Ic ${command}\n`), command);
        assert.ok(text.includes(summary.replace(/…/g, '...')), summary);
        for (const [, option, , words] of help.map((line) => line.match(/^ {2}(--[a-z-]+)( [^a-z\s]\S*)? {2,}([\x20-\x7e]+)$/) ?? []).filter(({ length }) => length))
            assert.ok(text.includes(option) && text.includes(words.trim().replace(/\s+/g, ' ')), `${command} ${option} ${words}`);
    }
});

// --- the library ---

const header = fs.readFileSync(path.join(root, 'include/moot.h'), 'utf8').replace(/\/\*.*?\*\//gs, ' ').replace(/^#.*$/gm, '');
const squeeze = (text) => text.replace(/\s+/g, ' ').trim();
const prototypes = all(header, /MOOT_API ([^;{]+);/g).map(squeeze);
const nameOf = (prototype) => prototype.match(/(\w+)\(/)[1];

// The prototypes of a page's synopsis, as the header writes them.
function synopsis(page) {
    return [...page.matchAll(/^\.Ft (?:"([^"]+)"|(.+))\n\.Fn (\w+) (.*)$/gm)].map(([, quoted, plain, name, rest]) => {
        const type = quoted ?? plain;
        const args = [...rest.matchAll(/"([^"]+)"|(\S+)/g)].map(([, one, other]) => one ?? other);

        return `${type}${type.endsWith('*') ? '' : ' '}${name}(${args.join(', ')})`;
    });
}

test('every function has a page, with the prototype of the header, and no page has others', () => {
    const shown = [...pages.values()].flatMap(synopsis);

    assert.ok(prototypes.length > 50);
    assert.deepEqual(shown.filter((one) => !one.startsWith('typedef')).sort(), [...prototypes].sort());
});

test('every function is a name of the page that shows it', () => {
    for (const [file, page] of pages) {
        const names = all(page, /^\.Nm (\w+)/gm);
        const functions = synopsis(page).filter((one) => !one.startsWith('typedef')).map(nameOf);

        assert.equal(names[0], path.parse(file).name);
        if (functions.length)
            assert.deepEqual(names, functions, file);
    }
});

test('every member, constant and type of the header is explained somewhere', () => {
    const words = new Set([...pages.values()].join('\n').match(/\w+/g));
    const bodies = all(header, /(?:struct|enum)(?: \w+)? \{(.*?)\n?\}/gs).join('\n');
    const members = all(bodies.replace(/\([^()]*\)(?=[;,])/g, ''), /[\s*(](\w+)(?=[;,)=\s]*[;,])/g);
    const constants = all(header, /\b(MOOT_[A-Z_]+)\b/g).filter((one) => one !== 'MOOT_API');
    const types = all(header, /(?:struct|enum) (moot_\w+) \{/g);
    const handlers = all(header, /\(\*(\w+)\)/g);

    assert.ok(members.length > 80 && constants.length > 40 && types.length > 15 && handlers.length >= 9);
    assert.deepEqual([...new Set([...members, ...constants, ...handlers, ...types.filter((one) => !one.endsWith('err'))])].filter((one) => !words.has(one)), []);
});

test('every reference among the pages leads to one', () => {
    const known = new Set([...pages.values()].flatMap((page) => all(page, /^\.Nm (\w+)/gm)));

    for (const [file, page] of pages)
        for (const name of all(page, /^\.(?:It )?Xr ((?:lib)?moot\w*) 3/gm))
            assert.ok(known.has(name), `${file}: ${name}`);
});

test('the program in libmoot(3) compiles', () => {
    const [text] = all(pages.get('libmoot.3'), /\.Sh EXAMPLES.*?\.Bd -literal[^\n]*\n(.*?)\n\.Ed/gs);
    const file = path.join(folder, 'example.c');

    fs.writeFileSync(file, `${text.replace(/\\e/g, '\\')}\n`);
    const { status, stderr } = spawnSync('cc', ['-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', '-I', path.join(root, 'include'), file],
        { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
});

test('they are installed, under every name', () => {
    execFileSync('meson', ['install', '-C', path.dirname(path.resolve(program)), '--no-rebuild', '--tags', 'man', '--destdir', folder], { stdio: 'pipe' });
    const names = new Set(listed(folder).map((file) => path.basename(file)));

    assert.ok(names.has('moot.1') && names.has('libmoot.3'));
    assert.deepEqual(prototypes.map((one) => `${nameOf(one)}.3`).filter((name) => !names.has(name)), []);
    for (const file of listed(folder).filter((one) => one.endsWith('.3')))
        assert.ok(pages.has(path.basename(fs.realpathSync(file))), `${file} leads to a page`);
});

function listed(place) {
    return fs.readdirSync(place, { withFileTypes: true }).flatMap((entry) => {
        const name = path.join(place, entry.name);

        return entry.isDirectory() ? listed(name) : [name];
    });
}
