/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "fake_topic.h"
#include "harness.h"

static const struct join joining = { .routing = ROUTE_ALL, .wants_echo = true };

#define ELEMENT(id) \
    "{\"id\":\"" id "\",\"capabilities\":[\"chat\"],\"moot\":{\"type\":\"agent\"}}"

static void welcome(struct fake_member *m)
{
    member_send_roster(&m->member, S("<>"), 1);
}

/* What a new welcome to this member says; the entries before it are read and left. */
static struct str welcomed(struct fake_member *m)
{
    (void)fake_texts(m);
    welcome(m);
    return fake_texts(m);
}

static void announce_all(struct fake_topic *fake)
{
    topic_flush_presence(&fake->topic);
}

TEST(a_roster_lists_those_that_were_announced_and_never_oneself)
{
    struct fake_topic fake;
    struct fake_member a, b, c;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), joining);
    CHECK_STR(welcomed(&a), S("<>\n"));
    CHECK(!fake.topic.rosters[DIALECT_SLASH]); /* who is alone costs none */
    fake_join(&fake, &b, S("b"), joining);
    CHECK_STR(welcomed(&b), S("<>\n")); /* a is pending: its join follows */
    announce_all(&fake);
    CHECK_STR(welcomed(&a), S("<" ELEMENT("b") ">\n"));
    CHECK_STR(welcomed(&b), S("<" ELEMENT("a") ">\n"));
    fake_join(&fake, &c, S("c"), joining);
    fake_leave(&b);
    topic_sweep_roster(&fake.topic);
    topic_sweep_roster(&fake.topic);
    CHECK_STR(welcomed(&a), S("<" ELEMENT("b") ">\n")); /* its leave follows, too */
    announce_all(&fake);
    CHECK_STR(welcomed(&c), S("<" ELEMENT("a") ">\n"));
    fake_leave(&a);
    announce_all(&fake);
    CHECK_STR(welcomed(&c), S("<>\n"));
    fake_leave(&c);
    fake_topic_done(&fake);
}

/* They are announced one after the other, so that they stand in the roster in this
 * order; then each is left out of his own welcome. */
TEST(whoever_is_listed_is_cut_out_of_his_own_welcome)
{
    static const struct str ids[] = { S("a"), S("a\"},{\"id\":\"b"), S("aa"), S("b") };
    struct fake_topic fake;
    struct fake_member first, members[4], again;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &first, S("0"), joining);
    announce_all(&fake);
    fake_join(&fake, &members[0], ids[0], joining);
    CHECK_STR(welcomed(&members[0]), S("<" ELEMENT("0") ">\n"));
    for (size_t i = 0; i < 4; i++) {
        if (i)
            fake_join(&fake, &members[i], ids[i], joining);
        announce_all(&fake);
    }
    CHECK_STR(welcomed(&first),
              S("<" ELEMENT("a") "," ELEMENT("a\\\"},{\\\"id\\\":\\\"b") "," ELEMENT(
                  "aa") "," ELEMENT("b") ">\n"));
    CHECK_STR(welcomed(&members[0]),
              S("<" ELEMENT("0") "," ELEMENT("a\\\"},{\\\"id\\\":\\\"b") "," ELEMENT(
                  "aa") "," ELEMENT("b") ">\n"));
    CHECK_STR(welcomed(&members[1]), S("<" ELEMENT("0") "," ELEMENT("a") "," ELEMENT(
                                         "aa") "," ELEMENT("b") ">\n"));
    fake_join(&fake, &again, ids[3], joining);
    CHECK_STR(welcomed(&again), S("<" ELEMENT("0") "," ELEMENT("a") "," ELEMENT(
                                    "a\\\"},{\\\"id\\\":\\\"b") "," ELEMENT("aa") ">\n"));
    fake_leave(&again);
    for (size_t i = 0; i < 4; i++)
        fake_leave(&members[i]);
    fake_leave(&first);
    fake_topic_done(&fake);
}

TEST(welcomes_share_one_block_which_later_joins_extend)
{
    struct fake_topic fake;
    struct fake_member a, b, c, d;
    struct block *roster;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), joining);
    announce_all(&fake);
    fake_join(&fake, &b, S("b"), joining);
    welcome(&b);
    roster = fake.topic.rosters[DIALECT_SLASH];
    CHECK_INT(roster->refs, 2); /* the topic's and b's */
    announce_all(&fake);
    CHECK(fake.topic.rosters[DIALECT_SLASH] == roster);
    fake_join(&fake, &c, S("c"), joining);
    fake_join(&fake, &d, S("d"), joining);
    welcome(&c);
    welcome(&d);
    CHECK(fake.topic.rosters[DIALECT_SLASH] == roster);
    CHECK_INT(roster->refs, 4);
    CHECK(str_starts(fake_texts(&b), S("<" ELEMENT("a") ">\n")));
    CHECK_STR(fake_texts(&c), S("<" ELEMENT("a") "," ELEMENT("b") ">\n"));
    CHECK_INT(roster->refs, 2);
    fake_leave(&b);
    announce_all(&fake); /* c and d have come, b has gone */
    CHECK(fake.topic.rosters[DIALECT_SLASH] == NULL);
    CHECK(str_starts(fake_texts(&d), S("<" ELEMENT("a") "," ELEMENT("b") ">\n")));
    fake_leave(&a);
    fake_leave(&c);
    fake_leave(&d);
    fake_topic_done(&fake);
}

