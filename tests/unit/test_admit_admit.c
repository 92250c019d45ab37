/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admit/admit.h"
#include "base/xalloc.h"
#include "fake_topic.h"
#include "harness.h"

enum { NOW = 50'000, WALL = 1'000'000'000 };

/* --- a room with an agent "a", a human "h" and a tool "t" --- */

struct gate {
    struct room room;
    struct topic_settings topic_settings;
    struct ledger_settings ledger_settings;
    struct admit_rules rules;
    struct admit_limits limits;
    struct arena scratch;
    struct capsets *capsets;
    struct member a, h, t;
    uint64_t now_ms, wall_ms;
    struct refusal refusal;
    bool is_executed;
    bool needs_strict;
};

static const struct conduct *conduct_of(const struct member *member)
{
    return participant_conduct(member->participant);
}

static void join(struct gate *gate, struct member *member, struct str id,
                 struct str_list capabilities, enum routing routing)
{
    struct topic *topic = &gate->room.topic;
    struct capset *caps = NULL;

    CHECK_INT(capset_intern(gate->capsets, capabilities, &caps, NULL), OK);
    topic_join(topic, member,
               &(struct join){ .participant =
                                   participant_enter(topic, id, TYPE_AGENT, caps, NOW),
                               .ops = &fake_deaf_member,
                               .routing = routing,
                               .wants_echo = true,
                               .number = topic->member_count + 1 });
    capset_unref(caps);
}

static void gate_init(struct gate *gate)
{
    static const struct str agent[] = { S("mcp/proposal:*"), S("mcp/response:*"),
                                        S("mcp/request:tools/list"), S("chat") };
    static const struct str human[] = { S("mcp/*"), S("chat"), S("system/*") };
    static const struct str tool[] = { S("mcp/response:*") };

    *gate = (struct gate){
        .topic_settings = { .ring_messages = 3,
                            .ring_bytes = 1 << 20,
                            .max_members = 9,
                            .max_members_each = 9 },
        .ledger_settings = { .mode = PROPOSALS_ONCE,
                             .expiry_ms = 60'000,
                             .max_expiry_ms = 120'000,
                             .max_proposals = 2,
                             .max_requests = 9 },
        .limits = { .depth = 16, .rate_strikes = 2 },
        .now_ms = NOW,
        .wall_ms = WALL,
    };
    arena_init(&gate->scratch, 1 << 20);
    gate->capsets = capsets_new();
    topic_init(&gate->room.topic,
               &(struct topic_setup){ .name = S("room"),
                                      .native = &fake_plain,
                                      .settings = &gate->topic_settings,
                                      .ops = &fake_deaf_topic });
    gate->room.rules = &gate->rules;
    ledger_init(&gate->room.ledger, &gate->ledger_settings);
    join(gate, &gate->a, S("a"), (struct str_list){ agent, 4 }, ROUTE_DIRECTED);
    join(gate, &gate->h, S("h"), (struct str_list){ human, 3 }, ROUTE_ALL);
    join(gate, &gate->t, S("t"), (struct str_list){ tool, 1 }, ROUTE_ALL);
}

static void gate_done(struct gate *gate)
{
    member_leave(&gate->a, NOW);
    member_leave(&gate->h, NOW);
    member_leave(&gate->t, NOW);
    ledger_done(&gate->room.ledger);
    topic_done(&gate->room.topic);
    capsets_free(gate->capsets);
    arena_done(&gate->scratch);
}

/* What must not change when an envelope is refused. */
struct snapshot {
    uint64_t end, next_seq;
    size_t proposals, requests, queued;
};

static struct snapshot snapshot_of(const struct gate *gate)
{
    const struct room *room = &gate->room;

    return (struct snapshot){ room->topic.native.end, room->topic.ring.next_seq,
                              room->ledger.proposals.count, room->ledger.requests.count,
                              member_backlog(&gate->a) + member_backlog(&gate->h) };
}

static enum err admit_by(struct gate *gate, struct participant *sender,
                         struct member *member, struct str text)
{
    struct snapshot before = snapshot_of(gate), after;
    struct admission a = { .room = &gate->room,
                           .sender = sender,
                           .member = member,
                           .text = { memcpy(topic_reserve(&gate->room.topic, text.len),
                                            text.ptr, text.len),
                                     text.len },
                           .limits = &gate->limits,
                           .scratch = &gate->scratch,
                           .now_ms = gate->now_ms,
                           .wall_ms = gate->wall_ms };
    enum err err = admit(&a, &gate->refusal);

    after = snapshot_of(gate);
    gate->is_executed = a.is_executed;
    gate->needs_strict = a.needs_strict;
    CHECK_INT(gate->refusal.err, err);
    if (err || a.is_executed)
        CHECK(memcmp(&before, &after, sizeof(before)) == 0);
    else
        CHECK_STR(entry_text(ring_at(&gate->room.topic.ring, before.next_seq)), text);
    return err;
}

static enum err send(struct gate *gate, struct member *member, struct str text)
{
    return admit_by(gate, member->participant, member, text);
}

#define SAYING(id, from, kind, payload)                                \
    S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"" id "\",\"from\":\"" from \
      "\",\"kind\":\"" kind "\",\"payload\":" payload "}")
