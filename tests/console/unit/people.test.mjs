// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { load } from './load.mjs';

const { tokensInOrder, peopleOf, peopleIn, filterPeople, roomsOf, isPaused, capabilitiesOf } = await load('state/people.ts');

const token = (id, more) => ({ name: `${id}-1`, id, type: 'agent', topics: ['*'], capabilities: ['chat'], admin: false, source: 'store', ...more });
const member = (participantId, topic, more) => ({ connectionId: `${topic}-${participantId}`, participantId, topic, type: 'agent', capabilities: ['chat'], connectedAt: '', paused: false, ...more });

test('tokens and connections of one id are one person; who is here stands first', () => {
    const people = peopleOf(
        [token('ann', { type: 'human', admin: true }), token('bot'), token('bot', { name: 'bot-2' })],
        [member('bot', 'b'), member('bot', 'a', { paused: true }), member('files', 'a', { type: 'service', server: 'files' })]);

    assert.deepEqual(people.map(({ id }) => id), ['bot', 'files', 'ann']);
    assert.deepEqual(roomsOf(people[0]), ['a', 'b']);
    assert.equal(people[0].tokens.length, 2);
    assert.deepEqual(people.map(isPaused), [true, false, false]);
    assert.deepEqual(people.map(({ isAdmin }) => isAdmin), [false, false, true]);
    assert.equal(people[1].server, 'files');
    assert.deepEqual(filterPeople(people, { text: 'B', type: '', isHere: false }).map(({ id }) => id), ['bot']);
    assert.deepEqual(filterPeople(people, { text: '', type: 'human', isHere: false }).map(({ id }) => id), ['ann']);
    assert.deepEqual(filterPeople(people, { text: '', type: '', isHere: true }).map(({ id }) => id), ['bot', 'files']);
});

test('what is in force in a room goes before what a token says', () => {
    const [bot] = peopleOf([token('bot', { capabilities: ['mcp/*'] })], [member('bot', 'a'), member('bot', 'b', { moot: { capabilities: [{ kind: 'x', payload: { a: 1 } }] } })]);

    assert.deepEqual(capabilitiesOf(bot), ['chat', { kind: 'x', payload: { a: 1 } }]);
});

test('names with numbers are in their order', () => {
    assert.deepEqual(tokensInOrder([token('a-10'), token('b'), token('a-2')]).map(({ id }) => id), ['a-2', 'a-10', 'b']);
});

test('members see who is in their rooms', () => {
    const people = peopleIn([{ topic: 'a', participants: [{ id: '__proto__', capabilities: ['chat'], moot: { type: 'human' } }] }]);

    assert.deepEqual(people.map(({ id, type }) => [id, type]), [['__proto__', 'human']]);
});
