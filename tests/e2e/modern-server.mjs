// SPDX-License-Identifier: Apache-2.0
// An MCP server of the modern era (2026-07-28) made with the SDK's v2 package, over HTTP. Prints
// its port. Without arguments it speaks that era alone; with `both` also the legacy one.
import http from 'node:http';
import { Readable } from 'node:stream';

import { acceptedContent, createMcpHandler, fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server';

const object = (properties, more = {}) => fromJsonSchema({ type: 'object', properties, ...more });
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const later = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
let cancelled = 0;

function makeServer() {
    const server = new McpServer({ name: 'modern', version: '1' },
                                 { capabilities: { tools: { listChanged: true }, resources: { subscribe: true } } });

    server.registerTool('add', { inputSchema: object({ a: { type: 'integer' }, b: { type: 'integer' } }) },
                        ({ a, b }) => text(a + b));
    server.registerTool('place', {
        inputSchema: object({ region: { type: 'string', 'x-mcp-header': 'Region' } }, { required: ['region'] }),
    }, ({ region }, ctx) => text(`${region} ${ctx.http?.req?.headers.get('mcp-param-region')}`));
    server.registerTool('greet', { inputSchema: object({}) }, (_, ctx) => {
        const given = acceptedContent(ctx.mcpReq.inputResponses, 'who');

        if (given)
            return text(`hello ${given.name}`);
        return inputRequired({ requestState: 'state/1', inputRequests: {
            who: inputRequired.elicit({ message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }),
        } });
    });
    server.registerTool('count', { inputSchema: object({}) }, async (_, ctx) => {
        for (const progress of [1, 2])
            await ctx.mcpReq.notify({ method: 'notifications/progress',
                                      params: { progressToken: ctx.mcpReq._meta.progressToken, progress } });
        return text('done');
    });
    server.registerTool('wait', { inputSchema: object({}) }, async (_, ctx) => {
        ctx.mcpReq.signal.addEventListener('abort', () => { cancelled++; });
        await ctx.mcpReq.notify({ method: 'notifications/progress',
                                  params: { progressToken: ctx.mcpReq._meta.progressToken, progress: 1 } });
        await later(60_000);
        return text('late');
    });
    server.registerTool('cancelled', { inputSchema: object({}) }, () => text(cancelled));
    server.registerTool('change', { inputSchema: object({}) }, () => {
        handler.notify.toolsChanged();
        return text('changed');
    });
    return server;
}

const handler = createMcpHandler(makeServer, { legacy: process.argv[2] === 'both' ? 'stateless' : 'reject' });

const server = http.createServer(async (req, res) => {
    const gone = new AbortController();
    const chunks = [];

    res.on('close', () => gone.abort());
    for await (const chunk of req)
        chunks.push(chunk);
    const answer = await handler.fetch(new Request(`http://127.0.0.1${req.url}`, {
        method: req.method, headers: req.headers, signal: gone.signal,
        ...(chunks.length && { body: Buffer.concat(chunks) }),
    }));
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    res.flushHeaders();
    if (answer.body)
        Readable.fromWeb(answer.body).on('error', () => res.destroy()).pipe(res);
    else
        res.end();
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
