// SPDX-License-Identifier: Apache-2.0
// moot explain: for kinds, and for whole envelopes, offline and as somebody of a running server.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';

import { expect, person, program, startGateway } from './gateway.mjs';

const call = 'mcp/request:tools/call';
const reads = { kind: call, payload: { params: { name: 'read_*', arguments: { path: ['/data/*', '!*..*'] } } } };

let gateway;

before(async () => {
    gateway = await startGateway({
        topics: { open: true, named: { strict: { validation: 'strict' } } },
        tokens: [
            person('boss', { profile: 'admin' }),
            person('eve', { name: 'eve-token-name', capabilities: ['chat', reads, { kind: 'notes/*', payload: { size: 1 } }] }),
            person('weird id: ü', { token: 'weird-token', capabilities: ['*'] }),
        ],
    });
});
after(() => gateway.stop());

const explain = (args, input) => {
    const { status, stdout, stderr } = spawnSync(program, ['explain', ...args],
        { input: typeof input === 'string' ? input : JSON.stringify(input), encoding: 'utf8' });

    return { status, stdout, stderr };
};
const held = (...list) => ['--capabilities', JSON.stringify(list)];
const calling = (path, more = {}) => ({
    protocol: 'mcpx/v0.1', id: '1', from: 'eve', kind: `${call}:read_file`,
    payload: { method: 'tools/call', params: { name: 'read_file', arguments: { path } } }, ...more,
});
const as = (who, ...more) => ['--envelope', '-', '--as', who, '--data', gateway.data, ...more];

test('explain: a kind with objects and dotted patterns in the list', () => {
    const dotted = explain([`${call}:x`, ...held('chat', 'mcp.request.*')]);
    assert.equal(dotted.status, 0);
    assert.match(dotted.stdout, /allowed by "mcp\.request\.\*"/);

    const object = explain([`${call}:x`, ...held('chat', reads)]);
    assert.equal(object.status, 1);
    assert.match(object.stdout, /perhaps: .*the payload decides/);
    assert.match(object.stdout, /it depends on the payload/);

    const other = explain(['chat', ...held(reads)]);
    assert.equal(other.status, 1);
    assert.match(other.stdout, /denied: no capability covers it/);

    const { stdout, status } = explain([`${call}:x`, ...held(reads, `${call}`), '--json']);
    const json = JSON.parse(stdout);
    assert.equal(status, 0);
    assert.equal(json.allowed, true);
    assert.deepEqual(json.capabilities.map(({ covers, payload_decides: decides }) => [covers, decides]), [[false, true], [true, undefined]]);
    assert.equal(json.capabilities[0].pattern.kind, call);
});

