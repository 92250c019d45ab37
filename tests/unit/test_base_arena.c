/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "harness.h"

TEST(an_arena_hands_out_zeroed_aligned_memory_up_to_its_maximum)
{
    struct arena arena;
    size_t count = 0;

    arena_init(&arena, 100'000);
    for (;; count++) {
        const char *p = arena_alloc(&arena, 100);

        if (!p)
            break;
        CHECK_INT((uintptr_t)p % 16, 0);
        CHECK(p[0] == 0 && p[99] == 0);
    }
    CHECK_INT(count, 100'000 / 112);
    arena_reset(&arena);
    CHECK(arena_alloc(&arena, 50'000) != NULL);
    CHECK(arena_alloc(&arena, SIZE_MAX) == NULL);
    arena_reset(&arena);
    CHECK_STR(arena_str(&arena, S("kept")), S("kept"));
    arena_done(&arena);
}
