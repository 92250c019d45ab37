// SPDX-License-Identifier: Apache-2.0
// Every scenario that the public suite scores, at both revisions (mcp.mjs).
import assert from 'node:assert/strict';
import test from 'node:test';

import { REVISIONS, isInstalled, runSuite } from './mcp.mjs';

const client = process.env.MOOT_MCP_CLIENT;
const reason = !client ? 'MOOT_MCP_CLIENT is not set' : !isInstalled && 'the suite is not installed';

for (const revision of Object.keys(REVISIONS)) {
    test(`MCP client at ${revision}`, { skip: reason }, async (t) => {
        const { scored, total, output } = await runSuite(revision, client);

        for (const { name, failures } of scored)
            await t.test(name, () => assert.deepEqual(failures, []));
        assert.equal(scored.length, total, output);
    });
}
