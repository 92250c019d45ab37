/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "policy/leaf.h"
#include "policy/rulings.h"

#define LIST(...)                                                     \
    ((struct str_list){ (const struct str[]){ __VA_ARGS__ },          \
                        sizeof((const struct str[]){ __VA_ARGS__ }) / \
                            sizeof(struct str) })

static struct rulings *make(const struct ruling_row *rows, size_t count)
{
    struct ruling_problem problem;
    struct rulings *rulings = NULL;

    CHECK_INT(rulings_new(rows, count, &rulings, &problem), OK);
    return rulings;
}

/* Who asks for what; the payload is that of a request unless it is given. */
struct asked {
    struct str kind;
    struct str payload; /* ptr NULL: not known */
    struct str topic, from;
    enum participant_type type;
};

static struct json_span span_of(struct str payload)
{
    struct json_scan scan;
    struct json_span span = {};

    if (!payload.ptr)
        return span;
    json_scan_init(&scan, payload, JSON_MAX_DEPTH);
    CHECK_INT(json_value(&scan, &span), OK);
    return span;
}

static struct asked ask(struct str kind, struct str payload)
{
    return (struct asked){ .kind = kind, .payload = payload };
}

static struct ruling_answer judge(const struct rulings *rulings, struct asked asked)
{
    struct ruling_answer answer;
    struct arena scratch;
    struct kind kind = {};

    CHECK_INT(kind_parse(asked.kind, &kind), OK);
    arena_init(&scratch, 1 << 20);
    answer =
        rulings_judge(rulings, &(struct ruling_question){
                                   .topic = asked.topic.len ? asked.topic : S("room"),
                                   .from = asked.from.len ? asked.from : S("bot"),
                                   .type = asked.type,
                                   .kind = &kind,
                                   .payload = span_of(asked.payload),
                                   .scratch = &scratch,
                               });
    arena_done(&scratch);
    return answer;
}

#define CALL S("mcp/request:tools/call")
#define NAMED(name) \
    S("{\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\",\"arguments\":{}}}")

TEST(an_empty_list_says_nothing)
{
    struct rulings *rulings = make(NULL, 0);
    size_t count = 9;

    CHECK(!rulings);
    CHECK(!rulings_reach(rulings, S("room")));
    CHECK_INT(judge(rulings, ask(CALL, NAMED("x"))).ruling, RULING_NONE);
    (void)rulings_rows(rulings, &count);
    CHECK_INT(count, 0);
}

TEST(the_first_row_that_fits_decides)
{
    static const struct ruling_row rows[] = {
        { RULING_DENY, .kind = S("mcp/request:tools/call:drop_*"),
          .message = S("never") },
        { RULING_ALLOW, .kind = S("mcp/request:tools/call:read_*") },
        { RULING_ASK, .kind = S("mcp/request:tools/call") },
        { RULING_DENY, .kind = S("chat") },
    };
    /* clang-format off */
    static const struct { struct str kind, payload; enum ruling ruling; size_t row; } cases[] = {
        { S("mcp/request:tools/call:drop_all"), NAMED("drop_all"), RULING_DENY,  0 },
        { S("mcp/request:tools/call:read_it"),  NAMED("read_it"),  RULING_ALLOW, 1 },
        { S("mcp/request:tools/call:other"),    NAMED("other"),    RULING_ASK,   2 },
        { S("chat"),                            S("{}"),           RULING_DENY,  3 },
        { S("mcp/request:prompts/get"),         S("{}"),           RULING_NONE,  0 },
        { S("mcp/proposal:tools/call:drop_x"),  NAMED("drop_x"),   RULING_NONE,  0 },
        { S("mcp/response:tools/call"),         S("{}"),           RULING_NONE,  0 },
        /* a kind without a CONTEXT means what the payload names */
        { CALL,                                 NAMED("drop_all"), RULING_DENY,  0 },
        { CALL,                                 NAMED("\\u0064rop_all"), RULING_DENY, 0 },
        { CALL,                                 NAMED("read_it"),  RULING_ALLOW, 1 },
        { CALL,                                 NAMED("other"),    RULING_ASK,   2 },
        { CALL,                                 S("{}"),           RULING_ASK,   2 },
        { CALL,                                 S("{\"params\":{\"name\":7}}"), RULING_ASK, 2 },
    };
    /* clang-format on */
    struct rulings *rulings = make(rows, COUNT(rows));

    FOR_EACH_CASE(c, cases) {
        struct ruling_answer answer = judge(rulings, ask(c->kind, c->payload));

        CHECK_INT(answer.ruling, c->ruling);
        CHECK_INT(answer.row, c->row);
        CHECK(!answer.may_differ);
    }
    CHECK_STR(judge(rulings, ask(CALL, NAMED("drop_x"))).message, S("never"));
    rulings_free(rulings);
}

