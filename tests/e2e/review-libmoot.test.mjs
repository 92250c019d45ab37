// SPDX-License-Identifier: Apache-2.0
// What others in the room try on a participant of libmoot.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, people, startGateway } from './gateway.mjs';
import { startParticipant } from './participant.mjs';

let gateway;
let topics = 0;
const freshTopic = () => `review-libmoot-${++topics}`;

before(async () => { gateway = await startGateway({ tokens: people('alice', 'eve', 'bot') }); });
after(async () => { await gateway.stop(); });

test('nobody silences a participant by using its next ids before it does', async () => {
    const topic = freshTopic();
    const eve = await gateway.join('eve', { topic });
    const bot = await startParticipant(gateway, 'bot', { topic });
    await bot.do('chat', { text: 'one' });
    const { id } = await expect(eve, (json) => json.from === 'bot' && json.kind === 'chat');
    for (let next = 2; next < 10; next++)
        eve.send(envelope('eve', 'chat', { id: id.replace(/-1\b/, `-${next}`), payload: { text: 'mine' } }));
    eve.send(envelope('eve', 'chat', { payload: { text: 'go on' } }));
    await bot.event('chat', ({ text }) => text === 'go on');
    await bot.do('send', { kind: 'chat', payload: { text: 'two' }, tag: 'two' });
    assert.equal((await bot.outcome('two')).type, 'sent');
    await bot.stop();
});

test('what was sent before leaving is judged, all of it', async () => {
    const topic = freshTopic();
    const bot = await startParticipant(gateway, 'bot', { topic });
    await bot.do('hold');
    for (const tag of ['one', 'two', 'three'])
        await bot.do('send', { kind: 'chat', payload: { text: tag }, tag });
    await bot.do('leave');
    await bot.do('go');
    for (const tag of ['one', 'two', 'three'])
        assert.equal((await bot.outcome(tag)).type, 'sent', tag);
    await bot.event('ended');
    await bot.stop();
});

test('who hears only what is for him still learns what became of his proposal', async () => {
    const topic = freshTopic();
    const alice = await gateway.join('alice', { topic });
    const tool = await startParticipant(gateway, 'eve', { topic });
    const bot = await startParticipant(gateway, 'bot', { topic, is_directed: true });
    await tool.do('add_tool', { name: 'add', says: 'three' });
    await bot.do('request', { to: 'eve', method: 'tools/call', name: 'add', how: 'propose', tag: 'p' });
    const proposal = await expect(alice, (json) => json.kind === 'mcp/proposal:tools/call:add');
    alice.send(envelope('alice', 'mcp/request:tools/call:add', {
        to: ['eve'], correlation_id: proposal.id,
        payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: {} } },
    }));
    const { type, by } = await bot.event('progress', (event) => event.type !== 'proposed');
    assert.deepEqual([type, by], ['taken_up', 'alice']);
    const outcome = await bot.outcome('p');
    assert.deepEqual([outcome.type, outcome.by, outcome.json.content[0].text], ['result', 'eve', 'three']);
    await bot.stop();
    await tool.stop();
});
