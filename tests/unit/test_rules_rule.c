/* SPDX-License-Identifier: Apache-2.0 */
#include "config/document.h"
#include "harness.h"
#include "rules/rule.h"
#include "rules/value.h"

enum { ROOM = 16 << 20, TEXT = 1 << 20 };

#define HEAD \
    "{\"rules\":[{\"topic\":\"room\",\"proposer\":\"bot\",\"method\":\"tools/call\",\"tool\":\"t\",\"to\":\"o\""
#define RULE(arguments) S(HEAD ",\"arguments\":" arguments "}]}")

/* The one rule of a text; its arguments stay NULL where it is refused. */
static struct rule read_rule(struct str text, struct arena *arena,
                             struct rule_problem *problem)
{
    struct rule_list rules = {};

    if (rules_read(text, arena, &rules, problem) || rules.count != 1)
        return (struct rule){};
    return rules.items[0];
}

static bool covers(const struct rule *rule, struct str arguments, struct arena *arena,
                   struct shape_miss *miss)
{
    struct rule_proposal p = { .topic = S("room"),
                               .proposer = S("bot"),
                               .method = S("tools/call"),
                               .tool = S("t"),
                               .to = S("o") };

    return json_parse(arguments, arena, &p.arguments, NULL) == OK &&
           rule_covers(rule, &p, miss);
}

