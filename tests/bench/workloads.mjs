// SPDX-License-Identifier: Apache-2.0
// What is measured, as one table. `load` are options of the generator; `participants` is
// how many tokens Moot is given; `metrics` are fields of the generator's answer.

import { participants } from './participants.mjs'
import { policy } from './policy.mjs'

const cpuPerDelivery = { key: 'cpu_ns_per_delivery', label: 'CPU ns/delivery' }
const deliveries = { key: 'deliveries_per_s', label: 'deliveries/s' }
const bytesPerConnection = { key: 'rss_per_connection', label: 'RSS B/connection' }

const fanOut = (id, window) => ({
  id,
  group: 'W1',
  title: `topic of 100, one publisher, window ${window}`,
  load: { members: 100, window, size: 300 },
  participants: 100,
  metrics: [cpuPerDelivery, deliveries],
})

// Each connection in a topic of its own: what is measured is coming, not being announced.
const handshakes = (id, title, load) => ({
  id,
  group: 'TLS',
  title,
  load: { handshakes: true, members: 1, topics: 20, ...load },
  participants: 20,
  only: ['moot'],
  isSecure: true,
  metrics: [
    { key: 'joined_per_s', label: 'connections/s' },
    { key: 'cpu_us_per_join', label: 'CPU µs/connection' },
  ],
})

const idle = (id, title, connections, participants, load) => ({
  id,
  group: 'W4',
  title: `${connections} idle connections, ${title}`,
  load: { idle: connections, participants, 'connect-seconds': 60, ...load },
  participants,
  once: true,
  seconds: 1,
  metrics: [bytesPerConnection],
})

const secure = [
  {
    ...fanOut('TLS/8', 8),
    group: 'TLS',
    title: 'topic of 100, one publisher, window 8, over TLS',
    only: ['moot'],
    isSecure: true,
  },
  { ...handshakes('TLS/none', 'connect and be welcomed, without TLS'), isSecure: false },
  handshakes('TLS/full', 'the same with a complete handshake'),
  handshakes('TLS/resumed', 'the same with a resumed handshake', { resume: true }),
]

export const workloads = ({ topics, connections }) => [
  fanOut('W1/1', 1),
  fanOut('W1/8', 8),
  fanOut('W1/32', 32),
  {
    id: 'W2',
    group: 'W2',
    title: `${topics} topics of 2, request and response`,
    load: { topics, pingpong: true, size: 300 },
    participants: 2 * topics,
    metrics: [
      { key: 'cpu_ns_per_published', label: 'CPU ns/message' },
      { key: 'published_per_s', label: 'messages/s' },
    ],
  },
  {
    id: 'W3',
    group: 'W3',
    title: 'topic of 50, 50 publishers, window 1',
    load: { members: 50, publishers: 50, size: 300 },
    participants: 50,
    metrics: [cpuPerDelivery, deliveries],
  },
  idle('W4/100', 'topics of 100', connections, 1000, { members: 100 }),
  idle('W4/1', 'one participant', connections, 1, { members: connections }),
  {
    id: 'W5',
    group: 'W5',
    title: 'topic of 20, 500 messages/s',
    load: { members: 20, rate: 500, size: 300 },
    participants: 20,
    metrics: [
      { key: 'latency_us.p50', label: 'latency p50 µs' },
      { key: 'latency_us.p99', label: 'latency p99 µs' },
    ],
  },
  {
    id: 'W6',
    group: 'W6',
    title: '64 KiB to a topic of 20, window 1',
    load: { members: 20, size: 65536 },
    participants: 20,
    metrics: [cpuPerDelivery, deliveries],
  },
  ...policy,
  ...participants,
  ...secure,
]

// Not a load: how fast a server is there, and how large when nobody has come.
export const start = {
  id: 'start',
  group: 'START',
  title: 'start to first HTTP answer, then nothing',
  participants: 1,
  metrics: [
    { key: 'start_ms', label: 'start ms' },
    { key: 'idle_mib', label: 'idle RSS MiB' },
  ],
}

export const faults = ['lost', 'duplicates', 'disorder', 'order_differs', 'strays', 'errors',
  'closed', 'skipped']
