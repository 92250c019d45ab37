// SPDX-License-Identifier: Apache-2.0
// How cost grows: with the members of a topic, with the number of topics, with who is there
// when somebody comes. `plot` puts the first metric of a workload into the drawing.
import { Agent, request } from 'node:http'
import { ID_PREFIX, TOKEN_PREFIX } from './servers.mjs'

const EXISTING = 100_000
const POSTS_AT_A_TIME = 32
const OURS = ['moot', 'floor']

const cpuPerDelivery = { key: 'cpu_ns_per_delivery', label: 'CPU ns/delivery' }
const cpuPerMessage = { key: 'cpu_ns_per_published', label: 'CPU ns/message' }
const deliveries = { key: 'deliveries_per_s', label: 'deliveries/s' }

// A hundred participants at most: what a topic of ten thousand has to tell about who is in
// it is measured by the joins, not here.
const members = count => ({
  id: `G1/${count}`,
  group: 'G1',
  title: `topic of ${count}, one publisher, window 8`,
  load: { members: count, window: 8, size: 300, participants: Math.min(count, 100), 'connect-seconds': 60 },
  participants: Math.min(count, 100),
  only: OURS,
  metrics: [cpuPerDelivery, deliveries],
  plot: { panel: 'members of the topic', x: count },
})

const topics = count => ({
  id: `G2/${count}`,
  group: 'G2',
  title: `${count} active topic${count > 1 ? 's' : ''} of 2`,
  load: { topics: count, members: 2, size: 300, participants: Math.min(2 * count, 1000), 'connect-seconds': 60 },
  participants: Math.min(2 * count, 1000),
  only: OURS,
  metrics: [cpuPerDelivery, cpuPerMessage, deliveries],
  plot: { panel: 'active topics of two', x: count },
})

// A message makes a topic, and it stays for some minutes though nobody is in it.
async function makeTopics({ port }) {
  const agent = new Agent({ keepAlive: true, maxSockets: POSTS_AT_A_TIME })
  const post = i => new Promise((resolve, reject) => {
    const body = JSON.stringify({
      protocol: 'mcpx/v0.1', id: `made-${i}`, from: `${ID_PREFIX}-0`, kind: 'chat', payload: {},
    })
    const asked = request({
      port, host: '127.0.0.1', agent, method: 'POST', path: `/topics/existing-${i}/messages`,
      headers: {
        Authorization: `Bearer ${TOKEN_PREFIX}-0`,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
      },
    }, answer => {
      answer.resume()
      answer.on('end', () => answer.statusCode < 300 ? resolve()
        : reject(new Error(`topic ${i} was refused with ${answer.statusCode}`)))
    })

    asked.on('error', reject)
    asked.end(body)
  })
  let next = 0
  const work = async () => {
    while (next < EXISTING) await post(next++)
  }

  await Promise.all(Array.from({ length: POSTS_AT_A_TIME }, work))
  agent.destroy()
}

const existing = {
  ...topics(100),
  id: 'G2/existing',
  title: `100 active topics of 2, ${EXISTING} others exist`,
  only: ['moot'],
  settings: { maxTopics: 2 * EXISTING },
  prepare: makeTopics,
  metrics: [cpuPerDelivery, cpuPerMessage, deliveries, { key: 'rss_before', label: 'RSS B' }],
  plot: undefined,
}

// Filling the topic takes most of the time, so the largest ones are run once only. Where
// nobody hears of it, what is left is the welcome.
const joins = (count, mode) => ({
  id: `G3/${count}${mode ? `-${mode}` : ''}`,
  group: 'G3',
  title: `100 come, one after the other, to a topic of ${count}${mode ? `, presence ${mode}` : ''}`,
  load: { members: count, joins: 100, 'connect-seconds': 300, ...mode && { presence: mode } },
  once: count >= 10_000,
  participants: count + 100,
  only: mode ? ['moot'] : OURS,
  metrics: [
    { key: 'latency_us.p50', label: 'join p50 µs' },
    { key: 'cpu_us_per_join', label: 'CPU µs/join' },
    { key: 'welcome_bytes', label: 'welcome B' },
  ],
})

// Without a mode: what a member gets that asks for nothing.
const presence = mode => ({
  id: `G4/${mode ?? 'default'}`,
  group: 'G4',
  title: `1000 come within a second to a topic of 1000, presence ${mode ?? 'not asked for'}`,
  load: { members: 1000, joins: 1000, rate: 1000, 'connect-seconds': 120, ...mode && { presence: mode } },
  participants: 2000,
  only: ['moot'],
  metrics: [
    { key: 'cpu_ms', label: 'CPU ms' },
    { key: 'member_frames', label: 'frames to members' },
    { key: 'member_bytes', label: 'bytes to members' },
    { key: 'latency_us.p99', label: 'join p99 µs' },
  ],
})

export const growth = [
  ...[2, 10, 100, 1_000, 10_000].map(members),
  ...[1, 10, 100, 1_000, 9_000].map(topics),
  existing,
  ...[100, 1_000, 10_000].map(count => joins(count)),
  ...[100, 1_000, 10_000].map(count => joins(count, 'off')),
  ...[undefined, 'each', 'batch', 'off'].map(presence),
]