#define TEXT(id, from, kind, more) SAYING(id, from, kind, "{}" more)
#define ABOUT(id)                  ",\"correlation_id\":\"" id "\""

#define DRAFT(id, kind, payload)                                                       \
    S("{\"protocol\":\"mcpx/draft\",\"id\":\"" id "\",\"from\":\"h\",\"kind\":\"" kind \
      "\",\"payload\":" payload "}")
#define SLASHES(id, kind, payload)                                                    \
    S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"" id "\",\"from\":\"h\",\"kind\":\"" kind \
      "\",\"payload\":" payload "}")

TEST(d20_what_comes_in_dots_is_judged_and_kept_in_slashes)
{
    /* clang-format off */
    static const struct { struct str text; enum err err; struct str kept, kind; } cases[] = {
        { DRAFT("1", "chat.message", "{}"),                          OK, SLASHES("1", "chat", "{}"), S("chat") },
        { DRAFT("2", "mcp.request.x:y", "{\"method\":\"x\",\"params\":{\"name\":\"y\"}}"),
          OK, SLASHES("2", "mcp/request:x:y", "{\"method\":\"x\",\"params\":{\"name\":\"y\"}}"), S("mcp/request:x:y") },
        { DRAFT("3", "mcp.request.x", "{\"method\":\"y\"}"),         ERR_KIND_PAYLOAD_MISMATCH, {}, S("mcp/request:x") },
        { DRAFT("4", "a.b", "{}"),                                   ERR_CAPABILITY_VIOLATION, {}, S("a/b") },
        { DRAFT("5", "system.x", "{}"),                              ERR_RESERVED_NAMESPACE, {}, S("system/x") },
        { DRAFT("6", "system.presence.join", "{}"),                  ERR_MALFORMED_KIND, {}, S("system.presence.join") },
        { DRAFT("7", "mcp/approve", "{}"),                           ERR_MALFORMED_KIND, {}, S("mcp/approve") },
        { DRAFT("8", "mcpx.approve.proposal", "{}"),                 ERR_MISSING_CORRELATION, {}, S("mcp/approve") },
        { DRAFT("1", "chat.message", "{}"),                          ERR_DUPLICATE_ID, {}, S("chat") },
        { SLASHES("9", "chat", "{}"),                                ERR_UNSUPPORTED_PROTOCOL, {}, S("") },
    };
    /* clang-format on */
    struct gate gate;
    struct buf space;

    gate_init(&gate);
    buf_init(&space, 4096);
    FOR_EACH_CASE(c, cases) {
        struct topic *topic = &gate.room.topic;
        uint64_t seq = topic->ring.next_seq;
        struct admission a = { .room = &gate.room,
                               .sender = gate.h.participant,
                               .member = &gate.h,
                               .dialect = DIALECT_DOTTED,
                               .text = c->text,
                               .limits = &gate.limits,
                               .scratch = &gate.scratch,
                               .now_ms = gate.now_ms,
                               .wall_ms = gate.wall_ms };

        CHECK_INT(admit(&a, &gate.refusal), c->err);
        CHECK_STR(admission_kind(&a), c->kind);
        CHECK_INT(topic->ring.next_seq, c->err ? seq : seq + 1);
        if (c->err)
            continue;
        CHECK_STR(entry_text(ring_at(&topic->ring, seq)), c->kept);
        CHECK_STR(admission_text(&a, &space), c->kept);
        CHECK(ring_at(&topic->ring, seq)->was_checked);
    }
    buf_done(&space);
    gate_done(&gate);
}

TEST(d21_while_a_dotted_member_is_present_the_room_is_strict)
{
    struct str spoof = SLASHES("1", "mcp/request:x", "{\"method\":\"y\"}");
    struct gate gate;

    gate_init(&gate);
    gate.room.topic.dotted_count = 1;
    CHECK_INT(send(&gate, &gate.h, spoof), ERR_KIND_PAYLOAD_MISMATCH);
    gate.room.topic.dotted_count = 0;
    CHECK_INT(send(&gate, &gate.h, spoof), OK);
    gate_done(&gate);
}

TEST(what_passes_is_in_the_log_byte_for_byte)
{
    struct gate gate;
    struct str odd =
        S(" {\"payload\" : {\"x\":[1,\"\\u0041\"]},\n\"kind\":\"chat\",\"from\":\"a\","
          "\"id\":\"1\",\"other\":null, \"protocol\":\"mcpx/v0.1\"} ");

    gate_init(&gate);
    CHECK_INT(send(&gate, &gate.a, odd), OK);
    CHECK_INT(ring_find(&gate.room.topic.ring, ring_hash(&gate.room.topic.ring, S("1"))),
              1);
    CHECK_INT(send(&gate, &gate.h, TEXT("2", "h", "mcp/request:tools/call:rm", "")), OK);
    CHECK(ledger_knows(&gate.room.ledger, S("2"), WALL));
    CHECK_INT(admit_by(&gate, gate.a.participant, NULL, TEXT("3", "a", "chat", "")), OK);
    gate_done(&gate);
}

