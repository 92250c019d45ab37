/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "fake_seat.h"
#include "harness.h"
#include "participant/ask.h"
#include "participant/occupant.h"
#include "participant/roster.h"

#define CHAT  "\"payload\":{\"text\":\"hi\"}"
#define LIST  "\"payload\":{\"id\":1,\"method\":\"tools/list\"}"
#define TO_ME "\"to\":[\"bot\"],"
#define PARTICIPANT \
    "\"participant\":{\"id\":\"ann\",\"capabilities\":[\"chat\"],\"moot\":{\"type\":\"human\"}}"

static const struct occupant_settings plain = {};

/* --- the welcome --- */

TEST(nothing_is_heard_before_the_welcome)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_hear_from(&fake, "ann", "1", "chat", CHAT);
    fake_hear_gateway(&fake, "system/welcome", "\"you\":{\"id\":\"bot\"}");
    CHECK_STR(fake_told(&fake), S("offence 1 ann: unexpected, kind\n"
                                  "offence 1 system:gateway: unexpected, kind\n"));
    occupant_begin(fake.occupant, false);
    fake_hear_from(&fake, "ann", "2", "chat", CHAT);
    fake_hear_gateway(&fake, "system/presence", "\"event\":\"join\"," PARTICIPANT);
    CHECK_STR(fake_told(&fake), S("offence 2 ann: unexpected, kind\n"
                                  "offence 2 system:gateway: unexpected, kind\n"));
    CHECK(!occupant_is_welcome(fake.occupant));
    CHECK_STR(occupant_id(fake.occupant), S(""));
    CHECK_STR(occupant_last(fake.occupant), S(""));
    CHECK_STR(occupant_capabilities(fake.occupant), S("[]"));
    CHECK(!occupant_may(fake.occupant, S("chat"), (struct json_span){}));
    fake_seat_done(&fake);
}

TEST(the_welcome_tells_who_we_are_and_who_is_here)
{
    const struct roster_entry *ann;
    struct fake_seat fake;
    size_t at = 0;

    fake_seat_init(&fake, &plain);
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(
        &fake, "system/welcome",
        "\"you\":{\"id\":\"bot\",\"capabilities\":[\"chat\",\"mcp/proposal:*\"],"
        "\"moot\":{\"type\":\"agent\",\"capabilities\":"
        "[{\"kind\":\"mcp/request:tools/call\",\"payload\":{\"params\":{\"name\":\"a*\"}}}]}},"
        "\"participants\":[{\"id\":\"ann\",\"capabilities\":[\"chat\"],\"moot\":{\"type\":\"human\","
        "\"capabilities\":[{\"kind\":\"x\"}]}},{\"id\":\"bot\",\"capabilities\":[]}],"
        "\"moot\":{\"limits\":{\"envelope_bytes\":4096}}");
    CHECK_STR(fake_told(&fake), S("heard system/welcome to me\nwelcome\nhere ann\n"));
    CHECK(occupant_is_welcome(fake.occupant));
    CHECK_STR(occupant_id(fake.occupant), S("bot"));
    CHECK_STR(occupant_last(fake.occupant), S(""));
    CHECK_INT(occupant_envelope_bytes(fake.occupant), 4096);
    CHECK_STR(occupant_capabilities(fake.occupant),
              S("[\"chat\",\"mcp/proposal:*\",{\"kind\":\"mcp/request:tools/call\","
                "\"payload\":{\"params\":{\"name\":\"a*\"}}}]"));
    ann = occupant_find_participant(fake.occupant, S("ann"));
    CHECK(ann && ann == occupant_next_participant(fake.occupant, &at));
    CHECK_STR(ann->type, S("human"));
    CHECK_STR(ann->capabilities, S("[\"chat\",{\"kind\":\"x\"}]"));
    CHECK(!occupant_next_participant(fake.occupant, &at));
    CHECK(!occupant_find_participant(fake.occupant, S("bot")));
    fake_seat_done(&fake);
}

TEST(a_fresh_welcome_tells_what_has_changed)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[\"chat\"]", "{\"id\":\"ann\"},{\"id\":\"bob\"}");
    CHECK(
        !occupant_may(fake.occupant, S("mcp/request:tools/list"), (struct json_span){}));
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\",\"capabilities\":[\"mcp/*\"]},"
                      "\"participants\":[{\"id\":\"bob\",\"capabilities\":[\"chat\"]},"
                      "{\"id\":\"eve\"}]");
    CHECK_STR(fake_told(&fake), S("heard system/welcome to me\nwelcome resumed\n"
                                  "leaves ann\nchanges bob\nhere eve\n"));
    CHECK(occupant_may(fake.occupant, S("mcp/request:tools/list"), (struct json_span){}));
    CHECK(!occupant_may(fake.occupant, S("chat"), (struct json_span){}));
    CHECK_STR(occupant_capabilities(fake.occupant), S("[\"mcp/*\"]"));
    fake_seat_done(&fake);
}

TEST(nobody_becomes_somebody_else_while_connected)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[\"chat\"]", "{\"id\":\"ann\"}");
    fake_hear_gateway(&fake, "system/welcome", "\"you\":{\"id\":\"ann\"}");
    CHECK_STR(fake_told(&fake),
              S("offence 1 system:gateway: malformed_envelope, payload.you.id\n"));
    CHECK_STR(occupant_id(fake.occupant), S("bot"));
    CHECK_STR(occupant_capabilities(fake.occupant), S("[\"chat\"]"));
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(&fake, "system/welcome", "\"you\":{\"id\":\"ann\"}");
    CHECK_STR(fake_told(&fake), S("heard system/welcome to me\nwelcome\nleaves ann\n"));
    CHECK_STR(occupant_id(fake.occupant), S("ann"));
    fake_seat_done(&fake);
}

