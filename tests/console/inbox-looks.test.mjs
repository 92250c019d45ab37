// SPDX-License-Identifier: Apache-2.0
// The inbox by keyboard alone, on a phone, in the dark, with hostile content, when the server is gone, and with much that waits.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { skip, startBrowser } from './browser.mjs';
import { button, details, entry, isOver, opener, post, propose, serve, startRoom } from './inbox-room.mjs';

const SCRIPT = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
const hostile = {
    description: `${SCRIPT} [click](javascript:window.pwned=1) ${'very '.repeat(400)}long`,
    inputSchema: { type: 'object', properties: { [SCRIPT]: { type: 'string', title: SCRIPT, description: SCRIPT, pattern: '(a+)+$' }, __proto__: { type: 'string' } } },
    run: () => SCRIPT,
};
let gateway, open;

before(async () => {
    if (skip) return;
    gateway = await startRoom();
    await serve(gateway, 'files', { tools: { [`evil${SCRIPT.length}`]: hostile, plain: { description: 'Plain.', inputSchema: { type: 'object' }, run: () => 'fine' } } });
    open = opener(await startBrowser(), gateway);
});
after(() => gateway?.stop());

const waiting = (page) => page.getByRole('list', { name: 'What waits' }).getByRole('link');

test('nothing, something, and by keyboard alone', { skip }, async () => {
    const page = await open('ann');

    await page.getByText('Nothing waits for you').waitFor();
    await page.axe();
    await page.shot('inbox-empty');
    for (const n of [1, 2, 3]) await propose(gateway, 'plain', { n }, { expires_at: new Date(Date.now() + n * 60_000).toISOString() });
    await page.waitForFunction(() => document.title.startsWith('(3) Inbox'));
    await page.keyboard.press('j');
    await details(page).getByText('n: 1').waitFor();
    await page.keyboard.press('j');
    await details(page).getByText('n: 2').waitFor();
    await page.keyboard.press('k');
    await details(page).getByText('n: 1').waitFor();
    await page.keyboard.press('r');
    await page.keyboard.type('ja'); // typed into the reason: no shortcut
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await details(page).getByText('n: 1').waitFor();
    await page.keyboard.press('a');
    await isOver(page, 'You approved it.');
    await page.keyboard.press('a'); // once more, and nothing happens to the next
    await page.keyboard.press('j'); // what came after it, not what was decided
    await details(page).getByText('n: 2').waitFor();
    await button(page, 'Reject').waitFor();
    await page.keyboard.press('Escape');
    await details(page).waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('n":3');
    await page.waitForFunction(() => document.querySelectorAll('.inbox-entry').length === 1);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await details(page).getByText('n: 3').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Approve, or allow once').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Search').fill('nothing like it');
    await page.getByText('Nothing that waits fits').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    assert.equal(await waiting(page).count(), 3);
    await page.done();
});

test('hostile names, arguments, descriptions and reasons are shown and not run', { skip }, async () => {
    const name = `evil${SCRIPT.length}`;
    const item = await propose(gateway, name, { [SCRIPT]: SCRIPT, path: 'invoice\u202etxt.exe', long: 'x'.repeat(30_000), deep: JSON.parse('['.repeat(60) + ']'.repeat(60)), ['__proto__']: 'p' },
        { reason: `${SCRIPT}\u202e ${'because '.repeat(2000)}` });
    const page = await open('ann', item);

    await details(page).getByText('There are characters in it that nobody sees').waitFor();
    await details(page).getByText('invoice⟨U+202E⟩txt.exe').waitFor();
    await details(page).getByText('very very').waitFor();
    await button(page, 'Show all of it').last().click();
    await page.axe();
    await page.shot('inbox-hostile');
    await page.keyboard.press('e');
    await page.getByRole('dialog').waitFor();
    await page.axe();
    await page.shot('inbox-hostile-edit');
    await page.keyboard.press('Escape');
    await button(page, 'Approve').first().click();
    await isOver(page, 'It was answered after');
    assert.equal(await details(page).locator('img, script').count(), 0);
    assert.equal(await page.evaluate(() => [window.pwned, ({}).p, document.documentElement.scrollWidth <= innerWidth].join()), ',,true');
    await page.done();
});

