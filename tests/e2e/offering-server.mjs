// SPDX-License-Identifier: Apache-2.0
// An MCP server of the legacy line on its standard streams that offers what it is told to.
//
//   node offering-server.mjs '{"name":"a", "tools":["x"], "resources":["doc://1"], "templates":["doc://{n}"],
//                              "prompts":["p"], "page":2, "authorization":{"x":{"required":true}}}'
//       tool who        its name, its pid, and the arguments
//       tool links      a resource_link and an embedded resource of its first resource
//       tool touch      tells those who subscribed that its first resource has changed
//       tool grow       offers one more tool, {"name": …}, and says so
//       tool shout      {"count", "bytes"}: so many messages of that size, and then its answer
//       tool heard      the methods that it was sent, in their order
//       any other       says its name
// Lists come in pages of `page` items; completions are the value with 1 and 2 behind it.
import readline from 'node:readline';

const { name, tools = [], resources = [], templates = [], prompts = [], page = 1000, authorization = {} } = JSON.parse(process.argv[2]);
const offered = ['who', 'links', 'touch', 'grow', 'shout', 'heard', ...tools];
const described = new Map();
const heard = [];
const subscribed = new Set();

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (said) => ({ content: [{ type: 'text', text: typeof said === 'string' ? said : JSON.stringify(said) }] });

function pageOf(member, items, { cursor } = {}) {
    const from = Number(cursor ?? 0);
    const more = from + page < items.length ? { nextCursor: String(from + page) } : {};

    return { [member]: items.slice(from, from + page), ...more };
}

const tool = (key) => ({ name: key, description: described.get(key) ?? `${key} of ${name}`, inputSchema: { type: 'object' },
                        ...(authorization[key] ? { authorization: authorization[key] } : {}) });

const called = {
    who: (args) => text({ name, pid: process.pid, args }),
    links: () => ({ content: [
        { type: 'resource_link', uri: resources[0], name: 'first' },
        { type: 'resource', resource: { uri: resources[0], text: `embedded by ${name}` } },
    ] }),
    touch() {
        for (const uri of subscribed)
            send({ method: 'notifications/resources/updated', params: { uri } });
        return text([...subscribed]);
    },
    grow({ name: key, description }) {
        offered.push(key);
        if (description)
            described.set(key, description);
        send({ method: 'notifications/tools/list_changed' });
        return text('grown');
    },
    shout({ count, bytes }) {
        for (let n = 0; n < count; n++)
            send({ method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(bytes) } });
        return text('shouted');
    },
    heard: () => text(heard),
};

const served = {
    initialize: ({ protocolVersion }) => ({
        protocolVersion, serverInfo: { name, version: '1' }, instructions: `I am ${name}.`,
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
    }),
    ping: () => ({}),
    'tools/list': (params) => pageOf('tools', offered.map(tool), params),
    'resources/list': (params) => pageOf('resources', resources.map((uri) => ({ uri, name: uri })), params),
    'resources/templates/list': (params) => pageOf('resourceTemplates', templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })), params),
    'prompts/list': (params) => pageOf('prompts', prompts.map((key) => ({ name: key })), params),
    'tools/call': ({ name: key, arguments: args = {} }) => (called[key] ?? (() => text(`${key} of ${name}`)))(args),
    'resources/read': ({ uri }) => ({ contents: [{ uri, text: `${uri} of ${name}` }] }),
    'resources/subscribe': ({ uri }) => { subscribed.add(uri); return {}; },
    'resources/unsubscribe': ({ uri }) => { subscribed.delete(uri); return {}; },
    'prompts/get': ({ name: key }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `${key} of ${name}` } }] }),
    'completion/complete': ({ argument }) => ({ completion: { values: [1, 2].map((n) => `${name} ${argument.value}${n}`) } }),
    'logging/setLevel': () => ({}),
};

readline.createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);

    if (!method)
        return;
    heard.push(method);
    if (id !== undefined)
        send(served[method] ? { id, result: served[method](params) } : { id, error: { code: -32601, message: 'no such method' } });
}).on('close', () => process.exit(0));
