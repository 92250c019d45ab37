/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "harness.h"
#include "mcp/message.h"

enum { DEPTH = 8 };

TEST(a_message_is_one_of_four)
{
    static const struct {
        struct str text;
        enum mcp_message_type type;
        struct str id, method, params, answer;
    } cases[] = {
        { S("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"a\":1}}"),
          MESSAGE_REQUEST, S("1"), S("m"), S("{\"a\":1}"), S("") },
        { S("{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"m\"}"), MESSAGE_REQUEST, S(""),
          S("m"), S(""), S("") },
        { S(" {\"method\":\"m\",\"jsonrpc\":\"2.0\",\"more\":[]} "), MESSAGE_NOTIFICATION,
          S(""), S("m"), S(""), S("") },
        { S("{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"result\":{}}"),
          MESSAGE_RESULT, S("9007199254740993"), S(""), S(""), S("{}") },
        { S("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,\"message\":\"\"}}"),
          MESSAGE_ERROR, S(""), S(""), S(""), S("{\"code\":-1,\"message\":\"\"}") },
        { S("{\"jsonrpc\":\"2.0\",\"error\":{\"message\":\"x\",\"code\":0}}"),
          MESSAGE_ERROR, S(""), S(""), S(""), S("{\"message\":\"x\",\"code\":0}") },
    };

    FOR_EACH_CASE(c, cases) {
        struct mcp_message m = {};
        const char *what = NULL;

        CHECK_INT(mcp_message_read(c->text, DEPTH, &m, &what), OK);
        CHECK_INT(m.type, c->type);
        CHECK_STR(m.id.text, c->id);
        CHECK_STR(m.method, c->method);
        CHECK_STR(m.params.text, c->params);
        CHECK_STR(m.type == MESSAGE_ERROR ? m.error.text : m.result.text, c->answer);
        CHECK_STR(m.text, c->text);
    }
}

TEST(what_is_none_of_the_four_is_refused_with_a_reason)
{
    static const struct {
        struct str text;
        enum err err;
        const char *what;
    } cases[] = {
        { S("{\"jsonrpc\":\"2.0\"}"), ERR_INVALID,
          "it has neither a method nor an answer" },
        { S("{\"jsonrpc\":\"2.1\",\"method\":\"m\"}"), ERR_INVALID,
          "jsonrpc is not \"2.0\"" },
        { S("{\"method\":\"m\"}"), ERR_INVALID, "jsonrpc is not \"2.0\"" },
        { S("{\"jsonrpc\":2.0,\"method\":\"m\"}"), ERR_INVALID,
          "jsonrpc is not \"2.0\"" },
        { S("{\"jsonrpc\":\"2.0\",\"method\":1}"), ERR_INVALID,
          "method is not a string" },
        { S("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":null}"), ERR_INVALID,
          "id is neither a string nor a number" },
        { S("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[]}"), ERR_INVALID,
          "params is not an object" },
        { S("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"result\":{}}"), ERR_INVALID,
          "it has a method and an answer" },
        { S("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}"), ERR_INVALID,
          "it has a result and an error" },
        { S("{\"jsonrpc\":\"2.0\",\"result\":{}}"), ERR_INVALID,
          "a result without an id" },
        { S("{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}"), ERR_INVALID,
          "a result without an id" },
        { S("{\"jsonrpc\":\"2.0\",\"id\":[],\"error\":{\"code\":1,\"message\":\"\"}}"),
          ERR_INVALID, "id is neither a string nor a number" },
        { S("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"x\"}"), ERR_INVALID,
          "error has no code or no message" },
        { S("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1.5,\"message\":\"\"}}"),
          ERR_INVALID, "error has no code or no message" },
        { S("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}"), ERR_INVALID,
          "error has no code or no message" },
        { S("{\"jsonrpc\":\"2.0\",\"id\":1,\"\\u0069d\":2,\"method\":\"m\"}"),
          ERR_INVALID, "a name stands twice" },
        { S("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":"
            "{\"a\":[[[[[[[[]]]]]]]]}}"),
          ERR_TOO_DEEP, NULL },
        { S("{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}"), ERR_UTF8, NULL },
        { S("[]"), ERR_INVALID, NULL },
        { S("{} {}"), ERR_INVALID, NULL },
        { S(""), ERR_INVALID, NULL },
    };

    FOR_EACH_CASE(c, cases) {
        struct mcp_message m = {};
        const char *what = NULL;

        CHECK_INT(mcp_message_read(c->text, DEPTH, &m, &what), c->err);
        CHECK(what != NULL);
        if (c->what)
            CHECK_STR(str_of(what), str_of(c->what));
    }
}

