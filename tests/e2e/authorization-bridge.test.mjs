// SPDX-License-Identifier: Apache-2.0
// Tool authorization of a server behind `moot bridge`, and what is pending when the bridge or the gateway goes: nothing
// of it runs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';

import { answered, call, command, denied, everybody, offering, respond, settled, soon, textOf, waits } from './authorization.mjs';
import { startBridge } from './bridges.mjs';
import { changesIn, expect, person, startGateway } from './gateway.mjs';
import { moot } from './moot.mjs';

const config = { tokens: [...everybody, person('tool', { profile: 'bridge' })] };
let gateway, bridge;

beforeEach(async () => { bridge = null; gateway = await startGateway(config); });
afterEach(async () => {
    if (bridge)
        await bridge.stop();
    await gateway.stop();
});

async function begin(options) {
    const ann = await gateway.join('ann');
    const bot = await gateway.join('bot');

    bridge = await startBridge(gateway, ['--sandbox', 'off', ...options], command(), { watcher: ann });
    return { ann, bot };
}

test('--authorize always-prompt: asked, approved, called', async () => {
    const { ann, bot } = await begin(['--authorize', 'always-prompt']);
    const sent = call(bot);
    const { asked } = await waits(bot, sent, { by: ann });

    respond(ann, asked, 'approve', { validUntil: soon() });
    assert.ok(textOf(await answered(bot, sent)));
    assert.ok(textOf(await answered(bot, call(bot))));
    await bridge.told(/authorization auth-\S+ of who for bot is asked of the room/);
    await bridge.told(/authorization auth-\S+ of who for bot is approved by ann until /);
    await bridge.told(/authorization auth-\S+ of who, by ann, is used by bot/);
});

test('--delegate ID: the delegate decides', async () => {
    const { ann, bot } = await begin(['--delegate', 'ann']);
    const sent = call(bot);
    const { asked } = await waits(bot, sent, { by: ann });

    assert.deepEqual(asked.to, ['ann']);
    respond(ann, asked, 'deny', { reason: 'no' });
    assert.equal(denied(await answered(bot, sent)).reason, 'no');
});

test('--authorization FILE: rules; what is wrong with it is said', async () => {
    const file = path.join(gateway.data, 'authorization.json');
    const start = () => moot(gateway, 'tool', ['bridge', 'room', '--as', 'tool', '--yes', '--sandbox', 'off', '--authorization', file, '--', 'true']);

    fs.writeFileSync(file, '{"mode":"selective","rules":[{"then":"never"}]}');
    assert.match((await start()).stderr, /a rule of authorization: then is allow, prompt, delegate or deny/);
    fs.writeFileSync(file, '{"mode":"delegated"}');
    assert.match((await start()).stderr, /mode delegated needs a delegate/);
    fs.writeFileSync(file, '{"mode":');
    assert.match((await start()).stderr, /it is no JSON/);
    fs.writeFileSync(file, JSON.stringify({ mode: 'selective', rules: [{ tool: 'deploy', then: 'deny' }, { tool: 'who', then: 'allow' }, { then: 'prompt' }] }));
    const { ann, bot } = await begin(['--authorization', file]);
    denied(await answered(bot, call(bot, 'deploy')));
    assert.ok(textOf(await answered(bot, call(bot))));
    await waits(bot, call(bot, 'heard'), { by: ann });
});

test('a bridge that goes denies what is pending, and its next life knows nothing of it', async () => {
    const { ann, bot } = await begin(['--authorize', 'always-prompt']);
    const sent = call(bot);
    const { asked } = await waits(bot, sent, { by: ann });

    await bridge.stop();
    assert.equal(denied(await answered(bot, sent)).reason, 'the server leaves before anybody decided');
    bridge = await startBridge(gateway, ['--sandbox', 'off', '--authorize', 'always-prompt'], command(), { watcher: ann });
    respond(ann, asked, 'approve');
    assert.deepEqual((await settled(ann)).result, { pending: [], authorizations: [] });
});

test('a gateway that is started anew: what was pending is denied when the bridge is back', async () => {
    const { ann, bot } = await begin(['--authorize', 'always-prompt']);
    const { asked } = await waits(bot, call(bot), { by: ann });
    const sent = call(bot, 'deploy');

    await waits(bot, sent, { by: ann });
    await gateway.kill();
    gateway = await gateway.restart();
    const again = await gateway.join('bot');
    const person = await gateway.join('ann');
    assert.equal(denied(await answered(again, sent)).reason, 'the room was lost before anybody decided');
    respond(person, asked, 'approve');
    assert.deepEqual((await settled(person)).result.pending, []);
    const next = call(again, 'heard');
    respond(person, (await waits(again, next, { by: person })).asked, 'approve');
    assert.equal(JSON.parse(textOf(await answered(again, next))).filter((method) => method === 'tools/call').length, 1);
});

test('a gateway that is started anew with its own server: nothing of what was pending is done', async () => {
    await gateway.stop();
    gateway = await startGateway({ ...config, servers: { tool: offering({ mode: 'always-prompt' }) } });
    const ann = await gateway.join('ann');
    const bot = await gateway.join('bot');
    const { asked } = await waits(bot, call(bot), { by: ann });

    await gateway.kill();
    gateway = await gateway.restart();
    const person = await gateway.join('ann');
    const again = await gateway.join('bot');
    if (!person.welcome.payload.participants.some((one) => one.id === 'tool'))
        await expect(person, (json) => changesIn(json).some((one) => one.event === 'join' && one.id === 'tool'));
    respond(person, asked, 'approve');
    assert.deepEqual((await settled(person)).result, { pending: [], authorizations: [] });
    const next = call(again, 'heard');
    respond(person, (await waits(again, next, { by: person })).asked, 'approve');
    assert.equal(JSON.parse(textOf(await answered(again, next))).filter((method) => method === 'tools/call').length, 1);
});

test('moot run --authorize: the gateway keeps it with the server', async () => {
    const run = (...args) => moot(null, null, args, { env: { MOOT_DATA: gateway.data } });
    const ann = await gateway.join('ann');
    const bot = await gateway.join('bot');

    assert.equal((await run('run', 'room', '--as', 'tool', '--sandbox', 'off', '--yes', '--authorize', 'always-prompt', '--', ...command())).status, 0);
    if (!ann.frames.some(({ json }) => changesIn(json).some((one) => one.event === 'join' && one.id === 'tool')))
        await expect(ann, (json) => changesIn(json).some((one) => one.event === 'join' && one.id === 'tool'));
    const sent = call(bot);
    respond(ann, (await waits(bot, sent, { by: ann })).asked, 'approve');
    assert.ok(textOf(await answered(bot, sent)));
    assert.equal((await run('stop', '--remove', 'tool')).status, 0);
});
