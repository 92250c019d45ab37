/* SPDX-License-Identifier: Apache-2.0 */
#include "base/plain.h"

#include <stdint.h>

#include "base/cleanup.h"
#include "base/utf8.h"

enum { MARKS_MAX = 4 }; /* on one character: enough for all that is written in earnest */

struct range {
    uint32_t first, last;
};

/* Default_Ignorable_Code_Point, and what else is not seen or turns or breaks the line. */
/* clang-format off */
static const struct range hidden[] = {
    { 0x00000, 0x0001f }, { 0x0007f, 0x0009f }, { 0x000ad, 0x000ad }, { 0x0034f, 0x0034f },
    { 0x0061c, 0x0061c }, { 0x0115f, 0x01160 }, { 0x017b4, 0x017b5 }, { 0x0180b, 0x0180f },
    { 0x0200b, 0x0200f }, { 0x02028, 0x0202e }, { 0x02060, 0x0206f }, { 0x03164, 0x03164 },
    { 0x0fdd0, 0x0fdef }, { 0x0fe00, 0x0fe0f }, { 0x0feff, 0x0feff }, { 0x0ffa0, 0x0ffa0 },
    { 0x0fff0, 0x0fffb }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

/* Marks that a reader may pile up: Latin, Cyrillic, Hebrew, Arabic, Thai, symbols. */
static const struct range marks[] = {
    { 0x00300, 0x0036f }, { 0x00483, 0x00489 }, { 0x00591, 0x005bd }, { 0x00610, 0x0061a },
    { 0x0064b, 0x0065f }, { 0x00e31, 0x00e31 }, { 0x00e34, 0x00e3a }, { 0x00e47, 0x00e4e },
    { 0x01ab0, 0x01aff }, { 0x01dc0, 0x01dff }, { 0x020d0, 0x020ff }, { 0x0fe20, 0x0fe2f },
};

/* What joiners and variation selectors follow in emoji. */
static const struct range pictures[] = {
    { 0x000a9, 0x000a9 }, { 0x000ae, 0x000ae }, { 0x0203c, 0x0203c }, { 0x02049, 0x02049 },
    { 0x02122, 0x02122 }, { 0x02139, 0x02139 }, { 0x02190, 0x02bff }, { 0x03030, 0x03030 },
    { 0x0303d, 0x0303d }, { 0x03297, 0x03299 }, { 0x1f000, 0x1faff },
};
/* clang-format on */

enum { TEXT_SELECTOR = 0xfe0e, EMOJI_SELECTOR = 0xfe0f, JOINER = 0x200d };
enum { JOINS_MAX = 2 }; /* a selector and a joiner; more of them would be a message */

/* The beginning of what is not written yet. */
struct spot {
    struct str rest;
    enum plain how;
    size_t marks; /* that may still follow */
    size_t joins; /* the same: nonzero behind a picture */
};

static bool is_in(const struct range *ranges, size_t count, uint32_t cp)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (ranges[middle].last < cp)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ranges[low].first <= cp;
}

static bool is_hidden(uint32_t cp)
{
    return is_in(hidden, COUNT(hidden), cp) || (cp & 0xfffe) == 0xfffe;
}

static void put_escape(struct buf *out, uint32_t cp)
{
    switch (cp) {
    case '\t': buf_put(out, S("\\t")); return;
    case '\n': buf_put(out, S("\\n")); return;
    case '\r': buf_put(out, S("\\r")); return;
    }
    if (cp < 0x10000)
        buf_putf(out, "\\u%04x", cp);
    else
        buf_putf(out, "\\u%04x\\u%04x", 0xd800 + ((cp - 0x10000) >> 10),
                 0xdc00 + ((cp - 0x10000) & 0x3ff));
}

/* White space that means something. True: it is written. */
static bool put_break(struct buf *out, const struct spot *spot, uint32_t cp)
{
    bool is_line_end = spot->rest.len > 1 && spot->rest.ptr[1] == '\n';

    if (cp != '\n' && cp != '\t' && cp != '\r')
        return false;
    switch (spot->how) {
    case PLAIN_LINE: return false;
    case PLAIN_JSON: buf_putc(out, ' '); return true; /* never inside a string */
    case PLAIN_TEXT: break;
    }
    if (cp == '\r' && !is_line_end)
        return false;
    if (cp != '\r')
        buf_putc(out, (char)cp);
    return true;
}

static bool is_part_of_emoji(struct spot *spot, uint32_t cp)
{
    if (spot->joins == 0 || spot->how == PLAIN_JSON ||
        (cp != TEXT_SELECTOR && cp != EMOJI_SELECTOR && cp != JOINER))
        return false;
    spot->joins--;
    return true;
}

static bool is_one_mark_too_many(struct spot *spot, uint32_t cp)
{
    if (!is_in(marks, COUNT(marks), cp)) {
        spot->marks = MARKS_MAX;
        return false;
    }
    if (spot->marks == 0)
        return true;
    spot->marks--;
    return false;
}

/* Writes what the text begins with, `len` bytes that are this code point. */
static void put_one(struct buf *out, struct spot *spot, uint32_t cp, size_t len)
{
    if (is_part_of_emoji(spot, cp))
        return;
    if (put_break(out, spot, cp)) {
        spot->marks = 0;
    } else if (is_hidden(cp)) {
        put_escape(out, cp);
        spot->marks = 0;
    } else if (is_one_mark_too_many(spot, cp)) {
        put_escape(out, cp);
    } else {
        buf_put(out, str_slice(spot->rest, 0, len));
    }
    spot->joins = is_in(pictures, COUNT(pictures), cp) ? JOINS_MAX : 0;
}

/* The printable ASCII that the text begins with. */
static size_t count_simple(struct str text)
{
    size_t len = 0;

    while (len < text.len && text.ptr[len] >= ' ' && text.ptr[len] <= '~')
        len++;
    return len;
}

static size_t put_next(struct buf *out, struct spot *spot)
{
    size_t len = count_simple(spot->rest);
    uint32_t cp = 0;

    if (len) {
        buf_put(out, str_slice(spot->rest, 0, len));
        spot->marks = MARKS_MAX;
        spot->joins = 0;
        return len;
    }
    len = utf8_read(spot->rest, &cp);
    if (len) {
        put_one(out, spot, cp, len);
        return len;
    }
    buf_put(out, S("\xef\xbf\xbd"));
    spot->joins = 0;
    return 1;
}

void plain_put(struct buf *out, struct str text, enum plain how)
{
    struct spot spot = { .rest = text, .how = how };

    while (spot.rest.len && !out->is_full)
        spot.rest = str_slice(spot.rest, put_next(out, &spot), spot.rest.len);
}
