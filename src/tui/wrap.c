/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/wrap.h"

#include <stdint.h>

#include "base/plain.h"
#include "base/utf8.h"

enum {
    NO_CHARACTER = 0xfffd,  /* drawn for what cannot be shown */
    DOTTED_CIRCLE = 0x25cc, /* what a mark stands on that stands on nothing */
};

struct glyph {
    wchar_t character;
    size_t len;
    int columns; /* 0: a mark; below: it cannot be shown */
};

static struct glyph glyph_first(struct str text)
{
    uint32_t code_point = NO_CHARACTER;
    size_t len = utf8_read(text, &code_point);

    if (len == 0)
        return (struct glyph){ NO_CHARACTER, 1, -1 };
    /* The C library gives NUL no width, and it must not end what is drawn. */
    if (code_point == 0)
        return (struct glyph){ NO_CHARACTER, len, -1 };
    return (struct glyph){ (wchar_t)code_point, len, wcwidth((wchar_t)code_point) };
}

struct cluster cluster_first(struct str text)
{
    struct glyph first = glyph_first(text);
    size_t len = first.len;

    while (first.character != '\n' && len < text.len) {
        struct glyph mark = glyph_first(str_slice(text, len, text.len));

        if (mark.columns != 0)
            break;
        len += mark.len;
    }
    return (struct cluster){ str_slice(text, 0, len), first.columns == 2 ? 2 : 1 };
}

/* Where the character that ends at `end` begins; a byte that is no UTF-8 is alone. */
static size_t glyph_before(struct str text, size_t end)
{
    size_t at = end - 1;

    while (at > 0 && end - at < 4 && utf8_is_tail((unsigned char)text.ptr[at]))
        at--;
    return glyph_first(str_slice(text, at, end)).len == end - at ? at : end - 1;
}

/* Begins with the last character that is no mark, if there is one to stand on. */
struct cluster cluster_last(struct str text)
{
    size_t at = glyph_before(text, text.len);

    while (at > 0 && text.ptr[at - 1] != '\n' &&
           glyph_first(str_slice(text, at, text.len)).columns == 0)
        at = glyph_before(text, at);
    return cluster_first(str_slice(text, at, text.len));
}

/* What is no mark but hidden, turns the direction or joins: it has no width either. */
static bool is_seen(struct str mark)
{
    char space[8] = "x";
    struct buf out;
    bool is_same;

    memcpy(space + 1, mark.ptr, mark.len);
    buf_init(&out, 64);
    plain_put(&out, (struct str){ space, mark.len + 1 }, PLAIN_LINE);
    is_same = out.len == mark.len + 1;
    buf_done(&out);
    return is_same;
}

static wchar_t replacement(void)
{
    return wcwidth(NO_CHARACTER) == 1 ? NO_CHARACTER : L'?';
}

void cluster_draw(struct str cluster, wchar_t out[static CLUSTER_WIDE])
{
    struct glyph glyph = glyph_first(cluster);
    size_t at = glyph.len;
    size_t count = 1;

    out[0] = glyph.columns > 0 ? glyph.character : replacement();
    if (glyph.columns == 0) {
        out[0] = wcwidth(DOTTED_CIRCLE) == 1 ? DOTTED_CIRCLE : L'?';
        at = 0;
    }
    while (at < cluster.len && count + 1 < CLUSTER_WIDE) {
        glyph = glyph_first(str_slice(cluster, at, cluster.len));
        if (is_seen(str_slice(cluster, at, at + glyph.len)))
            out[count++] = glyph.character;
        at += glyph.len;
    }
    out[count] = 0;
}

size_t wrap_columns(struct str text)
{
    size_t columns = 0;

    while (text.len > 0) {
        struct cluster c = cluster_first(text);

        columns += c.columns;
        text = str_slice(text, c.text.len, text.len);
    }
    return columns;
}

struct str wrap_head(struct str text, size_t columns)
{
    size_t at = 0;

    while (at < text.len) {
        struct cluster c = cluster_first(str_slice(text, at, text.len));

        if (c.columns > columns)
            break;
        columns -= c.columns;
        at += c.text.len;
    }
    return str_slice(text, 0, at);
}

void wrap_put_cut(struct buf *out, struct str text, size_t columns)
{
    struct str ellipsis = wcwidth(L'…') == 1 ? S("…") : S("~");

    if (wrap_head(text, columns).len == text.len) {
        buf_put(out, text);
        return;
    }
    if (columns == 0)
        return;
    buf_put(out, wrap_head(text, columns - 1));
    buf_put(out, ellipsis);
}

/* --- lines --- */

/* Where a line ends, and where the next one begins. */
struct fit {
    size_t end, next;
};

static size_t count_spaces(struct str text)
{
    size_t count = 0;

    while (count < text.len &&
           str_eq(cluster_first(str_slice(text, count, text.len)).text, S(" ")))
        count++;
    return count;
}

static bool is_break(struct str text, size_t at)
{
    return at < text.len && text.ptr[at] == '\n';
}

/* A line while it is filled. */
struct filling {
    size_t columns, used;
    size_t at;
    struct fit best; /* where to break it, if it must be; next 0: nowhere yet */
    bool has_word, was_wide;
};

/* Both return false when it is full: then it ends at `best`. */
static bool put_spaces(struct filling *f, size_t count)
{
    f->best = (struct fit){ f->at, f->at + count };
    f->at += count;
    f->used += count;
    f->was_wide = false;
    return f->used <= f->columns;
}

static bool put_cluster(struct filling *f, struct cluster c)
{
    if (f->at > 0 && (f->was_wide || c.columns == 2))
        f->best = (struct fit){ f->at, f->at };
    if (f->used + c.columns > f->columns) {
        if (f->best.next == 0)
            f->best = (struct fit){ f->at, f->at };
        return false;
    }
    f->at += c.text.len;
    f->used += c.columns;
    f->was_wide = c.columns == 2;
    f->has_word = f->has_word || !str_eq(c.text, S(" "));
    return true;
}

static struct fit fit_line(struct str text, size_t columns)
{
    struct filling f = { .columns = columns };

    while (f.at < text.len && !is_break(text, f.at)) {
        struct str rest = str_slice(text, f.at, text.len);
        size_t spaces = f.has_word ? count_spaces(rest) : 0;
        bool fits =
            spaces ? put_spaces(&f, spaces) : put_cluster(&f, cluster_first(rest));

        if (!fits)
            return (struct fit){ f.best.end, f.best.next + is_break(text, f.best.next) };
    }
    return (struct fit){ f.at, f.at + is_break(text, f.at) };
}

bool wrap_next(struct wrap *wrap, struct str *ret)
{
    struct fit fit;

    if (wrap->rest.len == 0)
        return false;
    fit = fit_line(wrap->rest, wrap->columns < 2 ? 2 : wrap->columns);
    *ret = str_slice(wrap->rest, 0, fit.end);
    wrap->rest = str_slice(wrap->rest, fit.next, wrap->rest.len);
    return true;
}

size_t wrap_count(struct str text, size_t columns)
{
    struct wrap wrap = { .rest = text, .columns = columns };
    struct str line;
    size_t count = 0;

    while (wrap_next(&wrap, &line))
        count++;
    return count;
}
