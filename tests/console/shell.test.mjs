// SPDX-License-Identifier: Apache-2.0
// Signing in and out, and the shell: navigation, keys, themes, phones.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';

import { person, startGateway } from '../e2e/gateway.mjs';
import { startProvider } from '../e2e/openid.mjs';
import { skip, startBrowser, views } from './browser.mjs';

let browser, gateway;

before(async () => {
    if (skip) return;
    gateway = await startGateway({
        tokens: [person('root', { admin: true, type: 'human' }), person('ann', { type: 'human' }), person('guest', { type: 'human', topics: ['den'] })],
    });
    browser = await startBrowser();
});
after(async () => { await gateway?.stop(); });

const heading = (page, name) => page.getByRole('heading', { level: 1, name });
const ticket = async () => (await gateway.request('POST /admin/link', { token: 'root-token' })).json.ticket;

// Every address that the page asks for.
function addressesOf(page) {
    const seen = [];
    page.on('request', (request) => seen.push(request.url()));
    page.on('websocket', (socket) => seen.push(socket.url()));
    return seen;
}

test('who comes first finds the way: from an empty inbox to the rooms, and into the lobby', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token', path: '/console/inbox' });

    await page.getByRole('link', { name: 'To the rooms' }).click();
    await page.getByText('There is no room yet').waitFor();
    await page.axe();
    await page.getByRole('link', { name: 'Enter the lobby' }).click();
    await heading(page, 'lobby').waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/room/lobby');
    await page.done();
});

test('a link signs in once, and leaves no trace in the address', { skip }, async () => {
    const mine = await ticket();
    const page = await browser.page(gateway, { path: `/#ticket=${mine}` });

    await heading(page, 'Inbox').waitFor();
    assert.equal(new URL(page.url()).pathname + new URL(page.url()).hash, '/console/inbox');
    assert.ok(await page.getByText('root', { exact: true }).isVisible());
    await page.done();
    const again = await browser.page(gateway, { path: `/#ticket=${mine}`, allow: [/status of 401/] });
    await again.getByText('This link was used before, or has expired.').waitFor();
    await again.axe();
    // A good link into a page that is already open.
    await again.evaluate((fresh) => { location.hash = `ticket=${fresh}`; }, await ticket());
    await heading(again, 'Inbox').waitFor();
    await again.done();
});

test('a link that is opened where somebody is signed in asks first, and is used only on yes', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'ann-token', path: '/console/settings', allow: [/status of 401/] });
    const question = page.getByRole('dialog', { name: 'Sign in with this link instead?' });
    const tokenOf = () => page.evaluate(() => sessionStorage.getItem('moot-token'));
    const open = (link) => page.evaluate((fresh) => { location.hash = `ticket=${fresh}`; }, link);
    const spend = (link) => gateway.request('POST /session', { body: JSON.stringify({ ticket: link }) });
    const mine = await ticket();

    await heading(page, 'Settings').waitFor();
    await open(mine);
    await question.getByText('You are signed in as ann.').waitFor();
    assert.equal(new URL(page.url()).hash, '');
    await page.axe();
    await page.shot('signin-asks');
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    assert.equal(await tokenOf(), 'ann-token');
    assert.equal((await spend(mine)).status, 200, 'it was not used');
    await page.goto(`/#ticket=${mine}`); // the page begins anew; this link is no longer good
    await question.getByRole('button', { name: 'Sign in with the link' }).click();
    await page.getByText('This link was used before, or has expired.').waitFor();
    assert.equal(await tokenOf(), 'ann-token');
    await page.getByRole('button', { name: 'Signed in as ann' }).waitFor();
    await open(await ticket());
    await question.getByRole('button', { name: 'Sign in with the link' }).click();
    await page.getByRole('button', { name: 'Signed in as root' }).waitFor();
    await question.waitFor({ state: 'detached' });
    assert.notEqual(await tokenOf(), 'ann-token');
    await page.done();
});

test('a link is taken without a question where what this tab holds is no longer good', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'stale-token', path: `/#ticket=${await ticket()}`, allow: [/status of 401/] });

    await page.getByRole('button', { name: 'Signed in as root' }).waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
    await page.done();
});

test('a pasted token signs in, stays in its tab, and is in no address', { skip }, async () => {
    const page = await browser.page(gateway, { allow: [/status of 401/] });
    const addresses = addressesOf(page);
    const field = page.getByLabel('Token');

    await heading(page, 'Sign in to Moot').waitFor();
    await page.axe();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Paste a token: one line without spaces.').waitFor();
    await field.fill('wrong');
    await field.press('Enter');
    await page.getByText('This token is not known, was revoked, or has expired.').waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    assert.equal(await page.getByText('Your session has ended.').count(), 0, 'there was none');
    await page.shot('signin-wrong');
    await page.axe();
    await field.fill(' root-token\n');
    await field.press('Enter');
    await heading(page, 'Inbox').waitFor();
    await page.reload();
    await heading(page, 'Inbox').waitFor();
    assert.ok(addresses.length > 3);
    assert.deepEqual(addresses.filter((address) => address.includes('token')), []);
    assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes('root-token') || document.cookie.includes('root-token')), false);
    const tab = await page.context().newPage();
    await tab.goto('/console/audit');
    await tab.getByRole('heading', { name: 'Sign in to Moot' }).waitFor();
    assert.equal(new URL(tab.url()).pathname, '/console/audit', 'where one wanted to go is kept');
    await page.done();
});

