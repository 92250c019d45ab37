// SPDX-License-Identifier: Apache-2.0
// The overview: what is and was, as numbers and plots, and what is wrong.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';

import { envelope, person, startGateway } from '../e2e/gateway.mjs';
import { until } from '../e2e/processes.mjs';
import { skip, startBrowser } from './browser.mjs';

let browser, gateway;

before(async () => {
    if (skip) return;
    gateway = await startGateway({
        tokens: [person('ann', { profile: 'human' }), person('root', { profile: 'admin' }), person('bot', { type: 'agent', capabilities: ['mcp/proposal:*', 'chat'] })],
    });
    browser = await startBrowser();
});
after(async () => { await gateway?.stop(); });

const tile = (page, name) => page.locator('.tile').filter({ has: page.getByText(name, { exact: true }) }).locator('b');

// An hour that looks like one: the gateway of a test has just begun.
function hourOf(overview) {
    const beat = (i) => ({
        ...overview.history.minutes.at(-1), at: new Date(Date.parse(overview.at) - (60 - i) * 60_000).toISOString(), messages: 40 + (i * 37) % 90, refused: i % 9 ? 0 : i % 7,
        opened: i % 6, decided: i % 5, ...(i % 11 > 2 ? { p50_ms: 4000 + (i * 911) % 9000, p95_ms: 20_000 + (i * 7919) % 200_000 } : { p50_ms: undefined, p95_ms: undefined }),
        waiting: Math.max(0, (i % 13) - 6), queued_bytes: i === 30 ? 4 << 20 : 0, connections: 9 + (i % 5), members: 7 + (i % 3), memory_bytes: (40 + i / 10) * (1 << 20),
    });
    const minutes = Array.from({ length: 60 }, (_, i) => beat(i + 1));

    return { ...overview, history: { minutes, five_minutes: minutes.slice(-24) } };
}

const MEASURED = Array.from({ length: 60 }, (_, i) => i + 1).filter((i) => i % 11 > 2).length; // minutes of it in which something was decided

// In the page: plots that end at one height are side by side.
function areAxesLevel() {
    const bottoms = [...document.querySelectorAll('.plot')].map((plot) => [plot.getBoundingClientRect().bottom, plot.querySelector('svg[role=img]').getBoundingClientRect().bottom]);
    return bottoms.every(([end, axis]) => bottoms.every(([other, its]) => end !== other || axis === its));
}

async function withAnswer(page, change) {
    await page.route('**/admin/overview', async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer, json: change(await answer.json()) });
    });
    await page.reload();
}

test('numbers are those of the server, and come again by themselves', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token', path: '/console/overview' });

    await page.getByRole('img', { name: /^Messages per minute: messages/ }).waitFor();
    const post = (id, kind, more) => gateway.post(`${id}-token`, 'room', envelope(id, kind, more));

    assert.equal((await post('bot', 'mcp/request:tools/call:rm')).status, 403);
    assert.equal((await post('bot', 'mcp/proposal:tools/call:rm', { payload: { method: 'tools/call', params: { name: 'rm' } } })).status, 200);
    await until(async () => await tile(page, 'Waiting for a decision').textContent() === '1', 'the proposal is counted');
    assert.equal(await tile(page, 'Refused').textContent(), '1');
    await page.getByRole('row', { name: /not allowed 1/ }).waitFor();
    await page.getByText('This server runs alone.').waitFor();
    await page.axe();
    await page.getByRole('link', { name: 'not allowed' }).click();
    await page.getByRole('list', { name: 'Records' }).getByText('calls').waitFor();
    assert.equal(new URL(page.url()).search, '?verdict=capability_violation');
    await page.done();
});

