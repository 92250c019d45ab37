// SPDX-License-Identifier: Apache-2.0
// A server behind a URL that wants a token: `moot bridge` prints where to sign in, a browser comes
// back to it, and the next run asks nobody, since the tokens rest sealed in the data directory.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { caller, startBridge } from './bridges.mjs';
import { people, person, startGateway } from './gateway.mjs';

let alice, gateway, server, url;
const asked = [];
const TOKEN = 'the-very-secret-token';

const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1' } },
    'tools/list': { tools: [{ name: 'hello', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'hello' }] },
};

function answerRpc(request, body, response) {
    const { id, method } = JSON.parse(body);

    if (request.headers.authorization !== `Bearer ${TOKEN}`)
        return response.writeHead(401, { 'www-authenticate': 'Bearer scope="tools"' }).end();
    if (id === undefined)
        return response.writeHead(202).end();
    const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'no' } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
}

const documents = () => ({
    '/.well-known/oauth-protected-resource/mcp': { resource: `${url}/mcp`, authorization_servers: [url] },
    '/.well-known/oauth-authorization-server': {
        issuer: url, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token`, registration_endpoint: `${url}/register`,
        code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['none'],
    },
    '/register': { client_id: 'registered' },
    '/token': { access_token: TOKEN, token_type: 'Bearer', expires_in: 3600 },
});

// The person says yes at once.
function authorize(to, response) {
    const back = new URL(to.searchParams.get('redirect_uri'));

    back.searchParams.set('code', 'c');
    back.searchParams.set('state', to.searchParams.get('state'));
    response.writeHead(302, { location: back.href }).end();
}

before(async () => {
    server = http.createServer(async (request, response) => {
        const to = new URL(request.url, url);
        let body = '';

        for await (const part of request) body += part;
        asked.push(`${request.method} ${to.pathname} ${body}`);
        if (to.pathname === '/authorize') return authorize(to, response);
        if (to.pathname === '/mcp')
            return request.method === 'POST' ? answerRpc(request, body, response) : response.writeHead(405).end();
        const document = documents()[to.pathname];
        response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(document ?? {}));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${server.address().port}`;
    gateway = await startGateway({ tokens: [...people('alice'), person('tool', { capabilities: undefined, profile: 'bridge' })] });
    alice = await gateway.join('alice', { topic: 'room' });
});

after(async () => {
    await gateway.stop();
    server.closeAllConnections?.();
    server.close();
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