TEST(a_broken_welcome_is_none)
{
    static const struct {
        const char *payload;
        const char *told;
    } cases[] = {
        { "\"participants\":[]", "payload.you" },
        { "\"you\":\"bot\"", "payload.you" },
        { "\"you\":{\"capabilities\":[]}", "payload.you" },
        { "\"you\":{\"id\":\"\"}", "payload.you" },
        { "\"you\":{\"id\":\"b\\u0000\"}", "payload.you" },
        { "\"you\":{\"id\":\"bot\",\"id\":\"eve\"}", "payload.you" },
        { "\"you\":{\"id\":\"bot\"},\"you\":{\"id\":\"eve\"}", "payload" },
        { "\"you\":{\"id\":\"bot\"},\"moot\":{\"limits\":{},\"limits\":{}}",
          "payload.moot" },
    };

    FOR_EACH_CASE(c, cases) {
        struct fake_seat fake;
        struct buf want;

        fake_seat_init(&fake, &plain);
        buf_init(&want, 256);
        buf_putf(&want, "offence 1 system:gateway: malformed_envelope, %s\n", c->told);
        occupant_begin(fake.occupant, false);
        fake_hear_gateway(&fake, "system/welcome", c->payload);
        CHECK_STR(fake_told(&fake), buf_str(&want));
        CHECK(!occupant_is_welcome(fake.occupant));
        buf_done(&want);
        fake_seat_done(&fake);
    }
}

TEST(what_a_welcome_has_besides_is_passed_over)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\",\"capabilities\":\"all\",\"moot\":7},"
                      "\"participants\":{},\"moot\":{\"limits\":[],\"proposals\":1,"
                      "\"grants\":{}}");
    CHECK_STR(fake_told(&fake), S("heard system/welcome to me\nwelcome\n"));
    CHECK_STR(occupant_capabilities(fake.occupant), S("[]"));
    CHECK_INT(occupant_envelope_bytes(fake.occupant), 0);
    fake_seat_done(&fake);
}

TEST(capabilities_that_are_none_here_are_left_out)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake,
                      "[\"chat\",1,\"no such\",null,\"{\\\"kind\\\":\\\"x\\\"}\",[],"
                      "\"ch\\u0061t\",\"mcp/*\"]",
                      "");
    CHECK_STR(occupant_capabilities(fake.occupant), S("[\"chat\",\"mcp/*\"]"));
    fake_seat_done(&fake);
}

static void put_many(struct buf *out, char c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_putc(out, c);
}

static void put_numbered(struct buf *out, const char *before, const char *behind)
{
    for (int i = 0; i < 3000; i++)
        buf_putf(out, "%s%d%s,", before, i, behind);
}

TEST(of_more_capabilities_than_a_set_may_have_the_first_count)
{
    static const struct {
        const char *before, *behind;
        struct str last, too_many;
    } cases[] = {
        { "\"x/y", "\"", S("x/y1023"), S("x/y1024") },
        { "{\"kind\":\"x/y", "\",\"payload\":{\"a\":\"b\"}}", S("x/y63"), S("x/y64") },
    };

    FOR_EACH_CASE(c, cases) {
        struct json_span payload = { JSON_OBJECT, false, S("{\"a\":\"b\"}") };
        struct fake_seat fake;
        struct buf list;

        fake_seat_init(&fake, &plain);
        buf_init(&list, 1 << 20);
        buf_putc(&list, '[');
        put_numbered(&list, c->before, c->behind);
        buf_put(&list, S("\"chat\"]"));
        fake_seat_welcome(&fake, buf_cstr(&list), "");
        CHECK(occupant_is_welcome(fake.occupant));
        CHECK(occupant_may(fake.occupant, c->last, payload));
        CHECK(!occupant_may(fake.occupant, c->too_many, payload));
        buf_done(&list);
        fake_seat_done(&fake);
    }
}

TEST(ids_and_types_are_not_longer_than_they_may_be)
{
    static const struct {
        size_t id, type;
        bool is_known;
        size_t type_kept;
    } cases[] = {
        { 256, 32, true, 32 }, { 257, 32, false, 0 },   { 1 << 20, 1, false, 0 },
        { 1, 33, true, 0 },    { 1, 1 << 20, true, 0 },
    };

    FOR_EACH_CASE(c, cases) {
        const struct roster_entry *who;
        struct fake_seat fake;
        struct buf text;
        size_t at = 0;

        fake_seat_init(&fake, &plain);
        buf_init(&text, 4 << 20);
        buf_put(&text, S("{\"id\":\""));
        put_many(&text, 'x', c->id);
        buf_put(&text, S("\",\"moot\":{\"type\":\""));
        put_many(&text, 't', c->type);
        buf_put(&text, S("\"}}"));
        fake_seat_welcome(&fake, "[]", buf_cstr(&text));
        who = occupant_next_participant(fake.occupant, &at);
        CHECK_INT(who != NULL, c->is_known);
        if (who)
            CHECK_INT(who->type.len, c->type_kept);
        buf_done(&text);
        fake_seat_done(&fake);
    }
}

TEST(a_welcome_for_an_id_that_is_too_long_is_none)
{
    struct fake_seat fake;
    struct buf text;

    fake_seat_init(&fake, &plain);
    buf_init(&text, 4 << 20);
    buf_put(&text, S("\"you\":{\"id\":\""));
    put_many(&text, 'x', 1 << 20);
    buf_put(&text, S("\"}"));
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(&fake, "system/welcome", buf_cstr(&text));
    CHECK_STR(fake_told(&fake),
              S("offence 1 system:gateway: malformed_envelope, payload.you\n"));
    buf_done(&text);
    fake_seat_done(&fake);
}

