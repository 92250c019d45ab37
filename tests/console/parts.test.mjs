// SPDX-License-Identifier: Apache-2.0
// The parts that views are made of, in a browser: what they show, what they do, and that what
// others wrote is shown and never run.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';

import { skip, startBrowser } from './browser.mjs';
import { bundle, styles } from './unit/load.mjs';

const hostile = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>\u202Egnp.exe';
let browser, style;

before(async () => {
    if (skip) return;
    browser = await startBrowser();
    style = `${await styles()} body { padding: 16px; overflow: auto }`;
});

// A page that shows one component, `view(state, set)`.
async function open(source, options = {}) {
    const script = await bundle(`
        import { render } from 'preact';
        import { useState } from 'preact/hooks';
        const hostile = ${JSON.stringify(hostile)};
        ${source}
        function Whole() {
            const [state, set] = useState(start);
            window.state = state;
            return <main>{view(state, set)}</main>;
        }
        render(<Whole />, document.body);`);
    const page = await browser.blank({ style, script, ...options });

    page.state = () => page.evaluate(() => window.state);
    page.end = async () => {
        assert.equal(await page.evaluate(() => window.ran), undefined, 'what others wrote has run');
        await page.axe({ withoutPage: true });
        await page.done();
    };
    return page;
}

test('a JSON tree unfolds, marks what differs, and shows a long list piece by piece', { skip }, async () => {
    const page = await open(`
        import { JsonTree } from './parts/json-tree';
        const start = null;
        const value = { path: '/tmp/x', [hostile]: hostile, deep: { a: { b: { c: 1 } } }, none: null, yes: true, empty: [], list: Array.from({ length: 5000 }, (_, i) => i) };
        const view = () => <JsonTree value={value} open={1} marks={new Set(['/path', '/deep/a/b/c'])} />;`);

    await page.shot('part-json');
    assert.equal(await page.locator('.marked').count(), 2, 'what is marked is unfolded');
    assert.equal(await page.getByText('/tmp/x').count(), 1);
    assert.equal(await page.getByText('4999:').count(), 0);
    await page.getByRole('button', { name: /list:.*5000 entries/ }).click();
    assert.equal(await page.locator('.json-number').count(), 101);
    await page.getByRole('button', { name: '4900 more' }).click();
    assert.equal(await page.locator('.json-number').count(), 1101);
    assert.equal(await page.locator('img, script[src]').count(), 0);
    assert.equal(await page.getByText('⟨U+202E⟩gnp.exe').count(), 2, 'what turns a text around is shown');
    await page.getByRole('button', { name: /list:/ }).click();
    await page.end();
});

test('no name and no text in a JSON tree looks like another member, and what is marked is not lost in a crowd', { skip }, async () => {
    const page = await open(`
        import { JsonTree } from './parts/json-tree';
        const start = null;
        const crowd = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => ['k' + i, i]));
        const value = { 'path: "/safe",\\n real': '/etc/passwd', text: 'harmless"\\nmode: "read', 'r\u0435ad': 1, long: 'x'.repeat(3000), crowd: { ...crowd, last: { deep: 1 } } };
        const view = () => <JsonTree value={value} open={2} marks={new Set(['/crowd/last/deep'])} />;`);
    const texts = await page.locator('.json-line').allInnerTexts();

    assert.equal(texts[0], '"path: \\"/safe\\",\\n real": "/etc/passwd"');
    assert.match(texts[1], /^text:\s+"harmless\\"\nmode: \\"read"$/);
    assert.equal(await page.locator('.json-string.lines').evaluate((element) => getComputedStyle(element).borderLeftStyle), 'solid', 'lines of a text stand beside a rule');
    assert.equal(texts[2], 'r⟨U+0435⟩ad: 1');
    assert.ok(texts[3].includes('xxx…') && !texts[3].includes('x"'), 'what is cut off has no end');
    assert.equal(await page.locator('.marked').innerText().then((text) => text.split('\n')[0]), 'deep: 1');
    assert.ok(texts.length < 200);
    await page.end();
});

