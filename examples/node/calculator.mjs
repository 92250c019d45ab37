// SPDX-License-Identifier: Apache-2.0
// A participant that calculates: MOOT_TOKEN=… node calculator.mjs [ws://127.0.0.1:8420 [lobby]]
import { Participant } from './participant.mjs'

const [url = 'ws://127.0.0.1:8420', topic = 'lobby'] = process.argv.slice(2)
const numbers = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] }

// What is in a schema is for the caller to read; whoever is called looks for himself.
const tool = (description, calculate) => ({
  description,
  inputSchema: numbers,
  call: ({ a, b }) => {
    if (!Number.isFinite(a) || !Number.isFinite(b)) throw new Error('a and b must be numbers')
    const result = calculate(a, b)
    if (!Number.isFinite(result)) throw new Error('that has no result')
    return result
  },
})
const tools = new Map([
  ['add', tool('a + b', (a, b) => a + b)],
  ['subtract', tool('a - b', (a, b) => a - b)],
  ['multiply', tool('a * b', (a, b) => a * b)],
  ['divide', tool('a / b', (a, b) => a / b)],
])
const me = new Participant({ url, topic, token: process.env.MOOT_TOKEN, name: 'calculator', tools })

me.on('welcome', () => console.log(`here as ${me.id}, with ${[...me.others.keys()].join(', ') || 'nobody else'}`))
me.on('offence', ({ what, field, from }) => console.log(`dropped something of ${from || 'somebody'}: ${what} (${field}), ${me.offences.get(from)} so far`))
me.on('gap', () => console.log('something was said that I did not hear'))
me.on('end', (why) => console.log(`over: ${why}`))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => me.leave())
me.connect()