TEST(each_check_refuses_with_its_error_and_says_which_field_is_at_fault)
{
    /* clang-format off */
    static const struct { struct str text; enum err err; struct str field; const char *what; } cases[] = {
        { S("{"),                                           ERR_MALFORMED_ENVELOPE,   S(""), NULL },
        { S("[]"),                                          ERR_MALFORMED_ENVELOPE,   S(""), NULL },
        { S("{\"protocol\":\"mcpx/v0.1\"}"),                ERR_MALFORMED_ENVELOPE,   S("id"), "is missing" },
        { S("{\"protocol\":\"mcp-x/v0\"}"),                 ERR_UNSUPPORTED_PROTOCOL, S("protocol"), "mcp-x/v0 was an early draft and is not spoken; use mcpx/v0.1, or mcpx/draft with dialect=dotted" },
        { S("{\"a\":\"\xff\"}"),                            ERR_UTF8,                 S(""), "not UTF-8" },
        { TEXT("n", "a", "Chat", ""),                       ERR_MALFORMED_KIND,       S("kind"), "not a kind of this protocol" },
        { TEXT("n", "a", "system/error", ""),               ERR_RESERVED_NAMESPACE,   S("kind"), "only the gateway sends system and presence kinds" },
        { TEXT("n", "a", "presence", ""),                   ERR_RESERVED_NAMESPACE,   S("kind"), "only the gateway sends system and presence kinds" },
        { TEXT("n", "A", "chat", ""),                       ERR_FROM_MISMATCH,        S("from"), "must be your own participant id" },
        { TEXT("n", "h", "chat", ""),                       ERR_FROM_MISMATCH,        S("from"), "must be your own participant id" },
        { TEXT("n", "a ", "chat", ""),                      ERR_FROM_MISMATCH,        S("from"), "must be your own participant id" },
        { TEXT("n", "a", "mcp/request:tools/call", ""),     ERR_CAPABILITY_VIOLATION, S("kind"), "you lack the capability" },
        { TEXT("n", "a", "notes/x", ""),                    ERR_CAPABILITY_VIOLATION, S("kind"), "you lack the capability" },
        { TEXT("n", "a", "mcp/approve", ABOUT("p")),        ERR_CAPABILITY_VIOLATION, S("kind"), "you lack the capability" },
        { TEXT("n", "a", "mcp/response:x", ""),             ERR_MISSING_CORRELATION,  S("correlation_id"), "a response must name its request" },
        { TEXT("n", "a", "mcp/withdraw", ""),               ERR_MISSING_CORRELATION,  S("correlation_id"), "a decision must name its proposal" },
        { TEXT("n", "a", "mcp/proposal:x", ABOUT("p")),     ERR_MALFORMED_ENVELOPE,   S("correlation_id"), "a proposal begins something new and must not have one" },
        { TEXT("old", "a", "chat", ""),                     ERR_DUPLICATE_ID,         S("id"), "this id is already in use here" },
        { TEXT("n", "a", "mcp/withdraw", ABOUT("none")),    ERR_PROPOSAL_STATE,       S("correlation_id"), "no such proposal is known here" },
        { TEXT("n", "a", "mcp/proposal:x", ",\"expires_at\":1"), ERR_MALFORMED_ENVELOPE, S("expires_at"), "not an RFC 3339 date-time in the future" },
        { TEXT("n", "a", "participant/routing", ""),        ERR_MALFORMED_ENVELOPE,   S("payload"), "mode must be \"all\" or \"directed\"" },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct gate gate;

        gate_init(&gate);
        CHECK_INT(send(&gate, &gate.a, TEXT("old", "a", "chat", "")), OK);
        CHECK_INT(send(&gate, &gate.a, c->text), c->err);
        CHECK_STR(gate.refusal.field, c->field);
        if (c->what)
            CHECK_STR(str_of(gate.refusal.what), str_of(c->what));
        CHECK(!gate.refusal.is_abuse);
        gate_done(&gate);
    }
}

/* Every text fails its check and all that follow. */
TEST(the_first_check_that_fails_decides)
{
    /* clang-format off */
    static const struct { struct str text; enum err err; } cases[] = {
        { S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"old\",\"from\":\"x\",\"kind\":\"-\"}"), ERR_MALFORMED_ENVELOPE },
        { TEXT("old", "x", "mcp/approve:", ""),             ERR_MALFORMED_KIND       },
        { TEXT("old", "x", "mcp/approve", ""),              ERR_FROM_MISMATCH        },
        { TEXT("old", "a", "mcp/approve", ""),              ERR_PAUSED               },
        { TEXT("old", "a", "mcp/response:x", ""),           ERR_MISSING_CORRELATION  },
        { TEXT("old", "a", "mcp/response:x", ABOUT("x")),   ERR_DUPLICATE_ID         },
    };
    static const struct { struct str text; enum err err; } unpaused[] = {
        { TEXT("old", "a", "mcp/approve", ""),              ERR_CAPABILITY_VIOLATION },
        { TEXT("old", "a", "mcp/withdraw", ""),             ERR_MISSING_CORRELATION  },
        { TEXT("old", "a", "mcp/withdraw", ABOUT("none")),  ERR_DUPLICATE_ID         },
        { TEXT("new", "a", "mcp/withdraw", ABOUT("none")),  ERR_PROPOSAL_STATE       },
    };
    /* clang-format on */
    struct gate gate;

    gate_init(&gate);
    CHECK_INT(send(&gate, &gate.a, TEXT("old", "a", "chat", "")), OK);
    gate.a.participant->is_paused = true;
    FOR_EACH_CASE(c, cases)
        CHECK_INT(send(&gate, &gate.a, c->text), c->err);
    gate.a.participant->is_paused = false;
    FOR_EACH_CASE(c, unpaused)
        CHECK_INT(send(&gate, &gate.a, c->text), c->err);
    gate_done(&gate);
}

