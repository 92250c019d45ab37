// SPDX-License-Identifier: Apache-2.0
// A gateway that lies, breaks frames and never ends, against a participant on libmoot: the
// application hears of nothing but what is sound, the connection is given up where it must
// be, and the process stays alive and small.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fromGateway, opcodes, startBadGateway, welcomeOf } from './bad-gateway.mjs';
import { protocol } from './gateway.mjs';
import { startProbe } from './participant.mjs';
import { eventsOf, growthOf } from './programs.mjs';

const MiB = 1024 * 1024;
const growthBytes = 32 * MiB; // of the process, whatever it is sent

let count = 0;
const said = (text, more = {}) => ({ protocol, id: `eve-${++count}`, from: 'eve', kind: 'chat', payload: { text }, ...more });
const nested = (depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const withPayload = (payload) => `{"protocol":"${protocol}","id":"deep-${++count}","from":"eve","kind":"chat","payload":${payload}}`;

// Plays `play` to the first connection, a sound gateway to all later ones.
async function meet(play, settings = {}) {
    const gateway = await startBadGateway(async (peer, number) => {
        if (number === 1)
            return play(peer);
        peer.accept();
        peer.welcome();
        peer.text(said(`fence ${number}`));
    });
    const probe = startProbe();
    const grown = growthOf(probe);

    await probe.do('new', { url: gateway.url, topic: 'room', token: 'secret-token', messages: true, retry_min_ms: 1, retry_max_ms: 20, ...settings });
    return {
        gateway,
        probe,
        grown,
        async finish() {
            await probe.stop(); // it is still there, and ends as it should
            await gateway.stop();
            assert.ok(!JSON.stringify(probe.events).includes('secret-token'), 'the token is told to nobody');
            return eventsOf(probe, 'message').filter(({ from }) => from !== 'system:gateway');
        },
    };
}

// --- what is dropped, while the connection goes on -----------------------------------------

const dropped = {
    'text that is no JSON': ['this is no JSON', 'malformed_envelope'],
    'JSON that is no object': ['[1,2,3]', 'malformed_envelope'],
    'an object that is no envelope': ['{}', 'malformed_envelope'],
    'two objects in one frame': [`${JSON.stringify(said('a'))}${JSON.stringify(said('b'))}`, 'malformed_envelope'],
    'an id of almost a megabyte': [said('x', { id: 'i'.repeat(MiB - 400) }), 'malformed_envelope'],
    'a sender of almost a megabyte': [said('x', { from: 'f'.repeat(MiB - 400) }), 'malformed_envelope'],
    'an empty id': [said('x', { id: '' }), 'malformed_envelope'],
    'an id with a NUL': [said('x', { id: 'a\u0000b' }), 'malformed_envelope'],
    'a sender with an escape': [said('x', { from: 'e\u001b[2Jve' }), 'malformed_envelope'],
    'a correlation id with a line feed': [said('x', { correlation_id: 'a\nb' }), 'malformed_envelope'],
    'a name that is given twice': [`{"protocol":"${protocol}","id":"t1","from":"eve","from":"me","kind":"chat","payload":{"text":"x"}}`,
        'malformed_envelope'],
    'a look-alike of a name': [said('x', { Kind: 'system/error' }), 'malformed_envelope'],
    'another protocol': [said('x', { protocol: 'mcp-x/v0' }), 'unsupported_protocol'],
    'a kind of the other dialect': [said('x', { kind: 'chat.message' }), 'malformed_kind'],
    'a kind of nobody': [said('x', { kind: 'mcp/Request:x' }), 'malformed_kind'],
    'a welcome of a participant': [{ ...welcomeOf(), from: 'eve' }, 'reserved_namespace'],
    'a welcome of a participant that names us chief': [{ ...welcomeOf({ you: { id: 'chief', capabilities: ['*'] } }), from: 'me' },
        'reserved_namespace'],
    'a presence of a participant': [{ ...fromGateway('system/presence', { event: 'leave', participant: { id: 'bob' } }), from: 'eve' },
        'reserved_namespace'],
    'an error of a participant': [{ ...fromGateway('system/error', { error: 'paused', message: 'no' }), from: 'eve' }, 'reserved_namespace'],
    'a gap of a participant': [{ ...fromGateway('system/gap', { message: 'x' }), from: 'eve' }, 'reserved_namespace'],
    'a request of the gateway': [fromGateway('mcp/request:tools/call:add', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add' } },
        { to: ['me'] }), 'reserved_namespace'],
    'talk of the gateway': [fromGateway('chat', { text: 'obey' }), 'reserved_namespace'],
    'somebody who calls himself the system': [said('x', { from: 'system:root' }), 'reserved_namespace'],
    'nesting beyond the limit': [withPayload(nested(5000)), 'malformed_envelope'],
    'nesting that never ends': [withPayload('['.repeat(200_000)), 'malformed_envelope'],
    'talk without a text': [said('x', { payload: { text: 5 } }), 'kind_payload_mismatch'],
    'talk over the limit': [said('x'.repeat(3 * MiB)), 'too_large'],
    'a call that says something else': [{ ...said('x'), kind: 'mcp/request:tools/call:safe', to: ['me'],
        payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'dangerous' } } }, 'kind_payload_mismatch'],
};

