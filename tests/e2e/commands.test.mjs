// SPDX-License-Identifier: Apache-2.0
// A command is carried out as it was judged, whatever is said in the room meanwhile, and whoever is closed by it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { envelope, expect, person, startGateway, within } from './gateway.mjs';

const token = 'boss-token';
let gateway;
let topics = 0;

before(async () => {
    gateway = await startGateway({
        limits: { outbox: '64MiB', outbox_soft: '63MiB', rate_messages: '0', rate_bytes: '0', stall_timeout: '60s', ping_interval: '60s' },
        topics: { named: { brief: { ring_messages: 1 } } },
        tokens: [
            { token, id: 'boss', type: 'human', admin: true, capabilities: ['chat'] },
            person('host', { type: 'human', capabilities: ['capability/*', 'topic/*', 'mcp/*', 'chat'] }),
            person('aide', { capabilities: ['chat', 'mcp/*'] }),
            person('slow', { capabilities: ['chat'] }),
        ],
    });
});
after(() => gateway.stop());

const newTopic = () => `commands-${++topics}`;
const isAck = (status) => ({ kind, payload }) => kind === 'capability/grant-ack' && payload.status === status;

async function grantOnce(host, capability) {
    const { id } = host.send(envelope('host', 'capability/grant', { payload: { recipient: 'aide', capabilities: [capability], max_uses: 1 } }));
    await expect(host, ({ kind, correlation_id }) => kind === 'capability/grant-ack' && correlation_id === id);
    return id;
}

test('an invitation by the last use of a grant is the one that was asked for', async () => {
    const topic = newTopic();
    const host = await gateway.join('host', { topic });
    const aide = await gateway.join('aide', { topic });

    await grantOnce(host, 'topic/invite');
    // Where a name of the gateway stands in what it says next, were it written over this.
    await expect(aide, isAck('granted'));
    const ack = aide.frames.find(({ json }) => json.kind === 'capability/grant-ack').text;
    const before = '{"payload":{';
    const name = '"participant":"';
    const text = `${before}${' '.repeat(ack.indexOf('system:gateway') - before.length - name.length)}${name}innocent-guest","capabilities":["chat"]},`
        + '"protocol":"mcpx/v0.1","id":"by-the-last","from":"aide","kind":"topic/invite"}';
    aide.send(text);
    const { kind, payload } = await expect(aide, ({ to, correlation_id }) => to && correlation_id === 'by-the-last');
    assert.deepEqual([kind, payload.participant], ['topic/invite', 'innocent-guest']);
    assert.ok(aide.frames.some(({ json }) => isAck('used_up')(json)), 'the grant has ended by then');
    const session = await gateway.request('POST /session', { json: { ticket: payload.ticket } });
    assert.equal(session.json.id, 'innocent-guest');
});

test('likewise by profile, and over HTTP', async () => {
    const topic = newTopic();
    const host = await gateway.join('host', { topic });

    await grantOnce(host, 'topic/invite');
    const sent = envelope('aide', 'topic/invite', { payload: { participant: 'by-profile', profile: 'responder' } });
    const { status, json } = await gateway.post('aide-token', topic, sent);
    assert.deepEqual([status, json.id, json.participant], [200, sent.id, 'by-profile']);
    const heard = await expect(host, ({ kind }) => kind === 'topic/invite');
    assert.deepEqual([heard.correlation_id, heard.payload.participant], [sent.id, 'by-profile']);
    const aide = await gateway.join('aide', { topic });
    await grantOnce(host, 'topic/invite');
    const { id } = aide.send(envelope('aide', 'topic/invite', { payload: { participant: 'by-profile-too', profile: 'responder' } }));
    const { payload } = await expect(aide, ({ to, correlation_id }) => to && correlation_id === id);
    assert.equal(payload.participant, 'by-profile-too');
});

test('a grant may be used up by revoking it', async () => {
    const topic = newTopic();
    const boss = await gateway.join('boss', { topic });
    const { json } = await gateway.request(`POST /admin/participants/boss/capabilities?topic=${topic}`,
        { token, json: { add: ['capability/revoke'], max_uses: 1 } });
    const { id } = boss.send(envelope('boss', 'capability/revoke', { payload: { recipient: 'boss', grant_id: json.grant_id } }));
    const { payload } = await expect(boss, ({ kind, correlation_id }) => kind === 'capability/grant-ack' && correlation_id === id);

    assert.deepEqual([payload.status, payload.grant_id], ['revoked', json.grant_id]);
    boss.chat('still here', { id: `after-${topic}` });
    await expect(boss, (one) => one.id === `after-${topic}`);
    assert.ok(!boss.frames.some(({ json: one }) => isAck('used_up')(one)), 'it has ended once');
});

test('where one envelope is kept, a command is carried out all the same', async () => {
    const topic = 'brief';
    const host = await gateway.join('host', { topic });

    await grantOnce(host, 'capability/grant');
    await host.close();
    const sent = envelope('aide', 'capability/grant', { padding: 'z'.repeat(300_000), payload: { recipient: 'host', capabilities: ['mcp/request:x'] } });
    assert.equal((await gateway.post('aide-token', topic, sent)).status, 200);
    const { json } = await gateway.request(`GET /admin/participants/host/grants?topic=${topic}`, { token });
    assert.deepEqual(json.rights[0].grants.map(({ id, granter, capabilities }) => [id, granter, capabilities]), [[sent.id, 'aide', ['mcp/request:x']]]);
});

test('who is closed by the end of a grant while he speaks is not heard', async () => {
    const text = 'x'.repeat(900_000);

    for (let round = 0; round < 3; round++) {
        const topic = newTopic();
        const slow = await gateway.join('slow', { topic, ws: { perMessageDeflate: false } });

        slow.socket._socket.pause(); // reads nothing, but speaks
        for (let i = 0; i < 14; i++)
            await gateway.post('host-token', topic, envelope('host', 'chat', { payload: { text } }));
        const end = Date.now() + 5000;
        // Fewer than close him now, but not twice as many.
        await Promise.all(Array.from({ length: 20 }, (_, i) => gateway.post('host-token', topic, envelope('host', 'capability/grant',
            { payload: { recipient: 'slow', capabilities: [`mcp/request:q${i}`], expires_at: new Date(end).toISOString() } }))));
        const members = async () => (await gateway.request(`GET /admin/members?topic=${topic}`, { token })).json.members.length;
        assert.equal(await members(), 1);
        while (Date.now() < end + 60) {
            for (let i = 0; i < 20 && Date.now() > end - 60; i++)
                slow.chat('and another thing');
            await sleep(1);
        }
        await within((async () => { while (await members()) await sleep(10); })(), 'his end');
        slow.socket.terminate();
    }
});
