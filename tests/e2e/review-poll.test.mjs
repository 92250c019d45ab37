// SPDX-License-Identifier: Apache-2.0
// Long polls that wait while the world changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { envelope, people, startGateway } from './gateway.mjs';

const ok = (answer) => assert.equal(answer.status, 200, answer.text);

async function waiting(gateway, token, path) {
    const answer = gateway.request(`GET ${path}`, { token });

    // The poll stands when a later request of another connection to the same worker is answered.
    await gateway.request('GET /topics/room/participants', { token });
    return answer;
}

test('a directed poll sees what comes after more than the ring holds', async () => {
    const gateway = await startGateway({
        tokens: people('alice', 'bob'), topics: { defaults: { ring_messages: 5 } },
    });
    const answer = waiting(gateway, 'alice-token', '/topics/room/messages?wait=50&routing=directed');

    for (let i = 0; i < 12; i++)
        ok(await gateway.post('bob-token', 'room', envelope('bob', 'chat', { to: ['carol'] })));
    ok(await gateway.post('bob-token', 'room', envelope('bob', 'chat', { id: 'for-alice', to: ['alice'] })));
    assert.deepEqual((await answer).json.messages.map((message) => message.id), ['for-alice']);
    await gateway.stop();
});

test('a poll tells nothing to a reader whose token was revoked meanwhile', async () => {
    const gateway = await startGateway({ tokens: people('bob') });
    const token = gateway.adminToken();
    const made = await gateway.request('POST /admin/tokens', { token, json: { id: 'alice', name: 'alice', profile: 'full' } });
    const answer = waiting(gateway, made.json.token, '/topics/room/messages?wait=50');

    assert.equal((await gateway.request('GET /topics/room/participants', { token })).status, 200);
    assert.equal((await gateway.request('DELETE /admin/tokens/alice', { token })).status, 200);
    ok(await gateway.post('bob-token', 'room', envelope('bob')));
    assert.equal((await answer).status, 401);
    await gateway.stop();
});

test('a poll tells nothing to a reader who was kicked meanwhile', async () => {
    const gateway = await startGateway({ tokens: people('alice', 'bob') });
    const answer = waiting(gateway, 'alice-token', '/topics/room/messages?wait=50');

    ok(await gateway.post('bob-token', 'room', envelope('bob', 'chat', { id: '0' })).then(async (first) => {
        assert.equal((await answer).status, 200);
        return first;
    }));
    const again = waiting(gateway, 'alice-token', '/topics/room/messages?wait=50&after=0');

    assert.equal((await gateway.request('GET /topics/room/participants', { token: 'bob-token' })).status, 200);
    assert.equal((await gateway.request('POST /admin/members/alice/kick', { token: gateway.adminToken() })).status, 200);
    ok(await gateway.post('bob-token', 'room', envelope('bob')));
    assert.equal((await again).status, 403);
    await gateway.stop();
});
