/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "wish_stage.h"

#define TOOL "tools/call:add"

/* --- answers --- */

TEST(what_the_owner_says_goes_out_as_it_is)
{
    static const struct {
        enum client client;
        const char *member, *said;
    } cases[] = {
        { LEGACY, "\"result\":{\"content\":[],\"n\":1.0}",
          "s 200 {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"content\":[],\"n\":1.0}}\n" },
        { LEGACY, "\"result\":{\"isError\":true}",
          "s 200 {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"isError\":true}}\n" },
        { LEGACY, "\"error\":{\"code\":-32002,\"message\":\"no\",\"data\":{\"x\":1}}",
          "s 200 {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-32002,\"message\":"
          "\"no\",\"data\":{\"x\":1}}}\n" },
        { MODERN, "\"result\":{\"resultType\":\"complete\",\"content\":[]}",
          "s 200 {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"resultType\":\"complete\","
          "\"content\":[]}}\n" },
        { MODERN, "\"error\":{\"code\":-32601,\"message\":\"no\"}",
          "s 404 {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-32601,\"message\":"
          "\"no\"}}\n" },
        { MODERN, "\"result\":{\"resultType\":\"input_required\",\"requestState\":\"x\"}",
          "s 200 {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"resultType\":"
          "\"input_required\",\"requestState\":\"x\"}}\n" },
    };

    FOR_EACH_CASE(c, cases) {
        begin(ALL);
        post("s", c->client,
             c->client == LEGACY ? CALL("\"a\"", "add", "{}")
                                 : CALL_WITH("\"a\"", "add", "{}", CLAIM("{}")));
        SAID("");
        answer("me-1", TOOL, c->member);
        CHECK_STR(said_so_far(), str_of(c->said));
        CHECK_INT(bot.wish_count, 0);
        done();
    }
}

TEST(params_go_as_they_came_but_for_what_is_ours)
{
    begin(ALL);
    post("s", LEGACY,
         CALL_WITH("1", "add", "{\"n\":1.0}", ",\"x\":2,\"_meta\":{\"k\":1}"));
    SENT("\"kind\":\"mcp/request:tools/call:add\"");
    SENT("\"params\":{\"name\":\"add\",\"arguments\":{\"n\":1.0},\"x\":2,\"_meta\":{"
         "\"k\":1,\"io.modelcontextprotocol/clientCapabilities\":{\"sampling\":{},"
         "\"elicitation\":{\"form\":{}}}}}");
    CHECK(!strstr(buf_cstr(&fake.sent), "progressToken"));
    (void)fake_sent(&fake);
    post("t", LEGACY,
         CALL_WITH("2", "add", "{}", ",\"_meta\":{\"progressToken\":\"mine\"}"));
    SENT("\"progressToken\":\"me-2\"");
    CHECK(!strstr(buf_cstr(&fake.sent), "mine"));
    (void)fake_sent(&fake);
    post("u", MODERN, CALL_WITH("3", "add", "{}", CLAIM("{\"roots\":{}}")));
    SENT(CLAIM("{\"roots\":{}}"));
    done();
}

TEST(what_may_not_be_done_is_not_there)
{
    static const struct {
        const char *body;
        enum client client;
        const char *said;
    } cases[] = {
        { CALL("1", "rm", "{}"), LEGACY,
          "{\"code\":-32602,\"message\":\"Unknown tool: rm\"}" },
        { CALL("1", "xx", "{}"), LEGACY,
          "{\"code\":-32602,\"message\":\"Unknown tool: xx\"}" },
        { CALL_WITH("1", "rm", "{}", CLAIM("{}")), MODERN,
          "s 200 {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":"
          "\"Unknown tool: rm\"}}" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":"
          "\"file:///a\"}}",
          LEGACY,
          "{\"code\":-32002,\"message\":\"Resource not found\",\"data\":{\"uri\":"
          "\"file:///a\"}}" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":"
          "\"file:///a\"" CLAIM("{}") "}}",
          MODERN,
          "{\"code\":-32602,\"message\":\"Resource not found\",\"data\":{\"uri\":"
          "\"file:///a\"}}" },
    };

    FOR_EACH_CASE(c, cases) {
        begin("[\"mcp/request:tools/call:add\"]");
        (void)fake_sent(&fake);
        post("s", c->client, c->body);
        SAYS(c->said);
        CHECK_STR(fake_sent(&fake), S(""));
        CHECK_INT(bot.wish_count, 0);
        done();
    }
}

