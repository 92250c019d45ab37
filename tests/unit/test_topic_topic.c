/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "fake_topic.h"
#include "harness.h"

static const struct join everything = { .routing = ROUTE_ALL, .wants_echo = true };
static const struct join directed = { .routing = ROUTE_DIRECTED, .wants_echo = true };

/* --- routing --- */

TEST(an_entry_reaches_all_members_and_those_directed_ones_it_concerns)
{
    /* clang-format off */
    static const struct { struct str to[4]; struct str also; bool all, b, c; } cases[] = {
        { {},                               {},     true, true,  true  },
        { { S("b") },                       {},     true, true,  false },
        { { S("c") },                       {},     true, false, true  },
        { { S("b"), S("c") },               {},     true, true,  true  },
        { { S("a") },                       {},     true, false, false },
        { { S("nobody") },                  {},     true, false, false },
        { { S("b"), S("b"), S("b") },       {},     true, true,  false },
        { { S("nobody"), S("c") },          {},     true, false, true  },
        { { S("b") },                       S("c"), true, true,  true  },
        { { S("b") },                       S("b"), true, true,  false },
        { { S("a") },                       S("x"), true, false, false },
        { {},                               S("c"), true, true,  true  },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct fake_topic fake;
        struct fake_member a, b, b2, other;
        size_t count = 0;

        fake_topic_init(&fake, NULL);
        fake_join(&fake, &a, S("a"), everything);
        fake_join(&fake, &b, S("b"), directed);
        fake_join(&fake, &b2, S("b"), directed);
        fake_join(&fake, &other, S("c"), directed);
        while (c->to[count].len)
            count++;
        topic_append(&fake.topic, &(struct topic_entry){ .text = S("said"),
                                                         .id_hash = 1,
                                                         .to = c->to,
                                                         .to_count = count,
                                                         .also = c->also });
        CHECK_STR(fake_texts(&a), c->all ? S("said\n") : S(""));
        CHECK_STR(fake_texts(&b), c->b ? S("said\n") : S(""));
        CHECK_STR(fake_texts(&b2), c->b ? S("said\n") : S(""));
        CHECK_STR(fake_texts(&other), c->c ? S("said\n") : S(""));
        fake_leave(&a);
        fake_leave(&b);
        fake_leave(&b2);
        fake_leave(&other);
        fake_topic_done(&fake);
    }
}

TEST(without_echo_only_the_sending_connection_is_left_out)
{
    static const enum routing routings[] = { ROUTE_ALL, ROUTE_DIRECTED };

    FOR_EACH_CASE(routing, routings) {
        struct fake_topic fake;
        struct fake_member laptop, phone;
        struct join quiet = { .routing = *routing };

        fake_topic_init(&fake, NULL);
        fake_join(&fake, &laptop, S("a"), quiet);
        fake_join(&fake, &phone, S("a"), quiet);
        fake_say(&fake, &laptop.member, S("one"), NULL);
        fake_say(&fake, &phone.member, S("two"), NULL);
        fake_say(&fake, NULL, S("posted"), NULL);
        CHECK_STR(fake_texts(&laptop), S("two\nposted\n"));
        CHECK_STR(fake_texts(&phone), S("one\nposted\n"));
        fake_leave(&laptop);
        fake_leave(&phone);
        fake_topic_done(&fake);
    }
}

