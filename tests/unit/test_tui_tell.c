/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "harness.h"
#include "tui/tell.h"

static const struct str files[] = { S("files") };
static const struct str many[] = { S("a"), S("b"), S("c"), S("d"), S("e"), S("f") };

TEST(an_envelope_is_told_in_a_few_words)
{
    /* clang-format off */
    static const struct {
        struct str kind, payload;
        const struct str *to;
        size_t to_count;
        enum tell_type type;
        enum tell_outcome outcome;
        struct str title, body;
    } cases[] = {
        { S("chat"), S("{\"text\":\"hello\\nyou\\n\"}"), NULL, 0, TELL_CHAT, 0, S(""), S("hello\nyou") },
        { S("chat"), S("{\"text\":\"a\\tb\\u001b[2J\\u0007\\u202e\"}"), NULL, 0, TELL_CHAT, 0,
          S(""), S("a    b\\u001b[2J\\u0007\\u202e") },
        { S("chat"), S("{\"text\":5}"), NULL, 0, TELL_CHAT, 0, S(""), S("") },
        { S("mcp/request:tools/call:read_file"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":\"read_file\",\"arguments\":{\"path\":\"/tmp\",\"n\":3}}}"),
          files, 1, TELL_CALL, 0, S("calls read_file → files"), S("path: \"/tmp\", n: 3") },
        { S("mcp/request:tools/call"), S("{\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}"),
          many, 6, TELL_CALL, 0, S("calls x → a, b, c, d and 2 more"), S("") },
        { S("mcp/request:tools/list"), S("{\"method\":\"tools/list\"}"), files, 1, TELL_CALL, 0,
          S("asks for tools/list → files"), S("") },
        { S("mcp/request:resources/read"), S("{\"method\":\"resources/read\",\"params\":{\"uri\":\"file:///x\"}}"),
          files, 1, TELL_CALL, 0, S("asks for resources/read file:///x → files"), S("") },
        { S("mcp/request:notifications/progress"),
          S("{\"params\":{\"progressToken\":\"r-1\",\"progress\":3,\"total\":10,\"message\":\"copying\"}}"),
          NULL, 0, TELL_PROGRESS, 0, S("3 of 10"), S("copying") },
        { S("mcp/request:notifications/progress"), S("{\"params\":{\"progressToken\":7}}"),
          NULL, 0, TELL_PROGRESS, 0, S("under way"), S("") },
        { S("mcp/request:notifications/cancelled"), S("{\"params\":{\"reason\":\"too slow\"}}"),
          NULL, 0, TELL_DECISION, 0, S("cancels it"), S("too slow") },
        { S("mcp/request:notifications/tools/list_changed"), S("{}"), NULL, 0, TELL_OTHER, 0,
          S("says notifications/tools/list_changed"), S("") },
        { S("mcp/request:notifications/authorization/request"),
          S("{\"params\":{\"id\":\"a1\",\"tool\":\"rm\",\"arguments\":{\"path\":\"/\"},\"requester\":\"bot\",\"reason\":\"policy\"}}"),
          NULL, 0, TELL_PROPOSAL, 0, S("asks whether bot may call rm"), S("path: \"/\"\nwhy: policy") },
        { S("mcp/request:authorization/respond"), S("{\"params\":{\"decision\":\"approve\"}}"), files, 1,
          TELL_DECISION, 0, S("allows it"), S("") },
        { S("mcp/request:authorization/respond"), S("{\"params\":{\"decision\":\"deny\",\"reason\":\"no\"}}"), files, 1,
          TELL_DECISION, 0, S("does not allow it"), S("no") },
        { S("mcp/request:authorization/respond"), S("{\"params\":{\"decision\":\"delegate\",\"delegate\":\"bob\"}}"), files, 1,
          TELL_DECISION, 0, S("leaves it to bob"), S("") },
        { S("mcp/request:authorization/respond"), S("{\"params\":{\"decision\":\"approve\",\"validUntil\":\"never\"}}"), files, 1,
          TELL_DECISION, 0, S("allows it"), S("") },
        { S("mcp/request:notifications/authorization/request"),
          S("{\"params\":{\"id\":\"a1\",\"tool\":\"rm\",\"requester\":\"bot\"}}"),
          files, 1, TELL_PROPOSAL, 0, S("asks files whether bot may call rm"), S("") },
        { S("mcp/request:authorization/respond"), S("{\"params\":{\"decision\":\"\\u001b[m\"}}"), files, 1,
          TELL_DECISION, 0, S("decides: \\u001b[m"), S("") },
        { S("mcp/response:tools/call:add"), S("{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"3\"}]}}"), NULL, 0,
          TELL_ANSWER, TELL_FINE, S("answers"), S("3") },
        { S("mcp/response:tools/call:add"),
          S("{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"no\"},{\"type\":\"image\"}],\"isError\":true}}"), NULL, 0,
          TELL_ANSWER, TELL_FAILED, S("fails"), S("no\n[image]") },
        { S("mcp/response:tools/list"), S("{\"result\":{\"tools\":[]}}"), NULL, 0, TELL_ANSWER, TELL_FINE,
          S("answers"), S("tools: []") },
        { S("mcp/response:tools/list"), S("{\"result\":null}"), NULL, 0, TELL_ANSWER, TELL_FINE, S("answers"), S("null") },
        { S("mcp/response:x"), S("{\"error\":{\"code\":-32601,\"message\":\"no such method\"}}"), NULL, 0,
          TELL_ANSWER, TELL_FAILED, S("fails"), S("no such method") },
        { S("mcp/response:x"), S("{\"error\":{\"code\":-32002,\"message\":\"denied\"}}"), NULL, 0,
          TELL_ANSWER, TELL_DENIED, S("was not allowed to"), S("denied") },
        { S("mcp/response:x"),
          S("{\"error\":{\"code\":-32001,\"message\":\"wait\",\"data\":{\"authorizationRequest\":{}}}}"), NULL, 0,
          TELL_ANSWER, TELL_PROVISIONAL, S("wants it authorized first"), S("wait") },
        { S("mcp/response:x"), S("{\"error\":{\"code\":-32001,\"message\":\"wait\"}}"), NULL, 0,
          TELL_ANSWER, TELL_FAILED, S("fails"), S("wait") },
        { S("mcp/proposal:tools/call:rm"),
          S("{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\",\"arguments\":{\"path\":\"/\"}},\"reason\":\"full\"}"),
          files, 1, TELL_PROPOSAL, 0, S("proposes rm → files"), S("path: \"/\"\nwhy: full") },
        { S("mcp/approve"), S("{}"), NULL, 0, TELL_DECISION, 0, S("is for it"), S("") },
        { S("mcp/reject"), S("{\"reason\":\"no\"}"), NULL, 0, TELL_DECISION, 0, S("rejects it"), S("no") },
        { S("mcp/withdraw"), S("{}"), NULL, 0, TELL_DECISION, 0, S("withdraws it"), S("") },
        { S("participant/status"), S("{\"busy\":true}"), NULL, 0, TELL_OTHER, 0, S("participant/status"), S("busy: true") },
        { S("participant/pause"), S("{\"participant\":\"bot\"}"), NULL, 0, TELL_OTHER, 0,
          S("participant/pause"), S("participant: \"bot\"") },
        { S("system/notice"), S("{\"notice\":\"loop_guard\",\"message\":\"agents talk\"}"), NULL, 0, TELL_SYSTEM, 0,
          S(""), S("agents talk") },
        { S("system/violation"), S("{\"participant\":\"x\"}"), NULL, 0, TELL_SYSTEM, 0,
          S("system/violation"), S("participant: \"x\"") },
        { S("chat"), S("{\"text\":\"a\",\"text\":\"b\"}"), NULL, 0, TELL_CHAT, 0,
          S(""), S("(what it holds cannot be shown here)") },
    };
    /* clang-format on */

    CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
    FOR_EACH_CASE(c, cases) {
        struct telling t;

        tell_init(&t);
        tell(&t,
             &(struct tell_envelope){ c->kind, c->payload, c->to, c->to_count, S("") });
        CHECK_INT(t.type, c->type);
        CHECK_INT(t.outcome, c->outcome);
        CHECK_STR(buf_str(&t.title), c->title);
        CHECK_STR(buf_str(&t.body), c->body);
        tell_done(&t);
    }
}

