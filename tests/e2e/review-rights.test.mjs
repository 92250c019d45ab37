// SPDX-License-Identifier: Apache-2.0
// Rights that change while someone is connected, or between two tokens.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { envelope, expect, people, person, startGateway } from './gateway.mjs';

async function reload(gateway, config) {
    fs.writeFileSync(gateway.config, JSON.stringify(config));
    const { status, text } = await gateway.request('POST /admin/reload', { token: gateway.adminToken() });
    assert.equal(status, 200, text);
}

test('a reload that takes a capability away takes it from those who are connected', async () => {
    const gateway = await startGateway({ tokens: people('alice', 'bob') });
    const alice = await gateway.join('alice');
    const bob = await gateway.join('bob');

    await reload(gateway, { tokens: [person('alice', { capabilities: ['mcp/*'] }), person('bob')] });
    const welcome = await expect(alice, (json) => json.kind === 'system/welcome');
    assert.deepEqual(welcome.payload.you.capabilities, ['mcp/*']);
    alice.chat('may I?', { id: 'no' });
    assert.equal((await expect(alice, (json) => json.kind === 'system/error')).payload.error, 'capability_violation');
    bob.chat('I may', { id: 'yes' });
    await expect(bob, (json) => json.id === 'yes');
    assert.ok(!bob.frames.some(({ json }) => json.id === 'no' || json.kind === 'system/welcome' && json !== bob.welcome));
    await gateway.stop();
});

test('a reload that closes a topic to a token closes its connections there', async () => {
    const gateway = await startGateway({ tokens: people('alice') });
    const inRoom = await gateway.join('alice');
    const inOther = await gateway.join('alice', { topic: 'other' });

    await reload(gateway, { tokens: [person('alice', { topics: ['other'] })] });
    assert.equal((await inRoom.closed()).code, 1008);
    inOther.chat('still here', { id: 'here' });
    await expect(inOther, (json) => json.id === 'here');
    await gateway.stop();
});

test('a session of a token that the settings no longer hold ends with the reload', async () => {
    const gateway = await startGateway({ tokens: [person('root', { profile: 'admin' })] });
    const { json: { ticket } } = await gateway.request('POST /admin/link', { token: 'root-token' });
    const { json: { token } } = await gateway.request('POST /session', { json: { ticket } });
    const client = await gateway.join('root', { token });

    await reload(gateway, {});
    assert.equal((await client.closed()).code, 1008);
    assert.equal((await gateway.request('GET /topics', { token })).status, 401);
    await gateway.stop();
});

test('a new token does not inherit what was granted to a revoked one', async () => {
    const gateway = await startGateway({});
    const token = gateway.adminToken();
    const make = async () => (await gateway.request('POST /admin/tokens',
        { token, json: { id: 'alice', name: 'alice', capabilities: ['chat'] } })).json.token;
    const first = await make();

    assert.equal((await gateway.request('POST /admin/participants/alice/capabilities',
        { token, json: { add: ['mcp/request:*'] } })).status, 200);
    const call = envelope('alice', 'mcp/request:tools/list');
    assert.equal((await gateway.post(first, 'room', call)).status, 200);
    assert.equal((await gateway.request('DELETE /admin/tokens/alice', { token })).status, 200);
    const second = await make();
    assert.equal((await gateway.post(second, 'room', { ...call, id: 'again' })).status, 403);
    await gateway.stop();
});

test('of several sessions one can be revoked', async () => {
    const gateway = await startGateway({});
    const token = gateway.adminToken();
    const sessions = [];

    for (let i = 0; i < 3; i++) {
        const { json: { ticket } } = await gateway.request('POST /admin/link', { token });
        sessions.push((await gateway.request('POST /session', { json: { ticket } })).json.token);
    }
    const { json } = await gateway.request('GET /admin/tokens', { token });
    const names = json.tokens.filter(({ source }) => source === 'session').map(({ name }) => name);
    assert.equal(new Set(names).size, 3);
    assert.equal((await gateway.request(`DELETE /admin/tokens/${names[0]}`, { token })).status, 200);
    const states = await Promise.all(sessions.map(async (session) => (await gateway.request('GET /topics', { token: session })).status));
    assert.deepEqual(states.sort(), [200, 200, 401]);
    await gateway.stop();
});

test('a session loses the role of an administrator with its token', async () => {
    const gateway = await startGateway({ tokens: [person('root', { profile: 'admin' })] });
    const { json: { ticket } } = await gateway.request('POST /admin/link', { token: 'root-token' });
    const { json: { token } } = await gateway.request('POST /session', { json: { ticket } });

    assert.equal((await gateway.request('GET /admin/tokens', { token })).status, 200);
    await reload(gateway, { tokens: [person('root', { profile: 'human' })] });
    assert.equal((await gateway.request('GET /admin/tokens', { token })).status, 401);
    assert.equal((await gateway.request('GET /admin/tokens', { token: 'root-token' })).status, 403);
    await gateway.stop();
});

test('of two tokens of one id each has its own rights, whoever came last', async () => {
    const gateway = await startGateway({ tokens: [
        { token: 'weak', id: 'alice', name: 'weak', capabilities: ['chat'] },
        { token: 'strong', id: 'alice', name: 'strong', capabilities: ['chat', 'mcp/request:*'] },
    ] });
    const weak = await gateway.join('alice', { token: 'weak' });
    const call = (id) => envelope('alice', 'mcp/request:tools/list', { id });

    assert.equal((await gateway.post('strong', 'room', call('1'))).status, 200);
    weak.send(call('2'));
    const refusal = await expect(weak, (json) => json.correlation_id === '2');
    assert.equal(refusal.payload.error, 'capability_violation');
    assert.deepEqual(refusal.payload.your_capabilities, ['chat']);
    const strong = await gateway.join('alice', { token: 'strong', isPresent: true });
    assert.deepEqual(strong.welcome.payload.you.capabilities, ['chat', 'mcp/request:*']);
    assert.equal((await gateway.post('weak', 'room', call('3'))).status, 403);
    strong.send(call('4'));
    await expect(strong, (json) => json.id === '4');
    weak.send(call('5'));
    await expect(weak, (json) => json.correlation_id === '5' && json.payload.error === 'capability_violation');
    await gateway.stop();
});