TEST(members_of_another_encoding_get_the_same_texts)
{
    struct fake_topic fake;
    struct fake_member a, b, c;
    struct join other = { .encoding = &fake_inverse };
    struct join other_directed = { .encoding = &fake_inverse,
                                   .routing = ROUTE_DIRECTED,
                                   .wants_echo = true };

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), everything);
    fake_join(&fake, &b, S("b"), other);
    fake_join(&fake, &c, S("c"), other_directed);
    CHECK(b.member.lane == c.member.lane);
    fake_say(&fake, &a.member, S("one"), NULL);
    fake_say(&fake, &b.member, S("two"), (const struct str[]){ S("c"), {} });
    fake_say(&fake, &c.member, S("three"), (const struct str[]){ S("a"), {} });
    member_send(&b.member, S("private"), FRAME_COUNTS);
    CHECK_STR(fake_texts(&a), S("one\ntwo\nthree\n"));
    CHECK_STR(fake_texts(&b), S("one\nthree\nprivate\n"));
    CHECK_STR(fake_texts(&c), S("one\ntwo\n"));
    fake_leave(&b);
    CHECK(!list_is_empty(&fake.topic.lanes));
    fake_leave(&c);
    CHECK(list_is_empty(&fake.topic.lanes)); /* dropped with its last member */
    fake_say(&fake, NULL, S("four"), NULL);
    fake_join(&fake, &b, S("b"), other);
    fake_say(&fake, NULL, S("five"), NULL);
    CHECK_STR(fake_texts(&b), S("five\n"));
    fake_leave(&a);
    fake_leave(&b);
    fake_topic_done(&fake);
}

static enum err encode_nothing(const struct encoding *self [[maybe_unused]],
                               struct str text, struct buf *out)
{
    CHECK_INT(buf_append(out, str_slice(text, 0, 1)), OK);
    return ERR_TOO_BIG;
}

TEST(a_text_that_an_encoding_cannot_take_leaves_no_half_frame)
{
    static const struct encoding broken = { .encode = encode_nothing };
    struct fake_topic fake;
    struct fake_member a, b;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), (struct join){ .encoding = &broken });
    fake_join(&fake, &b, S("b"),
              (struct join){ .encoding = &broken, .routing = ROUTE_DIRECTED });
    fake_say(&fake, &a.member, S("one"), NULL);
    member_send(&b.member, S("private"), FRAME_COUNTS);
    CHECK_INT(fake_read(&a, 8, SIZE_MAX), 0);
    CHECK_INT(fake_read(&b, 8, SIZE_MAX), 0);
    fake_leave(&a);
    fake_leave(&b);
    fake_topic_done(&fake);
}

TEST(a_text_in_the_reserved_place_becomes_the_entry_without_a_copy)
{
    struct fake_topic fake;
    struct fake_member a;
    char *place;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), everything);
    place = memcpy(topic_reserve(&fake.topic, 8), "in place", 8);
    fake_say(&fake, NULL, (struct str){ place, 8 }, NULL);
    CHECK(entry_text(ring_at(&fake.topic.ring, 1)).ptr == place);
    (void)memcpy(topic_reserve(&fake.topic, 7), "refused", 7);
    fake_say(&fake, NULL, S("from elsewhere"), NULL);
    CHECK_STR(entry_text(ring_at(&fake.topic.ring, 2)), S("from elsewhere"));
    CHECK_STR(fake_texts(&a), S("in place\nfrom elsewhere\n"));
    fake_leave(&a);
    fake_topic_done(&fake);
}

TEST(routing_can_be_changed_and_nothing_is_lost_or_repeated)
{
    static const struct str to_b[] = { S("b"), {} };
    struct fake_topic fake;
    struct fake_member a;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), everything);
    fake_say(&fake, NULL, S("1"), to_b);
    member_set_routing(&a.member, ROUTE_DIRECTED);
    member_set_routing(&a.member, ROUTE_DIRECTED);
    fake_say(&fake, NULL, S("2"), to_b);
    fake_say(&fake, NULL, S("3"), NULL);
    member_set_routing(&a.member, ROUTE_ALL);
    fake_say(&fake, NULL, S("4"), to_b);
    CHECK_STR(fake_texts(&a), S("1\n3\n4\n"));
    fake_leave(&a);
    fake_topic_done(&fake);
}

/* --- coming and going --- */

