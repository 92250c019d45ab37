/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "harness.h"
#include "participant/say.h"

#define NOON 1'800'000'000'000

static struct buf out;

static void begin(void)
{
    buf_init(&out, 1 << 20);
}

/* Compares what was written, and forgets it. */
#define CHECK_OUT(want)                 \
    do {                                \
        CHECK_STR(buf_str(&out), want); \
        buf_done(&out);                 \
    } while (0)

TEST(what_is_not_given_is_left_out_of_the_head)
{
    struct json_writer w;

    begin();
    say_begin(&w, &out,
              &(struct say_head){
                  .id = S("1"), .from = S("me"), .kind = S("chat"), .wall_ms = NOON });
    json_raw(&w, S("{}"));
    say_end(&w);
    CHECK_OUT(S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"ts\":\"2027-01-15T08:00:00."
                "000Z\",\"from\":\"me\",\"kind\":\"chat\",\"payload\":{}}"));
}

TEST(what_is_given_stands_in_the_head)
{
    const struct str to[] = { S("a\"b"), S("c") };
    struct json_writer w;

    begin();
    say_begin(&w, &out,
              &(struct say_head){ .id = S("1"),
                                  .from = S("me"),
                                  .kind = S("mcp/request:ping"),
                                  .correlation_id = S("7"),
                                  .to = to,
                                  .to_count = 2,
                                  .wall_ms = NOON,
                                  .expires_ms = NOON + 1,
                                  .is_edited = true });
    json_raw(&w, S("{}"));
    say_end(&w);
    CHECK_OUT(S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"ts\":\"2027-01-15T08:00:00."
                "000Z\",\"from\":\"me\",\"to\":[\"a\\\"b\",\"c\"],\"kind\":\"mcp/"
                "request:ping\",\"correlation_id\":\"7\",\"expires_at\":\"2027-01-15T08:"
                "00:00.001Z\",\"edited\":true,\"payload\":{}}"));
}

TEST(a_call_takes_the_params_as_they_stand)
{
    static const struct {
        struct say_call call;
        struct str want;
    } cases[] = {
        { { .method = S("ping") }, S("{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}") },
        { { .id = S("7"), .method = S("m"), .params = S("{ \"a\" : 1 }") },
          S("{\"jsonrpc\":\"2.0\",\"id\":\"7\",\"method\":\"m\",\"params\":{ \"a\" : 1 "
            "}}") },
    };

    FOR_EACH_CASE(c, cases) {
        struct json_writer w;

        begin();
        json_write_init(&w, &out);
        say_call(&w, &c->call);
        CHECK_OUT(c->want);
    }
}

TEST(a_progress_token_goes_among_what_is_there)
{
    static const struct {
        struct str params, want;
    } cases[] = {
        { S(""), S("{\"_meta\":{\"progressToken\":\"t\"}}") },
        { S("{}"), S("{\"_meta\":{\"progressToken\":\"t\"}}") },
        { S("{\"a\": [1, 2] ,\"b\":\"x\"}"),
          S("{\"a\": [1, 2],\"b\":\"x\",\"_meta\":{\"progressToken\":\"t\"}}") },
        { S("{\"_meta\":{\"k\":\"\\\"\",\"progressToken\":7},\"a\":{}}"),
          S("{\"a\":{},\"_meta\":{\"k\":\"\\\"\",\"progressToken\":\"t\"}}") },
        { S("{\"_meta\":7}"), S("{\"_meta\":{\"progressToken\":\"t\"}}") },
        { S("{\"_\\u006deta\":{\"k\":1}}"),
          S("{\"_meta\":{\"k\":1,\"progressToken\":\"t\"}}") },
    };

    FOR_EACH_CASE(c, cases) {
        const struct str head = S("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":");
        struct json_writer w;

        begin();
        json_write_init(&w, &out);
        say_call(&w, &(struct say_call){ .method = S("m"),
                                         .params = c->params,
                                         .progress_token = S("t") });
        CHECK(str_starts(buf_str(&out), head));
        buf_drop(&out, head.len);
        out.len--;
        CHECK_OUT(c->want);
    }
}

TEST(an_answer_has_the_id_text_for_text)
{
    static const struct {
        struct json_span id;
        struct str want;
    } cases[] = {
        { { JSON_NUMBER, false, S("1.50e1") }, S("1.50e1") },
        { { JSON_STRING, true, S("a\\u0062") }, S("\"a\\u0062\"") },
        { { JSON_STRING, false, S("") }, S("\"\"") },
        { { .type = JSON_NULL }, S("null") },
    };

    FOR_EACH_CASE(c, cases) {
        struct json_writer w;
        struct buf want;

        begin();
        json_write_init(&w, &out);
        say_answer(&w, c->id, S("result"), S("{\"a\":1}"));
        buf_init(&want, 256);
        buf_putf(&want, "{\"jsonrpc\":\"2.0\",\"id\":" STR_FMT ",\"result\":{\"a\":1}}",
                 STR_ARG(c->want));
        CHECK_OUT(buf_str(&want));
        buf_done(&want);
    }
}

TEST(payloads_of_decisions)
{
    struct json_writer w;

    begin();
    json_write_init(&w, &out);
    json_array_open(&w);
    say_proposal(&w, S("ping"), S(""), S(""));
    say_proposal(&w, S("m"), S("{\"a\":1}"), S("be\"cause"));
    say_reason(&w, S(""));
    say_reason(&w, S("no"));
    say_cancelled(&w, S("7"), S("late"));
    say_authorization(&w, &(struct say_decision){ .id = S("a7"), .decision = S("deny") });
    json_array_close(&w);
    CHECK_OUT(S("[{\"method\":\"ping\"},{\"method\":\"m\",\"params\":{\"a\":1},"
                "\"reason\":\"be\\\"cause\"},{},{\"reason\":\"no\"},"
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                "\"params\":{\"requestId\":\"7\",\"reason\":\"late\"}},"
                "{\"jsonrpc\":\"2.0\",\"method\":\"authorization/respond\","
                "\"params\":{\"authorizationId\":\"a7\",\"decision\":\"deny\"}}]"));
}

TEST(params_are_made_of_a_name_and_arguments)
{
    static const struct {
        struct str method, name, arguments, want;
    } cases[] = {
        { S("tools/call"), S("add"), S("{\"a\":1}"),
          S("{\"name\":\"add\",\"arguments\":{\"a\":1}}") },
        { S("tools/call"), S("add"), S(""), S("{\"name\":\"add\",\"arguments\":{}}") },
        { S("prompts/get"), S("p"), S(""), S("{\"name\":\"p\",\"arguments\":{}}") },
        { S("resources/read"), S("file:///x"), S(""), S("{\"uri\":\"file:///x\"}") },
        { S("tools/list"), S(""), S(""), S("") },
        { S("x/y"), S(""), S("{}"), S("{\"arguments\":{}}") },
        { S("x/y"), S("n"), S(""), S("{\"name\":\"n\"}") },
    };

    FOR_EACH_CASE(c, cases) {
        begin();
        say_params(&out, c->method, c->name, c->arguments);
        CHECK_OUT(c->want);
    }
}
