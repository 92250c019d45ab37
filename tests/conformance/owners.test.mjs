// SPDX-License-Identifier: Apache-2.0
// Two servers in one room, one of each era, and a client of either: whoever looks after a task reaches
// the server that has it, and pages that are to be opened first are told as the client's era has it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as later } from 'node:timers/promises';

import { write } from './fixture/lossless.mjs';
import { startRoom } from './mcp_server.mjs';
import { connect } from './peer.mjs';

const plain = (tree) => JSON.parse(write(tree));
const startBoth = () => startRoom({ old: { era: 'legacy' }, young: { era: 'modern' } });

async function ask(peer, method, params) {
    const rounds = plain(await peer.exchange(method, params));

    return { rounds, ...rounds.at(-1).response };
}

async function result(peer, method, params) {
    const answer = await ask(peer, method, params);

    assert.ok(answer.result, JSON.stringify(answer));
    return answer.result;
}

async function untilOver(peer, taskId) {
    for (;;) {
        const task = await result(peer, 'tasks/get', { taskId });

        if (!['working', 'submitted'].includes(task.status))
            return task;
        await later(50);
    }
}

test('tasks of several servers are looked after where they run', async (t) => {
    const room = await startBoth();
    t.after(room.stop);
    const peer = await connect(room, 'modern');
    t.after(() => peer.close());

    for (const owner of ['old', 'young']) {
        const made = await result(peer, 'tools/call', { name: `${owner}.slow_compute`, arguments: { seconds: 0, label: owner } });
        assert.equal(made.resultType, 'task', owner);
        const ended = await untilOver(peer, made.taskId);
        assert.equal(ended.status, 'completed', owner);
        assert.match(JSON.stringify(ended.result), new RegExp(owner));
        assert.equal((await result(peer, 'tasks/cancel', { taskId: made.taskId })).resultType, 'complete');
    }
    assert.equal((await ask(peer, 'tasks/get', { taskId: 'nobody' })).error.code, -32602);
});

test('a task of a legacy client has its result where it runs', async (t) => {
    const room = await startBoth();
    t.after(room.stop);
    const peer = await connect(room, 'legacy');
    t.after(() => peer.close());

    for (const owner of ['old', 'young']) {
        const { task } = await result(peer, 'tools/call', { name: `${owner}.slow_compute`, arguments: { seconds: 0, label: owner }, task: {} });
        assert.match(JSON.stringify(await result(peer, 'tasks/result', { taskId: task.taskId })), new RegExp(owner));
        assert.equal((await untilOver(peer, task.taskId)).status, 'completed');
    }
    assert.equal((await ask(peer, 'tasks/list', {})).error.code, -32601);
});

test('pages that a legacy server wants opened first', async (t) => {
    const room = await startBoth();
    t.after(room.stop);
    const modern = await connect(room, 'modern');
    t.after(() => modern.close());
    const { rounds, result: signedIn } = await ask(modern, 'tools/call', { name: 'old.test_url_required', arguments: {} });

    assert.equal(rounds.length, 2);
    assert.equal(rounds[0].response.result.resultType, 'input_required');
    assert.deepEqual(Object.values(rounds[0].response.result.inputRequests).map(({ method, params }) => [method, params.mode, params.elicitationId]),
                     [['elicitation/create', 'url', undefined]]);
    assert.equal(signedIn.content[0].text, 'signed in');

    const legacy = await connect(room, 'legacy');
    t.after(() => legacy.close());
    const { error } = await ask(legacy, 'tools/call', { name: 'old.test_url_required', arguments: {} });
    assert.equal(error.code, -32042);
    assert.equal(error.data.elicitations[0].mode, 'url');
    assert.ok(error.data.elicitations[0].elicitationId);
});
