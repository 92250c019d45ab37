// SPDX-License-Identifier: Apache-2.0
// A server of the modern era, made with the SDK's v2 package, over HTTP.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { openSession, startServer } from './urls.mjs';

const skip = Number(process.versions.node.split('.')[0]) < 20 && 'the SDK needs Node 20';
const program = fileURLToPath(new URL('modern-server.mjs', import.meta.url));

async function start(...args) {
    const server = await startServer([program, ...args], { ready: /^\d+\n/ });

    return `http://127.0.0.1:${parseInt(server.output(), 10)}/mcp`;
}

test('calls with headers, progress, questions by asking again, changes, cancellation', { skip }, async () => {
    const session = openSession(await start(), 'auto');

    session.do('answer elicitation/create {"action":"accept","content":{"name":"Ada"}}');
    assert.equal(await session.told(/^ready/), 'ready 1 2026-07-28');
    assert.equal(await session.text('add', { a: 1, b: 2 }), '3');
    assert.equal(await session.text('greet'), 'hello Ada');
    await session.told(/^question 1 elicitation\/create/);
    assert.equal(await session.text('count'), 'done');
    await session.told(/^progress 2 .*"progress":2/);

    const { tools } = (await session.call('tools/list')).json;
    session.do(`tool ${JSON.stringify(tools.find(({ name }) => name === 'place'))}`);
    assert.equal(await session.text('place', { region: 'süd' }), 'süd =?base64?c8O8ZA==?=');

    const number = session.start('tools/call', { name: 'wait', arguments: {} });
    await session.told(new RegExp(`^progress ${number} `));
    session.do(`cancel ${number}`);
    assert.equal((await session.answered(number)).word, 'cancelled');
    for (let count = '0'; count !== '1';) // the server learns it from the end of a connection
        count = await session.text('cancelled');

    assert.equal(await session.text('change'), 'changed');
    await session.told(/^notification 0 .*notifications\/tools\/list_changed/);
    const { word, json } = await session.call('no/such');
    assert.deepEqual([word, json.code], ['error', -32601]);
    await session.close();
});

test('a server of both eras is spoken to in the modern one, or as one says', { skip }, async () => {
    const url = await start('both');
    const modern = openSession(url, 'auto');
    const legacy = openSession(url, 'legacy');

    assert.equal(await modern.told(/^ready/), 'ready 1 2026-07-28');
    assert.match(await legacy.told(/^ready/), /^ready 0 20/);
    assert.equal(await modern.text('add', { a: 2, b: 2 }), '4');
    assert.equal(await legacy.text('add', { a: 2, b: 3 }), '5');
    await modern.close();
    await legacy.close();
});
