// SPDX-License-Identifier: Apache-2.0
// An OpenID provider: people sign in there, and its JWTs are as good as tokens.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { codeOf, connect, jwt, message, subscribe } from './agents.mjs';
import { person, startGateway } from './gateway.mjs';
import { Browser, makeKeys, now, signed, startProvider } from './openid.mjs';

const accounts = {
    zoe: { email: 'zoe@example.org', email_verified: true, groups: ['staff'] },
    adam: { email: 'adam@example.org', email_verified: true, groups: ['staff', 'admins'] },
    mallory: { email: 'root@example.org', email_verified: false, groups: ['staff'] },
    guest: { email: 'guest@example.org', email_verified: true },
    nobody: {},
};

const settings = (issuer, more = {}) => ({
    tokens: [person('alice')],
    identity: {
        provider: {
            issuer, name: 'Example', client_id: 'moot', audience: 'rooms', topics: ['room'],
            claims: { profile: 'groups' },
            profiles: [{ value: 'admins', profile: 'admin' }, { value: 'staff', profile: 'human' }],
            ...more,
        },
    },
});

let provider, gateway, base;

// Ends with the test, however that ends.
async function ownGateway(context, config) {
    const own = await startGateway(config);
    context.after(() => own.stop());
    return own;
}
async function ownProvider(context, options) {
    const own = await startProvider(options);
    context.after(() => own.stop());
    return own;
}

before(async () => {
    provider = await startProvider({ accounts });
    gateway = await startGateway(settings(provider.issuer));
    base = `http://127.0.0.1:${gateway.port}`;
});
after(async () => {
    await gateway?.stop();
    await provider?.stop();
});

const staff = { groups: ['staff'] };
const statusOf = async (token, path = '/topics/room/participants') => (await gateway.request(`GET ${path}`, { token })).status;

for (const alg of ['RS256', 'ES256', 'EdDSA'])
    test(`a bearer signed with ${alg} opens every door`, async () => {
        const token = provider.token({ sub: `zoe-${alg}`, ...staff }, { key: provider.keys.find((key) => key.alg === alg) });

        for (let i = 0; i < 6; i++) assert.equal(await statusOf(token), 200);
        assert.equal(await statusOf(token, '/topics/elsewhere/participants'), 403);
        assert.equal(await statusOf(token, '/admin/tokens'), 403);
        const zoe = await gateway.join(`zoe-${alg}`, { token });
        assert.ok(zoe.welcome.payload.you.capabilities.includes('chat'));
        await zoe.close();
        await (await subscribe(gateway, `zoe-${alg}`, { token })).close();
    });

test('the keys are fetched once, not for every token', () => {
    assert.equal(provider.requests.filter((path) => path === '/jwks').length, 1);
});

test('a claim gives the role of an administrator, where the settings say so', async () => {
    assert.equal(await statusOf(provider.token({ sub: 'adam', groups: ['staff', 'admins'] }), '/admin/tokens'), 200);
});

