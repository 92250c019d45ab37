// SPDX-License-Identifier: Apache-2.0
// moot audit replay: a recorded conversation comes again, by the replayer, and nothing executes.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { changesIn, envelope, expect, people, person, startGateway } from './gateway.mjs';
import { moot } from './moot.mjs';
import { Recorder } from './record.mjs';

let gateway, folder, count = 0;
const at = (name) => path.join(folder, name);

before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-replay-'));
    gateway = await startGateway({
        tokens: [...people('ann', 'bob'), person('actor', { capabilities: ['chat', 'replay/*'] }), person('mute', { capabilities: ['chat'] }),
            person('hasty', { capabilities: ['chat', 'replay/*'] })],
        limits: { rate_messages: '20/s' },
    });
});
after(async () => {
    await gateway.stop();
    fs.rmSync(folder, { recursive: true });
});

function write(record) {
    const name = at(`record${++count}.jsonl`);

    fs.writeFileSync(name, record.text());
    return name;
}

const replay = (as, file, to, ...args) => moot(gateway, as, ['audit', 'replay', '--file', file, '--topic', 'room', '--to', to, '--speed', '0', ...args]);

// What reaches the room, without what is new every time.
const shape = ({ id, ts, protocol, ...rest }) => rest;

test('replay: a chat stays a chat, all else becomes replay/KIND, and answers refer to what is new', async () => {
    const r = new Recorder();
    const call = { method: 'tools/call', params: { name: 'rm', arguments: { path: '/tmp/x' } } };

    r.say('zoe', 'chat', { text: 'hello' }, { id: 'c1' });
    r.say('bot', 'mcp/proposal:tools/call:rm', { ...call, reason: 'old' }, { id: 'p1', to: ['files'] });
    r.say('zoe', 'mcp/request:tools/call:rm', { jsonrpc: '2.0', id: 'f1', ...call }, { id: 'f1', correlation_id: 'p1', to: ['files'] });
    r.say('zoe', 'chat', { text: 'elsewhere' }, { topic: 'other' });
    r.add({ event: 'refusal', topic: 'room', participant: 'bot', kind: 'chat', id: 'x', verdict: 'rate_limited', body: { payload: { text: 'never said' } } });
    r.say('zoe', 'participant/kick', { participant: 'ann', reason: 'x' }, { id: 'k1' });
    r.say('zoe', 'capability/grant', { participant: 'ann', capabilities: ['*'] }, { id: 'g1' });
    r.say('zoe', 'chat', { text: 'secret' }, { id: 's1', removed: true });
    r.say('files', 'mcp/response:tools/call:rm', { jsonrpc: '2.0', id: 'f1', result: {} }, { id: 'r1', correlation_id: 'f1', to: ['zoe'] });
    r.say('zoe', 'chat', { text: 'bye' }, { id: 'c2', correlation_id: 'unknown' });

    const ann = await gateway.join('ann', { topic: 'demo' });
    const { status, stdout, stderr } = await replay('actor', write(r), 'demo');
    assert.deepEqual([status, stdout, stderr], [0, '7 envelopes replayed into demo, 1 left out\n', '']);

    const came = [];
    while (came.length < 7)
        came.push(await expect(ann, (json) => json.from === 'actor'));
    const ids = Object.fromEntries(came.map((json) => [json.replay_of.id, json.id]));
    const times = Object.fromEntries(r.lines.slice(1).map((line) => JSON.parse(line)).filter(({ body }) => body?.ts).map(({ id, body }) => [id, body.ts]));
    const of = (from, id, more = {}) => ({ from, id, ts: times[id], ...more });
    assert.deepEqual(came.map(shape), [
        { from: 'actor', kind: 'chat', replay_of: of('zoe', 'c1'), payload: { text: 'hello' } },
        { from: 'actor', kind: 'replay/mcp/proposal', replay_of: of('bot', 'p1', { kind: 'mcp/proposal:tools/call:rm', to: ['files'] }), payload: { ...call, reason: 'old' } },
        { from: 'actor', kind: 'replay/mcp/request', correlation_id: ids.p1,
            replay_of: of('zoe', 'f1', { kind: 'mcp/request:tools/call:rm', to: ['files'] }), payload: { jsonrpc: '2.0', id: 'f1', ...call } },
        { from: 'actor', kind: 'replay/participant/kick', replay_of: of('zoe', 'k1', { kind: 'participant/kick' }), payload: { participant: 'ann', reason: 'x' } },
        { from: 'actor', kind: 'replay/capability/grant', replay_of: of('zoe', 'g1', { kind: 'capability/grant' }), payload: { participant: 'ann', capabilities: ['*'] } },
        { from: 'actor', kind: 'replay/mcp/response', correlation_id: ids.f1,
            replay_of: of('files', 'r1', { kind: 'mcp/response:tools/call:rm', to: ['zoe'] }), payload: { jsonrpc: '2.0', id: 'f1', result: {} } },
        { from: 'actor', kind: 'chat', replay_of: of('zoe', 'c2'), payload: { text: 'bye' } },
    ]);
    assert.equal(new Set(came.map(({ id }) => id)).size, 7);

    // Nobody was kicked, nothing was granted, and no proposal is open.
    const { json } = await gateway.request('GET /topics/demo/proposals', { token: 'ann-token' });
    assert.deepEqual(json.proposals, []);
    ann.send(envelope('ann', 'participant/kick', { payload: { participant: 'bob' } }));
    assert.equal((await expect(ann, ({ kind }) => kind === 'system/error')).payload.error, 'capability_violation');
    await ann.close();
});

test('replay: who may not say it is refused', async () => {
    const r = new Recorder();

    r.say('zoe', 'mcp/request:ping', { jsonrpc: '2.0', id: '1', method: 'ping' });
    const { status, stdout, stderr } = await replay('mute', write(r), 'demo2');
    assert.deepEqual([status, stdout], [4, '']);
    assert.match(stderr, /^moot: you may not say replay\/mcp\/request here; who replays needs the capabilities chat and replay\/\*:\n/);
});

test('replay: it obeys the limits, and all of it comes in order', async () => {
    const r = new Recorder();
    const ann = await gateway.join('ann', { topic: 'fast' });
    const wanted = [];

    for (let i = 0; i < 80; i++)
        wanted.push(r.say('zoe', 'chat', { text: `${i}` }));
    const { status, stdout } = await replay('hasty', write(r), 'fast');
    assert.deepEqual([status, stdout], [0, '80 envelopes replayed into fast\n']);
    for (const id of wanted)
        assert.equal((await expect(ann, (json) => json.from === 'hasty')).replay_of.id, id);
    await expect(ann, (json) => changesIn(json).some(({ event, id }) => event === 'leave' && id === 'hasty'));
    assert.equal(ann.frames.filter(({ json }) => json.from === 'hasty').length, 80);
    await ann.close();
});

test('replay: nothing to replay, and bodies that are gone', async () => {
    const r = new Recorder();

    r.say('zoe', 'chat', { text: 'x' }, { topic: 'other' });
    assert.deepEqual((({ status, stderr }) => [status, stderr])(await replay('actor', write(r), 'demo3')),
        [1, 'moot: nothing that was said in room is in the record\n']);
    r.say('zoe', 'chat', { text: 'x' }, { removed: true });
    assert.deepEqual((({ status, stderr }) => [status, stderr])(await replay('actor', write(r), 'demo3')),
        [1, 'moot: nothing that was said in room is in the record any more: the bodies were removed\n']);
});
