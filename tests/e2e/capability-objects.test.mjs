// SPDX-License-Identifier: Apache-2.0
// D15: capabilities that look into the payload. Wherever they come from they are shown apart
// from the patterns, and they allow exactly the payloads they describe.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { changesIn, envelope, expect, people, person, startGateway } from './gateway.mjs';

const call = 'mcp/request:tools/call';
const reads = {
    kind: call,
    payload: { params: { name: ['read_*', '!read_secret*'], arguments: { path: '/data/*', follow: false } } },
};
const small = { kind: 'notes/*', payload: { size: [1, 2, null] } };
const normal = { // as it is shown: names sorted
    kind: call,
    payload: { params: { arguments: { follow: false, path: '/data/*' }, name: ['read_*', '!read_secret*'] } },
};

let gateway;

before(async () => {
    gateway = await startGateway({
        profiles: { reader: { capabilities: ['chat', reads] } },
        tokens: [
            ...people('witness'),
            person('boss', { profile: 'admin' }),
            person('eve', { capabilities: ['chat', reads, small] }),
            person('rita', { profile: 'reader' }),
            person('plain', { capabilities: ['chat'] }),
            person('both', { capabilities: [reads, 'mcp/request:*'] }),
        ],
    });
});
after(() => gateway.stop());

const calling = (from, params, { kind = `${call}:read_file`, method = 'tools/call' } = {}) =>
    envelope(from, kind, { payload: { method, params } });
const file = (args, name = 'read_file') => ({ name, arguments: args });

// Sends text and says whether it came through or how it was refused.
async function outcome(client, value) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const { id } = JSON.parse(text);

    client.send(text);
    const json = await expect(client, (one) => one.id === id || one.correlation_id === id);
    return json.id === id ? 'ok' : json.payload.error;
}

test('D15: welcome, presence, roster and lists show patterns and objects apart', async () => {
    const witness = await gateway.join('witness', { topic: 'shown' });
    const eve = await gateway.join('eve', { topic: 'shown' });
    const mine = { id: 'eve', capabilities: ['chat'], moot: { type: 'agent', capabilities: [normal, small] } };

    assert.deepEqual(eve.welcome.payload.you, mine);
    const joined = await expect(witness, (json) => changesIn(json).some(({ id }) => id === 'eve'));
    assert.deepEqual(joined.payload.participant, mine);
    const plain = await gateway.join('plain', { topic: 'shown' });
    assert.deepEqual(plain.welcome.payload.participants.find(({ id }) => id === 'eve'), mine);
    assert.deepEqual(plain.welcome.payload.you.moot, { type: 'agent' });
    const again = await gateway.open('eve', { topic: 'shown' });
    const welcome = await expect(again, ({ kind }) => kind === 'system/welcome');
    assert.deepEqual(welcome.payload.participants.map(({ id }) => id).sort(), ['plain', 'witness']);

    const listed = await gateway.request('GET /topics/shown/participants', { token: 'witness-token' });
    assert.deepEqual(listed.json.participants.find(({ id }) => id === 'eve'), mine);
    const { json } = await gateway.request('GET /admin/members?topic=shown', { token: 'boss-token' });
    const member = json.members.find(({ participantId }) => participantId === 'eve');
    assert.deepEqual([member.capabilities, member.moot], [['chat'], { capabilities: [normal, small] }]);
    assert.equal(json.members.find(({ participantId }) => participantId === 'plain').moot, undefined);
    const tokens = await gateway.request('GET /admin/tokens', { token: 'boss-token' });
    const token = tokens.json.tokens.find(({ id }) => id === 'rita');
    assert.deepEqual([token.capabilities, token.moot], [['chat'], { capabilities: [normal] }]);
});

const good = { path: '/data/x', follow: false };
const cases = [
    ['what it describes', file(good), 'ok'],
    ['more fields beside', { ...file({ ...good, more: [1] }), _meta: {} }, 'ok'],
    ['another tool', file(good, 'write_file'), 'capability_violation'],
    ['a tool that is excluded', file(good, 'read_secrets'), 'capability_violation'],
    ['the bare beginning of a pattern', file(good, 'read_'), 'capability_violation'],
    ['another path', file({ ...good, path: '/etc/passwd' }), 'capability_violation'],
    ['no path', file({ follow: false }), 'capability_violation'],
    ['no arguments', { name: 'read_file' }, 'capability_violation'],
    ['arguments as a list', file(['/data/x']), 'capability_violation'],
    ['a path that is a list', file({ ...good, path: ['/data/x'] }), 'capability_violation'],
    ['a text instead of false', file({ ...good, follow: 'false' }), 'capability_violation'],
    ['another case', file({ ...good, Path: '/etc/passwd' }), 'capability_violation'],
    ['a look-alike', file({ ...good, 'p\u0430th': 1, 'ｐath': '/etc' }), 'capability_violation'],
    ['an invisible character', file({ ...good, 'pa\u200bth': '/etc' }), 'capability_violation'],
    ['a NUL behind the name', file({ ...good, 'path\u0000': '/etc' }), 'capability_violation'],
    ['a name that only begins the same', file({ ...good, paths: '/etc' }), 'ok'],
];

