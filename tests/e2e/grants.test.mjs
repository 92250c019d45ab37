// SPDX-License-Identifier: Apache-2.0
// capability/grant and capability/revoke in the room, and the endpoint that does the same.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway, takeAll } from './gateway.mjs';

let gateway;
let topics = 0;

before(async () => {
    gateway = await startGateway({
        tokens: [
            person('boss', { profile: 'admin' }),
            person('lead', { capabilities: ['capability/*', 'mcp/request:tools/*', 'x/*', 'chat'] }),
            person('bot', { capabilities: ['chat'] }),
            person('aide', { capabilities: ['capability/*', 'chat'] }),
            { token: 'bot-strong', id: 'bot', name: 'strong', capabilities: ['chat', 'y/z'] },
            person('keeper', { capabilities: ['capability/*', { kind: 'mcp/request:tools/call', payload: { params: { name: 'read_*' } } }] }),
            person('watcher', { capabilities: ['chat'] }),
            person('absent', { capabilities: [] }),
        ],
    });
});
after(() => gateway.stop());

const isWelcome = ({ kind }) => kind === 'system/welcome';
const isAck = ({ kind }) => kind === 'capability/grant-ack';
const answerTo = (id) => (json) => json.correlation_id === id;

// A topic of its own with some people in it.
async function room(...ids) {
    const topic = `grants-${++topics}`;
    const clients = [];

    for (const id of ids)
        clients.push(await gateway.join(id, { topic }));
    return [topic, ...clients];
}

const grant = (client, recipient, capabilities, more = {}) =>
    client.send(envelope(client.id, 'capability/grant', { payload: { recipient, capabilities, ...more } }));
const revoke = (client, recipient, payload) =>
    client.send(envelope(client.id, 'capability/revoke', { payload: { recipient, ...payload } }));

async function refused(client, { id }) {
    const { kind, payload } = await expect(client, answerTo(id));
    assert.equal(kind, 'system/error');
    return payload;
}

// Does an envelope of this kind pass?
async function may(client, kind, more = {}) {
    const { id } = client.send(envelope(client.id, kind, more));
    const json = await expect(client, (one) => one.id === id || one.correlation_id === id);

    return json.id === id || (assert.equal(json.payload.error, 'capability_violation'), false);
}

test('a grant is forwarded, takes effect, and is acknowledged to everyone behind a fresh welcome', async () => {
    const [topic, lead, bot, watcher] = await room('lead', 'bot', 'watcher');

    assert.equal(await may(bot, 'mcp/request:tools/call'), false);
    const sent = grant(lead, 'bot', ['mcp/request:tools/call', 'x/y'], { reason: 'you asked' });
    for (const client of [watcher, lead]) {
        const seen = await expect(client, ({ id }) => id === sent.id);
        assert.deepEqual(seen, sent, 'everyone sees who granted what');
        const ack = await expect(client, isAck);
        assert.deepEqual([ack.from, ack.correlation_id, ack.to], ['system:gateway', sent.id, undefined]);
        assert.deepEqual(ack.payload, {
            status: 'granted', grant_id: sent.id, granter: 'lead', recipient: 'bot', capabilities: ['mcp/request:tools/call', 'x/y'],
        });
    }
    const kinds = [];
    while (kinds.at(-1) !== 'capability/grant-ack') {
        const json = await bot.next();
        kinds.push(json.kind);
        if (isWelcome(json)) {
            assert.deepEqual(new Set(json.payload.you.capabilities), new Set(['chat', 'mcp/request:tools/call', 'x/y']));
            assert.deepEqual(json.payload.moot.grants.map(({ id, granter, reason }) => [id, granter, reason]), [[sent.id, 'lead', 'you asked']]);
        }
    }
    assert.deepEqual(kinds.slice(-3), ['capability/grant', 'system/welcome', 'capability/grant-ack']);
    assert.equal(await may(bot, 'mcp/request:tools/call'), true);
    assert.equal(await may(bot, 'x/y'), true);
    assert.equal(await may(bot, 'x/z'), false);
    assert.equal(await may(bot, 'mcp/request:tools/list'), false);
    const elsewhere = await gateway.join('bot', { topic: `${topic}-other` });
    assert.equal(await may(elsewhere, 'x/y'), false, 'it holds in this topic');
    await bot.close();
    const again = await gateway.join('bot', { topic });
    assert.equal(await may(again, 'x/y'), true, 'and outlives the connection');
    assert.equal((await gateway.post('bot-token', topic, envelope('bot', 'x/y'))).status, 200, 'at the other door too');
});

