// SPDX-License-Identifier: Apache-2.0
// Very many connections at a time. A process may open only so many files, so there are as
// many gateways and as many generators as that takes, each pair with its share. All hold
// until the last one is there; then a message in every topic must reach all its members.
import { createInterface } from 'node:readline'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newDirectory, residentBytes, servers, startServer, stopServer, track } from './servers.mjs'

const PER_GATEWAY = 18_000
const SPARE_FILES = 1_000
const MEMBERS = 100 // of a topic
const PARTICIPANTS = 1_000 // of a gateway
const CONNECT_SECONDS = 600
// What a connection may take, both ends and the kernel's part of them included.
const BYTES_PER_CONNECTION = 48 * 1024

const numberIn = (file, pattern) => Number(pattern.exec(readFileSync(file, 'utf8'))?.[1])
const availableBytes = () => numberIn('/proc/meminfo', /^MemAvailable:\s+(\d+) kB/m) * 1024
const slabBytes = () => numberIn('/proc/meminfo', /^Slab:\s+(\d+) kB/m) * 1024
const openFiles = () => numberIn('/proc/self/limits', /^Max open files\s+\S+\s+(\d+)/m) || Infinity
const sockets = () => numberIn('/proc/net/sockstat', /^TCP: inuse (\d+)/m)

// How many connections each pair opens; all differ by one at most.
export function shares(total, perGateway) {
  const count = Math.ceil(total / perGateway)

  return Array.from({ length: count }, (_, i) => Math.floor((total + i) / count))
}

// Four addresses for each generator, which no other one uses.
const sourcesOf = index => `127.1.${index}.1-127.1.${index}.4`

function startGenerator({ build, server, index, connections }) {
  const child = track([
    join(build, 'moot'), 'bench', '--json', '--url', `ws://127.0.0.1:${server.port}/ws`,
    '--pid', String(server.pid), '--idle', String(connections), '--members', String(MEMBERS),
    '--participants', String(PARTICIPANTS), '--from', sourcesOf(index), '--hold', '--probe', '--phases',
    '--connect-seconds', String(CONNECT_SECONDS), ...servers.moot.options,
  ], ['pipe', 'pipe', 'pipe'])
  const lines = createInterface({ input: child.stderr })
  const said = []
  const out = []
  const ended = once(child, 'close')

  child.stdin.on('error', () => {}) // a generator that has ended is seen by its answer
  child.stdout.on('data', part => out.push(part))
  lines.on('line', line => said.push(line))
  const holding = new Promise((resolve, reject) => {
    lines.on('line', line => line === 'holding' && resolve())
    ended.then(() => reject(new Error(`generator ${index}: ${said.at(-1)}`)))
  })

  holding.catch(() => {})
  return {
    holding,
    async finish() {
      child.stdin.end()
      await ended
      if (child.exitCode !== 0) throw new Error(`generator ${index}: ${said.at(-1)}`)
      return JSON.parse(Buffer.concat(out))
    },
  }
}

async function startGateways(build, count) {
  const started = []

  for (let i = 0; i < count; i++)
    started.push(await startServer('moot', { build, directory: newDirectory(), participants: PARTICIPANTS }))
  return started
}

const FAULTS = ['lost', 'duplicates', 'disorder', 'strays', 'errors', 'closed']
const sum = values => values.reduce((a, b) => a + b, 0)

function rowOf(result) {
  return {
    connections: result.connections,
    connecting: result.connecting,
    bytes: result.rss_per_connection,
    probed: result.deliveries,
    faults: sum(FAULTS.map(fault => result[fault])),
  }
}

// The table as rows of cells; the last one is the whole.
function table(rows, seconds) {
  const cells = (name, { connections, connecting, bytes, probed, faults }) => [name, connections,
    connecting.toFixed(1), Math.round(connections / connecting), Math.round(bytes), probed, faults].map(String)
  const connections = sum(rows.map(row => row.connections))

  return [
    ['gateway', 'connections', 'connecting s', 'connections/s', 'RSS B/connection', 'reached by a message', 'faults'],
    ...rows.map((row, i) => cells(String(i + 1), row)),
    cells('all', {
      connections,
      connecting: seconds,
      bytes: sum(rows.map(row => row.bytes * row.connections)) / connections,
      probed: sum(rows.map(row => row.probed)),
      faults: sum(rows.map(row => row.faults)),
    }),
  ]
}

const markdownRow = cells => `| ${cells.join(' | ')} |`
const mib = bytes => `${Math.round(bytes / 2 ** 20)} MiB`

function asMarkdown({ rows, seconds, memory, sockets: count, facts }) {
  const [head, ...lines] = table(rows, seconds)
  const missed = sum(rows.map(row => row.connections - row.probed))

  return [
    `${facts.cpu}, ${facts.cores} cores, ${facts.kernel}; loopback, topics of ${MEMBERS}, ` +
      `${rows.length} gateways with one worker each, ${count} sockets at the same time; ` +
      `load average before: ${facts.load_average.toFixed(2)}.`,
    '',
    markdownRow(head), markdownRow(head.map((_, i) => i ? '---:' : '---')), ...lines.map(markdownRow),
    '',
    `Memory while all hold: gateways ${mib(memory.gateways)}, kernel slabs ${mib(memory.slab)} more than before, ` +
      `available ${mib(memory.taken)} less than before (generators and both ends of every socket included).`,
    missed ? `${missed} members were not reached.` : 'Everybody was welcomed and reached.',
    '',
  ].join('\n')
}

// Opens `total` connections. The answer is { rows, …, markdown }.
export async function many(total, { build, facts, say, perGateway = PER_GATEWAY }) {
  const each = shares(total, Math.min(perGateway, openFiles() - SPARE_FILES))
  const available = availableBytes()
  const slab = slabBytes()

  if (available < total * BYTES_PER_CONNECTION)
    throw new Error(`${total} connections want ${mib(total * BYTES_PER_CONNECTION)} of memory; ${mib(available)} are available`)
  say(`starting ${each.length} gateways`)
  const gateways = await startGateways(build, each.length)

  try {
    say(`connecting ${total}`)
    const began = performance.now()
    const generators = gateways.map((server, i) => startGenerator({ build, server, index: i + 1, connections: each[i] }))
    await Promise.all(generators.map(generator => generator.holding))
    const seconds = (performance.now() - began) / 1000
    const memory = {
      gateways: sum(gateways.map(({ pid }) => residentBytes(pid))),
      slab: slabBytes() - slab,
      taken: available - availableBytes(),
    }
    const open = sockets()
    say(`holding ${total}; a message in every topic`)
    const results = await Promise.all(generators.map(generator => generator.finish()))
    const report = { rows: results.map(rowOf), seconds, memory, sockets: open, facts, results }

    return { ...report, markdown: asMarkdown(report) }
  } finally {
    await Promise.all(gateways.map(stopServer))
  }
}
