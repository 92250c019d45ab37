// SPDX-License-Identifier: Apache-2.0
// What may come to /agents besides good messages.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { codeOf, connect, message, subscribe } from './agents.mjs';
import { person, startGateway, within } from './gateway.mjs';
import { connect as connectRaw, frame, handshake, open } from './raw.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [person('scout', { profile: 'directory' }), person('busy', { profile: 'directory' })],
        limits: { envelope: '128KiB', depth: 32, rate_messages: '0', login_failures: 0 },
    });
});
after(() => gateway?.stop());

const query = message('scout', 'RESOURCE_QUERY', { query: '' });
const text = JSON.stringify(query);

const texts = [
    ['nothing', ''],
    ['no JSON', 'hello'],
    ['a list', '[]'],
    ['a text', '"x"'],
    ['a number', '1'],
    ['null', 'null'],
    ['half of it', text.slice(0, -2)],
    ['more behind it', `${text}x`],
    ['two of them', text + text],
    ['a comma too many', text.replace('{', '{,')],
    ['a BOM', `\ufeff${text}`],
    ['a comment', `/**/${text}`],
    ['single quotes', text.replaceAll('"', '\'')],
    ['a control character', text.replace('"1.0"', '"1.0\u0001"')],
    ['half of a pair', text.replace('"1.0"', '"\\ud800"')],
    ['a field twice', text.replace('{', '{"protocol_version":"1.0",')],
    ['a field twice, once escaped', text.replace('{', '{"p\\u0061yload":{},')],
    ['33 brackets', text.replace('{', `{"x":${'['.repeat(33)}${']'.repeat(33)},`)],
    ['NaN', text.replace('"1.0"', 'NaN')],
    ['white space', ' \n'],
    ['a comma behind it', `${text},`],
    ['a comma at the end', text.replace(/}$/, ',}')],
    ['NUL behind it', `${text}\0`],
    ['a name without quotes', text.replace('"payload"', 'payload')],
    ['a leading zero', text.replace(/}$/, ',"n":01}')],
    ['a plus sign', text.replace(/}$/, ',"n":+1}')],
    ['a number that ends in a dot', text.replace(/}$/, ',"n":1.}')],
    ['an unknown escape', text.replace(/}$/, ',"n":"\\x41"}')],
    ['a no-break space between tokens', text.replace(',', ',\u00a0')],
    ['a name of a field with an escape, and without', text.replace('{', '{"s\\u006furce_agent_id":"scout",')],
    ['32 levels and a payload', text.replace('""', `${'['.repeat(31)}${']'.repeat(31)}`)],
    ...['{6b1f7a52-0c1e-4c8e-9f3e-2f0d5a7c9b10}', '6b1f7a520c1e4c8e9f3e2f0d5a7c9b10', '6b1f7a52-0c1e-4c8e-9f3e-2f0d5a7c9b1', '6b1f7a52-0c1e-4c8e-9f3e-2f0d5a7c9b10 ',
        'urn:uuid:6b1f7a52-0c1e-4c8e-9f3e-2f0d5a7c9b10', 'gb1f7a52-0c1e-4c8e-9f3e-2f0d5a7c9b10', '6b1f7a52\0' + '0c1e-4c8e-9f3e-2f0d5a7c9b10']
        .map((id) => [`message_id ${JSON.stringify(id)}`, JSON.stringify({ ...query, message_id: id })]),
    ...['2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-11-15T25:00:00Z', '2026-11-15 05:06:07Z', '2026-11-15T05:06:07', '2026-11-15',
        '2026-11-15T05:06:07-00:01', '2026-11-15T05:06:07ZZ', '99999-11-15T05:06:07Z', '2026-11-15T05:06:07.Z', '']
        .map((time) => [`timestamp ${JSON.stringify(time)}`, JSON.stringify({ ...query, timestamp: time })]),
    ...['x'.repeat(257), `${'ä'.repeat(128)}x`, 'scout\0', 'scout\n', 'sc\u007fout']
        .map((id) => [`source_agent_id ${JSON.stringify(id).slice(0, 20)}`, JSON.stringify({ ...query, source_agent_id: id })]),
    ...[null, true, 7, 'x', [{}]].map((payload) => [`payload ${JSON.stringify(payload)}`, JSON.stringify({ ...query, payload })]),
];

