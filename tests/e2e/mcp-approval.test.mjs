// SPDX-License-Identifier: Apache-2.0
// An MCP client that may call nothing: what it wants is proposed, and a person in another client
// decides.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { envelope, expect, person, startGateway } from './gateway.mjs';
import { mcpAt, modern } from './mcp.mjs';
import { until } from './processes.mjs';

const fixture = fileURLToPath(new URL('../conformance/fixture.mjs', import.meta.url));
const TOOL = 'test_simple_text';
let gateway;
let ann;
let agent;

const server = (topic) => ({ topic, command: [process.execPath, fixture, '--era', 'dual', '--stdio'], sandbox: 'off', network: 'any', pin: 'off' });

before(async () => {
    gateway = await startGateway({
        mcp: { hold: '1s', room_tools: 'off' },
        topics: { named: { hasty: { proposal_expiry: '1s' } } },
        servers: { files: server('room'), brief: server('hasty') },
        tokens: [
            person('ann'),
            person('agent', { profile: 'proposer' }),
            person('nobody', { capabilities: ['chat'] }),
        ],
    });
    ann = await gateway.join('ann', { topic: 'room' });
    agent = mcpAt(gateway, 'room', 'agent-token');
    await isListed(agent);
});
after(async () => { await gateway.stop(); });

const toolsOf = async (door, visit) => (await door.ask('tools/list', undefined, { visit })).answer.result.tools.map(({ name }) => name);

// A server that is slow to start is left out of lists until it has.
async function isListed(door) {
    const visit = await door.begin();

    while (!(await toolsOf(door, visit)).includes(TOOL))
        await later(50);
}

const streams = async () => Number(/^moot_mcp_streams (\d+)$/m.exec((await gateway.request('GET /metrics')).text)[1]);

const call = (args, more = {}) => ({ name: TOOL, arguments: args, ...more });
const proposed = () => expect(ann, ({ kind, from }) => kind === `mcp/proposal:tools/call:${TOOL}` && from === 'agent');

const fulfil = ({ id, payload }) => ann.send(envelope('ann', `mcp/request:tools/call:${TOOL}`, {
    to: ['files'], correlation_id: id, payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: payload.params },
}));
const reject = ({ id }, reason) => ann.send(envelope('ann', 'mcp/reject', { correlation_id: id, payload: { reason } }));

test('what may only be proposed is listed, and what may not even that is not there', async () => {
    const nobody = mcpAt(gateway, 'room', 'nobody-token');
    const visit = await nobody.begin();

    assert.deepEqual(await toolsOf(nobody, visit), []);
    const { answer } = await nobody.ask('tools/call', call({}), { visit });
    const other = await nobody.ask('tools/call', { name: 'no_such_tool', arguments: {} }, { visit });
    assert.deepEqual(answer.error, { code: -32602, message: `Unknown tool: ${TOOL}` });
    assert.deepEqual(other.answer.error, { code: -32602, message: 'Unknown tool: no_such_tool' });
});

test('a person asks for it, and the client gets the result as if it had called', async () => {
    const visit = await agent.begin();
    const answer = agent.ask('tools/call', call({ n: 1 }), { visit });
    const proposal = await proposed();

    assert.deepEqual(proposal.to, ['files']);
    assert.deepEqual(proposal.payload.params, call({ n: 1 }));
    fulfil(proposal);
    assert.deepEqual((await answer).answer.result,
        { content: [{ type: 'text', text: 'This is a simple text response for testing.' }] });
});

test('a person says no, and why', async () => {
    const visit = await agent.begin();
    const answer = agent.ask('tools/call', call({ n: 2 }), { visit });

    reject(await proposed(), 'too dangerous');
    assert.deepEqual((await answer).answer.result,
        { content: [{ type: 'text', text: 'ann rejected it: too dangerous' }], isError: true });
});

test('nobody decides in time', async () => {
    const door = mcpAt(gateway, 'hasty', 'agent-token');

    await isListed(door);
    const { answer } = await door.ask('tools/call', call({}), { visit: await door.begin() });
    assert.deepEqual(answer.result,
        { content: [{ type: 'text', text: 'nobody decided within 1 s' }], isError: true });
});

test('the same call again waits for the same decision', async () => {
    const first = agent.ask('tools/call', call({ n: 3, m: 4 }), { visit: await agent.begin() });
    const proposal = await proposed();
    const second = agent.ask('tools/call', { arguments: { m: 4, n: 3 }, name: TOOL }, { visit: await agent.begin() });
    await until(async () => await streams() === 2, 'both wait');
    const other = agent.ask('tools/call', call({ n: 'another' }), { visit: await agent.begin() });

    reject(await proposed(), 'not that'); // the next one that is proposed: not the second
    assert.match((await other).answer.result.content[0].text, /not that/);
    reject(proposal, 'nor this');
    assert.match((await first).answer.result.content[0].text, /nor this/);
    assert.match((await second).answer.result.content[0].text, /nor this/);
});

test('a client that cancels withdraws what it proposed', async () => {
    const visit = await agent.begin();
    const message = { jsonrpc: '2.0', id: 'mine', method: 'tools/call', params: call({ n: 5 }) };
    const answer = agent.post(message, { visit });
    const { id } = await proposed();

    await agent.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'mine' } }, { visit });
    await expect(ann, ({ kind, correlation_id }) => kind === 'mcp/withdraw' && correlation_id === id);
    assert.deepEqual((await answer).messages, []);
});

test('a modern client is asked to come back, and then has its answer', async () => {
    const ask = async (params) => {
        const { message, headers } = modern('tools/call', params);
        return (await agent.post(message, { headers })).messages.at(-1);
    };
    const first = ask(call({ n: 6 }));
    const proposal = await proposed();
    const { result: { resultType, requestState, inputRequests } } = await first;

    assert.equal(resultType, 'input_required');
    assert.equal(inputRequests, undefined);
    const second = ask(call({ n: 6 }, { requestState }));
    fulfil(proposal);
    let { result } = await second;
    while (result.resultType === 'input_required') // a machine on which a second is short
        ({ result } = await ask(call({ n: 6 }, { requestState: result.requestState })));
    assert.equal(result.resultType, 'complete');
    assert.equal(result.content[0].text, 'This is a simple text response for testing.');

    const bad = await ask(call({ n: 6 }, { requestState: `${requestState}x` }));
    assert.equal(bad.error.code, -32602);
});
