/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "mcp/result.h"

TEST(a_text_takes_the_shape_of_its_method)
{
    static const struct {
        struct result_of of;
        struct str json;
    } cases[] = {
        { { .method = S("tools/call") },
          S("{\"content\":[{\"type\":\"text\",\"text\":\"a\\nb\"}]}") },
        { { .method = S("own/method") },
          S("{\"content\":[{\"type\":\"text\",\"text\":\"a\\nb\"}]}") },
        { { .method = S("resources/read"), .uri = S("x:y") },
          S("{\"contents\":[{\"uri\":\"x:y\",\"text\":\"a\\nb\"}]}") },
        { { .method = S("resources/read"), .uri = S("x:y"), .mime_type = S("text/css") },
          S("{\"contents\":[{\"uri\":\"x:y\",\"mimeType\":\"text/css\","
            "\"text\":\"a\\nb\"}]}") },
        { { .method = S("prompts/get") },
          S("{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
            "\"text\":\"a\\nb\"}}]}") },
    };
    struct buf out;

    buf_init(&out, 1000);
    FOR_EACH_CASE(c, cases) {
        buf_clear(&out);
        result_write_text(&out, &c->of, S("a\nb"));
        CHECK_STR(buf_str(&out), c->json);
    }
    buf_done(&out);
}

TEST(a_failure_is_a_result_of_tools_and_an_error_of_others)
{
    struct rpc_reply reply = {};

    buf_init(&reply.json, 1000);
    result_write_failure(&reply, &(struct result_of){ .method = S("tools/call") },
                         S("no"));
    CHECK(!reply.is_error);
    CHECK_STR(buf_str(&reply.json),
              S("{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"isError\":true}"));
    result_write_failure(&reply, &(struct result_of){ .method = S("prompts/get") },
                         S("no"));
    CHECK(reply.is_error);
    CHECK_STR(buf_str(&reply.json), S("{\"code\":-32603,\"message\":\"no\"}"));
    buf_done(&reply.json);
}

TEST(a_result_of_the_modern_era_has_what_it_must_have)
{
    static const struct {
        struct result_of of;
        struct str json, want;
    } cases[] = {
        { { .method = S("tools/call") }, S(" {\"a\":1} "), S(" {\"a\":1} ") },
        { { .method = S("tools/call"), .is_modern = true },
          S("{\"a\":1}"),
          S("{\"resultType\":\"complete\",\"a\":1}") },
        { { .method = S("tools/call"), .is_modern = true },
          S("{ } "),
          S("{\"resultType\":\"complete\"}") },
        { { .method = S("tools/call"), .is_modern = true },
          S("{\"resultType\":\"input_required\"}"),
          S("{\"resultType\":\"input_required\"}") },
        { { .method = S("tools/list"), .is_modern = true },
          S(" {\"a\":{}}\n"),
          S("{\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\",\"a\":{}}") },
        { { .method = S("resources/read"), .is_modern = true },
          S("{\"ttlMs\":5,\"contents\":[]}"),
          S("{\"resultType\":\"complete\",\"cacheScope\":\"private\",\"ttlMs\":5,"
            "\"contents\":[]}") },
    };
    struct buf out;

    buf_init(&out, 1000);
    FOR_EACH_CASE(c, cases) {
        buf_clear(&out);
        CHECK_INT(result_write(&out, &c->of, c->json), OK);
        CHECK_STR(buf_str(&out), c->want);
    }
    buf_done(&out);
}

TEST(a_result_that_is_no_object_is_refused)
{
    static const struct str cases[] = { S(""),  S("1"),    S("[]"),
                                        S("{"), S("{}{}"), S("{\"a\"}") };
    struct buf out;

    buf_init(&out, 1000);
    FOR_EACH_CASE(c, cases) {
        CHECK_INT(result_write(&out, &(struct result_of){ .is_modern = true }, *c),
                  ERR_INVALID);
        CHECK_INT(result_write(&out, &(struct result_of){}, *c), ERR_INVALID);
        CHECK_INT(out.len, 0);
    }
    buf_done(&out);
}
