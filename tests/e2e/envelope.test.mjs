// SPDX-License-Identifier: Apache-2.0
// D7, D7a, D8, D9, D11: the fields of an envelope, through both doors.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, expectOnly, people, startGateway } from './gateway.mjs';

let gateway;
let alice;
let witness;

before(async () => {
    gateway = await startGateway({ tokens: people('alice', 'witness') });
    alice = await gateway.join('alice');
    witness = await gateway.join('witness');
    await expect(alice, (json) => json.payload.participant?.id === 'witness');
});
after(async () => { await gateway.stop(); });

const valid = (more, kind) => ({ ...envelope('alice', kind), ...more });
const without = (name) => { const all = valid(); delete all[name]; return all; };
const withText = (members, all = valid()) => JSON.stringify(all).replace(/}$/, `,${members}}`);
const response = 'mcp/response:tools/list';

// What is sent, the error, and the field it names; the same at both doors.
const refused = [
    ...['protocol', 'id', 'from', 'kind', 'payload'].map((name) =>
        [`D7: no ${name}`, () => without(name), 'malformed_envelope', name]),
    ...[null, 1, true, [], {}].flatMap((value) => ['protocol', 'id', 'from', 'kind'].map((name) =>
        [`D7: ${name} is ${JSON.stringify(value)}`, () => valid({ [name]: value }), 'malformed_envelope', name])),
    ...[null, 1, 'x', [], true].map((value) =>
        [`D7: payload is ${JSON.stringify(value)}`, () => valid({ payload: value }), 'malformed_envelope', 'payload']),
    ['D7: an empty id', () => valid({ id: '' }), 'malformed_envelope', 'id'],
    ['D7: an id of 257 bytes', () => valid({ id: 'x'.repeat(257) }), 'malformed_envelope', 'id'],
    ['D7: an id of 257 bytes in 129 characters', () => valid({ id: 'ä'.repeat(128) + 'x' }), 'malformed_envelope', 'id'],
    ['D7: a NUL in an id', () => valid({ id: 'a\0b' }), 'malformed_envelope', 'id'],
    ['D7: a line end in an id', () => valid({ id: 'a\nb' }), 'malformed_envelope', 'id'],
    ['D7: a kind of 2049 bytes', () => valid({ kind: 'x'.repeat(2049) }), 'malformed_envelope', 'kind'],
    ...['yesterday', '', '2025-08-26', '2025-08-26 14:00', '2025-13-26T14:00:00Z', '2025-02-30T14:00:00Z', 1, null].map((ts) =>
        [`D7: ts is ${JSON.stringify(ts)}`, () => valid({ ts }), 'malformed_envelope', 'ts']),
    ...['witness', null, {}, [''], [1], [null], [['a']], Array(1025).fill('x')].map((to) =>
        [`D7: to is ${JSON.stringify(to).slice(0, 20)}`, () => valid({ to }), 'malformed_envelope', 'to']),
    ...['', null, 1, ['a'], {}].map((one) =>
        [`D7: correlation_id is ${JSON.stringify(one)}`, () => valid({ correlation_id: one }), 'malformed_envelope', 'correlation_id']),
    ...['', null, 1, ['a'], {}, true, 'a\0b', 'x'.repeat(257)].map((rule) =>
        [`D7: rule is ${JSON.stringify(rule).slice(0, 20)}`, () => valid({ rule }), 'malformed_envelope', 'rule']),
    ...['mcp-x/v0', 'mcpx/v0', 'MCPX/V0.1', 'mcpx/v0.1 ', '', 'mcpx/v0.1\0'].map((protocol) =>
        [`D7: protocol is ${JSON.stringify(protocol)}`, () => valid({ protocol }), 'unsupported_protocol', 'protocol']),
    ...['protocol', 'id', 'from', 'kind', 'payload', 'rule', 'extra'].map((name) =>
        [`D8: ${name} is given twice`, () => withText(`"${name}":{}`, valid({ rule: 'r-1', extra: 1 })), 'malformed_envelope', name]),
    ...['Kind', 'KIND', '\uff4bind', '\u212aind', 'kind\u0000x', 'kind\u200b', 'fr\u00adom', 'FROM', 'Payload', 'I\u0064', 'Id', 'Correlation_ID', '\u24dfayload', 'To', 'tS', 'Rule', 'r\uff55le', 'rule\u200b'].map((name) =>
        [`D8: a name that only folds to a known one, ${JSON.stringify(name)}`, () => withText(`${JSON.stringify(name)}:"x"`), 'malformed_envelope']),
    ['D8: a known name with an escape', () => JSON.stringify(valid()).replace('"kind"', '"k\\u0069nd"'), 'malformed_envelope'],
    ['D8: a known name with an escape, besides the name', () => withText('"k\\u0069nd":"chat"'), 'malformed_envelope'],
    ['D8: another name given twice, once with an escape', () => withText('"other":1,"o\\u0074her":2'), 'malformed_envelope'],
    ...['witness', 'Alice', 'alice ', ' alice', 'alic', 'alice\u200b', '\uff41lice', 'system:gateway', 'system'].map((from) =>
        [`D9: from is ${JSON.stringify(from)}`, () => valid({ from }), 'from_mismatch', 'from']),
    ['D9: from is a name with NUL', () => valid({ from: 'alice\0' }), 'malformed_envelope', 'from'],
    ['D11: a response without correlation_id', () => valid({}, response), 'missing_correlation', 'correlation_id'],
    ['D11: a proposal with correlation_id', () => valid({ correlation_id: 'x' }, 'mcp/proposal:tools/call'), 'malformed_envelope', 'correlation_id'],
    ...['approve', 'withdraw', 'reject'].map((word) =>
        [`D11: mcp/${word} without correlation_id`, () => valid({}, `mcp/${word}`), 'missing_correlation', 'correlation_id']),
];