TEST(what_was_granted_for_a_number_of_times_may_be_done)
{
    struct json_span none = {};
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(
        &fake, "system/welcome",
        "\"you\":{\"id\":\"bot\",\"capabilities\":[\"chat\"]},\"moot\":"
        "{\"grants\":[{\"id\":\"g\",\"capabilities\":[\"x/y\"],\"max_uses\":2,"
        "\"uses_left\":1},{\"id\":\"h\",\"capabilities\":[\"x/z\"]},7]}");
    CHECK(occupant_may(fake.occupant, S("x/y"), none));
    CHECK(!occupant_may(fake.occupant, S("x/z"), none)); /* it would be in the list */
    fake_seat_done(&fake);
}

TEST(what_we_may_is_asked_of_our_capabilities)
{
    static const struct {
        struct str kind;
        struct str payload; /* "": none */
        bool may;
    } cases[] = {
        { S("chat"), S(""), true },
        { S("mcp/withdraw"), S(""), true }, /* needs no capability */
        { S("participant/routing"), S(""), true },
        { S("mcp/request:tools/list"), S(""), false },
        { S("mcp/request:tools/call:add"), S(""), false }, /* depends on the payload */
        { S("mcp/request:tools/call:add"), S("{\"params\":{\"name\":\"add\"}}"), true },
        { S("mcp/request:tools/call:del"), S("{\"params\":{\"name\":\"del\"}}"), false },
        { S("mcp/request:tools/call:add"), S("[]"), false },
        { S("system/error"), S(""), false },
        { S("no kind"), S(""), false },
    };
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\",\"capabilities\":[\"chat\"],\"moot\":"
                      "{\"capabilities\":[{\"kind\":\"mcp/request:tools/call\","
                      "\"payload\":{\"params\":{\"name\":\"a*\"}}}]}}");
    FOR_EACH_CASE(c, cases) {
        struct json_span payload = { c->payload.len && c->payload.ptr[0] == '{'
                                         ? JSON_OBJECT
                                         : JSON_ARRAY,
                                     false, c->payload };

        if (c->payload.len == 0)
            payload = (struct json_span){};
        CHECK_INT(occupant_may(fake.occupant, c->kind, payload), c->may);
    }
    fake_seat_done(&fake);
}

/* --- presence --- */

TEST(joins_and_leaves_are_followed)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "");
    fake_hear_gateway(&fake, "system/presence", "\"event\":\"join\"," PARTICIPANT);
    CHECK_STR(fake_told(&fake), S("heard system/presence\njoins ann\n"));
    CHECK_STR(occupant_find_participant(fake.occupant, S("ann"))->type, S("human"));
    fake_hear_gateway(&fake, "system/presence", "\"event\":\"join\"," PARTICIPANT);
    CHECK_STR(fake_told(&fake), S("heard system/presence\n"));
    fake_hear_gateway(&fake, "system/presence",
                      "\"event\":\"leave\",\"participant\":{\"id\":\"ann\"}");
    CHECK_STR(fake_told(&fake), S("heard system/presence\nleaves ann\n"));
    CHECK(!occupant_find_participant(fake.occupant, S("ann")));
    fake_seat_done(&fake);
}

TEST(a_batch_is_followed_in_its_order)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "{\"id\":\"ann\"}");
    fake_hear_gateway(
        &fake, "system/presence",
        "\"event\":\"batch\",\"participants\":["
        "{\"event\":\"join\",\"id\":\"bot\"},{\"event\":\"join\",\"id\":\"bob\"},"
        "{\"event\":\"leave\",\"id\":\"ann\"},{\"event\":\"join\",\"id\":\"ann\"},"
        "{\"event\":\"leave\",\"id\":\"nobody\"},{\"event\":\"leave\",\"id\":\"bob\"}]");
    CHECK_STR(fake_told(&fake),
              S("heard system/presence\njoins bob\nleaves ann\njoins ann\nleaves bob\n"));
    fake_seat_done(&fake);
}

TEST(elements_that_cannot_be_read_are_left_out)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]",
                      "7,{\"id\":7},{\"id\":\"\"},{\"id\":\"a\\u0007\"},"
                      "{\"id\":\"x\",\"id\":\"y\"},{\"id\":\"eve\"}");
    CHECK(occupant_find_participant(fake.occupant, S("eve")));
    fake_hear_gateway(&fake, "system/presence",
                      "\"event\":\"batch\",\"participants\":[{\"id\":\"ann\"},null,"
                      "{\"event\":\"dances\",\"id\":\"ann\"},"
                      "{\"event\":\"join\",\"id\":\"bob\"}]");
    CHECK_STR(fake_told(&fake), S("heard system/presence\njoins bob\n"));
    fake_seat_done(&fake);
}

TEST(broken_presence_is_an_offence)
{
    static const struct {
        const char *payload;
        const char *field;
    } cases[] = {
        { "", "payload.event" },
        { "\"event\":1", "payload.event" },
        { "\"event\":\"dances\"", "payload.event" },
        { "\"event\":\"join\"", "payload.participant" },
        { "\"event\":\"batch\"", "payload.participants" },
        { "\"event\":\"batch\",\"participants\":{}", "payload.participants" },
        { "\"event\":\"join\",\"event\":\"leave\"," PARTICIPANT, "payload.event" },
    };

    FOR_EACH_CASE(c, cases) {
        struct fake_seat fake;
        struct buf want;

        fake_seat_init(&fake, &plain);
        buf_init(&want, 256);
        buf_putf(&want, "offence 1 system:gateway: malformed_envelope, %s\n", c->field);
        fake_seat_welcome(&fake, "[]", "");
        fake_hear_gateway(&fake, "system/presence", c->payload);
        CHECK_STR(fake_told(&fake), buf_str(&want));
        buf_done(&want);
        fake_seat_done(&fake);
    }
}

