// SPDX-License-Identifier: Apache-2.0
// `policy` of the configuration: rows that allow, deny or ask, beyond capabilities; a reload of them;
// and `moot explain`, which tells the row that decides.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';
import { moot, serveTools, startMoot } from './moot.mjs';

const rows = [
    { outcome: 'deny', kind: 'mcp/request:tools/call:drop_*', message: 'nobody drops anything here' },
    { outcome: 'allow', kind: 'mcp/request:tools/call', from: ['ops-*'] },
    { outcome: 'ask', kind: 'mcp/request:tools/call', payload: { params: { arguments: { path: '/etc/*' } } }, message: 'that file needs a second look' },
    { outcome: 'ask', kind: 'mcp/request:tools/call:deploy', types: ['agent', 'human'], topics: ['live*'] },
    { outcome: 'deny', kind: 'chat', types: ['service'] },
    { outcome: 'deny', kind: 'mcp/proposal:*', from: ['mute'] },
];
const config = {
    policy: rows,
    tokens: [
        person('calc', { type: 'service', capabilities: ['mcp/*', 'chat'] }), person('boss', { profile: 'admin' }), person('ann', { profile: 'human' }),
        person('bot'), person('ops-1'), person('mute'), person('old'),
        person('caller', { capabilities: ['mcp/request:tools/call', 'mcp/response:*'] }),
        person('narrow', { capabilities: [{ kind: 'mcp/request:tools/call', payload: { params: { name: 'read' } } }] }),
    ],
};
let gateway;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-policy-'));

before(async () => { gateway = await startGateway(config); });
after(async () => { await gateway.stop(); fs.rmSync(folder, { recursive: true }); });

const call = (from, name, args = {}, more = {}) => envelope(from, `mcp/request:tools/call:${name}`,
    { to: ['calc'], payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }, ...more });

async function said(client, what) {
    const { id } = client.send(what);
    const json = await expect(client, (one) => one.id === id || (one.kind === 'system/error' && one.correlation_id === id));

    return json.kind === 'system/error' ? json.payload : 'passed';
}

test('the first row that fits decides, and only narrows', async () => {
    const [bot, ops, ann, calc, mute, narrow, caller] =
        await Promise.all(['bot', 'ops-1', 'ann', 'calc', 'mute', 'narrow', 'caller'].map((id) => gateway.join(id, { topic: 'live-1' })));

    const denied = await said(bot, call('bot', 'drop_table'));
    assert.deepEqual([denied.error, denied.policy, denied.message, denied.propose_instead],
        ['capability_violation', 'deny', 'nobody drops anything here', undefined]);
    assert.equal((await said(ops, call('ops-1', 'drop_table'))).policy, 'deny', 'it stands before the row that allows');
    assert.equal((await said(ann, call('ann', 'drop_table'))).policy, 'deny', 'people as well');
    assert.equal((await said(bot, { ...call('bot', 'drop_table'), kind: 'mcp/request:tools/call' })).policy, 'deny', 'without a CONTEXT, too');
    assert.equal((await said(bot, { ...call('bot', 'drop_table'), kind: 'mcp/request:tools/call:read' })).error, 'kind_payload_mismatch');
    const asked = await said(bot, call('bot', 'read', { path: '/etc/passwd' }));
    assert.deepEqual([asked.policy, asked.message, asked.propose_instead],
        ['ask', 'that file needs a second look', 'mcp/proposal:tools/call:read']);
    assert.equal(await said(bot, call('bot', 'read', { path: '/srv/x' })), 'passed');
    const twice = JSON.stringify(call('bot', 'read', { path: '/srv/x' })).replace('"path":"/srv/x"', '"path":"/srv/x","path":"/etc/passwd"');
    bot.send(twice);
    assert.equal((await expect(bot, (one) => one.kind === 'system/error' && one.correlation_id === JSON.parse(twice).id)).payload.policy, 'ask');
    assert.equal(await said(ops, call('ops-1', 'read', { path: '/etc/passwd' })), 'passed');
    assert.equal((await said(bot, call('bot', 'deploy'))).policy, 'ask');
    assert.equal((await said(ann, call('ann', 'deploy'))).policy, 'ask', 'a person as well: another has to agree');
    assert.equal((await said(calc, envelope('calc', 'chat'))).policy, 'deny');
    assert.equal(await said(bot, envelope('bot', 'chat')), 'passed');
    assert.equal((await said(mute, envelope('mute', 'mcp/proposal:tools/call:x', { payload: { method: 'tools/call', params: { name: 'x' } } }))).policy, 'deny');
    assert.equal((await said(narrow, call('narrow', 'other'))).policy, undefined, 'capabilities come first');
    assert.equal(await said(caller, envelope('caller', 'mcp/proposal:tools/call:deploy',
        { to: ['calc'], payload: { method: 'tools/call', params: { name: 'deploy' } } })), 'passed', 'who may call may propose where it is asked for');
    assert.equal((await said(caller, envelope('caller', 'mcp/proposal:tools/call:read',
        { to: ['calc'], payload: { method: 'tools/call', params: { name: 'read' } } }))).error, 'capability_violation', 'and nowhere else');
    assert.equal((await said(caller, envelope('caller', 'mcp/proposal:tools/call:drop_x',
        { to: ['calc'], payload: { method: 'tools/call', params: { name: 'drop_x' } } }))).error, 'capability_violation');
    const elsewhere = await gateway.join('bot', { topic: 'test' });
    assert.equal(await said(elsewhere, call('bot', 'deploy')), 'passed', 'that row is for other topics');
});

