// SPDX-License-Identifier: Apache-2.0
// Calls whose owner wants somebody's word (ADR-001): allowed once or for a while, denied, handed on; and what is known of the tool.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { announced, answered, call, offering } from '../e2e/authorization.mjs';
import { changesIn, expect } from '../e2e/gateway.mjs';
import { until } from '../e2e/processes.mjs';
import { skip, startBrowser } from './browser.mjs';
import { button, details, entry, isOver, opener, post, propose, startRoom } from './inbox-room.mjs';

let caller, gateway, open;

before(async () => {
    if (skip) return;
    gateway = await startRoom({ servers: { tool: offering({ mode: 'always-prompt' }) } });
    open = opener(await startBrowser(), gateway);
    caller = await gateway.join('caller', { topic: 'room' });
    if (!caller.welcome.payload.participants.some((one) => one.id === 'tool'))
        await expect(caller, (json) => changesIn(json).some((one) => one.event === 'join' && one.id === 'tool'));
});
after(() => gateway?.stop());

// The response behind the provisional one.
async function final(client, sent) {
    const answer = await answered(client, sent);

    return answer.payload.error?.code === -32001 ? answered(client, sent) : answer;
}

const ask = (args, name = 'who') => call(caller, name, args);
const said = ({ payload: { result, error } }) => result?.content[0].text ?? error;

test('a call is allowed once, or for a while, and denied with a reason', { skip }, async () => {
    const page = await open('ann');
    const first = ask({ target: 'staging' });

    await entry(page, 'staging').click();
    await details(page).getByText('every call of this server is to be authorized').waitFor();
    await details(page).getByText('who of tool').waitFor();
    await page.axe();
    await page.shot('inbox-authorize');
    await page.keyboard.press('a');
    await isOver(page, 'You authorized it.');
    assert.match(said(await final(caller, first)), /staging/);

    const second = ask({ target: 'production' });
    await entry(page, 'production').click();
    await button(page, 'Allow for…').click();
    await page.getByRole('menuitem', { name: 'Allow for an hour' }).click();
    assert.match(said(await final(caller, second)), /production/);
    assert.match(said(await final(caller, ask({ target: 'production' }))), /production/, 'the same again is not asked about');

    const third = ask({ target: 'moon' });
    await entry(page, 'moon').click();
    await details(page).getByText('Marked: what differs').waitFor();
    await page.keyboard.press('r');
    await page.getByLabel('Reason').fill('too far');
    await page.getByLabel('Also deny').selectOption('an hour');
    await page.getByRole('dialog').getByRole('button', { name: 'Deny' }).click();
    await isOver(page, 'You denied it.');
    const { code, data } = said(await final(caller, third));
    assert.deepEqual([code, data.reason, data.decidedBy], [-32002, 'too far', 'ann']);
    assert.equal(said(await final(caller, ask({ target: 'moon' }))).code, -32002, 'and it stays so for a while');
    await page.done();
});

test('a decision is handed on, and only the delegate decides', { skip }, async () => {
    const [seat, proposer] = await Promise.all(['eva', 'ben'].map((id) => gateway.join(id, { topic: 'room' })));
    const item = await propose(gateway, 'who', { target: 'delegated' }, { topic: 'room', from: 'ben', to: ['tool'] });
    const sent = call(caller, 'who', { target: 'delegated' }, { correlation_id: item.id });

    await answered(caller, sent); // that it waits
    const [ann, eva] = await Promise.all([open('ann'), open('eva')]);
    await Promise.all([ann, eva].map((page) => entry(page, 'delegated').click())); // it stays open when it is announced again
    await button(ann, 'Hand on').click();
    assert.deepEqual(await ann.getByLabel('Who is to decide').getByRole('option').allInnerTexts(), ['Choose…', 'eva'], 'who proposed it does not decide');
    await ann.getByLabel('Who is to decide').selectOption('eva');
    await ann.getByRole('dialog').getByRole('button', { name: 'Hand on' }).click();
    await details(ann).getByText('eva alone decides on this.').waitFor();
    await announced(seat, sent, ['eva']);
    await details(eva).getByText('Who decides').waitFor();
    await button(eva, 'Allow once').click();
    await isOver(eva, 'You authorized it.');
    await isOver(ann, 'eva authorized it.');
    assert.match(said(await final(caller, sent)), /delegated/);
    await Promise.all([seat.close(), proposer.close()]);
    await Promise.all([ann.done(), eva.done()]);
});

