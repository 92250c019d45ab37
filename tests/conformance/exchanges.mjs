// SPDX-License-Identifier: Apache-2.0
// What is asked of the fixture to see whether two ways to it are the same: every method of both eras
// with what answers can look like. Each is a function of a peer (peer.mjs) that gives what is
// compared; `record` runs them one after the other.
//
//   const said = await record(peer, isAsked)    title → what was said, as lossless.mjs reads it; or an
//       Error; isAsked(title): all unless it says otherwise
import { setTimeout as later } from 'node:timers/promises';

import { Num } from './fixture/lossless.mjs';
import { within } from './peer.mjs';

const ask = (method, params) => (peer) => peer.exchange(method, params);
const call = (name, args, more = {}) => ask('tools/call', { name, ...(args && { arguments: args }), ...more });
const progress = (progressToken) => ({ _meta: { progressToken } });

// A tool that changes something, and the notification about it.
const told = (method, name, before = []) => async (peer) => {
    const first = [];

    for (const [one, params] of before)
        first.push(await peer.exchange(one, params));
    const from = peer.notices.length;
    const rounds = await peer.exchange('tools/call', { name });
    return [first, rounds, await peer.heard(method, from)];
};

const isOf = (notice, { id }) =>
    notice.get('params').get('_meta').get('io.modelcontextprotocol/subscriptionId').text === String(id);

// The same in the modern era, where somebody has to listen.
const listened = (notifications, method, name) => async (peer) => {
    const from = peer.notices.length;
    const sent = peer.send('subscriptions/listen', { notifications });
    const acknowledged = await peer.heard('notifications/subscriptions/acknowledged', from);
    const rounds = await peer.exchange('tools/call', { name });
    const heard = await peer.heard(method, from);

    peer.cancel(sent);
    return [acknowledged, rounds, heard, [acknowledged, heard].every((one) => isOf(one, sent))];
};

const idOf = (rounds) => {
    const result = rounds[rounds.length - 1].response.get('result');
    return result.get('taskId') ?? result.get('task').get('taskId');
};

// What `look` gives once it gives something.
async function until(what, look) {
    let isOver = false;
    const looking = async () => {
        for (let found; !isOver; await later(10))
            if ((found = await look()))
                return found;
        return undefined;
    };

    try {
        return await within(looking(), what);
    } finally {
        isOver = true;
    }
}

// Asks until a task is in that state; only the last answer counts.
const polled = (peer, taskId, status) => until(`a task that is ${status}`, async () => {
    const rounds = await peer.exchange('tasks/get', { taskId });

    return rounds[0].response.get('result').get('status') === status && rounds;
});

// A call that is under way is cancelled; what tells that it was is the server's own count.
async function cancelled(peer) {
    const counted = async () => Number((await peer.exchange('tools/call', { name: 'test_cancelled' }))[0].response
        .get('result').get('content')[0].get('text'));
    const before = await counted();
    const sent = peer.send('tools/call', { name: 'test_slow', arguments: {}, _meta: { progressToken: 'slow' } });

    await until('the call', () => sent.exchange.before.length > 0);
    peer.cancel(sent);
    await until('its end', async () => await counted() !== before);
    return [sent.exchange.before, sent.exchange.isDone];
}

// What a form has no room for: it is for the server to say so.
async function unfit(peer) {
    const { answers } = peer;

    peer.answers = { ...answers, 'elicitation/create': () => ({ action: 'accept', content: { status: 'unheard of', more: new Num('1.0') }, 'example.com/more': [] }) };
    try {
        return await peer.exchange('tools/call', { name: 'test_elicitation_sep1034_defaults', arguments: {} });
    } finally {
        peer.answers = answers;
    }
}

async function unfinished(peer) {
    const created = await peer.exchange('tools/call', { name: 'confirm_delete', arguments: { filename: 'a' }, ...TASK[peer.era] });
    const taskId = idOf(created);
    const waiting = await polled(peer, taskId, 'input_required');

    return [created, waiting, peer.era === 'legacy' ? await peer.exchange('tasks/result', { taskId }) : await updated(peer, taskId, waiting)];
}

// Answers what a task asks for.
async function updated(peer, taskId, [{ response }]) {
    const asked = response.get('result').get('inputRequests');
    const inputResponses = Object.fromEntries([...asked.keys()].map((key) => [key, { action: 'accept', content: { confirm: true } }]));

    return [await peer.exchange('tasks/update', { taskId, inputResponses }), await polled(peer, taskId, 'completed')];
}

const TASK = { legacy: { task: { ttl: 60_000 } }, modern: {} };
const worked = (name, status) => async (peer) => {
    const created = await peer.exchange('tools/call', { name, arguments: {}, ...TASK[peer.era] });

    return [created, await polled(peer, idOf(created), status)];
};