TEST(who_does_not_fit_is_a_flood)
{
    struct occupant_settings few = { .limits = { .participants = 2 } };
    struct fake_seat fake;
    size_t at = 0;

    fake_seat_init(&fake, &few);
    occupant_begin(fake.occupant, false);
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\"},\"participants\":[{\"id\":\"a\"},"
                      "{\"id\":\"b\"},{\"id\":\"c\"},{\"id\":\"d\"}]");
    CHECK_STR(fake_told(&fake),
              S("heard system/welcome to me\nwelcome\nhere a\nhere b\n"
                "offence 1 system:gateway: flood, payload.participants\n"));
    fake_hear_gateway(&fake, "system/presence", "\"event\":\"join\"," PARTICIPANT);
    CHECK_STR(fake_told(&fake),
              S("heard system/presence\n"
                "offence 2 system:gateway: flood, payload.participants\n"));
    CHECK(occupant_next_participant(fake.occupant, &at));
    CHECK(occupant_next_participant(fake.occupant, &at));
    CHECK(!occupant_next_participant(fake.occupant, &at));
    fake_seat_done(&fake);
}

/* --- connections --- */

static void welcome_again(struct fake_seat *fake, bool resumes, const char *participants)
{
    struct buf text;

    buf_init(&text, 1 << 16);
    buf_putf(
        &text,
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"sys-w\",\"from\":\"system:gateway\","
        "\"ts\":\"2026-11-15T06:00:00Z\",\"to\":[\"bot\"],\"kind\":\"system/welcome\","
        "\"payload\":{\"you\":{\"id\":\"bot\"},\"participants\":[%s]}}",
        participants);
    occupant_begin(fake->occupant, resumes);
    fake_hear(fake, buf_cstr(&text));
    buf_done(&text);
}

TEST(what_is_repeated_after_a_reconnect_is_dropped)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "");
    fake_hear_from(&fake, "ann", "1", "chat", CHAT);
    fake_hear_from(&fake, "ann", "2", "chat", CHAT);
    CHECK_STR(occupant_last(fake.occupant), S("2"));
    occupant_lost(fake.occupant, false, fake.now);
    CHECK(!occupant_is_welcome(fake.occupant));
    CHECK_STR(occupant_id(fake.occupant), S("bot"));
    (void)fake_told(&fake);
    welcome_again(&fake, true, "");
    CHECK_STR(fake_told(&fake), S("heard system/welcome to me\nwelcome resumed\n"));
    fake_hear_from(&fake, "ann", "1", "chat", CHAT);
    fake_hear_from(&fake, "bob", "1", "chat", CHAT);
    fake_hear_from(&fake, "ann", "2", "chat", CHAT);
    CHECK_STR(occupant_last(fake.occupant), S("2"));
    fake_hear_from(&fake, "ann", "3", "chat", CHAT);
    CHECK_STR(fake_told(&fake), S("heard 1 bob chat again\nheard 3 ann chat again\n"));
    fake_judge(&fake);
    fake_hear_from(&fake, "ann", "2", "chat", CHAT); /* a long replay goes on */
    fake_hear_from(&fake, "ann", "4", "chat", CHAT);
    CHECK_STR(fake_told(&fake), S("heard 4 ann chat\n"));
    fake_seat_done(&fake);
}

TEST(a_replay_lasts_until_its_own_fence_is_judged)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "");
    CHECK_INT(fake.fence, 0); /* nothing is replayed */
    fake_hear_from(&fake, "ann", "1", "chat", CHAT);
    welcome_again(&fake, true, "");
    CHECK(fake.fence > 0);
    (void)fake_told(&fake);
    occupant_judged(fake.occupant, fake.fence - 1, fake.now);
    fake_hear_from(&fake, "ann", "2", "chat", CHAT);
    CHECK_STR(fake_told(&fake), S("heard 2 ann chat again\n"));
    occupant_judged(fake.occupant, fake.fence, fake.now);
    fake_hear_from(&fake, "ann", "3", "chat", CHAT);
    CHECK_STR(fake_told(&fake), S("heard 3 ann chat\n"));
    fake_seat_done(&fake);
}

TEST(a_connection_that_resumes_nothing_repeats_nothing)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "");
    fake_hear_from(&fake, "ann", "1", "chat", CHAT);
    (void)fake_told(&fake);
    welcome_again(&fake, false, "");
    fake_hear_from(&fake, "ann", "1", "chat", CHAT); /* another one of that name */
    CHECK_STR(fake_told(&fake),
              S("heard system/welcome to me\nwelcome\nheard 1 ann chat\n"));
    fake_seat_done(&fake);
}

TEST(a_gap_is_told)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "");
    fake_hear_gateway(&fake, "system/gap", "\"after\":\"x\"");
    fake_hear_gateway(&fake, "system/gap", "\"missed\":17");
    fake_hear_gateway(&fake, "system/gap", "\"missed\":\"17\"");
    fake_hear_gateway(&fake, "system/gap", "\"missed\":-1");
    CHECK_STR(fake_told(&fake),
              S("heard system/gap to me\ngap 0\nheard system/gap to me\ngap 17\n"
                "offence 1 system:gateway: malformed_envelope, payload.missed\n"
                "offence 2 system:gateway: malformed_envelope, payload.missed\n"));
    CHECK_STR(occupant_last(fake.occupant), S(""));
    fake_seat_done(&fake);
}

static void hear_presence_at(struct fake_seat *fake, const char *id, const char *ts,
                             const char *payload)
{
    struct buf rest;

    buf_init(&rest, 1 << 16);
    buf_putf(&rest, "\"ts\":\"%s\",\"payload\":{%s}", ts, payload);
    fake_hear_from(fake, "system:gateway", id, "system/presence", buf_cstr(&rest));
    buf_done(&rest);
}

