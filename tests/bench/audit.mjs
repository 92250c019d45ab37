// SPDX-License-Identifier: Apache-2.0
// What the record costs, and what it does: a room with audit off, async and required, round by
// round, so that each meets the same machine; and the record by itself, on SQLite and on
// PostgreSQL, beside what the disk could do at best.
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { missing, startPostgres } from '../e2e/postgres.mjs'
import { newDirectory, removeDirectory, servers, startServer, stopServer } from './servers.mjs'

const run = promisify(execFile)
const MODES = ['off', 'async', 'required']
const LOADS = {
  'one sender, 8 receivers, window 8': { load: { members: 9, window: 8, size: 300 }, participants: 9 },
  'one sender, 50 receivers, window 8': { load: { members: 51, window: 8, size: 300 }, participants: 51 },
  'one sender, 50 receivers, window 256': { load: { members: 51, window: 256, size: 300 }, participants: 51 },
  '100 topics of 2, request and response': { load: { topics: 100, pingpong: true, size: 300 }, participants: 200 },
  'one topic of 2, window 1024': { load: { members: 2, window: 1024, size: 300 }, participants: 2 },
}

const median = values => [...values].sort((a, b) => a - b)[values.length >> 1]
const number = value => value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value < 10 ? 2 : 1)

// Records that found the queue full: an async room is not slowed by the disk, and says so.
async function dropped(port) {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  const [, count] = /^moot_audit_dropped_total (\d+)$/m.exec(await response.text()) ?? []

  return Number(count)
}

// Once through a room: what a message costs, and how many there were.
async function measureRoom(mode, { load, participants }, { build, seconds }) {
  const directory = newDirectory()

  try {
    const server = await startServer('moot', {
      build, directory, participants, settings: { defaults: { audit: mode } },
    })

    try {
      const { stdout } = await run(join(build, 'moot'), [
        'bench', '--json', '--url', `ws://127.0.0.1:${server.port}/ws`, '--pid', String(server.pid),
        ...servers.moot.options, ...Object.entries(load).flatMap(([name, value]) =>
          value === true ? [`--${name}`] : [`--${name}`, String(value)]),
        '--seconds', String(seconds),
      ], { timeout: 120_000 })
      return { ...JSON.parse(stdout), dropped: await dropped(server.port) }
    } finally {
      await stopServer(server)
    }
  } finally {
    removeDirectory(directory)
  }
}

// Nothing is pinned: the writer has a thread of its own, and takes what core is free. CPU time
// is that of the whole process, so it tells what a record costs wherever it is written.
async function rooms(options, say) {
  const rows = []

  for (const [title, workload] of Object.entries(LOADS)) {
    const results = Object.fromEntries(MODES.map(mode => [mode, []]))

    for (let round = 1; round <= options.rounds; round++)
      for (const mode of MODES) {
        say(`round ${round}/${options.rounds}  ${mode}  ${title}`)
        results[mode].push(await measureRoom(mode, workload, options))
      }
    for (const mode of MODES) {
      const of = key => median(results[mode].map(result => result[key]))
      const off = key => median(results.off.map(result => result[key]))

      rows.push({
        title, mode,
        deliveries_per_s: of('deliveries_per_s'),
        published_per_s: of('published_per_s'),
        cpu_ns_per_delivery: of('cpu_ns_per_delivery'),
        throughput_ratio: of('deliveries_per_s') / off('deliveries_per_s'),
        dropped: of('dropped'),
        cpu_ratio: of('cpu_ns_per_delivery') / off('cpu_ns_per_delivery'),
      })
    }
  }
  return rows
}

const bytesIn = (folder, pattern) => readdirSync(folder).filter(name => pattern.test(name))
  .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

