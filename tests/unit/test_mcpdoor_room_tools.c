/* SPDX-License-Identifier: Apache-2.0 */
/* How MCP comes to the desk: the hall and its strands are played by this file. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "fake_seat.h"
#include "harness.h"
#include "mcpdoor/room_tools.h"

enum { ROOM = 1 << 20 };

/* What a hall is here. */
struct hall {
    struct fake_seat fake;
    struct showcase *showcase;
    struct room_desk *desk;
    struct attendee attendee;
    struct buf said; /* "STRAND STATUS MESSAGE\n" */
    struct buf last;
};

struct strand {
    struct hall *hall;
    const char *name;
};

struct room_desk *hall_desk(const struct hall *hall)
{
    return hall->desk;
}

struct moment hall_now(const struct hall *hall)
{
    return hall->fake.now;
}

struct showcase_view attendee_view(struct attendee *)
{
    return (struct showcase_view){};
}

void strand_answer(struct strand *strand, unsigned status, struct str message, uint64_t)
{
    buf_putf(&strand->hall->said, "%s %u " STR_FMT "\n", strand->name, status,
             STR_ARG(message));
}

static void hall_open(struct hall *hall)
{
    *hall = (struct hall){};
    fake_seat_init(&hall->fake, &(struct occupant_settings){});
    fake_seat_welcome(&hall->fake, "[\"chat\"]", "");
    hall->showcase = showcase_new(false);
    hall->desk = room_desk_new(hall->showcase, NULL);
    hall->attendee = (struct attendee){ .hall = hall, .occupant = hall->fake.occupant };
    buf_init(&hall->said, ROOM);
    buf_init(&hall->last, ROOM);
}

static void hall_close(struct hall *hall)
{
    room_tools_leave(&hall->attendee);
    room_desk_free(hall->desk);
    showcase_free(hall->showcase);
    fake_seat_done(&hall->fake);
    buf_done(&hall->said);
    buf_done(&hall->last);
}

static struct str said(struct hall *hall)
{
    buf_clear(&hall->last);
    buf_put(&hall->last, buf_str(&hall->said));
    buf_clear(&hall->said);
    return buf_str(&hall->last);
}

/* `text` is gone when it has been called. */
static bool call(struct strand *strand, enum mcp_era era, const char *text,
                 const char *tool)
{
    CLEANUP(buf_done) struct buf copy;
    struct serve_incoming in = { .era = era };
    const char *what;

    buf_init(&copy, ROOM);
    buf_put(&copy, str_of(text));
    CHECK_INT(mcp_message_read(buf_str(&copy), 16, &in.message, &what), OK);
    return room_tools_call(&(struct asked_for){ .attendee = &strand->hall->attendee,
                                                .in = &in,
                                                .strand = strand },
                           str_of(tool), (struct json_span){});
}

#define REQUEST(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\"}"
#define NOBODY      "{\\\"you\\\":\\\"bot\\\",\\\"participants\\\":[]}"
#define CONTENT                                                                        \
    "\"content\":[{\"type\":\"text\",\"text\":\"" NOBODY "\"}],\"structuredContent\":" \
    "{\"you\":\"bot\",\"participants\":[]}"

TEST(an_answer_has_the_id_and_the_era_of_its_request)
{
    struct hall hall;
    struct strand strand = { &hall, "one" };

    hall_open(&hall);
    CHECK(call(&strand, ERA_LEGACY, REQUEST("\"\\u0061\""), "room_who"));
    CHECK_STR(
        said(&hall),
        S("one 200 {\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\",\"result\":{" CONTENT "}}\n"));
    CHECK(call(&strand, ERA_MODERN, REQUEST("1e2"), "room_who"));
    CHECK_STR(said(&hall), S("one 200 {\"jsonrpc\":\"2.0\",\"id\":1e2,\"result\":{"
                             "\"resultType\":\"complete\"," CONTENT "}}\n"));
    CHECK(!call(&strand, ERA_LEGACY, REQUEST("1"), "read"));
    CHECK(!call(&strand, ERA_LEGACY, REQUEST("1"), "room_propose"));
    CHECK_STR(said(&hall), S(""));
    hall_close(&hall);
}

static void hear(struct hall *hall, struct attendee *a, bool names_me)
{
    static const struct str to = S("bot");
    struct heard heard = {
        .env = { .id = S("m1"),
                 .from = S("ann"),
                 .kind = { .type = KIND_CHAT, .text = S("chat") },
                 .to = &to,
                 .to_count = a ? 1 : 0 },
        .names_me = names_me,
    };

    room_tools_hear(hall, a, &heard);
}

TEST(what_waits_outlives_the_request_but_not_its_strand)
{
    struct hall hall;
    struct strand one = { &hall, "one" }, two = { &hall, "two" };

    hall_open(&hall);
    CHECK(call(&one, ERA_LEGACY, REQUEST("\"x\""), "room_wait"));
    CHECK(call(&two, ERA_LEGACY, REQUEST("2"), "room_wait"));
    room_tools_lost(&hall, &one);
    hear(&hall, &hall.attendee, false);
    CHECK_STR(said(&hall), S(""));
    hear(&hall, &hall.attendee, true);
    CHECK(
        str_starts(said(&hall), S("two 200 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":")));
    CHECK(call(&one, ERA_LEGACY, REQUEST("3"), "room_wait"));
    hear(&hall, NULL, false);
    CHECK(
        str_starts(said(&hall), S("one 200 {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":")));
    CHECK(call(&one, ERA_LEGACY, REQUEST("4"), "room_wait"));
    hall_close(&hall);
}

TEST(without_a_desk_there_are_no_tools)
{
    struct hall hall;
    struct strand strand = { &hall, "one" };
    struct room_desk *desk;
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, ROOM);
    hall_open(&hall);
    room_tools_put(&hall.attendee, &out);
    CHECK(str_starts(buf_str(&out), S("{\"name\":\"room_chat\"")));
    buf_clear(&out);
    desk = hall.desk;
    hall.desk = NULL;
    room_tools_put(&hall.attendee, &out);
    CHECK_STR(buf_str(&out), S(""));
    CHECK(!call(&strand, ERA_LEGACY, REQUEST("1"), "room_who"));
    hear(&hall, NULL, false);
    room_tools_lost(&hall, &strand);
    hall.desk = desk;
    hall_close(&hall);
}
