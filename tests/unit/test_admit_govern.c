/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admit/admit.h"
#include "base/cleanup.h"
#include "fake_topic.h"
#include "harness.h"
#include "policy/rulings.h"

enum { NOW = 50'000, WALL = 1'000'000'000, PEOPLE = 4 };

/* A room with two agents "a" and "b", a human "h" and a service "s". */
struct gate {
    struct room room;
    struct topic_settings topic_settings;
    struct ledger_settings ledger_settings;
    struct admit_rules rules;
    struct admit_limits limits;
    struct arena scratch;
    struct capsets *capsets;
    struct member members[PEOPLE];
    struct rulings *rulings;
    struct refusal refusal;
    char instead[256]; /* of the refusal */
    size_t ids;
};

static const char *const ids[PEOPLE] = { "a", "b", "h", "s" };
static const enum participant_type types[PEOPLE] = { TYPE_AGENT, TYPE_AGENT, TYPE_HUMAN,
                                                     TYPE_SERVICE };
static const struct str everything[] = { S("mcp/*"), S("chat") };
static const struct str requests[] = { S("mcp/request:*"), S("mcp/response:*") };
#define ALL  ((struct str_list){ everything, COUNT(everything) })
#define ASKS ((struct str_list){ requests, COUNT(requests) })