test('D15: every named field decides, at both doors', async () => {
    const witness = await gateway.join('witness', { topic: 'fields' });
    const eve = await gateway.join('eve', { topic: 'fields' });
    const rita = await gateway.join('rita', { topic: 'fields' });

    for (const [what, params, expected] of cases) {
        const kind = `${call}:${params.name}`;
        assert.equal(await outcome(eve, calling('eve', params, { kind })), expected, what);
        assert.equal(await outcome(rita, calling('rita', params, { kind })), expected, what);
        const posted = await gateway.post('eve-token', 'fields', calling('eve', params, { kind }));
        assert.equal(posted.json.error ?? 'ok', expected, what);
    }
    const passed = cases.filter(([, , expected]) => expected === 'ok').length * 3;
    witness.chat('fence');
    await expect(witness, ({ kind, from }) => kind === 'chat' && from === 'witness');
    assert.equal(witness.frames.filter(({ json }) => json.kind.startsWith(call)).length, passed);
});

test('D15: duplicates are refused and escapes are read, in names and in values', async () => {
    const eve = await gateway.join('eve', { topic: 'raw' });
    const raw = (args) => JSON.stringify(calling('eve', file('ARGS'))).replace('"ARGS"', args);
    const texts = [
        [raw('{"path":"/data/x","follow":false}'), 'ok'],
        [raw('{"p\\u0061th":"\\/data\\u002fx","follow":false}'), 'ok'],
        [raw('{"path":"/data/x","follow":false,"path":"/data/x"}'), 'capability_violation'],
        [raw('{"path":"/data/x","follow":false,"p\\u0061th":"/etc"}'), 'capability_violation'],
        [raw('{"path":"\\u002fetc/x","follow":false}'), 'capability_violation'],
        [raw('{"path":"/data/x","follow":false},"arguments":{"path":"/data/x","follow":false}'), 'capability_violation'],
        [raw('{"path":"/data/x","follow":false},"Arguments":{}'), 'capability_violation'],
    ];

    for (const [text, expected] of texts)
        assert.equal(await outcome(eve, text), expected, text);
});

test('D15: the refusal says what is at fault and shows both lists', async () => {
    const eve = await gateway.join('eve', { topic: 'refusal' });
    const sent = eve.send(calling('eve', file({ ...good, path: '/etc' })));
    const { payload } = await expect(eve, ({ correlation_id: about }) => about === sent.id);

    assert.deepEqual(payload, {
        error: 'capability_violation',
        message: `You lack capability for '${call}:read_file' with this payload`,
        field: 'payload',
        attempted_kind: `${call}:read_file`,
        your_capabilities: ['chat'],
        moot: { capabilities: [normal, small] },
    });
    assert.equal(await outcome(eve, envelope('eve', 'notes/x', { payload: { size: 2 } })), 'ok');
    assert.equal(await outcome(eve, envelope('eve', 'notes/x', { payload: { size: null } })), 'ok');
    assert.equal(await outcome(eve, envelope('eve', 'notes/x', { payload: { size: '2' } })), 'capability_violation');
    assert.equal(await outcome(eve, envelope('eve', 'notes/x', { payload: { size: 2.5 } })), 'capability_violation');
    assert.equal(await outcome(eve, envelope('eve', 'mcp/request:tools/list', { payload: { method: 'tools/list' } })), 'capability_violation');
});

test('D15, D21: what only an object allows must be what the payload asks for, also where the topic is lazy', async () => {
    const eve = await gateway.join('eve', { topic: 'lazy' });
    const both = await gateway.join('both', { topic: 'lazy' });

    assert.equal(await outcome(eve, calling('eve', file(good))), 'ok');
    assert.equal(await outcome(eve, calling('eve', file(good), { method: 'tools/delete' })), 'kind_payload_mismatch');
    assert.equal(await outcome(eve, calling('eve', file(good), { kind: `${call}:read_other` })), 'kind_payload_mismatch');
    assert.equal(await outcome(both, calling('both', file(good), { method: 'tools/delete' })), 'ok'); // by its pattern
});

test('D15: a pattern that covers the kind allows whatever an object says', async () => {
    const both = await gateway.join('both', { topic: 'both' });

    assert.equal(await outcome(both, calling('both', file({ path: '/etc' }))), 'ok');
});

