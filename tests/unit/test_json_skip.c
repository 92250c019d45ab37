/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "guard.h"
#include "harness.h"
#include "json/json_priv.h"

/* What ends a run, what is one less or more, and the same with the upper bit set. */
static const uint8_t neighbours[] = {
    0x00, 0x01, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7e, 0x7f,
    0x80, 0x81, 0x9f, 0xa0, 0xa1, 0xa2, 0xa3, 0xdb, 0xdc, 0xdd, 0xfe, 0xff,
};

static size_t reference(struct str text, enum json_run run)
{
    for (size_t at = 0; at < text.len; at++) {
        uint8_t c = (uint8_t)text.ptr[at];

        if (c < ' ' || c == '"' || c == '\\' || (run == JSON_PLAIN && c >= 0x80))
            return at;
    }
    return text.len;
}

static void check_run(struct str text, enum json_run run)
{
    const char *end = text.ptr + text.len;
    const char *want = text.ptr + reference(text, run);

    for (enum simd level = SIMD_NONE; level < SIMD_LEVELS; level++)
        if (simd_has(level) && json_skip_at(level, text.ptr, end, run) != want) {
            CHECK_INT(json_skip_at(level, text.ptr, end, run) - text.ptr,
                      want - text.ptr);
            CHECK_INT(level, -1);
        }
    if (json_skip(text.ptr, end, run) != want)
        CHECK_INT(json_skip(text.ptr, end, run) - text.ptr, want - text.ptr);
}

static void check_text(struct str text)
{
    check_run(text, JSON_PLAIN);
    check_run(text, JSON_TEXT);
}

TEST(every_variant_stops_at_the_same_byte_wherever_the_text_stands)
{
    uint64_t seed = 0x1234567;
    struct guard guard;

    guard_init(&guard);
    for (size_t len = 0; len <= 200; len++)
        for (size_t round = 0; round < 64; round++) {
            char *text = round % 2 ? guard_last(&guard, len) : guard.ptr + round / 2;

            memset(text, round % 3 ? 'x' : 0xe5, len);
            check_text((struct str){ text, len });
            for (size_t i = 0; i < 3 && len; i++) {
                size_t which = random_below(&seed, sizeof(neighbours));

                text[random_below(&seed, len)] = (char)neighbours[which];
                check_text((struct str){ text, len });
            }
        }
    guard_done(&guard);
}

TEST(every_variant_knows_every_byte_at_every_place)
{
    char text[150];

    memset(text, 'x', sizeof(text));
    for (size_t at = 0; at < sizeof(text); at++) {
        for (size_t byte = 0; byte < 256; byte++) {
            text[at] = (char)byte;
            check_text((struct str){ text, sizeof(text) });
        }
        text[at] = 'x';
    }
}

/* Words find the first hit by arithmetic in which one byte borrows from the next. */
TEST(every_variant_stops_at_the_first_of_many)
{
    uint64_t seed = 0x89abcdef;
    struct guard guard;

    guard_init(&guard);
    for (size_t round = 0; round < 20000; round++) {
        size_t len = random_below(&seed, 100);
        size_t plain = len ? random_below(&seed, len) : 0;
        char *text = guard_last(&guard, len);

        memset(text, round % 2 ? 'x' : 0xa1, plain);
        for (size_t i = plain; i < len; i++)
            text[i] = (char)neighbours[random_below(&seed, sizeof(neighbours))];
        check_text((struct str){ text, len });
    }
    guard_done(&guard);
}

TEST(every_variant_passes_over_long_text)
{
    uint64_t seed = 0xfeed;
    struct guard guard;

    guard_init(&guard);
    for (size_t round = 0; round < 300; round++) {
        size_t len = random_below(&seed, 20000);
        char *text = guard_last(&guard, len);

        memset(text, round % 2 ? ' ' : 0xff, len);
        check_text((struct str){ text, len });
        if (len == 0)
            continue;
        text[random_below(&seed, len)] = "\"\\\x1f"[round % 3];
        check_text((struct str){ text, len });
    }
    guard_done(&guard);
}