const payloads = [
    ['a name twice', '{"query":"a","query":"b"}'],
    ['a name twice, once escaped', '{"query":"a","qu\\u0065ry":"b"}'],
    ['another case', '{"Query":"a"}'],
    ['a NUL in a text', '{"query":"a\\u0000b"}'],
    ['a text of 4097 bytes', JSON.stringify({ query: 'x'.repeat(4097) })],
    ['more than 64 KiB', JSON.stringify({ query: '', filters: { skills: Array.from({ length: 3000 }, (_, i) => `skill number ${i}`) } })],
    ['257 skills', JSON.stringify({ query: '', filters: { skills: Array.from({ length: 257 }, (_, i) => `s${i}`) } })],
    ['a skill of 257 bytes', JSON.stringify({ query: '', filters: { skills: ['x'.repeat(257)] } })],
    ['limit 0', '{"query":"","limit":0}'],
    ['limit -1', '{"query":"","limit":-1}'],
    ['limit 1.5', '{"query":"","limit":1.5}'],
    ['limit 1e2', '{"query":"","limit":1e2}'],
    ['limit 2^64', '{"query":"","limit":18446744073709551616}'],
    ['limit as a text', '{"query":"","limit":"1"}'],
    ['null for a text', '{"query":null}'],
    ['__proto__', '{"query":"","__proto__":{}}'],
];

for (const [name, bad] of texts)
    test(`${name}: an error, and it goes on`, async () => {
        const agent = await subscribe(gateway, 'scout');
        agent.send(bad);
        assert.equal(codeOf(await agent.next()), 'MALFORMED_MESSAGE');
        assert.equal((await agent.ask('RESOURCE_QUERY', { query: '' })).payload.event_type, 'RESOURCE_RESULTS');
        await agent.close();
    });

for (const [name, payload] of payloads)
    test(`a payload with ${name}: an error, and it goes on`, async () => {
        const agent = await subscribe(gateway, 'scout');
        const sent = message('scout', 'RESOURCE_QUERY');
        agent.send(JSON.stringify(sent).replace('"payload":{}', () => `"payload":${payload}`));
        const event = await agent.answer(sent);
        assert.ok(['INVALID_PAYLOAD', 'MALFORMED_MESSAGE'].includes(codeOf(event)));
        assert.match(event.payload.data.field ?? '', /^payload/);
        assert.equal((await agent.ask('RESOURCE_QUERY', { query: '' })).payload.event_type, 'RESOURCE_RESULTS');
        await agent.close();
    });

const fine = [
    ['white space around and in it', ` \n\t${text.replaceAll(',"', ' ,\r\n"')}\n`],
    ['escapes in values', text.replace('RESOURCE_QUERY', 'RESOURCE\\u005fQUERY').replace('"scout"', '"sc\\u006fut"')],
    ['names of the envelope further in, and twice in what is not known', text.replace('{', '{"x":{"payload":1,"payload":2},')],
    ['many fields that are not known', text.replace('{', `{${Array.from({ length: 3000 }, (_, i) => `"x${i}":null,`).join('')}`)],
];

for (const [name, good] of fine)
    test(`${name}: that is fine`, async () => {
        const agent = await subscribe(gateway, 'scout');
        const id = randomUUID();
        agent.send(good.replace(query.message_id, id));
        assert.equal((await agent.answer({ message_id: id })).payload.event_type, 'RESOURCE_RESULTS');
        await agent.close();
    });

for (const [name, bad] of texts.slice(0, 6))
    test(`${name} before a subscription: an error, and 1008`, async () => {
        const agent = await connect(gateway);
        agent.send(bad);
        assert.equal(codeOf(await agent.next()), 'MALFORMED_MESSAGE');
        assert.equal((await agent.closed()).code, 1008);
    });

for (const isSubscribed of [false, true]) {
    const when = isSubscribed ? 'after' : 'before';
    const come = () => (isSubscribed ? subscribe(gateway, 'scout') : connect(gateway));

    test(`a binary frame ${when} a subscription: 1003`, async () => {
        const agent = await come();
        agent.send(Buffer.from(text));
        assert.equal((await agent.closed()).code, 1003);
    });

    test(`bytes that are not UTF-8 ${when} a subscription: 1007`, async () => {
        const agent = await come();
        agent.socket.send(Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]), { binary: false });
        assert.equal((await agent.closed()).code, 1007);
    });

    test(`more than may be sent ${when} a subscription: 1009`, async () => {
        const agent = await come();
        agent.send(`"${'x'.repeat(140_000)}"`);
        assert.equal((await agent.closed()).code, 1009);
    });
}

// --- frames by hand ---