TEST(who_is_paused_may_answer_talk_and_choose_his_routing)
{
    /* clang-format off */
    static const struct { struct str text; enum err err; } cases[] = {
        { TEXT("1", "h", "chat", ""),                                   OK },
        { TEXT("2", "h", "mcp/response:x", ABOUT("x")),                 OK },
        { TEXT("3", "h", "mcp/request:x", ""),                          ERR_PAUSED },
        { TEXT("4", "h", "mcp/proposal:x", ""),                         ERR_PAUSED },
        { TEXT("5", "h", "mcp/reject", ABOUT("x")),                     ERR_PAUSED },
        { TEXT("6", "h", "mcp/withdraw", ABOUT("x")),                   ERR_PAUSED },
        { TEXT("7", "h", "notes/x", ""),                                ERR_PAUSED },
    };
    /* clang-format on */
    struct gate gate;

    gate_init(&gate);
    gate.h.participant->is_paused = true;
    FOR_EACH_CASE(c, cases)
        CHECK_INT(send(&gate, &gate.h, c->text), c->err);
    CHECK_INT(send(&gate, &gate.h,
                   S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"8\",\"from\":\"h\",\"kind\":"
                     "\"participant/routing\",\"payload\":{\"mode\":\"directed\"}}")),
              OK);
    gate_done(&gate);
}

TEST(D15_where_only_an_object_allows_the_payload_decides)
{
    static const struct str looking[] = {
        S("chat"),
        S("{\"kind\":\"notes/*\",\"payload\":{\"path\":\"/a/*\"}}"),
        S("{\"kind\":\"notes/x\",\"payload\":{\"path\":\"/b\"}}"),
        S("{\"kind\":\"mcp/request:a\",\"payload\":{\"x\":1}}"),
    };
    /* clang-format off */
    static const struct { struct str text; enum err err; bool needs_strict; } cases[] = {
        { SAYING("1", "o", "notes/x", "{\"path\":\"/a/b\"}"), OK, true },
        { SAYING("2", "o", "notes/x", "{\"path\":\"/b\"}"),   OK, true },
        { SAYING("3", "o", "notes/y", "{\"path\":\"/b\"}"),   ERR_CAPABILITY_VIOLATION, true },
        { SAYING("3", "o", "notes/x", "{}"),                  ERR_CAPABILITY_VIOLATION, true },
        { SAYING("5", "o", "mcp/request:a", "{\"method\":\"a\",\"x\":1}"), OK, true },
        { SAYING("6", "o", "mcp/request:a", "{\"method\":\"b\",\"x\":1}"), ERR_KIND_PAYLOAD_MISMATCH, true },
        { SAYING("4", "o", "chat", "{}"),                     OK, false },
        { SAYING("3", "o", "other", "{\"path\":\"/a/b\"}"),   ERR_CAPABILITY_VIOLATION, false },
    };
    /* clang-format on */
    struct member o = {};
    struct gate gate;

    gate_init(&gate);
    join(&gate, &o, S("o"), (struct str_list){ looking, 4 }, ROUTE_ALL);
    FOR_EACH_CASE(c, cases) {
        CHECK_INT(send(&gate, &o, c->text), c->err);
        CHECK_INT(gate.needs_strict, c->needs_strict);
        if (c->err == ERR_CAPABILITY_VIOLATION)
            CHECK_STR(gate.refusal.field, c->needs_strict ? S("payload") : S("kind"));
    }
    CHECK_INT(conduct_of(&o)->violations, 4);
    member_leave(&o, NOW);
    gate_done(&gate);
}

TEST(violations_are_counted_for_the_sender)
{
    struct gate gate;

    gate_init(&gate);
    CHECK_INT(send(&gate, &gate.a, TEXT("1", "a", "mcp/request:x", "")),
              ERR_CAPABILITY_VIOLATION);
    CHECK_INT(send(&gate, &gate.a, TEXT("1", "a", "Chat", "")), ERR_MALFORMED_KIND);
    CHECK_INT(send(&gate, &gate.a, TEXT("1", "a", "mcp/reject", ABOUT("x"))),
              ERR_CAPABILITY_VIOLATION);
    CHECK_INT(conduct_of(&gate.a)->violations, 2);
    CHECK_INT(send(&gate, &gate.a, TEXT("1", "h", "chat", "")), ERR_FROM_MISMATCH);
    CHECK_INT(send(&gate, &gate.a, TEXT("1", "a", "system/x", "")),
              ERR_RESERVED_NAMESPACE);
    CHECK_INT(conduct_of(&gate.a)->violations, 4);
    gate.rules.is_strict = true;
    CHECK_INT(send(&gate, &gate.a, TEXT("1", "a", "mcp/request:tools/list", "")),
              ERR_KIND_PAYLOAD_MISMATCH);
    CHECK_INT(conduct_of(&gate.a)->violations, 5);
    CHECK_INT(send(&gate, &gate.a, TEXT("1", "a", "chat", "")), OK);
    CHECK_INT(send(&gate, &gate.a, TEXT("1", "a", "chat", "")), ERR_DUPLICATE_ID);
    CHECK_INT(conduct_of(&gate.a)->violations, 5);
    CHECK_INT(conduct_of(&gate.h)->violations, 0);
    gate_done(&gate);
}

