// SPDX-License-Identifier: Apache-2.0
// The benchmark: each workload against each server, in interleaved rounds, so that a
// change of the machine's mood meets all of them. It prints numbers and never judges.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { audit } from './audit.mjs'
import { bridge } from './bridge.mjs'
import { directory } from './directory.mjs'
import { fairness } from './fairness.mjs'
import { growth } from './growth.mjs'
import { many } from './many.mjs'
import { mcp } from './mcp.mjs'
import { asSvg, panelsOf } from './plot.mjs'
import { asMarkdown, asText, machine, summarize, titleOf } from './report.mjs'
import {
  cores, fits, isBuilt, makeCertificate, newDirectory, pinned, removeDirectory, residentBytes, ROOT,
  servers, StartError, startServer, stopServer, track, urgent,
} from './servers.mjs'
import { workers } from './workers.mjs'
import { faults, start, workloads } from './workloads.mjs'

const HELP = `usage: ./dev bench [options]

  --servers LIST      of moot, node, floor, lws, nats, redis, mosquitto (all)
  --only LIST         of W1 W2 W3 W4 W5 W6 W9 W10 TLS start, of the tables below, or single rows
                      such as W1/8 (all but the tables below)
  --rounds N          how often each workload is run (3)
  --seconds N         how long each run is measured (2)
  --topics N          topics of the request/response workload W2 (100)
  --connections N     idle connections of W4 (10000)
  --starts N          starts that the median start time is taken of (10)
  --quick             one round of one second, 2000 idle connections, 3 starts
  --growth            instead: how cost grows (G1 members, G2 topics, G3 joins, G4 presence)
  --fairness          instead: a quiet topic beside a busy one on the same worker (W7)
  --workers           instead: one worker against two with the same load (W8); unpinned
  --parts [PART]      instead, as the first option: single parts (unmask, scan, UTF-8)
  --audit             instead: what the record costs a room (off, async, required), and what it
                      does by itself: writing, search, verifying; beside a bare fdatasync loop
  --bridge            instead: what a tools/call through a room costs, beside the same MCP server
                      called directly, and what a bridge holds at rest
  --mcp               instead: what a tools/call of an MCP client costs at a room's door, beside
                      programs that only pass it on, and what sessions hold (--connections of them)
  --console           instead: the console's room in a browser: how soon it can be used, memory with --envelopes,
                      frames per second while 1,000 envelopes a second arrive, what is loaded
  --envelopes N       envelopes of --console (100000)
  --directory         instead: how fast resources are imported and found, on SQLite and PostgreSQL
  --resources N       resources of --directory (1000000)
  --records N         records of --audit (1000000)
  --fill-seconds N    and how long they may be written at most (120; of --directory 1200)
  --scratch DIR       where they are written (the temporary folder)
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
  if (!/^[1-9]\d{0,8}$/.test(text)) fail(`--${name} wants a number, not ${text}`)
  return Number(text)
}

function parseOptions() {
  const text = { type: 'string' }
  const flag = { type: 'boolean' }
  const { values } = parseArgs({
    options: {
      servers: text, only: text, rounds: text, seconds: text, topics: text, connections: text,
      starts: text, build: text, json: text, markdown: text, svg: text,
      many: text, audit: flag, bridge: flag, mcp: flag, directory: flag, console: flag, envelopes: text, resources: text, records: text, 'fill-seconds': text, scratch: text, growth: flag, fairness: flag, workers: flag, quick: flag, help: flag,
    },
  })
  const preset = values.quick
    ? { rounds: '1', seconds: '1', topics: '100', connections: '2000', starts: '3', records: '100000', envelopes: '10000', resources: '50000', 'fill-seconds': '20' }
    : { rounds: '3', seconds: '2', topics: '100', connections: '10000', starts: '10', records: '1000000', envelopes: '100000', resources: '1000000', 'fill-seconds': '120' }
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
    tables: values,
    scratch: values.scratch && resolve(values.scratch),
    audit: values.audit,
    bridge: values.bridge,
    directory: values.directory,
    console: values.console,
    mcp: values.mcp,
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

// What is run only when it is asked for, by the option of that name or by --only.
const tables = { growth, fairness, workers }

function chosenWorkloads(options) {
  const wanted = ({ id, group }) => !options.only || options.only.includes(group) ||
    options.only.includes(id.toUpperCase())
  const standard = [...workloads(options), start]
  const asked = Object.keys(tables).filter(name => options.tables[name]).flatMap(name => tables[name])
  const all = [...standard, ...Object.values(tables).flat()]
  const chosen = (options.only ? all : asked.length ? asked : standard).filter(wanted)

  if (!chosen.length) fail(`--only ${options.only} names no workload`)
  return chosen
}

const loadOptions = (fields = {}) => Object.entries(fields)
  .flatMap(([name, value]) => value === true ? [`--${name}`] : [`--${name}`, String(value)])

// --protocol names what is spoken there; WebSocket has a path.
const urlOf = (name, port, { tls }) => servers[name].options.includes('--protocol')
  ? `127.0.0.1:${port}` : `${tls ? 'wss' : 'ws'}://127.0.0.1:${port}/ws`

