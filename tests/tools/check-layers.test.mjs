// SPDX-License-Identifier: Apache-2.0
// Every rule of tools/check-layers is broken once, and found at its line.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runOn } from './tree.mjs';

const good = {
  'src/LAYERS': [
    '# comment',
    'base:',
    'crypto: base            [libcrypto]',
    'loop:   base',
    'ws:     base crypto     pure [zlib]',
    'net:    base loop       [libssl]',
    'main.c: base net',
    '',
  ].join('\n'),
  'src/base/str.h': '#include <stddef.h>\n',
  'src/base/log.h': '#include "base/str.h"\n',
  'src/crypto/hash.c': '#include <openssl/evp.h>\n#include <openssl/err.h>\n',
  'src/loop/loop.c': '#include <sys/epoll.h>\n#include <time.h>\n',
  'src/ws/ws.h': '/* #include "loop/loop.h" */\n#include "crypto/hash.h"\n',
  'src/ws/ws_priv.h': '#include <zlib.h>\n',
  'src/ws/ws.c': '#include "ws/ws_priv.h"\nstatic const char *s = "time(";\n',
  'src/net/tls.c': '#include <openssl/ssl.h>\n#include <openssl/bio.h>\n',
  'src/main.c': '#include "net/net.h"\n',
};

const cases = [
  ['a folder without a line', { 'src/odd/odd.c': '' }, 'src/LAYERS:1: odd has no line'],
  [
    'a line that names a folder below it',
    { 'src/LAYERS': good['src/LAYERS'].replace('crypto: base ', 'crypto: base ws') },
    'src/LAYERS:3: crypto names ws, which is not above it',
  ],
  [
    'a library in two folders',
    { 'src/LAYERS': good['src/LAYERS'].replace('[libssl]', '[libssl zlib]') },
    'src/LAYERS:6: zlib belongs to ws',
  ],
  [
    'a library nobody knows',
    { 'src/LAYERS': good['src/LAYERS'].replace('[libssl]', '[libssl libx]') },
    'src/LAYERS:6: tools/check-layers knows no header of libx',
  ],
  [
    'a line that cannot be read',
    { 'src/LAYERS': good['src/LAYERS'] + 'what is this\n' },
    'src/LAYERS:8: cannot read "what is this"',
  ],
  [
    'an include against the flow',
    { 'src/base/str.h': '\n#include "loop/loop.h"\n' },
    'src/base/str.h:2: base may not include loop (src/LAYERS)',
  ],
  [
    'an include the line does not name',
    { 'src/net/tls.c': '#include "crypto/hash.h"\n' },
    'src/net/tls.c:1: net may not include crypto (src/LAYERS)',
  ],
  [
    'a private header of another folder',
    { 'src/main.c': '#include "net/net_priv.h"\n' },
    'src/main.c:1: "net/net_priv.h" is private to net',
  ],
  [
    'an include that does not start at src',
    { 'src/ws/ws.c': '#include "ws.h"\n' },
    'src/ws/ws.c:1: "ws.h": includes start at src, as in "base/str.h"',
  ],
  [
    'libcrypto outside crypto',
    { 'src/net/tls.c': '#include <openssl/evp.h>\n' },
    'src/net/tls.c:1: net may not use libcrypto (src/LAYERS)',
  ],
  [
    'libssl outside net',
    { 'src/crypto/hash.c': '#include <openssl/ssl.h>\n' },
    'src/crypto/hash.c:1: crypto may not use libssl (src/LAYERS)',
  ],
  [
    'a database anywhere',
    { 'src/loop/loop.c': '#include <sqlite3.h>\n' },
    'src/loop/loop.c:1: loop may not use libsqlite3 (src/LAYERS)',
  ],
  [
    'a descriptor in a pure folder',
    { 'src/ws/ws.c': '#  include <unistd.h>\n' },
    'src/ws/ws.c:1: ws is pure and may not include <unistd.h>',
  ],
  [
    'the log in a pure folder',
    { 'src/ws/ws.c': '#include "base/log.h"\n' },
    'src/ws/ws.c:1: ws is pure and may not log',
  ],
  [
    'the clock in a pure folder',
    { 'src/ws/ws.c': 'int f(void)\n{\n    return clock_mono_ms();\n}\n' },
    'src/ws/ws.c:3: ws is pure and may not call clock_mono_ms',
  ],
];

test('a tree that follows its layers passes', () => {
  assert.deepEqual(runOn('check-layers', good), { status: 0, said: [''] });
});

for (const [name, files, said] of cases)
  test(`${name} is refused`, () => {
    assert.deepEqual(runOn('check-layers', { ...good, ...files }), { status: 1, said: [said] });
  });