TEST(a_shape_covers_what_it_names)
{
#define PATH \
    "{\"p\":{\"under\":\"/srv/a\",\"characters\":\"a-z .\",\"max_bytes\":20,\"depth\":2,\"endings\":[\".c\",\"\"]}}"
    static const struct {
        struct str rule, arguments;
        bool covers;
    } cases[] = {
        { RULE("{\"a\":{\"exactly\":1}}"), S("{\"a\":1.0}"), true },
        { RULE("{\"a\":{\"exactly\":1}}"), S("{\"a\":\"1\"}"), false },
        { RULE("{\"a\":{\"exactly\":[1,\"x\"]}}"), S("{\"a\":[1e0,\"x\"]}"), true },
        { RULE("{\"a\":{\"exactly\":[1,\"x\"]}}"), S("{\"a\":[\"x\",1]}"), false },
        { RULE("{\"a\":{\"exactly\":null}}"), S("{\"a\":null}"), true },
        { RULE("{\"a\":{\"exactly\":null}}"), S("{}"), false },
        { RULE("{\"a\":{\"exactly\":1,\"optional\":true}}"), S("{}"), true },
        { RULE("{\"a\":{\"exactly\":1,\"optional\":true}}"), S("{\"a\":2}"), false },
        { RULE("{\"a\":{\"exactly\":1,\"optional\":true}}"), S("{\"b\":1}"), false },
        { RULE("{}"), S("{}"), true },
        { RULE("{}"), S("{\"a\":1}"), false },
        { RULE("{\"a\":{\"one_of\":[1,\"x\"]}}"), S("{\"a\":\"x\"}"), true },
        { RULE("{\"a\":{\"one_of\":[1,\"x\"]}}"), S("{\"a\":2}"), false },
        { RULE("{\"a\":{\"boolean\":true}}"), S("{\"a\":false}"), true },
        { RULE("{\"a\":{\"boolean\":true}}"), S("{\"a\":0}"), false },
        { RULE("{\"a\":{\"between\":[0.1,0.3]}}"), S("{\"a\":0.3}"), true },
        { RULE("{\"a\":{\"between\":[0.1,0.3]}}"), S("{\"a\":0.30000000000000000001}"),
          false },
        { RULE("{\"a\":{\"between\":[1,9],\"whole\":true}}"), S("{\"a\":2.50e0}"),
          false },
        { RULE("{\"a\":{\"between\":[1,9],\"whole\":true}}"), S("{\"a\":20e-1}"), true },
        { RULE("{\"a\":{\"between\":[1,9]}}"), S("{\"a\":1e99999}"), false },
        { RULE("{\"a\":{\"between\":[1,9]}}"), S("{\"a\":1e999999999}"), false },
        { RULE(PATH), S("{\"p\":\"/srv/a/x.c\"}"), true },
        { RULE(PATH), S("{\"p\":\"/srv/a/d/x\"}"), true },
        { RULE(PATH), S("{\"p\":\"/srv/a/d/e/x\"}"), false },
        { RULE(PATH), S("{\"p\":\"/srv/a/x.h\"}"), false },
        { RULE(PATH), S("{\"p\":\"/srv/a/..\"}"), false },
        { RULE(PATH), S("{\"p\":\"/srv/a/../x\"}"), false },
        { RULE(PATH), S("{\"p\":\"/srv/a\"}"), false },
        { RULE(PATH), S("{\"p\":\"/srv/a/\"}"), false },
        { RULE(PATH), S("{\"p\":\"/srv/a//x\"}"), false },
        { RULE(PATH), S("{\"p\":\"/srv/ab/x\"}"), false },
        { RULE(PATH), S("{\"p\":\"/srv/a/x\\u0000\"}"), false },
        { RULE(PATH), S("{\"p\":\"/srv/a/.x\"}"), false },
        { RULE(PATH), S("{\"p\":\"/srv/a/aaaaaaaaaaaaaaaaaaaa\"}"), false },
        { RULE("{\"p\":{\"prefix\":\"ab-\",\"characters\":\"0-9\",\"max_bytes\":5}}"),
          S("{\"p\":\"ab-12\"}"), true },
        { RULE("{\"p\":{\"prefix\":\"ab-\",\"characters\":\"0-9\",\"max_bytes\":5}}"),
          S("{\"p\":\"ab-123\"}"), false },
        { RULE("{\"p\":{\"prefix\":\"ab-\",\"characters\":\"0-9\",\"max_bytes\":5}}"),
          S("{\"p\":\"ab-\"}"), false },
        { RULE("{\"p\":{\"prefix\":\"ab-\",\"characters\":\"0-9\",\"max_bytes\":5}}"),
          S("{\"p\":\"ab-x\"}"), false },
        { RULE("{\"p\":{\"prefix\":\"ab-\",\"characters\":\"0-9\",\"max_bytes\":5}}"),
          S("{\"p\":[\"ab-1\"]}"), false },
        { RULE("{\"p\":{\"text\":true,\"max_bytes\":4}}"), S("{\"p\":\"a b!\"}"), true },
        { RULE("{\"p\":{\"text\":true,\"max_bytes\":4}}"), S("{\"p\":\"a\\nb\"}"),
          false },
        { RULE("{\"p\":{\"text\":true,\"max_bytes\":4,\"lines\":true}}"),
          S("{\"p\":\"a\\nb\"}"), true },
        { RULE("{\"p\":{\"text\":true,\"max_bytes\":9}}"), S("{\"p\":\"a\\u202eb\"}"),
          false },
        { RULE("{\"p\":{\"items\":{\"exactly\":1},\"max_items\":2}}"), S("{\"p\":[]}"),
          true },
        { RULE("{\"p\":{\"items\":{\"exactly\":1},\"max_items\":2}}"), S("{\"p\":[1,1]}"),
          true },
        { RULE("{\"p\":{\"items\":{\"exactly\":1},\"max_items\":2}}"),
          S("{\"p\":[1,1,1]}"), false },
        { RULE("{\"p\":{\"items\":{\"exactly\":1},\"max_items\":2}}"), S("{\"p\":[1,2]}"),
          false },
        { RULE("{\"p\":{\"items\":{\"exactly\":1},\"min_items\":1,\"max_items\":2}}"),
          S("{\"p\":[]}"), false },
        { RULE("{\"p\":{\"members\":{\"q\":{\"exactly\":1}}}}"), S("{\"p\":{\"q\":1}}"),
          true },
        { RULE("{\"p\":{\"members\":{\"q\":{\"exactly\":1}}}}"),
          S("{\"p\":{\"q\":1,\"r\":1}}"), false },
        { RULE("{\"p\":{\"members\":{\"q\":{\"exactly\":1}}}}"), S("{\"p\":{}}"), false },
    };

    FOR_EACH_CASE(c, cases) {
        struct rule_problem problem = {};
        struct shape_miss miss = {};
        struct arena arena;
        struct rule rule;

        arena_init(&arena, ROOM);
        rule = read_rule(c->rule, &arena, &problem);
        CHECK_STR(str_of(problem.what), S(""));
        CHECK(rule.arguments);
        if (rule.arguments) {
            CHECK_INT(covers(&rule, c->arguments, &arena, &miss), c->covers);
            CHECK(c->covers || (miss.what && *miss.what && miss.path[0]));
        }
        arena_done(&arena);
    }
}