test('a JSON tree marks what turns out to differ later, and what is folded over it', { skip }, async () => {
    const page = await open(`
        import { JsonTree } from './parts/json-tree';
        const start = null;
        const value = { a: { b: { c: { d: { command: 'rm' } } } }, x: { y: 1 } };
        window.mark = () => window.set(new Set(['/a/b/c/d/command']));
        const view = (state, set) => { window.set = set; return <JsonTree value={value} open={1} {...(state && { marks: state })} />; };`);

    assert.equal(await page.getByText('command').count(), 0);
    await page.evaluate(() => window.mark());
    assert.deepEqual(await page.locator('.marked').allTextContents(), ['command: "rm" (differs)']);
    await page.getByRole('button', { name: /^a:/ }).click();
    assert.equal(await page.getByText('command').count(), 0, 'who folds it has it folded');
    assert.deepEqual(await page.locator('.marked').allTextContents(), ['a: {1 member} (something in it differs)']);
    await page.end();
});

test('a JSON tree that is to be seen as a whole folds nothing and cuts nothing off', { skip }, async () => {
    const page = await open(`
        import { JsonTree } from './parts/json-tree';
        const start = Array.from({ length: 150 }, (_, i) => i);
        const view = (state, set) => { window.set = set; return <JsonTree value={{ list: state, text: 'x'.repeat(3000) + '\u202e', deep: [[[[[['end']]]]]] }} open={1} isWhole />; };`);
    const text = () => page.locator('.json').textContent();

    assert.equal(await page.locator('.json-number').count(), 150);
    assert.ok((await text()).includes('x⟨U+202E⟩"') && (await text()).includes('"end"'));
    await page.evaluate(() => window.set(Array.from({ length: 100_000 }, (_, i) => i)));
    await page.locator('.json-all').waitFor();
    assert.ok((await text()).includes('99999') && (await text()).includes('x\\u202e"') && (await text()).includes('"end"'));
    assert.ok(await page.locator('.json-all > div').count() > 50);
    assert.ok(await page.locator('.json-number').count() <= 1000, 'as a text');
    await page.evaluate(() => window.set([])); // so that axe has less to read
    await page.end();
});

test('Markdown is shown, and markup in it is text', { skip }, async () => {
    const page = await open(`
        import { Markdown } from './parts/markdown';
        const start = null;
        const text = '# Title\\n**bold** and \`code\`, [a link](https://a.example/x) [no link](javascript:window.ran=1)\\n\\n- one\\n- two\\n\\n> said\\n\\n\`\`\`\\ncode <b>\\n\`\`\`\\n' + hostile;
        const view = () => <><Markdown text={text} /><Markdown text={'x'.repeat(50_000)} /></>;`);

    await page.shot('part-markdown');
    assert.equal(await page.locator('strong').innerText(), 'bold');
    assert.deepEqual(await page.locator('a').evaluateAll((links) => links.map(({ href, rel, target }) => ({ href, rel, target }))),
        [{ href: 'https://a.example/x', rel: 'noopener noreferrer nofollow', target: '_blank' }]);
    assert.equal(await page.locator('img, b, h1').count(), 0);
    assert.ok((await page.locator('.markdown').first().innerText()).includes('<img src=x onerror='));
    assert.equal(await page.getByText('⟨U+202E⟩gnp.exe').count(), 1);
    await page.getByRole('button', { name: '30000 more characters' }).click();
    assert.equal((await page.locator('.markdown').last().innerText()).length, 50_000);
    await page.end();
});

