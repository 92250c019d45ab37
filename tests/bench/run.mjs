// SPDX-License-Identifier: Apache-2.0
// The benchmark: each workload against each server, in interleaved rounds, so that a
// change of the machine's mood meets all of them. It prints numbers and never judges.
import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { growth } from './growth.mjs'
import { many } from './many.mjs'
import { asSvg, panelsOf } from './plot.mjs'
import { asMarkdown, asText, machine, summarize, titleOf } from './report.mjs'
import {
  cores, fits, isBuilt, makeCertificate, newDirectory, pinned, removeDirectory, residentBytes, ROOT,
  servers, StartError, startServer, stopServer,
} from './servers.mjs'
import { start, workloads } from './workloads.mjs'

const HELP = `usage: node tests/bench/run.mjs [options]

  --servers LIST      of moot, node, floor, lws, nats, redis, mosquitto (all)
  --only LIST         of W1 W2 W3 W4 W5 W6 TLS start, of the tables below, or single rows
                      such as W1/8 (all but the tables below)
  --growth            instead: how cost grows (G1 members, G2 topics, G3 joins, G4 presence)
  --rounds N          how often each workload is run (3)
  --seconds N         how long each run is measured (2)
  --topics N          topics of the request/response workload W2 (100)
  --connections N     idle connections of W4 (10000)
  --starts N          starts that the median start time is taken of (10)
  --quick             one round of one second, 2000 idle connections, 3 starts
  --many N            instead: N connections at a time, over as many gateways and generators
                      as the limit on open files asks for
  --build DIR         where the programs are (build)
  --json FILE         write all results
  --markdown FILE     write the table
  --svg FILE          draw cost by members and by topics, of --growth
`
const TIMEOUT = 600_000
const run = promisify(execFile)
const say = text => process.stderr.write(`${text}\n`)

function fail(message) {
  say(`bench: ${message}`)
  process.exit(1)
}

const list = text => text.split(',').map(item => item.trim()).filter(Boolean)

function count(name, text) {
  if (!/^[1-9]\d{0,6}$/.test(text)) fail(`--${name} wants a number, not ${text}`)
  return Number(text)
}

function parseOptions() {
  const text = { type: 'string' }
  const flag = { type: 'boolean' }
  const { values } = parseArgs({
    options: {
      servers: text, only: text, rounds: text, seconds: text, topics: text, connections: text,
      starts: text, build: text, json: text, markdown: text, svg: text,
      many: text, growth: flag, quick: flag, help: flag,
    },
  })
  const preset = values.quick
    ? { rounds: '1', seconds: '1', topics: '100', connections: '2000', starts: '3' }
    : { rounds: '3', seconds: '2', topics: '100', connections: '10000', starts: '10' }
  const numbers = Object.entries(preset)
    .map(([name, value]) => [name, count(name, values[name] ?? value)])

  return {
    ...Object.fromEntries(numbers),
    servers: list(values.servers ?? Object.keys(servers).join(',')),
    only: values.only ? list(values.only.toUpperCase()) : null,
    build: resolve(ROOT, values.build ?? 'build'),
    json: values.json,
    markdown: values.markdown,
    svg: values.svg,
    growth: values.growth,
    many: values.many ? count('many', values.many) : 0,
    help: values.help,
  }
}

function chosenServers({ servers: names, build }) {
  const unknown = names.find(name => !servers[name])

  if (unknown) fail(`unknown server ${unknown}`)
  for (const name of names)
    if (!isBuilt(name, build))
      say(`bench: ${servers[name].title} is left out: ${servers[name].program(build)} is missing`)
  return names.filter(name => isBuilt(name, build))
}

function chosenWorkloads(options) {
  const wanted = ({ id, group }) => !options.only || options.only.includes(group) ||
    options.only.includes(id.toUpperCase())
  const standard = [...workloads(options), start]
  const chosen = (options.only ? [...standard, ...growth] : options.growth ? growth : standard).filter(wanted)

  if (!chosen.length) fail(`--only ${options.only} names no workload`)
  return chosen
}

const loadOptions = fields => Object.entries(fields)
  .flatMap(([name, value]) => value === true ? [`--${name}`] : [`--${name}`, String(value)])

// --protocol names what is spoken there; WebSocket has a path.
const urlOf = (name, port, { tls }) => servers[name].options.includes('--protocol')
  ? `127.0.0.1:${port}` : `${tls ? 'wss' : 'ws'}://127.0.0.1:${port}/ws`