TEST(a_miss_says_where_and_why)
{
    struct rule_problem problem = {};
    struct shape_miss miss = {};
    struct arena arena;
    struct rule rule;

    arena_init(&arena, ROOM);
    rule = read_rule(RULE("{\"a\":{\"members\":{\"b\":{\"between\":[1,2]}}}}"), &arena,
                     &problem);
    CHECK(!covers(&rule, S("{\"a\":{\"b\":3}}"), &arena, &miss));
    CHECK_STR(str_of(miss.path), S("arguments.a.b"));
    CHECK_STR(str_of(miss.what), S("is more than seen"));
    CHECK(!covers(&rule, S("{\"a\":{}}"), &arena, &miss));
    CHECK_STR(str_of(miss.path), S("arguments.a.b"));
    CHECK_STR(str_of(miss.what), S("is missing"));
    CHECK(!covers(&rule, S("{\"a\":{\"b\":1},\"c\":1}"), &arena, &miss));
    CHECK_STR(str_of(miss.path), S("arguments"));
    arena_done(&arena);
}

TEST(who_and_what_must_be_the_same)
{
    static const struct {
        struct rule_proposal proposal;
        struct str path; /* "": it is covered */
    } cases[] = {
        { { S("room"), S("bot"), S("tools/call"), S("t"), S("o"), NULL }, S("") },
        { { S("rooM"), S("bot"), S("tools/call"), S("t"), S("o"), NULL }, S("topic") },
        { { S("room"), S("b\xd0\xbet"), S("tools/call"), S("t"), S("o"), NULL },
          S("proposer") },
        { { S("room"), S("bot"), S("tools/list"), S("t"), S("o"), NULL }, S("method") },
        { { S("room"), S("bot"), S("tools/call"), S("t "), S("o"), NULL }, S("tool") },
        { { S("room"), S("bot"), S("tools/call"), S("t"), S(""), NULL }, S("to") },
        { { S("room"), S("bot"), S("tools/call"), S("t"), S("p"), NULL }, S("to") },
    };
    struct rule_problem problem = {};
    struct arena arena;
    struct rule rule;

    arena_init(&arena, ROOM);
    rule = read_rule(RULE("{}"), &arena, &problem);
    FOR_EACH_CASE(c, cases) {
        struct shape_miss miss = {};

        CHECK_INT(rule_covers(&rule, &c->proposal, &miss), c->path.len == 0);
        if (c->path.len)
            CHECK_STR(str_of(miss.path), c->path);
    }
    rule.to = S("*");
    CHECK(rule_covers(&rule, &cases[6].proposal, NULL));
    rule.to = S("");
    CHECK(!rule_covers(&rule, &cases[0].proposal, NULL));
    CHECK(rule_covers(&rule, &cases[5].proposal, NULL));
    arena_done(&arena);
}

TEST(arguments_beyond_all_bounds_are_not_covered)
{
    struct rule_problem problem = {};
    struct shape_miss miss = {};
    struct arena arena;
    struct rule rule;
    struct buf text;

    arena_init(&arena, ROOM);
    buf_init(&text, TEXT);
    rule =
        read_rule(RULE("{\"a\":{\"text\":true,\"max_bytes\":16384}}"), &arena, &problem);
    buf_put(&text, S("{\"a\":\""));
    while (text.len < RULE_ARGUMENTS - 2)
        buf_putc(&text, 'x');
    buf_put(&text, S("\"}"));
    CHECK(covers(&rule, buf_str(&text), &arena, &miss));
    text.len -= 2;
    buf_put(&text, S("x\"}"));
    CHECK(!covers(&rule, buf_str(&text), &arena, &miss));
    buf_done(&text);
    arena_done(&arena);
}

