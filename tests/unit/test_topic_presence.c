/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "fake_topic.h"
#include "harness.h"

static const struct join joining = { .routing = ROUTE_ALL, .wants_echo = true };

#define PRESENCE(event, participant)                               \
    "\"kind\":\"system/presence\",\"payload\":{\"event\":\"" event \
    "\",\"participant\":" participant "}}\n"
#define JOINS(id)                    \
    PRESENCE("join", "{\"id\":\"" id \
                     "\",\"capabilities\":[\"chat\"],\"moot\":{\"type\":\"agent\"}}")
#define LEAVES(id) PRESENCE("leave", "{\"id\":\"" id "\",\"moot\":{\"type\":\"agent\"}}")

/* What was announced, without the heads: their ids are random. */
static struct str announced(struct fake_member *m, struct buf *out)
{
    struct str rest = fake_texts(m);

    buf_clear(out);
    while (rest.len) {
        struct str line = str_cut(&rest, '\n');
        size_t at = 0;

        while (at < line.len && !str_starts(str_slice(line, at, line.len), S("\"kind\"")))
            at++;
        buf_put(out, str_slice(line, at, line.len));
        buf_putc(out, '\n');
    }
    return buf_str(out);
}

struct room {
    struct fake_topic fake;
    struct fake_member watcher;
    struct buf out;
};

/* A room with one watcher whose own coming has been announced and read. */
static void room_init(struct room *room)
{
    fake_topic_init(&room->fake, NULL);
    buf_init(&room->out, 1 << 20);
    fake_join(&room->fake, &room->watcher, S("watcher"), joining);
    topic_flush_presence(&room->fake.topic);
    CHECK_STR(announced(&room->watcher, &room->out), S(JOINS("watcher")));
    CHECK_INT(room->fake.presence_count, 1);
}

static void room_done(struct room *room)
{
    fake_leave(&room->watcher);
    buf_done(&room->out);
    fake_topic_done(&room->fake);
}

static struct str flushed(struct room *room)
{
    topic_flush_presence(&room->fake.topic);
    return announced(&room->watcher, &room->out);
}

TEST(an_announcement_is_an_envelope_of_the_gateway_with_an_id_of_its_own)
{
    struct fake_topic fake;
    struct fake_member a;
    struct buf want;

    fake_topic_init(&fake, NULL);
    fake.wall_ms = 1'000'000;
    fake_join(&fake, &a, S("a\"b"), joining);
    topic_flush_presence(&fake.topic);
    buf_init(&want, 4096);
    buf_putf(&want,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s-1\","
             "\"ts\":\"1970-01-01T00:16:40.000Z\",\"from\":\"system:gateway\",",
             fake.topic.system_prefix);
    buf_put(&want, S(JOINS("a\\\"b")));
    CHECK_STR(fake_texts(&a), buf_str(&want));
    buf_clear(&want);
    buf_putf(&want, "%s-1", fake.topic.system_prefix);
    CHECK_INT(ring_find(&fake.topic.ring, ring_hash(&fake.topic.ring, buf_str(&want))),
              1);
    buf_done(&want);
    fake_leave(&a);
    fake_topic_done(&fake);
}

TEST(nothing_is_announced_before_the_flush_and_nothing_twice)
{
    struct room room;
    struct fake_member a;

    room_init(&room);
    fake_join(&room.fake, &a, S("a"), joining);
    CHECK_INT(room.fake.presence_count, 2);
    CHECK(topic_has_pending_presence(&room.fake.topic));
    CHECK_INT(room.fake.topic.present_count, 1);
    CHECK_STR(announced(&room.watcher, &room.out), S(""));
    CHECK_STR(flushed(&room), S(JOINS("a")));
    CHECK(!topic_has_pending_presence(&room.fake.topic));
    CHECK_INT(room.fake.topic.present_count, 2);
    CHECK_STR(flushed(&room), S(""));
    CHECK_STR(announced(&a, &room.out), S(JOINS("a"))); /* the joiner included, D4 */
    fake_leave(&a);
    CHECK_STR(flushed(&room), S(LEAVES("a")));
    CHECK_INT(room.fake.topic.present_count, 1);
    room_done(&room);
}

