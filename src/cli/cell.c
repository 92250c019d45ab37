/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cell.h"

#include "base/plain.h"
#include "base/utf8.h"

size_t cell_put(struct buf *out, struct str text, size_t width)
{
    size_t start = out->len;
    size_t count = 0;

    plain_put(out, text, PLAIN_LINE);
    for (size_t i = start; i < out->len; i++)
        count += !utf8_is_tail((unsigned char)out->ptr[i]);
    for (size_t i = count; i < width; i++)
        buf_putc(out, ' ');
    return count;
}
