// SPDX-License-Identifier: Apache-2.0
// Capabilities in words that go on from "may": "call the tool “deploy”, only if the argument
// “target” begins with “staging”". Names in them are others' and may be anything: whoever shows
// a sentence shows it as text, isolated from what stands around it.
import { isObject, type Capability, type Json, type JsonObject } from '../net/types';
import { t } from '../strings';
import { isDotted, kindOf, slashedOf } from './patterns';
import { visible } from './visible';

const s = t.sentences;
const quote = (text: string) => s.quote(visible(text));

export function sentenceOf(capability: Capability): string {
    const kind = slashPattern(kindOf(capability));
    const payload = isObject(capability) ? capability['payload'] : undefined;
    const sentence = sentenceOfKind(kind);

    if (!isObject(payload)) return sentence;
    const conditions = conditionsOf(payload, kind);
    return conditions.length ? s.onlyIf(sentence, conditions.join(s.and)) : sentence;
}

// Dotted patterns with an equal one in slashes.
function slashPattern(pattern: string): string {
    if (!isDotted(pattern) || pattern === 'mcp.*' || pattern === 'mcpx.*') return pattern;
    return slashedOf(pattern);
}

function sentenceOfKind(kind: string): string {
    if (kind === '*') return s.everything;
    if (kind === 'mcp/*' || kind === 'mcp*') return s.mcp;
    const word = Object.hasOwn(s.words, kind) ? s.words[kind] : undefined;
    if (word) return word;
    const mcp = /^mcp\/(request|proposal|response):([^:]+)(?::(.*))?$/su.exec(kind);
    if (mcp) return sentenceOfMcp(mcp[1] ?? '', mcp[2] ?? '', mcp[3]);
    return kind.includes('*') ? s.kinds(quote(kind)) : s.kind(quote(kind));
}

function sentenceOfMcp(act: string, method: string, context: string | undefined): string {
    if (act === 'request') return sentenceOfCall(method, context);
    if (act === 'proposal') return sentenceOfProposal(method, context);
    if (method === '*') return s.answer.all;
    return method === 'tools/*' || method === 'tools/call' ? s.answer.tools : s.answer.other(quote(withContext(method, context)));
}

const withContext = (method: string, context: string | undefined) => (context ? `${method}:${context}` : method);

// Of a METHOD that takes a CONTEXT: all of them, or some.
function sentenceOfCall(method: string, context: string | undefined): string {
    const c = s.call;
    const whole: Record<string, string> = {
        '*': c.all, 'tools/*': c.tools, '*/list': c.lists, 'resources/*': c.resources, 'prompts/*': c.prompts,
        'notifications/*': c.notifications, 'sampling/createMessage': c.sampling, 'elicitation/create': c.elicitation, 'roots/list': c.roots,
    };
    const known = Object.hasOwn(whole, method) ? whole[method] : undefined;
    if (known && context === undefined) return known;
    if (method === 'tools/call') return context && context !== '*' ? c.tool(which(context, s.theTool, s.toolsThat)) : c.anyTool;
    if (method === 'resources/read') return context && context !== '*' ? c.resource(which(context, s.theResource, s.resourcesThat)) : c.anyResource;
    if (method === 'prompts/get') return context && context !== '*' ? c.prompt(which(context, s.thePrompt, s.promptsThat)) : c.anyPrompt;
    const listed = /^(.+)\/list$/.exec(method)?.[1];
    if (listed && context === undefined) return c.list(Object.hasOwn(s.what, listed) ? s.what[listed] ?? listed : quote(listed));
    return c.other(quote(withContext(method, context)));
}

function sentenceOfProposal(method: string, context: string | undefined): string {
    const p = s.propose;
    if (method === '*' && context === undefined) return p.all;
    if (method === 'tools/*' && context === undefined) return p.tools;
    if (method === 'tools/call') return context && context !== '*' ? p.tool(which(context, s.theTool, s.toolsThat)) : p.anyTool;
    return p.other(quote(withContext(method, context)));
}