TEST(a_roster_without_room_for_one_more_is_written_anew)
{
    struct fake_topic fake;
    struct fake_member members[40];
    struct block *last = NULL;
    size_t written = 0;

    fake_topic_init(&fake, NULL);
    for (size_t i = 0; i < 40; i++) {
        char id[8];
        size_t count = 0;
        struct str text;

        (void)snprintf(id, sizeof(id), "%zu", i);
        fake_join(&fake, &members[i], str_of(id), joining);
        text = welcomed(&members[i]);
        for (size_t at = 0; at < text.len; at++)
            count += text.ptr[at] == '[';
        CHECK_INT(count, i);
        written += fake.topic.rosters[DIALECT_SLASH] != last;
        last = fake.topic.rosters[DIALECT_SLASH];
        announce_all(&fake);
    }
    CHECK(written > 1 && written < 20);
    for (size_t i = 0; i < 40; i++)
        fake_leave(&members[i]);
    fake_topic_done(&fake);
}

TEST(a_change_of_what_it_shows_is_in_the_next_roster)
{
    static const struct str wider[] = { S("chat"), S("mcp/*") };
    struct fake_topic fake;
    struct fake_member a, b;
    struct capset *caps;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), joining);
    fake_join(&fake, &b, S("b"), joining);
    announce_all(&fake);
    CHECK_STR(welcomed(&b), S("<" ELEMENT("a") ">\n"));
    CHECK_INT(capset_intern(fake.capsets, (struct str_list){ wider, 2 }, &caps, NULL),
              OK);
    (void)participant_enter(a.member.participant->topic, S("a"), TYPE_AGENT, caps, 0);
    CHECK_STR(welcomed(&b), S("<{\"id\":\"a\",\"capabilities\":[\"chat\",\"mcp/*\"],"
                              "\"moot\":{\"type\":\"agent\"}}>\n"));
    (void)participant_enter(&fake.topic, S("a"), TYPE_HUMAN, caps, 0);
    CHECK_STR(welcomed(&b), S("<{\"id\":\"a\",\"capabilities\":[\"chat\",\"mcp/*\"],"
                              "\"moot\":{\"type\":\"human\"}}>\n"));
    (void)participant_enter(&fake.topic, S("a"), TYPE_HUMAN, fake.caps, 0);
    CHECK_STR(welcomed(&b), S("<{\"id\":\"a\",\"capabilities\":[\"chat\"],"
                              "\"moot\":{\"type\":\"human\"}}>\n"));
    CHECK(fake.topic.rosters[DIALECT_SLASH] != NULL);
    (void)participant_enter(&fake.topic, S("a"), TYPE_HUMAN, fake.caps, 0);
    (void)participant_enter(&fake.topic, S("new"), TYPE_HUMAN, caps, 0);
    CHECK(fake.topic.rosters[DIALECT_SLASH] !=
          NULL); /* nothing that it shows has changed */
    capset_unref(caps);
    fake_leave(&a);
    fake_leave(&b);
    fake_topic_done(&fake);
}

TEST(a_roster_that_nobody_needs_is_dropped_by_the_second_sweep)
{
    struct fake_topic fake;
    struct fake_member a, b;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), joining);
    announce_all(&fake);
    fake_join(&fake, &b, S("b"), joining);
    welcome(&b);
    topic_sweep_roster(&fake.topic);
    CHECK(fake.topic.rosters[DIALECT_SLASH] != NULL);
    topic_sweep_roster(&fake.topic);
    CHECK(fake.topic.rosters[DIALECT_SLASH] == NULL);
    CHECK_STR(fake_texts(&b), S("<" ELEMENT("a") ">\n"));
    fake_leave(&a);
    fake_leave(&b);
    fake_topic_done(&fake);
}

TEST(a_blocked_member_shares_the_roster_and_copies_the_log)
{
    struct fake_topic fake;
    struct fake_member a, b;
    struct block *roster;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), joining);
    announce_all(&fake);
    fake_join(&fake, &b, S("b"), joining);
    fake_say(&fake, NULL, S("before"), NULL);
    welcome(&b);
    fake_say(&fake, NULL, S("behind"), NULL);
    roster = fake.topic.rosters[DIALECT_SLASH];
    CHECK_INT(fake_read(&b, 8, 15), 15); /* in the middle of the begin of the welcome */
    CHECK_INT(member_backlog(&b.member), 4 + 6); /* only "behind" counts */
    member_set_blocked(&b.member, true);
    CHECK_INT(roster->refs, 2);
    fake_say(&fake, NULL, S("more"), NULL);
    CHECK_INT(member_backlog(&b.member), 4 + 6 + 4 + 4);
    welcome(&b); /* another one, while it is blocked */
    CHECK_INT(roster->refs, 3);
    CHECK_STR(fake_texts(&b),
              S("before\n<" ELEMENT("a") ">\nbehind\nmore\n<" ELEMENT("a") ">\n"));
    CHECK_INT(roster->refs, 1);
    welcome(&b);
    fake_leave(&b); /* frees what it did not read */
    CHECK_INT(roster->refs, 1);
    fake_leave(&a);
    fake_topic_done(&fake);
}
