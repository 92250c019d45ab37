/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_topic.h"
#include "harness.h"

enum { MINUTE = 60'000 };

static const struct join joining = { .routing = ROUTE_ALL, .wants_echo = true };

static const struct topic_settings no_ring = { .max_members = 9, .max_members_each = 9 };

static bool is_known(const struct fake_topic *fake, struct str id)
{
    return participant_find(&fake->topic, id) != NULL;
}

static struct participant *enter(struct fake_topic *fake, struct str id)
{
    return participant_enter(&fake->topic, id, TYPE_AGENT, fake->caps, fake->now_ms);
}

TEST(who_is_absent_is_forgotten_after_a_while_and_who_is_present_never)
{
    struct fake_topic fake;
    struct fake_member a, b;

    fake_topic_init(&fake, &no_ring);
    fake_join(&fake, &a, S("a"), joining);
    fake_join(&fake, &b, S("b"), joining);
    fake.now_ms = 5 * MINUTE;
    fake_leave(&a);
    topic_flush_presence(&fake.topic);
    topic_forget_absent(&fake.topic, 5 * MINUTE - 1);
    CHECK(is_known(&fake, S("a")));
    topic_forget_absent(&fake.topic, 5 * MINUTE);
    CHECK(!is_known(&fake, S("a")));
    topic_forget_absent(&fake.topic, 500 * MINUTE);
    CHECK(is_known(&fake, S("b")));
    fake_leave(&b);
    fake_topic_done(&fake);
}

/* Otherwise every request of someone who only posts would begin with a full bucket. */
TEST(who_posts_without_being_a_member_is_absent_since_the_last_time)
{
    struct fake_topic fake;
    const struct participant *poster;

    fake_topic_init(&fake, &no_ring);
    fake.now_ms = 5 * MINUTE;
    poster = enter(&fake, S("poster"));
    (void)enter(&fake, S("other"));
    topic_forget_absent(&fake.topic, 5 * MINUTE - 1);
    CHECK(participant_find(&fake.topic, S("poster")) == poster);
    fake.now_ms = 6 * MINUTE;
    CHECK(enter(&fake, S("poster")) == poster);
    topic_forget_absent(&fake.topic, 6 * MINUTE - 1); /* the longest absent come first */
    CHECK(is_known(&fake, S("poster")));
    CHECK(!is_known(&fake, S("other")));
    topic_forget_absent(&fake.topic, 6 * MINUTE);
    CHECK(!is_known(&fake, S("poster")));
    fake_topic_done(&fake);
}

TEST(nobody_is_forgotten_while_the_ring_holds_what_he_may_have_seen)
{
    struct topic_settings settings = no_ring;
    struct fake_topic fake;

    settings.ring_messages = 3;
    settings.ring_bytes = 1000;
    fake_topic_init(&fake, &settings);
    fake_say(&fake, NULL, S("1"), NULL);
    (void)enter(&fake, S("early"));
    fake_say(&fake, NULL, S("2"), NULL);
    fake_say(&fake, NULL, S("3"), NULL);
    (void)enter(&fake, S("late"));
    topic_forget_absent(&fake.topic, MINUTE);
    CHECK(is_known(&fake, S("early")));
    fake_say(&fake, NULL, S("4"), NULL); /* the first one rolls out */
    topic_forget_absent(&fake.topic, MINUTE);
    CHECK(!is_known(&fake, S("early")));
    fake_say(&fake, NULL, S("5"), NULL);
    topic_forget_absent(&fake.topic, MINUTE);
    CHECK(is_known(&fake, S("late")));
    fake_say(&fake, NULL, S("6"), NULL);
    topic_forget_absent(&fake.topic, MINUTE);
    CHECK(!is_known(&fake, S("late")));
    fake_topic_done(&fake);
}

TEST(who_is_forgotten_stands_in_no_list_of_offenders)
{
    struct fake_topic fake;
    struct conduct *conduct;
    struct link offenders;

    fake_topic_init(&fake, &no_ring);
    list_init(&offenders);
    conduct = participant_conduct(enter(&fake, S("eve")));
    CHECK(participant_conduct(enter(&fake, S("eve"))) == conduct);
    CHECK_STR(conduct->participant->id, S("eve"));
    list_append(&offenders, &conduct->offender_link);
    topic_forget_absent(&fake.topic, fake.now_ms);
    CHECK(!is_known(&fake, S("eve")));
    CHECK(list_is_empty(&offenders));
    fake_topic_done(&fake);
}
