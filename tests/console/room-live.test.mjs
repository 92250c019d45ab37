// SPDX-License-Identifier: Apache-2.0
// The room under strain: a thousand envelopes a second, connections that break, gaps, and content
// that somebody made to do harm.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import test, { before } from 'node:test';

import { envelope, expect, person } from '../e2e/gateway.mjs';
import { skip, startBrowser } from './browser.mjs';
import { actors, answerOf, callOf, PIXEL, startRoomGateway, text } from './rooms.mjs';

let browser;
before(async () => { if (!skip) browser = await startBrowser(); });

const live = (page) => page.waitForSelector('.badge.ok:text("Live")', { state: 'attached' });

async function enter(gateway, token, topic, options = {}) {
    const page = await browser.page(gateway, { token: `${token}-token`, path: `/console/room/${topic}`, ...options });
    await live(page);
    return page;
}

// Sends `count` chats, a thousand a second as far as the clock allows.
async function flood(client, count) {
    const begin = performance.now();
    for (let sent = 0; sent < count;) {
        const due = Math.min(count, Math.floor(performance.now() - begin) + 1);
        for (; sent < due; sent++) client.talk(`message number ${sent} of many`);
        await new Promise((done) => { setTimeout(done, 5); });
    }
}

test('a thousand envelopes a second: all of them are there, few exist in the page, and it answers meanwhile', { skip }, async () => {
    const gateway = await startRoomGateway({ limits: { rate_messages: '5000/s' } });
    const { bot, files } = await actors(gateway, 'flood', 'bot', 'files');
    const page = await enter(gateway, 'ann', 'flood');
    const COUNT = 3000;

    await page.evaluate(() => {
        window.frames_ = 0;
        const count = () => { window.frames_++; requestAnimationFrame(count); };
        count();
    });
    const field = page.getByRole('textbox', { name: 'Message' });
    const sending = flood(bot, COUNT);
    await field.pressSequentially('typed while it rains', { delay: 20 });
    assert.equal(await field.inputValue(), 'typed while it rains');
    await page.getByRole('button', { name: 'Other rooms' }).click();
    await sending;
    await page.getByRole('menuitem', { name: 'All rooms' }).press('Escape'); // it did not go away under the hand
    await page.getByText(`message number ${COUNT - 1} of many`, { exact: true }).waitFor();
    assert.ok(await page.evaluate(() => window.frames_) >= 10, 'it was drawn meanwhile');
    assert.ok(await page.locator('.virtual-row').count() < 150, 'few lines exist');

    await page.locator('.virtual-list').evaluate((list) => { list.scrollTop -= 5000; });
    await page.getByRole('button', { name: /To the newest|new/ }).waitFor();
    const first = await page.locator('.line').nth(20).innerText();
    const request = bot.send(callOf('bot', 'late', {}));
    files.send(answerOf('files', request, text('done')));
    bot.talk('for @ann');
    await page.getByRole('button', { name: /2 new.*@1/ }).waitFor();
    assert.equal(await page.locator('.line').nth(20).innerText(), first, 'and who reads is left in peace');
    await page.getByRole('button', { name: /2 new/ }).click();
    await page.locator('.chat-body', { hasText: 'for @ann' }).waitFor();
    await page.getByRole('searchbox').fill('number many');
    await page.getByText(`${COUNT.toLocaleString('en')} of`).waitFor();
    await page.done();
    await gateway.stop();
});

// Between the page and the gateway, to be cut.
async function startProxy(port) {
    const sockets = new Set();
    const server = net.createServer((near) => {
        if (server.isCut) return near.destroy();
        const far = net.connect(port, '127.0.0.1');
        for (const [one, other] of [[near, far], [far, near]]) {
            sockets.add(one);
            one.on('error', () => {}).on('close', () => { sockets.delete(one); other.destroy(); });
        }
        near.pipe(far).pipe(near);
        return undefined;
    }).listen(0, '127.0.0.1');

    await once(server, 'listening');
    return {
        port: server.address().port,
        cut: () => { server.isCut = true; for (const socket of sockets) socket.destroy(); },
        mend: () => { server.isCut = false; },
        close: () => { for (const socket of sockets) socket.destroy(); server.close(); },
    };
}

const CUT = [/ERR_/, /WebSocket connection/, /failed: /];

