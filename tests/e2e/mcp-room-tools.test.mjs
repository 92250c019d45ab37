// SPDX-License-Identifier: Apache-2.0
// The room's own tools, used by a client of the SDK and looked at from the room.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { changesIn, envelope, expect, people, person, startGateway, takeAll, within } from './gateway.mjs';
import { offering, sdkClient, textIn } from './mcp-room.mjs';

const settings = {
    servers: {
        files: offering('files', { tools: ['write'] }),
        crowd: offering('crowd', { tools: [...Array.from({ length: 400 }, (_, n) => `gadget_${n}`), 'send_letter'] }, { topic: 'crowd' }),
    },
    tokens: [
        ...people('ann', 'bob', 'eve'),
        person('agent', { profile: 'proposer' }),
        person('mute', { capabilities: ['mcp/request:*'] }),
    ],
};
let gateway;

before(async () => { gateway = await startGateway(settings); });
after(() => gateway.stop());

const OWN = ['room_chat', 'room_who', 'room_wait', 'room_propose', 'tool_search'];
const textsOf = ({ messages }) => messages.map(({ payload }) => payload.text);

test('what a client says is heard by others, and by whom it is meant for alone', async () => {
    const [ann, bob] = await Promise.all(['ann', 'bob'].map((id) => gateway.join(id, { topic: 'talk' })));
    const client = await sdkClient(gateway, 'eve', { topic: 'talk' });
    const { id } = await client.say('room_chat', { text: 'hello, all' });
    const heard = await expect(ann, ({ kind }) => kind === 'chat');

    assert.deepEqual({ id: heard.id, from: heard.from, payload: heard.payload }, { id, from: 'eve', payload: { text: 'hello, all' } });
    assert.equal((await expect(bob, ({ kind }) => kind === 'chat')).id, id);
    await client.say('room_chat', { text: 'psst', to: ['ann'] });
    const alone = await expect(ann, ({ kind }) => kind === 'chat');
    assert.deepEqual(alone.to, ['ann']);
    const failed = await client.call('room_chat', { words: 'none' });
    assert.equal(failed.isError, true);
    assert.match(textIn(failed), /text/);
    await Promise.all([ann, bob, client].map((one) => one.close()));
});

test('who waits hears what is said, to all or to it alone, and nothing is lost between two waits', async () => {
    const ann = await gateway.join('ann', { topic: 'news' });
    const client = await sdkClient(gateway, 'eve', { topic: 'news' });
    const other = await sdkClient(gateway, 'bob', { topic: 'news' });
    let { next, messages } = await client.say('room_wait', { seconds: 0 });

    assert.deepEqual(messages, []);
    const { next: start } = await other.say('room_wait', { seconds: 0 });
    const waiting = client.say('room_wait', { after: next, seconds: 50 });
    ann.chat('one');
    const first = await waiting;
    assert.deepEqual(textsOf(first), ['one']);
    assert.equal(first.messages[0].from, 'ann');
    const got = ['one'];
    for (let n = 0; n < 40; n++)
        ann.chat(`more ${n}`, n % 4 ? {} : { to: ['eve'] });
    await client.say('room_chat', { text: 'my own' });
    ({ next } = first);
    while (got.length < 41) {
        const news = await client.say('room_wait', { after: next, seconds: 50 });
        got.push(...textsOf(news));
        ({ next } = news);
    }
    // In its order, what is for all and what is for eve alone: two ways lead to her.
    const said = Array.from({ length: 40 }, (_, n) => `more ${n}`);
    assert.deepEqual(got.filter((text) => said.indexOf(text) % 4), ['one', ...said.filter((_, n) => n % 4)]);
    assert.deepEqual(got.filter((text) => said.indexOf(text) % 4 === 0), said.filter((_, n) => n % 4 === 0));
    const theirs = [];
    let at = start;
    while (!theirs.includes('my own')) {
        const news = await other.say('room_wait', { after: at, seconds: 50 });
        theirs.push(...textsOf(news));
        at = news.next;
    }
    assert.equal(theirs.filter((text) => /^more/.test(text)).length, 30); // not those to eve alone
    assert.deepEqual((await client.say('room_wait', { after: next, seconds: 1 })).messages, []);
    await Promise.all([ann, client, other].map((one) => one.close()));
});

test('several that wait are all told', async () => {
    const ann = await gateway.join('ann', { topic: 'many' });
    const clients = await Promise.all(['eve', 'eve', 'bob'].map((id) => sdkClient(gateway, id, { topic: 'many' })));
    const { next } = await clients[0].say('room_wait', { seconds: 0 });
    const waiting = clients.map((client) => client.say('room_wait', { after: next, seconds: 50 }));

    ann.chat('to all of you');
    for (const news of await Promise.all(waiting))
        assert.deepEqual(textsOf(news), ['to all of you']);
    await Promise.all([ann, ...clients].map((one) => one.close()));
});

