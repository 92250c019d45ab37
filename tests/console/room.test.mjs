// SPDX-License-Identifier: Apache-2.0
// The room: what happened in it, talking, threads, who is there, filters, marks, older history.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';

import { envelope } from '../e2e/gateway.mjs';
import { moot } from '../e2e/moot.mjs';
import { skip, startBrowser } from './browser.mjs';
import { actors, answerOf, callOf, playScene, startRoomGateway, text, until } from './rooms.mjs';

let browser, gateway;
before(async () => {
    if (skip) return;
    [browser, gateway] = await Promise.all([startBrowser(), startRoomGateway()]);
});
after(() => gateway?.stop());

// In the room, live, with what was held.
async function enter(token, topic, options = {}) {
    const page = await browser.page(gateway, { token: `${token}-token`, path: `/console/room/${topic}${options.query ?? ''}`, ...options });
    await page.waitForSelector('.badge.ok:text("Live")', { state: 'attached' });
    return page;
}

const card = (page, tool) => page.locator('.call', { has: page.locator(`.call-title :text-is("${tool}")`) });

test('a room shows talk, calls with their results, decisions and who came; light, dark and on a phone axe finds nothing', { skip }, async () => {
    const scene = await playScene(gateway, 'lobby');
    const page = await enter('ann', 'lobby');

    await card(page, 'send_mail').waitFor();
    await page.getByText('Please look at the invoices').waitFor();
    assert.equal(await page.locator('.chat-body strong:text-is("Please")').count(), 1, 'Markdown is shown');
    assert.equal(await page.locator('.chat-line.following').count(), 1, 'who goes on talking is named once');
    assert.match(await card(page, 'list_folder').innerText(), /done[\s\S]*bot called[\s\S]*path: "\/data\/invoices"/);
    assert.match(await card(page, 'read_file').innerText(), /failed[\s\S]*ENOENT/);
    assert.match(await card(page, 'delete_file').innerText(), /rejected[\s\S]*ann rejected[\s\S]*It is still needed/);
    assert.match(await card(page, 'send_mail').innerText(), /waits for a decision[\s\S]*Decide/);
    assert.equal(await page.getByText('files is ready').count(), 1);
    scene.bot.socket.send(JSON.stringify(callOf('bot', 'order', { number: 0 })).replace('"number":0', '"number":9007199254740993'));
    await card(page, 'order').getByText('number: "9007199254740993"').waitFor(); // of which a browser makes …992

    await card(page, 'thumbnail').getByRole('button', { name: /Show all of it/ }).click();
    const image = card(page, 'thumbnail').getByRole('img', { name: /image\/png/ });
    await image.waitFor();
    assert.equal(await image.evaluate((img) => img.decode().then(() => img.naturalWidth)), 16);
    assert.equal(await card(page, 'thumbnail').getByRole('link', { name: 'https://files.example/2026-11-09.pdf' }).getAttribute('rel'), 'noopener noreferrer nofollow');
    assert.equal(await card(page, 'thumbnail').getByRole('link', { name: /file:/ }).count(), 0, 'what leads nowhere is no link');
    await card(page, 'list_folder').getByRole('button', { name: /Show all of it/ }).click();
    await card(page, 'list_folder').getByText('2026-11-10.pdf').waitFor();
    await page.axe();
    await page.shot('room');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.axe();
    await page.shot('room-dark');
    await page.done();

    const phone = await enter('bot', 'lobby', { width: 390, height: 800, touch: true });
    await card(phone, 'send_mail').waitFor();
    assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 390, 'nothing is wider than the phone');
    await phone.axe();
    await phone.shot('room-phone');
    await phone.getByRole('button', { name: 'Search and filter' }).tap();
    await phone.getByRole('button', { name: 'Calls' }).tap();
    await phone.locator('.chat-line').first().waitFor({ state: 'detached' });
    await phone.getByRole('button', { name: /^People:/ }).tap();
    await phone.locator('.member').first().waitFor();
    await phone.axe();
    await phone.shot('room-phone-people');
    await phone.done();

    const late = await enter('reader', 'lobby'); // for a newcomer nothing is held, but what waits is there
    await card(late, 'send_mail').getByText('waits for a decision').waitFor();
    assert.equal(await card(late, 'delete_file').count(), 0);
    await late.done();
    for (const one of [scene.ann, scene.bot, scene.files]) await one.close();
});

