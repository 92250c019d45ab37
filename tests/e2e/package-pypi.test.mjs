// SPDX-License-Identifier: Apache-2.0
// Packages of uvx, from an index to a running server, where pip is there and uv is not.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';

import { caller, startBridge } from './bridges.mjs';
import { people, person, startGateway } from './gateway.mjs';

const slow = 600_000;
const works = (...words) => spawnSync(words[0], words.slice(1)).status === 0;
const skip = (!works('bwrap', '--ro-bind', '/', '/', 'true') && 'no bubblewrap') ||
    (works('uv', '--version') && 'there is uv, which is used instead of pip') ||
    (!works('/usr/bin/python3', '-m', 'pip', '--version') && 'no pip in the Python of the machine');

// A whole MCP server, as short as it gets.
const program = `import json, sys
def main():
    for line in sys.stdin:
        asked = json.loads(line)
        results = {
            'initialize': {'protocolVersion': '2025-11-25', 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'snake', 'version': '1'}},
            'tools/list': {'tools': [{'name': 'words', 'inputSchema': {'type': 'object'}}]},
            'tools/call': {'content': [{'type': 'text', 'text': json.dumps(sys.argv[1:])}]},
        }
        if 'id' in asked:
            known = results.get(asked['method'])
            print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'],
                              **({'result': known} if known else {'error': {'code': -32601, 'message': '?'}})}), flush=True)
`;
const made = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-index-'));

after(() => fs.rmSync(made, { recursive: true, force: true }));

// A wheel is a zip of the module and of what describes it.
function wheel(name, more = '') {
    const file = path.join(made, `${name}-1.0-py3-none-any.whl`);
    const parts = {
        [`${name}.py`]: program + more,
        [`${name}-1.0.dist-info/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`,
        [`${name}-1.0.dist-info/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
        [`${name}-1.0.dist-info/entry_points.txt`]: `[console_scripts]\n${name} = ${name}:main\n`,
        [`${name}-1.0.dist-info/RECORD`]: '',
    };

    fs.rmSync(file, { force: true });
    assert.equal(spawnSync('/usr/bin/python3', ['-c', `import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as out:
    for name, text in json.load(sys.stdin).items():
        out.writestr(name, text)`, file], { input: JSON.stringify(parts) }).status, 0);
    return fs.readFileSync(file);
}

const wheels = {};
const asked = [];
const index = http.createServer((request, response) => {
    const [, name] = request.url.match(/^\/(?:simple|files)\/(\w+)/) ?? [];
    const bytes = wheels[name];

    asked.push(request.url);
    if (!bytes)
        response.writeHead(404).end();
    else if (request.url.startsWith('/files/'))
        response.end(bytes);
    else
        response.setHeader('content-type', 'text/html').end(
            `<a href="/files/${name}-1.0-py3-none-any.whl#sha256=${wheels.digest ?? createHash('sha256').update(bytes).digest('hex')}">x</a>`);
});

await new Promise((resolve) => { index.listen(0, '127.0.0.1', resolve); });
after(() => {
    index.closeAllConnections();
    index.close();
});
const url = `http://127.0.0.1:${index.address().port}/simple/`;
const gateway = await startGateway({
    tokens: [...people('alice'), person('tool', { capabilities: undefined, profile: 'bridge' })],
});
after(() => gateway.stop());

async function bridged(name, run) {
    const alice = await gateway.join('alice', { topic: 'room' });
    const bridge = await startBridge(gateway, ['--pypi-index', url, '--timeout', '10m'],
                                     ['uvx', `${name}==1.0`, 'one', 'two'], { watcher: alice });

    try {
        await run(caller(alice, 'tool', { limit: slow }), bridge);
    } finally {
        await bridge.stop();
        await alice.close();
    }
}

test('a wheel is installed once, pinned by its digest, and run', { skip }, async () => {
    wheels.snake = wheel('snake');
    await bridged('snake', async (rpc, bridge) => {
        assert.equal((await rpc.call('words')).content[0].text, '["one", "two"]');
        await bridge.told(/installed and pinned: snake@1\.0 sha256=[0-9a-f]{64}/);
    });
    const before = asked.length;

    await bridged('snake', async (rpc) => assert.equal((await rpc.call('words')).content[0].text, '["one", "two"]'));
    assert.equal(asked.length, before);
});

test('another wheel of the same version is not run', { skip }, async () => {
    fs.rmSync(path.join(gateway.data, 'bridge/packages/pypi/snake@1.0'), { recursive: true });
    wheels.snake = wheel('snake', '# another\n');
    await bridged('snake', async (rpc) => assert.match(
        (await rpc.error('tools/call', { name: 'words', arguments: {} })).message, /not the one that was pinned/));
});

test('a wheel that is not what the index says, or none, is told in the words of pip', { skip }, async () => {
    wheels.worm = wheel('worm');
    wheels.digest = '0'.repeat(64);
    await bridged('worm', async (rpc) => assert.match(
        (await rpc.error('tools/call', { name: 'words', arguments: {} })).message, /could not be installed from http:.*it said: .*Expected sha256 0{64}/s));
    await bridged('nobody', async (rpc) => assert.match(
        (await rpc.error('tools/call', { name: 'words', arguments: {} })).message, /it said: .*No matching distribution/s));
});