test('who is here', async () => {
    const ann = await gateway.join('ann');
    const client = await sdkClient(gateway, 'eve');

    await client.shows('write');
    const { you, participants } = await client.say('room_who');
    assert.equal(you, 'eve');
    assert.deepEqual(participants.map(({ id }) => id).sort(), ['ann', 'eve', 'files']);
    assert.equal(participants.find(({ id }) => id === 'files').tools, 7);
    await ann.close();
    await within((async () => {
        while ((await client.say('room_who')).participants.some(({ id }) => id === 'ann'));
    })(), 'ann to be gone');
    await client.close();
});

test('what is proposed is decided by somebody, and room_wait tells it', async () => {
    const ann = await gateway.join('ann');
    const client = await sdkClient(gateway, 'agent');

    await client.shows('write');
    assert.deepEqual((await client.names('Tools')).filter((name) => OWN.includes(name)), OWN);
    let { next } = await client.say('room_wait', { seconds: 0 });
    const { id } = await client.say('room_propose', { tool: 'write', arguments: { n: 1 }, reason: 'it is needed' });
    const proposal = await expect(ann, ({ kind }) => kind === 'mcp/proposal:tools/call:write');
    assert.equal(proposal.id, id);
    assert.deepEqual(proposal.to, ['files']);
    assert.deepEqual(proposal.payload.params, { name: 'write', arguments: { n: 1 } });
    assert.match(JSON.stringify(proposal.payload), /it is needed/);
    ann.send(envelope('ann', 'mcp/reject', { correlation_id: id, payload: { reason: 'not now' } }));
    for (;;) {
        const news = await client.say('room_wait', { after: next, seconds: 50 });
        const decision = news.messages.find(({ about }) => about === id);

        if (decision) {
            assert.equal(decision.kind, 'mcp/reject');
            assert.deepEqual(decision.payload, { reason: 'not now' });
            break;
        }
        ({ next } = news);
    }
    const unknown = await client.call('room_propose', { tool: 'nothing' });
    assert.equal(unknown.isError, true);
    await Promise.all([ann, client].map((one) => one.close()));
});

test('each is there for who may do what it does', async () => {
    const client = await sdkClient(gateway, 'mute');

    await client.shows('write');
    assert.deepEqual((await client.names('Tools')).filter((name) => OWN.includes(name)), ['room_who', 'room_wait', 'tool_search']);
    await client.close();
});

test('among hundreds of tools the right one is found', async () => {
    const client = await sdkClient(gateway, 'eve', { topic: 'crowd' });

    await client.shows('send_letter');
    await client.call('grow', { name: 'pigeon', description: 'Carries a letter through the air' });
    await client.shows('pigeon');
    const find = async (query, limit) => (await client.say('tool_search', { query, ...(limit ? { limit } : {}) })).tools;
    const found = await find('send a letter');
    assert.deepEqual(found.slice(0, 2).map(({ name }) => name), ['send_letter', 'pigeon']);
    assert.deepEqual(found[0].inputSchema, { type: 'object' });
    assert.equal((await find('gadget')).length, 10);
    assert.equal((await find('gadget', 3)).length, 3);
    assert.equal((await find('gadget_399'))[0].name, 'gadget_399');
    assert.deepEqual(await find('zebra'), []);
    await client.close();
});

async function reload(of, next) {
    fs.writeFileSync(of.config, JSON.stringify(next));
    assert.equal((await of.request('POST /admin/reload', { token: of.adminToken() })).status, 200);
}

test('other settings: no tools of the room, longer names, another name for who asks', async () => {
    const other = await startGateway(settings);
    const ann = await other.join('ann');
    const client = await sdkClient(other, 'eve');

    await client.shows('write');
    await client.shows('room_who');
    takeAll(ann);
    await reload(other, { ...settings, mcp: { id: 'porter' } });
    const changes = [];
    while (changes.length < 2)
        changes.push(...changesIn(await ann.next()).map(({ event, id }) => `${id} ${event}`));
    assert.deepEqual(changes.sort(), ['mcp leave', 'porter join']);
    await client.call('grow', { name: 'afterwards' });
    await client.shows('afterwards'); // whoever asks under the new name is answered
    await expect(ann, ({ kind, from }) => kind === 'mcp/request:tools/list' && from === 'porter');
    await reload(other, { ...settings, mcp: { id: 'porter', names: 'prefixed' } });
    await client.shows('files.write');
    assert.ok(!(await client.names('Tools')).includes('write'));
    assert.equal(textIn(await client.call('write')), 'write of files');
    const told = client.told['notifications/tools/list_changed'] ?? 0;
    await reload(other, { ...settings, mcp: { room_tools: 'off' } });
    await client.isTold('notifications/tools/list_changed', told + 1);
    assert.deepEqual((await client.names('Tools')).filter((name) => OWN.includes(name)), []);
    await assert.rejects(client.call('room_who'), { code: -32602 });
    await Promise.all([ann, client].map((one) => one.close()));
    await other.stop();
});
