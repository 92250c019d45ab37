// SPDX-License-Identifier: Apache-2.0
// The inbox: an agent asks through MCP, people in two browsers decide, and there is one outcome for all.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { expect } from '../e2e/gateway.mjs';
import { sdkClient, textIn } from '../e2e/mcp-room.mjs';
import { skip, startBrowser } from './browser.mjs';
import { button, details, entry, isOver, opener, post, propose, serve, startRoom } from './inbox-room.mjs';

let files, gateway, open;

before(async () => {
    if (skip) return;
    gateway = await startRoom();
    files = await serve(gateway);
    open = opener(await startBrowser(), gateway);
});
after(() => gateway?.stop());

test('an agent asks through MCP, one person approves, another rejects, and everybody sees it', { skip }, async () => {
    const agent = await sdkClient(gateway, 'bot', { topic: 'lobby' });
    const [ann, ben] = await Promise.all([open('ann'), open('ben')]);

    await ann.getByText('Nothing waits for you').waitFor();
    await agent.shows('write_file');
    const first = agent.call('write_file', { path: '/srv/story/1.md', text: 'Once' });

    await entry(ann, '/srv/story/1.md').click();
    await Promise.all(['write_file', '/srv/story/1.md', 'Writes a text to a file', 'for MCP client e2e 1', 'says it may destroy', 'Nothing was decided on such calls']
        .map((text) => details(ann).getByText(text).first().waitFor()));
    await ann.axe();
    await ann.shot('inbox-story');
    await ben.getByRole('link', { name: 'Inbox 1 waiting' }).waitFor();
    await entry(ben, '/srv/story/1.md').click();
    await ann.keyboard.press('a');
    assert.equal(textIn(await first), 'wrote /srv/story/1.md');
    await isOver(ann, 'You approved it.');
    await details(ann).getByText('wrote /srv/story/1.md').waitFor();
    await details(ann).getByText('1 of the last 1 went through').waitFor({ timeout: 5000 }); // as it is now
    await entry(ann, '/srv/story/1.md').getByText('proposed').waitFor();
    await isOver(ben, 'ann approved it.');
    assert.equal(await button(ben, 'Approve').count(), 0);

    const second = agent.call('write_file', { path: '/srv/story/2.md', text: 'Once' });
    await entry(ben, '/srv/story/2.md').click();
    await entry(ann, '/srv/story/2.md').click();
    await details(ben).getByText('Marked: what differs from the last such call that ann agreed to').waitFor();
    assert.deepEqual(await details(ben).locator('.marked').allTextContents(), ['path: "/srv/story/2.md" (differs)']);
    await ben.keyboard.press('r');
    await ben.getByLabel('Reason').fill('one story is enough');
    await ben.keyboard.press('Enter');
    const refused = await second;
    assert.ok(refused.isError);
    assert.match(textIn(refused), /^ben rejected it: one story is enough/);
    await isOver(ann, 'ben rejected it.');
    await isOver(ann, 'one story is enough');
    assert.equal(files.calls.length, 1);
    await agent.close();
    await Promise.all([ann.done(), ben.done()]);
});

test('of two who decide at once one is too late, and is told what the other did', { skip }, async () => {
    const item = await propose(gateway, 'write_file', { path: '/srv/race.md', text: '1' });
    const [ann, ben] = await Promise.all([open('ann', item), open('ben', item, { allow: [/status of 409/] })]);

    await Promise.all([ann, ben].map((page) => button(page, 'Approve').first().waitFor()));
    await ben.route('**/inbox', () => {}); // what he is shown is old from now on
    await button(ann, 'Approve').first().click();
    await isOver(ann, 'You approved it.');
    await button(ben, 'Reject').click();
    await ben.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await isOver(ben, 'ann approved it.');
    await isOver(ben, 'That came before your own decision, which changed nothing.');
    assert.equal(files.calls.filter(({ args }) => args.path === '/srv/race.md').length, 1);

    const both = await propose(gateway, 'write_file', { path: '/srv/both.md', text: '1' });
    await ben.unroute('**/inbox');
    const pages = await Promise.all([open('ann', both, { allow: [/status of 409/] }), open('ben', both, { allow: [/status of 409/] })]);
    let letGo;
    await Promise.all(pages.map((page) => button(page, 'Approve').first().waitFor()));
    const held = new Promise((resolve) => { letGo = resolve; }); // neither hears of the other before the click
    await Promise.all(pages.map((page) => page.route('**/inbox', async (route) => { await held; await route.continue(); })));
    await Promise.all(pages.map((page) => button(page, 'Approve').first().click()));
    letGo();
    await Promise.all(pages.map((page) => isOver(page, /^(You|ann|ben) approved it\.$/)));
    await Promise.any(pages.map((page) => isOver(page, 'It was answered after')));
    assert.equal(files.calls.filter(({ args }) => args.path === '/srv/both.md').length, 1, 'the call was made once');
    await Promise.all([ann, ben, ...pages].map((page) => page.done()));
});

