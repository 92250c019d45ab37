/* SPDX-License-Identifier: Apache-2.0 */
/* A bridge whose calls somebody must authorize: what is said to whom, and when. */
#include <stdio.h>
#include <string.h>

#include "bridge/gate.h"
#include "bridge_room.h"
#include "harness.h"

#define PEOPLE                                                                   \
    "{\"id\":\"ann\",\"capabilities\":[\"*\"],\"moot\":{\"type\":\"human\"}},"   \
    "{\"id\":\"bob\",\"capabilities\":[\"*\"],\"moot\":{\"type\":\"agent\"}},"   \
    "{\"id\":\"dan\",\"capabilities\":[\"*\"],\"moot\":{\"type\":\"service\"}}," \
    "{\"id\":\"eva\",\"capabilities\":[\"*\"],\"moot\":{\"type\":\"human\"}}"
#define ASK    "\"kind\":\"mcp/request:notifications/authorization/request\""
#define CALLED "tools/call"

static struct str sent_to_server(struct room *room)
{
    return stage_sent(&room->stage, 0);
}

static void begin_tools(struct room *room, struct gate_terms terms, enum pin_mode pin,
                        const char *tools)
{
    struct server_spec *spec = stage_spec();

    spec->gate = terms;
    spec->pin = pin;
    if (!spec->gate.timeout_ms)
        spec->gate.timeout_ms = GATE_TIMEOUT_MS;
    room_sit(room, spec, PEOPLE);
    room_answer(room, ++room->ids,
                "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":" CAPABLE "}");
    room_list(room, tools, "");
    room_settle(room);
}

static void begin(struct room *room, struct gate_terms terms)
{
    begin_tools(room, terms, PIN_HOLD, TOOL("echo"));
}

/* Bob calls; what is asked of whom is in `out`, and the id of it. */
static unsigned call_bob(struct room *room, char id[static 64], char out[static 4096])
{
    unsigned envelope = room_call(room, "bob", "echo");
    struct str sent = fake_sent(&room->seat);

    (void)snprintf(out, 4096, STR_FMT, STR_ARG(sent));
    id[0] = 0;
    if (strstr(out, "\"id\":\"auth-"))
        (void)snprintf(id, 64, "%.21s", strstr(out, "\"id\":\"auth-") + 6);
    return envelope;
}

static struct str respond(struct room *room, const char *from, const char *id,
                          const char *more)
{
    char rest[512];

    (void)snprintf(rest, sizeof(rest),
                   "\"to\":[\"tool\"],\"payload\":{\"jsonrpc\":\"2.0\","
                   "\"method\":\"authorization/respond\",\"params\":{"
                   "\"authorizationId\":\"%s\",%s}}",
                   id, more);
    room_hear(room, from, "mcp/request:authorization/respond", rest);
    return fake_sent(&room->seat);
}

TEST(a_call_waits_for_a_word_and_then_reaches_the_server)
{
    struct room room;
    char id[64], out[4096], wanted[512];
    unsigned envelope;

    begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
    envelope = call_bob(&room, id, out);
    CHECK(!text_has(sent_to_server(&room), CALLED));
    (void)snprintf(
        wanted, sizeof(wanted),
        "\"kind\":\"mcp/response:tools/call:echo\",\"correlation_id\":\"e-%u\"",
        envelope);
    CHECK(strstr(out, wanted));
    (void)snprintf(wanted, sizeof(wanted),
                   "\"error\":{\"code\":-32001,\"message\":\"Authorization required\","
                   "\"data\":{\"authorizationRequest\":{\"id\":\"%s\",\"tool\":\"echo\","
                   "\"arguments\":{},\"requester\":\"bob\",\"reason\":\"every call of "
                   "this server is to be authorized\",\"expiresAt\":\"",
                   id);
    CHECK(strstr(out, wanted));
    (void)snprintf(wanted, sizeof(wanted), ASK ",\"correlation_id\":\"e-%u\"", envelope);
    CHECK(strstr(out, wanted));
    (void)respond(&room, "ann", id, "\"decision\":\"approve\"");
    CHECK(text_has(sent_to_server(&room), CALLED));
    room_answer(&room, ++room.ids, "{\"content\":[]}");
    (void)snprintf(wanted, sizeof(wanted), "\"correlation_id\":\"e-%u\"", envelope);
    CHECK(text_has(fake_sent(&room.seat), wanted));
    room_end(&room);
}