TEST(D5_who_may_join_depends_on_the_mode_and_the_limits)
{
    /* clang-format off */
    static const struct { enum duplicate mode; size_t members, each; struct str id; enum err err; } cases[] = {
        { DUPLICATE_SHARE,   9, 9, S("a"), OK           },
        { DUPLICATE_SHARE,   9, 2, S("a"), ERR_OVERLOAD },
        { DUPLICATE_SHARE,   9, 2, S("b"), OK           },
        { DUPLICATE_SHARE,   3, 9, S("b"), ERR_OVERLOAD },
        { DUPLICATE_SHARE,   4, 9, S("b"), OK           },
        { DUPLICATE_SHARE,   4, 9, S("c"), OK           },
        { DUPLICATE_REFUSE,  9, 9, S("a"), ERR_CONFLICT },
        { DUPLICATE_REFUSE,  9, 9, S("b"), ERR_CONFLICT },
        { DUPLICATE_REFUSE,  9, 9, S("c"), OK           },
        { DUPLICATE_REFUSE,  9, 9, S("d"), OK           },
        { DUPLICATE_REPLACE, 9, 1, S("a"), OK           },
        { DUPLICATE_REPLACE, 3, 9, S("c"), ERR_OVERLOAD },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct fake_topic fake;
        struct fake_member a1, a2, b, gone;

        fake_topic_init(&fake, NULL);
        fake_join(&fake, &a1, S("a"), everything);
        fake_join(&fake, &a2, S("a"), everything);
        fake_join(&fake, &b, S("b"), everything);
        fake_join(&fake, &gone, S("c"), everything);
        fake_leave(&gone);
        fake.settings.duplicate = c->mode;
        fake.settings.max_members = c->members;
        fake.settings.max_members_each = c->each;
        CHECK_INT(topic_may_join(&fake.topic, c->id), c->err);
        fake_leave(&a1);
        fake_leave(&a2);
        fake_leave(&b);
        fake_topic_done(&fake);
    }
}

TEST(D5_replace_ends_the_older_member_and_the_participant_stays_present)
{
    struct fake_topic fake;
    struct fake_member old, new, newest;

    fake_topic_init(&fake, NULL);
    fake.settings.duplicate = DUPLICATE_REPLACE;
    fake_join(&fake, &old, S("a"), everything);
    topic_flush_presence(&fake.topic);
    fake_join(&fake, &new, S("a"), everything);
    CHECK_INT(old.end_count, 1);
    CHECK_INT(old.why, END_REPLACED);
    CHECK_INT(new.end_count, 0);
    fake_join(&fake, &newest, S("a"), everything);
    CHECK_INT(old.end_count, 1); /* told once */
    CHECK_INT(new.end_count, 1);
    fake_leave(&old);
    fake_leave(&new);
    CHECK(!topic_has_pending_presence(&fake.topic));
    CHECK_INT(newest.member.participant->member_count, 1);
    fake_leave(&newest);
    fake_topic_done(&fake);
}

TEST(ending_a_participant_ends_each_of_its_members_once_and_nobody_else)
{
    struct fake_topic fake;
    struct fake_member laptop, phone, other;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &laptop, S("a"), everything);
    fake_join(&fake, &phone, S("a"), directed);
    fake_join(&fake, &other, S("b"), everything);
    participant_end(laptop.member.participant, END_KICKED);
    participant_end(laptop.member.participant, END_REVOKED);
    CHECK_INT(laptop.end_count, 1);
    CHECK_INT(phone.end_count, 1);
    CHECK_INT(phone.why, END_KICKED);
    CHECK_INT(other.end_count, 0);
    fake_leave(&laptop);
    fake_leave(&phone);
    fake_leave(&other);
    fake_topic_done(&fake);
}

TEST(a_participant_is_known_by_its_id_and_has_the_newest_rights)
{
    struct fake_topic fake;
    struct participant *first, *again;
    struct capset *none;

    fake_topic_init(&fake, NULL);
    CHECK(participant_find(&fake.topic, S("a")) == NULL);
    CHECK_INT(capset_intern(fake.capsets, (struct str_list){}, &none, NULL), OK);
    first = participant_enter(&fake.topic, S("a"), TYPE_AGENT, fake.caps, 0);
    CHECK(participant_find(&fake.topic, S("a")) == first);
    CHECK(participant_find(&fake.topic, S("A")) == NULL);
    again = participant_enter(&fake.topic, S("a"), TYPE_HUMAN, none, 0);
    CHECK(again == first);
    CHECK(first->capabilities == none);
    CHECK_INT(first->type, TYPE_HUMAN);
    capset_unref(none);
    fake_topic_done(&fake);
}

