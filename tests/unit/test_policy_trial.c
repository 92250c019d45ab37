/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "harness.h"
#include "policy/trial.h"

#define TEXT(from, kind, payload)                                                       \
    S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"from\":\"" from "\",\"kind\":\"" kind \
      "\",\"payload\":" payload "}")

static const struct str held[] = {
    S("chat"),
    S("{\"kind\":\"x/*\",\"payload\":{\"a\":{\"b\":[\"p*\",\"!pq\"]},\"c\":1}}"),
};

static enum err explain(struct str text, struct trial_sender sender, struct buf *out)
{
    struct arena arena;
    enum err err;

    arena_init(&arena, 1 << 20);
    sender.capabilities = (struct str_list){ held, 2 };
    err = trial_explain(text, &sender, &arena, out);
    arena_done(&arena);
    return err;
}

TEST(the_first_check_that_refuses_is_the_last_that_is_told)
{
    /* clang-format off */
    static const struct { struct str text; struct trial_sender sender; enum err err; const char *said; } cases[] = {
        { TEXT("e", "chat", "{}"),            { .id = S("e") },                    OK, "pause        ok   not paused\n" },
        { TEXT("e", "chat", "{}"),            { .id = S("e"), .is_paused = true }, OK, "paused, but this kind goes on" },
        { TEXT("e", "x/y", "{}"),             { .id = S("e"), .is_paused = true }, ERR_PAUSED, "pause        NO   paused\nrefused: paused\n" },
        { TEXT("f", "chat", "{}"),            { .id = S("e") },                    ERR_FROM_MISMATCH, "\"f\" is not \"e\"\nrefused" },
        { TEXT("f", "chat", "{}"),            {},                                  OK, "\"f\", compared with nobody" },
        { TEXT("e", "Chat", "{}"),            {},                                  ERR_MALFORMED_KIND, "is not a kind" },
        { S("{"),                             {},                                  ERR_MALFORMED_ENVELOPE, "JSON         NO" },
        { S("\xff"),                          {},                                  ERR_UTF8, "JSON         NO" },
        { TEXT("e", "x/y", "{\"a\":{\"b\":\"pp\"},\"c\":1}"), {},                  OK, "fits [\"p*\",\"!pq\"]" },
        { TEXT("e", "x/y", "{\"a\":{\"b\":\"pq\"},\"c\":1}"), {},                  ERR_CAPABILITY_VIOLATION, "payload.a.b: \"pq\" does not fit" },
        { TEXT("e", "x/y", "{\"a\":1,\"c\":1}"), {},                               ERR_CAPABILITY_VIOLATION, "payload.a: 1 does not fit an object\n      yes  payload.c: 1 fits 1\nrefused" },
        { TEXT("e", "x/y", "{\"a\":{\"b\":\"pp\"},\"c\":[1]}"), {},                ERR_CAPABILITY_VIOLATION, "payload.c: a list does not fit 1" },
        { TEXT("e", "mcp/withdraw", "{}"),    {},                                  OK, "this kind needs none" },
        { TEXT("e", "chat", "{}"),            { .is_strict = true },               OK, "validation   ok   strict: " },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 1 << 16);
        CHECK_INT(explain(c->text, c->sender, &out), c->err);
        CHECK_STR(strstr(buf_cstr(&out), c->said) ? str_of(c->said) : buf_str(&out),
                  str_of(c->said));
        buf_done(&out);
    }
}

TEST(an_arena_that_is_too_small_never_allows)
{
    struct trial_sender sender = { .capabilities = { held, 2 } };
    struct str text = TEXT("e", "x/y", "{\"a\":{\"b\":\"p\\u0070\"},\"c\":1}");

    for (size_t max = 0; max < 4096; max += 16) {
        struct arena arena;
        struct buf out;
        enum err err;

        buf_init(&out, 1 << 16);
        arena_init(&arena, max);
        err = trial_explain(text, &sender, &arena, &out);
        CHECK(err == OK || err == ERR_TOO_LARGE || err == ERR_CAPABILITY_VIOLATION);
        CHECK((strstr(buf_cstr(&out), "refused: ") != NULL) == (err != OK));
        arena_done(&arena);
        buf_done(&out);
    }
}