/* D21 */
TEST(a_strict_room_refuses_what_a_lazy_one_does_not_look_at)
{
    struct str spoof =
        SAYING("1", "h", "mcp/request:tools/read", "{\"method\":\"tools/call\"}");
    struct gate gate;

    gate_init(&gate);
    gate.rules.is_strict = true;
    CHECK(room_is_strict(&gate.room));
    CHECK_INT(send(&gate, &gate.h, spoof), ERR_KIND_PAYLOAD_MISMATCH);
    CHECK_STR(gate.refusal.field, S("payload.method"));
    CHECK_STR(gate.refusal.expected, S("tools/read"));
    CHECK_INT(send(&gate, &gate.h,
                   SAYING("1", "h", "mcp/request:tools/call:a",
                          "{\"method\":\"tools/call\",\"params\":{\"name\":\"b\"}}")),
              ERR_KIND_PAYLOAD_MISMATCH);
    CHECK_STR(gate.refusal.field, S("payload.params.name"));
    CHECK_INT(send(&gate, &gate.h, TEXT("2", "h", "mcp/response:x", "")),
              ERR_KIND_PAYLOAD_MISMATCH); /* before the missing correlation */
    gate.rules.is_strict = false;
    CHECK(!room_is_strict(&gate.room));
    CHECK_INT(send(&gate, &gate.h, spoof), OK);
    gate_done(&gate);
}

TEST(an_entry_remembers_whether_it_was_checked)
{
    struct gate gate;
    const struct ring *ring = &gate.room.topic.ring;

    gate_init(&gate);
    CHECK_INT(send(&gate, &gate.h, SAYING("1", "h", "mcp/request:x", "{}")), OK);
    CHECK(!ring_at(ring, 1)->was_checked);
    gate.rules.is_strict = true;
    CHECK_INT(
        send(&gate, &gate.h, SAYING("2", "h", "mcp/request:x", "{\"method\":\"x\"}")),
        OK);
    CHECK(ring_at(ring, 2)->was_checked);
    CHECK_INT(send(&gate, &gate.h, TEXT("3", "h", "chat", "")), OK);
    CHECK(ring_at(ring, 3)->was_checked);
    gate_done(&gate);
}

static enum err send_numbered(struct gate *gate, struct member *member, struct str kind,
                              const char *more)
{
    static unsigned count;
    char text[256];
    int len = snprintf(text, sizeof(text),
                       "{\"protocol\":\"mcpx/v0.1\",\"id\":\"n%u\",\"from\":\"" STR_FMT
                       "\",\"kind\":\"" STR_FMT "\",\"payload\":{}%s}",
                       ++count, STR_ARG(member->participant->id), STR_ARG(kind), more);

    return send(gate, member, (struct str){ text, (size_t)len });
}

#define SEND(member, kind)       send_numbered(&gate, &(member), S(kind), "")
#define SEND_ABOUT(member, kind) send_numbered(&gate, &(member), S(kind), ABOUT("x"))

TEST(agents_that_talk_among_themselves_are_held_up_until_a_human_speaks)
{
    struct gate gate;

    gate_init(&gate);
    gate.rules.loop_guard = 3;
    gate.h.participant->type = TYPE_HUMAN;
    gate.t.participant->type = TYPE_SERVICE;
    CHECK_INT(SEND(gate.a, "chat"), OK);
    CHECK_INT(SEND(gate.a, "mcp/request:tools/list"), OK);
    CHECK_INT(SEND(gate.a, "notes/x"), ERR_CAPABILITY_VIOLATION); /* does not count */
    CHECK_INT(SEND_ABOUT(gate.t, "mcp/response:x"), OK);          /* nor does a service */
    CHECK_INT(gate.room.guard.count, 2);
    CHECK_INT(SEND_ABOUT(gate.a, "mcp/response:x"), OK);
    CHECK_INT(SEND(gate.a, "mcp/request:tools/list"), ERR_LOOP_GUARD);
    CHECK_INT(gate.refusal.count, 3);
    CHECK_INT(gate.refusal.limit, 3);
    CHECK(gate.refusal.is_trip);
    CHECK_INT(SEND(gate.a, "chat"), OK); /* everything else goes on, and counts */
    CHECK_INT(SEND_ABOUT(gate.a, "mcp/response:x"), OK);
    CHECK_INT(SEND(gate.a, "mcp/request:tools/list"), ERR_LOOP_GUARD);
    CHECK_INT(gate.refusal.count, 5);
    CHECK(!gate.refusal.is_trip);
    gate.a.participant->type = TYPE_SERVICE;
    CHECK_INT(SEND(gate.a, "mcp/request:tools/list"), OK);
    gate.a.participant->type = TYPE_AGENT;
    CHECK_INT(SEND(gate.h, "mcp/request:tools/list"), OK); /* a human, and it speaks */
    CHECK_INT(gate.room.guard.count, 0);
    CHECK_INT(SEND(gate.a, "mcp/request:tools/list"), OK);
    gate_done(&gate);
}

