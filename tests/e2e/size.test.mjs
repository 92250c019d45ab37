// SPDX-License-Identifier: Apache-2.0
// D12: how large and how deep an envelope may be.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { envelope, expect, people, startGateway } from './gateway.mjs';

const configs = {
    default: { config: {}, bytes: 1 << 20, depth: 128 },
    configured: { config: { envelope: '2KiB', depth: 5, fragments: 8, body: '4KiB' }, bytes: 2048, depth: 5 },
};

function ofSize(bytes) {
    const text = JSON.stringify(envelope('alice', 'chat', { payload: { text: '' } }));
    return text.replace('"text":""', `"text":"${'x'.repeat(bytes - text.length)}"`);
}

// The envelope and its payload are two levels.
const ofDepth = (depth) => JSON.stringify(envelope('alice')).replace('{}',
    `{"a":${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}`);

for (const [name, { config, bytes, depth }] of Object.entries(configs)) {
    let gateway;
    let alice;
    let witness;

    test(`D12: limits, ${name}`, async (t) => {
        gateway = await startGateway({ limits: config, tokens: people('alice', 'witness') });
        witness = await gateway.join('witness');
        alice = await gateway.join('alice');
        await expect(witness, (json) => json.payload.participant?.id === 'alice');

        await t.test('D12: the welcome tells the limits', () => {
            const { limits } = alice.welcome.payload.moot;
            assert.deepEqual([limits.envelope_bytes, limits.depth], [bytes, depth]);
        });
        await t.test('D12: an envelope of exactly the limit passes, at both doors', async () => {
            const text = ofSize(bytes);
            alice.send(text);
            await witness.next();
            assert.ok(witness.latest.text === text);
            assert.equal((await gateway.post('alice-token', 'room', ofSize(bytes))).status, 200);
            await witness.next();
        });
        await t.test('D12: one byte more is 413 too_large at the HTTP door', async () => {
            const answer = await gateway.post('alice-token', 'room', ofSize(bytes + 1));
            assert.deepEqual([answer.status, answer.json.error], [413, 'too_large']);
        });
        await t.test('D12: the deepest nesting passes, one level more is malformed_envelope', async () => {
            alice.send(ofDepth(depth));
            await witness.next();
            assert.equal((await gateway.post('alice-token', 'room', ofDepth(depth))).status, 200);
            await witness.next();
            const sent = ofDepth(depth + 1);
            alice.send(sent);
            const error = await expect(alice, (json) => json.kind === 'system/error');
            assert.equal(error.payload.error, 'malformed_envelope');
            assert.equal(error.correlation_id, JSON.parse(sent).id);
            const answer = await gateway.post('alice-token', 'room', ofDepth(depth + 1));
            assert.deepEqual([answer.status, answer.json.error], [400, 'malformed_envelope']);
            alice.send('['.repeat(bytes));
            assert.equal((await expect(alice, (json) => json.kind === 'system/error')).payload.error, 'malformed_envelope');
        });
        await t.test('D12: one byte more closes the WebSocket with 1009, whole, in fragments and compressed', async () => {
            const send = [
                (socket, text) => socket.send(text),
                (socket, text) => {
                    socket.send(text.slice(0, 100), { fin: false });
                    socket.send(text.slice(100), { fin: true });
                },
            ];
            for (const perMessageDeflate of [false, true])
                for (const how of send) {
                    const one = await gateway.join('alice', { topic: 'large', ws: { perMessageDeflate } });
                    how(one.socket, ofSize(bytes + 1));
                    assert.equal((await one.closed()).code, 1009);
                }
        });
        await t.test('D12: nobody noticed', async () => {
            const { id } = witness.chat();
            assert.equal((await witness.next()).id, id);
        });
        await gateway.stop();
    });
}

test('D12: more fragments than allowed close the connection, as many as allowed do not', async () => {
    const gateway = await startGateway({ limits: { fragments: 8 }, tokens: people('alice') });
    const send = (client, text, pieces) => {
        for (let i = 0; i < pieces; i++)
            client.socket.send(i === pieces - 1 ? text.slice(i) : text[i], { fin: i === pieces - 1 });
    };
    const alice = await gateway.join('alice');
    const sent = envelope('alice');
    send(alice, JSON.stringify(sent), 8);
    assert.equal((await alice.next()).id, sent.id);
    send(alice, JSON.stringify(envelope('alice')), 9);
    assert.ok([1008, 1009].includes((await alice.closed()).code));
    await gateway.stop();
});
