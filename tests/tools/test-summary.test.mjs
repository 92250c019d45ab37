// SPDX-License-Identifier: Apache-2.0
// tools/test-summary counts leaf tests, and believes neither a missing plan nor a status.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const tool = fileURLToPath(new URL('../../tools/test-summary', import.meta.url));

function summary(name, text) {
  const folder = mkdtempSync(path.join(tmpdir(), 'moot-tap-'));
  try {
    writeFileSync(path.join(folder, name), text);
    const run = spawnSync(tool, [path.join(folder, name)], { encoding: 'utf8' });
    return { status: run.status, lines: run.stdout.trimEnd().split('\n') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const nested = `TAP version 13
# Subtest: top
    # Subtest: one
    ok 1 - one
      ---
      duration_ms: 1
      ...
    # Subtest: two \\# hash
    not ok 2 - two \\# hash
      ---
      error: 'ok 3 - not a point'
      ...
    1..2
not ok 1 - top
  ---
  error: '1 subtest failed'
  ...
ok 2 - later # SKIP no chromium
1..2
# tests 4
`;

const json = (row) => JSON.stringify(row) + '\n';

const cases = [
  ['flat results', 'a.tap', 'ok 1 - x\nok 2 y\n1..2\n', ['2 passed, 0 failed, 0 skipped']],
  [
    'only leaves of nested results',
    'a.tap',
    nested,
    [
      'FAILED a: two # hash',
      "    error: 'ok 3 - not a point'",
      'skipped later: no chromium (a)',
      '1 passed, 1 failed, 1 skipped',
    ],
  ],
  [
    'the comments before a failure as its diagnosis',
    'a.tap',
    '# x.c:1: a is 1, expected 2\nnot ok 1 - x\n1..1\n',
    ['FAILED a: x', '    x.c:1: a is 1, expected 2', '0 passed, 1 failed, 0 skipped'],
  ],
  [
    'a run that ended early as a failure',
    'a.tap',
    'ok 1 - x\n',
    ['FAILED a: ended before its plan', '1 passed, 1 failed, 0 skipped'],
  ],
  [
    'a test that is missing as a failure',
    'a.tap',
    '1..2\nok 1 - x\n',
    ['FAILED a: ran 1 tests of 2', '1 passed, 1 failed, 0 skipped'],
  ],
  [
    'a parent that failed alone',
    'a.tap',
    '    ok 1 - x\n    1..1\nnot ok 1 - hook\n1..1\n',
    ['FAILED a: hook', '1 passed, 1 failed, 0 skipped'],
  ],
  [
    'a bad status although all passed',
    'a.tap',
    'ok 1 - x\n1..1\n# exit status 3\n',
    ['FAILED a: ended with status 3', '1 passed, 1 failed, 0 skipped'],
  ],
  [
    'a plan that skips all',
    'a.tap',
    '1..0 # SKIP no server\n',
    ['skipped all: no server (a)', '0 passed, 0 failed, 1 skipped'],
  ],
  [
    'the programs in a log of meson',
    '07-unit.json',
    json({ name: 'a', stdout: 'ok 1 - x\n1..1\n', result: 'OK', returncode: 0 }) +
      json({ name: 'b', stdout: '', result: 'TIMEOUT', returncode: -15, stderr: 'late\n' }),
    [
      'FAILED unit b: ended before its plan',
      '    ran out of time',
      '    late',
      '1 passed, 1 failed, 0 skipped',
    ],
  ],
];

for (const [name, file, text, lines] of cases)
  test(`it counts ${name}`, () => {
    const failed = !lines.at(-1).includes(' 0 failed');
    assert.deepEqual(summary(file, text), { status: failed ? 1 : 0, lines });
  });