test('nobody grants what he does not hold, and the one at fault is named', async () => {
    const [, lead, , aide] = await room('lead', 'bot', 'aide');
    const cases = [
        [['chat', 'mcp/request:*'], 'mcp/request:*'],
        [['x/y', 'x*'], 'x*'],
        [['*'], '*'],
        [['mcp/*'], 'mcp/*'],
        [['participant/kick'], 'participant/kick'],
        [['mcp/response:tools/call', 'chat'], 'mcp/response:tools/call'],
    ];

    for (const [capabilities, fault] of cases) {
        const error = await refused(lead, grant(lead, 'bot', capabilities));
        assert.deepEqual([error.error, error.capability, error.field], ['capability_violation', fault, 'payload.capabilities']);
    }
    const passedOn = grant(lead, 'aide', ['x/*']);
    await expect(aide, (json) => isAck(json) && json.correlation_id === passedOn.id);
    const further = grant(aide, 'bot', ['x/y']);
    await expect(aide, (json) => isAck(json) && json.correlation_id === further.id);
    assert.equal((await refused(aide, grant(aide, 'bot', ['x*']))).capability, 'x*');
});

test('only who holds the kind may grant or revoke', async () => {
    const [, bot] = await room('bot', 'watcher');

    for (const sent of [grant(bot, 'watcher', ['chat']), revoke(bot, 'watcher', { capabilities: ['chat'] })]) {
        const error = await refused(bot, sent);
        assert.deepEqual([error.error, error.attempted_kind, error.capability], ['capability_violation', sent.kind, undefined]);
    }
});

test('nobody grants to himself; nobody who is unknown gets anything', async () => {
    const [topic, lead] = await room('lead');

    assert.equal((await refused(lead, grant(lead, 'lead', ['chat']))).error, 'forbidden');
    const unknown = await refused(lead, grant(lead, 'stranger', ['chat']));
    assert.deepEqual([unknown.error, unknown.field], ['not_found', 'payload.recipient']);
    const sent = grant(lead, 'absent', ['chat']);
    await expect(lead, (json) => isAck(json) && json.correlation_id === sent.id);
    const absent = await gateway.join('absent', { topic });
    assert.deepEqual(absent.welcome.payload.you.capabilities, ['chat'], 'who has a token can be granted before he comes');
});

const malformed = {
    'no recipient': { capabilities: ['chat'] },
    'an empty recipient': { recipient: '', capabilities: ['chat'] },
    'a recipient that is no string': { recipient: ['bot'], capabilities: ['chat'] },
    'no capabilities': { recipient: 'bot' },
    'capabilities that are no list': { recipient: 'bot', capabilities: 'chat' },
    'an empty list': { recipient: 'bot', capabilities: [] },
    'a number among them': { recipient: 'bot', capabilities: ['chat', 1] },
    'a bad pattern': { recipient: 'bot', capabilities: ['x y'] },
    'too many': { recipient: 'bot', capabilities: Array.from({ length: 65 }, (_, i) => `x/k${i}`) },
    'an expiry in the past': { recipient: 'bot', capabilities: ['chat'], expires_at: '2020-01-01T00:00:00Z' },
    'an expiry that is no date': { recipient: 'bot', capabilities: ['chat'], expires_at: 'soon' },
    'no uses at all': { recipient: 'bot', capabilities: ['chat'], max_uses: 0 },
    'uses that are no number': { recipient: 'bot', capabilities: ['chat'], max_uses: '3' },
    'half a use': { recipient: 'bot', capabilities: ['chat'], max_uses: 0.5 },
    'uses without end': { recipient: 'bot', capabilities: ['chat'], max_uses: '18446744073709551615' },
    'a reason of any length': { recipient: 'bot', capabilities: ['chat'], reason: 'x'.repeat(1025) },
    'a name that is not known': { recipient: 'bot', capabilities: ['chat'], expires: '2099-01-01T00:00:00Z' },
    'a name in another case': { recipient: 'bot', capabilities: ['chat'], Max_uses: 1 },
};

