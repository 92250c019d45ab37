// SPDX-License-Identifier: Apache-2.0
// A server behind a URL that wants a token, and is its own authorization server.
//
//   const server = await startGuarded()
//       server.url, server.asked      'POST /token body', in order
//       server.forget()               no token is good any more
//       server.stop()
import { once } from 'node:events';
import http from 'node:http';

export const TOKEN = 'the-very-secret-token';

const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1' } },
    'tools/list': { tools: [{ name: 'hello', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'hello' }] },
};

function answerRpc(request, body, response, token) {
    const { id, method } = JSON.parse(body);

    if (request.headers.authorization !== `Bearer ${token}`)
        return response.writeHead(401, { 'www-authenticate': 'Bearer scope="tools"' }).end();
    if (id === undefined)
        return response.writeHead(202).end();
    const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'no' } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
}

const documents = (url, token) => ({
    '/.well-known/oauth-protected-resource/mcp': { resource: `${url}/mcp`, authorization_servers: [url] },
    '/.well-known/oauth-authorization-server': {
        issuer: url, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token`, registration_endpoint: `${url}/register`,
        code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['none'],
    },
    '/register': { client_id: 'registered' },
    '/token': { access_token: token, token_type: 'Bearer', expires_in: 3600 },
});

// The person says yes at once.
function authorize(to, response) {
    const back = new URL(to.searchParams.get('redirect_uri'));

    back.searchParams.set('code', 'c');
    back.searchParams.set('state', to.searchParams.get('state'));
    response.writeHead(302, { location: back.href }).end();
}

export async function startGuarded() {
    const asked = [];
    let token = TOKEN;
    let url = '';
    const server = http.createServer(async (request, response) => {
        const to = new URL(request.url, url);
        let body = '';

        for await (const part of request) body += part;
        asked.push(`${request.method} ${to.pathname} ${body}`);
        if (to.pathname === '/authorize') return authorize(to, response);
        if (to.pathname === '/mcp')
            return request.method === 'POST' ? answerRpc(request, body, response, token) : response.writeHead(405).end();
        const document = documents(url, token)[to.pathname];
        response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(document ?? {}));
    });

    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${server.address().port}`;
    return {
        url, asked,
        forget() { token += '-2'; },
        stop() {
            server.closeAllConnections?.();
            server.close();
        },
    };
}
