// SPDX-License-Identifier: Apache-2.0
// server-everything from npm over HTTP+SSE, the transport of 2024-11-05, which is found out.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { everything, freePort, openSession, startServer } from './urls.mjs';

test('an older server is found out and spoken to; when it goes, the session is over', async () => {
    const port = await freePort();
    const server = await startServer([everything, 'sse'], { env: { PORT: port }, ready: /running on port/i });
    const session = openSession(`http://127.0.0.1:${port}/sse`, 'auto');

    session.do('answer roots/list {"roots":[]}');
    session.do('answer elicitation/create {"action":"accept","content":{"name":"Ada"}}');
    assert.equal(await session.told(/^ready/), 'ready 0 2025-11-25');
    assert.equal(await session.text('echo', { message: 'hi' }), 'Echo: hi');
    assert.match(await session.text('trigger-elicitation-request'), /Ada/);

    const number = session.start('tools/call', { name: 'trigger-long-running-operation', arguments: { duration: 60, steps: 2 } });
    await session.told(new RegExp(`^(progress|notification) .*`));
    await server.kill();
    assert.equal((await session.answered(number)).word, 'failed');
    await session.told(/^end 0 the server ended the stream of its answers/);
    await session.told(/^ended/);
});