test('a payload that says anything else is refused and reaches nobody', async () => {
    const [, lead, , watcher] = await room('lead', 'bot', 'watcher');

    for (const [name, payload] of Object.entries(malformed)) {
        const { id } = lead.send(envelope('lead', 'capability/grant', { payload }));
        const error = (await expect(lead, answerTo(id))).payload;
        assert.equal(error.error, 'malformed_envelope', name);
        assert.match(error.field, /^payload/, name);
    }
    const twice = `{"protocol":"mcpx/v0.1","id":"twice","from":"lead","kind":"capability/grant","payload":{"recipient":"bot","capabilities":["chat"],"recipient":"watcher"}}`;
    lead.send(twice);
    assert.equal((await expect(lead, answerTo('twice'))).payload.error, 'malformed_envelope');
    for (const payload of [{ recipient: 'bot' }, { recipient: 'bot', grant_id: 'a', capabilities: ['chat'] }, { recipient: 'bot', grant_id: 1 }]) {
        const error = await refused(lead, revoke(lead, payload.recipient, payload));
        assert.equal(error.error, 'malformed_envelope');
    }
    lead.chat('fence', { id: 'fence-malformed' });
    await expect(watcher, ({ id }) => id === 'fence-malformed');
    assert.ok(!watcher.frames.some(({ json }) => json.kind.startsWith('capability/')));
});

test('a grant expires: told to all, checked before the next envelope, and never passed on for longer', async () => {
    const [, lead, bot, aide] = await room('lead', 'bot', 'aide');
    const expires_at = new Date(Date.now() + 5000).toISOString();
    const sent = grant(lead, 'aide', ['x/*'], { expires_at });

    await expect(aide, (json) => isAck(json) && json.payload.expires_at === expires_at);
    const refusedLonger = await refused(aide, grant(aide, 'bot', ['x/y'], { expires_at: new Date(Date.parse(expires_at) + 1).toISOString() }));
    assert.equal(refusedLonger.capability, 'x/y');
    assert.equal((await refused(aide, grant(aide, 'bot', ['x/y']))).capability, 'x/y', 'for ever is longer');
    const passedOn = grant(aide, 'bot', ['x/y'], { expires_at });
    await expect(bot, (json) => isAck(json) && json.correlation_id === passedOn.id);
    assert.equal(await may(bot, 'x/y'), true);
    const ends = [];
    while (ends.length < 2)
        ends.push(await expect(lead, (json) => isAck(json) && json.payload.status === 'expired'));
    assert.deepEqual(ends.map(({ payload }) => payload.grant_id).sort(), [sent.id, passedOn.id].sort());
    assert.deepEqual(ends.map((end) => end.correlation_id).sort(), [sent.id, passedOn.id].sort());
    assert.ok(Date.now() >= Date.parse(expires_at));
    assert.deepEqual((await expect(bot, isWelcome)).payload.you.capabilities, ['chat']);
    assert.equal(await may(bot, 'x/y'), false);
    assert.equal(await may(aide, 'x/y'), false);
});

