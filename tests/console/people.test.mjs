// SPDX-License-Identifier: Apache-2.0
// People and agents in the console: who is there, what they may do, and what is done to them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { expect, person, startGateway } from '../e2e/gateway.mjs';
import { skip, startBrowser } from './browser.mjs';
import { until } from './rooms.mjs';

const hostile = '<img src=x onerror=alert(1)>\u202egpj.exe';
const seen = /<img src=x onerror=alert\(1\)>.*gpj\.exe/;
const long = `agent-${'x'.repeat(90)}`;
let gateway, browser, bot, alice;

before(async () => {
    gateway = await startGateway({
        tokens: [
            person('root', { profile: 'admin' }),
            person('alice', { type: 'human', capabilities: ['mcp/*', 'chat', 'participant/*', 'capability/*', 'topic/*'] }),
            person('bot', { profile: 'proposer' }),
            person(long, { capabilities: ['chat', { kind: 'mcp/request:tools/call', payload: { params: { name: ['read_*', '!read_secret*'] } } }] }),
            { ...person('odd'), id: hostile },
        ],
        policy: [{ outcome: 'deny', kind: 'mcp/request:tools/call:drop_*', message: 'nobody drops anything here' }],
    });
    [browser, bot, alice] = await Promise.all([startBrowser(), gateway.join('bot', { topic: 'lobby' }), gateway.join('alice', { topic: 'lobby' })]);
});
after(() => gateway.stop());

const open = (options) => browser.page(gateway, { token: 'root-token', path: '/console/people', ...options });
const details = (page) => page.getByRole('complementary', { name: 'Details' });
const dialog = (page) => page.getByRole('dialog');

async function pick(page, label, option) {
    await page.getByLabel(label, { exact: true }).selectOption({ label: option });
}

test('everybody is listed with what he may do, in words', { skip }, async () => {
    const page = await open();

    await page.getByRole('row', { name: /bot/ }).getByText('propose anything, for others to decide').waitFor();
    await page.getByRole('link', { name: seen }).waitFor();
    await page.shot('people');
    await page.axe();
    await page.keyboard.press('/');
    await page.keyboard.type('lobby');
    await page.getByRole('link', { name: seen }).waitFor({ state: 'detached' });
    assert.match(page.url(), /q=lobby/);
    await page.getByRole('searchbox').fill('nobody at all');
    await page.getByText('Nobody fits').waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByRole('heading', { name: 'People', exact: true }).click();
    await page.keyboard.press('j');
    await details(page).getByText('May, in lobby').waitFor();
    assert.match(page.url(), /people\/alice/);
    await page.keyboard.press('j');
    await page.waitForURL(/people\/bot/);
    await page.keyboard.press('d');
    await page.keyboard.press('Escape');
    await details(page).waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.activeElement?.textContent === 'bot');
    await page.done();
});

test('a grant with an end changes what the agent may do, and is revoked', { skip }, async () => {
    const page = await open({ path: '/console/people/bot', height: 1000 });
    const panel = details(page);

    await panel.getByRole('button', { name: 'Grant…' }).click();
    await dialog(page).getByLabel('Other capabilities').fill('mcp/request:tools/call:read_*\nno pattern');
    await dialog(page).getByText('Line 2 is neither').waitFor();
    await dialog(page).getByLabel('Other capabilities').fill('mcp/request:tools/call:read_*');
    await dialog(page).getByText('call tools whose name begins with “read_”').waitFor();
    await dialog(page).getByLabel('Reason').fill('to look around');
    await page.shot('people-grant');
    await page.axe();
    await dialog(page).getByRole('button', { name: 'Grant', exact: true }).click();
    await dialog(page).waitFor({ state: 'detached' });
    const welcome = await expect(bot, (json) => json.kind === 'system/welcome');
    assert.ok(welcome.payload.you.capabilities.includes('mcp/request:tools/call:read_*'), JSON.stringify(welcome.payload));
    await panel.getByText('59:').first().waitFor();
    await panel.getByText('to look around').waitFor();
    await page.shot('people-details');
    await page.axe();

    await panel.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    const less = await expect(bot, (json) => json.kind === 'system/welcome');
    assert.ok(!less.payload.you.capabilities.includes('mcp/request:tools/call:read_*'));
    assert.deepEqual((await gateway.request('GET /admin/participants/bot/grants', { token: 'root-token' })).json.rights, [], 'that grant, and no more');
    await page.done();
});

