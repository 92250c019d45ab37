// SPDX-License-Identifier: Apache-2.0
// JSON Web Tokens: as good as a token, at every door, as long as they say what they must.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { codeOf, connect, jwt, message, subscribe } from './agents.mjs';
import { person, startGateway } from './gateway.mjs';

const secret = '0123456789abcdef0123456789abcdef';
const now = () => Math.floor(Date.now() / 1000);
const claims = (more = {}) => ({ sub: 'scout', aud: 'moot', exp: now() + 600, ...more });
const settings = (more = {}) => ({
    tokens: [person('alice')],
    identity: { jwt: { secret, audience: 'moot', topics: ['room'], ...more } },
});

let gateway, admin;

before(async () => {
    gateway = await startGateway(settings());
    admin = gateway.adminToken();
});
after(() => gateway?.stop());

test('its subject subscribes, with the rights of the profile', async () => {
    const token = jwt(claims(), { secret });
    const agent = await subscribe(gateway, 'scout', { token });

    assert.deepEqual(agent.confirmed.rights, ['directory/query', 'team/create']);
    assert.ok(agent.confirmed.expires_at);
    assert.equal((await agent.ask('RESOURCE_QUERY', { query: '' })).payload.event_type, 'RESOURCE_RESULTS');
    await agent.close();
    const again = await subscribe(gateway, 'scout', { token });
    await again.close();
});

test('it opens the other doors as well, on every worker', async () => {
    const token = jwt(claims({ sub: 'jane' }), { secret });

    for (let i = 0; i < 8; i++)
        assert.equal((await gateway.request('GET /topics/room/participants', { token })).status, 200);
    assert.equal((await gateway.request('GET /topics/elsewhere/participants', { token })).status, 403);
    assert.equal((await gateway.request('GET /admin/tokens', { token })).status, 403);
    const jane = await gateway.join('jane', { token });
    assert.deepEqual(jane.welcome.payload.you.capabilities.includes('chat'), true);
    await jane.close();
});

const refused = [
    ['another secret', jwt(claims(), { secret: 'another secret of at least 32 bytes' })],
    ['no algorithm', `${jwt(claims(), { secret, header: { alg: 'none' } }).split('.').slice(0, 2).join('.')}.`],
    ['an algorithm that is called none', jwt(claims(), { secret, header: { alg: 'none' } })],
    ['an algorithm of keys', jwt(claims(), { secret, header: { alg: 'RS256' } })],
    ['HS512', jwt(claims(), { secret, header: { alg: 'HS512' } })],
    ['no expiry', jwt(claims({ exp: undefined }), { secret })],
    ['an expiry that has passed', jwt(claims({ exp: now() - 60 }), { secret })],
    ['no audience', jwt(claims({ aud: undefined }), { secret })],
    ['another audience', jwt(claims({ aud: 'others' }), { secret })],
    ['a time that has not come', jwt(claims({ nbf: now() + 600 }), { secret })],
    ['made in the future', jwt(claims({ iat: now() + 600 }), { secret })],
    ['no subject', jwt(claims({ sub: undefined }), { secret })],
    ['a subject that is the gateway', jwt(claims({ sub: 'system:gateway' }), { secret })],
    ['a subject with a control character', jwt(claims({ sub: 'a\nb' }), { secret })],
    ['9 KiB', jwt(claims({ more: 'x'.repeat(9000) }), { secret })],
];

for (const [name, token] of refused)
    test(`refused: ${name}`, async () => {
        const agent = await connect(gateway);
        agent.send(message('scout', 'CONTEXT_SUBSCRIBE', { authentication_token: token }));
        const event = await agent.next();

        assert.match(codeOf(event), token.length > 8192 ? /INVALID_PAYLOAD/ : /AUTHENTICATION_FAILED/);
        assert.equal(event.payload.data.field, 'payload.authentication_token');
        assert.equal((await agent.closed()).code, 1008);
        assert.equal((await gateway.request('GET /topics', { token })).status, 401);
    });

test('a key id is of no interest', async () => {
    const token = jwt(claims(), { secret, header: { alg: 'HS256', kid: '../../../dev/null' } });

    await (await subscribe(gateway, 'scout', { token })).close();
});

