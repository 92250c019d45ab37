// SPDX-License-Identifier: Apache-2.0
// Bytes that somebody sent as text.

export const BASE64_MOST = 16_000_000; // characters that are decoded

// Whether it may be such: looked at once from its beginning to its end, however it is made.
export function isBase64(data: string): boolean {
    return data !== '' && data.length <= BASE64_MOST && !/[^A-Za-z0-9+/=\s]/.test(data);
}
