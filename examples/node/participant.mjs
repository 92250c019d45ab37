// SPDX-License-Identifier: Apache-2.0
// What a participant does with what it hears: answers for its tools, calls those of others,
// keeps the open proposals, and counts who misbehaves.
//
//   const me = new Participant({ url, topic, token, name, tools })
//   me.on('welcome' | 'chat' | 'proposal' | 'decided' | 'gap' | 'offence' | 'end', …)
//   me.connect()
//   await me.call('calculator', 'add', { a: 1, b: 2 })     calls it, or proposes it
//   await me.fulfil(proposal)                              makes the call that it proposes
import { randomUUID } from 'node:crypto'
import { check, isObject, Offence } from './check.mjs'
import { Connection } from './connection.mjs'

const DAY = 86_400_000
const PATIENCE = { call: 60_000, proposal: 300_000 } // ms
const MOST = { proposals: 1000, offenders: 256 }
const kindOf = (type, { method, context }) => `mcp/${type}:${method}${context === undefined ? '' : `:${context}`}`

export class Participant extends Connection {
  others = new Map() // who else is here, by id
  proposals = new Map() // the open ones, by id: { envelope, method, context }
  offences = new Map() // how many, by sender
  #calls = new Map() // what we wait for, by the id that its answer will name
  #name
  #tools

  constructor({ name = 'participant', tools = new Map(), ...options }) {
    super(options)
    this.#name = name
    this.#tools = tools
    this.on('heard', (heard) => this.#onHeard(heard))
    this.on('offence', ({ from }) => this.#count(from))
    this.on('gap', () => this.#giveUp('answers were lost; it may have run', () => true))
    this.on('end', () => this.#giveUp('the connection is over', () => true))
  }

  #onHeard(heard) {
    const { type, envelope } = heard

    if (type === 'system') this.#onSystem(envelope)
    else if (type === 'chat') this.emit('chat', envelope)
    else if (type === 'proposal') this.#open(heard)
    else if (type === 'request') this.#onRequest(heard)
    else if (type === 'response') this.#onResponse(heard)
    else if (type === 'reject' || type === 'withdraw') this.#onDecision(type, envelope)
  }

  #count(from) {
    const name = this.offences.has(from) || this.offences.size < MOST.offenders ? from : ''

    this.offences.set(name, (this.offences.get(name) ?? 0) + 1)
  }

  #onSystem({ kind, correlation_id, payload }) {
    if (kind === 'system/welcome') {
      this.others = new Map(payload.participants.map((one) => [one.id, one]))
      this.emit('welcome', payload)
      this.#reconcile(payload.moot?.proposals ?? [])
    } else if (kind === 'system/presence') {
      for (const one of payload.participants) this.#onPresence(one)
    } else if (kind === 'system/error') {
      this.#onRefusal(correlation_id, payload)
    }
  }

  #onPresence({ event, ...one }) {
    if (event === 'join' && one.id !== this.id) this.others.set(one.id, one)
    if (event !== 'leave') return
    this.others.delete(one.id)
    this.#giveUp(`${one.id} has left; it may have run`, (call) => call.to === one.id && !call.isProposal)
  }

  // --- calling ---

  call(to, name, args = {}) {
    return this.#ask({ to, method: 'tools/call', context: name, params: { name, arguments: args } })
  }