test('a form of a schema gives back what was filled in, and says what is wrong where it is', { skip }, async () => {
    const page = await open(`
        import { SchemaForm } from './parts/schema-form';
        import { validate } from './state/schema';
        const schema = { type: 'object', required: ['path', 'mode'], properties: {
            path: { type: 'string', minLength: 1, description: 'Where to write. ' + hostile }, mode: { enum: ['append', 'replace'] }, lines: { type: 'integer', minimum: 1, title: 'Number of lines' },
            force: { type: 'boolean' }, tags: { type: 'array', items: { type: 'string', minLength: 1 } }, options: { type: 'object', properties: { owner: { type: 'string' } } }, extra: {} } };
        const start = { value: { path: '/tmp/x', mode: 'append', tags: ['a'], unknown: { x: 1 } }, isReadable: true };
        const view = (state, set) => <SchemaForm schema={schema} value={state.value} problems={validate(schema, state.value)} onInput={(value, isReadable) => set({ value, isReadable })} />;`);

    await page.getByLabel('path').fill('');
    await page.getByText('This must not be empty.').waitFor();
    assert.equal(await page.getByLabel('path').getAttribute('aria-invalid'), 'true');
    assert.notEqual(await page.getByLabel('path').evaluate((field) => getComputedStyle(field).borderColor), await page.getByLabel('mode').evaluate((field) => getComputedStyle(field).borderColor));
    await page.getByLabel('path').fill('/tmp/y');
    await page.getByLabel('mode').selectOption('replace');
    await page.getByLabel('Number of lines').fill('x');
    await page.getByText('This must be a whole number.').waitFor();
    await page.shot('part-form');
    await page.getByLabel('Number of lines').fill('12');
    await page.getByLabel('force').selectOption('true');
    await page.getByRole('button', { name: 'Add an entry' }).click();
    await page.getByRole('textbox', { name: 'Entry 2' }).fill('b');
    await page.getByRole('group', { name: 'options' }).getByRole('button', { name: 'Add it' }).click();
    await page.getByLabel('owner').fill('ann');
    await page.getByLabel('unknown (as JSON)').fill('{"x":');
    assert.equal((await page.state()).isReadable, false, 'a text that is no JSON is not passed over');
    await page.getByLabel('unknown (as JSON)').fill('{"x":2}');
    assert.deepEqual(await page.state(), { isReadable: true, value: {
        path: '/tmp/y', mode: 'replace', lines: 12, force: true, tags: ['a', 'b'], options: { owner: 'ann' }, unknown: { x: 2 } } });
    await page.getByRole('button', { name: 'Remove entry 1' }).click();
    await page.getByLabel('Number of lines').fill('');
    await page.getByLabel('force').selectOption('');
    assert.deepEqual((await page.state()).value, { path: '/tmp/y', mode: 'replace', tags: ['b'], options: { owner: 'ann' }, unknown: { x: 2 } });
    await page.end();
});

test('a field of a form stays the one that is typed into', { skip }, async () => {
    const page = await open(`
        import { SchemaForm } from './parts/schema-form';
        const schemas = [{ type: 'object', properties: { note: { type: 'string' }, text: { type: 'string' } } }, { type: 'object', properties: { note: { type: 'array', items: { type: 'string' } } } }];
        const start = { value: { note: 'x'.repeat(76) }, which: 0 };
        window.other = () => window.set({ value: { note: ['a'] }, which: 1 });
        const view = (state, set) => { window.set = set; return <SchemaForm schema={schemas[state.which]} value={state.value} problems={[]} onInput={(value) => set({ ...state, value })} />; };`);

    await page.getByLabel('note').focus();
    await page.keyboard.press('End');
    await page.keyboard.type('0123456789');
    await page.keyboard.insertText('\u200b\u200b');
    await page.keyboard.type('end');
    assert.equal((await page.state()).value.note, `${'x'.repeat(76)}0123456789\u200b\u200bend`);
    await page.getByLabel('text').focus();
    await page.keyboard.insertText('a\u202eb');
    await page.keyboard.type('c');
    assert.equal((await page.state()).value.text, 'a\u202ebc');
    await page.evaluate(() => window.other());
    await page.getByRole('textbox', { name: 'Entry 1' }).fill('b');
    assert.deepEqual((await page.state()).value, { note: ['b'] }, 'another form has other fields');
    await page.end();
});

