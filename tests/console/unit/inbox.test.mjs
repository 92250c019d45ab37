// SPDX-License-Identifier: Apache-2.0
// What the inbox works out by itself: what would run, what one may do, what is compared, and rules of one call.
import assert from 'node:assert/strict';
import test from 'node:test';

import { load } from './load.mjs';

const inbox = await load('state/inbox.ts');
const { isMismatch } = await load('state/kinds.ts');
const exact = await load('state/exact.ts');
const { isLong, lengthOf } = await load('state/length.ts');
const shape = await load('state/rule-shape.ts');
const steps = await load('views/inbox/steps.ts');

const proposal = (more = {}, { to = ['files'], ...payload } = {}) => ({
    type: 'proposal', topic: 'lobby', id: 'p1', proposer: 'bot', kind: 'mcp/proposal:tools/call:rm', created: '2026-11-15T06:00:00Z',
    expires: '2026-11-15T06:05:00Z', approvals: { needed: 1, given: 0, by: [] }, may: ['approve', 'fulfil', 'reject'],
    envelope: { id: 'p1', from: 'bot', to, kind: 'mcp/proposal:tools/call:rm', payload: { method: 'tools/call', params: { name: 'rm', arguments: { path: '/x' } }, ...payload } },
    ...more,
});
const human = { id: 'ann', type: 'human' };

test('what would run is what the payload asks for; a kind that says otherwise is a contradiction', () => {
    assert.deepEqual(inbox.callOf(proposal({}, { reason: 'old' })),
        { method: 'tools/call', tool: 'rm', args: { path: '/x' }, others: {}, owners: ['files'], reason: 'old', contradiction: null });
    const more = inbox.callOf(proposal({}, { params: { name: 'rm', arguments: {}, task: { ttl: 1 }, _meta: { a: 1 } } }));
    assert.deepEqual(more.others, { task: { ttl: 1 }, _meta: { a: 1 } }, 'what is sent as well');
    const lie = inbox.callOf(proposal({ kind: 'mcp/proposal:tools/call:look' }));
    assert.deepEqual([lie.tool, lie.contradiction], ['rm', 'mcp/proposal:tools/call:look']);
    assert.ok(inbox.callOf(proposal({}, { method: 'resources/read' })).contradiction);
    assert.ok(inbox.callOf(proposal({}, { params: {} })).contradiction, 'a payload that names nothing');
    assert.equal(inbox.callOf(proposal({ kind: 'mcp/proposal:tools/call' })).contradiction, null, 'a kind may name nothing');
    assert.equal(inbox.callOf(proposal({ envelope: undefined })).args, undefined);
    const read = inbox.callOf(proposal({ kind: 'mcp/proposal:resources/read' }, { method: 'resources/read', params: { uri: 'doc://1', _meta: { a: 1 } } }));
    assert.deepEqual([read.tool, read.args, read.others], ['doc://1', { uri: 'doc://1' }, { _meta: { a: 1 } }]);
    for (const odd of [null, 3, 'x', [], { params: [] }, { params: null }])
        inbox.callOf(proposal({ envelope: { id: 'p1', from: 'bot', kind: 'x', payload: odd } }));
});