TEST(a_join_and_a_leave_between_two_flushes_cancel_out)
{
    struct room room;
    struct fake_member a, again;

    room_init(&room);
    fake_join(&room.fake, &a, S("a"), joining);
    fake_leave(&a);
    CHECK(!topic_has_pending_presence(&room.fake.topic));
    CHECK_STR(flushed(&room), S(""));

    fake_join(&room.fake, &a, S("a"), joining);
    CHECK_STR(flushed(&room), S(JOINS("a")));
    fake_leave(&a);
    fake_join(&room.fake, &again, S("a"), joining); /* a quick reconnect */
    CHECK_STR(flushed(&room), S(""));
    CHECK_INT(room.fake.topic.present_count, 2);
    fake_leave(&again);
    fake_join(&room.fake, &again, S("a"), joining);
    fake_leave(&again);
    CHECK_STR(flushed(&room), S(LEAVES("a")));
    room_done(&room);
}

TEST(several_members_of_one_participant_join_with_the_first_and_leave_with_the_last)
{
    struct room room;
    struct fake_member laptop, phone;

    room_init(&room);
    fake_join(&room.fake, &laptop, S("a"), joining);
    fake_join(&room.fake, &phone, S("a"), joining);
    CHECK_STR(flushed(&room), S(JOINS("a")));
    fake_leave(&laptop);
    CHECK_STR(flushed(&room), S(""));
    fake_join(&room.fake, &laptop, S("a"), joining);
    fake_leave(&phone);
    CHECK_STR(flushed(&room), S(""));
    fake_leave(&laptop);
    CHECK_STR(flushed(&room), S(LEAVES("a")));
    room_done(&room);
}

TEST(changes_are_announced_in_the_order_in_which_they_happened)
{
    struct room room;
    struct fake_member a, b, c;

    room_init(&room);
    fake_join(&room.fake, &a, S("a"), joining);
    CHECK_STR(flushed(&room), S(JOINS("a")));
    fake_join(&room.fake, &c, S("c"), joining);
    fake_leave(&a);
    fake_join(&room.fake, &b, S("b"), joining);
    fake_leave(&c); /* cancels out, and comes again behind b */
    fake_join(&room.fake, &c, S("c"), joining);
    CHECK_STR(flushed(&room), S(LEAVES("a") JOINS("b") JOINS("c")));
    CHECK_INT(room.fake.presence_count, 3); /* asked for once per batch */
    fake_leave(&b);
    fake_leave(&c);
    room_done(&room);
}

TEST(a_change_of_rights_shows_in_the_next_join)
{
    static const struct str wider[] = { S("chat"), S("mcp/*") };
    struct room room;
    struct fake_member a;
    struct capset *caps;

    room_init(&room);
    fake_join(&room.fake, &a, S("a"), joining);
    CHECK_INT(
        capset_intern(room.fake.capsets, (struct str_list){ wider, 2 }, &caps, NULL), OK);
    (void)participant_enter(a.member.participant->topic, S("a"), TYPE_AGENT, caps, 0);
    capset_unref(caps);
    CHECK_STR(flushed(&room),
              S(PRESENCE("join", "{\"id\":\"a\",\"capabilities\":[\"chat\",\"mcp/*\"],"
                                 "\"moot\":{\"type\":\"agent\"}}")));
    fake_leave(&a);
    room_done(&room);
}

TEST(a_participant_is_not_forgotten_before_its_leaving_is_announced_and_no_longer_held)
{
    struct room room;
    struct fake_member a;

    room_init(&room);
    fake_join(&room.fake, &a, S("a"), joining);
    CHECK_STR(flushed(&room), S(JOINS("a")));
    fake_leave(&a);
    topic_forget_absent(&room.fake.topic, UINT64_MAX);
    CHECK(participant_find(&room.fake.topic, S("a")) != NULL);
    room.fake.topic.ring.max_entries = 1; /* none but the entry of its leaving */
    CHECK_STR(flushed(&room), S(LEAVES("a")));
    topic_forget_absent(&room.fake.topic, UINT64_MAX);
    CHECK(participant_find(&room.fake.topic, S("a")) != NULL);
    room.fake.topic.ring.max_entries = 0; /* nothing that names it is held any more */
    fake_say(&room.fake, NULL, S("hello"), NULL);
    topic_forget_absent(&room.fake.topic, UINT64_MAX);
    CHECK(participant_find(&room.fake.topic, S("a")) == NULL);
    room_done(&room);
}