test('what is too long for the list is fetched; what stays unknown is not approved', { skip }, async () => {
    const item = await propose(gateway, 'plain', { text: 'y'.repeat(80_000), end: 'the end' });
    const page = await open('ann', item);

    await details(page).getByText('end: "the end"').waitFor();
    await page.route(`**/proposals?id=${item.id}`, (route) => route.fulfill({ json: { proposals: [] } }));
    await page.reload();
    await details(page).getByText('too long to be shown').waitFor();
    assert.equal(await button(page, 'Approve').count(), 0);
    await page.keyboard.press('a');
    await button(page, 'Reject').waitFor();
    await page.done();
});

for (const [way, options] of Object.entries({ 'on a phone': { width: 390, height: 844, touch: true }, 'in the dark': { dark: true }, 'on a phone in the dark': { width: 390, height: 844, touch: true, dark: true } }))
    test(`${way}: list, details and dialogs are whole and legible`, { skip }, async () => {
        const item = await propose(gateway, 'plain', { way, path: `/srv/${'long/'.repeat(40)}` }, { reason: 'It is time.' });
        const page = await open('ann', null, options);
        const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

        await entry(page, `way="${way}"`).waitFor();
        await page.axe();
        await page.shot(`inbox-list-${way.replaceAll(' ', '-')}`);
        assert.ok(await fits());
        await entry(page, `way="${way}"`).click();
        await details(page).getByText('Plain.').waitFor();
        await page.axe();
        await page.shot(`inbox-details-${way.replaceAll(' ', '-')}`);
        assert.ok(await fits());
        await button(page, 'Approve and make a rule').click();
        await page.getByRole('dialog').waitFor();
        await page.axe();
        await page.shot(`inbox-rule-${way.replaceAll(' ', '-')}`);
        assert.ok(await fits());
        await page.keyboard.press('Escape');
        await button(page, 'Reject').click();
        await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
        await isOver(page, 'You rejected it.');
        await page.axe();
        assert.ok(item);
        await page.done();
    });

test('whoever wants it is notified of what comes while looking elsewhere, and the number stands in every view', { skip }, async () => {
    const page = await open('ben');

    await page.addInitScript(() => {
        window.told = [];
        window.Notification = class {
            static permission = 'default';
            static async requestPermission() { return (this.permission = 'granted'); }
            constructor(title, { body }) { window.told.push({ title, body, click: () => this.onclick() }); }
            close() {}
        };
        Object.defineProperty(document, 'hasFocus', { value: () => false });
    });
    await page.reload();
    const bell = page.getByRole('button', { name: /Notify me/ });
    await bell.click();
    await page.getByText('You are notified').waitFor();
    assert.equal(await bell.getAttribute('aria-pressed'), 'true');
    assert.equal(await page.evaluate(() => window.told.length), 0, 'what was there is no news');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'People' }).click();
    const item = await propose(gateway, 'plain', { told: true });
    await page.waitForFunction(() => window.told.length === 1);
    assert.deepEqual(await page.evaluate(() => [window.told[0].title, window.told[0].body]), ['bot asks for plain in lobby', 'told=true']);
    await page.getByRole('link', { name: /Inbox \d+ waiting/ }).waitFor();
    await page.evaluate(() => window.told[0].click());
    await details(page).getByText('told: true').waitFor();
    await post(gateway, 'ann', 'lobby', 'mcp/reject', { correlation_id: item.id });
    await isOver(page, 'ann rejected it.');
    await page.done();
});

test('a server that does not answer is said to, what was there stays, and it comes back', { skip }, async () => {
    await propose(gateway, 'plain', { stale: true });
    const page = await open('ann', null, { allow: [/ERR_FAILED/, /status of 503/] });

    await entry(page, 'stale=true').waitFor();
    await page.route('**/inbox', (route) => route.abort('failed'));
    await page.getByText('This may be out of date.').waitFor();
    await entry(page, 'stale=true').waitFor();
    await page.axe();
    await page.shot('inbox-error');
    await page.unroute('**/inbox');
    let press;
    const pressed = new Promise((resolve) => { press = resolve; });
    await page.route('**/inbox', async (route) => { await pressed; await route.continue(); }); // it does not come back by itself before
    await page.getByRole('button', { name: 'Try again' }).click();
    press();
    await page.getByText('This may be out of date.').waitFor({ state: 'detached' });
    await page.done();
});

