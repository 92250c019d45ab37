// SPDX-License-Identifier: Apache-2.0
// What stands in the record: who said what and by which right, what was refused and why, who
// came and went, what administrators did. Of a topic whose audit is off: nothing.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { readRecord, recorded } from './audit.mjs';
import { envelope, expect, people, person, startGateway } from './gateway.mjs';
import { moot } from './moot.mjs';

let gateway, alice, bob;

before(async () => {
    gateway = await startGateway({
        topics: { named: { quiet: { audit: 'off' } } },
        tokens: [
            ...people('alice', 'bob'),
            person('proposer', { capabilities: ['mcp/proposal:*'] }),
            person('picky', { capabilities: [{ kind: 'mcp/request:tools/call', payload: { params: { name: 'read_*' } } }] }),
            person('giver', { capabilities: ['mcp/*', 'chat', 'capability/grant', 'capability/revoke'] }),
            person('boss', { profile: 'admin' }),
        ],
    });
    alice = await gateway.join('alice');
    bob = await gateway.join('bob');
});

after(() => gateway.stop());

const byId = (id) => (record) => record.id === id;

test('envelope: with its sender, its kind, and the capability that allowed it', async () => {
    const chat = alice.chat('hello');
    const request = alice.send(envelope('alice', 'mcp/request:tools/call', { to: ['bob'], payload: { method: 'tools/call', params: { name: 'x' } } }));
    await expect(bob, byId(request.id));
    const response = bob.send(envelope('bob', 'mcp/response:tools/call', { to: ['alice'], correlation_id: request.id, payload: { result: {} } }));
    const first = await recorded(gateway, byId(chat.id));
    const second = await recorded(gateway, byId(request.id));
    const third = await recorded(gateway, byId(response.id));

    assert.deepEqual([first.event, first.topic, first.participant, first.kind, first.verdict, first.by],
        ['envelope', 'room', 'alice', 'chat', 'allowed', 'chat']);
    assert.deepEqual(first.body, chat);
    assert.deepEqual([second.kind, second.by, second.correlation_id], ['mcp/request:tools/call', 'mcp/*', undefined]);
    assert.deepEqual([third.participant, third.correlation_id], ['bob', request.id]);
    assert.ok(first.seq < second.seq && second.seq < third.seq);
});

test('envelope: a capability that looks into the payload, and a grant that is counted', async () => {
    const call = (name) => envelope('picky', 'mcp/request:tools/call', { to: ['bob'], payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } } });
    const looked = call('read_file');
    assert.equal((await gateway.post('picky-token', 'room', looked)).status, 200);
    assert.match((await recorded(gateway, byId(looked.id))).by, /^\{"kind":"mcp\/request:tools\/call".*read_\*/);

    const giver = await gateway.join('giver');
    const grant = giver.send(envelope('giver', 'capability/grant', { payload: { recipient: 'proposer', capabilities: ['chat'], max_uses: 1 } }));
    await expect(giver, (json) => json.kind === 'capability/grant-ack');
    const used = envelope('proposer', 'chat', { payload: { text: 'once' } });
    assert.equal((await gateway.post('proposer-token', 'room', used)).status, 200);
    assert.equal((await recorded(gateway, byId(used.id))).by, `grant:${grant.id}`);
    const made = await recorded(gateway, (record) => record.event === 'grant' && record.kind === 'grant');
    assert.deepEqual([made.topic, made.participant, made.id, made.body.recipient, made.body.grant.capabilities],
        ['room', 'giver', grant.id, 'proposer', ['chat']]);
    const over = await recorded(gateway, (record) => record.event === 'grant' && record.kind === 'used_up');
    assert.deepEqual([over.participant, over.id], [undefined, grant.id]);
    const strike = giver.send(envelope('giver', 'capability/revoke', { payload: { recipient: 'bob', capabilities: ['chat'] } }));
    const struck = await recorded(gateway, (record) => record.event === 'grant' && record.id === strike.id);
    assert.deepEqual([struck.kind, struck.body], ['revoke', { recipient: 'bob', capabilities: ['chat'] }]);
    await giver.close();
});

test('envelope: what comes in dots is recorded in slashes', async () => {
    const dotted = envelope('alice', 'chat.message', { protocol: 'mcpx/draft', payload: { text: 'in dots' } });
    assert.equal((await gateway.request('POST /topics/room/messages?dialect=dotted', { token: 'alice-token', json: dotted })).status, 200);
    const record = await recorded(gateway, byId(dotted.id));
    assert.deepEqual([record.kind, record.body], ['chat', { ...dotted, protocol: 'mcpx/v0.1', kind: 'chat' }]);
});

