// SPDX-License-Identifier: Apache-2.0
// What one would write in an afternoon with the SDK: Streamable HTTP in both eras, in front of one
// server on its pipes.
//
//   node sdk_proxy.mjs PORT PROGRAM [ARGUMENT…]
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

const [port, command, ...args] = process.argv.slice(2)
const upstream = new Client({ name: 'sdk-proxy', version: '1' })
const sessions = new Map()

await upstream.connect(new StdioClientTransport({ command, args }))

function proxy() {
  const server = new Server({ name: 'sdk-proxy', version: '1' }, { capabilities: { tools: {} } })

  server.setRequestHandler('tools/list', ({ params }) => upstream.listTools(params))
  server.setRequestHandler('tools/call', ({ params }) => upstream.callTool({ name: params.name, arguments: params.arguments }))
  return server
}

async function newSession() {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: id => { sessions.set(id, transport) },
  })

  await proxy().connect(transport)
  return transport
}

const modern = toNodeHandler(createMcpHandler(proxy))

createServer(async (req, res) => {
  if (req.headers['mcp-protocol-version'] === '2026-07-28') return modern(req, res)
  await (sessions.get(req.headers['mcp-session-id']) ?? await newSession()).handleRequest(req, res)
}).listen(Number(port), '127.0.0.1')