TEST(a_denial_names_who_and_why)
{
    struct room room;
    char id[64], out[4096], wanted[256];

    begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
    (void)call_bob(&room, id, out);
    (void)snprintf(wanted, sizeof(wanted),
                   "\"error\":{\"code\":-32002,\"message\":\"Authorization denied\","
                   "\"data\":{\"reason\":\"not now\",\"authorizationId\":\"%s\","
                   "\"decidedBy\":\"ann\"}}",
                   id);
    CHECK(text_has(
        respond(&room, "ann", id, "\"decision\":\"deny\",\"reason\":\"not now\""),
        wanted));
    CHECK(!text_has(sent_to_server(&room), CALLED));
    room_end(&room);
}

TEST(the_caller_and_whoever_is_wrong_is_not_heard)
{
    static const struct {
        const char *from, *id, *more;
    } cases[] = {
        { "bob", NULL, "\"decision\":\"approve\"" },
        { "ann", "auth-AAAAAAAAAAAAAAAA", "\"decision\":\"approve\"" },
        { "ann", NULL, "\"decision\":\"allow\"" },
        { "ann", NULL, "\"decision\":true" },
        { "ann", NULL, "\"decision\":\"approve\",\"validUntil\":7" },
    };
    struct room room;
    char id[64], out[4096];

    begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
    (void)call_bob(&room, id, out);
    FOR_EACH_CASE(c, cases)
        CHECK_STR(respond(&room, c->from, c->id ? c->id : id, c->more), S(""));
    CHECK(!text_has(sent_to_server(&room), CALLED));
    (void)respond(&room, "eva", id, "\"decision\":\"approve\",\"validUntil\":null");
    CHECK(text_has(sent_to_server(&room), CALLED));
    room_end(&room);
}

TEST(a_word_about_another_announcement_is_not_heard)
{
    struct room room;
    char id[64], out[4096], rest[512];

    begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
    (void)call_bob(&room, id, out);
    (void)snprintf(rest, sizeof(rest),
                   "\"to\":[\"tool\"],\"correlation_id\":\"x\",\"payload\":{"
                   "\"jsonrpc\":\"2.0\",\"method\":\"authorization/respond\","
                   "\"params\":{\"authorizationId\":\"%s\",\"decision\":\"approve\"}}",
                   id);
    room_hear(&room, "ann", "mcp/request:authorization/respond", rest);
    CHECK(!text_has(sent_to_server(&room), CALLED));
    room_end(&room);
}

