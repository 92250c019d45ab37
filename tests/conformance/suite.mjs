// SPDX-License-Identifier: Apache-2.0
// The public conformance suite for MCP as a program: what mcp.mjs (client mode) and mcp_server.mjs
// (server mode) share. It wants a newer Node than the other tests; its package brings one.
//
//   isInstalled
//   const { status, output } = await runProgram(['client', …])
//   const { scored, unscored, output } = await runRequirements(mode, revision, args, judge)
//       lists of { name, isScored, passed, failures } of scenarios; judge(read) gives failures that
//       the suite does not see, read(file) being what it left of the scenario
//   printResults(title, { scored, unscored, total })   and sets the exit status
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = path.dirname(fileURLToPath(import.meta.url));
const node = path.join(folder, 'node_modules/node/bin/node');
const suite = path.join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const PATIENCE_MS = 300_000;

export const isInstalled = fs.existsSync(node) && fs.existsSync(suite);

export function runProgram(args) {
    return new Promise((resolve) => {
        const child = spawn(node, [suite, ...args], { timeout: PATIENCE_MS, stdio: ['ignore', 'pipe', 'pipe'] });
        let output = '';

        for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
        child.on('close', (status) => resolve({ status, output }));
    });
}

// The folder of a scenario is its name with the time behind it; in server mode with a word before.
function folderOf(out, mode, name) {
    const file = mode === 'server' ? `server-${name}` : name;
    const parent = path.join(out, path.dirname(file));
    const found = fs.existsSync(parent) ? fs.readdirSync(parent).filter((entry) => entry.startsWith(`${path.basename(file)}-20`)) : [];

    return found.length === 1 ? path.join(parent, found[0]) : null;
}

// What speaks against it: checks that failed or warn.
function failuresOf(where, judge) {
    if (!where)
        return ['it left no results'];
    const read = (file) => fs.readFileSync(path.join(where, file), 'utf8');
    const bad = JSON.parse(read('checks.json')).filter(({ status }) => status === 'FAILURE' || status === 'WARNING');

    return [...bad.map((check) => `${check.id}: ${check.errorMessage ?? check.description}`), ...judge(read)];
}

function scenariosOf(output) {
    const [, summary, extra = ''] = /=== (?:SUITE )?SUMMARY ===\n([^]*?)(?:\nNot scored for ([^]*))?$/.exec(output) ?? [];
    const marks = (text) => [...(text ?? '').matchAll(/^ *([✓✗]) ([^ :]+)/gmu)].map(([, mark, name]) => ({ mark, name }));
    const without = new Set(marks(extra).map(({ name }) => name));

    return marks(summary).map((one) => ({ ...one, isScored: !without.has(one.name) }));
}

export async function runRequirements(mode, revision, args, judge = () => []) {
    const out = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-conformance-'));
    const { output } = await runProgram([mode, ...args, '--requirements', revision, '-o', out]);
    const results = scenariosOf(output).map(({ mark, name, isScored }) => {
        const failures = failuresOf(folderOf(out, mode, name), judge);

        if (mark !== '✓' && failures.length === 0) failures.push('the suite says that it failed');
        return { name, isScored, passed: failures.length === 0, failures };
    });

    fs.rmSync(out, { recursive: true });
    return {
        scored: results.filter(({ isScored }) => isScored),
        unscored: results.filter(({ isScored }) => !isScored),
        output,
    };
}

export function printResults(title, { scored, unscored, total }) {
    const count = (list) => list.filter(({ passed }) => passed).length;

    for (const { name, isScored, failures } of [...scored, ...unscored].filter(({ passed }) => !passed))
        console.log(`${isScored ? 'failed' : 'not scored, failed'}: ${name}\n    ${failures.join('\n    ')}`);
    console.log(`${title}: scored ${count(scored)}/${total}, not scored ${count(unscored)}/${unscored.length}`);
    if (count(scored) !== total) process.exitCode = 1;
}