  #ask(about, more = {}) {
    return new Promise((resolve, reject) => {
      const id = randomUUID() // of the envelope, and of JSON-RPC
      const { to, method, params } = about

      this.send(kindOf('request', about), { jsonrpc: '2.0', id, method, params }, { ...more, id, to: [to] })
      this.#wait(id, { ...about, rpcId: id, resolve, reject }, PATIENCE.call)
    })
  }

  #wait(id, call, patience) {
    clearTimeout(call.timer)
    this.#calls.set(id, { ...call, timer: setTimeout(() => this.#onTimeout(id), patience) })
  }

  #finish(id) {
    const call = this.#calls.get(id)

    clearTimeout(call?.timer)
    this.#calls.delete(id)
    return call
  }

  #giveUp(why, concerns) {
    for (const [id, call] of this.#calls) if (concerns(call)) this.#finish(id).reject(new Error(why))
  }

  #onTimeout(id) {
    const { to, isProposal, reject } = this.#finish(id)
    const method = 'notifications/cancelled'

    reject(new Error('nobody answered in time'))
    if (!isProposal && this.isOpen)
      this.send(`mcp/request:${method}`, { jsonrpc: '2.0', method, params: { requestId: id } }, { to: [to] })
  }

  // An answer counts from the one who was asked, to what was asked, and once.
  #onResponse({ envelope: { from, correlation_id, payload }, method, context }) {
    const call = this.#calls.get(correlation_id)

    if (!call || call.isProposal) return // somebody else's
    if (from !== call.to) throw new Offence('foreign_response', 'from', from)
    if (method !== call.method || (context ?? call.context) !== call.context || payload.id !== call.rpcId)
      throw new Offence('method_mismatch', 'kind', from)
    const asked = payload.error?.code === -32001 && payload.error.data?.authorizationRequest
    if (isObject(asked)) { // provisional: he asks somebody first, and will answer again
      this.#wait(correlation_id, call, timeLeft(asked.expiresAt))
      return
    }
    this.#finish(correlation_id)
    if (payload.error) call.reject(Object.assign(new Error(payload.error.message), { code: payload.error.code }))
    else call.resolve(payload.result)
  }

  // We may not call it, so we propose it.
  #onRefusal(id, { error, message }) {
    const call = this.#finish(id)

    if (!call) return
    if (error !== 'capability_violation' || call.isProposal) {
      call.reject(new Error(message))
      return
    }
    const { method, params, to } = call
    const proposal = this.send(kindOf('proposal', call), { method, params }, { to: [to] })
    this.#wait(proposal.id, { ...call, isProposal: true }, PATIENCE.proposal)
    this.emit('proposed', proposal)
  }

  // --- proposals ---

  // The gateway shows what others wrote: it is checked like everything else.
  #reconcile(shown) {
    const open = new Map(shown.map(({ id, envelope }) => [id, envelope]))

    for (const id of this.proposals.keys()) if (!open.has(id)) this.proposals.delete(id)
    for (const envelope of open.values()) {
      try {
        if (envelope) this.#open(check(JSON.stringify(envelope)))
      } catch (error) {
        this.emit('offence', error, JSON.stringify(envelope))
      }
    }
  }

  #open(heard) {
    const { id, from, expires_at } = heard.envelope

    if (heard.type !== 'proposal' || from === this.id) return
    if (this.proposals.has(id) || this.proposals.size >= MOST.proposals) return
    this.proposals.set(id, heard)
    setTimeout(() => this.proposals.delete(id), timeLeft(expires_at)).unref()
    this.emit('proposal', heard)
  }

  // What is sent is what was heard: the one shown is the one decided.
  fulfil({ envelope: { id, payload, to = [] }, method, context }, helper = to[0]) {
    this.proposals.delete(id)
    return this.#ask({ to: helper, method, context, params: payload.params }, { correlation_id: id })
  }

  reject({ envelope: { id } }, reason) {
    this.proposals.delete(id)
    this.send('mcp/reject', { reason }, { correlation_id: id })
  }

  #onDecision(type, { from, correlation_id: id, payload }) {
    if (this.#calls.get(id)?.isProposal) this.#finish(id).reject(new Error(`${from} said ${type}: ${payload.reason ?? ''}`))
    if (this.proposals.delete(id)) this.emit('decided', id, type)
  }

  // A request may be the call that somebody proposed. Ours: now we wait for its answer.
  #onFulfilment({ envelope: { id, to = [], correlation_id, payload }, method, context }) {
    const proposal = this.proposals.get(correlation_id)
    const ours = this.#calls.get(correlation_id)
    const isSame = (one) => one?.method === method && one.context === context

    if (ours?.isProposal && isSame(ours) && to.includes(ours.to)) {
      this.#finish(correlation_id)
      this.#wait(id, { ...ours, rpcId: payload.id, isProposal: false }, PATIENCE.call)
    }
    if (!isSame(proposal)) return undefined
    this.proposals.delete(correlation_id)
    this.emit('decided', correlation_id, 'fulfilled')
    return proposal.envelope.from
  }

  // --- serving ---

  #onRequest(heard) {
    const { envelope: { id, from, to = [], payload }, method, context } = heard
    const proposer = this.#onFulfilment(heard)
    const isForAll = to.length === 0 && /^(ping|initialize|\w+\/list)$/.test(method)

    if (payload.id === undefined || !(to.includes(this.id) || isForAll)) return
    this.#answer(method, payload.params ?? {}).then((answer) => {
      this.send(kindOf('response', { method, context }), { jsonrpc: '2.0', id: payload.id, ...answer },
        { to: [...new Set([from, proposer ?? from])], correlation_id: id })
    }).catch((error) => this.emit('unsent', error)) // the connection broke meanwhile
  }

  async #answer(method, params) {
    const capabilities = { tools: {} }
    const serverInfo = { name: this.#name, version: '0.1.0' }

    if (method === 'ping') return { result: {} }
    if (method === 'initialize') return { result: { protocolVersion: '2025-06-18', capabilities, serverInfo } }
    if (method === 'tools/list')
      return { result: { tools: [...this.#tools].map(([name, { call, ...about }]) => ({ name, ...about })) } }
    if (method !== 'tools/call') return { error: { code: -32601, message: `there is no ${method} here` } }
    return this.#run(this.#tools.get(params.name), params.arguments ?? {})
  }

  async #run(tool, args) {
    if (!tool || !isObject(args)) return { error: { code: -32602, message: 'no such tool, or no object of arguments' } }
    try {
      return { result: { content: [{ type: 'text', text: String(await tool.call(args)) }] } }
    } catch (error) {
      return { result: { content: [{ type: 'text', text: error.message }], isError: true } }
    }
  }
}

const timeLeft = (when) => Math.min(Math.max(Date.parse(when) - Date.now() || PATIENCE.proposal, 0), DAY)
