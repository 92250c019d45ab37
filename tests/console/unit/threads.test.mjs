// SPDX-License-Identifier: Apache-2.0
// A room's envelopes, folded: threads, states, what does not count, and that each costs little.
import assert from 'node:assert/strict';
import test from 'node:test';

import { load } from './load.mjs';

const { Log } = await load('state/threads.ts');
const { Sieve, matches } = await load('state/search.ts');

let count = 0;
const say = (from, kind, more = {}) => ({ protocol: 'mcpx/v0.1', id: `e${++count}`, ts: new Date(1e12 + count).toISOString(), from, kind, payload: {}, ...more });
const params = (name, args = {}) => ({ payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } } });
const propose = (from, name) => say(from, `mcp/proposal:tools/call:${name}`, params(name));
const call = (from, name, more = {}) => say(from, `mcp/request:tools/call:${name}`, { ...params(name), ...more });
const answer = (from, request, payload = { result: { content: [{ type: 'text', text: '3' }] } }) =>
    say(from, request.kind.replace('request', 'response'), { correlation_id: request.id, payload });
const outcome = (proposal, state, more = {}) =>
    say('system:gateway', 'system/proposal', { correlation_id: proposal.id, payload: { proposal: proposal.id, state, kind: proposal.kind, ...more } });
const log = (...envelopes) => {
    const made = new Log();
    made.append(envelopes);
    return made;
};
const only = (made) => {
    assert.equal(made.entries.length, 1);
    return made.entries[0];
};

test('proposal, decision, request and response are one card, whose state follows', () => {
    const proposal = propose('bot', 'rm');
    const made = log(proposal);
    const state = () => only(made).state;

    assert.equal(state(), 'open');
    assert.equal(made.open.size, 1);
    made.append([say('ann', 'mcp/approve', { correlation_id: proposal.id }), outcome(proposal, 'open', { approvals: { needed: 2, given: 1, by: ['ann'] } })]);
    assert.equal(state(), 'open');
    assert.deepEqual(only(made).approvals, { needed: 2, given: 1, by: ['ann'] });
    const request = call('ben', 'rm', { correlation_id: proposal.id, to: ['tool'] });
    made.append([request, outcome(proposal, 'fulfilled', { by: 'ben' })]);
    assert.equal(state(), 'running');
    assert.equal(made.open.size, 0);
    made.append([answer('tool', request)]);
    assert.equal(state(), 'done');
    assert.equal(only(made).parts.length, 6);
    assert.equal(only(made).target, 'rm');
});

for (const state of ['rejected', 'withdrawn', 'expired'])
    test(`a proposal that was ${state} says so`, () => {
        const proposal = propose('bot', 'rm');
        const made = log(proposal, outcome(proposal, state, { reason: 'no' }));

        assert.equal(only(made).state, state);
        assert.equal(only(made).outcome.reason, 'no');
        assert.equal(made.open.size, 0);
    });

test('an answer counts from the one who was asked alone', () => {
    const request = call('bot', 'add', { to: ['tool'] });
    const made = log(request, answer('eve', request, { result: { content: [] } }));

    assert.equal(only(made).state, 'running');
    assert.equal(only(made).foreign, 1);
    made.append([answer('tool', request, { result: { isError: true, content: [] } })]);
    assert.equal(only(made).state, 'failed');
    assert.equal(only(made).response.from, 'tool');
});

test('a rejection that the gateway does not confirm ends nothing', () => {
    const proposal = propose('bot', 'rm');
    assert.equal(only(log(proposal, say('eve', 'mcp/reject', { correlation_id: proposal.id }))).state, 'open');
});

