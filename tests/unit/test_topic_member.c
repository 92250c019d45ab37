/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "fake_topic.h"
#include "harness.h"

static const struct join everything = { .routing = ROUTE_ALL, .wants_echo = true };
static const struct join directed = { .routing = ROUTE_DIRECTED, .wants_echo = true };

TEST(a_member_without_anything_pulls_nothing)
{
    struct fake_topic fake;
    struct fake_member a, b;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), everything);
    fake_join(&fake, &b, S("b"), directed);
    CHECK_INT(fake_read(&a, 8, SIZE_MAX), 0);
    CHECK_INT(fake_read(&b, 8, SIZE_MAX), 0);
    member_taken(&a.member, 0);
    CHECK_INT(member_backlog(&a.member), 0);
    fake_leave(&a);
    fake_leave(&b);
    fake_topic_done(&fake);
}

TEST(a_member_gets_what_was_said_since_it_came_with_its_own_frames_in_between)
{
    struct fake_topic fake;
    struct fake_member a;

    fake_topic_init(&fake, NULL);
    fake_say(&fake, NULL, S("before"), NULL);
    fake_join(&fake, &a, S("a"), everything);
    member_send(&a.member, S("welcome"), FRAME_EXEMPT);
    fake_say(&fake, NULL, S("one"), NULL);
    fake_say(&fake, NULL, S("two"), NULL);
    member_send(&a.member, S("error"), FRAME_COUNTS);
    fake_say(&fake, NULL, S("three"), NULL);
    member_send_frame(&a.member, S("\0\0\0\4pong"));
    CHECK_STR(fake_texts(&a), S("welcome\none\ntwo\nerror\nthree\npong\n"));
    fake_say(&fake, NULL, S("four"), NULL);
    CHECK_STR(fake_texts(&a), S("four\n"));
    fake_leave(&a);
    fake_topic_done(&fake);
}

TEST(the_welcome_does_not_count_and_everything_else_does)
{
    struct fake_topic fake;
    struct fake_member a;

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), everything);
    member_send(&a.member, S("welcome"), FRAME_EXEMPT);
    CHECK_INT(member_backlog(&a.member), 0);
    fake_say(&fake, NULL, S("one"), NULL);
    CHECK_INT(member_backlog(&a.member), 7);
    member_send(&a.member, S("error"), FRAME_COUNTS);
    CHECK_INT(member_backlog(&a.member), 16);
    CHECK_INT(fake_read(&a, 8, 11), 11); /* the welcome */
    CHECK_INT(member_backlog(&a.member), 16);
    CHECK_INT(fake_read(&a, 8, 10), 10);
    CHECK_INT(member_backlog(&a.member), 6);
    CHECK_INT(fake_read(&a, 8, SIZE_MAX), 6);
    CHECK_INT(member_backlog(&a.member), 0);
    fake_leave(&a);
    fake_topic_done(&fake);
}

TEST(pieces_of_every_size_give_the_same_stream)
{
    enum { PIECES = 80 };

    for (size_t piece = 1; piece <= PIECES; piece++)
        for (size_t spans = 1; spans <= 3; spans++) {
            struct fake_topic fake;
            struct fake_member a, b;

            fake_topic_init(&fake, NULL);
            fake_join(&fake, &a, S("a"), everything);
            fake_join(&fake, &b, S("b"), (struct join){ .routing = ROUTE_ALL });
            member_send(&b.member, S("hello"), FRAME_EXEMPT);
            fake_say(&fake, &a.member, S("from a"), NULL);
            fake_say(&fake, &b.member, S("from b"), NULL);
            fake_say(&fake, &a.member, S("from a again"), NULL);
            while (fake_read(&b, spans, piece) == piece)
                ;
            CHECK_STR(fake_texts(&b), S("hello\nfrom a\nfrom a again\n"));
            CHECK_INT(member_backlog(&b.member), 0);
            CHECK_STR(fake_texts(&a), S("from a\nfrom b\nfrom a again\n"));
            fake_leave(&a);
            fake_leave(&b);
            fake_topic_done(&fake);
        }
}

