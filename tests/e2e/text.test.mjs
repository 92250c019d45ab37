// SPDX-License-Identifier: Apache-2.0
// D6: what a message must be before anybody asks what it says.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, expectOnly, people, startGateway } from './gateway.mjs';
import { frame, open } from './raw.mjs';

let gateway;
let witness;

before(async () => {
    gateway = await startGateway({ tokens: people('alice', 'witness') });
    witness = await gateway.join('witness');
});
after(async () => { await gateway.stop(); });

async function joined() {
    const alice = await gateway.join('alice');
    await expect(witness, (json) => json.payload.event === 'join');
    return alice;
}

async function left(alice) {
    await alice.close();
    const { payload } = await witness.next(); // and nothing before it
    assert.deepEqual([payload.event, payload.participant.id], ['leave', 'alice']);
}

const text = JSON.stringify(envelope('alice'));
const closing = [
    ['a binary frame', Buffer.from(text), { binary: true }, 1003],
    ['an empty binary frame', Buffer.alloc(0), { binary: true }, 1003],
    ['a lone 0xff', Buffer.from([0xff]), { binary: false }, 1007],
    ['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), { binary: false }, 1007],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), { binary: false }, 1007],
    ['a character that breaks off', Buffer.concat([Buffer.from(text), Buffer.from([0xe2, 0x82])]), { binary: false }, 1007],
    ['a code point above U+10FFFF', Buffer.from([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]), { binary: false }, 1007],
];

for (const [name, bytes, options, code] of closing)
    test(`D6: ${name} closes with ${code}`, async () => {
        const alice = await joined();
        alice.socket.send(bytes, options);
        assert.equal((await alice.closed()).code, code);
        await left(alice);
    });

test('D6: a byte that is not UTF-8 closes at once, before the message is complete', async () => {
    const peer = await open(gateway.port, { Authorization: 'Bearer alice-token' }, 'GET /ws?topic=fast HTTP/1.1');

    peer.send(frame(0x01, Buffer.from([0x7b, 0xff])));
    const all = await peer.end();
    assert.ok(all.includes(Buffer.from([1007 >> 8, 1007 & 255])), all.toString('latin1'));
    peer.close();
});

const refused = [
    ['a byte order mark', '\ufeff' + text],
    ['nothing', ''],
    ['white space', ' \n'],
    ['an array', `[${text}]`],
    ['a string', '"chat"'],
    ['a number', '1'],
    ['null', 'null'],
    ['two objects', text + text],
    ['text behind the object', text + ' x'],
    ['a comma behind the object', text + ','],
    ['NUL behind the object', text + '\0'],
    ['an object that is not closed', text.slice(0, -1)],
    ['a trailing comma', text.replace(/}$/, ',}')],
    ['a comment', text.replace('{', '{/* */')],
    ['single quotes', text.replaceAll('"', "'")],
    ['a name without quotes', text.replace('"kind"', 'kind')],
    ['NaN', text.replace(/}$/, ',"n":NaN}')],
    ['a leading zero', text.replace(/}$/, ',"n":01}')],
    ['a plus sign', text.replace(/}$/, ',"n":+1}')],
    ['a number that ends in a dot', text.replace(/}$/, ',"n":1.}')],
    ['a control character in a string', text.replace(/}$/, ',"n":"a\nb"}')],
    ['an unknown escape', text.replace(/}$/, ',"n":"\\x41"}')],
    ['a lone surrogate escape', text.replace('"alice"', '"\\ud800"')],
    ['a no-break space between tokens', text.replace(',', ',\u00a0')],
];

for (const [name, message] of refused)
    test(`D6: ${name} is malformed_envelope, and the connection goes on`, async () => {
        const alice = await joined();
        alice.send(message);
        const { payload, to, from } = await alice.next();
        assert.equal(payload.error, 'malformed_envelope');
        assert.equal(typeof payload.offset, 'number');
        assert.ok(payload.message.length > 3);
        assert.deepEqual([to, from], [['alice'], 'system:gateway']);
        await expectOnly([alice, witness], alice);
        await left(alice);
    });

test('D6: white space around the object and fragments anywhere are fine', async () => {
    const alice = await joined();
    const sent = envelope('alice', 'chat', { payload: { text: 'grüße 🙂' } });
    const bytes = Buffer.from(` \t\r\n${JSON.stringify(sent)}\n`);

    for (let i = 0; i < bytes.length; i++) // also between the bytes of one character
        alice.socket.send(bytes.subarray(i, i + 1), { binary: false, fin: i === bytes.length - 1 });
    assert.deepEqual(await witness.next(), sent);
    assert.equal(witness.latest.text, bytes.toString());
    assert.deepEqual(await alice.next(), sent);
    await left(alice);
});
