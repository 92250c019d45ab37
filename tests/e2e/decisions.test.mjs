// SPDX-License-Identifier: Apache-2.0
// GET /topics/T/decisions: what was decided on similar calls, for those who decide.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { call, everybody, offering, respond, waits } from './authorization.mjs';
import { changesIn, envelope, expect, person, startGateway } from './gateway.mjs';
import { until } from './processes.mjs';

let gateway;

afterEach(() => gateway.stop());

const tokens = [
    person('ann', { type: 'human', profile: 'human' }), person('eva', { type: 'human', profile: 'human' }),
    person('bot', { capabilities: ['mcp/proposal:*', 'mcp/withdraw', 'chat'] }), person('watcher', { capabilities: ['chat'] }),
    person('away', { topics: ['elsewhere'], type: 'human', profile: 'human' }), person('root', { profile: 'admin' }),
];

const payload = (name, args) => ({ method: 'tools/call', params: { name, arguments: args } });

async function post(id, topic, kind, more) {
    const sent = envelope(id, kind, more);
    const { status, text } = await gateway.post(`${id}-token`, topic, sent);

    assert.equal(status, 200, text);
    return sent;
}

const propose = (name, args, { context = `:${name}`, topic = 'room', ...more } = {}) =>
    post('bot', topic, `mcp/proposal:tools/call${context}`, { payload: payload(name, args), ...more });
const reject = (p, reason, topic = 'room') => post('ann', topic, 'mcp/reject', { correlation_id: p.id, payload: { reason } });
const fulfil = (id, p, args, more = {}) =>
    post(id, 'room', p.kind.replace('proposal', 'request'), { correlation_id: p.id, payload: payload(p.payload.params.name, args ?? p.payload.params.arguments), ...more });

async function decisions(query = '', token = 'ann-token', topic = 'room') {
    const { status, json, text } = await gateway.request(`GET /topics/${topic}/decisions${query}`, { token });

    assert.equal(status, 200, text);
    return json;
}

// What was said is recorded in its time.
async function decided(query, count) {
    let found;

    await until(async () => (found = (await decisions(query)).decisions).length === count, () => JSON.stringify(found));
    return found;
}

test('what was decided comes newest first, with arguments, decider and reason', async () => {
    gateway = await startGateway({ tokens });
    const one = await propose('rm', { path: '/a' }, { to: ['tool'] });

    await reject(one, 'not that one');
    const two = await propose('rm', { path: '/b' });

    await fulfil('eva', two);
    await propose('rm', { path: '/open' });
    const [second, first] = await decided('?method=tools/call&tool=rm', 2);

    assert.deepEqual({ ...first, created: 0, decided: 0 }, {
        id: one.id, created: 0, proposer: 'bot', kind: 'mcp/proposal:tools/call:rm', to: ['tool'], tool: 'rm', arguments: { path: '/a' },
        state: 'rejected', by: 'ann', reason: 'not that one', decided: 0,
    });
    assert.ok(first.created <= first.decided && first.decided <= second.created);
    assert.deepEqual([second.id, second.state, second.by, second.arguments], [two.id, 'fulfilled', 'eva', { path: '/b' }]);
    assert.equal((await decisions('?tool=rm')).complete, true);
});

test('method and tool are told apart, also where only the payload names the tool', async () => {
    gateway = await startGateway({ tokens });
    await reject(await propose('rm', { n: 1 }));
    await reject(await propose('rm', { n: 2 }, { context: '' }));
    await reject(await propose('rm_all', { n: 3 }));
    await reject(await post('bot', 'room', 'mcp/proposal:prompts/get:rm', { payload: { method: 'prompts/get', params: { name: 'rm' } } }));
    await reject(await propose('rm', { n: 5 }, { topic: 'other' }), '', 'other');

    assert.deepEqual((await decided('?method=tools/call&tool=rm', 2)).map((one) => one.arguments.n), [2, 1]);
    assert.deepEqual((await decided('?tool=rm_all', 1)).map((one) => one.arguments.n), [3]);
    assert.deepEqual((await decided('?method=prompts/get', 1))[0].arguments, { name: 'rm' });
    assert.equal((await decided('', 4)).length, 4);
    assert.equal((await decided('?limit=3', 3)).length, 3);
});