TEST(rows_are_for_topics_senders_and_types)
{
    const struct ruling_row rows[] = {
        { RULING_DENY, .kind = S("chat"), .topics = LIST(S("prod-*"), S("live")) },
        { RULING_DENY, .kind = S("chat"), .from = LIST(S("bad*")) },
        { RULING_DENY, .kind = S("chat"), .types = 1U << TYPE_SERVICE },
    };
    /* clang-format off */
    static const struct { struct asked asked; enum ruling ruling; } cases[] = {
        { { S("chat"), S("{}"), S("prod-1"), S("x"),    TYPE_AGENT },   RULING_DENY },
        { { S("chat"), S("{}"), S("live"),   S("x"),    TYPE_AGENT },   RULING_DENY },
        { { S("chat"), S("{}"), S("prod-"),  S("x"),    TYPE_AGENT },   RULING_DENY },
        { { S("chat"), S("{}"), S("prod"),   S("x"),    TYPE_AGENT },   RULING_NONE },
        { { S("chat"), S("{}"), S("test"),   S("bad"),  TYPE_AGENT },   RULING_DENY },
        { { S("chat"), S("{}"), S("alive"),  S("x"),    TYPE_AGENT },   RULING_NONE },
        { { S("chat"), S("{}"), S("test"),   S("bad1"), TYPE_AGENT },   RULING_DENY },
        { { S("chat"), S("{}"), S("test"),   S("good"), TYPE_HUMAN },   RULING_NONE },
        { { S("chat"), S("{}"), S("test"),   S("good"), TYPE_SERVICE }, RULING_DENY },
    };
    /* clang-format on */
    struct rulings *rulings = make(rows, COUNT(rows));

    FOR_EACH_CASE(c, cases)
        CHECK_INT(judge(rulings, c->asked).ruling, c->ruling);
    CHECK(rulings_reach(rulings, S("anything")));
    rulings_free(rulings);
    rulings = make(rows, 1);
    CHECK(rulings_reach(rulings, S("prod-1")));
    CHECK(!rulings_reach(rulings, S("test")));
    rulings_free(rulings);
}

#define ARGUMENTS(text) \
    S("{\"method\":\"tools/call\",\"params\":{\"name\":\"w\",\"arguments\":{" text "}}}")

