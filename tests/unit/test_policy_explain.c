/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "policy/capset.h"
#include "policy/explain.h"

#define LIST(...)                                                     \
    ((struct str_list){ (const struct str[]){ __VA_ARGS__ },          \
                        sizeof((const struct str[]){ __VA_ARGS__ }) / \
                            sizeof(struct str) })
#define NONE ((struct str_list){})

static bool explain(struct str kind, struct str_list capabilities,
                    struct str_list limited, struct buf *out)
{
    return policy_explain(&(struct policy_question){ kind, capabilities, limited, NULL },
                          out);
}

static bool explain_json(struct str kind, struct str_list capabilities,
                         struct str_list limited, struct buf *out)
{
    return policy_explain_json(
        &(struct policy_question){ kind, capabilities, limited, NULL }, out);
}

TEST(d14_each_capability_is_given_the_reason_that_fits)
{
    /* clang-format off */
    static const struct { struct str pattern, kind; const char *reason; } cases[] = {
        { S("chat"), S("chat"), "yes: it is the same" },
        { S("mcp/*"), S("mcp/request:tools/call"), "yes: \"*\" stands for \"request:tools/call\"" },
        { S("mcp/request:*/list"), S("mcp/request:tools/list"), "yes: each \"*\" finds" },
        { S("mcp/request:tools/call"), S("mcp/request:tools/call:x"), "yes: it names the METHOD" },
        { S("mcp/request:*/list"), S("mcp/request:tools/list:x"), "yes: it names the METHOD" },
        { S("mcp/proposal:*"), S("mcp/request:tools/call"), "no: at byte 5 the pattern has \"proposal:*\", the kind \"request:tools/call\"" },
        { S("chat"), S("chatter"), "no: at byte 5 the pattern ends, the kind goes on with \"ter\"" },
        { S("chatter"), S("chat"), "no: at byte 5 the pattern has \"ter\", the kind ends" },
        { S("mcp/request:*/list"), S("mcp/request:tools/call"), "no: at byte 23 the pattern has \"/list\", the kind ends" },
        { S("Chat"), S("chat"), "no: case counts" },
        { S("mcp/request:Tools/*"), S("mcp/request:tools/call"), "no: case counts" },
        { S("mcp/request:tools/call:x"), S("mcp/request:tools/call"), "no: it names a CONTEXT" },
        { S("mcp/request:*:x"), S("mcp/request:tools/call"), "no: it names a CONTEXT" },
        { S("mcp/request:tools/call:*"), S("mcp/request:tools/call"), "no: it names a CONTEXT" },
        { S("mcp/request:*/list"), S("mcp/request:tools/call:x/list"), "no: \"*\" inside a pattern cannot cross" },
        { S("agent/s*tatus"), S("agent/status"), "no: each \"*\" stands for at least one character" },
        { S("mcp/request:x:**"), S("mcp/request:x:\u00e9"), "no: each \"*\" stands for at least" },
        { S("a b"), S("agent/status"), "no: a pattern cannot contain spaces" },
        { S("mcp/request:x:\u00e9"), S("mcp/request:x:\u00e8"), "no: at byte 15 the pattern has \"\u00e9\", the kind \"\u00e8\"" },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        CHECK_INT(explain(c->kind, LIST(c->pattern), NONE, &out), c->reason[0] == 'y');
        if (!strstr(buf_cstr(&out), c->reason))
            CHECK_STR(buf_str(&out), str_of(c->reason));
        buf_done(&out);
    }
}

TEST(d13_the_verdict_names_what_decided)
{
    /* clang-format off */
    static const struct { struct str kind; bool is_allowed; const char *verdict; } cases[] = {
        { S("chat"),                true,  "\nallowed by \"chat\"\n"        },
        { S("agent/status"),        true,  "\nallowed by \"*\"\n"           },
        { S("participant/routing"), true,  "\nallowed: it concerns only"    },
        { S("mcp/withdraw"),        true,  "\nallowed: taking back one's"  },
        { S("system/welcome"),      false, "\nrefused: system, system/..."  },
        { S("system"),              false, "\nrefused: system, system/..."  },
        { S("presence"),            false, "\nrefused: system, system/..."  },
        { S(""),                    false, "\nrefused: it is empty"         },
        { S("mcp/other"),           false, "\nrefused: mcp kinds are"       },
        { S("mcp/request:"),        false, "\nrefused: mcp kinds are"       },
        { S("chat/x"),              false, "\nrefused: its first word"      },
        { S("Chat"),                false, "\nrefused: it must be words"    },
        { S("a\x1b[31m"),           false, "\nrefused: it must be words"    },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        CHECK_INT(explain(c->kind, LIST(S("chat"), S("*")), NONE, &out), c->is_allowed);
        if (!strstr(buf_cstr(&out), c->verdict))
            CHECK_STR(buf_str(&out), str_of(c->verdict));
        CHECK(!memchr(out.ptr, 0x1b, out.len));
        buf_clear(&out);
        CHECK_INT(explain_json(c->kind, LIST(S("chat"), S("*")), NONE, &out),
                  c->is_allowed);
        buf_done(&out);
    }
}

TEST(without_capabilities_everything_but_ones_own_routing_is_denied)
{
    struct buf out;

    buf_init(&out, 4096);
    CHECK(!explain(S("chat"), NONE, NONE, &out));
    CHECK_STR(buf_str(&out), S("\"chat\"\ndenied: no capability covers it\n"));
    CHECK(explain(S("participant/routing"), NONE, NONE, &out));
    buf_done(&out);
}

