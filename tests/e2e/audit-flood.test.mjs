// SPDX-License-Identifier: Apache-2.0
// What is refused before any limit of its own applies fills neither the disk nor the queue: so many
// a second are recorded, the others are counted, and no room hears of a gap that is not its own.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';

import { readRecord, recorded } from './audit.mjs';
import { envelope, patience, people, startGateway } from './gateway.mjs';

const many = 2500;
const most = (since) => 1000 + (100 * (Date.now() - since)) / 1000; // the burst, and what comes on top meanwhile
const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
const config = { tokens: people('alice', 'eve'), limits: { rate_messages: '1/s' } };

let gateway;

before(async () => {
    gateway = await startGateway(config, { workers: 1 });
});

after(async () => {
    agent.destroy();
    await gateway.stop();
});

async function flood(line, options) {
    const statuses = await Promise.all(Array.from({ length: many }, () => gateway.request(line, { agent, ...options }).then(({ status }) => status)));

    return (wanted) => statuses.filter((status) => status === wanted).length;
}

const dropped = (records) => records.filter(({ event }) => event === 'drop').reduce((sum, { body }) => sum + body.dropped, 0);

// Once the flood is over: every request is a record, or counted.
async function settled(matches, total, before) {
    for (const end = Date.now() + patience; ;) {
        const { records } = await readRecord(gateway.data);
        const count = records.filter(matches).length;
        const gap = dropped(records) - before;

        if (count + gap >= total || Date.now() > end) {
            assert.equal(count + gap, total);
            return { count, records };
        }
    }
}

for (const [who, line, options, status, matches] of [
    ['strangers', 'POST /session', { body: 'no ticket' }, 400, ({ kind }) => kind === 'session.create'],
    ['posts that nobody judges', 'POST /topics/room/messages', { token: 'eve-token', body: 'x'.repeat(30_000), headers: { 'Content-Type': 'text/plain' } },
        415, ({ verdict }) => verdict === 'unsupported_media_type'],
    ['posts that come too fast', 'POST /topics/room/messages', { token: 'eve-token', json: envelope('eve', 'chat', { payload: { text: 'x'.repeat(30_000) } }) },
        429, ({ verdict }) => verdict === 'rate_limited'],
])
    test(`${who} are recorded up to a rate, and counted beyond it`, async () => {
        const started = Date.now();
        const before = dropped((await readRecord(gateway.data)).records);
        const alice = await gateway.join('alice', { topic: 'room' });
        const refused = (await flood(line, options))(status);
        assert.ok(refused > many / 2, `${refused}`);
        const { count, records } = await settled(matches, refused, before);
        assert.ok(count <= most(started), `${count} records`);
        for (const record of records.filter(matches))
            assert.ok(record.body_bytes === undefined || record.body_bytes < 5000, JSON.stringify(record).slice(0, 200));
        assert.ok(!alice.frames.some(({ json }) => json.kind === 'system/notice'));
        await alice.close();
    });

test('what is not UTF-8 is nowhere in the record', async () => {
    const bad = Buffer.from(JSON.stringify(envelope('alice', 'chat')).replace('alice-', '\u00ff-'), 'latin1');
    assert.equal((await gateway.request('POST /topics/room/messages', { token: 'alice-token', body: bad, headers: { 'Content-Type': 'application/json' } })).status, 400);
    const record = await recorded(gateway, ({ event, participant }) => event === 'refusal' && participant === 'alice');
    assert.deepEqual([record.id, record.body], [undefined, undefined]);
});
