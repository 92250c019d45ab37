// SPDX-License-Identifier: Apache-2.0
// The topic for curl and scripts: posting and reading over HTTP, and what there is.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';

import { envelope, expectOnly, people, person, startGateway } from './gateway.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({
        topics: { named: { tiny: { ring_messages: 3 } } },
        tokens: [...people('alice', 'bob', 'carol'), person('guest', { topics: ['lobby'] })],
    });
});
after(async () => { await gateway.stop(); });

const read = (id, topic, query = '') => gateway.request(`GET /topics/${topic}/messages${query}`, { token: `${id}-token` });
const post = (id, topic, more) => gateway.post(`${id}-token`, topic, envelope(id, 'chat', more));
const texts = (answer) => answer.json.messages.map((one) => one.payload.text);

test('posting is delivered to members, and the poster is none', async () => {
    const bob = await gateway.join('bob', { topic: 'posting' });
    const sent = envelope('alice', 'chat', { payload: { text: 'from curl' } });
    const answer = await gateway.post('alice-token', 'posting', sent);

    assert.deepEqual([answer.status, answer.json], [200, { id: sent.id }]);
    assert.deepEqual(await bob.next(), sent); // no join before it
    const present = await gateway.request('GET /topics/posting/participants', { token: 'alice-token' });
    assert.deepEqual(present.json.participants.map((one) => one.id), ['bob']);
    assert.equal((await gateway.join('carol', { topic: 'posting' })).welcome.payload.participants.length, 1);
});

test('reading goes on after an id, in order, and says when there is more', async () => {
    const topic = 'reading';
    assert.deepEqual((await read('alice', topic)).json, { messages: [], gap: false, more: false });
    const ids = [];
    for (const text of ['a', 'b', 'c'])
        ids.push((await post('bob', topic, { payload: { text } })).json.id);
    const all = await read('alice', topic);
    assert.deepEqual(texts(all), ['a', 'b', 'c']);
    assert.deepEqual([all.json.gap, all.json.more, all.json.last], [false, false, ids[2]]);
    assert.deepEqual(texts(await read('alice', topic, `?after=${ids[0]}`)), ['b', 'c']);
    assert.deepEqual(texts(await read('alice', topic, `?after=${ids[2]}`)), []);
});

test('who comes later does not read what was said before', async () => {
    const topic = 'later';
    const { id } = (await post('alice', topic, { payload: { text: 'early' } })).json;
    assert.deepEqual((await read('bob', topic)).json.messages, []);
    assert.deepEqual((await read('bob', topic, `?after=${id}`)).json.messages, []);
    await post('alice', topic, { payload: { text: 'late' } });
    assert.deepEqual(texts(await read('bob', topic)), ['late']);
});

test('what rolled out of the ring is a gap, and so is an unknown id', async () => {
    await read('alice', 'tiny');
    const ids = [];
    for (const text of ['a', 'b', 'c', 'd', 'e'])
        ids.push((await post('bob', 'tiny', { payload: { text } })).json.id);
    const gap = await read('alice', 'tiny', `?after=${ids[0]}`);
    assert.deepEqual([gap.json.gap, texts(gap)], [true, ['c', 'd', 'e']]);
    const unknown = await read('alice', 'tiny', '?after=nothing&wait=5');
    assert.deepEqual([unknown.json.gap, texts(unknown)], [true, ['c', 'd', 'e']]);
    const none = await read('alice', 'tiny', `?after=${ids[2]}`);
    assert.deepEqual([none.json.gap, texts(none)], [false, ['d', 'e']]);
});

test('directed reading leaves out what names others', async () => {
    const topic = 'directed';
    await read('alice', topic);
    for (const [text, to] of [['all'], ['hers', ['alice']], ['not hers', ['carol']], ['both', ['carol', 'alice']]])
        await post('bob', topic, { payload: { text }, to });
    assert.deepEqual(texts(await read('alice', topic, '?routing=directed')), ['all', 'hers', 'both']);
    assert.deepEqual(texts(await read('alice', topic, '?routing=all')), ['all', 'hers', 'not hers', 'both']);
});

test('a long poll answers with the next envelope that concerns the reader', async () => {
    const topic = 'poll';
    const bob = await gateway.join('bob', { topic });
    await read('alice', topic);
    await expectOnly([bob], bob);
    const { last } = (await read('alice', topic)).json;
    const started = Date.now();
    const polls = [read('alice', topic, `?after=${last}&wait=50`), read('alice', topic, `?after=${last}&wait=50&routing=directed`)];
    await read('alice', topic); // the polls are before this one
    bob.chat('for carol', { to: ['carol'] });
    bob.chat('for alice', { to: ['alice'] });
    assert.deepEqual(texts(await polls[0])[0], 'for carol');
    assert.deepEqual(texts(await polls[1]), ['for alice']);
    assert.ok(Date.now() - started < 49_000);
    await bob.close();
});

