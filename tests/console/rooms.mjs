// SPDX-License-Identifier: Apache-2.0
// What the tests of the room view share: a gateway with people, and a room in which things happened.
import { envelope, expect, person, startGateway } from '../e2e/gateway.mjs';

export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAHElEQVR4nGP8z8BAEmAiTfmohlENoxqGrQYA+swBHxJ7l+IAAAAASUVORK5CYII=';

const EVERYTHING = ['mcp/*', 'chat', 'participant/*', 'capability/*', 'topic/*', 'rule/*'];

export const startRoomGateway = (more = {}, options = {}) => startGateway({
    tokens: [
        person('root', { admin: true, type: 'human', capabilities: EVERYTHING }),
        person('ann', { type: 'human', capabilities: EVERYTHING }),
        person('bot', { type: 'agent', capabilities: ['mcp/*', 'chat'] }),
        person('files', { type: 'service', capabilities: ['mcp/response:*', 'mcp/request:notifications/*', 'chat', 'participant/status'] }),
        person('reader', { type: 'human', capabilities: ['mcp/withdraw'] }),
        person('proposer', { type: 'human', capabilities: ['chat', 'mcp/proposal:*'] }),
    ],
    ...more,
}, options);

export const callOf = (from, name, args, more = {}) => {
    const said = envelope(from, `mcp/request:tools/call:${name}`, { ts: new Date().toISOString(), to: ['files'], ...more });
    return { ...said, payload: { jsonrpc: '2.0', id: said.id, method: 'tools/call', params: { name, arguments: args } } };
};

export const answerOf = (from, request, answer) => envelope(from, request.kind.replace('request', 'response'), {
    ts: new Date().toISOString(), to: [request.from], correlation_id: request.id, payload: { jsonrpc: '2.0', id: request.id, ...answer },
});

export const text = (value, more = {}) => ({ result: { content: [{ type: 'text', text: value }], ...more } });

// Asks again and again, until it is so.
export async function until(isSo, limit = 10_000) {
    for (const end = Date.now() + limit; !await isSo();) {
        if (Date.now() > end) throw new Error(`it never came: ${isSo}`);
        await new Promise((done) => { setTimeout(done, 50); });
    }
}

// Somebody who is in the room, and says things in their order.
export async function actors(gateway, topic, ...ids) {
    const made = {};
    for (const id of ids) {
        const client = await gateway.join(id, { topic });
        client.say = (kind, payload = {}, more = {}) => client.send(envelope(id, kind, { ts: new Date().toISOString(), payload, ...more }));
        client.talk = (words, more = {}) => client.say('chat', { text: words }, more);
        client.told = (said) => expect(client, (json) => json.id === said.id);
        made[id] = client;
    }
    return made;
}

// A room with one of everything.
export async function playScene(gateway, topic = 'lobby') {
    const { ann, bot, files } = await actors(gateway, topic, 'ann', 'bot', 'files');
    const told = async (client, said) => { await ann.told(said); return said; };

    files.say('participant/status', { status: 'ready', tools: 4, server: 'files' });
    await told(ann, ann.talk('Good morning. **Please** look at the invoices of last week, in `/data/invoices`, and list\n\n- what is missing\n- what was paid *twice*'));
    await told(bot, bot.talk('On it.'));
    await told(bot, bot.talk('I begin with the folder.'));
    const list = bot.send(callOf('bot', 'list_folder', { path: '/data/invoices', recursive: false, limit: 100 }));
    await told(bot, list);
    await told(files, files.send(answerOf('files', list, text(JSON.stringify({ entries: [{ name: '2026-11-09.pdf', bytes: 20481 }, { name: '2026-11-10.pdf', bytes: 18221 }], more: false })))));
    const failed = bot.send(callOf('bot', 'read_file', { path: '/data/invoices/2026-11-11.pdf' }));
    await told(bot, failed);
    await told(files, files.send(answerOf('files', failed, text('ENOENT: no such file or directory, open \'/data/invoices/2026-11-11.pdf\'', { isError: true }))));
    const image = bot.send(callOf('bot', 'thumbnail', { path: '/data/invoices/2026-11-09.pdf' }));
    await told(bot, image);
    await told(files, files.send(answerOf('files', image, { result: { content: [
        { type: 'image', mimeType: 'image/png', data: PIXEL }, { type: 'text', text: 'The first page.' },
        { type: 'resource_link', uri: 'https://files.example/2026-11-09.pdf', name: 'The invoice', description: 'as it was sent' },
        { type: 'resource_link', uri: 'file:///data/invoices/2026-11-09.pdf', name: 'on the disk' },
        { type: 'resource', resource: { uri: 'memo://1', mimeType: 'text/plain', text: 'paid on Monday' } },
    ] } })));
    const proposal = bot.say('mcp/proposal:tools/call:send_mail', { method: 'tools/call', params: { name: 'send_mail', arguments: { to: 'billing@example.com', subject: 'Invoice 2026-11-11 is missing', body: 'Dear team,\n\nplease send it again.' } } }, { to: ['files'] });
    await told(bot, proposal);
    const deleting = bot.say('mcp/proposal:tools/call:delete_file', { method: 'tools/call', params: { name: 'delete_file', arguments: { path: '/data/invoices/draft.tmp' } } }, { to: ['files'] });
    await told(bot, deleting);
    await told(ann, ann.say('mcp/reject', { reason: 'It is still needed.' }, { correlation_id: deleting.id }));
    await told(ann, ann.talk('Leave drafts where they are, @bot.', { correlation_id: deleting.id }));
    return { ann, bot, files, proposal, list, failed, image, deleting };
}