test('a grant of so many uses counts only what was delivered, and is asked last', async () => {
    const [topic, lead, bot, watcher] = await room('lead', 'bot', 'watcher');
    const sent = grant(lead, 'bot', ['x/*', 'chat', 'mcp/request:tools/call'], { max_uses: 2 });
    const granted = await expect(watcher, isAck);

    assert.equal(granted.payload.max_uses, 2);
    const welcome = await expect(bot, isWelcome);
    assert.deepEqual(welcome.payload.you.capabilities, ['chat'], 'no lasting right');
    assert.equal(welcome.payload.moot.grants[0].uses_left, 2);
    bot.chat('of my own', { id: `own-${topic}` });
    await expect(bot, ({ id }) => id === `own-${topic}`);
    // Refused for another reason: not a use.
    bot.send(envelope('bot', 'x/y', { id: `own-${topic}` }));
    assert.equal((await expect(bot, answerTo(`own-${topic}`))).payload.error, 'duplicate_id');
    assert.equal(await may(bot, 'x/y'), true);
    assert.equal((await gateway.post('bot-token', topic, envelope('bot', 'x/z'))).status, 200);
    const end = await expect(watcher, (json) => isAck(json) && json.payload.status === 'used_up');
    assert.deepEqual([end.correlation_id, end.payload.recipient, end.payload.granter], [sent.id, 'bot', 'lead']);
    assert.equal(await may(bot, 'x/y'), false);
    const more = grant(lead, 'aide', ['x/y'], { max_uses: 5 });
    const aide = await gateway.join('aide', { topic });
    await expect(lead, (json) => isAck(json) && json.correlation_id === more.id);
    assert.equal((await refused(aide, grant(aide, 'bot', ['x/y'], { max_uses: 1 }))).capability, 'x/y', 'counted rights are not passed on');
});

test('a grant is revoked by its id: by its granter, or by who holds all of it', async () => {
    const [topic, lead, bot, aide] = await room('lead', 'bot', 'aide');
    const first = grant(lead, 'bot', ['x/y', 'chat']);

    await expect(bot, (json) => isAck(json) && json.correlation_id === first.id);
    assert.equal((await refused(aide, revoke(aide, 'bot', { grant_id: first.id }))).capability, 'x/y');
    const wrong = await refused(lead, revoke(lead, 'bot', { grant_id: 'nothing' }));
    assert.deepEqual([wrong.error, wrong.field], ['not_found', 'payload.grant_id']);
    assert.equal((await refused(lead, revoke(lead, 'watcher', { grant_id: first.id }))).error, 'not_found');
    const taken = revoke(lead, 'bot', { grant_id: first.id });
    const ack = await expect(aide, (json) => isAck(json) && json.correlation_id === taken.id);
    assert.deepEqual(ack.payload, {
        status: 'revoked', grant_id: first.id, granter: 'lead', recipient: 'bot', capabilities: ['x/y', 'chat'], still: ['chat'],
    });
    assert.deepEqual((await expect(bot, (json) => isWelcome(json) && !json.payload.moot.grants)).payload.you.capabilities, ['chat']);
    assert.equal(await may(bot, 'x/y'), false);
    // Not of one's own making, but covered.
    const second = grant(lead, 'bot', ['chat']);
    await expect(bot, (json) => isAck(json) && json.correlation_id === second.id);
    const byAide = revoke(aide, 'bot', { grant_id: second.id });
    await expect(aide, (json) => isAck(json) && json.correlation_id === byAide.id);
    // A granter's loss takes nothing back.
    const third = grant(lead, 'bot', ['x/y']);
    await expect(bot, (json) => isAck(json) && json.correlation_id === third.id);
    const { status } = await gateway.request(`POST /admin/participants/lead/capabilities?topic=${topic}`, { token: 'boss-token', json: { revoke: ['x/*'] } });
    assert.equal(status, 200);
    assert.equal(await may(lead, 'x/y'), false);
    assert.equal(await may(bot, 'x/y'), true);
    const mine = revoke(lead, 'bot', { grant_id: third.id });
    await expect(lead, (json) => isAck(json) && json.correlation_id === mine.id);
});

