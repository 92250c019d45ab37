// SPDX-License-Identifier: Apache-2.0
// D13: kinds that are, kinds that almost are, and those that are the gateway's alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, expectOnly, person, startGateway } from './gateway.mjs';

let gateway;
let alice;
let witness;

before(async () => {
    gateway = await startGateway({
        tokens: [person('alice', { capabilities: ['*', 'system/*', 'system', 'presence'] }), person('witness', { capabilities: ['chat'] })],
    });
    alice = await gateway.join('alice');
    witness = await gateway.join('witness');
    await expect(alice, (json) => json.payload.participant?.id === 'witness');
});
after(async () => { await gateway.stop(); });

const reserved = ['system', 'system/', 'system/x', 'system/welcome', 'system/presence', 'system/error', 'system/x/y',
    'system//', 'system/*', 'presence', 'system/\u0000', 'system/ x'];

const malformed = [
    '', ' ', '/', ':', '*', 'chat ', ' chat', 'Chat', 'CHAT', 'chat/', 'chat/x', 'chat:x', 'chat*', 'ch\u0000at', 'chat\u0000', '\u0441hat',
    'chat\n', 'chat\u200b', '\ufeffchat', 'presence/x', 'presence ', 'Presence', 'presence:x',
    'System', 'SYSTEM/x', 'system ', ' system', ' system/x', 'system\u0000', 'system\u0000/x', '\u0000system/x', 'sy\u0455tem/x', '\uff53ystem/x', 'system:x',
    'system.x', 'system\\x', '/system/x', 'system\u2215x', '\u017fystem/x', './system/x', 'x/../system',
    'mcp', 'mcp/', 'mcp/x', 'mcp/request', 'mcp/request:', 'mcp/request/tools', 'mcp/requests:tools/call', 'MCP/request:tools/call', 'mcp/Request:tools/call',
    'mcp/request:tools/', 'mcp/request:/tools', 'mcp/request:tools//call', 'mcp/request:tools/call:', 'mcp/request::x', 'mcp/request:tools call',
    'mcp/request:tools/call:a b', 'mcp/request:tools/call:*', 'mcp/request:tools/*', 'mcp/request:tools/call:a\tb', 'mcp/request:tools/call:a\u00a0b',
    'mcp/request:tools/call:\u0000', 'mcp/request:tools/call:a\u3000b', 'mcp/request:tools/c\u00e4ll', 'mcp/request:-tools', 'mcp/request:.tools',
    'mcp/approve:x', 'mcp/approve/', 'mcp/approved', 'mcp/withdraw ', 'mcpx/x', 'mcpx',
    'word/', '/word', 'word//word', 'Word', 'wOrd', '1word', '-word', 'wo_rd', 'wo.rd', 'word:x', 'wörd', 'word/1', 'word/-x', 'word word',
];

const fine = ['chat', 'systems/x', 'systems', 'system-x', 'systemx/y', 'presences', 'presence-x/y', 'chats', 'chat-x', 'mcp-x', 'mcpxx/y',
    'x', 'a/b/c', 'a1-/b-2', 'participant/status', 'x'.repeat(2048),
    'mcp/request:tools/call', 'mcp/request:tools/call:read_file', 'mcp/request:resources/read:file:///a/b?c=d:e', 'mcp/request:x',
    'mcp/request:notifications/tools/list_changed', 'mcp/request:A.b-c_d/0', 'mcp/proposal:tools/call:größe', 'mcp/request:tools/call::', 'mcp/request:_x'];

const both = (name, error, kinds) => {
    for (const kind of kinds)
        test(`D13: ${JSON.stringify(kind).slice(0, 60)} is ${name}`, async () => {
            const sent = alice.send(envelope('alice', kind));
            const answer = await alice.next();
            assert.deepEqual([answer.kind, answer.payload.error, answer.correlation_id], ['system/error', error, sent.id]);
            assert.equal(answer.payload.attempted_kind, kind);
            assert.equal((await gateway.post('alice-token', 'room', envelope('alice', kind))).json.error, error);
            await expectOnly([alice, witness], witness);
        });
};

both("the gateway's alone, even with a capability for it", 'reserved_namespace', reserved);
both('no kind', 'malformed_kind', malformed);

for (const kind of fine)
    test(`D13: ${JSON.stringify(kind).slice(0, 60)} is a kind`, async () => {
        const sent = alice.send(envelope('alice', kind));
        assert.equal((await witness.next()).id, sent.id);
        assert.equal((await alice.next()).id, sent.id);
    });

test('D13: escapes hide nothing', async () => {
    for (const [kind, error] of [['\\u0073ystem/x', 'reserved_namespace'], ['system\\/x', 'reserved_namespace'],
        ['s\\u0079stem', 'reserved_namespace'], ['\\u0043hat', 'malformed_kind'], ['chat\\u0000', 'malformed_kind']]) {
        alice.send(JSON.stringify(envelope('alice', 'KIND')).replace('KIND', kind));
        assert.equal((await alice.next()).payload.error, error, kind);
    }
    await expectOnly([alice, witness], witness);
});

test('D13: a kind is judged before the rights: one who may do nothing learns the same', async () => {
    for (const [kind, error] of [['system/x', 'reserved_namespace'], ['Chat', 'malformed_kind'], ['systems/x', 'capability_violation']]) {
        witness.send(envelope('witness', kind));
        assert.equal((await witness.next()).payload.error, error);
    }
    await expectOnly([alice, witness], witness);
});
