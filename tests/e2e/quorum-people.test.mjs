// SPDX-License-Identifier: Apache-2.0
// Where two have to approve: the commands, the terminal room and an MCP client of the SDK, which waits with
// progress until the second one has.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';
import { offering, sdkClient, textIn } from './mcp-room.mjs';
import { moot, serveTools, startMoot } from './moot.mjs';
import { crowd, startRoom } from './terminal.mjs';

let gateway, bot, count = 0;
const topic = 'two';

before(async () => {
    gateway = await startGateway({
        mcp: { room_tools: 'off' },
        topics: { named: { two: { quorum: 2 } } },
        servers: { quarry: offering('quarry', { tools: ['mine'] }, { topic }) },
        tokens: [...crowd, ...['ann', 'ben', 'cyd'].map((id) => person(id, { profile: 'human' })),
            person('client', { capabilities: ['mcp/request:initialize', 'mcp/request:*/list', 'mcp/proposal:*', 'mcp/response:*'] })],
    });
    serveTools(await gateway.join('files', { topic }), { dig: ({ n }) => `dug ${n}` });
    bot = await gateway.join('bot', { topic });
});
after(() => gateway.stop());

const as = (who, ...args) => moot(gateway, who, args);

async function proposed() {
    const { id } = bot.send(envelope('bot', 'mcp/proposal:tools/call:dig', { to: ['files'], id: `q-${++count}`,
        payload: { method: 'tools/call', params: { name: 'dig', arguments: { n: count } } } }));

    await expect(bot, (json) => json.id === id);
    return id;
}

test('approve: the first is an approval, the second makes the call', async () => {
    const id = await proposed();

    assert.match((await as('ann', 'proposals', topic)).stdout, /\n {2}0 of 2 approvals; expires in /);
    assert.deepEqual(await as('ann', 'approve', topic, id), { status: 0, stdout: `approved ${id} (1 of 2 approvals)\n`, stderr: '' });
    assert.match((await as('ben', 'proposals', topic)).stdout, /\n {2}1 of 2 approvals \(ann\); expires in /);
    const [listed] = (await as('ben', 'proposals', topic, '--json')).stdout.trim().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(listed.approvals, { needed: 2, given: 1, by: ['ann'] });
    assert.deepEqual(await as('ann', 'approve', topic, id), { status: 4, stdout: '', stderr: 'moot: you have approved it already: 1 of 2 approvals\n' });
    assert.deepEqual(await as('ben', 'approve', topic, id), { status: 0, stdout: `dug ${count}\n`, stderr: '' });
    assert.deepEqual((await expect(bot, ({ kind, payload }) => kind === 'system/proposal' && payload.state === 'fulfilled')).payload.approvals.by, ['ann', 'ben']);
});

test('approve --only-approve: never makes the call; somebody does when there are enough', async () => {
    const id = await proposed();

    for (const [who, given] of [['ann', 1], ['ben', 2]])
        assert.equal((await as(who, 'approve', topic, id, '--only-approve')).stdout, `approved ${id} (${given} of 2 approvals)\n`);
    assert.equal((await as('ann', 'approve', topic, id)).stdout, `dug ${count}\n`, 'enough have approved: it runs');
});

test('approve: where several approve nobody edits', async () => {
    const id = await proposed();

    assert.deepEqual(await as('ann', 'approve', topic, id, '--edit-args', '{"n":9}'),
        { status: 4, stdout: '', stderr: 'moot: where several approve nobody edits; make a proposal of it\n' });
    assert.equal((await as('ann', 'reject', topic, id, 'no')).status, 0);
});

test('the terminal room: a yes is one of two, and the second runs it', async () => {
    const room = await startRoom(gateway, { topic, columns: 80, rows: 24 });
    const { terminal } = room;

    try {
        await terminal.sees('connected');
        const id = await proposed();
        await terminal.sees('1 waits: F2');
        await terminal.press('F2');
        await terminal.sees(id);
        await terminal.press('a'); // nobody has said yet how many it needs
        await terminal.sees('run dig at files');
        await terminal.press('y');
        await terminal.sees('approved: 1 of 2, it runs when others approve it, too');
        await terminal.sees(/open 1 of 2 approve/);
        assert.doesNotMatch(await terminal.screen(), /waits: F2/);
        await terminal.press('F2');
        await terminal.sees('approved  1 of 2 approvals: alice');
        await terminal.sees('You have approved it: others have to as well.');
        await terminal.press('a');
        await terminal.sees('you have approved it already: others have to as well');
        await terminal.press('Escape');
        assert.equal((await as('ann', 'approve', topic, id)).stdout, `dug ${count}\n`);
        await terminal.sees('fulfilled by ann');

        const second = await proposed();
        assert.equal((await as('ann', 'approve', topic, second)).status, 0);
        await terminal.sees('open 1 of 2 approve');
        await terminal.press('F2');
        await terminal.sees('approved  1 of 2 approvals: ann');
        await terminal.sees(/1\/2 \d:\d\d/);
        await terminal.press('a');
        await terminal.sees('run dig at files');
        await terminal.press('y');
        await terminal.sees('fulfilled by alice');

        const third = await proposed();
        const three = startMoot(gateway, 'bob', ['approve', topic, third, '--only-approve']);
        assert.equal((await three.ended()).stdout, `approved ${third} (1 of 2 approvals)\n`);
        await terminal.sees('open 1 of 2 approve');
        assert.equal((await as('bob', 'reject', topic, third)).status, 0);
        terminal.signal('SIGTERM');
        assert.equal(await terminal.ended(), 0, await terminal.screen());
    } finally {
        await terminal.close();
    }
});

test('an MCP client waits for both, and hears of the first', async () => {
    const client = await sdkClient(gateway, 'client', { topic });
    const heard = [];

    await client.shows('mine');
    const call = client.call('mine', { n: 'mcp' }, { onprogress: ({ message }) => heard.push(message) });
    const { id } = await expect(bot, ({ kind, from }) => kind === 'mcp/proposal:tools/call:mine' && from === 'client');
    assert.equal((await as('ann', 'approve', topic, id)).status, 0);
    while (!heard.some((message) => message === `waiting for a decision: 1 of 2 approvals (proposal ${id})`))
        await new Promise((resolve) => { setTimeout(resolve, 20); });
    assert.equal((await as('ben', 'approve', topic, id)).status, 0);
    const result = await call;
    assert.equal(textIn(result), 'mine of quarry');
    assert.ok(!result.isError);

    const second = client.call('mine', { n: 'no' });
    const other = await expect(bot, ({ kind, from }) => kind === 'mcp/proposal:tools/call:mine' && from === 'client');
    assert.equal((await as('ann', 'approve', topic, other.id)).status, 0);
    assert.equal((await as('ben', 'reject', topic, other.id, 'too deep')).status, 0);
    const refused = await second;
    assert.equal(refused.isError, true);
    assert.equal(textIn(refused), 'ben rejected it: too deep');
    await client.close();
});