test('a thread is one card that follows what happens, and the raw envelopes are a key away', { skip }, async () => {
    const { bot, files, ann } = await actors(gateway, 'threads', 'bot', 'files', 'ann');
    const page = await enter('root', 'threads');
    const proposal = bot.say('mcp/proposal:tools/call:deploy', { method: 'tools/call', params: { name: 'deploy', arguments: { target: 'live' } }, reason: `Release 4.2 is tested.\nAll of it${' and more'.repeat(60)}, in the end.` }, { to: ['files'] });

    await card(page, 'deploy').getByText('waits for a decision').waitFor();
    await card(page, 'deploy').getByText(/^\d:\d\d left$/).waitFor(); // though the sender names no end
    assert.match(await card(page, 'deploy').locator('.call-line').first().innerText(), /^“Release 4\.2 is tested\. All of it.*”$/, 'why, in a line');
    const request = ann.send(callOf('ann', 'deploy', { target: 'live' }, { correlation_id: proposal.id }));
    await card(page, 'deploy').getByText('running').waitFor();
    files.say('mcp/request:notifications/progress', { method: 'notifications/progress', params: { progressToken: 1, progress: 3, total: 4, message: 'copying' } }, { correlation_id: request.id, to: ['ann'] });
    await card(page, 'deploy').getByText('Progress 3 / 4 copying').waitFor();
    bot.send(answerOf('bot', request, text('I did it')));
    await card(page, 'deploy').getByText('1 answer of somebody who was not asked').waitFor();
    await card(page, 'deploy').getByText('running').waitFor();
    files.send(answerOf('files', request, text('Deployed.')));
    await card(page, 'deploy').getByText('done').waitFor();
    assert.equal(await page.locator('.call').count(), 1, 'all of it in one card');
    assert.match(await card(page, 'deploy').innerText(), /bot proposed[\s\S]*ann ran it[\s\S]*took/);

    await card(page, 'deploy').getByRole('button', { name: 'Show all of it: deploy' }).focus();
    await page.keyboard.press('o'); // the line that has the focus is the one that is meant
    await card(page, 'deploy').getByText('Deployed.').first().waitFor();
    await card(page, 'deploy').locator('.long-text').getByRole('button').click();
    await card(page, 'deploy').getByText(/and more, in the end\.$/).waitFor();
    await card(page, 'deploy').getByRole('button', { name: 'Show less: deploy' }).focus();
    assert.equal(await card(page, 'deploy').locator('.call-steps li').count(), 6);
    await page.keyboard.press('v');
    await page.getByRole('complementary', { name: 'Details' }).getByText(proposal.kind).first().waitFor();
    assert.equal(new URL(page.url()).searchParams.get('envelope'), proposal.id);
    await page.axe();
    await page.shot('room-raw');
    await page.reload();
    await page.locator('.line.chosen .call').waitFor();
    await page.getByRole('complementary').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    await page.done();
    for (const one of [bot, files, ann]) await one.close();
});

test('what somebody writes is sent, mentions are completed, and what is refused stays', { skip }, async () => {
    const { bot } = await actors(gateway, 'talk', 'bot');
    const page = await enter('ann', 'talk', { allow: [/status of 4/] });
    const field = page.getByRole('textbox', { name: 'Message' });

    await page.locator('body').press('c');
    await page.keyboard.type('Hello @b');
    await page.getByRole('listbox').getByRole('option', { name: 'bot' }).waitFor();
    await page.axe();
    await page.keyboard.press('Enter');
    await page.keyboard.type('look');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('here');
    await page.keyboard.press('Enter');
    await page.locator('.chat-body', { hasText: 'Hello @bot look' }).waitFor();
    assert.equal((await bot.next()).kind === 'system/presence' ? (await bot.next()).payload.text : '', 'Hello @bot look\nhere');
    assert.equal(await field.inputValue(), '');

    await field.fill('x'.repeat(1_100_000));
    await field.press('Enter');
    await page.getByRole('alert').getByText(/^Not sent: /).waitFor();
    assert.equal((await field.inputValue()).length, 1_100_000);
    await page.done();

    const slow = await enter('ann', 'talk');
    const words = slow.getByRole('textbox', { name: 'Message' });
    let go;
    await slow.route('**/topics/talk/messages', async (route) => { await new Promise((done) => { go = done; }); await route.continue(); });
    await words.fill('first');
    await words.press('Enter');
    await words.fill('second, begun meanwhile');
    await until(() => go);
    go();
    await slow.locator('.chat-body', { hasText: 'first' }).waitFor();
    await until(async () => await slow.getByRole('button', { name: 'Send' }).getAttribute('aria-busy') !== 'true');
    await slow.getByRole('link', { name: /Rooms/ }).click();
    await slow.getByRole('link', { name: 'talk', exact: true }).click();
    assert.equal(await words.inputValue(), 'second, begun meanwhile');
    await slow.done();

    const reader = await enter('reader', 'talk');
    await reader.getByText('You may read here, but not talk.').waitFor();
    assert.equal(await reader.getByRole('textbox', { name: 'Message' }).count(), 0);
    await reader.done();
    await bot.close();
});

