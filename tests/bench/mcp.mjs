// SPDX-License-Identifier: Apache-2.0
// What a tools/call of an MCP client costs at the door of a room: HTTP, rights, the room, the bridge, a
// tiny server on its pipes and back. In the same rounds stand programs that do nothing but pass it on.
// And what sessions hold: many of them, with streams and without.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { cpuOf, family } from './processes.mjs'
import { newDirectory, removeDirectory, residentBytes, ROOT, servers, startServer, stopServer, TOKEN_PREFIX, track } from './servers.mjs'

const run = promisify(execFile)
const WINDOWS = [1, 64]
const ERAS = ['legacy', 'modern']
const WARM_UP = 200
const WARM_SESSIONS = 100
const PEER_SESSIONS = 100 // some start a process for each
const PATIENCE_MS = 60_000
const PEERS = join(ROOT, 'tests/bench/peers')

const echoOf = build => join(build, 'mcp_echo')
const median = values => [...values].sort((a, b) => a - b)[values.length >> 1]
const number = value => value === undefined ? '' : value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value < 10 ? 2 : 1)

const bridged = (build, more) => ({
  servers: { echo: { topic: 'calls', command: [echoOf(build), '--legacy'], sandbox: 'off', network: 'any', ...more } },
})
const ofPackage = (file, list) => ({ build, port }) => [process.execPath, join(PEERS, file), ...list(port, echoOf(build)).map(String)]
const peer = (title, file, list, more) => ({ title, server: { command: ofPackage(file, list) }, path: '/mcp', token: '-', needs: join(PEERS, file), ...more })
const moot = (title, defaults) => ({
  title, server: servers.moot, path: '/mcp/calls', token: `${TOKEN_PREFIX}-0`,
  settings: build => ({ ...bridged(build), defaults }),
})

// Who stands between the client and the server. `eras`: those that it can speak.
const WAYS = [
  moot('Moot, no record', { audit: 'off' }),
  moot('Moot, recorded as by default', { audit: 'async' }),
  peer('SDK 2.4.0, 30 lines', 'sdk_proxy.mjs', (port, echo) => [port, echo, '--legacy']),
  peer('mcp-proxy 6.7.19', 'node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs',
    (port, echo) => ['--host', '127.0.0.1', '--port', port, '--server', 'stream', '--', echo, '--legacy']),
  peer('supergateway 4.0.0', 'node_modules/supergateway/dist/index.js',
    (port, echo) => ['--stdio', `${echo} --legacy`, '--outputTransport', 'streamableHttp', '--stateful', '--port', port, '--logLevel', 'none'],
    { eras: ['legacy'] }),
]

const startWay = ({ server, settings }, build) =>
  startServer(server === servers.moot ? 'moot' : server, { build, directory: newDirectory(), participants: 1, settings: settings?.(build) })

const words = (way, { port }, ...more) => [port, way.path, way.token, ...more].map(String)
const posts = async (build, list) => JSON.parse((await run(join(build, 'tests/bench/posts'), list, { timeout: PATIENCE_MS })).stdout)

// --- calls ---

const loadsOf = ({ eras = ERAS }) => eras.flatMap(era => WINDOWS.map(window => ({ era, window })))

async function load(way, server, { build, seconds }, { era, window }) {
  await posts(build, words(way, server, era, 'count', WARM_UP, window))
  const before = cpuOf([server.pid], echoOf(build))
  const result = await posts(build, words(way, server, era, 'calls', seconds, window))
  const after = cpuOf([server.pid], echoOf(build))

  return {
    ...result,
    way_cpu_us: (after.others - before.others) / 1e3 / result.calls,
    server_cpu_us: (after.server - before.server) / 1e3 / result.calls,
  }
}

const FIGURES = ['way_cpu_us', 'server_cpu_us', 'own_cpu_us_per_call', 'calls_per_s', 'p50_us', 'p99_us', 'errors']

async function calls(options, say) {
  const results = new Map()
  const add = (way, { era, window }, result) => {
    const key = `${era} ${window} ${way.title}`

    results.set(key, { era, window, title: way.title, all: [...results.get(key)?.all ?? [], result] })
  }
  const measure = async way => {
    const server = await startWay(way, options.build)

    try {
      for (const one of loadsOf(way)) add(way, one, await load(way, server, options, one))
    } finally {
      await stopServer(server)
    }
  }

  for (let round = 1; round <= options.rounds; round++)
    for (const way of WAYS.filter(isThere)) {
      say(`round ${round}/${options.rounds}  ${way.title}`)
      await measure(way).catch(error => say(`  failed: ${String(error.stderr?.trim() || error.message).slice(0, 300)}`))
    }
  return ERAS.flatMap(era => WINDOWS.flatMap(window => [...results.values()].filter(one => one.era === era && one.window === window)))
    .map(({ all, ...row }) => ({ ...row, ...Object.fromEntries(FIGURES.map(key => [key, median(all.map(one => one[key]))])) }))
}

