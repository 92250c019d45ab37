// SPDX-License-Identifier: Apache-2.0
// Every rule of tools/lint is broken once, and found at its line.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runOn } from './tree.mjs';

const SPDX = '/* SPDX-License-Identifier: Apache-2.0 */\n';
const c = (...lines) => SPDX + lines.map((line) => line + '\n').join('');
const h = (...lines) => c('#pragma once', ...lines);

const good = {
  'src/base/str.h': h(
    'typedef enum err (*check)(struct str s);',
    'struct str {',
    '    size_t len; /* strcpy(a, b) in a comment */',
    '};',
    'extern long counter;',
  ),
  'src/base/str.c': c(
    '#ifdef __linux__',
    'static const char *text = "strcpy(a, b); extern";',
    '#endif',
    'void f(void)',
    '{',
    '    (void)snprintf(a, 1, "%s", b);',
    '    log_warn("client.reject", "id=%d", 1);',
    '    log_info(',
    '        "client.accept", "id=%d", 1); /* see TODO #12 */',
    '    g(1, 2, 3, 4, 5, 6, 7); /* NOLINT(readability-function-size): a table */',
    '    strcpy(a, b); /* lint: b is a literal */',
    '}',
    'enum err h(void)',
    '{',
    '    CLEANUP(buf_done) struct buf a = {}, b;',
    '    CLEANUP(xfreep) char *c = NULL;',
    '    buf_init(&b, 1);',
    '    return OK;',
    '}',
    'void i(void)',
    '{',
    '    CLEANUP(buf_done) struct buf a;',
    '}',
  ),
  'tests/unit/meson.build': "unit_tests = [\n  'base_str',\n]\n",
  'tests/unit/test_base_str.c': c(),
  'tests/e2e/chat.test.mjs': '// SPDX-License-Identifier: Apache-2.0\n',
};

const body = (line) => ({ 'src/base/x.c': c('void f(void)', '{', line, '}') });

const forbidden = 'strcpy strcat strncpy sprintf vsprintf strtok atoi atol gets localtime alloca';

const cases = [
  ...forbidden
    .split(' ')
    .map((name) => [name, body(`    ${name}(a);`), `src/base/x.c:4: ${name} is forbidden`]),
  ['extern in a .c file', { 'src/base/x.c': c('extern int a;') }, 'src/base/x.c:2: extern in'],
  [
    'typedef of a struct',
    { 'src/base/x.h': h('typedef struct a {', '    int b;', '} a;') },
    'src/base/x.h:3: typedef of a struct',
  ],
  [
    'typedef of an enum',
    { 'src/base/x.h': h('typedef enum a b;') },
    'src/base/x.h:3: typedef of a enum',
  ],
  ['a _t type', { 'src/base/x.h': h('typedef int a_t;') }, 'src/base/x.h:3: a_t is defined'],
  ['a _t struct', { 'src/base/x.h': h('struct a_t {', '};') }, 'src/base/x.h:3: a_t is defined'],
  ['a file without SPDX line', { 'src/base/x.c': 'int a;\n' }, 'src/base/x.c:1: has no SPDX'],
  ['a test without SPDX line', { 'tests/e2e/a.mjs': '1;\n' }, 'tests/e2e/a.mjs:1: has no SPDX'],
  ['a header without pragma', { 'src/base/x.h': c() }, 'src/base/x.h:1: has no #pragma once'],
  [
    'a long .c file',
    { 'src/base/x.c': c(...Array(800).fill('')) },
    'src/base/x.c:1: has 801 lines, the limit is 800',
  ],
  [
    'a long header',
    { 'src/base/x.h': h(...Array(200).fill('')) },
    'src/base/x.h:1: has 202 lines, the limit is 200',
  ],
  ['trailing white space', body('    g(); '), 'src/base/x.c:4: ends with white space'],
  ['a tab', body('\tg();'), 'src/base/x.c:4: has a tab'],
  ['a missing newline', { 'src/base/x.c': c('int a;').trimEnd() }, 'src/base/x.c:2: has no newl'],
  ['a promise without a number', body('    g(); /* FIXME */'), 'src/base/x.c:4:'], // lint: a case
  ['NOLINT without a check', body('    g(); /* NOLINT */'), 'src/base/x.c:4: a suppression'],
  [
    'NOLINT without a reason',
    body('    g(); /* NOLINT(bugprone-x) */'),
    'src/base/x.c:4: a suppression',
  ],
  [
    'a clean-up of nothing',
    body('    CLEANUP(buf_done) struct buf a = {}, b; if (x) return; buf_init(&b, 1);'),
    'src/base/x.c:4: b is cleaned up by a return before it has a value',
  ],
  [
    'a clean-up behind a goto',
    body('    CLEANUP(xfreep) char *a[2]; if (x) goto out; a[0] = b(); out:'),
    'src/base/x.c:4: a is cleaned up by',
  ],
  ['an odd event', body('    log_info("started", "");'), 'src/base/x.c:4: event "started" is'],
  [
    'an event seen twice',
    body('    log_error("client.reject", "");'),
    'src/base/x.c:4: event "client.reject" is logged by src/base/str.c:8 as well',
  ],
  [
    'a test that is not built',
    { 'tests/unit/test_base_buf.c': c() },
    'tests/unit/test_base_buf.c:1: is not in tests/unit/meson.build',
  ],
  ['#if in a function', body('#ifdef A'), 'src/base/x.c:4: #if inside a function body'],
];

test('a tree that keeps the rules passes', () => {
  assert.deepEqual(runOn('lint', good), { status: 0, said: [''] });
});

for (const [name, files, said] of cases)
  test(`${name} is refused`, () => {
    const run = runOn('lint', { ...good, ...files });
    assert.equal(run.status, 1);
    assert.equal(run.said.length, 1, run.said.join('\n'));
    assert.ok(run.said[0].startsWith(said), run.said[0]);
  });
