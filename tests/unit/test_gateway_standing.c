/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "gateway/standing.h"
#include "harness.h"

TEST(a_bar_lasts_until_its_time_and_a_pause_until_it_is_lifted)
{
    struct standings standings;

    standings_init(&standings);
    CHECK(!standing_is_barred(&standings, S("a"), 0));
    CHECK(!standing_is_paused(&standings, S("a")));
    standing_bar(&standings, S("a"), 100);
    standing_pause(&standings, S("b"), true);
    CHECK(standing_is_barred(&standings, S("a"), 99));
    CHECK(!standing_is_barred(&standings, S("a"), 100));
    CHECK(!standing_is_barred(&standings, S("b"), 0));
    CHECK(standing_is_paused(&standings, S("b")) &&
          !standing_is_paused(&standings, S("a")));
    standing_resume(&standings, S("b"));
    standing_resume(&standings, S("nobody"));
    CHECK(!standing_is_paused(&standings, S("b")));
    standings_done(&standings);
}

TEST(an_administrators_pause_is_held_whoever_pauses_besides)
{
    struct standings standings;

    standings_init(&standings);
    standing_pause(&standings, S("a"), false);
    CHECK(!standing_find(&standings, S("a"))->is_held);
    standing_pause(&standings, S("a"), true);
    standing_pause(&standings, S("a"), false);
    CHECK(standing_find(&standings, S("a"))->is_held);
    standing_resume(&standings, S("a"));
    standing_pause(&standings, S("a"), false);
    CHECK(!standing_find(&standings, S("a"))->is_held);
    standings_done(&standings);
}

TEST(what_is_over_is_forgotten_and_nothing_else)
{
    struct standings standings;

    standings_init(&standings);
    standing_bar(&standings, S("over"), 100);
    standing_bar(&standings, S("barred"), 300);
    standing_pause(&standings, S("paused"), true);
    standing_pause(&standings, S("resumed"), true);
    standing_resume(&standings, S("resumed"));
    standing_bar(&standings, S("both"), 100);
    standing_pause(&standings, S("both"), true);
    standings_sweep(&standings, 200);
    CHECK_INT(standings.by_id.count, 3);
    CHECK(standing_is_barred(&standings, S("barred"), 200));
    CHECK(standing_is_paused(&standings, S("paused")));
    CHECK(standing_is_paused(&standings, S("both")));
    standings_clear(&standings);
    CHECK_INT(standings.by_id.count, 0);
    standings_done(&standings);
}

/* What was heard last. */
struct listener {
    struct standings standings;
    size_t count;
    bool was_over;
};

static void hear(struct standings *self, const struct standing *standing)
{
    struct listener *listener = CONTAINER_OF(self, struct listener, standings);

    listener->count++;
    listener->was_over = standing_is_over(standing, 50);
}

TEST(every_change_is_told_and_the_end_as_well)
{
    struct listener listener = {};
    struct standings other;

    standings_init(&listener.standings);
    listener.standings.changed = hear;
    standing_bar(&listener.standings, S("a"), 100);
    CHECK(listener.count == 1 && !listener.was_over);
    standing_pause(&listener.standings, S("b"), true);
    CHECK(listener.count == 2 && !listener.was_over);
    standing_resume(&listener.standings, S("b"));
    CHECK(listener.count == 3 && listener.was_over);
    standings_init(&other);
    standings_move(&other, &listener.standings);
    CHECK_INT(listener.standings.by_id.count, 0);
    standings_move(&listener.standings, &other);
    CHECK_INT(listener.standings.by_id.count, 2);
    CHECK_INT(listener.count, 3);
    standings_sweep(&listener.standings, 100);
    CHECK(listener.count == 5 && listener.was_over);
    standings_done(&listener.standings);
    standings_done(&other);
}