test('a form of a hostile schema has an end, and calls things by their names', { skip }, async () => {
    const page = await open(`
        import { SchemaForm } from './parts/schema-form';
        const self = { type: 'object', properties: { next: { $ref: '#' }, again: { $ref: '#' }, path: { type: 'string', title: 'mode' }, mode: { type: 'string', title: 'path' },
            any: { type: 'array', items: {} }, ...Object.fromEntries(Array.from({ length: 5000 }, (_, i) => ['p' + i, { type: 'string' }])) } };
        const start = { value: { any: [{}] }, isReadable: true };
        const view = (state, set) => <SchemaForm schema={self} value={state.value} problems={[]} onInput={(value, isReadable) => set({ value, isReadable })} />;`);

    await page.getByText('more are not shown').waitFor();
    assert.ok(await page.locator('input').count() < 300);
    await page.getByLabel('path (“mode”)').fill('/x');
    await page.getByRole('group', { name: 'next' }).getByRole('button', { name: 'Add it' }).click();
    assert.equal(await page.getByRole('group', { name: 'next' }).count(), 2, 'one level at a time');
    await page.getByLabel('Entry 1 (as JSON)').first().fill('{');
    assert.equal((await page.state()).isReadable, false);
    await page.getByRole('button', { name: 'Remove entry 1' }).first().click();
    assert.deepEqual(await page.state(), { isReadable: true, value: { any: [], path: '/x', next: {} } });
    await page.end();
});

test('a diff tells before and after by words, not by colour alone', { skip }, async () => {
    const page = await open(`
        import { Diff } from './parts/diff';
        const start = null;
        const view = () => <><Diff before={{ description: 'Reads a file', limit: 5, gone: true, path: '/srv/a' }} after={{ description: 'Reads and deletes a file', limit: 6, new: [hostile], path: '/etc/b' }} /><Diff before={1} after={1} /></>;`);

    await page.shot('part-diff');
    assert.deepEqual(await page.locator('ins').allInnerTexts().then((all) => all.map((text) => text.trim())).then(([first]) => first), 'and deletes');
    assert.deepEqual(await page.locator('.diff-text', { hasText: '/srv/a' }).innerText(), '/srv/a', 'what has nothing in common does not run together');
    for (const word of ['+ added', '− removed', '± changed']) assert.ok(await page.getByText(word).count() > 0, word);
    assert.equal(await page.getByText('Nothing differs.').count(), 1);
    await page.end();
});

test('a diff of much is shown piece by piece, and what scrolls in it is reached by key', { skip }, async () => {
    const page = await open(`
        import { Diff } from './parts/diff';
        const start = null;
        const many = (n) => Array.from({ length: 5000 }, (_, i) => i + n);
        const view = () => <><Diff before={{ a: 'x', list: many(0) }} after={{ a: 'line\\n'.repeat(200), list: many(1) }} /><Diff before={{ 'a › b': 1 }} after={{ 'a › b': 2 }} /></>;`);

    assert.equal(await page.locator('.diff').first().locator('li').count(), 51);
    await page.getByRole('button', { name: '4951 more places' }).click();
    assert.equal(await page.locator('.diff').first().locator('li').count(), 251);
    const box = page.getByRole('group', { name: 'a', exact: true });
    assert.equal(await box.getAttribute('tabindex'), '0');
    await box.focus();
    await page.keyboard.press('End');
    await page.waitForFunction(() => document.querySelector('.diff-text[tabindex]').scrollTop > 0);
    assert.equal(await page.locator('.diff-text[tabindex]').count(), 1, 'what is whole is no stop');
    assert.equal(await page.getByText('"a › b"').count(), 1, 'a name is not a path');
    await page.end();
});

