// SPDX-License-Identifier: Apache-2.0
// How many teams there may be, exactly, on several workers; and lists of them, page by page.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { person, startGateway } from './gateway.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: ['ann', 'bob', 'cleo'].map((id) => person(id, { capabilities: ['team/create', 'chat'] })),
        directory: { max_teams: 5, max_teams_each: 3 },
    }, { workers: 3 });
    await gateway.request('PUT /admin/resources/r', { token: gateway.adminToken(), json: { kind: 'human', name: 'R' } });
});
after(() => gateway?.stop());

const create = (by, resources = ['r']) => gateway.request('POST /teams', { token: `${by}-token`, json: { name: 'T', resources } });
const createMany = async (by, count) => Promise.all(Array.from({ length: count }, () => create(by)));
const list = async (query = '', token = gateway.adminToken()) => (await gateway.request(`GET /admin/teams${query}`, { token })).json;
const active = async () => (await list()).teams.filter(({ state }) => state === 'active');

test('teams: a creator has as many as he may, and no more, however fast he is', async () => {
    const answers = await createMany('ann', 20);

    assert.equal(answers.filter(({ status }) => status === 201).length, 3);
    for (const { json } of answers.filter(({ status }) => status !== 201))
        assert.match(json.detail, /You have too many teams/);
});

test('teams: all together have as many as there may be', async () => {
    const answers = (await Promise.all(['bob', 'cleo'].map((by) => createMany(by, 10)))).flat();

    assert.equal(answers.filter(({ status }) => status === 201).length, 2);
    assert.ok(answers.some(({ json }) => /There are too many teams/.test(json.detail ?? '')));
    assert.equal((await active()).length, 5);
});

test('teams: what is dissolved makes place for one, once; and what fails takes none', async () => {
    const [{ team_id: id }] = (await active()).filter(({ creator }) => creator === 'ann');
    const ends = await Promise.all(['ann', 'ann', 'ann'].map((by) => gateway.request(`DELETE /teams/${id}`, { token: `${by}-token` })));

    // Only one of them ends it.
    assert.deepEqual(ends.map(({ status }) => status).sort(), [200, 409, 409]);
    for (let i = 0; i < 3; i++)
        assert.equal((await create('cleo', ['r', 'nobody'])).status, 404);
    const answers = await createMany('cleo', 4);
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
});

test('teams: the limits hold over a crash', async () => {
    await gateway.kill();
    gateway = await gateway.restart({ workers: 2 });
    assert.equal((await active()).length, 5);
    assert.equal((await create('ann')).status, 503);
    const [one] = (await active()).filter(({ creator }) => creator === 'ann');
    assert.equal((await gateway.request(`DELETE /teams/${one.team_id}`, { token: 'ann-token' })).status, 200);
    assert.equal((await create('ann')).status, 201);
    assert.equal((await create('ann')).status, 503);
});

test('teams: they are listed by id, page by page', async () => {
    const all = (await list()).teams.map(({ team_id: id }) => id);
    const seen = [];
    let next;

    assert.deepEqual(all, [...all].sort());
    do {
        const page = await list(`?limit=2${next ? `&cursor=${next}` : ''}`);

        assert.ok(page.teams.length <= 2);
        seen.push(...page.teams.map(({ team_id: id }) => id));
        next = page.next;
    } while (next);
    assert.deepEqual(seen, all);
    const own = await gateway.request('GET /teams?limit=1', { token: 'ann-token' });
    assert.ok(own.json.teams.every(({ creator }) => creator === 'ann') && own.json.next);
    for (const query of ['?limit=0', '?limit=1001', '?limit=1&limit=1', '?cursor=x', '?cursor=', '?page=1'])
        assert.equal((await gateway.request(`GET /admin/teams${query}`, { token: gateway.adminToken() })).status, 400, query);
});