TEST(the_welcome_knows_more_than_the_replay_behind_it)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "{\"id\":\"ann\"},{\"id\":\"bob\"}");
    welcome_again(&fake, true, "{\"id\":\"ann\",\"capabilities\":[\"chat\"]}");
    CHECK_STR(fake_told(&fake), S("heard system/welcome to me\nwelcome resumed\n"
                                  "leaves bob\nchanges ann\n"));
    hear_presence_at(&fake, "1", "2026-11-15T05:59:58Z",
                     "\"event\":\"batch\",\"participants\":["
                     "{\"event\":\"leave\",\"id\":\"ann\"},"
                     "{\"event\":\"join\",\"id\":\"ann\",\"capabilities\":[]},"
                     "{\"event\":\"join\",\"id\":\"eve\"}]");
    CHECK_STR(fake_told(&fake), S("heard system/presence again\n"));
    hear_presence_at(&fake, "2", "2026-11-15T06:00:00Z",
                     "\"event\":\"leave\",\"participant\":{\"id\":\"ann\"}");
    CHECK_STR(fake_told(&fake), S("heard system/presence again\nleaves ann\n"));
    /* What follows is news, even where the gateway's clock was set back. */
    hear_presence_at(&fake, "3", "2026-11-15T05:00:00Z",
                     "\"event\":\"join\",\"participant\":{\"id\":\"ann\"}");
    CHECK_STR(fake_told(&fake), S("heard system/presence again\njoins ann\n"));
    fake_seat_done(&fake);
}

static void note_end(void *user, const struct outcome *outcome)
{
    *(enum ask_end *)user = outcome->type;
}

static void ask_ann(struct fake_seat *fake, enum ask_end *end)
{
    struct asking asking = { .to = S("ann"),
                             .method = S("tools/list"),
                             .how = ASK_CALL,
                             .ops = { .on_done = note_end },
                             .user = end };

    *end = ASK_SENT; /* which it cannot be */
    CHECK_INT(occupant_request(fake->occupant, &asking, fake->now, NULL, NULL), OK);
}

TEST(who_left_before_we_came_back_leaves_older_calls)
{
    struct fake_seat fake;
    enum ask_end before, after;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[\"mcp/*\"]", "{\"id\":\"ann\"}");
    ask_ann(&fake, &before);
    occupant_lost(fake.occupant, false, fake.now);
    welcome_again(&fake, true, "{\"id\":\"ann\"}");
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\",\"capabilities\":[\"mcp/*\"]},"
                      "\"participants\":[{\"id\":\"ann\"}]");
    ask_ann(&fake, &after);
    hear_presence_at(&fake, "1", "2026-11-15T05:59:58Z",
                     "\"event\":\"leave\",\"participant\":{\"id\":\"ann\"}");
    CHECK_INT(before, ASK_GONE);
    CHECK_INT(after, ASK_SENT);
    hear_presence_at(&fake, "2", "2026-11-15T06:00:01Z",
                     "\"event\":\"leave\",\"participant\":{\"id\":\"ann\"}");
    CHECK_INT(after, ASK_GONE);
    fake_seat_done(&fake);
}

TEST(a_welcome_that_resumes_nothing_ends_older_calls)
{
    struct fake_seat fake;
    enum ask_end end;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[\"mcp/*\"]", "{\"id\":\"ann\"}");
    ask_ann(&fake, &end);
    occupant_lost(fake.occupant, false, fake.now);
    welcome_again(&fake, true, "{\"id\":\"ann\"}");
    CHECK_INT(end, ASK_SENT);
    occupant_lost(fake.occupant, false, fake.now);
    welcome_again(&fake, false, "{\"id\":\"ann\"}");
    CHECK_INT(end, ASK_LOST);
    fake_seat_done(&fake);
}

TEST(a_gap_ends_older_calls)
{
    struct fake_seat fake;
    enum ask_end end;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[\"mcp/*\"]", "{\"id\":\"ann\"}");
    ask_ann(&fake, &end);
    occupant_lost(fake.occupant, false, fake.now);
    welcome_again(&fake, true, "{\"id\":\"ann\"}");
    CHECK_INT(end, ASK_SENT);
    fake_hear_gateway(&fake, "system/gap", "\"after\":\"x\"");
    CHECK_INT(end, ASK_LOST);
    fake_seat_done(&fake);
}

TEST(an_answer_to_a_fulfilment_names_the_proposer)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "");
    fake_hear_from(&fake, "eve", "p", "mcp/proposal:tools/list",
                   "\"payload\":{\"method\":\"tools/list\"}");
    (void)fake_told(&fake);
    fake_hear_from(&fake, "ann", "q", "mcp/request:tools/list",
                   "\"correlation_id\":\"p\"," TO_ME LIST);
    CHECK_STR(fake_told(&fake), S("heard q ann mcp/request:tools/list to me\n"
                                  "proposal p fulfilled\nrequest q to ann eve\n"));
    fake_hear_from(&fake, "eve", "r", "mcp/request:tools/list",
                   "\"correlation_id\":\"p\"," TO_ME LIST);
    CHECK_STR(fake_told(&fake),
              S("heard r eve mcp/request:tools/list to me\nrequest r to eve\n"));
    fake_seat_done(&fake);
}

TEST(a_response_at_fault_is_an_offence)
{
    struct fake_seat fake;
    enum ask_end end;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[\"mcp/*\"]", "");
    ask_ann(&fake, &end);
    fake_hear_from(&fake, "eve", "r", "mcp/response:tools/list",
                   "\"correlation_id\":\"me-1\"," TO_ME
                   "\"payload\":{\"id\":\"me-1\",\"result\":{}}");
    CHECK(str_starts(fake_told(&fake), S("offence 1 eve: foreign_response, ")));
    CHECK_INT(end, ASK_SENT);
    fake_hear_from(&fake, "ann", "r", "mcp/response:tools/list",
                   "\"correlation_id\":\"me-1\"," TO_ME
                   "\"payload\":{\"id\":\"me-1\",\"result\":{}}");
    CHECK_STR(fake_told(&fake), S("heard r ann mcp/response:tools/list to me\n"));
    CHECK_INT(end, ASK_RESULT);
    fake_seat_done(&fake);
}