test('a plot tells its values in words and at the pointer', { skip }, async () => {
    const page = await open(`
        import { Plot } from './parts/plot';
        const start = null;
        const at = Date.UTC(2026, 0, 1);
        const points = (scale) => Array.from({ length: 60 }, (_, i) => [at + i * 60_000, i === 30 ? null : Math.round(scale * (1 + Math.sin(i / 6)))]);
        const view = () => <><Plot title="Messages" series={[{ name: 'sent', points: points(100) }, { name: 'refused', tone: 'danger', points: points(20) }]} />
            <Plot title="Proposals" kind="bar" series={[{ name: 'opened', tone: 'warn', points: points(5) }]} /><Plot title="Nothing" series={[]} /></>;`);

    await page.shot('part-plot');
    await page.getByRole('img', { name: /Messages: sent .* now, 200 at most, refused/ }).focus();
    await page.keyboard.press('ArrowLeft');
    assert.equal(await page.locator('.plot-pointer').count(), 1);
    assert.match(await page.getByRole('status').first().textContent(), /^.*00:58.*: sent \d+, refused \d+$/, 'what the keys show is read aloud');
    assert.equal(await page.getByText('Nothing was measured yet.').count(), 1);
    await page.end();
});

test('what tells the time begins with the time it is', { skip }, async () => {
    const page = await open(`
        import { Time } from './parts/time';
        const start = 0;
        const view = (state, set) => {
            window.show = () => set(Date.now() + 10_000);
            return state > 0 && <Time at={state} as="left" />;
        };`);

    await page.waitForTimeout(2500); // nobody asks for it
    await page.evaluate(() => {
        window.seen = [];
        new MutationObserver(() => window.seen.push(document.querySelector('time').textContent)).observe(document.body, { subtree: true, childList: true, characterData: true });
        window.show();
    });
    await page.locator('time').waitFor();
    assert.equal(await page.evaluate(() => window.seen[0]), '0:10 left');
    await page.end();
});

test('a menu is used by keys, and a dialog keeps the focus and gives it back', { skip }, async () => {
    const page = await open(`
        import { Menu } from './parts/menu';
        import { Dialog } from './parts/dialog';
        import { Button } from './parts/button';
        import { TextField } from './parts/field';
        const start = { chosen: '', isOpen: false };
        const view = (state, set) => <>
            <Menu label="Actions" side="start" items={['One', 'Two', 'Three'].map((title) => ({ title, isDisabled: title === 'Two', run: () => set({ ...state, chosen: title }) }))} />
            <Button onClick={() => set({ ...state, isOpen: true })}>Open</Button>
            {state.isOpen && <Dialog title="Question" onClose={() => set({ ...state, isOpen: false })} actions={<Button kind="primary">Yes</Button>}><TextField label="Name" value="" onInput={() => {}} /></Dialog>}
        </>;`);

    await page.getByRole('button', { name: 'Actions' }).press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.equal((await page.state()).chosen, 'Three', 'what cannot be chosen is passed over');
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Actions');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('menu').count(), 0);
    await page.getByRole('button', { name: 'Open' }).press('Enter');
    await page.getByRole('dialog', { name: 'Question' }).waitFor();
    assert.equal(await page.getByLabel('Name').evaluate((field) => field === document.activeElement), true, 'it begins with the first field');
    for (let i = 0; i < 8; i++) {
        await page.keyboard.press('Tab');
        assert.ok(await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest('dialog') !== null), 'the focus stays inside');
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Open');
    await page.end();
});

test('a dialog begins with what is to be read, or with what cancels', { skip }, async () => {
    const page = await open(`
        import { Confirm, Dialog } from './parts/dialog';
        import { TextField } from './parts/field';
        const start = 'confirm';
        const close = () => {};
        const view = (state, set) => <>{state === 'confirm' && <Confirm title="Sure?" action="Do it" onConfirm={close} onClose={() => set('read')}>It ends.</Confirm>}
            {state === 'read' && <Dialog title="Read" onClose={() => set('')}><p>{'Much to read. '.repeat(2000)}</p><TextField label="Name" value="" onInput={close} /></Dialog>}</>;`);

    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Cancel');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Read' }).waitFor();
    await page.keyboard.press('PageDown');
    await page.waitForFunction(() => document.querySelector('.dialog-content').scrollTop > 0);
    await page.end();
});

