// SPDX-License-Identifier: Apache-2.0
// What Moot must reach, as one table, and the peers that cannot be installed here: their
// published ratio of CPU time to the floor program, each in the same workload.

// ns per delivery (W2: per message, W6: µs) of the bare broadcaster that the floor program
// is, and of the peers, from one interleaved matrix of three rounds.
const published = {
  floor: { 'W1/1': 6228, 'W1/8': 1209, 'W1/32': 376, W2: 7982, W3: 315, W6: 19.4 },
  uws: { 'W1/1': 6069, 'W1/8': 1115, 'W1/32': 396, W2: 11507, W3: 1109, W6: 21.5 },
  mcpx: { 'W1/1': 16479, 'W1/8': 16176, 'W1/32': 16528, W2: 92799, W3: 16009, W6: 295 },
}

export const derived = {
  uws: { title: 'uWebSockets (published ratio)' },
  mcpx: { title: 'MCPx reference gateway (published ratio)' },
}

// The ratio of a derived peer to the floor program, or undefined.
export const publishedRatio = (peer, workload) =>
  published[peer][workload] && published[peer][workload] / published.floor[workload]

export const isCpu = label => label.startsWith('CPU')

const perWorkload = {
  'W1/1': [{ to: 'uws', max: 1.1 }, { to: 'nats', max: 0.5 }],
  'W1/8': [{ to: 'uws', max: 1.1 }, { to: 'nats', max: 0.5 }, { to: 'mcpx', max: 0.08 }],
  'W1/32': [{ to: 'uws', max: 1.1 }, { to: 'nats', max: 0.5 }],
  W2: [{ to: 'uws', max: 0.85 }, { to: 'nats', max: 0.25 }],
  W3: [{ to: 'uws', max: 0.5 }, { to: 'nats', max: 0.25 }, { to: 'mcpx', max: 0.03 }],
  W6: [{ to: 'floor', max: 1.1 }],
}

const perMetric = {
  'RSS B/connection': [{ max: 640, unit: 'B' }],
  'latency p50 µs': [{ to: 'floor', max: 1.1 }],
  'latency p99 µs': [{ to: 'floor', max: 1.3 }],
  'start ms': [{ max: 20, unit: 'ms' }],
  'idle RSS MiB': [{ max: 10, unit: 'MiB' }],
}

const barsOf = (workload, label) =>
  perMetric[label] ?? (isCpu(label) ? perWorkload[workload] ?? [] : [])

// What became of each bar in one row; `cells` maps a server to its summary. Where the peer
// was not measured there is no verdict. A bar inside the range is close.
export const judge = (workload, label, cells) => !cells.moot ? [] : barsOf(workload, label)
  .filter(({ to }) => !to || cells[to]?.median)
  .map(({ to, max, unit }) => {
    const base = to ? cells[to].median : 1
    const value = cells.moot.median / base

    return { to, max, unit, value, isMet: value <= max, isClose: cells.moot.min / base <= max }
  })
