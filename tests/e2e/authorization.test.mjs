// SPDX-License-Identifier: Apache-2.0
// Tool authorization (ADR-001) of a server of the gateway: the four messages, each mode, time, decisions that last,
// revoking, handing on, and who is not heard.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { readRecord, recorded } from './audit.mjs';
import { announced, answered, ask, call, denied, everybody, offering, respond, settled, soon, textOf, waits } from './authorization.mjs';
import { changesIn, envelope, expect, person, startGateway } from './gateway.mjs';

let gateway;

afterEach(() => gateway.stop());

// The server sits there, and has said what it offers.
async function begin(authorization, { ids = ['ann', 'eva', 'bot', 'ops'], tokens = everybody, more = {}, settings = {} } = {}) {
    const clients = {};

    gateway = await startGateway({ tokens, servers: { tool: offering(authorization, more) }, ...settings });
    for (const id of ids)
        clients[id] = await gateway.join(id);
    const [first] = Object.values(clients);

    if (!first.welcome.payload.participants.some((one) => one.id === 'tool'))
        await expect(first, (json) => changesIn(json).some((one) => one.event === 'join' && one.id === 'tool'));
    return clients;
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('the four messages of ADR-001, and the result', async () => {
    const { ann, bot } = await begin({ mode: 'always-prompt' });
    const sent = call(bot, 'who', { target: 'production' });
    const { first, asked } = await waits(bot, sent, { by: ann });
    const { authorizationRequest: request } = first.payload.error.data;

    assert.match(request.id, /^auth-[\w-]{16}$/);
    assert.match(request.expiresAt, time);
    assert.ok(Math.abs(Date.parse(request.expiresAt) - Date.now() - 300_000) < 60_000);
    assert.deepEqual([first.kind, first.from, first.to, first.correlation_id],
        ['mcp/response:tools/call:who', 'tool', ['bot'], sent.id]);
    assert.equal(JSON.stringify(first.payload), JSON.stringify({
        jsonrpc: '2.0', id: 'rpc-who', error: {
            code: -32001, message: 'Authorization required', data: { authorizationRequest: {
                id: request.id, tool: 'who', arguments: { target: 'production' }, requester: 'bot',
                reason: 'every call of this server is to be authorized', expiresAt: request.expiresAt,
            } },
        },
    }));
    assert.deepEqual([asked.from, asked.to, asked.correlation_id], ['tool', undefined, sent.id]);
    assert.equal(JSON.stringify(asked.payload),
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/authorization/request', params: request }));

    const word = respond(ann, asked, 'approve', { reason: 'maintenance' });
    const last = await answered(bot, sent);

    assert.deepEqual([last.kind, last.to, last.payload.id], ['mcp/response:tools/call:who', ['bot'], 'rpc-who']);
    assert.deepEqual(JSON.parse(textOf(last)).args, { target: 'production' });
    for (const id of [sent.id, first.id, asked.id, word.id, last.id])
        assert.equal((await recorded(gateway, (record) => record.id === id)).verdict, 'allowed');
    assert.equal((await readRecord(gateway.data)).records.filter((record) => record.correlation_id === sent.id).length, 3);
});

test('a denial is the second response, and the server is not called', async () => {
    const { ann, bot } = await begin({ mode: 'always-prompt' });
    const sent = call(bot);
    const { asked } = await waits(bot, sent, { by: ann });

    respond(ann, asked, 'deny', { reason: 'not today' });
    const last = await answered(bot, sent);

    assert.equal(JSON.stringify(last.payload), JSON.stringify({
        jsonrpc: '2.0', id: 'rpc-who', error: { code: -32002, message: 'Authorization denied', data: {
            reason: 'not today', authorizationId: asked.payload.params.id, decidedBy: 'ann',
        } },
    }));
    const heard = call(bot, 'heard');
    respond(ann, (await waits(bot, heard, { by: ann })).asked, 'approve');
    assert.equal(JSON.parse(textOf(await answered(bot, heard))).filter((method) => method === 'tools/call').length, 1);
});

test('always-allow, and what is not said, ask nobody; resources and prompts are never asked about', async () => {
    const { bot } = await begin({ mode: 'always-allow' });

    assert.ok(textOf(await answered(bot, call(bot))));
    await gateway.stop();
    const again = await begin(undefined);
    assert.ok(textOf(await answered(again.bot, call(again.bot))));
    await gateway.stop();
    const { ann } = await begin({ mode: 'always-prompt' }, { more: { resources: ['doc://1'], prompts: ['p'] } });
    assert.equal((await ask(ann, 'resources/read', { uri: 'doc://1' })).result.contents[0].uri, 'doc://1');
    assert.ok((await ask(ann, 'prompts/get', { name: 'p' })).result.messages);
});

test('selective: by tool, caller and arguments, the first rule counts', async () => {
    const { ann, bot } = await begin({ mode: 'selective', rules: [
        { tool: 'deploy', arguments: { target: 'staging' }, then: 'allow' },
        { tool: 'deploy', then: 'prompt' },
        { tool: 'grow', caller: 'b*', then: 'deny' },
    ] });

    assert.ok(textOf(await answered(bot, call(bot, 'deploy', { target: 'staging' }))));
    assert.ok(textOf(await answered(bot, call(bot, 'who', {}))));
    const data = denied(await answered(bot, call(bot, 'grow', { name: 'x' })));
    assert.equal(data.reason, 'a rule of this server denies it');
    assert.match(data.authorizationId, /^auth-/);
    assert.ok(textOf(await answered(ann, call(ann, 'grow', { name: 'x' }))));
    const sent = call(bot, 'deploy', { target: 'production' });
    const { asked } = await waits(bot, sent, { by: ann });
    assert.equal(asked.payload.params.reason, 'a rule of this server wants it authorized');
    respond(ann, asked, 'approve');
    assert.ok(textOf(await answered(bot, sent)));
});

test('who calls does not decide, who may not say it is refused, and wrong words are not heard', async () => {
    const { ann, eva, bot } = await begin({ mode: 'always-prompt' });
    const sent = call(ann);
    const { asked } = await waits(ann, sent);

    respond(ann, asked, 'approve'); // his own call
    respond(eva, asked, 'perhaps');
    respond(eva, asked, 'approve', { authorizationId: 'auth-none' });
    respond(eva, asked, 'approve', { validUntil: 'tomorrow' });
    respond(eva, asked, 'approve', {}, { correlation_id: sent.id });
    respond(eva, asked, 'approve', {}, { to: ['bot'] });
    const word = respond(bot, asked, 'approve');
    const refused = await expect(bot, (json) => json.kind === 'system/error' && json.correlation_id === word.id);
    assert.equal(refused.payload.error, 'capability_violation');
    assert.equal((await settled(eva)).result.pending.length, 1);
    assert.ok(!ann.frames.some(({ json }) => json.correlation_id === sent.id && json.payload.result));
    respond(eva, asked, 'approve');
    assert.ok(textOf(await answered(ann, sent)));
});

test('nobody in time is a denial', async () => {
    const { bot } = await begin({ mode: 'always-prompt', timeout: '1s' });
    const sent = call(bot);
    const { first } = await waits(bot, sent);

    assert.equal(denied(await answered(bot, sent)).reason, 'nobody decided in time');
    assert.ok(Date.parse(first.payload.error.data.authorizationRequest.expiresAt) <= Date.now());
});

test('validUntil: the same call is not asked about again, until it is revoked', async () => {
    const { ann, eva, bot } = await begin({ mode: 'always-prompt' });
    const sent = call(bot, 'who', { a: 1, b: 2 });
    const validUntil = soon();
    const { asked } = await waits(bot, sent, { by: ann });
    const { id } = asked.payload.params;

    respond(ann, asked, 'approve', { validUntil, reason: 'fine' });
    assert.ok(textOf(await answered(bot, sent)));
    assert.ok(textOf(await answered(bot, call(bot, 'who', { b: 2, a: 1 }))));
    await waits(bot, call(bot, 'who', { a: 1, b: 3 }), { by: ann });
    const other = await waits(eva, call(eva, 'who', { a: 1, b: 2 }));
    const { result } = await ask(eva, 'authorization/list');
    assert.deepEqual(result.authorizations, [{
        authorizationId: id, tool: 'who', arguments: { a: 1, b: 2 }, requester: 'bot', decision: 'approve',
        decidedBy: 'ann', reason: 'fine', validUntil, uses: 2,
    }]);
    assert.deepEqual(result.pending.map((one) => [one.requester, one.arguments.b]), [['bot', 3], ['eva', 2]]);
    assert.deepEqual([result.pending[1].authorizationId, result.pending[1].announcement], [other.asked.payload.params.id, other.asked.id]);
    assert.deepEqual((await ask(eva, 'authorization/revoke', { authorizationId: id })).result, {});
    assert.equal((await ask(eva, 'authorization/revoke', { authorizationId: id })).error.code, -32602);
    const again = call(bot, 'who', { a: 1, b: 2 });
    const second = await waits(bot, again, { by: ann });
    assert.deepEqual((await ask(ann, 'authorization/revoke', { authorizationId: second.asked.payload.params.id })).result, {});
    assert.equal(denied(await answered(bot, again)).reason, 'revoked by ann');
});

test('a denial may last as well, and whoever calls cannot take it back', async () => {
    const tokens = [...everybody, person('eve')];
    const { ann, eve } = await begin({ mode: 'always-prompt' }, { ids: ['ann', 'eve'], tokens });
    const sent = call(eve);
    const { asked } = await waits(eve, sent, { by: ann });

    respond(ann, asked, 'deny', { validUntil: soon() });
    assert.deepEqual(denied(await answered(eve, sent)).reason, 'denied by ann');
    assert.deepEqual(denied(await answered(eve, call(eve))), { reason: 'denied by ann', authorizationId: asked.payload.params.id, decidedBy: 'ann' });
    assert.match((await ask(eve, 'authorization/revoke', { authorizationId: asked.payload.params.id })).error.message, /his own call/);
});

test('lists and revoking need capabilities of those names', async () => {
    const { bot } = await begin({ mode: 'always-prompt' });

    for (const method of ['authorization/list', 'authorization/revoke']) {
        const sent = bot.send(envelope('bot', `mcp/request:${method}`, { to: ['tool'], payload: { jsonrpc: '2.0', id: 1, method, params: {} } }));
        const refused = await expect(bot, (json) => json.kind === 'system/error' && json.correlation_id === sent.id);
        assert.equal(refused.payload.error, 'capability_violation');
    }
});

test('delegated: the delegate alone is asked and heard, and hands it on', async () => {
    const { ann, eva, bot, ops } = await begin({ mode: 'delegated', delegate: 'ops' });
    const sent = call(bot);
    const { asked } = await waits(bot, sent, { by: ops });

    assert.deepEqual(asked.to, ['ops']);
    respond(ann, asked, 'approve');
    assert.equal((await settled(ann)).result.pending[0].delegate, 'ops');
    respond(ops, asked, 'delegate', { delegate: 'bot' }); // who calls
    respond(ops, asked, 'delegate', { delegate: 'eva' });
    const next = await announced(eva, sent, ['eva']);
    assert.equal(next.payload.params.id, asked.payload.params.id);
    respond(ops, asked, 'approve');
    respond(ann, next, 'approve');
    assert.equal((await settled(ann)).result.pending.length, 1);
    respond(eva, next, 'delegate', { delegate: 'ops' }); // a circle
    assert.equal((await settled(eva)).result.pending[0].delegate, 'eva');
    respond(eva, next, 'approve');
    assert.ok(textOf(await answered(bot, sent)));
});

test('a delegate who is not here, or leaves, leaves it to whoever may', async () => {
    const { ann, bot, ops } = await begin({ mode: 'delegated', delegate: 'ops' });
    const sent = call(bot);

    await waits(bot, sent, { by: ops });
    await ops.close();
    const open = await announced(ann, sent, []);
    assert.equal(open.payload.params.reason,
        'the delegate ops has left: whoever may decides; every call of this server is to be authorized by its delegate');
    respond(ann, open, 'approve');
    assert.ok(textOf(await answered(bot, sent)));
    const later = call(bot);
    const { asked } = await waits(bot, later, { by: ann });
    assert.match(asked.payload.params.reason, /^the delegate ops is not here: /);
    respond(ann, asked, 'deny');
    denied(await answered(bot, later));
});

test('what a tool says about itself tightens, and is passed on in lists', async () => {
    const authorization = { deploy: { required: true, mode: 'user_approval', timeout: 30, message: 'It affects production.' } };
    const { ann, bot } = await begin(undefined, { more: { authorization } });

    assert.ok(textOf(await answered(bot, call(bot))));
    const tools = (await ask(ann, 'tools/list')).result.tools;
    assert.deepEqual(tools.find((tool) => tool.name === 'deploy').authorization, authorization.deploy);
    const sent = call(bot, 'deploy');
    const { asked } = await waits(bot, sent, { by: ann });
    assert.equal(asked.payload.params.reason, 'It affects production.');
    assert.ok(Date.parse(asked.payload.params.expiresAt) - Date.now() <= 30_000);
    respond(ann, asked, 'approve');
    assert.equal(textOf(await answered(bot, sent)), 'deploy of tool');
});

test('a person who takes up a proposal has decided; an agent has not, and the proposer never does', async () => {
    const tokens = [...everybody, person('aid', { capabilities: ['mcp/*'] })];
    const { ann, eva, bot, aid } = await begin({ mode: 'always-prompt' }, { ids: ['ann', 'eva', 'bot', 'aid'], tokens });
    const propose = (client) => client.send(envelope(client.id, 'mcp/proposal:tools/call:who', {
        to: ['tool'], payload: { method: 'tools/call', params: { name: 'who', arguments: {} } },
    }));
    const first = propose(bot);

    await expect(ann, (json) => json.id === first.id);
    const taken = call(ann, 'who', {}, { correlation_id: first.id });
    const answer = await answered(ann, taken);
    assert.ok(textOf(answer));
    assert.deepEqual(answer.to, ['ann', 'bot']);

    const second = propose(eva);
    await expect(aid, (json) => json.id === second.id);
    const sent = call(aid, 'who', {}, { correlation_id: second.id });
    const { first: provisional, asked } = await waits(aid, sent, { by: eva });
    assert.deepEqual(provisional.to, ['aid', 'eva']);
    assert.match(asked.payload.params.reason, /\(proposed by eva\)$/);
    assert.equal(asked.payload.params.proposer, 'eva');
    respond(eva, asked, 'approve'); // whose proposal it was
    respond(aid, asked, 'approve'); // who calls
    assert.equal((await settled(ann)).result.pending.length, 1);
    respond(ann, asked, 'approve');
    assert.ok(textOf(await answered(aid, sent)));
});

test('a flood of calls is bounded, and said so', async () => {
    const { bot } = await begin({ mode: 'always-prompt' });
    const sent = Array.from({ length: 17 }, (_, n) => call(bot, 'who', { n }));

    for (const one of sent.slice(0, 16))
        await waits(bot, one);
    const { error } = (await answered(bot, sent[16])).payload;
    assert.deepEqual([error.code, error.message], [-32603, 'too many calls of this caller wait for authorization']);
});
