// SPDX-License-Identifier: Apache-2.0
// Calls that a server asks about, in the terminal room: allowed for a while, denied, left to somebody else, and found by
// who came later.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';
import { serveAuthorized } from './owner.mjs';
import { crowd, inRoom, startRoom } from './terminal.mjs';

let gateway;

before(async () => { gateway = await startGateway({ tokens: [...crowd, person('caller')] }); });
after(() => gateway.stop());

async function people(join) {
    const [files, caller, bob] = [await join('files'), await join('caller'), await join('bob')];
    const owner = serveAuthorized(files, { rm: ({ path }) => `removed ${path}` }, { reason: 'removing is for good' });
    const call = (path) => {
        caller.send(envelope('caller', 'mcp/request:tools/call:rm', { to: ['files'],
            payload: { jsonrpc: '2.0', id: path, method: 'tools/call', params: { name: 'rm', arguments: { path } } } }));
        return owner.announced();
    };

    return { owner, caller, bob, call };
}

const answered = (caller, path) => expect(caller, ({ kind, payload }) => kind === 'mcp/response:tools/call:rm' && payload.id === path &&
    payload.error?.code !== -32001);

test('allowed once, for an hour, for a day; denied', inRoom(() => gateway, { columns: 80, rows: 22 }, async (room, terminal) => {
    const { owner, caller, call } = await people(room.join);

    for (const [path, key, done, hours] of [['/a', 'y', 'allowed, this once', 0], ['/b', 'h', 'allowed, and the same call for an hour', 1],
        ['/c', 'd', 'allowed, and the same call for a day', 24]]) {
        await call(path);
        await terminal.sees('1 waits: F2');
        await terminal.press('F2');
        await terminal.sees(`"path": "${path}"`);
        await terminal.sees('because   removing is for good');
        await terminal.sees(' a allow  r deny  d let somebody decide ');
        await terminal.press('a');
        await terminal.sees(' y  allow rm at files, once  h  for an hour  d  for a day  n  no');
        await terminal.press(key);
        await terminal.sees(done);
        assert.equal((await answered(caller, path)).payload.result.content[0].text, `removed ${path}`);
        const { validUntil, decision } = owner.heard.at(-1);
        assert.equal(decision, 'approve');
        assert.equal(validUntil ? Math.round((Date.parse(validUntil) - Date.now()) / 3600_000) : 0, hours);
        await terminal.sees('allowed by alice');
    }
    await call('/d');
    await terminal.sees('1 waits: F2');
    await terminal.press('F2');
    await terminal.sees('"path": "/d"');
    await terminal.press('r');
    await terminal.sees('deny, because:');
    await terminal.type('not today');
    await terminal.press('Enter');
    assert.deepEqual((await answered(caller, '/d')).payload.error.data.reason, 'not today');
    await terminal.sees('does not allow it: not today');
    await terminal.sees('not allowed by alice');
}));

test('left to somebody else, it is his', inRoom(() => gateway, { columns: 80, rows: 22 }, async (room, terminal) => {
    const { owner, call } = await people(room.join);

    await call('/x');
    await terminal.sees('1 waits: F2');
    await terminal.press('F2');
    await terminal.sees('"path": "/x"');
    await terminal.press('d');
    await terminal.sees('who is to decide:');
    await terminal.type('nobody');
    await terminal.press('Enter');
    await terminal.sees('nobody of that name is here');
    await terminal.press('C-u');
    await terminal.type('bob');
    await terminal.press('Enter');
    await terminal.sees('left to bob');
    await owner.announced();
    assert.deepEqual([owner.heard.at(-1).decision, owner.heard.at(-1).delegate], ['delegate', 'bob']);
    await terminal.sees('leaves it to bob');
    await terminal.sees('asks bob whether caller may call rm');
    await terminal.sees('asked anew');
    await terminal.lacks('waits: F2'); // not for us
    await terminal.press('F2');
    await terminal.sees('asked     bob');
    await terminal.press('a');
    await terminal.sees('somebody else is asked to decide: no other answer counts');
}));

test('who comes later finds what waits', async () => {
    const topic = 'later';
    const { owner, caller, call } = await people((id) => gateway.join(id, { topic }));

    await call('/late');
    const { terminal } = await startRoom(gateway, { topic, columns: 80 });
    try {
        await terminal.sees('1 waits: F2');
        await terminal.press('F2');
        await terminal.sees('"path": "/late"');
        await terminal.press('a');
        await terminal.sees('allow rm at files, once');
        await terminal.press('y');
        assert.equal((await answered(caller, '/late')).payload.result.content[0].text, 'removed /late');
        assert.equal(owner.heard.at(-1).from, 'alice');
    } finally {
        await terminal.close();
    }
});