test('an authorization is asked for, given and answered within the same card', () => {
    const request = call('bot', 'deploy', { to: ['tool'] });
    const provisional = answer('tool', request, { error: { code: -32001, message: 'Authorization required', data: { authorizationRequest: { id: 'a1' } } } });
    const announcement = say('tool', 'mcp/request:notifications/authorization/request', { correlation_id: request.id, payload: { params: { id: 'a1' } } });
    const made = log(request, provisional, announcement);

    assert.equal(only(made).state, 'asking');
    made.append([say('ann', 'mcp/request:authorization/respond', { correlation_id: announcement.id, to: ['tool'] })]);
    assert.equal(only(made).state, 'asking');
    made.append([answer('tool', request, { error: { code: -32002, message: 'denied', data: { authorizationId: 'a1' } } })]);
    assert.equal(only(made).state, 'denied');
});

test('questions within a call, its progress and its cancellation change what they concern', () => {
    const request = call('bot', 'deploy', { to: ['tool'] });
    const question = say('tool', 'mcp/request:elicitation/create', { correlation_id: request.id, to: ['bot'], payload: { method: 'elicitation/create' } });
    const progress = say('tool', 'mcp/request:notifications/progress', { correlation_id: request.id, payload: { params: { progress: 1 } } });
    const made = log(request, question, answer('bot', question, { result: {} }), progress);

    assert.equal(only(made).state, 'running', 'the answer to the question is not the answer');
    assert.equal(only(made).progress.id, progress.id);
    made.append([say('eve', 'mcp/request:notifications/cancelled', { correlation_id: request.id })]);
    assert.equal(only(made).state, 'running', 'others cannot cancel it');
    made.append([say('bot', 'mcp/request:notifications/cancelled', { correlation_id: request.id })]);
    assert.equal(only(made).state, 'cancelled');
});

test('chat is never hidden in a card, and knows what it is about', () => {
    const proposal = propose('bot', 'rm');
    const made = log(proposal, say('ann', 'chat', { correlation_id: proposal.id, payload: { text: 'why?' } }));

    assert.deepEqual(made.entries.map(({ type }) => type), ['call', 'chat']);
    assert.equal(made.entries[1].about, made.entries[0]);
});

test('joins and leaves without anything between are one line; what is for this page alone is none', () => {
    const presence = () => say('system:gateway', 'system/presence', { payload: { event: 'batch', participants: [] } });
    const made = log(say('system:gateway', 'system/welcome', { to: ['me'] }), presence(), presence(), say('ann', 'chat'), presence());

    assert.deepEqual(made.entries.map(({ type, parts }) => [type, parts.length]), [['crowd', 2], ['chat', 1], ['crowd', 1]]);
});

test('a grant and its acknowledgement are one line', () => {
    const grant = say('ann', 'capability/grant', { payload: { recipient: 'bot' } });
    assert.equal(only(log(grant, say('system:gateway', 'capability/grant-ack', { correlation_id: grant.id }))).parts.length, 2);
});

test('what is told twice is one; the same id of somebody else is another', () => {
    const chat = say('ann', 'chat');
    const made = log(chat, { ...chat }, { ...chat, from: 'eve' });

    assert.deepEqual(made.entries.map(({ parts }) => parts[0].from), ['ann', 'eve']);
    assert.equal(new Set(made.entries.map(({ key }) => key)).size, 2, 'with keys of their own');
});

test('the end of a thread whose beginning is not held is a card, which the beginning completes', () => {
    const request = call('bot', 'add', { to: ['tool'] });
    const response = answer('tool', request);
    const made = log(say('ann', 'chat'), response);

    assert.equal(made.entries[1].state, 'done');
    assert.equal(made.entries[1].target, 'add');
    assert.equal(made.has(request.id), false, 'what is only cited is not there');
    const { key } = made.entries[1];
    made.prepend([say('bot', 'chat'), request]);
    assert.deepEqual(made.entries.map(({ type }) => type), ['chat', 'call', 'chat']);
    assert.equal(made.entries[1].key, key, 'the same line, as far as the list is concerned');
    assert.equal(made.entries[1].request, request);
});

