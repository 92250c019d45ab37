// SPDX-License-Identifier: Apache-2.0
// A server under callgrind, and clients that go in step with it, so that what it does
// between two marks is the same in every run. A mark is an HTTP request: callgrind writes
// what was executed since the last one whenever the function that answers it is entered.
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ID_PREFIX, newDirectory, removeDirectory, startServer, stopServer, TOKEN_PREFIX,
} from './servers.mjs'

const PATIENCE_MS = 30_000
const ARRIVAL_MS = 2 // for bytes that were sent to a stopped server

// What answers a request that does nothing else; and what happens every few seconds,
// whatever is asked, and therefore does not count.
const marks = {
  moot: { path: '/healthz', function: 'health_get', aside: 'on_sweep' },
  floor: { path: '/', function: 'memmem' },
}

const underCallgrind = (out, mark) => ['valgrind', '--tool=callgrind', '--vgdb=no',
  `--callgrind-out-file=${out}`, `--dump-before=${mark}`]

async function within(promise, what) {
  const patience = new AbortController()
  const late = sleep(PATIENCE_MS, null, { signal: patience.signal })
    .then(() => { throw new Error(`waited too long for ${what()}`) })

  try {
    return await Promise.race([promise, late])
  } finally {
    patience.abort()
    late.catch(() => {})
  }
}

const stateOf = pid => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))[1]

async function untilState(pid, state) {
  while (stateOf(pid) !== state) await sleep(1)
}

// The number of instructions in a part that callgrind has written.
const totalOf = file => Number(/^totals: (\d+)/m.exec(readFileSync(file, 'utf8'))[1])

export class CountedServer {
  #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  #idle = 0 // what the marks themselves cost

  static async start(name, options) {
    const server = new CountedServer()

    server.name = name
    server.directory = newDirectory()
    server.running = await startServer(name, {
      ...options,
      directory: server.directory,
      under: underCallgrind(join(server.directory, 'part'), marks[name].function),
    })
    await server.#mark()
    server.#idle = (await server.count(() => {})).total
    return server
  }

  async stop() {
    this.#agent.destroy()
    await stopServer(this.running)
    removeDirectory(this.directory)
  }

  get port() { return this.running.port }

  async #mark() {
    const asked = get({ port: this.port, host: '127.0.0.1', path: marks[this.name].path,
      agent: this.#agent })
    const [answer] = await within(once(asked, 'response'), () => 'a mark')

    answer.resume()
    await once(answer, 'end')
  }

  #lastPart() {
    const numbers = readdirSync(this.directory).map(name => Number(/^part\.(\d+)$/.exec(name)?.[1] ?? 0))

    return join(this.directory, `part.${Math.max(...numbers)}`)
  }

  // The instructions that the server executes for `work`, and the part that tells where.
  async count(work) {
    await this.#mark()
    await work()
    await this.#mark()
    const part = this.#lastPart()
    const aside = functionsOf(part).get(marks[this.name].aside)?.inclusive ?? 0

    return { total: totalOf(part) - this.#idle - aside, part }
  }

  // What is sent in `work` meets the server in one turn: it sleeps, and is stopped until
  // everything is there. To wake up to nothing is a turn of its own.
  async inOneTurn(work) {
    const { pid } = this.running

    await within(untilState(pid, 'S'), () => 'the server to sleep')
    process.kill(pid, 'SIGSTOP')
    await within(untilState(pid, 'T'), () => 'the server to stop')
    await work()
    await sleep(ARRIVAL_MS)
    process.kill(pid, 'SIGCONT')
  }
}

// A text frame as a client sends it.
export function maskedFrame(text) {
  const body = Buffer.from(text)
  const mask = [0x5a, 0x13, 0xc7, 0x88]
  const head = body.length < 126 ? Buffer.from([0x81, 0x80 | body.length])
    : body.length < 65536 ? Buffer.from([0x81, 0xfe, 0, 0])
    : Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0])

  if (body.length >= 65536) head.writeUInt32BE(body.length, 6)
  else if (body.length >= 126) head.writeUInt16BE(body.length, 2)
  for (let i = 0; i < body.length; i++) body[i] ^= mask[i % 4]
  return Buffer.concat([head, Buffer.from(mask), body])
}