TEST(conditions_that_narrow_cannot_be_got_round)
{
    static const struct ruling_row rows[] = {
        { RULING_DENY, .kind = CALL,
          .payload = S("{\"params\":{\"arguments\":{\"path\":\"/etc/*\"}}}") },
        { RULING_DENY, .kind = CALL,
          .payload = S("{\"params\":{\"arguments\":{\"count\":[1,7]}}}") },
    };
    /* clang-format off */
    static const struct { struct str payload; enum ruling ruling; } cases[] = {
        { ARGUMENTS("\"path\":\"/etc/passwd\""),                     RULING_DENY },
        { ARGUMENTS("\"path\":\"\\/etc\\u002fpasswd\""),             RULING_DENY },
        { ARGUMENTS("\"path\":\"/srv/x\""),                          RULING_NONE },
        { ARGUMENTS("\"path\":7"),                                   RULING_DENY },
        { ARGUMENTS("\"path\":[\"/etc/passwd\"]"),                   RULING_DENY },
        { ARGUMENTS("\"path\":null"),                                RULING_NONE },
        { ARGUMENTS(""),                                             RULING_NONE },
        { ARGUMENTS("\"path\":\"/srv/x\",\"path\":\"/etc/passwd\""), RULING_DENY },
        { ARGUMENTS("\"path\":\"/srv/x\",\"Path\":\"/etc/passwd\""), RULING_DENY },
        { ARGUMENTS("\"count\":1"),                                  RULING_DENY },
        { ARGUMENTS("\"count\":1.0"),                                RULING_DENY },
        { ARGUMENTS("\"count\":70e-1"),                              RULING_DENY },
        { ARGUMENTS("\"count\":2"),                                  RULING_NONE },
        { ARGUMENTS("\"count\":\"1\""),                              RULING_DENY },
        { S("{\"params\":{\"arguments\":\"{\\\"count\\\":1}\"}}"),   RULING_DENY },
        { S("{\"params\":{\"arguments\":{\"path\":\"/srv/x\"}},"
            "\"params\":{\"arguments\":{\"path\":\"/etc/x\"}}}"),    RULING_DENY },
        { S("{\"params\":{\"arguments\":{\"path\":\"/srv/x\"},"
            "\"arguments\":{\"path\":\"/etc/x\"}}}"),                RULING_DENY },
    };
    /* clang-format on */
    struct rulings *rulings = make(rows, COUNT(rows));

    FOR_EACH_CASE(c, cases)
        CHECK_INT(judge(rulings, ask(CALL, c->payload)).ruling, c->ruling);
    rulings_free(rulings);
}

TEST(a_text_that_is_too_long_to_compare_fits_what_narrows)
{
    static const struct ruling_row rows[] = {
        { RULING_ALLOW, .kind = CALL,
          .payload = S("{\"params\":{\"arguments\":{\"path\":\"/srv/*\"}}}") },
        { RULING_DENY, .kind = CALL,
          .payload = S("{\"params\":{\"arguments\":{\"path\":\"/etc/*\"}}}") },
    };
    static const char head[] = "{\"params\":{\"arguments\":{\"path\":\"/srv/";
    static const char tail[] = "\"}}}";
    struct rulings *rulings = make(rows, COUNT(rows));
    static char text[2 * LEAF_MAX_BYTES];
    size_t len = sizeof(head) - 1;

    memcpy(text, head, len);
    memset(text + len, 'x', LEAF_MAX_BYTES);
    len += LEAF_MAX_BYTES;
    memcpy(text + len, tail, sizeof(tail) - 1);
    len += sizeof(tail) - 1;
    CHECK_INT(judge(rulings, ask(CALL, (struct str){ text, len })).ruling, RULING_DENY);
    rulings_free(rulings);
}

TEST(a_name_in_doubt_fits_what_narrows_and_not_what_allows)
{
    static const struct ruling_row rows[] = {
        { RULING_ALLOW, .kind = S("mcp/request:tools/call:read") },
        { RULING_ASK, .kind = S("mcp/request:tools/call:drop") },
    };
    /* clang-format off */
    static const struct { struct str payload; enum ruling ruling; } cases[] = {
        { NAMED("read"),                                               RULING_ALLOW },
        { NAMED("drop"),                                               RULING_ASK },
        { NAMED("else"),                                               RULING_NONE },
        { S("{\"params\":{\"name\":\"read\",\"name\":\"drop\"}}"),     RULING_ASK },
        { S("{\"params\":{\"name\":\"read\",\"NAME\":\"drop\"}}"),     RULING_ASK },
        { S("{\"params\":{\"name\":\"read\"},\"params\":{\"name\":\"drop\"}}"), RULING_ASK },
    };
    /* clang-format on */
    struct rulings *rulings = make(rows, COUNT(rows));

    FOR_EACH_CASE(c, cases)
        CHECK_INT(judge(rulings, ask(CALL, c->payload)).ruling, c->ruling);
    rulings_free(rulings);
}

