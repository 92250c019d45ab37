// SPDX-License-Identifier: Apache-2.0
// Teams in PostgreSQL outlast a crash as they do in SQLite.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { person, startGateway } from './gateway.mjs';
import { missing, startPostgres } from './postgres.mjs';

test('teams in PostgreSQL: they outlast a crash, and so does their end', { skip: missing }, async () => {
    const postgres = await startPostgres();
    let gateway = await startGateway({
        store: postgres.url,
        tokens: [person('lead', { capabilities: ['team/create', 'chat'] }), person('ann', { capabilities: [] })],
    });

    try {
        const token = 'lead-token';
        await gateway.request('PUT /admin/resources/r-ann', { token: gateway.adminToken(), json: { kind: 'human', name: 'Ann', participant: 'ann' } });
        const [team, gone] = await Promise.all(['A', 'B'].map(async (name) =>
            (await gateway.request('POST /teams', { token, json: { name, resources: ['r-ann'] } })).json));
        assert.equal((await gateway.request(`DELETE /teams/${gone.team_id}`, { token })).status, 200);
        await gateway.kill();
        gateway = await gateway.restart();
        const ann = await gateway.join('ann', { topic: team.topic });
        assert.deepEqual(ann.welcome.payload.you.capabilities, ['chat']);
        assert.equal((await gateway.refusal('ann', { topic: gone.topic })).status, 404);
        await ann.close();
    } finally {
        await gateway.stop();
        await postgres.remove();
    }
});
