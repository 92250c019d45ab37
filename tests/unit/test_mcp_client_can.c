/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "mcp/serve.h"

enum { ROOM = 1000 };

TEST(what_a_client_can_be_asked_is_read_in_both_eras)
{
    static const struct {
        const char *capable;
        unsigned can;
        const char *modern;
    } cases[] = {
        { "{}", 0, "{}" },
        { "[]", 0, "{}" },
        { "{\"sampling\":{}}", CAN_SAMPLE, "{\"sampling\":{}}" },
        { "{\"sampling\":{\"tools\":{},\"context\":{}}}",
          CAN_SAMPLE | CAN_SAMPLE_TOOLS | CAN_SAMPLE_CONTEXT,
          "{\"sampling\":{\"tools\":{},\"context\":{}}}" },
        { "{\"sampling\":true}", 0, "{}" },
        { "{\"elicitation\":{}}", CAN_FILL_FORMS, "{\"elicitation\":{\"form\":{}}}" },
        { "{\"elicitation\":{\"form\":{}}}", CAN_FILL_FORMS,
          "{\"elicitation\":{\"form\":{}}}" },
        { "{\"elicitation\":{\"url\":{}}}", CAN_OPEN_URLS,
          "{\"elicitation\":{\"url\":{}}}" },
        { "{\"elicitation\":{\"form\":{},\"url\":{}}}", CAN_FILL_FORMS | CAN_OPEN_URLS,
          "{\"elicitation\":{\"form\":{},\"url\":{}}}" },
        { "{\"roots\":{}}", CAN_LIST_ROOTS, "{\"roots\":{}}" },
        { "{\"roots\":{\"listChanged\":true}}", CAN_LIST_ROOTS | CAN_TELL_ROOTS,
          "{\"roots\":{}}" },
        { "{\"roots\":{\"listChanged\":false}}", CAN_LIST_ROOTS, "{\"roots\":{}}" },
        { "{\"tasks\":{\"list\":{}}}", 0, "{}" },
        { "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}", CAN_POLL_TASKS,
          "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}" },
        { "{\"extensions\":{\"x/y\":{}}}", 0, "{}" },
    };

    FOR_EACH_CASE(c, cases) {
        struct str text = str_of(c->capable);
        struct json_span capable = { c->capable[0] == '{' ? JSON_OBJECT : JSON_ARRAY,
                                     false, text };
        struct buf out;

        buf_init(&out, ROOM);
        CHECK_INT(client_can(capable), c->can);
        client_can_put(&out, c->can);
        CHECK_STR(buf_str(&out), str_of(c->modern));
        buf_done(&out);
    }
    CHECK_INT(client_can((struct json_span){}), 0);
}

TEST(a_question_needs_an_ability)
{
    static const struct {
        struct str method;
        const char *params;
        unsigned must;
    } cases[] = {
        { S("roots/list"), "{}", CAN_LIST_ROOTS },
        { S("sampling/createMessage"), "{\"messages\":[]}", CAN_SAMPLE },
        { S("sampling/createMessage"), "{\"tools\":[]}", CAN_SAMPLE | CAN_SAMPLE_TOOLS },
        { S("sampling/createMessage"), "{\"toolChoice\":{}}",
          CAN_SAMPLE | CAN_SAMPLE_TOOLS },
        { S("elicitation/create"), "{}", CAN_FILL_FORMS },
        { S("elicitation/create"), "{\"mode\":\"form\"}", CAN_FILL_FORMS },
        { S("elicitation/create"), "{\"mode\":\"url\"}", CAN_OPEN_URLS },
        { S("tools/call"), "{}", 0 },
        { S(""), "{}", 0 },
    };

    FOR_EACH_CASE(c, cases) {
        struct json_span params = { JSON_OBJECT, false, str_of(c->params) };

        CHECK_INT(client_must(c->method, params), c->must);
    }
    CHECK_INT(client_must(S("roots/list"), (struct json_span){}), CAN_LIST_ROOTS);
    CHECK_INT(client_must(S("elicitation/create"), (struct json_span){}), CAN_FILL_FORMS);
}