TEST(resources_are_named_by_their_uri)
{
    static const struct ruling_row rows[] = {
        { RULING_DENY, .kind = S("mcp/request:resources/read:file*") },
    };
    struct rulings *rulings = make(rows, COUNT(rows));
    struct str kind = S("mcp/request:resources/read");
    struct str file = S("{\"params\":{\"uri\":\"file:///x\"}}");
    struct str other = S("{\"params\":{\"uri\":\"x:y\",\"name\":\"file\"}}");

    CHECK_INT(judge(rulings, ask(kind, file)).ruling, RULING_DENY);
    CHECK_INT(judge(rulings, ask(kind, other)).ruling, RULING_NONE);
    rulings_free(rulings);
}

TEST(ask_holds_up_calls_and_spares_lists_and_talk)
{
    static const struct ruling_row rows[] = {
        { RULING_ASK, .kind = S("mcp/*") },
        { RULING_DENY, .kind = S("mcp/request:prompts/list") },
    };
    /* clang-format off */
    static const struct { struct str kind; enum ruling ruling; } cases[] = {
        { S("mcp/request:tools/call"),                RULING_ASK },
        { S("mcp/request:tools/call:x"),              RULING_ASK },
        { S("mcp/request:completion/complete"),       RULING_ASK },
        { S("mcp/request:resources/read"),            RULING_ASK },
        { S("mcp/request:sampling/createMessage"),    RULING_ASK },
        { S("mcp/request:tools/list"),                RULING_NONE },
        { S("mcp/request:prompts/list"),              RULING_DENY },
        { S("mcp/request:ping"),                      RULING_NONE },
        { S("mcp/request:initialize"),                RULING_NONE },
        { S("mcp/request:notifications/cancelled"),   RULING_NONE },
        { S("mcp/request:authorization/respond"),     RULING_NONE },
        { S("mcp/response:tools/call"),               RULING_NONE },
        { S("mcp/proposal:tools/call"),               RULING_NONE },
        { S("mcp/approve"),                           RULING_NONE },
        { S("chat"),                                  RULING_NONE },
    };
    /* clang-format on */
    struct rulings *rulings = make(rows, COUNT(rows));

    FOR_EACH_CASE(c, cases)
        CHECK_INT(judge(rulings, ask(c->kind, S("{}"))).ruling, c->ruling);
    rulings_free(rulings);
}

TEST(without_a_payload_it_is_said_that_another_may_be_judged_otherwise)
{
    static const struct ruling_row rows[] = {
        { RULING_DENY, .kind = S("mcp/request:tools/call:drop") },
        { RULING_ALLOW, .kind = S("mcp/request:tools/call:x") },
        { RULING_ASK, .kind = S("chat*"), .payload = S("{\"a\":1}") },
    };
    static const struct ruling_row talk[] = {
        { RULING_DENY, .kind = S("chat"), .payload = S("{\"a\":1}") },
    };
    struct rulings *rulings = make(rows, 2);
    struct ruling_answer answer = judge(rulings, ask(CALL, (struct str){}));
    struct ruling_problem problem;
    struct rulings *bad = NULL;

    CHECK_INT(answer.ruling, RULING_NONE);
    CHECK(answer.may_differ);
    answer = judge(rulings, ask(S("mcp/request:tools/call:x"), (struct str){}));
    CHECK_INT(answer.ruling, RULING_ALLOW);
    CHECK(!answer.may_differ);
    rulings_free(rulings);
    CHECK_INT(rulings_new(rows, COUNT(rows), &bad, &problem), ERR_INVALID);
    CHECK_INT(problem.row, 2);
    rulings = make(talk, 1);
    CHECK(judge(rulings, ask(S("chat"), (struct str){})).may_differ);
    CHECK(!judge(rulings, ask(S("chat"), S("{\"a\":2}"))).may_differ);
    rulings_free(rulings);
}

