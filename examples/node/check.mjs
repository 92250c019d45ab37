// SPDX-License-Identifier: Apache-2.0
// What a participant checks in everything it receives, before anything else looks at it (MCPx
// v0.1, 4.3). check(text) gives { envelope, type, method, context }, or throws an Offence.

export class Offence extends Error {
  constructor(what, field, from = '') {
    super(`${what}: ${field}`)
    Object.assign(this, { what, field, from })
  }
}

export const GATEWAY = 'system:gateway'
const OF_THE_GATEWAY = /^(system\/.*|capability\/grant-ack|topic\/invite)$/
const MCP = /^mcp\/(request|response|proposal):(\w[\w.-]*(?:\/\w[\w.-]*)*)(?::([^\s\p{Cc}*]+))?$/u
const WORDS = /^(?!(mcpx?|presence|chat)(\/|$))[a-z][a-z0-9-]*(\/[a-z][a-z0-9-]*)*$/

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
  checkPayload(kind, envelope.payload, must)
  checkCorrelation(kind, envelope, must)
  return { envelope, ...kind }
}

function parse(text) {
  let envelope

  try {
    envelope = JSON.parse(text)
  } catch {
    throw new Offence('malformed_envelope', 'not JSON')
  }
  if (!isObject(envelope)) throw new Offence('malformed_envelope', 'not an object')
  return envelope
}

function checkFields({ protocol, id, from, kind, to = [], ts = 't', correlation_id = 'c', payload }, must) {
  const malformed = (holds, field) => must(holds, 'malformed_envelope', field)

  malformed(protocol === 'mcpx/v0.1', 'protocol')
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

  if (from === GATEWAY || /^system(\/|$)/.test(kind)) {
    must(from === GATEWAY && OF_THE_GATEWAY.test(kind), 'reserved_namespace', 'kind')
    return { type: 'system' }
  }
  if (type) return { type, method, context }
  if (kind === 'chat') return { type: 'chat' }
  if (/^mcp\/(approve|reject|withdraw)$/.test(kind)) return { type: kind.slice(4) }
  must(WORDS.test(kind), 'malformed_kind', 'kind')
  return { type: 'other' }
}

// What a CONTEXT names: the tool, the prompt or the URI in the parameters.
function nameIn(method, params = {}) {
  if (/^resources\/(read|subscribe|unsubscribe)$/.test(method)) return params.uri
  if (method !== 'completion/complete') return params.name
  return params.ref?.type === 'ref/prompt' ? params.ref.name : params.ref?.uri
}

function checkPayload({ type, method, context }, payload, must) {
  const agrees = (holds, field) => must(holds, 'kind_payload_mismatch', `payload.${field}`)
  const malformed = (holds, field) => must(holds, 'malformed_envelope', `payload.${field}`)
  const { id, params, error } = payload

  if (type === 'request' || type === 'proposal') {
    agrees(payload.method === method, 'method')
    agrees(!has(payload, 'result') && !has(payload, 'error'), 'result')
    malformed(params === undefined || isObject(params), 'params')
    if (context !== undefined) agrees(nameIn(method, params) === context, 'params')
    malformed(['undefined', 'string', 'number'].includes(typeof id), 'id')
    if (/^notifications\//.test(method)) malformed(id === undefined, 'id')
  } else if (type === 'response') {
    agrees(payload.method === undefined, 'method')
    agrees(has(payload, 'result') !== has(payload, 'error'), 'result')
    if (has(payload, 'error'))
      malformed(isObject(error) && Number.isInteger(error.code) && typeof error.message === 'string', 'error')
  } else if (type === 'chat') {
    malformed(typeof payload.text === 'string', 'text')
    malformed(['undefined', 'string'].includes(typeof payload.format), 'format')
  }
}

function checkCorrelation({ type }, { correlation_id }, must) {
  if (['response', 'approve', 'reject', 'withdraw'].includes(type))
    must(correlation_id !== undefined, 'missing_correlation', 'correlation_id')
  if (type === 'proposal') must(correlation_id === undefined, 'malformed_envelope', 'correlation_id')
}
