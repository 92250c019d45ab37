/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "fake_seat.h"
#include "harness.h"
#include "participant/ask.h"
#include "participant/occupant.h"

#define CHAT  "\"payload\":{\"text\":\"hi\"}"
#define LIST  "\"payload\":{\"id\":1,\"method\":\"tools/list\"}"
#define TO_ME "\"to\":[\"bot\"],"
#define PARTICIPANT \
    "\"participant\":{\"id\":\"ann\",\"capabilities\":[\"chat\"],\"moot\":{\"type\":\"human\"}}"

static const struct occupant_settings plain = {};

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
              S("heard system/welcome to me\nwelcome\ngap 0\nheard 1 ann chat\n"));
    fake_seat_done(&fake);
}

TEST(what_is_longer_than_we_bear_is_dropped_unless_the_gateway_says_it_or_allows_it)
{
    struct occupant_settings short_ones = { .limits = { .envelope_bytes = 120 } };
    const char *long_one = "\"payload\":{\"text\":\"0123456789012345678901234567890123456"
                           "7890123456789012345678901234567890123456789\"}";
    struct fake_seat fake;

    fake_seat_init(&fake, &short_ones);
    fake_seat_welcome(&fake, "[\"chat\"]", "{\"id\":\"ann\"},{\"id\":\"bob\"}");
    CHECK_STR(occupant_id(fake.occupant), S("bot"));
    fake_hear_from(&fake, "ann", "1", "chat", CHAT);
    fake_hear_from(&fake, "ann", "2", "chat", long_one);
    CHECK_STR(fake_told(&fake), S("heard 1 ann chat\noffence 1 ann: too_large, \n"));
    CHECK_STR(occupant_last(fake.occupant), S("2")); /* it is not asked for again */
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\"},"
                      "\"moot\":{\"limits\":{\"envelope_bytes\":300}}");
    (void)fake_told(&fake);
    fake_hear_from(&fake, "ann", "3", "chat", long_one);
    CHECK_STR(fake_told(&fake), S("heard 3 ann chat\n"));
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

TEST(an_answer_to_a_request_that_only_cites_a_proposal_is_not_for_the_proposer)
{
    static const char *const proposals[] = {
        "mcp/proposal:prompts/list\",\"payload\":{\"method\":\"prompts/list",
        "mcp/proposal:tools/list\",\"to\":[\"ann\"],\"payload\":{\"method\":\"tools/list",
    };

    for (size_t i = 0; i < COUNT(proposals); i++) {
        struct fake_seat fake;
        char text[256];

        fake_seat_init(&fake, &plain);
        fake_seat_welcome(&fake, "[]", "");
        (void)snprintf(
            text, sizeof(text),
            "{\"protocol\":\"mcpx/v0.1\",\"id\":\"p\",\"from\":\"eve\",\"kind\":\"%s\"}}",
            proposals[i]);
        fake_hear(&fake, text);
        CHECK(str_ends(fake_told(&fake), S("proposal p open\n")));
        fake_hear_from(&fake, "ann", "q", "mcp/request:tools/list",
                       "\"correlation_id\":\"p\"," TO_ME LIST);
        CHECK(str_ends(fake_told(&fake), S("\nrequest q to ann\n")));
        fake_seat_done(&fake);
    }
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

static bool holds(struct str text, struct str part)
{
    return text.len && memmem(text.ptr, text.len, part.ptr, part.len);
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
        CHECK_INT(holds(sent, S("\"participant\":\"eve\",\"what\":"
                                "\"reserved_namespace\",\"count\":2")),
                  c->is_told);
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
                                          .limits = { .depth = 128,
                                                      .calls = 1,
                                                      .proposals = 1,
                                                      .participants = 1,
                                                      .offenders = 1,
                                                      .recent = 1,
                                                      .envelope_bytes = 1 << 20 } };
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
