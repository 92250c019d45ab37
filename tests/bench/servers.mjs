// SPDX-License-Identifier: Apache-2.0
// The servers that are compared: how each is started, when it is ready, how it is stopped.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, connect } from 'node:net'
import { availableParallelism, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const READY_MS = 60_000
const STOP_MS = 3_000

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const TOKEN_PREFIX = 'bench-token-7d41c0a9e2f85b36'
export const ID_PREFIX = 'bench'

export class StartError extends Error {}

// Whatever ends the run, it leaves no server and no directory behind.
const running = new Set()
const directories = new Set()
process.on('exit', () => {
  running.forEach(child => child.kill('SIGKILL'))
  directories.forEach(removeDirectory)
})

// Everything that a run of Moot is told; names follow the option table of src/config.
// `settings` are those that a workload wants to be different.
function mootConfig({ port, data, participants, settings }) {
  // Short, because ten thousand of them must fit into a file of 1 MiB.
  const held = settings.capabilities ?? (() => '[mcp/*,chat]')
  const token = i => ` - {token: ${TOKEN_PREFIX}-${i},id: ${ID_PREFIX}-${i},capabilities: ${held(i)}}`
  // The peers record nothing.
  const defaults = { max_members: 100000, loop_guard: 'off', audit: 'off', ...settings.defaults }

  return [
    `listen: 127.0.0.1:${port}`,
    `data: ${data}`,
    `workers: ${settings.workers ?? 1}`,
    ...settings.tls ? [`tls: { certificate: "${settings.tls.certificate}", key: "${settings.tls.key}" }`] : [],
    `topics: { open: true, max: ${settings.maxTopics ?? 100000}, defaults: ${JSON.stringify(defaults)}, named: ${JSON.stringify(settings.named ?? {})} }`,
    ...settings.servers ? [`servers: ${JSON.stringify(settings.servers)}`] : [],
    'limits:',
    '  connections_per_participant: 100000',
    '  rate_messages: 0',
    '  rate_bytes: 0',
    ...Object.entries(settings.limits ?? {}).map(([name, value]) => `  ${name}: ${value}`),
    'tokens:',
    ...Array.from({ length: participants }, (_, i) => token(i)),
    '',
  ].join('\n')
}

function mootCommand({ build, port, directory, participants, settings }) {
  const config = join(directory, 'moot.yaml')
  const data = join(directory, 'data')

  mkdirSync(data, { recursive: true, mode: 0o700 })
  writeFileSync(config, mootConfig({ port, data, participants, settings }), { mode: 0o600 })
  return [join(build, 'moot'), 'serve', '--config', config]
}

// A program of a package: brokers live where only root's PATH looks.
function installed(name) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin']

  return folders.map(folder => join(folder, name)).find(existsSync) ?? name
}

function brokerConfig(directory, lines) {
  const path = join(directory, 'broker.conf')

  writeFileSync(path, [...lines, ''].join('\n'), { mode: 0o600 })
  return path
}

// No limit on what may wait for a reader, or a high one. NATS serves its connections in
// parallel and promises no order between publishers: that its members see different ones
// (order_differs) is not a mistake there.
const natsCommand = ({ port, directory }) => [installed('nats-server'), '-c',
  brokerConfig(directory, [
    `listen: "127.0.0.1:${port}"`,
    'max_connections: 100000',
    'max_pending: 268435456',
  ])]