test('the inbox and the room call the same things contradictory', () => {
    const prompt = { type: 'ref/prompt', name: 'greet' }, resource = { type: 'ref/resource', uri: 'doc://1' };
    const completion = (ref) => ({ method: 'completion/complete', params: { ref, argument: { name: 'who', value: 'a' } } });
    const read = (uri) => ({ method: 'resources/read', params: { uri } });
    const call = (name) => ({ method: 'tools/call', params: { name } });

    for (const [rest, payload, expected] of [
        ['completion/complete:greet', completion(prompt), false],
        ['completion/complete:doc://1', completion(resource), false],
        ['completion/complete', completion(prompt), false],
        ['completion/complete:other', completion(prompt), true],
        ['completion/complete:doc://2', completion(resource), true],
        ['completion/complete:greet', completion({ ...resource, name: 'greet' }), true], // its type says which name counts
        ['completion/complete:doc://1', completion({ ...resource, name: 'greet' }), true], // two names
        ['completion/complete:greet', completion({ name: 'greet' }), true],
        ['completion/complete:greet', { method: 'completion/complete', params: { name: 'greet' } }, true],
        ['completion/complete:greet', completion('greet'), true],
        ['tools/call:rm', { ...call('rm'), method: 7 }, true],
        ['tools/call:rm', { ...call('rm'), method: null }, true],
        ['tools/call:rm', { ...call('rm'), method: ['tools/call'] }, true],
        ['tools/call', { ...call('rm'), method: {} }, true],
        ['tools/call', { ...call('rm'), method: '' }, true],
        ['tools/call:rm', call('rm'), false],
        ['tools/call', call('rm'), false],
        ['tools/call:rm', { params: { name: 'rm' } }, false], // it says nothing else
        ['tools/call:rm', call(7), true],
        ['tools/call:', call('rm'), true],
        ['tools/call:', { method: 'tools/call' }, true],
        ['tools/list', { method: 'tools/list' }, false],
        ['prompts/get:greet', { method: 'prompts/get', params: { name: 'other' } }, true],
        ['resources/read:file:///a:b', read('file:///a:b'), false],
        ['resources/read:urn:', read('urn:'), false],
        ['resources/read:file:///a', read('file:///b'), true],
        ['resources/read:a', { method: 'resources/read', params: { name: 'a' } }, true],
        ['tasks/get:t1', { method: 'tasks/get', params: { name: 't1' } }, false],
        ['tasks/get:t1', { method: 'tasks/get', params: { name: 't2' } }, true],
        ['tasks/get:t1', { method: 'tasks/get', params: { taskId: 't1' } }, true], // every other method: by name
        ['tasks/get', { method: 'tasks/get', params: { taskId: 't1' } }, false],
    ]) {
        const kind = `mcp/proposal:${rest}`, words = `${rest} ${JSON.stringify(payload)}`;
        const item = proposal({ kind, envelope: { id: 'p1', from: 'bot', kind, payload } });
        assert.equal(inbox.callOf(item).contradiction, expected ? kind : null, `inbox: ${words}`);
        assert.equal(isMismatch(item.envelope), expected, `room: ${words}`);
        assert.equal(isMismatch({ ...item.envelope, kind: `mcp/request:${rest}` }), expected, `request: ${words}`);
    }
    for (const payload of [null, 3, 'x', [], { params: [] }, { params: null }])
        assert.ok(inbox.callOf(proposal({ envelope: { id: 'p1', from: 'bot', kind: 'x', payload } })).contradiction, 'it does not name rm');
    for (const kind of ['x', 'mcp/response:tools/list', 'mcp.proposal.tools/call:rm'])
        assert.ok(inbox.callOf(proposal({ kind })).contradiction, `${kind} proposes nothing`);
    const named = inbox.callOf(proposal({ kind: 'mcp/proposal:completion/complete' }, completion(prompt)));
    assert.deepEqual([named.tool, named.contradiction], ['greet', null]);
});

test('what is sent are the params that were proposed, or those with other arguments', () => {
    const item = proposal({}, { params: { name: 'rm', arguments: { a: 1 }, _meta: { t: 1 } } });

    assert.deepEqual(inbox.paramsOf(item), { name: 'rm', arguments: { a: 1 }, _meta: { t: 1 } });
    assert.deepEqual(inbox.paramsOf(item, { a: 2 }), { name: 'rm', arguments: { a: 2 }, _meta: { t: 1 } });
    const read = proposal({ kind: 'mcp/proposal:resources/read' }, { params: { uri: 'doc://1', _meta: { t: 1 } } });
    assert.deepEqual(inbox.paramsOf(read, { uri: 'doc://2' }), { uri: 'doc://2', _meta: { t: 1 } });
});

test('an approval runs the call where it is enough, and waits for others where it is not', () => {
    const step = (approvals, may = ['approve', 'fulfil', 'reject']) => inbox.stepOf(proposal({ approvals, may }), 'ann');

    assert.equal(step({ needed: 1, given: 0, by: [] }), 'fulfil');
    assert.equal(step({ needed: 2, given: 0, by: [] }), 'approve');
    assert.equal(step({ needed: 2, given: 1, by: ['ben'] }), 'fulfil', 'the last one runs it');
    assert.equal(step({ needed: 2, given: 1, by: ['ann'] }), 'wait');
    assert.equal(step({ needed: 2, given: 2, by: ['ann', 'ben'] }), 'fulfil');
    assert.equal(step({ needed: 1, given: 0, by: [] }, ['approve', 'reject']), 'approve', 'who may not call only agrees');
    assert.equal(step({ needed: 1, given: 1, by: ['ann'] }, ['approve', 'reject']), 'wait');
    assert.equal(step({ needed: 1, given: 0, by: [] }, ['reject']), null);
    assert.equal(step({ needed: 1, given: 0, by: [] }, ['withdraw']), null);
});

