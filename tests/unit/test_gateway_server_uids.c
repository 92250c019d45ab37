/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "gateway/server_uids.h"
#include "harness.h"

TEST(each_name_has_a_number_of_its_own_until_it_is_forgotten)
{
    struct server_uids uids;

    server_uids_init(&uids);
    CHECK_INT(server_uids_find(&uids, S("a")), 0);
    CHECK_INT(server_uids_take(&uids, S("a")), UID_FIRST);
    CHECK_INT(server_uids_take(&uids, S("b")), UID_FIRST + 1);
    CHECK_INT(server_uids_take(&uids, S("a")), UID_FIRST);
    CHECK_INT(server_uids_find(&uids, S("b")), UID_FIRST + 1);
    server_uids_drop(&uids, S("a"));
    server_uids_drop(&uids, S("a"));
    CHECK_INT(server_uids_find(&uids, S("a")), 0);
    CHECK_INT(server_uids_take(&uids, S("c")), UID_FIRST);
    server_uids_done(&uids);
}

TEST(what_was_kept_is_had_again_and_what_cannot_be_is_not)
{
    struct server_uids uids;

    server_uids_init(&uids);
    CHECK(server_uids_restore(&uids, S("a"), UID_FIRST + 1));
    CHECK(!server_uids_restore(&uids, S("a"), UID_FIRST + 2));
    CHECK(!server_uids_restore(&uids, S("b"), UID_FIRST + 1));
    CHECK(!server_uids_restore(&uids, S("b"), UID_FIRST - 1));
    CHECK(!server_uids_restore(&uids, S("b"), UID_FIRST + UID_COUNT));
    CHECK(!server_uids_restore(&uids, S("b"), 0));
    server_uids_reserve(&uids, UID_FIRST);
    server_uids_reserve(&uids, 1000);
    CHECK_INT(server_uids_take(&uids, S("b")), UID_FIRST + 2);
    CHECK_INT(server_uids_take(&uids, S("a")), UID_FIRST + 1);
    server_uids_done(&uids);
}

TEST(a_number_is_free_when_nothing_runs_and_nobody_wants_it)
{
    struct server_uids uids;

    server_uids_init(&uids);
    CHECK_INT(server_uids_take(&uids, S("a")), UID_FIRST);
    CHECK(!server_uids_ended(&uids, S("a"))); /* it has crashed, or has changed */
    CHECK(!server_uids_forget(&uids, S("a")));
    CHECK_INT(server_uids_next(&uids, S("b")), UID_FIRST + 1);
    CHECK(server_uids_ended(&uids, S("a")));
    CHECK(!server_uids_ended(&uids, S("nobody")));
    CHECK(!server_uids_forget(&uids, S("nobody")));
    server_uids_drop(&uids, S("a"));
    CHECK_INT(server_uids_next(&uids, S("b")), UID_FIRST);
    /* Forgotten and wanted again before it has ended: it stays. */
    CHECK_INT(server_uids_take(&uids, S("b")), UID_FIRST);
    CHECK(!server_uids_forget(&uids, S("b")));
    CHECK_INT(server_uids_take(&uids, S("b")), UID_FIRST);
    CHECK(!server_uids_ended(&uids, S("b")));
    server_uids_unwant(&uids, S("b"));
    CHECK(!server_uids_ended(&uids, S("b")));
    CHECK(server_uids_forget(&uids, S("b"))); /* nothing runs */
    server_uids_done(&uids);
}

TEST(there_are_so_many_and_no_more)
{
    struct server_uids uids;
    char name[16];

    server_uids_init(&uids);
    for (unsigned i = 0; i < UID_COUNT; i++) {
        (void)snprintf(name, sizeof(name), "n%u", i);
        CHECK_INT(server_uids_take(&uids, str_of(name)), UID_FIRST + i);
    }
    CHECK_INT(server_uids_take(&uids, S("late")), 0);
    CHECK_INT(server_uids_find(&uids, S("late")), 0);
    CHECK_INT(server_uids_next(&uids, S("late")), 0);
    CHECK_INT(server_uids_next(&uids, S("n5")), UID_FIRST + 5);
    server_uids_unwant(&uids, S("n7"));
    CHECK_INT(server_uids_next(&uids, S("late")), 0); /* it still runs */
    (void)server_uids_ended(&uids, S("n7"));
    CHECK_INT(server_uids_next(&uids, S("late")), UID_FIRST + 7);
    CHECK_STR(server_uids_resting(&uids), S("n7"));
    CHECK_INT(server_uids_take(&uids, S("late")), 0); /* nobody has dropped it */
    server_uids_unwant(&uids, S("n9"));
    (void)server_uids_ended(&uids, S("n9"));
    server_uids_reserve(&uids, UID_FIRST + 9);
    server_uids_drop(&uids, S("n7"));
    CHECK_INT(server_uids_take(&uids, S("late")), UID_FIRST + 7);
    CHECK_INT(server_uids_next(&uids, S("later")), 0); /* n9's is somebody's */
    server_uids_done(&uids);
}