TEST(nobody_in_time_is_a_denial)
{
    struct room room;
    char id[64], out[4096];

    begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT, .timeout_ms = 60'000 });
    (void)call_bob(&room, id, out);
    stage_pass(&room.stage, 59'000);
    CHECK_STR(fake_sent(&room.seat), S(""));
    stage_pass(&room.stage, 1000);
    CHECK(text_has(fake_sent(&room.seat), "{\"reason\":\"nobody decided in time\""));
    CHECK_STR(respond(&room, "ann", id, "\"decision\":\"approve\""), S(""));
    CHECK(!text_has(sent_to_server(&room), CALLED));
    room_end(&room);
}

TEST(a_decision_that_lasts_is_used_again)
{
    struct room room;
    char id[64], other[64], out[4096];

    begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
    (void)call_bob(&room, id, out);
    (void)respond(&room, "ann", id,
                  "\"decision\":\"approve\",\"validUntil\":\"2999-01-01T00:00:00Z\"");
    CHECK(text_has(sent_to_server(&room), CALLED));
    (void)call_bob(&room, other, out);
    CHECK(text_has(sent_to_server(&room), CALLED));
    CHECK(!strstr(out, ASK));
    /* Of another one, and with other arguments, it is asked again. */
    (void)room_call(&room, "dan", "echo");
    CHECK(text_has(fake_sent(&room.seat), ASK));
    (void)room_ask(&room, "bob", "tools/call",
                   "{\"name\":\"echo\",\"arguments\":{\"a\":1}}");
    CHECK(text_has(fake_sent(&room.seat), ASK));
    CHECK(!text_has(sent_to_server(&room), CALLED));
    room_end(&room);
}

TEST(the_same_arguments_in_another_order_are_the_same)
{
    static const struct {
        const char *arguments;
        bool is_same;
    } cases[] = {
        { "{\"b\":{\"d\":[1],\"c\":\"x\"},\"a\":1}", true },
        { "{\"a\":1,\"b\":{\"c\":\"\\u0078\",\"d\":[ 1 ]}}", true },
        { "{\"a\":1.0,\"b\":{\"c\":\"x\",\"d\":[10e-1]}}", true },
        { "{\"a\":1.00000000000000000001,\"b\":{\"c\":\"x\",\"d\":[1]}}", false },
        { "{\"a\":1,\"b\":{\"c\":\"x\",\"d\":1}}", false },
        { "{\"a\":1,\"b\":{\"c\":\"x\",\"d\":[\"1\"]}}", false },
        { "{\"a\":1,\"b.c\":\"x\",\"b\":{\"d\":[1]}}", false },
    };

    FOR_EACH_CASE(c, cases) {
        struct room room;
        char id[64] = "", params[256];
        const char *at;

        begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
        (void)room_ask(&room, "bob", "tools/call",
                       "{\"name\":\"echo\",\"arguments\":{\"a\":1,\"b\":{\"c\":\"x\","
                       "\"d\":[1]}}}");
        at = strstr(fake_sent(&room.seat).ptr, "\"id\":\"auth-");
        if (at)
            (void)snprintf(id, sizeof(id), "%.21s", at + 6);
        (void)respond(&room, "ann", id,
                      "\"decision\":\"approve\",\"validUntil\":\"2999-01-01T00:00:00Z\"");
        (void)sent_to_server(&room);
        (void)snprintf(params, sizeof(params), "{\"name\":\"echo\",\"arguments\":%s}",
                       c->arguments);
        (void)room_ask(&room, "bob", "tools/call", params);
        CHECK_INT(text_has(sent_to_server(&room), CALLED), c->is_same);
        CHECK_INT(text_has(fake_sent(&room.seat), ASK), !c->is_same);
        room_end(&room);
    }
}

TEST(a_tool_that_has_changed_is_asked_about_again)
{
    struct room room;
    char id[64], out[4096];

    begin_tools(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT }, PIN_OFF,
                TOOL("echo"));
    (void)call_bob(&room, id, out);
    (void)respond(&room, "ann", id,
                  "\"decision\":\"approve\",\"validUntil\":\"2999-01-01T00:00:00Z\"");
    room_answer(&room, ++room.ids, "{\"content\":[]}");
    (void)sent_to_server(&room);
    stage_says(&room.stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    room_answer(&room, ++room.ids,
                "{\"tools\":[{\"name\":\"echo\",\"description\":\"other\","
                "\"inputSchema\":{\"type\":\"object\"}}]}");
    (void)sent_to_server(&room);
    (void)call_bob(&room, id, out);
    CHECK(strstr(out, ASK));
    CHECK(!text_has(sent_to_server(&room), CALLED));
    room_end(&room);
}

TEST(a_tool_that_changes_while_it_is_asked_about_is_denied)
{
    struct room room;
    char id[64], out[4096];

    begin_tools(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT }, PIN_OFF,
                TOOL("echo"));
    (void)call_bob(&room, id, out);
    stage_says(&room.stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    room_answer(&room, ++room.ids,
                "{\"tools\":[{\"name\":\"echo\",\"description\":\"other\","
                "\"inputSchema\":{\"type\":\"object\"}}]}");
    (void)sent_to_server(&room);
    CHECK(text_has(respond(&room, "ann", id, "\"decision\":\"approve\""),
                   "the tool has changed since it was authorized"));
    CHECK(!text_has(sent_to_server(&room), CALLED));
    room_end(&room);
}

/* --- delegates --- */

TEST(the_delegate_is_asked_and_nobody_else_is_heard)
{
    struct room room;
    char id[64], out[4096];

    begin(&room, (struct gate_terms){ .mode = GATE_DELEGATED, .delegate = S("dan") });
    (void)call_bob(&room, id, out);
    CHECK(strstr(out, ASK));
    CHECK(strstr(out, "\"to\":[\"dan\"]"));
    CHECK_STR(respond(&room, "ann", id, "\"decision\":\"approve\""), S(""));
    CHECK(!text_has(sent_to_server(&room), CALLED));
    CHECK(text_has(
        respond(&room, "dan", id, "\"decision\":\"delegate\",\"delegate\":\"eva\""),
        "\"to\":[\"eva\"]"));
    CHECK_STR(respond(&room, "dan", id, "\"decision\":\"approve\""), S(""));
    (void)respond(&room, "eva", id, "\"decision\":\"approve\"");
    CHECK(text_has(sent_to_server(&room), CALLED));
    room_end(&room);
}

TEST(where_the_delegate_is_not_here_the_room_is_asked)
{
    static const struct {
        const char *delegate, *why;
    } cases[] = {
        { "zoe", "the delegate zoe is not here: whoever may decides; every call" },
        { "bob", "the delegate bob asked for it: whoever may decides; every call" },
    };

    FOR_EACH_CASE(c, cases) {
        struct room room;
        char id[64], out[4096];

        begin(&room, (struct gate_terms){ .mode = GATE_DELEGATED,
                                          .delegate = str_of(c->delegate) });
        (void)call_bob(&room, id, out);
        CHECK(strstr(out, c->why));
        CHECK(!strstr(out, "\"to\":[\"zoe\"]"));
        (void)respond(&room, "ann", id, "\"decision\":\"approve\"");
        CHECK(text_has(sent_to_server(&room), CALLED));
        room_end(&room);
    }
}

TEST(a_delegate_who_leaves_leaves_it_to_the_room)
{
    struct room room;
    char id[64], out[4096];

    begin(&room, (struct gate_terms){ .mode = GATE_DELEGATED, .delegate = S("dan") });
    (void)call_bob(&room, id, out);
    room_presence(&room, "leave", "dan");
    CHECK(text_has(fake_sent(&room.seat), "the delegate dan has left: whoever may"));
    (void)respond(&room, "ann", id, "\"decision\":\"approve\"");
    CHECK(text_has(sent_to_server(&room), CALLED));
    room_end(&room);
}

/* --- proposals --- */

static void propose(struct room *room, const char *from)
{
    room_hear(room, from, "mcp/proposal:tools/call:echo",
              "\"to\":[\"tool\"],\"payload\":{\"method\":\"tools/call\","
              "\"params\":{\"name\":\"echo\"}}");
}

static void fulfil(struct room *room, const char *from, unsigned proposal)
{
    char rest[256];

    (void)snprintf(rest, sizeof(rest),
                   "\"to\":[\"tool\"],\"correlation_id\":\"e-%u\",\"payload\":{"
                   "\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                   "\"params\":{\"name\":\"echo\"}}",
                   proposal);
    room_hear(room, from, "mcp/request:tools/call:echo", rest);
}

TEST(a_person_who_takes_up_a_proposal_has_decided)
{
    struct room room;
    unsigned proposal;

    begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
    propose(&room, "bob");
    proposal = room.heard;
    fulfil(&room, "ann", proposal);
    CHECK(text_has(sent_to_server(&room), CALLED));
    CHECK(!text_has(fake_sent(&room.seat), ASK));
    /* It was open until then, and is no more. */
    fulfil(&room, "eva", proposal);
    CHECK(!text_has(sent_to_server(&room), CALLED));
    CHECK(text_has(fake_sent(&room.seat), ASK));
    room_end(&room);
}

/* Else any proposal would carry any call past the gate. */
TEST(a_person_who_asks_for_something_else_has_not)
{
    /* clang-format off */
    static const struct { const char *proposed, *params, *more; bool passes; } cases[] = {
        { "{\"name\":\"echo\",\"arguments\":{\"a\":1,\"b\":2}}", "{\"arguments\":{\"b\":2,\"a\":1},\"name\":\"echo\"}", "", true },
        { "{\"name\":\"echo\",\"arguments\":{}}", "{\"name\":\"echo\"}", "", true },
        { "{\"name\":\"echo\",\"arguments\":{\"a\":1}}", "{\"name\":\"echo\",\"arguments\":{\"a\":2}}", "", false },
        { "{\"name\":\"echo\",\"arguments\":{\"a\":1}}", "{\"name\":\"echo\",\"arguments\":{\"a\":2}}", "\"edited\":true,", true },
        { "{\"name\":\"echo\",\"arguments\":{\"a\":1}}", "{\"name\":\"echo\",\"arguments\":{\"a\":2}}", "\"edited\":false,", false },
        { "{\"name\":\"look\",\"arguments\":{}}", "{\"name\":\"echo\",\"arguments\":{}}", "", false },
        { "{\"name\":\"look\",\"arguments\":{}}", "{\"name\":\"echo\",\"arguments\":{}}", "\"edited\":true,", false },
        { "{}", "{\"name\":\"echo\",\"arguments\":{}}", "", false },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct room room;
        char rest[512];

        begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
        (void)snprintf(rest, sizeof(rest),
                       "\"to\":[\"tool\"],\"payload\":{\"method\":\"tools/call\","
                       "\"params\":%s}",
                       c->proposed);
        room_hear(&room, "bob", "mcp/proposal:tools/call", rest);
        (void)snprintf(rest, sizeof(rest),
                       "\"to\":[\"tool\"],\"correlation_id\":\"e-%u\",%s\"payload\":{"
                       "\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                       "\"params\":%s}",
                       room.heard, c->more, c->params);
        room_hear(&room, "ann", "mcp/request:tools/call", rest);
        CHECK_INT(text_has(sent_to_server(&room), CALLED), c->passes);
        CHECK_INT(text_has(fake_sent(&room.seat), ASK), !c->passes);
        room_end(&room);
    }
}

/* The server may take for arguments what nobody was shown. */
TEST(names_that_look_like_others_get_past_no_gate)
{
    static const char *const params[] = {
        "{\"name\":\"echo\",\"arguments\":{},\"Arguments\":{\"a\":1}}",
        "{\"name\":\"echo\",\"NAME\":\"look\"}",
    };

    for (size_t i = 0; i < COUNT(params); i++) {
        struct room room;
        char rest[512];

        begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
        (void)snprintf(rest, sizeof(rest),
                       "\"to\":[\"tool\"],\"payload\":{\"jsonrpc\":\"2.0\",\"id\":1,"
                       "\"method\":\"tools/call\",\"params\":%s}",
                       params[i]);
        room_hear(&room, "bob", "mcp/request:tools/call", rest);
        CHECK(!text_has(sent_to_server(&room), CALLED));
        CHECK(text_has(fake_sent(&room.seat), "looks like"));
        room_end(&room);
    }
}

TEST(an_agent_or_the_proposer_himself_has_not)
{
    static const struct {
        const char *proposer, *fulfiller;
    } cases[] = {
        { "bob", "dan" }, /* no person */
        { "ann", "ann" }, /* his own */
        { "bob", "fay" }, /* nobody knows who that is */
    };

    FOR_EACH_CASE(c, cases) {
        struct room room;

        begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
        propose(&room, c->proposer);
        fulfil(&room, c->fulfiller, room.heard);
        CHECK(!text_has(sent_to_server(&room), CALLED));
        CHECK(text_has(fake_sent(&room.seat), ASK));
        room_end(&room);
    }
}

TEST(the_proposer_is_told_and_does_not_decide)
{
    struct room room;
    struct str sent;
    char id[64] = "";
    const char *at;

    begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
    propose(&room, "eva");
    fulfil(&room, "dan", room.heard);
    sent = fake_sent(&room.seat);
    CHECK(text_has(sent, "\"to\":[\"dan\",\"eva\"]"));
    CHECK(text_has(sent, "authorized (proposed by eva)\""));
    at = strstr(sent.ptr, "\"id\":\"auth-");
    if (at)
        (void)snprintf(id, sizeof(id), "%.21s", at + 6);
    CHECK_STR(respond(&room, "eva", id, "\"decision\":\"approve\""), S(""));
    CHECK_STR(respond(&room, "dan", id, "\"decision\":\"approve\""), S(""));
    CHECK(!text_has(sent_to_server(&room), CALLED));
    CHECK(text_has(respond(&room, "ann", id, "\"decision\":\"deny\""),
                   "\"reason\":\"denied by ann\""));
    room_end(&room);
}

/* --- what tools ask for --- */

TEST(a_tool_that_wants_it_is_asked_about_where_nobody_said_so)
{
    struct room room;
    char id[64], out[4096];

    begin_tools(&room, (struct gate_terms){}, PIN_HOLD,
                "{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"},"
                "\"authorization\":{\"required\":true,\"timeout\":2,"
                "\"message\":\"It is dear.\"}},"
                "{\"name\":\"cheap\",\"inputSchema\":{\"type\":\"object\"}}");
    (void)room_call(&room, "bob", "cheap");
    CHECK(text_has(sent_to_server(&room), CALLED));
    (void)call_bob(&room, id, out);
    CHECK(strstr(out, "\"reason\":\"It is dear.\""));
    CHECK(!text_has(sent_to_server(&room), CALLED));
    stage_pass(&room.stage, 2000);
    CHECK(text_has(fake_sent(&room.seat), "nobody decided in time"));
    room_end(&room);
}

