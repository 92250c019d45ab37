// SPDX-License-Identifier: Apache-2.0
// From single results to one table: medians with their range, and ratios.
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release } from 'node:os'
import { derived, isCpu, judge, publishedRatio } from './bars.mjs'
import { servers, versionOf } from './servers.mjs'
import { faults } from './workloads.mjs'

export const titleOf = name => (servers[name] ?? derived[name]).title

export function machine(pinning, names) {
  const ws = JSON.parse(readFileSync(new URL('../package.json', import.meta.url))).dependencies.ws

  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    kernel: `Linux ${release()}`,
    node: process.version,
    ws,
    versions: Object.fromEntries(names.map(name => [name, versionOf(name)]).filter(([, text]) => text)),
    pinning: pinning ? `server on core ${pinning.server}, generator on core ${pinning.load}` : 'none',
    load_average: loadavg()[0],
  }
}

const pick = (result, key) => key.split('.').reduce((value, part) => value?.[part], result)

function summary(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const median = sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2

  return { median, min: sorted[0], max: sorted.at(-1), values }
}

// What the peers that are not here would take, from the floor and their published ratio.
function derivedCells(workload, label, { floor }) {
  if (!floor || !isCpu(label)) return {}
  return Object.fromEntries(Object.keys(derived)
    .map(peer => [peer, publishedRatio(peer, workload)])
    .filter(([, ratio]) => ratio)
    .map(([peer, ratio]) => [peer, { ...summary([floor.median * ratio]), isDerived: true }]))
}

const ratiosTo = (base, cells) => !cells[base]?.median ? {}
  : Object.fromEntries(Object.entries(cells).map(([name, { median }]) => [name, median / cells[base].median]))

// One row per workload and metric: the servers' cells, their ratios and Moot's bars.
function rowsOf(workload, results) {
  return workload.metrics.map(({ key, label }) => {
    const measured = {}

    for (const [server, runs] of Object.entries(results)) {
      const values = runs.map(run => pick(run, key)).filter(Number.isFinite)
      if (values.length) measured[server] = summary(values)
    }
    const cells = { ...measured, ...derivedCells(workload.id, label, measured) }

    return {
      workload: workload.id,
      title: workload.title,
      metric: label,
      servers: cells,
      ratios: { floor: ratiosTo('floor', cells), node: ratiosTo('node', cells) },
      bars: judge(workload.id, label, cells),
    }
  })
}

function faultsOf(workload, results) {
  const seen = []

  for (const [server, runs] of Object.entries(results))
    for (const run of runs)
      for (const fault of faults)
        if (run[fault]) seen.push({ workload: workload.id, server, fault, count: run[fault] })
  return seen
}

// `results` maps a workload to { server: [answers of the generator] }.
export function summarize(results, failures, facts, options) {
  const all = [...results]

  return {
    date: new Date().toISOString(),
    machine: facts,
    options,
    rows: all.flatMap(([workload, result]) => rowsOf(workload, result)),
    faults: all.flatMap(([workload, result]) => faultsOf(workload, result)),
    failures,
  }
}

function number(value) {
  if (Math.abs(value) >= 100) return String(Math.round(value))
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}

function cell(value) {
  if (!value) return '–'
  if (value.values.length === 1) return number(value.median)
  return `${number(value.median)} [${number(value.min)}–${number(value.max)}]`
}

const ratio = value => Number.isFinite(value) ? `${value.toFixed(2)} ×` : '–'

function barText({ to, max, unit, value, isMet, isClose }) {
  const verdict = isMet ? 'met' : isClose ? 'not met, but inside the range' : 'not met'
  const what = to ? `× ${titleOf(to).replace(' (published ratio)', '')}` : unit

  return `${verdict}: ${value < 1 ? value.toFixed(3) : number(value)} of ${max} ${what}`
}

// A line per server, those of one workload and metric together.
function table({ rows }) {
  const head = ['workload', 'metric', 'server', 'value', 'to floor', 'to Node ws', 'bar']
  const lines = rows.flatMap(row => Object.entries(row.servers).map(([name, value], i) => [
    i === 0 ? `${row.workload} ${row.title}` : '',
    i === 0 ? row.metric : '',
    titleOf(name),
    cell(value),
    ratio(row.ratios.floor[name]),
    ratio(row.ratios.node[name]),
    name === 'moot' ? row.bars.map(barText).join('; ') : '',
  ]))

  return [head, ...lines]
}

function verdict({ rows, options }) {
  const bars = rows.flatMap(row => row.bars)
  const met = bars.filter(({ isMet }) => isMet).length
  const has = id => rows.some(({ workload }) => workload === id)

  if (!bars.length) return 'No bar was judged.'
  return [
    `Bars: ${met} of ${bars.length} met by the median.`,
    options.rounds < 9 && 'One that is close asks for nine rounds.',
    has('W2') && options.topics < 1000 && 'The bar of W2 is meant for 1000 topics.',
    has('W4/100') && options.connections < 10000 && 'The bar of W4 is meant for 10000 connections.',
  ].filter(Boolean).join(' ')
}

function notes(report) {
  const { machine: facts, options, faults: seen, failures } = report
  const versions = Object.entries(facts.versions).map(([name, text]) => `${titleOf(name)} ${text}`)

  return [
    `${facts.cpu}, ${facts.cores} cores, ${facts.kernel}; ` +
      [`Node ${facts.node} with ws ${facts.ws}`, ...versions].join(', ') + '; ' +
      `loopback, ${options.rounds} interleaved round${options.rounds > 1 ? 's' : ''} of ${options.seconds} s, median [min–max]; ` +
      `pinning: ${facts.pinning}; load average before: ${facts.load_average.toFixed(2)}.`,
    verdict(report),
    seen.length ? 'Faults seen by the receivers:'
      : 'Nothing was lost, doubled, out of order or refused.',
    ...seen.map(f => `- ${f.workload} ${titleOf(f.server)}: ${f.fault} ${f.count}`),
    ...failures.map(f => `- ${f.workload} ${titleOf(f.server)} failed: ${f.message}`),
  ]
}

const isLeft = column => column < 3 || column === 6

export function asText(report) {
  const lines = table(report)
  const widths = lines[0].map((_, i) => Math.max(...lines.map(line => line[i].length)))
  const pad = line => line.map((text, i) => isLeft(i) ? text.padEnd(widths[i]) : text.padStart(widths[i]))

  return [...lines.map(line => pad(line).join('  ').trimEnd()), '', ...notes(report), ''].join('\n')
}

export function asMarkdown(report) {
  const [head, ...lines] = table(report)
  const row = cells => `| ${cells.join(' | ')} |`
  const rule = head.map((_, i) => isLeft(i) ? '---' : '---:')
  const [facts, ...rest] = notes(report)

  return [facts, '', row(head), row(rule), ...lines.map(row), '', ...rest, ''].join('\n')
}