test('refusal: with the reason and what could be read of it, at every door', async () => {
    const posted = envelope('proposer', 'chat', { payload: { text: 'may not' } });
    assert.equal((await gateway.post('proposer-token', 'room', posted)).status, 403);
    const record = await recorded(gateway, byId(posted.id));
    assert.deepEqual([record.event, record.topic, record.participant, record.kind, record.verdict, record.by],
        ['refusal', 'room', 'proposer', 'chat', 'capability_violation', undefined]);
    assert.deepEqual(record.body, posted);

    alice.send('no JSON at all');
    await expect(alice, (json) => json.kind === 'system/error' && json.payload.error === 'malformed_envelope');
    const broken = await recorded(gateway, (one) => one.event === 'refusal' && one.verdict === 'malformed_envelope');
    assert.deepEqual([broken.participant, broken.id, broken.kind, broken.body], ['alice', undefined, undefined, 'no JSON at all']);

    const long = alice.send(envelope('alice', 'system/welcome', { payload: { text: 'ä'.repeat(100_000) } }));
    const cut = await recorded(gateway, byId(long.id));
    assert.equal(cut.verdict, 'reserved_namespace');
    assert.ok(cut.body_bytes < 40_000 && cut.body.startsWith('{"protocol"'));

    const type = await gateway.request('POST /topics/room/messages', { token: 'alice-token', body: 'never judged', headers: { 'Content-Type': 'text/plain' } });
    assert.equal(type.status, 415);
    const unjudged = await recorded(gateway, (one) => one.event === 'refusal' && one.verdict === 'unsupported_media_type');
    assert.deepEqual([unjudged.topic, unjudged.participant, unjudged.body], ['room', 'alice', 'never judged']);
});

test('presence and connections: who came from where with which token, and why they left', async () => {
    const eve = await gateway.join('giver');
    const { connectionId } = (await gateway.request('GET /admin/members', { token: 'boss-token' })).json.members
        .find((member) => member.participantId === 'giver');
    const join = await recorded(gateway, (one) => one.event === 'presence' && one.participant === 'giver' && one.kind === 'join');
    const connect = await recorded(gateway, (one) => one.event === 'connect' && one.id === connectionId);
    assert.deepEqual([connect.kind, connect.participant, connect.body], ['websocket', 'giver', { address: '127.0.0.1', token: 'giver', dialect: 'slash', type: 'agent' }]);
    assert.match(join.id, /^sys-/);
    assert.equal((await gateway.request('POST /admin/members/giver/kick', { token: 'boss-token' })).status, 200);
    await eve.closed();
    const left = await recorded(gateway, (one) => one.event === 'disconnect' && one.id === connectionId);
    assert.deepEqual([left.kind, left.participant, left.body.code], ['kicked', 'giver', 4003]);
    await recorded(gateway, (one) => one.event === 'presence' && one.participant === 'giver' && one.kind === 'leave');
    const lost = await gateway.join('proposer');
    lost.socket.terminate();
    const gone = await recorded(gateway, (one) => one.event === 'disconnect' && one.participant === 'proposer');
    assert.equal(gone.kind, 'lost');
});

test('acts: every one of them, by whom, refused ones too, and no secret', async () => {
    const made = await gateway.request('POST /admin/tokens', { token: 'boss-token', json: { id: 'new', capabilities: ['chat'], topics: ['*'] } });
    assert.equal(made.status, 201);
    const create = await recorded(gateway, (one) => one.event === 'admin' && one.kind === 'token.create');
    assert.deepEqual([create.participant, create.verdict, create.body.status, create.body.request.id], ['boss', 'allowed', 201, 'new']);
    const { name } = made.json.about;
    assert.equal((await gateway.request(`DELETE /admin/tokens/${name}`, { token: 'boss-token' })).status, 200);
    assert.equal((await gateway.request('DELETE /admin/tokens/none-such', { token: 'boss-token' })).status, 404);
    await recorded(gateway, (one) => one.kind === 'token.revoke' && one.verdict === 'allowed' && one.body.path.endsWith(name));
    await recorded(gateway, (one) => one.kind === 'token.revoke' && one.verdict === 'not_found');
    for (const [line, kind, json] of [
        ['POST /admin/members/bob/pause?topic=room', 'member.pause'],
        ['POST /admin/members/bob/resume?topic=room', 'member.resume'],
        ['POST /admin/topics/room/loop-guard/reset', 'loop_guard.reset'],
        ['POST /admin/participants/bob/capabilities', 'capabilities.change', { add: ['x/y'] }],
        ['POST /admin/link', 'link.create'],
        ['POST /ws-ticket', 'ticket.create'],
    ]) {
        assert.equal((await gateway.request(line, { token: 'boss-token', json })).status, 200, line);
        const act = await recorded(gateway, (one) => one.event === 'admin' && one.kind === kind);
        assert.deepEqual([act.participant, act.verdict], ['boss', 'allowed'], line);
    }
    const ticket = (await gateway.request('POST /admin/link', { token: 'boss-token' })).json.ticket;
    const session = await gateway.request('POST /session', { json: { ticket } });
    assert.equal(session.status, 200, session.text);
    await recorded(gateway, (one) => one.kind === 'session.create');
    const all = JSON.stringify((await readRecord(gateway.data)).records);
    for (const secret of [made.json.token, ticket, session.json.token, 'boss-token', 'alice-token'])
        assert.ok(!all.includes(secret), 'a secret was recorded');
});

