// SPDX-License-Identifier: Apache-2.0
// MCPx v0.1, 9.4, as it is meant: an agent that may only propose writes files; a person decides each time,
// until she has taught the orchestrator which ones it may let through; and whatever she says no to afterwards
// is hers again. All of them are processes of their own: the gateway, the bridge with a server from npm, the
// orchestrator, and the commands that the agent and the person use.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as later } from 'node:timers/promises';

import { mcpServer, nodeModules, startBridge } from './bridges.mjs';
import { expect, person, startGateway } from './gateway.mjs';
import { moot, startMoot } from './moot.mjs';

let gateway, watcher, folder, orchestrator;
let count = 0;

const as = async (who, ...args) => {
    const done = await moot(gateway, who, args);

    assert.equal(done.status, 0, `${args.join(' ')}: ${done.stdout}${done.stderr}`);
    return done.stdout;
};
const told = (kind, like = () => true) => expect(watcher, (one) => one.kind === kind && like(one.payload, one));

// The agent asks for one more file, as its command does: it may not, so it proposes.
async function ask() {
    const file = path.join(folder, ['drafts', 'letters', 'lists'][count % 3], `note${++count}.txt`);
    const command = startMoot(gateway, 'bot', ['call', 'room', 'files', 'write_file', '--arg', `path=${file}`, '--arg', 'content=written']);
    const { id } = await expect(watcher, ({ kind, payload }) => kind === 'mcp/proposal:tools/call:write_file' && payload.params.arguments.path === file);

    return { id, file, command };
}
const isWritten = ({ file }) => fs.existsSync(file) && fs.readFileSync(file, 'utf8') === 'written';
async function isDone(asked) {
    const { status, stderr } = await asked.command.ended();

    assert.equal(status, 0, stderr);
    assert.ok(isWritten(asked), asked.file);
}
const waits = async ({ id }) => {
    await later(1500); // longer than the orchestrator thinks
    assert.match(await as('ann', 'proposals', 'room', '--json'), new RegExp(`"${id}"`));
};
const closed = ({ id }) => told('system/proposal', (payload) => payload.proposal === id && payload.state === 'fulfilled');

before(async () => {
    gateway = await startGateway({
        limits: { rate_messages: 0 },
        tokens: [
            person('bot', { profile: 'proposer' }), person('ann', { profile: 'human' }), person('files', { profile: 'bridge' }),
            person('orchestrator', { profile: 'orchestrator' }), person('boss', { profile: 'admin' }), person('watcher', { capabilities: ['chat'] }),
        ],
    });
    folder = fs.mkdtempSync(path.join(gateway.data, 'notes-'));
    fs.chmodSync(gateway.data, 0o755);
    for (const one of ['', 'drafts', 'letters', 'lists']) {
        if (one)
            fs.mkdirSync(path.join(folder, one));
        fs.chmodSync(path.join(folder, one), 0o777);
    }
    watcher = await gateway.join('watcher', { topic: 'room' });
    await startBridge(gateway, ['--read', nodeModules, '--write', folder], mcpServer('filesystem', folder), { as: 'files', watcher });
    orchestrator = startMoot(gateway, 'orchestrator', ['orchestrate', 'room', '--days', '1', '--state', path.join(gateway.data, 'orchestrator')]);
    await orchestrator.told(/orchestrator is in room/);
});
after(() => gateway.stop());

test('from the first proposal to the first that nobody has to approve, and back', { timeout: 300_000 }, async () => {
    // A person decides, sixteen times, and does not want one of them. The last approval is what makes a rule of it.
    const approve = async () => {
        const asked = await ask();

        await as('ann', 'approve', 'room', asked.id, '--yes');
        await isDone(asked);
    };
    await approve();
    const secret = startMoot(gateway, 'bot', ['call', 'room', 'files', 'write_file', '--arg', `path=${folder}/drafts/.secret`, '--arg', 'content=written']);
    const { id: unwanted } = await told('mcp/proposal:tools/call:write_file', (payload) => payload.params.arguments.path.endsWith('.secret'));
    await as('ann', 'reject', 'room', unwanted, 'no hidden files');
    assert.equal((await secret.ended()).status, 4);
    for (let i = 1; i < 16; i++)
        await approve();

    // What she decided is put before her, with what it rests on.
    const { payload: { text } } = await told('chat', (payload, { from }) => from === 'orchestrator' && /I suggest the rule/.test(payload.text));
    const [, rule] = /moot rules accept room (r-[0-9a-f]{32})/.exec(text);
    assert.match(text, /In room, bot may call write_file of files, .* path is a path beneath .*notes-.*Approved 16 times .*never rejected/);
    assert.match(text, /moot rules decline room r-/);
    assert.match(await as('ann', 'rules', 'show', 'room', rule), /state: "suggested"/);

    // Nothing happens before she says so.
    const early = await ask();
    await waits(early);
    await as('ann', 'rules', 'accept', 'room', rule, '--yes');
    await isDone(early); // what waited is done now

    const first = await ask();
    const { payload: { by, rule: used } } = await closed(first);
    assert.deepEqual([by, used], ['orchestrator', rule], 'it is told who did it, and by what');
    await isDone(first);

    // Outside of the rule all is as before.
    const outside = startMoot(gateway, 'bot', ['call', 'room', 'files', 'write_file', '--arg', `path=${folder}/drafts/run.sh`, '--arg', 'content=written']);
    const { id: beside } = await told('mcp/proposal:tools/call:write_file', (payload) => payload.params.arguments.path.endsWith('run.sh'));
    await waits({ id: beside });
    await as('ann', 'reject', 'room', beside);
    await outside.ended();

    // She objects to what was let through: the rule is suspended, and the next one is hers again.
    await as('ann', 'reject', 'room', first.id, 'not this one');
    const { payload: suspended } = await told('system/rule', (payload) => payload.rule === rule && payload.state === 'suspended');
    assert.equal(suspended.by, 'ann');
    const again = await ask();
    await waits(again);
    await as('ann', 'approve', 'room', again.id, '--yes');
    await isDone(again);

    // She changes her mind; then everything automatic is stopped, and let go again.
    await as('ann', 'rules', 'enable', 'room', rule);
    await told('system/rule', (payload) => payload.rule === rule && payload.state === 'active');
    await isDone(await ask());
    await moot(null, 'boss', ['topic', 'set', 'room', 'automation', 'off'], { env: { MOOT_DATA: gateway.data } });
    await told('system/topic', (payload) => payload.automation === 'off');
    const stopped = await ask();
    await waits(stopped);
    assert.ok(!isWritten(stopped));
    await moot(null, 'boss', ['topic', 'set', 'room', 'automation', 'on'], { env: { MOOT_DATA: gateway.data } });
    await isDone(stopped);

    // Who reads the record later finds who was answerable.
    const record = await moot(null, null, ['audit', 'thread', first.id], { env: { MOOT_DATA: gateway.data } });
    assert.match(record.stdout, /orchestrator/);
    assert.match(await as('ann', 'rules', 'show', 'room', rule), /Used 4 times/);

    orchestrator.child.kill('SIGTERM');
    assert.equal((await orchestrator.ended()).status, 0, orchestrator.stderr());
});