#define SEND_TO(member, kind, to) send_numbered(&gate, &(member), S(kind), ",\"to\":" to)

TEST(what_agents_address_to_services_alone_is_no_loop)
{
    struct gate gate;

    gate_init(&gate);
    gate.rules.loop_guard = 2;
    gate.t.participant->type = TYPE_SERVICE; /* "h" is another agent here */
    for (size_t i = 0; i < 5; i++)
        CHECK_INT(SEND_TO(gate.a, "mcp/request:tools/list", "[\"t\"]"), OK);
    CHECK_INT(SEND_TO(gate.a, "mcp/request:tools/list", "[\"t\",\"t\"]"), OK);
    CHECK_INT(SEND_TO(gate.a, "mcp/proposal:x", "[\"t\"]"), OK);
    CHECK_INT(gate.room.guard.count, 0);
    CHECK_INT(SEND_TO(gate.a, "mcp/request:tools/list", "[\"t\",\"h\"]"), OK);
    CHECK_INT(gate.room.guard.count, 1);
    CHECK_INT(SEND_TO(gate.a, "mcp/request:tools/list", "[\"t\",\"nobody\"]"), OK);
    CHECK_INT(gate.room.guard.count, 2);
    CHECK_INT(SEND_TO(gate.a, "mcp/request:tools/list", "[\"h\"]"), ERR_LOOP_GUARD);
    CHECK_INT(SEND_TO(gate.a, "mcp/request:tools/list", "[\"t\",\"h\"]"), ERR_LOOP_GUARD);
    CHECK_INT(SEND_TO(gate.a, "mcp/request:tools/list", "[\"nobody\"]"), ERR_LOOP_GUARD);
    CHECK_INT(SEND_TO(gate.a, "mcp/request:tools/list", "[]"), ERR_LOOP_GUARD);
    CHECK_INT(SEND(gate.a, "mcp/request:tools/list"), ERR_LOOP_GUARD);
    CHECK_INT(SEND_TO(gate.a, "mcp/request:tools/list", "[\"t\"]"), OK);
    CHECK_INT(gate.room.guard.count, 2);
    gate.t.participant->type = TYPE_HUMAN;
    CHECK_INT(SEND_TO(gate.a, "mcp/request:tools/list", "[\"t\"]"), ERR_LOOP_GUARD);
    gate_done(&gate);
}

TEST(notifications_pass_the_loop_guard_and_a_room_may_have_none)
{
    struct gate gate;

    gate_init(&gate);
    gate.h.participant->type = TYPE_AGENT; /* may send everything */
    gate.rules.loop_guard = 1;
    CHECK_INT(SEND(gate.h, "chat"), OK);
    CHECK_INT(SEND(gate.h, "mcp/request:notifications/progress"), OK);
    CHECK_INT(SEND(gate.h, "mcp/proposal:x"), OK);
    CHECK_INT(SEND(gate.h, "mcp/request:notifications"), ERR_LOOP_GUARD);
    CHECK(gate.refusal.is_trip);
    gate.rules.loop_guard = 2; /* another limit is another trip */
    CHECK_INT(SEND(gate.h, "mcp/request:x"), ERR_LOOP_GUARD);
    CHECK(gate.refusal.is_trip);
    gate.rules.loop_guard = 0;
    CHECK_INT(SEND(gate.h, "mcp/request:x"), OK);
    gate_done(&gate);
}

TEST(only_what_enters_the_room_is_speech)
{
    struct gate gate;

    gate_init(&gate);
    gate.h.participant->type = TYPE_HUMAN;
    CHECK_INT(SEND(gate.a, "chat"), OK);
    CHECK_INT(SEND(gate.h, "x/y"), ERR_CAPABILITY_VIOLATION);
    CHECK_INT(send(&gate, &gate.h,
                   SAYING("r", "h", "participant/routing", "{\"mode\":\"all\"}")),
              OK);
    CHECK_INT(gate.room.guard.count, 1);
    CHECK_INT(SEND_ABOUT(gate.h, "mcp/response:x"), OK); /* programs answer */
    CHECK_INT(gate.room.guard.count, 1);
    CHECK_INT(SEND(gate.h, "chat"), OK);
    CHECK_INT(gate.room.guard.count, 0);
    gate_done(&gate);
}

