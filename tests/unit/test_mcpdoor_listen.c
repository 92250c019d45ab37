/* SPDX-License-Identifier: Apache-2.0 */
/* What clients are told that belongs to none of their requests. */
#include "mcpdoor/attendee.h"
#include "mcpdoor_hall.h"

#define FILES "{\"tools\":[" READ "],\"resources\":[{\"uri\":\"a:b\",\"name\":\"x\"}]}"
#define LISTEN(id, filter)                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"subscriptions/listen\"," \
    "\"params\":{\"notifications\":" filter "," META("") "}}"
#define SUBSCRIBE(method)                                \
    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"" method \
    "\",\"params\":{\"uri\":\"a:b\"}}"
#define UPDATED                                                                        \
    "\"payload\":{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\"," \
    "\"params\":{\"uri\":\"a:b\",\"n\":1.0}}"
#define MESSAGE(level)                                              \
    "\"to\":[\"ann\"],\"payload\":{\"jsonrpc\":\"2.0\",\"method\":" \
    "\"notifications/message\",\"params\":{\"level\":\"" level "\",\"data\":1.0}}"

static void open_stage(struct stage *stage)
{
    stage_init(stage, &(struct hall_settings){});
    stage_owner(stage, "files", FILES);
}

static size_t count(struct str text, const char *what)
{
    size_t found = 0;
    const char *at = text.ptr;

    while (text.len && (at = strstr(at, what)) != NULL) {
        found++;
        at++;
    }
    return found;
}

static size_t logged(struct stage *stage, const char *what)
{
    (void)buf_cstr(&stage->log);
    return count(buf_str(&stage->log), what);
}

/* --- lists --- */

