// SPDX-License-Identifier: Apache-2.0
// A connection that comes back: it goes on behind the last envelope it heard, drops what it
// heard before, and lets nothing through that is not checked.
//
//   connection.on('heard', ({ envelope, type, method, context }) => …)
//   connection.on('offence', (offence, text) => …)     something was dropped
//   connection.on('gap', () => …)                      something was said that we did not hear
//   connection.on('end', (why) => …)                   for good
import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import WebSocket from 'ws'
import { check, GATEWAY, Offence } from './check.mjs'

const SILENCE = 75_000 // ms; the gateway pings every 30 s
const NO_USE = { first: [400, 403, 421, 426], ever: [401, 404], close: [1008, 4001] }

export class Connection extends EventEmitter {
  id = '' // ours, from the welcome
  #options
  #socket = null
  #last = '' // the last entry of the log that was heard
  #misses = false // this connection, because there is nothing to go on behind
  #heard = new Set() // the last thousand: after a gap some come again
  #failures = 0 // in a row
  #welcomed = 0 // when
  #hasLeft = false
  #pause // before the next attempt

  constructor(options) {
    super()
    this.#options = options
  }

  connect() {
    const { url, topic, token } = this.#options
    const query = new URLSearchParams({ topic, presence: 'batch', echo: 'off' })
    let refusal, timer

    if (this.#last) query.set('after', this.#last)
    else this.#misses = this.id !== ''
    const socket = new WebSocket(`${url}/ws?${query}`, {
      headers: { Authorization: `Bearer ${token}` },
      maxPayload: 16 << 20, perMessageDeflate: false, handshakeTimeout: 10_000,
    })
    const isAlive = () => {
      clearTimeout(timer)
      timer = setTimeout(() => socket.terminate(), SILENCE)
    }

    this.#socket = socket
    socket.on('open', isAlive).on('ping', isAlive).on('error', () => {})
    socket.on('message', (data) => {
      isAlive()
      this.#hear(data.toString())
    })
    socket.on('unexpected-response', (_, answer) => {
      refusal = answer
      socket.terminate()
    })
    socket.on('close', (code, reason) => {
      clearTimeout(timer)
      this.#broke(refusal ? { status: refusal.statusCode, headers: refusal.headers } : { code, reason })
    })
  }

  // Each pause is longer than the last, and cut at random: many do not come back at once.
  #broke({ status, headers = {}, code, reason }) {
    const isOver = NO_USE.ever.includes(status) || (!this.id && NO_USE.first.includes(status)) || NO_USE.close.includes(code)
    const atLeast = code === 4003 ? 60_000 : 1000 * Number(headers['retry-after'] ?? 0)

    this.#socket = null
    if (isOver || this.#hasLeft) {
      this.emit('end', status ? `HTTP ${status}` : `closed with ${code} ${reason}`)
      return
    }
    this.#failures = Date.now() - this.#welcomed > 5000 && this.#welcomed ? 1 : this.#failures + 1
    this.#welcomed = 0
    this.#pause = setTimeout(() => this.connect(), Math.max(atLeast, Math.random() * Math.min(30_000, 250 * 2 ** this.#failures)))
  }

  leave() {
    this.#hasLeft = true
    clearTimeout(this.#pause)
    if (this.#socket) this.#socket.close(1000)
    else this.emit('end', 'left')
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN && this.#welcomed > 0
  }

  send(kind, payload, more = {}) {
    const envelope = { protocol: 'mcpx/v0.1', id: randomUUID(), ts: new Date().toISOString(), from: this.id, kind, ...more, payload }

    if (!this.isOpen) throw new Error('there is no connection now')
    this.#socket.send(JSON.stringify(envelope))
    return envelope
  }

  #hear(text) {
    try {
      const heard = check(text)

      if (this.#isNew(heard.envelope)) this.emit('heard', heard)
      if (heard.envelope.kind === 'system/gap' || this.#misses) this.emit('gap')
      this.#misses = false
    } catch (error) {
      if (!(error instanceof Offence)) throw error
      this.emit('offence', error, text)
    }
  }

  #isNew({ kind, id, from, to, payload }) {
    const key = JSON.stringify([from, id])

    if (kind === 'system/welcome') {
      this.id = payload.you.id
      this.#welcomed = Date.now()
    }
    if (from === GATEWAY && to) return true // to us alone: not in the log
    this.#last = id
    if (from === this.id || this.#heard.has(key)) return false // a replay brings our own back
    this.#heard.add(key)
    if (this.#heard.size > 1000) this.#heard.delete(this.#heard.values().next().value)
    return true
  }
}