/* D7a */
TEST(an_id_in_the_ring_or_in_the_ledger_is_in_use_whoever_had_it)
{
    struct gate gate;

    gate_init(&gate);
    CHECK_INT(send(&gate, &gate.a, TEXT("talk", "a", "chat", "")), OK);
    CHECK_INT(send(&gate, &gate.h, TEXT("talk", "h", "chat", "")), ERR_DUPLICATE_ID);
    CHECK_INT(send(&gate, &gate.a, TEXT("plan", "a", "mcp/proposal:x", "")), OK);
    CHECK_INT(send(&gate, &gate.h, TEXT("ask", "h", "mcp/request:x", "")), OK);
    CHECK_INT(send(&gate, &gate.h, TEXT("1", "h", "chat", "")), OK);
    CHECK_INT(send(&gate, &gate.h, TEXT("2", "h", "chat", "")), OK);
    CHECK_INT(send(&gate, &gate.h, TEXT("3", "h", "chat", "")),
              OK); /* the ring has rolled */
    CHECK_INT(send(&gate, &gate.h, TEXT("plan", "h", "chat", "")), ERR_DUPLICATE_ID);
    CHECK_INT(send(&gate, &gate.a, TEXT("ask", "a", "chat", "")), ERR_DUPLICATE_ID);
    CHECK_INT(send(&gate, &gate.h, TEXT("talk", "h", "chat", "")), OK);
    gate.wall_ms += 60'000; /* the proposal expires */
    CHECK_INT(send(&gate, &gate.h, TEXT("plan", "h", "chat", "")), OK);
    gate_done(&gate);
}

static size_t bytes_of(struct member *member)
{
    struct iovec spans[8];
    size_t count = member_pull(member, spans, 8);
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += spans[i].iov_len;
    member_taken(member, bytes);
    return bytes;
}

/* D17 */
TEST(the_answer_to_a_fulfilment_also_reaches_the_proposer_if_directed)
{
    struct str answer =
        TEXT("r", "t", "mcp/response:tools/call", ABOUT("f") ",\"to\":[\"h\"]");
    struct gate gate;

    gate_init(&gate);
    CHECK_INT(send(&gate, &gate.a, TEXT("p", "a", "mcp/proposal:tools/call", "")), OK);
    CHECK_INT(
        send(&gate, &gate.h,
             TEXT("f", "h", "mcp/request:tools/call", ABOUT("p") ",\"to\":[\"t\"]")),
        OK);
    (void)bytes_of(&gate.a);
    CHECK_INT(send(&gate, &gate.t, answer), OK);
    CHECK_INT(bytes_of(&gate.a), 4 + answer.len);
    CHECK_INT(send(&gate, &gate.t,
                   TEXT("again", "t", "mcp/response:x", ABOUT("f") ",\"to\":[\"h\"]")),
              OK);
    CHECK_INT(bytes_of(&gate.a), 0); /* the first answer was the one */
    gate_done(&gate);
}

/* --- rates --- */

