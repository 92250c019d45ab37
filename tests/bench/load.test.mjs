// SPDX-License-Identifier: Apache-2.0
// The measure is measured first: the load generator must see every fault of a server, and
// must not see faults where there are none.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { WebSocketServer } from 'ws'

const MOOT = new URL('../../build/moot', import.meta.url).pathname
const run = promisify(execFile)

// A broadcaster whose `deliver(send, text, count)` decides what one receiver gets.
async function broadcaster(deliver, greet = () => {}) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  let count = 0

  server.on('connection', (socket, request) => {
    greet(text => socket.send(text), request)
    socket.on('message', data => {
      count++
      for (const peer of server.clients) deliver(text => peer.send(text), String(data), count)
    })
  })
  await once(server, 'listening')
  return server
}

async function load(server, ...options) {
  const url = `ws://127.0.0.1:${server.address().port}/ws`
  const { stdout } = await run(MOOT, ['bench', '--json', '--url', url,
    '--warm-ms', '0', '--seconds', '1', ...options])

  return JSON.parse(stdout)
}

async function faults(deliver) {
  const server = await broadcaster(deliver)
  const result = await load(server, '--plain', '--members', '3', '--rate', '100')

  server.close()
  return result
}

test('a faithful server has no faults', async () => {
  const result = await faults((send, text) => send(text))

  for (const fault of ['lost', 'duplicates', 'disorder', 'order_differs', 'errors', 'closed'])
    assert.equal(result[fault], 0, fault)
  assert.ok(Math.abs(result.deliveries - 3 * result.published) <= 6)
})

test('a lost message is seen by each receiver', async () => {
  const { lost } = await faults((send, text, count) => count === 10 || send(text))

  assert.equal(lost, 3)
})

test('a message sent twice is seen', async () => {
  const { duplicates, lost } = await faults((send, text, count) => {
    send(text)
    if (count === 10) send(text)
  })

  assert.deepEqual([duplicates, lost], [3, 0])
})

test('two messages that change places are seen', async () => {
  const held = []
  const { disorder, lost } = await faults((send, text, count) => {
    if (count === 10) return held.push(text)
    send(text)
    if (count === 11) send(held.pop())
  })

  assert.deepEqual([disorder, lost], [3, 0])
})

test('the welcome is waited for, presence is not counted, errors are', async () => {
  const envelope = kind => JSON.stringify({ protocol: 'mcpx/v0.1', from: 'system:gateway', kind })
  const tokens = new Set()
  const server = await broadcaster((send, text, count) => {
    send(count === 10 ? envelope('system/error') : text)
    send(envelope('system/presence'))
  }, (send, request) => {
    tokens.add(request.headers.authorization)
    setTimeout(() => send(envelope('system/welcome')), 20)
  })
  const result = await load(server, '--members', '3', '--token-prefix', 't')

  server.close()
  assert.deepEqual([...tokens].sort(), ['Bearer t-0', 'Bearer t-1', 'Bearer t-2'])
  assert.deepEqual([result.errors, result.lost], [3, 3])
  assert.ok(result.deliveries > 30)
})