async function generate(command) {
  const { stdout, stderr } = await run(command[0], command.slice(1), { timeout: TIMEOUT })

  if (stderr) say(`  ${stderr.trim().slice(0, 300)}`)
  return JSON.parse(stdout)
}

// Starts another generator and waits until it is at full speed. It runs as long as the one
// that follows, with time for that to connect and warm up.
async function startBeside(command, seconds) {
  const child = track([...command, '--phases', '--seconds', String(seconds + 3)], ['ignore', 'pipe', 'pipe'])
  const out = []
  const ended = once(child, 'close')
  let said = ''

  child.stdout.on('data', part => out.push(part))
  await new Promise((resolve, reject) => {
    child.stderr.on('data', part => {
      said += part
      if (said.includes('measuring')) resolve()
    })
    ended.then(() => reject(new Error(`the generator beside: ${said.trim()}`)))
  })
  return async () => {
    await ended
    return JSON.parse(Buffer.concat(out))
  }
}

// Faults of the one beside are faults of the run.
function together(result, beside) {
  const both = faults.filter(fault => beside[fault]).map(fault => [fault, result[fault] + beside[fault]])

  return { ...result, ...Object.fromEntries(both), beside }
}

// One run: a fresh server, the generator, one answer.
async function measure(workload, name, { build, seconds: preset, pinning: given }) {
  const pinning = workload.isFree ? null : given
  const seconds = workload.seconds ?? preset
  const directory = newDirectory()

  try {
    const settings = { ...workload.settings, ...workload.isSecure && { tls: makeCertificate(directory) } }
    const server = await startServer(name, {
      build, directory, core: pinning?.server, participants: workload.participants, settings,
    })
    await workload.prepare?.(server)
    const command = load => pinned(pinning?.load, [
      join(build, 'moot'), 'bench', '--json', '--url', urlOf(name, server.port, settings),
      '--pid', String(server.pid), ...servers[name].options, ...loadOptions(load),
      ...settings.tls ? ['--cacert', settings.tls.certificate] : [],
    ])
    const measured = [...command(workload.load), '--seconds', String(seconds)]
    const generateHere = words => generate(pinned(pinning?.load, words))

    try {
      if (workload.compare) return await workload.compare({ build, port: server.port, seconds, generate: generateHere })
      if (!workload.beside) return await generate(workload.group === 'W7' ? urgent(measured) : measured)
      const finish = await startBeside(command(workload.beside), seconds)
      const result = await generate(urgent(measured))
      return together(result, await finish())
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

// A measurement that makes its own report.
async function report(measured, options) {
  const { markdown, ...figures } = await measured

  process.stdout.write(markdown)
  if (options.json) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`)
  if (options.markdown) writeFileSync(options.markdown, markdown)
}

const runMany = options => report(many(options.many, { build: options.build, facts: machine(null, []), say }), options)
const runAudit = options => report(audit(
  { ...options, questions: 200, fillSeconds: options['fill-seconds'] }, { facts: machine(null, []), say }), options)
const runMcp = options => report(mcp(options, { facts: machine(null, []), say }), options)
const runBridge = options => report(bridge(options, { facts: machine(null, []), say }), options)
const runConsole = async options => report((await import('./console.mjs')).consoleBench(
  { envelopes: options.envelopes, perSecond: 1000, seconds: 10 }, { facts: machine(null, []), say }), options)
const runDirectory = options => report(directory({ ...options, questions: 300,
  fillSeconds: Number(options.tables['fill-seconds'] ?? (options.tables.quick ? 20 : 1200)) }, { facts: machine(null, []), say }), options)

async function main() {
  const options = parseOptions()

  if (options.help) return process.stdout.write(HELP)
  if (!existsSync(join(options.build, 'moot')))
    fail(`${join(options.build, 'moot')}, the load generator, is missing; build first`)
  if (options.many) return runMany(options)
  if (options.audit) return runAudit(options)
  if (options.bridge) return runBridge(options)
  if (options.directory) return runDirectory(options)
  if (options.console) return runConsole(options)
  if (options.mcp) return runMcp(options)
  const names = chosenServers(options)
  if (!names.length) fail('there is no server to measure')
  const chosen = chosenWorkloads(options)
  const pinning = chosen.every(({ isFree }) => isFree) ? null : cores()
  const facts = machine(pinning, names)
  const { results, failures } = await runAll(chosen, names, { ...options, pinning })
  const { rounds, seconds, topics, connections, starts } = options
  const summary = summarize(results, failures, facts,
    { servers: names, rounds, seconds, topics, connections, starts })

  process.stdout.write(asText(summary))
  if (options.json) writeFileSync(options.json, `${JSON.stringify(summary, null, 2)}\n`)
  if (options.markdown) writeFileSync(options.markdown, asMarkdown(summary))
  if (options.svg) writeFileSync(options.svg, asSvg(panelsOf(chosen, summary.rows, titleOf)))
}

process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))
await main().catch(error => fail(error.message))
