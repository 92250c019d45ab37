// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { load } from './load.mjs';

const { sentenceOf, summaryOf, isWide, capabilityFrom } = await load('state/sentences.ts');
const { expiryOf } = await load('state/expiry.ts');

test('capabilities are sentences that go on from "may"', () => {
    for (const [capability, sentence] of [
        ['*', 'do everything that any member can do'],
        ['mcp/*', 'call, propose, answer and decide, all of it'],
        ['mcp/request:*', 'call anything, without asking'],
        ['mcp/request:tools/*', 'list and call every tool'],
        ['mcp/request:tools/call', 'call every tool'],
        ['mcp/request:tools/call:deploy', 'call the tool “deploy”'],
        ['mcp/request:tools/call:read_*', 'call tools whose name begins with “read_”'],
        ['mcp/request:tools/call:*_file', 'call tools whose name ends with “_file”'],
        ['mcp/request:tools/call:a*b*c', 'call tools whose name fits “a*b*c”'],
        ['mcp/request:*/list', 'list what others offer'],
        ['mcp/request:resources/read', 'read every resource'],
        ['mcp/request:resources/read:file:///a', 'read the resource “file:///a”'],
        ['mcp/request:prompts/list', 'list prompts'],
        ['mcp/request:logging/setLevel', 'send requests of “logging/setLevel”'],
        ['mcp.request.tools/call:deploy', 'call the tool “deploy”'],
        ['mcp/proposal:*', 'propose anything, for others to decide'],
        ['mcp/proposal:tools/call:deploy', 'propose to call the tool “deploy”'],
        ['mcp/response:*', 'answer what others ask'],
        ['mcp/approve', 'approve what others propose'],
        ['chat', 'talk in the room'],
        ['capability/*', 'give and take away capabilities'],
        ['team/create', 'create teams'],
        ['weather/report', 'send messages of the kind “weather/report”'],
        ['weather/*', 'send messages whose kind fits “weather/*”'],
        ['constructor', 'send messages of the kind “constructor”'],
        ['mcp/request:constructor', 'send requests of “constructor”'],
    ])
        assert.equal(sentenceOf(capability), sentence, capability);
});

test('conditions on the payload are told as well', () => {
    const call = (params) => sentenceOf({ kind: 'mcp/request:tools/call', payload: { params } });

    assert.equal(call({ name: 'deploy', arguments: { target: 'staging*' } }),
        'call every tool, only if the tool’s name is “deploy” and the argument “target” begins with “staging”');
    assert.equal(call({ name: ['read_*', 'list', '!read_secret*'] }),
        'call every tool, only if the tool’s name begins with “read_” or is “list”, and does not begin with “read_secret”');
    assert.equal(call({ arguments: { force: false, path: '!*/../*', n: [1, null] } }),
        'call every tool, only if the argument “force” is false and the argument “path” does not contain “/../” and the argument “n” is 1 or is null');
    assert.equal(sentenceOf({ kind: 'chat', payload: { to: { room: 'a' } } }), 'talk in the room, only if “to.room” of the message is “a”');
    assert.equal(sentenceOf({ kind: 'chat' }), 'talk in the room');
});

test('names that would turn the text around are shown by their numbers', () => {
    assert.equal(sentenceOf('mcp/request:tools/call:\u202egpj'), 'call the tool “⟨U+202E⟩gpj”');
});

test('what reaches far comes first', () => {
    assert.deepEqual(summaryOf(['chat', 'mcp/response:*', 'mcp/request:*']), { sentences: ['call anything, without asking', 'talk in the room'], more: 1 });
    assert.deepEqual([isWide('mcp/*'), isWide('chat'), isWide({ kind: 'mcp/*', payload: { a: 1 } })], [true, false, false]);
});

test('what is typed is a pattern or an object', () => {
    assert.equal(capabilityFrom(' mcp/* '), 'mcp/*');
    assert.deepEqual(capabilityFrom('{"kind":"chat"}'), { kind: 'chat' });
    for (const bad of ['a b', '', '{', '{"a":1}', '[]x y'])
        assert.equal(capabilityFrom(bad), null, bad);
});

test('spans are from now on, and dates must lie ahead', () => {
    const now = Date.parse('2026-11-16T12:00:00Z');

    assert.equal(expiryOf('never', '', now), null);
    assert.equal(expiryOf('hour', '', now), '2026-11-16T13:00:00.000Z');
    assert.equal(expiryOf('at', '2026-11-16T11:00:00Z', now), undefined);
    assert.equal(expiryOf('at', '', now), undefined);
    assert.equal(expiryOf('at', '2026-11-17T11:00:00Z', now), '2026-11-17T11:00:00.000Z');
});