TEST(what_cannot_be_meant_is_refused)
{
    static char long_text[RULING_MAX_MESSAGE + 1];
    const struct str long_message = { memset(long_text, 'x', sizeof(long_text)),
                                      sizeof(long_text) };
    /* clang-format off */
    const struct { struct ruling_row row; struct str field; } cases[] = {
        { { RULING_ASK,  .kind = S("chat") },                                   S("kind") },
        { { RULING_ASK,  .kind = S("mcp/proposal:*") },                         S("kind") },
        { { RULING_ASK,  .kind = S("mcp/request") },                            S("kind") },
        { { RULING_DENY, .kind = S("") },                                       S("kind") },
        { { RULING_DENY, .kind = S("mcp.request.tools.call") },                 S("kind") },
        { { RULING_DENY, .kind = S("chat"), .payload = S("[]") },               S("payload") },
        { { RULING_DENY, .kind = S("chat"), .payload = S("{\"a\":[]}") },       S("payload") },
        { { RULING_DENY, .kind = S("chat"), .message = long_message },          S("message") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct ruling_problem problem = {};
        struct rulings *rulings = NULL;

        CHECK_INT(rulings_new(&c->row, 1, &rulings, &problem), ERR_INVALID);
        CHECK(!rulings);
        if (problem.field)
            CHECK_STR(str_of(problem.field), c->field);
    }
}

/* --- properties --- */

static uint64_t random_state = 42;

static size_t pick(size_t count)
{
    random_state = random_state * 6364136223846793005 + 1442695040888963407;
    return (size_t)(random_state >> 33) % count;
}

static const struct str some_kinds[] = {
    S("mcp/request:tools/call"),      S("mcp/request:tools/call:a"),
    S("mcp/request:tools/call:b"),    S("mcp/request:tools/list"),
    S("mcp/request:prompts/get:a"),   S("mcp/request:ping"),
    S("mcp/response:tools/call"),     S("mcp/proposal:tools/call:a"),
    S("mcp/request:notifications/x"), S("chat"),
};
static const struct str some_patterns[] = {
    S("mcp/*"),
    S("mcp/request:*"),
    S("mcp/request:tools/call"),
    S("mcp/request:tools/call:*"),
    S("mcp/request:tools/call:a"),
    S("mcp/request:*/list"),
    S("mcp/request:tools/*"),
};
static const struct str some_payloads[] = {
    NAMED("a"),
    NAMED("b"),
    S("{}"),
    S("{\"params\":{\"name\":\"a\",\"name\":\"b\"}}"),
};

static struct ruling_row random_row(void)
{
    static const struct str one[] = { S("bot") };

    return (struct ruling_row){
        .ruling = (enum ruling)(RULING_ALLOW + pick(3)),
        .kind = some_patterns[pick(COUNT(some_patterns))],
        .payload = pick(4) ? S("") : S("{\"params\":{\"name\":\"a\"}}"),
        .from = pick(3) ? (struct str_list){} : (struct str_list){ one, 1 },
        .types = (unsigned)pick(8),
    };
}

/* Without what allows, at least as much is refused; and what is spared is never asked
 * for, whatever the list says. */
TEST(rows_that_allow_only_take_away_from_what_others_refuse)
{
    for (size_t round = 0; round < 3000; round++) {
        struct ruling_row rows[6], narrow[6];
        size_t count = 1 + pick(COUNT(rows));
        size_t kept = 0;
        struct rulings *all, *without;
        struct asked asked = { some_kinds[pick(COUNT(some_kinds))],
                               some_payloads[pick(COUNT(some_payloads))], S("room"),
                               pick(2) ? S("bot") : S("other"),
                               (enum participant_type)pick(3) };
        struct ruling_answer a, b;
        struct kind kind;

        for (size_t i = 0; i < count; i++) {
            rows[i] = random_row();
            if (rows[i].ruling != RULING_ALLOW)
                narrow[kept++] = rows[i];
        }
        all = make(rows, count);
        without = make(narrow, kept);
        a = judge(all, asked);
        b = judge(without, asked);
        if (a.ruling == RULING_DENY || a.ruling == RULING_ASK)
            CHECK(b.ruling == RULING_DENY || b.ruling == RULING_ASK);
        CHECK_INT(kind_parse(asked.kind, &kind), OK);
        if (a.ruling == RULING_ASK)
            CHECK(kind.type == KIND_REQUEST && !ruling_spares(&kind));
        if (a.ruling != RULING_NONE)
            CHECK(ruling_concerns(all, a.row, asked.topic, asked.from, asked.type));
        rulings_free(all);
        rulings_free(without);
    }
}
