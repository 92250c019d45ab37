/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cell.h"

#include "base/plain.h"
#include "base/utf8.h"
#include "tui/wrap.h"

enum { NARROWEST = 20 };

static size_t count_from(const struct buf *out, size_t start)
{
    return utf8_count(str_slice(buf_str(out), start, out->len));
}

size_t cell_put(struct buf *out, struct str text, size_t width)
{
    size_t start = out->len;
    size_t count;

    plain_put(out, text, PLAIN_LINE);
    count = count_from(out, start);
    for (size_t i = count; i < width; i++)
        buf_putc(out, ' ');
    return count;
}

/* Where the character `at` begins. */
static size_t find_character(const struct buf *out, size_t start, size_t at)
{
    for (size_t i = start; i < out->len; i++)
        if (!utf8_is_tail((unsigned char)out->ptr[i]) && at-- == 0)
            return i;
    return out->len;
}

size_t cell_put_cut(struct buf *out, struct str text, size_t max)
{
    struct str shown = max < SIZE_MAX / 4 ? utf8_cut(text, 4 * max + 4) : text;
    size_t start = out->len;
    size_t count;

    plain_put(out, shown, PLAIN_LINE);
    count = count_from(out, start);
    if (count <= max && shown.len == text.len)
        return count;
    out->len = find_character(out, start, max > 2 ? max - 2 : 0);
    buf_put(out, str_slice(S(".."), 0, max));
    return max;
}

void cell_put_wrapped(struct buf *out, struct str plain, size_t at, size_t columns)
{
    struct wrap wrap = { .rest = plain,
                         .columns = columns >= at + NARROWEST ? columns - at : SIZE_MAX };
    bool is_first = true;
    struct str line;

    while (wrap_next(&wrap, &line)) {
        if (!is_first) {
            buf_putc(out, '\n');
            (void)cell_put(out, S(""), at);
        }
        buf_put(out, line);
        is_first = false;
    }
}