/* --- waking --- */

TEST(the_topic_is_dirty_once_per_turn)
{
    struct fake_topic fake;

    fake_topic_init(&fake, NULL);
    fake_say(&fake, NULL, S("one"), NULL);
    fake_say(&fake, NULL, S("two"), NULL);
    CHECK_INT(fake.dirty_count, 1);
    fake_wake(&fake.topic);
    CHECK_INT(fake.dirty_count, 1);
    fake_say(&fake, NULL, S("three"), NULL);
    CHECK_INT(fake.dirty_count, 2);
    fake_topic_done(&fake);
}

TEST(waking_tells_those_who_have_something_to_pull)
{
    struct fake_topic fake;
    struct fake_member a, b, c, other;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), everything);
    fake_join(&fake, &b, S("b"), directed);
    fake_join(&fake, &c, S("c"), directed);
    fake_join(&fake, &other, S("d"), (struct join){ .encoding = &fake_inverse });
    fake_say(&fake, NULL, S("one"), (const struct str[]){ S("b"), {} });
    fake_say(&fake, NULL, S("two"), (const struct str[]){ S("b"), {} });
    CHECK_INT(a.ready_count + b.ready_count + c.ready_count + other.ready_count, 0);
    fake_wake(&fake.topic);
    CHECK_INT(a.ready_count, 1);
    CHECK_INT(b.ready_count, 1);
    CHECK_INT(c.ready_count, 0);
    CHECK_INT(other.ready_count, 1);
    fake_wake(&fake.topic);
    CHECK_INT(b.ready_count, 1);
    fake_say(&fake, NULL, S("three"), (const struct str[]){ S("b"), {} });
    fake_leave(&b); /* no longer among those to be woken */
    fake_wake(&fake.topic);
    CHECK_INT(b.ready_count, 1);
    fake_leave(&a);
    fake_leave(&c);
    fake_leave(&other);
    fake_topic_done(&fake);
}

TEST(a_small_budget_tells_a_few_and_goes_on_with_the_others)
{
    struct fake_topic fake;
    struct fake_member members[5], directed_one;
    size_t told[5] = {};
    size_t budget = 3;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &directed_one, S("d"), directed);
    for (size_t i = 0; i < 5; i++)
        fake_join(&fake, &members[i], S("a"), everything);
    fake_say(&fake, NULL, S("one"), NULL);
    CHECK(!topic_wake(&fake.topic, &budget));
    CHECK_INT(budget, 0);
    CHECK_INT(directed_one.ready_count, 1);
    CHECK_INT(members[0].ready_count + members[1].ready_count, 2);
    CHECK_INT(members[2].ready_count, 0);
    fake_say(&fake, NULL, S("two"), NULL);
    CHECK_INT(fake.dirty_count, 1); /* it has not been done with */
    budget = 100;
    CHECK(topic_wake(&fake.topic, &budget));
    CHECK_INT(budget, 100 - 1 - 5);
    for (size_t i = 0; i < 5; i++)
        told[i] = members[i].ready_count;
    CHECK_INT(told[0] + told[1], 4);
    CHECK_INT(told[2] + told[3] + told[4], 3);
    CHECK(topic_wake(&fake.topic, &budget));
    CHECK_INT(members[0].ready_count, 2);
    fake_leave(&directed_one);
    for (size_t i = 0; i < 5; i++)
        fake_leave(&members[i]);
    fake_topic_done(&fake);
}

TEST(who_speaks_is_told_first)
{
    struct fake_topic fake;
    struct fake_member a, b, c;
    size_t budget = 1;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), everything);
    fake_join(&fake, &b, S("b"), everything);
    fake_join(&fake, &c, S("c"),
              (struct join){ .routing = ROUTE_DIRECTED, .wants_echo = true });
    fake_say(&fake, &b.member, S("one"), (const struct str[]){ S("a"), {} });
    CHECK(!topic_wake(&fake.topic, &budget));
    CHECK_INT(b.ready_count, 1);
    CHECK_INT(a.ready_count, 0);
    fake_say(&fake, &c.member, S("two"), NULL); /* stands among no readers */
    fake_wake(&fake.topic);
    CHECK_INT(a.ready_count, 1);
    CHECK_INT(c.ready_count, 1);
    fake_leave(&a);
    fake_leave(&b);
    fake_leave(&c);
    fake_topic_done(&fake);
}

