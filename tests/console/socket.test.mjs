// SPDX-License-Identifier: Apache-2.0
// A topic live, as the console follows it, against a gateway that goes and comes: without a
// browser, whose part node plays.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';

import WebSocket from 'ws';

import { people, person, startGateway, within } from '../e2e/gateway.mjs';
import { loadSource } from './unit/load.mjs';

let gateway, RoomSocket;
const sockets = new Set();

class Tracked extends WebSocket {
    constructor(url) {
        super(url);
        sockets.add(this);
        this.on('error', () => {}); // a browser only closes
    }
}

// Without a word, as a network does.
function breakAll() {
    for (const socket of sockets) socket.terminate();
}

before(async () => {
    gateway = await startGateway({
        tokens: [...people('ann', 'bob'), person('root', { admin: true }), person('guest', { topics: ['other'] })],
        topics: { defaults: { ring_messages: 20 } }, limits: { kick_bar: '1s' },
    });
    const origin = `http://127.0.0.1:${gateway.port}`;
    const plainFetch = globalThis.fetch;
    const kept = new Map();
    Object.assign(globalThis, {
        WebSocket: Tracked, location: new URL(`${origin}/console/room`), addEventListener() {}, removeEventListener() {},
        sessionStorage: { setItem: (name, value) => kept.set(name, value), getItem: (name) => kept.get(name) ?? null, removeItem: (name) => kept.delete(name) },
        fetch: (url, options) => plainFetch(new URL(url, origin), { ...options, cache: 'default' }),
    });
    const { keepToken, ...rest } = await loadSource("export { RoomSocket } from './net/socket'; export { keepToken } from './net/credential';");
    RoomSocket = class extends rest.RoomSocket {
        open(token = 'ann-token') {
            keepToken(token);
            super.open();
        }
    };
});
after(async () => { await gateway.stop(); });

// A socket that remembers what it was told, and waits for more.
function follow(topic, last) {
    const told = { envelopes: [], states: [] };
    const waiting = new Set();
    const tell = () => { for (const look of [...waiting]) look(); };
    const socket = new RoomSocket(topic, {
        onEnvelopes(batch) { told.envelopes.push(...batch); tell(); },
        onStatus(status) { told.states.push(status); tell(); },
    }, last);
    const until = (holds, what) => within(new Promise((resolve) => {
        const look = () => { if (holds()) { waiting.delete(look); resolve(); } };
        waiting.add(look);
        look();
    }), what);

    return Object.assign(told, {
        socket, until, state: () => told.states.at(-1)?.state, texts: () => told.envelopes.filter(({ kind }) => kind === 'chat').map(({ payload }) => payload.text),
    });
}

const say = (text, from = 'bob', topic = 'room') => gateway.post(`${from}-token`, topic, { protocol: 'mcpx/v0.1', id: `${from}-${text}`, from, kind: 'chat', payload: { text } });

test('it comes in, and hears others and oneself', async () => {
    const ann = follow('room');

    ann.socket.open();
    await ann.until(() => ann.state() === 'open' && ann.envelopes.some(({ kind }) => kind === 'system/welcome'), 'the welcome');
    await say('hello');
    await ann.until(() => ann.texts().includes('hello'), 'what was said');
    await say('yes', 'ann');
    await ann.until(() => ann.texts().includes('yes'), 'its own word');
    ann.socket.close();
    assert.equal(ann.state(), 'open', 'who closes needs not be told');
});

test('after a lost connection it goes on where it was, without repeating anything', async () => {
    const ann = follow('room');

    ann.socket.open();
    await ann.until(() => ann.state() === 'open');
    await say('one');
    await ann.until(() => ann.texts().includes('one'));
    breakAll();
    await ann.until(() => ann.state() === 'waiting', 'that it is lost');
    const { retryAt, why } = ann.states.at(-1);
    assert.ok(retryAt > Date.now() - 1000 && /lost/.test(why));
    await say('two');
    await say('three');
    ann.socket.retry();
    await ann.until(() => ann.texts().includes('three'), 'what was said meanwhile');
    assert.deepEqual(ann.texts().filter((text) => ['one', 'two', 'three'].includes(text)), ['one', 'two', 'three']);
    assert.equal(ann.envelopes.filter(({ kind }) => kind === 'system/gap').length, 0);
    ann.socket.close();
});

