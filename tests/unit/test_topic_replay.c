/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "envelope/envelope.h"
#include "fake_topic.h"
#include "harness.h"

static const struct join everything = { .routing = ROUTE_ALL, .wants_echo = true };
static const struct join directed = { .routing = ROUTE_DIRECTED, .wants_echo = true };

static const struct topic_settings small = {
    .ring_messages = 4,
    .ring_bytes = 1 << 20,
    .outbox_soft = 1 << 20,
    .outbox_hard = 1 << 21,
    .max_members = 10,
    .max_members_each = 10,
};

/* An envelope with that id, to nobody, one or two, padded to some size. */
struct note {
    const char *id, *to, *also;
    size_t padding;
    struct member *sender;
};

static void say(struct fake_topic *fake, struct note note)
{
    struct str to = str_of(note.to);
    struct buf text;

    buf_init(&text, 1 << 20);
    buf_putf(&text,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"x\",\"kind\":\"chat\"",
             note.id);
    if (note.to)
        buf_putf(&text, ",\"to\":[\"%s\"]", note.to);
    buf_putf(&text, ",\"payload\":{\"text\":\"%*s\"}}", (int)note.padding, "");
    topic_append(
        &fake->topic,
        &(struct topic_entry){ .text = buf_str(&text),
                               .id_hash = ring_hash(&fake->topic.ring, str_of(note.id)),
                               .to = &to,
                               .to_count = note.to ? 1 : 0,
                               .also = str_of(note.also),
                               .sender = note.sender });
    buf_done(&text);
}

static void say_each(struct fake_topic *fake, const char *ids)
{
    for (; *ids; ids++)
        say(fake, (struct note){ .id = (const char[]){ *ids, '\0' } });
}

/* The ids of what came, and "-" for a gap. */
static struct str ids_of(struct fake_member *m, struct buf *out)
{
    struct str rest = fake_texts(m);
    struct arena arena;

    arena_init(&arena, 1 << 20);
    buf_clear(out);
    while (rest.len) {
        struct str line = str_cut(&rest, '\n');
        struct envelope env;

        arena_reset(&arena);
        if (envelope_scan(line, JSON_MAX_DEPTH, DIALECT_SLASH, &arena, &env, NULL))
            buf_put(out, line);
        else if (str_eq(env.kind_text, S("system/gap")))
            buf_putc(out, '-');
        else
            buf_put(out, env.id);
    }
    arena_done(&arena);
    return buf_str(out);
}

/* A room in which "reader" was admitted first of all, and someone else reads live. */
struct room {
    struct fake_topic fake;
    struct fake_member reader, bystander;
    struct buf out;
};

static void room_init(struct room *room, const struct topic_settings *settings)
{
    fake_topic_init(&room->fake, settings);
    buf_init(&room->out, 1 << 20);
    (void)participant_enter(&room->fake.topic, S("reader"), TYPE_AGENT, room->fake.caps,
                            0);
    fake_join(&room->fake, &room->bystander, S("bystander"), directed);
}

static void room_done(struct room *room)
{
    fake_leave(&room->reader);
    fake_leave(&room->bystander);
    buf_done(&room->out);
    fake_topic_done(&room->fake);
}