// How long the frame is in which a server sends a text of `length` bytes.
export const frameSize = length => length + (length < 126 ? 2 : length < 65536 ? 4 : 10)

// A member that counts the bytes it is sent.
export class Seat {
  received = 0
  #tail = ''
  #wake = () => {}

  constructor(socket, id, isDotted) {
    this.socket = socket
    this.id = id
    this.isDotted = isDotted
    socket.on('data', data => {
      this.received += data.length
      this.#tail = (this.#tail + data.toString('latin1')).slice(-4096)
      this.#wake()
    })
    socket.on('error', () => {})
    socket.on('close', () => this.#wake())
  }

  static async take(port, { topic, index, echo = true, isDotted = false }) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const seat = new Seat(socket, `${ID_PREFIX}-${index}`, isDotted)

    socket.write([
      `GET /ws?topic=${topic}${echo ? '' : '&echo=off'}${isDotted ? '&dialect=dotted' : ''} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${TOKEN_PREFIX}-${index}`,
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      '', '',
    ].join('\r\n'))
    await seat.#until(() => seat.#tail.includes('\r\n\r\n'), 'the handshake')
    if (!seat.#tail.startsWith('HTTP/1.1 101 ')) throw new Error(seat.#tail)
    return seat
  }

  async #until(isEnough, what) {
    const told = () => `${what} of ${this.id}, which has ${this.received} bytes: ${this.#tail.slice(-300)}`

    while (!isEnough()) {
      if (this.socket.closed) throw new Error(`closed instead of ${told()}`)
      await within(new Promise(done => { this.#wake = done }), told)
    }
  }

  send(texts) {
    return new Promise(done => this.socket.write(Buffer.concat(texts.map(maskedFrame)), done))
  }

  // Waits for `text` and forgets what came up to now.
  async sees(text) {
    await this.#until(() => this.#tail.includes(text), text)
    this.received = 0
    this.#tail = ''
  }

  // Waits for this many bytes more; there must be no others.
  async takes(bytes) {
    await this.#until(() => this.received >= bytes, `${bytes} bytes`)
    if (this.received > bytes) throw new Error(`${this.id} has got ${this.received} bytes, not ${bytes}`)
    this.received = 0
  }

  // Closes as WebSockets do, and waits until the server has closed as well.
  async leave() {
    const closed = once(this.socket, 'close')

    this.socket.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]))
    await within(closed, () => `the end of ${this.id}`)
  }
}

// What each function executed in a part: a map from its name to { own, inclusive }. This
// reads the file itself: callgrind_annotate takes what callers were in the middle of when
// the part began for their own.
export function functionsOf(part) {
  const names = new Map()
  const functions = new Map()
  const nameOf = (id, name) => {
    if (name) names.set(id, name.replace(/('\d+|\.isra\.\d+|\.constprop\.\d+|\.part\.\d+|@.*)+$/, ''))
    return names.get(id)
  }
  let current
  let isCall = false

  for (const text of readFileSync(part, 'utf8').split('\n')) {
    const [, key, id, name] = /^(c?fn)=\((\d+)\)(?: (.*))?$/.exec(text) ?? []
    const [, count] = /^[+\-*\d]\S* (\d+)$/.exec(text) ?? []

    if (key) {
      const found = nameOf(id, name)

      if (key === 'cfn') continue
      if (!functions.has(found)) functions.set(found, { own: 0, inclusive: 0 })
      current = functions.get(found)
    } else if (text.startsWith('calls=')) {
      isCall = true
    } else if (count && current) {
      current.inclusive += Number(count)
      if (!isCall) current.own += Number(count)
      isCall = false
    }
  }
  return functions
}
