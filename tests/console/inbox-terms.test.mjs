// SPDX-License-Identifier: Apache-2.0
// The inbox: several who must agree, rules of one call, proposals that are not what they seem.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { until } from '../e2e/servers.mjs';
import { skip, startBrowser } from './browser.mjs';
import { button, details, entry, isOver, opener, post, propose, serve, startRoom } from './inbox-room.mjs';

let files, gateway, open;

before(async () => {
    if (skip) return;
    gateway = await startRoom({ topics: { named: { ops: { quorum: 2 }, leads: { approvals: [{ kind: 'tools/call', quorum: 1, profiles: ['admin'] }] } } } });
    files = await serve(gateway);
    open = opener(await startBrowser(), gateway);
});
after(() => gateway?.stop());

test('where two must agree the first approves, the second runs it, and both see how far it is', { skip }, async () => {
    const ops = await serve(gateway, 'files', { topic: 'ops' });
    const item = await propose(gateway, 'write_file', { path: '/srv/two.md', text: '1' }, { topic: 'ops' });
    const [ann, ben, root] = await Promise.all(['ann', 'ben', 'root'].map((who) => open(who, item, { topic: 'ops' })));

    await details(ann).getByText('administrators see').waitFor();
    await details(root).getByText('Nobody reviews them').waitFor(); // an administrator is not sent to administrators
    await root.done();
    await button(ann, 'Approve (1 of 2)').waitFor();
    assert.equal(await button(ann, 'Edit').count(), 0, 'what others must agree to is not edited');
    await ann.keyboard.press('a');
    await details(ann).getByText('You have approved it. One more is needed.').waitFor();
    await details(ann).getByText('by you').waitFor();
    await ben.keyboard.press('j'); // nothing else is there: it stays
    await button(ben, 'Approve as the last of 2 and run').click();
    await isOver(ben, 'You approved it.');
    await isOver(ann, 'ben approved it.');
    assert.deepEqual(ops.calls.map(({ args }) => args.path), ['/srv/two.md']);
    await Promise.all([ann.done(), ben.done()]);
});

test('whose approval does not count is told so, and it still waits', { skip }, async () => {
    await serve(gateway, 'files', { topic: 'leads' });
    const item = await propose(gateway, 'write_file', { path: '/srv/lead.md', text: '1' }, { topic: 'leads' });
    const page = await open('ann', item, { topic: 'leads', allow: [/status of 409/] });

    await button(page, 'Approve').first().click();
    await details(page).getByRole('alert').filter({ hasText: '0 of 1 approvals that count are there' }).waitFor();
    await page.shot('inbox-not-counted');
    await button(page, 'Reject').waitFor();
    await page.done();
});

test('a rule that was suggested for such calls is accepted with the approval, as it is shown', { skip }, async () => {
    const suggest = (more) => post(gateway, 'orchestrator', 'lobby', 'rule/suggest', { payload: { rule: { proposer: 'bot', method: 'tools/call', tool: 'write_file', to: 'files', budget: 7,
        arguments: { path: { under: '/srv/app/docs', characters: 'a-z .', max_bytes: 64, depth: 1, endings: ['.md'] }, text: { exactly: 'x' } }, ...more } } });
    await suggest({});
    await suggest({ tool: 'delete_file', arguments: { path: { exactly: '/srv/app/x' } } });
    await suggest({ to: 'others' });
    const page = await open('ann', await propose(gateway, 'write_file', { path: '/srv/app/docs/a.md', text: 'x' }));

    await button(page, 'Approve and make a rule').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Suggested for such calls').waitFor();
    await dialog.getByText('/srv/app/docs').first().waitFor();
    await dialog.getByText('At most 7 an hour').waitFor();
    assert.equal(await dialog.getByRole('button', { name: 'Approve and accept this rule' }).count(), 1, 'and no other');
    await page.axe();
    await page.shot('inbox-rule-suggested');
    await dialog.getByRole('button', { name: 'Approve and accept this rule' }).click();
    await page.getByText('The rule is active from now on.').waitFor();
    await isOver(page, 'You approved it.');
    const { json: { rules } } = await gateway.request('GET /topics/lobby/rules?state=active', { token: 'ann-token' });
    const accepted = rules.find((rule) => rule.budget === 7);
    assert.deepEqual([accepted.to, accepted.accepted_by, accepted.created_by], ['files', 'ann', 'orchestrator']);
    await post(gateway, 'ann', 'lobby', 'rule/disable', { payload: { rule: accepted.id } });
    await page.done();
});