/* --- ends --- */

TEST(a_call_that_is_not_wanted_any_more_is_not_made)
{
    struct room room;
    char id[64], out[4096], rest[128];
    unsigned envelope;

    begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
    envelope = call_bob(&room, id, out);
    (void)snprintf(rest, sizeof(rest),
                   "\"to\":[\"tool\"],\"correlation_id\":\"e-%u\",\"payload\":{"
                   "\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
                   envelope);
    room_hear(&room, "bob", "mcp/request:notifications/cancelled", rest);
    CHECK_STR(respond(&room, "ann", id, "\"decision\":\"approve\""), S(""));
    (void)call_bob(&room, id, out);
    room_presence(&room, "leave", "bob");
    CHECK_STR(respond(&room, "ann", id, "\"decision\":\"approve\""), S(""));
    CHECK(!text_has(sent_to_server(&room), CALLED));
    room_end(&room);
}

TEST(what_is_pending_when_the_room_is_lost_is_denied)
{
    struct room room;
    char id[64], out[4096];

    begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
    (void)call_bob(&room, id, out);
    room_judge(&room);
    bridge_seat_ops.on_lost(room.bridge, false, "gone");
    stage_pass(&room.stage, 0);
    (void)fake_sent(&room.seat);
    room_welcome(&room, PEOPLE);
    CHECK(text_has(fake_sent(&room.seat), "the room was lost before anybody decided"));
    CHECK_STR(respond(&room, "ann", id, "\"decision\":\"approve\""), S(""));
    CHECK(!text_has(sent_to_server(&room), CALLED));
    room_end(&room);
}