TEST(what_may_be_used_only_so_often_is_asked_last_patterns_before_objects)
{
    static const struct str limited[] = { S("{\"kind\":\"x/*\",\"payload\":{\"c\":1}}"),
                                          S("x/*"), S("chat") };
    struct str text = TEXT("e", "x/y", "{\"c\":1}");
    /* clang-format off */
    static const struct { struct str_list held, limited; const char *said; } cases[] = {
        { { limited, 0 },     { limited, 3 }, "allowed by \"x/*\"; a grant" },
        { { limited, 0 },     { limited, 1 }, "allowed by number 1, which looks into the payload; a grant" },
        { { limited, 1 },     { limited, 3 }, "allowed by number 1, which looks into the payload\n" },
        { { limited + 1, 1 }, { limited, 3 }, "allowed by \"x/*\"\n" },
        { { limited + 2, 1 }, { limited, 2 }, "  x/* (only so often)\n" },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct trial_sender sender = { .capabilities = c->held, .limited = c->limited };
        struct arena arena;
        struct buf out;

        buf_init(&out, 1 << 16);
        arena_init(&arena, 1 << 20);
        CHECK_INT(trial_explain(text, &sender, &arena, &out), OK);
        CHECK_STR(strstr(buf_cstr(&out), c->said) ? str_of(c->said) : buf_str(&out),
                  str_of(c->said));
        arena_done(&arena);
        buf_done(&out);
    }
}

#define WITH_RULE(kind)                                                                  \
    S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"from\":\"e\",\"kind\":\"" kind         \
      "\",\"rule\":\"r-1\",\"payload\":{\"method\":\"tools/call\",\"params\":{\"name\":" \
      "\"x\"}}}")

TEST(what_names_a_rule_asks_for_rule_use_as_a_pattern_and_for_nothing_else)
{
    /* clang-format off */
    static const struct { struct str text, capability; bool is_limited; enum err err; const char *said; } cases[] = {
        { WITH_RULE("mcp/request:tools/call:x"), S("rule/use"), false, OK, "capability   ok   rule/use, because it names a rule: allowed by \"rule/use\"" },
        { WITH_RULE("mcp/request:tools/call:x"), S("rule/*"),   false, OK, "strict, because it names a rule: the payload says" },
        { WITH_RULE("mcp/request:tools/call:x"), S("mcp/*"),    false, ERR_CAPABILITY_VIOLATION, "none that is held allows it" },
        { WITH_RULE("mcp/request:tools/call:x"), S("rule/use"), true,  ERR_CAPABILITY_VIOLATION, "none that is held allows it" },
        { WITH_RULE("mcp/request:tools/call:x"), S("{\"kind\":\"rule/use\",\"payload\":{\"method\":\"*\"}}"), false, ERR_CAPABILITY_VIOLATION, "none that is held" },
        { WITH_RULE("mcp/request:tools/call:y"), S("rule/use"), false, ERR_KIND_PAYLOAD_MISMATCH, "validation   NO" },
        { WITH_RULE("chat"),                     S("*"),        false, ERR_RULE_STATE, "rule         NO   only a request" },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct str_list list = { &c->capability, 1 };
        struct trial_sender sender = { .id = S("e") };
        struct arena arena;
        struct buf out;

        *(c->is_limited ? &sender.limited : &sender.capabilities) = list;
        arena_init(&arena, 1 << 20);
        buf_init(&out, 1 << 16);
        CHECK_INT(trial_explain(c->text, &sender, &arena, &out), c->err);
        CHECK_STR(strstr(buf_cstr(&out), c->said) ? str_of(c->said) : buf_str(&out),
                  str_of(c->said));
        buf_done(&out);
        arena_done(&arena);
    }
}