TEST(who_turns_to_everything_is_still_told_of_what_came_before)
{
    struct fake_topic fake;
    struct fake_member a;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), directed);
    fake_say(&fake, NULL, S("one"), NULL);
    member_set_routing(&a.member, ROUTE_ALL);
    fake_wake(&fake.topic);
    CHECK_INT(a.ready_count, 1);
    CHECK_STR(fake_texts(&a), S("one\n"));
    fake_leave(&a);
    fake_topic_done(&fake);
}

TEST(who_has_nothing_to_pull_is_not_told)
{
    struct fake_topic fake;
    struct fake_member speaker;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &speaker, S("a"), (struct join){ .wants_echo = false });
    fake_say(&fake, &speaker.member, S("one"), NULL);
    fake_wake(&fake.topic);
    CHECK_INT(speaker.ready_count, 0);
    fake_leave(&speaker);
    fake_topic_done(&fake);
}

TEST(who_turns_directed_is_still_told_of_what_came_before)
{
    struct fake_topic fake;
    struct fake_member a, blocked;

    fake_topic_init(&fake, NULL);
    fake.settings.outbox_hard = 2;
    fake_join(&fake, &a, S("a"), everything);
    fake_join(&fake, &blocked, S("b"), everything);
    member_set_blocked(&blocked.member, true);
    fake_say(&fake, NULL, S("one"), NULL);
    member_set_routing(&a.member, ROUTE_DIRECTED);
    member_set_routing(&blocked.member, ROUTE_DIRECTED);
    fake_wake(&fake.topic);
    CHECK_INT(a.ready_count, 1);
    CHECK_INT(blocked.end_count, 1);
    CHECK_STR(fake_texts(&a), S("one\n"));
    fake_leave(&a);
    fake_leave(&blocked);
    fake_topic_done(&fake);
}

/* --- slow readers --- */

static const struct topic_settings narrow = {
    .ring_messages = 10,
    .ring_bytes = 1000,
    .outbox_soft = 20,
    .outbox_hard = 2000,
    .max_members = 10,
    .max_members_each = 10,
};

static void say_and_wake(struct fake_topic *fake, struct str text)
{
    fake_say(fake, NULL, text, NULL);
    fake_wake(&fake->topic);
}

static void put_warning(struct buf *out, const struct fake_topic *fake, size_t waiting)
{
    buf_putf(out,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s-1\","
             "\"ts\":\"1970-01-01T00:00:00.000Z\",\"from\":\"system:gateway\","
             "\"to\":[\"a\"],\"kind\":\"system/error\",\"payload\":"
             "{\"error\":\"slow_consumer\",\"message\":\"You read more slowly than the "
             "room speaks; the connection will be closed when your outbox is full.\","
             "\"waiting_bytes\":%zu,\"outbox_bytes\":2000}}\n",
             fake->topic.system_prefix, waiting);
}

TEST(D18_over_the_soft_mark_a_blocked_member_is_warned_once)
{
    static const struct join joins[] = { { .routing = ROUTE_ALL },
                                         { .routing = ROUTE_DIRECTED },
                                         { .encoding = &fake_inverse } };

    FOR_EACH_CASE(join, joins) {
        struct fake_topic fake;
        struct fake_member a;
        struct buf want;
        size_t head = join->encoding ? 1 : 4;
        struct str text = str_slice(S("twenty bytes exactly"), head, 20);

        fake_topic_init(&fake, &narrow);
        fake_join(&fake, &a, S("a"), *join);
        say_and_wake(&fake, S("a text of more than twenty bytes"));
        CHECK_INT(fake.topic.system_count, 0); /* it is not blocked: nobody is slow */
        (void)fake_texts(&a);
        member_set_blocked(&a.member, true);
        say_and_wake(&fake, text);
        CHECK_INT(fake.topic.system_count, 0); /* at the mark, not over it */
        say_and_wake(&fake, S("x"));
        CHECK_INT(fake.topic.system_count, 1);
        say_and_wake(&fake, S("y"));
        CHECK_INT(fake.topic.system_count, 1);
        CHECK_INT(a.end_count, 0);
        buf_init(&want, 4096);
        buf_put(&want, text);
        buf_put(&want, S("\nx\n"));
        put_warning(&want, &fake, 20 + head + 1);
        buf_put(&want, S("y\n"));
        CHECK_STR(fake_texts(&a), buf_str(&want));
        buf_done(&want);
        fake_leave(&a);
        fake_topic_done(&fake);
    }
}