test('it is known after the ledger has forgotten, and after a restart', async () => {
    gateway = await startGateway({ tokens });
    await reject(await propose('rm', { n: 1 }), 'no');
    await decided('?tool=rm', 1);
    await gateway.kill();
    gateway = await gateway.restart();
    assert.equal((await decided('?tool=rm', 1))[0].reason, 'no');
});

test('it is for those who may approve in that topic', async () => {
    gateway = await startGateway({ tokens, topics: { named: { closed: { access: 'private' } } } });
    const status = async (token, path = 'room') => (await gateway.request(`GET /topics/${path}/decisions`, { token })).status;

    assert.equal(await status('ann-token'), 200);
    assert.equal(await status('root-token'), 200);
    assert.equal(await status('bot-token'), 403);
    assert.equal(await status('watcher-token'), 403);
    assert.equal(await status('away-token'), 403);
    assert.equal(await status('ann-token', 'closed'), 404, 'as if there were none');
    assert.equal(await status(undefined), 401);
    for (const query of ['?limit=0', '?limit=51', '?limit=x', '?type=chat', `?tool=${'x'.repeat(300)}`, '?tool=a&tool=b'])
        assert.equal((await gateway.request(`GET /topics/room/decisions${query}`, { token: 'ann-token' })).status, 400, query);
});

test('decisions on calls to be authorized', async () => {
    gateway = await startGateway({ tokens: everybody, servers: { tool: offering({ mode: 'always-prompt' }) } });
    const ann = await gateway.join('ann');
    const bot = await gateway.join('bot');

    if (!ann.welcome.payload.participants.some((one) => one.id === 'tool'))
        await expect(ann, (json) => changesIn(json).some((one) => one.event === 'join' && one.id === 'tool'));
    for (const decision of ['approve', 'deny']) {
        const sent = call(bot, 'who', { target: decision });

        respond(ann, (await waits(bot, sent, { by: ann })).asked, decision, { reason: `because ${decision}` });
        await expect(bot, (json) => json.kind === 'mcp/response:tools/call:who' && json.correlation_id === sent.id);
    }
    const [deny, approve] = await decided('?type=authorization&tool=who', 2);

    assert.deepEqual([deny.state, deny.by, deny.reason, deny.arguments], ['denied', 'ann', 'because deny', { target: 'deny' }]);
    assert.deepEqual([approve.state, approve.owner, approve.proposer, approve.tool], ['approved', 'tool', 'bot', 'who']);
    assert.deepEqual((await decisions('?type=authorization&tool=other')).decisions, []);
});

test('only a word that counts has decided on a call to be authorized', async () => {
    gateway = await startGateway({ tokens: everybody, servers: { tool: offering({ mode: 'always-prompt' }) } });
    const [ann, eva, bot] = await Promise.all(['ann', 'eva', 'bot'].map((id) => gateway.join(id)));

    if (!ann.welcome.payload.participants.some((one) => one.id === 'tool'))
        await expect(ann, (json) => changesIn(json).some((one) => one.event === 'join' && one.id === 'tool'));
    for (const asker of [bot, eva]) {
        const sent = call(asker, 'who', { target: asker.id });
        const { asked } = await waits(asker, sent, { by: ann });

        if (asker === bot) { // may not say that at all
            respond(bot, asked, 'approve');
            await expect(bot, (json) => json.kind === 'system/error');
        } else { // may, but not of her own call; and another not to somebody else
            respond(eva, asked, 'approve');
            respond(ann, asked, 'approve', {}, { to: ['eva'] });
            respond(ann, asked, 'approve', { authorizationId: 'auth-other' });
        }
        respond(ann, asked, 'deny', { reason: `not for ${asker.id}` });
        await expect(asker, (json) => json.kind === 'mcp/response:tools/call:who' && json.correlation_id === sent.id);
    }
    assert.deepEqual((await decided('?type=authorization&tool=who', 2)).map((one) => [one.state, one.by, one.reason]),
        [['denied', 'ann', 'not for eva'], ['denied', 'ann', 'not for bot']]);
});
