// SPDX-License-Identifier: Apache-2.0
// The public conformance suite for MCP in client mode: it starts a server per scenario and runs
// mcp_client.c against it, which shares everything but a few words of script with the gateway.
//
//   node tests/conformance/mcp.mjs [REVISION [SCENARIO]]      prints what was scored
//   const { scored, unscored, total, output } = await runSuite(revision, client)
//       lists of { name, passed, failures } of scenarios; output is what the suite said
import { fileURLToPath, pathToFileURL } from 'node:url';

import { isInstalled, printResults, runProgram, runRequirements } from './suite.mjs';

export { isInstalled };
export const REVISIONS = { '2025-11-25': 18, '2026-07-28': 32 };

// A client that did not end by itself is taken for a success by the suite.
function crash(read) {
    return /^ended$/m.test(read('stdout.txt')) ? [] : [`the client crashed: ${read('stderr.txt').trim()}`];
}

export async function runSuite(revision, client) {
    return { ...await runRequirements('client', revision, ['--command', client], crash), total: REVISIONS[revision] };
}

async function main([revision, scenario]) {
    const client = process.env.MOOT_MCP_CLIENT ?? fileURLToPath(new URL('../../build/mcp_client', import.meta.url));

    if (scenario) {
        const { status, output } = await runProgram(['client', '--command', client, '--scenario', scenario, '--spec-version', revision, '--verbose']);
        process.stdout.write(output);
        process.exit(status ?? 1);
    }
    for (const one of revision ? [revision] : Object.keys(REVISIONS))
        printResults(one, await runSuite(one, client));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2));
