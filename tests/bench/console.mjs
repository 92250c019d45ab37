// SPDX-License-Identifier: Apache-2.0
// The console's room in a browser: how soon it can be used, what it holds with 100,000 envelopes,
// how smooth it stays while 1,000 envelopes a second arrive and while one scrolls, and how much
// is loaded.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { envelope, person, startGateway } from '../e2e/gateway.mjs'
import { skip, startBrowser } from '../console/browser.mjs'

const ROOM = 'bench'
const SETTINGS = {
  tokens: [
    person('ann', { type: 'human', capabilities: ['mcp/*', 'chat'] }),
    person('bot', { type: 'agent', capabilities: ['mcp/*', 'chat'] }),
    person('tool', { type: 'service', capabilities: ['mcp/*', 'chat'] }),
  ],
  limits: { rate_messages: '0', rate_bytes: '0' },
  topics: { defaults: { ring_messages: 200_000, ring_bytes: '512MiB', audit: 'off', loop_guard: 'off' } },
}

const number = value => value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(1)
const table = (head, rows) => [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')
const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]

// Half of it talk, the rest calls with their answers: what a room of agents sounds like.
function* story() {
  for (let i = 0; ; i++) {
    yield ['bot', envelope('bot', 'chat', { ts: new Date().toISOString(), payload: { text: `Message **${i}**: the folder has \`${i % 97}\` files.` } })]
    const call = envelope('bot', 'mcp/request:tools/call:read_file', {
      ts: new Date().toISOString(), to: ['tool'],
      payload: { jsonrpc: '2.0', id: i, method: 'tools/call', params: { name: 'read_file', arguments: { path: `/data/${i}.txt`, limit: 100 } } },
    })
    yield ['bot', call]
    yield ['bot', envelope('bot', 'chat', { ts: new Date().toISOString(), payload: { text: `Next is ${i + 1}.` } })]
    yield ['tool', envelope('tool', 'mcp/response:tools/call:read_file', {
      ts: new Date().toISOString(), to: ['bot'], correlation_id: call.id,
      payload: { jsonrpc: '2.0', id: i, result: { content: [{ type: 'text', text: `Line ${i} of a file that has some text in it.` }] } },
    })]
  }
}

async function actors(gateway) {
  const made = {}
  for (const id of ['bot', 'tool']) {
    made[id] = await gateway.join(id, { topic: ROOM, routing: 'directed', echo: 'off', presence: 'off', isPresent: true })
    made[id].socket.removeAllListeners('message') // they only talk
  }
  return made
}

const sent = client => new Promise(resolve => client.socket.ping(undefined, undefined, () => client.socket.once('pong', resolve)))

async function fill(people, said, count) {
  for (let i = 0; i < count; i++) {
    const [who, what] = said.next().value
    people[who].send(what)
    if (i % 2000 === 1999) await Promise.all(Object.values(people).map(sent))
  }
  await Promise.all(Object.values(people).map(sent))
}

async function flood(people, said, perSecond, seconds) {
  const begin = performance.now()
  for (let i = 0; i < perSecond * seconds;) {
    const due = Math.min(perSecond * seconds, Math.floor((performance.now() - begin) / 1000 * perSecond) + 1)
    for (; i < due; i++) {
      const [who, what] = said.next().value
      people[who].send(what)
    }
    await sleep(4)
  }
}

// From the beginning of the navigation to a room that is live and shows its end.
async function open(browser, gateway) {
  const page = await browser.page(gateway, { token: 'ann-token', path: `/console/room/${ROOM}` })
  const ms = await page.evaluate(() => new Promise(done => {
    const look = () => document.querySelector('.composer textarea') && document.querySelector('.room-title .badge.ok') && document.querySelector('.virtual-row')
      ? done(performance.now()) : requestAnimationFrame(look)
    look()
  }))
  return { page, ms }
}

// Timestamps of frames while something goes on.
async function frames(page, during) {
  await page.evaluate(() => {
    window.benchFrames = []
    const note = now => { window.benchFrames?.push(now); if (window.benchFrames) requestAnimationFrame(note) }
    requestAnimationFrame(note)
  })
  const before = await metricsOf(page)
  await during()
  const spent = await metricsOf(page)
  const times = await page.evaluate(() => { const all = window.benchFrames; window.benchFrames = null; return all })
  const gaps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b)
  const each = name => (spent[name] - before[name]) / times.length * 1000
  return {
    fps: (times.length - 1) / (times.at(-1) - times[0]) * 1000, p95_ms: percentile(gaps, 0.95), worst_ms: gaps.at(-1),
    script_ms: each('ScriptDuration'), layout_ms: each('LayoutDuration') + each('RecalcStyleDuration'),
  }
}