TEST(a_reader_that_has_read_all_holds_only_the_tail)
{
    struct fake_topic fake;
    struct fake_member a;
    char *large = xcalloc(1, 300'000);

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), everything);
    fake_say(&fake, NULL, (struct str){ large, 100'000 }, NULL);
    fake_say(&fake, NULL, (struct str){ large, 300'000 }, NULL);
    CHECK(a.member.block != fake.topic.native.tail);
    CHECK_INT(fake_read(&a, 8, 100'004), 100'004); /* to the end of a block */
    CHECK(a.member.block == fake.topic.native.tail);
    CHECK_INT(fake_read(&a, 8, SIZE_MAX), 300'004);
    CHECK(a.member.block == fake.topic.native.tail);
    CHECK_INT(member_backlog(&a.member), 0);
    CHECK(a.member.outbox == NULL);
    fake_leave(&a);
    fake_topic_done(&fake);
    free(large);
}

TEST(a_blocked_member_has_copies_and_holds_no_shared_block_for_its_slices)
{
    static const struct topic_settings no_ring = { .max_members = 9,
                                                   .max_members_each = 9 };
    static const struct str to[] = { S("a"), {} };
    struct fake_topic fake;
    struct fake_member a;
    struct block *shared;

    fake_topic_init(&fake, &no_ring);
    fake_join(&fake, &a, S("a"), directed);
    shared = fake.topic.native.tail;
    CHECK_INT(shared->refs, 1);
    fake_say(&fake, NULL, S("one"), to);
    member_send(&a.member, S("welcome"), FRAME_EXEMPT);
    fake_say(&fake, NULL, S("two"), to);
    CHECK_INT(shared->refs, 3); /* one for each part of it */
    member_set_blocked(&a.member, true);
    CHECK_INT(shared->refs, 1);
    fake_say(&fake, NULL, S("three"), to);
    CHECK_INT(shared->refs, 1);
    CHECK_INT(member_backlog(&a.member), 7 + 7 + 9);
    member_set_blocked(&a.member, true); /* twice is once */
    member_set_blocked(&a.member, false);
    fake_say(&fake, NULL, S("four"), to);
    CHECK_INT(shared->refs, 2);
    CHECK_STR(fake_texts(&a), S("one\nwelcome\ntwo\nthree\nfour\n"));
    CHECK_INT(shared->refs, 1);
    fake_leave(&a);
    fake_topic_done(&fake);
}

TEST(frames_next_to_each_other_in_a_block_are_one_slice)
{
    struct fake_topic fake;
    struct fake_member a, b;
    struct iovec spans[8];

    fake_topic_init(&fake, NULL);
    fake_join(&fake, &a, S("a"), directed);
    fake_join(&fake, &b, S("b"), directed);
    fake_say(&fake, NULL, S("one"), NULL);
    fake_say(&fake, NULL, S("two"), NULL);
    CHECK_INT(member_pull(&a.member, spans, 8), 1);
    fake_say(&fake, NULL, S("for b"), (const struct str[]){ S("b"), {} });
    fake_say(&fake, NULL, S("three"), NULL);
    CHECK_INT(member_pull(&a.member, spans, 8), 2);
    CHECK_INT(member_pull(&a.member, spans, 1), 1);
    CHECK_INT(member_pull(&b.member, spans, 8), 1);
    CHECK_STR(fake_texts(&a), S("one\ntwo\nthree\n"));
    fake_leave(&a);
    fake_leave(&b);
    fake_topic_done(&fake);
}

TEST(who_leaves_with_a_full_outbox_releases_it)
{
    static const struct topic_settings no_ring = { .max_members = 9,
                                                   .max_members_each = 9 };
    struct fake_topic fake;
    struct fake_member a, b;

    fake_topic_init(&fake, &no_ring);
    fake_join(&fake, &a, S("a"), directed);
    fake_join(&fake, &b, S("b"), everything);
    fake_say(&fake, NULL, S("one"), NULL);
    member_send(&a.member, S("private"), FRAME_COUNTS);
    member_send(&b.member, S("private"), FRAME_COUNTS);
    fake_say(&fake, NULL, S("two"), NULL);
    fake_leave(&a);
    fake_leave(&b);
    member_leave(&a.member, 0); /* twice is once */
    CHECK_INT(fake.topic.native.tail->refs, 1);
    fake_topic_done(&fake);
}

/* --- against a model: each member's stream is a plain concatenation --- */

enum { READERS = 6, FRAMES = 4000, STEPS = 500, LARGE = 70'000 };

struct frame {
    size_t len;
    bool counts;
};

/* A member, and what it should get. */
struct reader {
    struct fake_member fake;
    struct buf wanted;
    struct frame *frames; /* not yet taken, from `first` on */
    size_t first, count;
};

struct world {
    struct fake_topic topic;
    struct reader readers[READERS];
    struct dice dice;
    struct buf text;
};

static const struct str names[READERS] = {
    S("a"), S("b"), S("c"), S("a"), S("e"), S("a")
};

static void want(struct reader *r, struct str text, bool counts)
{
    size_t before = r->wanted.len;
    const struct encoding *encoding = r->fake.member.lane->encoding;

    CHECK_INT(encoding->encode(encoding, text, &r->wanted), OK);
    CHECK(r->first + r->count < FRAMES);
    r->frames[r->first + r->count++] = (struct frame){ r->wanted.len - before, counts };
}

static size_t model_backlog(const struct reader *r)
{
    size_t backlog = 0;

    for (size_t i = r->first; i < r->first + r->count; i++)
        if (r->frames[i].counts)
            backlog += r->frames[i].len;
    return backlog;
}

static void model_taken(struct reader *r, size_t bytes)
{
    while (bytes) {
        struct frame *frame = &r->frames[r->first];
        size_t taken = bytes < frame->len ? bytes : frame->len;

        CHECK(r->count > 0);
        if (r->count == 0)
            return;
        frame->len -= taken;
        bytes -= taken;
        if (frame->len == 0) {
            r->first++;
            r->count--;
        }
    }
}

static struct str random_text(struct world *w)
{
    size_t len = dice_throw(&w->dice, 300);

    if (dice_throw(&w->dice, 40) == 0)
        len = dice_throw(&w->dice, LARGE);
    buf_clear(&w->text);
    CHECK_INT(buf_reserve(&w->text, len + 1), OK);
    memset(w->text.ptr, 'a' + (int)dice_throw(&w->dice, 26), len);
    return (struct str){ w->text.ptr, len };
}

static bool is_named(const struct str *to, struct str id)
{
    for (; to->len; to++)
        if (str_eq(*to, id))
            return true;
    return false;
}

static void say(struct world *w)
{
    struct str text = random_text(w);
    struct str to[4] = {};
    size_t to_count = dice_throw(&w->dice, 4);
    size_t from = dice_throw(&w->dice, READERS + 1);
    struct reader *sender = from < READERS ? &w->readers[from] : NULL;

    for (size_t i = 0; i < to_count; i++)
        to[i] =
            dice_throw(&w->dice, 5) ? names[dice_throw(&w->dice, READERS)] : S("nobody");
    for (size_t i = 0; i < READERS; i++) {
        struct reader *r = &w->readers[i];

        if (r == sender && !r->fake.member.wants_echo)
            continue;
        if (r->fake.member.routing == ROUTE_ALL || !to_count || is_named(to, names[i]))
            want(r, text, true);
    }
    fake_say(&w->topic, sender ? &sender->fake.member : NULL, text, to);
}

static void send_private(struct world *w, struct reader *r)
{
    struct str text = random_text(w);
    enum frame_weight weight = dice_throw(&w->dice, 2) ? FRAME_COUNTS : FRAME_EXEMPT;

    want(r, text, weight == FRAME_COUNTS);
    member_send(&r->fake.member, text, weight);
}

static void read_some(struct world *w, struct reader *r)
{
    size_t limit = dice_throw(&w->dice, 2) ? dice_throw(&w->dice, 20) : SIZE_MAX;

    if (limit && dice_throw(&w->dice, 3) == 0)
        limit = dice_throw(&w->dice, 2 * LARGE);
    model_taken(r, fake_read(&r->fake, 1 + dice_throw(&w->dice, 8), limit));
}

static void step(struct world *w)
{
    struct reader *r = &w->readers[dice_throw(&w->dice, READERS)];

    switch (dice_throw(&w->dice, 10)) {
    case 0:
    case 1:
    case 2:
    case 3: say(w); break;
    case 4: send_private(w, r); break;
    case 5: member_set_blocked(&r->fake.member, dice_throw(&w->dice, 2)); break;
    case 6:
        member_set_routing(&r->fake.member,
                           dice_throw(&w->dice, 2) ? ROUTE_ALL : ROUTE_DIRECTED);
        break;
    case 7: fake_wake(&w->topic.topic); break;
    default: read_some(w, r); break;
    }
}

static void check_readers(struct world *w)
{
    for (size_t i = 0; i < READERS; i++) {
        struct reader *r = &w->readers[i];
        struct str got = buf_str(&r->fake.received);

        CHECK_INT(member_backlog(&r->fake.member), model_backlog(r));
        CHECK(str_starts(buf_str(&r->wanted), got));
    }
}

static void world_init(struct world *w, struct dice dice)
{
    *w = (struct world){ .dice = dice };
    fake_topic_init(&w->topic, NULL);
    buf_init(&w->text, 2 * LARGE);
    for (size_t i = 0; i < READERS; i++) {
        struct reader *r = &w->readers[i];
        struct join join = { .routing = i % 2 ? ROUTE_DIRECTED : ROUTE_ALL,
                             .encoding = i >= 3 ? &fake_inverse : NULL,
                             .wants_echo = dice_throw(&w->dice, 2) };

        fake_join(&w->topic, &r->fake, names[i], join);
        buf_init(&r->wanted, SIZE_MAX / 2);
        r->frames = xcalloc(FRAMES, sizeof(*r->frames));
    }
}

static void world_done(struct world *w)
{
    for (size_t i = 0; i < READERS; i++) {
        struct reader *r = &w->readers[i];

        model_taken(r, fake_read(&r->fake, 8, SIZE_MAX));
        CHECK_INT(r->fake.received.len, r->wanted.len);
        CHECK(str_eq(buf_str(&r->fake.received), buf_str(&r->wanted)));
        CHECK_INT(member_backlog(&r->fake.member), 0);
        fake_leave(&r->fake);
        buf_done(&r->wanted);
        free(r->frames);
    }
    buf_done(&w->text);
    fake_topic_done(&w->topic);
}

TEST(whatever_happens_a_members_stream_and_backlog_are_those_of_the_model)
{
    static struct world w;

    for (test_case = 1; test_case <= 25; test_case++) { /* the case is the seed */
        world_init(&w, dice_of(test_case));
        for (size_t i = 0; i < STEPS; i++) {
            step(&w);
            check_readers(&w);
        }
        world_done(&w);
    }
}