for (const [name, make, error, field] of refused)
    test(`${name} is ${error} at both doors and reaches nobody`, async () => {
        const message = make();
        const text = typeof message === 'string' ? message : JSON.stringify(message);
        alice.send(text);
        const answer = await alice.next();
        assert.deepEqual([answer.kind, answer.from, answer.to], ['system/error', 'system:gateway', ['alice']]);
        assert.equal(answer.payload.error, error);
        if (field)
            assert.equal(answer.payload.field, field);
        const posted = await gateway.post('alice-token', 'room', text);
        assert.equal(posted.json.error, error);
        assert.equal(posted.json.detail, answer.payload.message);
        assert.equal(posted.json.correlation_id, answer.correlation_id);
        await expectOnly([alice, witness], alice);
    });

test('errors name the offending id whenever it can be read', async () => {
    for (const more of [{ kind: 'nonsense!' }, { from: 'eve' }, { payload: 1 }, { protocol: 'x' }, { ts: 'x' }]) {
        const sent = alice.send(valid(more));
        assert.equal((await alice.next()).correlation_id, sent.id, JSON.stringify(more));
    }
    alice.send(withText('"id":"second"'));
    assert.equal((await alice.next()).correlation_id, undefined);
    alice.send(valid({ id: 7 }));
    assert.equal((await alice.next()).correlation_id, undefined);
    await expectOnly([alice, witness], alice);
});