test('a gap is a line in its place, and gives way to what was found', () => {
    const made = log(say('ann', 'chat'), say('system:gateway', 'system/gap', { to: ['me'] }), say('ann', 'chat'));
    const [first, gap, last] = made.entries;
    const missing = [say('bot', 'chat'), say('bot', 'chat')];

    assert.equal(gap.type, 'gap');
    made.fill(gap, missing.slice(0, 1), false);
    assert.deepEqual(made.entries.map(({ key }) => key), [first.key, missing[0].id, gap.key, last.key]);
    made.fill(made.entries[2], missing.slice(1), true);
    assert.deepEqual(made.entries.map(({ key }) => key), [first.key, missing[0].id, missing[1].id, last.key]);
});

test('a proposal that the gateway no longer lists has ended, also after more history came', () => {
    const proposal = propose('bot', 'rm'), other = propose('bot', 'ls');
    const made = log(proposal, other);

    made.settle(new Set([other.id]));
    assert.deepEqual(made.entries.map(({ state }) => state), ['ended', 'open']);
    made.prepend([say('ann', 'chat')]);
    assert.deepEqual(made.entries.map(({ state }) => state), [undefined, 'ended', 'open']);
});

test('what ends late and far above is told again below, once; what ends soon is not', () => {
    const proposal = propose('bot', 'rm'), soon = propose('bot', 'ls');
    const talk = (n) => Array.from({ length: n }, () => say('ann', 'chat'));
    const late = (said) => ({ ...said, ts: new Date(Date.parse(proposal.ts) + 60_000).toISOString() });
    const made = log(proposal, soon, outcome(soon, 'rejected'), ...talk(20), late(outcome(proposal, 'expired')), late(say('ann', 'mcp/reject', { correlation_id: proposal.id })));

    assert.deepEqual(made.entries.slice(-2).map(({ type }) => type), ['chat', 'echo']);
    assert.equal(made.entries.at(-1).about, made.entries[0]);
    assert.equal(made.entries.at(-1).state, 'expired');
    assert.equal(made.entries.filter(({ type }) => type === 'echo').length, 1);
    assert.equal(log(proposal, late(outcome(proposal, 'expired'))).entries.length, 1, 'not where it is in sight');
});

test('the oldest are forgotten, and the rest of their threads stays', () => {
    const request = call('bot', 'add', { to: ['tool'] });
    const made = log(say('ann', 'chat'), request, answer('tool', request));

    made.drop(2);
    assert.equal(only(made).state, 'done');
    assert.equal(made.find(request.id), null);
});

test('names that objects know already are ids like any other', () => {
    const made = log(say('ann', 'chat', { id: '__proto__' }), say('ann', 'chat', { id: 'constructor', correlation_id: '__proto__' }));

    assert.equal(made.entries[1].about, made.entries[0]);
    assert.equal(made.find('hasOwnProperty'), null);
});

test('an envelope costs the same after 100,000 others as at first', () => {
    const made = new Log();
    const batch = (n) => Array.from({ length: n }, (_, i) => {
        const request = call('bot', 'add', { to: ['tool'] });
        return i % 2 ? [request, answer('tool', request)] : [say('ann', 'chat', { payload: { text: 'hello' } })];
    }).flat();
    const spent = (envelopes) => {
        const begin = process.cpuUsage().user;
        made.append(envelopes);
        return process.cpuUsage().user - begin;
    };

    made.append(batch(10_000));
    const early = Math.min(...Array.from({ length: 3 }, () => spent(batch(2000))));
    made.append(batch(60_000));
    const late = Math.min(...Array.from({ length: 3 }, () => spent(batch(2000))));
    assert.ok(made.count > 100_000);
    assert.ok(late < early * 8 + 20_000, `${early} µs became ${late} µs`);
});

test('of a room that nobody looks at no changes are collected, and of what was forgotten none are kept', () => {
    const made = new Log();
    const change = () => {
        const request = call('bot', 'add', { to: ['tool'] });
        made.append([request, answer('tool', request)]);
    };

    for (let i = 0; i < 100; i++) change();
    assert.equal(made.takeTouched().size, 0);
    change();
    assert.equal(made.takeTouched().size, 1);
    change();
    made.drop(100);
    assert.equal(made.takeTouched().size, 0, 'the list is another');
    made.stopTouched();
    change();
    assert.equal(made.takeTouched().size, 0);
});

