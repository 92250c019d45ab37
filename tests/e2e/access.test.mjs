// SPDX-License-Identifier: Apache-2.0
// Topics are public, restricted (only who names them in full, and administrators) or private (likewise, and
// for everybody else they do not exist), at every door.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { envelope, person, startGateway, within } from './gateway.mjs';

const tokens = [person('any'), person('almost', { topics: ['secret*', 'narro*', 'lobby'] }), person('named', { topics: ['secret', 'narrow', 'lobby'] }),
    person('elsewhere', { topics: ['lobby'] }), person('boss', { profile: 'admin' })];
const config = (accesses, defaults = {}) => ({
    topics: { open: false, defaults, named: Object.fromEntries(Object.entries(accesses).map(([name, access]) => [name, { access }])) },
    tokens,
});
const accesses = { lobby: 'public', narrow: 'restricted', secret: 'private' };
let gateway;

before(async () => { gateway = await startGateway(config(accesses)); });
after(() => gateway.stop());

const doors = {
    ws: async (id, topic) => {
        try {
            await (await gateway.join(id, { topic })).close();
            return { status: 200 };
        } catch {
            return gateway.refusal(id, { topic });
        }
    },
    ticket: async (id, topic) => {
        const { json } = await gateway.request('POST /ws-ticket', { token: `${id}-token` });
        try {
            await (await gateway.join(id, { topic, token: null, ticket: json.ticket })).close();
            return { status: 200 };
        } catch {
            const again = await gateway.request('POST /ws-ticket', { token: `${id}-token` });
            return gateway.refusal(id, { topic, token: null, ticket: again.json.ticket });
        }
    },
    post: (id, topic) => gateway.post(`${id}-token`, topic, envelope(id)),
    messages: (id, topic) => gateway.request(`GET /topics/${topic}/messages`, { token: `${id}-token` }),
    participants: (id, topic) => gateway.request(`GET /topics/${topic}/participants`, { token: `${id}-token` }),
    proposals: (id, topic) => gateway.request(`GET /topics/${topic}/proposals`, { token: `${id}-token` }),
};
const expected = { // id: lobby, narrow, secret
    any: [200, 403, 404],
    almost: [200, 403, 404],
    elsewhere: [200, 403, 403],
    named: [200, 200, 200],
    boss: [200, 200, 200],
};
const listed = async (id) => (await gateway.request('GET /topics', { token: `${id}-token` })).json.topics.map(({ name }) => name).sort();

test('whoever is turned away makes no topic', async () => {
    for (const knock of Object.values(doors))
        for (const topic of ['narrow', 'secret'])
            assert.ok((await knock('almost', topic)).status >= 403);
    assert.deepEqual((await gateway.request('GET /admin/topics', { token: 'boss-token' })).json.topics, []);
});

for (const [door, knock] of Object.entries(doors))
    test(`access holds at the door ${door}`, async () => {
        for (const [id, statuses] of Object.entries(expected))
            for (const [i, topic] of Object.keys(accesses).entries())
                assert.equal((await knock(id, topic)).status, statuses[i], `${id} at ${topic}`);
    });

async function reload(next, defaults) {
    fs.writeFileSync(gateway.config, JSON.stringify(config(next, defaults)));
    assert.equal((await gateway.request('POST /admin/reload', { token: 'boss-token' })).status, 200);
}

async function expectAlike(id, there, nowhere) {
    for (const [door, knock] of Object.entries(doors)) {
        const [a, b] = [await knock(id, there), await knock(id, nowhere)];
        assert.deepEqual([a.status, a.text], [b.status, b.text], `${id} at ${door}`);
        assert.deepEqual(Object.keys(a.headers).sort(), Object.keys(b.headers).sort());
    }
}

for (const access of ['public', 'restricted', 'private'])
    test(`a private topic answers like one that does not exist, where others are ${access} unless they say`, async () => {
        await reload(accesses, { access });
        await expectAlike('any', 'secret', 'nowhere');
        const member = await gateway.join('named', { topic: 'secret' });
        await expectAlike('any', 'secret', 'nowhere');
        await expectAlike('elsewhere', 'secret', 'nowhere');
        await expectAlike('almost', 'secret', 'secret-2');
        await member.close();
        await reload(accesses);
    });

test('GET /topics lists what one may enter; administrators see all', async () => {
    const members = await Promise.all(Object.keys(accesses).map((topic) => gateway.join('named', { topic })));
    assert.deepEqual(await listed('any'), ['lobby']);
    assert.deepEqual(await listed('almost'), ['lobby']);
    assert.deepEqual(await listed('named'), ['lobby', 'narrow', 'secret']);
    assert.deepEqual(await listed('boss'), ['lobby', 'narrow', 'secret']);
    const { json } = await gateway.request('GET /admin/topics', { token: 'boss-token' });
    assert.deepEqual(json.topics.map(({ name }) => name).sort(), ['lobby', 'narrow', 'secret']);
    await Promise.all(members.map((member) => member.close()));
});

test('a reload that narrows access ends those who may no longer be there, and their long polls', async () => {
    const token = (await gateway.request('POST /admin/tokens', { token: 'boss-token', json: { id: 'stored', capabilities: ['chat'] } })).json.token;
    const [any, named, stored] = [await gateway.join('any', { topic: 'lobby' }), await gateway.join('named', { topic: 'lobby' }),
        await gateway.join('stored', { topic: 'lobby', token })];
    assert.equal((await gateway.post(token, 'lobby', envelope('stored'))).status, 200);
    const { json: { last } } = await gateway.request('GET /topics/lobby/messages', { token });
    const late = gateway.request(`GET /topics/lobby/messages?after=${last}&wait=60`, { token });

    await reload({ ...accesses, lobby: 'private' });
    for (const client of [any, stored])
        assert.equal((await client.closed()).code, 1008);
    named.chat('alone');
    const answer = await within(late, 'the long poll');
    assert.deepEqual([answer.status, answer.json.error], [404, 'not_found']);
    await reload(accesses);
    await named.close();
});
