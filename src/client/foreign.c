/* SPDX-License-Identifier: Apache-2.0 */
#include "client/foreign.h"

#include "base/plain.h"
#include "base/utf8.h"

/* The longest beginning that does not end inside a character. */
static struct str cut(struct str text)
{
    size_t len = text.len < FOREIGN_BYTES ? text.len : FOREIGN_BYTES;

    while (len < text.len && len > 0 && utf8_is_tail((unsigned char)text.ptr[len]))
        len--;
    return str_slice(text, 0, len);
}

void foreign_put(struct buf *out, struct str text)
{
    struct str shown = cut(text);

    plain_put(out, shown, PLAIN_LINE);
    if (shown.len < text.len)
        buf_put(out, S("…"));
}
