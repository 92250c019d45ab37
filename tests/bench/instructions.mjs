// SPDX-License-Identifier: Apache-2.0
// Instructions per published message and per delivery, counted by callgrind: they do not
// depend on the mood of the machine. System calls count as nothing; what the kernel does is
// not in it. docs/PERFORMANCE.md says how to read the figures.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { CountedServer, frameSize, functionsOf, Seat } from './counted.mjs'
import { byArguments } from './policy.mjs'
import { ROOT, servers } from './servers.mjs'

const HELP = `usage: node tests/bench/instructions.mjs [options]

  --servers LIST  of moot, floor (both)
  --only LIST     of W1/1, W1/8, W2, W2/strict, W2/arguments, W2/mixed, W3, W6, join, async
                  (all)
  --profile       print in which functions the instructions are, too
  --top N         how many functions (20)
  --json          print the figures as JSON
  --build DIR     where the programs are (build)
`

// A turn flushes 16 connections before it looks at the clock for the first time. With more
// of them it would depend on the machine how many turns a message takes.
const FEW = 2
const MANY = 16
const RING = 1000 // messages a topic keeps; from then on each one drops another
const RING_BYTES = 4 << 20
const WARM_BATCH = 50
const SIZE = 300
const LARGE = 64 << 10
const GATHERED_MS = 60 // more than records gather before they are written
const NEWCOMER = 2 * MANY
const ARGUERS = NEWCOMER + 1 // from here on participants may call by their arguments only
const PARTICIPANTS = ARGUERS + 2 * MANY
const SETTLED = 'settled' // the last that is said before counting

let sent = 0
const nextId = () => `id-${String(++sent).padStart(21, '0')}`

// Envelopes as `moot bench` sends them, filled up to `size` bytes.
function padded(head, tail, size) {
  const fill = size - head.length - tail.length

  return head + 'x'.repeat(Math.max(0, fill)) + tail
}

const start = (id, from) => `{"protocol":"mcpx/v0.1","id":"${id}","from":"${from}"`

