// SPDX-License-Identifier: Apache-2.0
// An MCP server of the legacy line on its standard streams that says what it is told to.
//
//   node scripted-server.mjs '{"tools":{}}'     its capabilities
//       tool say {messages, error}     sends them, "$token" being the caller's progress token, waits for the answer to
//                                      each that has an id, and says these; or fails with the error
//       tool heard                     the methods that it was sent, in their order
import readline from 'node:readline';

const capabilities = JSON.parse(process.argv[2]);
const methods = [];
const answers = new Map();

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (said) => ({ content: [{ type: 'text', text: JSON.stringify(said) }] });
const tool = (name) => ({ name, description: name, inputSchema: { type: 'object' },
                          ...(capabilities.tasks && name === 'heard' ? { execution: { taskSupport: 'optional' } } : {}) });

async function say({ messages, error }, token) {
    const said = [];

    for (const message of JSON.parse(JSON.stringify(messages ?? []).replaceAll('"$token"', JSON.stringify(token ?? 0)))) {
        const answer = message.id === undefined ? undefined :
            new Promise((resolve) => { answers.set(message.id, resolve); });

        send(message);
        if (answer)
            said.push(await answer);
    }
    return error ? { error } : { result: text(said) };
}

const served = {
    initialize: ({ protocolVersion }) => ({ result: { protocolVersion, capabilities, serverInfo: { name: 'scripted', version: '1' } } }),
    'tools/list': () => ({ result: { tools: [tool('say'), tool('heard')] } }),
    'tools/call': ({ name, arguments: args, task, _meta }) =>
        name === 'say' ? say(args, _meta?.progressToken) : { result: text({ methods, task }) },
};

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
    const { id, method, params, result, error } = JSON.parse(line);

    if (!method) {
        answers.get(id)?.(result ? { result } : { error });
        return;
    }
    methods.push(method);
    if (id !== undefined)
        send({ id, ...(await served[method]?.(params) ?? { error: { code: -32601, message: 'no such method' } }) });
}).on('close', () => process.exit(0));
