/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "oauth/document.h"

bool scopes_are_valid(struct str scopes)
{
    for (size_t i = 0; i < scopes.len; i++)
        if (scopes.ptr[i] < ' ' || scopes.ptr[i] > '~' || scopes.ptr[i] == '"' ||
            scopes.ptr[i] == '\\')
            return false;
    return true;
}

bool scopes_have(struct str scopes, struct str scope)
{
    while (scopes.ptr)
        if (str_eq(str_cut(&scopes, ' '), scope))
            return true;
    return false;
}

bool scopes_have_all(struct str scopes, struct str wanted)
{
    while (wanted.ptr) {
        struct str scope = str_cut(&wanted, ' ');

        if (scope.len && !scopes_have(scopes, scope))
            return false;
    }
    return true;
}

void scopes_put(struct buf *out, struct str scopes)
{
    while (scopes.ptr) {
        struct str scope = str_cut(&scopes, ' ');

        if (scope.len == 0 || scopes_have(buf_str(out), scope))
            continue;
        if (out->len)
            buf_putc(out, ' ');
        buf_put(out, scope);
    }
}
