// SPDX-License-Identifier: Apache-2.0
// The fixture is what other tests measure the gateway with, so it is measured first: everything in
// the public suite, and the same answers over stdio, which the suite does not speak.
import assert from 'node:assert/strict';
import test from 'node:test';

import { EXCHANGES, record } from './exchanges.mjs';
import { write } from './fixture/lossless.mjs';
import { REVISIONS, fixtureCommand, isInstalled, runServerSuite, startFixture } from './mcp_server.mjs';
import { connect } from './peer.mjs';

// As texts, without the status of HTTP.
const textsOf = (said) => Object.fromEntries(Object.entries(said).map(([title, tree]) =>
    [title, tree instanceof Error ? tree : write(tree).replace(/"status":\d+,/g, '')]));

for (const revision of Object.keys(REVISIONS)) {
    test(`fixture at ${revision}`, { skip: !isInstalled && 'the suite is not installed' }, async (t) => {
        const fixture = await startFixture('dual');

        t.after(fixture.stop);
        const { scored, unscored, total, output } = await runServerSuite(revision, fixture.url);

        for (const { name, failures } of [...scored, ...unscored])
            await t.test(name, () => assert.deepEqual(failures, []));
        assert.equal(scored.length, total, output);
    });
}

for (const [era, peerEra] of [['dual', 'legacy'], ['dual', 'modern'], ['legacy', 'legacy'], ['modern', 'modern']]) {
    test(`fixture (${era}), a ${peerEra} client: stdio and HTTP say the same`, async (t) => {
        const fixture = await startFixture(era);

        t.after(fixture.stop);
        const overHttp = await connect({ url: fixture.url }, peerEra);
        t.after(() => overHttp.close());
        const overStdio = await connect({ command: fixtureCommand(era, '--stdio') }, peerEra);
        t.after(() => overStdio.close());
        const said = textsOf(await record(overHttp));

        for (const title of ['opening', ...Object.keys(EXCHANGES[peerEra])])
            assert.equal(typeof said[title], 'string', `${title}: ${said[title]}`);
        assert.deepEqual(textsOf(await record(overStdio)), said);
    });
}

test('fixture: who speaks the other era alone is told so', async (t) => {
    const modern = await startFixture('modern');
    const legacy = await startFixture('legacy');

    t.after(() => Promise.all([modern.stop(), legacy.stop()]));
    const peer = await connect({ command: fixtureCommand('legacy', '--stdio') }, 'modern');
    t.after(() => peer.close());
    assert.equal(write(peer.opening[0].response.get('error').get('code')), '-32601');
    const post = async (url, headers, message) => {
        const answer = await fetch(url, {
            method: 'POST', body: JSON.stringify(message),
            headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
        });
        return [answer.status, (await answer.json()).error.code];
    };
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
    const discover = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: meta } };
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } };

    assert.deepEqual(await post(legacy.url, { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'server/discover' }, discover), [400, -32000]);
    assert.deepEqual(await post(modern.url, {}, initialize), [400, -32022]);
    assert.equal((await fetch(modern.url)).status, 405);
});
