// SPDX-License-Identifier: Apache-2.0
// What a page of another site can do to the gateway on its visitor's machine.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { people, startGateway } from './gateway.mjs';

test('images and frames of a foreign page do not lock their visitor out', async () => {
    const gateway = await startGateway({ tokens: people('alice'), limits: { login_failures: 5 } }, { workers: 1 });
    const load = (headers) => gateway.request('GET /ws?topic=room&ticket=wrong', { headers });

    for (let i = 0; i < 20; i++)
        assert.equal((await load({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' })).status, 403);
    for (let i = 0; i < 20; i++)
        assert.equal((await load({ 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'navigate' })).status, 403);
    assert.equal((await gateway.request('GET /topics', { token: 'alice-token' })).status, 200);
    assert.equal((await gateway.request('GET /', { headers: { 'Sec-Fetch-Site': 'cross-site' } })).status, 200);
    for (let i = 0; i < 5; i++)
        assert.equal((await load({ 'Sec-Fetch-Site': 'none' })).status, 401);
    assert.equal((await load({})).status, 429);
    await gateway.stop();
});