test('a long poll with nothing to tell ends empty in time', async () => {
    const started = Date.now();
    const answer = await read('alice', 'silence', '?wait=1');
    assert.deepEqual(answer.json, { messages: [], gap: false, more: false });
    assert.ok(Date.now() - started >= 950);
});

test('a poller that goes away leaves nothing behind', async () => {
    const req = http.get({ host: gateway.host, port: gateway.port, path: '/topics/gone/messages?wait=60', agent: false,
        headers: { Authorization: 'Bearer alice-token' } });
    req.on('error', () => {});
    await read('alice', 'gone');
    req.destroy();
    await post('bob', 'gone', { payload: { text: 'x' } });
    assert.deepEqual(texts(await read('alice', 'gone')), ['x']);
});

test('bad parameters are 400', async () => {
    for (const query of ['?wait=x', '?wait=s', '?wait=1m', '?wait=-1', '?wait=1.5', '?wait=99999', '?routing=none', '?after=a&after=b', '?wait=1&wait=1', '?after=%ff', '?after=%zz'])
        assert.equal((await read('alice', 'bad', query)).status, 400, query);
});

test('posting takes one envelope as application/json and nothing else', async () => {
    const post = (headers, body) => gateway.request('POST /topics/x/messages', { token: 'alice-token', headers, body });
    const text = JSON.stringify(envelope('alice'));
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', ''])
        assert.deepEqual((await post({ 'Content-Type': type }, text)).json.error, 'unsupported_media_type', type);
    assert.equal((await post({}, text)).status, 415);
    assert.equal((await post({ 'Content-Type': 'application/json' }, '')).json.error, 'malformed_envelope');
    assert.equal((await post({ 'Content-Type': 'Application/JSON; charset=utf-8' }, text)).status, 200);
    const bad = await post({ 'Content-Type': 'application/json' }, Buffer.from([0x7b, 0xff, 0x7d]));
    assert.equal(bad.status, 400);
});

test('who may not enter may neither post, read nor list', async () => {
    for (const what of ['messages', 'participants', 'proposals'])
        assert.equal((await gateway.request(`GET /topics/room/${what}`, { token: 'guest-token' })).status, 403);
    assert.equal((await post('guest', 'room')).status, 403);
    assert.equal((await gateway.request('GET /topics')).status, 401);
    const alice = await gateway.join('alice', { topic: 'lobby' });
    const { topics } = (await gateway.request('GET /topics', { token: 'guest-token' })).json;
    assert.deepEqual(topics, [{ name: 'lobby', participants: 1 }]);
    const { topics: all } = (await gateway.request('GET /topics', { token: 'alice-token' })).json;
    assert.ok(all.length > 3 && all.some((one) => one.name === 'lobby'));
    await alice.close();
});

test('participating over HTTP alone: propose, see it listed, answer', async () => {
    const topic = 'alone';
    const proposal = envelope('alice', 'mcp/proposal:tools/call:x');
    assert.equal((await gateway.post('alice-token', topic, proposal)).status, 200);
    const listed = async () => (await gateway.request(`GET /topics/${topic}/proposals`, { token: 'bob-token' })).json.proposals;
    assert.deepEqual((await listed()).map((one) => [one.id, one.proposer]), [[proposal.id, 'alice']]);
    const own = await gateway.post('alice-token', topic, envelope('alice', 'mcp/request:tools/call:x', { correlation_id: proposal.id }));
    assert.deepEqual([own.status, own.json.error], [409, 'proposal_state']); // nobody decides on his own call
    const request = envelope('bob', 'mcp/request:tools/call:x', { correlation_id: proposal.id });
    assert.equal((await gateway.post('bob-token', topic, request)).status, 200);
    assert.deepEqual(await listed(), []);
    const again = await gateway.post('carol-token', topic, envelope('carol', 'mcp/request:tools/call:x', { correlation_id: proposal.id }));
    assert.deepEqual([again.status, again.json.error], [409, 'proposal_state']);
    const routing = await gateway.post('alice-token', topic, envelope('alice', 'participant/routing', { payload: { mode: 'all' } }));
    assert.deepEqual([routing.status, routing.json.error], [400, 'malformed_envelope']);
});
