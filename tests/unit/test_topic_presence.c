/* SPDX-License-Identifier: Apache-2.0 */
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
    CHECK_INT(ring_find(&fake.topic.ring, buf_str(&want)), 1);
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
    participant_set_capabilities(a.member.participant, caps);
    capset_unref(caps);
    CHECK_STR(flushed(&room),
              S(PRESENCE("join", "{\"id\":\"a\",\"capabilities\":[\"chat\",\"mcp/*\"],"
                                 "\"moot\":{\"type\":\"agent\"}}")));
    fake_leave(&a);
    room_done(&room);
}

TEST(a_participant_whose_leaving_is_not_announced_is_not_forgotten)
{
    struct room room;
    struct fake_member a;

    room_init(&room);
    fake_join(&room.fake, &a, S("a"), joining);
    CHECK_STR(flushed(&room), S(JOINS("a")));
    fake_leave(&a);
    topic_forget_absent(&room.fake.topic, UINT64_MAX);
    CHECK(participant_find(&room.fake.topic, S("a")) != NULL);
    CHECK_STR(flushed(&room), S(LEAVES("a")));
    topic_forget_absent(&room.fake.topic, UINT64_MAX);
    CHECK(participant_find(&room.fake.topic, S("a")) == NULL);
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