const line = 'GET /agents HTTP/1.1';
const subscription = () => frame(0x81, JSON.stringify(message('scout', 'CONTEXT_SUBSCRIBE', { authentication_token: 'scout-token' })));
const frames = [
    ['an unmasked frame', frame(0x81, '{}', { mask: null }), 1002],
    ['a reserved bit', frame(0xa1, '{}'), 1002],
    ['a reserved opcode', frame(0x83, '{}'), 1002],
    ['a continuation of nothing', frame(0x80, '{}'), 1002],
    ['a message inside a message', Buffer.concat([frame(0x01, 'a'), frame(0x81, 'b')]), 1002],
    ['a long ping', frame(0x89, Buffer.alloc(126)), 1002],
    ['a length of 2^63', Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]), 1002],
    ['a length that is not minimal', Buffer.from([0x81, 0xfe, 0, 2, 1, 2, 3, 4, 0, 0]), 1002],
    ['a length of 2^40', Buffer.from([0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4]), 1009],
    ['compressed without an agreement', frame(0xc1, 'xxxx'), 1002],
    ['a close frame of one byte', frame(0x88, 'x'), 1002],
    ['an overlong slash', frame(0x81, Buffer.from([0x22, 0xc0, 0xaf, 0x22])), 1007],
    ['a surrogate in UTF-8', frame(0x81, Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), 1007],
    ['a character that breaks off', frame(0x81, Buffer.from([0xe2, 0x82])), 1007],
];

for (const [name, bytes, code] of frames)
    for (const first of [Buffer.alloc(0), subscription()])
        test(`${name} ${first.length ? 'after' : 'before'} a subscription closes with ${code}`, async () => {
            const peer = await open(gateway.port, { 'Sec-WebSocket-Extensions': 'permessage-deflate' }, line);
            peer.send(Buffer.concat([first, bytes]));
            const all = await within(peer.end(), name);
            assert.equal(all.includes('SUBSCRIPTION_CONFIRMED'), first.length > 0);
            assert.ok(all.includes(Buffer.from([code >> 8, code & 255])), all.toString('latin1').slice(-200));
            peer.close();
        });

test('connections cut at every byte of a handshake, a subscription and a request harm nobody', async () => {
    const witness = await subscribe(gateway, 'scout');
    const all = Buffer.concat([Buffer.from(handshake({}, line)), subscription(), frame(0x81, text)]);

    for (let at = 0; at < all.length; at += 5) {
        const peer = await connectRaw(gateway.port);
        peer.socket.on('error', () => {});
        peer.send(all.subarray(0, at));
        if (at % 2)
            peer.socket.resetAndDestroy();
        else
            peer.socket.end();
        await once(peer.socket, 'close').catch(() => {});
        assert.equal((await witness.ask('RESOURCE_QUERY', { query: '' })).payload.event_type, 'RESOURCE_RESULTS');
    }
    await witness.close();
});

test('a flood of what is refused is answered one by one, and others do not wait', async () => {
    const flood = await subscribe(gateway, 'scout');
    const other = await subscribe(gateway, 'busy');

    for (let i = 0; i < 300; i++)
        flood.send(message('scout', 'DANCE'));
    assert.equal((await other.ask('RESOURCE_QUERY', { query: '' })).payload.event_type, 'RESOURCE_RESULTS');
    for (let i = 0; i < 300; i++)
        assert.equal(codeOf(await flood.next()), 'UNKNOWN_PERFORMATIVE');
    await flood.close();
    await other.close();
});

test('a ping is answered', async () => {
    const agent = await subscribe(gateway, 'scout');
    const pong = once(agent.socket, 'pong');

    agent.socket.ping('are you there');
    assert.equal((await within(pong, 'the pong'))[0].toString(), 'are you there');
    await agent.close();
});

test('a message in many frames is one', async () => {
    const agent = await subscribe(gateway, 'scout');
    const one = JSON.stringify(message('scout', 'RESOURCE_QUERY', { query: 'ü' }));

    for (let at = 0; at < one.length; at += 7)
        agent.socket.send(one.slice(at, at + 7), { fin: at + 7 >= one.length });
    assert.equal((await agent.next()).payload.event_type, 'RESOURCE_RESULTS');
    await agent.close();
});

test('only a WebSocket is spoken here, by GET, without a token in the address', async () => {
    assert.equal((await gateway.request('GET /agents')).status, 426);
    assert.equal((await gateway.request('POST /agents', { json: {} })).status, 405);
    assert.equal((await gateway.request('GET /agents?token=x')).status, 400);
    await assert.rejects(connect(gateway, 'x', { headers: { Origin: 'https://elsewhere.example' } }), /403/);
});

