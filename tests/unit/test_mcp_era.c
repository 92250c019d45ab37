/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "harness.h"
#include "mcp/era.h"

enum { ROOM = 1 << 16 };

#define SERVER "{\"name\":\"s\"}"
#define INFO   "\"io.modelcontextprotocol/serverInfo\":" SERVER

enum way { TO_MODERN, TO_LEGACY, MODERN_TO_MODERN, LEGACY_TO_LEGACY };

static struct era_change change_of(struct str method, enum way way)
{
    return (
        struct era_change){ .method = method,
                            .server = S(SERVER),
                            .uri = S("a:\"b"),
                            .task = str_eq(method, S("tasks/result")) ? S("t") : S(""),
                            .is_modern_from = way == TO_LEGACY || way == MODERN_TO_MODERN,
                            .is_modern_to = way == TO_MODERN || way == MODERN_TO_MODERN };
}

TEST(a_result_looks_as_the_era_of_its_reader_has_it)
{
    static const struct {
        enum way way;
        struct str method, result, want;
    } cases[] = {
        /* ML-02 */
        { TO_MODERN, S("tools/call"), S("{\"content\":[],\"n\":1.50}"),
          S("{\"resultType\":\"complete\",\"content\":[],\"n\":1.50,"
            "\"_meta\":{" INFO "}}") },
        { TO_MODERN, S("resources/read"), S("{\"contents\":[],\"_meta\":{\"a\":1}}"),
          S("{\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\","
            "\"contents\":[],\"_meta\":{\"a\":1," INFO "}}") },
        { TO_MODERN, S("tools/list"),
          S("{\"tools\":[{\"name\":\"a\",\"execution\":{},\"x\":1},7],\"nextCursor\":"
            "\"c\"}"),
          S("{\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\","
            "\"nextCursor\":\"c\",\"tools\":[{\"name\":\"a\",\"x\":1},7],"
            "\"_meta\":{" INFO "}}") },
        /* LM-06 */
        { TO_LEGACY, S("tools/list"),
          S("{\"resultType\":\"complete\",\"ttlMs\":5,\"cacheScope\":\"public\","
            "\"tools\":[{\"name\":\"a\",\"outputSchema\":{\"type\":\"array\"}},"
            "{\"name\":\"b\",\"outputSchema\":{\"type\":\"object\"}}],"
            "\"_meta\":{" INFO ",\"k\":\"v\"}}"),
          S("{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\",\"outputSchema\":"
            "{\"type\":\"object\"}}],\"_meta\":{\"k\":\"v\"}}") },
        { TO_LEGACY, S("completion/complete"),
          S("{\"resultType\":\"complete\",\"_meta\":{" INFO "}}"), S("{}") },
        { TO_LEGACY, S("tools/call"),
          S("{\"resultType\":\"complete\",\"content\":[],\"structuredContent\":[1]}"),
          S("{\"content\":[]}") },
        { TO_LEGACY, S("tools/call"),
          S("{\"content\":[],\"structuredContent\":{\"a\":1}}"),
          S("{\"content\":[],\"structuredContent\":{\"a\":1}}") },
        /* the same on both sides */
        { MODERN_TO_MODERN, S("tools/call"), S("{\"ttlMs\":1}"), S("{\"ttlMs\":1}") },
        { LEGACY_TO_LEGACY, S("tools/list"), S("{\"tools\":[{\"execution\":{}}]}"),
          S("{\"tools\":[{\"execution\":{}}]}") },
        /* ML-11, LM-08 */
        { TO_LEGACY, S("tools/call"),
          S("{\"resultType\":\"task\",\"taskId\":\"t\",\"status\":\"working\",\"ttlMs\":9,"
            "\"pollIntervalMs\":5}"),
          S("{\"task\":{\"taskId\":\"t\",\"status\":\"working\",\"ttl\":9,"
            "\"pollInterval\":5}}") },
        { TO_MODERN, S("tools/call"),
          S("{\"task\":{\"taskId\":\"t\",\"ttl\":null,\"pollInterval\":5}}"),
          S("{\"resultType\":\"task\",\"taskId\":\"t\",\"ttlMs\":null,"
            "\"pollIntervalMs\":5,\"_meta\":{" INFO "}}") },
        { TO_LEGACY, S("tasks/get"),
          S("{\"resultType\":\"complete\",\"taskId\":\"t\",\"status\":\"completed\","
            "\"ttlMs\":9,\"result\":{\"content\":[]}}"),
          S("{\"taskId\":\"t\",\"status\":\"completed\",\"ttl\":9}") },
        { TO_MODERN, S("tasks/get"), S("{\"taskId\":\"t\",\"ttl\":9}"),
          S("{\"resultType\":\"complete\",\"taskId\":\"t\",\"ttlMs\":9,"
            "\"_meta\":{" INFO "}}") },
        { TO_LEGACY, S("tasks/get"),
          S("{\"taskId\":\"t\",\"status\":\"completed\",\"result\":{\"isError\":true},"
            "\"_meta\":{" INFO "}}"),
          S("{\"taskId\":\"t\",\"status\":\"failed\"}") },
        /* TASK-11 */
        { TO_LEGACY, S("tasks/result"),
          S("{\"resultType\":\"complete\",\"_meta\":{" INFO "}}"),
          S("{\"_meta\":{\"io.modelcontextprotocol/related-task\":"
            "{\"taskId\":\"t\"}}}") },
        { TO_MODERN, S("tools/call"),
          S("{\"_meta\":{\"io.modelcontextprotocol/related-task\":{}}}"),
          S("{\"resultType\":\"complete\",\"_meta\":{" INFO "}}") },
        { TO_MODERN, S("tasks/cancel"), S("{\"taskId\":\"t\",\"_meta\":{\"a\":1}}"),
          S("{\"resultType\":\"complete\",\"_meta\":{" INFO "}}") },
    };

    FOR_EACH_CASE(c, cases) {
        struct era_change change = change_of(c->method, c->way);
        struct json_span result = { .type = JSON_OBJECT, .text = c->result };
        struct buf out;

        buf_init(&out, ROOM);
        CHECK_INT(era_put_result(&out, &change, result), OK);
        CHECK_STR(buf_str(&out), c->want);
        buf_done(&out);
    }
}