TEST(D16_replay_gives_what_followed_the_id_and_then_the_present)
{
    /* clang-format off */
    static const struct { struct str after; bool is_found; struct str got; } cases[] = {
        { S("1"), true,  S("23456") },
        { S("2"), true,  S("3456")  },
        { S("4"), true,  S("56")    },
        { S("5"), true,  S("6")     },
        { S("9"), false, S("-123456") },
        { S(""),  false, S("-123456") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct room room;

        room_init(&room, NULL);
        say_each(&room.fake, "12345");
        fake_join(&room.fake, &room.reader, S("reader"), everything);
        CHECK_INT(member_replay_after(&room.reader.member, c->after), c->is_found);
        say_each(&room.fake, "6");
        CHECK_STR(ids_of(&room.reader, &room.out), c->got);
        say_each(&room.fake, "78");
        CHECK_STR(ids_of(&room.reader, &room.out), S("78"));
        CHECK_INT(room.reader.member.replay_seq, 0);
        room_done(&room);
    }
}

TEST(D16_what_has_rolled_out_is_a_gap_and_all_that_is_left_follows)
{
    struct room room;

    room_init(&room, &small);
    say_each(&room.fake, "123456");
    fake_join(&room.fake, &room.reader, S("reader"), everything);
    CHECK(!member_replay_after(&room.reader.member, S("1")));
    CHECK_STR(ids_of(&room.reader, &room.out), S("-3456"));
    room_done(&room);
}

TEST(an_empty_ring_replays_nothing)
{
    static const size_t sizes[] = { 0, 4 };

    FOR_EACH_CASE(size, sizes) {
        struct topic_settings settings = small;
        struct room room;

        settings.ring_messages = *size;
        room_init(&room, &settings);
        if (*size == 0)
            say_each(&room.fake, "123");
        fake_join(&room.fake, &room.reader, S("reader"), everything);
        CHECK(!member_replay_after(&room.reader.member, S("2")));
        say_each(&room.fake, "4");
        CHECK_STR(ids_of(&room.reader, &room.out), S("-4"));
        room_done(&room);
    }
}

TEST(a_gap_says_what_was_asked_for_or_how_much_was_missed)
{
    struct room room;
    struct buf want;

    room_init(&room, &small);
    fake_join(&room.fake, &room.reader, S("reader"), everything);
    CHECK(!member_replay_after(&room.reader.member, S("a\"b")));
    buf_init(&want, 4096);
    buf_putf(&want,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s-1\","
             "\"ts\":\"1970-01-01T00:00:00.000Z\",\"from\":\"system:gateway\","
             "\"to\":[\"reader\"],\"kind\":\"system/gap\",\"payload\":{\"message\":"
             "\"Some envelopes are no longer held; what follows is not complete.\","
             "\"after\":\"a\\\"b\"}}\n",
             room.fake.topic.system_prefix);
    CHECK_STR(fake_texts(&room.reader), buf_str(&want));
    say_each(&room.fake, "123");
    CHECK_STR(ids_of(&room.reader, &room.out), S("123"));
    CHECK(member_replay_after(&room.reader.member, S("1")));
    say_each(&room.fake, "45678");
    buf_clear(&want);
    buf_put(&want, S("\"missed\":3}}"));
    (void)fake_texts(&room.reader);
    CHECK(str_ends(str_slice(buf_str(&room.reader.texts), 0,
                             str_find(buf_str(&room.reader.texts), '\n', 0)),
                   buf_str(&want)));
    buf_done(&want);
    room_done(&room);
}

TEST(D16_replay_never_reaches_before_the_id_was_first_admitted)
{
    static const struct str afters[] = { S("1"), S("2"), S("never") };

    FOR_EACH_CASE(after, afters) {
        struct room room;
        struct fake_member late, again;

        room_init(&room, NULL);
        say_each(&room.fake, "123");
        fake_join(&room.fake, &room.reader, S("reader"), everything);
        fake_join(&room.fake, &late, S("late"), everything);
        say_each(&room.fake, "45");
        fake_leave(&late);
        say_each(&room.fake, "6");
        fake_join(&room.fake, &again, S("late"), everything);
        (void)member_replay_after(&again.member, *after);
        CHECK_STR(ids_of(&again, &room.out),
                  str_eq(*after, S("never")) ? S("-456") : S("456"));
        fake_leave(&again);
        room_done(&room);
    }
}

TEST(D16_replay_applies_the_present_routing)
{
    struct room room;
    struct fake_member all;

    room_init(&room, NULL);
    say(&room.fake, (struct note){ .id = "1" });
    say(&room.fake, (struct note){ .id = "2", .to = "reader" });
    say(&room.fake, (struct note){ .id = "3", .to = "other" });
    say(&room.fake, (struct note){ .id = "4", .to = "other", .also = "reader" });
    say(&room.fake, (struct note){ .id = "5", .to = "other", .also = "someone" });
    say(&room.fake, (struct note){ .id = "6" });
    fake_join(&room.fake, &room.reader, S("reader"), directed);
    fake_join(&room.fake, &all, S("reader"), everything);
    CHECK(member_replay_after(&room.reader.member, S("1")));
    CHECK(member_replay_after(&all.member, S("1")));
    say(&room.fake, (struct note){ .id = "7", .to = "other" });
    say(&room.fake, (struct note){ .id = "8", .to = "reader" });
    CHECK_STR(ids_of(&room.reader, &room.out), S("2468"));
    CHECK_STR(ids_of(&all, &room.out), S("2345678"));
    say(&room.fake, (struct note){ .id = "9", .to = "other" });
    say(&room.fake, (struct note){ .id = "a", .to = "reader" });
    CHECK_STR(ids_of(&room.reader, &room.out), S("a"));
    CHECK_STR(ids_of(&all, &room.out), S("9a"));
    fake_leave(&all);
    room_done(&room);
}

TEST(routing_that_changes_during_the_replay_counts_from_then_on)
{
    struct room room;

    room_init(&room, NULL);
    say(&room.fake, (struct note){ .id = "1" });
    say(&room.fake, (struct note){ .id = "2", .to = "other" });
    say(&room.fake, (struct note){ .id = "3" });
    fake_join(&room.fake, &room.reader, S("reader"), everything);
    CHECK(member_replay_after(&room.reader.member, S("1")));
    member_set_routing(&room.reader.member, ROUTE_DIRECTED);
    CHECK_STR(ids_of(&room.reader, &room.out), S("3"));
    say(&room.fake, (struct note){ .id = "4", .to = "other" });
    say(&room.fake, (struct note){ .id = "5" });
    CHECK_STR(ids_of(&room.reader, &room.out), S("5"));
    CHECK(member_replay_after(&room.reader.member, S("1")));
    member_set_routing(&room.reader.member, ROUTE_ALL);
    CHECK_STR(ids_of(&room.reader, &room.out), S("2345"));
    say(&room.fake, (struct note){ .id = "6", .to = "other" });
    CHECK_STR(ids_of(&room.reader, &room.out), S("6"));
    room_done(&room);
}

TEST(a_member_of_another_encoding_is_replayed_in_its_own)
{
    struct room room;

    room_init(&room, NULL);
    say_each(&room.fake, "1234");
    fake_join(&room.fake, &room.reader, S("reader"),
              (struct join){ .encoding = &fake_inverse });
    CHECK(member_replay_after(&room.reader.member, S("2")));
    say_each(&room.fake, "5");
    CHECK_STR(ids_of(&room.reader, &room.out), S("345"));
    room_done(&room);
}

TEST(what_is_replayed_does_not_count_and_is_prepared_a_batch_at_a_time)
{
    struct room room;

    room_init(&room, NULL);
    for (char id = 'a'; id <= 'z'; id++)
        say(&room.fake,
            (struct note){ .id = (const char[]){ id, '\0' }, .padding = 20'000 });
    fake_join(&room.fake, &room.reader, S("reader"), everything);
    CHECK(member_replay_after(&room.reader.member, S("a")));
    CHECK_INT(room.reader.ready_count, 1);
    CHECK(room.reader.member.outbox == NULL); /* holds a number, no memory */
    CHECK(fake_read(&room.reader, 8, 10) == 10);
    CHECK_INT(room.reader.member.replay_seq, 6); /* b, c, d and e were prepared */
    CHECK(fake_read(&room.reader, 8, 10) == 10);
    CHECK_INT(room.reader.member.replay_seq, 6); /* not taken yet: no more is */
    CHECK_INT(member_backlog(&room.reader.member), 0);
    member_set_blocked(&room.reader.member, true);
    CHECK_INT(member_backlog(&room.reader.member), 0);
    member_send(&room.reader.member, S("{}"), FRAME_COUNTS);
    CHECK_INT(member_backlog(&room.reader.member), 6);
    fake_wake(&room.fake.topic);
    CHECK_INT(room.reader.end_count, 0);
    CHECK_STR(ids_of(&room.reader, &room.out), S("bcde{}fghijklmnopqrstuvwxyz"));
    CHECK_INT(member_backlog(&room.reader.member), 0);
    room_done(&room);
}

TEST(a_replaying_member_asks_for_more_by_itself_and_can_leave)
{
    struct room room;
    struct fake_member other;

    room_init(&room, NULL);
    say_each(&room.fake, "123");
    fake_join(&room.fake, &room.reader, S("reader"), everything);
    fake_join(&room.fake, &other, S("reader"), directed);
    CHECK(member_replay_after(&room.reader.member, S("1")));
    CHECK(member_replay_after(&other.member, S("1")));
    CHECK_INT(room.reader.ready_count, 1);
    CHECK_INT(other.ready_count, 1);
    say_each(&room.fake, "4");
    fake_wake(&room.fake.topic);
    CHECK_INT(room.reader.ready_count, 1);
    CHECK_INT(other.ready_count, 1);
    fake_leave(&other);
    CHECK_STR(ids_of(&room.reader, &room.out), S("234"));
    say_each(&room.fake, "5");
    fake_wake(&room.fake.topic); /* it has caught up */
    CHECK_INT(room.reader.ready_count, 2);
    room_done(&room);
}

TEST(a_reader_overtaken_by_the_ring_is_told_and_goes_on_with_what_is_left)
{
    struct room room;

    room_init(&room, &small);
    say_each(&room.fake, "1234");
    fake_join(&room.fake, &room.reader, S("reader"), everything);
    CHECK(member_replay_after(&room.reader.member, S("1")));
    say_each(&room.fake, "567");
    CHECK_STR(ids_of(&room.reader, &room.out), S("-4567"));
    say_each(&room.fake, "89abcdef");
    CHECK_STR(ids_of(&room.reader, &room.out), S("89abcdef")); /* live: no ring needed */
    room_done(&room);
}

TEST(without_echo_ones_own_words_are_not_replayed_either_on_the_same_connection)
{
    static const enum routing routings[] = { ROUTE_ALL, ROUTE_DIRECTED };

    FOR_EACH_CASE(routing, routings) {
        struct room room;
        struct fake_member phone;
        struct member *laptop = &room.reader.member;

        room_init(&room, NULL);
        say_each(&room.fake, "123");
        fake_join(&room.fake, &room.reader, S("reader"),
                  (struct join){ .routing = *routing });
        fake_join(&room.fake, &phone, S("reader"), (struct join){ .routing = *routing });
        CHECK(member_replay_after(laptop, S("1")));
        CHECK(member_replay_after(&phone.member, S("1")));
        say(&room.fake, (struct note){ .id = "4", .sender = laptop });
        say_each(&room.fake, "5");
        CHECK_STR(ids_of(&room.reader, &room.out), S("235"));
        CHECK_STR(ids_of(&phone, &room.out), S("2345"));
        fake_leave(&phone);
        room_done(&room);
    }
}

/* --- who is remembered --- */

TEST(an_absent_participant_keeps_its_right_to_what_the_ring_still_holds)
{
    struct room room;

    room_init(&room, &small);
    say_each(&room.fake, "12345"); /* everything since it was admitted has rolled out */
    fake_join(&room.fake, &room.reader, S("reader"), everything);
    say_each(&room.fake, "6");
    fake_leave(&room.reader);
    say_each(&room.fake, "78");
    topic_flush_presence(&room.fake.topic); /* the bystander has come */
    topic_forget_absent(&room.fake.topic, 1'000'000);
    fake_join(&room.fake, &room.reader, S("reader"), everything);
    CHECK(member_replay_after(&room.reader.member, S("6")));
    CHECK(str_starts(ids_of(&room.reader, &room.out), S("78")));
    room_done(&room);
}

/* --- against a model --- */

enum { STEPS = 300, MAX_ENTRIES = 1000 };

struct world {
    struct room room;
    struct dice dice;
    size_t said;
    bool concerns[MAX_ENTRIES];
};

static void say_random(struct world *w)
{
    static const char *const to[] = { NULL, NULL, "reader", "other" };
    const char *name = to[dice_throw(&w->dice, 4)];
    bool is_large = dice_throw(&w->dice, 10) == 0;
    char id[16];

    w->said++;
    w->concerns[w->said] = !name || name == to[2];
    (void)snprintf(id, sizeof(id), "%zu,", w->said);
    say(&w->room.fake,
        (struct note){ .id = id, .to = name, .padding = is_large ? 30'000 : 10 });
}

/* Every entry that concerns the reader, once and in order; only a gap excuses a loss. */
static void check_ids(struct world *w, struct str ids, enum routing routing, size_t from)
{
    size_t last = from;
    bool has_gap = false;

    while (ids.len) {
        struct str word = str_cut(&ids, ',');
        uint64_t seq = 0;

        while (str_starts(word, S("-"))) {
            has_gap = true;
            word = str_slice(word, 1, word.len);
        }
        CHECK_INT(str_to_u64(word, MAX_ENTRIES, &seq), OK);
        CHECK(seq > last);
        for (size_t missing = last + 1; missing < seq; missing++)
            CHECK(has_gap || (routing == ROUTE_DIRECTED && !w->concerns[missing]));
        CHECK(routing == ROUTE_ALL || w->concerns[seq]);
        has_gap = false;
        last = seq;
    }
    for (size_t missing = last + 1; missing <= w->said; missing++)
        CHECK(routing == ROUTE_DIRECTED && !w->concerns[missing]);
}

static void run_model(struct world *w, const struct topic_settings *settings)
{
    enum routing routing = dice_throw(&w->dice, 2) ? ROUTE_ALL : ROUTE_DIRECTED;
    struct fake_member *reader = &w->room.reader;
    size_t before = 1 + dice_throw(&w->dice, 20);
    size_t after;
    char id[16];

    room_init(&w->room, settings);
    for (size_t i = 0; i < before; i++)
        say_random(w);
    after = w->said - dice_throw(&w->dice, settings && before > 4 ? 4 : before);
    (void)snprintf(id, sizeof(id), "%zu,", after);
    fake_join(
        &w->room.fake, reader, S("reader"),
        (struct join){ .routing = routing,
                       .encoding = dice_throw(&w->dice, 2) ? &fake_inverse : NULL });
    CHECK(member_replay_after(&reader->member, str_of(id)));
    for (size_t i = 0; i < STEPS; i++) {
        if (dice_throw(&w->dice, 3) == 0)
            say_random(w);
        else
            (void)fake_read(reader, 1 + dice_throw(&w->dice, 8),
                            dice_throw(&w->dice, 2'000));
        if (dice_throw(&w->dice, 20) == 0)
            member_set_blocked(&reader->member, !reader->member.is_blocked);
    }
    check_ids(w, ids_of(reader, &w->room.out), routing, after);
    CHECK_INT(reader->member.replay_seq, 0);
    room_done(&w->room);
}

TEST(catching_up_and_going_live_loses_and_repeats_nothing)
{
    static struct world w;

    for (test_case = 1; test_case <= 60; test_case++) { /* the case is the seed */
        w = (struct world){ .dice = dice_of(test_case) };
        run_model(&w, NULL);
    }
}

TEST(with_a_small_ring_every_loss_is_behind_a_gap)
{
    static struct world w;

    for (test_case = 1; test_case <= 60; test_case++) {
        w = (struct world){ .dice = dice_of(test_case) };
        run_model(&w, &small);
    }
}