test('who signs in as somebody else has left the rooms of the former, and finds nothing of his', { skip }, async () => {
    const { bot } = await actors(gateway, 'turn', 'bot');
    const page = await enter('ann', 'aside');
    const here = async (topic) => (await gateway.request(`GET /topics/${topic}/participants`, { token: 'root-token' })).json.participants.map(({ id }) => id);
    const field = page.getByRole('textbox', { name: 'Message' });

    await page.goto('/console/room/turn');
    await page.waitForSelector('.badge.ok:text("Live")', { state: 'attached' });
    await until(async () => (await here('aside')).includes('ann'));
    await field.fill('for nobody else');
    const { ticket } = (await gateway.request('POST /admin/link', { token: 'root-token' })).json;
    await page.evaluate((fresh) => { location.hash = `ticket=${fresh}`; }, ticket);
    await page.getByRole('button', { name: 'Sign in with the link' }).click();
    await page.getByRole('button', { name: 'Signed in as root' }).waitFor();
    await page.waitForSelector('.badge.ok:text("Live")', { state: 'attached' });
    assert.equal(await field.inputValue(), '');
    bot.talk('Are you there, @ann?');
    await page.getByText('Are you there').waitFor();
    assert.equal(await page.getByText('mentioned you').count(), 0);
    await until(async () => !(await here('turn')).includes('ann'));
    assert.deepEqual((await here('turn')).sort(), ['bot', 'root']);
    assert.deepEqual(await here('aside'), []);
    await page.done();
    await bot.close();
});

test('filters and search stand in the address and follow what is new', { skip }, async () => {
    const { ann, bot, files } = await actors(gateway, 'search', 'ann', 'bot', 'files');
    const call = bot.send(callOf('bot', 'weather', { city: 'Lyon' }));
    files.send(answerOf('files', call, text('Rain.')));
    await ann.told(ann.talk('nothing of interest'));
    const page = await enter('root', 'search', { query: '?show=calls' });
    const shown = () => page.locator('.line').allInnerTexts();

    await card(page, 'weather').waitFor();
    assert.equal((await shown()).length, 1);
    await page.locator('body').press('/');
    await page.keyboard.type('lyon rain');
    await page.waitForURL(/text=lyon\+rain/);
    await card(page, 'weather').waitFor();
    await page.getByRole('searchbox').fill('snow');
    await page.getByText('Nothing here fits').waitFor();
    const other = bot.send(callOf('bot', 'forecast', { city: 'Oslo' }));
    files.send(answerOf('files', other, text('Snow.')));
    await card(page, 'forecast').waitFor();
    assert.equal((await shown()).length, 1);
    await page.reload();
    await card(page, 'forecast').waitFor();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await page.getByRole('searchbox').fill('');
    await page.getByLabel('Said or done by').selectOption('ann');
    await page.getByText('nothing of interest').waitFor();
    assert.equal((await shown()).length, 1);
    await page.axe();
    await page.done();
    for (const one of [ann, bot, files]) await one.close();
});

