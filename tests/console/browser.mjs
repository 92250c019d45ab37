// SPDX-License-Identifier: Apache-2.0
// What the console's tests share: a browser, pages that are signed in, and the promise that
// nothing went wrong in them: an error on a page's console, a script that threw, or something
// that its Content-Security-Policy refused fails the test.
//
//   const browser = await startBrowser()              Debian's chromium; closed after the tests
//   const page = await browser.page(gateway, {        a page of its own, as of another person
//       token: 'alice-token',                         signed in with it; without: not signed in
//       path: '/console/inbox', width, height, dark, touch, reducedMotion, allow: [/…/] })
//                                                     allow: errors that are meant to be there
//   await browser.close()                             outside of tests
//   const page = await browser.blank({ style, script })  a page with nothing but these, for parts alone
//   It is playwright's page, with
//       page.troubles                                 what went wrong so far
//       await page.done()                             asserts that nothing did, and closes it
//       await page.axe()                              asserts that axe finds nothing (WCAG 2.2 AA);
//                                                     { withoutPage: true } where there is no whole page
//       await page.shot('name')                       a screenshot, where MOOT_SHOTS names a folder
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after } from 'node:test';

import { chromium } from 'playwright-core';

const axeSource = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const browserPath = ['chromium', 'chromium-browser', 'google-chrome']
    .flatMap((name) => process.env.PATH.split(':').map((folder) => path.join(folder, name)))
    .find((file) => fs.existsSync(file));

// Their names in addresses, and their titles.
export const views = { inbox: 'Inbox', room: 'Rooms', people: 'People', servers: 'Servers', rules: 'Rules', teams: 'Teams', audit: 'Audit', overview: 'Overview', settings: 'Settings' };

// For test(…, { skip }).
export const skip = browserPath ? false : 'there is no chromium';

const started = [];
const isTest = /\.test\.mjs$/.test(process.argv[1]); // the benchmark closes its own
if (isTest) after(() => Promise.all(started.map((browser) => browser.close())));

export async function startBrowser() {
    if (skip) return { page: () => assert.fail(skip) };
    const browser = await chromium.launch({
        executablePath: browserPath,
        args: [...(process.getuid() === 0 ? ['--no-sandbox'] : []), '--disable-gpu', '--disable-dev-shm-usage'],
    });

    started.push(browser);
    return {
        page: (gateway, options = {}) => openPage(browser, gateway, options),
        blank: (options) => openBlank(browser, options),
        close: () => browser.close(),
    };
}

async function openBlank(browser, { style, script, ...options }) {
    const page = await newPage(browser, options);

    await page.setContent(`<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>parts</title></head><body></body></html>`);
    await page.addStyleTag({ content: style });
    await page.addScriptTag({ content: script });
    return page;
}

async function openPage(browser, gateway, { token, path: where = '/', ...options }) {
    const page = await newPage(browser, { baseURL: `http://127.0.0.1:${gateway.port}`, ...options });

    if (token) // this origin's tab storage, before the console looks
        await page.context().addInitScript((value) => {
            if (!sessionStorage.getItem('moot-test-signed')) sessionStorage.setItem('moot-token', value);
            sessionStorage.setItem('moot-test-signed', '1'); // only once: signing out stays
        }, token);
    await page.goto(where);
    return page;
}

// In a page: the inbox asks again sooner than after two seconds.
function askSooner() {
    const real = globalThis.setTimeout;

    globalThis.setTimeout = (run, ms, ...args) => real(run, ms === 2000 ? 300 : ms, ...args);
}

async function newPage(browser, { baseURL, width = 1280, height = 800, dark, touch, reducedMotion = true, allow = [] }) {
    const context = await browser.newContext({
        baseURL,
        viewport: { width, height },
        colorScheme: dark ? 'dark' : 'light',
        reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
        hasTouch: Boolean(touch),
        isMobile: Boolean(touch),
        locale: 'en-GB',
        timezoneId: 'UTC',
    });
    if (isTest) await context.addInitScript(askSooner);
    const page = await context.newPage();

    watch(page, allow);
    page.setDefaultTimeout(20_000);
    page.done = async () => {
        await page.unrouteAll({ behavior: 'ignoreErrors' }); // one may be under way
        await context.close();
        assert.deepEqual(page.troubles, []);
    };
    page.axe = (options) => axe(page, options);
    page.shot = (name) => process.env.MOOT_SHOTS && page.screenshot({ path: path.join(process.env.MOOT_SHOTS, `${name}.png`) });
    return page;
}

function watch(page, allow) {
    const note = (text) => { if (!allow.some((pattern) => pattern.test(text))) page.troubles.push(text); };

    page.troubles = [];
    page.on('console', (message) => {
        if (['error', 'warning', 'assert'].includes(message.type())) note(`${message.type()}: ${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => note(`thrown: ${error.stack ?? error}`));
    page.on('crash', () => note('the page crashed'));
    page.on('requestfailed', (request) => {
        const why = request.failure()?.errorText;
        if (why !== 'net::ERR_ABORTED') note(`failed: ${request.url()} ${why}`); // a view that was left
    });
}

// Evaluated by the debugger, which no policy of the page concerns.
async function axe(page, { withoutPage = false } = {}) {
    const rules = withoutPage ? RULES.filter((rule) => rule !== 'best-practice') : RULES;

    if (!await page.evaluate(() => Boolean(globalThis.axe))) await page.evaluate(axeSource);
    const { violations } = await page.evaluate((runOnly) => globalThis.axe.run({ runOnly, resultTypes: ['violations'] }), rules);
    const found = violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 200)} ${node.failureSummary ?? ''}`));

    assert.deepEqual(found, []);
}
