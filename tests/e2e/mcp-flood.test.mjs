// SPDX-License-Identifier: Apache-2.0
// What one client of the MCP door may make the gateway keep: so many topics at a time, with all tokens of its id.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { people, startGateway, within } from './gateway.mjs';
import { mcpAt, modern } from './mcp.mjs';

const most = 256; // of each worker

const discover = async (gateway, topic, token) => {
    const { message, headers } = modern('server/discover');
    return mcpAt(gateway, topic, token).post(message, { headers });
};

const halls = async (gateway) => Number(/^moot_mcp_topics (\d+)$/m.exec((await gateway.request('GET /metrics')).text)[1]);

async function sweptTo(gateway, count) {
    while (await halls(gateway) > count)
        await pause(50);
}

test('nobody is in more than so many topics at a time, and others are not kept out by that', async () => {
    const gateway = await startGateway({ tokens: people('alice') }, { workers: 1 });
    const admin = { token: gateway.adminToken() };
    const issue = async () => {
        const { json } = await gateway.request('POST /admin/tokens', { ...admin, json: { id: 'dave', profile: 'full', topics: ['*'] } });
        return { name: json.about.name, token: json.token };
    };
    const [first, second] = [await issue(), await issue()];
    const visits = [];

    for (let i = 0; i < most; i++)
        visits.push(await mcpAt(gateway, `t${i}`, first.token).begin());
    for (const { token } of [first, second]) {
        const refused = await discover(gateway, 'one-more', token);
        assert.equal(refused.status, 503, refused.text);
        assert.match(refused.json.detail, /too many topics/);
    }
    assert.equal(await halls(gateway), most);
    assert.equal((await discover(gateway, 'one-more', 'alice-token')).status, 200);
    assert.equal((await mcpAt(gateway, 't0', first.token).ask('ping', undefined, { visit: visits[0] })).status, 200);
    assert.equal((await discover(gateway, 't0', first.token)).status, 200);

    assert.equal((await gateway.request(`DELETE /admin/tokens/${first.name}`, admin)).status, 200);
    assert.equal((await discover(gateway, 'one-more', second.token)).status, 200);
    await within(sweptTo(gateway, 1), 'the end of the topics that nobody uses');
    await gateway.stop();
});
