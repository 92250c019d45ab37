// SPDX-License-Identifier: Apache-2.0
// An OpenID provider for tests: npm's oidc-provider, on a port of its own.
//
//   const provider = await startProvider({ accounts, redirects, secret, keys, port })
//       accounts   { login: claims }: whoever signs in as LOGIN
//       redirects  where the client `moot` may come back to
//       secret     of that client; a public one when not given
//       keys       private JWKs to sign with; makeKeys() when not given
//       provider.issuer, .port, .keys, .requests (paths that were asked for)
//       provider.token(claims, { key, header })   a JWT that it could have issued
//       await provider.stop()
//
//   makeKeys('a')   RS256, ES256 and EdDSA, with kids a-RS256, …
//   new Browser()   follows redirects and keeps cookies, without running anything:
//       await browser.get(url) / .post(url, form)   { status, url, location, text }; one step
//       await browser.signIn(from, login)           all of it, from /session/provider on:
//                                                   the address at which it ends
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';

// It tells of versions of node, and that it is not for production.
const warn = console.warn;
console.warn = () => {};
const { default: Provider, interactionPolicy } = await import('oidc-provider');
console.warn = warn;

const kinds = {
    RS256: ['rsa', { modulusLength: 2048 }],
    ES256: ['ec', { namedCurve: 'P-256' }],
    EdDSA: ['ed25519', {}],
};

export const makeKeys = (prefix) =>
    Object.entries(kinds).map(([alg, [type, options]]) => ({
        ...crypto.generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }),
        kid: `${prefix}-${alg}`, alg, use: 'sig',
    }));

const base64 = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

const hashes = { RS: 'sha', PS: 'sha', ES: 'sha' };

// As its header says, or as `sign` does.
export function signed(claims, key, header = {}) {
    const alg = header.alg ?? key.alg;
    const text = `${base64({ alg, kid: key.kid, ...header })}.${base64(claims)}`;
    const hash = hashes[alg.slice(0, 2)] ? `sha${alg.slice(2)}` : null;
    const signature = crypto.sign(hash, Buffer.from(text), {
        key: crypto.createPrivateKey({ key, format: 'jwk' }),
        dsaEncoding: 'ieee-p1363',
        ...(alg.startsWith('PS') ? { padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: crypto.constants.RSA_PSS_SALTLEN_DIGEST } : {}),
    });
    return `${text}.${signature.toString('base64url')}`;
}

const policy = interactionPolicy.base();
policy.get('consent').checks.remove('native_client_prompt');