test('D15, D20: objects are shown and matched in the spelling of who looks', async () => {
    const respelt = (object) => ({ ...object, kind: object.kind.replace('mcp/request:', 'mcp.request.').replace('/*', '.*') });
    const eve = await gateway.join('eve', { topic: 'dots', dialect: 'dotted' });
    const dots = (params, kind = 'mcp.request.tools/call:read_file') =>
        ({ ...calling('eve', params, { kind }), protocol: 'mcpx/draft' });

    assert.deepEqual(eve.welcome.payload.you, {
        id: 'eve', capabilities: ['chat.message'], moot: { type: 'agent', capabilities: [respelt(normal), respelt(small)] },
    });
    assert.equal(await outcome(eve, dots(file(good))), 'ok');
    const sent = eve.send(dots(file({ ...good, path: '/etc' })));
    const { payload } = await expect(eve, ({ correlation_id: about }) => about === sent.id);
    assert.deepEqual([payload.attempted_kind, payload.your_capabilities, payload.moot.capabilities],
        ['mcp.request.tools/call:read_file', ['chat.message'], [respelt(normal), respelt(small)]]);

    const plain = await gateway.join('plain', { topic: 'dots' });
    const change = await gateway.request('POST /admin/participants/plain/capabilities?topic=dots',
        { token: 'boss-token', json: { add: [respelt(reads)] } });
    assert.equal(change.status, 200, change.text);
    const welcome = await expect(plain, ({ kind }) => kind === 'system/welcome');
    assert.deepEqual(welcome.payload.you.moot.capabilities, [normal]);
    assert.equal(await outcome(plain, calling('plain', file(good))), 'ok');
    assert.equal(await outcome(plain, calling('plain', file({ ...good, path: '/etc' }))), 'capability_violation');
});

test('D15: tokens made at run time hold objects, and keep them', async () => {
    const made = await gateway.request('POST /admin/tokens', {
        token: 'boss-token', json: { id: 'tom', name: 'tom-1', capabilities: ['chat', reads, { kind: 'x/y', payload: {} }] },
    });
    assert.equal(made.status, 201, made.text);
    const tom = await gateway.join('tom', { token: made.json.token, topic: 'made' });

    assert.deepEqual(tom.welcome.payload.you, {
        id: 'tom', capabilities: ['chat', 'x/y'], moot: { type: 'agent', capabilities: [normal] },
    });
    assert.equal(await outcome(tom, calling('tom', file(good))), 'ok');
    assert.equal(await outcome(tom, calling('tom', file({ ...good, path: '/x' }))), 'capability_violation');
    for (const [capabilities, why] of [
        [[{ payload: { a: 1 } }], /has `kind`/], [[{ kind: 'a', payload: { a: [] } }], /empty list/],
        [[{ kind: 'a', to: 'b' }], /nothing else/], [['{"kind":"a"}'], /begin with '\{'/], [[1], /pattern or an object/],
    ]) {
        const { status, text } = await gateway.request('POST /admin/tokens', { token: 'boss-token', json: { id: 'x', capabilities } });
        assert.equal(status, 400, text);
        assert.match(JSON.parse(text).detail, why);
    }
});

test('D15: objects are added and removed like patterns, whatever the order of their names', async () => {
    const plain = await gateway.join('plain', { topic: 'change' });
    const change = (json) => gateway.request('POST /admin/participants/plain/capabilities?topic=change', { token: 'boss-token', json });

    assert.equal(await outcome(plain, calling('plain', file(good))), 'capability_violation');
    const added = await change({ add: [reads, 'x/y'] });
    assert.equal(added.status, 200, added.text);
    assert.deepEqual([added.json.oldCapabilities, added.json.newCapabilities, added.json.moot],
        [['chat'], ['chat', 'x/y'], { oldCapabilities: [], newCapabilities: [normal] }]);
    const { payload } = await expect(plain, ({ kind }) => kind === 'system/welcome');
    assert.deepEqual(payload.you.moot.capabilities, [normal]);
    assert.equal(await outcome(plain, calling('plain', file(good))), 'ok');
    const removed = await change({ remove: [normal] });
    assert.deepEqual(removed.json.moot, { oldCapabilities: [normal], newCapabilities: [] });
    assert.equal(await outcome(plain, calling('plain', file(good))), 'capability_violation');
    assert.equal((await change({ add: [{ kind: 'a b' }] })).status, 400);
    assert.equal((await change({ add: 'chat' })).status, 400);
});

test('D15: a stored token still holds its objects after a restart', async () => {
    const config = { tokens: [person('boss', { profile: 'admin' })] };
    const data = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-e2e-'));
    const first = await startGateway(config, { args: ['--data', data] });
    const made = await first.request('POST /admin/tokens', { token: 'boss-token', json: { id: 'tom', capabilities: [reads] } });
    await first.stop();
    const again = await startGateway(config, { args: ['--data', data] });
    const tom = await again.join('tom', { token: made.json.token });

    assert.deepEqual(tom.welcome.payload.you, { id: 'tom', capabilities: [], moot: { type: 'agent', capabilities: [normal] } });
    await again.stop();
    fs.rmSync(data, { recursive: true });
});
