// SPDX-License-Identifier: Apache-2.0
// D10: what is delivered is what was sent, byte for byte.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { expect, people, startGateway, within } from './gateway.mjs';

let gateway;
const clients = {};

before(async () => {
    gateway = await startGateway({ limits: { rate_bytes: '64MiB/s' }, tokens: people('alice', 'plain', 'packed', 'directed', 'poller') });
    clients.plain = await gateway.join('plain', { ws: { perMessageDeflate: false } });
    clients.packed = await gateway.join('packed', { ws: { perMessageDeflate: true } });
    clients.directed = await gateway.join('directed', { routing: 'directed' });
    clients.alice = await gateway.join('alice');
    await gateway.request('GET /topics/room/messages', { token: 'poller-token' }); // is known from here on
    for (const client of Object.values(clients).slice(0, 3))
        await expect(client, (json) => json.payload.participant?.id === 'alice');
});
after(async () => { await gateway.stop(); });

let count = 0;
const base = (payload = '{}', more = '') =>
    `{"protocol":"mcpx/v0.1","id":"b-${++count}","from":"alice","kind":"chat","payload":${payload}${more}}`;
const cases = {
    'odd white space': () => base().replaceAll(',', ' ,\r\n\t ').replaceAll(':"', ' : "') + '\n\n',
    'another order of names': () => `{"payload":{"z":1,"a":2},"x":0,"kind":"chat","from":"alice","id":"b-${++count}","protocol":"mcpx/v0.1"}`,
    'numbers that no double holds': () => base('{"a":1e400,"b":1.0,"c":-0,"d":12345678901234567890123,"e":0.1000,"f":1E+2,"g":-0.0e-0}'),
    'escapes of every sort': () => base('{"t":"\\/\\b\\f\\n\\r\\t\\"\\\\\\u0041\\u00e9\\ud83d\\ude00\\u0000"}'),
    'escapes in known values': () => base().replace('"chat"', '"\\u0063h\\u0061t"').replace('mcpx/', 'mcpx\\/'),
    'unknown fields': () => base('{}', ',"":null,"moot":{"kind":"x"},"x-y":[[],[[]]],"ünï":"çödé"'),
    'characters of every length': () => base('{"t":"a é € 😀 \u2028\u2029\u007f\ufeff\uffff"}'),
    'combining characters, not normalised': () => base('{"a":"e\u0301","b":"\u00e9","c":"\u212b"}'),
    'names given twice in the payload': () => base('{"a":1,"a":2,"a":1}'),
    'deep nesting': () => base(`{"a":${'['.repeat(120)}${']'.repeat(120)}}`),
    'text of 125 bytes': () => pad(125),
    'text of 126 bytes': () => pad(126),
    'text of 65535 bytes': () => pad(65535),
    'text of 65536 bytes': () => pad(65536),
    'text of 1 MiB': () => pad(1 << 20),
};

// Text that does not compress away.
function pad(size) {
    const empty = base('{"t":""}');
    let filler = '';
    for (let i = 1; filler.length < size; i++)
        filler += (i * 2654435761 % 4294967296).toString(36);
    return empty.replace('"t":""', `"t":"${filler.slice(0, size - empty.length)}"`);
}

for (const [name, make] of Object.entries(cases))
    test(`D10: ${name} arrive unchanged, on every sort of connection`, async () => {
        const text = make();
        clients.alice.send(text);
        for (const client of Object.values(clients)) {
            await client.next();
            assert.ok(client.latest.text === text, `${client.id} got other bytes`);
        }
    });

test('D10: what was posted arrives unchanged, and is read unchanged', async () => {
    for (const [name, make] of Object.entries(cases).slice(0, 9)) {
        const text = make();
        const [last] = clients.plain.frames.slice(-1);
        assert.equal((await gateway.post('alice-token', 'room', text)).status, 200, name);
        for (const client of Object.values(clients)) {
            await client.next();
            assert.ok(client.latest.text === text, `${client.id}: ${name}`);
        }
        const page = await gateway.request(`GET /topics/room/messages?after=${last.json.id}`, { token: 'poller-token' });
        assert.ok(page.text.includes(text), name);
    }
});

test('D10: many senders, one order, the same for all', async () => {
    const each = 100;
    const senders = Object.values(clients);

    for (let i = 0; i < each; i++)
        for (const sender of senders)
            sender.chat(`${sender.id} ${i}`);
    const seen = await within(Promise.all(senders.map(async (client) => {
        const ids = [];
        while (ids.length < each * senders.length)
            ids.push((await client.next()).id);
        return ids;
    })), 'all to arrive');
    for (const ids of seen)
        assert.deepEqual(ids, seen[0]);
    for (const sender of senders) {
        const own = seen[0].filter((id) => id.startsWith(`${sender.id}-`));
        assert.deepEqual(own, [...own].sort((a, b) => Number(a.split('-').at(-1)) - Number(b.split('-').at(-1))));
    }
});