test('it ends when it expires: 1008', async () => {
    const agent = await subscribe(gateway, 'brief', { token: jwt(claims({ sub: 'brief', exp: now() - 27 }), { secret }) });

    assert.equal(codeOf(await agent.next()), 'AUTHENTICATION_FAILED');
    assert.equal((await agent.closed()).code, 1008);
});

test('one that is listed cannot be revoked by itself', async () => {
    await (await subscribe(gateway, 'scout', { token: jwt(claims(), { secret }) })).close();
    const { json } = await gateway.request('GET /admin/tokens', { token: admin });
    const listed = json.tokens.find(({ source, id }) => source === 'jwt' && id === 'scout');

    assert.ok(listed);
    assert.equal((await gateway.request(`DELETE /admin/tokens/${listed.name}`, { token: admin })).status, 409);
});

test('neither secret nor token stands in the log', () => {
    assert.ok(!gateway.stderr().includes(secret));
    assert.doesNotMatch(gateway.stderr(), /eyJ/);
});

test('with another secret those of before end, and the new ones count', async () => {
    const own = await startGateway(settings());
    try {
        const token = jwt(claims(), { secret });
        const agent = await subscribe(own, 'scout', { token });
        const room = await own.join('scout', { token });
        const text = fs.readFileSync(own.config, 'utf8');

        fs.writeFileSync(own.config, text.replaceAll(secret, 'fedcba9876543210fedcba9876543210'));
        assert.equal((await own.request('POST /admin/reload', { token: own.adminToken() })).status, 200);
        assert.equal(codeOf(await agent.next()), 'AUTHENTICATION_FAILED');
        assert.equal((await agent.closed()).code, 1008);
        assert.equal((await room.closed()).code, 1008);
        assert.equal((await own.request('GET /topics', { token })).status, 401);
        const next = jwt(claims(), { secret: 'fedcba9876543210fedcba9876543210' });
        await (await subscribe(own, 'scout', { token: next })).close();
    } finally {
        await own.stop();
    }
});

test('one that comes while the secret is changed does not outlast it', async () => {
    const own = await startGateway({ ...settings(), limits: { login_failures: 0 } }, { workers: 4 });
    const secrets = [secret, 'fedcba9876543210fedcba9876543210'];
    const text = fs.readFileSync(own.config, 'utf8');
    try {
        for (let round = 0; round < 12; round++) {
            const [old, next] = [secrets[round % 2], secrets[(round + 1) % 2]];
            const tokens = Array.from({ length: 40 }, (_, i) => jwt(claims({ sub: `s${round}-${i}` }), { secret: old }));
            const tries = tokens.map((token) => own.request('GET /topics', { token }));

            fs.writeFileSync(own.config, text.replaceAll(secret, next));
            assert.equal((await own.request('POST /admin/reload', { token: own.adminToken() })).status, 200);
            await Promise.all(tries);
            const { json } = await own.request('GET /admin/tokens', { token: own.adminToken() });
            assert.deepEqual(json.tokens.filter(({ source }) => source === 'jwt').map(({ id }) => id), []);
            for (const token of tokens.slice(0, 10))
                assert.equal((await own.request('GET /topics', { token })).status, 401);
        }
    } finally {
        await own.stop();
    }
});

test('the secret may stand in a file', async () => {
    const own = await startGateway({ tokens: [] });
    try {
        const file = path.join(own.data, 'jwt.secret');
        fs.writeFileSync(file, `${secret}\n`, { mode: 0o600 });
        fs.writeFileSync(own.config, JSON.stringify({ ...JSON.parse(fs.readFileSync(own.config, 'utf8')),
            identity: { jwt: { secret_file: file, audience: 'moot' } } }));
        assert.equal((await own.request('POST /admin/reload', { token: own.adminToken() })).status, 200);
        await (await subscribe(own, 'scout', { token: jwt(claims(), { secret }) })).close();
    } finally {
        await own.stop();
    }
});

for (const [name, more, problem] of [
    ['a short secret', { secret: secret.slice(1) }, /at least 32 bytes/],
    ['no audience', { audience: undefined }, /needs "audience"/],
    ['the profile of an administrator', { profile: 'admin' }, /no administrator/],
    ['a profile that is not there', { profile: 'nosuch' }, /there is no profile/],
])
    test(`not started: ${name}`, async () => {
        await assert.rejects(startGateway(settings(more)), problem);
    });
