/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"

static uint8_t step(uint8_t state, char c)
{
    switch ((enum csv_state)state) {
    case CSV_START:
        if (c == '"')
            return CSV_QUOTED;
        return c == ',' ? CSV_START : CSV_BARE;
    case CSV_BARE: return c == ',' ? CSV_START : CSV_BARE;
    case CSV_QUOTED: return c == '"' ? CSV_UNQUOTED : CSV_QUOTED;
    case CSV_UNQUOTED:
        if (c == '"')
            return CSV_QUOTED;
        return c == ',' ? CSV_START : CSV_BARE;
    }
    return CSV_BARE;
}

size_t csv_row_end(struct str bytes, uint8_t *state)
{
    uint8_t now = *state;

    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.ptr[i] == '\n' && now != CSV_QUOTED) {
            *state = CSV_START;
            return i + 1;
        }
        now = step(now, bytes.ptr[i]);
    }
    *state = now;
    return 0;
}

static enum err fail(struct csv_cell *ret, size_t at, const char **ret_what,
                     const char *what)
{
    ret->at = at;
    *ret_what = what;
    return ERR_INVALID;
}

static enum err next_bare(struct str row, size_t *at, struct csv_cell *ret,
                          const char **ret_what)
{
    size_t end = str_find(row, ',', *at);
    struct str text = str_slice(row, *at, end);
    size_t quote = str_find(text, '"', 0);

    if (quote < text.len)
        return fail(ret, *at + quote, ret_what,
                    "has a quote in a cell that does not begin with one");
    *ret = (struct csv_cell){ text, *at };
    *at = end + 1;
    return OK;
}

/* Two quotes are one. */
static bool unquote(struct str text, struct arena *arena, struct str *ret)
{
    char *out = arena_alloc(arena, text.len + 1);
    size_t len = 0;

    if (!out)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        out[len++] = text.ptr[i];
        i += text.ptr[i] == '"';
    }
    *ret = (struct str){ out, len };
    return true;
}

static enum err next_quoted(struct str row, size_t *at, struct arena *arena,
                            struct csv_cell *ret, const char **ret_what)
{
    size_t begin = *at + 1, end = begin;
    bool has_quotes = false;
    struct str text;

    for (;; end += 2) {
        end = str_find(row, '"', end);
        if (end == row.len)
            return fail(ret, *at, ret_what, "has a quote that is not closed");
        if (end + 1 == row.len || row.ptr[end + 1] != '"')
            break;
        has_quotes = true;
    }
    if (end + 1 < row.len && row.ptr[end + 1] != ',')
        return fail(ret, end + 1, ret_what, "goes on behind the quote of a cell");
    text = str_slice(row, begin, end);
    if (has_quotes && !unquote(text, arena, &text))
        return ERR_TOO_BIG;
    *ret = (struct csv_cell){ text, *at };
    *at = end + 2;
    return OK;
}

enum err csv_next(struct str row, size_t *at, struct arena *arena, struct csv_cell *ret,
                  const char **ret_what)
{
    if (*at < row.len && row.ptr[*at] == '"')
        return next_quoted(row, at, arena, ret, ret_what);
    return next_bare(row, at, ret, ret_what);
}

static bool needs_quotes(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '"' || text.ptr[i] == ',' || text.ptr[i] == '\r' ||
            text.ptr[i] == '\n')
            return true;
    return false;
}

void csv_put(struct buf *out, struct str text)
{
    if (!needs_quotes(text)) {
        buf_put(out, text);
        return;
    }
    buf_putc(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            buf_putc(out, '"');
        buf_putc(out, text.ptr[i]);
    }
    buf_putc(out, '"');
}
