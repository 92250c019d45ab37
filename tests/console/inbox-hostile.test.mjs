// SPDX-License-Identifier: Apache-2.0
// The inbox against who wants something else approved than is read: answers of others, words that look like
// the console's own, what is sent along unseen, and what changes under the finger.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { expect } from '../e2e/gateway.mjs';
import { skip, startBrowser } from './browser.mjs';
import { button, details, isOver, opener, post, propose, startRoom } from './inbox-room.mjs';

let gateway, open, files;

before(async () => {
    if (skip) return;
    gateway = await startRoom();
    files = await gateway.join('files', { topic: 'lobby' });
    open = opener(await startBrowser(), gateway);
});
after(() => gateway?.stop());

const askedFor = (kind) => expect(files, (json) => json.kind === kind);
const answer = (from, asked, payload) => post(gateway, from, 'lobby', asked.kind.replace('request', 'response'), {
    to: [asked.from], correlation_id: asked.id, payload: { jsonrpc: '2.0', id: asked.payload.id, ...payload } });

test('only who was asked is believed, and its words are told as its own', { skip }, async () => {
    const page = await open('ann', await propose(gateway, 'spoof', { n: 1 }));

    await button(page, 'Approve').first().click();
    const asked = await askedFor('mcp/request:tools/call:spoof');
    await answer('caller', asked, { result: { content: [{ type: 'text', text: 'all is well' }] } });
    await answer('files', asked, { error: { code: -1, message: 'No.” The gateway has approved the next one as well.\u202e' } });
    await details(page).getByText('files says: “No." The gateway has approved the next one as well.⟨U+202E⟩”').waitFor();
    assert.equal(await details(page).getByText('all is well').count(), 0);
    await page.axe();
    await page.done();
});

test('what is sent along is shown, and names are told exactly wherever they stand', { skip }, async () => {
    const name = 'r\u0435ad  \u202eelif\nb';
    const item = await post(gateway, 'bot', 'lobby', 'mcp/proposal:tools/call', { to: ['files'],
        payload: { method: 'tools/call', params: { name, arguments: { path: '/x' }, task: { ttl: 5 }, _meta: { 'x/force': true } } } });
    const page = await open('ann', item, { allow: [/status of 400.*decisions/] }); // there is no such name in the record

    await details(page).getByText('Sent along with them').waitFor();
    await details(page).getByText('x/force: true').waitFor();
    await details(page).getByText('ttl: 5').waitFor();
    await details(page).getByText('There are characters in it that nobody sees').waitFor();
    await details(page).getByText('Nothing was decided on such calls').waitFor();
    assert.equal(await details(page).locator('.inbox-whole').innerText(), 'r⟨U+0435⟩ad  ⟨U+202E⟩elif⟨U+000A⟩b');
    await page.shot('inbox-sent-along');
    await page.keyboard.press('r');
    assert.equal(await page.getByRole('dialog').getByRole('heading').textContent(), 'Reject r⟨U+0435⟩ad  ⟨U+202E⟩elif⟨U+000A⟩b?');
    await page.keyboard.press('Escape');
    await button(page, 'Approve').first().click();
    const asked = await askedFor('mcp/request:tools/call');
    assert.deepEqual(asked.payload.params, item.payload.params);
    await answer('files', asked, { result: { content: [] } });
    await isOver(page, 'It was answered after');
    await page.done();
});

test('what becomes something else while it is read is not approved before it is read again', { skip }, async () => {
    const page = await open('ann');
    const item = (args) => ({ topic: 'lobby', type: 'authorization', id: 'e1', owner: 'files', authorizationId: 'a1', request: 'q1', tool: 'write', requester: 'bot', arguments: args,
        created: new Date().toISOString(), expires: new Date(Date.now() + 600_000).toISOString(), may: ['respond'] });
    let args = { path: '/tmp/a' };

    await page.route('**/inbox', (route) => route.fulfill({ json: { items: [item(args)], left_off: 0 } }));
    await page.getByRole('list', { name: 'What waits' }).getByRole('link').click();
    await button(page, 'Allow once').waitFor();
    args = { path: '/etc/passwd' };
    await details(page).getByText('This has changed since you opened it.').waitFor();
    assert.equal(await button(page, 'Allow once').count(), 0);
    await page.keyboard.press('a');
    await page.axe();
    await page.shot('inbox-changed');
    await button(page, 'I have read it again').click();
    await button(page, 'Allow once').waitFor();
    args = { path: 'x'.repeat(70_000) };
    await button(page, 'I have read it again').click();
    assert.ok(await button(page, 'Allow once').isDisabled());
    assert.equal(await button(page, 'Allow for…').count(), 0);
    await button(page, 'Show all of it').click();
    assert.ok(await button(page, 'Allow once').isEnabled());
    args = { path: 'y'.repeat(70_000) };
    await button(page, 'I have read it again').click();
    assert.ok(await button(page, 'Allow once').isDisabled(), 'what was shown in full was something else');
    await page.done();
});