const configurationOf = ({ accounts, redirects, secret, keys }) => ({
    clients: [{
        client_id: 'moot',
        redirect_uris: redirects, application_type: 'native', // any port of this machine
        ...(secret ? { client_secret: secret } : { token_endpoint_auth_method: 'none' }),
    }],
    jwks: { keys },
    cookies: { keys: ['of the tests'] },
    claims: { openid: ['sub'], profile: ['groups', 'name'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    findAccount: (context, id) => (accounts[id] ? { accountId: id, claims: () => ({ sub: id, ...accounts[id] }) } : undefined),
    // Everybody consents.
    loadExistingGrant: async (context) => {
        const { client, session } = context.oidc;
        const grant = new context.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
        grant.addOIDCScope('openid profile email');
        await grant.save();
        return grant;
    },
    features: { devInteractions: { enabled: false } },
    interactions: { policy, url: (context, interaction) => `/login/${interaction.uid}` },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    renderError: (context, out) => { context.type = 'text'; context.body = `${out.error}: ${out.error_description}`; },
});

// Where one says who one is; its own page of the provider's loads fonts from elsewhere.
async function login(provider, request, response) {
    if (request.method === 'GET') {
        response.setHeader('content-type', 'text/html');
        response.end(`<!DOCTYPE html><html lang="en"><link rel="icon" href="data:,"><title>Provider</title><form method="post" action="${request.url}"><input name="login" aria-label="Login"><button>Continue</button></form></html>`);
        return;
    }
    let body = '';
    for await (const part of request) body += part;
    await provider.interactionFinished(request, response, { login: { accountId: new URLSearchParams(body).get('login') } });
}

export async function startProvider({ accounts = {}, redirects = ['http://127.0.0.1/session/callback'], secret, keys = makeKeys('a'), port = 0 } = {}) {
    const server = http.createServer();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const issuer = `http://127.0.0.1:${server.address().port}`;
    const quiet = { warn: console.warn, info: console.info };
    Object.assign(console, { warn: () => {}, info: () => {} });
    const provider = new Provider(issuer, configurationOf({ accounts, redirects, secret, keys }));
    Object.assign(console, quiet);
    const requests = [];
    const answer = provider.callback();
    server.on('request', (request, response) => {
        requests.push(request.url);
        if (request.url.startsWith('/login/')) void login(provider, request, response);
        else answer(request, response);
    });
    return {
        issuer, keys, requests,
        port: server.address().port,
        token: (claims, { key = keys[0], header } = {}) => signed({ iss: issuer, aud: 'rooms', sub: 'zoe', iat: now(), exp: now() + 600, ...claims }, key, header),
        stop: async () => {
            server.closeAllConnections();
            server.close();
            await once(server, 'close');
        },
    };
}

export const now = () => Math.floor(Date.now() / 1000);

export class Browser {
    cookies = new Map(); // "host path name" → value

    keep(url, lines) {
        for (const line of lines) {
            const [pair, ...attributes] = line.split(/; ?/);
            const name = pair.slice(0, pair.indexOf('='));
            const path = attributes.find((a) => /^path=/i.test(a))?.slice(5) ?? '/';
            const isOver = attributes.some((a) => /^max-age=0$/i.test(a) || /^expires=Thu, 01 Jan 1970/i.test(a));
            if (isOver) this.cookies.delete(`${url.host} ${path} ${name}`);
            else this.cookies.set(`${url.host} ${path} ${name}`, pair.slice(pair.indexOf('=') + 1));
        }
    }

    cookieFor(url) {
        return [...this.cookies].filter(([key]) => {
            const [host, path] = key.split(' ');
            return host === url.host && url.pathname.startsWith(path);
        }).map(([key, value]) => `${key.split(' ')[2]}=${value}`).join('; ');
    }

    async step(address, options) {
        const url = new URL(address);
        const cookie = this.cookieFor(url);
        const response = await fetch(url, { redirect: 'manual', ...options, headers: { ...(cookie ? { cookie } : {}), ...options?.headers } });
        this.keep(url, response.headers.getSetCookie());
        const location = response.headers.get('location');
        return {
            status: response.status, url: url.href, text: await response.text(), headers: response.headers,
            location: location === null ? null : new URL(location, url).href,
        };
    }

    get(url, headers) {
        return this.step(url, { headers });
    }

    post(url, form) {
        return this.step(url, { method: 'POST', body: new URLSearchParams(form) });
    }

    // Up to where `isEnd` says; the login page is filled in.
    async follow(from, login, isEnd) {
        let at = await this.get(from);
        for (let i = 0; i < 12; i++) {
            if (at.location && isEnd(at.location)) return at.location;
            if (at.location) at = await this.get(at.location);
            else if (/name="login"/.test(at.text)) at = await this.post(new URL(/action="([^"]+)"/.exec(at.text)[1], at.url), { login });
            else assert.fail(`${at.status} at ${at.url}: ${at.text.slice(0, 300)}`);
        }
        return assert.fail('too many redirects');
    }

    signIn(from, login) {
        return this.follow(from, login, (url) => new URL(url).hash !== '');
    }

    // Up to the address with the code, which is not gone to.
    codeFor(from, login) {
        return this.follow(from, login, (url) => new URL(url).pathname === '/session/callback');
    }
}
