// SPDX-License-Identifier: Apache-2.0
// What a tools/call through a room costs: participant, gateway, bridge, a tiny server on its pipes
// and back, beside the same server called directly on its pipes; and what a bridge holds at rest.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { cpuOf, family } from './processes.mjs'
import { ID_PREFIX, newDirectory, removeDirectory, residentBytes, startServer, stopServer, TOKEN_PREFIX, track } from './servers.mjs'

const run = promisify(execFile)
const WINDOWS = [1, 64]
const RESTING = [100, 300] // bridges that memory is measured with: what the first ones cost once is not counted
const PATIENCE_MS = 60_000

const median = values => [...values].sort((a, b) => a - b)[values.length >> 1]
const number = value => value === undefined ? '' : value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value < 10 ? 2 : 1)

const calls = async (build, words) => JSON.parse((await run(join(build, 'tests/bench/calls'), words.map(String))).stdout)

async function direct({ build, seconds }, window) {
  const result = await calls(build, ['--direct', join(build, 'mcp_echo'), seconds, window])

  return { ...result, server_cpu_us: result.child_cpu_us_per_call, way_cpu_us: 0 }
}

const permit = (sandbox, build) => sandbox === 'off' ? { sandbox, network: 'any' } : { sandbox, read: [build] }

async function throughRoom({ build, seconds }, window, { sandbox, isBridge }) {
  const directory = newDirectory()
  const echo = join(build, 'mcp_echo')
  const name = isBridge ? `${ID_PREFIX}-1` : 'echo'
  const settings = isBridge ? {} : { servers: { echo: { topic: 'calls', command: [echo, '--legacy'], ...permit(sandbox, build) } } }
  const gateway = await startServer('moot', { build, directory, participants: 2, settings })
  const url = `ws://127.0.0.1:${gateway.port}`
  const bridge = isBridge && track(['env', `MOOT_SERVER=${url}`, `MOOT_TOKEN=${TOKEN_PREFIX}-1`, `MOOT_DATA=${directory}/bridge`,
    join(build, 'moot'), 'bridge', 'calls', '--as', name, '--yes', '--sandbox', sandbox, '--network', 'any', '--', echo, '--legacy'],
  ['ignore', 'ignore', 'pipe'])
  const ask = (time, under) => calls(build, [url, `${TOKEN_PREFIX}-0`, 'calls', name, time, under])

  try {
    await ask(1, 1) // until it is seated, started and warm
    const roots = [gateway.pid, ...bridge ? [bridge.pid] : []]
    const before = cpuOf(roots, echo)
    const result = await ask(seconds, window)
    const after = cpuOf(roots, echo)

    return {
      ...result,
      server_cpu_us: (after.server - before.server) / 1e3 / result.calls,
      way_cpu_us: (after.others - before.others) / 1e3 / result.calls,
    }
  } finally {
    if (bridge) await stopServer({ child: bridge })
    await stopServer(gateway)
    removeDirectory(directory)
  }
}

// Servers that were started once, to learn what they offer, and have been stopped since.
async function resting(build, count) {
  const directory = newDirectory()
  const echo = join(build, 'mcp_echo')
  const one = { topic: 'calls', command: [echo, '--legacy'], sandbox: 'off', network: 'any', idle: '1s' }
  const servers = Object.fromEntries(Array.from({ length: count }, (_, i) => [`echo-${i}`, one]))
  const gateway = await startServer('moot', { build, directory, participants: 1, settings: { servers } })
  const running = () => family(gateway.pid).filter(({ words }) => words[0] === echo).length
  const until = async isTrue => {
    for (const late = performance.now() + PATIENCE_MS; !isTrue() && performance.now() < late;) await sleep(50)
  }

  try {
    if (count) await until(() => running() > 0)
    await until(() => running() === 0)
    await sleep(500)
    return residentBytes(gateway.pid)
  } finally {
    await stopServer(gateway)
    removeDirectory(directory)
  }
}

const WAYS = {
  'directly on its pipes': direct,
  'through a room, bridge in the gateway': (options, window) => throughRoom(options, window, { sandbox: 'off' }),
  'the same, in a strict sandbox': (options, window) => throughRoom(options, window, { sandbox: 'strict' }),
  'through a room, by moot bridge': (options, window) => throughRoom(options, window, { sandbox: 'off', isBridge: true }),
}
const FIGURES = ['p50_us', 'p99_us', 'calls_per_s', 'way_cpu_us', 'server_cpu_us', 'own_cpu_us_per_call', 'errors']

async function ways(options, say) {
  const rows = []

  for (const window of WINDOWS) {
    const results = Object.fromEntries(Object.keys(WAYS).map(title => [title, []]))

    for (let round = 1; round <= options.rounds; round++)
      for (const [title, measure] of Object.entries(WAYS)) {
        say(`round ${round}/${options.rounds}  ${title}, ${window} at a time`)
        try {
          results[title].push(await measure(options, window))
        } catch (error) {
          say(`  failed: ${String(error.stderr?.trim() || error.message).slice(0, 300)}`)
        }
      }
    for (const [title, all] of Object.entries(results))
      if (all.length)
        rows.push({ title, window, ...Object.fromEntries(FIGURES.map(key => [key, median(all.map(one => one[key]))])) })
  }
  return rows
}

const table = (head, rows) => [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')

const asMarkdown = ({ machine, rows, bytes_per_bridge: bytes }) => [
  `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}; ${machine.pinning}`,
  table(['tools/call', 'at a time', 'p50 µs', 'p99 µs', 'calls/s', 'CPU µs/call of gateway and bridge', 'of the server', 'of the caller', 'errors'],
    rows.map(row => [row.title, row.window, ...FIGURES.map(key => number(row[key]))])),
  `A bridge at rest holds ${number(bytes / 1024)} KiB of the gateway's memory (what ${RESTING[1]} of them in one room take more than ${RESTING[0]}, by number).`,
  '',
].join('\n\n')

export async function bridge(options, { facts, say }) {
  const rows = await ways(options, say)

  say(`${RESTING.join(' and ')} bridges at rest`)
  const [few, many] = RESTING
  const report = {
    date: new Date().toISOString(),
    machine: facts,
    rows,
    bytes_per_bridge: (await resting(options.build, many) - await resting(options.build, few)) / (many - few),
  }

  return { ...report, markdown: asMarkdown(report) }
}