// What a text grows by for a member that speaks the dotted dialect.
const CALL_GROWTH = 'mcpx/draft'.length - 'mcpx/v0.1'.length
const CHAT_GROWTH = CALL_GROWTH + 'chat.message'.length - 'chat'.length
const heardAs = (seat, growth) => frameSize(SIZE + (seat.isDotted ? growth : 0))
const spelt = ({ isDotted }, text) => !isDotted ? text : text
  .replace('mcpx/v0.1', 'mcpx/draft')
  .replace('"kind":"chat"', '"kind":"chat.message"')
  .replace(/"kind":"mcp\/(\w+):/, '"kind":"mcp.$1.')

const chat = (from, size = SIZE) =>
  padded(`${start(nextId(), from)},"kind":"chat","payload":{"text":"`, '"}}', size)

const request = (id, from, to) => padded(
  `${start(id, from)},"to":["${to}"],"kind":"mcp/request:tools/call","payload":{"jsonrpc":"2.0",` +
  '"id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"', '"}}}}', SIZE)

const response = (cause, from, to) => padded(
  `${start(nextId(), from)},"to":["${to}"],"kind":"mcp/response:tools/call",` +
  `"correlation_id":"${cause}","payload":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`,
  '"}]}}}', SIZE)

const times = (count, make) => Array.from({ length: count }, (_, i) => make(i))

async function repeat(count, work) {
  for (let i = 0; i < count; i++) await work(i)
}

// --- topics ---

// Seats of one topic, whose presence has been announced and seen by all.
async function occupy(server, topic, { count, first = 0, echo = true, isMixed = false }) {
  const seats = []

  await repeat(count, async i =>
    seats.push(await Seat.take(server.port, { topic, index: first + i, echo, isDotted: isMixed && i % 2 === 1 })))
  await settle(seats, echo)
  return seats
}

// Something said by one, and without an echo by another as well, is the last that all hear.
async function settle(seats, echo) {
  for (const speaker of seats.slice(0, echo ? 1 : 2)) {
    const hearers = seats.filter(seat => echo || seat !== speaker)

    await speaker.send([spelt(speaker, chat(speaker.id)).replace('xxxxxxx', SETTLED)])
    await Promise.all(hearers.map(seat => seat.sees(SETTLED)))
  }
}

// One says `batch` things at once, and all hear them.
async function broadcast(seats, batch, size = SIZE) {
  await seats[0].send(times(batch, () => chat(seats[0].id, size)))
  await heardByAll(seats, batch * frameSize(size))
}

const heardByAll = (seats, bytes) => Promise.all(seats.map(seat => seat.takes(bytes)))

// Until the topic forgets as much as it learns.
const warmUp = (seats, size = SIZE) => {
  const batch = size === SIZE ? WARM_BATCH : 1
  const messages = Math.min(RING, RING_BYTES / size)

  return repeat(messages / batch + 1, () => broadcast(seats, batch, size))
}

// --- scenarios ---

// What a message costs by itself and what each delivery adds, from two numbers of members.
function line(few, many) {
  const delivery = (many - few) / (MANY - FEW)

  return { message: few - FEW * delivery, delivery }
}

// Messages to a topic of `count`, `batch` at a time, each batch read in one turn.
async function broadcasts(server, { count, rounds, batch = 1 }) {
  const seats = await occupy(server, `fan-${batch}-${count}`, { count })
  const messages = rounds * batch

  await warmUp(seats)
  const { total, part } = await server.count(() => repeat(rounds, () => broadcast(seats, batch)))
  return { each: total / messages, profile: { part, messages } }
}

async function fanOut(server, load) {
  const few = await broadcasts(server, { count: FEW, ...load })
  const many = await broadcasts(server, { count: MANY, ...load })

  return { ...line(few.each, many.each), profile: many.profile }
}

// A large message is dominated by its bytes: a delivery is lost in what varies. It is longer
// than a segment, and in how many pieces it is read and written is up to the kernel, so it
// is there as a whole before the server looks, and the round in the middle counts.
async function large(server, { rounds }) {
  const empty = await emptyTurn(server)
  const seats = await occupy(server, 'large', { count: MANY })
  const round = () => server.inOneTurn(() => seats[0].send([chat(seats[0].id, LARGE)]))
    .then(() => heardByAll(seats, frameSize(LARGE)))
  const counted = []

  await warmUp(seats, LARGE)
  await repeat(rounds, async () => counted.push(await server.count(round)))
  const { total, part } = counted.sort((a, b) => a.total - b.total)[rounds >> 1]
  return { message: total - empty, profile: { part, messages: 1 } }
}

// What the room pays for its record, of all that is done for it: the rest is the writer's, and
// how that works depends on the disk.
async function recording(server, { rounds }) {
  const seats = await occupy(server, 'recorded', { count: FEW })
  const batch = 8
  const round = async () => {
    await broadcast(seats, batch)
    await written(server)
  }

  await repeat(10, round)
  const { part } = await server.count(() => repeat(rounds, round))
  const { inclusive } = functionsOf(part).get('recording_admitted')
  return { message: inclusive / (rounds * batch), profile: { part, messages: rounds * batch } }
}

// Until what nobody waits for was handed over, and the writer has given it back.
async function written(server) {
  await new Promise(resolve => setTimeout(resolve, GATHERED_MS))
  for (;;) {
    const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()

    if (/^moot_store_queued_bytes 0$/m.test(text)) return
  }
}

// What a turn costs in which the server is only woken up.
const emptyTurn = async server =>
  (await server.count(() => repeat(10, () => server.inOneTurn(() => {})))).total / 10

// Two members each, who do not hear themselves.
async function occupyPairs(server, { topic, first, isMixed }) {
  const pairs = []

  await repeat(MANY, async i => {
    const pair = await occupy(server, `${topic}-${i}`, { count: 2, first: first + 2 * i, echo: false, isMixed })

    await repeat(RING / WARM_BATCH, async () => {
      await pair[0].send(times(WARM_BATCH, () => chat(pair[0].id)))
      await pair[1].takes(WARM_BATCH * heardAs(pair[1], CHAT_GROWTH))
    })
    pairs.push(pair)
  })
  return pairs
}

// A request in each of the topics, all in one turn, and then the responses.
async function callAll(server, pairs) {
  const ids = pairs.map(nextId)
  const oneWay = async (from, texts) => {
    await server.inOneTurn(() =>
      Promise.all(pairs.map((pair, i) => pair[from].send([spelt(pair[from], texts[i])]))))
    await Promise.all(pairs.map(pair => pair[1 - from].takes(heardAs(pair[1 - from], CALL_GROWTH))))
  }

  await oneWay(0, pairs.map(([a, b], i) => request(ids[i], a.id, b.id)))
  await oneWay(1, pairs.map(([a, b], i) => response(ids[i], b.id, a.id)))
}

// Request and response in topics of two: what a message costs that has a turn for itself,
// and what one adds to a turn of others.
async function pingPong(server, { rounds, topic, first = 0, isMixed = false }) {
  const empty = await emptyTurn(server)
  const pairs = await occupyPairs(server, { topic, first, isMixed })
  const turnsOf = async someIn => {
    const { total, part } = await server.count(() =>
      repeat(rounds, i => callAll(server, someIn(i))))

    return { each: total / (2 * rounds) - empty, part }
  }
  const one = await turnsOf(i => [pairs[i % MANY]])
  const many = await turnsOf(() => pairs)

  return {
    alone: one.each,
    message: (many.each - one.each) / (MANY - 1),
    profile: { part: many.part, messages: 2 * rounds * MANY },
  }
}

// Everybody in a topic says something in the same turn.
async function everybody(server, { rounds }) {
  const empty = await emptyTurn(server)
  const seats = await occupy(server, 'everybody', { count: MANY })
  const round = async () => {
    await server.inOneTurn(() => Promise.all(seats.map(seat => seat.send([chat(seat.id)]))))
    await heardByAll(seats, MANY * frameSize(SIZE))
  }

  await warmUp(seats)
  const { total, part } = await server.count(() => repeat(rounds, round))
  return {
    delivery: (total / rounds - empty) / (MANY * MANY),
    profile: { part, messages: rounds * MANY },
  }
}

// Somebody comes and goes; everybody else is told.
async function presence(server, { rounds }) {
  const ofOne = async count => {
    const topic = `presence-${count}`
    const seats = await occupy(server, topic, { count })
    const round = async () => {
      const newcomer = await Seat.take(server.port, { topic, index: NEWCOMER })

      await Promise.all(seats.map(seat => seat.sees('"join"')))
      await newcomer.leave()
      await Promise.all(seats.map(seat => seat.sees('"leave"')))
    }

    await repeat(3, round)
    const { total, part } = await server.count(() => repeat(rounds, round))
    return { each: total / rounds, part }
  }
  const few = await ofOne(FEW)
  const many = await ofOne(MANY)

  return { ...line(few.each, many.each), profile: { part: many.part, messages: rounds } }
}

export const scenarios = [
  { id: 'W1/1', title: `${SIZE} B to a topic, one at a time`, run: s => fanOut(s, { rounds: 400 }) },
  { id: 'W1/8', title: `${SIZE} B to a topic, eight at a time`, run: s => fanOut(s, { rounds: 400, batch: 8 }) },
  { id: 'W2', title: 'request and response in topics of two', run: s => pingPong(s, { rounds: 48, topic: 'pair' }) },
  { id: 'W2/strict', title: 'the same in strict topics', only: 'moot', run: s => pingPong(s, { rounds: 48, topic: 'strict' }) },
  { id: 'W2/arguments', title: 'the same, allowed by arguments', only: 'moot', run: s => pingPong(s, { rounds: 48, topic: 'arguments', first: ARGUERS }) },
  { id: 'W2/mixed', title: 'the same, answered in the other dialect', only: 'moot', run: s => pingPong(s, { rounds: 48, topic: 'mixed', isMixed: true }) },
  { id: 'W3', title: `${MANY} publishers in a topic of ${MANY}, in one turn`, run: s => everybody(s, { rounds: 20 }) },
  { id: 'W6', title: `64 KiB to a topic of ${MANY}`, run: s => large(s, { rounds: 30 }) },
  { id: 'join', title: 'one comes and goes', only: 'moot', run: s => presence(s, { rounds: 10 }) },
  { id: 'async', title: `${SIZE} B, what recording them adds`, only: 'moot', defaults: { audit: 'async' }, run: s => recording(s, { rounds: 100 }) },
]

// --- measuring ---

const tableOf = ({ part, messages }) => [...functionsOf(part)]
  .map(([name, { own, inclusive }]) => ({ name, own: own / messages, inclusive: inclusive / messages }))
  .filter(({ own }) => own)
  .sort((a, b) => b.own - a.own)

const rounded = figures =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Math.round(value * 10) / 10]))