TEST(an_announcement_that_is_refused_denies_the_call)
{
    struct room room;
    char id[64], out[4096], rest[256];
    const char *at;

    begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
    (void)call_bob(&room, id, out);
    at = strstr(out, ASK);
    while (at > out && at[-1] != '\n')
        at--;
    CHECK(at && strstr(at, "\"id\":\""));
    (void)snprintf(rest, sizeof(rest),
                   "\"to\":[\"tool\"],\"correlation_id\":\"%.*s\",\"payload\":{"
                   "\"error\":\"capability_violation\",\"message\":\"No.\"}",
                   (int)strcspn(strstr(at, "\"id\":\"") + 6, "\""),
                   strstr(at, "\"id\":\"") + 6);
    room_hear(&room, "system:gateway", "system/error", rest);
    CHECK(text_has(fake_sent(&room.seat), "it could not be announced: No."));
    room_end(&room);
}

TEST(so_many_calls_of_one_caller_wait)
{
    struct room room;

    begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
    for (int i = 0; i < GATE_PENDING_EACH; i++) {
        (void)room_call(&room, "bob", "echo");
        CHECK(text_has(fake_sent(&room.seat), ASK));
    }
    (void)room_call(&room, "bob", "echo");
    CHECK(text_has(fake_sent(&room.seat),
                   "too many calls of this caller wait for authorization"));
    (void)room_call(&room, "dan", "echo");
    CHECK(text_has(fake_sent(&room.seat), ASK));
    room_end(&room);
}

