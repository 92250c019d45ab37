// SPDX-License-Identifier: Apache-2.0
// What an administrator may ask for without harming the gateway.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { expect, people, person, startGateway } from './gateway.mjs';

const list = (prefix, count) => Array.from({ length: count }, (_, i) => `${prefix}/x${i}`);

test('capabilities that are too many together are refused', async () => {
    const gateway = await startGateway({
        tokens: [person('alice', { capabilities: list('a', 800) })],
    });
    const change = (json) => gateway.request('POST /admin/participants/alice/capabilities',
        { token: gateway.adminToken(), json });

    assert.equal((await change({ add: list('b', 800) })).status, 413);
    assert.equal((await change({ add: list('b', 100) })).json.newCapabilities.length, 900);
    await gateway.stop();
});

test('without a limit of failures any number of wrong tokens is harmless', async () => {
    const gateway = await startGateway({ limits: { login_failures: 0 } });

    for (let i = 0; i < 40; i++)
        assert.equal((await gateway.request('GET /topics', { token: 'wrong' })).status, 401);
    await gateway.stop();
});

test('every token can be revoked by its name', async () => {
    const gateway = await startGateway({});
    const token = gateway.adminToken();
    const create = (json) => gateway.request('POST /admin/tokens', { token, json: { profile: 'full', ...json } });

    for (const name of ['a/b', 'a\nb', 'x'.repeat(301)])
        assert.equal((await create({ id: 'alice', name })).status, 400, name);
    const { about } = (await create({ id: 'team/alice' })).json;
    assert.match(about.name, /^team-alice-/);
    assert.equal((await gateway.request(`DELETE /admin/tokens/${about.name}`, { token })).status, 200);
    await gateway.stop();
});

test('an answer to a bad envelope is JSON, however long its names are', async () => {
    const gateway = await startGateway({ tokens: people('alice') });
    const alice = await gateway.join('alice');
    const name = '\\u0001'.repeat(80_000);

    alice.send(`{"protocol":"mcpx/v0.1","id":"1","from":"alice","kind":"chat","payload":{},"${name}":1,"${name}":2}`);
    const { payload } = await expect(alice, (json) => json.correlation_id === '1');
    assert.equal(payload.error, 'malformed_envelope');
    assert.ok(payload.field.length <= 256);
    await gateway.stop();
});