test('what was filled in is not lost by a press beside the dialog, or by one Escape', { skip }, async () => {
    const page = await open(`
        import { Confirm } from './parts/dialog';
        import { Button } from './parts/button';
        import { TextField } from './parts/field';
        const start = { isOpen: true, name: '' };
        const view = (state, set) => <><Button onClick={() => set({ isOpen: true, name: '' })}>Open</Button>
            {state.isOpen && <Confirm title="Question" action="Do it" onConfirm={() => {}} onClose={() => set({ isOpen: false, name: '' })}>
                <TextField label="Name" value={state.name} onInput={(name) => set({ ...state, name })} /></Confirm>}</>;`);
    const dialog = page.getByRole('dialog');
    const isClosed = () => dialog.waitFor({ state: 'detached' });
    const again = () => page.getByRole('button', { name: 'Open' }).click();

    await page.mouse.click(5, 5);
    await page.keyboard.press('Escape');
    await isClosed();
    await again();
    await page.keyboard.type('ann');
    await page.mouse.click(5, 5);
    assert.equal(await page.getByLabel('Name').inputValue(), 'ann');
    await page.keyboard.press('Escape');
    await dialog.getByText('Press Escape once more to discard what you have filled in.').waitFor();
    assert.equal(await page.getByLabel('Name').inputValue(), 'ann');
    await page.axe({ withoutPage: true });
    await page.getByLabel('Name').press('x'); // who goes on is asked again
    assert.equal(await dialog.getByText('Press Escape once more').count(), 0);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await isClosed();
    await again();
    await page.keyboard.type('ann');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await isClosed();
    await page.end();
});

test('a toast is read and dismissed above an open dialog, and a long one is cut', { skip }, async () => {
    const page = await open(`
        import { Button } from './parts/button';
        import { Dialog } from './parts/dialog';
        import { SelectField } from './parts/field';
        import { toast, Toasts } from './parts/toast';
        const start = null;
        const view = () => <><Toasts /><Dialog title={'Remove ' + hostile + '?'} onClose={() => {}} actions={<Button onClick={() => toast('No: ' + hostile + 'x'.repeat(2000), 'danger')}>Go</Button>}>
            <SelectField label="Who" value="" onInput={() => {}} choices={[{ value: '', title: hostile }]} /></Dialog></>;`);
    const dialog = page.getByRole('dialog');

    await dialog.getByRole('button', { name: 'Go' }).click();
    assert.equal(await dialog.getByRole('status').getByText('⟨U+202E⟩').count(), 1);
    assert.ok((await dialog.getByRole('status').innerText()).length < 500);
    assert.ok((await dialog.getByRole('heading').innerText()).includes('⟨U+202E⟩'));
    assert.ok((await dialog.getByRole('option').textContent()).includes('⟨U+202E⟩'));
    await page.shot('part-dialog-toast');
    await dialog.getByRole('button', { name: 'Dismiss' }).click();
    assert.equal(await page.getByRole('button', { name: 'Dismiss', includeHidden: true }).count(), 0);
    await page.end();
});

test('a menu is whole wherever its button is', { skip }, async () => {
    const page = await open(`
        import { Menu } from './parts/menu';
        const start = null;
        const items = Array.from({ length: 6 }, (_, i) => ({ title: 'Item number ' + i, run: () => {} }));
        const view = () => <div style={{ height: '700px', overflow: 'hidden', transform: 'translateY(8px)', display: 'flex', flexDirection: 'column', justifyContent: 'space-between' }}>
            {['start', 'end'].flatMap((side) => ['down', 'up'].map((opens) => <div key={side + opens} class="row" style={{ justifyContent: 'space-between' }}>
                <Menu label={side + ' ' + opens + ' left'} {...{ side, opens, items }} /><Menu label={side + ' ' + opens + ' right'} {...{ side, opens, items }} /></div>))}
        </div>;`, { width: 400, height: 740 });

    for (const button of await page.getByRole('button').all()) {
        await button.click();
        const box = await page.getByRole('menu').boundingBox(), of = await button.boundingBox();
        assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= 400 && box.y + box.height <= 740, JSON.stringify(box));
        assert.ok(Math.abs(box.y - of.y - of.height) < 6 || Math.abs(of.y - box.y - box.height) < 6, 'it touches its button');
        const covers = await page.evaluate(({ x, y }) => document.elementFromPoint(x, y)?.closest('[role=menu]') !== null, { x: box.x + 20, y: box.y + 20 });
        assert.ok(covers, 'nothing lies over it');
        await page.keyboard.press('Escape');
    }
    await page.end();
});