async function stopped(peer) {
    const created = await peer.exchange('tools/call', { name: 'slow_compute', arguments: { seconds: 600 }, ...TASK[peer.era] });
    const taskId = idOf(created);

    return [created, await peer.exchange('tasks/cancel', { taskId }), await polled(peer, taskId, 'cancelled')];
}

const BOTH = {
    'tools/list': ask('tools/list'),
    'prompts/list': ask('prompts/list'),
    'resources/list': ask('resources/list'),
    'resources/templates/list': ask('resources/templates/list'),
    'resources/read, text': ask('resources/read', { uri: 'test://static-text' }),
    'resources/read, blob': ask('resources/read', { uri: 'test://static-binary' }),
    'resources/read, numbers': ask('resources/read', { uri: 'test://watched-resource' }),
    'resources/read, template': ask('resources/read', { uri: 'test://template/a%20b/data' }),
    'resources/read, unknown': ask('resources/read', { uri: 'test://nothing' }),
    'prompts/get': ask('prompts/get', { name: 'test_simple_prompt' }),
    'prompts/get, arguments': ask('prompts/get', { name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'ü' } }),
    'prompts/get, resource': ask('prompts/get', { name: 'test_prompt_with_embedded_resource', arguments: { resourceUri: 'test://x' } }),
    'prompts/get, image': ask('prompts/get', { name: 'test_prompt_with_image' }),
    'prompts/get, missing argument': ask('prompts/get', { name: 'test_prompt_with_arguments', arguments: {} }),
    'prompts/get, unknown': ask('prompts/get', { name: 'nothing' }),
    'prompts/get, a question': ask('prompts/get', { name: 'test_input_required_result_prompt' }),
    'completion/complete, prompt': ask('completion/complete', { ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'par' } }),
    'completion/complete, template': ask('completion/complete', { ref: { type: 'ref/resource', uri: 'test://template/{id}/data' }, argument: { name: 'id', value: '' } }),
    'completion/complete, unknown': ask('completion/complete', { ref: { type: 'ref/prompt', name: 'nothing' }, argument: { name: 'a', value: '' } }),

    'tools/call, no arguments': call('test_simple_text'),
    'tools/call, image': call('test_image_content', {}),
    'tools/call, audio': call('test_audio_content', {}),
    'tools/call, embedded resource': call('test_embedded_resource', {}),
    'tools/call, mixed': call('test_multiple_content_types', {}),
    'tools/call, resource link': call('test_resource_link', {}),
    'tools/call, tool error': call('test_error_handling', {}),
    'tools/call, error': call('test_protocol_error', {}),
    'tools/call, unknown': call('nothing', {}),
    'tools/call, header parameter': call('test_header_parameter', { region: 'eu', count: 7 }),
    'tools/call, numbers and unknown members there': call('test_echo', {
        z: new Num('12345678901234567890'), a: new Num('1.0'), m: { '': null, 'ü': [new Num('1E-7'), true, []] }, text: '\u0000\ud83d\ude00"\\',
    }, { _meta: { 'example.com/kept': { deep: [1] } } }),
    'tools/call, numbers and unknown members back': call('test_structured', {}),
    'tools/call, structured list': call('test_structured_list', {}),
    'tools/call, progress, text token': call('test_tool_with_progress', {}, progress('p')),
    'tools/call, progress, number token': call('test_tool_with_progress', {}, progress(7)),
    'tools/call, sampling': call('test_sampling', { prompt: 'Capital?' }),
    'tools/call, elicitation': call('test_elicitation', { message: 'Who?' }),
    'tools/call, defaults': call('test_elicitation_sep1034_defaults', {}),
    'tools/call, enums': call('test_elicitation_sep1330_enums', {}),
    'tools/call, an answer that does not fit': unfit,
    'tools/call, input': call('test_input_required_result_elicitation', {}),
    'tools/call, roots': call('test_input_required_result_list_roots', {}),
    'tools/call, state': call('test_input_required_result_request_state', {}),
    'tools/call, three questions': call('test_input_required_result_multiple_inputs', {}),
    'tools/call, two rounds': call('test_input_required_result_multi_round', {}),
    'tools/call, a page': call('test_url_elicitation', {}),
    'tools/call, a page first': call('test_url_required', {}),
    'tools/call, a page first, again': call('test_url_required', {}),
    'tools/call, cancelled': cancelled,
    'tasks, work': worked('slow_compute', 'completed'),
    'tasks, a question': unfinished,
    'tasks, cancelled': stopped,
    'tasks/get, unknown': ask('tasks/get', { taskId: 'nothing' }),
    'unknown/method': ask('unknown/method'),
};

