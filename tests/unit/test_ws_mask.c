/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "guard.h"
#include "harness.h"
#include "ws/ws.h"
#include "ws/ws_priv.h"

static const uint8_t mask_bytes[4] = { 0x37, 0xfa, 0x21, 0x3d };

static uint32_t mask_of_bytes(void)
{
    uint32_t mask;

    memcpy(&mask, mask_bytes, 4);
    return mask;
}

static void fill(char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(i * 7 + 3 + (i >> 8));
}

static bool is_unmasked(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)bytes[i] != ((uint8_t)(i * 7 + 3 + (i >> 8)) ^ mask_bytes[i % 4]))
            return false;
    return true;
}

/* To memory that ends where the process may no longer write, from memory that ends where
 * it may no longer read; the byte before must stay. */
static void check_length(enum simd level, const struct guard guards[2], size_t len)
{
    char *src = guard_last(&guards[0], len);
    char *dst = guard_last(&guards[1], len);

    fill(src, len);
    dst[-1] = 'k';
    ws_unmask_at(level, dst, src, len, mask_of_bytes());
    CHECK(is_unmasked(dst, len) && dst[-1] == 'k');
    ws_unmask_at(level, src, src, len, mask_of_bytes());
    CHECK(is_unmasked(src, len));
}

TEST(every_variant_unmasks_every_length_and_touches_nothing_else)
{
    struct guard guards[2];

    guard_init(&guards[0]);
    guard_init(&guards[1]);
    for (enum simd level = SIMD_NONE; level < SIMD_LEVELS; level++) {
        if (!simd_has(level))
            continue;
        for (size_t len = 0; len <= 300; len++)
            check_length(level, guards, len);
        for (size_t len = 1000; len <= 60000; len += 1237)
            check_length(level, guards, len);
    }
    guard_done(&guards[0]);
    guard_done(&guards[1]);
}

TEST(every_variant_unmasks_at_every_alignment)
{
    char src[32 + 300], dst[32 + 300];

    for (enum simd level = SIMD_NONE; level < SIMD_LEVELS; level++)
        for (size_t from = 0; simd_has(level) && from < 32; from++)
            for (size_t to = 0; to < 32; to++) {
                size_t len = 200 + (from + to) % 100;

                fill(src + from, len);
                memset(dst, 'k', sizeof(dst));
                ws_unmask_at(level, dst + to, src + from, len, mask_of_bytes());
                CHECK(is_unmasked(dst + to, len) && dst[to + len] == 'k');
            }
}

TEST(unmasking_chooses_a_variant_by_itself)
{
    char bytes[1000] = {};

    for (size_t len = 0; len <= sizeof(bytes); len++) {
        fill(bytes, len);
        ws_unmask(bytes, bytes, len, mask_of_bytes());
        CHECK(is_unmasked(bytes, len));
    }
}

TEST(unmasking_in_place_twice_gives_back_the_bytes)
{
    char text[200], kept[200];

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)i;
    memcpy(kept, text, sizeof(text));
    ws_unmask(text + 1, text + 1, 199, 0x12345678);
    CHECK(memcmp(text, kept, sizeof(text)) != 0);
    ws_unmask(text + 1, text + 1, 199, 0x12345678);
    CHECK(memcmp(text, kept, sizeof(text)) == 0);
}

TEST(a_payload_may_be_unmasked_in_two_parts_cut_anywhere)
{
    char whole[100] = {}, parts[100] = {};
    uint32_t mask = 0x89abcdef;

    ws_unmask(whole, whole, sizeof(whole), mask);
    for (size_t cut = 0; cut <= sizeof(parts); cut++) {
        memset(parts, 0, sizeof(parts));
        ws_unmask(parts, parts, cut, mask);
        ws_unmask(parts + cut, parts + cut, sizeof(parts) - cut, ws_mask_at(mask, cut));
        CHECK(memcmp(whole, parts, sizeof(whole)) == 0);
    }
}