TEST(every_text_is_charged_well_formed_or_not)
{
    static const struct str texts[] = {
        TEXT("1", "a", "chat", ""),  S("{"),
        TEXT("2", "a", "Chat", ""),  TEXT("3", "x", "chat", ""),
        TEXT("4", "a", "mcp/x", ""), TEXT("1", "a", "chat", ""),
    };
    struct gate gate;
    size_t bytes = 0;

    gate_init(&gate);
    gate.limits.messages = (struct rate){ 100, 100 };
    gate.limits.bytes = (struct rate){ 10'000, 10'000 };
    FOR_EACH_CASE(text, texts) {
        CHECK((send(&gate, &gate.a, *text) == OK) == (text == texts));
        bytes += text->len;
        CHECK_INT(conduct_of(&gate.a)->messages.level, 100'000 - (test_case + 1) * 1000);
        CHECK_INT(conduct_of(&gate.a)->bytes.level, (10'000 - bytes) * 1000);
    }
    CHECK_INT(conduct_of(&gate.h)->messages.level, 0); /* never asked */
    gate_done(&gate);
}

TEST(what_is_too_fast_is_refused_for_that_first_and_costs_nothing)
{
    struct gate gate;

    gate_init(&gate);
    gate.limits.messages = (struct rate){ 2, 1 };
    CHECK_INT(send(&gate, &gate.h, TEXT("1", "h", "chat", "")), OK);
    CHECK_INT(send(&gate, &gate.h, S("{")), ERR_RATE_LIMITED);
    CHECK_INT(gate.refusal.retry_after_ms, 500);
    CHECK_STR(gate.refusal.field, S(""));
    CHECK_STR(str_of(gate.refusal.what), S("you send faster than you may"));
    CHECK_INT(send(&gate, &gate.h, S("\xff")), ERR_UTF8); /* the connection ends */
    CHECK_INT(send(&gate, &gate.a, TEXT("2", "a", "chat", "")), OK); /* his own bucket */
    gate.now_ms += 500;
    CHECK_INT(send(&gate, &gate.h, TEXT("3", "h", "chat", "")), OK);
    gate_done(&gate);
}

TEST(bytes_are_limited_like_messages)
{
    struct str text = TEXT("1", "h", "chat", "");
    struct gate gate;

    gate_init(&gate);
    gate.limits.messages = (struct rate){ 1000, 1000 };
    gate.limits.bytes = (struct rate){ text.len, text.len };
    CHECK_INT(send(&gate, &gate.h, text), OK);
    CHECK_INT(send(&gate, &gate.h, TEXT("2", "h", "chat", "")), ERR_RATE_LIMITED);
    CHECK_INT(gate.refusal.retry_after_ms, 1000);
    CHECK_INT(conduct_of(&gate.h)->messages.level,
              999'000); /* neither bucket is charged */
    gate_done(&gate);
}

TEST(D19_persistence_is_abuse_and_is_forgotten_after_a_while)
{
    struct gate gate;

    gate_init(&gate); /* two strikes are allowed */
    gate.limits.messages = (struct rate){ 1, 1 };
    CHECK_INT(send(&gate, &gate.h, TEXT("1", "h", "chat", "")), OK);
    for (size_t strike = 1; strike <= 4; strike++) {
        CHECK_INT(send(&gate, &gate.h, S("{}")), ERR_RATE_LIMITED);
        CHECK_INT(gate.refusal.is_abuse, strike > 2);
    }
    gate.now_ms += STRIKE_WINDOW_MS;
    CHECK_INT(send(&gate, &gate.h, TEXT("2", "h", "chat", "")), OK);
    CHECK_INT(send(&gate, &gate.h, S("{}")), ERR_RATE_LIMITED);
    CHECK(gate.refusal.is_abuse); /* still the same window */
    gate.now_ms += 1;
    CHECK_INT(send(&gate, &gate.h, S("{}")), ERR_RATE_LIMITED);
    CHECK(!gate.refusal.is_abuse);
    gate_done(&gate);
}

/* --- what the gateway carries out itself --- */

#define ROUTING(payload)                                                                          \
    S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"from\":\"t\",\"kind\":\"participant/routing\"," \
      "\"payload\":" payload "}")

TEST(D3_routing_is_carried_out_and_goes_no_further)
{
    /* clang-format off */
    static const struct { struct str text; enum err err; enum routing routing; } cases[] = {
        { ROUTING("{\"mode\":\"directed\"}"),             OK,                     ROUTE_DIRECTED },
        { ROUTING("{\"mode\":\"directed\"}"),             OK,                     ROUTE_DIRECTED },
        { ROUTING("{\"x\":{\"mode\":1},\"mode\":\"\\u0061ll\"}"), OK,             ROUTE_ALL      },
        { ROUTING("{}"),                                  ERR_MALFORMED_ENVELOPE, ROUTE_ALL      },
        { ROUTING("{\"mode\":\"some\"}"),                 ERR_MALFORMED_ENVELOPE, ROUTE_ALL      },
        { ROUTING("{\"mode\":1}"),                        ERR_MALFORMED_ENVELOPE, ROUTE_ALL      },
        { ROUTING("{\"Mode\":\"directed\"}"),             ERR_MALFORMED_ENVELOPE, ROUTE_ALL      },
        { ROUTING("{\"x\":{\"mode\":\"directed\"}}"),     ERR_MALFORMED_ENVELOPE, ROUTE_ALL      },
    };
    /* clang-format on */
    struct gate gate;

    gate_init(&gate);
    FOR_EACH_CASE(c, cases) { /* needs no capability, and its id may come again */
        CHECK_INT(send(&gate, &gate.t, c->text), c->err);
        CHECK_INT(gate.is_executed, c->err == OK);
        CHECK_INT(gate.t.routing, c->routing);
    }
    CHECK_INT(admit_by(&gate, gate.t.participant, NULL, cases[0].text),
              ERR_MALFORMED_ENVELOPE);
    CHECK_STR(str_of(gate.refusal.what),
              S("routing belongs to a connection, and this was posted"));
    gate_done(&gate);
}

TEST(too_many_open_proposals_are_refused)
{
    struct gate gate;

    gate_init(&gate);
    CHECK_INT(send(&gate, &gate.a, TEXT("1", "a", "mcp/proposal:x", "")), OK);
    CHECK_INT(send(&gate, &gate.a, TEXT("2", "a", "mcp/proposal:x", "")), OK);
    CHECK_INT(send(&gate, &gate.a, TEXT("3", "a", "mcp/proposal:x", "")),
              ERR_UNAVAILABLE);
    CHECK_INT(send(&gate, &gate.h, TEXT("4", "h", "mcp/request:x", ABOUT("1"))), OK);
    CHECK_INT(send(&gate, &gate.h, TEXT("5", "h", "mcp/request:x", ABOUT("1"))),
              ERR_PROPOSAL_STATE);
    CHECK_STR(str_of(gate.refusal.state), S("fulfilled"));
    gate_done(&gate);
}

TEST(what_is_nested_too_deeply_is_malformed_at_a_place)
{
    struct gate gate;

    gate_init(&gate);
    gate.limits.depth = 3;
    CHECK_INT(send(&gate, &gate.a, TEXT("1", "a", "chat", ",\"x\":[[1]]")), OK);
    CHECK_INT(send(&gate, &gate.a, TEXT("2", "a", "chat", ",\"x\":[[[1]]]")),
              ERR_MALFORMED_ENVELOPE);
    CHECK(gate.refusal.at > 60);
    gate_done(&gate);
}