test('a rule is made of a call, as narrow as a person chooses', { skip }, async () => {
    const rejected = await propose(gateway, 'write_file', { path: '/srv/app/notes/b.md', text: 'x', lines: 2 });
    const ben = await gateway.join('ben', { topic: 'lobby' }); // who is a person says the connection

    ben.send({ ...rejected, id: 'no-1', from: 'ben', to: undefined, kind: 'mcp/reject', correlation_id: rejected.id, payload: { reason: 'not b' } });
    const item = await propose(gateway, 'write_file', { path: '/srv/app/notes/a.md', text: 'x', lines: 2 });
    const page = await open('ann', item);

    await button(page, 'Approve and make a rule').click();
    await page.getByRole('button', { name: 'What would it have done?' }).click();
    await page.getByText('Nothing: it covers none').waitFor();
    await page.getByLabel('path').selectOption('any file in this folder');
    await page.getByRole('button', { name: 'What would it have done?' }).click();
    await page.getByText('a person turned down or changed. Make it narrower.').waitFor();
    await page.getByLabel('lines').selectOption('a number from … to …');
    await page.getByLabel('From', { exact: true }).fill('');
    await page.getByText('A number, as 10 or 0.5.').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Approve and add the rule' }).isDisabled());
    assert.ok(await page.getByRole('button', { name: 'What would it have done?' }).isDisabled());
    await page.keyboard.type('-1.5');
    assert.equal(await page.getByLabel('From', { exact: true }).inputValue(), '-1.5');
    await page.getByLabel('From', { exact: true }).fill('2');
    await page.getByLabel('To', { exact: true }).fill('40');
    await page.getByLabel('At most so often').fill('many');
    await page.getByText('A whole number from 1 to 10000.').waitFor();
    await page.axe();
    await page.shot('inbox-rule');
    await page.getByLabel('At most so often').fill('5');
    await page.getByRole('button', { name: 'Approve and add the rule' }).click();
    await page.getByText('The rule is active from now on.').waitFor();
    await isOver(page, 'You approved it.');
    const { json: { rules: [rule] } } = await gateway.request('GET /topics/lobby/rules?state=active', { token: 'ann-token' });
    assert.deepEqual([rule.proposer, rule.tool, rule.to, rule.budget, rule.accepted_by], ['bot', 'write_file', 'files', 5, 'ann']);
    assert.deepEqual(rule.arguments, { path: { under: '/srv/app/notes', characters: 'a-z .', max_bytes: 64, depth: 1, endings: ['.md'] },
        text: { exactly: 'x' }, lines: { between: [2, 40], whole: true } });
    await page.done();
});

test('a proposal that names nobody asks for whom, one own is taken back, and a watcher only watches', { skip }, async () => {
    const page = await open('ann');

    for (const [to, path] of [[null, '/srv/whom.md'], [[], '/srv/nobody.md']]) {
        await propose(gateway, 'write_file', { path, text: '1' }, { to });
        await entry(page, path).click();
        await details(page).getByText('Say first who is to run it.').waitFor();
        assert.ok(await button(page, 'Approve').first().isDisabled());
        await details(page).getByLabel('Who is to run it').selectOption('files');
        await details(page).getByText('Writes a text').waitFor();
        await page.keyboard.press('a');
        await isOver(page, 'You approved it.');
        await isOver(page, 'It was answered after');
        assert.equal(files.calls.at(-1).args.path, path);
    }

    const own = await propose(gateway, 'write_file', { path: '/srv/own.md', text: '1' }, { from: 'eva' });
    const [eva, watcher] = await Promise.all([open('eva', own), open('watcher', own, { allow: [/status of 403/] })]);
    await details(watcher).getByText('You may see this, and not decide on it.').waitFor();
    await details(watcher).getByText('Who may not approve here is not shown what others decided.').waitFor();
    assert.equal(await button(eva, 'Approve').count(), 0);
    await button(eva, 'Take back').click();
    await eva.getByRole('dialog').getByRole('button', { name: 'Take it back' }).click();
    await isOver(eva, 'You took it back.');
    await isOver(watcher, 'eva took it back.');
    await Promise.all([page, eva, watcher].map((one) => one.done()));
});