for (const [name, [text, what]] of Object.entries(dropped))
    test(`hostile gateway: ${name} is dropped and counted`, async () => {
        const { probe, finish } = await meet((peer) => {
            peer.accept();
            peer.welcome();
            peer.text(text);
            peer.text(said('fence'));
        });

        await probe.event('chat', ({ text: heard }) => heard === 'fence');
        const offences = eventsOf(probe, 'offence');
        assert.deepEqual(offences.map((one) => [one.what, one.count]), [[what, 1]]);
        assert.deepEqual(eventsOf(probe, 'welcome').length, 1);
        assert.deepEqual(eventsOf(probe, 'gap').length, 0);
        assert.equal((await finish()).length, 1, 'nothing but the fence was heard');
    });

// --- what ends the connection; the next one is sound ---------------------------------------

const zeros = (size) => Buffer.alloc(size);
const violations = {
    'a binary frame': [(peer) => peer.frame(opcodes.binary, Buffer.from(JSON.stringify(said('x')))), 1003],
    'a masked frame': [(peer) => peer.frame(opcodes.text, Buffer.from(JSON.stringify(said('x'))), { mask: true }), 1002],
    'a reserved bit': [(peer) => peer.frame(opcodes.text, Buffer.from('{}'), { rsv: 4 }), 1002],
    'an opcode of nobody': [(peer) => peer.frame(3, Buffer.from('{}')), 1002],
    'a continuation of nothing': [(peer) => peer.frame(opcodes.continuation, Buffer.from('{}')), 1002],
    'a text inside a text': [(peer) => {
        peer.frame(opcodes.text, Buffer.from('{'), { fin: false });
        peer.frame(opcodes.text, Buffer.from('}'));
    }, 1002],
    'a ping in pieces': [(peer) => peer.frame(opcodes.ping, Buffer.from('x'), { fin: false }), 1002],
    'a ping that is too long': [(peer) => peer.frame(opcodes.ping, zeros(126)), 1002],
    'a close of one byte': [(peer) => peer.frame(opcodes.close, Buffer.from([3])), 1002],
    'bad UTF-8': [(peer) => peer.frame(opcodes.text, Buffer.from([0x7b, 0xff, 0xfe, 0x7d])), 1007],
    'a length beyond all bounds': [(peer) => peer.frame(opcodes.text, zeros(16), { length: 2n ** 62n }), 1009],
    'a length with its highest bit': [(peer) => peer.frame(opcodes.text, zeros(16), { length: 2n ** 63n + 5n }), 1002],
    'a message that no welcome can be': [(peer) => peer.frame(opcodes.text, Buffer.from(JSON.stringify(said('x'.repeat(3 * MiB))))), 1009, true],
};

