// SPDX-License-Identifier: Apache-2.0
// What is read back for people, with PostgreSQL as the store: decisions, dry runs of rules, verifying, settings.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, person, startGateway } from './gateway.mjs';
import { missing, startPostgres } from './postgres.mjs';
import { until } from './processes.mjs';

let postgres, gateway;

before(async () => {
    if (missing)
        return;
    postgres = await startPostgres();
    gateway = await startGateway({
        store: postgres.url,
        tokens: [person('ann', { profile: 'human' }), person('root', { profile: 'admin' }), person('bot', { capabilities: ['mcp/proposal:*'] })],
    });
}, { timeout: 120_000 });
after(async () => {
    await gateway?.stop();
    await postgres?.remove();
});

async function say(id, kind, more) {
    const sent = envelope(id, kind, more);

    assert.equal((await gateway.post(`${id}-token`, 'room', sent)).status, 200);
    return sent;
}

const payload = (path) => ({ method: 'tools/call', params: { name: 'write', arguments: { path } } });
const propose = (path) => say('bot', 'mcp/proposal:tools/call:write', { to: ['files'], payload: payload(path) });

test('decisions and dry runs are those of the record', { skip: missing }, async () => {
    const one = await propose('/srv/app/one.c');
    const two = await propose('/srv/app/two.c');

    await say('ann', 'mcp/request:tools/call:write', { to: ['files'], correlation_id: one.id, payload: one.payload });
    await say('ann', 'mcp/reject', { correlation_id: two.id, payload: { reason: 'no' } });
    let found;

    await until(async () => {
        found = (await gateway.request('GET /topics/room/decisions?method=tools/call&tool=write', { token: 'ann-token' })).json.decisions;
        return found.length === 2;
    }, () => JSON.stringify(found));
    assert.deepEqual(found.map(({ id, state, by }) => [id, state, by]), [[two.id, 'rejected', 'ann'], [one.id, 'fulfilled', 'ann']]);
    assert.deepEqual(found[0].arguments, { path: '/srv/app/two.c' });
    const rule = { proposer: 'bot', method: 'tools/call', tool: 'write', to: 'files', topic: 'room',
        arguments: { path: { under: '/srv/app', characters: 'a-z 0-9 .', max_bytes: 30, depth: 2 } } };
    const { status, json, text } = await gateway.request('POST /topics/room/rules/test', { token: 'ann-token', json: { rule } });

    assert.equal(status, 200, text);
    assert.deepEqual([json.covered, json.approved, json.rejected], [2, 1, 1]);
});

test('the record is verified, and settings outlast a restart', { skip: missing }, async () => {
    const admin = (line, json) => gateway.request(line, { token: 'root-token', ...(json ? { json } : {}) });
    const rate = async () => (await admin('GET /admin/settings')).json.settings.find((one) => one.name === 'limits.rate_messages').value;
    let found;

    assert.equal((await admin('PATCH /admin/settings', { 'limits.rate_messages': '77/s' })).status, 200);
    await gateway.kill();
    gateway = await gateway.restart();
    assert.equal(await rate(), '77/s');
    assert.equal((await admin('POST /admin/audit/verify')).status, 202);
    await until(async () => (found = (await admin('GET /admin/audit/verify')).json).state === 'done', () => JSON.stringify(found));
    assert.equal(found.holds, true, JSON.stringify(found));
    assert.ok(found.records > 4);
});
