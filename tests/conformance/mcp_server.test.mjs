// SPDX-License-Identifier: Apache-2.0
// Every scenario of the public suite through the gateway, scored or not, for every kind of server
// behind it (mcp_server.mjs). What cannot pass is named there, and has to fail.
import assert from 'node:assert/strict';
import test from 'node:test';

import { CELLS, isInstalled, runServerSuite, startDoor } from './mcp_server.mjs';

const count = (list) => list.filter(({ passed }) => passed).length;
const reason = !isInstalled && 'the suite is not installed';

for (const { revision, era, carrier, fails } of CELLS) {
    test(`MCP server at ${revision} in front of a ${era} one over ${carrier}`, { skip: reason }, async (t) => {
        const door = await startDoor(era, carrier);

        t.after(door.stop);
        const { scored, unscored, total, output } = await runServerSuite(revision, door.url);

        t.diagnostic(`scored ${count(scored)}/${total}, not scored ${count(unscored)}/${unscored.length}`);
        for (const { name, failures } of [...scored, ...unscored])
            await t.test(name, () => {
                if (fails[name])
                    assert.notDeepEqual(failures, [], `it passes, although it ${fails[name]}`);
                else
                    assert.deepEqual(failures, []);
            });
        assert.equal(scored.length, total, output);
    });
}