test('only a person whose word alone is enough edits', () => {
    assert.equal(inbox.mayEdit(proposal(), human), true);
    assert.equal(inbox.mayEdit(proposal(), { id: 'ann', type: 'agent' }), false);
    assert.equal(inbox.mayEdit(proposal({ approvals: { needed: 2, given: 1, by: ['ben'] } }), human), false);
    assert.equal(inbox.mayEdit(proposal({ may: ['fulfil', 'reject'] }), human), false);
});

test('the list is filtered by words, room and whose turn it is, and what runs out first comes first', () => {
    const late = proposal({ id: 'a', expires: '2026-11-15T07:00:00Z' });
    const soon = proposal({ id: 'b', topic: 'ops', may: ['withdraw'] });
    const all = { show: 'all', room: '', text: '' };

    assert.deepEqual(inbox.sorted([late, soon]).map(({ id }) => id), ['b', 'a']);
    assert.deepEqual([late, soon].map((item) => inbox.isShown(item, { ...all, show: 'decide' })), [true, false]);
    assert.deepEqual([late, soon].map((item) => inbox.isShown(item, { ...all, show: 'mine' })), [false, true]);
    assert.deepEqual([late, soon].map((item) => inbox.isShown(item, { ...all, room: 'ops' })), [false, true]);
    assert.deepEqual([late, soon].map((item) => inbox.isShown(item, { ...all, text: '"/X"' })), [true, true]);
    assert.equal(inbox.isShown(late, { ...all, text: 'nothing' }), false);
});

test('a call is compared with the last one that people agreed to, the same asker first', () => {
    const past = [
        { id: '1', proposer: 'bot', state: 'rejected', arguments: { a: 0 } }, { id: '2', proposer: 'other', state: 'fulfilled', arguments: { a: 1 } },
        { id: '3', proposer: 'bot', state: 'fulfilled', arguments: { a: 2 }, edited: [{}] }, { id: '4', proposer: 'bot', state: 'fulfilled', arguments: { a: 3 } },
    ];

    assert.equal(inbox.baselineOf(past, 'bot').id, '4');
    assert.equal(inbox.baselineOf(past, 'third').id, '2');
    assert.equal(inbox.baselineOf(past.slice(0, 1), 'bot'), null);
    const { marks, missing } = inbox.compare({ a: 1, b: { c: 1 }, d: 1 }, { a: 1, b: { c: 2 }, e: 1 });
    assert.deepEqual([[...marks], missing], [['/b/c', '/e'], ['/d']]);
    const place = (past, ...owners) => inbox.placeOf(past, owners);
    assert.deepEqual([place({}, 'a'), place({ to: [] }, 'a'), place({ to: ['a'] })], ['unknown', 'unknown', 'unknown']);
    assert.deepEqual([place({ to: ['a', 'b'] }, 'b', 'a'), place({ to: ['a'] }, 'a', 'b'), place({ to: ['a'] }, 'b')], ['same', 'other', 'other']);
    assert.deepEqual([place({ owner: 'tool' }, 'tool'), place({ owner: 'tool' }, 'x')], ['same', 'other']);
});

test('how much there is to read is counted on all levels', () => {
    assert.deepEqual(lengthOf({ ab: [1, { c: 'xyz' }], d: null }), { entries: 6, characters: 2 + 1 + 1 + 3 + 1 + 4 });
    assert.equal(isLong({ a: 'x'.repeat(60_000), list: Array.from({ length: 900 }, () => 0) }), false);
    assert.equal(isLong({ a: 'x'.repeat(70_000) }), true);
    assert.equal(isLong({ ['x'.repeat(70_000)]: 1 }), true);
    assert.equal(isLong([Array.from({ length: 1001 }, () => [])]), true);
});