const isThere = ({ needs }) => !needs || existsSync(needs)

// --- sessions ---

// Begins sessions and keeps them until `finish`.
async function hold(way, server, build, sessions, streams) {
  const child = track([join(build, 'tests/bench/posts'), ...words(way, server, 'legacy', 'hold', sessions, streams)], ['pipe', 'pipe', 'pipe'])
  const ended = once(child, 'close')
  const said = []
  const out = []

  child.stdout.on('data', part => out.push(part))
  await new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', line => line === 'holding' ? resolve() : said.push(line))
    ended.then(() => reject(new Error(said.join(' ').slice(0, 300))))
  })
  return async () => {
    child.stdin.end()
    await ended
    return JSON.parse(Buffer.concat(out))
  }
}

// The first ones pay for what is made once.
async function sessionsOf(way, build, sessions, streams) {
  const server = await startWay(way, build)

  try {
    await (await hold(way, server, build, Math.min(WARM_SESSIONS, sessions), streams))()
    await sleep(500)
    const before = residentBytes(server.pid)
    const finish = await hold(way, server, build, sessions, streams)
    const bytes = residentBytes(server.pid) - before
    const { p50_us, errors } = await finish()

    return { title: way.title, sessions, streams, bytes_per_session: bytes / sessions, p50_us, errors }
  } finally {
    await stopServer(server)
  }
}

async function sessions({ build, connections }, say) {
  const rows = []

  for (const way of WAYS.filter(isThere).filter(({ title }) => !/by default/.test(title)))
    for (const streams of [0, 1]) {
      const many = way.server === servers.moot ? connections : PEER_SESSIONS

      say(`${many} sessions of ${way.title}, with ${streams ? 'a' : 'no'} stream each`)
      try {
        rows.push(await sessionsOf(way, build, many, streams))
      } catch (error) {
        say(`  failed: ${error.message.slice(0, 300)}`)
      }
    }
  return rows
}

// The door is open, somebody has called, and the bridged server has been stopped since. The data directory
// was made by a start before.
async function idle(build) {
  const directory = newDirectory()
  const begin = () => startServer('moot', { build, directory, participants: 1, settings: bridged(build, { idle: '1s' }) })
  const isRunning = ({ pid }) => family(pid).some(({ words: [program] }) => program === echoOf(build))

  await stopServer(await begin())
  const gateway = await begin()

  try {
    await posts(build, words(WAYS[0], gateway, 'legacy', 'count', 1, 1))
    for (const late = performance.now() + PATIENCE_MS; isRunning(gateway) && performance.now() < late;) await sleep(50)
    await sleep(500)
    return { resident: residentBytes(gateway.pid), anonymous: residentBytes(gateway.pid, 'Anonymous') }
  } finally {
    await stopServer(gateway)
    removeDirectory(directory)
  }
}

// --- the report ---

const table = (head, rows) => [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')

const mib = bytes => number(bytes / 2 ** 20)

const asMarkdown = ({ machine, rows, held, idle_bytes: { resident, anonymous } }) => [
  `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}; ${machine.pinning}; load average before: ${machine.load_average.toFixed(2)}`,
  table(['era', 'at a time', 'tools/call over HTTP by way of', 'CPU µs/call of it', 'of the server', 'of the client', 'calls/s', 'p50 µs', 'p99 µs', 'errors'],
    rows.map(row => [row.era, row.window, row.title, ...FIGURES.map(key => number(row[key]))])),
  table(['sessions of', 'how many', 'streams', 'KiB each', 'p50 µs to begin one'],
    held.map(row => [row.title, row.sessions, row.streams ? 'one each' : 'none', number(row.bytes_per_session / 1024), number(row.p50_us)])),
  `Moot with its door open and a bridged server at rest: ${mib(resident)} MiB, of which ${mib(anonymous)} MiB are its own and the rest pages of programs and libraries.`,
  '',
].join('\n\n')

export async function mcp(options, { facts, say }) {
  const report = {
    date: new Date().toISOString(),
    machine: facts,
    idle_bytes: await idle(options.build),
    held: await sessions(options, say),
    rows: await calls(options, say),
  }

  return { ...report, markdown: asMarkdown(report) }
}
