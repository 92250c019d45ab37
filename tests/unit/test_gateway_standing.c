/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/standing.h"
#include "harness.h"

TEST(a_bar_lasts_until_its_time_and_a_pause_until_it_is_lifted)
{
    struct map standings;

    map_init(&standings);
    CHECK(!standing_is_barred(&standings, S("a"), 0));
    CHECK(!standing_is_paused(&standings, S("a")));
    standing_bar(&standings, S("a"), 100);
    standing_pause(&standings, S("b"), true);
    CHECK(standing_is_barred(&standings, S("a"), 99));
    CHECK(!standing_is_barred(&standings, S("a"), 100));
    CHECK(!standing_is_barred(&standings, S("b"), 0));
    CHECK(standing_is_paused(&standings, S("b")) &&
          !standing_is_paused(&standings, S("a")));
    standing_pause(&standings, S("b"), false);
    CHECK(!standing_is_paused(&standings, S("b")));
    standings_done(&standings);
}

TEST(what_is_over_is_forgotten_and_nothing_else)
{
    struct map standings;

    map_init(&standings);
    standing_bar(&standings, S("over"), 100);
    standing_bar(&standings, S("barred"), 300);
    standing_pause(&standings, S("paused"), true);
    standing_pause(&standings, S("resumed"), false);
    standing_bar(&standings, S("both"), 100);
    standing_pause(&standings, S("both"), true);
    standings_sweep(&standings, 200);
    CHECK_INT(standings.count, 3);
    CHECK(standing_is_barred(&standings, S("barred"), 200));
    CHECK(standing_is_paused(&standings, S("paused")));
    CHECK(standing_is_paused(&standings, S("both")));
    standings_done(&standings);
}