test('signing out ends the session for good', { skip }, async () => {
    const page = await browser.page(gateway, { path: `/#ticket=${await ticket()}` });

    await heading(page, 'Inbox').waitFor();
    const token = await page.evaluate(() => sessionStorage.getItem('moot-token'));
    assert.equal((await gateway.request('GET /session', { token })).status, 200);
    await page.getByRole('button', { name: 'Signed in as root' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    assert.equal((await gateway.request('GET /session', { token })).status, 401);
    assert.equal(await page.evaluate(() => sessionStorage.getItem('moot-token')), null);
    await page.done();
});

test('a token that is revoked while somebody works signs him out, and says so', { skip }, async () => {
    const { json } = await gateway.request('POST /admin/tokens', { token: 'root-token', body: JSON.stringify({ id: 'tmp', capabilities: ['chat'], name: 'tmp' }), headers: { 'content-type': 'application/json' } });
    const page = await browser.page(gateway, { token: json.token, path: '/console/settings', allow: [/status of 401/] });

    await heading(page, 'Settings').waitFor();
    await gateway.request('DELETE /admin/tokens/tmp', { token: 'root-token' });
    await page.getByRole('link', { name: 'Rooms' }).click();
    await page.getByText('Your session has ended, for example because the server was started again.').waitFor();
    await page.done();
});

test('who loads the page while the server is away is still signed in when it is back', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'ann-token', path: '/console/settings', allow: [/ERR_FAILED|status of 503/] });
    const fail = { gone: (route) => route.abort(), busy: (route) => route.fulfill({ status: 503, json: { detail: 'It starts.' } }) };

    await heading(page, 'Settings').waitFor();
    for (const [how, said] of [['gone', 'The server does not answer.'], ['busy', 'It starts.']]) {
        await page.route('**/session', fail[how]);
        await page.reload();
        await page.getByText(said).waitFor();
        await page.unroute('**/session');
        await heading(page, 'Settings').waitFor();
    }
    await page.done();
});

test('every view is reached by a link, by keys and by its address', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token' });
    const keys = { inbox: 'i', room: 'r', people: 'p', servers: 's', rules: 'u', teams: 't', audit: 'a', overview: 'o', settings: 'e' };

    for (const [name, title] of Object.entries(views)) {
        await page.getByRole('navigation').getByRole('link', { name: title }).click();
        await heading(page, title).waitFor();
        await page.waitForFunction((wanted) => location.pathname === wanted[0] && document.title === wanted[1], [`/console/${name}`, `${title} · Moot`]);
        assert.equal(await page.locator('[aria-current=page]').innerText(), title);
    }
    await page.goBack();
    await heading(page, 'Overview').waitFor();
    for (const [name, key] of Object.entries(keys)) {
        await page.keyboard.press('g');
        await page.keyboard.press(key);
        await heading(page, views[name]).waitFor();
    }
    for (const [name, title] of Object.entries(views)) {
        await page.goto(`/console/${name}`);
        await heading(page, title).waitFor();
    }
    await page.done();
});

test('who is no administrator sees what is for him; an address of nothing says so', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'ann-token', path: '/console/audit' });

    await heading(page, 'There is no such view').waitFor();
    await page.axe();
    assert.equal(await page.getByRole('navigation').getByRole('link', { name: /Servers|Audit|Overview/ }).count(), 0);
    await page.getByRole('link', { name: 'To the inbox' }).click();
    await heading(page, 'Inbox').waitFor();
    await page.done();
});

test('a guest of one room comes to that room', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'guest-token' });

    await page.waitForURL('**/console/room/den');
    await page.done();
});

test('shortcuts are listed, are silent while somebody types, and can be turned off', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token', path: '/console/settings' });

    await heading(page, 'Settings').waitFor();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.waitFor();
    assert.ok(await help.getByText('Go to Inbox').isVisible());
    await page.axe();
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    assert.ok(await help.isVisible(), 'a dialog keeps its keys');
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await page.getByLabel('Keyboard shortcuts of single keys').uncheck();
    await page.locator('#content').focus();
    await page.keyboard.press('?');
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.reload();
    await heading(page, 'Settings').waitFor();
    assert.equal(await help.count(), 0);
    await page.done();
});