TEST(d20_kinds_and_patterns_may_be_asked_about_in_both_spellings)
{
    /* clang-format off */
    static const struct { struct str kind, pattern, text; bool is_allowed; } cases[] = {
        { S("chat.message"), S("chat"),
          S("\"chat.message\"\n  \"chat\"  yes: it is the same\nallowed by \"chat\"\n"), true },
        { S("mcp/request:tools/call:x"), S("mcp.request.tools/call"),
          S("\"mcp/request:tools/call:x\"\n  \"mcp.request.tools/call\"  yes: it names the METHOD, and any CONTEXT goes with it\n"
            "allowed by \"mcp.request.tools/call\"\n"), true },
        { S("mcp.request.tools/call"), S("mcp.request.tools/call:x"),
          S("\"mcp.request.tools/call\"\n  \"mcp.request.tools/call:x\"  no: it names a CONTEXT and so never covers the bare METHOD\n"
            "denied: no capability covers it\n"), false },
        { S("mcpx.approve.proposal"), S("mcp.*"),
          S("\"mcpx.approve.proposal\"\n  \"mcp.*\"  no: at byte 4 the pattern has \".*\", the kind \"x.approve.proposal\"\n"
            "denied: no capability covers it\n"), false },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        CHECK_INT(explain(c->kind, LIST(c->pattern), NONE, &out), c->is_allowed);
        CHECK_STR(buf_str(&out), c->text);
        buf_done(&out);
    }
}

TEST(the_json_form_says_the_same)
{
    struct buf out;

    buf_init(&out, 4096);
    CHECK(explain_json(S("chat"), LIST(S("mcp/*"), S("chat")), NONE, &out));
    CHECK_STR(
        buf_str(&out),
        S("{\"kind\":\"chat\",\"capabilities\":["
          "{\"pattern\":\"mcp/*\",\"covers\":false,"
          "\"reason\":\"at byte 1 the pattern has \\\"mcp/*\\\", the kind \\\"chat\\\"\"},"
          "{\"pattern\":\"chat\",\"covers\":true,\"reason\":\"it is the same\"}],"
          "\"allowed\":true,\"reason\":\"allowed by \\\"chat\\\"\"}"));
    buf_done(&out);
}

TEST(a_kind_that_is_too_long_is_refused_without_being_compared)
{
    static char kind[10'000];
    struct buf out;

    memset(kind, 'a', sizeof(kind));
    buf_init(&out, 100'000);
    CHECK(!explain((struct str){ kind, sizeof(kind) }, LIST(S("*")), NONE, &out));
    CHECK(strstr(buf_cstr(&out), "more than 2048 bytes") != NULL);
    buf_done(&out);
}

/* What is explained must be what is enforced. */
TEST(the_explanation_agrees_with_the_capset)
{
    /* clang-format off */
    static const struct str patterns[] = {
        S("mcp/*"), S("mcp/request:*"), S("mcp/request:*/list"), S("mcp/*:tools/call"),
        S("mcp/request:tools/call:x"), S("chat"), S("*"), S("**"), S("*/status"),
        S("mcp/request:tools/call"), S("mcp/**:tools/*l"), S("a*b"),
        S("mcp.*"), S("mcp.request.*/list"), S("chat.message"), S("mcpx.*"), S("agent.*"),
    };
    static const struct str kinds[] = {
        S("chat"), S("mcp/request:tools/call"), S("mcp/request:tools/call:x"),
        S("mcp/request:tools/list"), S("mcp/request:tools/call:x/list"), S("mcp/approve"),
        S("agent/status"), S("mcp/response:tools/call:a:b"), S("axb"), S("ab"),
    };
    /* clang-format on */
    struct capsets *capsets = capsets_new();

    for (size_t p = 0; p < COUNT(patterns); p++) {
        struct capset *set = NULL;

        CHECK_INT(capset_intern(capsets, LIST(patterns[p]), &set, NULL), OK);
        for (size_t k = 0; k < COUNT(kinds); k++) {
            struct buf out;

            buf_init(&out, 4096);
            CHECK_INT(explain(kinds[k], LIST(patterns[p]), NONE, &out),
                      capset_may(set, kinds[k]) == VERDICT_ALLOW);
            buf_done(&out);
        }
        capset_unref(set);
    }
    capsets_free(capsets);
}

TEST(what_may_be_used_only_so_often_comes_last_and_is_marked)
{
    struct buf out;

    buf_init(&out, 4096);
    CHECK(explain(S("chat"), LIST(S("mcp/*")), LIST(S("cha*"), S("x")), &out));
    CHECK(strstr(buf_cstr(&out), "stands for \"t\"; it may be used only so often\n"));
    CHECK(
        strstr(buf_cstr(&out), "allowed by \"cha*\", which may be used only so often\n"));
    buf_clear(&out);
    CHECK(explain(S("chat"), LIST(S("chat")), LIST(S("cha*")), &out));
    CHECK(strstr(buf_cstr(&out), "allowed by \"chat\"\n"));
    buf_clear(&out);
    CHECK(explain_json(S("chat"), NONE, LIST(S("chat")), &out));
    CHECK_STR(
        buf_str(&out),
        S("{\"kind\":\"chat\",\"capabilities\":[{\"pattern\":\"chat\",\"covers\":true,"
          "\"limited\":true,\"reason\":\"it is the same; it may be used only so "
          "often\"}],\"allowed\":true,\"reason\":\"allowed by \\\"chat\\\", which may "
          "be used only so often\"}"));
    buf_done(&out);
}