// One engine: written, found, verified; how much of the disk it takes.
async function engine(name, url, { build, records, questions, fillSeconds, scratch }, { say, size }) {
  const directory = scratch ? join(scratch, `moot-bench-record-${process.pid}-${name}`) : newDirectory()
  const ask = async (...words) => JSON.parse((await run(join(build, 'tests/bench/record'), words,
    { timeout: 3_600_000, maxBuffer: 1 << 24 })).stdout)

  mkdirSync(directory, { recursive: true, mode: 0o700 })
  try {
    say(`${name}: up to ${records.toLocaleString('en-US')} records, at most ${fillSeconds} s`)
    const filled = await ask('fill', directory, url, String(records), String(fillSeconds))
    say(`${name}: search`)
    const search = await ask('search', directory, url, String(questions))
    say(`${name}: verify`)
    const verify = await ask('verify', directory, url)
    const bytes = await size(directory)

    return {
      name, filled, search, verify,
      bytes_per_record: bytes.record / search.records,
      index_bytes_per_record: bytes.index / search.records,
      verify_s_per_gib: verify.seconds / (bytes.record / 2 ** 30),
    }
  } finally {
    removeDirectory(directory)
  }
}

const sqliteSize = folder => ({ record: bytesIn(folder, /^audit\.db/), index: bytesIn(folder, /^search\.db/) })

const postgresSize = postgres => async () => {
  const [[all, indexes]] = await postgres.query(`SELECT sum(pg_table_size(c.oid)), sum(pg_indexes_size(c.oid))
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'moot' AND c.relkind = 'r'`)
  return { record: Number(all), index: Number(indexes) }
}

async function postgresEngine(options, say) {
  if (missing) throw new Error(missing)
  const postgres = await startPostgres()

  try {
    return await engine('PostgreSQL', postgres.url, options, { say, size: postgresSize(postgres) })
  } finally {
    await postgres.remove()
  }
}

// What one of them cannot do does not take the others' figures with it.
async function engines(options, say) {
  const found = []

  for (const [name, measure] of [
    ['SQLite', () => engine('SQLite', '', options, { say, size: sqliteSize })],
    ['PostgreSQL', () => postgresEngine(options, say)],
  ])
    try {
      found.push(await measure())
    } catch (error) {
      say(`bench: ${name} is left out: ${error.message}`)
    }
  return found
}

// What one commit costs at best: so many bytes appended and made durable, again and again.
async function bare({ build, scratch }, say) {
  const directory = scratch ?? newDirectory()
  const rows = []

  mkdirSync(directory, { recursive: true })
  for (const bytes of [512, 4096, 65536, 1 << 20]) {
    say(`bare write and fdatasync of ${bytes} bytes`)
    const { stdout } = await run(join(build, 'tests/bench/record'), ['disk', directory, String(bytes), '2'])
    rows.push({ bytes, ...JSON.parse(stdout) })
  }
  if (!scratch) removeDirectory(directory)
  return rows
}

const table = (head, rows) => [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')

function asMarkdown({ machine, rooms: inRooms, engines: found, bare: loops }) {
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}; ${machine.pinning}`,
    table(['load', 'audit', 'deliveries/s', 'envelopes/s', 'CPU ns/delivery', 'throughput to off', 'CPU to off', 'records dropped'],
      inRooms.map(row => [row.title, row.mode, number(row.deliveries_per_s), number(row.published_per_s),
        number(row.cpu_ns_per_delivery), number(row.throughput_ratio), number(row.cpu_ratio), row.dropped.toLocaleString('en-US')])),
    table(['engine', 'records', 'records/s', 'commits', 'index s', 'bytes/record', 'index bytes/record', 'verify records/s', 'verify s/GiB'],
      found.map(({ name, filled, search, verify, ...sizes }) => [name, number(search.records), number(filled.records_per_s),
        number(filled.commits), number(filled.index_seconds), number(sizes.bytes_per_record),
        number(sizes.index_bytes_per_record), number(verify.records_per_s), number(sizes.verify_s_per_gib)])),
    table(['engine', 'question', 'p50 ms', 'p99 ms', 'records found'],
      found.flatMap(({ name, search }) => search.questions.map(({ question, p50_ms: p50, p99_ms: p99, found: hits }) =>
        [name, question, number(p50), number(p99), number(hits)]))),
    table(['bare write + fdatasync of', 'per second', 'MiB/s'],
      loops.map(({ bytes, writes_per_s: writes, mib_per_s: mib }) => [`${bytes} bytes`, number(writes), number(mib)])),
    '',
  ].join('\n\n')
}

export async function audit(options, { facts, say }) {
  const report = {
    date: new Date().toISOString(),
    machine: facts,
    bare: await bare(options, say),
    rooms: await rooms(options, say),
    engines: await engines(options, say),
  }

  return { ...report, markdown: asMarkdown(report) }
}
