// SPDX-License-Identifier: Apache-2.0
// What libmoot costs: a thousand participants in one process, on one loop, and in the same
// run as many bare sockets in their place, which count frames and look at nothing.
import { join } from 'node:path'
import { TOKEN_PREFIX } from './servers.mjs'

const PARTICIPANTS = 1000

async function compare({ build, port, seconds, generate }, topics) {
  const one = (...options) => generate([join(build, 'tests/bench/participants'), ...options,
    ...['127.0.0.1', port, TOKEN_PREFIX, PARTICIPANTS, topics, seconds].map(String)])
  const library = await one()
  const bare = await one('--raw')

  return {
    ...library,
    bare,
    lost: library.lost + bare.lost,
    cpu_to_bare: library.cpu_ns_per_message / bare.cpu_ns_per_message,
  }
}

const row = topics => ({
  id: `W10/${topics}`,
  group: 'W10',
  title: `${PARTICIPANTS} participants of libmoot in one process, ${topics > 1 ? `${topics} topics` : 'one topic'}`,
  participants: PARTICIPANTS,
  only: ['moot'],
  compare: options => compare(options, topics),
  metrics: [
    { key: 'cpu_ns_per_message', label: 'CPU ns/message received' },
    { key: 'bare.cpu_ns_per_message', label: 'CPU ns/message of bare sockets' },
    { key: 'cpu_to_bare', label: 'ratio of the two' },
    { key: 'messages_per_s', label: 'messages received/s' },
    { key: 'rss_per_participant', label: 'RSS B/participant' },
  ],
})

export const participants = [row(1), row(10)]
