// SPDX-License-Identifier: Apache-2.0
// Many participants of libmoot on one loop: all are welcomed, all hear what is said, and none
// of it is taken for an offence; the bare sockets beside them count the same sort of thing.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { newDirectory, ROOT, startServer, stopServer, TOKEN_PREFIX } from './servers.mjs'

const run = promisify(execFile)
const build = dirname(process.env.MOOT ?? join(ROOT, 'build/moot'))
const PARTICIPANTS = 200

test(`participants: ${PARTICIPANTS} in one process, on one loop`, async () => {
  const server = await startServer('moot', { build, directory: newDirectory(), participants: PARTICIPANTS })
  const measure = async (topics, ...options) => {
    const { stdout } = await run(join(build, 'tests/bench/participants'),
      [...options, '127.0.0.1', server.port, TOKEN_PREFIX, PARTICIPANTS, topics, 1].map(String), { timeout: 60_000 })
    return JSON.parse(stdout)
  }

  try {
    for (const [topics, ...options] of [[1], [4], [4, '--raw']]) {
      const result = await measure(topics, ...options)

      assert.deepEqual([result.participants, result.topics, result.lost, result.errors], [PARTICIPANTS, topics, 0, 0])
      assert.ok(result.messages >= PARTICIPANTS - topics, 'everybody hears something')
      assert.ok(result.cpu_ns_per_message > 0 && result.rss_per_participant > 0)
    }
  } finally {
    await stopServer(server)
  }
})
