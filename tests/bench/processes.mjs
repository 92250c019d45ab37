// SPDX-License-Identifier: Apache-2.0
// What a process and those below it have used, by /proc.
import { readdirSync, readFileSync } from 'node:fs'

const read = path => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // it has ended
  }
}

// The process and all below it: { pid, words }.
export function family(root) {
  const all = readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(name => ({
    pid: Number(name),
    parent: Number(read(`/proc/${name}/stat`).replace(/^.*\) /s, '').split(' ')[1]),
    words: read(`/proc/${name}/cmdline`).split('\0'),
  }))
  const found = all.filter(({ pid }) => pid === root)

  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid))
  return found
}

const cpuNs = ({ pid }) => readdirSync(`/proc/${pid}/task`)
  .reduce((sum, task) => sum + Number(read(`/proc/${pid}/task/${task}/schedstat`).split(' ')[0]), 0)

// Of the server that is called, and of all others.
export function cpuOf(roots, echo) {
  const all = roots.flatMap(family)
  const sum = some => some.reduce((ns, one) => ns + cpuNs(one), 0)

  return { server: sum(all.filter(({ words }) => words[0] === echo)), others: sum(all.filter(({ words }) => words[0] !== echo)) }
}
