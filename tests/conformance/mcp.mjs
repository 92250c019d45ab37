// SPDX-License-Identifier: Apache-2.0
// The public conformance suite for MCP in client mode: it starts a server per scenario and runs
// mcp_client.c against it, which shares everything but a few words of script with the gateway.
//
//   node tests/conformance/mcp.mjs [REVISION [SCENARIO]]      prints what was scored
//   const { scored, unscored, total, output } = await runSuite(revision, client)
//       lists of { name, passed, failures } of scenarios; output is what the suite said
//
// The suite wants a newer Node than the other tests; its package brings one.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folder = path.dirname(fileURLToPath(import.meta.url));
const node = path.join(folder, 'node_modules/node/bin/node');
const suite = path.join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const PATIENCE_MS = 300_000;

export const REVISIONS = { '2025-11-25': 18, '2026-07-28': 32 };
export const isInstalled = fs.existsSync(node) && fs.existsSync(suite);

function run(args) {
    return new Promise((resolve) => {
        const child = spawn(node, [suite, 'client', ...args], { timeout: PATIENCE_MS, stdio: ['ignore', 'pipe', 'pipe'] });
        let output = '';

        for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
        child.on('close', (status) => resolve({ status, output }));
    });
}

// The folder of a scenario is its name with the time behind it.
function resultsOf(out, name) {
    const parent = path.join(out, path.dirname(name));
    const found = fs.readdirSync(parent).filter((entry) => entry.startsWith(`${path.basename(name)}-20`));
    const read = (file) => fs.readFileSync(path.join(parent, found[0], file), 'utf8');

    if (found.length !== 1) return null;
    return { checks: JSON.parse(read('checks.json')), said: read('stdout.txt'), complained: read('stderr.txt') };
}

// What speaks against it: checks that failed or warn, and a client that did not end by itself, which
// the suite takes for a success.
function failuresOf(out, name) {
    const results = resultsOf(out, name);

    if (!results) return ['it left no results'];
    const bad = results.checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
    const failures = bad.map((check) => `${check.id}: ${check.errorMessage ?? check.description}`);
    if (!/^ended$/m.test(results.said)) failures.push(`the client crashed: ${results.complained.trim()}`);
    return failures;
}

function scenariosOf(output) {
    const [, summary, extra = ''] = /=== SUITE SUMMARY ===\n([^]*?)(?:\nNot scored for ([^]*))?$/.exec(output) ?? [];
    const marks = (text) => [...(text ?? '').matchAll(/^ *([✓✗]) ([^ :]+)/gmu)].map(([, mark, name]) => ({ mark, name }));
    const without = new Set(marks(extra).map(({ name }) => name));

    return marks(summary).map((one) => ({ ...one, isScored: !without.has(one.name) }));
}

export async function runSuite(revision, client) {
    const out = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-conformance-'));
    const { output } = await run(['--command', client, '--requirements', revision, '-o', out]);
    const results = scenariosOf(output).map(({ mark, name, isScored }) => {
        const failures = failuresOf(out, name);

        if (mark !== '✓' && failures.length === 0) failures.push('the suite says that it failed');
        return { name, isScored, passed: failures.length === 0, failures };
    });

    fs.rmSync(out, { recursive: true });
    return {
        scored: results.filter(({ isScored }) => isScored),
        unscored: results.filter(({ isScored }) => !isScored),
        total: REVISIONS[revision],
        output,
    };
}

async function main([revision, scenario]) {
    const client = process.env.MOOT_MCP_CLIENT ?? path.resolve(folder, '../../build/mcp_client');

    if (scenario) {
        const { status, output } = await run(['--command', client, '--scenario', scenario, '--spec-version', revision, '--verbose']);
        process.stdout.write(output);
        process.exit(status ?? 1);
    }
    for (const one of revision ? [revision] : Object.keys(REVISIONS)) {
        const { scored, unscored, total } = await runSuite(one, client);
        const count = (list) => list.filter(({ passed }) => passed).length;

        for (const { name, isScored, failures } of [...scored, ...unscored].filter(({ passed }) => !passed))
            console.log(`${isScored ? 'failed' : 'not scored, failed'}: ${name}\n    ${failures.join('\n    ')}`);
        console.log(`${one}: scored ${count(scored)}/${total}, not scored ${count(unscored)}/${unscored.length}`);
        if (count(scored) !== total) process.exitCode = 1;
    }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2));
