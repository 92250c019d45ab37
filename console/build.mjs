// SPDX-License-Identifier: Apache-2.0
// Makes the console's files: script and style in one file each, named after their content,
// the page that asks for them, and every file also as gzip and Brotli.
//
//     node build.mjs --c FILE --depfile FILE    C source with the bytes, as src/gateway/console.h wants it
//     node build.mjs --out FOLDER               the files themselves, and their sizes
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';

const here = path.dirname(fileURLToPath(import.meta.url));
const TYPES = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.svg': 'image/svg+xml',
};

// Names what is missing instead of a stack: whoever builds the gateway may not know node.
async function loadEsbuild() {
    try {
        return (await import('esbuild')).default;
    } catch {
        console.error('console: its packages are missing. Run "npm ci" in console/, as ./dev does, ' +
            'or build without the console: meson setup -Dconsole=false');
        process.exit(1);
    }
}

async function bundle() {
    const esbuild = await loadEsbuild();
    return esbuild.build({
        absWorkingDir: here,
        entryPoints: ['src/main.tsx'],
        outdir: 'assets',
        entryNames: '[name]-[hash]',
        bundle: true,
        minify: true,
        format: 'esm',
        target: 'es2022',
        jsx: 'automatic',
        jsxImportSource: 'preact',
        legalComments: 'none',
        metafile: true,
        write: false,
        logLevel: 'error',
    });
}

const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);

// [name, bytes] of every file; the page comes last, as it names the others.
async function makeFiles() {
    const result = await bundle();
    const files = result.outputFiles.map((file) => [path.basename(file.path), Buffer.from(file.contents)]);
    const icon = fs.readFileSync(path.join(here, 'icon.svg'));
    files.push([`icon-${hashOf(icon).slice(0, 8)}.svg`, icon]);
    const named = (plain) => {
        const [stem, ending] = plain.split('.');
        return files.find(([name]) => name.startsWith(`${stem}-`) && name.endsWith(`.${ending}`))[0];
    };
    const page = fs.readFileSync(path.join(here, 'index.html'), 'utf8').replace(/\{\{(.*?)\}\}/g, (_, plain) => named(plain));
    files.push(['index.html', Buffer.from(page)]);
    return { files, inputs: [...Object.keys(result.metafile.inputs), 'icon.svg', 'index.html', 'package-lock.json'] };
}

// In the order of enum console_encoding; null where the coding makes it no smaller.
function encodingsOf(bytes) {
    const codings = [
        zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 11, [zlib.constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
        zlib.gzipSync(bytes, { level: 9 }),
    ];
    return [...codings.map((coded) => (coded.length < bytes.length ? coded : null)), bytes];
}

// A literal of octal escapes: the compiler reads it ten times faster than a list of numbers.
function literal(bytes) {
    const lines = [];
    for (let at = 0; at < bytes.length; at += 64)
        lines.push(`"${[...bytes.subarray(at, at + 64)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}"`);
    return lines.join('\n');
}

function toC(files) {
    const suffixes = ['-br', '-gz', ''];
    const encodings = files.map(([, bytes]) => encodingsOf(bytes));
    const bodies = encodings.flatMap((codings, i) => codings.map((coded, k) =>
        coded ? `static const char file_${i}_${k}[] =\n${literal(coded)};\n` : ''));
    const rows = files.map(([name, bytes], i) => {
        const cells = encodings[i].map((coded, k) => (coded
            ? `{ { file_${i}_${k}, sizeof(file_${i}_${k}) - 1 }, S("\\"${hashOf(bytes)}${suffixes[k]}\\"") }`
            : '{}'));
        return `    { S("${name}"), S("${TYPES[path.extname(name)]}"),\n      { ${cells.join(', ')} } },`;
    });
    return `/* Made by console/build.mjs. */\n#include "gateway/console.h"\n\n${bodies.join('')}\n` +
        `const struct console_file console_files[] = {\n${rows.join('\n')}\n};\n` +
        'const size_t console_file_count = sizeof(console_files) / sizeof(console_files[0]);\n';
}

function writeFolder(folder, files) {
    fs.rmSync(folder, { recursive: true, force: true });
    fs.mkdirSync(folder, { recursive: true });
    for (const [name, bytes] of files) {
        const [br, gzip] = encodingsOf(bytes).map((coded) => coded?.length ?? bytes.length);
        fs.writeFileSync(path.join(folder, name), bytes);
        console.log(`${name.padEnd(24)} ${String(bytes.length).padStart(8)} B, gzip ${gzip}, br ${br}`);
    }
}

const option = (name) => {
    const at = process.argv.indexOf(name);
    return at < 0 ? undefined : process.argv[at + 1];
};
const { files, inputs } = await makeFiles();
if (option('--out')) writeFolder(option('--out'), files);
if (option('--c')) fs.writeFileSync(option('--c'), toC(files));
if (option('--depfile')) {
    const escape = (name) => path.join(here, name).replace(/[ #]/g, '\\$&');
    fs.writeFileSync(option('--depfile'), `${option('--c')}: ${inputs.map(escape).join(' ')}\n`);
}