test('who is here, with rights and health; paused, violating and failing ones stand out', { skip }, async () => {
    const { ann, bot, files } = await actors(gateway, 'people', 'ann', 'bot', 'files');
    const page = await enter('root', 'people', { query: '?panel=people' });
    const member = (id) => page.locator('.member', { has: page.locator(`.name:text-is("${id}")`) });

    files.say('participant/status', { status: 'failing', why: 'it does not start' });
    await member('files').getByText('failing').waitFor();
    ann.say('participant/pause', { participant: 'bot' });
    await member('bot').getByText('paused').waitFor();
    await bot.told(ann.talk('now'));
    assert.match(await member('ann').innerText(), /talks, calls, proposes, answers, approves, grants, moderates/);
    assert.match(await member('files').innerText(), /talks, answers/);
    await member('files').getByRole('button', { name: '4 capabilities' }).click();
    await member('files').getByText('mcp/response:*').waitFor();
    ann.say('capability/grant', { recipient: 'bot', capabilities: ['topic/invite'] });
    await member('bot').getByText('invites').waitFor(); // others are not told what it may now
    await page.axe();
    await page.shot('room-people');
    await bot.close();
    await member('bot').waitFor({ state: 'detached' });
    await member('ann').getByRole('button', { name: 'More: ann' }).click();
    await page.getByRole('menuitem', { name: 'Mention' }).click();
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), '@ann ');
    await page.done();
    for (const one of [ann, files]) await one.close();
});

test('what is new while one is elsewhere is counted, mentions by themselves, and a line shows where it begins', { skip }, async () => {
    const { bot } = await actors(gateway, 'marks', 'bot');
    const page = await enter('ann', 'marks');

    await page.getByText('ann joined').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.waitForURL(/inbox/);
    bot.talk('for everybody');
    bot.talk('and @ann, for you');
    await page.getByRole('link', { name: /Rooms.*1 waiting/ }).waitFor();
    await page.getByRole('link', { name: /Rooms/ }).click();
    const row = page.locator('tr', { hasText: 'marks' });
    await row.getByText('1 mention', { exact: true }).waitFor();
    await row.getByText('2 new').waitFor();
    await page.axe();
    await page.shot('rooms');
    await page.getByRole('link', { name: 'marks' }).click();
    await page.getByText('and @ann, for you').waitFor();
    assert.equal(await page.locator('.line', { has: page.locator('.new-line') }).locator('.chat-body').innerText(), 'bot\n' + (await page.locator('.chat-head .small').first().innerText()) + '\n\nfor everybody');
    assert.equal(await page.locator('.line.mention').count(), 1);
    bot.talk('@ann, look', { id: 'again' });
    await page.getByRole('status').getByText('bot mentioned you: @ann, look').waitFor({ state: 'attached' });
    await page.getByRole('link', { name: 'Rooms', exact: true }).click();
    for (let i = 0; i < 60; i++) bot.talk(`number ${i}`);
    await row.getByText('60 new').waitFor();
    await page.getByRole('link', { name: 'marks' }).click();
    await page.getByText('number 59').waitFor();
    assert.equal(await page.locator('.new-line').count(), 0, 'it begins above what is seen');
    await page.axe();
    await page.getByRole('button', { name: '60 new since you were here' }).click();
    await page.locator('.line', { has: page.locator('.new-line') }).getByText('number 0', { exact: true }).waitFor();
    await page.done();
    await bot.close();
});

test('who asks a person at the console for tools, or calls one, is answered at once', { skip }, async () => {
    const page = await enter('ann', 'asked');
    const begin = performance.now();
    const listed = await moot(gateway, 'root', ['tools', 'asked']);
    const called = await moot(gateway, 'root', ['call', 'asked', 'ann', 'anything']);

    assert.doesNotMatch(listed.stdout + listed.stderr, /does not answer/);
    assert.equal(listed.status, 0);
    assert.match(called.stderr, /This is a person at the console; nothing can be called here\./);
    assert.notEqual(called.status, 0);
    assert.ok(performance.now() - begin < 4500, 'nobody waited for nothing');
    await page.done();
});

