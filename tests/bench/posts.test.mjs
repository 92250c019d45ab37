// SPDX-License-Identifier: Apache-2.0
// The MCP client that makes load: calls in both eras are all answered, and sessions are held, with
// streams and without.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { newDirectory, ROOT, startServer, stopServer, TOKEN_PREFIX } from './servers.mjs'

const run = promisify(execFile)
const build = dirname(process.env.MOOT ?? join(ROOT, 'build/moot'))
const servers = { echo: { topic: 'calls', command: [join(build, 'mcp_echo'), '--legacy'], sandbox: 'off', network: 'any' } }
let server

before(async () => {
  server = await startServer('moot', { build, directory: newDirectory(), participants: 1, settings: { servers } })
})
after(() => stopServer(server))

async function posts(token, ...words) {
  const asked = run(join(build, 'tests/bench/posts'), [server.port, '/mcp/calls', token, ...words].map(String), { timeout: 60_000 })

  asked.child.stdin.end() // those that hold need not
  return JSON.parse((await asked).stdout)
}

const token = `${TOKEN_PREFIX}-0`

for (const era of ['legacy', 'modern'])
  test(`so many calls of the ${era} era`, async () => {
    for (const window of [1, 64]) {
      const result = await posts(token, era, 'count', 200, window)

      assert.equal(result.errors, 0)
      assert.equal(result.calls, 200)
      assert.ok(result.p50_us > 0 && result.p99_us >= result.p50_us && result.own_cpu_us_per_call > 0)
    }
  })

test('calls for so many seconds', async () => {
  assert.ok((await posts(token, 'legacy', 'calls', 1, 4)).calls > 0)
})

test('sessions are held', async () => {
  for (const streams of [0, 1]) {
    const { calls, errors } = await posts(token, 'legacy', 'hold', 20, streams)

    assert.deepEqual({ calls, errors }, { calls: 20, errors: 0 })
  }
})

test('who is refused is told so', async () => {
  await assert.rejects(posts('nobody', 'legacy', 'count', 1, 1), ({ stderr }) => /^posts: HTTP\/1\.1 401 /.test(stderr))
})
