// SPDX-License-Identifier: Apache-2.0
// A second verifier, written from docs/RECORD-FORMAT.md alone: the vectors there, and the record
// of a gateway.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { readRecord, recorded } from './audit.mjs';
import { people, startGateway } from './gateway.mjs';

const EVENTS = ['envelope', 'refusal', 'presence', 'connect', 'disconnect', 'grant', 'admin', 'config', 'server', 'drop', 'retention'];
const TEXTS = ['topic', 'participant', 'kind', 'id', 'correlation_id', 'verdict', 'by'];

const sha256 = (...parts) => crypto.createHash('sha256').update(Buffer.concat(parts.map((part) => Buffer.from(part)))).digest();
const u32 = (number) => { const bytes = Buffer.alloc(4); bytes.writeUInt32BE(number); return bytes; };
const u64 = (number) => { const bytes = Buffer.alloc(8); bytes.writeBigUInt64BE(BigInt(number)); return bytes; };
const begin = (installation) => sha256('moot audit 1\n', installation);

const hashOf = (before, record) => sha256(before, u64(record.seq), u64(Date.parse(record.at)), [EVENTS.indexOf(record.event)],
    ...TEXTS.flatMap((name) => { const text = Buffer.from(record[name] ?? ''); return [u32(text.length), text]; }),
    u32(record.body_bytes ?? 0), Buffer.from(record.body_hash ?? '0'.repeat(64), 'hex'));

const signedText = (installation, seq, at, hash) => Buffer.concat([Buffer.from(`moot checkpoint 1\n${installation}\n`), u64(seq), u64(at), hash]);

let gateway;

before(async () => { gateway = await startGateway({ tokens: people('alice') }); });
after(() => gateway.stop());

test('the vectors are what the text says', () => {
    const text = fs.readFileSync(new URL('../../docs/RECORD-FORMAT.md', import.meta.url), 'utf8');
    const vector = (name) => new RegExp(`^    ${name.replace(/[()]/g, '\\$&')} +([0-9a-f]+)(?:\n +([0-9a-f]{64})\n)?`, 'm').exec(text).slice(1).join('');
    const installation = vector('installation');
    const body = '{"payload":{"text":"hi"}}';
    const first = { seq: 1, at: '2025-11-15T18:00:00.000Z', event: 'server', kind: 'start', verdict: 'allowed' };
    const second = {
        seq: 2, at: '2025-11-15T18:00:00.001Z', event: 'envelope', topic: 'room', participant: 'ann', kind: 'chat', id: '\u00fc1',
        correlation_id: 'c0', verdict: 'allowed', by: 'chat', body_bytes: body.length, body_hash: sha256(body).toString('hex'),
    };
    const hashes = [begin(installation)];

    hashes.push(hashOf(hashes[0], first));
    hashes.push(hashOf(hashes[1], second));
    hashes.forEach((hash, i) => assert.equal(hash.toString('hex'), vector(`hash(${i})`)));
    const key = crypto.createPrivateKey({
        key: Buffer.from(`302e020100300506032b657004220420${vector('secret key')}`, 'hex'), format: 'der', type: 'pkcs8',
    });
    assert.equal(crypto.sign(null, signedText(installation, 2, 1763229600001, hashes[2]), key).toString('hex'), vector('signature'));
});

test('the record of a gateway verifies', async () => {
    const alice = await gateway.join('alice');
    const said = alice.chat('h\u00e9llo \u{1f600}');
    await recorded(gateway, (record) => record.id === said.id);
    const origin = JSON.parse(fs.readFileSync(path.join(gateway.data, 'audit.pub'), 'utf8'));
    const { records } = await readRecord(gateway.data);
    let hash = begin(origin.installation);

    records.forEach((record, i) => {
        assert.equal(record.seq, i + 1);
        hash = hashOf(hash, record);
        assert.equal(hash.toString('hex'), record.hash);
    });
    const chat = records.find((record) => record.id === said.id);
    assert.equal(sha256(JSON.stringify(chat.body)).toString('hex'), chat.body_hash);
    assert.equal(Buffer.from(origin.public_key, 'base64').length, 32);
});