test('a connection that breaks is told, comes back by itself, and nothing is lost', { skip }, async () => {
    const gateway = await startRoomGateway();
    const proxy = await startProxy(gateway.port);
    const { bot } = await actors(gateway, 'cuts', 'bot');
    const page = await enter({ port: proxy.port }, 'ann', 'cuts', { allow: CUT });

    await bot.told(bot.talk('before'));
    await page.getByText('before', { exact: true }).waitFor();
    proxy.cut();
    const alert = page.getByRole('alert').filter({ hasText: 'The connection is lost.' });
    await alert.getByText(/Again in \d/).waitFor();
    assert.ok(await alert.getByText(/Again in \d/).evaluate((element) => element.closest('[aria-hidden="true"]') !== null), 'nobody hears seconds counted');
    assert.doesNotMatch(await alert.ariaSnapshot(), /\d/);
    await page.axe();
    await page.shot('room-lost');
    for (const words of ['one', 'two', 'three']) await bot.told(bot.talk(words));
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('not yet');
    await field.press('Enter');
    await page.getByText(/^Not sent:/).waitFor();
    proxy.mend();
    await page.getByRole('button', { name: 'Connect now' }).click({ timeout: 5000 }).catch(() => {}); // or it is back by itself by now
    await page.getByText('three', { exact: true }).waitFor();
    await live(page);
    const said = (await page.locator('.chat-body').allInnerTexts()).map((words) => words.split('\n').at(-1));
    assert.deepEqual(said, ['before', 'one', 'two', 'three']);
    assert.equal(await page.getByText('Something may be missing here').count(), 0);
    await page.getByText(/^Not sent:/).waitFor({ state: 'detached' });
    await field.press('Enter');
    await page.locator('.chat-body', { hasText: 'not yet' }).waitFor();
    await page.done();
    proxy.close();
    await gateway.stop();
});

test('what the server no longer holds is missing in its place, and the record fills it', { skip }, async () => {
    const gateway = await startRoomGateway({ topics: { defaults: { ring_messages: 20 } } });
    const proxy = await startProxy(gateway.port);
    const { ann, bot } = await actors(gateway, 'gaps', 'ann', 'bot');
    const page = await enter({ port: proxy.port }, 'root', 'gaps', { allow: CUT });

    await ann.told(ann.talk('the first of that name', { id: 'twin' }));
    await bot.told(bot.talk('before'));
    await page.getByText('before', { exact: true }).waitFor();
    proxy.cut();
    await page.getByRole('alert').getByText('The connection is lost').waitFor();
    for (let i = 0; i < 60; i++) await bot.told(bot.talk(`missed ${i}`));
    proxy.mend();
    await page.getByRole('button', { name: 'Connect now' }).click();
    await page.getByRole('alert').getByText('some of it may be missing').waitFor();
    await page.getByText('missed 59', { exact: true }).waitFor();
    assert.equal(await page.getByText('missed 20', { exact: true }).count(), 0);
    await page.axe();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('Something may be missing here').waitFor();
    await page.shot('room-gap');
    await page.getByRole('button', { name: 'Load it from the record' }).click();
    await page.getByText('Something may be missing here').waitFor({ state: 'detached' });
    await page.getByText('some of it may be missing').waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('missed');
    await page.getByText('60 of').waitFor();
    bot.talk('missed the second of that name', { id: 'twin' }); // the server has forgotten the other
    const twin = page.locator('.line', { hasText: 'the second of that name' });
    await twin.getByRole('button', { name: 'Raw envelope' }).click();
    await page.getByRole('complementary').getByText('"missed the second of that name"').waitFor();
    await page.done();
    proxy.close();
    await gateway.stop();
});