TEST(a_refusal_that_ends_a_call_is_told_once)
{
    struct fake_seat fake;
    enum ask_end end;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[\"mcp/*\"]", "");
    ask_ann(&fake, &end);
    fake_hear_from(&fake, "system:gateway", "s", "system/error",
                   "\"correlation_id\":\"me-1\"," TO_ME
                   "\"payload\":{\"error\":\"paused\",\"message\":\"no\"}");
    CHECK_STR(fake_told(&fake), S("heard system/error to me\n"));
    CHECK_INT(end, ASK_REFUSED);
    fake_seat_done(&fake);
}

TEST(an_end_for_good_ends_what_waits)
{
    struct fake_seat fake;
    enum ask_end end;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[\"mcp/*\"]", "");
    ask_ann(&fake, &end);
    occupant_lost(fake.occupant, false, fake.now);
    CHECK_INT(end, ASK_SENT);
    occupant_lost(fake.occupant, true, fake.now);
    CHECK_INT(end, ASK_LOST);
    fake_seat_done(&fake);
}

/* --- ourselves --- */

TEST(our_own_envelopes_are_dropped_unless_we_want_them)
{
    static const struct {
        bool hears_itself;
        const char *from, *id;
        const char *told;
    } cases[] = {
        { false, "bot", "me-1", "" },
        { true, "bot", "me-1", "heard me-1 bot chat mine\n" },
        { false, "bot", "x-1", "heard x-1 bot chat\n" }, /* another connection of ours */
        { true, "bot", "x-1", "heard x-1 bot chat\n" },
        { false, "eve", "me-1", "heard me-1 eve chat\n" }, /* pretends */
        { true, "eve", "me-1", "heard me-1 eve chat\n" },
    };

    FOR_EACH_CASE(c, cases) {
        struct occupant_settings settings = { .hears_itself = c->hears_itself };
        struct fake_seat fake;

        fake_seat_init(&fake, &settings);
        fake_seat_welcome(&fake, "[]", "");
        fake_hear_from(&fake, c->from, c->id, "chat", CHAT);
        CHECK_STR(fake_told(&fake), str_of(c->told));
        CHECK_STR(occupant_last(fake.occupant), str_of(c->id));
        fake_seat_done(&fake);
    }
}

TEST(we_do_not_ask_ourselves)
{
    struct occupant_settings settings = { .hears_itself = true };
    struct fake_seat fake;

    fake_seat_init(&fake, &settings);
    fake_seat_welcome(&fake, "[]", "");
    fake_hear_from(&fake, "bot", "me-1", "mcp/request:tools/list", TO_ME LIST);
    CHECK_STR(fake_told(&fake), S("heard me-1 bot mcp/request:tools/list mine to me\n"));
    fake_hear_from(&fake, "bot", "x-1", "mcp/request:tools/list", TO_ME LIST);
    CHECK_STR(fake_told(&fake), S("heard x-1 bot mcp/request:tools/list to me\n"
                                  "request x-1 to bot\n"));
    fake_seat_done(&fake);
}

/* --- what is in the log --- */

TEST(what_the_gateway_says_to_us_alone_is_not_in_the_log)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "");
    fake_hear_from(&fake, "ann", "1", "chat", CHAT);
    fake_hear_from(&fake, "system:gateway", "s1", "topic/invite",
                   TO_ME "\"payload\":{\"ticket\":\"t\"}");
    fake_hear_from(&fake, "system:gateway", "s2", "system/error",
                   TO_ME "\"payload\":{\"error\":\"paused\",\"message\":\"m\"}");
    CHECK_STR(occupant_last(fake.occupant), S("1"));
    fake_hear_from(&fake, "system:gateway", "s3", "topic/invite",
                   "\"payload\":{\"inviter\":\"ann\"}");
    CHECK_STR(occupant_last(fake.occupant), S("s3"));
    fake_hear_from(&fake, "system:gateway", "s4", "capability/grant-ack",
                   "\"payload\":{}");
    CHECK_STR(occupant_last(fake.occupant), S("s4"));
    fake_hear_from(&fake, "system:gateway", "s5", "system/notice", "\"payload\":{}");
    CHECK_STR(occupant_last(fake.occupant), S("s5"));
    fake_hear_from(&fake, "system:gateway", "s6", "system/presence",
                   "\"payload\":{\"event\":\"join\"," PARTICIPANT "}");
    CHECK_STR(occupant_last(fake.occupant), S("s6"));
    CHECK_STR(fake_told(&fake),
              S("heard 1 ann chat\nheard topic/invite to me\nheard system/error to me\n"
                "refused : paused, m\nheard topic/invite\nheard capability/grant-ack\n"
                "heard system/notice\nheard system/presence\njoins ann\n"));
    fake_seat_done(&fake);
}

/* --- requests --- */

TEST(requests_that_are_ours_are_handed_out)
{
    static const struct {
        const char *kind;
        const char *rest;
        bool is_ours;
    } cases[] = {
#define CALL \
    "\"payload\":{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}"
#define ASKS(method) "\"payload\":{\"id\":1,\"method\":\"" method "\"}"
        { "mcp/request:tools/call:a", TO_ME CALL, true },
        { "mcp/request:tools/call:a", "\"to\":[\"ann\",\"bot\"]," CALL, true },
        { "mcp/request:tools/call:a", "\"to\":[\"ann\"]," CALL, false },
        { "mcp/request:tools/call:a", CALL, false },
        { "mcp/request:tools/list", ASKS("tools/list"), true },
        { "mcp/request:resources/templates/list", ASKS("resources/templates/list"),
          true },
        { "mcp/request:tools/list", "\"to\":[\"ann\"]," ASKS("tools/list"), false },
        { "mcp/request:ping", ASKS("ping"), true },
        { "mcp/request:initialize", ASKS("initialize"), true },
        { "mcp/request:server/discover", ASKS("server/discover"), true },
        { "mcp/request:pinger", ASKS("pinger"), false },
        { "mcp/request:list", ASKS("list"), false },
        { "mcp/request:tools/call", ASKS("tools/call"), false },
        { "mcp/request:notifications/tools/list",
          TO_ME "\"payload\":{\"method\":\"notifications/tools/list\"}", false },
    };

    FOR_EACH_CASE(c, cases) {
        struct fake_seat fake;
        struct str told;

        fake_seat_init(&fake, &plain);
        fake_seat_welcome(&fake, "[]", "");
        fake_hear_from(&fake, "ann", "q", c->kind, c->rest);
        told = fake_told(&fake);
        CHECK(str_starts(told, S("heard q ann mcp/request:")));
        CHECK_INT(str_ends(told, S("\nrequest q to ann\n")), c->is_ours);
        fake_seat_done(&fake);
    }
}

