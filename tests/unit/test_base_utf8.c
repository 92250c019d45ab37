/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/base_priv.h"
#include "base/utf8.h"
#include "guard.h"
#include "harness.h"

/* Well-formed byte sequences as Unicode lists them, table 3-7; further bytes are 80..BF.
 */
static const struct row {
    uint8_t first, last; /* of the first byte */
    uint8_t low, high;   /* of the second */
    uint8_t len;
} rows[] = {
    { 0x00, 0x7f, 0x00, 0x00, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 },
    { 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
    { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
    { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
    { 0xf4, 0xf4, 0x80, 0x8f, 4 },
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static bool fits(const struct row *row, const uint8_t *p, size_t len)
{
    if (len < row->len || p[0] < row->first || p[0] > row->last)
        return false;
    if (row->len > 1 && (p[1] < row->low || p[1] > row->high))
        return false;
    for (size_t i = 2; i < row->len; i++)
        if (p[i] < 0x80 || p[i] > 0xbf)
            return false;
    return true;
}

/* What utf8_valid() is measured against. */
static size_t reference(struct str text)
{
    size_t at = 0;
    size_t row = 0;

    while (at < text.len && row < ROWS) {
        for (row = 0; row < ROWS; row++)
            if (fits(&rows[row], (const uint8_t *)text.ptr + at, text.len - at))
                break;
        if (row < ROWS)
            at += rows[row].len;
    }
    return at;
}

static void check_text(struct str text)
{
    size_t want = reference(text);

    for (enum simd level = SIMD_NONE; level < SIMD_LEVELS; level++)
        if (simd_has(level) && utf8_valid_at(level, text) != want) {
            CHECK_INT(utf8_valid_at(level, text), want);
            CHECK_INT(level, -1);
        }
    if (utf8_valid(text) != want || utf8_is_valid(text) != (want == text.len))
        CHECK_INT(utf8_valid(text), want);
}

/* One character of some row, its bytes at the bounds more often than elsewhere. */
static size_t put_character(uint8_t *out, uint64_t *seed, size_t kinds)
{
    const struct row *row = &rows[random_below(seed, kinds)];

    out[0] =
        (uint8_t)(row->first + random_below(seed, (size_t)(row->last - row->first) + 1));
    for (size_t i = 1; i < row->len; i++) {
        uint8_t low = i == 1 ? row->low : 0x80;
        uint8_t high = i == 1 ? row->high : 0xbf;

        switch (random_below(seed, 4)) {
        case 0: out[i] = low; break;
        case 1: out[i] = high; break;
        default: out[i] = (uint8_t)(low + random_below(seed, high - low + 1u)); break;
        }
    }
    return row->len;
}

/* Fills `len` bytes with characters, the last perhaps cut. `kinds`: of that many rows. */
static void fill(char *text, size_t len, uint64_t *seed, size_t kinds)
{
    size_t at = 0;

    while (at < len) {
        uint8_t bytes[4];
        size_t size = put_character(bytes, seed, kinds);

        if (size > len - at)
            size = len - at;
        memcpy(text + at, bytes, size);
        at += size;
    }
}

TEST(utf8_is_what_rfc_3629_says_however_the_text_is_cut)
{
    static const struct {
        struct str text;
        bool is_valid;
    } cases[] = {
        { S(""), true },
        { S("plain ascii that is longer than a word"), true },
        { S("\xce\xba\xe1\xbd\xb9\xcf\x83"), true },
        { S("\xc2\x80"), true },
        { S("\xdf\xbf"), true },
        { S("\xe0\xa0\x80"), true },
        { S("\xed\x9f\xbf"), true },
        { S("\xee\x80\x80"), true },
        { S("\xef\xbf\xbf"), true },
        { S("\xf0\x90\x80\x80"), true },
        { S("\xf4\x8f\xbf\xbf"), true },
        { S("a\0b"), true },
        { S("\x80"), false },
        { S("\xc0\x80"), false },
        { S("\xc1\xbf"), false },
        { S("\xe0\x9f\xbf"), false },
        { S("\xed\xa0\x80"), false },
        { S("\xed\xbf\xbf"), false },
        { S("\xf0\x8f\xbf\xbf"), false },
        { S("\xf4\x90\x80\x80"), false },
        { S("\xf5\x80\x80\x80"), false },
        { S("\xff"), false },
        { S("\xce"), false },
        { S("abcdefgh\xe1\xbd"), false },
        { S("\xe1\xbdx"), false },
    };

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(utf8_is_valid(c->text), c->is_valid);
        for (size_t cut = 0; cut <= c->text.len; cut++) {
            struct utf8 state = {};
            bool ok = utf8_feed(&state, str_slice(c->text, 0, cut)) &&
                      utf8_feed(&state, str_slice(c->text, cut, c->text.len)) &&
                      utf8_is_whole(&state);

            CHECK_INT(ok, c->is_valid);
        }
    }
}

TEST(every_scalar_value_written_is_valid_and_no_surrogate_is)
{
    for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
        char out[4];
        size_t len = utf8_write(cp, out);
        bool is_surrogate = cp >= 0xd800 && cp <= 0xdfff;

        if (utf8_is_valid((struct str){ out, len }) == is_surrogate)
            CHECK_INT(cp, -1);
    }
}

TEST(every_variant_judges_every_length_at_both_ends_of_the_memory)
{
    uint64_t seed = 0x1234567;
    struct guard guard;

    guard_init(&guard);
    for (size_t len = 0; len <= 200; len++)
        for (size_t round = 0; round < 40; round++) {
            char *text = round % 2 ? guard_last(&guard, len) : guard.ptr + round / 2;
            size_t kinds = 1 + random_below(&seed, ROWS);

            fill(text, len, &seed, kinds);
            check_text((struct str){ text, len });
            if (len == 0)
                continue;
            text[random_below(&seed, len)] = (char)random_below(&seed, 256);
            check_text((struct str){ text, len });
        }
    guard_done(&guard);
}

TEST(every_variant_judges_long_texts)
{
    uint64_t seed = 0x89abcdef;
    struct guard guard;

    guard_init(&guard);
    for (size_t round = 0; round < 400; round++) {
        size_t len = random_below(&seed, 8000);
        char *text = guard_last(&guard, len);

        fill(text, len, &seed, 1 + round % ROWS);
        check_text((struct str){ text, len });
        for (size_t i = 0; i < 4 && len; i++) {
            text[random_below(&seed, len)] ^= (char)(1 << random_below(&seed, 8));
            check_text((struct str){ text, len });
        }
    }
    guard_done(&guard);
}

/* A variant that took what is right for wrong would only be slow. */
TEST(every_variant_passes_over_valid_text_without_help)
{
    uint64_t seed = 0xfeed;
    char text[1000];

    for (size_t round = 0; round < 2000; round++) {
        size_t len = UTF8_LONG + random_below(&seed, sizeof(text) - UTF8_LONG);

        memset(text, 'x', 3);
        fill(text + 3, len - 3, &seed, 1 + round % ROWS);
        for (enum simd level = SIMD_NONE; level < SIMD_LEVELS; level++)
            if (simd_has(level))
                CHECK_INT(utf8_skip_at(level, text, 3, len),
                          reference((struct str){ text, len }));
    }
}

/* Two bytes decide nearly everything, so all of them are tried, in text of one, two,
 * three and four bytes, across the seam of two vectors and away from it. */
TEST(every_variant_judges_every_pair_of_bytes)
{
    static const struct str fillers[] = {
        S("x"),
        S("\xc3\xa9"),
        S("\xe5\xa4\xa9"),
        S("\xf0\x9f\x98\x80"),
    };
    static const size_t places[] = { 66, 72, 78 }; /* multiples of 1, 2 and 3 */
    char text[160];

    for (size_t pair = 0; pair < 65536; pair++) {
        struct str filler = fillers[pair % 4];
        size_t at = places[pair / 4 % 3] / filler.len * filler.len;

        for (size_t i = 0; i < sizeof(text); i++)
            text[i] = filler.ptr[i % filler.len];
        for (size_t tails = 0; tails < 3; tails++) {
            text[at] = (char)(pair >> 8);
            text[at + 1] = (char)pair;
            memset(text + at + 2, 0x80, tails);
            memset(text + at + 2 + tails, 'x', 3);
            check_text((struct str){ text, at + 2 + tails + 3 });
            check_text((struct str){ text, at + 2 + tails });
        }
    }
}

TEST(every_variant_finds_what_is_wrong_wherever_it_stands)
{
    static const struct str wrong[] = {
        S("\x80"),
        S("\xbf\xbf"),
        S("\xc0\x80"),
        S("\xc1\xbf"),
        S("\xc3"),
        S("\xc3\xa9\xa9"),
        S("\xe0\x80\x80"),
        S("\xe0\x9f\xbf"),
        S("\xe5\xa4"),
        S("\xe5"),
        S("\xe5\xa4\xa9\xa9"),
        S("\xed\xa0\x80"),
        S("\xed\xbf\xbf"),
        S("\xf0\x80\x80\x80"),
        S("\xf0\x8f\xbf\xbf"),
        S("\xf0\x9f\x98"),
        S("\xf0\x9f"),
        S("\xf0"),
        S("\xf4\x90\x80\x80"),
        S("\xf5\x80\x80\x80"),
        S("\xf8\x88\x80\x80\x80"),
        S("\xfe"),
        S("\xff"),
        S("\xf0\x9f\x98\x80\x80"),
    };
    char text[260];

    FOR_EACH_CASE(c, wrong)
        for (size_t at = 0; at < 200; at++) {
            memset(text, 'x', sizeof(text));
            memcpy(text + at, c->ptr, c->len);
            CHECK_INT(reference((struct str){ text, 220 }) < 220, true);
            check_text((struct str){ text, 220 });
            check_text((struct str){ text, at + c->len });
            if (at >= 3) {
                memcpy(text + at - 3, "\xe5\xa4\xa9", 3);
                check_text((struct str){ text, 220 });
            }
        }
}

/* Fed byte by byte, a text fails at the first byte that cannot be right. */
static size_t first_refused(struct str text)
{
    struct utf8 state = {};
    size_t at = 0;

    while (at < text.len && utf8_feed(&state, str_slice(text, at, at + 1)))
        at++;
    return at;
}

TEST(a_text_fed_in_pieces_fails_in_the_piece_with_the_first_wrong_byte)
{
    uint64_t seed = 0x5eed;
    char text[400];

    for (size_t round = 0; round < 4000; round++) {
        struct str all = { text, 1 + random_below(&seed, sizeof(text)) };
        size_t cut = random_below(&seed, all.len + 1);
        struct utf8 state = {};
        size_t refused;
        bool ok;

        fill(text, all.len, &seed, 1 + round % ROWS);
        if (round % 3)
            text[random_below(&seed, all.len)] ^= (char)(1 << random_below(&seed, 8));
        refused = first_refused(all);
        CHECK(refused - reference(all) <= 3);
        ok = utf8_feed(&state, str_slice(all, 0, cut));
        CHECK_INT(ok, refused >= cut);
        if (ok)
            ok = utf8_feed(&state, str_slice(all, cut, all.len));
        CHECK_INT(ok, refused == all.len);
        if (ok)
            CHECK_INT(utf8_is_whole(&state), reference(all) == all.len);
    }
}

TEST(a_cut_leaves_whole_characters)
{
    static const struct {
        struct str text;
        size_t max;
        struct str want;
    } cases[] = {
        { S("abc"), 3, S("abc") },
        { S("abc"), 2, S("ab") },
        { S("a\xc3\xa9"), 3, S("a\xc3\xa9") },
        { S("a\xc3\xa9"), 2, S("a") },
        { S("\xf0\x9f\x98\x80"), 3, S("") },
        { S("x"), 0, S("") },
        { S(""), 5, S("") },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_STR(utf8_cut(c->text, c->max), c->want);
}

TEST(characters_are_counted_and_not_bytes)
{
    CHECK_INT(utf8_count(S("")), 0);
    CHECK_INT(utf8_count(S("abc")), 3);
    CHECK_INT(utf8_count(S("a\xc3\xa9\xf0\x9f\x98\x80")), 3);
}
