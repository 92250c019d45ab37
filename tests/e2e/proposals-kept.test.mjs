// SPDX-License-Identifier: Apache-2.0
// A topic that has to make place for others forgets what was said in it, but neither its
// open proposals nor, with them, who is paused in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { envelope, people, person, startGateway } from './gateway.mjs';

const config = {
    tokens: [...people('ann', 'bob'), person('boss', { profile: 'admin' })],
    limits: { rate_messages: 0 },
    topics: { max: 2 },
};

const say = (gateway, from, topic, kind, more) => gateway.post(`${from}-token`, topic, envelope(from, kind, more));
const listed = (gateway, topic) => gateway.request(`GET /topics/${topic}/proposals`, { token: 'ann-token' })
    .then(({ json }) => json.proposals);

// What was done before is on disk when a change by an administrator is answered.
const settle = (gateway) => gateway.request('POST /admin/members/bob/resume', { token: 'boss-token' });

async function crowd(gateway, topics) {
    for (const topic of topics)
        assert.equal((await say(gateway, 'ann', topic, 'chat')).status, 200);
    const { json } = await gateway.request('GET /admin/topics', { token: 'boss-token' });
    assert.deepEqual(json.topics.map(({ name }) => name).sort(), topics.slice(-2).sort());
}

test('open proposals outlast their room, and end as they would in it', async () => {
    let gateway = await startGateway(config, { workers: 1 });
    const first = envelope('ann', 'mcp/proposal:tools/call:x');
    const second = envelope('ann', 'mcp/proposal:tools/call:x');

    await gateway.post('ann-token', 'kept', first);
    await gateway.post('ann-token', 'kept', second);
    await say(gateway, 'bob', 'kept', 'chat');
    await gateway.request('POST /admin/members/bob/pause?topic=kept', { token: 'boss-token' });
    const was = await listed(gateway, 'kept');
    assert.equal(was.length, 2);
    await crowd(gateway, ['a', 'b', 'c']);
    assert.deepEqual(await listed(gateway, 'kept'), was);
    await crowd(gateway, ['a', 'b', 'c']);
    await gateway.kill();
    gateway = await gateway.restart();
    await crowd(gateway, ['d', 'e']);
    assert.equal((await say(gateway, 'bob', 'kept', 'mcp/reject', { correlation_id: first.id })).json.error, 'paused');
    await gateway.request('POST /admin/members/bob/resume', { token: 'boss-token' });
    assert.equal((await say(gateway, 'bob', 'kept', 'mcp/reject', { correlation_id: first.id })).status, 200);
    await crowd(gateway, ['a', 'b', 'c']);
    assert.deepEqual((await listed(gateway, 'kept')).map(({ id }) => id), [second.id]);
    assert.equal((await say(gateway, 'bob', 'kept', 'mcp/request:tools/call:x', { correlation_id: second.id })).status, 200);
    await crowd(gateway, ['a', 'b', 'c']); // nothing is open: the topic is forgotten
    assert.deepEqual(await listed(gateway, 'kept'), []);
    await settle(gateway);
    await gateway.kill();
    gateway = await gateway.restart();
    assert.doesNotMatch(gateway.stderr(), /state\.restore/, 'nothing is kept of it');
    await gateway.stop();
});

test('a pause in a topic ends with it, and is kept no longer', async () => {
    let gateway = await startGateway(config, { workers: 1 });

    await say(gateway, 'bob', 'room', 'chat');
    await gateway.request('POST /admin/members/bob/pause?topic=room', { token: 'boss-token' });
    assert.equal((await say(gateway, 'bob', 'room', 'mcp/request:x')).json.error, 'paused');
    await crowd(gateway, ['a', 'b', 'c']);
    assert.equal((await say(gateway, 'bob', 'room', 'mcp/request:x')).status, 200);
    await settle(gateway);
    await gateway.kill();
    gateway = await gateway.restart();
    assert.doesNotMatch(gateway.stderr(), /state\.restore/);
    await gateway.stop();
});

test('one proposer does not use up what there is for all, and gets back what is closed', async () => {
    const gateway = await startGateway({ ...config, topics: {}, limits: { rate_messages: 0, rate_bytes: 0 } }, { workers: 1 });
    const text = 'x'.repeat(900_000);
    const propose = (from, topic) => say(gateway, from, topic, 'mcp/proposal:tools/call:x', { payload: { text } });
    let open = 0;

    for (; open < 60; open++) {
        const { status, json } = await propose('ann', `t${open}`);
        if (status === 200)
            continue;
        assert.match(json.detail, /too much is proposed .* or by you/);
        break;
    }
    assert.ok(open > 20 && open < 40, `${open} were taken`);
    assert.equal((await propose('bob', 'other')).status, 200);
    const [{ id }] = await listed(gateway, 't0');
    assert.equal((await say(gateway, 'ann', 't0', 'mcp/withdraw', { correlation_id: id })).status, 200);
    assert.equal((await propose('ann', 't0')).status, 200);
    assert.notEqual((await propose('ann', 'last')).status, 200);
    await gateway.stop();
});