TEST(a_replay_is_told_as_what_it_was_and_is_nothing_of_the_kind)
{
    /* clang-format off */
    static const struct {
        struct str kind, payload, text;
        enum tell_type type;
        struct str title, body;
    } cases[] = {
        { S("replay/mcp/proposal"), S("{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\",\"arguments\":{\"n\":1}}}"),
          S("{\"replay_of\":{\"from\":\"b\\u001bot\",\"to\":[\"files\"],\"kind\":\"mcp/proposal:tools/call:rm\"}}"),
          TELL_OTHER, S("replays b\\u001bot: proposes rm → files"), S("n: 1") },
        { S("chat"), S("{\"text\":\"hello\"}"), S("{\"replay_of\":{\"from\":\"ann\"}}"),
          TELL_CHAT, S("replays ann"), S("hello") },
        { S("replay/mcp/response"), S("{\"error\":{\"code\":-32002,\"message\":\"no\"}}"),
          S("{\"replay_of\":{\"from\":\"ann\",\"kind\":\"mcp/response:tools/call:rm\"}}"),
          TELL_OTHER, S("replays ann: was not allowed to"), S("no") },
        { S("mcp/proposal:tools/call:rm"), S("{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\"}}"),
          S("{\"replay_of\":{\"from\":\"ann\"}}"), TELL_PROPOSAL, S("proposes rm"), S("") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct telling t;

        tell_init(&t);
        tell(&t, &(struct tell_envelope){
                     .kind = c->kind, .payload = c->payload, .text = c->text });
        CHECK_INT(t.type, c->type);
        CHECK_INT(t.outcome, TELL_FINE);
        CHECK_STR(buf_str(&t.title), c->title);
        CHECK_STR(buf_str(&t.body), c->body);
        tell_done(&t);
    }
}

TEST(progress_says_of_which_call)
{
    struct telling t;

    tell_init(&t);
    tell(&t,
         &(struct tell_envelope){ .kind = S("mcp/request:notifications/progress"),
                                  .payload = S("{\"params\":{\"progressToken\":\"r-1\","
                                               "\"progress\":3}}") });
    CHECK_STR(buf_str(&t.about), S("r-1"));
    tell_done(&t);
}

/* Prefix, `count` times the part, suffix. */
static char *repeat(const char *prefix, const char *part, size_t count,
                    const char *suffix)
{
    struct buf out;
    char *text;

    buf_init(&out, 64 << 20);
    buf_put(&out, str_of(prefix));
    for (size_t i = 0; i < count; i++)
        buf_put(&out, str_of(part));
    buf_put(&out, str_of(suffix));
    text = str_dup(buf_str(&out));
    buf_done(&out);
    return text;
}

TEST(what_is_long_is_cut_and_says_so)
{
    static const struct {
        const char *kind, *prefix, *part;
        size_t count;
        const char *suffix;
        size_t most; /* of the body */
    } cases[] = {
        { "chat", "{\"text\":\"", "x", 1 << 20, "\"}", TELL_BODY_BYTES },
        { "chat", "{\"text\":\"", "ж", 1 << 19, "\"}", TELL_BODY_BYTES },
        { "chat", "{\"text\":\"", "\\t", 1 << 18, "x\"}", TELL_BODY_BYTES },
        { "mcp/response:x", "{\"result\":{\"content\":[{\"text\":\"", "line\\n", 1000,
          "\"}]}}", 64 },
        { "mcp/response:x", "{\"result\":{\"content\":[", "{\"text\":\"some text\"},",
          1000, "{\"text\":\"x\"}]}}", 2048 },
        { "mcp/request:tools/call", "{\"params\":{\"arguments\":{\"a\":\"", "x", 100000,
          "\"}}}", 1024 },
        { "mcp/request:tools/call", "{\"params\":{\"arguments\":{\"a\":[", "[],", 100000,
          "1]}}}", 1024 },
    };

    CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
    FOR_EACH_CASE(c, cases) {
        char *payload = repeat(c->prefix, c->part, c->count, c->suffix);
        struct telling t;

        tell_init(&t);
        tell(&t, &(struct tell_envelope){ .kind = str_of(c->kind),
                                          .payload = str_of(payload) });
        CHECK(t.is_cut);
        CHECK(t.body.len <= c->most);
        CHECK(t.body.len >= c->most / 2);
        tell_done(&t);
        free(payload);
    }
}

TEST(a_very_long_name_is_cut)
{
    char *name = repeat("", "n", 100000, "");
    struct str to[] = { str_of(name) };
    struct telling t;

    CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
    tell_init(&t);
    tell(&t,
         &(struct tell_envelope){ S("mcp/request:tools/list"), S("{}"), to, 1, S("") });
    CHECK(t.title.len < 200);
    CHECK(str_ends(buf_str(&t.title), S("nnn…")));
    tell_done(&t);
    free(name);
}