// Arguments, envelope, exit status, what must be said.
const cases = [
    ['what an object allows', held('chat', reads), calling('/data/x'), 0,
        [/^capability +ok +allowed by number 2, which looks into the payload$/m, /yes +payload\.params\.arguments\.path: "\/data\/x" fits \["\/data\/\*","!\*\.\.\*"\]/,
            /^validation +ok +strict, because/m, /^allowed/m]],
    ['a path that does not fit', held(reads), calling('/data/../x'), 1,
        [/no +payload\.params\.arguments\.path: "\/data\/\.\.\/x" does not fit/, /yes +payload\.params\.name/, /^refused: capability_violation$/m]],
    ['a missing field', held(reads), calling(undefined), 1, [/no +payload\.params\.arguments\.path: is missing, wanted is \["/]],
    ['another type', held(reads), calling(5), 1, [/no +payload\.params\.arguments\.path: 5 does not fit/]],
    ['a look-alike', held(reads), JSON.stringify(calling('/data/x')).replace('"path"', '"PATH":1,"path"'), 1,
        [/path: another name there looks the same/]],
    ['a field twice', held(reads), JSON.stringify(calling('/data/x')).replace('"path"', '"path":1,"path"'), 1, [/path: is given twice/]],
    ['an object that is missing', held(reads), calling('', { payload: { method: 'tools/call' } }), 1,
        [/no +payload\.params: is missing, wanted is an object/]],
    ['a kind that nothing covers', held('chat', reads), calling('/data/x', { kind: 'mcp/request:tools/list' }), 1,
        [/no +kind: .*tools\/list/, /none that is held allows it/]],
    ['nothing held', held(), calling('/data/x'), 1, [/capability +NO +none is held/]],
    ['a pattern in a lazy topic', held('mcp/*'), calling('/x', { payload: { method: 'other' } }), 0, [/^validation +ok +lazy/m]],
    ['a pattern in a strict topic', [...held('mcp/*'), '--strict'], calling('/x', { payload: { method: 'other' } }), 1,
        [/^validation +NO +strict: payload\.method: .*expected "tools\/call"/m, /^refused: kind_payload_mismatch$/m]],
    ['an object and a payload that says something else', held({ kind: call, payload: { method: '*' } }), calling('/x', { payload: { method: 'other' } }), 1,
        [/^validation +NO +strict, because/m, /kind_payload_mismatch/]],
    ['a kind that is none', held('*'), calling('/x', { kind: 'Chat' }), 1, [/^kind +NO +"Chat" is not a kind/m, /malformed_kind/]],
    ['a reserved kind', held('*'), calling('/x', { kind: 'system/error' }), 1, [/^kind +NO/m, /reserved_namespace/]],
    ['a foreign protocol', held('*'), calling('/x', { protocol: 'mcp-x/v0' }), 1, [/^protocol +NO/m, /unsupported_protocol/]],
    ['a field of the wrong type', held('*'), calling('/x', { id: 5 }), 1, [/^fields +NO +id: must be a string/m, /malformed_envelope/]],
    ['no JSON', held('*'), '{"protocol"', 1, [/^JSON +NO/m, /malformed_envelope/]],
    ['what needs no capability', held(), calling('/x', { kind: 'mcp/withdraw' }), 0, [/^capability +ok +this kind needs none/m]],
];

for (const [what, args, input, status, said] of cases)
    test(`explain --envelope: ${what}`, () => {
        const answer = explain(['--envelope', '-', ...args], input);

        assert.equal(answer.status, status, answer.stdout + answer.stderr);
        for (const one of said)
            assert.match(answer.stdout, one);
        const json = JSON.parse(explain(['--envelope', '-', ...args, '--json'], input).stdout);
        assert.equal(json.allowed, status === 0);
        const last = json.checks.at(-1);
        assert.equal(last.passed, status === 0);
        assert.match(answer.stdout, new RegExp(`^${last.check} +${last.passed ? 'ok' : 'NO'}`, 'm'));
    });

test('explain --as: the rights in force of a participant or a token', async () => {
    for (const who of ['eve', 'eve-token-name']) {
        assert.equal(explain(as(who), calling('/data/x')).status, 0);
        const refused = explain(as(who), calling('/etc/passwd'));
        assert.equal(refused.status, 1);
        assert.match(refused.stdout, /"\/etc\/passwd" does not fit/);
    }
    assert.match(explain(as('eve'), calling('/data/x', { from: 'bob' })).stdout, /^from +NO +"bob" is not "eve"$/m);
    assert.equal(explain(as('weird id: ü'), calling('/x', { from: 'weird id: ü' })).status, 0);
    assert.equal(explain(as('weird id: ü', '--topic', 'strict'), calling('/x', { from: 'weird id: ü', payload: {} })).status, 1);
    assert.equal(explain(['chat', '--as', 'eve', '--data', gateway.data]).status, 0);
});

test('explain --as: follows a change, a pause, and what the server itself says', async () => {
    const admin = (line, json) => gateway.request(line, { token: 'boss-token', json });
    const eve = await gateway.join('eve', { topic: 'live' });
    const outcome = async (envelope) => {
        eve.send(envelope);
        const json = await expect(eve, ({ id, correlation_id: about }) => id === envelope.id || about === envelope.id);
        return json.payload.error ?? 'ok';
    };
    const explained = (envelope) => {
        const { stdout } = explain(as('eve', '--topic', 'live', '--json'), envelope);
        const json = JSON.parse(stdout);
        return json.allowed ? 'ok' : json.error;
    };
    const sent = [
        calling('/data/x', { id: 'a' }), calling('/etc', { id: 'b' }), calling('/data/x', { id: 'c', from: 'x' }),
        calling('/data/x', { id: 'd', payload: { method: 'tools/list', params: { name: 'read_x', arguments: { path: '/data/x' } } } }),
        calling('/data/x', { id: 'e', kind: 'notes/x', payload: { size: 1 } }), calling('', { id: 'f', kind: 'notes/x', payload: { size: '1' } }),
        calling('', { id: 'g', kind: 'system/x' }), calling('', { id: 'h', kind: 'chat' }),
    ];

    for (const envelope of sent)
        assert.equal(explained(envelope), await outcome(envelope), JSON.stringify(envelope));
    const change = await admin('POST /admin/participants/eve/capabilities?topic=live', { add: ['mcp/request:*'], remove: [reads] });
    assert.equal(change.status, 200, change.text);
    await expect(eve, ({ kind }) => kind === 'system/welcome');
    assert.deepEqual([explained(calling('/etc', { id: 'i' })), await outcome(calling('/etc', { id: 'i' }))], ['ok', 'ok']);
    assert.equal(explain(as('eve'), calling('/etc')).status, 1); // in another topic nothing has changed
    await admin('POST /admin/members/eve/pause');
    assert.deepEqual([explained(calling('/etc', { id: 'j' })), await outcome(calling('/etc', { id: 'j' }))], ['paused', 'paused']);
    await admin('POST /admin/members/eve/resume');
});

test('explain --as: knows grants that may be used only so often, and asks them last', async () => {
    const grant = (capabilities, max_uses) => gateway.request('POST /admin/participants/eve/capabilities?topic=few',
        { token: 'boss-token', json: { add: capabilities, max_uses } });
    const status = (kind, more) => calling('', { kind, payload: {}, ...more });
    const sizes = { kind: 'sizes/*', payload: { size: 2 } };

    assert.equal(explain(as('eve', '--topic', 'few'), status('participant/status')).status, 1);
    assert.equal((await grant(['participant/status', 'chat', sizes], 1)).status, 200);
    const { json } = await gateway.request('GET /admin/participants/eve/rights?topic=few', { token: 'boss-token' });
    assert.deepEqual(json.limited, ['participant/status', 'chat', sizes]);
    assert.deepEqual(json.capabilities, ['chat']);
    const allowed = explain(as('eve', '--topic', 'few'), status('participant/status'));
    assert.equal(allowed.status, 0, allowed.stdout);
    assert.match(allowed.stdout, /^capability +ok +allowed by "participant\/status"; a grant of so many uses/m);
    assert.match(allowed.stdout, /^ {2}participant\/status \(only so often\)$/m);
    assert.match(explain(as('eve', '--topic', 'few'), status('chat')).stdout, /^capability +ok +allowed by "chat"$/m);
    assert.equal(explain(as('eve', '--topic', 'few'), status('sizes/x', { payload: { size: 2 } })).status, 0);
    assert.equal(explain(as('eve', '--topic', 'few'), status('sizes/x', { payload: { size: 3 } })).status, 1);
    assert.equal(JSON.parse(explain(as('eve', '--topic', 'few', '--json'), status('participant/status')).stdout)
        .checks.find(({ check }) => check === 'capability').capabilities.filter(({ limited }) => limited).length, 3);
    const kind = explain(['participant/status', '--as', 'eve', '--topic', 'few', '--data', gateway.data]);
    assert.deepEqual([kind.status, /which may be used only so often/.test(kind.stdout)], [0, true]);

    assert.equal((await gateway.post('eve-token', 'few', status('participant/status'))).status, 200);
    assert.equal(explain(as('eve', '--topic', 'few'), status('participant/status', { id: '2' })).status, 1, 'it is used up');
    assert.equal((await gateway.post('eve-token', 'few', status('participant/status', { id: '2' }))).status, 403);
});

test('explain --as: of grants of so many uses patterns are asked before objects, as admission does', async () => {
    const object = { kind: `${call}:*`, payload: { params: { name: 'read_*' } } };
    const spoof = calling('', { payload: { method: 'tools/list', params: { name: 'read_x', arguments: {} } } });
    const grant = (capabilities) => gateway.request('POST /admin/participants/eve/capabilities?topic=both',
        { token: 'boss-token', json: { add: capabilities, max_uses: 1 } });

    assert.equal((await grant([object])).status, 200);
    assert.match(explain(as('eve', '--topic', 'both'), spoof).stdout, /^refused: kind_payload_mismatch$/m);
    assert.equal((await gateway.post('eve-token', 'both', spoof)).json.error, 'kind_payload_mismatch');
    assert.equal((await grant([object, call])).status, 200);
    assert.equal(explain(as('eve', '--topic', 'both'), spoof).status, 0);
    assert.equal((await gateway.post('eve-token', 'both', spoof)).status, 200);
});

test('explain: says what it does not judge', () => {
    const unjudged = /rates, the loop guard, a missing correlation_id, a repeated id,\s+the state of proposals(?: and of rules)?, (and )?the rules of grants, moderation and\s+invitations/;

    assert.match(explain(['--envelope', '-', ...held('*')], calling('/x')).stdout, unjudged);
    assert.match(JSON.parse(explain(['--envelope', '-', ...held('*'), '--json'], calling('/x')).stdout).not_judged, unjudged);
    assert.match(explain(['--help']).stdout, unjudged);
});

test('GET /admin/participants/{id}/rights says what is in force', async () => {
    const get = (who, query, token = 'boss-token') => gateway.request(`GET /admin/participants/${encodeURIComponent(who)}/rights${query}`, { token });
    const { status, json } = await get('eve', '?topic=strict');

    assert.equal(status, 200);
    assert.deepEqual(json, {
        participantId: 'eve', token: 'eve-token-name', topic: 'strict', type: 'agent', capabilities: ['chat'],
        moot: { capabilities: [
            { kind: call, payload: { params: { arguments: { path: ['/data/*', '!*..*'] }, name: 'read_*' } } }, { kind: 'notes/*', payload: { size: 1 } },
        ] },
        limited: [], paused: false, may_enter: true, brake: 'off', automation: 'on', policy: [], validation: 'strict',
    });
    assert.equal((await get('eve', '?topic=other')).json.validation, 'lazy');
    assert.equal((await get('nobody', '?topic=room')).status, 404);
    assert.equal((await get('eve', '')).status, 400);
    assert.equal((await get('eve', '?topic=room', 'eve-token')).status, 403);
});

test('explain: what cannot be explained is said on stderr, exit 2 or 1', () => {
    const wrong = [
        [['--envelope', '-'], 2, /--capabilities, --profile or --as/],
        [[...held('chat')], 2, /name a kind/],
        [['--envelope', '/nowhere/x.json', ...held('chat')], 2, /\/nowhere\/x\.json: No such file/],
        [['chat', ...held({ kind: 'a', payload: { x: [] } })], 2, /an empty list allows nothing/],
        [['chat', ...held(5)], 2, /a capability is a pattern or an object/],
        [['chat', '--capabilities', '["a"'], 2, /JSON array but is none/],
        [as(`moot_${'a'.repeat(43)}`), 2, /A secret does not belong on a command line/],
        [as('nobody'), 1, /No token has that name/],
        [['--envelope', '-', '--as', 'eve', '--data', '/nowhere'], 1, /no server runs on \/nowhere/],
    ];

    for (const [args, status, said] of wrong) {
        const answer = explain(args, calling('/x'));
        assert.equal(answer.status, status, answer.stderr);
        assert.match(answer.stderr, said);
        assert.equal(answer.stdout, '');
    }
});

test('token create takes a JSON array, and token list shows what looks into the payload', () => {
    const token = (...args) => spawnSync(program, ['token', ...args, '--data', gateway.data], { encoding: 'utf8' });
    const made = token('create', 'tom', '--name', 'tom-1', '--capabilities', JSON.stringify(['chat', reads]));

    assert.equal(made.status, 0, made.stderr);
    assert.match(token('list').stdout, /^tom-1 .*chat, mcp\/request:tools\/call \(by payload\)$/m);
    assert.equal(explain(as('tom-1'), calling('/data/x', { from: 'tom' })).status, 0);
    assert.match(token('create', 'tim', '--capabilities', '["chat"').stderr, /JSON array but is none/);
    assert.match(token('create', 'tim', '--capabilities', '[{"kind":"a","payload":{"x":{}}}]').stderr, /empty object/);
});
