// SPDX-License-Identifier: Apache-2.0
// The record in the console: searched, read whole and by thread, verified, exported.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test, { after, before } from 'node:test';

import { envelope, person, startGateway, within } from '../e2e/gateway.mjs';
import { until } from '../e2e/processes.mjs';
import { skip, startBrowser } from './browser.mjs';

const HOSTILE = '<img src=x onerror=alert(1)> \u202egnp.exe';
const MANY = 250;
let browser, gateway, proposal;

const settings = {
    tokens: [
        person('ann', { profile: 'human' }), person('root', { profile: 'admin' }),
        person('bot', { type: 'agent', capabilities: ['mcp/proposal:*', 'chat'] }), person('files', { type: 'service', capabilities: ['mcp/*'] }),
    ],
    limits: { rate_messages: 0 },
};

async function say(id, topic, kind, more) {
    const said = envelope(id, kind, more);
    const { status, text } = await gateway.post(`${id}-token`, topic, said);

    assert.equal(status, 200, text);
    return said;
}
const head = async () => (await gateway.request('GET /admin/audit/head', { token: 'root-token' })).json;

before(async () => {
    if (skip) return;
    gateway = await startGateway(settings);
    await say('ann', 'lobby', 'chat', { payload: { text: 'The invoice 17 is paid' } });
    await say('bot', 'lobby', 'chat', { payload: { text: HOSTILE } });
    const call = { method: 'tools/call', params: { name: 'write', arguments: { path: '/srv/a' } } };

    proposal = await say('bot', 'lobby', 'mcp/proposal:tools/call:write', { to: ['files'], payload: call });
    const request = await say('ann', 'lobby', 'mcp/request:tools/call:write', { to: ['files'], correlation_id: proposal.id, payload: call });

    await say('files', 'lobby', 'mcp/response:tools/call:write', { to: ['ann'], correlation_id: request.id, payload: { result: { content: [{ type: 'text', text: 'wrote /srv/a' }] } } });
    assert.equal((await gateway.post('bot-token', 'lobby', envelope('bot', 'mcp/request:tools/call:rm', { payload: { method: 'tools/call', params: { name: 'rm' } } }))).status, 403);
    for (let i = 0; i < MANY; i++) await say('ann', 'many', 'chat', { payload: { text: `number ${i}` } });
    await until(async () => Number((await head()).head.split(':')[0]) >= MANY + 8 && (await head()).signed > MANY, 'all is recorded');
    browser = await startBrowser();
});
after(async () => { await gateway?.stop(); });

const open = (query = '', options = {}) => browser.page(gateway, { token: 'root-token', path: `/console/audit${query}`, ...options });
const rows = (page) => page.getByRole('list', { name: 'Records' }).locator('.audit-row');
const details = (page) => page.getByRole('complementary', { name: 'Details' });
const dialog = (page) => page.getByRole('dialog');

test('words, rooms, people and kinds narrow what is found, and stand in the address', { skip }, async () => {
    const page = await open();

    await rows(page).first().waitFor();
    await page.shot('audit');
    await page.axe();
    await page.keyboard.press('/');
    await page.keyboard.type('invoice');
    await page.getByText('1 record, and that is all.').waitFor();
    assert.match(await rows(page).first().textContent(), /ann.*chat.*The invoice 17 is paid/);
    assert.equal(new URL(page.url()).search, '?text=invoice');
    await page.getByLabel('Words in it').fill('');
    await page.getByLabel('Room').fill('lobby');
    await page.getByLabel('What', { exact: true }).selectOption('refusal');
    await rows(page).filter({ hasText: /bot.*not allowed.*calls rm/ }).waitFor();
    await page.getByText('1 record, and that is all.').waitFor();
    assert.equal(await rows(page).first().evaluate((row) => row.getBoundingClientRect().right - parseFloat(getComputedStyle(row).paddingRight) - row.querySelector('.audit-text').getBoundingClientRect().right), 0,
        'the place of the room is not kept free where all are of one');
    await rows(page).first().click();
    await details(page).getByText('mcp/request:tools/call:rm').first().waitFor();
    await page.shot('audit-details');
    await page.axe();
    await page.reload();
    await details(page).getByText('not allowed').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('When', { exact: true }).selectOption('dates');
    await page.getByLabel('From').fill('2020-02-03T04:05');
    await until(() => new URL(page.url()).search === '?since=2020-02-03T04%3A05%3A00.000Z', 'the zone stands in the address');
    await rows(page).first().waitFor();
    assert.equal(await page.getByLabel('From').inputValue(), '2020-02-03T04:05');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Words in it').fill('nobody-said-this');
    await page.getByText('Nothing fits').waitFor();
    await page.shot('audit-none');
    await page.axe();
    await page.done();
});

