// SPDX-License-Identifier: Apache-2.0
// The pictures of docs/console/: every view, with life in it (shots-life.mjs).
//
//   ./dev shots                              all of them
//   node tests/console/shots.mjs [NAME…]     those whose names begin so; build/moot and chromium must be there
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

import { skip, startBrowser } from './browser.mjs';
import { history, live } from './shots-life.mjs';

const folder = fileURLToPath(new URL('../../docs/console/', import.meta.url));
const phone = { width: 390, height: 844, touch: true };
const details = (page) => page.getByRole('complementary', { name: 'Details' });
const dialog = (page) => page.getByRole('dialog');
const inbox = (life, what, topic) => `/console/inbox?topic=${topic}&id=${life.open[what].id}`;
const marked = (page) => details(page).getByText('Marked: what differs').waitFor();
const opened = (page) => page.getByRole('button', { name: /^Approve/ }).first().waitFor();

const hour = { path: '/admin/overview', of: history }; // the gateway has run for a minute

const SHOTS = {
    'sign-in': { token: null, path: '/', ready: (page) => page.getByLabel('Token').waitFor() },

    inbox: { path: (life) => inbox(life, 'report', 'billing'), ready: marked },
    'inbox-edit': { path: (life) => inbox(life, 'report', 'billing'), async ready(page) {
        await marked(page);
        await details(page).getByText('Writes a text').waitFor(); // its schema is known
        await page.getByRole('button', { name: /^Edit/ }).click();
        await dialog(page).getByLabel('mode').selectOption('replace');
        await dialog(page).getByLabel('path').fill('reports/2026-10.md');
    } },
    'inbox-rule': { path: (life) => inbox(life, 'refund', 'billing'), async ready(page) {
        await details(page).getByText('Pays money back').waitFor();
        await page.getByRole('button', { name: /make a rule/ }).click();
        await dialog(page).getByLabel('amount').selectOption({ index: 1 });
        await dialog(page).getByLabel('From').fill('0');
        await dialog(page).getByRole('button', { name: 'What would it have done?' }).click();
        await dialog(page).getByText(/^Nothing: /).waitFor();
    } },
    'inbox-authorize': { dark: true, path: '/console/inbox', async ready(page) {
        await page.getByRole('listitem').filter({ hasText: 'checkout' }).getByRole('link').click();
        await page.getByRole('button', { name: /^Allow once/ }).waitFor();
    } },
    'inbox-phone': { ...phone, path: (life) => inbox(life, 'quorum', 'release'), ready: opened },

    room: { path: '/console/room/billing', ready: (page) => page.getByText('I propose to pay one back').waitFor() },
    'room-people': { dark: true, path: '/console/room/billing?panel=people', ready: (page) => page.getByText('people and agents are here').waitFor() },
    'room-phone': { ...phone, path: '/console/room/billing', ready: (page) => page.getByText('I propose to pay one back').waitFor() },

    people: { path: '/console/people/invoice-agent', ready: (page) => details(page).getByText('While the inbox is sorted').waitFor() },
    'people-explain': { path: '/console/people/invoice-agent', async ready(page) {
        const field = details(page).getByLabel('Kind of message');

        await field.fill('mcp/request:tools/call:refund');
        await field.evaluate((element) => element.closest('section').scrollIntoView());
    } },

    servers: { path: '/console/servers/files', ready: (page) => details(page).getByRole('heading', { name: 'What it may touch' }).waitFor() },
    'servers-review': { path: '/console/servers/files?tab=review', ready: (page) => details(page).locator('ins').first().waitFor() },

    rules: { path: (life) => `/console/rules/${life.rule.id}?in=billing`, async ready(page) {
        await details(page).getByRole('button', { name: 'Try it on the record' }).click();
        await details(page).getByText(/^It covers \d+ of/).waitFor();
        await details(page).getByRole('heading', { name: 'What it rests on' }).evaluate((element) => element.closest('section').scrollIntoView());
    } },

    teams: { path: '/console/teams', async ready(page) {
        await page.getByRole('link', { name: 'October close' }).click();
        await details(page).getByRole('link', { name: 'Enter its room' }).waitFor();
    } },
    'teams-directory': { path: '/console/teams?tab=directory', async ready(page) {
        await page.getByRole('searchbox').fill('accountant who knows VAT');
        await page.getByRole('list', { name: 'Who fits' }).getByText('words:').first().waitFor();
    } },

    audit: { path: '/console/audit?topic=billing&kind=mcp/*', ready: (page) => page.getByRole('list', { name: 'Records' }).locator('.audit-row').first().waitFor() },
    'audit-thread': { path: (life) => `/console/audit?topic=billing&thread=${life.done.moved.id}`,
        ready: (page) => page.getByRole('list', { name: 'Records of this thread' }).getByRole('listitem').nth(2).waitFor() },
    'audit-verify': { dark: true, path: '/console/audit', async ready(page) {
        await page.getByRole('button', { name: 'Verify…' }).click();
        await dialog(page).getByRole('button', { name: 'Verify now' }).click();
        await dialog(page).getByText(/^The record holds/).waitFor();
    } },

    overview: { path: '/console/overview', instead: hour, ready: (page) => page.getByRole('img', { name: /^Messages per minute/ }).waitFor() },
    'overview-phone': { ...phone, dark: true, path: '/console/overview', instead: hour, ready: (page) => page.getByRole('img', { name: /^Messages per minute/ }).waitFor() },

    settings: { path: '/console/settings?tab=server', instead: { path: '/admin/settings', of: (settings) => ({ ...settings, file: '/etc/moot/moot.yaml' }) }, async ready(page) {
        await page.getByLabel('topics.max', { exact: true }).fill('500');
        await page.getByText('1 change is not in force yet.').waitFor();
    } },
};

async function take(browser, life, name, { token = 'dana-token', path, ready, instead, ...options }) {
    const page = await browser.page(life.gateway, { token, path: typeof path === 'function' ? path(life) : path, ...options });

    if (instead) {
        await page.route(`**${instead.path}`, async (route) => {
            const answer = await route.fetch();
            await route.fulfill({ response: answer, json: instead.of(await answer.json()) });
        });
        await page.reload();
    }
    await ready(page);
    await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => {}); // what comes late; some views ask again and again
    await page.mouse.move(0, 0); // nothing is pointed at
    await page.screenshot({ path: `${folder}${name}.png`, caret: 'hide', animations: 'disabled' });
    await page.done();
    console.log(`${name}.png`);
}

if (skip) throw new Error(skip);
const wanted = Object.entries(SHOTS).filter(([name]) => process.argv.length < 3 || process.argv.slice(2).some((start) => name.startsWith(start)));
const [browser, life] = await Promise.all([startBrowser(), live()]);

fs.mkdirSync(folder, { recursive: true });
try {
    for (const [name, shot] of wanted) await take(browser, life, name, shot);
} finally {
    await browser.close();
    await life.stop();
}