TEST(a_cancelled_request_is_told_to_whom_it_concerns)
{
#define CANCEL(more) "\"payload\":{\"method\":\"notifications/cancelled\"" more "}"
    static const struct {
        const char *rest;
        const char *told;
    } cases[] = {
        { TO_ME CANCEL(",\"params\":{\"requestId\":\"q1\",\"reason\":\"no\"}"),
          "cancelled q1 by ann: no\n" },
        { TO_ME CANCEL(",\"params\":{\"requestId\":17}"), "cancelled 17 by ann: \n" },
        { TO_ME "\"correlation_id\":\"env\"," CANCEL(",\"params\":{\"requestId\":17}"),
          "cancelled env by ann: \n" },
        { TO_ME CANCEL(
              ",\"params\":{\"requestId\":\"q\\u0031\",\"reason\":\"\\u006eo\"}"),
          "cancelled q1 by ann: no\n" },
        { CANCEL(",\"params\":{\"requestId\":\"q1\"}"), "cancelled q1 by ann: \n" },
        { "\"to\":[\"eve\"]," CANCEL(",\"params\":{\"requestId\":\"q1\"}"), "" },
        { TO_ME CANCEL(""), "" },
        { TO_ME CANCEL(",\"params\":{}"), "" },
        { TO_ME CANCEL(",\"params\":{\"requestId\":true,\"reason\":7}"), "" },
        { TO_ME CANCEL(",\"params\":{\"requestId\":\"\"}"), "" },
    };

    FOR_EACH_CASE(c, cases) {
        struct fake_seat fake;
        struct str told;

        fake_seat_init(&fake, &plain);
        fake_seat_welcome(&fake, "[]", "");
        fake_hear_from(&fake, "ann", "c", "mcp/request:notifications/cancelled", c->rest);
        told = fake_told(&fake);
        CHECK_STR(str_slice(told, str_find(told, '\n', 0) + 1, told.len),
                  str_of(c->told));
        fake_seat_done(&fake);
    }
}

/* --- refusals --- */

TEST(refusals_are_told)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "");
    fake_hear_from(&fake, "system:gateway", "s1", "system/error",
                   "\"correlation_id\":\"x-1\"," TO_ME
                   "\"payload\":{\"error\":\"duplicate_id\",\"message\":\"used\"}");
    fake_hear_from(&fake, "system:gateway", "s2", "system/error",
                   TO_ME
                   "\"payload\":{\"error\":\"slow_consumer\",\"message\":\"slow\"}");
    fake_hear_from(&fake, "system:gateway", "s3", "system/error",
                   TO_ME "\"payload\":{\"message\":\"slow\"}");
    fake_hear_from(&fake, "system:gateway", "s4", "system/error",
                   TO_ME "\"payload\":{\"error\":\"paused\",\"message\":[]}");
    CHECK_STR(fake_told(&fake),
              S("heard system/error to me\nrefused x-1: duplicate_id, used\n"
                "heard system/error to me\nrefused : slow_consumer, slow\n"
                "offence 1 system:gateway: malformed_envelope, payload.error\n"
                "offence 2 system:gateway: malformed_envelope, payload.message\n"));
    fake_seat_done(&fake);
}

/* --- offences --- */

TEST(what_fails_a_check_is_told_to_nobody_but_as_an_offence)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "");
    fake_hear_from(&fake, "eve", "1", "chat", CHAT);
    fake_hear_from(&fake, "eve", "2", "system/welcome",
                   "\"payload\":{\"you\":{\"id\":\"eve\",\"capabilities\":[\"*\"]}}");
    fake_hear_from(&fake, "system:eve", "3", "chat", CHAT);
    fake_hear_from(&fake, "eve", "4", "mcp/request:tools/list",
                   TO_ME "\"payload\":{\"id\":1,\"method\":\"tools/call\"}");
    fake_hear(&fake, "{}");
    fake_hear(&fake, "");
    CHECK_STR(fake_told(&fake), S("heard 1 eve chat\n"
                                  "offence 1 eve: reserved_namespace, kind\n"
                                  "offence 1 system:eve: reserved_namespace, from\n"
                                  "offence 2 eve: kind_payload_mismatch, payload.method\n"
                                  "offence 1 : malformed_envelope, protocol\n"
                                  "offence 2 : malformed_envelope, \n"));
    CHECK_STR(occupant_id(fake.occupant), S("bot"));
    CHECK_STR(occupant_capabilities(fake.occupant), S("[]"));
    fake_seat_done(&fake);
}

TEST(what_was_dropped_is_not_dropped_again)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "");
    fake_hear_from(&fake, "eve", "1", "chat", "\"payload\":{}");
    fake_hear_from(&fake, "system:gateway", "2", "chat", CHAT);
    CHECK_STR(fake_told(&fake),
              S("offence 1 eve: kind_payload_mismatch, payload.text\n"
                "offence 1 system:gateway: reserved_namespace, from\n"));
    CHECK_STR(occupant_last(fake.occupant), S("1"));
    occupant_lost(fake.occupant, false, fake.now);
    welcome_again(&fake, true, "");
    (void)fake_told(&fake);
    fake_hear_from(&fake, "eve", "1", "chat", "\"payload\":{}");
    CHECK_STR(fake_told(&fake), S(""));
    fake_seat_done(&fake);
}

