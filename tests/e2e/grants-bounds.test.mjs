// SPDX-License-Identifier: Apache-2.0
// Grants and strikes are bounded, and nobody gains anything by filling what there is.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [
            person('boss', { profile: 'admin' }),
            person('lead', { capabilities: ['capability/*', 'mcp/*', 'chat'] }),
            person('rogue', { capabilities: ['chat', 'mcp/*', 'capability/*'] }),
        ],
    });
});
after(() => gateway.stop());

const post = (who, topic, kind, payload) => gateway.post(`${who}-token`, topic, envelope(who, kind, { payload }));
const change = (id, topic, json) =>
    gateway.request(`POST /admin/participants/${id}/capabilities?topic=${topic}`, { token: 'boss-token', json });
const many = (round, pattern) => Array.from({ length: 64 }, (_, i) => `${pattern}${round}-${i}`);

async function fill(who, topic, kind, recipient, pattern) {
    for (let round = 0; round < 16; round++) {
        const { status, text } = await post(who, topic, kind, { recipient, capabilities: many(round, pattern) });
        assert.equal(status, 200, text);
    }
}

test('whoever fills its record with strikes is revoked all the same, in the room and by the administrator', async () => {
    for (const [topic, take] of [
        ['by-lead', () => post('lead', 'by-lead', 'capability/revoke', { recipient: 'rogue', capabilities: ['mcp/*'] })],
        ['by-revoke', () => change('rogue', 'by-revoke', { revoke: ['mcp/*'] })],
        ['by-remove', () => change('rogue', 'by-remove', { remove: ['mcp/*'] })],
    ]) {
        await fill('rogue', topic, 'capability/revoke', 'rogue', 'mcp/request:zz/');
        assert.equal((await post('rogue', topic, 'mcp/request:tools/call', {})).status, 200);
        const { status, text } = await take();
        assert.equal(status, 200, text);
        assert.equal((await post('rogue', topic, 'mcp/request:tools/call', {})).json.error, 'capability_violation');
    }
});

test('grants of participants leave room for what the administrator adds', async () => {
    await fill('lead', 'full', 'capability/grant', 'rogue', 'mcp/request:yy/');
    assert.equal((await post('lead', 'full', 'capability/grant', { recipient: 'rogue', capabilities: ['chat'] })).status, 503);
    const { status, text, json } = await change('rogue', 'full', { add: ['x/y'] });
    assert.equal(status, 200, text);
    assert.ok(json.newCapabilities.includes('x/y'));
    const rogue = await gateway.join('rogue', { topic: 'full' });
    const { id } = rogue.send(envelope('rogue', 'x/y'));
    assert.equal((await expect(rogue, (one) => one.id === id || one.correlation_id === id)).kind, 'x/y');
});

test('of two changes at once the second one is decided by what the first has done', async () => {
    const patterns = (name) => Array.from({ length: 600 }, (_, i) => `${name}/${i}`);

    for (let round = 0; round < 10; round++) {
        const everywhere = (json) => gateway.request('POST /admin/participants/lead/capabilities', { token: 'boss-token', json });
        const answers = await Promise.all(['a', 'b', 'c'].map((name) => everywhere({ add: patterns(name) })));
        assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 413, 413]);
        const added = answers.find(({ status }) => status === 200).json.newCapabilities;
        for (const topic of ['one', 'two', 'three', 'four']) {
            const lead = await gateway.join('lead', { topic });
            assert.deepEqual(lead.welcome.payload.you.capabilities, added, 'on every worker');
            await lead.close();
        }
        assert.equal((await everywhere({ revoke: ['a/*', 'b/*', 'c/*'] })).status, 200);
    }
});

test('what takes nothing from anybody is not kept', async () => {
    const strikes = async () => {
        const { json } = await gateway.request('GET /admin/participants/lead/grants?topic=kept', { token: 'boss-token' });
        return json.rights.filter(({ topic }) => topic === 'kept').flatMap((record) => record.strikes.map(({ capability }) => capability));
    };

    await fill('rogue', 'kept', 'capability/revoke', 'lead', 'mcp/request:none/');
    assert.deepEqual(await strikes(), []);
    assert.equal((await post('rogue', 'kept', 'capability/revoke', { recipient: 'lead', capabilities: ['mcp/*', 'mcp/request:x'] })).status, 200);
    assert.deepEqual(await strikes(), ['mcp/*']);
    assert.equal((await post('lead', 'kept', 'mcp/request:tools/list', {})).status, 403);
});