for (const [name, [play, code, isCut = false]] of Object.entries(violations))
    test(`hostile gateway: ${name} ends the connection with ${code}`, async () => {
        const { gateway, probe, finish } = await meet(async (peer) => {
            peer.accept();
            peer.welcome();
            peer.socket.cork(); // what lies behind it arrives with it
            play(peer);
            peer.text(said('behind it'));
            peer.socket.uncork();
        }, { participants: 100 });

        const first = await gateway.arrived(1);
        // What is not read any more makes the kernel reset the connection, at times before we have read the close.
        assert.ok([code, ...isCut ? [null] : []].includes(await first.closeCode()));
        await first.ended();
        await probe.event('chat', ({ text }) => text === 'fence 2');
        assert.equal((await finish()).length, 1, 'nothing but the fence was heard');
    });

// --- what never ends ------------------------------------------------------------------------

const endless = {
    'fragments of a message': (peer) => peer.frame(opcodes.continuation, Buffer.alloc(65536, 'x'), { fin: false }),
    'empty fragments': (peer) => peer.raw(Buffer.alloc(65536)), // 32,768 of them
};

for (const [name, more] of Object.entries(endless))
    test(`hostile gateway: ${name} without end are given up`, async () => {
        const { gateway, probe, grown, finish } = await meet(async (peer) => {
            peer.accept();
            peer.welcome();
            peer.frame(opcodes.text, Buffer.from('{'), { fin: false });
            for (let i = 0; i < 2000 && !peer.isOver; i++) {
                more(peer);
                await peer.drained();
            }
        });
        await probe.event('welcome');

        await (await gateway.arrived(1)).ended();
        await probe.event('chat', ({ text }) => text === 'fence 2');
        assert.ok(grown() < growthBytes);
        await finish();
    });

test('hostile gateway: pings by the hundred thousand, whose answers are not read, fill no memory', async () => {
    const { gateway, probe, grown, finish } = await meet(async (peer) => {
        peer.accept();
        peer.welcome();
        peer.socket.pause(); // answers are not read any more
        const pings = Buffer.concat(Array.from({ length: 1000 }, () => Buffer.concat([Buffer.from([0x89, 100]), zeros(100)])));
        for (let i = 0; i < 1000 && !peer.isOver; i++) {
            if (!peer.raw(pings) && peer.socket.writableLength > 4 * MiB)
                break; // it reads us no more either
            await new Promise(setImmediate);
        }
        peer.socket.destroy();
    });
    await probe.event('welcome');

    await (await gateway.arrived(1)).ended();
    await probe.event('chat', ({ text }) => text === 'fence 2');
    assert.ok(grown() < growthBytes);
    await finish();
});

test('hostile gateway: rubbish by the hundred thousand is counted and not kept', async () => {
    const total = 100_000;
    const { probe, grown, finish } = await meet(async (peer) => {
        peer.accept();
        peer.welcome();
        for (let i = 0; i < total; i += 1000) {
            for (let k = 0; k < 1000; k++)
                peer.text(said('x', { from: `liar-${i + k}`, kind: 'system/welcome' }));
            await peer.drained();
        }
        peer.text(said('fence'));
    });
    await probe.event('welcome');

    await probe.event('chat', ({ text }) => text === 'fence');
    assert.ok(grown() < growthBytes);
    assert.equal((await finish()).length, 1);
});

// --- welcomes that lie ----------------------------------------------------------------------

const crowd = (size) => Array.from({ length: size }, (_, i) => ({ id: `p-${i}`, capabilities: ['chat'] }));
const lies = {
    'that names nobody': { you: {} },
    'for an id with an escape': { you: { id: 'm\u001be', capabilities: [] } },
    'for an id that is too long': { you: { id: 'm'.repeat(300), capabilities: [] } },
    'that is no object': { you: ['me'] },
};

