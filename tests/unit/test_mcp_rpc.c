/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "harness.h"
#include "mcp/rpc.h"

enum { ROOM = 1 << 20 };

static enum err read_request(struct arena *arena, struct str payload,
                             struct rpc_request *ret, const char **ret_what)
{
    *ret_what = "";
    arena_reset(arena);
    return rpc_read(payload, arena, ret, ret_what);
}

TEST(a_request_is_read_and_its_id_kept_as_it_stood)
{
    static const struct {
        struct str payload;
        enum json_type type;
        struct str id;
        bool has_escape;
    } cases[] = {
        { S("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}"), JSON_NUMBER, S("1"),
          false },
        { S("{\"jsonrpc\":\"2.0\",\"id\":1.50e0,\"method\":\"m\"}"), JSON_NUMBER,
          S("1.50e0"), false },
        { S("{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0062\",\"method\":\"\\u006d\"}"),
          JSON_STRING, S("a\\u0062"), true },
        { S("{\"method\":\"m\",\"id\":\"\",\"jsonrpc\":\"2.0\"}"), JSON_STRING, S(""),
          false },
    };
    struct rpc_request r;
    struct arena arena;
    const char *what;

    arena_init(&arena, ROOM);
    FOR_EACH_CASE(c, cases) {
        CHECK_INT(read_request(&arena, c->payload, &r, &what), OK);
        CHECK_INT(r.id.type, c->type);
        CHECK_INT(r.id.has_escape, c->has_escape);
        CHECK_STR(r.id.text, c->id);
        CHECK(r.id.text.ptr != NULL);
        CHECK_STR(r.method, S("m"));
        CHECK(r.params == NULL && r.progress == NULL && r.version.len == 0);
    }
    CHECK_INT(
        read_request(&arena, S("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}"), &r, &what), OK);
    CHECK(r.id.text.ptr == NULL);
    arena_done(&arena);
}

TEST(params_bring_what_every_request_may_bring)
{
    struct rpc_request r;
    struct arena arena;
    const char *what;

    arena_init(&arena, ROOM);
    CHECK_INT(
        read_request(&arena,
                     S("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"_meta\":{"
                       "\"progressToken\":7,"
                       "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"},"
                       "\"x\":[1]}}"),
                     &r, &what),
        OK);
    CHECK_STR(json_find(r.params, S("x"))->raw, S("[1]"));
    CHECK_STR(r.progress->raw, S("7"));
    CHECK(rpc_is_modern(&r));
    CHECK_INT(
        read_request(&arena,
                     S("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"_meta\":{"
                       "\"progressToken\":[],"
                       "\"io.modelcontextprotocol/protocolVersion\":2}}}"),
                     &r, &what),
        OK);
    CHECK(r.progress == NULL && !rpc_is_modern(&r));
    arena_done(&arena);
}

TEST(what_is_no_request_is_refused_with_its_id_if_there_is_one)
{
    static const struct {
        struct str payload;
        const char *what;
        struct str id;
    } cases[] = {
        { S("[]"), "the payload is no JSON object", S("") },
        { S("{"), "the payload is no JSON object", S("") },
        { S("{}x"), "the payload is no JSON object", S("") },
        { S("{}"), "jsonrpc is not \"2.0\"", S("") },
        { S("{\"jsonrpc\":2.0,\"method\":\"m\",\"id\":4}"), "jsonrpc is not \"2.0\"",
          S("4") },
        { S("{\"jsonrpc\":\"2.0\",\"id\":4}"), "method is not a string", S("4") },
        { S("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":1}"), "method is not a string",
          S("4") },
        { S("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}"),
          "id is neither a string nor a number", S("") },
        { S("{\"jsonrpc\":\"2.0\",\"id\":[4],\"method\":\"m\"}"),
          "id is neither a string nor a number", S("") },
        { S("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"m\",\"params\":[]}"),
          "params is not an object", S("4") },
        { S("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"m\",\"\\u006dethod\":\"n\"}"),
          "a name stands twice", S("4") },
        { S("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"m\",\"params\":"
            "{\"a\":{\"b\":1,\"b\":2}}}"),
          "a name is given twice", S("4") },
    };
    struct arena arena;

    arena_init(&arena, ROOM);
    FOR_EACH_CASE(c, cases) {
        struct rpc_request r;
        const char *what;

        CHECK_INT(read_request(&arena, c->payload, &r, &what), ERR_INVALID);
        CHECK_STR(str_of(what), str_of(c->what));
        CHECK_STR(r.id.text, c->id);
    }
    arena_done(&arena);
}

TEST(a_request_too_large_for_its_arena_is_told_apart)
{
    struct rpc_request r;
    struct arena arena;
    const char *what;

    arena_init(&arena, 100);
    CHECK_INT(read_request(&arena,
                           S("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"m\",\"params\":"
                             "{\"a\":[1,2,3,4,5]}}"),
                           &r, &what),
              ERR_TOO_BIG);
    CHECK_STR(r.id.text, S("4"));
    arena_done(&arena);
}

TEST(an_error_replaces_what_was_written)
{
    struct rpc_reply reply = {};

    buf_init(&reply.json, 1000);
    buf_put(&reply.json, S("{\"half\":"));
    rpc_fail(&reply, RPC_INVALID_PARAMS, S("so \"what\""), S("[1]"));
    CHECK(reply.is_error);
    CHECK_STR(buf_str(&reply.json),
              S("{\"code\":-32602,\"message\":\"so \\\"what\\\"\",\"data\":[1]}"));
    rpc_fail(&reply, 5, S(""), S(""));
    CHECK_STR(buf_str(&reply.json), S("{\"code\":5,\"message\":\"\"}"));
    buf_done(&reply.json);
}