// --- what is put before, taken away and filled in ---

// What people see of an entry.
const shapeOf = ({ type, key, at, parts, state, about, request, response, proposal, target, foreign, approvals }) => ({
    type, key, at, parts: parts.map(({ id, from }) => `${id} ${from}`), state, about: about?.key, request: request?.id, response: response?.id,
    proposal: proposal?.id, target, foreign, approvals,
});
const shapesOf = (made) => ({
    entries: made.entries.map(shapeOf), open: [...made.open].map(({ key }) => key).sort(), count: made.count, first: made.first?.id, last: made.last?.id,
});

// The same by folding all of it from the beginning.
class Anew {
    order = [];
    log = new Log();

    append(batch) {
        this.order.push(...batch.filter((said) => {
            const before = this.log.count;
            this.log.append([said]);
            return this.log.count > before;
        }));
    }

    put(order) {
        const ended = new Set(this.log.entries.filter(({ state }) => state === 'ended').map(({ key }) => key));
        this.log = new Log();
        this.order = [];
        this.append(order);
        for (const one of this.log.open) if (ended.has(one.key)) this.log.open.delete(Object.assign(one, { state: 'ended' }));
    }
}

// A room by chance: threads of all sorts, cited late, early and wrongly, and ids that come again.
function chance(seed) {
    let state = seed;
    const below = (n) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor(state / 2 ** 32 * n);
    };
    const pick = (list) => list[below(list.length)];
    const world = []; // everything that was ever said in it, in its order
    let time = 1e12;
    const cite = () => (world.length && below(8) ? pick(world.slice(-40)) : { id: `later${below(30)}`, kind: 'mcp/request:tools/call:x' });
    const next = () => {
        const about = cite();
        const kinds = [
            () => ['ann', 'chat', below(3) ? {} : { correlation_id: about.id }],
            () => ['bot', 'mcp/request:tools/call:x', { to: ['tool'], ...params('x'), ...(below(3) ? {} : { correlation_id: about.id }) }],
            () => ['bot', 'mcp/proposal:tools/call:x', params('x')],
            () => [pick(['tool', 'eve']), 'mcp/response:tools/call:x', { correlation_id: about.id, payload: { result: {} } }],
            () => ['ann', 'mcp/approve', { correlation_id: about.id }],
            () => ['bot', 'mcp/request:notifications/progress', { correlation_id: about.id }],
            () => ['system:gateway', 'system/proposal', { correlation_id: about.id, payload: { state: pick(['open', 'rejected', 'fulfilled', 'expired']) } }],
            () => ['system:gateway', 'system/presence', {}],
            () => ['system:gateway', 'system/presence', {}],
            () => ['ann', 'capability/grant', {}],
            () => ['system:gateway', 'capability/grant-ack', { correlation_id: about.id }],
            () => ['system:gateway', 'system/gap', { to: ['me'] }],
        ];
        const [from, kind, more] = pick(kinds)();
        const said = say(from, kind, { ...more, ts: new Date(time += below(4) ? 10 : 20_000).toISOString() });
        if (!below(25)) said.id = `later${below(30)}`;
        if (!below(30)) said.id = cite().id;
        world.push(said);
        return below(25) ? said : pick(world); // told again
    };
    return { below, some: (n) => Array.from({ length: n }, next) };
}