test('who has heard nothing yet misses nothing either', async () => {
    const first = follow('alone'), second = follow('alone'); // the second is not announced: it hears its welcome alone

    first.socket.open();
    await first.until(() => first.envelopes.some(({ kind }) => kind === 'system/presence'));
    second.socket.open();
    await second.until(() => second.envelopes.length === 1);
    breakAll();
    await second.until(() => second.state() === 'waiting');
    await say('to nobody', 'bob', 'alone');
    second.socket.retry();
    await second.until(() => second.texts().includes('to nobody'));
    await say('last', 'bob', 'alone');
    await second.until(() => second.texts().includes('last'));
    second.envelopes.length = 0; // a welcome is the newest that was told to it alone
    breakAll();
    await second.until(() => second.state() === 'waiting');
    second.socket.retry();
    await second.until(() => second.envelopes.some(({ kind }) => kind === 'system/welcome'));
    breakAll();
    await second.until(() => second.state() === 'waiting');
    await say('again', 'bob', 'alone');
    second.socket.retry();
    await second.until(() => second.texts().includes('again'));
    assert.ok(!second.envelopes.some(({ kind }) => kind === 'system/gap'), 'and a welcome is no place to go on from');
    first.socket.close();
    second.socket.close();
});

test('where too much was missed it is told of the gap', async () => {
    const ann = follow('room');

    ann.socket.open();
    await ann.until(() => ann.state() === 'open');
    await say('before');
    await ann.until(() => ann.texts().includes('before'));
    breakAll();
    await ann.until(() => ann.state() === 'waiting');
    for (let i = 0; i < 40; i++) await say(`missed-${i}`);
    ann.socket.retry();
    await ann.until(() => ann.texts().includes('missed-39'));
    assert.ok(ann.envelopes.some(({ kind }) => kind === 'system/gap'));
    assert.ok(!ann.texts().includes('missed-0'));
    ann.socket.close();
});

test('who is removed, or may not come in, is told why and does not come back by himself', async () => {
    const ann = follow('room');

    ann.socket.open();
    await ann.until(() => ann.state() === 'open');
    await gateway.request('POST /admin/members/ann/kick?topic=room', { token: 'root-token' });
    await ann.until(() => ann.state() === 'closed');
    assert.ok(ann.states.at(-1).why);
    ann.socket.close();
    const guest = follow('room');
    guest.socket.open('guest-token');
    await guest.until(() => guest.state() === 'closed');
    assert.match(guest.states.at(-1).why, /may not enter/);
    guest.socket.close();
    const nobody = follow('room');
    nobody.socket.open('wrong-token');
    await nobody.until(() => nobody.state() === 'closed');
    nobody.socket.close();
});

test('a server that goes and comes is found again', async () => {
    const bob = follow('room');

    bob.socket.open('bob-token');
    await bob.until(() => bob.state() === 'open');
    await gateway.kill();
    await bob.until(() => bob.state() === 'waiting');
    bob.socket.retry();
    await bob.until(() => bob.states.filter(({ state }) => state === 'waiting').length > 1, 'another attempt');
    gateway = await gateway.restart();
    bob.socket.retry();
    await bob.until(() => bob.state() === 'open', 'that it is back');
    bob.socket.close();
});

test('a connection that is dead without a word is noticed, and nothing is lost', async () => {
    const ann = follow('silent');

    ann.socket.quietMs = 40;
    ann.socket.open();
    await ann.until(() => ann.state() === 'open' && ann.envelopes.some(({ kind }) => kind === 'system/presence'), 'the join');
    await say('one', 'bob', 'silent');
    await ann.until(() => ann.texts().includes('one'), 'one');
    for (const socket of sockets) socket.pause(); // nothing comes, nothing is closed
    await say('two', 'bob', 'silent');
    await ann.until(() => ann.texts().includes('two'), 'what was said meanwhile');
    assert.deepEqual(ann.texts(), ['one', 'two']);
    assert.equal(ann.states.filter(({ state }) => state === 'waiting').length, 1, 'and while all is well nothing is given up');
    ann.socket.close();
    breakAll();
});

test('of two attempts at once the failure of the first does not hide that the second is in', async () => {
    const { fetch } = globalThis;
    const ann = follow('room');
    let fail;

    globalThis.fetch = (url, options) => {
        if (!String(url).includes('ws-ticket')) return fetch(url, options);
        globalThis.fetch = fetch;
        return new Promise((_, reject) => { fail = () => reject(new TypeError('Failed to fetch')); });
    };
    try {
        ann.socket.open();
        ann.socket.retry(); // somebody is impatient
        await ann.until(() => ann.state() === 'open', 'the second');
        fail();
        await new Promise((done) => { setTimeout(done, 2000); }); // longer than until another attempt
        assert.equal(ann.state(), 'open');
    } finally {
        ann.socket.close();
    }
});
