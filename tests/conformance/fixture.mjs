// SPDX-License-Identifier: Apache-2.0
// An MCP server that offers everything that the public suite asks for in server mode, tasks of both
// eras, questions of all kinds and answers that are easily damaged on their way. It speaks raw JSON:
// no library stands between a test and the wire.
//
//   node tests/conformance/fixture.mjs [--era dual|legacy|modern] (--stdio | --port PORT)
//
// With --port (0: any) it prints `listening on http://127.0.0.1:PORT/mcp`.
import { parseArgs } from 'node:util';

import { serveHttp } from './fixture/http.mjs';
import { LEGACY } from './fixture/legacy.mjs';
import { MODERN, Modern } from './fixture/modern.mjs';
import { Offer } from './fixture/offer.mjs';
import { serveStdio } from './fixture/stdio.mjs';

const { values: { era, stdio, port } } = parseArgs({
    options: { era: { type: 'string', default: 'dual' }, stdio: { type: 'boolean' }, port: { type: 'string' } },
});

if (!['dual', 'legacy', 'modern'].includes(era) || Boolean(stdio) === (port !== undefined)) {
    console.error('usage: fixture.mjs [--era dual|legacy|modern] (--stdio | --port PORT)');
    process.exit(2);
}
const offer = new Offer();
const modern = new Modern(offer, era === 'dual' ? [MODERN, ...LEGACY] : [MODERN]);

if (stdio)
    serveStdio(offer, modern, era);
else
    serveHttp(offer, modern, era, Number(port));
