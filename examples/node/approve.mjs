// SPDX-License-Identifier: Apache-2.0
// Fulfils what others propose, if it is one of these tools, and rejects everything else:
//   MOOT_TOKEN=… node approve.mjs add,subtract [ws://127.0.0.1:8420 [lobby]]
import { Participant } from './participant.mjs'

const [trusted = '', url = 'ws://127.0.0.1:8420', topic = 'lobby'] = process.argv.slice(2)
const me = new Participant({ url, topic, token: process.env.MOOT_TOKEN, name: 'approve' })

me.on('proposal', async (proposal) => {
  const { envelope: { id, from, to = [] }, method, context } = proposal

  try {
    if (method === 'tools/call' && trusted.split(',').includes(context) && to.length === 1) {
      await me.fulfil(proposal)
      console.log(`${id}: ${from} wanted ${context} of ${to}: done`)
    } else {
      me.reject(proposal, 'I approve of some tools only')
      console.log(`${id}: ${from} wanted ${method} ${context ?? ''}: rejected`)
    }
  } catch (error) {
    console.log(`${id}: ${error.message}`)
  }
})
me.on('end', (why) => console.log(`over: ${why}`))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => me.leave())
me.connect()
