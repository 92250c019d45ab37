// SPDX-License-Identifier: Apache-2.0
// The peer: what most people would write first. A room per ?topic=, every text message to
// everybody in it (with echo=off to everybody else), no JSON, no checks, no compression.
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'

const rooms = new Map()

function enter(socket, url) {
  const query = new URL(url, 'http://localhost').searchParams
  const name = query.get('topic') ?? ''
  const hasEcho = query.get('echo') !== 'off'
  const room = rooms.get(name) ?? new Set()

  rooms.set(name, room.add(socket))
  socket.on('message', (data, isBinary) => {
    for (const member of room)
      if (hasEcho || member !== socket) member.send(data, { binary: isBinary })
  })
  socket.on('close', () => {
    room.delete(socket)
    if (room.size === 0) rooms.delete(name)
  })
  socket.on('error', () => socket.terminate())
}

const http = createServer((request, response) => response.end('ok\n'))
const server = new WebSocketServer({ server: http, perMessageDeflate: false })

server.on('connection', (socket, request) => enter(socket, request.url))
http.listen({ port: Number(process.argv[2] ?? 0), host: '127.0.0.1', backlog: 4096 }, () =>
  console.log(`listening on 127.0.0.1:${http.address().port}`))
process.on('SIGTERM', () => process.exit(0))