function which(context: string, one: (name: string) => string, many: (how: string) => string): string {
    return context.includes('*') ? many(howOf(context)) : one(quote(context));
}

const does = { is: s.is, all: s.isAnything, fits: s.fits, begins: s.begins, ends: s.ends, contains: s.contains };
const doesNot = { is: s.isNot, all: s.isNothing, fits: s.notFits, begins: s.notBegins, ends: s.notEnds, contains: s.notContains };

// "begins with “read_”"
function howOf(pattern: string, say = does): string {
    const parts = pattern.split('*');
    const inner = parts.filter((part) => part !== '');

    if (parts.length === 1) return say.is(quote(pattern));
    if (!inner.length) return say.all;
    if (inner.length > 1) return say.fits(quote(pattern));
    if (parts[0]) return parts.length === 2 ? say.begins(quote(parts[0])) : say.fits(quote(pattern));
    if (parts.at(-1)) return parts.length === 2 ? say.ends(quote(parts.at(-1) ?? '')) : say.fits(quote(pattern));
    return parts.length === 3 ? say.contains(quote(inner[0] ?? '')) : say.fits(quote(pattern));
}

// --- conditions on the payload ---

function conditionsOf(payload: JsonObject, kind: string, path: string[] = []): string[] {
    return Object.entries(payload).flatMap(([name, value]) => {
        const here = [...path, name];
        if (isObject(value)) return conditionsOf(value, kind, here);
        return [`${nameOf(here, kind)} ${leafOf(value)}`];
    });
}

function nameOf(path: string[], kind: string): string {
    const isCall = /^mcp\/(request|proposal):tools\/call/.test(kind);
    if (isCall && path.join('\n') === 'params\nname') return s.toolName;
    if (isCall && path[0] === 'params' && path[1] === 'arguments' && path.length > 2) return s.argument(quote(path.slice(2).join('.')));
    return s.member(quote(path.join('.')));
}

function leafOf(value: Json): string {
    const leaves = Array.isArray(value) ? value : [value];
    const isExcluded = (leaf: Json): leaf is string => typeof leaf === 'string' && leaf.startsWith('!');
    const accepted = leaves.filter((leaf) => !isExcluded(leaf)).map(acceptedOf).join(s.or);
    const excluded = leaves.filter(isExcluded).map((leaf) => howOf(leaf.slice(1), doesNot)).join(s.and);

    return [accepted, excluded].filter(Boolean).join(s.butNot);
}

function acceptedOf(leaf: Json): string {
    return typeof leaf === 'string' ? howOf(leaf) : s.is(JSON.stringify(leaf));
}

// --- how far they reach ---

const WIDE = ['*', 'mcp*', 'mcp/*', 'mcp.*', 'mcp/request:*', 'mcp.request.*', 'mcp/request:tools/*', 'mcp/request:tools/call', 'capability/*', 'capability/grant', 'participant/*', 'topic/*', 'rule/*'];

// Worth a second look: acts without asking, or changes what others may do.
export function isWide(capability: Capability): boolean {
    return typeof capability === 'string' && WIDE.includes(capability);
}

// What somebody may do at most, in one line: the widest first.
export function summaryOf(capabilities: readonly Capability[], most = 2): { sentences: string[]; more: number } {
    const all = [...capabilities].sort((a, b) => Number(isWide(b)) - Number(isWide(a)));
    return { sentences: all.slice(0, most).map(sentenceOf), more: Math.max(0, all.length - most) };
}

// What people grant: a text as it was typed, or an object in JSON. Null where it is neither.
export function capabilityFrom(line: string): Capability | null {
    const text = line.trim();
    if (!text.startsWith('{')) return /[\s\u0000-\u001f]/u.test(text) || !text ? null : text;
    try {
        const value = JSON.parse(text) as unknown;
        return isObject(value) && typeof value['kind'] === 'string' ? value : null;
    } catch {
        return null;
    }
}

export function textOf(capability: Capability): string {
    return typeof capability === 'string' ? capability : JSON.stringify(capability);
}
