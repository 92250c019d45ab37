// SPDX-License-Identifier: Apache-2.0
// An MCP server as a participant: `moot bridge` with a tiny server on its standard streams.
import assert from 'node:assert/strict';
import test from 'node:test';

import { caller, echo, startBridge } from './bridges.mjs';
import { people, person, startGateway } from './gateway.mjs';

const gateway = await startGateway({
    tokens: [...people('alice', 'bob'), person('tool', { capabilities: undefined, profile: 'bridge' })],
});
const alice = await gateway.join('alice', { topic: 'room' });
const bridge = await startBridge(gateway, ['--sandbox', 'off'], [echo, '--legacy'], { watcher: alice });
const rpc = caller(alice, 'tool');

test('what the server offers is listed, verbatim, and called', async () => {
    const { tools } = await rpc.result('tools/list');

    assert.ok(tools.some(({ name }) => name === 'echo'));
    assert.deepEqual((await rpc.call('echo', { text: 'hi' })).content, [{ type: 'text', text: 'hi' }]);
});

test('it ends in order', async () => {
    assert.equal((await bridge.stop()).status, 0);
});