test('an hour and a day are drawn, light, dark, wide and on a phone', { skip }, async () => {
    for (const [name, options] of Object.entries({ light: {}, dark: { dark: true, width: 1600, height: 1000 }, phone: { width: 390, height: 844, touch: true } })) {
        const page = await browser.page(gateway, { token: 'root-token', path: '/console/overview', ...options });

        await withAnswer(page, hourOf);
        const plot = page.getByRole('img', { name: /^Time until people decide: half within/ });
        await plot.waitFor();
        assert.equal(await page.getByRole('img', { name: /Arrow keys move through time/ }).count(), 8);
        assert.ok((await plot.locator('path.plot-line').first().getAttribute('d')).split('M').length > 3, 'where nothing was decided there is a gap');
        assert.ok(await page.evaluate(areAxesLevel), 'plots side by side have their axes at one height, whatever their legends take');
        await page.shot(`overview-hour-${name}`);
        await page.axe();
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the window');
        await page.getByRole('button', { name: 'As tables' }).click();
        const times = page.getByRole('table', { name: 'Time until people decide' });

        assert.match(await times.locator('tbody tr').first().innerText(), /^\d\d:\d\d\s/);
        assert.equal(await times.locator('tbody tr').count(), MEASURED, 'a minute in which nothing was decided is no row');
        assert.equal(await page.getByRole('table').count(), 8 + 1);
        await page.shot(`overview-tables-${name}`);
        await page.axe();
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the window');
        await page.getByRole('button', { name: 'As tables' }).click();
        await page.getByLabel('Shown').selectOption('day');
        await page.getByRole('img', { name: /^Messages per 5 minutes/ }).waitFor();
        assert.equal(new URL(page.url()).search, '?span=day');
        await page.done();
    }
});

test('a store that cannot be written is the first thing to be seen; an answer that fails can be asked for again', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token', path: '/console/overview', allow: [/status of 503/] });

    await withAnswer(page, (overview) => ({
        ...overview, store: { ...overview.store, failing: true, failing_since: overview.started, why: 'disk is full <b>', failures: 3, queued_bytes: 5 << 20 },
        servers: { all: 3, ready: 1, failing: 1, sign_in_needed: 1 },
    }));
    await page.getByRole('alert').filter({ hasText: 'The store cannot be written.' }).getByText('disk is full <b>').waitFor();
    await page.getByText('1 of 3').waitFor();
    await page.shot('overview-failing');
    await page.axe();
    await page.unroute('**/admin/overview');
    await page.route('**/admin/overview', (route) => route.fulfill({ status: 503, json: { title: 'Busy', detail: 'Too much is asked at once.' } }));
    await page.reload();
    await page.getByText('Too much is asked at once.').waitFor();
    await page.axe();
    await page.unroute('**/admin/overview');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('This server runs alone.').waitFor();
    await page.done();
});

test('a slow answer is waited for, and what is wrong stays said until something else is known', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token', path: '/console/settings', allow: [/status of 503/] });
    const asked = [];
    const answer = async () => {
        await until(() => asked.length, 'it is asked');
        return asked.shift();
    };

    await page.getByRole('link', { name: 'Overview' }).waitFor();
    await page.clock.install();
    await page.route('**/admin/overview', (route) => { asked.push(route); });
    await page.getByRole('link', { name: 'Overview' }).click();
    const first = await answer();

    await page.clock.runFor(20_000);
    assert.equal(asked.length, 0, 'it is not asked again meanwhile');
    await first.continue();
    await page.getByText('This server runs alone.').waitFor();
    await page.clock.runFor(5000);
    await (await answer()).fulfill({ status: 503, json: { detail: 'Too much is asked at once.' } });
    const alert = page.getByRole('alert').filter({ hasText: 'Too much is asked at once.' });

    await alert.waitFor();
    await alert.evaluate((element) => { element.dataset.same = 'yes'; });
    await page.clock.runFor(5000);
    const again = await answer();

    assert.equal(await alert.getAttribute('data-same', { timeout: 1000 }), 'yes', 'it is not read aloud each time');
    await again.continue();
    await alert.waitFor({ state: 'detached' });
    await page.done();
});

test('servers that only rest are fine, and those that somebody should look at are counted beside the view', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token', path: '/console/settings' });
    const servers = [{ state: 'failing' }, { state: 'resting' }, { state: 'resting' }, { state: 'ready', held: 1 }];

    await page.route('**/admin/servers', (route) => route.fulfill({ json: { servers: servers.map((one, i) => ({ name: `s${i}`, topic: 'lobby', id: `s${i}`, ...one })) } }));
    await page.route('**/admin/overview', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...await response.json(), servers: { all: 4, ready: 1, failing: 1, sign_in_needed: 0 } } });
    });
    await page.goto('/console/overview');
    await page.getByText('3 of 4 are fine').waitFor();
    await page.getByText('1 fails').waitFor();
    await page.getByRole('link', { name: 'Servers 2 waiting' }).waitFor();
    await page.done();
    const ann = await browser.page(gateway, { token: 'ann-token', path: '/console/settings' });
    const asked = [];
    ann.on('request', (request) => { if (request.url().includes('/admin/')) asked.push(request.url()); });
    await ann.reload();
    await ann.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    await ann.waitForTimeout(300);
    assert.deepEqual(asked, []);
    await ann.done();
});