test('who sends too fast is told so, and in the end closed: 4029', async () => {
    const own = await startGateway({
        tokens: [person('busy', { profile: 'directory' })],
        limits: { rate_messages: '1/s', burst: '10s', rate_strikes: 20 },
    });
    try {
        const agent = await subscribe(own, 'busy');
        for (let i = 0; i < 60; i++)
            agent.send(message('busy', 'RESOURCE_QUERY', { query: '' }));
        assert.equal((await agent.closed()).code, 4029);
        const refused = agent.events.filter((event) => event.payload.data.code === 'RATE_LIMITED');
        assert.ok(refused.length >= 20);
        assert.ok(refused[0].payload.data.retry_after_ms > 0);
        assert.ok(refused[0].payload.data.in_reply_to);
        const back = await subscribe(own, 'busy');
        let asked = 0;
        while ((await back.ask('RESOURCE_QUERY', { query: '' })).payload.data.code !== 'RATE_LIMITED')
            assert.ok(++asked < 10, 'a new connection does not shake it off');
        back.socket.terminate();
    } finally {
        await own.stop();
    }
});

test('who guesses tokens is refused before they are looked at', async () => {
    const own = await startGateway({ tokens: [person('scout', { profile: 'directory' })], limits: { login_failures: 3 } });
    try {
        const guess = async (token) => {
            const agent = await connect(own);
            agent.send(message('scout', 'CONTEXT_SUBSCRIBE', { authentication_token: token }));
            const code = codeOf(await agent.next());
            assert.equal((await agent.closed()).code, 1008);
            return code;
        };
        for (let i = 0; i < 3; i++)
            assert.equal(await guess(`guess-${i}`), 'AUTHENTICATION_FAILED');
        assert.equal(await guess('scout-token'), 'RATE_LIMITED');
    } finally {
        await own.stop();
    }
});

test('one agent has so many connections and no more', async () => {
    const own = await startGateway({ tokens: [person('scout', { profile: 'directory' })], limits: { connections_per_participant: 2 } });
    try {
        const agents = [await subscribe(own, 'scout'), await subscribe(own, 'scout')];
        const third = await connect(own, 'scout');
        third.send(message('scout', 'CONTEXT_SUBSCRIBE', { authentication_token: 'scout-token' }));
        assert.equal(codeOf(await third.next()), 'OVERLOAD');
        assert.equal((await third.closed()).code, 1008);
        await agents[0].close();
        await (await subscribe(own, 'scout')).close();
        await agents[1].close();
    } finally {
        await own.stop();
    }
});

test('who answers no ping is closed: 1001', async () => {
    const own = await startGateway({ tokens: [person('scout', { profile: 'directory' })], limits: { ping_interval: '200ms', pong_timeout: '1500ms' } });
    try {
        const quiet = await connect(own, 'scout', { autoPong: false });
        const lively = await subscribe(own, 'scout');
        await quiet.ask('CONTEXT_SUBSCRIBE', { authentication_token: 'scout-token' });
        assert.equal((await quiet.closed()).code, 1001);
        assert.equal(lively.ending, null);
        await lively.close();
    } finally {
        await own.stop();
    }
});

test('when the gateway stops it says so: 1001', async () => {
    const own = await startGateway({ tokens: [person('scout', { profile: 'directory' })] });
    const agent = await subscribe(own, 'scout');
    const silent = await connect(own);

    await own.stop();
    assert.equal((await agent.closed()).code, 1001);
    assert.equal((await silent.closed()).code, 1001);
});

test('a door that is closed is not there', async () => {
    const own = await startGateway({ tokens: [], directory: { open: false } });
    try {
        await assert.rejects(connect(own), /404/);
    } finally {
        await own.stop();
    }
});

test('one agent has so many requests under way and no more', async () => {
    const own = await startGateway({ tokens: [person('scout', { profile: 'directory' })] });
    try {
        const agents = await Promise.all(Array.from({ length: 40 }, () => subscribe(own, 'scout')));
        const answers = await Promise.all(agents.flatMap((agent) =>
            Array.from({ length: 20 }, () => agent.ask('RESOURCE_QUERY', { query: 'python' }))));
        const types = new Set(answers.map(({ payload }) => payload.data.code ?? payload.event_type));

        assert.ok(types.has('RESOURCE_RESULTS'));
        assert.ok([...types].every((type) => ['RESOURCE_RESULTS', 'OVERLOAD'].includes(type)), [...types].join());
        assert.equal((await agents[0].ask('RESOURCE_QUERY', { query: '' })).payload.event_type, 'RESOURCE_RESULTS', 'later it goes on');
        await Promise.all(agents.map((agent) => agent.close()));
    } finally {
        await own.stop();
    }
});

test('a message that changed a little is never anything but an answer', async () => {
    const agent = await subscribe(gateway, 'scout');
    const good = Buffer.from(text);

    for (let i = 0; i < 300 && !agent.ending; i++) {
        const bad = Buffer.from(good);
        bad[randomBytes(2).readUInt16BE() % bad.length] = 32 + randomBytes(1)[0] % 95;
        agent.send(bad.toString());
        const event = await agent.next();
        assert.equal(event.performative, 'CONTEXT_EVENT');
    }
    await agent.close();
});