const settings = {
  limits: { ping_interval: 0 },
  capabilities: i => i < ARGUERS ? '[mcp/*,chat]' : byArguments,
  named: Object.fromEntries(times(MANY, i => [`strict-${i}`, { validation: 'strict' }])),
}

// A server of its own for scenarios with defaults of their own.
const serversOf = name => [...new Set(scenarios.map(({ defaults }) => defaults))].map(defaults => [name, defaults])

// All figures: { moot: { 'W1/1': { message, delivery }, … }, floor: … }, and where `profile`
// is wanted the functions of each, in `functions`. `scan` is part of what a message costs.
export async function measure({ build, names = ['moot', 'floor'], only, profile = false }) {
  const figures = {}
  const functions = {}

  for (const [name, defaults] of names.flatMap(serversOf)) {
    const isWanted = ({ id, only: of, defaults: own }) =>
      own === defaults && (!of || of === name) && (!only || only.includes(id))
    const wanted = scenarios.filter(isWanted)

    figures[name] ??= {}
    functions[name] ??= {}
    if (!wanted.length) continue
    const server = await CountedServer.start(name, { build, participants: PARTICIPANTS, settings: { ...settings, defaults } })

    try {
      for (const { id, run } of wanted) {
        const { profile: counted, ...values } = await run(server)

        if (name === 'moot' && id === 'W1/1') {
          values.scan = functionsOf(counted.part).get('envelope_scan').inclusive / counted.messages
        }
        figures[name][id] = rounded(values)
        if (profile) functions[name][id] = tableOf(counted)
      }
    } finally {
      await server.stop()
    }
  }
  return { figures, functions }
}

