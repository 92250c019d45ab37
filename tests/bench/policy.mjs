// SPDX-License-Identifier: Apache-2.0
// What looking into payloads and speaking two dialects cost, side by side: the same load in a
// lazy topic, in a strict one, allowed by a capability with conditions on arguments, and in a
// room where every second member speaks the dotted dialect.

const cost = { key: 'cpu_ns_per_delivery', label: 'CPU ns/delivery' }
const rate = { key: 'deliveries_per_s', label: 'deliveries/s' }

// Allows what the generator calls, by its arguments alone.
export const byArguments = '[{kind: "mcp/request:tools/call",payload: {params: {name: ech*,arguments: {text: "!rm *"}}}},mcp/response:*,chat]'

const row = (id, title, load, participants) => (way, { suffix, settings = {}, ...more }) => ({
  id: `W9/${id}-${way}`,
  group: 'W9',
  title: `${title}, ${suffix}`,
  load: { ...load, ...more },
  participants,
  only: ['moot'],
  settings,
  metrics: [cost, rate],
})

const calls = row('calls', '100 topics of 2, request and response', { topics: 100, pingpong: true, size: 300 }, 200)
const fanOut = row('fan', 'topic of 100, one publisher, window 8', { members: 100, window: 8, size: 300 }, 100)

const strict = { suffix: 'strict', settings: { defaults: { validation: 'strict' } } }
const mixed = { suffix: 'every second member dotted', mixed: true }

export const policy = [
  calls('lazy', { suffix: 'lazy' }),
  calls('strict', strict),
  calls('arguments', { suffix: 'by a capability over arguments', settings: { capabilities: () => byArguments } }),
  calls('mixed', mixed),
  fanOut('lazy', { suffix: 'lazy' }),
  fanOut('mixed', mixed),
]