test('a tool is called from the room, or proposed by who may not call', { skip }, async () => {
    const { files } = await actors(gateway, 'calling', 'files');
    const schema = { type: 'object', properties: { path: { type: 'string' }, depth: { type: 'integer', minimum: 1 } }, required: ['path'] };
    files.socket.on('message', (data) => {
        const said = JSON.parse(data);
        if (said.kind === 'mcp/request:tools/list')
            files.send(envelope('files', 'mcp/response:tools/list', { to: [said.from], correlation_id: said.id, payload: { result: { tools: [{ name: 'tree', description: 'Shows a <b>tree</b>', inputSchema: schema }] } } }));
        if (said.kind === 'mcp/request:tools/call:tree') files.send(answerOf('files', said, text(`of ${said.payload.params.arguments.path}`)));
    });
    const page = await enter('ann', 'calling');
    const dialog = page.getByRole('dialog');

    await page.getByRole('button', { name: 'Call a tool' }).click();
    await dialog.getByText('Shows a <b>tree</b>').waitFor();
    await page.axe();
    await page.shot('room-call');
    await dialog.getByLabel('path').fill('/data');
    await dialog.getByLabel(/depth/).fill('0');
    await dialog.getByRole('button', { name: 'Call', exact: true }).click();
    await dialog.locator('.note.error').waitFor();
    await dialog.getByLabel(/depth/).fill('2');
    await dialog.getByRole('button', { name: 'Call', exact: true }).click();
    await card(page, 'tree').getByText('done').waitFor();
    assert.equal((await page.locator('.small-call').innerText()).replace(/\s+/g, ' ').replace(/[\d:]+/, ''), 'ann tools/list on files done ', 'what clients ask by themselves is one small line');
    assert.match(await card(page, 'tree').innerText(), /path: "\/data", depth: 2[\s\S]*of \/data/);
    await page.done();

    const other = await enter('proposer', 'calling', { allow: [/status of 403/] });
    await other.getByRole('button', { name: 'Call a tool' }).click();
    await other.getByRole('dialog').getByText(/What it offers cannot be asked/).waitFor();
    await other.getByRole('dialog').getByLabel('Tool').fill('tree');
    await other.getByRole('dialog').getByRole('textbox', { name: /JSON/ }).fill('{"path":"/etc"}');
    assert.equal(await other.getByRole('dialog').getByRole('button', { name: 'Call', exact: true }).count(), 0);
    await other.getByRole('dialog').getByRole('button', { name: 'Propose', exact: true }).click();
    await card(other, 'tree').getByText('waits for a decision').waitFor();
    assert.match(await card(other, 'tree').innerText(), /path: "\/etc"/);
    await other.done();
    await files.close();
});

test('all pages of what somebody offers are asked for, and what he says instead is told', { skip }, async () => {
    const { files, bot } = await actors(gateway, 'paged', 'files', 'bot');
    const pages = { '': [['one'], '2'], 2: [['two', 'one'], '3'], 3: [['three'], undefined] };
    const answering = (who, answer) => who.socket.on('message', (data) => {
        const said = JSON.parse(data);
        if (said.kind === 'mcp/request:tools/list' && said.to[0] === who.id)
            who.send(envelope(who.id, 'mcp/response:tools/list', { to: [said.from], correlation_id: said.id, payload: answer(said.payload.params.cursor ?? '') }));
    });
    files.id = 'files';
    bot.id = 'bot';
    answering(files, (cursor) => {
        const [names, nextCursor] = pages[cursor];
        return { result: { tools: names.map((name) => ({ name, inputSchema: {} })), nextCursor } };
    });
    answering(bot, () => ({ error: { code: -32601, message: 'no such \u202emethod' } }));
    const page = await enter('ann', 'paged');
    const dialog = page.getByRole('dialog');

    await page.getByRole('button', { name: 'Call a tool' }).click();
    await dialog.getByLabel('Tool').waitFor();
    assert.deepEqual(await dialog.getByLabel('Tool').locator('option').allTextContents(), ['one', 'two', 'three']);
    await dialog.getByLabel('Whom').selectOption('bot');
    await dialog.getByText('bot says: no such ⟨U+202E⟩method').waitFor();
    await dialog.getByRole('textbox', { name: 'Tool' }).waitFor();
    await page.axe();
    await page.done();
    await Promise.all([files.close(), bot.close()]);
});