TEST(too_many_calls_are_refused)
{
    begin(ALL);
    for (int i = 0; i < 4; i++)
        post((char[]){ (char)('a' + i), '\0' }, LEGACY, CALL("1", "add", "{}"));
    SAID("");
    post("e", LEGACY, CALL("1", "add", "{}"));
    SAYS(
        "e 200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\","
        "\"text\":\"too many calls are under way; try again\"}],\"isError\":true}}");
    done();
}

/* --- on the way --- */

/* A line is a frame to clients: one that stands in the middle would end it. */
TEST(what_the_owner_tells_is_one_line)
{
    begin(ALL);
    post("s", LEGACY, CALL_WITH("1", "add", "{}", ",\"_meta\":{\"progressToken\":1}"));
    say("me-1", "notifications/progress",
        "\"params\":{\"progressToken\":\"me-1\",\r\n\"progress\":1,\"x\":[\n\n1]}");
    SAID("s> {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
         "\"progressToken\":1,\"progress\":1,\"x\":[1]}}\n");
    say("me-1", "notifications/message",
        "\"params\":{\"level\":\"error\",\n\"data\":{\r\"a\":\n1}}");
    SAID("s> {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
         "\"level\":\"error\",\"data\":{\"a\":1}}}\n");
    done();
}

TEST(progress_has_the_clients_token_and_the_owners_numbers)
{
    static const char *tokens[] = { "7", "\"7\"", "\"a\\u0062\"" };

    FOR_EACH_CASE(c, tokens) {
        char body[512], want[512];

        begin(ALL);
        (void)snprintf(body, sizeof(body),
                       CALL_WITH("1", "add", "{}", ",\"_meta\":{\"progressToken\":%s}"),
                       *c);
        post("s", LEGACY, body);
        say("me-1", "notifications/progress",
            "\"params\":{\"progressToken\":\"me-1\",\"progress\":1.50,\"x\":[1]}");
        (void)snprintf(want, sizeof(want),
                       "s> {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                       "\"params\":{\"progressToken\":%s,\"progress\":1.50,\"x\":[1]}}\n",
                       *c);
        CHECK_STR(said_so_far(), str_of(want));
        done();
    }
}

TEST(messages_go_to_who_wants_their_level)
{
    static const struct {
        enum client client;
        const char *level;
        bool is_told;
    } cases[] = {
        { LEGACY, "warning", false },  { LEGACY, "error", true },
        { LEGACY, "emergency", true }, { MODERN, "warning", true },
        { MODERN, "debug", false },    { MODERN, "nonsense", false },
    };

    FOR_EACH_CASE(c, cases) {
        char members[256];

        begin(ALL);
        visit.level = (int8_t)serve_level(S("error"));
        post("s", c->client,
             c->client == LEGACY
                 ? CALL("1", "add", "{}")
                 : CALL_WITH("1", "add", "{}",
                             CLAIM_WITH("{}", ",\"io.modelcontextprotocol/logLevel\":"
                                              "\"info\"")));
        (void)snprintf(members, sizeof(members),
                       "\"params\":{\"level\":\"%s\",\"data\":1.0}", c->level);
        say("me-1", "notifications/message", members);
        CHECK_INT(strstr(buf_cstr(&said), "\"data\":1.0") != NULL, c->is_told);
        done();
    }
}

