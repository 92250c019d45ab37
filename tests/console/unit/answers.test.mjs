// SPDX-License-Identifier: Apache-2.0
// What a person's page answers by itself, and when it does not.
import assert from 'node:assert/strict';
import test from 'node:test';

import { load } from './load.mjs';

const { Answerer } = await load('state/answers.ts');

const NOW = Date.parse('2026-11-18T09:00:00Z');
const at = (ms) => new Date(NOW + ms).toISOString();
const gateway = (kind, payload, ms = 0) => ({ protocol: 'mcpx/v0.1', id: `sys-${kind}`, from: 'system:gateway', kind, payload, ts: at(ms) });
let count = 0;
const ask = (method, more = {}) => {
    const id = `r${++count}`;
    return { protocol: 'mcpx/v0.1', id, from: 'ben', to: ['ann'], kind: `mcp/request:${method}`, payload: { jsonrpc: '2.0', id: 7, method: method.split(':')[0] }, ...more };
};
const join = (id = 'ann', ms = 50) => gateway('system/presence', { event: 'batch', participants: [{ event: 'join', id }] }, ms);

function begin({ isLive = true, me = ['mcp/*'] } = {}) {
    const answerer = new Answerer('ann');
    const hear = (said, now = NOW, who = me) => answerer.hear(said, who, now, now);
    answerer.connect();
    hear(gateway('system/welcome', {}));
    if (isLive) hear(join());
    return { answerer, hear };
}

test('who asks what there is hears that there is nothing, and who calls that nothing can be called', () => {
    const { hear } = begin();
    const lists = { 'tools/list': { tools: [] }, 'prompts/list': { prompts: [] }, 'resources/list': { resources: [] }, 'resources/templates/list': { resourceTemplates: [] }, ping: {} };

    for (const [method, result] of Object.entries(lists)) {
        const said = ask(method);
        assert.deepEqual(hear(said), { kind: `mcp/response:${method}`, payload: { jsonrpc: '2.0', id: 7, result }, to: ['ben'], correlation_id: said.id });
    }
    for (const kind of ['tools/call:rm', 'constructor', 'resources/read:file:///a:b']) {
        const { kind: answered, payload } = hear(ask(kind));
        assert.equal(answered, `mcp/response:${kind}`);
        assert.deepEqual(payload.error, { code: -32601, message: 'This is a person at the console; nothing can be called here.' });
    }
});

test('what asks nobody, somebody else or nothing is not answered', () => {
    const { hear } = begin();
    const not = [
        ask('tools/list', { to: undefined }), ask('tools/list', { to: ['ben'] }), ask('tools/list', { from: 'ann' }), ask('notifications/progress'),
        ask('tools/list', { payload: { method: 'tools/list' } }), ask('tools/list', { payload: { id: null } }), ask('tools/list', { kind: 'mcp/proposal:tools/list' }), ask('tools/list', { from: 'system:gateway' }),
    ];

    for (const said of not) assert.equal(hear(said), null, JSON.stringify(said));
});

test('only what comes live is answered, and each request once', () => {
    const { answerer, hear } = begin({ isLive: false });
    const old = ask('tools/list'), late = ask('tools/list'), stale = ask('tools/list', { ts: at(-60_000) });

    assert.equal(hear(old), null, 'told again behind the welcome');
    assert.equal(hear(join('ann', -9000)), null);
    assert.equal(hear(ask('tools/list')), null, 'one had come before, too');
    hear(join());
    assert.equal(hear(old), null, 'and not later either');
    assert.ok(hear(late));
    assert.equal(hear(late), null, 'once');
    assert.equal(hear(stale), null, 'asked a minute ago');
    answerer.connect();
    assert.equal(hear(ask('tools/list')), null, 'before the welcome');
    hear(gateway('system/welcome', {}));
    assert.equal(hear(ask('tools/list')), null);
    assert.ok(hear(ask('tools/list'), NOW + 3001), 'the room knew already that one is here');
    hear(gateway('system/welcome', {}), NOW + 4000);
    assert.ok(hear(ask('tools/list'), NOW + 4001), 'other rights are no other connection');
});

test('only where it may, and not without end', () => {
    assert.equal(begin({ me: ['chat', 'mcp/request:*'] }).hear(ask('tools/list')), null);
    assert.equal(begin({ me: [{ kind: 'mcp/response:*', payload: {} }] }).hear(ask('tools/list')), null, 'conditions are not guessed at');
    assert.ok(begin({ me: ['mcp/response:*'] }).hear(ask('tools/call:x')));

    const { hear } = begin();
    const answers = Array.from({ length: 30 }, () => hear(ask('ping'))).filter(Boolean);
    assert.equal(answers.length, 10);
    assert.ok(hear(ask('ping'), NOW + 1000));
});
