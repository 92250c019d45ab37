/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/thread.h"
#include "harness.h"

TEST(a_thread_is_what_refers_to_it_at_any_distance)
{
    /* clang-format off */
    static const struct { struct str id, correlation_id; bool is_part; } cases[] = {
        { S("a"),  S(""),   false },
        { S("p1"), S(""),   true  },
        { S("b"),  S("a"),  false },
        { S("f1"), S("p1"), true  },
        { S("r1"), S("f1"), true  },
        { S("c"),  S("r"),  false },
        { S("n1"), S("r1"), true  },
        { S("p1"), S("p0"), true  }, /* it refers to something itself: that is part of it */
        { S("q1"), S("p0"), true  },
        { S("p0"), S(""),   true  },
        { S(""),   S(""),   false },
    };
    /* clang-format on */
    struct thread thread;

    thread_init(&thread, S("p1"));
    FOR_EACH_CASE(c, cases)
        CHECK_INT(thread_takes(&thread, c->id, c->correlation_id), c->is_part);
    thread_done(&thread);
}

TEST(a_thread_without_end_is_bounded)
{
    struct thread thread;
    char id[32];

    thread_init(&thread, S("0"));
    for (int i = 1; i < THREAD_MAX + 10; i++) {
        (void)snprintf(id, sizeof(id), "%d", i);
        CHECK(thread_takes(&thread, str_of(id), S("0")));
    }
    CHECK_INT(thread.ids.count, THREAD_MAX);
    CHECK(!thread_takes(&thread, S("x"), str_of(id)));
    thread_done(&thread);
}
