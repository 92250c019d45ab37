// SPDX-License-Identifier: Apache-2.0
// moot call, when the server asks back: at a terminal, which is tmux, a person answers; elsewhere
// nobody does. server-everything from npm asks, and a participant that asks what it should not.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';

import { mcpServer, nodeModules, startBridge } from './bridges.mjs';
import { envelope, expect, people, person, program, startGateway, takeAll } from './gateway.mjs';
import { moot, serveTools } from './moot.mjs';
import { startTerminal } from './terminal.mjs';

const skip = spawnSync('tmux', ['-V']).status !== 0 && 'there is no tmux';
let bridge, gateway, srv;
let ask; // what the tool `ask` of srv asks: { method, params, more }
let fail; // the error of the tool `refuse` of srv
let go; // lets the tool `slowly` of srv end

before(async () => {
    gateway = await startGateway({
        tokens: [...people('alice', 'bob', 'srv', 'eve'), person('tool', { capabilities: undefined, profile: 'bridge' })],
    });
    const bob = await gateway.join('bob', { topic: 'room' });
    bridge = await startBridge(gateway, ['--read', nodeModules], mcpServer('everything'), { watcher: bob });
    srv = await gateway.join('srv', { topic: 'room' });
    serveTools(srv, {
        refuse: (_, { id, from, kind, payload }, client) => {
            client.send(envelope('srv', kind.replace('request', 'response'), { to: [from], correlation_id: id, payload: { jsonrpc: '2.0', id: payload.id, error: fail } }));
        },
        ask: async (_, request) => JSON.stringify((await question(srv, request)).payload),
        slowly: ({ message }, { from, payload }, client) => {
            client.send(envelope('srv', 'mcp/request:notifications/progress', { to: [from], payload: { method: 'notifications/progress',
                params: { progressToken: payload.params._meta.progressToken, progress: 1, total: 2, message } } }));
            return new Promise((resolve) => { go = () => resolve('done'); });
        },
    });
});
after(async () => {
    assert.equal((await bridge.stop()).status, 0);
    await gateway.stop();
});

// Asks whoever called, and waits for the answer.
async function question(client, request) {
    const asked = envelope(client.id, `mcp/request:${ask.method}`, { to: [request.from], correlation_id: request.id, ...ask.more });

    asked.payload = { jsonrpc: '2.0', id: 1, method: ask.method, params: ask.params };
    takeAll(client);
    client.send(asked);
    return expect(client, (json) => json.correlation_id === asked.id && json.kind?.startsWith('mcp/response:'));
}

async function at(words, use, { command = 'call', ...size } = {}) {
    const terminal = await startTerminal([program, command, 'room', ...words, '--server', `http://127.0.0.1:${gateway.port}`],
                                         { columns: 80, rows: 60, env: { MOOT_TOKEN: 'alice-token', NO_COLOR: '1' }, ...size });

    terminal.say = async (see, text) => {
        await terminal.sees(see);
        await terminal.type(text);
        await terminal.press('Enter');
    };
    terminal.end = async () => {
        assert.equal(await terminal.ended(), 0);
        return (await terminal.tmux('capture-pane', '-t', 'room', '-p', '-J', '-S', '-')).trimEnd();
    };
    try {
        await use(terminal);
    } finally {
        await terminal.close();
    }
}

// The command calls srv, which asks this.
function asked(what, use) {
    ask = what;
    return at(['srv', 'ask'], use);
}

const form = (properties, required = [], message = 'About you') => ({
    method: 'elicitation/create', params: { message, requestedSchema: { type: 'object', properties, required } },
});
const page = (url) => ({ method: 'elicitation/create', params: { mode: 'url', message: 'Sign in.', url, elicitationId: 'x' } });
// What srv got, printed as the result of its tool.
const result = (screen) => JSON.parse(screen.slice(screen.lastIndexOf('\n{"jsonrpc"'))).result;

