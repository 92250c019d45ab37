// SPDX-License-Identifier: Apache-2.0
// The directory by itself (tests/bench/directory.c), on SQLite and on PostgreSQL: how fast
// resources are taken in, how fast questions are answered, and what that takes of memory and
// of the disk; and how many of the first five are right, by the labelled questions of the unit
// tests. Bounded in time: what was not reached is told by the figures.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { missing, startPostgres } from '../e2e/postgres.mjs'
import { newDirectory, removeDirectory } from './servers.mjs'

const run = promisify(execFile)
const KIND_SECONDS = 60 // of questions of one kind
const CONNECTED = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
const TICKS = 100 // of /proc, a second

const number = value => value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value < 10 ? 2 : 1)
const mebibytes = bytes => number(bytes / 2 ** 20)
const table = (head, rows) => [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')

// Runs a program that tells its progress on stderr and answers with JSON.
async function ask(program, words, say) {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')

  createInterface({ input: child.stderr }).on('line', say)
  const answer = await text(child.stdout)
  const [code] = await ended
  if (code !== 0) throw new Error(`${program} ended with ${code}`)
  return JSON.parse(answer)
}

// Precision at 5 of each labelled set, as the unit tests print it.
async function precision(program) {
  const { stdout } = await run(program, { maxBuffer: 1 << 24, timeout: 300_000 })

  return [...stdout.matchAll(/^# precision at 5 of (\d+) questions of (\S+): ([\d.]+)$/gm)]
    .map(([, questions, set, value]) => ({ set, questions: Number(questions), value: Number(value) }))
}

async function engine(name, url, { build, resources, questions, scratch, fillSeconds }, { say, size, unit, serverSeconds }) {
  const directory = scratch ? join(scratch, `moot-bench-directory-${process.pid}-${name}`) : newDirectory()
  const step = async (what, ...words) => {
    const before = await serverSeconds()
    const figures = await ask(join(build, 'tests/bench/directory'), [what, directory, url, ...words.map(String)],
      line => say(`${name}, ${what}: ${line}`))

    return { ...figures, server_seconds: await serverSeconds() - before }
  }

  mkdirSync(directory, { recursive: true, mode: 0o700 })
  try {
    say(`${name}: ${resources.toLocaleString('en-US')} resources`)
    const filled = await step('fill', resources, fillSeconds)
    say(`${name}: ${questions} questions of each kind`)
    const search = await step('search', questions, KIND_SECONDS)

    return { name, filled, search, bytes: await size(directory), labels: await precision(join(build, 'tests/unit', unit)) }
  } finally {
    removeDirectory(directory)
  }
}

const sqliteSize = folder => readdirSync(folder).filter(name => name.startsWith('directory.db'))
  .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

// Of a process and of its children that have ended, as a server's connections do.
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')

  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS
}

async function postgresEngine(options, say) {
  if (missing) throw new Error(missing)
  const postgres = await startPostgres()

  try {
    return await engine('PostgreSQL', postgres.url, options, {
      say,
      unit: 'test_store_postgres_directory',
      serverSeconds: async () => {
        while (Number((await postgres.query(CONNECTED))[0][0])) await pause(100)
        await pause(500) // until they are reaped
        return cpuSeconds(postgres.child.pid)
      },
      size: async () => Number((await postgres.query("SELECT pg_total_relation_size('moot.resource')"))[0][0]),
    })
  } finally {
    await postgres.remove()
  }
}

function asMarkdown({ machine, engines }) {
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}; ${machine.pinning}`,
    table(['engine', 'resources', 'import s', 'resources/s', 'CPU s', 'CPU s of the server', 'peak RSS MiB importing', 'searching', 'bytes/resource'],
      engines.map(({ name, filled, search, bytes }) => [name, number(filled.resources), number(filled.seconds), number(filled.per_s),
        number(filled.cpu_seconds), number(filled.server_seconds), mebibytes(filled.peak_bytes), mebibytes(search.peak_bytes),
        number(bytes / filled.resources)])),
    table(['engine', 'question', 'asked', 'p50 ms', 'p99 ms', 'CPU ms', 'look-ups', 'resources looked at', 'hits', 'perhaps not the best'],
      engines.flatMap(({ name, search }) => search.kinds.map(kind => [name, kind.name, kind.questions, number(kind.p50_ms),
        number(kind.p99_ms), number(kind.cpu_ms), number(kind.finds), number(kind.loads), number(kind.hits), kind.partial]))),
    ...engines.filter(({ search }) => search.server_seconds).map(({ name, search }) =>
      `${name}: the server took ${number(search.server_seconds * 1000 / search.kinds.reduce((sum, kind) => sum + kind.questions, 0))} ms of CPU time for a question, over all kinds.`),
    table(['engine', 'labelled questions', 'of them', 'precision at 5'],
      engines.flatMap(({ name, labels }) => labels.map(({ set, questions, value }) => [name, set, questions, value.toFixed(3)]))),
    '',
  ].join('\n\n')
}

export async function directory(options, { facts, say }) {
  const engines = []

  // What one of them cannot do does not take the other's figures with it.
  for (const [name, measure] of [
    ['SQLite', () => engine('SQLite', '', options, { say, size: sqliteSize, unit: 'test_store_directory', serverSeconds: () => 0 })],
    ['PostgreSQL', () => postgresEngine(options, say)],
  ])
    try {
      engines.push(await measure())
    } catch (error) {
      say(`bench: ${name} is left out: ${error.message}`)
    }
  const report = { date: new Date().toISOString(), machine: facts, engines }

  return { ...report, markdown: asMarkdown(report) }
}
