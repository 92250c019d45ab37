// SPDX-License-Identifier: Apache-2.0
// What of an envelope's body is recorded, and for how long: redaction and retention, set in the
// configuration.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { readRecord, recorded } from './audit.mjs';
import { envelope, people, person, startGateway } from './gateway.mjs';

let gateway, alice;

before(async () => {
    gateway = await startGateway({
        topics: { named: { short: { audit_bytes: '1' } } },
        audit: { redact: ['payload.**.password'] },
        tokens: [...people('alice'), person('boss', { profile: 'admin' })],
    });
    alice = await gateway.join('alice');
});

after(() => gateway.stop());

test('redaction: the record holds a keyed hash instead of the value', async () => {
    const said = alice.send(envelope('alice', 'chat', { payload: { text: 'hi', deep: [{ password: 'hunter2' }] } }));
    const { body } = await recorded(gateway, (record) => record.id === said.id);
    const key = fs.readFileSync(path.join(gateway.data, 'redact.key'));
    const hash = crypto.createHmac('sha256', Buffer.from(key.toString().trim(), 'hex')).update('hunter2').digest('hex');

    assert.equal(body.payload.text, 'hi');
    assert.equal(body.payload.deep[0].password, `hmac-sha256:${hash}`);
    for (const file of fs.readdirSync(gateway.data).filter((name) => name.includes('.db')))
        assert.ok(!fs.readFileSync(path.join(gateway.data, file)).includes('hunter2'), file);
});

test('retention: bodies go at the next start, the record says so and verifies', async () => {
    const inShort = await gateway.join('alice', { topic: 'short' });
    const said = inShort.chat('soon forgotten');
    const kept = alice.chat('kept');
    assert.ok((await recorded(gateway, (record) => record.id === said.id)).body);
    assert.ok((await recorded(gateway, (record) => record.id === kept.id)).body);

    await gateway.kill();
    gateway = await gateway.restart();
    const removal = await recorded(gateway, (record) => record.event === 'retention');
    const { records, verify } = await readRecord(gateway.data);
    const now = records.find((record) => record.id === said.id);

    assert.deepEqual([removal.topic, removal.kind, removal.body.topic, removal.body.reason], ['short', 'size', 'short', 'size']);
    assert.equal(now.body, undefined);
    assert.ok(now.body_bytes > 0 && now.body_hash.length === 64);
    assert.ok(records.find((record) => record.id === kept.id).body);
    assert.equal(verify.damaged, false, verify.what);
});

test('a lost redact.key is made anew, and the log says what that means', async () => {
    assert.doesNotMatch(gateway.stderr(), /store.redact_key/);
    await gateway.kill();
    fs.rmSync(path.join(gateway.data, 'redact.key'));
    gateway = await gateway.restart();
    await gateway.logged(/level=warn event=store.redact_key reason="redact.key was missing/);
    assert.ok(fs.existsSync(path.join(gateway.data, 'redact.key')));
});
