// SPDX-License-Identifier: Apache-2.0
// What a participant checks in everything it receives, before anything else looks at it (MCPx
// v0.1, 4.3). check(text) gives { envelope, type, method, context }, or throws an Offence.

export class Offence extends Error {
  constructor(what, field, from = '') {
    super(`${what} ${field}`)
    Object.assign(this, { what, field, from })
  }
}

export const GATEWAY = 'system:gateway'
const OF_THE_GATEWAY = /^(system\/.*|capability\/grant-ack|topic\/invite)$/
const MCP = /^mcp\/(request|response|proposal):(\w[\w.-]*(?:\/\w[\w.-]*)*)(?::([^\s\p{Cc}*]+))?$/u
const WORDS = /^(?!(mcpx?|chat)(\/|$))[a-z][a-z0-9-]*(\/[a-z][a-z0-9-]*)*$/

export const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value)
const isName = (value, max = 256) =>
  typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= max && !/\p{Cc}/u.test(value)
const has = (object, name) => Object.hasOwn(object, name)

export function check(text) {
  const envelope = parse(text)
  const from = isName(envelope.from) ? envelope.from : ''
  const must = (holds, what, field) => {
    if (!holds) throw new Offence(what, field, from)
  }

  checkFields(envelope, must)
  const kind = parseKind(envelope, must)
  checkCorrelation(kind, envelope, must)
  checkPayload(kind, envelope.payload, must)
  return { envelope, ...kind }
}

function parse(text) {
  let envelope

  try {
    envelope = JSON.parse(text)
  } catch {
    throw new Offence('malformed_envelope', '')
  }
  if (!isObject(envelope)) throw new Offence('malformed_envelope', '')
  return envelope
}

function checkFields({ protocol, id, from, kind, to = [], ts = 't', correlation_id = 'c', payload }, must) {
  const malformed = (holds, field) => must(holds, 'malformed_envelope', field)

  must(protocol === 'mcpx/v0.1', 'unsupported_protocol', 'protocol')
  malformed(isName(id), 'id')
  malformed(isName(from), 'from')
  malformed(isName(kind, 2048), 'kind')
  malformed(Array.isArray(to) && to.length <= 1024 && to.every((one) => isName(one)), 'to')
  malformed(isName(ts), 'ts')
  malformed(isName(correlation_id), 'correlation_id')
  malformed(isObject(payload), 'payload')
}

// Who says so? The gateway has kinds of its own, and it says nothing else.
function parseKind({ kind, from }, must) {
  const [, type, method, context] = MCP.exec(kind) ?? []

  must(from === GATEWAY ? OF_THE_GATEWAY.test(kind) : !/^system(:|$)/.test(from), 'reserved_namespace', 'from')
  if (from === GATEWAY) return { type: 'system' }
  must(!/^(system|presence)(\/|$)/.test(kind), 'reserved_namespace', 'kind')
  if (type) return { type, method, context }
  if (kind === 'chat') return { type: 'chat' }
  if (/^mcp\/(approve|reject|withdraw)$/.test(kind)) return { type: kind.slice(4) }
  must(WORDS.test(kind), 'malformed_kind', 'kind')
  return { type: 'other' }
}

function checkCorrelation({ type }, { correlation_id }, must) {
  if (['response', 'approve', 'reject', 'withdraw'].includes(type))
    must(correlation_id !== undefined, 'missing_correlation', 'correlation_id')
  if (type === 'proposal') must(correlation_id === undefined, 'malformed_envelope', 'correlation_id')
}

// What a CONTEXT names: the tool, the prompt or the URI in the parameters.
function nameIn(method, params = {}) {
  if (/^resources\/(read|subscribe|unsubscribe)$/.test(method)) return [params.uri, 'params.uri']
  if (method !== 'completion/complete') return [params.name, 'params.name']
  return params.ref?.type === 'ref/prompt' ? [params.ref.name, 'params.ref.name'] : [params.ref?.uri, 'params.ref.uri']
}

function checkPayload({ type, method, context }, payload, must) {
  const agrees = (holds, field) => must(holds, 'kind_payload_mismatch', `payload${field && '.'}${field}`)
  const isOneOf = (value, ...types) => types.includes(typeof value)
  const { id, params, error } = payload

  if (type === 'request' || type === 'proposal') {
    agrees(payload.method === method, 'method')
    agrees(!has(payload, 'result'), 'result')
    agrees(!has(payload, 'error'), 'error')
    agrees(params === undefined || isObject(params), 'params')
    const [name, field] = nameIn(method, params)
    agrees(context === undefined || name === context, field)
    agrees(method.startsWith('notifications/') ? id === undefined : isOneOf(id, 'undefined', 'string', 'number'), 'id')
  } else if (type === 'response') {
    agrees(!has(payload, 'method'), 'method')
    agrees(has(payload, 'result') !== has(payload, 'error'), '')
    agrees(!has(payload, 'error') || isObject(error), 'error')
    agrees(!error || Number.isInteger(error.code), 'error.code')
    agrees(!error || typeof error.message === 'string', 'error.message')
  } else if (type === 'chat') {
    agrees(typeof payload.text === 'string', 'text')
    agrees(isOneOf(payload.format, 'undefined', 'string'), 'format')
  }
}