test('a right is taken away, and given back', { skip }, async () => {
    const page = await open({ path: '/console/people/bot' });
    const panel = details(page);

    await panel.getByRole('button', { name: 'Take away: talk in the room' }).click();
    await dialog(page).getByRole('button', { name: 'Take away' }).click();
    assert.ok(!(await expect(bot, (json) => json.kind === 'system/welcome')).payload.you.capabilities.includes('chat'));
    await panel.getByRole('listitem').filter({ hasText: 'talk in the room' }).getByRole('button', { name: 'Give back' }).click();
    assert.ok((await expect(bot, (json) => json.kind === 'system/welcome')).payload.you.capabilities.includes('chat'));
    await page.done();
});

test('a dialog acts in the room for which it was opened, wherever its person goes meanwhile', { skip }, async () => {
    const page = await open({ path: `/console/people/${encodeURIComponent(hostile)}` });
    const panel = details(page);
    const asked = [];
    page.on('request', (request) => { if (request.method() === 'POST') asked.push(new URL(request.url()).searchParams.get('topic')); });
    const shown = () => dialog(page).getByLabel('Where').evaluate((select) => select.selectedOptions[0].textContent);
    const moves = async (from, to) => {
        const next = await gateway.join(hostile, { topic: to, token: 'odd-token' });
        await from.close();
        await until(async () => (await page.locator('tr', { hasText: seen }).locator('a.room').allTextContents()).join() === to);
        return next;
    };

    let odd = await gateway.join(hostile, { topic: 'lounge', token: 'odd-token' });
    await panel.getByRole('heading', { name: 'May, in lounge' }).waitFor();
    await panel.getByRole('button', { name: /^Take away/ }).first().click();
    assert.equal(await shown(), 'In lounge only');
    odd = await moves(odd, 'meadow');
    assert.equal(await shown(), 'In lounge only');
    await dialog(page).getByRole('button', { name: 'Take away' }).click();
    await dialog(page).waitFor({ state: 'detached' });
    await panel.getByRole('button', { name: 'Pause…' }).click();
    await dialog(page).getByLabel('Where').selectOption({ label: 'In meadow only' });
    odd = await moves(odd, 'north');
    assert.equal(await shown(), 'In meadow only');
    await dialog(page).getByRole('button', { name: 'Pause', exact: true }).click();
    await dialog(page).waitFor({ state: 'detached' });
    assert.deepEqual(asked, ['lounge', 'meadow']);
    await odd.close();
    await page.done();
});

test('any kind is explained', { skip }, async () => {
    const page = await open({ path: `/console/people/${encodeURIComponent(long)}` });
    const panel = details(page);
    const ask = panel.getByLabel('Kind of message');

    await ask.fill('mcp/request:tools/call:read_file');
    await panel.getByText('It depends').waitFor();
    await ask.fill('chat');
    await panel.getByText('Yes', { exact: true }).waitFor();
    await ask.fill('system/error');
    await panel.getByText('Only the server itself').waitFor();
    await ask.fill('mcp/request:tools/call:drop_it');
    await panel.getByText('nobody drops anything here').waitFor();
    await page.shot('people-explain');
    await page.axe();
    await page.done();
});

test('pausing, resuming and removing reach the agent', { skip }, async () => {
    const page = await open({ path: '/console/people/bot' });
    const panel = details(page);

    for (const [button, act] of [['Pause…', 'Pause'], ['Resume…', 'Resume'], ['Remove…', 'Remove']]) {
        await panel.getByRole('button', { name: button }).click();
        assert.equal(await dialog(page).getByLabel('Where').locator('option:checked').textContent(), 'In lobby only', 'the room that is shown');
        await dialog(page).getByRole('button', { name: act, exact: true }).click();
        await dialog(page).waitFor({ state: 'detached' });
        if (act === 'Pause') await page.getByRole('row', { name: /bot/ }).getByText('paused').waitFor();
    }
    assert.equal((await bot.closed()).code, 4003);
    await page.getByRole('row', { name: /bot/ }).getByText('not connected').waitFor();
    await panel.getByRole('button', { name: 'Pause…' }).click(); // also of who is not here
    await dialog(page).getByRole('button', { name: 'Pause', exact: true }).click();
    await panel.getByText('Paused here').waitFor();
    await panel.getByRole('button', { name: 'Resume…' }).click();
    await dialog(page).getByRole('button', { name: 'Resume', exact: true }).click();
    await panel.getByText('Paused here').waitFor({ state: 'detached' });
    await page.done();
});