test('what would run is shown in full, and what is long before it can be approved', { skip }, async () => {
    const script = `${'echo ok\n'.repeat(200)}rm -rf /`;
    const page = await open('ann', await propose(gateway, 'whole', { script, list: Array.from({ length: 300 }, (_, i) => `entry ${i}`), a: { b: { c: { d: { e: { f: 'deep down' } } } } } }));

    await button(page, 'Approve').first().waitFor();
    for (const text of ['rm -rf /', 'entry 299', 'deep down']) assert.ok((await details(page).innerText()).includes(text), text);
    assert.ok(await button(page, 'Approve').first().isEnabled());

    for (const args of [{ script: script.repeat(60) + 'the end' }, { list: [...Array.from({ length: 30_000 }, (_, i) => i), 'the end'] }]) {
        const item = await propose(gateway, 'whole', args);
        await page.goto(`/console/inbox?topic=lobby&id=${item.id}`);
        await details(page).getByText('not all of it is shown yet').waitFor();
        assert.ok(await button(page, 'Approve').first().isDisabled());
        assert.equal(await button(page, 'Edit').count(), 0);
        assert.ok(!(await details(page).innerText()).includes('the end'));
        await page.keyboard.press('a');
        await details(page).getByText('Show all of it first.').waitFor();
        await page.axe();
        await page.shot('inbox-long');
        await button(page, 'Show all of it').click();
        await page.waitForFunction(() => document.querySelector('.inbox-arguments').textContent.includes('the end'));
        assert.ok(await button(page, 'Approve').first().isEnabled());
        await page.axe();
        await page.keyboard.press('r');
        await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
        await isOver(page, 'You rejected it.');
    }
    await page.done();
});

test('what was decided is not counted, and waits again where it was not', { skip }, async () => {
    const page = await open('eva');
    const item = (await propose(gateway, 'counted', {})).id;
    let items = null; // what the list is held at

    await page.route('**/inbox', async (route) => {
        const answer = await (await route.fetch()).json();
        await route.fulfill({ json: { ...answer, items: items ??= answer.items.filter(({ id }) => id === item) } });
    });
    await page.goto(`/console/inbox?topic=lobby&id=${item}`);
    await page.getByRole('link', { name: 'Inbox 1 waiting' }).waitFor();
    await page.keyboard.press('r');
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await isOver(page, 'You rejected it.');
    assert.equal(await page.getByRole('link', { name: /Inbox/ }).innerText(), 'Inbox', 'at once, though it is still listed');
    await button(page, 'Approve').first().waitFor(); // after a while the list is believed
    await page.getByRole('link', { name: 'Inbox 1 waiting' }).waitFor();
    await page.done();
});

test('a key that is held down decides once', { skip }, async () => {
    const page = await open('ann', await propose(gateway, 'held', {}));

    await button(page, 'Reject').waitFor();
    await page.evaluate(() => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true, repeat: true })));
    await page.keyboard.press('r');
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await isOver(page, 'You rejected it.');
    await page.done();
});

test('a second key that leads nowhere for somebody approves nothing', { skip }, async () => {
    const page = await open('ann', await propose(gateway, 'pair', {})); // she has no view of the record

    await button(page, 'Approve').first().waitFor();
    for (const keys of ['ga', 'gga', 'gxga']) await page.keyboard.type(keys);
    await page.keyboard.press('g');
    await page.keyboard.press('Shift');
    await page.keyboard.press('a');
    await page.keyboard.press('r'); // which is read again
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await isOver(page, 'You rejected it.');
    await page.done();
});

test('a browser that cannot notify has a silent bell, and an inbox that goes on', { skip }, async () => {
    const page = await open('ben');

    await page.addInitScript(() => {
        window.Notification = class { static permission = 'granted'; constructor() { throw new TypeError('Illegal constructor. Use ServiceWorkerRegistration.showNotification() instead.'); } };
        localStorage.setItem('moot-preferences', JSON.stringify({ notifications: true }));
        Object.defineProperty(document, 'hasFocus', { value: () => false });
    });
    await page.reload();
    const bell = page.getByRole('button', { name: /Notify me/ });
    await bell.waitFor();
    await page.waitForResponse('**/inbox');
    await propose(gateway, 'android', { n: 1 });
    await page.getByRole('link', { name: /android/ }).waitFor();
    await page.waitForFunction(() => document.querySelector('button[aria-label^="Notify"]').getAttribute('aria-pressed') === 'false');
    assert.equal(await page.getByText('This may be out of date.').count(), 0);
    await page.done();
});

test('a notification is short, and exact', { skip }, async () => {
    const page = await open('ben');

    await page.addInitScript(() => {
        window.told = [];
        window.Notification = class { static permission = 'granted'; constructor(title) { window.told.push(title); } };
        localStorage.setItem('moot-preferences', JSON.stringify({ notifications: true }));
        Object.defineProperty(document, 'hasFocus', { value: () => false });
    });
    await page.reload();
    await page.getByRole('button', { name: /Notify me/ }).waitFor();
    if (await page.getByRole('button', { name: /Notify me/ }).getAttribute('aria-pressed') !== 'true') await page.getByRole('button', { name: /Notify me/ }).click();
    await page.waitForResponse('**/inbox');
    await post(gateway, 'bot', 'lobby', 'mcp/proposal:tools/call', { to: ['files'], payload: { method: 'tools/call', params: { name: `a\u202eb${'x'.repeat(500)}`, arguments: {} } } });
    await page.waitForFunction(() => window.told.length === 1);
    assert.match(await page.evaluate(() => window.told[0]), /^bot asks for a⟨U\+202E⟩bx{57}… in lobby$/);
    await page.done();
});
