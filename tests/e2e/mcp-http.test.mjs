// SPDX-License-Identifier: Apache-2.0
// server-everything from npm over Streamable HTTP: a legacy server with sessions.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from './processes.mjs';
import { everything, freePort, openSession, startServer } from './urls.mjs';

const start = (port) => startServer([everything, 'streamableHttp'], { env: { PORT: port }, ready: /listening on port/i });

test('calls, progress and questions go over streams of their own', async () => {
    const port = await freePort();
    const server = await start(port);
    const session = openSession(`http://127.0.0.1:${port}/mcp`, 'auto');

    session.do('answer roots/list {"roots":[{"uri":"file:///srv/one","name":"one"}]}');
    session.do('answer elicitation/create {"action":"accept","content":{"name":"Ada"}}');
    session.do('answer sampling/createMessage {"role":"assistant","model":"m","content":{"type":"text","text":"sampled"}}');
    assert.equal(await session.told(/^ready/), 'ready 0 2025-11-25');
    await session.told(/^question 0 roots\/list/); // outside any call: on the GET stream
    assert.equal(await session.text('echo', { message: 'hi' }), 'Echo: hi');
    assert.ok((await session.call('tools/list')).json.tools.length >= 13);

    const number = session.start('tools/call', { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } });
    await session.told(new RegExp(`^progress ${number} {"progress":1,"total":2,`));
    await session.told(new RegExp(`^progress ${number} {"progress":2,"total":2,`));
    assert.equal((await session.answered(number)).word, 'result');

    assert.match(await session.text('trigger-elicitation-request'), /Ada/);
    await session.told(/^question 1 elicitation\/create/); // bound to its call: on its stream
    assert.match(await session.text('trigger-sampling-request', { prompt: 'p', maxTokens: 5 }), /sampled/);
    await session.told(/^question 1 sampling\/createMessage/);

    await session.close();
    await until(() => /session termination request/i.test(server.output()), 'the server tells of the DELETE');
});

test('a server that comes back has forgotten the session, and the call is made in a new one', async () => {
    const port = await freePort();
    const first = await start(port);
    const session = openSession(`http://127.0.0.1:${port}/mcp`, 'legacy');

    session.do('answer roots/list {"roots":[]}');
    await session.told(/^ready/);
    assert.equal(await session.text('echo', { message: 'one' }), 'Echo: one');
    await first.kill();
    assert.equal((await session.call('tools/list')).word, 'failed');
    await start(port);
    assert.equal(await session.text('echo', { message: 'two' }), 'Echo: two');
    await session.told(/^ready/);
    await session.close();
});

test('many calls at a time are told apart', async () => {
    const port = await freePort();
    await start(port);
    const session = openSession(`http://127.0.0.1:${port}/mcp`, 'legacy');

    session.do('answer roots/list {"roots":[]}');
    await session.told(/^ready/);
    const texts = await Promise.all(Array.from({ length: 40 }, (_, i) => session.text('echo', { message: `m${i}` })));
    assert.deepEqual(texts, Array.from({ length: 40 }, (_, i) => `Echo: m${i}`));
    await session.close();
});