/* Where only presence was heard nothing is held to be replayed, and yet it is. */
TEST(presence_is_written_again_word_for_word)
{
    struct room room;
    struct fake_member a, again;
    struct capset *others;
    struct buf live, first;

    room_init(&room);
    CHECK_INT(capset_intern(room.fake.capsets,
                            (struct str_list){ (const struct str[]){ S("mcp/*") }, 1 },
                            &others, NULL),
              OK);
    room.fake.wall_ms = 5000;
    fake_join(&room.fake, &a, S("a"), joining);
    topic_flush_presence(&room.fake.topic);
    (void)participant_enter(a.member.participant->topic, S("a"), TYPE_AGENT, others, 0);
    capset_unref(others);
    a.member.participant->type = TYPE_HUMAN;
    room.fake.wall_ms = 6000;
    fake_leave(&a);
    topic_flush_presence(&room.fake.topic);
    room.fake.wall_ms = 7000;
    buf_init(&live, 1 << 20);
    buf_put(&live, fake_texts(&room.watcher));
    CHECK(room.fake.topic.ring.oldest == NULL);
    buf_init(&first, 100);
    buf_putf(&first, "%s-1", room.fake.topic.system_prefix);
    fake_join(&room.fake, &again, S("watcher"), joining);
    CHECK(member_replay_after(&again.member, buf_str(&first)));
    CHECK(live.len > 0);
    CHECK_STR(fake_texts(&again), buf_str(&live));
    buf_done(&live);
    buf_done(&first);
    fake_leave(&again);
    room_done(&room);
}

TEST(ids_of_the_gateway_never_repeat)
{
    struct fake_topic one, other;
    char a[SYSTEM_ID], b[SYSTEM_ID];

    fake_topic_init(&one, NULL);
    fake_topic_init(&other, NULL);
    CHECK(!str_eq(topic_system_id(&one.topic, a), topic_system_id(&one.topic, b)));
    CHECK(!str_eq(topic_system_id(&one.topic, a), topic_system_id(&other.topic, b)));
    one.topic.system_count = UINT64_MAX - 1;
    CHECK_INT(topic_system_id(&one.topic, a).len, 4 + 12 + 1 + 20);
    fake_topic_done(&one);
    fake_topic_done(&other);
}

/* --- modes --- */

#define CAME(id)                                                           \
    "{\"event\":\"join\",\"id\":\"" id "\",\"capabilities\":[\"chat\"],\"" \
    "moot\":{\"type\":\"agent\"}}"
#define WENT(id) "{\"event\":\"leave\",\"id\":\"" id "\",\"moot\":{\"type\":\"agent\"}}"
#define BATCH(elements)                                                                         \
    "\"kind\":\"system/presence\",\"payload\":{\"event\":\"batch\",\"participants\":[" elements \
    "]}}\n"

static struct join in_mode(enum presence_mode presence, enum routing routing,
                           const struct encoding *encoding)
{
    return (struct join){
        .routing = routing, .presence = presence, .encoding = encoding, .wants_echo = true
    };
}

/* The id of the first envelope in these texts. */
static struct str id_in(struct str texts)
{
    static const struct str before = S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"");
    struct str rest = str_slice(texts, before.len, texts.len);

    CHECK(str_starts(texts, before));
    return str_slice(rest, 0, str_find(rest, '"', 0));
}

