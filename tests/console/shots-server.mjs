// SPDX-License-Identifier: Apache-2.0
// An MCP server for the pictures: it offers what its file lists, answers with the text that stands there, and tells
// when the file has changed. No imports but node's: it runs alone in a sandbox.
//
//   node shots-server.mjs CATALOGUE.json     { name, tools: [{ name, description, inputSchema, answer }] }
import fs from 'node:fs';
import readline from 'node:readline';

const file = process.argv[2];
const read = () => JSON.parse(fs.readFileSync(file, 'utf8'));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const methods = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: read().name, version: '2.3.0' } }),
    ping: () => ({}),
    'tools/list': () => ({ tools: read().tools.map(({ answer, ...about }) => about) }),
    'tools/call': ({ name }) => ({ content: [{ type: 'text', text: read().tools.find((tool) => tool.name === name).answer }] }),
};

process.stderr.write(`listening, with ${read().tools.length} tools\n`);
fs.watchFile(file, { interval: 100 }, () => send({ method: 'notifications/tools/list_changed' }));
readline.createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);

    if (id === undefined) return;
    if (methods[method]) send({ id, result: methods[method](params) });
    else send({ id, error: { code: -32601, message: `there is no ${method}` } });
}).on('close', () => process.exit(0));