test('configuration: what was loaded, and reloads with what was wrong', async () => {
    const load = await recorded(gateway, (one) => one.event === 'config' && one.kind === 'load');
    assert.match(load.body.settings, /audit: async/);
    const settings = JSON.parse(fs.readFileSync(gateway.config, 'utf8'));
    fs.writeFileSync(gateway.config, JSON.stringify({ ...settings, log: 'nonsense' }));
    assert.equal((await gateway.request('POST /admin/reload', { token: 'boss-token' })).status, 409);
    const bad = await recorded(gateway, (one) => one.event === 'config' && one.kind === 'reload');
    assert.equal(bad.verdict, 'invalid');
    assert.match(bad.body.problem, /nonsense/);
    fs.writeFileSync(gateway.config, JSON.stringify(settings));
    assert.equal((await gateway.request('POST /admin/reload', { token: 'boss-token' })).status, 200);
    await recorded(gateway, (one) => one.event === 'config' && one.kind === 'reload' && one.verdict === 'allowed');
});

// Whatever was sent, the record and its export are UTF-8 and verify.
test('refusal: bytes that are no text do not get into the record', async () => {
    const whole = JSON.stringify(envelope('alice', 'mcp/request:tools/call', { correlation_id: 'cc', payload: { a: 'b', c: ['d'] } }));
    const texts = [Buffer.from([0xff]), Buffer.from('\0\xc3', 'latin1'), Buffer.alloc(20_000, 0xbf)];

    for (const bad of ['\xff', '\xc3', '\xed\xa0\x80', '\xf4\x90\x80\x80', '\xc0\x80'])
        for (const field of ['protocol', 'id":"', 'from":"', 'kind":"', 'correlation_id":"', 'a":"', '['])
            for (const end of ['', ' }', '\xe2\x82'])
                texts.push(Buffer.from(whole.replace(field, `${field}${bad}`) + end, 'latin1'));
    texts.push(Buffer.from(whole.replace('"b"', `"${'x'.repeat(2_000_000)}\xff"`), 'latin1'));
    for (let i = 0; i < 6; i++) // cut where a character may stand
        texts.push(Buffer.from(`{"x":"${'x'.repeat(16_370 + i)}${'€'.repeat(20)}"}`));
    for (const text of texts)
        assert.ok((await gateway.post('alice-token', 'room', text)).status >= 400, text.toString('latin1').slice(0, 200));
    const marker = alice.chat('behind those');
    await recorded(gateway, byId(marker.id));
    const file = path.join(gateway.data, 'export.jsonl');
    const run = (...args) => moot(null, null, ['audit', ...args]);
    assert.equal((await run('export', '--data', gateway.data, '-o', file)).status, 0);
    assert.ok(!fs.readFileSync(file, 'utf8').includes('\ufffd'));
    const { status, stdout, stderr } = await run('verify', '--file', file, '--key', path.join(gateway.data, 'audit.pub'));
    assert.deepEqual([status, stderr], [0, ''], stdout);
    const { records, verify } = await readRecord(gateway.data);
    assert.equal(verify.damaged, false);
    assert.ok(records.filter(({ verdict }) => verdict === 'invalid_utf8').length >= 100);
});

test('off: nothing of the topic is recorded, and what happens in it is delivered', async () => {
    const quiet = await gateway.join('alice', { topic: 'quiet' });
    quiet.chat('unheard of');
    await expect(quiet, (json) => json.payload.text === 'unheard of');
    assert.equal((await gateway.post('proposer-token', 'quiet', envelope('proposer'))).status, 403);
    await quiet.close();
    const marker = alice.chat('behind it');
    await recorded(gateway, byId(marker.id));
    const { records } = await readRecord(gateway.data);
    assert.deepEqual(records.filter((one) => one.topic === 'quiet'), []);
});

test('the whole of it verifies, while the server runs and after it has stopped', async () => {
    const other = await startGateway({ tokens: people('alice') });
    const client = await other.join('alice');
    for (let i = 0; i < 50; i++)
        client.chat(`number ${i}`);
    await expect(client, (json) => json.payload.text === 'number 49');
    assert.equal((await readRecord(other.data)).verify.damaged, false);
    other.signal('SIGTERM');
    await other.exited;
    const { records, verify } = await readRecord(other.data);
    assert.deepEqual([verify.damaged, verify.uncovered], [false, 0]);
    assert.deepEqual(records.slice(0, 2).map((one) => [one.event, one.kind]), [['server', 'start'], ['config', 'load']]);
    assert.deepEqual([records.at(-1).event, records.at(-1).kind], ['server', 'stop']);
    assert.equal(records.filter((one) => one.event === 'envelope').length, 50);
    assert.equal(records.filter((one) => one.event === 'disconnect' && one.kind === 'going_away').length, 1);
});
