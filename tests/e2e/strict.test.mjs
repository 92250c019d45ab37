// SPDX-License-Identifier: Apache-2.0
// D21: in a strict topic a payload must say what its kind says. The attacks are those of ADR-m3p and
// what can be made of them with escapes, names given twice, look-alikes and other types.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { envelope, expect, person, protocol, startGateway } from './gateway.mjs';

// kind, payload as text, the field at fault, what was expected there
const attacks = [
    ['mcp/request:tools/read',
        '{"method":"tools/call","params":{"name":"write_file","arguments":{"path":"/etc/passwd","content":"..."}}}',
        'payload.method', 'tools/read'],
    ['mcp/request:tools/list', '{}', 'payload.method', 'tools/list'],
    ['mcp/request:tools/list', '{"method":["tools/list"]}', 'payload.method', 'tools/list'],
    ['mcp/request:tools/list', '{"method":"tools/c\\u0061ll"}', 'payload.method', 'tools/list'],
    ['mcp/request:tools/list', '{"method":"tools/list","method":"tools/call"}', 'payload.method', 'tools/list'],
    ['mcp/request:tools/list', '{"method":"tools/list","m\\u0065thod":"tools/call"}', 'payload.method', 'tools/list'],
    ['mcp/request:tools/list', '{"method":"tools/list","Method":"tools/call"}', 'payload.method', 'tools/list'],
    ['mcp/request:tools/list', '{"params":{"method":"tools/list"}}', 'payload.method', 'tools/list'],
    ['mcp/request:tools/call:read_file', '{"method":"tools/call","params":{"name":"write_file"}}',
        'payload.params.name', 'read_file'],
    ['mcp/proposal:tools/call:read_file', '{"method":"tools/call","params":{"name":"read_file","NAME":"write_file"}}',
        'payload.params.name', 'read_file'],
    ['mcp/request:tools/call:read_file', '{"method":"tools/call","params":[{"name":"read_file"}]}', 'payload.params'],
    ['mcp/request:resources/read:file:///a', '{"method":"resources/read","params":{"name":"file:///a","uri":"file:///b"}}',
        'payload.params.uri', 'file:///a'],
    ['mcp/request:completion/complete:a',
        '{"method":"completion/complete","params":{"ref":{"type":"ref/resource","name":"a","uri":"b"}}}',
        'payload.params.ref.uri', 'a'],
    ['mcp/request:tools/list', '{"method":"tools/list","result":{}}', 'payload.result'],
    ['mcp/response:tools/list', '{"method":"tools/call","result":{}}', 'payload.method'],
    ['mcp/response:tools/list', '{"result":{},"error":{}}', 'payload'],
    ['mcp/response:tools/list', '{}', 'payload'],
];
const honest = [
    ['mcp/request:tools/list', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
    ['mcp/request:tools/call:read_file', '{"m\\u0065thod":"tools\\/call","params":{"name":"read\\u005ffile"}}'],
    ['mcp/request:resources/read:file:///a', '{"method":"resources/read","params":{"uri":"file:///a"}}'],
    ['mcp/request:completion/complete:a', '{"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"a"}}}'],
    ['mcp/response:tools/list', '{"result":null}'],
    ['chat', '{"method":"x","method":"y"}'],
];
let count = 0;
let gateway;

const textOf = (from, kind, payload) => `{"protocol":"${protocol}","id":"t-${++count}","from":"${from}","kind":"${kind}",`
    + `${kind.startsWith('mcp/response') ? '"correlation_id":"none",' : ''}"payload":${payload}}`;

const config = (validation) => ({
    topics: { named: { safe: { validation }, easy: {} } },
    tokens: [person('witness'), person('eve', { capabilities: ['mcp/*', 'chat'] }), person('boss', { profile: 'admin' })],
});

before(async () => { gateway = await startGateway(config('strict')); });
after(() => gateway.stop());

async function meet(topic) {
    const witness = await gateway.join('witness', { topic });
    const eve = await gateway.join('eve', { topic });
    await expect(witness, (json) => json.payload.participant?.id === 'eve');
    return { witness, eve };
}

test('D21: a strict topic refuses what says one thing and asks for another, at both doors', async () => {
    const { witness, eve } = await meet('safe');
    assert.equal(eve.welcome.payload.moot.validation, 'strict');
    for (const [kind, payload, field, expected] of attacks) {
        eve.send(textOf('eve', kind, payload));
        const { payload: error } = await eve.next();
        assert.deepEqual([error.error, error.field, error.expected], ['kind_payload_mismatch', field, expected], `${kind} ${payload}`);
        const posted = await gateway.post('eve-token', 'safe', textOf('eve', kind, payload));
        assert.deepEqual([posted.status, posted.json.error, posted.json.field, posted.json.expected],
            [422, 'kind_payload_mismatch', field, expected]);
    }
    for (const [kind, payload] of honest) {
        const text = eve.send(textOf('eve', kind, payload));
        await witness.next();
        assert.equal(witness.latest.text, text);
        await eve.next();
    }
    await Promise.all([witness.close(), eve.close()]);
});

test('D21: a lazy topic delivers the same byte for byte', async () => {
    const { witness, eve } = await meet('easy');
    assert.equal(eve.welcome.payload.moot.validation, 'lazy');
    for (const [kind, payload] of [...attacks, ...honest]) {
        const text = eve.send(textOf('eve', kind, payload));
        await witness.next();
        assert.equal(witness.latest.text, text);
    }
    await Promise.all([witness.close(), eve.close()]);
});

test('D21: a reload makes a topic lazy, and strict again, and tells the room', async () => {
    const { witness, eve } = await meet('safe');
    const reload = async (validation) => {
        fs.writeFileSync(gateway.config, JSON.stringify(config(validation)));
        assert.equal((await gateway.request('POST /admin/reload', { token: 'boss-token' })).status, 200);
    };
    const spoof = () => eve.send(envelope('eve', 'mcp/request:tools/list', { payload: { method: 'tools/call' } }));

    const told = async (validation) => {
        for (const client of [witness, eve]) {
            const { kind, payload } = await client.next();
            assert.deepEqual([kind, payload.notice, payload.validation], ['system/notice', 'validation', validation]);
        }
    };

    await reload('lazy');
    await told('lazy');
    const { id } = spoof();
    await expect(witness, (json) => json.id === id);
    await eve.next();
    await reload('lazy');
    await reload('strict');
    await told('strict');
    spoof();
    assert.equal((await eve.next()).payload.error, 'kind_payload_mismatch');
    await Promise.all([witness.close(), eve.close()]);
});

test('D21: a lazy topic refuses the same while a dotted member is present, and no longer when it has left', async () => {
    const { witness, eve } = await meet('dots');
    const reader = await gateway.join('boss', { topic: 'dots', dialect: 'dotted' });

    await expect(eve, ({ payload }) => payload.notice === 'validation');
    for (const [kind, payload, field] of attacks) {
        const text = eve.send(textOf('eve', kind, payload));
        const { correlation_id: id, payload: error } = await expect(eve, (json) => json.kind === 'system/error');
        assert.deepEqual([id, error.error, error.field], [JSON.parse(text).id, 'kind_payload_mismatch', field]);
    }
    await reader.close();
    await expect(eve, ({ payload }) => payload.validation === 'lazy');
    assert.ok(reader.frames.every(({ json }) => json.from !== 'eve'), 'nothing of it was seen');
    await expect(witness, ({ payload }) => payload.validation === 'lazy');
    await expect(witness, ({ payload }) => payload.event === 'leave');
    await expect(eve, ({ payload }) => payload.event === 'leave');
    for (const [kind, payload] of attacks) {
        const text = eve.send(textOf('eve', kind, payload));
        await witness.next();
        assert.equal(witness.latest.text, text);
    }
    await Promise.all([witness.close(), eve.close()]);
});