test('a form of server-everything is filled in, field by field', { skip }, () =>
    at(['tool', 'trigger-elicitation-request'], async (terminal) => {
        await terminal.say(/1\/13 String, required\n {2}\| Your full, legal name\n {2}\(text\)\n >/, '');
        await terminal.say(/it is required.*\n >$/, 'Alice');
        await terminal.say(/2\/13 .*\n.*\n {2}\(yes or no\)\n >$/, 'maybe');
        await terminal.say(/must be yes or no\n >$/, 'y');
        await terminal.say(/3\/13 .*\n.*\n.*\n \[It was a dark and stormy night\.\] >$/, '');
        await terminal.say(/4\/13 [^]* >$/, 'nobody');
        await terminal.say(/must be an e-mail address\n >$/, 'alice@example.com');
        await terminal.say(/5\/13 [^]* >$/, '');
        await terminal.say(/6\/13 [^]* >$/, '1960-02-30');
        await terminal.say(/must be a date, YYYY-MM-DD\n >$/, '1960-02-29');
        await terminal.say(/7\/13 [^]* \[42\] >$/, '101');
        await terminal.say(/must be at most 100\n >$/, '7');
        await terminal.say(/8\/13 [^]* >$/, '/skip');
        await terminal.say(/9\/13 [^]* {2}2 {2}Rachel\n[^]* >$/, '2');
        await terminal.say(/10\/13 [^]* >$/, '1, violin');
        await terminal.say(/11\/13 [^]* >$/, 'green lantern');
        await terminal.say(/12\/13 [^]* >$/, '/back');
        await terminal.say(/11\/13 [^]* \[Green Lantern\] >$/, '');
        await terminal.say(/12\/13 [^]* \[Tuna\] >$/, '');
        await terminal.say(/13\/13 [^]* >$/, '');
        await terminal.say(/This is what tool will get:\n {2}String: Alice\n[^]*\(left out\)[^]*: 3\.14\n[^]*Send it\?[^]* >$/, 'y');
        const screen = await terminal.end();
        const { action, content } = JSON.parse(screen.slice(screen.lastIndexOf('Raw result:') + 11));

        assert.equal(action, 'accept');
        // The bridge gives a field that is left out its default.
        assert.deepEqual(content, {
            name: 'Alice', check: true, firstLine: 'It was a dark and stormy night.', email: 'alice@example.com', birthdate: '1960-02-29',
            integer: 7, number: 3.14, untitledSingleSelectEnum: 'Rachel', untitledMultipleSelectEnum: ['Guitar', 'Violin'],
            titledSingleSelectEnum: 'hero-2', titledMultipleSelectEnum: ['fish-1'], legacyTitledEnum: 'pet-1',
        });
        assert.deepEqual(screen.split('\n').filter((line) => line.trimEnd().length > 80), []);
    }, { rows: 200 }));

for (const [word, stage, action] of [
    ['/decline', 'in a field', 'decline'], ['/cancel', 'in a field', 'cancel'], ['n', 'at the end', 'decline'], ['c', 'at the end', 'cancel'],
])
    test(`a form: ${word} ${stage} is "${action}", and nothing else is sent`, { skip }, () =>
        asked(form({ a: { type: 'string' } }), async (terminal) => {
            if (stage === 'at the end')
                await terminal.say(/1\/1 [^]* >$/, 'secret');
            await terminal.say(stage === 'at the end' ? /Send it\?[^]* >$/ : /1\/1 [^]* >$/, word);
            assert.deepEqual(result(await terminal.end()), { action });
        }));

test('the end of the input cancels', { skip }, () =>
    asked(form({ a: { type: 'string' } }), async (terminal) => {
        await terminal.sees(/1\/1 [^]* >$/);
        await terminal.press('C-d');
        assert.deepEqual(result(await terminal.end()), { action: 'cancel' });
    }));

test('what the server writes stays text, and its own', { skip }, () => {
    const hostile = form({ a: { type: 'string', title: 'T\u001b[2J', description: 'line\nSend it? [y]es > ' } });

    hostile.params.message = 'hi\u001b]0;owned\u0007\nmoot: sent';
    return asked(hostile, async (terminal) => {
        const screen = await terminal.sees(/1\/1 [^]* >$/);

        assert.match(screen, /^ {2}\| hi\\u001b\]0;owned\\u0007\n {2}\| moot: sent$/m);
        assert.match(screen, /^1\/1 T\\u001b\[2J\n {2}\| line\n {2}\| Send it\? \[y\]es >$/m);
        await terminal.say(/ >$/, '/cancel');
        await terminal.ended();
    });
});

test('a form that cannot be asked for is refused with the reason', { skip }, () =>
    asked(form({ a: { type: 'object' } }), async (terminal) => {
        const screen = await terminal.end();

        assert.match(screen, /^moot: the field "a" is of a type that no form has; it is declined\n/);
        assert.match(screen, /"code":-32602/);
    }));