TEST(a_batch_is_walked_item_by_item)
{
    static const struct {
        struct str text;
        const char *items; /* each with a bar behind it; an error ends it */
        enum err begin, end;
    } cases[] = {
        { S("{\"a\":1}"), "{\"a\":1}|", OK, OK },
        { S(" [{\"a\":1}, 2]"), "{\"a\":1}|2|", OK, OK },
        { S("[1,}"), "1|", OK, ERR_INVALID },
        { S("[1]x"), "1|", OK, ERR_INVALID },
        { S("[]"), "", ERR_INVALID, OK },
        { S("["), "", ERR_INVALID, OK },
        { S("nonsense"), "nonsense|", OK, OK },
    };

    FOR_EACH_CASE(c, cases) {
        struct mcp_message_walk walk;
        struct str item;
        struct buf got;
        enum err err = mcp_message_walk_begin(&walk, c->text, DEPTH);

        buf_init(&got, 1000);
        CHECK_INT(err, c->begin);
        while (!err && mcp_message_walk_next(&walk, &item, &err)) {
            buf_put(&got, item);
            buf_putc(&got, '|');
        }
        if (!c->begin) {
            CHECK_INT(err, c->end);
            CHECK(!mcp_message_walk_next(&walk, &item, &err));
        }
        CHECK_STR(buf_str(&got), str_of(c->items));
        buf_done(&got);
    }
}

TEST(only_whole_numbers_are_ids_of_ours)
{
    static const struct {
        enum json_type type;
        struct str text;
        bool is_ours;
    } cases[] = {
        { JSON_NUMBER, S("7"), true },
        { JSON_NUMBER, S("-7"), false },
        { JSON_NUMBER, S("7.0"), false },
        { JSON_STRING, S("7"), false },
        { JSON_NUMBER, S("99999999999999999999"), false },
    };

    FOR_EACH_CASE(c, cases) {
        struct json_span id = { .type = c->type, .text = c->text };
        uint64_t number = 0;

        CHECK_INT(mcp_message_number(id, &number), c->is_ours);
        CHECK_INT(number, c->is_ours ? 7 : 0);
    }
    CHECK(!mcp_message_number((struct json_span){}, &(uint64_t){ 0 }));
}

TEST(what_stands_at_a_path_is_found)
{
    static const struct str path[] = { S("_meta"), S("t") };
    struct json_span object = { .type = JSON_OBJECT,
                                .text = S("{\"x\":0,\"_meta\":{\"\\u0074\":\"a\\n\"}}") };

    CHECK_STR(mcp_message_find(object, path, 2).text, S("a\\n"));
    CHECK_STR(mcp_message_find(object, path, 1).text, S("{\"\\u0074\":\"a\\n\"}"));
    CHECK(mcp_message_find(object, path + 1, 1).text.ptr == NULL);
    object.text = S("{\"_meta\":[]}");
    CHECK(mcp_message_find(object, path, 2).text.ptr == NULL);
    CHECK(mcp_message_find((struct json_span){}, path, 2).text.ptr == NULL);
}

TEST(messages_are_written_as_one_line)
{
    struct json_span id = { .type = JSON_STRING, .text = S("a\\\"") };
    struct buf out;

    buf_init(&out, 1000);
    mcp_message_put_request(&out, 7, S("a\"b"), S("{\r\n \"a\":\n1}"));
    CHECK_STR(
        buf_str(&out),
        S("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a\\\"b\",\"params\":{ \"a\":1}}"));
    buf_clear(&out);
    mcp_message_put_notification(&out, S("m"), S(""));
    CHECK_STR(buf_str(&out), S("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}"));
    buf_clear(&out);
    mcp_message_put_answer(&out, id, S("result"), S("{\n}"));
    CHECK_STR(buf_str(&out), S("{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"\",\"result\":{}}"));
    buf_clear(&out);
    id = (struct json_span){ .type = JSON_NUMBER, .text = S("1.0") };
    mcp_message_put_answer(&out, id, S("error"), S("{}"));
    CHECK_STR(buf_str(&out), S("{\"jsonrpc\":\"2.0\",\"id\":1.0,\"error\":{}}"));
    buf_done(&out);
}
