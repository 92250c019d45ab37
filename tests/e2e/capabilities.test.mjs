// SPDX-License-Identifier: Apache-2.0
// D14: capabilities decide what reaches the others; violations are told as in §3.5.2.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, expect, person, startGateway } from './gateway.mjs';

// Capabilities, kinds they cover, kinds they do not. The first five are the sets of §4.1.
const sets = [
    [['mcp/*', 'chat'],
        ['mcp/request:tools/call', 'mcp/response:tools/list', 'mcp/proposal:x', 'mcp/approve', 'chat', 'mcp/request:a:b:c'],
        ['mcpx-y', 'participant/status', 'chats']],
    [['mcp/proposal:*', 'mcp/response:*', 'chat'],
        ['mcp/proposal:tools/call:x', 'mcp/response:tools/call', 'chat'],
        ['mcp/request:tools/call', 'mcp/approve', 'mcp/reject']],
    [['mcp/response:*', 'chat'], ['mcp/response:tools/call:x', 'chat'], ['mcp/request:tools/list', 'mcp/proposal:x']],
    [['mcp/request:resources/read', 'mcp/request:*/list', 'mcp/response:*', 'chat'],
        ['mcp/request:resources/read', 'mcp/request:resources/read:file:///x', 'mcp/request:tools/list',
            'mcp/request:resources/templates/list', 'mcp/request:tools/list:x'],
        ['mcp/request:tools/call', 'mcp/request:tools/call:x/list', 'mcp/request:list', 'mcp/request:resources/subscribe',
            'mcp/request:resources/reads', 'mcp/request:tools/listx']],
    [['mcp/request:tools/*', 'mcp/response:tools/*', 'chat'],
        ['mcp/request:tools/call', 'mcp/request:tools/list', 'mcp/request:tools/call:x', 'mcp/response:tools/call'],
        ['mcp/request:resources/read', 'mcp/request:tools', 'mcp/proposal:tools/call', 'mcp/request:toolsy/call']],
    [['mcp/request:tools/call:read_*'],
        ['mcp/request:tools/call:read_file', 'mcp/request:tools/call:read_a:b'],
        ['mcp/request:tools/call', 'mcp/request:tools/call:read_', 'mcp/request:tools/call:Read_file', 'mcp/request:tools/call:x:read_y', 'chat']],
    [['mcp/request:tools/call:read_file'], ['mcp/request:tools/call:read_file'],
        ['mcp/request:tools/call', 'mcp/request:tools/call:read_files', 'mcp/request:tools/call:read_file:x', 'mcp/request:tools/call:read_fil']],
    [['*'], ['chat', 'x', 'mcp/request:x', 'participant/status'], []],
    [['cha*', 'x/*/z'], ['chat', 'x/y/z', 'x/a/b/z'], ['cha', 'x/z', 'x/y/zz', 'x/y']],
    [[], [], ['chat', 'mcp/request:tools/call', 'x']],
];

let gateway;

before(async () => {
    gateway = await startGateway({
        tokens: [person('witness'), ...sets.map(([capabilities], i) => person(`p${i}`, { capabilities }))],
    });
});
after(async () => { await gateway.stop(); });

const complete = (id, kind) => envelope(id, kind, /^mcp\/(response|approve|reject)/.test(kind) ? { correlation_id: 'none' } : {});

for (const [i, [capabilities, covered, others]] of sets.entries())
    test(`D14: ${JSON.stringify(capabilities)} covers what it says, at both doors`, async () => {
        const id = `p${i}`;
        const topic = `set-${i}`;
        const witness = await gateway.join('witness', { topic });
        const client = await gateway.join(id, { topic });
        await expect(witness, (json) => json.payload.participant?.id === id);
        assert.deepEqual(client.welcome.payload.you.capabilities, capabilities);

        for (const kind of covered) {
            const sent = client.send(complete(id, kind));
            const got = await client.next();
            if (/^mcp\/approve/.test(kind)) {
                assert.notEqual(got.payload.error, 'capability_violation'); // there is no such proposal
                continue;
            }
            assert.equal(got.id, sent.id, `${kind} ${JSON.stringify(got.payload)}`);
            assert.equal((await witness.next()).id, sent.id);
        }
        for (const kind of others) {
            const sent = client.send(complete(id, kind));
            const { id: errorId, ts, ...error } = await client.next();
            assert.ok(errorId && ts);
            assert.deepEqual(error, {
                protocol: 'mcpx/v0.1',
                from: 'system:gateway',
                to: [id],
                kind: 'system/error',
                correlation_id: sent.id,
                payload: {
                    error: 'capability_violation',
                    message: `You lack capability for '${kind}'`,
                    field: 'kind',
                    attempted_kind: kind,
                    your_capabilities: capabilities,
                },
            });
            const posted = await gateway.post(`${id}-token`, topic, complete(id, kind));
            assert.equal(posted.status, 403);
            assert.deepEqual([posted.json.error, posted.json.attempted_kind, posted.json.your_capabilities],
                ['capability_violation', kind, capabilities]);
        }
        const { id: fence } = witness.chat();
        assert.equal((await witness.next()).id, fence);
        await Promise.all([witness.close(), client.close()]);
    });

test('D14: two tokens of one id do not lend each other their rights', async () => {
    const two = await startGateway({ tokens: [person('eve', { token: 'strong' }), person('eve', { token: 'weak', capabilities: ['chat'] })] });
    const weak = await two.join('eve', { token: 'weak' });
    const strong = await two.join('eve', { token: 'strong', isPresent: true });
    assert.equal((await two.post('strong', 'room', envelope('eve'))).status, 200);
    for (const client of [weak, strong])
        await client.next();
    const kind = 'mcp/request:tools/list';
    weak.send(envelope('eve', kind));
    const { payload } = await weak.next();
    assert.deepEqual([payload.error, payload.your_capabilities], ['capability_violation', ['chat']]);
    assert.equal((await two.post('weak', 'room', envelope('eve', kind))).status, 403);
    const sent = strong.send(envelope('eve', kind));
    assert.equal((await strong.next()).id, sent.id);
    assert.equal((await two.post('strong', 'room', envelope('eve', kind))).status, 200);
    await two.stop();
});

test('D14: a violation is announced to the topic where the settings say so', async () => {
    const loud = await startGateway({
        topics: { defaults: { announce_violations: 'on' } },
        tokens: [person('witness'), person('eve', { capabilities: ['chat'] })],
    });
    const witness = await loud.join('witness');
    const eve = await loud.join('eve');
    await expect(witness, (json) => json.payload.participant?.id === 'eve');
    const sent = eve.send(envelope('eve', 'mcp/request:tools/call', { payload: { secret: 'not to be told' } }));
    assert.equal((await eve.next()).payload.error, 'capability_violation');
    const notice = await witness.next();
    assert.match(notice.kind, /^system\//);
    assert.equal(notice.from, 'system:gateway');
    assert.match(JSON.stringify(notice), /eve/);
    assert.doesNotMatch(JSON.stringify(notice), /not to be told/);
    assert.ok(sent.id);
    await loud.stop();
});
