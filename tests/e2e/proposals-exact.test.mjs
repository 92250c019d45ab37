// SPDX-License-Identifier: Apache-2.0
// In exact topics a fulfilment asks for what was proposed, whatever its bytes; only a human
// who may approve edits it, and the difference is told and recorded.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [person('human', { profile: 'human' }), person('agent', { capabilities: ['mcp/proposal:*', 'chat'] }),
            person('caller', { type: 'human', capabilities: ['mcp/request:*', 'chat'] }), person('bot', { profile: 'full' }),
            person('boss', { profile: 'admin' })],
        limits: { rate_messages: 0 },
        topics: { named: { exact: { proposals: 'exact' }, two: { proposals: 'exact', quorum: 2 } } },
    });
});
after(() => gateway.stop());

const text = (from, kind, more, payload) => {
    const json = JSON.stringify(envelope(from, kind, { ...more, payload: 'PAYLOAD' }));

    return json.replace('"PAYLOAD"', payload);
};
const call = (args, name = 'dig') => `{"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
const post = (from, topic, body) => gateway.request(`POST /topics/${topic}/messages`,
    { token: `${from}-token`, body, headers: { 'Content-Type': 'application/json' } });

async function propose(topic, payload) {
    const { status, json } = await post('agent', topic, text('agent', 'mcp/proposal:tools/call:dig', { to: ['tool'] }, payload));

    assert.equal(status, 200, JSON.stringify(json));
    return json.id;
}
const fulfil = (from, topic, id, payload, more = {}) =>
    post(from, topic, text(from, 'mcp/request:tools/call:dig', { to: ['tool'], correlation_id: id, ...more }, payload));

test('exact: the same meaning passes, anything else is refused with the path of the first difference', async () => {
    const proposed = '{"path":"/srv/\\u0061","deep":{"list":[1,2,{"x":100}]},"big":1e400}';
    const id = await propose('exact', call(proposed));
    const cases = [
        ['{"path":"/srv/b","deep":{"list":[1,2,{"x":100}]},"big":1e400}', '/params/arguments/path'],
        ['{"path":"/srv/a","deep":{"list":[1,2,{"x":101}]},"big":1e400}', '/params/arguments/deep/list/2/x'],
        ['{"path":"/srv/a","deep":{"list":[1,2]},"big":1e400}', '/params/arguments/deep/list/2'],
        ['{"path":"/srv/a","deep":{"list":[1,2,{"x":100}]},"big":1e401}', '/params/arguments/big'],
        ['{"path":"/srv/a","deep":{"list":[1,2,{"x":100}]},"big":1e400,"a/b":1}', '/params/arguments/a~1b'],
        ['{}', '/params/arguments/big'],
    ];

    for (const [args, path] of cases) {
        const { status, json } = await fulfil('caller', 'exact', id, call(args));
        assert.deepEqual([status, json.error, json.path, json.field], [409, 'argument_mismatch', path, 'payload'], args);
        assert.match(json.detail, new RegExp(`${path}$`));
    }
    const twice = await fulfil('caller', 'exact', id, call('{"path":"/srv/a","path":"/srv/a","deep":{"list":[1,2,{"x":100}]},"big":1e400}'));
    assert.deepEqual([twice.status, twice.json.error], [422, 'kind_payload_mismatch']);
    const other = await fulfil('caller', 'exact', id, call(proposed, 'fill'));
    assert.deepEqual([other.status, other.json.error], [422, 'kind_payload_mismatch'], 'payloads are checked strictly');
    const same = await fulfil('caller', 'exact', id, call('{ "big":10e399, "deep":{"list":[1.0,2,{"x":1e2}]}, "p\\u0061th":"/srv/a" }'));
    assert.equal(same.status, 200, JSON.stringify(same.json));
    const again = await fulfil('caller', 'exact', id, call(proposed));
    assert.deepEqual([again.json.error, again.json.state], ['proposal_state', 'fulfilled']);
});

test('exact: what could never be fulfilled is not proposed', async () => {
    for (const payload of [call('{"a":1,"a":1}'), call('{}', 'fill'), '{"params":{"name":"dig"}}']) {
        const { status, json } = await post('agent', 'exact', text('agent', 'mcp/proposal:tools/call:dig', {}, payload));
        assert.deepEqual([status, json.error], [422, 'kind_payload_mismatch'], payload);
    }
});

test('edited: a human who may approve changes it, and everybody hears what', async () => {
    const agent = await gateway.join('agent', { topic: 'exact' });
    const id = await propose('exact', call('{"keep":1,"drop":true,"text":"a"}'));
    const changed = call('{"keep":1.0,"text":"b","more":[1]}');

    for (const from of ['caller', 'bot']) {
        const { status, json } = await fulfil(from, 'exact', id, changed, { edited: true });
        assert.deepEqual([status, json.error, json.state], [409, 'proposal_state', 'open'], from);
    }
    for (const edited of ['yes', 1, null]) {
        const { status, json } = await fulfil('human', 'exact', id, changed, { edited });
        assert.deepEqual([status, json.error, json.field], [400, 'malformed_envelope', 'edited']);
    }
    assert.equal((await fulfil('human', 'exact', id, changed, { edited: false })).json.error, 'argument_mismatch');
    assert.equal((await fulfil('human', 'exact', id, changed, { edited: true })).status, 200);
    const told = await expect(agent, ({ kind }) => kind === 'system/proposal');
    assert.deepEqual(told.payload, {
        proposal: id, state: 'fulfilled', proposer: 'agent', kind: 'mcp/proposal:tools/call:dig', by: 'human',
        edited: [{ path: '/params/arguments/drop', from: true }, { path: '/params/arguments/more', to: [1] },
            { path: '/params/arguments/text', from: 'a', to: 'b' }],
    });
    assert.equal(told.correlation_id, id);
    let record; // it is written behind what is said
    while (!record) {
        const { status, json } = await gateway.request('GET /admin/audit?topic=exact&kind=system/proposal', { token: 'boss-token' });
        assert.equal(status, 200);
        record = json.records.find((one) => one.id === told.id);
    }
    assert.deepEqual(record.body.payload.edited, told.payload.edited);
    await agent.close();
});

test('edited: not where several must approve', async () => {
    const id = await propose('two', call('{}'));
    const { status, json } = await fulfil('human', 'two', id, call('{"x":1}'), { edited: true });

    assert.deepEqual([status, json.error, json.state], [409, 'proposal_state', 'open']);
    assert.match(json.detail, /propose it anew/);
});
