/* SPDX-License-Identifier: Apache-2.0 */
#include "directory/ticker.h"
#include "harness.h"

static const struct str ann[] = { S("ann"), S("bob") };

static struct ticker_event event(struct str text)
{
    return (struct ticker_event){ .event_type = S("TEAM_STATUS_UPDATED"),
                                  .team = S("t-1"),
                                  .topic = S("team-t-1"),
                                  .audience = { ann, 2 },
                                  .text = text };
}

static void add(struct ticker *feed, struct str text)
{
    struct ticker_event e = event(text);

    ticker_add(feed, &e);
}

TEST(events_are_numbered_and_the_oldest_go)
{
    struct ticker feed;

    ticker_init(&feed, 3, 1 << 20, "e");
    CHECK_INT(ticker_next(&feed), 1);
    CHECK(!ticker_find(&feed, 1));
    add(&feed, S("one"));
    add(&feed, S("two"));
    add(&feed, S("three"));
    CHECK_STR(ticker_find(&feed, 1)->text, S("one"));
    add(&feed, S("four"));
    CHECK(!ticker_find(&feed, 1));
    CHECK_STR(ticker_find(&feed, 2)->text, S("two"));
    CHECK_INT(ticker_find(&feed, 4)->sequence, 4);
    CHECK(!ticker_find(&feed, 5));
    CHECK_INT(ticker_next(&feed), 5);
    ticker_done(&feed);
}

TEST(bytes_are_bounded_as_well)
{
    char large[2000];
    struct ticker feed;

    memset(large, 'x', sizeof(large));
    ticker_init(&feed, 100, 5000, "e");
    add(&feed, (struct str){ large, 2000 });
    add(&feed, (struct str){ large, 2000 });
    CHECK(ticker_find(&feed, 1) != NULL);
    add(&feed, (struct str){ large, 2000 });
    CHECK(!ticker_find(&feed, 1));
    CHECK(feed.bytes <= 5000);
    ticker_done(&feed);
}

TEST(what_is_larger_than_everything_is_a_gap)
{
    char large[2000];
    struct ticker feed;
    uint64_t at;

    memset(large, 'x', sizeof(large));
    ticker_init(&feed, 100, 1000, "e");
    add(&feed, S("one"));
    add(&feed, (struct str){ large, 2000 });
    CHECK_INT(ticker_next(&feed), 3);
    CHECK(!ticker_find(&feed, 2));
    CHECK_INT(feed.bytes, 0);
    CHECK(!ticker_resume(&feed, S("e"), 1, &at));
    CHECK_INT(at, 2);
    add(&feed, S("three"));
    CHECK_STR(ticker_find(&feed, 3)->text, S("three"));
    ticker_done(&feed);
}

TEST(who_comes_back_goes_on_or_learns_of_the_gap)
{
    static const struct {
        struct str epoch;
        uint64_t sequence, at;
        bool is_whole;
    } cases[] = {
        { S("e"), 5, 5, true },  { S("e"), 4, 4, true },
        { S("e"), 2, 2, true },  { S("e"), 1, 2, false },
        { S("e"), 0, 2, false }, { S("e"), 6, 2, false },
        { S("f"), 5, 2, false }, { S("e"), UINT64_MAX, 2, false },
    };
    struct ticker feed;

    ticker_init(&feed, 3, 1 << 20, "e");
    for (size_t i = 0; i < 5; i++)
        add(&feed, S("x"));
    FOR_EACH_CASE(c, cases) {
        uint64_t at = 99;

        CHECK_INT(ticker_resume(&feed, c->epoch, c->sequence, &at), c->is_whole);
        CHECK_INT(at, c->at);
    }
    ticker_done(&feed);
}

TEST(interest_narrows)
{
#define ONE(text)                          \
    {                                      \
        (const struct str[]){ S(text) }, 1 \
    }
    const struct {
        struct agent_interest interest;
        bool hears_team, hears_resource;
    } cases[] = {
        { {}, true, true },
        { { .teams = ONE("t-1") }, true, false },
        { { .teams = ONE("t-2") }, false, false },
        { { .topics = ONE("team-t-1") }, true, false },
        { { .topics = ONE("team-t-1"), .teams = ONE("t-2") }, true, false },
        { { .event_types = ONE("RESOURCE_UPDATED") }, false, true },
        { { .event_types = ONE("TEAM_STATUS_UPDATED") }, true, false },
        { { .teams = ONE("t-1"), .event_types = ONE("RESOURCE_UPDATED") }, false, false },
    };
    struct ticker_event team = event(S(""));
    struct ticker_event resource = { .event_type = S("RESOURCE_UPDATED") };

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(ticker_interests(&team, &c->interest), c->hears_team);
        CHECK_INT(ticker_interests(&resource, &c->interest), c->hears_resource);
    }
    CHECK(ticker_names(&team, S("bob")));
    CHECK(!ticker_names(&team, S("eve")));
    CHECK(!ticker_names(&resource, S("bob")));
}