test('capabilities are revoked by what they cover, those of the settings as well', async () => {
    const [topic, lead, bot] = await room('lead', 'bot');
    const weakOne = grant(lead, 'bot', ['x/y', 'x/z', 'mcp/request:tools/call:read']);

    await expect(bot, (json) => isAck(json) && json.correlation_id === weakOne.id);
    const strong = await gateway.join('bot', { topic, token: 'bot-strong', isPresent: true });
    assert.deepEqual(new Set(strong.welcome.payload.you.capabilities), new Set(['chat', 'y/z', 'x/y', 'x/z', 'mcp/request:tools/call:read']));
    const tooMuch = await refused(lead, revoke(lead, 'bot', { capabilities: ['chat', 'y/*'] }));
    assert.equal(tooMuch.capability, 'y/*', 'nobody strikes more than he holds');
    const taken = revoke(lead, 'bot', { capabilities: ['x/*', 'chat'], reason: 'enough' });
    const ack = await expect(lead, (json) => isAck(json) && json.correlation_id === taken.id);
    assert.deepEqual(ack.payload, { status: 'revoked', recipient: 'bot', capabilities: ['x/*', 'chat'] });
    const readTools = 'mcp/request:tools/call:read';
    assert.deepEqual((await expect(bot, (json) => isWelcome(json))).payload.you.capabilities.length > 0, true);
    assert.equal(await may(bot, 'chat'), false, 'a capability of the settings');
    assert.equal(await may(bot, 'x/y'), false);
    assert.equal(await may(bot, readTools), true);
    assert.equal(await may(strong, 'chat'), false);
    assert.equal(await may(strong, 'y/z'), true, 'each credential keeps its own');
    assert.equal((await gateway.post('bot-token', topic, envelope('bot', 'chat'))).status, 403);
    const part = revoke(lead, 'bot', { capabilities: ['mcp/request:tools/call:read_file', readTools] });
    const left = await expect(lead, (json) => isAck(json) && json.correlation_id === part.id);
    assert.equal(left.payload.still, undefined);
    const back = grant(lead, 'bot', ['chat']);
    await expect(bot, (json) => isAck(json) && json.correlation_id === back.id);
    assert.equal(await may(bot, 'chat'), true, 'what is granted later is not struck');
    assert.equal(await may(strong, 'chat'), true);
    const elsewhere = await gateway.join('bot', { topic: `${topic}-other` });
    assert.equal(await may(elsewhere, 'chat'), true, 'only here');
});

test('what is still held and allows a part is told', async () => {
    const [, lead, bot] = await room('lead', 'bot');
    const wide = grant(lead, 'bot', ['x/*']);

    await expect(bot, (json) => isAck(json) && json.correlation_id === wide.id);
    const narrow = revoke(lead, 'bot', { capabilities: ['x/y'] });
    const ack = await expect(lead, (json) => isAck(json) && json.correlation_id === narrow.id);
    assert.deepEqual(ack.payload.still, ['x/*']);
    assert.equal(await may(bot, 'x/y'), true, 'a pattern has no holes');
});

test('capabilities that look into the payload are granted, attenuated, counted and revoked like others', async () => {
    const [, keeper, bot] = await room('keeper', 'bot');
    const kind = 'mcp/request:tools/call';
    const reads = (name) => ({ kind, payload: { params: { name } } });
    const call = (name, method = 'tools/call') => ({ payload: { method, params: { name } } });

    for (const tooMuch of [kind, reads('*'), reads('write_file'), { kind: 'mcp/request:*', payload: { params: { name: 'read_file' } } }])
        assert.deepEqual((await refused(keeper, grant(keeper, 'bot', [reads('read_file'), tooMuch]))).capability, tooMuch);
    const sent = grant(keeper, 'bot', [{ payload: { params: { name: ['read_file', 'read_dir'] } }, kind }]);
    const welcome = await expect(bot, isWelcome);
    assert.deepEqual(welcome.payload.you.capabilities, ['chat'], 'lists of the protocol hold strings');
    assert.deepEqual(welcome.payload.you.moot.capabilities, [reads(['read_file', 'read_dir'])]);
    assert.deepEqual((await expect(bot, isAck)).payload.capabilities, [reads(['read_file', 'read_dir'])]);
    assert.equal(await may(bot, kind, call('read_file')), true);
    assert.equal(await may(bot, kind, call('write_file')), false);
    const spoofed = bot.send(envelope('bot', kind, call('read_file', 'tools/list')));
    assert.equal((await expect(bot, answerTo(spoofed.id))).payload.error, 'kind_payload_mismatch');
    const taken = revoke(keeper, 'bot', { capabilities: [reads('read_*')] });
    await expect(bot, (json) => isAck(json) && json.correlation_id === taken.id);
    assert.equal(await may(bot, kind, call('read_file')), false);
    const once = grant(keeper, 'bot', [reads('read_dir')], { max_uses: 1 });
    await expect(bot, (json) => isAck(json) && json.correlation_id === once.id);
    const spoofedAgain = bot.send(envelope('bot', kind, call('read_dir', 'tools/list')));
    assert.equal((await expect(bot, answerTo(spoofedAgain.id))).payload.error, 'kind_payload_mismatch', 'and that is no use');
    assert.equal(await may(bot, kind, call('read_file')), false);
    assert.equal(await may(bot, kind, call('read_dir')), true);
    assert.equal(await may(bot, kind, call('read_dir')), false);
    assert.ok(sent.id);
});