test('whatever is appended, put before, forgotten and filled in, the lines are those of folding it all anew', () => {
    for (let seed = 1; seed <= 150; seed++) {
        const { below, some } = chance(seed);
        const story = some(400);
        const made = new Log(), anew = new Anew();
        let from = 200, to = 200; // of the story, what is held
        for (let step = 0; step < 25; step++) {
            const what = below(6);
            if (what <= 1) {
                const batch = story.slice(to, to += below(30));
                made.append(batch);
                anew.append(batch);
            } else if (what === 2) {
                const older = story.slice(Math.max(0, from - below(40)), from);
                from -= older.length;
                made.prepend(older);
                anew.put([...older, ...anew.order]);
            } else if (what === 3) {
                const count = below(Math.min(60, made.count + 1));
                made.drop(count);
                anew.put(anew.order.slice(count));
            } else if (what === 4) {
                const gap = made.entries.find(({ type }) => type === 'gap');
                if (!gap) continue;
                const found = some(below(10)), place = anew.order.indexOf(gap.parts[0]), isAll = below(2) === 0;
                made.fill(gap, found, isAll);
                anew.put([...anew.order.slice(0, place), ...found, ...anew.order.slice(isAll ? place + 1 : place)]);
            } else {
                const open = [...made.open].map(({ proposal }) => proposal.id).filter(() => below(2));
                made.settle(new Set(open));
                anew.log.settle(new Set(open));
            }
            assert.deepEqual(shapesOf(made), shapesOf(anew.log), `seed ${seed}, step ${step}`);
            for (const said of anew.order) assert.equal(made.find(made.placeOf(said))?.said, said);
        }
    }
});

test('a page of older lines, and forgetting, cost little of folding all of it', () => {
    const made = new Log();
    const talk = (n) => Array.from({ length: n }, () => {
        const request = call('bot', 'add', { to: ['tool'] });
        return [say('ann', 'chat', { payload: { text: 'hello' } }), request, answer('tool', request)];
    }).flat();
    const spent = (run) => {
        const begin = process.cpuUsage().user;
        run();
        return process.cpuUsage().user - begin;
    };
    const all = talk(30_000), older = Array.from({ length: 4 }, () => talk(150));
    const whole = spent(() => made.append(all));
    const least = Math.min(...older.map((page) => spent(() => made.prepend(page))), ...older.map(() => spent(() => made.drop(500))));

    assert.ok(least < whole / 3, `${whole} µs for all, ${least} µs for a page`);
});

// --- filters ---

const FILTER = { show: 'all', who: '', text: '' };

test('filters and words find what they should, and member names are no words', () => {
    const request = call('bot', 'read_file', { to: ['tool'] });
    const made = log(say('ann', 'chat', { payload: { text: 'Grüße aus Lyon' } }), request, answer('tool', request, { error: { code: -32000, message: 'No such file' } }));
    const found = (filter) => made.entries.filter((entry) => matches(entry, { ...FILTER, ...filter })).map(({ type }) => type);

    assert.deepEqual(found({ text: 'GRÜSSE' }), []);
    assert.deepEqual(found({ text: 'grüße lyon' }), ['chat']);
    assert.deepEqual(found({ text: 'such read_file' }), ['call'], 'words may stand in several envelopes of a card');
    assert.deepEqual(found({ text: 'payload' }), []);
    assert.deepEqual(found({ show: 'trouble' }), ['call']);
    assert.deepEqual(found({ show: 'waiting' }), []);
    assert.deepEqual(found({ who: 'tool' }), ['call']);
});

test('a filtered list follows the log, in its order, without looking at all of it again', () => {
    const made = new Log();
    const sieve = new Sieve({ ...FILTER, show: 'waiting' });
    const shown = () => sieve.update(made, made.takeTouched()).map(({ target }) => target);
    const proposals = ['a', 'b', 'c'].map((name) => propose('bot', name));

    made.append(proposals);
    assert.deepEqual(shown(), ['a', 'b', 'c']);
    made.append([outcome(proposals[1], 'rejected'), say('ann', 'chat')]);
    assert.deepEqual(shown(), ['a', 'c']);
    const words = new Sieve({ ...FILTER, text: 'lyon' });
    const requests = ['x', 'y', 'z'].map((name) => call('bot', name, { to: ['tool'] }));
    made.append(requests);
    assert.deepEqual(words.update(made, made.takeTouched()), []);
    made.append([answer('tool', requests[2], { result: 'Lyon' })]);
    words.update(made, made.takeTouched());
    made.append([answer('tool', requests[0], { result: 'Lyon' })]);
    assert.deepEqual(words.update(made, made.takeTouched()).map(({ target }) => target), ['x', 'z']);
    made.prepend([say('ann', 'chat', { payload: { text: 'lyon' } })]);
    assert.deepEqual(words.update(made, made.takeTouched()).map(({ type }) => type), ['chat', 'call', 'call']);
});