test('a guest comes by a link that is shown once', { skip }, async () => {
    const page = await open();

    await page.getByRole('button', { name: 'Invite…' }).click();
    await dialog(page).getByRole('button', { name: 'Make the link' }).click();
    await dialog(page).getByText('Letters, digits').waitFor();
    await dialog(page).getByLabel('Name in the room').fill('guest');
    await pick(page, 'Room', 'lobby');
    await dialog(page).getByRole('button', { name: 'Make the link' }).click();
    const link = await dialog(page).getByLabel('Link', { exact: true }).inputValue();
    await page.shot('people-link');
    await page.axe();
    await dialog(page).getByRole('button', { name: 'Done' }).click();
    assert.ok(!(await page.content()).includes(link.split('=')[1]));

    const guest = await browser.page(gateway, { path: link.replace(/^https?:\/\/[^/]+/, '') });
    await guest.getByRole('navigation').getByText('guest').waitFor();
    assert.ok(!guest.url().includes('ticket'));
    await guest.done();
    await page.done();
});

test('a token is made, shown once, used and revoked', { skip }, async () => {
    const page = await open({ path: '/console/people?tab=tokens' });

    await page.getByRole('button', { name: 'New token…' }).click();
    await dialog(page).getByLabel('For whom').fill('helper');
    await page.shot('people-token-form');
    await dialog(page).getByRole('button', { name: 'Create' }).click();
    const token = await dialog(page).getByLabel('Token', { exact: true }).inputValue();
    assert.equal((await gateway.request('GET /session', { token })).json.id, 'helper');
    await dialog(page).getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: /Revoke helper/ }).click();
    await dialog(page).getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('link', { name: 'helper' }).waitFor({ state: 'detached' });
    assert.equal((await gateway.request('GET /session', { token })).status, 401);
    await page.shot('people-tokens');
    await page.axe();
    await page.done();
});

test('members do in the room what their own rights let them', { skip }, async () => {
    const agent = await gateway.join(long, { topic: 'lobby' });
    const page = await open({ token: 'alice-token', path: `/console/people/${encodeURIComponent(long)}` });

    assert.equal(await page.getByRole('tab').count(), 0);
    await details(page).getByRole('button', { name: 'Pause…' }).click();
    await dialog(page).getByRole('button', { name: 'Pause', exact: true }).click();
    await expect(agent, (json) => json.kind === 'participant/pause' && json.from === 'alice');
    await details(page).getByRole('button', { name: /^Take away/ }).first().click();
    await dialog(page).getByText('In lobby only').waitFor();
    await page.done();
    await agent.close();
});

test('an error is said and tried again; a slow answer shows that it is awaited', { skip }, async () => {
    const page = await open({ path: '/console/inbox', allow: [/status of 503/] });
    let go;
    const held = new Promise((resolve) => { go = resolve; });

    await page.route('**/admin/members', async (route) => {
        await held;
        await route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"detail":"Not just now."}' });
    }, { times: 1 });
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByRole('status', { name: 'Loading…' }).waitFor();
    await page.shot('people-loading');
    await page.axe();
    go();
    await page.getByText('Not just now.').waitFor();
    await page.shot('people-error');
    await page.axe();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'alice' }).waitFor();
    await page.done();
});

test('phone, dark, and somebody who is not there', { skip }, async () => {
    const phone = await open({ width: 390, height: 844, touch: true, dark: true });

    await phone.getByRole('link', { name: 'bot' }).waitFor();
    await phone.shot('people-phone');
    await phone.axe();
    await phone.getByRole('link', { name: 'bot' }).click();
    await details(phone).getByText('May, in lobby').waitFor();
    await phone.shot('people-phone-details');
    await phone.axe();
    assert.ok(await phone.evaluate('document.documentElement.scrollWidth <= innerWidth'));
    await phone.done();

    const wide = await open({ path: '/console/people/nobody%20here', width: 1600, dark: true });
    await wide.getByText('Nobody of that name is known here.').waitFor();
    await wide.shot('people-wide-dark');
    await wide.axe();
    await wide.done();
    await alice.close();
});
