// SPDX-License-Identifier: Apache-2.0
// Settings: one's own, and those of the server that may be changed while it runs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test, { after, before } from 'node:test';

import { person, startGateway } from '../e2e/gateway.mjs';
import { until } from '../e2e/processes.mjs';
import { skip, startBrowser } from './browser.mjs';

const config = {
    tokens: [person('ann', { profile: 'human' }), person('root', { profile: 'admin' }), person('rita', { profile: 'admin' })],
    limits: { rate_messages: '900/s' },
};
let browser, gateway;

before(async () => {
    if (skip) return;
    gateway = await startGateway(config);
    browser = await startBrowser();
});
after(async () => { await gateway?.stop(); });

const server = '/console/settings?tab=server';
const settingOf = async (name) => (await gateway.request('GET /admin/settings', { token: 'root-token' })).json.settings.find((one) => one.name === name);
const row = (page, name) => page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }).first() });
const apply = (page) => page.getByRole('button', { name: 'Put into force' }).click();

test('one chooses colours, shortcuts and notifications for this browser', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'ann-token', path: '/console/settings' });

    await page.getByLabel('Colours').selectOption('dark');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await page.context().grantPermissions(['notifications']);
    await page.reload();
    const notify = page.getByLabel(/^Notify me on the desktop/);

    await notify.waitFor();
    if (await page.evaluate(() => Notification.permission) === 'granted') {
        await notify.check();
        await page.reload();
        assert.ok(await notify.isChecked(), 'it stays');
    }
    assert.equal(await page.getByRole('tab').count(), 0, 'the server is for administrators');
    await page.shot('settings-mine-dark');
    await page.axe();
    await page.done();
});

test('several are changed together, are in force, and can be taken back', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token', path: server });

    await page.getByLabel('limits.rate_messages', { exact: true }).waitFor();
    await page.shot('settings-server');
    await page.axe();
    assert.equal(await page.getByLabel('limits.rate_messages', { exact: true }).inputValue(), '900/s');
    await page.getByLabel('limits.rate_messages', { exact: true }).fill('500/s');
    await page.getByLabel('compression', { exact: true }).selectOption('off');
    await page.getByLabel('limits.kick_bar', { exact: true }).fill('5m');
    await page.getByLabel('limits.kick_bar', { exact: true }).fill('1m');
    await page.getByRole('status').filter({ hasText: '2 changes are not in force yet.' }).waitFor();
    await page.shot('settings-changed');
    await page.axe();
    await apply(page);
    await page.getByText('2 settings are in force, also after a restart.').waitFor();
    assert.deepEqual([(await settingOf('limits.rate_messages')).value, (await settingOf('compression')).value], ['500/s', 'off']);
    await row(page, 'limits.rate_messages').getByText('changed here').waitFor();
    await page.getByRole('button', { name: 'Back to the file: limits.rate_messages' }).click();
    await row(page, 'limits.rate_messages').getByText('goes back to what the file says').waitFor();
    await apply(page);
    await page.getByText('1 setting is in force, also after a restart.').waitFor();
    assert.deepEqual([(await settingOf('limits.rate_messages')).value, (await settingOf('limits.rate_messages')).source], ['900/s', 'file']);
    await page.done();
});

test('two who change the same setting: nobody overrules the other unseen', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token', path: server });
    const field = page.getByLabel('limits.stall_timeout', { exact: true });
    const byRita = async (value) => assert.equal((await gateway.request('PATCH /admin/settings', { token: 'rita-token', json: { 'limits.stall_timeout': value } })).status, 200);

    await field.fill('20s');
    await byRita('30s');
    await apply(page);
    await page.getByRole('alert').filter({ hasText: 'Somebody has changed limits.stall_timeout meanwhile' }).waitFor();
    assert.equal((await settingOf('limits.stall_timeout')).value, '30s', 'nothing was done');
    await row(page, 'limits.stall_timeout').getByText('Meanwhile 30s, by rita').waitFor();
    assert.equal(await field.inputValue(), '20s', 'what was typed stays');
    await page.shot('settings-two');
    await page.axe();
    await apply(page);
    await page.getByText('1 setting is in force, also after a restart.').waitFor();
    assert.equal((await settingOf('limits.stall_timeout')).value, '20s', 'who has seen it may');
    // What nobody is changing here is shown as it is.
    await page.clock.install();
    await page.reload();
    await field.waitFor();
    await byRita('40s');
    await page.clock.runFor(10_000);
    await until(async () => await field.inputValue() === '40s', 'it comes by itself');
    await byRita(null);
    await page.done();
});

test('what is wrong is said, and nothing is changed', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token', path: server, allow: [/status of 400/, /status of 409/] });

    await page.getByLabel('topics.max', { exact: true }).fill('many');
    await page.getByText('A whole number.').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Put into force' }).isDisabled());
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByLabel('limits.wait_max', { exact: true }).fill('soon');
    await apply(page);
    await page.getByRole('alert').filter({ hasText: /wait_max/ }).waitFor();
    await page.shot('settings-refused');
    await page.axe();
    assert.equal((await settingOf('limits.wait_max')).value, '1m');
    await page.getByRole('button', { name: 'Discard' }).click();
    // The file, read again: when it is wrong, and when it is right.
    fs.writeFileSync(gateway.config, 'limitz: {}\n');
    await page.getByRole('button', { name: 'Read the file again' }).click();
    await page.getByRole('alert').filter({ hasText: /limitz/ }).waitFor();
    fs.writeFileSync(gateway.config, JSON.stringify({ ...config, limits: { rate_messages: '800/s' } }));
    await page.getByRole('button', { name: 'Read the file again' }).click();
    await page.getByText('The settings file was read again and is in force.').waitFor();
    assert.equal((await settingOf('limits.rate_messages')).value, '800/s');
    await page.done();
});

test('all of them are found, also what only the file may say; on a phone', { skip }, async () => {
    const page = await browser.page(gateway, { token: 'root-token', path: server, width: 390, height: 844, touch: true });

    await page.getByLabel('Show', { exact: true }).selectOption('all');
    await page.getByLabel('Search settings').fill('registry');
    await row(page, 'packages.npm_registry').getByText('not set').first().waitFor();
    assert.equal(await page.getByLabel('packages.npm_registry', { exact: true }).count(), 0, 'no field for what cannot be changed here');
    await page.getByLabel('Search settings').fill('');
    await row(page, 'workers').getByText('takes effect with the next start').waitFor();
    await page.shot('settings-phone');
    await page.axe();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the phone');
    await page.getByLabel('Search settings').fill('nothing-like-this');
    await page.getByText('No setting fits').waitFor();
    await page.done();
});