static void gate_init(struct gate *gate, struct str_list capabilities)
{
    *gate = (struct gate){
        .topic_settings = { .ring_messages = 3,
                            .ring_bytes = 1 << 20,
                            .max_members = 9,
                            .max_members_each = 9 },
        .ledger_settings = { .mode = PROPOSALS_ONCE,
                             .expiry_ms = 60'000,
                             .max_expiry_ms = 120'000,
                             .max_proposals = 9,
                             .max_requests = 9 },
        .limits = { .depth = 16, .rate_strikes = 2 },
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
    for (size_t i = 0; i < PEOPLE; i++) {
        struct topic *topic = &gate->room.topic;
        struct capset *caps = NULL;

        CHECK_INT(capset_intern(gate->capsets, capabilities, &caps, NULL), OK);
        topic_join(topic, &gate->members[i],
                   &(struct join){ .participant = participant_enter(topic, str_of(ids[i]),
                                                                    types[i], caps, NOW),
                                   .ops = &fake_deaf_member,
                                   .number = i + 1 });
        capset_unref(caps);
    }
}

static void gate_done(struct gate *gate)
{
    for (size_t i = 0; i < PEOPLE; i++)
        member_leave(&gate->members[i], NOW);
    ledger_done(&gate->room.ledger);
    topic_done(&gate->room.topic);
    capsets_free(gate->capsets);
    arena_done(&gate->scratch);
    rulings_free(gate->rulings);
}

static void set_rows(struct gate *gate, const struct ruling_row *rows, size_t count)
{
    struct ruling_problem problem;

    rulings_free(gate->rulings);
    gate->rulings = NULL;
    CHECK_INT(rulings_new(rows, count, &gate->rulings, &problem), OK);
    gate->room.rulings = gate->rulings;
    gate->room.is_governed = gate->rulings || gate->room.has_brake;
}

static void set_brake(struct gate *gate, bool is_on)
{
    gate->room.has_brake = is_on;
    gate->room.is_governed = gate->rulings || is_on;
}

static enum err send(struct gate *gate, char who, const char *text)
{
    size_t at = 0;
    struct str said = str_of(text);
    struct admission a;
    enum err err;

    while (ids[at][0] != who)
        at++;
    a = (struct admission){ .room = &gate->room,
                            .sender = gate->members[at].participant,
                            .member = &gate->members[at],
                            .text = { memcpy(topic_reserve(&gate->room.topic, said.len),
                                             said.ptr, said.len),
                                      said.len },
                            .limits = &gate->limits,
                            .scratch = &gate->scratch,
                            .now_ms = NOW,
                            .wall_ms = WALL };
    gate->refusal = (struct refusal){};
    err = admit(&a, &gate->refusal);
    CHECK_INT(gate->refusal.err, err);
    (void)snprintf(gate->instead, sizeof(gate->instead), STR_FMT,
                   STR_ARG(gate->refusal.propose_instead));
    return err;
}

/* One that says what its kind says; `about`: a proposal, or "". Its id is that of the
 * count. */
static enum err say(struct gate *gate, char who, const char *kind, const char *about)
{
    const char *method = strchr(kind, ':');
    char text[1024], payload[256] = "{}", correlation[128] = "";
    char name[64] = "";

    if (method) {
        const char *colon = strchr(method + 1, ':');
        int len = colon ? (int)(colon - method - 1) : (int)strlen(method + 1);

        if (colon)
            (void)snprintf(name, sizeof(name), ",\"params\":{\"name\":\"%s\"}",
                           colon + 1);
        (void)snprintf(payload, sizeof(payload), "{\"method\":\"%.*s\"%s}", len,
                       method + 1, name);
    }
    if (*about)
        (void)snprintf(correlation, sizeof(correlation), ",\"correlation_id\":\"%s\"",
                       about);
    (void)snprintf(text, sizeof(text),
                   "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m%zu\",\"from\":\"%c\","
                   "\"kind\":\"%s\",\"payload\":%s%s}",
                   ++gate->ids, who, kind, payload, correlation);
    return send(gate, who, text);
}

#define REFUSED ERR_CAPABILITY_VIOLATION

TEST(the_brake_holds_up_what_agents_call_and_nothing_else)
{
    /* clang-format off */
    static const struct { char who; const char *kind; enum err err; } cases[] = {
        { 'a', "mcp/request:tools/call:x",               REFUSED },
        { 'b', "mcp/request:tools/call",                 REFUSED },
        { 'a', "mcp/request:resources/read",             REFUSED },
        { 'a', "mcp/request:completion/complete",        REFUSED },
        { 'a', "mcp/request:sampling/createMessage",     REFUSED },
        { 'a', "mcp/request:tools/list",                 OK },
        { 'a', "mcp/request:ping",                       OK },
        { 'a', "mcp/request:initialize",                 OK },
        { 'a', "mcp/request:notifications/progress",     OK },
        { 'a', "mcp/request:authorization/respond",      OK },
        { 'a', "mcp/proposal:tools/call:x",              OK },
        { 'a', "chat",                                   OK },
        { 'h', "mcp/request:tools/call:x",               OK },
        { 's', "mcp/request:sampling/createMessage",     OK },
    };
    /* clang-format on */
    struct gate gate;

    gate_init(&gate, ALL);
    CHECK_INT(say(&gate, 'a', "mcp/request:tools/call:x", ""), OK);
    set_brake(&gate, true);
    FOR_EACH_CASE(c, cases) {
        CHECK_INT(say(&gate, c->who, c->kind, ""), c->err);
        CHECK(!c->err == !gate.refusal.policy);
        CHECK(!c->err == !gate.instead[0]);
    }
    CHECK_INT(participant_conduct(gate.members[0].participant)->violations, 0);
    CHECK_INT(say(&gate, 'a', "mcp/request:tools/call:x", ""), REFUSED);
    CHECK_STR(str_of(gate.instead), S("mcp/proposal:tools/call:x"));
    CHECK_STR(str_of(gate.refusal.policy), S("brake"));
    CHECK_INT(say(&gate, 'b', "mcp/request:tools/call", ""), REFUSED);
    CHECK_STR(str_of(gate.instead), S("mcp/proposal:tools/call"));
    set_brake(&gate, false);
    CHECK_INT(say(&gate, 'a', "mcp/request:tools/call:x", ""), OK);
    gate_done(&gate);
}

TEST(a_call_does_not_pass_under_the_name_of_something_that_is_spared)
{
    struct gate gate;

    gate_init(&gate, ALL);
    set_brake(&gate, true);
    CHECK_INT(send(&gate, 'a',
                   "{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"from\":\"a\",\"kind\":"
                   "\"mcp/request:ping\",\"payload\":{\"method\":\"tools/call\"}}"),
              ERR_KIND_PAYLOAD_MISMATCH);
    set_brake(&gate, false);
    CHECK_INT(send(&gate, 'a',
                   "{\"protocol\":\"mcpx/v0.1\",\"id\":\"2\",\"from\":\"a\",\"kind\":"
                   "\"mcp/request:ping\",\"payload\":{\"method\":\"tools/call\"}}"),
              OK);
    gate_done(&gate);
}

/* m1 is the proposal of "a". */
static void propose(struct gate *gate, enum proposal_mode mode)
{
    gate_init(gate, ALL);
    gate->ledger_settings.mode = mode;
    set_brake(gate, true);
    CHECK_INT(say(gate, 'a', "mcp/proposal:tools/call:x", ""), OK);
}

TEST(what_a_person_stands_behind_passes)
{
    struct gate gate;

    propose(&gate, PROPOSALS_ONCE);
    CHECK_INT(say(&gate, 'h', "mcp/request:tools/call:x", "m1"), OK);
    CHECK_INT(say(&gate, 'h', "mcp/request:tools/call:x", "m1"), ERR_PROPOSAL_STATE);
    gate_done(&gate);
    propose(&gate, PROPOSALS_ONCE);
    CHECK_INT(say(&gate, 'h', "mcp/approve", "m1"), OK);
    CHECK_INT(say(&gate, 'b', "mcp/request:tools/call:x", "m1"), OK);
    gate_done(&gate);
}

TEST(agents_do_not_wave_each_other_through)
{
    struct gate gate;

    propose(&gate, PROPOSALS_ONCE);
    CHECK_INT(say(&gate, 'b', "mcp/request:tools/call:x", "m1"), REFUSED);
    CHECK_INT(say(&gate, 'b', "mcp/approve", "m1"), OK);
    CHECK_INT(say(&gate, 's', "mcp/approve", "m1"), OK);
    CHECK_INT(say(&gate, 'b', "mcp/request:tools/call:x", "m1"), REFUSED);
    CHECK_INT(say(&gate, 'a', "mcp/request:tools/call:x", "m1"), ERR_PROPOSAL_STATE);
    CHECK_INT(say(&gate, 'h', "mcp/approve", "m1"), OK);
    CHECK_INT(say(&gate, 'b', "mcp/request:tools/call:y", "m1"), REFUSED); /* a thread */
    CHECK_INT(say(&gate, 'b', "mcp/request:tools/call:x", "m1"), OK);
    gate_done(&gate);
    propose(&gate, PROPOSALS_FREE); /* where everybody fulfils, as often as he likes */
    CHECK_INT(say(&gate, 'a', "mcp/approve", "m1"), OK);
    CHECK_INT(say(&gate, 'a', "mcp/request:tools/call:x", "m1"), REFUSED);
    CHECK_INT(say(&gate, 'b', "mcp/request:tools/call:x", "m1"), REFUSED);
    CHECK_INT(say(&gate, 'h', "mcp/approve", "m1"), OK);
    CHECK_INT(say(&gate, 'b', "mcp/request:tools/call:x", "m1"), OK);
    CHECK_INT(say(&gate, 'b', "mcp/request:tools/call:x", "m1"),
              REFUSED); /* it is over */
    gate_done(&gate);
}

#define FULFIL(id, params)                                                            \
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"" id "\",\"from\":\"b\",\"kind\":"          \
    "\"mcp/request:tools/call:x\",\"correlation_id\":\"m1\",\"payload\":{\"method\":" \
    "\"tools/call\"" params "}}"

TEST(others_ask_for_what_was_approved_and_nothing_else)
{
    /* clang-format off */
    static const struct { const char *text; enum err err; } cases[] = {
        { FULFIL("1", ",\"params\":{\"name\":\"x\",\"arguments\":{\"a\":1}}"),                       REFUSED },
        { FULFIL("2", ",\"params\":{\"name\":\"x\",\"arguments\":{},\"arguments\":{}}"),             REFUSED },
        { FULFIL("3", ",\"params\":{\"arguments\":{},\"name\":\"x\",\"_meta\":{\"progressToken\":1}}"), OK },
    };
    /* clang-format on */
    struct gate gate;

    propose(&gate, PROPOSALS_ONCE);
    CHECK_INT(say(&gate, 'h', "mcp/approve", "m1"), OK);
    FOR_EACH_CASE(c, cases)
        CHECK_INT(send(&gate, 'b', c->text), c->err);
    gate_done(&gate);
}

/* Else a word about the one would be a word about the other: the ring holds three. */
TEST(the_id_of_a_proposal_that_is_over_is_not_proposed_again)
{
    static const char harmful[] =
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m1\",\"from\":\"a\",\"kind\":"
        "\"mcp/proposal:tools/call:y\",\"payload\":{\"method\":\"tools/call\","
        "\"params\":{\"name\":\"y\"}}}";
    struct gate gate;

    propose(&gate, PROPOSALS_ONCE);
    CHECK_INT(say(&gate, 'a', "mcp/withdraw", "m1"), OK);
    for (size_t i = 0; i < 4; i++)
        CHECK_INT(say(&gate, 'a', "chat", ""), OK);
    CHECK_INT(send(&gate, 'a', harmful), ERR_DUPLICATE_ID);
    CHECK_INT(say(&gate, 'h', "mcp/approve", "m1"), ERR_PROPOSAL_STATE);
    gate_done(&gate);
}

#define BARE(kind, id, from, rest)                                   \
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"" id "\",\"from\":\"" from \
    "\",\"kind\":\"mcp/" kind ":tools/call\"," rest "}"
#define SAYS(rest) \
    "\"payload\":{\"method\":\"tools/call\",\"params\":{\"name\":\"x\"" rest "}"

/* What can be read in two ways may not be what the person has read. */
TEST(what_can_be_read_in_two_ways_has_nobodys_word)
{
    /* clang-format off */
    static const struct { const char *proposal, *fulfilment; enum err err; } cases[] = {
        { BARE("proposal", "p", "a", SAYS("}")), BARE("request", "r", "b", "\"correlation_id\":\"p\"," SAYS("}")), OK },
        { BARE("proposal", "p", "a", SAYS("}")), BARE("request", "r", "b", "\"correlation_id\":\"p\"," SAYS("},\"Params\":{\"name\":\"y\"}")), REFUSED },
        { BARE("proposal", "p", "a", SAYS(",\"arguments\":{\"f\":1,\"f\":2}}")), BARE("request", "r", "b", "\"correlation_id\":\"p\"," SAYS(",\"arguments\":{\"f\":1,\"f\":2}}")), REFUSED },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct gate gate;

        gate_init(&gate, ALL);
        set_brake(&gate, true);
        CHECK_INT(send(&gate, 'a', c->proposal), OK);
        CHECK_INT(say(&gate, 'h', "mcp/approve", "p"), OK);
        CHECK_INT(send(&gate, 'b', c->fulfilment), c->err);
        gate_done(&gate);
    }
}

TEST(deny_holds_for_everybody_whoever_approved)
{
    static const struct ruling_row rows[] = {
        { RULING_DENY, .kind = S("mcp/request:tools/call:x"), .message = S("never") },
        { RULING_ASK, .kind = S("mcp/request:tools/call:y"), .message = S("ask ann") },
        { RULING_ALLOW, .kind = S("mcp/request:tools/call:z") },
    };
    struct gate gate;
    struct buf out;

    propose(&gate, PROPOSALS_ONCE);
    set_rows(&gate, rows, COUNT(rows));
    buf_init(&out, 4096);
    CHECK_INT(say(&gate, 'h', "mcp/request:tools/call:x", "m1"), REFUSED);
    CHECK_STR(str_of(gate.refusal.policy), S("deny"));
    CHECK_STR(gate.refusal.message, S("never"));
    CHECK_STR(str_of(gate.instead), S(""));
    CHECK(refusal_is_violation(&gate.refusal));
    CHECK_INT(say(&gate, 'h', "mcp/request:tools/call:y", ""), REFUSED);
    CHECK_STR(gate.refusal.message, S("ask ann"));
    CHECK(!refusal_is_violation(&gate.refusal));
    CHECK_INT(say(&gate, 'a', "mcp/request:tools/call:z", ""), REFUSED);
    CHECK_STR(str_of(gate.refusal.policy), S("brake")); /* a row does not release it */
    CHECK_INT(say(&gate, 'h', "mcp/request:tools/call:z", ""), OK);
    buf_done(&out);
    gate_done(&gate);
}

TEST(who_may_call_may_propose_where_it_is_asked_for)
{
    static const struct ruling_row rows[] = {
        { RULING_DENY, .kind = S("mcp/request:tools/call:x") },
        { RULING_ASK, .kind = S("mcp/request:tools/call:y") },
    };
    struct gate gate;

    gate_init(&gate, ASKS);
    CHECK_INT(say(&gate, 'a', "mcp/proposal:tools/call:y", ""), REFUSED);
    set_rows(&gate, rows, COUNT(rows));
    CHECK_INT(say(&gate, 'a', "mcp/proposal:tools/call:y", ""), OK);
    CHECK_INT(say(&gate, 'a', "mcp/proposal:tools/call:x", ""), REFUSED);
    CHECK_INT(say(&gate, 'a', "mcp/proposal:tools/call:z", ""), REFUSED);
    CHECK_INT(say(&gate, 'a', "mcp/proposal:tools/list", ""), REFUSED);
    set_brake(&gate, true);
    CHECK_INT(say(&gate, 'a', "mcp/proposal:tools/call:z", ""), OK);
    CHECK_INT(say(&gate, 'a', "mcp/proposal:tools/call:x", ""), REFUSED);
    CHECK_INT(say(&gate, 'a', "mcp/proposal:tools/list", ""), REFUSED);
    CHECK_INT(say(&gate, 'h', "mcp/proposal:tools/call:z", ""),
              REFUSED); /* he may call */
    gate_done(&gate);
}

/* Whatever the rows: nothing passes with them that capabilities alone refuse, but for a
 * proposal that is asked for; and what is spared is never asked for. */
TEST(policy_never_widens)
{
    static const char *const kinds[] = {
        "mcp/request:tools/call:x",    "mcp/request:tools/call",
        "mcp/request:tools/list",      "mcp/request:ping",
        "mcp/proposal:tools/call:x",   "mcp/response:tools/call",
        "mcp/request:prompts/get:x",   "chat",
        "mcp/request:notifications/x",
    };
    static const struct str patterns[] = { S("mcp/*"), S("mcp/request:*"),
                                           S("mcp/request:tools/call:x"),
                                           S("mcp/request:tools/*") };
    static const struct str sets[][2] = {
        { S("mcp/*"), S("chat") },
        { S("mcp/request:tools/call:x"), S("chat") },
        { S("mcp/proposal:*"), S("mcp/request:*/list") },
    };
    uint64_t seed = 7;

    for (size_t round = 0; round < 2000; round++) {
        struct gate with, without;
        struct ruling_row rows[3];
        const char *kind;
        char who;
        enum err narrowed, plain;

        seed = seed * 6364136223846793005 + 1442695040888963407;
        gate_init(&with, (struct str_list){ sets[(seed >> 33) % 3], 2 });
        gate_init(&without, (struct str_list){ sets[(seed >> 33) % 3], 2 });
        for (size_t i = 0; i < COUNT(rows); i++)
            rows[i] = (struct ruling_row){
                .ruling = (enum ruling)(RULING_ALLOW + (seed >> (35 + 4 * i)) % 3),
                .kind = patterns[(seed >> (37 + 4 * i)) % COUNT(patterns)],
                .types = (unsigned)(seed >> (49 + 2 * i)) % 8,
            };
        set_rows(&with, rows, 1 + (seed >> 58) % 3);
        set_brake(&with, (seed >> 57) & 1);
        kind = kinds[(seed >> 40) % COUNT(kinds)];
        who = ids[(seed >> 44) % PEOPLE][0];
        narrowed = say(&with, who, kind, strstr(kind, "response") ? "q" : "");
        plain = say(&without, who, kind, strstr(kind, "response") ? "q" : "");
        if (plain && !strstr(kind, "proposal"))
            CHECK_INT(narrowed, plain);
        if (with.instead[0])
            CHECK(!strstr(kind, "list") && !strstr(kind, "ping") &&
                  strstr(kind, "mcp/request:") && !strstr(kind, "notifications"));
        gate_done(&with);
        gate_done(&without);
    }
}