test('arguments in a line are short, and say what nobody would see', () => {
    assert.equal(inbox.argumentsLine({ path: '/x', n: 1 }), 'path="/x"  n=1');
    assert.equal(inbox.argumentsLine({ a: 'x\u202ey' }), 'a="x⟨U+202E⟩y"');
    assert.ok(inbox.argumentsLine({ a: 'x'.repeat(1e6), b: 1 }).length <= 200);
});

test('numbers are compared by their value, whatever their spelling', () => {
    for (const [a, b] of [['10e-1', '1'], ['1.00', '1'], ['0.10', '0.1'], ['-0', '0'], ['1e400', '10e399']]) assert.equal(exact.decimalOf(a), exact.decimalOf(b));
    assert.notEqual(exact.decimalOf('9007199254740993'), exact.decimalOf('9007199254740992'));
    assert.equal(exact.isExact('1e400', Infinity), false);
    const started = process.cpuUsage();
    for (const digit of ['0', '10']) exact.decimalOf(`1${digit.repeat(500_000)}1`);
    assert.ok(process.cpuUsage(started).user < 2e6, 'however many zeros there are');
    assert.deepEqual(exact.parseExact('{"a":1.50,"b":[1e2,0.1]}'), { a: 1.5, b: [100, 0.1] });
});

test('numbers that browsers round are shown as they were written', () => {
    const text = '{"id":"a","payload":{"n":9007199254740993,"s":"9007199254740993","list":[1e400]}}';
    const said = exact.parseNoting(text);

    assert.equal(said.payload.n, 9007199254740992, 'who counts has a number');
    assert.deepEqual(exact.exactly(said).payload, { n: '9007199254740993', s: '9007199254740993', list: ['1e400'] });
    const page = exact.parseNoting(`{"messages":[{"id":"b"},${text}]}`, ({ messages }) => messages);
    assert.equal(exact.exactly(page.messages[0]), page.messages[0]);
    assert.equal(exact.exactly(page.messages[1]).payload.n, '9007199254740993');
});

test('a number that an older browser would change is noticed, and shown as it was written', { skip: Boolean(JSON.rawJSON) }, () => {
    for (const number of ['9007199254740993', '1e-400', '-1e-400', '1e400', '123456789.12345678901', '0.1000000000000000055', '0.30000000000000001']) {
        const value = exact.parseExact(`{"text":"say \\"1e-400\\" \\\\","list":[1,{"n":${number}}]}`);
        assert.equal(exact.mayBeChanged(value), true, number);
        assert.deepEqual(exact.shown(value), { text: 'say "1e-400" \\', list: [1, { n: number }] });
    }
    for (const text of ['{"a":1.50,"b":1e20,"c":-0,"d":1000000000000000000000}', '{"a":"9007199254740993","b":"1e-400"}', '[123456.123456789]'])
        assert.equal(exact.mayBeChanged(exact.parseExact(text)), false, text);
});

// Where there is no JSON.rawJSON() it is said that they may be others.
test('numbers that a browser would change keep their spelling', { skip: !JSON.rawJSON && 'this node has no JSON.rawJSON(); the browser has, and room and inbox tests use it' }, () => {
    const text = '{"big":9007199254740993,"near":1.0,"tiny":1e-400,"list":[0.1,12345678901234567890,123456789.12345678901],"text":"9007199254740993"}';
    const value = exact.parseExact(text);

    assert.equal(JSON.stringify(value), '{"big":9007199254740993,"near":1,"tiny":1e-400,"list":[0.1,12345678901234567890,123456789.12345678901],"text":"9007199254740993"}');
    assert.deepEqual(exact.rawNumbers(value), ['9007199254740993', '1e-400', '12345678901234567890', '123456789.12345678901']);
    assert.equal(exact.shown(value).big, '9007199254740993');
    assert.deepEqual(exact.rawNumbers(exact.parseExact('{"a":1.50,"b":1e2,"c":-0,"d":1000000000000000000000}')), []);
    assert.equal(shape.partsOf(value), null, 'and are in no rule');
    const marks = (before, now) => [...inbox.compare(exact.parseExact(`{"n":${before}}`), exact.parseExact(`{"n":${now}}`)).marks];
    assert.deepEqual([marks('9007199254740993', '9007199254740993'), marks('9007199254740993', '9007199254740995')], [[], ['/n']]);
    assert.deepEqual([marks('9007199254740993', '9007199254740992'), marks('9007199254740993', '"9007199254740993"')], [['/n'], ['/n']]);
});