const redisCommand = ({ port, directory }) => [installed('redis-server'),
  brokerConfig(directory, [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${directory}`,
    'save ""',
    'appendonly no',
    'daemonize no',
    'tcp-backlog 511',
    'maxclients 100000',
    'client-output-buffer-limit pubsub 0 0 0',
  ])]

const mosquittoCommand = ({ port, directory }) => [installed('mosquitto'), '-c',
  brokerConfig(directory, [
    `listener ${port} 127.0.0.1`,
    `user ${userInfo().username}`,
    'allow_anonymous true',
    'persistence false',
    'set_tcp_nodelay true',
    'max_queued_messages 0',
    'max_queued_bytes 0',
    'log_type error',
    'sys_interval 0',
  ])]

const BROKER = ['W1', 'W3', 'W4']

// `ready` is the path that answers 200 over HTTP; without one the port must be open.
// `groups` are the workloads that fit; without them all do. `version` prints one.
export const servers = {
  moot: {
    title: 'Moot',
    program: build => join(build, 'moot'),
    command: mootCommand,
    ready: '/readyz',
    options: ['--token-prefix', TOKEN_PREFIX],
  },
  node: {
    title: 'Node ws',
    program: () => join(ROOT, 'tests/node_modules/ws'),
    command: ({ port }) => [process.execPath, join(ROOT, 'tests/bench/node_ws.mjs'), String(port)],
    ready: '/',
    options: ['--plain'],
  },
  floor: {
    title: 'floor',
    program: build => join(build, 'tests/bench/floor'),
    command: ({ build, port }) => [join(build, 'tests/bench/floor'), String(port)],
    ready: '/',
    options: ['--plain'],
  },
  lws: {
    title: 'libwebsockets',
    program: build => join(build, 'tests/bench/lws_broadcast'),
    command: ({ build, port }) => [join(build, 'tests/bench/lws_broadcast'), String(port)],
    options: ['--plain'],
    groups: ['W1', 'W3', 'W4', 'W5', 'W6'],
    version: ['pkg-config', '--modversion', 'libwebsockets'],
  },
  nats: {
    title: 'NATS',
    program: () => installed('nats-server'),
    command: natsCommand,
    options: ['--protocol', 'nats'],
    groups: [...BROKER, 'W2'],
    version: [installed('nats-server'), '--version'],
  },
  redis: {
    title: 'Redis',
    program: () => installed('redis-server'),
    command: redisCommand,
    options: ['--protocol', 'redis'],
    groups: BROKER,
    version: [installed('redis-server'), '--version'],
  },
  mosquitto: {
    title: 'Mosquitto',
    program: () => installed('mosquitto'),
    command: mosquittoCommand,
    options: ['--protocol', 'mqtt'],
    groups: BROKER,
    version: [installed('mosquitto'), '-h'],
  },
}

export const isBuilt = (name, build) => existsSync(servers[name].program(build))

// `only` in a workload names the servers that can do it.
export const fits = (name, { group, only }) =>
  (only?.includes(name) ?? true) && (servers[name].groups?.includes(group) ?? true)

// "2.9.10" and the like, or null.
export function versionOf(name) {
  const command = servers[name].version

  if (!command) return null
  const { stdout } = spawnSync(command[0], command.slice(1), { encoding: 'utf8', timeout: 5000 })
  return /\d+\.\d+\.\d+/.exec(stdout ?? '')?.[0] ?? null
}

// Server and generator get a core each, where there are two and taskset may say so.
export function cores() {
  const works = core => spawnSync('taskset', ['-c', String(core), 'true']).status === 0
  const last = availableParallelism() - 1

  return last > 0 && works(0) && works(last) ? { server: 0, load: last } : null
}

// Who measures latency beside a busy generator must not wait for the core they share: it goes
// before, by real-time priority or a better nice value, where that is allowed.
export function urgent(command) {
  const works = words => spawnSync(words[0], [...words.slice(1), 'true']).status === 0
  const prefix = [['chrt', '-f', '10'], ['nice', '-n', '-15']].find(works)

  return prefix ? [...prefix, ...command] : command
}

export const pinned = (core, command) =>
  core === undefined ? command : ['taskset', '-c', String(core), ...command]

export function newDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'moot-bench-'))

  directories.add(directory)
  return directory
}

export function removeDirectory(directory) {
  rmSync(directory, { recursive: true, force: true })
  directories.delete(directory)
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')

  await once(server, 'listening')
  const { port } = server.address()
  await new Promise(done => server.close(done))
  return port
}

// The first line of the answer to a GET, or null when nobody answers.
function httpStatus(port, path) {
  return new Promise(done => {
    const socket = connect({ port, host: '127.0.0.1' })

    socket.setTimeout(1000, () => socket.destroy())
    socket.on('connect', () => socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`))
    socket.on('data', data => {
      done(Number(String(data).split(' ')[1]))
      socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => done(null))
  })
}

function isOpen(port) {
  return new Promise(done => {
    const socket = connect({ port, host: '127.0.0.1' })

    socket.setTimeout(1000, () => socket.destroy())
    socket.on('connect', () => {
      done(true)
      socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => done(false))
  })
}

const isReady = async (port, path) =>
  path ? await httpStatus(port, path) === 200 : isOpen(port)

// Starts a process that does not outlive this one.
export function track(command, stdio) {
  const child = spawn(command[0], command.slice(1), { cwd: ROOT, stdio })

  child.on('exit', () => running.delete(child))
  running.add(child)
  return child
}

function spawnServer(command) {
  const child = track(command, ['ignore', 'ignore', 'pipe'])
  const said = []

  child.stderr.on('data', data => said.length < 20 && said.push(String(data)))
  child.on('error', error => said.push(error.message))
  child.said = said
  return child
}

const hasEnded = child =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null

// A certificate for 127.0.0.1 that trusts itself: P-256, as most have today.
export function makeCertificate(directory) {
  const [certificate, key] = ['cert.pem', 'key.pem'].map(name => join(directory, name))
  const { status, stderr } = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec',
    '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=bench',
    '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate], { encoding: 'utf8' })

  if (status !== 0) throw new Error(`openssl makes no certificate: ${stderr}`)
  return { certificate, key }
}

// Starts a server, one of the table or one like those, `under` another program if one is given, and waits until it answers.
// `options` are what its command is made of; `pause` is what passes between attempts.
export async function startServer(name, {
  core, under = [], settings = {}, pause = () => sleep(10), ...options
}) {
  const server = servers[name] ?? name
  const port = await freePort()
  const command = pinned(core, [...under, ...server.command({ port, settings, ...options })])
  const ready = settings.tls ? null : server.ready
  const began = performance.now()
  const child = spawnServer(command)

  while (!await isReady(port, ready)) {
    if (hasEnded(child) || performance.now() - began > READY_MS) {
      await stopServer({ child })
      throw new StartError(`it cannot be started: ${child.said.join('').trim()}`)
    }
    await pause()
  }
  return { child, port, pid: child.pid, startMs: performance.now() - began }
}

export async function stopServer({ child }) {
  if (hasEnded(child)) return
  const ended = once(child, 'exit')
  const patience = setTimeout(() => child.kill('SIGKILL'), STOP_MS)

  child.kill('SIGTERM')
  await ended
  clearTimeout(patience)
}

// `part`: a line of smaps_rollup.
export function residentBytes(pid, part = 'Rss') {
  const [, kib] = new RegExp(`^${part}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))

  return Number(kib) * 1024
}