test('who closes a dialog is where he was, and who decided in it is with the outcome', { skip }, async () => {
    const page = await open('ann', await propose(gateway, 'write_file', { path: '/srv/back.md', text: 'Hello' }));
    const dialog = page.getByRole('dialog');
    const isFocused = (element) => element.and(page.locator(':focus')).waitFor();
    const closed = () => dialog.waitFor({ state: 'detached' });

    await button(page, 'Edit').click();
    await dialog.getByLabel('path').waitFor();
    await page.keyboard.press('Escape');
    await closed();
    await isFocused(button(page, 'Edit'));
    await page.keyboard.press('r');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await closed();
    await isFocused(button(page, 'Edit'));
    await button(page, 'Reject').click();
    await dialog.getByRole('button', { name: 'Reject' }).click();
    await isOver(page, 'You rejected it.');
    await isFocused(page.locator('.inbox-ending'));
    await page.done();
});

test('a row says whose tool it is and why, and what no longer waits leads to where it is told', { skip }, async () => {
    const item = await propose(gateway, 'write_file', { path: '/srv/why.md', text: '1' }, { reason: 'The report is due.' });
    const page = await open('root');
    const row = entry(page, '/srv/why.md');

    await Promise.all(['on files', 'The report is due.', 'proposes'].map((text) => row.getByText(text).waitFor()));
    await post(gateway, 'ann', 'lobby', 'mcp/reject', { correlation_id: item.id });
    await page.goto(`/console/inbox?topic=lobby&id=${item.id}`);
    await details(page).getByText('It no longer waits').waitFor();
    await page.axe();
    assert.equal(await details(page).getByRole('link', { name: 'See it in the room' }).getAttribute('href'), `/console/room/lobby?envelope=${item.id}`);
    await details(page).getByRole('link', { name: 'See it in the record' }).click();
    await page.getByRole('heading', { level: 1, name: 'Thread' }).waitFor();
    const ben = await open('ben', item);
    await details(ben).getByRole('link', { name: 'See it in the room' }).waitFor();
    assert.equal(await details(ben).getByRole('link', { name: 'See it in the record' }).count(), 0);
    await Promise.all([page, ben].map((one) => one.done()));
});

test('who edits before the tool is known waits for its form', { skip }, async () => {
    const page = await open('ann');
    let letGo;
    const held = new Promise((resolve) => { letGo = resolve; });

    await page.route('**/topics/lobby/participants', async (route) => { await held; await route.continue(); });
    await propose(gateway, 'write_file', { path: '/srv/early.md', text: 'Hello' });
    await entry(page, '/srv/early.md').click();
    await button(page, 'Edit').waitFor();
    await page.keyboard.press('e');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Asking its owner…').waitFor();
    await page.axe();
    letGo();
    await dialog.getByLabel('path').fill('/srv/later.md');
    await dialog.getByText('Where to').waitFor();
    assert.equal(await dialog.getByText('does not say what the tool takes').count(), 0);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.done();
});

test('what is edited fits the schema, is shown as a difference, and runs so', { skip }, async () => {
    const item = await propose(gateway, 'write_file', { path: '/srv/edit.md', text: 'Hello', lines: 3 });
    const page = await open('ann', item);

    await details(page).getByText('Writes a text').waitFor();
    await page.keyboard.press('e');
    const dialog = page.getByRole('dialog');
    const approve = dialog.getByRole('button', { name: 'Approve with these changes' });

    assert.ok(await approve.isDisabled(), 'nothing is changed yet');
    await dialog.getByLabel('path').fill('/etc/passwd');
    await dialog.getByLabel('lines').fill('501');
    await dialog.getByText('does not match').waitFor();
    await dialog.getByText('Mend what is marked first.').waitFor();
    assert.ok(await approve.isDisabled());
    assert.equal(await dialog.getByLabel('lines').getAttribute('aria-invalid'), 'true');
    await page.axe();
    await page.shot('inbox-edit');
    await dialog.getByLabel('path').fill('/srv/edited.md');
    await dialog.getByLabel('lines').fill('4');
    await dialog.getByText('3', { exact: true }).waitFor();
    assert.deepEqual(await dialog.locator('.diff-place bdi').allInnerTexts(), ['path', 'lines']);
    await approve.click();
    await isOver(page, 'With your changes.');
    assert.deepEqual(files.calls.at(-1).args, { path: '/srv/edited.md', text: 'Hello', lines: 4 });
    const told = await expect(files.client, ({ kind, correlation_id: of }) => kind === 'system/proposal' && of === item.id);
    assert.deepEqual(told.payload.edited.map(({ path }) => path), ['/params/arguments/lines', '/params/arguments/path'], 'the room is told what was edited');
    await page.done();
});