test('what hides in arguments is noticed', () => {
    assert.equal(exact.hasUnseen({ a: 'tag\u{e0041}' }), true);
    assert.equal(exact.hasUnseen({ 'a\u202eb': 1 }), true);
    assert.equal(exact.hasUnseen({ a: 'plain é 漢字 👍\n' }), false);
});

test('a rule of one call is exactly that call, and wider only where it was chosen', () => {
    const args = { path: '/srv/app/notes/a-1.md', lines: 2, isNew: true, message: 'hi', deep: { to: ['x', 1] } };
    const parts = shape.partsOf(args);

    assert.deepEqual(Object.fromEntries(parts.map(({ pointer, widths }) => [pointer, widths])), {
        '/path': ['exactly', 'under'], '/lines': ['exactly', 'between'], '/isNew': ['exactly', 'either'], '/message': ['exactly', 'text'], '/deep/to': ['exactly'],
    });
    assert.deepEqual(shape.shapesOf(args, new Map()), { path: { exactly: '/srv/app/notes/a-1.md' }, lines: { exactly: 2 }, isNew: { exactly: true },
        message: { exactly: 'hi' }, deep: { members: { to: { exactly: ['x', 1] } } } });
    const wide = shape.shapesOf(args, new Map([['/path', { width: 'under' }], ['/lines', { width: 'between', least: 9, most: 1 }], ['/isNew', { width: 'either' }], ['/message', { width: 'text' }]]));
    assert.deepEqual(['', ' ', 'x', '1e', '-', '1e999', ' -1.5 '].map((text) => shape.isRange({ width: 'between', least: shape.numberIn(text) })), [false, false, false, false, false, false, true]);
    assert.ok(shape.isRange({ width: 'between' }) && shape.isRange({ width: 'exactly', least: NaN }));
    assert.deepEqual(wide.path, { under: '/srv/app/notes', characters: 'a-z 0-9 . -', max_bytes: 64, depth: 1, endings: ['.md'] });
    assert.deepEqual([wide.lines, wide.isNew, wide.message], [{ between: [1, 9], whole: true }, { boolean: true }, { text: true, max_bytes: 200 }]);
});

test('folders of the system, homes and strange paths are not offered, and some calls have no rule', () => {
    for (const path of ['/etc/passwd', '/a', '/srv/x', '/home/ann/x', '/home/ann/.ssh/id', '/srv/app/../x', '/srv/app/-rf', '/srv/app/.hidden', '/srv/app/a b', 'srv/app/x', '/srv/app/\u202ex'])
        assert.deepEqual(shape.partsOf({ path })[0].widths, ['exactly'], path);
    assert.equal(shape.partsOf({ a: [{ b: 1 }] }), null);
    assert.equal(shape.partsOf({ a: { b: { c: { d: 1 } } } }), null);
    assert.equal(shape.partsOf(Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`n${i}`, i]))), null);
});

test('stepping passes headings, and goes on behind what was decided', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ type: 'item', item: proposal({ id }) }));
    const over = { type: 'ended', item: proposal({ id: 'd' }) };
    const rows = [a, b, c, { type: 'heading' }, over];
    const key = (row) => inbox.keyOf(row.item);

    assert.equal(steps.entryBeside(rows, null, 1, null), a);
    assert.equal(steps.entryBeside(rows, null, -1, null), over);
    assert.equal(steps.entryBeside(rows, key(c), 1, null), over);
    assert.equal(steps.entryBeside(rows, key(over), -1, null), c);
    assert.equal(steps.entryBeside(rows, key(over), 1, null), null);
    assert.equal(steps.entryBeside(rows, key(over), 1, 1), b, 'what has taken its place');
    assert.equal(steps.entryBeside(rows, key(over), -1, 1), a);
    assert.equal(steps.entryBeside(rows, key(over), 1, 7), c);
    assert.equal(steps.entryBeside([{ type: 'heading' }, over], key(over), 1, 0), null);
});