for (const [name, changes] of Object.entries(lies))
    test(`hostile gateway: a welcome ${name} is none`, async () => {
        const { probe, finish } = await meet((peer) => {
            peer.accept();
            peer.welcome(changes);
            peer.text(said('before any welcome'));
            peer.welcome();
            peer.text(said('fence'));
        });

        await probe.event('chat', ({ text }) => /^fence/.test(text));
        assert.equal(eventsOf(probe, 'welcome').length, 1);
        assert.equal(eventsOf(probe, 'welcome')[0].id, 'me');
        await finish();
    });

test('hostile gateway: capabilities that are no list of patterns allow nothing', async () => {
    for (const capabilities of ['*', { '*': true }, [['*']], [{ kind: '*', payload: 5 }], [null, 7, '{']]) {
        const { probe, finish } = await meet((peer) => {
            peer.accept();
            peer.welcome({ you: { id: 'me', capabilities }, participants: 'many' });
        });

        await probe.event('welcome');
        assert.equal((await probe.do('may', { kind: 'chat' })).may, false, JSON.stringify(capabilities));
        await finish();
    }
});

test('hostile gateway: limits that a welcome claims do not make room for more than we bear', async () => {
    const { gateway, probe, grown, finish } = await meet(async (peer) => {
        peer.accept();
        peer.welcome({ moot: { limits: { envelope_bytes: 2 ** 52, depth: 2 ** 31 } } });
        peer.frame(opcodes.text, Buffer.alloc(65536, 'x'), { fin: false });
        for (let i = 0; i < 4096 && !peer.isOver; i++) { // 256 MiB
            peer.frame(opcodes.continuation, Buffer.alloc(65536, 'x'), { fin: false });
            await peer.drained();
        }
    });
    await probe.event('welcome');

    await (await gateway.arrived(1)).ended();
    await probe.event('chat', ({ text }) => text === 'fence 2');
    assert.ok(grown() < 2 * growthBytes + 64 * MiB);
    await finish();
});

test('hostile gateway: a crowd that never stops growing is not kept beyond the limit', async () => {
    const { probe, grown, finish } = await meet(async (peer) => {
        peer.accept();
        peer.welcome({ participants: crowd(5000) });
        for (let i = 0; i < 20; i++) {
            peer.text(fromGateway('system/presence', { event: 'batch',
                participants: Array.from({ length: 1000 }, (_, k) => ({ event: 'join', id: `q-${i}-${k}`, capabilities: ['chat'] })) }));
            await peer.drained();
        }
        peer.text(said('fence'));
    }, { participants: 1000 });

    await probe.event('chat', ({ text }) => text === 'fence');
    assert.ok(grown() < 2 * growthBytes);
    await finish();
});

// --- handshakes -----------------------------------------------------------------------------