test('a view that fails is caught, told, and can be tried again', { skip }, async () => {
    const page = await open(`
        import { Boundary } from './parts/boundary';
        const start = null;
        let isBroken = true;
        window.mend = () => { isBroken = false; };
        function Broken() { if (isBroken) throw new Error('broken'); return <p>whole again</p>; }
        const view = () => <><p>others</p><Boundary><Broken /></Boundary></>;`, { allow: [/broken/] });

    await page.getByRole('alert').waitFor();
    assert.ok(await page.getByText('others').isVisible());
    await page.evaluate(() => window.mend());
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('whole again').waitFor();
    await page.end();
});

test('tabs, tables, notes and badges are readable in the dark and on a phone', { skip }, async () => {
    const source = `
        import { Tabs } from './parts/tabs';
        import { Table } from './parts/table';
        import { Empty, ErrorNote, Note, Skeleton } from './parts/notes';
        import { Badge, Person } from './parts/badge';
        import { Button } from './parts/button';
        import { Time } from './parts/time';
        const start = 'a';
        const rows = [{ id: hostile, type: 'agent' }, { id: 'ann', type: 'human' }, { id: 'x'.repeat(200), type: 'service' }];
        const view = (state, set) => <Tabs label="Kinds" tabs={[{ name: 'a', title: 'People', count: 3 }, { name: 'b', title: 'Rest' }]} current={state} onChoose={set}>
            {state === 'a' ? <Table label="People" rows={rows} keyOf={(row) => row.id} columns={[
                { title: 'Name', isHead: true, cell: (row) => <Person id={row.id} type={row.type} /> },
                { title: 'State', cell: () => <Badge tone="ok" icon="check">ready</Badge> }, { title: 'Seen', cell: () => <Time at={Date.now() - 65_000} /> },
                { title: 'Actions', isTitleHidden: true, cell: () => <Button kind="danger">Remove</Button> }]} />
            : <div class="section"><ErrorNote error="The server does not answer." onRetry={() => {}} />{['accent', 'ok', 'warn', 'plain'].map((tone) => <Note key={tone} tone={tone}>{tone}</Note>)}
                <div class="row">{['plain', 'accent', 'ok', 'warn', 'danger'].map((tone) => <Badge key={tone} tone={tone}>{tone}</Badge>)}</div>
                <div class="row">{['plain', 'primary', 'danger', 'quiet'].map((kind) => <Button key={kind} kind={kind}>{kind}</Button>)}</div>
                <Skeleton lines={2} /><Empty icon="inbox" title="Nothing waits" action={<Button>Look</Button>}>All is decided.</Empty></div>}
        </Tabs>;`;

    for (const [name, options] of Object.entries({ light: {}, dark: { dark: true }, phone: { width: 360, height: 740, touch: true }, 'phone-dark': { width: 360, height: 740, touch: true, dark: true } })) {
        const page = await open(source, options);
        await page.shot(`part-table-${name}`);
        await page.axe({ withoutPage: true });
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing hangs over the edge');
        await page.getByRole('tab', { name: 'People' }).focus();
        await page.keyboard.press('ArrowRight');
        await page.getByText('Nothing waits').waitFor();
        await page.shot(`part-notes-${name}`);
        await page.end();
    }
});
