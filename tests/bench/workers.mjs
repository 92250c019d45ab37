// SPDX-License-Identifier: Apache-2.0
// One worker against two, with the same load in many topics. Nothing is pinned: two workers
// want both cores, and the generator needs its part of them as well, so its CPU stands beside.

const run = (id, title, load, workers) => ({
  id: `W8/${id}-${workers}`,
  group: 'W8',
  title: `${title}, ${workers} worker${workers > 1 ? 's' : ''}`,
  load: { size: 300, ...load },
  participants: 1000,
  only: ['moot'],
  isFree: true,
  settings: { workers },
  metrics: [
    { key: 'deliveries_per_s', label: 'deliveries/s' },
    { key: 'cpu_ns_per_delivery', label: 'CPU ns/delivery' },
    { key: 'cpu_share', label: 'cores of the server' },
    { key: 'own_cpu_ns_per_delivery', label: 'generator ns/delivery' },
    { key: 'own_cpu_share', label: 'cores of the generator' },
  ],
})

// A load that is mostly the server's, and one in which every message is small change.
const loads = [
  ['fan-out', '100 topics of 10, window 8', { topics: 100, members: 10, window: 8 }],
  ['calls', '500 topics of 2, request and response', { topics: 500, pingpong: true }],
]

export const workers = loads.flatMap(([id, title, load]) => [1, 2].map(count => run(id, title, load, count)))