/* --- lists and revoking --- */

TEST(authorizations_are_listed_and_revoked)
{
    struct room room;
    char id[64], out[4096], params[128];
    struct str sent;

    begin(&room, (struct gate_terms){ .mode = GATE_ALWAYS_PROMPT });
    (void)call_bob(&room, id, out);
    (void)respond(&room, "ann", id,
                  "\"decision\":\"approve\",\"validUntil\":\"2999-01-01T00:00:00Z\"");
    (void)sent_to_server(&room);
    (void)fake_sent(&room.seat);
    (void)room_ask(&room, "eva", "authorization/list", "{}");
    sent = fake_sent(&room.seat);
    CHECK(text_has(sent, "\"kind\":\"mcp/response:authorization/list\""));
    CHECK(text_has(sent, "\"decidedBy\":\"ann\""));
    (void)room_ask(&room, "eva", "authorization/list", "{\"cursor\":\"x\"}");
    CHECK(text_has(fake_sent(&room.seat), "the cursor is none of ours"));
    (void)snprintf(params, sizeof(params), "{\"authorizationId\":\"%s\"}", id);
    (void)room_ask(&room, "eva", "authorization/revoke", params);
    CHECK(text_has(fake_sent(&room.seat), "\"result\":{}"));
    (void)room_ask(&room, "eva", "authorization/revoke", params);
    CHECK(text_has(fake_sent(&room.seat), "there is no such authorization"));
    (void)call_bob(&room, id, out);
    CHECK(strstr(out, ASK));
    /* … and what is pending: */
    (void)snprintf(params, sizeof(params), "{\"authorizationId\":\"%s\"}", id);
    (void)room_ask(&room, "eva", "authorization/revoke", params);
    CHECK(text_has(fake_sent(&room.seat), "\"reason\":\"revoked by eva\""));
    CHECK(!text_has(sent_to_server(&room), CALLED));
    room_end(&room);
}

TEST(no_method_of_authorizations_reaches_the_server)
{
    struct room room;

    begin(&room, (struct gate_terms){});
    (void)room_ask(&room, "ann", "authorization/other", "{}");
    CHECK(text_has(fake_sent(&room.seat), "-32601"));
    (void)room_ask(&room, "ann", "authorization/list", "{}");
    CHECK(text_has(fake_sent(&room.seat), "{\"pending\":[],\"authorizations\":[]}"));
    CHECK_STR(sent_to_server(&room), S(""));
    room_end(&room);
}