test('while nobody knows what waits the inbox does not say that nothing does, and asks again soon', { skip }, async () => {
    const page = await open('ann', null, { path: '/console/inbox?q=nothing-has-this', allow: [/ERR_FAILED/] });
    const nothing = page.getByText('Nothing that waits fits');
    let asked = 0;

    await nothing.waitFor();
    await page.route('**/inbox', (route) => (asked++ < 2 ? route.abort('failed') : route.continue()));
    await page.getByText('This may be out of date.').waitFor();
    await nothing.waitFor({ state: 'detached' });
    await nothing.waitFor({ timeout: 8000 });
    await page.unrouteAll();
    let letGo;
    const held = new Promise((resolve) => { letGo = resolve; });
    await page.route('**/inbox', async (route) => { await held; await route.continue(); });
    await page.reload({ waitUntil: 'commit' });
    await page.getByRole('button', { name: 'To decide', exact: true }).waitFor();
    letGo();
    await page.getByRole('button', { name: /^To decide \d/ }).waitFor();
    await page.done();
});

test('clocks that differ hide nothing: what is listed can be decided, and is counted down by the clock of the server', { skip }, async () => {
    const item = await propose(gateway, 'plain', { clock: 1 }, { expires_at: new Date(Date.now() + 250_000).toISOString() });
    const page = await open('ann');
    let isTold = false;

    await page.addInitScript(() => {
        const Real = Date, aheadMs = 25 * 3_600_000;
        globalThis.Date = class extends Real {
            constructor(...args) { super(...(args.length ? args : [Real.now() + aheadMs])); }
            static now() { return Real.now() + aheadMs; }
        };
    });
    await page.route('**/inbox', async (route) => {
        const { now, ...answer } = await (await route.fetch()).json();
        await route.fulfill({ json: isTold ? { ...answer, now: new Date().toISOString() } : answer });
    });
    await page.goto(`/console/inbox?topic=lobby&id=${item.id}`);
    await details(page).getByText('expires any moment').waitFor();
    await entry(page, 'clock=1').getByText('expires any moment').waitFor();
    assert.ok(await button(page, 'Approve').first().isEnabled());
    isTold = true;
    await details(page).getByText(/^[34]:\d\d left$/).waitFor();
    await details(page).locator('.inbox-facts').getByText(/^(just now|\d+ s ago)$/).waitFor();
    let sent;
    page.on('request', (request) => { if (request.method() === 'POST' && request.postData()?.includes('rule/add')) sent = request.postDataJSON(); });
    await button(page, 'Approve and make a rule').click();
    await page.getByRole('button', { name: 'Approve and add the rule' }).click();
    await page.getByText('The rule is active from now on.').waitFor();
    const days = (Date.parse(sent.payload.rule.expires_at) - Date.now()) / 86_400_000;
    assert.ok(days > 29.9 && days < 30.1, `${days} days`);
    await page.done();
});

test('a thousand that wait are a list like any other', { skip }, async () => {
    const page = await open('eva');
    const items = Array.from({ length: 1000 }, (_, i) => ({ topic: 'lobby', type: 'proposal', id: `m${i}`, proposer: 'bot', kind: 'mcp/proposal:tools/call:plain', state: 'open',
        created: new Date().toISOString(), expires: new Date(Date.now() + 1e6 + i * 1000).toISOString(), approvals: { needed: 1, given: 0, by: [] },
        envelope: { protocol: 'mcpx/v0.1', id: `m${i}`, from: 'bot', to: ['files'], kind: 'mcp/proposal:tools/call:plain', payload: { method: 'tools/call', params: { name: 'plain', arguments: { i } } } }, may: ['approve', 'fulfil', 'reject'] }));

    await page.route('**/inbox', (route) => route.fulfill({ json: { items, left_off: 7 } }));
    await page.getByText('7 more wait and are not listed.').waitFor();
    await page.keyboard.press('k'); // the last
    await details(page).getByText('i: 999').waitFor();
    assert.ok(await waiting(page).count() < 60, 'only what is seen exists');
    await page.getByRole('link', { name: 'i=999' }).waitFor();
    await page.done();
});