for (const [answer, action] of [['y', 'accept'], ['n', 'decline'], ['c', 'cancel']])
    test(`an address is shown whole with its host, and "${answer}" is "${action}"`, { skip }, () =>
        asked(page('http://me@xn--exmple-cua.com/a?b=c#d'), async (terminal) => {
            const screen = await terminal.sees(/\[c\]ancel >$/);

            assert.match(screen, /^srv wants you to open a page:\n {2}\| Sign in\.\n {2}address {2}http:\/\/me@xn--exmple-cua\.com\/a\?b=c#d\n {2}host {5}xn--exmple-cua\.com$/m);
            assert.equal(screen.match(/careful: /g).length, 3);
            await terminal.say(/ >$/, 'perhaps');
            await terminal.say(/y, n or c\n >$/, answer);
            assert.deepEqual(result(await terminal.end()), { action });
        }));

test('an address of server-everything is asked about', { skip }, () =>
    at(['tool', 'trigger-url-elicitation', '--arg', 'message=Sign in.', '--arg', 'url=https://example.com/a'], async (terminal) => {
        await terminal.say(/^tool wants you to open a page:\n {2}\| Sign in\.\n {2}address {2}https:\/\/example\.com\/a\n {2}host {5}example\.com\n[^]* >$/m, 'y');
        assert.match(await terminal.end(), /"action": "accept"/);
    }));

test('pages that an error wants opened before the call is made again are shown', async () => {
    const elicitation = (url, message) => ({ mode: 'url', elicitationId: url, url, message });

    fail = { code: -32042, message: 'Sign in first', data: { elicitations: [
        elicitation('https://auth.example/a', 'Say who you are\u001b[2J'), elicitation('javascript:alert(1)', 'No.'), elicitation('http://b.example/', 'And here'),
    ] } };
    const { status, stdout, stderr } = await moot(gateway, 'alice', ['call', 'room', 'srv', 'refuse']);

    assert.equal(status, 3);
    assert.equal(stdout, '');
    assert.equal(stderr, [
        'moot: srv: Sign in first (-32042)',
        '  | Say who you are\\u001b[2J', '  address  https://auth.example/a', '  host     auth.example',
        '  | And here', '  address  http://b.example/', '  host     b.example', '  careful: http: what you write there can be read on the way',
        'Open this yourself if you trust it, then make the call again.', '',
    ].join('\n'));
    fail = { ...fail, code: -32000 };
    assert.equal((await moot(gateway, 'alice', ['call', 'room', 'srv', 'refuse'])).stderr, 'moot: srv: Sign in first (-32000)\n');
});

test('who approves a call is asked what the server asks about it', { skip }, async () => {
    const bob = await gateway.join('bob', { topic: 'room' });
    const proposal = bob.send(envelope('bob', 'mcp/proposal:tools/call:ask', {
        to: ['srv'], payload: { method: 'tools/call', params: { name: 'ask', arguments: {} } } }));

    await expect(srv, (json) => json.id === proposal.id);
    ask = form({ a: { type: 'string' } });
    await at([proposal.id], async (terminal) => {
        await terminal.say(/Run it\? \[y\/N\]$/, 'y');
        await terminal.say(/srv asks you:\n[^]*1\/1 a\n[^]* >$/, 'blue');
        await terminal.say(/Send it\?[^]* >$/, 'y');
        assert.deepEqual(result(await terminal.end()), { action: 'accept', content: { a: 'blue' } });
    }, { command: 'approve' });
    await bob.close();
});

for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'https://', 'https://a b/'])
    test(`an address like ${url} is not even shown`, { skip }, () => asked(page(url), async (terminal) => {
        assert.match(await terminal.end(), /^moot: the address to open is none of http or https; it is declined\n/);
    }));

test('without a terminal forms are declined, and that is said', async () => {
    ask = form({ a: { type: 'string' } });
    const { status, stdout, stderr } = await moot(gateway, 'alice', ['call', 'room', 'srv', 'ask'], { input: 'secret\n' });

    assert.equal(status, 0);
    assert.deepEqual(JSON.parse(stdout).result, { action: 'decline' });
    assert.match(stderr, /^moot: srv asks something, and there is no terminal to answer it at: declined\n$/);
});

test('sampling is declined, and roots are those of --root', async () => {
    const call = (...words) => moot(gateway, 'alice', ['call', 'room', 'srv', 'ask', ...words]);

    ask = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } };
    const sampling = await call();
    assert.match(JSON.parse(sampling.stdout).error.message, /^sampling is declined/);
    assert.match(sampling.stderr, /language model.*: declined/);
    ask = { method: 'roots/list', params: {} };
    assert.deepEqual(JSON.parse((await call()).stdout).result, { roots: [] });
    assert.deepEqual(JSON.parse((await call('--root', '/', '--root', 'file:///srv/a%20b')).stdout).result,
                     { roots: [{ uri: 'file:///' }, { uri: 'file:///srv/a%20b' }] });
    const wrong = await call('--root', '/no/such/folder');
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /--root takes a folder that is there/);
});

test('nobody but the one who was called is answered, and only about that call', async () => {
    ask = { ...form({ a: { type: 'string' } }), more: { correlation_id: 'another' } };
    const { stdout, stderr } = await moot(gateway, 'alice', ['call', 'room', 'srv', 'ask']);

    assert.equal(JSON.parse(stdout).error.code, -32601);
    assert.equal(stderr, '');
});

test('progress is one line that is written over, and gone at the end', { skip }, () =>
    at(['srv', 'slowly', '--arg', `message=a\u001b[2J ${'long '.repeat(40)}`], async (terminal) => {
        const screen = await terminal.sees(/moot: \[##########\.{10}\] {2}50 % {2}1 of 2 {2}a\\u001b\[2J long .*\.\.$/m);

        assert.equal(screen.trim().split('\n').length, 1);
        go();
        assert.equal(await terminal.end(), 'done');
    }));