TEST(what_is_no_wishs_is_left_to_others)
{
    begin(ALL);
    post("s", LEGACY, CALL_WITH("1", "add", "{}", ",\"_meta\":{\"progressToken\":1}"));
    say("me-9", "notifications/progress",
        "\"params\":{\"progressToken\":1,\"progress\":1}");
    SAID("nobody's\n");
    hear_from(
        "eve", "mcp/request:notifications/progress",
        "\"to\":[\"bot\"],\"correlation_id\":\"me-1\",\"payload\":{\"jsonrpc\":\"2.0\","
        "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"me-1\","
        "\"progress\":1}}");
    SAID("nobody's\n");
    done();
}

/* --- not wanted any more --- */

TEST(a_cancelled_call_is_cancelled_in_the_room)
{
    struct json_span id = { .type = JSON_NUMBER, .text = S("1") };
    struct json_span other = { .type = JSON_STRING, .text = S("1") };

    begin(ALL);
    post("s", LEGACY, CALL("1", "add", "{}"));
    wish_cancel(&bot, &visit, other);
    wish_cancel(&bot, NULL, id);
    CHECK_INT(bot.wish_count, 1);
    (void)fake_sent(&fake);
    wish_cancel(&bot, &visit, id);
    SAID("s 202 \n");
    SENT("notifications/cancelled");
    CHECK_INT(bot.wish_count, 0);
    answer("me-1", TOOL, "\"result\":{}");
    pass(0);
    SAID("");
    done();
}

TEST(a_modern_stream_that_closes_takes_the_call_with_it)
{
    begin(ALL);
    post("s", MODERN, CALL_WITH("1", "add", "{}", CLAIM("{}")));
    (void)fake_sent(&fake);
    CHECK(!wish_wisher(&bot, strand_named("t")));
    wish_lost(wish_wisher(&bot, strand_named("s")));
    SENT("notifications/cancelled");
    CHECK_INT(bot.wish_count, 0);
    done();
}

/* --- what the room says --- */

TEST(the_rooms_own_words_are_a_tools_error)
{
    static const char words[] = "\"text\":\"srv has left before it answered\"}],"
                                "\"isError\":true}";

    begin(ALL);
    post("s", LEGACY, CALL("1", "add", "{}"));
    wish_owner_left(&bot, S("srv"));
    SAYS(words);
    (void)said_so_far();
    post(
        "t", LEGACY,
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/read\",\"params\":{\"uri\":"
        "\"file:///a\"}}");
    wish_owner_left(&bot, S("srv"));
    SAID("t 200 {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32603,\"message\":"
         "\"srv has left before it answered\"}}\n");
    post("u", LEGACY, CALL("3", "add", "{}"));
    fake_hear_gateway(
        &fake, "system/error",
        "\"error\":\"rate_limited\",\"message\":\"slow\",\"retry_after_ms\":1200");
    SAID("");
    done();
}

TEST(a_denial_has_no_code)
{
    begin(ALL);
    post("s", LEGACY, CALL("1", "add", "{}"));
    answer("me-1", TOOL,
           "\"error\":{\"code\":-32001,\"message\":\"wait\",\"data\":{"
           "\"authorizationRequest\":{\"id\":\"a\"}}}");
    SAID("");
    answer(
        "me-1", TOOL,
        "\"error\":{\"code\":-32002,\"message\":\"no\",\"data\":{\"reason\":\"ann says "
        "no\"}}");
    SAYS("\"text\":\"it was denied: ann says no\"");
    CHECK(!strstr(buf_cstr(&said), "-3200"));
    done();
}

/* --- subscriptions --- */

TEST(watches_are_counted_by_the_hall)
{
    static struct watching watching = { .uri = S("file:///a"), .owner = S("srv") };
    static struct watch watch = { .of = &watching };

    begin(ALL);
    post("s", LEGACY,
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\",\"params\":{"
         "\"uri\":\"file:///a\"}}");
    SAID("watch srv file:///a\ns 200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    list_append(&visit.watcher.watched, &watch.link);
    post("t", LEGACY,
         "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/unsubscribe\",\"params\":{"
         "\"uri\":\"file:///a\"}}");
    SAID("unwatch file:///a\nt 200 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");
    list_remove(&watch.link);
    done();
}
