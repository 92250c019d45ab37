// SPDX-License-Identifier: Apache-2.0
// The measure is measured first: the load generator must see every fault of a server, and
// must not see faults where there are none.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { WebSocketServer } from 'ws'
import { fairness } from './fairness.mjs'
import { growth } from './growth.mjs'
import { shares } from './many.mjs'
import { asSvg, panelsOf } from './plot.mjs'
import { workers } from './workers.mjs'
import { start, workloads } from './workloads.mjs'

const MOOT = new URL('../../build/moot', import.meta.url).pathname
const run = promisify(execFile)

// A broadcaster whose `deliver(send, text, count, index)` decides what one receiver gets.
async function broadcaster(deliver, greet = () => {}) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  let count = 0

  server.on('connection', (socket, request) => {
    greet(text => socket.send(text), request)
    socket.on('message', data => {
      count++
      Array.from(server.clients, (peer, i) => deliver(text => peer.send(text), String(data), count, i))
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

test('the source addresses of a range are all used', async () => {
  const sources = new Set()
  const server = await broadcaster((send, text) => send(text), (send, request) => sources.add(request.socket.remoteAddress))

  await load(server, '--plain', '--members', '6', '--from', '127.0.0.2-127.0.0.4')
  server.close()
  assert.deepEqual([...sources].sort(), ['127.0.0.2', '127.0.0.3', '127.0.0.4'])
})

test('a probe finds the idle connection that is no longer served', async () => {
  const probe = async isFaithful => {
    const server = await broadcaster((send, text, count, index) => (isFaithful || index !== 2) && send(text))
    const result = await load(server, '--plain', '--idle', '3', '--members', '3', '--probe')

    server.close()
    return [result.published, result.deliveries, result.lost]
  }

  assert.deepEqual(await probe(true), [1, 3, 0])
  assert.deepEqual(await probe(false), [1, 2, 1])
})

test('who holds does so until standard input ends', async () => {
  const server = await broadcaster((send, text) => send(text))
  const child = execFile(MOOT, ['bench', '--json', '--url', `ws://127.0.0.1:${server.address().port}/`, '--plain',
    '--idle', '2', '--hold', '--phases'])
  const phases = []

  for await (const part of child.stderr) {
    phases.push(...String(part).trim().split('\n'))
    if (phases.at(-1) === 'holding') {
      assert.equal(child.exitCode, null)
      assert.equal(server.clients.size, 2)
      child.stdin.end()
    }
  }
  server.close()
  assert.equal(phases.at(-1), 'holding')
})

test('connections are shared out evenly among as many gateways as they need', () => {
  assert.deepEqual(shares(100, 100), [100])
  assert.deepEqual(shares(101, 100), [50, 51])
  for (const [total, most] of [[1, 18000], [100000, 18000], [36001, 18000], [7, 3]]) {
    const each = shares(total, most)
    assert.equal(each.reduce((a, b) => a + b), total)
    assert.ok(Math.max(...each) <= most && Math.max(...each) - Math.min(...each) <= 1)
  }
})

// Members that come and go see the same faults as those who stay. The publisher, who came
// first, is served faithfully.
async function churned(deliver) {
  const server = await broadcaster((send, text, count, index) =>
    index === 0 ? send(text) : deliver(send, text, count, index))
  const result = await load(server, '--plain', '--churn', '--members', '4', '--life', '20', '--stall-ms', '20')

  server.close()
  return result
}

test('churn: a faithful server has no faults', async () => {
  const result = await churned((send, text) => send(text))

  for (const fault of ['lost', 'duplicates', 'disorder', 'strays', 'errors', 'unchecked', 'closed'])
    assert.equal(result[fault], 0, fault)
  for (const deed of ['leaves', 'resets', 'stalls']) assert.ok(result[deed] > 0, deed)
})

test('churn: what is lost, doubled or out of order is seen by those who come and go', async () => {
  const every = 7 // so that somebody is there when it happens
  const held = new Map()
  const lossy = await churned((send, text, count) => count % every && send(text))
  const double = await churned((send, text, count) => {
    send(text)
    if (count % every === 0) send(text)
  })
  const swapped = await churned((send, text, count, index) => {
    if (count % every === 0) return held.set(index, text)
    send(text)
    if (count % every === 1 && held.has(index)) send(held.get(index))
    held.delete(index)
  })

  assert.ok(lossy.lost > 0 && lossy.duplicates === 0 && lossy.disorder === 0)
  assert.ok(double.duplicates > 0 && double.lost === 0 && double.disorder === 0)
  assert.ok(swapped.disorder > 0)
})

test('churn: an end that nobody has asked for is a fault', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  let count = 0

  server.on('connection', socket => socket.on('message', data => {
    for (const peer of server.clients) peer.send(String(data))
    if (++count === 5) [...server.clients][1].close(4008)
  }))
  await once(server, 'listening')
  const { closed } = await load(server, '--plain', '--churn', '--members', '2', '--life', '1000000')

  server.close()
  assert.equal(closed, 1)
})

test('joins: welcomes are measured, and what those hear who were there before', async () => {
  const envelope = (kind, more) => JSON.stringify({ protocol: 'mcpx/v0.1', kind, ...more })
  const welcome = envelope('system/welcome', { payload: 'x'.repeat(1000) })
  const news = envelope('system/presence')
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  const asked = new Set()

  server.on('connection', (socket, request) => {
    asked.add(new URL(request.url, 'http://localhost').searchParams.get('presence'))
    socket.send(welcome)
    for (const peer of server.clients) if (peer !== socket) peer.send(news)
  })
  await once(server, 'listening')
  const result = await load(server, '--members', '3', '--joins', '2', '--presence', 'batch')

  server.close()
  assert.deepEqual([...asked], ['batch'])
  assert.deepEqual([result.connections, result.joined], [5, 2])
  assert.equal(result.welcome_bytes, welcome.length)
  assert.deepEqual([result.member_frames, result.member_bytes], [6, 6 * news.length])
})

test('joins may come by a rate', async () => {
  const server = await broadcaster(() => {})
  const { joined, connecting } = await load(server, '--plain', '--members', '1', '--joins', '5', '--rate', '50')

  server.close()
  assert.equal(joined, 5)
  assert.ok(connecting >= 0.08, 'the fifth is due after 80 ms')
})

test('no two workloads have the same name', () => {
  const all = [...workloads({ topics: 100, connections: 100 }), ...growth, ...fairness, ...workers, start].map(({ id }) => id.toUpperCase())

  assert.equal(new Set(all).size, all.length)
})

test('the drawing has a panel for what grows and a line for each server', () => {
  const value = median => ({ median, min: median * 0.9, max: median * 1.1 })
  const rows = growth.filter(({ plot }) => plot).map(({ id, metrics, plot }) => ({
    workload: id, metric: metrics[0].label, servers: { moot: value(100 * plot.x), floor: value(90 * plot.x) },
  }))
  const panels = panelsOf(growth, rows, name => `<${name}>`)
  const svg = asSvg(panels)

  assert.deepEqual(panels.map(({ series }) => series.map(({ points }) => points.length)), [[5, 5], [5, 5]])
  assert.equal(svg.match(/<polyline /g).length, 4)
  assert.match(svg, /&lt;moot&gt;/)
  assert.doesNotMatch(svg, /NaN|undefined|Infinity/)
})

test('ping-pong may go by a rate: only the caller does', async () => {
  const server = await broadcaster((send, text) => send(text))
  const result = await load(server, '--plain', '--pingpong', '--rate', '50')

  server.close()
  assert.deepEqual([result.lost, result.duplicates, result.strays], [0, 0, 0])
  assert.ok(Math.abs(result.published - 100) <= 4, `${result.published} calls and answers in a second`)
  assert.ok(result.latency_us.p50 > 0)
})

test('the generator tells its own CPU time', async () => {
  const server = await broadcaster((send, text) => send(text))
  const result = await load(server, '--plain', '--members', '2')

  server.close()
  assert.ok(result.own_cpu_share > 0 && result.own_cpu_share < 1.1)
  assert.ok(result.own_cpu_ns_per_delivery > 0)
})