test('a server that was restarted is found again, with an honest gap', { skip }, async () => {
    let gateway = await startRoomGateway();
    const { bot } = await actors(gateway, 'restart', 'bot');
    const page = await enter(gateway, 'ann', 'restart', { allow: CUT });

    bot.talk('before the crash');
    await page.getByText('before the crash').waitFor();
    await gateway.kill();
    await page.getByRole('alert').getByText('The connection is lost').waitFor();
    gateway = await gateway.restart();
    await live(page);
    const again = (await actors(gateway, 'restart', 'bot')).bot;
    again.talk('after it');
    await page.getByText('after it').waitFor();
    await page.getByText('Something may be missing here').waitFor();
    await page.getByRole('button', { name: 'Understood' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.done();
    await gateway.stop();
});

test('a server that was restarted without a word between leaves no gap to who can ask the record', { skip }, async () => {
    let gateway = await startRoomGateway();
    const { bot } = await actors(gateway, 'quiet', 'bot');
    const page = await enter(gateway, 'root', 'quiet', { allow: CUT });

    bot.talk('before the crash');
    await page.getByText('before the crash').waitFor();
    await new Promise((done) => { setTimeout(done, 300); }); // it is on disk
    await gateway.kill();
    await page.getByRole('alert').getByText('The connection is lost').waitFor();
    gateway = await gateway.restart();
    await live(page);
    const again = (await actors(gateway, 'quiet', 'bot')).bot;
    again.talk('after it');
    await page.getByText('after it').waitFor();
    for (const words of ['Something may be missing here', 'some of it may be missing']) await page.getByText(words).waitFor({ state: 'detached' });
    assert.deepEqual((await page.locator('.chat-body').allInnerTexts()).map((words) => words.split('\n').at(-1)), ['before the crash', 'after it']);
    await page.done();
    await gateway.stop();
});

test('who is removed is told so, and not brought back by itself', { skip }, async () => {
    const gateway = await startRoomGateway({ topics: { defaults: { loop_guard: 5 } } });
    const page = await enter(gateway, 'ann', 'kicks');
    const { bot } = await actors(gateway, 'kicks', 'bot');

    for (let i = 0; i < 6; i++) bot.talk('and on');
    bot.send(callOf('bot', 'again', {}, { to: ['ann'] }));
    await page.getByText('They go on when a person says something.').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('Go on.');
    await page.keyboard.press('Enter');
    await page.getByText('They go on when a person says something.').waitFor({ state: 'detached' });

    await gateway.request('POST /admin/members/ann/kick?topic=kicks', { token: 'root-token' });
    await page.getByRole('alert').getByText(/^[A-Z].*\. This page is no longer in the room\.$/).waitFor();
    await page.done();
    await gateway.stop();
});

const EVIL = [
    '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2"><svg onload="window.hacked = 3">',
    '[click](javascript:window.hacked=4) [x](data:text/html,<script>window.hacked=5</script>) <a href="javascript:window.hacked=6">y</a>',
    '![image](https://tracker.example/pixel.png) \u202Egnp.exe\u202C \u2066hidden\u2069 \u200B\u200D',
    `${'['.repeat(5000)}${'*'.repeat(5000)}${'> '.repeat(2000)}`,
    'W'.repeat(200_000),
    'https://a'.repeat(20_000),
    `\`\`\`\n${'line\n'.repeat(20_000)}`,
    'Z̷̢̛̗̙̈́͊͝a̵̡̛͖̎l̸̨̛̠̈́̍g̶̢̛̗̈́o̷̢̧̢̧̢̧̢̧̢̧̢̧'.repeat(200),
];
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="parent.hacked=7"><script>parent.hacked=8</script></svg>').toString('base64');

test('hostile names, texts and results are shown and never run', { skip }, async () => {
    const NAME = '<img src=x onerror=window.hacked=9>\u202Egro.livE';
    const LONG = 'n'.repeat(250);
    const gateway = await startRoomGateway({ tokens: [
        person('ann', { type: 'human', capabilities: ['mcp/*', 'chat', 'x/*', 'participant/status'] }),
        { token: 'evil-token', id: NAME, type: 'agent', capabilities: ['*'] }, { token: 'long-token', id: LONG, type: 'human', capabilities: ['*'] },
    ] });
    const evil = await gateway.join(NAME, { topic: 'hostile', token: 'evil-token' });
    const long = await gateway.join(LONG, { topic: 'hostile', token: 'long-token' });
    const page = await enter(gateway, 'ann', 'hostile', { width: 1000 });
    const say = (kind, payload, more = {}) => evil.send(envelope('x', kind, { from: NAME, payload, ...more }));
    let deep = 'end';
    for (let i = 0; i < 100; i++) deep = { deeper: deep };

    for (const words of EVIL) say('chat', { text: words });
    say('chat', { text: { not: 'a text' } });
    say('chat', { text: EVIL[0], format: 'plain' });
    say('x/anything', { deep, html: EVIL[0], [EVIL[0]]: 1 });
    say('participant/status', { status: EVIL[0] });
    const call = say('mcp/request:tools/call:read_file', { method: 'tools/call', params: { name: 'delete_everything', arguments: JSON.parse(`{"__proto__":{"polluted":1},"html":${JSON.stringify(EVIL[0])}}`) } }, { id: '"><b>', ts: '9999-12-31T23:59:59Z' });
    say('mcp/response:tools/call:read_file', { result: { content: [
        { type: 'text', text: EVIL[0] }, { type: 'image', mimeType: 'image/svg+xml', data: SVG }, { type: 'image', mimeType: 'image/png', data: '"><script>' }, { type: 'image', mimeType: 'image/png', data: `A${' '.repeat(60_000)}!` },
        { type: 'image', mimeType: 'image/png', data: PIXEL.slice(0, 40) }, { type: 'image', mimeType: 'text/html', data: SVG },
        { type: 'resource_link', uri: 'javascript:window.hacked=10', name: EVIL[2] }, { type: 'resource', resource: { uri: 'data:text/html,x', text: EVIL[0] } },
        { type: 'audio', mimeType: EVIL[0], data: 'AAAA' }, null, 7, [[]], { type: EVIL[0] },
    ], structuredContent: deep } }, { correlation_id: call.id });
    await expect(long, (json) => json.correlation_id === call.id);
    const nested = say('mcp/request:tools/call:nested', { method: 'tools/call', params: { name: 'nested' } }, { correlation_id: call.id }); // hides in no card
    say('mcp/response:tools/call:nested', { result: { content: [{ type: 'text', text: `${'['.repeat(90_000)}${']'.repeat(90_000)}` }], structuredContent: {} } }, { correlation_id: nested.id });
    say('chat', { text: `# ${' '.repeat(3000)}\u2028` });
    long.send(envelope(LONG, 'chat', { id: 'last', payload: { text: 'the end' }, to: Array.from({ length: 300 }, (_, i) => `somebody-${i}`) }));
    await page.getByText('the end', { exact: true }).waitFor();
    const other = page.locator('.call', { hasText: 'nested' });
    await other.getByRole('button', { name: /Show all of it/ }).click();
    await other.getByText('Structured').waitFor();
    const card = page.locator('.call', { hasText: 'read_file' });
    await card.getByText('The kind says one thing, the payload another: delete_everything').waitFor();
    await card.getByRole('button', { name: /Show all of it/ }).click();
    await card.getByText('This image cannot be shown.').first().waitFor();
    await page.axe();
    await page.shot('room-hostile-card');
    await page.getByRole('button', { name: /^People:/ }).click();
    await page.locator('.member').nth(2).waitFor();

    const list = page.locator('.virtual-list');
    const seen = { links: new Set(), tags: new Set(), wide: 0 };
    for (let share = 0; share <= 1; share += 0.1) {
        await list.evaluate((element, part) => { element.scrollTop = part * element.scrollHeight; }, share);
        await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
        const found = await page.evaluate(() => ({
            links: [...document.querySelectorAll('main a')].map((link) => link.protocol),
            tags: [...document.querySelectorAll('.timeline *, .details *')].map((element) => element.localName),
            images: [...document.querySelectorAll('main img')].map((image) => image.src.slice(0, 15)),
            wide: document.documentElement.scrollWidth,
            cut: [...document.querySelectorAll('.details-body, .member, .line')].filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.className),
        }));
        for (const link of found.links) seen.links.add(link);
        for (const tag of found.tags) seen.tags.add(tag);
        assert.ok(found.images.every((src) => src.startsWith('data:image/png;')), String(found.images));
        assert.ok(found.wide <= 1000, `${found.wide} px wide`);
        assert.deepEqual(found.cut, [], 'nothing is wider than its place');
    }
    assert.deepEqual([...seen.links].filter((protocol) => !['http:', 'https:', 'mailto:'].includes(protocol)), []);
    for (const tag of ['script', 'iframe', 'object', 'embed', 'style', 'link', 'form', 'meta', 'base', 'b']) assert.ok(!seen.tags.has(tag), tag);
    assert.equal(await page.evaluate(() => window.hacked ?? {}.polluted), undefined);
    assert.ok(await page.getByText('⟨U+202E⟩', { exact: false }).count() > 0 || await page.getByText('202E', { exact: false }).count() > 0, 'what turns the writing is seen');
    await page.shot('room-hostile');
    await page.done();
    await gateway.stop();
});