TEST(a_rule_that_says_too_much_is_refused)
{
    static const struct str cases[] = {
        S(""),
        S("[]"),
        S("{}"),
        S("{\"rules\":{}}"),
        S("{\"rules\":[1]}"),
        S("{\"rules\":[],\"more\":1}"),
        S("{\"rules\":[{}]}"),
        S(HEAD "}]}"),
        S(HEAD ",\"arguments\":{},\"colour\":1}]}"),
        S(HEAD ",\"arguments\":{},\"budget\":0}]}"),
        S(HEAD ",\"arguments\":{},\"budget\":10001}]}"),
        S(HEAD ",\"arguments\":{},\"state\":\"on\"}]}"),
        S(HEAD ",\"arguments\":{},\"expires_at\":\"soon\"}]}"),
        S(HEAD ",\"arguments\":{},\"note\":\"a\\nb\"}]}"),
        S(HEAD ",\"arguments\":{},\"evidence\":{\"sure\":1}}]}"),
        S("{\"rules\":[{\"topic\":\"room\",\"proposer\":\"bot\",\"method\":\"tools/call\",\"arguments\":{}}]}"),
        S("{\"rules\":[{\"topic\":\"room\",\"proposer\":\"bot\",\"method\":\"ping\",\"tool\":\"x\",\"arguments\":{}}]}"),
        S("{\"rules\":[{\"topic\":\"\",\"proposer\":\"bot\",\"method\":\"ping\",\"arguments\":{}}]}"),
        S("{\"rules\":[{\"topic\":\"r\",\"proposer\":\"b\\u202e\",\"method\":\"ping\",\"arguments\":{}}]}"),
        RULE("[]"),
        RULE("{\"a\":1}"),
        RULE("{\"a\":{}}"),
        RULE("{\"a\":{\"optional\":true}}"),
        RULE("{\"a\":{\"anything\":true}}"),
        RULE("{\"\":{\"exactly\":1}}"),
        RULE("{\"a\\u0000\":{\"exactly\":1}}"),
        RULE("{\"a\":{\"exactly\":1},\"a\":{\"exactly\":1}}"),
        RULE("{\"a\":{\"exactly\":{\"b\":1}}}"),
        RULE("{\"a\":{\"exactly\":[[1]]}}"),
        RULE("{\"a\":{\"exactly\":\"x\\u0007\"}}"),
        RULE("{\"a\":{\"exactly\":\"x\\u200b\"}}"),
        RULE("{\"a\":{\"one_of\":[]}}"),
        RULE("{\"a\":{\"one_of\":[1]}}"),
        RULE("{\"a\":{\"one_of\":[1,1.0]}}"),
        RULE("{\"a\":{\"one_of\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}}"),
        RULE("{\"a\":{\"boolean\":false}}"),
        RULE("{\"a\":{\"between\":[2,1]}}"),
        RULE("{\"a\":{\"between\":[1]}}"),
        RULE("{\"a\":{\"between\":[\"1\",2]}}"),
        RULE("{\"a\":{\"between\":[1,1e999999]}}"),
        RULE("{\"a\":{\"between\":[1,2],\"max_bytes\":1}}"),
        RULE("{\"a\":{\"text\":true}}"),
        RULE("{\"a\":{\"text\":true,\"max_bytes\":16385}}"),
        RULE("{\"a\":{\"under\":\"/\",\"characters\":\"a-z\",\"max_bytes\":9}}"),
        RULE("{\"a\":{\"under\":\"\",\"characters\":\"a-z\",\"max_bytes\":9}}"),
        RULE("{\"a\":{\"under\":\"/root\",\"characters\":\"a-z\",\"max_bytes\":9}}"),
        RULE("{\"a\":{\"under\":\"/home\",\"characters\":\"a-z\",\"max_bytes\":9}}"),
        RULE("{\"a\":{\"under\":\"/home/x\",\"characters\":\"a-z\",\"max_bytes\":9}}"),
        RULE("{\"a\":{\"under\":\"/Users/x\",\"characters\":\"a-z\",\"max_bytes\":9}}"),
        RULE("{\"a\":{\"under\":\"~/x\",\"characters\":\"a-z\",\"max_bytes\":9}}"),
        RULE("{\"a\":{\"under\":\"/srv/\",\"characters\":\"a-z\",\"max_bytes\":9}}"),
        RULE("{\"a\":{\"under\":\"/srv/..\",\"characters\":\"a-z\",\"max_bytes\":9}}"),
        RULE("{\"a\":{\"under\":\"/srv\",\"characters\":\"a-z /\",\"max_bytes\":9}}"),
        RULE("{\"a\":{\"under\":\"/srv\",\"characters\":\"\",\"max_bytes\":9}}"),
        RULE(
            "{\"a\":{\"under\":\"/srv\",\"characters\":\"a-z\",\"max_bytes\":9,\"depth\":33}}"),
        RULE(
            "{\"a\":{\"under\":\"/srv\",\"characters\":\"a-z\",\"max_bytes\":9,\"endings\":[\"c\"]}}"),
        RULE("{\"a\":{\"prefix\":\"ab\",\"characters\":\"a-z\",\"max_bytes\":9}}"),
        RULE("{\"a\":{\"prefix\":\"abc\",\"characters\":\"a-z\",\"max_bytes\":9}}"),
        RULE("{\"a\":{\"prefix\":\"/srv/a-\",\"characters\":\"a-z\",\"max_bytes\":9}}"),
        RULE("{\"a\":{\"prefix\":\"https://\",\"characters\":\"a-z\",\"max_bytes\":99}}"),
        RULE(
            "{\"a\":{\"prefix\":\"https://host.\",\"characters\":\"a-z\",\"max_bytes\":99}}"),
        RULE(
            "{\"a\":{\"prefix\":\"https://a@host/\",\"characters\":\"a-z\",\"max_bytes\":99}}"),
        RULE("{\"a\":{\"items\":{\"exactly\":1}}}"),
        RULE("{\"a\":{\"items\":{\"exactly\":1},\"max_items\":257}}"),
        RULE("{\"a\":{\"items\":{\"exactly\":1},\"min_items\":3,\"max_items\":2}}"),
        RULE(
            "{\"a\":{\"members\":{\"a\":{\"members\":{\"a\":{\"members\":{\"a\":{\"exactly\":1}}}}}}}}"),
    };

    FOR_EACH_CASE(c, cases) {
        struct rule_problem problem = {};
        struct rule_list rules = {};
        struct arena arena;

        arena_init(&arena, ROOM);
        CHECK(rules_read(*c, &arena, &rules, &problem) != OK);
        CHECK(problem.what[0]);
        CHECK(problem.at <= c->len);
        CHECK_INT(rules.count, 0);
        arena_done(&arena);
    }
}