const accepted = [
    ['D7: an id of 256 bytes', () => valid({ id: `${'ä'.repeat(127)}${String(Math.random()).slice(2, 4)}` })],
    ['D7: an id with spaces', () => valid({ id: 'an id with spaces' })],
    ['D7: a ts with an offset and a fraction', () => valid({ ts: '2025-08-26T14:00:00.123456+02:00' })],
    ['D7: an empty to', () => valid({ to: [] })],
    ['D7: 1024 addressees', () => valid({ to: Array(1024).fill('x') })],
    ['D7: to names nobody here', () => valid({ to: ['stranger', 'stranger'] })],
    ['D7: a correlation_id that nobody knows', () => valid({ correlation_id: 'nothing' })],
    ['D7: other fields of any sort', () => valid({ x: null, y: [{}], ext: { kind: 1, from: 2 }, kinds: 1, '': 0, fr0m: 'x' })],
    ['D8: known names again, further in', () => valid({ payload: { id: 1, kind: 2, from: 3, Kind: 4 } })],
    ['D8: names given twice further in', () => JSON.stringify(valid()).replace('{}', '{"a":1,"a":2}')],
    ['D8: values with escapes', () => JSON.stringify(valid()).replace('"chat"', '"\\u0063hat"').replace('"alice"', '"\\u0061lice"')
        .replace('mcpx/', 'mcpx\\/')],
    ['D11: a response that answers what nobody asked', () => valid({ correlation_id: 'unknown' }, response)],
];

for (const [name, make] of accepted)
    test(`${name} is accepted`, async () => {
        const message = make();
        alice.send(message);
        await witness.next();
        assert.equal(witness.latest.text, typeof message === 'string' ? message : JSON.stringify(message));
        await alice.next();
    });

test('D7a: an id that is still known is refused, whoever sends it', async () => {
    const chat = alice.chat('first');
    await alice.next();
    await witness.next();
    for (const [client, id] of [[alice, 'alice'], [witness, 'witness']]) {
        client.send({ ...chat, from: id });
        const answer = await client.next();
        assert.deepEqual([answer.payload.error, answer.correlation_id], ['duplicate_id', chat.id]);
    }
    const escaped = JSON.stringify({ ...chat }).replace(chat.id, chat.id.replace('a', '\\u0061'));
    alice.send(escaped);
    assert.equal((await alice.next()).payload.error, 'duplicate_id');
    const [presence] = witness.frames.filter(({ json }) => json.kind === 'system/presence');
    alice.send(valid({ id: presence.json.id }));
    assert.equal((await alice.next()).payload.error, 'duplicate_id');
    await expectOnly([alice, witness], alice);
});

test('D7a: posting the same bytes again is 200 and delivers nothing; other bytes are duplicate_id', async () => {
    const text = JSON.stringify(valid());
    const first = await gateway.post('alice-token', 'room', text);
    assert.deepEqual([first.status, first.json], [200, { id: JSON.parse(text).id }]);
    assert.equal((await witness.next()).id, first.json.id);
    assert.equal((await alice.next()).id, first.json.id);
    const again = await gateway.post('alice-token', 'room', text);
    assert.deepEqual([again.status, again.json], [200, first.json]);
    const changed = await gateway.post('alice-token', 'room', text + ' ');
    assert.deepEqual([changed.status, changed.json.error], [409, 'duplicate_id']);
    const other = await gateway.post('witness-token', 'room', text.replace('"alice"', '"witness"'));
    assert.deepEqual([other.status, other.json.error], [409, 'duplicate_id']);
    await expectOnly([alice, witness], alice);
});

test('D7a: an id that rolled out of the ring is still refused while its proposal or request is open', async () => {
    const small = await startGateway({ topics: { defaults: { ring_messages: 3 } }, tokens: people('alice', 'bob') });
    const one = await small.join('alice');
    const open = ['mcp/proposal:tools/call', 'mcp/request:tools/list'].map((kind) => one.send(envelope('alice', kind, { to: ['bob'] })));
    const gone = one.chat();

    for (let i = 0; i < 5; i++)
        one.chat();
    for (const { id } of open) {
        one.chat('', { id });
        const answer = await expect(one, (json) => json.kind === 'system/error');
        assert.deepEqual([answer.payload.error, answer.correlation_id], ['duplicate_id', id]);
    }
    one.chat('again', { id: gone.id });
    await expect(one, (json) => json.id === gone.id && json.payload.text === 'again');
    await small.stop();
});