// One run: a fresh server, the generator, one answer.
async function measure(workload, name, { build, seconds, pinning }) {
  const directory = newDirectory()

  try {
    const settings = { ...workload.settings, ...workload.isSecure && { tls: makeCertificate(directory) } }
    const server = await startServer(name, {
      build, directory, core: pinning?.server, participants: workload.participants, settings,
    })
    await workload.prepare?.(server)
    const command = pinned(pinning?.load, [
      join(build, 'moot'), 'bench', '--json', '--url', urlOf(name, server.port, settings),
      '--pid', String(server.pid), '--seconds', String(workload.seconds ?? seconds),
      ...servers[name].options, ...loadOptions(workload.load),
      ...settings.tls ? ['--cacert', settings.tls.certificate] : [],
    ])

    try {
      const { stdout, stderr } = await run(command[0], command.slice(1), { timeout: TIMEOUT })
      if (stderr) say(`  ${stderr.trim().slice(0, 300)}`)
      return JSON.parse(stdout)
    } finally {
      await stopServer(server)
    }
  } finally {
    removeDirectory(directory)
  }
}

// Starts again and again over the same data directory; the first start, which makes it,
// does not count. Attempts to connect follow each other without a pause.
async function measureStart(workload, name, { build, starts }) {
  const directory = newDirectory()
  const pause = () => new Promise(done => setImmediate(done))
  const times = []
  let idle

  try {
    for (let i = 0; i <= starts; i++) {
      const server = await startServer(name, { build, directory, participants: workload.participants, pause })
      if (i > 0) times.push(server.startMs)
      if (i === starts) {
        await sleep(300)
        idle = residentBytes(server.pid) / 2 ** 20
      }
      await stopServer(server)
    }
  } finally {
    removeDirectory(directory)
  }
  return times.map((time, i) => ({ start_ms: time, ...(i === 0 && { idle_mib: idle }) }))
}

const runs = async (workload, name, options) => workload === start
  ? measureStart(workload, name, options)
  : [await measure(workload, name, options)]

function explain(error) {
  return String(error.stderr?.trim() || error.message).split('\n')[0].slice(0, 300)
}

// A server that cannot be started is not tried again.
async function runAll(chosen, names, options) {
  const results = new Map(chosen.map(workload =>
    [workload, Object.fromEntries(names.map(name => [name, []]))]))
  const failures = []
  const absent = new Set()
  const attempt = async (workload, name) => {
    try {
      results.get(workload)[name].push(...await runs(workload, name, options))
    } catch (error) {
      if (error instanceof StartError) absent.add(name)
      failures.push({ workload: workload.id, server: name, message: explain(error) })
      say(`  ${servers[name].title} ${absent.has(name) ? 'is left out' : 'failed'}: ${explain(error)}`)
    }
  }

  for (let round = 1; round <= options.rounds; round++)
    for (const workload of chosen) {
      if (round > 1 && (workload.once || workload === start)) continue
      say(`round ${round}/${options.rounds}  ${workload.id}  ${workload.title}`)
      for (const name of names)
        if (fits(name, workload) && !absent.has(name)) await attempt(workload, name)
    }
  return { results, failures }
}

async function runMany(options) {
  const { markdown, ...report } = await many(options.many, { build: options.build, facts: machine(null, []), say })

  process.stdout.write(markdown)
  if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
  if (options.markdown) writeFileSync(options.markdown, markdown)
}

async function main() {
  const options = parseOptions()

  if (options.help) return process.stdout.write(HELP)
  if (!existsSync(join(options.build, 'moot')))
    fail(`${join(options.build, 'moot')}, the load generator, is missing; build first`)
  if (options.many) return runMany(options)
  const names = chosenServers(options)
  if (!names.length) fail('there is no server to measure')
  const pinning = cores()
  const facts = machine(pinning, names)
  const chosen = chosenWorkloads(options)
  const { results, failures } = await runAll(chosen, names, { ...options, pinning })
  const { rounds, seconds, topics, connections, starts } = options
  const report = summarize(results, failures, facts,
    { servers: names, rounds, seconds, topics, connections, starts })

  process.stdout.write(asText(report))
  if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
  if (options.markdown) writeFileSync(options.markdown, asMarkdown(report))
  if (options.svg) writeFileSync(options.svg, asSvg(panelsOf(chosen, report.rows, titleOf)))
}

process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))
await main().catch(error => fail(error.message))
