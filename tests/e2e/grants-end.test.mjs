// SPDX-License-Identifier: Apache-2.0
// What was granted to an id ends with its last credential: whoever gets the next one begins with what that says.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { envelope, person, startGateway } from './gateway.mjs';

const config = {
    tokens: [
        person('boss', { profile: 'admin' }),
        person('lead', { capabilities: ['capability/*', 'topic/*', 'mcp/*', 'chat'] }),
        person('moving', { capabilities: ['chat'] }),
    ],
};
const topics = ['one', 'two', 'three', 'four']; // on several workers

async function start(t) {
    const gateway = await startGateway(config);
    t.after(() => gateway.stop());
    return gateway;
}

async function grantAll(gateway, recipient) {
    for (const topic of topics) {
        const { status, text } = await gateway.post('lead-token', topic,
            envelope('lead', 'capability/grant', { payload: { recipient, capabilities: ['mcp/*'] } }));
        assert.equal(status, 200, text);
    }
}

const makeToken = async (gateway, id, more = {}) => {
    const { status, json, text } =
        await gateway.request('POST /admin/tokens', { token: 'boss-token', json: { id, capabilities: ['chat'], ...more } });
    assert.ok(status < 300, text);
    return json;
};

// Somebody new of that id holds what the new token says, in every topic.
async function beginsAnew(gateway, id, token) {
    for (const topic of topics) {
        const { welcome } = await gateway.join(id, { topic, token });
        assert.deepEqual(welcome.payload.you.capabilities, ['chat']);
    }
    const { json } = await gateway.request(`GET /admin/participants/${id}/grants`, { token: 'boss-token' });
    assert.deepEqual(json.rights, []);
}

async function invited(gateway, id) {
    const { status, json, text } = await gateway.post('lead-token', 'one',
        envelope('lead', 'topic/invite', { payload: { participant: id, capabilities: ['chat'] } }));
    assert.equal(status, 200, text);
    return (await gateway.request('POST /session', { json: { ticket: json.ticket } })).json.token;
}

const endings = {
    'a guest who signs out': async (gateway) => {
        for (let i = 0; i < 2; i++) { // the name is free again
            const token = await invited(gateway, 'carol');
            await grantAll(gateway, 'carol');
            assert.equal((await gateway.request('DELETE /session', { token })).status, 204);
        }
    },
    'a guest whose session is revoked': async (gateway) => {
        await invited(gateway, 'carol');
        await grantAll(gateway, 'carol');
        const { json } = await gateway.request('GET /admin/tokens', { token: 'boss-token' });
        const { name } = json.tokens.find(({ id }) => id === 'carol');
        assert.equal((await gateway.request(`DELETE /admin/tokens/${name}`, { token: 'boss-token' })).status, 200);
    },
    'a token that expires': async (gateway) => {
        const { token } = await makeToken(gateway, 'carol', { expires_at: new Date(Date.now() + 5000).toISOString() });
        await grantAll(gateway, 'carol');
        while ((await gateway.request('GET /topics', { token })).status !== 401)
            await sleep(50);
    },
};

for (const [name, act] of Object.entries(endings))
    test(`the rights of ${name} are not those of who comes next`, async (t) => {
        const gateway = await start(t);
        await act(gateway);
        const { token } = await makeToken(gateway, 'carol');
        await beginsAnew(gateway, 'carol', token);
    });

test('a session that ends takes nothing from the token of the same id', async (t) => {
    const gateway = await start(t);
    const { json: { ticket } } = await gateway.request('POST /admin/link', { token: 'boss-token' });
    const { json: { token } } = await gateway.request('POST /session', { json: { ticket } });
    await grantAll(gateway, 'boss');
    assert.equal((await gateway.request('DELETE /session', { token })).status, 204);
    const { json } = await gateway.request('GET /admin/participants/boss/grants', { token: 'boss-token' });
    assert.equal(json.rights.length, topics.length);
});

test('the rights of a token whose id changes with a reload end', async (t) => {
    const gateway = await start(t);
    await grantAll(gateway, 'moving');
    const tokens = config.tokens.map((one) => (one.id === 'moving' ? { ...one, id: 'moved' } : one));
    fs.writeFileSync(gateway.config, JSON.stringify({ tokens }));
    assert.equal((await gateway.request('POST /admin/reload', { token: 'boss-token' })).status, 200);
    const { token } = await makeToken(gateway, 'moving');
    await beginsAnew(gateway, 'moving', token);
});