TEST(D18_who_has_caught_up_is_warned_again)
{
    static const enum routing routings[] = { ROUTE_ALL, ROUTE_DIRECTED };

    FOR_EACH_CASE(routing, routings) {
        struct fake_topic fake;
        struct fake_member a;

        fake_topic_init(&fake, &narrow);
        fake_join(&fake, &a, S("a"), (struct join){ .routing = *routing });
        member_set_blocked(&a.member, true);
        say_and_wake(&fake, S("a text of more than twenty bytes"));
        CHECK_INT(fake.topic.system_count, 1);
        (void)fake_read(&a, 8, 30);
        say_and_wake(&fake, S("not empty yet, not warned again"));
        CHECK_INT(fake.topic.system_count, 1);
        (void)fake_read(&a, 8, SIZE_MAX);
        say_and_wake(&fake, S("a text of more than twenty bytes"));
        CHECK_INT(fake.topic.system_count, 2);
        fake_leave(&a);
        fake_topic_done(&fake);
    }
}

TEST(D18_over_the_hard_mark_a_blocked_member_is_ended_once_and_nobody_else_notices)
{
    static const enum routing routings[] = { ROUTE_ALL, ROUTE_DIRECTED };

    FOR_EACH_CASE(routing, routings) {
        char text[2000 - 4] = {};
        struct fake_topic fake;
        struct fake_member slow, other;

        fake_topic_init(&fake, &narrow);
        fake.settings.outbox_soft = 2000;
        fake_join(&fake, &slow, S("a"), (struct join){ .routing = *routing });
        fake_join(&fake, &other, S("b"), everything);
        member_set_blocked(&slow.member, true);
        member_send(&slow.member, S("a welcome does not count"), FRAME_EXEMPT);
        say_and_wake(&fake, (struct str){ text, sizeof(text) });
        CHECK_INT(slow.end_count, 0); /* at the mark */
        say_and_wake(&fake, S(""));
        CHECK_INT(slow.end_count, 1);
        CHECK_INT(slow.why, END_SLOW);
        say_and_wake(&fake, S("more"));
        CHECK_INT(slow.end_count, 1);
        CHECK_INT(fake.topic.system_count, 0);
        CHECK_INT(other.end_count, 0);
        CHECK_INT(fake_read(&other, 8, SIZE_MAX), 2000 + 4 + 8);
        fake_leave(&slow);
        fake_leave(&other);
        fake_topic_done(&fake);
    }
}

TEST(who_is_ended_may_leave_at_once_even_as_the_last_of_its_kind)
{
    static const struct join joins[] = { { .routing = ROUTE_ALL },
                                         { .routing = ROUTE_DIRECTED },
                                         { .encoding = &fake_inverse },
                                         { .encoding = &fake_inverse,
                                           .routing = ROUTE_DIRECTED } };

    FOR_EACH_CASE(join, joins) {
        struct fake_topic fake;
        struct fake_member slow, replaced, new;

        fake_topic_init(&fake, &narrow);
        fake.settings.duplicate = DUPLICATE_REPLACE;
        fake.settings.outbox_hard = 3;
        fake_join(&fake, &replaced, S("b"), *join);
        replaced.leaves_at_end = true;
        fake_join(&fake, &new, S("b"), *join);
        CHECK_INT(replaced.why, END_REPLACED);
        CHECK_INT(fake.topic.member_count, 1);
        fake_leave(&new);
        fake_join(&fake, &slow, S("a"), *join);
        slow.leaves_at_end = true;
        member_set_blocked(&slow.member, true);
        say_and_wake(&fake, S("over the mark"));
        CHECK_INT(slow.why, END_SLOW);
        CHECK_INT(fake.topic.member_count, 0);
        CHECK(list_is_empty(&fake.topic.lanes));
        fake_leave(&slow);
        fake_leave(&replaced);
        fake_topic_done(&fake);
    }
}