test('the theme follows the system until somebody chooses, and stays chosen', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token', path: '/console/settings' });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

    await heading(page, 'Settings').waitFor();
    const light = await ground();
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await ground();
    assert.notEqual(light, dark);
    await page.getByLabel('Colours').selectOption('light');
    assert.equal(await ground(), light);
    await page.reload();
    await heading(page, 'Settings').waitFor();
    assert.equal(await ground(), light);
    await page.getByRole('button', { name: 'Signed in as root' }).click();
    await page.getByRole('menuitemradio', { name: 'Colours: Dark' }).click();
    await page.emulateMedia({ colorScheme: 'light' });
    assert.equal(await ground(), dark);
    await page.done();
});

test('by keys alone: past the navigation, and back', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token', path: '/console/settings' });

    await heading(page, 'Settings').waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'content');
    await heading(page, 'Settings').waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.matches('#content [role=tab][aria-selected=true]') && document.activeElement.textContent), 'For you');
    await page.getByRole('link', { name: 'Audit' }).press('Enter');
    await heading(page, 'Audit').waitFor();
    await page.locator('#content:focus').waitFor();
    await page.done();
});

test('on a phone the bar is at the bottom, and the rest behind "More"', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token', width: 360, height: 700, touch: true });

    await heading(page, 'Inbox').waitFor();
    const bar = await page.getByRole('navigation').boundingBox();
    assert.ok(bar.y > 600 && bar.y + bar.height <= 700 && bar.width === 360);
    await page.getByRole('button', { name: 'More' }).tap();
    await page.axe();
    await page.getByRole('menuitem', { name: 'Audit' }).tap();
    await heading(page, 'Audit').waitFor();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.done();
});

test('whatever goes wrong on a page fails its test', { skip }, async () => {
    const wrongs = [
        () => { document.head.append(Object.assign(document.createElement('style'), { textContent: 'b{}' })); },
        () => { document.body.setAttribute('style', 'color: red'); },
        () => { document.body.append(Object.assign(document.createElement('img'), { src: 'http://elsewhere.invalid/x.png' })); },
        () => { try { document.body.innerHTML = '<b>x</b>'; } catch { /* refused, and reported */ } },
        () => { setTimeout(() => { throw new Error('thrown'); }); },
        () => { void fetch('/admin/nothing'); },
    ];

    await Promise.all(wrongs.map(async (wrong) => {
        const page = await browser.page(gateway);
        await heading(page, 'Sign in to Moot').waitFor();
        await page.evaluate(wrong);
        for (let i = 0; i < 100 && !page.troubles.length; i++) await page.waitForTimeout(20);
        await assert.rejects(page.done(), assert.AssertionError, String(wrong));
    }));
});

test('somebody signs in at the identity provider, and is back where he was', { skip }, async () => {
    const provider = await startProvider({ accounts: { zoe: { groups: ['staff'] }, nemo: {} } });
    const rooms = await startGateway({
        identity: {
            provider: {
                issuer: provider.issuer, name: 'Example \u202eIncorporated of Somewhere', client_id: 'moot', claims: { profile: 'groups' },
                profiles: [{ value: 'staff', profile: 'human' }],
            },
        },
    });
    try {
        const button = (page) => page.getByRole('link', { name: 'Sign in with Example ⟨U+202E⟩Incorporated of Somewhere' });
        const page = await browser.page(rooms, { path: '/console/teams' });
        const addresses = addressesOf(page);

        await button(page).waitFor();
        await page.axe();
        await page.shot('signin-provider');
        await button(page).click();
        await page.getByLabel('Login').fill('nemo');
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByText('The identity provider knows you, but you have no rights here.').waitFor();
        assert.equal(new URL(page.url()).hash, '');
        await page.axe();
        await page.shot('signin-refused');
        await page.context().clearCookies();
        await button(page).click();
        await page.getByLabel('Login').fill('zoe');
        await page.getByRole('button', { name: 'Continue' }).click();
        await heading(page, 'Teams').waitFor();
        assert.ok(await page.getByText('zoe', { exact: true }).first().isVisible());
        const { token } = await page.evaluate(() => ({ token: sessionStorage.getItem('moot-token') }));
        assert.ok(token && !addresses.some((address) => address.includes(token)));
        await page.evaluate(() => { location.hash = 'refused=<img src=x onerror=alert(1)>'; });
        await page.done();
        for (const [name, options] of Object.entries({ dark: { dark: true }, phone: { width: 360, height: 700, touch: true } })) {
            const other = await browser.page(rooms, { path: '/#refused=unreachable', ...options });
            await other.getByText('The identity provider cannot be reached').waitFor();
            await button(other).waitFor();
            assert.ok(await other.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the window');
            await other.axe();
            await other.shot(`signin-provider-${name}`);
            await other.done();
        }
    } finally {
        await rooms.stop();
        await provider.stop();
    }
});