test('a long list comes page by page, and keys go through it', { skip }, async () => {
    const page = await open('?topic=many&event=envelope');

    await rows(page).first().waitFor();
    assert.match(await rows(page).first().textContent(), /number 249/);
    while (await page.getByText(`${MANY} records, and that is all.`).count() === 0) {
        await page.getByRole('list', { name: 'Records' }).evaluate((list) => { list.scrollTop = list.scrollHeight; });
        await page.getByRole('button', { name: 'Load more' }).or(page.getByText(`${MANY} records, and that is all.`)).first().waitFor();
        const more = page.getByRole('button', { name: 'Load more' });
        if (await more.count()) await more.click();
    }
    assert.ok(await rows(page).count() < 100, 'what is not seen is not there');
    await page.keyboard.press('j');
    await details(page).getByText('number 249').waitFor();
    await page.keyboard.press('j');
    await details(page).getByText('number 248').waitFor();
    for (let i = 0; i < 40; i++) await page.keyboard.press('j');
    await details(page).getByText('number 208').waitFor();
    const chosen = page.locator('.audit-row.chosen');

    assert.match(await chosen.textContent(), /number 208/);
    assert.ok(await chosen.evaluate((row) => row.getBoundingClientRect().bottom <= row.closest('[role=list]').getBoundingClientRect().bottom + 1), 'it is in sight');
    await page.keyboard.press('d');
    await page.keyboard.press('Escape');
    await details(page).waitFor({ state: 'detached' });
    await until(() => page.evaluate(() => /number 208/.test(document.activeElement.textContent) && document.activeElement.matches('.audit-row')), 'who closes it goes on there');
    await page.done();
});

test('looking again in vain takes nothing away', { skip }, async () => {
    const page = await open('?topic=lobby', { allow: [/status of 503/] });
    const isPage = (url) => url.pathname === '/admin/audit';

    await rows(page).first().waitFor();
    const before = await rows(page).count();

    await page.route(isPage, (route) => route.fulfill({ status: 503, json: { detail: 'Too much is asked at once.' } }));
    await page.getByRole('button', { name: 'Look again' }).click();
    await page.getByRole('alert').filter({ hasText: 'Too much is asked at once.' }).waitFor();
    assert.equal(await rows(page).count(), before);
    await page.unroute(isPage);
    await say('ann', 'lobby', 'chat', { payload: { text: 'one more' } });
    await until(async () => (await gateway.request('GET /admin/audit?topic=lobby&limit=1', { token: 'root-token' })).json.records[0].body.payload.text === 'one more', 'it is recorded');
    await page.getByRole('button', { name: 'Try again' }).click();
    await rows(page).filter({ hasText: 'one more' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    await page.done();
});

test('a thread shows what hangs together, in its order, and how long it took', { skip }, async () => {
    const page = await open(`?topic=lobby&thread=${proposal.id}`);
    const steps = page.getByRole('list', { name: 'Records of this thread' }).getByRole('listitem');

    await steps.first().waitFor();
    const texts = await steps.allTextContents();

    assert.equal(texts.length, 4);
    assert.match(texts[0], /bot→ files.*proposes write \{"path":"\/srv\/a"\}/);
    assert.match(texts[1], /ann→ files.*calls write/);
    assert.match(texts[2], /files→ ann.*result: wrote \/srv\/a/);
    assert.match(texts[3], /the proposal is fulfilled by ann/);
    const indent = (i) => steps.nth(i).evaluate((item) => item.getBoundingClientRect().left);

    assert.ok(await indent(0) < await indent(1) && await indent(1) < await indent(2) && await indent(3) === await indent(1));
    await page.shot('audit-thread');
    await page.axe();
    await steps.nth(2).getByRole('link').click();
    await details(page).getByText('mcp/response:tools/call:write').first().waitFor();
    await page.getByRole('link', { name: 'All records' }).click();
    await rows(page).first().waitFor();
    await page.done();
});

test('what was said is shown and not run; dark, and on a phone', { skip }, async () => {
    const page = await open('?participant=bot&kind=chat', { dark: true, width: 390, height: 844, touch: true });

    await rows(page).first().waitFor();
    assert.match(await rows(page).first().textContent(), /<img src=x onerror=alert\(1\)> ⟨U\+202E⟩gnp\.exe/);
    await page.shot('audit-phone');
    await page.axe();
    await rows(page).first().click();
    await details(page).getByText('<img src=x').waitFor();
    await page.shot('audit-phone-details');
    await page.axe();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the phone');
    await page.done();
});

test('exports: what was found, and all of it with its signatures', { skip }, async () => {
    const page = await open('?text=invoice');
    const take = async (name) => {
        await page.getByRole('button', { name: 'Export' }).click();
        const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name }).click()]);

        return { name: download.suggestedFilename(), lines: fs.readFileSync(await download.path(), 'utf8').trim().split('\n').map((line) => JSON.parse(line)) };
    };

    await rows(page).first().waitFor();
    const found = await take('What is found, as lines of JSON');

    assert.match(found.name, /^moot-audit-found-\d{4}-\d\d-\d\d\.jsonl$/);
    assert.deepEqual(found.lines.map(({ body }) => body.payload.text), ['The invoice 17 is paid']);
    const { lines } = await take('The whole record, with its signatures');

    assert.equal(lines[0].moot_audit, 1);
    assert.ok(lines.length > MANY + 8 && lines.some((line) => line.event === undefined && line !== lines[0]), 'signatures are among them');
    await page.done();
});

