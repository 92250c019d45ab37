// SPDX-License-Identifier: Apache-2.0
// A server behind a URL that wants a token: `moot bridge` prints where to sign in, a browser comes
// back to it, and the next run asks nobody, since the tokens rest sealed in the data directory.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { caller, startBridge } from './bridges.mjs';
import { people, person, startGateway } from './gateway.mjs';
import { startGuarded, TOKEN } from './guarded.mjs';

let alice, gateway, server, url, asked;

before(async () => {
    server = await startGuarded();
    ({ asked, url } = server);
    gateway = await startGateway({ tokens: [...people('alice'), person('tool', { capabilities: undefined, profile: 'bridge' })] });
    alice = await gateway.join('alice', { topic: 'room' });
});

after(async () => {
    await gateway.stop();
    server.stop();
});

test('a person signs in where the bridge says, and the tools are there', async () => {
    const bridge = await startBridge(gateway, ['--url', `${url}/mcp`], null, { watcher: alice });

    await bridge.told(/sign in[^]*\nhttp:\S+\n/);
    const [address] = /^http:\S+\/authorize\?\S+$/m.exec(bridge.stderr());
    const page = await fetch(address);

    assert.equal(page.status, 200);
    assert.match(await page.text(), /Done/);
    await bridge.told(/signed in at tool/);
    const { content } = await caller(alice, 'tool').result('tools/call', { name: 'hello', arguments: {} });
    assert.equal(content[0].text, 'hello');
    assert.ok(asked.some((line) => /^POST \/token .*code_verifier=/.test(line)));
    assert.ok(!bridge.stderr().includes(TOKEN), 'no token in what it says');
    assert.equal((await bridge.stop()).status, 0);
});

test('the next run asks nobody, and the token cannot be read where it rests', async () => {
    asked.length = 0;
    const bridge = await startBridge(gateway, ['--url', `${url}/mcp`], null, { watcher: alice });
    const { content } = await caller(alice, 'tool').result('tools/call', { name: 'hello', arguments: {} });
    const data = path.join(gateway.data, 'bridge');
    const kept = fs.readFileSync(path.join(data, 'secrets/tool'));

    assert.equal(content[0].text, 'hello');
    assert.deepEqual(asked.filter((line) => !line.includes(' /mcp ')), []);
    assert.ok(!kept.includes(TOKEN) && !kept.includes('registered'));
    assert.equal(fs.statSync(path.join(data, 'secret.key')).mode & 0o777, 0o600);
    assert.equal(fs.statSync(path.join(data, 'secrets/tool')).mode & 0o777, 0o600);
    assert.equal((await bridge.stop()).status, 0);
});