TEST(two_rules_with_one_id_are_refused)
{
    struct rule_problem problem = {};
    struct rule_list rules = {};
    struct arena arena;

    arena_init(&arena, ROOM);
    CHECK(rules_read(S(HEAD ",\"arguments\":{}},{\"topic\":\"room\",\"proposer\":\"bot\","
                            "\"method\":\"tools/call\",\"tool\":\"t\",\"to\":\"o\","
                            "\"arguments\":{}}]}"),
                     &arena, &rules, &problem) != OK);
    CHECK(str_starts(str_of(problem.what), S("another rule has the same id")));
    arena_done(&arena);
}

/* As YAML and back through the reader of files. */
TEST(a_rule_is_the_same_after_json_and_yaml)
{
    static const struct str whole = RULE(
        "{\"a\":{\"exactly\":\"it's \\\"x\\\": # {\\\\\"},\"b c\":{\"one_of\":[null,true,\"no\",\"1\",1.50,[],{}]},"
        "\"c\":{\"boolean\":true},\"d\":{\"between\":[-1e400,0.25]},"
        "\"e\":{\"under\":\"src\",\"characters\":\"a-z A-Z 0-9 . _ - + , = : @\",\"max_bytes\":9,\"depth\":3,\"endings\":[\"\",\".c\"]},"
        "\"f\":{\"prefix\":\"https://h/\",\"characters\":\"0-9\",\"max_bytes\":20},\"g\":{\"text\":true,\"max_bytes\":7,\"lines\":true},"
        "\"h\":{\"members\":{\"i\":{\"members\":{\"j\":{\"items\":{\"one_of\":[\"\xc3\xa4\",\"~\"]},\"max_items\":2}}}}},"
        "\"null\":{\"exactly\":false,\"optional\":true},\"- k\":{\"exactly\":{}}},\"state\":\"active\",\"budget\":7,"
        "\"expires_at\":\"2030-01-01T00:00:00Z\",\"created_at\":\"2026-01-01T00:00:00Z\",\"created_by\":\"x\",\"accepted_at\":\"2026-01-02T00:00:00Z\","
        "\"accepted_by\":\"ann: #1\",\"note\":\"yes\",\"evidence\":{\"approved\":20,\"beside\":1,\"days\":3,\"first_at\":\"2026-01-01T00:00:00Z\","
        "\"last_at\":\"2026-01-03T00:00:00Z\",\"people\":[\"ann\"],\"examples\":[\"p\\\"1\"]}");
    struct config_problem wrong = {};
    struct config_document document = {};
    struct rule_problem problem = {};
    struct buf first, second, yaml;
    struct json_writer w;
    struct arena arena;
    struct rule rule, again;

    arena_init(&arena, ROOM);
    buf_init(&first, TEXT);
    buf_init(&second, TEXT);
    buf_init(&yaml, TEXT);
    rule = read_rule(whole, &arena, &problem);
    CHECK_STR(str_of(problem.what), S(""));
    CHECK_INT(rule.evidence.bound, 838'869);
    json_write_init(&w, &first);
    rule_write(&w, &rule);
    buf_put(&yaml, S("rules:\n"));
    rule_write_yaml(&yaml, &rule);
    CHECK_INT(config_document_read(buf_str(&yaml), "rules.yaml", &document, &wrong), OK);
    CHECK_STR(str_of(wrong.message), S(""));
    again = read_rule(buf_str(&document.json), &arena, &problem);
    CHECK_STR(str_of(problem.what), S(""));
    if (again.arguments) {
        json_write_init(&w, &second);
        rule_write(&w, &again);
        CHECK_STR(buf_str(&second), buf_str(&first));
    }
    config_document_done(&document);
    buf_done(&first);
    buf_done(&second);
    buf_done(&yaml);
    arena_done(&arena);
}

TEST(the_bound_is_wilsons)
{
    static const struct {
        uint64_t approved, rejected, bound;
    } cases[] = {
        { 0, 0, 0 },        { 0, 5, 0 },       { 1, 0, 206'549 },   { 15, 0, 796'114 },
        { 16, 0, 806'391 }, { 9, 1, 595'850 }, { 50, 50, 403'831 }, { 1000, 0, 996'173 },
    };

    FOR_EACH_CASE(c, cases) {
        uint64_t bound = rule_bound(c->approved, c->rejected);

        /* To a hundred thousandth. */
        CHECK(bound + 10 >= c->bound && bound <= c->bound + 10);
    }
}

TEST(evidence_is_added_once)
{
    struct rule_evidence into = { .approved = 15,
                                  .days = 2,
                                  .first_ms = 1000,
                                  .last_ms = 90'000'000,
                                  .people = { S("ann") },
                                  .people_count = 1,
                                  .examples = { S("3"), S("2"), S("1") },
                                  .example_count = 3 };
    struct rule_evidence from = { .approved = 5,
                                  .beside = 1,
                                  .days = 2,
                                  .first_ms = 90'000'001,
                                  .last_ms = 200'000'000,
                                  .people = { S("bob"), S("ann") },
                                  .people_count = 2,
                                  .examples = { S("6"), S("5"), S("4") },
                                  .example_count = 3 };
    struct arena arena;

    arena_init(&arena, ROOM);
    CHECK_INT(rule_evidence_merge(&into, &from, &arena), OK);
    CHECK_INT(into.approved, 20);
    CHECK_INT(into.beside, 1);
    CHECK_INT(into.days, 3); /* one of them is the same */
    CHECK_INT(into.last_ms, 200'000'000);
    CHECK_INT(into.bound, rule_bound(20, 0));
    CHECK_INT(into.people_count, 2);
    CHECK_INT(into.example_count, RULE_EXAMPLES);
    CHECK_STR(into.examples[0], S("6"));
    CHECK_STR(into.examples[4], S("2"));
    CHECK_INT(rule_evidence_merge(&into, &from, &arena), ERR_INVALID);
    CHECK_INT(into.approved, 20);
    arena_done(&arena);
}

TEST(a_rule_ends_when_it_expires)
{
    struct rule rule = { .expires_ms = 100 };

    CHECK(rule_is_current(&rule, 99));
    CHECK(!rule_is_current(&rule, 100));
    rule.expires_ms = 0;
    CHECK(rule_is_current(&rule, 100));
}

TEST(a_proposal_is_read_without_doubt_or_not_at_all)
{
#define ENVELOPE(rest) S("{\"from\":\"bot\"," rest "}")
#define CALL           "\"kind\":\"mcp/proposal:tools/call:t\",\"payload\":"
    static const struct {
        struct str text;
        bool is_read;
    } cases[] = {
        { ENVELOPE(
              CALL
              "{\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{}}}"),
          true },
        { ENVELOPE(CALL "{\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}"),
          true },
        { ENVELOPE(
              CALL
              "{\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"_meta\":{\"x\":1}}}"),
          true },
        { ENVELOPE("\"to\":[\"o\"]," CALL
                   "{\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}"),
          true },
        { ENVELOPE("\"to\":[\"o\",\"p\"]," CALL
                   "{\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}"),
          false },
        { ENVELOPE(CALL
                   "{\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"task\":{}}}"),
          false },
        { ENVELOPE(CALL "{\"method\":\"tools/call\",\"params\":{\"name\":\"u\"}}"),
          false },
        { ENVELOPE(
              CALL
              "{\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":[]}}"),
          false },
        { ENVELOPE(
              CALL
              "{\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"a\":1,\"a\":2}}}"),
          false },
        { ENVELOPE(
              CALL
              "{\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"name\":\"t\"}}"),
          false },
        { ENVELOPE(CALL "{\"method\":\"ping\",\"params\":{\"name\":\"t\"}}"), false },
        { ENVELOPE(CALL "{\"method\":\"tools/call\"}"), false },
        { ENVELOPE(
              "\"kind\":\"mcp/proposal:resources/read\",\"payload\":{\"method\":\"resources/read\",\"params\":{\"uri\":\"x\",\"_meta\":{}}}"),
          true },
        { ENVELOPE("\"kind\":\"chat\",\"payload\":{}"), false },
        { S("{\"kind\":\"mcp/proposal:ping\",\"payload\":{\"method\":\"ping\"}}"),
          false },
        { S("[]"), false },
        { S(""), false },
    };

    FOR_EACH_CASE(c, cases) {
        struct rule_proposal p = {};
        const char *why = NULL;
        struct arena arena;

        arena_init(&arena, ROOM);
        CHECK_INT(rule_proposal_read(S("room"), c->text, &arena, &p, &why) == OK,
                  c->is_read);
        CHECK(c->is_read || (why && *why));
        CHECK(!c->is_read || str_eq(p.proposer, S("bot")));
        if (test_case == 12)
            CHECK_INT(p.arguments->count, 1); /* without _meta */
        arena_done(&arena);
    }
}
