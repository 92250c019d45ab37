// SPDX-License-Identifier: Apache-2.0
// Members come, leave, break off and stall by the hundred while others publish: whoever reads
// gets everything from his welcome on, once and in the order of all.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { people, program, startGateway } from './gateway.mjs';

const run = promisify(execFile);
const deliveries = process.env.MOOT_CHURN_DELIVERIES ?? '200000';
const members = 15;
const topics = 4;

test(`churn: ${deliveries} deliveries, none lost, doubled or out of order`, async () => {
    const ids = Array.from({ length: members * topics }, (_, n) => `p-${n}`);
    const gateway = await startGateway({
        tokens: people(...ids).map((one, n) => ({ ...one, token: `churn-${n}` })),
        limits: { rate_messages: 0, rate_bytes: 0, envelope: '16KiB', outbox: '64KiB', stall_timeout: '2s' },
    });
    const churn = (stallMs) => run(program, ['bench', '--json', '--churn', '--url', `ws://127.0.0.1:${gateway.port}/ws`,
        '--token-prefix', 'churn', '--members', String(members), '--topics', String(topics), '--publishers', '2', '--window', '8',
        '--warm-ms', '0', '--deliveries', deliveries, '--seconds', '300', '--life', '300', '--stall-ms', stallMs], { timeout: 400_000 });
    let slow = 0;

    // Where little is said while somebody stalls, he is not slow: then others do so for longer.
    for (const stallMs of ['400', '1600', '6400']) {
        const { stdout, stderr } = await churn(stallMs);
        const result = JSON.parse(stdout);

        assert.ok(result.deliveries >= Number(deliveries), `only ${result.deliveries}`);
        for (const fault of ['lost', 'duplicates', 'disorder', 'strays', 'errors', 'unchecked', 'closed'])
            assert.equal(result[fault], 0, `${fault}: ${stderr}`);
        for (const deed of ['leaves', 'resets', 'stalls'])
            assert.ok(result[deed] > 0, `nobody ${deed}`);
        assert.ok(result.joined > members * topics + result.leaves / 2, 'who left has come again');
        if ((slow = result.slow) > 0)
            break;
    }
    assert.ok(slow > 0, 'nobody is slow');
    await gateway.stop();
});