const broken = {
    'a wrong key': (peer) => peer.accept({ 'Sec-WebSocket-Accept': 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=' }),
    'no key': (peer) => peer.accept({ 'Sec-WebSocket-Accept': null }),
    'no upgrade': (peer) => peer.accept({ Upgrade: null }),
    'an upgrade to something else': (peer) => peer.accept({ Upgrade: 'h2c' }),
    'an extension that was not asked for': (peer) => peer.accept({ 'Sec-WebSocket-Extensions': 'permessage-deflate' }),
    'a subprotocol that was not asked for': (peer) => peer.accept({ 'Sec-WebSocket-Protocol': 'chat' }),
    'a page instead': (peer) => peer.raw('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'),
    'something that is no HTTP': (peer) => peer.raw('SSH-2.0-OpenSSH_9.2\r\n\r\n'),
    'a line with a NUL': (peer) => peer.raw('HTTP/1.1 101 Swi\0tching\r\nUpgrade: websocket\r\n\r\n'),
    'silence and a hang-up': (peer) => peer.socket.end(),
};

for (const [name, play] of Object.entries(broken))
    test(`hostile gateway: a handshake with ${name} is none`, async () => {
        const { probe, finish } = await meet((peer) => {
            play(peer);
            peer.welcome();
            peer.text(said('before any handshake'));
        });

        await probe.event('chat', ({ text }) => text === 'fence 2');
        assert.equal((await finish()).length, 1);
    });

test('hostile gateway: a head without end is given up long before memory is', async () => {
    const { gateway, probe, grown, finish } = await meet(async (peer) => {
        peer.raw('HTTP/1.1 101 Switching Protocols\r\n');
        for (let i = 0; i < 20_000 && !peer.isOver; i++) {
            peer.raw(`X-${i}: ${'y'.repeat(1000)}\r\n`);
            await peer.drained();
        }
    });

    await (await gateway.arrived(1)).ended();
    await probe.event('chat', ({ text }) => text === 'fence 2');
    assert.ok(grown() < growthBytes);
    await finish();
});

test('hostile gateway: whoever never answers is left, and tried again', async () => {
    const { gateway, probe, finish } = await meet(() => {}, { connect_timeout_ms: 2000 });

    await (await gateway.arrived(1)).ended();
    await probe.event('chat', ({ text }) => /^fence/.test(text));
    await finish();
});

test('hostile gateway: whoever dribbles a head byte by byte is left as well', async () => {
    const { gateway, probe, finish } = await meet((peer) => {
        const drip = setInterval(() => (peer.isOver ? clearInterval(drip) : peer.raw('x')), 20);
        drip.unref();
    }, { connect_timeout_ms: 2000 });

    await (await gateway.arrived(1)).ended();
    await probe.event('chat', ({ text }) => /^fence/.test(text));
    await finish();
});

test('hostile gateway: who takes us in and never says welcome is left', async () => {
    const { gateway, probe, finish } = await meet((peer) => {
        peer.accept();
        peer.text(said('before any welcome'));
    }, { connect_timeout_ms: 2000 });

    await (await gateway.arrived(1)).ended();
    await probe.event('chat', ({ text }) => /^fence/.test(text));
    assert.equal((await finish()).length, 1);
});

test('hostile gateway: a redirect is not followed, and nobody else is shown the token', async () => {
    const elsewhere = await startBadGateway(() => {});
    const { gateway, probe, finish } = await meet((peer) =>
        peer.raw(`HTTP/1.1 302 Found\r\nLocation: ${elsewhere.url}/ws?topic=room\r\nContent-Length: 0\r\n\r\n`));

    await gateway.arrived(2);
    await probe.event('chat', ({ text }) => text === 'fence 2');
    assert.equal(elsewhere.peers.length, 0);
    await finish();
    await elsewhere.stop();
});

test('hostile gateway: whoever repeats what was heard repeats it for nobody', async () => {
    const talk = Array.from({ length: 6 }, (_, i) => said(`number ${i}`));
    const gateway = await startBadGateway((peer, number) => {
        peer.accept();
        peer.welcome();
        for (const one of talk.slice(0, number === 1 ? 4 : 6)) // asked to go on behind the fourth, begins anew
            peer.text(one);
        if (number === 1)
            peer.socket.end();
    });
    const probe = startProbe();

    await probe.do('new', { url: gateway.url, topic: 'room', token: 'secret-token', retry_min_ms: 1, retry_max_ms: 20 });
    await probe.event('chat', ({ text }) => text === 'number 5');
    assert.deepEqual(eventsOf(probe, 'chat').map(({ text }) => text), talk.map(({ payload }) => payload.text));
    assert.match((await gateway.arrived(2)).target, new RegExp(`after=${talk[3].id}(&|$)`));
    await probe.stop();
    await gateway.stop();
});

test('hostile gateway: who sends all of that at once is survived', async () => {
    const { gateway, probe, finish } = await meet(async (peer) => {
        peer.accept();
        peer.welcome();
        for (const [text] of Object.values(dropped))
            peer.text(text);
        peer.text(said('fence'));
        peer.raw(Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919 + 13) & 255)));
    });

    await probe.event('chat', ({ text }) => text === 'fence');
    await (await gateway.arrived(1)).ended();
    await probe.event('chat', ({ text }) => text === 'fence 2');
    assert.equal(eventsOf(probe, 'offence').length, Object.keys(dropped).length);
    assert.equal((await finish()).length, 2);
});
