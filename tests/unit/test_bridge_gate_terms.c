/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls somebody must authorize: modes, rules, what tools ask for themselves. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/gate_terms.h"
#include "harness.h"

#define REQUIRED(more) "{\"name\":\"t\",\"authorization\":{\"required\":true" more "}}"

struct judged {
    struct gate_ruling ruling;
    char reason[2 * GATE_MESSAGE];
};

static struct judged judge(const struct gate_terms *terms, const char *caller,
                           const char *tool, const char *arguments, const char *offer)
{
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(buf_done) struct buf payload;
    struct gate_rules *rules = gate_rules_new(terms);
    struct gate_question question = { .caller = str_of(caller), .tool = str_of(tool) };
    struct judged judged = {};

    buf_init(&payload, 1 << 16);
    arena_init(&arena, 1 << 16);
    buf_putf(&payload,
             "{\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":%s}}",
             tool, arguments);
    question.payload =
        (struct json_span){ .type = JSON_OBJECT, .text = buf_str(&payload) };
    question.wish = gate_wish_read(str_of(offer), &arena);
    CHECK(rules);
    if (!rules)
        return judged;
    judged.ruling = gate_rules_judge(rules, &question, &arena);
    (void)snprintf(judged.reason, sizeof(judged.reason), STR_FMT,
                   STR_ARG(judged.ruling.reason));
    gate_rules_free(rules);
    return judged;
}

static enum gate_then then_of(const struct gate_terms *terms, const char *offer)
{
    return judge(terms, "ann", "t", "{}", offer).ruling.then;
}