TEST(changes_of_lists_are_told_on_streams_at_most_once_a_second)
{
    struct stage stage;
    const char *visit;
    size_t stream, listen, other;

    open_stage(&stage);
    visit = open_visit(&stage, "ann");
    stream = stage_get(&stage, "ann", visit, "");
    (void)stage_said(&stage, stream);
    listen =
        stage_post(&stage, "ann", "", LISTEN("\"l\"", "{\"toolsListChanged\":true}"));
    CHECK_STR(
        stage_said(&stage, listen),
        S("event  {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
          "\"params\":{\"notifications\":{\"toolsListChanged\":true},\"_meta\":{"
          "\"io.modelcontextprotocol/subscriptionId\":\"l\"}}}\n"));
    other = stage_post(&stage, "ann", "", LISTEN("8", "{\"promptsListChanged\":true}"));
    (void)stage_said(&stage, other);
    stage_pass(&stage, 5000);
    stage_owner(&stage, "a", "{\"tools\":[" WRITE "]}");
    stage_owner(&stage, "b", "{\"tools\":[" WRITE "]}");
    HAS(stage_said(&stage, stream),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n");
    CHECK_STR(
        stage_said(&stage, listen),
        S("event  {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\","
          "\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":\"l\"}}}\n"));
    stage_pass(&stage, 1500);
    CHECK_INT(count(stage_said(&stage, listen), "list_changed"), 1);
    CHECK_STR(stage_said(&stage, other), S(""));
    stage_done(&stage);
}

TEST(who_sees_nothing_of_it_is_not_told)
{
    struct stage stage;
    size_t listen;

    open_stage(&stage);
    stage_rights(&stage, "bob", "[\"mcp/request:resources/*\"]");
    listen = stage_post(&stage, "bob", "", LISTEN("1", "{\"toolsListChanged\":true}"));
    HAS(stage_said(&stage, listen), "acknowledged");
    stage_pass(&stage, 5000);
    stage_owner(&stage, "a", "{\"tools\":[" WRITE "]}");
    stage_pass(&stage, 5000);
    CHECK_STR(stage_said(&stage, listen), S(""));
    stage_done(&stage);
}

TEST(that_the_last_thing_has_gone_is_told)
{
    struct stage stage;
    size_t listen;

    open_stage(&stage);
    listen = stage_post(&stage, "ann", "", LISTEN("1", "{\"toolsListChanged\":true}"));
    (void)stage_said(&stage, listen);
    stage_pass(&stage, 5000);
    stage_owner_leaves(&stage, "files");
    HAS(stage_said(&stage, listen), "notifications/tools/list_changed");
    stage_done(&stage);
}

TEST(a_listen_that_is_left_is_over)
{
    struct stage stage;
    size_t listen;

    open_stage(&stage);
    listen = stage_post(&stage, "ann", "",
                        LISTEN("1", "{\"resourceSubscriptions\":[\"a:b\"]}"));
    CHECK_INT(logged(&stage, "mcp/request:resources/subscribe"), 1);
    stage_lose(&stage, listen);
    CHECK_INT(logged(&stage, "mcp/request:resources/unsubscribe"), 1);
    CHECK_INT(hall_counts(stage.hall).strands, 0);
    stage_done(&stage);
}

TEST(a_hall_that_drains_ends_listens_with_a_result)
{
    struct stage stage;
    size_t listen;

    open_stage(&stage);
    listen = stage_post(&stage, "ann", "", LISTEN("1", "{}"));
    (void)stage_said(&stage, listen);
    hall_drain(stage.hall, stage.now);
    CHECK_STR(
        stage_said(&stage, listen),
        S("event  {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\","
          "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1}}}\nend\n"));
    stage_done(&stage);
}

TEST(listens_are_bounded_and_need_a_filter)
{
    struct stage stage;

    open_stage(&stage);
    HAS(stage_said(&stage, stage_post(&stage, "ann", "", MODERN("subscriptions/listen"))),
        "\"code\":-32602");
    for (size_t i = 0; i < 64; i++)
        HAS(stage_said(&stage, stage_post(&stage, "ann", "", LISTEN("1", "{}"))),
            "acknowledged");
    HAS(stage_said(&stage, stage_post(&stage, "ann", "", LISTEN("1", "{}"))),
        "\"code\":-32603");
    stage_done(&stage);
}

/* --- resources --- */

TEST(resources_that_change_are_told_to_who_watches_them)
{
    struct stage stage;
    char watching[VISIT_ID];
    const char *other;
    size_t stream, quiet, listen;

    open_stage(&stage);
    open_visit_in(&stage, "ann", watching);
    other = open_visit(&stage, "ann");
    stream = stage_get(&stage, "ann", watching, "");
    quiet = stage_get(&stage, "ann", other, "");
    listen = stage_post(&stage, "ann", "",
                        LISTEN("1", "{\"resourceSubscriptions\":[\"a:b\"]}"));
    (void)stage_post(&stage, "ann", watching, SUBSCRIBE("resources/subscribe"));
    (void)stage_said(&stage, stream);
    (void)stage_said(&stage, quiet);
    (void)stage_said(&stage, listen);
    stage_say(&stage, "files", "mcp/request:notifications/resources/updated",
              "\"to\":[\"ann\"]," UPDATED);
    HAS(stage_said(&stage, stream),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"a:b\",\"n\":1.0}}\n");
    CHECK_STR(stage_said(&stage, quiet), S(""));
    HAS(stage_said(&stage, listen),
        "\"params\":{\"uri\":\"a:b\",\"n\":1.0,\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1}}}\n");
    stage_done(&stage);
}

TEST(what_cannot_be_watched_is_not_acknowledged)
{
    struct stage stage;

    open_stage(&stage);
    stage_rights(&stage, "bob", "[\"mcp/request:resources/subscribe:a:b\"]");
    HAS(stage_said(
            &stage,
            stage_post(
                &stage, "bob", "",
                LISTEN("1",
                       "{\"x\":1.0,\"resourceSubscriptions\":[\"c:d\",\"a:b\",7]}"))),
        "\"notifications\":{\"x\":1.0,\"resourceSubscriptions\":[\"a:b\"]}");
    stage_done(&stage);
}

TEST(of_a_long_list_of_resources_only_so_many_are_looked_at)
{
    struct stage stage;
    struct buf body;

    open_stage(&stage);
    buf_init(&body, 64 << 10);
    buf_put(&body, S("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\","
                     "\"params\":{\"notifications\":{\"resourceSubscriptions\":["));
    for (size_t i = 0; i < 256; i++)
        buf_put(&body, S("7,"));
    buf_put(&body, S("\"a:b\"]}," META("") "}}"));
    HAS(stage_said(&stage, stage_post(&stage, "ann", "", buf_cstr(&body))),
        "\"notifications\":{\"resourceSubscriptions\":[]}");
    CHECK_INT(logged(&stage, "mcp/request:resources/subscribe"), 0);
    buf_done(&body);
    stage_done(&stage);
}

/* With all that a listen may watch at once. */
static size_t listen_to_many(struct stage *stage)
{
    char body[16 << 10];
    size_t len = 0, out, acknowledged;

    len += (size_t)snprintf(body, sizeof(body), "%s",
                            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                            "\"subscriptions/listen\",\"params\":{\"notifications\":{"
                            "\"resourceSubscriptions\":[\"u:0\"");
    for (size_t i = 1; i < ATTENDEE_WATCHED; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len, ",\"u:%zu\"", i);
    (void)snprintf(body + len, sizeof(body) - len, "%s", "]}," META("") "}}");
    out = stage_post(stage, "ann", "", body);
    acknowledged = count(stage_said(stage, out), "\"u:");
    return acknowledged;
}

TEST(watches_of_all_listens_and_sessions_are_bounded)
{
    struct stage stage;
    const char *visit;

    open_stage(&stage);
    for (size_t i = 0; i < ATTENDEE_WATCHES / ATTENDEE_WATCHED; i++)
        CHECK_INT(listen_to_many(&stage), ATTENDEE_WATCHED);
    CHECK_INT(listen_to_many(&stage), 0);
    visit = open_visit(&stage, "ann");
    HAS(stage_said(&stage,
                   stage_post(&stage, "ann", visit, SUBSCRIBE("resources/subscribe"))),
        "too many resources are watched");
    CHECK_INT(logged(&stage, "mcp/request:resources/subscribe"), ATTENDEE_WATCHED);
    stage_lose(&stage, 0);
    CHECK_INT(logged(&stage, "mcp/request:resources/unsubscribe"), 0);
    CHECK_INT(listen_to_many(&stage), ATTENDEE_WATCHED);
    stage_end(&stage, "ann", "");
    stage_done(&stage);
}

/* --- messages --- */

TEST(messages_reach_sessions_that_want_their_level)
{
    struct stage stage;
    const char *visit;
    size_t stream;

    open_stage(&stage);
    visit = open_visit(&stage, "ann");
    stream = stage_get(&stage, "ann", visit, "");
    (void)stage_said(&stage, stream);
    stage_say(&stage, "files", "mcp/request:notifications/message", MESSAGE("emergency"));
    CHECK_STR(stage_said(&stage, stream), S(""));
    CHECK_STR(
        stage_said(
            &stage,
            stage_post(&stage, "ann", visit,
                       "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"logging/setLevel\","
                       "\"params\":{\"level\":\"warning\"}}")),
        S("200 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"));
    HAS(stage_asked(&stage, "files"),
        "\"method\":\"logging/setLevel\",\"params\":{\"level\":\"warning\"");
    stage_say(&stage, "files", "mcp/request:notifications/message", MESSAGE("notice"));
    CHECK_STR(stage_said(&stage, stream), S(""));
    stage_say(&stage, "files", "mcp/request:notifications/message", MESSAGE("warning"));
    HAS(stage_said(&stage, stream), "\"params\":{\"level\":\"warning\",\"data\":1.0}}\n");
    HAS(stage_said(
            &stage,
            stage_post(&stage, "ann", visit,
                       "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"logging/setLevel\","
                       "\"params\":{\"level\":\"loud\"}}")),
        "\"code\":-32602");
    stage_done(&stage);
}

TEST(owners_hear_of_the_most_verbose_level_alone)
{
    struct stage stage;
    char first[VISIT_ID];
    const char *second;

    open_stage(&stage);
    open_visit_in(&stage, "ann", first);
    second = open_visit(&stage, "ann");
#define LEVEL(level)                                                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"" level \
    "\"}}"
    (void)stage_post(&stage, "ann", first, LEVEL("info"));
    CHECK_INT(logged(&stage, "mcp/request:logging/setLevel"), 1);
    (void)stage_post(&stage, "ann", second, LEVEL("error"));
    CHECK_INT(logged(&stage, "mcp/request:logging/setLevel"), 1);
    (void)stage_delete(&stage, "ann", first);
    CHECK_INT(logged(&stage, "mcp/request:logging/setLevel"), 2);
    HAS(stage_asked(&stage, "files"), "\"level\":\"error\"");
    stage_done(&stage);
}

/* One list that changed just now does not delay another. */
TEST(lists_are_told_each_in_its_own_time)
{
    struct stage stage;
    size_t listen;

    open_stage(&stage);
    listen = stage_post(
        &stage, "ann", "",
        LISTEN("1", "{\"toolsListChanged\":true,\"promptsListChanged\":true}"));
    stage_pass(&stage, 5000);
    (void)stage_said(&stage, listen);
    listen_tell_lists(stage.hall, 1U << OFFER_TOOL);
    HAS(stage_said(&stage, listen), "notifications/tools/list_changed");
    stage_owner(&stage, "more", "{\"prompts\":[{\"name\":\"p\"}]}");
    HAS(stage_said(&stage, listen), "notifications/prompts/list_changed");
    stage_done(&stage);
}

/* --- tasks --- */

TEST(tasks_are_told_to_listens_that_name_them)
{
    struct stage stage;
    size_t listen, other;

    open_stage(&stage);
    listen = stage_post(&stage, "ann", "", LISTEN("1", "{\"taskIds\":[\"t1\"]}"));
    other = stage_post(&stage, "ann", "", LISTEN("2", "{\"taskIds\":[\"t2\"]}"));
    (void)stage_said(&stage, listen);
    (void)stage_said(&stage, other);
    stage_say(
        &stage, "files", "mcp/request:notifications/tasks",
        "\"to\":[\"ann\"],\"payload\":{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks\","
        "\"params\":{\"taskId\":\"t1\",\"status\":\"working\"}}");
    HAS(stage_said(&stage, listen), "\"status\":\"working\"");
    CHECK_STR(stage_said(&stage, other), S(""));
    stage_done(&stage);
}

/* --- owners that come back --- */

TEST(an_owner_that_comes_back_is_told_what_is_wanted)
{
    struct stage stage;
    const char *visit;

    open_stage(&stage);
    visit = open_visit(&stage, "ann");
    (void)stage_post(&stage, "ann", visit, LEVEL("info"));
    (void)stage_post(&stage, "ann", visit, SUBSCRIBE("resources/subscribe"));
    CHECK_INT(logged(&stage, "mcp/request:logging/setLevel"), 1);
    CHECK_INT(logged(&stage, "mcp/request:resources/subscribe"), 1);
    stage_owner_leaves(&stage, "files");
    stage_owner(&stage, "files", FILES);
    CHECK_INT(logged(&stage, "mcp/request:logging/setLevel"), 2);
    CHECK_INT(logged(&stage, "mcp/request:resources/subscribe"), 2);
    stage_done(&stage);
}

TEST(owners_hear_that_roots_have_changed)
{
    struct stage stage;

    open_stage(&stage);
    (void)stage_post(
        &stage, "ann", open_visit(&stage, "ann"),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}");
    CHECK_INT(logged(&stage, "mcp/request:notifications/roots/list_changed"), 1);
    stage_done(&stage);
}
