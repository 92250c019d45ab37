// SPDX-License-Identifier: Apache-2.0
// What somebody may do, in a few words: for a glance, not for a decision.
import type { Capability } from '../net/types';
import { covers, kindOf } from './patterns';

export interface Ability { word: string; isAll: boolean }

// A word, a kind that stands for all of it, and what patterns of a part of it begin with.
const WORDS: [word: string, kind: string, prefix: string][] = [
    ['chat', 'chat', 'chat'],
    ['request', 'mcp/request:tools/call', 'mcp/request:tools'],
    ['proposal', 'mcp/proposal:tools/call', 'mcp/proposal:'],
    ['response', 'mcp/response:tools/call', 'mcp/response:'],
    ['approve', 'mcp/approve', 'mcp/approve'],
    ['grant', 'capability/grant', 'capability/'],
    ['moderate', 'participant/kick', 'participant/pause'],
    ['invite', 'topic/invite', 'topic/invite'],
    ['rules', 'rule/accept', 'rule/'],
];

export function abilitiesOf(capabilities: readonly Capability[]): Ability[] {
    const patterns = capabilities.filter((one) => typeof one === 'string');
    const kinds = capabilities.map(kindOf);

    if (patterns.includes('*')) return [{ word: 'everything', isAll: true }];
    return WORDS.flatMap(([word, kind, prefix]): Ability[] => {
        if (patterns.some((pattern) => covers(pattern, kind))) return [{ word, isAll: true }];
        return kinds.some((pattern) => pattern.startsWith(prefix) || covers(pattern, kind)) ? [{ word, isAll: false }] : [];
    });
}