test('who speaks in dots grants in dots, and each reads it in his own spelling', async () => {
    const [topic, lead, bot] = await room('lead', 'bot');
    const dotted = await gateway.join('lead', { topic, dialect: 'dotted', isPresent: true });
    const sent = dotted.send(envelope('lead', 'capability.grant', {
        protocol: 'mcpx/draft', payload: { recipient: 'bot', capabilities: ['mcp.request.tools/call', 'x/y'] },
    }));

    assert.deepEqual([(await expect(lead, ({ id }) => id === sent.id)).kind, (await expect(lead, isAck)).payload.capabilities],
        ['capability/grant', ['mcp.request.tools/call', 'x/y']], 'as it was written');
    const ack = await expect(dotted, ({ kind }) => kind === 'capability.grant-ack');
    assert.deepEqual([ack.protocol, ack.correlation_id, ack.payload.capabilities[0]], ['mcpx/draft', sent.id, 'mcp.request.tools/call']);
    assert.deepEqual(new Set((await expect(bot, isWelcome)).payload.you.capabilities), new Set(['chat', 'mcp/request:tools/call', 'x/y']));
    assert.equal(await may(bot, 'mcp/request:tools/call', { payload: { method: 'tools/call' } }), true);
    const back = dotted.send(envelope('lead', 'capability.revoke', {
        protocol: 'mcpx/draft', payload: { recipient: 'bot', capabilities: ['mcp/request:tools/*'] },
    }));
    await expect(bot, (json) => isAck(json) && json.correlation_id === back.id);
    assert.equal(await may(bot, 'mcp/request:tools/call', { payload: { method: 'tools/call' } }), false, 'covered across spellings');
    const tooMuch = dotted.send(envelope('lead', 'capability.grant', { protocol: 'mcpx/draft', payload: { recipient: 'bot', capabilities: ['mcp.*'] } }));
    assert.equal((await expect(dotted, answerTo(tooMuch.id))).payload.capability, 'mcp.*');
});

test('over HTTP it is the same', async () => {
    const [topic, lead, bot] = await room('lead', 'bot');
    const sent = envelope('lead', 'capability/grant', { payload: { recipient: 'bot', capabilities: ['x/y'] } });
    const posted = await gateway.post('lead-token', topic, sent);

    assert.deepEqual([posted.status, posted.json], [200, { id: sent.id }]);
    assert.equal(await may(bot, 'x/y'), true);
    await expect(lead, (json) => isAck(json) && json.correlation_id === sent.id);
    const tooMuch = await gateway.post('lead-token', topic, envelope('lead', 'capability/grant', { payload: { recipient: 'bot', capabilities: ['*'] } }));
    assert.deepEqual([tooMuch.status, tooMuch.json.error, tooMuch.json.capability], [403, 'capability_violation', '*']);
    assert.equal((await gateway.post('lead-token', topic, envelope('lead', 'capability/grant', { payload: { recipient: 'stranger', capabilities: ['chat'] } }))).status, 404);
    const taken = envelope('lead', 'capability/revoke', { payload: { recipient: 'bot', grant_id: sent.id } });
    assert.equal((await gateway.post('lead-token', topic, taken)).status, 200);
    assert.equal((await gateway.post('bot-token', topic, envelope('bot', 'x/y'))).status, 403);
    const { json } = await gateway.request(`GET /topics/${topic}/messages`, { token: 'bot-token' });
    assert.deepEqual(json.messages.filter(isAck).map(({ payload }) => payload.status), ['granted', 'revoked'], 'it stands in the log');
});

