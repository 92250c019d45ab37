// SPDX-License-Identifier: Apache-2.0
// GET /rules: the rules of all topics that one may enter, and what one may do about them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, person, startGateway } from './gateway.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [
            person('ann', { profile: 'human' }), person('root', { profile: 'admin' }), person('orch', { profile: 'orchestrator' }),
            person('agent', { type: 'agent', capabilities: ['rule/*', 'mcp/*'] }), person('away', { topics: ['elsewhere'], profile: 'human' }),
            person('watcher', { type: 'human', capabilities: ['chat'] }),
        ],
    });
});
after(() => gateway.stop());

const rule = (more = {}) => ({ proposer: 'bot', method: 'tools/call', tool: 'write', to: 'files', arguments: { mode: { exactly: 'w' } }, ...more });

async function say(id, topic, kind, payload) {
    const { status, text } = await gateway.post(`${id}-token`, topic, envelope(id, kind, { payload }));

    assert.equal(status, 200, text);
}

async function list(id) {
    const { status, json, text } = await gateway.request('GET /rules', { token: `${id}-token` });

    assert.equal(status, 200, text);
    return json.topics.sort((a, b) => (a.name < b.name ? -1 : 1));
}

test('rules of several topics come with one answer, and with what one may do', async () => {
    assert.deepEqual(await list('ann'), []);
    await say('orch', 'one', 'rule/suggest', { rule: rule() });
    await say('orch', 'one', 'rule/suggest', { rule: rule({ tool: 'read' }) });
    await say('ann', 'two', 'rule/add', { rule: rule() });
    await say('ann', 'quiet', 'chat', { text: 'nothing here' });
    const [one, two, ...others] = await list('ann');

    assert.deepEqual(others, [], 'a topic without rules is not listed');
    assert.deepEqual([one.name, one.automation, one.count, one.rules.map(({ state }) => state)], ['one', 'on', 2, ['suggested', 'suggested']]);
    assert.deepEqual(one.may, ['accept', 'add', 'decline', 'disable', 'enable', 'test']);
    assert.deepEqual(two.rules, (await gateway.request('GET /topics/two/rules', { token: 'ann-token' })).json.rules);
    assert.deepEqual((await list('root'))[0].may, ['accept', 'add', 'decline', 'disable', 'enable', 'remove', 'automation', 'test']);
    assert.deepEqual((await list('agent'))[0].may, ['decline', 'disable', 'remove', 'test'], 'what is for humans is not for agents');
    assert.deepEqual((await list('watcher'))[0].may, []);
    assert.deepEqual(await list('away'), []);
    assert.equal((await gateway.request('GET /rules')).status, 401);
    const { json: { topics } } = await gateway.request('GET /rules?state=active', { token: 'ann-token' });

    assert.deepEqual(topics.map(({ name, count, rules }) => [name, count, rules.length]).sort(), [['one', 2, 0], ['two', 1, 1]]);
    for (const query of ['state=odd', 'state=active&state=active'])
        assert.equal((await gateway.request(`GET /rules?${query}`, { token: 'ann-token' })).status, 400, query);
});

test('so do those of topics where nobody has been since the start, and where automation is off', async () => {
    await say('root', 'two', 'topic/set', { automation: 'off' });
    await say('root', 'bare', 'topic/set', { automation: 'off' });
    await gateway.kill();
    gateway = await gateway.restart();
    const topics = await list('ann');

    assert.deepEqual(topics.map(({ name, count, automation, automation_by: by }) => [name, count, automation, by]),
        [['bare', 0, 'off', 'root'], ['one', 2, 'on', undefined], ['two', 1, 'off', 'root']]);
    assert.deepEqual(topics[0].rules, []);
    assert.equal(topics[1].rules.length, 2);
    assert.deepEqual((await gateway.request('GET /topics', { token: 'ann-token' })).json.topics, [], 'asking makes no topic');
    assert.deepEqual(await list('away'), []);
});
