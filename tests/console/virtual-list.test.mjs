// SPDX-License-Identifier: Apache-2.0
// The long list, with a hundred thousand rows of different heights, in a browser.
import assert from 'node:assert/strict';
import test, { before } from 'node:test';

import { skip, startBrowser } from './browser.mjs';
import { bundle, styles } from './unit/load.mjs';

const COUNT = 100_000;
let browser, script, style;

before(async () => {
    if (skip) return;
    browser = await startBrowser();
    style = await styles();
    script = await bundle(`
        import { render } from 'preact';
        import { VirtualList } from './parts/virtual-list';

        const handle = { current: null };
        const make = (from, count) => Array.from({ length: count }, (_, i) => from + i);
        let items = make(0, ${COUNT});
        const draw = () => render(
            <VirtualList items={items} keyOf={String} estimate={40} label="Numbers" handle={handle} stickToEnd onTop={() => window.tops++} onEnd={(is) => { window.isFollowing = is; }}>
                {(item) => <div class="probe" style={{ height: (20 + (item * 37) % 90) + 'px' }}>row {item}</div>}
            </VirtualList>, document.body);
        Object.assign(window, { handle, tops: 0, draw, append: (n) => { items = [...items, ...make(items.at(-1) + 1, n)]; draw(); },
            prepend: (n) => { items = [...make(items[0] - n, n), ...items]; draw(); }, drop: (n) => { items = items.slice(n); draw(); } });
        draw();`);
});

async function open() {
    const page = await browser.blank({ style: `${style} body { height: 600px }`, script });
    page.seen = () => page.evaluate(() => [...document.querySelectorAll('.probe')]
        .filter((row) => row.getBoundingClientRect().bottom > 0 && row.getBoundingClientRect().top < 600).map((row) => Number(row.textContent.slice(4))));
    // Rows that touch each other, in order, from the top of the view to its end.
    page.whole = async () => {
        await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
        const boxes = await page.evaluate(() => [...document.querySelectorAll('.probe')].map((row) => {
            const { top, bottom } = row.getBoundingClientRect();
            return { row: Number(row.textContent.slice(4)), top, bottom };
        }));
        boxes.slice(1).forEach((box, i) => {
            assert.equal(box.row, boxes[i].row + 1);
            assert.ok(Math.abs(box.top - boxes[i].bottom) < 1, `${JSON.stringify(boxes[i])} and ${JSON.stringify(box)} do not touch`);
        });
        assert.ok(boxes.length < 200, `${boxes.length} rows exist`);
        assert.ok(boxes[0].top <= 0 || boxes[0].row <= 0, 'there is nothing above');
        return page.seen();
    };
    return page;
}

test('it opens at its end, holds few rows, and shows them without gaps wherever one goes', { skip }, async () => {
    const page = await open();

    assert.equal((await page.whole()).at(-1), COUNT - 1);
    assert.equal(await page.evaluate(() => window.isFollowing), true, 'and says so: another may have been left elsewhere');
    for (const part of [0, 0.5, 0.123, 0.9, 1]) {
        await page.evaluate((share) => { const list = document.querySelector('.virtual-list'); list.scrollTop = share * list.scrollHeight; }, part);
        const rows = await page.whole();
        assert.ok(Math.abs(rows[0] / COUNT - part) < 0.05, `${part}: ${rows[0]}`);
    }
    await page.evaluate(() => { document.querySelector('.virtual-list').scrollTop = 0; });
    assert.equal((await page.whole())[0], 0);
    assert.ok(await page.evaluate(() => window.tops) > 0, 'and says that the top is near');
    await page.done();
});

test('new rows keep the end in view for who is there, and move nothing for who is not', { skip }, async () => {
    const page = await open();

    await page.whole();
    for (let i = 0; i < 20; i++) await page.evaluate(() => window.append(37));
    assert.equal((await page.whole()).at(-1), COUNT + 20 * 37 - 1);
    await page.evaluate(() => window.handle.current.scrollToIndex(50_000));
    const rows = await page.whole();
    assert.ok(rows.includes(50_000));
    const where = () => page.evaluate((row) => [...document.querySelectorAll('.probe')].find(({ textContent }) => textContent === `row ${row}`)?.getBoundingClientRect().top, rows[1]);
    const top = await where();
    for (const act of ['append(500)', 'prepend(500)', 'drop(700)', 'append(1)']) {
        await page.evaluate((code) => new Function(`window.${code}`)(), act);
        assert.equal((await page.whole())[1], rows[1], act);
        assert.ok(Math.abs(await where() - top) < 1.5, `${act} moved it from ${top} to ${await where()}`);
    }
    assert.equal(await page.evaluate(() => window.handle.current.isAtEnd()), false);
    await page.evaluate(() => window.handle.current.scrollToEnd());
    assert.equal((await page.whole()).at(-1), COUNT + 20 * 37 + 500);
    await page.done();
});

test('who looks at a row near the end stays there while more come, and it is told', { skip }, async () => {
    const page = await open();

    await page.whole();
    await page.evaluate((index) => window.handle.current.scrollToIndex(index), COUNT - 3);
    assert.equal(await page.evaluate(() => window.isFollowing), false);
    const rows = await page.whole();
    await page.evaluate(() => window.append(50));
    assert.deepEqual(await page.whole(), rows);
    await page.evaluate(() => window.handle.current.scrollToEnd());
    assert.equal(await page.evaluate(() => window.isFollowing), true);
    assert.equal((await page.whole()).at(-1), COUNT + 49);
    await page.done();
});

test('a row that grows pushes those below, and one above the view pushes nothing', { skip }, async () => {
    const page = await open();

    await page.evaluate(() => window.handle.current.scrollToIndex(1000));
    const rows = await page.whole();
    const grow = (row) => page.evaluate((n) => { [...document.querySelectorAll('.probe')].find(({ textContent }) => textContent === `row ${n}`).style.height = '300px'; }, row);

    await grow(rows[0] - 2);
    assert.deepEqual(await page.whole(), rows);
    await grow(rows[2]);
    assert.ok((await page.whole()).length < rows.length);
    await page.done();
});

test('it can be scrolled by keys, and axe finds nothing', { skip }, async () => {
    const page = await open();

    await page.whole();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Home');
    await page.waitForFunction(() => document.querySelector('.virtual-list').scrollTop === 0);
    assert.equal((await page.whole())[0], 0);
    await page.axe({ withoutPage: true });

    await page.locator('.probe').nth(3).evaluate((row) => { row.tabIndex = -1; row.focus(); }); // it will be gone
    await page.evaluate(() => window.handle.current.scrollToIndex(50_000));
    await page.whole();
    const top = () => page.evaluate(() => document.querySelector('.virtual-list').scrollTop);
    const before = await top();
    await page.keyboard.press('PageDown');
    await page.waitForFunction((was) => document.querySelector('.virtual-list').scrollTop > was, before);
    await page.done();
});