test('grant-ack of a participant is passed on and does nothing', async () => {
    const [, lead, bot] = await room('lead', 'bot');
    const sent = lead.send(envelope('lead', 'capability/grant-ack', { payload: { status: 'granted', recipient: 'bot', capabilities: ['x/y'] } }));

    assert.deepEqual(await expect(bot, ({ id }) => id === sent.id), sent);
    assert.equal(await may(bot, 'x/y'), false);
});

test('a grant is listed and ended by administrators with the same engine', async () => {
    const [topic, lead, bot] = await room('lead', 'bot');
    const token = 'boss-token';
    const capabilities = (json, query = `?topic=${topic}`) => gateway.request(`POST /admin/participants/bot/capabilities${query}`, { token, json });
    const sent = grant(lead, 'bot', ['x/y'], { reason: 'why not' });

    await expect(bot, (json) => isAck(json) && json.correlation_id === sent.id);
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const made = await capabilities({ add: ['a/b'], expires_at, max_uses: 1, reason: 'once' });
    assert.equal(made.status, 200);
    assert.deepEqual([made.json.oldCapabilities.includes('x/y'), made.json.newCapabilities.includes('a/b')], [true, false], 'uses are no lasting right');
    const everywhere = await capabilities({ add: ['c/d'], remove: ['y/z'] }, '');
    assert.match(everywhere.json.grant_id, /^adm-/);
    const { json } = await gateway.request(`GET /admin/participants/bot/grants?topic=${topic}`, { token });
    const here = json.rights.find((one) => one.topic === topic);
    const all = json.rights.find((one) => one.topic === undefined);
    assert.equal(json.rights.length, 2);
    assert.deepEqual(here.grants.map(({ id, granter, capabilities: held, reason, expires_at: end, max_uses, uses_left }) => ({ id, granter, held, reason, end, max_uses, uses_left })), [
        { id: sent.id, granter: 'lead', held: ['x/y'], reason: 'why not', end: undefined, max_uses: undefined, uses_left: undefined },
        { id: made.json.grant_id, granter: 'boss', held: ['a/b'], reason: 'once', end: expires_at, max_uses: 1, uses_left: 1 },
    ]);
    assert.deepEqual(all.grants.map(({ capabilities: held }) => held), [['c/d']]);
    assert.deepEqual(all.strikes.map(({ capability, reach, by }) => [capability, reach, by]), [['y/z', 'same', 'boss']]);
    assert.equal(await may(bot, 'a/b'), true);
    assert.equal(await may(bot, 'a/b'), false, 'used up');
    const again = await capabilities({ add: ['c/d'] }, '');
    assert.equal(again.json.grant_id, everywhere.json.grant_id, 'the same again changes nothing');
    assert.equal((await capabilities({ revoke: ['x/*', 'c/*'] })).status, 200);
    assert.deepEqual([await may(bot, 'x/y'), await may(bot, 'c/d')], [false, false]);
    const elsewhere = await gateway.join('bot', { topic: `${topic}-other` });
    assert.equal(await may(elsewhere, 'c/d'), true);
    assert.equal((await capabilities({ revoke: ['c/*'] }, '')).status, 200);
    assert.equal(await may(elsewhere, 'c/d'), false);
    takeAll(lead);
    assert.ok(!lead.frames.some(({ json: one }) => isAck(one) && one.payload.granter === 'boss'), 'the room is not told of administration');
    for (const bad of [{ add: ['x/y'], expires_at: 'soon' }, { add: ['x/y'], max_uses: -1 }, { revoke: ['a b'] }, { add: ['x/y'], reason: 1 }])
        assert.equal((await capabilities(bad)).status, 400, JSON.stringify(bad));
    assert.equal((await capabilities({ add: ['x/y'], max_uses: 1 }, '')).status, 400, 'uses are counted in one topic');
    assert.equal((await capabilities({ add: Array.from({ length: 1025 }, (_, i) => `k/x${i}`) })).status, 400);
    assert.equal((await capabilities({ add: Array.from({ length: 1024 }, (_, i) => `k/x${i}`) })).status, 413, 'too many together');
    assert.equal((await gateway.request('GET /admin/participants/bot/grants', { token: 'bot-token' })).status, 403);
});

