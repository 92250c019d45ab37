// SPDX-License-Identifier: Apache-2.0
// Every view, as it is where there is little yet: axe finds nothing, light, dark and on a phone.
import test, { after, before } from 'node:test';

import { person, startGateway } from '../e2e/gateway.mjs';
import { skip, startBrowser, views } from './browser.mjs';

let browser, gateway;

before(async () => {
    if (skip) return;
    [gateway, browser] = await Promise.all([startGateway({ tokens: [person('root', { admin: true, type: 'human' })] }), startBrowser()]);
});
after(() => gateway?.stop());

for (const [name, options] of Object.entries({ light: {}, dark: { dark: true }, phone: { width: 360, height: 700, touch: true } }))
    test(`axe finds nothing in any view: ${name}`, { skip }, async () => {
        const page = await browser.page(gateway, { token: 'root-token', path: '/console/inbox', ...options });

        for (const [view, title] of Object.entries(views)) {
            await page.evaluate((path) => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')); }, `/console/${view}`);
            await page.getByRole('heading', { level: 1, name: title }).waitFor();
            await page.locator('.skeleton').waitFor({ state: 'detached' });
            await page.axe();
            await page.shot(`${view}-${name}`);
        }
        await page.done();
    });