test('an export that was cut off is no file, is said to be none, and can be tried again', { skip }, async () => {
    const page = await open('', { allow: [/status of 503/] });
    const isExport = (request) => request.headers()['accept'] === 'application/x-ndjson';
    const urls = [], exports = [];

    page.on('request', (request) => {
        urls.push(request.url());
        if (isExport(request)) exports.push(request.url());
    });
    await rows(page).first().waitFor();
    await page.route('**/admin/audit?*', (route) => (isExport(route.request()) ? route.fulfill({ status: 503, json: { detail: 'Too much is asked at once.' } }) : route.continue()));
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'The whole record' }).click();
    await page.getByRole('alert').filter({ hasText: 'Too much is asked at once.' }).waitFor();
    await page.unroute('**/admin/audit?*');
    await page.getByRole('button', { name: 'Export' }).click();
    await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'The whole record' }).click({ timeout: 3000 })]);
    assert.equal(await page.getByRole('alert').count(), 0);
    assert.equal(exports.length, 2);
    assert.ok(urls.every((url) => !url.includes('root-token')), 'the token stands in no address');
    await page.done();
});

test('who leaves the view leaves an export that goes on for nobody', { skip }, async () => {
    const page = await open('');
    const downloads = [];
    let isGone;
    const gone = new Promise((done) => { isGone = done; });

    page.on('download', (download) => downloads.push(download));
    page.on('requestfailed', (request) => { if (request.headers()['accept'] === 'application/x-ndjson') isGone(); });
    await rows(page).first().waitFor();
    await page.route('**/admin/audit?*', (route) => (route.request().headers()['accept'] === 'application/x-ndjson' ? undefined : route.continue()));
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'The whole record' }).click();
    await page.getByRole('button', { name: 'Stop the export' }).waitFor();
    await page.getByRole('link', { name: 'Settings' }).click();
    await within(gone, 'the end of it', 10_000);
    assert.equal(downloads.length, 0);
    await page.done();
});

test('verifying says in words that it holds, or where it is damaged', { skip }, async () => {
    const page = await open();

    await page.getByRole('button', { name: 'Verify…' }).click();
    await dialog(page).getByLabel(/A head that you kept elsewhere/).fill('12');
    await dialog(page).getByText('A number, a colon, and 64 digits of a hash.').waitFor();
    await dialog(page).getByLabel(/A head that you kept elsewhere/).fill('');
    await dialog(page).getByRole('button', { name: 'Verify now' }).click();
    await dialog(page).getByText(/^The record holds: \d+ records, \d+ signatures?\.$/).waitFor();
    await dialog(page).getByText('Keep this head where nobody').waitFor();
    assert.ok(await dialog(page).locator('.dialog-content').evaluate((content) => content.scrollWidth <= content.clientWidth), 'nothing is pushed out');
    await page.shot('audit-verify');
    await page.axe();
    const { head: kept } = await head();
    const wrong = kept.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));

    await dialog(page).getByLabel(/A head that you kept elsewhere/).fill(wrong);
    await dialog(page).getByRole('button', { name: 'Verify again' }).click();
    await dialog(page).getByText(/^The record is damaged at record/).waitFor();
    await page.shot('audit-damaged');
    await page.axe();
    await page.done();
});

test('the record is for administrators; an address that names no record opens none', { skip }, async () => {
    const root = await open('/abc');

    await rows(root).first().waitFor();
    assert.equal(await details(root).count(), 0);
    await root.done();
    const page = await browser.page(gateway, { token: 'ann-token', path: '/console/audit' });

    await page.getByRole('heading', { level: 1, name: 'There is no such view' }).waitFor();
    await page.done();
});