test('who does not read his welcomes is closed before they fill the memory', async () => {
    const [, lead, bot] = await room('lead', 'bot');
    const long = (n) => Array.from({ length: 60 }, (_, i) => `x/${n}-${i}-${'y'.repeat(1000)}`);
    const told = async (sent) => expect(lead, (json) => json.correlation_id === sent.id);

    for (const n of [1, 2, 3])
        await told(grant(lead, 'bot', long(n))); // large welcomes from now on
    bot.socket.pause();
    for (let i = 0; i < 120; i++)
        await told(grant(lead, 'bot', ['chat']));
    assert.ok(lead.frames.some(({ json }) => json.kind === 'system/presence' && json.payload.event === 'leave'), 'before the last of them');
    bot.socket.resume();
    assert.deepEqual(await bot.closed(), { code: 4008, reason: 'slow_consumer: the outbox is full' });
});

test('more conditions on payloads than a set may have are refused, and more than eight at once', async () => {
    const [, keeper, bot] = await room('keeper', 'bot');
    const reads = (from, length) => Array.from({ length }, (_, i) => ({ kind: 'mcp/request:tools/call', payload: { params: { name: `read_${from + i}` } } }));

    for (let i = 0; i < 8; i++) {
        const { id } = grant(keeper, 'bot', reads(8 * i, 8));
        await expect(bot, (json) => isAck(json) && json.correlation_id === id);
    }
    assert.equal((await refused(keeper, grant(keeper, 'bot', reads(64, 1)))).error, 'unavailable');
    for (const sent of [grant(keeper, 'bot', reads(0, 9)), revoke(keeper, 'bot', { capabilities: reads(0, 9) })]) {
        const { error, field } = await refused(keeper, sent);
        assert.deepEqual([error, field], ['malformed_envelope', 'payload.capabilities']);
    }
    assert.equal(await may(bot, 'chat'), true);
});

test('two hundred and fifty-six grants are enough', async () => {
    const [, lead, , watcher] = await room('lead', 'bot', 'watcher');

    for (let i = 0; i < 256; i++)
        grant(lead, 'watcher', ['chat']);
    const last = grant(lead, 'watcher', ['chat']);
    const error = await refused(lead, last);
    assert.equal(error.error, 'unavailable');
    takeAll(watcher);
    assert.equal(lead.frames.filter(({ json }) => isAck(json)).length, 256);
});

test('who speaks in dots is shown grants in dots: welcome, acknowledgement, replay, with conditions too', async () => {
    const [topic, keeper] = await room('keeper');
    const dots = (payload) => ({ protocol: 'mcpx/draft', payload });
    const bot = await gateway.join('bot', { topic, dialect: 'dotted' });
    const given = { kind: 'mcp/request:tools/call', payload: { params: { name: 'read_a*' } } };
    const shown = { kind: 'mcp.request.tools/call', payload: given.payload };
    const { id } = grant(keeper, 'bot', ['capability/*', given]);

    const { payload: { you, moot } } = await expect(bot, ({ kind }) => kind === 'system.welcome');
    assert.deepEqual(you.capabilities, ['chat.message', 'capability.*']);
    assert.deepEqual(you.moot.capabilities, [shown]);
    assert.deepEqual(moot.grants[0].capabilities, ['capability.*', shown]);
    const ack = await expect(bot, ({ kind }) => kind === 'capability.grant-ack');
    assert.deepEqual(ack.payload.capabilities, ['capability.*', shown]);
    const replayed = await gateway.join('bot', { topic, dialect: 'dotted', isPresent: true, after: id });
    assert.deepEqual((await expect(replayed, ({ kind }) => kind === 'capability.grant-ack')).payload, ack.payload);
    const call = (name) => envelope('bot', 'mcp.request.tools/call', dots({ method: 'tools/call', params: { name } }));
    const sent = bot.send(call('read_all'));
    assert.equal((await expect(bot, (one) => one.id === sent.id || one.correlation_id === sent.id)).id, sent.id);
    const refusal = await expect(bot, answerTo(bot.send(call('write')).id));
    assert.deepEqual(refusal.payload.moot.capabilities, [shown]);
});