const publicPem = (key) => crypto.createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
const secretly = (claims, secret) => {
    const text = [{ alg: 'HS256', kid: 'a-RS256' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${text}.${crypto.createHmac('sha256', secret).update(text).digest('base64url')}`;
};
const unsigned = (token, header) => `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${token.split('.')[1]}.`;
const good = () => ({ iss: provider.issuer, aud: 'rooms', sub: 'zoe', exp: now() + 600, ...staff });

const refused = {
    'another audience': () => provider.token({ aud: 'moot', ...staff }),
    'no audience': () => provider.token({ aud: undefined, ...staff }),
    'another issuer': () => provider.token({ iss: 'https://elsewhere.example', ...staff }),
    'no issuer': () => provider.token({ iss: undefined, ...staff }),
    'an expiry that has passed': () => provider.token({ exp: now() - 60, ...staff }),
    'no expiry': () => provider.token({ exp: undefined, ...staff }),
    'a time that has not come': () => provider.token({ nbf: now() + 600, ...staff }),
    'made in the future': () => provider.token({ iat: now() + 600, ...staff }),
    'no subject': () => provider.token({ sub: undefined, ...staff }),
    'a subject that is the gateway': () => provider.token({ sub: 'system:gateway', ...staff }),
    'no claim that gives a right': () => provider.token(),
    'a claim that gives none': () => provider.token({ groups: ['others'] }),
    'a claim of another kind': () => provider.token({ groups: { staff: true } }),
    'no algorithm': () => unsigned(provider.token(staff), { alg: 'none' }),
    'no algorithm, with a signature': () => provider.token(staff).replace(/^[^.]+/, Buffer.from('{"alg":"none"}').toString('base64url')),
    'the public key as a secret': () => secretly(good(), publicPem(provider.keys[0])),
    'the modulus as a secret': () => secretly(good(), provider.keys[0].n),
    'an algorithm of another kind of key': () => provider.token(staff, { key: provider.keys[0], header: { alg: 'RS256', kid: 'a-ES256' } }),
    'an algorithm that the key is not for': () => provider.token(staff, { key: provider.keys[0], header: { alg: 'PS256' } }),
    'a signature of somebody else': () => signed(good(), { ...makeKeys('b')[0], kid: 'a-RS256' }),
    'a key that there is not': () => signed(good(), makeKeys('b')[0]),
    'a key that it brings along': () => signed(good(), makeKeys('b')[0], { kid: undefined, jwk: makeKeys('b')[0] }),
    'a critical extension': () => provider.token(staff, { header: { crit: ['b64'], b64: false } }),
    'a signature that is cut': () => provider.token(staff).slice(0, -4),
    'claims that were changed': () => provider.token(staff).replace(/\.[^.]+\./, `.${Buffer.from(JSON.stringify({ ...good(), sub: 'adam' })).toString('base64url')}.`),
};

for (const [name, make] of Object.entries(refused))
    test(`refused: ${name}`, async () => {
        const answer = await gateway.request('GET /topics', { token: make() });

        assert.equal(answer.status, 401, answer.text);
        assert.match(answer.json.detail, /^[A-Z].*\.$/);
    });

test('unknown keys have the keys fetched anew, but not again and again', async () => {
    for (let i = 0; i < 6; i++) assert.equal(await statusOf(signed(good(), { ...makeKeys('c')[1], kid: `unknown-${i}` })), 401);
    assert.ok(provider.requests.filter((path) => path === '/jwks').length <= 3);
});

test('keys change while the gateway runs', async (context) => {
    const first = await startProvider({ keys: makeKeys('old') });
    const rooms = await ownGateway(context, settings(first.issuer));
    const ask = async (token) => (await rooms.request('GET /topics', { token })).status;
    const before = first.token(staff);

    assert.equal(await ask(before), 200);
    await first.stop();
    const second = await startProvider({ keys: makeKeys('new'), port: first.port });
    assert.equal(await ask(second.token(staff)), 200);
    assert.equal(await ask(first.token({ ...staff, jti: 'later' })), 401, 'the old key is no longer one of its keys');
    assert.equal(await ask(before), 200, 'what was verified before counts until it expires');
    await second.stop();
    assert.equal(await ask(second.token({ ...staff, jti: 'last' })), 200, 'keys that are at hand serve while it is down');
});

test('a provider that is down: nobody is blamed, and everybody told', async (context) => {
    const gone = await startProvider();
    await gone.stop();
    const rooms = await ownGateway(context, { ...settings(gone.issuer), limits: { login_failures: 2 } });

    for (let i = 0; i < 4; i++) {
        const answer = await rooms.request('GET /topics', { token: gone.token({ ...staff, jti: i }) });
        assert.equal(answer.status, 503, answer.text);
        assert.match(answer.json.detail, /identity provider cannot be reached/);
    }
    const agent = await connect(rooms);
    agent.send(message('zoe', 'CONTEXT_SUBSCRIBE', { authentication_token: gone.token({ ...staff, jti: 'agent' }) }));
    assert.match(codeOf(await agent.next()), /UNAVAILABLE/);
    await agent.closed();
    assert.equal((await new Browser().get(`http://127.0.0.1:${rooms.port}/session/provider`)).location, `http://127.0.0.1:${rooms.port}/#refused=unreachable`);
    assert.equal((await rooms.request('GET /topics', { token: 'alice-token' })).status, 200);
});

// What it answers at an address, instead of what it would.
async function falseProvider(context, answers) {
    const server = http.createServer((request, response) => {
        const answer = answers(issuer)[request.url];
        response.writeHead(answer?.status ?? 200, { 'content-type': 'application/json', ...answer?.headers });
        response.end(typeof answer === 'string' ? answer : JSON.stringify(answer?.body ?? answer ?? {}));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const issuer = `http://127.0.0.1:${server.address().port}`;
    context.after(() => { server.closeAllConnections(); server.close(); });
    return issuer;
}
const wellKnown = '/.well-known/openid-configuration';
const documentOf = (issuer, more) => ({ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/jwks`, ...more });
const falsehoods = {
    'another issuer': (issuer) => ({ [wellKnown]: documentOf('https://elsewhere.example') }),
    'no keys': (issuer) => ({ [wellKnown]: documentOf(issuer, { jwks_uri: undefined }) }),
    'keys without TLS elsewhere': (issuer) => ({ [wellKnown]: documentOf(issuer, { jwks_uri: 'http://192.0.2.1/jwks' }) }),
    'keys in a file': (issuer) => ({ [wellKnown]: documentOf(issuer, { jwks_uri: 'file:///etc/passwd' }) }),
    'a line end in an address': (issuer) => ({ [wellKnown]: documentOf(issuer, { authorization_endpoint: `${issuer}/a\r\nSet-Cookie: a=b` }) }),
    'a script as its address': (issuer) => ({ [wellKnown]: documentOf(issuer, { authorization_endpoint: 'javascript:alert(1)' }) }),
    'a redirect': (issuer) => ({ [wellKnown]: { status: 302, headers: { location: `${issuer}/elsewhere` } }, '/elsewhere': documentOf(issuer) }),
    'no JSON': () => ({ [wellKnown]: '<html>' }),
    'a secret as a key': (issuer) => ({ [wellKnown]: documentOf(issuer), '/jwks': { keys: [{ kty: 'oct', k: 'AAAA' }] } }),
    'a set of keys without end': (issuer) => ({ [wellKnown]: documentOf(issuer), '/jwks': ' '.repeat(1 << 20) }),
};

test('what a provider says of itself is believed as far as it can be true', async (context) => {
    let now;
    const issuer = await falseProvider(context, (own) => now(own));
    const rooms = await ownGateway(context, settings(issuer));

    for (const [name, answers] of Object.entries(falsehoods)) {
        now = answers;
        // Other settings: nothing is kept of what it said before.
        fs.writeFileSync(rooms.config, JSON.stringify(settings(issuer, { audience: name })));
        assert.equal((await rooms.request('POST /admin/reload', { token: rooms.adminToken() })).status, 200);
        const begun = await new Browser().get(`http://127.0.0.1:${rooms.port}/session/provider`);
        assert.equal(refusalIn(begun.location), 'unreachable', name);
        assert.doesNotMatch(begun.headers.getSetCookie().join(), /a=b/);
    }
});

test('JWTs with a secret are accepted beside it, each by its own terms', async (context) => {
    const secret = '0123456789abcdef0123456789abcdef';
    const both = settings(provider.issuer);
    both.identity.jwt = { secret, audience: 'moot', profile: 'reader', topics: ['room'] };
    const rooms = await ownGateway(context, both);
    const ask = async (token) => (await rooms.request('GET /topics', { token })).status;

    assert.equal(await ask(provider.token(staff)), 200);
    assert.equal(await ask(jwt({ sub: 'scout', aud: 'moot', exp: now() + 600 }, { secret })), 200);
    assert.equal(await ask(jwt({ ...good() }, { secret })), 401);
    assert.equal(await ask(provider.token({ aud: 'moot', ...staff })), 401);
});

// --- signing in ---

const ticketIn = (url) => new URLSearchParams(new URL(url).hash.slice(1)).get('ticket');
const refusalIn = (url) => new URLSearchParams(new URL(url).hash.slice(1)).get('refused');
const enter = async (login, browser = new Browser(), at = gateway) => {
    const url = await browser.signIn(`http://127.0.0.1:${at.port}/session/provider`, login);
    const answer = await at.request('POST /session', { json: { ticket: ticketIn(url) } });
    assert.equal(answer.status, 200, `${url} ${answer.text}`);
    return answer.json;
};

test('a page can learn that one may sign in there', async () => {
    assert.deepEqual((await gateway.request('GET /session/ways')).json, { provider: { name: 'Example' } });
});

test('somebody signs in, and has the rights of his claims until the session ends', async () => {
    const session = await enter('zoe');

    assert.deepEqual([session.id, session.type, session.admin, session.topics], ['zoe', 'human', false, ['room']]);
    assert.ok(Date.parse(session.expires_at) <= Date.now() + 12 * 3600_000 + 5000);
    assert.equal(await statusOf(session.token), 200);
    assert.equal(await statusOf(session.token, '/admin/tokens'), 403);
    assert.equal((await gateway.request('DELETE /session', { token: session.token })).status, 204);
    assert.equal(await statusOf(session.token), 401);
});

test('an administrator signs in, and can end what others have', async () => {
    const [adam, zoe] = [await enter('adam'), await enter('zoe')];
    assert.equal(adam.admin, true);
    const { tokens } = (await gateway.request('GET /admin/tokens', { token: adam.token })).json;
    const found = tokens.filter(({ id, source }) => id === 'zoe' && source === 'provider');

    assert.equal(found.length, 1, 'one for each person, however often he signs in');
    assert.equal((await gateway.request(`DELETE /admin/tokens/${found[0].name}`, { token: adam.token })).status, 200);
    assert.equal(await statusOf(zoe.token), 401);
    assert.equal((await enter('zoe')).id, 'zoe');
});

test('sessions that had other rights end when somebody signs in with new ones', async () => {
    const old = await enter('adam');
    accounts.adam.groups = ['staff'];
    const next = await enter('adam');
    accounts.adam.groups = ['staff', 'admins'];

    assert.equal(next.admin, false);
    assert.equal(await statusOf(old.token, '/admin/tokens'), 401);
    assert.equal(await statusOf(next.token), 200);
});

test('whoever has no rights here is told so', async () => {
    for (const login of ['guest', 'nobody'])
        assert.equal(refusalIn(await new Browser().signIn(`${base}/session/provider`, login)), 'stranger');
});

test('the cookie goes to the callback alone, and what it holds cannot be read', async () => {
    const browser = new Browser();
    const begun = await browser.get(`${base}/session/provider`);
    const cookie = begun.headers.getSetCookie()[0];
    const asked = new URL(begun.location).searchParams;

    assert.equal(begun.status, 303);
    assert.equal(begun.headers.get('cache-control'), 'no-store');
    assert.match(cookie, /^moot_sign_in=[\w-]+; Path=\/session\/callback; Max-Age=600; HttpOnly; SameSite=Lax$/);
    assert.equal(asked.get('code_challenge_method'), 'S256');
    assert.equal(asked.get('redirect_uri'), `${base}/session/callback`);
    for (const name of ['state', 'nonce', 'code_challenge']) {
        assert.equal(asked.get(name).length, 43);
        assert.ok(!Buffer.from(cookie.split(/[=;]/)[1], 'base64url').includes(asked.get(name)));
    }
});

// What the browser brings back, changed on its way.
const callback = async (login, change, { browser = new Browser() } = {}) => {
    const url = new URL(await browser.codeFor(`${base}/session/provider`, login));
    change?.(url.searchParams, browser);
    return browser.get(url.href);
};

test('an answer that belongs to no sign-in of this browser is refused', async () => {
    const cases = {
        'no cookie': (query, browser) => browser.cookies.clear(),
        'another state': (query) => query.set('state', 'x'.repeat(43)),
        'no state': (query) => query.delete('state'),
        'two states': (query) => query.append('state', query.get('state')),
        'a cookie that was changed': (query, browser) => {
            for (const [key, value] of browser.cookies) if (key.endsWith('moot_sign_in')) browser.cookies.set(key, `${value.slice(0, -2)}AA`);
        },
        'two cookies': (query, browser) => browser.cookies.set(`127.0.0.1:${gateway.port} /session moot_sign_in`, 'x'),
    };
    for (const [name, change] of Object.entries(cases))
        assert.equal(refusalIn((await callback('zoe', change)).location), 'again', name);
    const other = new Browser();
    await other.get(`${base}/session/provider`);
    assert.equal(refusalIn((await other.get((await new Browser().codeFor(`${base}/session/provider`, 'zoe')))).location), 'again', 'of another browser');
});

test('a code is good once, and only for who asked for it', async () => {
    const browser = new Browser();
    let kept;
    const first = await callback('zoe', (query, { cookies }) => { kept = [new URLSearchParams(query), [...cookies]]; }, { browser });
    assert.ok(ticketIn(first.location));
    assert.equal([...browser.cookies.keys()].some((key) => key.endsWith('moot_sign_in')), false, 'the cookie is gone');
    browser.cookies = new Map(kept[1]);
    assert.equal(refusalIn((await browser.get(`${base}/session/callback?${kept[0]}`)).location), 'unfit', 'again');
    assert.equal(refusalIn((await callback('zoe', (query) => query.set('code', 'forged'))).location), 'unfit', 'forged');
    const stolen = new URL(await new Browser().codeFor(`${base}/session/provider`, 'adam')).searchParams.get('code');
    assert.equal(refusalIn((await callback('zoe', (query) => query.set('code', stolen))).location), 'unfit', 'of another sign-in');
    assert.equal(refusalIn((await callback('zoe', (query) => query.set('iss', 'https://elsewhere.example'))).location), 'unfit', 'of another issuer');
    assert.equal(refusalIn((await callback('zoe', (query) => query.delete('code'))).location), 'unfit', 'none');
});

test('what the provider refuses is told in our words, not in its', async () => {
    const answer = await callback('zoe', (query) => {
        query.delete('code');
        query.set('error', 'access_denied');
        query.set('error_description', '<script>alert(1)</script>');
    });
    assert.equal(answer.location, `${base}/#refused=denied`);
    assert.equal(answer.text, '');
});

test('a ticket is good once', async () => {
    const ticket = ticketIn(await new Browser().signIn(`${base}/session/provider`, 'zoe'));
    assert.equal((await gateway.request('POST /session', { json: { ticket } })).status, 200);
    assert.equal((await gateway.request('POST /session', { json: { ticket } })).status, 401);
});

test('a page of another site begins no sign-in', async () => {
    const answer = await new Browser().get(`${base}/session/provider`, { 'sec-fetch-site': 'cross-site' });
    assert.equal(answer.location, `${base}/`);
    assert.deepEqual(answer.headers.getSetCookie(), []);
});

test('a client with a secret shows it; an address that is not verified is nobody\'s', async (context) => {
    const confidential = await ownProvider(context, { accounts, secret: 'a secret of the client' });
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-e2e-'));
    context.after(() => fs.rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'client.secret');
    fs.writeFileSync(file, 'a secret of the client\n', { mode: 0o600 });
    const rooms = await ownGateway(context, settings(confidential.issuer, { client_secret_file: file, claims: { id: 'email', profile: 'groups' } }));

    assert.equal((await enter('zoe', new Browser(), rooms)).id, 'zoe@example.org');
    assert.equal(refusalIn(await new Browser().signIn(`http://127.0.0.1:${rooms.port}/session/provider`, 'mallory')), 'stranger');
    assert.doesNotMatch(rooms.stderr(), /a secret of the client/);
});

test('a secret of ours that the provider does not take is nobody\'s fault', async (context) => {
    const strict = await ownProvider(context, { accounts, secret: 'the right one, and long enough for it' });
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-secret-'));
    const file = path.join(folder, 'secret');
    fs.writeFileSync(file, 'another one, and long enough for it', { mode: 0o600 });
    const rooms = await ownGateway(context, { ...settings(strict.issuer, { client_secret_file: file }), limits: { login_failures: 2 } });

    for (let i = 0; i < 4; i++)
        assert.equal(refusalIn(await new Browser().signIn(`http://127.0.0.1:${rooms.port}/session/provider`, 'zoe')), 'unreachable');
    assert.equal((await rooms.request('GET /topics', { token: 'wrong' })).status, 401, 'not 429');
    fs.rmSync(folder, { recursive: true });
});

test('whoever comes while settings change ends no session', async (context) => {
    const rooms = await startGateway({ ...settings(provider.issuer), limits: { login_failures: 0 }, tokens: [person('zoe', { profile: 'admin' })] }, { workers: '4' });
    context.after(() => rooms.stop());
    const { json: { ticket } } = await rooms.request('POST /admin/link', { token: 'zoe-token' });
    const { json: { token } } = await rooms.request('POST /session', { json: { ticket } });
    let isOver = false;
    const changing = async () => {
        for (let i = 0; i < 150; i++)
            await rooms.request('PATCH /admin/settings', { token: 'zoe-token', json: { log: i % 2 ? 'info' : 'warn' } });
        isOver = true;
    };
    const coming = async (who) => {
        for (let i = 0; !isOver; i++)
            await rooms.request('GET /inbox', { token: provider.token({ sub: 'zoe', ...staff, jti: `${who}-${i}` }) });
    };

    await Promise.all([changing(), coming('a'), coming('b'), coming('c')]);
    assert.equal((await rooms.request('GET /session', { token })).status, 200);
});

test('other settings end what was let in by the old ones', async (context) => {
    const rooms = await ownGateway(context, settings(provider.issuer));
    const ask = async (token) => (await rooms.request('GET /topics', { token })).status;
    const [token, session] = [provider.token(staff), await enter('zoe', new Browser(), rooms)];

    assert.deepEqual([await ask(token), await ask(session.token)], [200, 200]);
    fs.writeFileSync(rooms.config, fs.readFileSync(rooms.config, 'utf8').replaceAll('"rooms"', '"others"'));
    assert.equal((await rooms.request('POST /admin/reload', { token: rooms.adminToken() })).status, 200);
    assert.deepEqual([await ask(token), await ask(session.token)], [401, 401]);
    assert.equal(await ask(provider.token({ aud: 'others', ...staff })), 200);
});

test('without a provider there is nothing of it', async (context) => {
    const rooms = await ownGateway(context, { tokens: [person('alice')] });

    assert.deepEqual((await rooms.request('GET /session/ways')).json, {});
    assert.equal((await rooms.request('GET /session/provider')).status, 404);
    assert.equal((await new Browser().get(`http://127.0.0.1:${rooms.port}/session/callback?code=a&state=b`)).location, `http://127.0.0.1:${rooms.port}/#refused=again`);
});