// The browser's own view of the page, which counts from when it was asked first.
async function sessionOf(page) {
  if (!page.benchSession) {
    page.benchSession = await page.context().newCDPSession(page)
    await page.benchSession.send('Performance.enable')
  }
  return page.benchSession
}

// What the page has spent so far, and holds.
async function metricsOf(page) {
  const session = await sessionOf(page)
  const { metrics } = await session.send('Performance.getMetrics')
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]))
}

async function memory(page) {
  const session = await sessionOf(page)
  await session.send('HeapProfiler.collectGarbage')
  const { JSHeapUsedSize, Nodes } = await metricsOf(page)
  return { heap_mib: JSHeapUsedSize / 2 ** 20, nodes: Nodes, rss_mib: await renderer(page) }
}

// What the process of this page holds, by the kernel's word.
async function renderer(page) {
  const session = await page.context().browser().newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  const sizes = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => {
    try {
      return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))[1]) / 1024
    } catch {
      return 0
    }
  })
  return Math.max(...sizes)
}

const scroll = (page, ms) => page.evaluate(limit => new Promise(done => {
  const list = document.querySelector('.virtual-list')
  const begin = performance.now()
  const step = now => {
    list.scrollTop -= 240
    if (now - begin < limit) requestAnimationFrame(step)
    else done()
  }
  requestAnimationFrame(step)
}), ms)

async function sizes(gateway) {
  const files = ['/', ...(await gateway.request('GET /')).text.match(/\/assets\/[^"]+\.(?:js|css)/g)]
  const length = async (file, encoding) => Number((await gateway.request(`HEAD ${file}`, { headers: { 'Accept-Encoding': encoding } })).headers['content-length'])
  return Promise.all(files.map(async file => ({
    file: file === '/' ? 'page' : file.endsWith('.js') ? 'script' : 'style',
    bytes: await length(file, 'identity'), gzip: await length(file, 'gzip'), brotli: await length(file, 'br'),
  })))
}

export async function consoleBench({ envelopes, perSecond, seconds }, { facts, say }) {
  if (skip) throw new Error(skip)
  const gateway = await startGateway(SETTINGS)
  const browser = await startBrowser()
  const people = await actors(gateway)
  const said = story()

  try {
    await gateway.request(`GET /topics/${ROOM}/messages`, { token: 'ann-token' }) // from here on all is held for her
    await fill(people, said, 20)
    say('an almost empty room')
    const empty = await open(browser, gateway)
    const emptyMemory = await memory(empty.page)
    await empty.page.done()
    say(`${envelopes.toLocaleString('en-US')} envelopes`)
    await fill(people, said, envelopes)
    const full = await open(browser, gateway)
    const fullMemory = await memory(full.page)
    say('scrolling through them')
    const scrolling = await frames(full.page, () => scroll(full.page, seconds * 1000))
    await full.page.keyboard.press('.')
    say(`${perSecond} envelopes a second for ${seconds} s`)
    const flooding = await frames(full.page, () => flood(people, said, perSecond, seconds))
    const after = await memory(full.page)
    await full.page.done()
    const result = {
      machine: facts, envelopes, perSecond, seconds, sizes: await sizes(gateway),
      open: { empty_ms: empty.ms, full_ms: full.ms }, memory: { empty: emptyMemory, full: fullMemory, after }, scrolling, flooding,
    }
    return { ...result, markdown: asMarkdown(result) }
  } finally {
    await gateway.stop().catch(() => {})
    await browser.close()
  }
}

function asMarkdown({ machine, envelopes, perSecond, sizes: files, open: times, memory: held, scrolling, flooding }) {
  const all = envelopes.toLocaleString('en-US')
  const frameRow = (title, { fps, p95_ms, worst_ms, script_ms, layout_ms }) => [title, ...[fps, p95_ms, worst_ms, script_ms, layout_ms].map(number)]
  const memoryRow = (title, { heap_mib, rss_mib, nodes }) => [title, number(heap_mib), number(rss_mib), number(nodes)]

  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}; headless chromium without a GPU`,
    table(['file', 'bytes', 'gzip', 'Brotli'], files.map(({ file, bytes, gzip, brotli }) => [file, bytes, gzip, brotli].map(value => value.toLocaleString('en-US')))),
    table(['room', 'ms until it can be used'], [['almost empty', number(times.empty_ms)], [`${all} envelopes`, number(times.full_ms)]]),
    table(['room', 'JS heap MiB', 'process MiB', 'DOM nodes'], [
      memoryRow('almost empty', held.empty), memoryRow(`${all} envelopes`, held.full), memoryRow('and what came live', held.after)]),
    table(['while', 'frames/s', 'p95 ms', 'longest ms', 'script ms/frame', 'layout ms/frame'], [frameRow(`scrolling in ${all}`, scrolling), frameRow(`${perSecond} envelopes/s arrive`, flooding)]),
  ].join('\n\n') + '\n'
}