test('an answer to what nobody called changes no proposal: it is still open, or rejected', () => {
    const proposal = propose('bot', 'rm'), other = propose('bot', 'ls');
    const forged = (said) => say('eve', said.kind.replace('proposal', 'response'), { correlation_id: said.id, payload: { result: { content: [] } } });
    const made = log(proposal, other, outcome(other, 'rejected'), forged(proposal), forged(other));

    assert.deepEqual(made.entries.map(({ state, foreign, response }) => [state, foreign, response]), [['open', 1, null], ['rejected', 1, null]]);
    assert.equal(made.open.size, 1);
});

test('nothing hides behind something else: only what belongs to a call is folded into its card', () => {
    const request = call('bot', 'add', { to: ['tool'] });
    const done = answer('tool', request);
    const status = say('tool', 'participant/status');
    const own = (said, more = {}) => ({ ...said, ...more });
    for (const behind of [request, done, status])
        for (const said of [call('eve', 'rm', { to: ['tool'] }), say('eve', 'mcp/request:resources/read'), say('eve', 'capability/grant'), say('eve', 'participant/kick'), say('eve', 'x/any')]) {
            const made = log(request, done, status, own(said, { correlation_id: behind.id }));
            assert.equal(made.entries.length, 3, `${said.kind} about ${behind.kind}`);
            assert.equal(made.entries[2].parts[0].id, said.id);
            if (said.kind.startsWith('mcp/')) assert.equal(made.entries[2].request?.id, said.id);
        }
    const proposal = propose('bot', 'rm');
    const made = log(proposal, outcome(proposal, 'rejected'), call('eve', 'rm', { correlation_id: proposal.id }));
    assert.deepEqual(made.entries.map(({ state }) => state), ['rejected', 'running'], 'what was rejected and is called all the same');
});

test('a call of its own that names another is answered on its own card', () => {
    const request = call('bot', 'add', { to: ['tool'] });
    const other = call('bot', 'sub', { to: ['tool'], correlation_id: request.id });
    const made = log(request, other, answer('tool', other));

    assert.deepEqual(made.entries.map(({ state, target }) => [target, state]), [['add', 'running'], ['sub', 'done']]);
});

test('a beginning that comes after its end completes it, and counts who was asked', () => {
    const request = call('bot', 'add', { to: ['tool'] });
    const made = log(answer('eve', request), request);

    assert.equal(only(made).state, 'running');
    assert.equal(only(made).foreign, 1);
    made.append([answer('tool', request)]);
    assert.equal(only(made).state, 'done');
    const proposal = propose('bot', 'rm');
    assert.equal(only(log(outcome(proposal, 'rejected'), proposal)).state, 'rejected');
});

test('the same id twice: each is found where it is held, and told again it is one', () => {
    const chat = say('ann', 'chat', { payload: { text: 'hello' } });
    const eve = { ...chat, from: 'eve' };
    const later = { ...call('ann', 'rm'), id: chat.id }; // the gateway has forgotten the other; nobody is to miss it
    const made = log(chat, eve, { ...eve }, later, { ...chat }, { ...later });

    assert.deepEqual(made.entries.map(({ parts: [said] }) => said), [chat, eve, later]);
    assert.equal(new Set(made.entries.map(({ key }) => key)).size, 3);
    for (const said of [chat, eve, later]) assert.equal(made.find(made.placeOf(said)).said, said);
    assert.equal(made.placeOf(chat), chat.id);
    const batch = say('system:gateway', 'system/presence', { payload: { participants: [1] } });
    assert.equal(log(batch, { ...batch, payload: { participants: [1, 2] } }).entries.length, 1, 'which the gateway cuts differently each time');
    const cited = answer('tool', call('bot', 'add'));
    const odd = log(cited, say('eve', 'chat', { id: cited.correlation_id }));
    assert.equal(new Set(odd.entries.map(({ key }) => key)).size, 2);
});
