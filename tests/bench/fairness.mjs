// SPDX-License-Identifier: Apache-2.0
// What a busy topic does to a quiet one on the same worker: two members that call and answer a
// hundred times a second, alone and beside a topic of a thousand with a publisher at full speed.

const quiet = {
  group: 'W7',
  load: { pingpong: true, topics: 1, rate: 100, topic: 'quiet', size: 300, participants: 2 },
  participants: 1000,
  only: ['moot', 'node', 'floor'],
  metrics: [
    { key: 'latency_us.p50', label: 'round trip p50 µs' },
    { key: 'latency_us.p99', label: 'round trip p99 µs' },
    { key: 'latency_us.max', label: 'round trip max µs' },
  ],
}

// `beside` are the options of another generator that runs at the same time.
const besides = window => ({
  ...quiet,
  id: `W7/${window}`,
  title: `the same beside a topic of 1000 at full speed, window ${window}`,
  beside: { members: 1000, window, topic: 'busy', size: 300 },
  metrics: [...quiet.metrics, { key: 'beside.deliveries_per_s', label: 'deliveries/s of the busy topic' }],
})

export const fairness = [
  { ...quiet, id: 'W7/alone', title: 'a pair, 100 requests and responses/s' },
  besides(1),
  besides(32),
]
