// SPDX-License-Identifier: Apache-2.0
// The generator of tools/calls, directly and through a room: all are answered, and something is told
// of each figure.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { newDirectory, ROOT, startServer, stopServer, TOKEN_PREFIX } from './servers.mjs'

const run = promisify(execFile)
const build = dirname(process.env.MOOT ?? join(ROOT, 'build/moot'))
const echo = join(build, 'mcp_echo')
const calls = async (...words) => JSON.parse((await run(join(build, 'tests/bench/calls'), words.map(String), { timeout: 60_000 })).stdout)

function check(result) {
  assert.equal(result.errors, 0)
  assert.ok(result.calls > 0 && result.p50_us > 0 && result.p99_us >= result.p50_us && result.own_cpu_us_per_call > 0)
}

test('calls directly on the pipes of a server', async () => {
  for (const window of [1, 64]) check(await calls('--direct', echo, 1, window))
})

test('calls through a room', async () => {
  const settings = { servers: { echo: { topic: 'calls', command: [echo, '--legacy'], sandbox: 'off', network: 'any' } } }
  const server = await startServer('moot', { build, directory: newDirectory(), participants: 1, settings })

  try {
    for (const window of [1, 64])
      check(await calls(`ws://127.0.0.1:${server.port}`, `${TOKEN_PREFIX}-0`, 'calls', 'echo', 1, window))
  } finally {
    await stopServer(server)
  }
})
