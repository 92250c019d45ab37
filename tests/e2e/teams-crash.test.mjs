// SPDX-License-Identifier: Apache-2.0
// Teams that end while people talk in them, twice at once, and while the gateway is killed: nothing is half done, with
// either engine of the store.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { expect, person, startGateway } from './gateway.mjs';
import { missing, startPostgres } from './postgres.mjs';

const token = 'lead-token';

async function start(more) {
    const gateway = await startGateway({
        tokens: [person('lead', { capabilities: ['team/create', 'chat'] }), person('ann', { capabilities: [] })],
        ...more,
    }, { workers: 2 });

    await gateway.request('PUT /admin/resources/r-ann', { token: gateway.adminToken(), json: { kind: 'human', name: 'Ann', participant: 'ann' } });
    return gateway;
}
const create = (gateway) => gateway.request('POST /teams', { token, json: { name: 'T', resources: ['r-ann'] } });
const dissolve = (gateway, id) => gateway.request(`DELETE /teams/${id}`, { token });

async function endUnderLoad(gateway) {
    const { json: { team_id: id, topic } } = await create(gateway);
    const ann = await gateway.join('ann', { topic });
    const lead = await gateway.join('lead', { topic });
    const talking = [];
    const talk = (client) => new Promise((resolve) => {
        talking.push((async () => {
            for (let i = 0; !client.ending; i++) {
                if (i === 5)
                    resolve();
                client.chat(`${client.id} ${i}`);
                await expect(client, ({ payload }) => payload?.text === `${client.id} ${i}`);
            }
        })().catch(() => {})); // closed meanwhile
    });

    await Promise.all([ann, lead].map(talk));
    const ends = await Promise.all(Array.from({ length: 4 }, () => dissolve(gateway, id)));
    assert.deepEqual(ends.map(({ status }) => status).sort(), [200, 409, 409, 409]);
    for (const client of [ann, lead]) {
        assert.equal((await client.closed()).code, 4003);
        const told = client.frames.filter(({ json }) => json.payload?.notice === 'team_dissolved');
        assert.equal(told.length, 1);
        // After the notice nobody is heard any more.
        const behind = client.frames.slice(client.frames.indexOf(told[0]));
        assert.deepEqual(behind.filter(({ json }) => json.kind === 'chat'), []);
    }
    await Promise.all(talking);
    const { status } = await gateway.request(`POST /topics/${topic}/messages`, { token, json: {} });
    assert.equal(status, 404);
}

// What was answered has happened; what was not has happened whole, or not at all.
async function checkWhole(gateway, ended) {
    const admin = gateway.adminToken();
    const { json: { teams } } = await gateway.request('GET /admin/teams?limit=1000', { token: admin });
    const { json: { rights } } = await gateway.request('GET /admin/participants/ann/grants', { token: admin });
    const granted = new Set(rights.filter(({ grants }) => grants.length).map(({ topic }) => topic));

    for (const { team_id: id, topic, state } of teams) {
        assert.equal(granted.delete(topic), state === 'active', `${id} ${state}`);
        assert.ok(state === 'dissolved' || !ended.has(id), id);
    }
    assert.deepEqual([...granted], [], 'rights in topics without a team');
    return teams.length;
}

async function killInTheMiddle(gateway) {
    const ended = new Set();
    let made = 0;

    for (const after of [3, 11, 25]) {
        const first = (await Promise.all(Array.from({ length: 20 }, () => create(gateway)))).map(({ json }) => json.team_id);
        let answers = 0;
        made += first.length;
        const killed = new Promise((resolve) => {
            const note = (act) => act.then(({ status, json }) => {
                assert.ok(status < 300);
                if (json.state === 'dissolved')
                    ended.add(json.team_id);
                else
                    made++;
                if (++answers === after)
                    resolve(gateway.kill());
            }).catch(() => {});

            for (const id of first)
                note(Promise.all([dissolve(gateway, id), create(gateway).then((one) => { note(Promise.resolve(one)); })]).then(([one]) => one));
        });

        await killed;
        gateway = await gateway.restart();
        assert.ok(await checkWhole(gateway, ended) >= made);
    }
    return gateway;
}

for (const [engine, skip] of [['SQLite', false], ['PostgreSQL', missing]])
    test(`teams in ${engine}: they end under load, and in the middle of a crash, whole or not at all`, { skip }, async () => {
        const postgres = engine === 'PostgreSQL' ? await startPostgres() : null;
        let gateway = await start(postgres ? { store: postgres.url } : {});

        try {
            await endUnderLoad(gateway);
            gateway = await killInTheMiddle(gateway);
        } finally {
            await gateway.stop();
            await postgres?.remove();
        }
    });