test('what is sent again because no answer came is said once, in talk and in calls', { skip }, async () => {
    const { files } = await actors(gateway, 'twice', 'files');
    files.socket.on('message', (data) => {
        const said = JSON.parse(data);
        if (said.kind === 'mcp/request:tools/list')
            files.send(envelope('files', 'mcp/response:tools/list', { to: [said.from], correlation_id: said.id, payload: { result: { tools: [{ name: 'pay', inputSchema: { type: 'object' } }] } } }));
    });
    const page = await enter('ann', 'twice', { allow: [/ERR_FAILED/] });
    const field = page.getByRole('textbox', { name: 'Message' });
    let lost = 0;
    const lose = (kind) => page.route('**/topics/twice/messages', async (route) => {
        if (route.request().method() !== 'POST' || !route.request().postData().includes(kind)) return route.continue();
        await route.fetch();
        lost++;
        await route.abort();
        return page.unroute('**/topics/twice/messages');
    });

    await lose('"chat"');
    await field.fill('only once');
    await field.press('Enter');
    await page.getByText(/^Not sent:/).waitFor();
    await field.press('Enter');
    await until(async () => await field.inputValue() === '');
    await field.fill('only once'); // which is meant
    await field.press('Enter');
    await until(async () => await field.inputValue() === '');
    await lose('tools/call:pay');
    await page.getByRole('button', { name: 'Call a tool' }).click();
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByRole('dialog').getByText(/does not answer/).waitFor();
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(lost, 2);
    const { messages } = (await gateway.request('GET /topics/twice/messages', { token: 'ann-token' })).json;
    const counts = (kind) => messages.filter((said) => said.kind === kind).length;
    assert.deepEqual([counts('chat'), counts('mcp/request:tools/call:pay')], [2, 1]);
    await page.done();
    await files.close();
});

test('older history comes from the record, for administrators, and joins what is held', { skip }, async () => {
    const { ann, bot, files } = await actors(gateway, 'older', 'ann', 'bot', 'files');
    const proposal = bot.say('mcp/proposal:tools/call:still_open', { method: 'tools/call', params: { name: 'still_open', arguments: {} } }, { to: ['files'] });
    const request = callOf('bot', 'early', { n: 1 });
    bot.socket.send(JSON.stringify(request).replace('"n":1}', '"n":9007199254740993}'));

    await ann.told(proposal);
    await ann.told(ann.talk('long ago', { ts: '1970-01-01T00:00:00Z' })); // which hides nothing that waits
    await ann.told(files.send(answerOf('files', request, text('then'))));
    const page = await enter('root', 'older');
    await page.getByText('long ago').waitFor();
    await card(page, 'early').getByText('done').waitFor();
    await card(page, 'early').getByText('n: "9007199254740993"').waitFor();
    await page.getByText('There is nothing older.').waitFor();
    await ann.told(ann.talk('and now'));
    await page.getByText('and now').waitFor();
    const order = await page.locator('.line').allInnerTexts();
    assert.ok(order.findIndex((line) => line.includes('long ago')) < order.findIndex((line) => line.includes('and now')));
    assert.equal(await page.getByText('long ago').count(), 1);
    assert.ok(order.findIndex((line) => line.includes('still_open')) < order.findIndex((line) => line.includes('long ago')), 'what waits stands where it was said');
    assert.equal(await page.locator('.new-line').count(), 0, 'and is not new');
    await page.done();
    const member = await enter('reader', 'older');
    await member.getByText('The room remembers no more than this.').waitFor();
    await card(member, 'still_open').waitFor();
    await member.done();
    for (const one of [ann, bot, files]) await one.close();
});

test('a room that may not be entered says why; one that is entered by name is made', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'ann-token', path: '/console/room/..hidden', allow: [/status of 4/] });
    await page.getByRole('alert').waitFor();
    await page.axe();
    await page.goto('/console/room');
    await page.getByRole('button', { name: 'Enter a room by name' }).click();
    await page.getByLabel('Name of the room').fill('no such name');
    await page.keyboard.press('Enter');
    await page.getByText('A room is named by letters').waitFor();
    await page.getByLabel('Name of the room').fill('brand-new');
    await page.keyboard.press('Enter');
    await page.waitForURL(/room\/brand-new$/);
    await page.getByRole('heading', { name: /brand-new/ }).waitFor();
    await page.done();
});