/* --- waiters --- */

struct fake_waiter {
    struct waiter waiter;
    struct topic *topic; /* waits there again; NULL: does not */
    struct waiter *cancels;
    size_t count;
};

static void on_entry(struct waiter *waiter)
{
    struct fake_waiter *self = CONTAINER_OF(waiter, struct fake_waiter, waiter);

    self->count++;
    if (self->topic)
        topic_wait(self->topic, waiter);
    if (self->cancels)
        waiter_cancel(self->cancels);
}

TEST(a_waiter_is_called_once_and_may_wait_again_for_the_next_entry)
{
    struct fake_topic fake;
    struct fake_waiter once = { .waiter = { .on_entry = on_entry } };
    struct fake_waiter again = { .waiter = { .on_entry = on_entry },
                                 .topic = &fake.topic };
    struct fake_waiter never = { .waiter = { .on_entry = on_entry } };
    struct fake_waiter victim = { .waiter = { .on_entry = on_entry } };

    fake_topic_init(&fake, NULL);
    once.cancels = &victim.waiter;
    topic_wait(&fake.topic, &once.waiter);
    topic_wait(&fake.topic, &never.waiter);
    topic_wait(&fake.topic, &again.waiter);
    topic_wait(&fake.topic, &victim.waiter);
    waiter_cancel(&never.waiter);
    waiter_cancel(&never.waiter);
    say_and_wake(&fake, S("one"));
    CHECK_INT(once.count, 1);
    CHECK_INT(again.count, 1);
    CHECK_INT(victim.count, 0);
    say_and_wake(&fake, S("two"));
    CHECK_INT(once.count, 1);
    CHECK_INT(again.count, 2);
    CHECK_INT(never.count, 0);
    waiter_cancel(&again.waiter);
    CHECK(list_is_empty(&fake.topic.waiters));
    fake_topic_done(&fake);
}

TEST(nobody_goes_without_where_entries_come_faster_than_all_can_be_told)
{
    static const struct join sorts[] = {
        { .routing = ROUTE_ALL },
        { .routing = ROUTE_DIRECTED },
        { .routing = ROUTE_ALL, .encoding = &fake_inverse },
        { .routing = ROUTE_DIRECTED, .encoding = &fake_inverse },
        { .routing = ROUTE_ALL, .presence = PRESENCE_OFF },
    };
    struct fake_member members[5][4];
    struct fake_waiter waiters[5];
    struct fake_topic fake;

    fake_topic_init(&fake, NULL);
    fake.settings.max_members = 100;
    for (size_t i = 0; i < 5; i++) {
        for (size_t k = 0; k < 4; k++)
            fake_join(&fake, &members[i][k], S("a"), sorts[i]);
        waiters[i] = (struct fake_waiter){ .waiter = { .on_entry = on_entry },
                                           .topic = &fake.topic };
        topic_wait(&fake.topic, &waiters[i].waiter);
    }
    for (size_t i = 0; i < 100; i++) {
        size_t budget = 3;

        fake_say(&fake, NULL, S("more"), NULL);
        CHECK(!topic_wake(&fake.topic, &budget));
    }
    for (size_t i = 0; i < 5; i++) {
        CHECK(waiters[i].count > 0);
        waiter_cancel(&waiters[i].waiter);
        for (size_t k = 0; k < 4; k++) {
            CHECK(members[i][k].ready_count > 0);
            fake_leave(&members[i][k]);
        }
    }
    fake_topic_done(&fake);
}