test('of two who authorize at once one is too late, and is told so', { skip }, async () => {
    const [ann, ben] = await Promise.all([open('ann'), open('ben')]);
    const sent = ask({ target: 'twice' });

    await Promise.all([ann, ben].map((page) => entry(page, 'twice').click()));
    await button(ben, 'Deny').waitFor();
    await ben.route('**/inbox', () => {});
    await button(ann, 'Allow once').click();
    await final(caller, sent);
    await button(ben, 'Allow once').click();
    await isOver(ben, 'ann authorized it.');
    await isOver(ben, 'which changed nothing');
    await Promise.all([ann.done(), ben.done()]);
});

test('who approves a proposal is not asked once more, and enters the room only for that', { skip }, async () => {
    const item = await propose(gateway, 'who', { target: 'proposed' }, { topic: 'room', to: ['tool'] });
    const page = await open('ann', item, { topic: 'room' });

    await details(page).getByText('who of tool').waitFor();
    await page.keyboard.press('a');
    await isOver(page, 'It was answered after');
    await expect(caller, (json) => changesIn(json).some((one) => one.event === 'leave' && one.id === 'ann'));
    await page.done();
});

test('what is known of the tool and of the past is asked for again, and a tool that changes is read again', { skip }, async () => {
    const root = await open('root');
    let change = (tool) => tool;

    await root.addInitScript(() => {
        const real = globalThis.setInterval;
        globalThis.setInterval = (run, ms, ...args) => real(run, ms === 30_000 ? 500 : ms, ...args);
    });
    await root.route('**/admin/servers/tool/tools', async (route) => {
        const answer = await (await route.fetch()).json();
        await route.fulfill({ json: { ...answer, tools: answer.tools.map(change) } });
    });
    const [first, second] = await Promise.all(['one', 'two'].map((target) => propose(gateway, 'who', { target }, { topic: 'room', to: ['tool'] })));
    await root.goto(`/console/inbox?topic=room&id=${first.id}`);
    await details(root).getByText('as pinned').waitFor();
    await details(root).getByText(/of the last \d+ went through|Nothing was decided/).waitFor();
    const sum = await details(root).getByText(/of the last \d+ went through|Nothing was decided/).innerText();
    await post(gateway, 'ann', 'room', 'mcp/reject', { correlation_id: second.id });
    await until(async () => await details(root).getByText(/of the last \d+ went through/).innerText() !== sum, 'the past is told anew');
    await button(root, 'Approve').first().waitFor();
    change = (tool) => ({ ...tool, verdict: 'changed', item: { ...tool.item, description: 'Says something else.' } });
    await details(root).getByText('What is told of the tool has changed since you opened this.').waitFor();
    await details(root).getByText('changed since it was pinned').waitFor();
    await details(root).getByText('Says something else.').waitFor();
    assert.equal(await button(root, 'Approve').count(), 0);
    await root.keyboard.press('a');
    await root.axe();
    await button(root, 'I have read it again').click();
    await button(root, 'Approve').first().waitFor();
    await root.done();
});

test('administrators see whether a tool was reviewed; one that came later is held', { skip }, async () => {
    const grown = ask({ name: 'late', description: 'Came later.' }, 'grow');
    const pages = await Promise.all([open('root'), open('ann')]);
    const [root, ann] = pages;

    await entry(ann, 'late').click();
    await details(ann).getByText('administrators see').waitFor();
    await entry(root, 'late').click();
    await details(root).getByText('as pinned').waitFor();
    await root.keyboard.press('a');
    await isOver(root, 'You authorized it.');
    await final(caller, grown);
    const item = await propose(gateway, 'late', {}, { topic: 'room', to: ['tool'] });
    await root.goto(`/console/inbox?topic=room&id=${item.id}`);
    await details(root).getByText('held: calls are refused').waitFor();
    await details(root).getByRole('link', { name: 'Review it' }).waitFor();
    await root.shot('inbox-held');
    await ann.goto(`/console/inbox?topic=room&id=${item.id}`);
    await details(ann).getByText('Its owner does not list such a tool now').waitFor();
    await Promise.all(pages.map((page) => page.done()));
});
