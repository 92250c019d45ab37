// SPDX-License-Identifier: Apache-2.0
// What comes through the gateway, derived from what the fixture says directly (exchanges.mjs): as it
// is, but for the rules below. Each names the reason; what no rule names is the same text.
//
//   const expected = expectedOf(cell, direct)    title → tree, of what means something there
//       cell: { client, server }, the eras of both; direct: of record()
//   seen(tree)      what came through, without what is random in it
import { Num } from './fixture/lossless.mjs';

const REQUEST_STATE = '<requestState>';

// --- trees: Map, list, value ---

function copy(tree) {
    if (tree instanceof Map)
        return new Map([...tree].map(([key, one]) => [key, copy(one)]));
    return Array.isArray(tree) ? tree.map(copy) : tree;
}

// Every object in it, the outer ones first.
function* objectsIn(tree) {
    if (tree instanceof Map)
        yield tree;
    for (const one of tree instanceof Map ? tree.values() : Array.isArray(tree) ? tree : [])
        yield* objectsIn(one);
}

const withMember = (tree, key) => [...objectsIn(tree)].filter((one) => one.has(key));

function drop(tree, ...keys) {
    for (const object of objectsIn(tree))
        keys.forEach((key) => object.delete(key));
}

function set(tree, key, value) {
    for (const object of withMember(tree, key))
        object.set(key, value);
}

function putFirst(object, key, value) {
    const members = [...object];

    object.clear();
    object.set(key, value);
    members.forEach(([name, one]) => object.set(name, one));
}

// --- the rules ---

const always = () => true;
// Between a client of one era and a server of the other; `client` is the era of the client.
const crosses = (client) => (cell) => cell.client === client && cell.server !== client;
const isLegacyToModern = crosses('legacy');
const isModernToLegacy = crosses('modern');

// What nobody offers, or the gateway answers itself, is refused in its own words, with the same code.
const WORDS = {
    'prompts/get, unknown': 'there is no prompt of that name',
    'tools/call, unknown': 'there is no tool of that name',
    'tasks/get, unknown': 'there is no such task',
    'unknown/method': 'there is no such method',
    'logging/setLevel, unknown': "level is none of MCP's",
    'server/discover': 'there is no such method',
    ping: 'there is no such method',
};

// ML-03: a legacy server asks with requests, which have neither keys nor a state. The gateway numbers
// them, and gives a state of its own; of a page that is to be opened first (ML-06) it keeps none.
function askWithOurKeys(tree, direct, title) {
    const hasState = !title.startsWith('tools/call, a page first');
    let count = 0;

    for (const object of withMember(tree, 'inputRequests')) {
        const members = [...object];

        object.clear();
        for (const [key, value] of members) {
            if (key === 'inputRequests')
                object.set(key, new Map([...value.values()].map((one) => [`q${++count}`, one])));
            else if (key !== 'requestState')
                object.set(key, value);
            if (hasState && key === 'inputRequests' && object.get('resultType') === 'input_required')
                object.set('requestState', REQUEST_STATE);
        }
    }
}

// A modern server asks first, whoever it is, and answers then; the error that names the page is gone
// in its era (LM-03).
function askBefore(tree, direct) {
    const { error } = Object.fromEntries(direct['tools/call, a page first'][0].get('response'));
    const [{ response }] = direct['tools/call, a page first, again'].map((one) => Object.fromEntries(one));

    tree[0].set('before', error.get('data').get('elicitations').map((params) =>
        new Map([['jsonrpc', '2.0'], ['id', '<id>'], ['method', 'elicitation/create'], ['params', params]])));
    tree[0].set('response', response);
}

const replaceBy = (title) => (tree, direct) => { tree.splice(0, tree.length, ...copy(direct[title])); };

const RULES = [
    [always, /./, (tree, direct, title) => title in WORDS && set(tree, 'message', WORDS[title])],

    // Tasks of a modern server: nobody lists them, and tools do not say beforehand that they become one.
    [isLegacyToModern, /^opening/, (tree) => withMember(tree, 'tasks').forEach((one) => one.get('tasks').delete('list'))],
    [isLegacyToModern, /^tools\/list/, (tree) => drop(tree, 'execution')],
    // There is no way back from ML-10: errors of a modern server are passed on as they are.
    [isLegacyToModern, /^resources\/read, unknown/, (tree) => set(tree, 'code', new Num('-32602'))],
    [isLegacyToModern, /^tools\/call, a page first/, askBefore],

    // ML-02: a legacy server says nothing about caches.
    [isModernToLegacy, /^resources\/read/, (tree) => { set(tree, 'ttlMs', new Num('0')); set(tree, 'cacheScope', 'private'); }],
    // A legacy server has objects alone as structured content.
    [isModernToLegacy, /^tools\/list/, (tree) => withMember(tree, 'outputSchema')
        .filter((one) => one.get('outputSchema').get('type') !== 'object').forEach((one) => one.delete('outputSchema'))],
    [isModernToLegacy, /^tools\/call, structured list/, (tree) => drop(tree, 'structuredContent')],
    // Nor does it know of answers and states that come with a call: it asks.
    [isModernToLegacy, /^tools\/call, first answers/, replaceBy('tools/call, input')],
    [isModernToLegacy, /^tools\/call, forged state/, replaceBy('tools/call, state')],
    [isModernToLegacy, /./, askWithOurKeys],
    // ML-02, for the result that ends a task.
    [isModernToLegacy, /^tasks/, (tree) => withMember(tree, 'status').filter((one) => one.has('result') && one.has('taskId'))
        .forEach((one) => putFirst(one.get('result'), 'resultType', 'complete'))],
];

// What means nothing there.
const LEFT_OUT = [
    // A modern server does not say that a page was visited.
    [isLegacyToModern, /^notifications\/elicitation\/complete/],
    // ML-04: it is asked again until it fits; a unit test of the door sees to that.
    [isModernToLegacy, /an answer that does not fit/],
    // A legacy task asks when it is one, not before.
    [isModernToLegacy, /^tasks, a question first/],
];

function expected(cell, title, direct) {
    const tree = copy(direct[title]);

    for (const [when, titles, change] of RULES)
        if (when(cell) && titles.test(title))
            change(tree, direct, title);
    return tree;
}

export function expectedOf(cell, direct) {
    const isLeftOut = (title) => LEFT_OUT.some(([when, titles]) => when(cell) && titles.test(title));

    return Object.fromEntries(Object.keys(direct).filter((title) => !isLeftOut(title))
        .map((title) => [title, expected(cell, title, direct)]));
}

// A state of the gateway's own is sealed.
export function seen(tree) {
    for (const object of withMember(tree, 'requestState'))
        if (/^moot-[\w-]{40,}$/.test(object.get('requestState')))
            object.set('requestState', REQUEST_STATE);
    return tree;
}