test('a dotted client is told the kind as it writes it', async () => {
    const old = await gateway.join('old', { topic: 'live-dotted', dialect: 'dotted' });
    const { id } = old.send({ ...call('old', 'deploy'), protocol: 'mcpx/draft', kind: 'mcp.request.tools/call:deploy' });
    const { payload } = await expect(old, (one) => one.correlation_id === id);

    assert.equal(payload.propose_instead, 'mcp.proposal.tools/call:deploy', JSON.stringify(payload));
});

test('a person fulfils what another person or an agent proposed', async () => {
    const topic = 'live-2';
    const ann = await gateway.join('ann', { topic });

    serveTools(await gateway.join('calc', { topic }), { deploy: () => 'done' });
    const run = startMoot(gateway, 'caller', ['call', topic, 'calc', 'deploy']);
    const { id } = await expect(ann, ({ kind }) => kind === 'mcp/proposal:tools/call:deploy');
    const approved = await moot(gateway, 'ann', ['approve', topic, id]);
    assert.deepEqual([approved.status, approved.stdout], [0, 'done\n'], approved.stderr);
    assert.deepEqual((await run.ended()).stdout, 'done\n');
});

test('moot explain tells the row that decides, and the brake', async () => {
    const explain = (...args) => moot(null, null, ['explain', ...args, '--data', gateway.data]);
    const file = path.join(folder, 'call.json');
    const about = async (who, topic, what) => {
        fs.writeFileSync(file, JSON.stringify(what));
        return explain('--envelope', file, '--as', who, '--topic', topic);
    };

    const denied = await explain('mcp/request:tools/call:drop_x', '--as', 'bot', '--topic', 'live-3');
    assert.equal(denied.status, 1);
    assert.match(denied.stdout, /refused by policy: row 1 of policy denies it: nobody drops anything here\n$/);
    assert.match((await explain('mcp/request:tools/call:deploy', '--as', 'bot', '--topic', 'live-3')).stdout,
        /refused by policy: row 4 of policy asks for a proposal; it may be proposed: mcp\/proposal:tools\/call:deploy, and a person's word lets it pass\n$/);
    assert.match((await explain('mcp/request:tools/call:deploy', '--as', 'ops-1', '--topic', 'live-3')).stdout, /policy: row 2 of policy allows it\n$/);
    assert.match((await explain('mcp/request:tools/call:read', '--as', 'bot', '--topic', 'live-3')).stdout,
        /policy: no row of policy fits; with another payload that may differ/);
    assert.match((await explain('mcp/proposal:tools/call:deploy', '--as', 'caller', '--topic', 'live-3')).stdout, /policy: the request is allowed and has to be proposed here/);
    const json = JSON.parse((await explain('mcp/request:tools/call:drop_x', '--as', 'bot', '--topic', 'live-3', '--json')).stdout);
    assert.deepEqual([json.allowed, json.policy], [false, 'row 1 of policy denies it: nobody drops anything here']);
    const whole = await about('bot', 'live-3', call('bot', 'read', { path: '/etc/x' }));
    assert.equal(whole.status, 1);
    assert.match(whole.stdout, /policy +NO +row 3 of policy asks for a proposal: that file needs a second look; it may be proposed/);
    assert.match((await about('caller', 'live-3', envelope('caller', 'mcp/proposal:tools/call:deploy', { payload: { method: 'tools/call', params: { name: 'deploy' } } }))).stdout,
        /capability +ok +none names it, but the request is allowed, and has to be proposed here/);
    assert.equal((await about('bot', 'test', call('bot', 'read'))).status, 0);
    assert.equal((await gateway.request('POST /admin/topics/test', { token: 'boss-token', json: { brake: 'on' } })).status, 200);
    const braked = await about('bot', 'test', call('bot', 'read'));
    assert.equal(braked.status, 1);
    assert.match(braked.stdout, /policy +NO +the brake is on: what agents call needs a proposal; it may be proposed: mcp\/proposal:tools\/call:read/);
    assert.match((await about('ann', 'test', call('ann', 'read'))).stdout, /policy +ok +no row of policy fits; the brake is on, and spares this/);
});

test('a reload puts other rows into force, and refuses what cannot be meant', async () => {
    const own = await startGateway(config);
    const bot = await own.join('bot', { topic: 'live' });
    const reload = (policy) => {
        fs.writeFileSync(own.config, JSON.stringify({ ...JSON.parse(fs.readFileSync(own.config, 'utf8')), policy }));
        return own.request('POST /admin/reload', { token: 'boss-token' });
    };

    assert.equal((await said(bot, call('bot', 'deploy'))).policy, 'ask');
    assert.equal((await reload([])).status, 200);
    assert.equal(await said(bot, call('bot', 'deploy')), 'passed');
    for (const [policy, why] of [
        [[{ outcome: 'ask', kind: 'chat' }], /policy: kind: `ask` is for requests/],
        [[{ outcome: 'maybe', kind: 'chat' }], /outcome must be one of allow, deny, ask/],
        [[{ kind: 'chat' }], /needs \\?"outcome/],
        [[{ outcome: 'deny', kind: 'chat', types: ['robot'] }], /types must be of agent, human and service/],
        [[{ outcome: 'deny', kind: 'chat', from: [] }], /an empty list fits nobody/],
        [[{ outcome: 'deny', kind: 'chat', payload: 'x' }], /payload must be a mapping/],
        [[{ outcome: 'deny', kind: 'chat', payload: null }], /payload must be a mapping/],
        [[{ outcome: 'deny', kind: 'chat', payload: { a: [] } }], /policy: payload: /],
        [[{ outcome: 'deny', kind: 'chat', form: ['x'] }], /unknown key/],
    ]) {
        const { status, text } = await reload(policy);
        assert.equal(status, 409, JSON.stringify(policy));
        assert.match(text, why);
    }
    assert.equal(await said(bot, call('bot', 'deploy')), 'passed', 'what was in force stays');
    assert.equal((await reload([{ outcome: 'deny', kind: 'mcp/request:*' }])).status, 200);
    assert.equal((await said(bot, call('bot', 'deploy'))).policy, 'deny');
    assert.equal((await said(bot, envelope('bot', 'mcp/request:tools/list', { payload: { method: 'tools/list' } }))).policy, 'deny', 'lists are spared by ask, not by deny');
    await own.stop();
});