TEST(an_error_has_the_code_that_its_reader_knows)
{
    static const struct {
        enum way way;
        struct str method, error, want;
    } cases[] = {
        { TO_MODERN, S("resources/read"),
          S("{\"code\":-32002,\"message\":\"m\",\"data\":{\"uri\":\"u\"}}"),
          S("{\"code\":-32602,\"message\":\"m\",\"data\":{\"uri\":\"u\"}}") },
        { TO_MODERN, S("resources/read"), S("{\"code\":-32002,\"message\":\"m\"}"),
          S("{\"code\":-32602,\"message\":\"m\",\"data\":{\"uri\":\"a:\\\"b\"}}") },
        { TO_MODERN, S("resources/read"),
          S("{\"code\":-32002,\"message\":\"m\",\"data\":{\"n\":1.0}}"),
          S("{\"code\":-32602,\"message\":\"m\",\"data\":{\"n\":1.0,\"uri\":"
            "\"a:\\\"b\"}}") },
        { LEGACY_TO_LEGACY, S("resources/read"), S("{\"code\":-32002,\"message\":\"m\"}"),
          S("{\"code\":-32002,\"message\":\"m\"}") },
        { TO_MODERN, S("tools/call"), S("{\"code\":-32002,\"message\":\"m\"}"),
          S("{\"code\":-32002,\"message\":\"m\"}") },
        { TO_LEGACY, S("tools/call"), S("{\"message\":\"m\",\"code\":-32021}"),
          S("{\"code\":-32603,\"message\":\"m\"}") },
        { MODERN_TO_MODERN, S("tools/call"), S("{\"code\":-32020,\"message\":\"m\"}"),
          S("{\"code\":-32603,\"message\":\"m\"}") },
        { MODERN_TO_MODERN, S("tools/call"), S("{\"code\":-32021,\"message\":\"m\"}"),
          S("{\"code\":-32021,\"message\":\"m\"}") },
        { LEGACY_TO_LEGACY, S("tools/call"), S("{\"code\":-32020,\"message\":\"m\"}"),
          S("{\"code\":-32020,\"message\":\"m\"}") },
        { TO_MODERN, S("tasks/get"), S("{\"code\":-32042,\"message\":\"m\"}"),
          S("{\"code\":-32603,\"message\":\"m\"}") },
        { LEGACY_TO_LEGACY, S("tools/call"), S("{\"code\":-32042,\"message\":\"m\"}"),
          S("{\"code\":-32042,\"message\":\"m\"}") },
        { TO_LEGACY, S("tools/call"), S("{\"code\":-5,\"message\":\"m\"}"),
          S("{\"code\":-5,\"message\":\"m\"}") },
    };

    FOR_EACH_CASE(c, cases) {
        struct era_change change = change_of(c->method, c->way);
        struct json_span error = { .type = JSON_OBJECT, .text = c->error };
        struct buf out;

        buf_init(&out, ROOM);
        CHECK_INT(era_put_error(&out, &change, error), OK);
        CHECK_STR(buf_str(&out), c->want);
        buf_done(&out);
    }
}

TEST(what_is_no_object_or_too_large_is_refused)
{
    struct era_change change = change_of(S("tools/call"), TO_MODERN);
    struct json_span array = { .type = JSON_ARRAY, .text = S("[]") };
    struct json_span object = { .type = JSON_OBJECT, .text = S("{\"a\":1234567890}") };
    struct buf out;

    buf_init(&out, 10);
    CHECK_INT(era_put_result(&out, &change, array), ERR_INVALID);
    CHECK_INT(era_put_error(&out, &change, array), ERR_INVALID);
    CHECK_INT(era_put_result(&out, &change, (struct json_span){}), ERR_INVALID);
    CHECK_INT(era_put_result(&out, &change, object), ERR_TOO_BIG);
    CHECK_INT(out.len, 0);
    buf_done(&out);
}