const LEGACY = {
    ping: ask('ping'),
    'logging/setLevel': ask('logging/setLevel', { level: 'info' }),
    'logging/setLevel, unknown': ask('logging/setLevel', { level: 'loud' }),
    'tools/call, logging': call('test_tool_with_logging', {}),
    'tools/call, logging, numbers': call('test_logging_tool', {}),
    'tools/call, a stream that is let go': call('test_reconnection', {}),
    'notifications/tools/list_changed': told('notifications/tools/list_changed', 'test_trigger_tool_change'),
    'tools/list, more': ask('tools/list'),
    'notifications/tools/list_changed, back': told('notifications/tools/list_changed', 'test_trigger_tool_change'),
    'notifications/prompts/list_changed': told('notifications/prompts/list_changed', 'test_trigger_prompt_change'),
    'notifications/prompts/list_changed, back': told('notifications/prompts/list_changed', 'test_trigger_prompt_change'),
    'notifications/resources/list_changed': told('notifications/resources/list_changed', 'test_trigger_resource_change'),
    'notifications/resources/list_changed, back': told('notifications/resources/list_changed', 'test_trigger_resource_change'),
    'notifications/resources/updated': told('notifications/resources/updated', 'test_trigger_resource_update',
                                            [['resources/subscribe', { uri: 'test://watched-resource' }]]),
    'notifications/elicitation/complete': told('notifications/elicitation/complete', 'test_url_elicitation'),
    'resources/unsubscribe': ask('resources/unsubscribe', { uri: 'test://watched-resource' }),
    'tasks, failed': worked('failing_job', 'failed'),
    'server/discover': ask('server/discover'),
};

const logged = (logLevel) => ({ _meta: { 'io.modelcontextprotocol/logLevel': logLevel } });
const watched = { resourceSubscriptions: ['test://watched-resource'] };

const MODERN = {
    'tools/call, logging': call('test_tool_with_logging', {}, logged('info')),
    'tools/call, logging, numbers': call('test_logging_tool', {}, logged('debug')),
    'tools/call, logging, too little': call('test_logging_tool', {}, logged('error')),
    'tools/call, logging, not wanted': call('test_logging_tool', {}),
    'tools/call, first answers': call('test_input_required_result_elicitation', {}, { inputResponses: { user_name: { action: 'accept', content: { name: 'Bob' } } } }),
    'tools/call, forged state': call('test_input_required_result_request_state', {}, { requestState: 'forged', inputResponses: {} }),
    'subscriptions/listen, tools': listened({ toolsListChanged: true }, 'notifications/tools/list_changed', 'test_trigger_tool_change'),
    'tools/list, more': ask('tools/list'),
    'subscriptions/listen, tools, back': listened({ toolsListChanged: true }, 'notifications/tools/list_changed', 'test_trigger_tool_change'),
    'subscriptions/listen, prompts': listened({ promptsListChanged: true }, 'notifications/prompts/list_changed', 'test_trigger_prompt_change'),
    'subscriptions/listen, prompts, back': listened({ promptsListChanged: true }, 'notifications/prompts/list_changed', 'test_trigger_prompt_change'),
    'subscriptions/listen, resources': listened({ resourcesListChanged: true }, 'notifications/resources/list_changed', 'test_trigger_resource_change'),
    'subscriptions/listen, resources, back': listened({ resourcesListChanged: true }, 'notifications/resources/list_changed', 'test_trigger_resource_change'),
    'subscriptions/listen, a resource': listened(watched, 'notifications/resources/updated', 'test_trigger_resource_update'),
    'tasks, a question first': worked('test_tool_with_task', 'completed'),
    'tasks, failed': worked('protocol_error_job', 'failed'),
    ping: ask('ping'),
};

export const EXCHANGES = { legacy: { ...BOTH, ...LEGACY }, modern: { ...BOTH, ...MODERN } };

// --- what may differ anyway ---

// Ids of a hop, and what is random.
const RANDOM = new Set(['id', 'requestId', 'elicitationId', 'taskId', 'createdAt', 'lastUpdatedAt', 'io.modelcontextprotocol/subscriptionId']);

function cleaned(value, key, isPayload) {
    if (RANDOM.has(key) && !isPayload)
        return `<${key}>`;
    if (Array.isArray(value))
        return value.map((one) => cleaned(one, undefined, isPayload));
    if (value === null || typeof value !== 'object' || value instanceof Num)
        return value;
    const members = value instanceof Map ? value : new Map(Object.entries(value));
    // A schema, or what a server calls content, has its own names.
    return new Map([...members].map(([name, one]) => [name, cleaned(one, name, isPayload || name === 'inputSchema' || name === 'structuredContent')]));
}

export async function record(peer, isAsked = () => true) {
    const said = { opening: cleaned(peer.opening) };

    for (const [title, run] of Object.entries(EXCHANGES[peer.era]).filter(([one]) => isAsked(one)))
        try {
            said[title] = cleaned(await run(peer));
        } catch (error) {
            said[title] = error;
        }
    return said;
}
