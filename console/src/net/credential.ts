// SPDX-License-Identifier: Apache-2.0
// The token: in memory, and in this tab's session storage, so that a reload does not sign
// out. It goes into the Authorization header and nowhere else.

const KEY = 'moot-token';
let token: string | null = null;

export function currentToken(): string | null {
    return token;
}

export function keepToken(next: string | null): void {
    token = next;
    if (next) sessionStorage.setItem(KEY, next);
    else sessionStorage.removeItem(KEY);
}

export function restoreToken(): string | null {
    token = sessionStorage.getItem(KEY);
    return token;
}
