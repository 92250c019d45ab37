// SPDX-License-Identifier: Apache-2.0
// The growth as a drawing: an SVG with a panel for each thing that grows, both axes
// logarithmic, a line per server through the medians with bars from minimum to maximum.

const WIDTH = 420
const HEIGHT = 300
const MARGIN = { left: 62, right: 16, top: 34, bottom: 46 }
const COLORS = ['#1f6f8b', '#d1495b', '#66a182', '#edae49', '#7d5ba6']

const escape = text => text.replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c])
const digits = value => Number(value.toFixed(1))
const short = value => value >= 1000 ? `${value / 1000}k` : String(value)

// Powers of ten with 2 and 5 between them, as far as they lie in the range.
function ticks(low, high) {
  const all = []

  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
    for (const step of [1, 2, 5]) all.push(step * 10 ** power)
  return all.filter(value => value >= low && value <= high)
}

function scale(low, high, from, to) {
  const span = Math.log(high / low) || 1

  return value => digits(from + Math.log(value / low) / span * (to - from))
}

// `series` is [{ name, points: [{ x, median, min, max }] }].
function panelOf({ title, unit, series }, left) {
  const points = series.flatMap(({ points: own }) => own)
  const xs = points.map(({ x }) => x)
  const [low, high] = [Math.min(...points.map(p => p.min)) * 0.8, Math.max(...points.map(p => p.max)) * 1.25]
  const x = scale(Math.min(...xs), Math.max(...xs), left + MARGIN.left, left + WIDTH - MARGIN.right)
  const y = scale(low, high, HEIGHT - MARGIN.bottom, MARGIN.top)
  const out = [`<text x="${left + MARGIN.left}" y="16" font-weight="bold">${escape(unit)} by ${escape(title)}</text>`]

  for (const value of ticks(low, high))
    out.push(`<line x1="${left + MARGIN.left}" x2="${left + WIDTH - MARGIN.right}" y1="${y(value)}" y2="${y(value)}" stroke="#ddd"/>`,
      `<text x="${left + MARGIN.left - 6}" y="${digits(y(value) + 4)}" text-anchor="end">${short(value)}</text>`)
  for (const value of new Set(xs))
    out.push(`<text x="${x(value)}" y="${HEIGHT - MARGIN.bottom + 18}" text-anchor="middle">${short(value)}</text>`)
  series.forEach(({ name, points: own }, i) => {
    const color = COLORS[i % COLORS.length]

    out.push(`<polyline fill="none" stroke="${color}" stroke-width="2" points="${own.map(p => `${x(p.x)},${y(p.median)}`).join(' ')}"/>`)
    for (const p of own)
      out.push(`<line x1="${x(p.x)}" x2="${x(p.x)}" y1="${y(p.min)}" y2="${y(p.max)}" stroke="${color}"/>`,
        `<circle cx="${x(p.x)}" cy="${y(p.median)}" r="3" fill="${color}"/>`)
    out.push(`<text x="${left + MARGIN.left + i * 110}" y="${HEIGHT - 8}" fill="${color}">● ${escape(name)}</text>`)
  })
  return out.join('\n')
}

// The panels of a report's rows; `workloads` tell which rows are drawn and where.
export function panelsOf(workloads, rows, titleOf) {
  const panels = new Map()

  for (const { id, plot, metrics } of workloads) {
    const row = plot && rows.find(({ workload, metric }) => workload === id && metric === metrics[0].label)
    if (!row) continue
    const panel = panels.get(plot.panel) ?? { title: plot.panel, unit: row.metric, series: [] }

    panels.set(plot.panel, panel)
    for (const [server, { median, min, max }] of Object.entries(row.servers)) {
      const name = titleOf(server)
      const own = panel.series.find(one => one.name === name) ?? { name, points: [] }

      if (!panel.series.includes(own)) panel.series.push(own)
      own.points.push({ x: plot.x, median, min, max })
    }
  }
  return [...panels.values()]
}

export const asSvg = panels => [
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH * panels.length} ${HEIGHT}" ` +
    'font-family="sans-serif" font-size="12">',
  '<rect width="100%" height="100%" fill="#fff"/>',
  ...panels.map((panel, i) => panelOf(panel, i * WIDTH)),
  '</svg>',
  '',
].join('\n')
