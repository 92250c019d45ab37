// SPDX-License-Identifier: Apache-2.0
// Calls a tool, or proposes it where we may not call:
//   MOOT_TOKEN=… node ask.mjs calculator add '{"a":1,"b":2}' [ws://127.0.0.1:8420 [lobby]]
import { Participant } from './participant.mjs'

const [to, name, args = '{}', url = 'ws://127.0.0.1:8420', topic = 'lobby'] = process.argv.slice(2)
const me = new Participant({ url, topic, token: process.env.MOOT_TOKEN, name: 'ask' })

me.once('welcome', async () => {
  try {
    const { content, isError } = await me.call(to, name, JSON.parse(args))

    console.log(content.map(({ text }) => text).join('\n'))
    process.exitCode = isError ? 3 : 0
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
  me.leave()
})
me.on('proposed', ({ id }) => console.error(`I may not call it; proposed as ${id}`))
me.on('end', (why) => {
  if (process.exitCode === undefined) console.error(why) // we did not get as far as asking
  process.exitCode ??= 1
})
me.connect()
