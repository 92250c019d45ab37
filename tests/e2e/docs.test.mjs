// SPDX-License-Identifier: Apache-2.0
// The documents say what the program is: every route, error, close code, metric, log event,
// command and option stands in them. UPDATE_DOCS=1 writes the options into docs/CONFIG.md.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = process.env.MOOT ?? path.join(root, 'build/moot');
const read = (name) => fs.readFileSync(path.join(root, name), 'utf8');
const run = (...args) => execFileSync(program, args, { encoding: 'utf8' });

const protocol = read('docs/PROTOCOL.md');
const operations = read('docs/OPERATIONS.md');
const readme = read('README.md');

// All matches of a pattern's groups; there must be some, or the pattern is out of date.
function all(text, pattern, least) {
    const found = [...text.matchAll(pattern)].map((match) => match.slice(1));

    assert.ok(found.length >= least, `only ${found.length} matches of ${pattern}`);
    return found;
}

function expectIn(text, where, names) {
    const missing = names.filter((name) => !text.includes(name));

    assert.deepEqual(missing, [], `missing in ${where}`);
}

// The texts of all files of src that end so.
function sources(ending, folder = path.join(root, 'src')) {
    return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const name = path.join(folder, entry.name);
        if (entry.isDirectory())
            return sources(ending, name);
        return ending.test(name) ? [fs.readFileSync(name, 'utf8')] : [];
    }).join('\n');
}

test('every route is in the protocol reference', () => {
    const routes = all(read('src/gateway/routes.c'), /\{ HTTP_([A-Z]+),\s+S\("([^"]+)"\)/g, 20);
    expectIn(protocol, 'docs/PROTOCOL.md', routes.map(([method, path]) => `\`${method} ${path}\``));
});

test('every error that can be on the wire is in the protocol reference', () => {
    const [upper] = read('src/base/err.h').split('what the lower layers answer');
    const names = all(upper, /X\(ERR_[A-Z0-9_]+,\s+"([a-z0-9_]+)"/g, 30).flat();
    expectIn(protocol, 'docs/PROTOCOL.md', [...names, 'invalid_utf8', 'too_big'].map((name) => `\`${name}\``));
});

test('every close code is in the protocol reference', () => {
    const codes = all(read('src/ws/ws.h'), /WS_CODE_[A-Z0-9_]+ = (\d+)/g, 10).flat();
    expectIn(protocol, 'docs/PROTOCOL.md', codes.filter((code) => code !== '1005'));
});

test('every metric is in the protocol reference', () => {
    const names = all(read('src/gateway/metrics.h'), /"(moot_[a-z_]+)"/g, 15).flat();
    expectIn(protocol, 'docs/PROTOCOL.md', names.map((name) => `\`${name}\``));
});

test('every decision that the tree cites is in the protocol reference', () => {
    const cited = new Set(all(sources(/\.[ch]$/), /\b(D(?:[1-9]|1\d|2\d)a?)\b/g, 10).flat());
    expectIn(protocol, 'docs/PROTOCOL.md', [...cited].map((name) => `| ${name} |`));
});

test('every built-in profile is in the protocol reference', () => {
    const names = all(read('src/policy/profile.c'), /\{ S\("([a-z]+)"\),\s+LIST/g, 8).flat();
    expectIn(protocol, 'docs/PROTOCOL.md', names.map((name) => `| \`${name}\` |`));
});

test('every command is in the README or in operations', () => {
    const commands = all(run('--help'), /^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm, 9).flat();
    expectIn(readme + operations, 'README.md and docs/OPERATIONS.md', commands.map((name) => `\`moot ${name}\``));
});

test('every log event is in operations', () => {
    const events = all(sources(/\.c$/), /\blog_(?:error|warn|info|debug)\("([a-z.]+)"/g, 15).flat();
    expectIn(operations, 'docs/OPERATIONS.md', events.map((name) => `\`${name}\``));
});

test('docs/CONFIG.md holds what the program says about its options', () => {
    const file = path.join(root, 'docs/CONFIG.md');
    const block = /(?<=^```text\n)[^]*?(?=^```$)/m;
    const text = fs.readFileSync(file, 'utf8');
    const options = run('config', 'options');

    if (process.env.UPDATE_DOCS)
        fs.writeFileSync(file, text.replace(block, () => options));
    assert.equal(block.exec(fs.readFileSync(file, 'utf8'))[0], options);
});

test('links between the documents lead somewhere', () => {
    const folder = path.join(root, 'docs');
    const files = ['README.md', 'CHANGELOG.md', ...fs.readdirSync(folder).map((name) => `docs/${name}`)]
        .filter((name) => name.endsWith('.md'));
    const anchor = (title) => title.toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-');

    for (const name of files) {
        for (const [target] of all(read(name), /\]\((?!https?:)([^)]+)\)/g, 0)) {
            const [file, hash] = target.split('#');
            const full = file ? path.join(root, path.dirname(name), file) : path.join(root, name);
            assert.ok(fs.existsSync(full), `${name}: ${target}`);
            if (!hash)
                continue;
            const titles = all(fs.readFileSync(full, 'utf8'), /^#+ (.+)$/gm, 1).flat().map(anchor);
            assert.ok(titles.includes(hash), `${name}: ${target}`);
        }
    }
});