TEST(a_flush_is_one_frame_for_a_batch_member_and_none_for_one_without_presence)
{
    static const struct {
        enum routing routing;
        const struct encoding *encoding;
    } cases[] = {
        { ROUTE_ALL, NULL },
        { ROUTE_ALL, &fake_inverse },
        { ROUTE_DIRECTED, NULL },
        { ROUTE_DIRECTED, &fake_inverse },
    };

    FOR_EACH_CASE(c, cases) {
        struct room room;
        struct fake_member each, batch, off, a, b;

        room_init(&room);
        fake_join(&room.fake, &each, S("each"),
                  in_mode(PRESENCE_EACH, c->routing, c->encoding));
        fake_join(&room.fake, &batch, S("batch"),
                  in_mode(PRESENCE_BATCH, c->routing, c->encoding));
        fake_join(&room.fake, &off, S("off"),
                  in_mode(PRESENCE_OFF, c->routing, c->encoding));
        CHECK_INT(topic_flush_presence(&room.fake.topic), 3);
        CHECK_STR(announced(&each, &room.out),
                  S(JOINS("each") JOINS("batch") JOINS("off")));
        CHECK_STR(announced(&batch, &room.out),
                  S(BATCH(CAME("each") "," CAME("batch") "," CAME("off"))));
        CHECK_STR(fake_texts(&off), S(""));

        fake_join(&room.fake, &a, S("a"), joining);
        CHECK_INT(topic_flush_presence(&room.fake.topic), 1);
        CHECK_STR(announced(&batch, &room.out), S(BATCH(CAME("a"))));
        fake_leave(&a);
        fake_join(&room.fake, &b, S("b"), joining);
        CHECK_INT(topic_flush_presence(&room.fake.topic), 2);
        fake_say(&room.fake, NULL, S("\"kind\":said"), NULL);
        CHECK_STR(announced(&each, &room.out),
                  S(JOINS("a") LEAVES("a") JOINS("b") "\"kind\":said\n"));
        CHECK_STR(announced(&batch, &room.out),
                  S(BATCH(WENT("a") "," CAME("b")) "\"kind\":said\n"));
        CHECK_STR(fake_texts(&off), S("\"kind\":said\n"));
        CHECK_INT(topic_flush_presence(&room.fake.topic), 0);
        CHECK_STR(fake_texts(&batch), S(""));
        fake_leave(&b);
        fake_leave(&each);
        fake_leave(&batch);
        fake_leave(&off);
        room_done(&room);
        CHECK(list_is_empty(&room.fake.topic.lanes));
    }
}

TEST(a_batch_has_the_id_of_the_last_entry_it_covers)
{
    struct room room;
    struct fake_member batch, a, b;
    struct ring *ring = &room.fake.topic.ring;
    uint64_t next;

    room_init(&room);
    fake_join(&room.fake, &batch, S("batch"), in_mode(PRESENCE_BATCH, ROUTE_ALL, NULL));
    fake_join(&room.fake, &a, S("a"), joining);
    fake_join(&room.fake, &b, S("b\",\"participant\":{"), joining);
    topic_flush_presence(&room.fake.topic);
    next = room.fake.topic.ring.next_seq;
    CHECK_INT(next, 1 + 4); /* the log has one entry for each */
    CHECK_INT(ring_find(ring, ring_hash(ring, id_in(fake_texts(&batch)))), next - 1);
    fake_leave(&a);
    fake_leave(&b);
    fake_leave(&batch);
    room_done(&room);
}

TEST(members_of_one_mode_and_encoding_share_a_lane)
{
    struct room room;
    struct fake_member members[6];
    const struct lane *native = &room.fake.topic.native;

    room_init(&room);
    for (size_t i = 0; i < 6; i++)
        fake_join(&room.fake, &members[i], S("m"),
                  in_mode((enum presence_mode)(i % 3), ROUTE_ALL, NULL));
    for (size_t i = 0; i < 3; i++)
        CHECK(members[i].member.lane == members[i + 3].member.lane);
    CHECK(members[PRESENCE_EACH].member.lane == native);
    CHECK(members[PRESENCE_BATCH].member.lane != native);
    CHECK(members[PRESENCE_BATCH].member.lane != members[PRESENCE_OFF].member.lane);
    for (size_t i = 0; i < 6; i++)
        fake_leave(&members[i]);
    CHECK(list_is_empty(&room.fake.topic.lanes));
    room_done(&room);
}

/* 600 ids of 500 bytes exceed one frame. */
TEST(a_batch_that_would_be_too_large_comes_in_several)
{
    enum { COUNT_OF_MEMBERS = 600, ID_BYTES = 500, LIMIT = 260 * 1024 };
    static struct fake_member members[COUNT_OF_MEMBERS];
    struct room room;
    struct fake_member batch;
    struct str rest;
    size_t frames = 0;
    size_t named = 0;

    room_init(&room);
    fake_join(&room.fake, &batch, S("watcher"), in_mode(PRESENCE_BATCH, ROUTE_ALL, NULL));
    for (size_t i = 0; i < COUNT_OF_MEMBERS; i++) {
        char id[ID_BYTES + 1];

        (void)snprintf(id, sizeof(id), "%0*zu", ID_BYTES, i);
        fake_join(&room.fake, &members[i], str_of(id), joining);
    }
    CHECK_INT(topic_flush_presence(&room.fake.topic), COUNT_OF_MEMBERS);
    rest = fake_texts(&batch);
    while (rest.len) {
        struct str line = str_cut(&rest, '\n');

        CHECK(line.len < LIMIT);
        CHECK(str_ends(line, S("}}]}}")));
        frames++;
        for (size_t at = 0; at < line.len; at++)
            named += str_starts(str_slice(line, at, line.len), S("{\"event\":\"join\""));
    }
    CHECK_INT(frames, 2);
    CHECK_INT(named, COUNT_OF_MEMBERS);
    for (size_t i = 0; i < COUNT_OF_MEMBERS; i++)
        fake_leave(&members[i]);
    fake_leave(&batch);
    room_done(&room);
}

