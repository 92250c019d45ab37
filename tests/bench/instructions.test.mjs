// SPDX-License-Identifier: Apache-2.0
// Nobody makes a message or a delivery more expensive without noticing. What they cost is
// recorded in instructions.json; UPDATE_BASELINE=1 records it anew.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { circumstances, differences, measure, scenarios } from './instructions.mjs'
import { ROOT, servers } from './servers.mjs'

const BUILD = join(ROOT, 'build')
const RECORD = new URL('instructions.json', import.meta.url)
const HOW = 'If this is meant, record it:\n' +
  '  UPDATE_BASELINE=1 node --test tests/bench/instructions.test.mjs\n' +
  'Where it goes: node tests/bench/instructions.mjs --profile'

const now = circumstances(BUILD)
const updates = Boolean(process.env.UPDATE_BASELINE)
const recorded = updates ? null : JSON.parse(readFileSync(RECORD, 'utf8'))

// The counts of another compiler or of other vectors say nothing about a change of ours.
function reasonToSkip() {
  const other = recorded && Object.keys(now).find(key => now[key] !== recorded[key])

  if (spawnSync('valgrind', ['--version']).status !== 0) return 'valgrind is not installed'
  return other ? `recorded with ${recorded[other]}, this is ${now[other]}` : false
}

test('a figure that is off by more than 5 % is told', () => {
  const told = (value, old) => differences('moot', 'W1/1', { message: value }, { message: old })

  assert.deepEqual(told(1050, 1000), [])
  assert.deepEqual(told(950, 1000), [])
  assert.deepEqual(told(1051, 1000), ['moot W1/1 message: 1000 recorded, now 1051 (+5.1 %)'])
  assert.deepEqual(told(949, 1000), ['moot W1/1 message: 1000 recorded, now 949 (-5.1 %)'])
  assert.deepEqual(told(12, 10), [], 'two instructions are nothing')
  assert.deepEqual(told(NaN, 1000).length, 1)
  assert.deepEqual(differences('moot', 'W9', { message: 7 }, undefined),
    ['moot W9 message: nothing recorded, now 7 (new)'])
})

const skip = reasonToSkip()
const figures = skip ? {} : (await measure({ build: BUILD })).figures

if (updates && !skip)
  writeFileSync(RECORD, `${JSON.stringify({ ...now, figures }, null, 2)}\n`)

for (const name of ['moot', 'floor'])
  for (const { id, title, only } of scenarios)
    if (!only || only === name)
      test(`${servers[name].title}, ${id}, ${title}: as many instructions as recorded`, { skip }, () => {
        const values = figures[name][id]
        const told = differences(name, id, values, updates ? values : recorded.figures[name]?.[id])

        assert.equal(told.length, 0, `${told.join('\n')}\n${HOW}`)
      })
