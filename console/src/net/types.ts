// SPDX-License-Identifier: Apache-2.0
// What comes over the wire, as docs/PROTOCOL.md has it. What others wrote (payloads, names)
// is of type Json: whoever reads it looks first.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export type ParticipantType = 'human' | 'agent' | 'service';

// Section 4.
export interface Envelope {
    protocol: string;
    id: string;
    from: string;
    kind: string;
    payload: JsonObject;
    ts?: string;
    to?: string[];
    correlation_id?: string;
    expires_at?: string;
    edited?: boolean;
    rule?: string;
}

export const GATEWAY = 'system:gateway'; // `from` of what the gateway itself says

// GET /session; POST /session has the token besides.
export interface Session {
    id: string;
    type: ParticipantType;
    admin: boolean;
    topics: string[];
    expires_at?: string;
    source: 'token' | 'session' | 'guest'; // token: one of its own, which signing out does not end
}

// A capability: a pattern over kinds, or an object with conditions.
export type Capability = string | JsonObject;

export interface Participant {
    id: string;
    capabilities: string[];
    moot: { type: ParticipantType; capabilities?: JsonObject[] };
}

// RFC 9457, with the members of section 10.
export interface Problem {
    title?: string;
    detail?: string;
    status?: number;
    error?: string;
    field?: string;
    [member: string]: Json | undefined;
}

export function isObject(value: unknown): value is JsonObject {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
}
