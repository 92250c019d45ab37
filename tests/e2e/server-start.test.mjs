// SPDX-License-Identifier: Apache-2.0
// The first start makes a place for itself; later ones find it as it was.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { expect, people, startGateway } from './gateway.mjs';

const modeOf = (file) => (fs.statSync(file).mode & 0o7777).toString(8);

test('start: the first one makes the directory 0700 and both tokens 0600, whatever the umask', async () => {
    const before = process.umask(0);
    const gateway = await startGateway({}).finally(() => process.umask(before));

    assert.equal(modeOf(gateway.data), '700');
    for (const name of ['admin.token', 'human.token', 'moot.sock', 'moot.db'])
        assert.equal(modeOf(path.join(gateway.data, name)), '600', name);
    for (const name of fs.readdirSync(gateway.data))
        assert.equal(fs.statSync(path.join(gateway.data, name)).mode & 0o077, 0, `others may look into ${name}`);
    assert.match(fs.readFileSync(path.join(gateway.data, 'admin.token'), 'utf8'), /^moot_[\w-]{43}\n$/);
    await gateway.stop();
});

test('start: both tokens work: one administers, both enter, and the human is one', async () => {
    const gateway = await startGateway({});

    assert.equal((await gateway.request('GET /admin/tokens', { token: gateway.adminToken() })).status, 200);
    assert.equal((await gateway.request('GET /admin/tokens', { token: gateway.humanToken() })).status, 403);
    const admin = await gateway.join('admin', { token: gateway.adminToken() });
    const human = await gateway.join('human', { token: gateway.humanToken() });
    assert.deepEqual(human.welcome.payload.you.capabilities, ['mcp/*', 'chat', 'participant/status', 'rule/accept', 'rule/add', 'rule/decline', 'rule/disable', 'rule/enable']);
    assert.deepEqual(admin.welcome.payload.you.capabilities,
        ['mcp/*', 'chat', 'participant/status', 'capability/*', 'participant/*', 'topic/*', 'rule/*']);
    assert.equal(human.welcome.payload.you.moot.type, 'human');
    await gateway.stop();
});

test('start: the second one keeps the tokens, even a revoked one, and makes a lost one anew', async () => {
    const first = await startGateway({});
    const [admin, human] = [first.adminToken(), first.humanToken()];
    const keep = fs.mkdtempSync(path.join(path.dirname(path.dirname(first.data)), 'moot-e2e-kept-'));
    const data = path.join(keep, 'data');
    fs.cpSync(first.data, data, { recursive: true, filter: (file) => !file.endsWith('.sock') });
    await first.stop();

    const second = await startGateway({}, { args: ['--data', data] });
    assert.equal(fs.readFileSync(path.join(data, 'admin.token'), 'utf8').trim(), admin);
    for (const token of [admin, human])
        assert.equal((await second.request('GET /topics', { token })).status, 200);
    assert.equal((await second.request('DELETE /admin/tokens/human', { token: admin })).status, 200);
    await second.stop();

    fs.rmSync(path.join(data, 'admin.token'));
    const third = await startGateway({}, { args: ['--data', data] });
    const fresh = fs.readFileSync(path.join(data, 'admin.token'), 'utf8').trim();
    assert.notEqual(fresh, admin);
    assert.equal((await third.request('GET /admin/tokens', { token: fresh })).status, 200);
    assert.equal((await third.request('GET /admin/tokens', { token: admin })).status, 401, 'the lost one is void');
    assert.equal((await third.request('GET /topics', { token: human })).status, 401, 'a revoked one stays revoked');
    await third.stop();
    fs.rmSync(keep, { recursive: true });
});

test('start: the printed link signs in once, and the session is an administrator\'s', async () => {
    const gateway = await startGateway({});
    const signIn = () => gateway.request('POST /session', { json: { ticket: gateway.link } });

    assert.match(gateway.stdout(), /^Sign in \(once, within 10 minutes\): http:\/\/127\.0\.0\.1:\d+\/#ticket=[\w-]{43}$/m);
    const { status, json } = await signIn();
    assert.equal(status, 200);
    assert.equal((await gateway.request('GET /admin/members', { token: json.token })).status, 200);
    assert.equal((await signIn()).status, 401);
    assert.equal((await gateway.request('GET /')).status, 200, 'and the page is there');
    await gateway.stop();
    const silent = await startGateway({}, { args: ['--no-link'] });
    assert.equal(silent.link, undefined);
    await silent.stop();
});

test('start: secrets are nowhere in the log or the store, whatever they were used for', async () => {
    const folderSecret = 'file-secret-0123456789abcdef';
    const gateway = await startGateway({ tokens: people('alice'), log: 'debug', limits: { login_failures: 0 } });
    const file = path.join(path.dirname(gateway.data), 'carol.secret');
    fs.writeFileSync(file, `${folderSecret}\n`, { mode: 0o600 });
    fs.writeFileSync(gateway.config, JSON.stringify({ tokens: [...people('alice'), { token_file: file, id: 'carol', profile: 'full' }], log: 'debug' }));
    const admin = gateway.adminToken();
    assert.equal((await gateway.request('POST /admin/reload', { token: admin })).status, 200);
    const made = (await gateway.request('POST /admin/tokens', { token: admin, json: { id: 'bot', name: 'bot', profile: 'full' } })).json.token;
    const ticket = (await gateway.request('POST /ws-ticket', { token: made })).json.ticket;
    const unused = (await gateway.request('POST /ws-ticket', { token: made })).json.ticket;
    const link = (await gateway.request('POST /admin/link', { token: admin })).json.ticket;
    const session = (await gateway.request('POST /session', { json: { ticket: link } })).json.token;
    const wrong = 'moot_wrong-secret-that-somebody-mistyped';

    for (const [id, token] of [['alice', 'alice-token'], ['carol', folderSecret], ['bot', made], ['admin', session], ['human', gateway.humanToken()]]) {
        const client = await gateway.join(id, { token });
        const { id: said } = client.chat('hello');
        await expect(client, (json) => json.id === said);
        await client.close();
    }
    await (await gateway.join('bot', { token: null, ticket })).close();
    assert.equal((await gateway.refusal('bot', { token: null, ticket })).status, 401);
    assert.equal((await gateway.request('GET /topics', { token: wrong })).status, 401);
    assert.equal((await gateway.request(`GET /topics?token=${wrong}`)).status, 400);
    assert.equal((await gateway.request(`GET /ws?topic=room&access_token=${made}`, { token: made })).status, 400);
    assert.equal((await gateway.request('POST /session', { json: { ticket: wrong } })).status, 401);
    assert.equal((await gateway.request('DELETE /session', { token: session })).status, 204);
    assert.equal((await gateway.request('DELETE /admin/tokens/bot', { token: admin })).status, 200);
    const stored = fs.readdirSync(gateway.data).filter((name) => /^(moot|audit)\.db/.test(name))
        .map((name) => fs.readFileSync(path.join(gateway.data, name), 'latin1')).join('');
    assert.ok(stored.length > 1000);
    for (const [name, secret] of Object.entries({ admin, human: gateway.humanToken(), alice: 'alice-token', folderSecret, made, ticket, unused, link, session, wrong, printed: gateway.link })) {
        assert.ok(!gateway.stderr().includes(secret), `the log has ${name}`);
        assert.ok(!stored.includes(secret), `the store has ${name}`);
        if (name !== 'printed')
            assert.ok(!gateway.stdout().includes(secret), `the output has ${name}`);
    }
    await gateway.stop();
});
