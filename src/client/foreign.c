/* SPDX-License-Identifier: Apache-2.0 */
#include "client/foreign.h"

#include "base/utf8.h"

/* Control characters, marks that turn the direction of a line, and ends of lines. */
static bool is_harmless(uint32_t c)
{
    return c >= 0x20 && !(c >= 0x7f && c <= 0x9f) && !(c >= 0x200b && c <= 0x200f) &&
           !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2060 && c <= 0x206f) && c != 0xfeff;
}

void foreign_put(struct buf *out, struct str text)
{
    size_t at = 0;

    while (at < text.len) {
        uint32_t c = 0;
        size_t len = utf8_read(str_slice(text, at, text.len), &c);

        if (at + len > FOREIGN_BYTES) {
            buf_put(out, S("…"));
            return;
        }
        if (len && is_harmless(c))
            buf_put(out, str_slice(text, at, at + len));
        else
            buf_putc(out, '?');
        at += len ? len : 1;
    }
}
