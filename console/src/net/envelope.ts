// SPDX-License-Identifier: Apache-2.0
// Envelopes that this page says.
import { currentSession } from './session';
import type { Envelope, JsonObject } from './types';

// crypto.randomUUID() exists only where the page came over TLS or from this machine.
export function newId(): string {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function envelope(kind: string, payload: JsonObject, more: Partial<Envelope> = {}): Envelope {
    return { protocol: 'mcpx/v0.1', id: newId(), ts: new Date().toISOString(), from: currentSession().id, kind, payload, ...more };
}