/* The same ring for a returning member of each mode: who came and went while it was away,
 * after the last frame that it saw. */
TEST(a_replay_shows_presence_in_the_mode_of_the_member)
{
    static const struct {
        enum presence_mode mode;
        const struct encoding *encoding;
        struct str want;
    } cases[] = {
        { PRESENCE_EACH, NULL,
          S(JOINS("a") JOINS("b") "\"kind\":said\n" LEAVES("a") LEAVES("b")) },
        { PRESENCE_BATCH, NULL,
          S(BATCH(CAME("a") "," CAME("b")) "\"kind\":said\n" BATCH(
              WENT("a") "," WENT("b"))) },
        { PRESENCE_BATCH, &fake_inverse,
          S(BATCH(CAME("a") "," CAME("b")) "\"kind\":said\n" BATCH(
              WENT("a") "," WENT("b"))) },
        { PRESENCE_OFF, NULL, S("\"kind\":said\n") },
    };

    FOR_EACH_CASE(c, cases) {
        struct room room;
        struct fake_member first, back, a, b;
        struct buf last;

        room_init(&room);
        buf_init(&last, 4096);
        fake_join(&room.fake, &first, S("back"),
                  in_mode(PRESENCE_BATCH, ROUTE_ALL, NULL));
        topic_flush_presence(&room.fake.topic);
        buf_put(&last, id_in(fake_texts(&first)));
        fake_join(&room.fake, &a, S("a"), joining);
        fake_join(&room.fake, &b, S("b"), joining);
        topic_flush_presence(&room.fake.topic);
        fake_say(&room.fake, NULL, S("\"kind\":said"), NULL);
        fake_leave(&a);
        topic_flush_presence(&room.fake.topic);
        fake_leave(&b);
        topic_flush_presence(&room.fake.topic);
        fake_join(&room.fake, &back, S("back"), in_mode(c->mode, ROUTE_ALL, c->encoding));
        CHECK(member_replay_after(&back.member, buf_str(&last)));
        CHECK_STR(announced(&back, &room.out), c->want);
        fake_leave(&first);
        fake_leave(&back);
        buf_done(&last);
        room_done(&room);
    }
}

TEST(whoever_returns_after_a_batch_gets_exactly_what_followed_it)
{
    struct room room;
    struct fake_member batch, again, a, b, c;
    struct buf last;

    room_init(&room);
    buf_init(&last, 4096);
    fake_join(&room.fake, &batch, S("batch"), in_mode(PRESENCE_BATCH, ROUTE_ALL, NULL));
    fake_join(&room.fake, &a, S("a"), joining);
    fake_join(&room.fake, &b, S("b"), joining);
    topic_flush_presence(&room.fake.topic);
    fake_join(&room.fake, &c, S("c"), joining);
    topic_flush_presence(&room.fake.topic);
    buf_put(&last, id_in(fake_texts(&batch))); /* of the first of two */
    fake_join(&room.fake, &again, S("batch"), in_mode(PRESENCE_BATCH, ROUTE_ALL, NULL));
    CHECK(member_replay_after(&again.member, buf_str(&last)));
    CHECK_STR(announced(&again, &room.out), S(BATCH(CAME("c"))));
    fake_leave(&a);
    topic_flush_presence(&room.fake.topic);
    CHECK_STR(announced(&again, &room.out), S(BATCH(WENT("a"))));
    fake_leave(&b);
    fake_leave(&c);
    fake_leave(&batch);
    fake_leave(&again);
    buf_done(&last);
    room_done(&room);
}