TEST(a_mode_says_what_becomes_of_every_call)
{
    static const struct {
        struct gate_terms terms;
        enum gate_then then;
    } cases[] = {
        { { .mode = GATE_ALWAYS_ALLOW }, GATE_ALLOW },
        { { .mode = GATE_ALWAYS_PROMPT }, GATE_PROMPT },
        { { .mode = GATE_DELEGATED, .delegate = S("dan") }, GATE_DELEGATE },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(then_of(&c->terms, "{\"name\":\"t\"}"), c->then);
}

TEST(of_the_rules_the_first_that_fits_counts)
{
    static const struct gate_rule rules[] = {
        { .tool = S("read_*"), .then = GATE_ALLOW },
        { .tool = S("deploy"),
          .arguments = S("{\"target\":\"staging\"}"),
          .then = GATE_ALLOW },
        { .tool = S("deploy"), .caller = S("ops-*"), .then = GATE_DELEGATE },
        { .tool = S("deploy"), .then = GATE_PROMPT },
        { .caller = S("guest"), .then = GATE_DENY },
    };
    static const struct gate_terms terms = { .mode = GATE_SELECTIVE,
                                             .delegate = S("dan"),
                                             .rules = rules,
                                             .rule_count = COUNT(rules) };
    static const struct {
        const char *caller, *tool, *arguments;
        enum gate_then then;
    } cases[] = {
        { "guest", "read_file", "{}", GATE_ALLOW },
        { "guest", "read_", "{}", GATE_DENY }, /* a * stands for one character at least */
        { "ann", "deploy", "{\"target\":\"staging\"}", GATE_ALLOW },
        { "ops-1", "deploy", "{\"target\":\"staging\"}", GATE_ALLOW },
        { "ops-1", "deploy", "{\"target\":\"production\"}", GATE_DELEGATE },
        { "ann", "deploy", "{\"target\":\"production\"}", GATE_PROMPT },
        { "ann", "deploy", "{}", GATE_PROMPT },
        { "ann", "deploy", "{\"target\":[\"staging\"]}", GATE_PROMPT },
        /* a name that may be taken for it */
        { "ann", "deploy", "{\"target\":\"staging\",\"Target\":\"production\"}",
          GATE_PROMPT },
        { "guest", "deploy_now", "{}", GATE_DENY },
        { "ann", "deploy_now", "{}", GATE_ALLOW }, /* none fits */
        { "guests", "x", "{}", GATE_ALLOW },
    };
    CLEANUP(xfreep) char *why = gate_terms_fault(&terms);

    CHECK_STR(str_of(why), S(""));
    FOR_EACH_CASE(c, cases)
        CHECK_INT(judge(&terms, c->caller, c->tool, c->arguments, "{}").ruling.then,
                  c->then);
}

/* What the server makes of them nobody knows. */
TEST(arguments_that_can_be_read_in_two_ways_fit_what_does_not_allow)
{
    static const struct {
        const char *arguments;
        bool fits; /* a rule that denies */
    } cases[] = {
        { "{\"target\":\"production\",\"deep\":{\"x\":1}}", true },
        { "{\"target\":\"production\",\"Target\":\"x\",\"deep\":{\"x\":1}}", true },
        { "{\"Target\":\"production\",\"deep\":{\"x\":1}}", true },
        { "{\"target\":[\"production\"],\"deep\":{\"x\":1}}", true },
        { "{\"target\":\"production\",\"deep\":{\"x\":1},\"DEEP\":{}}", true },
        { "{\"target\":\"production\",\"deep\":[{\"x\":1}]}", true },
        { "{\"target\":\"production\",\"deep\":{\"x\":1.0}}", true },
        { "{\"target\":\"production\",\"deep\":{\"x\":10e-1}}", true },
        { "{\"target\":\"staging\",\"deep\":{\"x\":1}}", false },
        { "{\"target\":\"production\",\"deep\":{\"x\":2}}", false },
        { "{\"target\":\"production\",\"deep\":{}}", false },
        { "{\"target\":\"production\"}", false },
        { "{}", false },
    };
    static const struct str condition =
        S("{\"target\":\"production\",\"deep\":{\"x\":1}}");
    struct gate_rule rules[] = { { .arguments = condition, .then = GATE_DENY } };
    struct gate_terms terms = { GATE_SELECTIVE, S("dan"), 0, rules, 1 };

    FOR_EACH_CASE(c, cases) {
        for (int then = GATE_PROMPT; then <= GATE_DENY; then++) {
            rules[0].then = (enum gate_then)then;
            CHECK_INT(judge(&terms, "ann", "t", c->arguments, "{}").ruling.then,
                      c->fits ? rules[0].then : GATE_ALLOW);
        }
    }
}

TEST(a_text_that_is_too_long_to_compare_is_doubtful)
{
    static char arguments[2 * 16 * 1024];
    static const struct gate_rule rules[] = { { .arguments = S("{\"path\":\"/etc/*\"}"),
                                                .then = GATE_DENY } };
    static const struct gate_terms terms = { GATE_SELECTIVE, S(""), 0, rules, 1 };

    (void)snprintf(arguments, sizeof(arguments), "{\"path\":\"/etc/%0*d\"}", 20'000, 7);
    CHECK_INT(judge(&terms, "ann", "t", arguments, "{}").ruling.then, GATE_DENY);
}

TEST(a_tool_asks_for_more_and_never_for_less)
{
    static const struct gate_rule allow[] = { { .then = GATE_ALLOW } };
    static const struct gate_rule deny[] = { { .then = GATE_DENY } };
    static const struct gate_rule other[] = { { .tool = S("u"), .then = GATE_ALLOW } };
    static const struct gate_terms free = { .mode = GATE_ALWAYS_ALLOW };
    static const struct gate_terms free_to = { .mode = GATE_ALWAYS_ALLOW,
                                               .delegate = S("dan") };
    static const struct gate_terms prompt = { .mode = GATE_ALWAYS_PROMPT };
    static const struct gate_terms prompt_to = { .mode = GATE_ALWAYS_PROMPT,
                                                 .delegate = S("dan") };
    static const struct gate_terms delegated = { .mode = GATE_DELEGATED,
                                                 .delegate = S("dan") };
    static const struct gate_terms rule_allows = { GATE_SELECTIVE, S(""), 0, allow, 1 };
    static const struct gate_terms rule_denies = { GATE_SELECTIVE, S(""), 0, deny, 1 };
    static const struct gate_terms no_rule = { GATE_SELECTIVE, S(""), 0, other, 1 };
    static const struct {
        const struct gate_terms *terms;
        const char *offer;
        enum gate_then then;
    } cases[] = {
        { &free, REQUIRED(""), GATE_PROMPT },
        { &free, REQUIRED(",\"mode\":\"user_approval\""), GATE_PROMPT },
        { &free, REQUIRED(",\"mode\":\"whatever\""), GATE_PROMPT },
        { &free, REQUIRED(",\"mode\":\"automatic\""), GATE_PROMPT },
        { &free, REQUIRED(",\"mode\":\"delegated\""), GATE_PROMPT },
        { &free_to, REQUIRED(",\"mode\":\"delegated\""), GATE_DELEGATE },
        { &free, "{\"authorization\":{\"required\":false}}", GATE_ALLOW },
        { &free, "{\"authorization\":{\"mode\":\"user_approval\"}}", GATE_ALLOW },
        { &free, "{\"authorization\":true}", GATE_ALLOW },
        { &prompt, "{\"authorization\":{\"required\":false}}", GATE_PROMPT },
        { &prompt, REQUIRED(",\"mode\":\"automatic\""), GATE_PROMPT },
        { &prompt_to, REQUIRED(",\"mode\":\"delegated\""), GATE_DELEGATE },
        { &delegated, REQUIRED(",\"mode\":\"user_approval\""), GATE_DELEGATE },
        { &rule_allows, REQUIRED(""), GATE_PROMPT },
        { &rule_allows, REQUIRED(",\"mode\":\"automatic\""), GATE_ALLOW },
        { &rule_denies, REQUIRED(",\"mode\":\"automatic\""), GATE_DENY },
        { &rule_denies, REQUIRED(""), GATE_DENY },
        { &no_rule, REQUIRED(",\"mode\":\"automatic\""), GATE_PROMPT },
        { &no_rule, "{}", GATE_ALLOW },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(then_of(c->terms, c->offer), c->then);
}

TEST(a_tool_shortens_the_time_and_says_why)
{
    static const struct gate_terms terms = { .mode = GATE_ALWAYS_PROMPT,
                                             .timeout_ms = 60'000 };
    static const struct {
        const char *offer;
        uint64_t timeout_ms;
        const char *reason;
    } cases[] = {
        { "{}", 60'000, "every call of this server is to be authorized" },
        { REQUIRED(",\"timeout\":30"), 30'000,
          "every call of this server is to be authorized" },
        { REQUIRED(",\"timeout\":300,\"message\":\"It \\u0041\""), 60'000, "It A" },
        { REQUIRED(",\"timeout\":0.5"), 1000,
          "every call of this server is to be authorized" },
        { "{\"authorization\":{\"timeout\":-1,\"message\":\"m\"}}", 60'000, "m" },
        { REQUIRED(",\"timeout\":\"5\",\"message\":7"), 60'000,
          "every call of this server is to be authorized" },
        { REQUIRED(",\"timeout\":1e99"), 60'000,
          "every call of this server is to be authorized" },
    };
    static char longest[4 * GATE_MESSAGE];

    FOR_EACH_CASE(c, cases) {
        struct judged judged = judge(&terms, "ann", "t", "{}", c->offer);

        CHECK_INT(judged.ruling.timeout_ms, c->timeout_ms);
        CHECK_STR(str_of(judged.reason), str_of(c->reason));
    }
    (void)snprintf(longest, sizeof(longest), REQUIRED(",\"message\":\"%0*d\""),
                   2 * GATE_MESSAGE, 7);
    CHECK_INT(judge(&terms, "ann", "t", "{}", longest).ruling.reason.len, GATE_MESSAGE);
}

TEST(what_is_wrong_with_terms_is_said)
{
    static const struct {
        const char *json, *why;
    } cases[] = {
        { "{\"mode\":\"delegated\"}", "authorization: mode delegated needs a delegate" },
        { "{\"mode\":\"selective\"}",
          "authorization: rules and mode selective go together" },
        { "{\"mode\":\"always-prompt\",\"rules\":[{\"then\":\"deny\"}]}",
          "authorization: rules and mode selective go together" },
        { "{\"mode\":\"selective\",\"rules\":[{\"then\":\"delegate\"}]}",
          "authorization: rule 1 delegates, and there is no delegate" },
        { "{\"mode\":\"always-prompt\",\"timeout_ms\":999}",
          "authorization: the timeout is 1 second to 24 hours" },
        { "{\"mode\":\"always-prompt\",\"timeout_ms\":86400001}",
          "authorization: the timeout is 1 second to 24 hours" },
        { "{\"mode\":\"always-prompt\",\"delegate\":\"a\\u0001\"}",
          "authorization: the delegate is no participant's id" },
        { "{\"mode\":\"never\"}",
          "authorization: mode is always-allow, always-prompt, selective or delegated" },
        { "{\"mode\":\"selective\",\"rules\":[{\"then\":\"maybe\"}]}",
          "a rule of authorization: then is allow, prompt, delegate or deny" },
        { "{\"mode\":\"selective\",\"rules\":[{\"then\":\"deny\",\"arguments\":[]}]}",
          "a rule of authorization: arguments is an object" },
        { "{\"mode\":\"selective\",\"rules\":{}}",
          "authorization: rules are a list of at most 64" },
    };

    FOR_EACH_CASE(c, cases) {
        CLEANUP(arena_done) struct arena arena;
        const struct json *root = NULL;
        struct gate_terms terms = {};
        char *why = NULL;

        arena_init(&arena, 1 << 16);
        CHECK_INT(json_parse(str_of(c->json), &arena, &root, NULL), OK);
        if (!gate_terms_read(root, &arena, &terms, &why))
            why = gate_terms_fault(&terms);
        CHECK_STR(str_of(why), str_of(c->why));
        free(why);
    }
}

/* What they say of it comes from elsewhere: it is enough that they object. */
TEST(rules_that_cannot_be_kept_are_refused)
{
    static const char *const cases[] = {
        "{\"mode\":\"selective\",\"rules\":[{}]}",
        "{\"mode\":\"selective\",\"rules\":[{\"then\":\"deny\",\"tools\":\"x\"}]}",
        "{\"mode\":\"selective\",\"rules\":[{\"then\":\"deny\",\"arguments\":{\"a\":[]}}]}",
        "{\"mode\":\"selective\",\"rules\":[{\"then\":\"deny\",\"tool\":7}]}",
        "{}",
        "[]",
    };

    FOR_EACH_CASE(c, cases) {
        CLEANUP(arena_done) struct arena arena;
        const struct json *root = NULL;
        struct gate_terms terms = {};
        char *why = NULL;

        arena_init(&arena, 1 << 16);
        CHECK_INT(json_parse(str_of(*c), &arena, &root, NULL), OK);
        if (!gate_terms_read(root, &arena, &terms, &why))
            why = gate_terms_fault(&terms);
        CHECK(why);
        free(why);
    }
}

TEST(terms_that_are_written_are_read_and_the_same)
{
    static const char *const cases[] = {
        "{\"mode\":\"always-allow\"}",
        "{\"mode\":\"delegated\",\"delegate\":\"dan\",\"timeout_ms\":5000}",
        ("{\"mode\":\"selective\",\"rules\":[{\"tool\":\"a*\",\"caller\":\"b\","
         "\"arguments\":{\"x\":[1,\"!y*\"]},\"then\":\"deny\"},{\"then\":\"prompt\"}]}"),
    };

    FOR_EACH_CASE(c, cases) {
        CLEANUP(arena_done) struct arena arena;
        CLEANUP(buf_done) struct buf out;
        const struct json *root = NULL;
        struct gate_terms terms = {};
        struct json_writer w;
        char *why = NULL;

        arena_init(&arena, 1 << 16);
        buf_init(&out, 4096);
        CHECK_INT(json_parse(str_of(*c), &arena, &root, NULL), OK);
        CHECK_INT(gate_terms_read(root, &arena, &terms, &why), OK);
        CHECK(gate_terms_are_same(&terms, &terms));
        CHECK(!gate_terms_are_same(&terms,
                                   &(struct gate_terms){ .mode = GATE_ALWAYS_PROMPT }));
        json_write_init(&w, &out);
        gate_terms_write(&terms, &w);
        CHECK_STR(buf_str(&out), str_of(*c));
    }
}