TEST(a_flood_of_offenders_is_counted_together)
{
    struct fake_seat fake;

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[]", "");
    for (int i = 0; i < 1000; i++) {
        char from[16];

        (void)snprintf(from, sizeof(from), "p-%d", i);
        fake_hear_from(&fake, from, "1", "system/gap", "\"payload\":{}");
    }
    CHECK(
        str_ends(fake_told(&fake), S("\noffence 992 p-999: reserved_namespace, kind\n")));
    fake_hear_from(&fake, "p-0", "1", "system/gap", "\"payload\":{}");
    CHECK_STR(fake_told(&fake), S("offence 2 p-0: reserved_namespace, kind\n"));
    fake_seat_done(&fake);
}

TEST(offenders_are_reported_to_the_room_where_that_is_wanted)
{
    static const struct {
        bool reports;
        const char *capabilities;
        bool is_told;
    } cases[] = {
        { true, "[\"participant/report\"]", true },
        { true, "[\"chat\"]", false },
        { false, "[\"participant/report\"]", false },
    };

    FOR_EACH_CASE(c, cases) {
        struct occupant_settings settings = { .reports = c->reports };
        struct fake_seat fake;
        struct str sent;

        fake_seat_init(&fake, &settings);
        fake_seat_welcome(&fake, c->capabilities, "");
        CHECK_INT(occupant_due_ms(fake.occupant), UINT64_MAX);
        fake_hear_from(&fake, "eve", "1", "system/gap", "\"payload\":{}");
        fake_hear_from(&fake, "eve", "2", "system/gap", "\"payload\":{}");
        CHECK_INT(occupant_due_ms(fake.occupant) <= fake.now.mono_ms, c->reports);
        occupant_tick(fake.occupant, fake.now);
        sent = fake_sent(&fake);
        CHECK_INT(memmem(sent.ptr, sent.len, "\"participant\":\"eve\"", 19) != NULL,
                  c->is_told);
        if (c->is_told) {
            CHECK(memmem(sent.ptr, sent.len, "\"what\":\"reserved_namespace\"", 27));
            CHECK(memmem(sent.ptr, sent.len, "\"count\":2", 9));
        }
        CHECK_INT(fake.sent_count, c->is_told);
        fake_seat_done(&fake);
    }
}

TEST(reports_wait_for_a_connection)
{
    struct occupant_settings settings = { .reports = true };
    struct fake_seat fake;

    fake_seat_init(&fake, &settings);
    fake_seat_welcome(&fake, "[\"participant/report\"]", "");
    fake_hear_from(&fake, "eve", "1", "system/gap", "\"payload\":{}");
    occupant_lost(fake.occupant, false, fake.now);
    CHECK_INT(occupant_due_ms(fake.occupant), UINT64_MAX);
    occupant_tick(fake.occupant, fake.now);
    CHECK_INT(fake.sent_count, 0);
    fake_seat_welcome(&fake, "[\"participant/report\"]", "");
    occupant_tick(fake.occupant, fake.now);
    CHECK_INT(fake.sent_count, 1);
    fake_seat_done(&fake);
}

/* --- hostile texts --- */

TEST(texts_of_any_shape_do_no_harm)
{
    enum { MIB = 1 << 20 };
    static const char *const fills[] = {
        "[", "{\"a\":", "\"", "\\u0000", "\xff", "0", ","
    };
    struct fake_seat fake;
    char *bytes = xmalloc(MIB);

    fake_seat_init(&fake, &plain);
    fake_seat_welcome(&fake, "[\"*\"]", "");
    FOR_EACH_CASE(fill, fills) {
        size_t len = strlen(*fill);

        for (size_t i = 0; i + len <= MIB; i += len)
            memcpy(bytes + i, *fill, len);
        occupant_hear(fake.occupant, (struct str){ bytes, MIB }, fake.now);
        CHECK(str_starts(fake_told(&fake), S("offence ")));
    }
    free(bytes);
    fake_seat_done(&fake);
}

TEST(whoever_wants_to_know_nothing_is_told_nothing)
{
    static const char *const rests[] = {
        "\"kind\":\"system/welcome\",\"payload\":{\"you\":{\"id\":\"bot\"},\"participants\":"
        "[{\"id\":\"ann\"}]}",
        "\"kind\":\"system/welcome\",\"payload\":{\"you\":{\"id\":\"bot\"}}",
        "\"kind\":\"system/presence\",\"payload\":{\"event\":\"join\"," PARTICIPANT "}",
        "\"kind\":\"system/presence\",\"payload\":{\"event\":\"leave\"," PARTICIPANT "}",
        "\"kind\":\"system/error\",\"payload\":{\"error\":\"e\",\"message\":\"m\"}",
        "\"kind\":\"system/gap\",\"payload\":{}",
        "\"kind\":\"chat\",\"payload\":{}",
    };
    static const struct occupant_ops nothing = {};
    struct occupant_settings settings = { .id_prefix = S("me"),
                                          .limits = { 128, 1, 1, 1, 1, 1 } };
    struct fake_seat fake;
    struct occupant *o;

    fake_seat_init(&fake, &plain);
    o = occupant_new(&fake.seat, &settings, &nothing, NULL);
    occupant_begin(o, false);
    FOR_EACH_CASE(rest, rests) {
        struct buf text;

        buf_init(&text, 4096);
        buf_putf(
            &text,
            "{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"from\":\"system:gateway\",%s}",
            *rest);
        occupant_hear(o, buf_str(&text), fake.now);
        buf_done(&text);
    }
    CHECK(occupant_is_welcome(o));
    occupant_free(o);
    fake_seat_done(&fake);
}