// --- the recorded baseline ---

const ALLOWED = 0.05
const NEGLIGIBLE = 2 // instructions: small figures are differences of large ones

// The compiler of a program, which leaves its name there; that of the C library's part
// stands beside a clang.
function compilerOf(program) {
  const bytes = readFileSync(program, 'latin1')
  const [name] = /clang version [\d.]+/.exec(bytes) ?? /GCC: \([^)\0]*\) [\d.]+/.exec(bytes) ?? []

  return name ?? 'an unknown compiler'
}

// What the figures depend on besides our sources.
export function circumstances(build) {
  const has = /^flags\s*:.*\bavx2\b/m.test(readFileSync('/proc/cpuinfo', 'utf8'))

  return {
    compiler: compilerOf(join(build, 'moot')),
    cpu: `${process.arch} ${has ? 'with' : 'without'} AVX2`,
  }
}

const isFar = (value, recorded) => !(Math.abs(value - recorded) <= Math.max(ALLOWED * recorded, NEGLIGIBLE))

// What one scenario needs now against what it needed: a line for each figure that is no
// longer within 5 %. Less counts as well: what is not recorded can be lost unnoticed.
export const differences = (name, id, values, recorded) => Object.entries(values)
  .filter(([what, value]) => isFar(value, recorded?.[what]))
  .map(([what, value]) => {
    const old = recorded?.[what]
    const change = old ? `${value > old ? '+' : ''}${(100 * (value / old - 1)).toFixed(1)} %` : 'new'

    return `${name} ${id} ${what}: ${old ?? 'nothing'} recorded, now ${value} (${change})`
  })

// --- printing ---

const table = (head, rows) => [head, head.map((_, i) => i < 1 ? '---' : '---:'), ...rows]
  .map(cells => `| ${cells.join(' | ')} |\n`).join('')

function printFigures(figures) {
  const titleOf = id => scenarios.find(scenario => scenario.id === id).title
  const { moot = {}, floor = {} } = figures
  const cell = value => value === undefined ? '' : String(Math.round(value))
  const rows = scenarios.flatMap(({ id }) =>
    Object.keys(moot[id] ?? floor[id] ?? {}).map(what =>
      [`${id} ${titleOf(id)}`, what, cell(moot[id]?.[what]), cell(floor[id]?.[what])]))

  process.stdout.write(table(['scenario', 'per', servers.moot.title, servers.floor.title], rows))
}

// The bar: a delivery to a topic of 100 costs at most 1.10 × that of the floor program, and
// the scan.
function printBar({ moot, floor }) {
  const perDelivery = ({ message, delivery }) => message / 100 + delivery

  for (const id of ['W1/1', 'W1/8']) {
    if (!moot?.[id] || !floor?.[id] || !moot['W1/1']) continue
    const value = perDelivery(moot[id])
    const bar = 1.1 * perDelivery(floor[id]) + moot['W1/1'].scan / 100

    process.stdout.write(`\n${id}, a delivery to a topic of 100: ${Math.round(value)}, ` +
      `of 1.10 × floor + scan = ${Math.round(bar)}: ${value <= bar ? 'met' : 'not met'}\n`)
  }
}

function printFunctions(functions, top) {
  for (const [name, ofServer] of Object.entries(functions))
    for (const [id, rows] of Object.entries(ofServer)) {
      const total = rows.reduce((sum, row) => sum + row.own, 0)

      process.stdout.write(`\n${servers[name].title}, ${id}: ${Math.round(total)} for a message\n\n`)
      process.stdout.write(table(['function', 'own', 'with callees', '%'], rows.slice(0, top).map(row =>
        [`\`${row.name}\``, Math.round(row.own), Math.round(row.inclusive), (100 * row.own / total).toFixed(1)])))
    }
}

async function main() {
  const text = { type: 'string' }
  const flag = { type: 'boolean' }
  const { values } = parseArgs({
    options: { servers: text, only: text, top: text, build: text, profile: flag, json: flag, help: flag },
  })
  const list = names => names?.split(',').filter(Boolean)
  const build = resolve(ROOT, values.build ?? 'build')

  if (values.help) return process.stdout.write(HELP)
  if (!existsSync(join(build, 'moot'))) throw new Error(`${join(build, 'moot')} is missing; build first`)
  const { figures, functions } = await measure({
    build, names: list(values.servers), only: list(values.only), profile: values.profile,
  })

  if (values.json) return process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
  printFigures(figures)
  printBar(figures)
  if (values.profile) printFunctions(functions, Number(values.top ?? 20))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