test('what is said of it and what it asks for may not differ, and numbers are not rounded', { skip }, async () => {
    const lie = await post(gateway, 'bot', 'lobby', 'mcp/proposal:tools/call:look', {
        to: ['files'], payload: { method: 'tools/call', params: { name: 'delete_file', arguments: { path: '/srv/x' } } } });
    const page = await open('ann', lie);

    await details(page).getByText('This says one thing and asks for another').waitFor();
    assert.equal(await button(page, 'Approve').count(), 0);
    await page.keyboard.press('a');
    await button(page, 'Reject').waitFor();

    const text = JSON.stringify({ protocol: 'mcpx/v0.1', id: 'big-1', from: 'bot', to: ['files'], kind: 'mcp/proposal:tools/call:write_file',
        payload: { method: 'tools/call', params: { name: 'write_file', arguments: { path: '/srv/big', text: '1', lines: '#' } } } }).replace('"#"', '9007199254740993');
    const { status } = await gateway.request('POST /topics/lobby/messages', { token: 'bot-token', headers: { 'content-type': 'application/json' }, body: text });
    assert.equal(status, 200);
    await entry(page, '/srv/big').click();
    await details(page).getByText('are sent as they stand: 9007199254740993').waitFor();
    await button(page, 'Approve').first().click();
    await isOver(page, 'You approved it.');
    await until(() => files.client.frames.some((frame) => frame.text.includes('"kind":"mcp/request:tools/call:write_file"') && frame.text.includes('9007199254740993')), 'it is called');
    await propose(gateway, 'write_file', { path: '/srv/big', text: '1', lines: 9007199254740992 });
    await entry(page, '9007199254740992').click();
    await details(page).getByText('Marked: what differs').waitFor();
    assert.deepEqual(await details(page).locator('.marked').allTextContents(), ['lines: 9007199254740992 (differs)']);
    await page.done();
});

test('a call is like the last one only where it goes to the same', { skip }, async () => {
    const page = await open('ann', await propose(gateway, 'delete_file', { path: '/srv/same' }));
    let to; // as the record has it
    await page.route('**/decisions?*', async (route) => {
        const answer = await route.fetch();
        const { decisions, complete } = await answer.json();
        await route.fulfill({ json: { complete, decisions: decisions.map((one) => ({ ...one, to })) } });
    });
    const again = async (more) => {
        const item = await propose(gateway, 'delete_file', { path: '/srv/same' }, more);
        await page.goto(`/console/inbox?topic=lobby&id=${item.id}`);
        await details(page).locator('.inbox-compared').waitFor();
    };

    await button(page, 'Approve').first().click();
    await isOver(page, 'You approved it.');
    await again();
    await details(page).getByText('The same arguments as in the last such call, which you agreed to').waitFor();
    to = ['files'];
    await again();
    await details(page).getByText('Exactly as in the last such call, which you agreed to').waitFor();
    await again({ to: ['caller'] });
    await details(page).getByText('The same arguments as in the last such call').waitFor();
    await details(page).getByText('It goes to somebody else: the last such call went to files.').waitFor();
    await again({ to: null });
    assert.equal(await details(page).getByText('Exactly as').count(), 0);
    await details(page).getByLabel('Who is to run it').selectOption('files');
    await details(page).getByText('Exactly as').waitFor();
    await page.axe();
    await page.done();
});
