/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "fake_seat.h"
#include "harness.h"
#include "mcpdoor/room_desk.h"

enum { ROOM = 1 << 24 };

static bool may_all(void *, const struct exhibit *exhibit)
{
    return !str_eq(exhibit->key, S("secret"));
}

static const struct showcase_view view = { .may = may_all };

/* "bot" is at the desk; files offers read, write and secret. */
struct scene {
    struct fake_seat fake;
    struct showcase *showcase;
    struct room_desk *desk;
    struct room_news *own;
    struct room_guest guest;
    struct buf answers; /* a line each */
    struct buf last;
    int dropped;
};

static void scene_open(struct scene *scene, const char *capabilities)
{
    *scene = (struct scene){};
    fake_seat_init(&scene->fake, &(struct occupant_settings){ .limits.calls = 128 });
    fake_seat_welcome(&scene->fake, capabilities,
                      "{\"id\":\"files\",\"capabilities\":[\"mcp/response:*\"],"
                      "\"moot\":{\"type\":\"service\"}}");
    scene->showcase = showcase_new(false);
    showcase_begin(scene->showcase, S("files"), OFFER_TOOL);
    CHECK_INT(showcase_add(scene->showcase, S("[{\"name\":\"read\"},{\"name\":\"write\"},"
                                              "{\"name\":\"secret\"}]")),
              OK);
    showcase_end(scene->showcase);
    scene->desk = room_desk_new(scene->showcase, NULL);
    room_desk_use(scene->desk, scene->fake.occupant);
    scene->own = room_news_new(ROOM_OWN_NEWS, ROOM_OWN_NEWS_BYTES);
    scene->guest = (struct room_guest){ .occupant = scene->fake.occupant,
                                        .news = scene->own,
                                        .view = &view };
    buf_init(&scene->answers, ROOM);
    buf_init(&scene->last, ROOM);
}

static void scene_close(struct scene *scene)
{
    room_desk_free(scene->desk);
    room_news_free(scene->own);
    showcase_free(scene->showcase);
    fake_seat_done(&scene->fake);
    buf_done(&scene->answers);
    buf_done(&scene->last);
}

static void on_answer(void *user, struct str result)
{
    struct scene *scene = user;

    buf_put(&scene->answers, result);
    buf_putc(&scene->answers, '\n');
}

static void on_dropped(void *user)
{
    ((struct scene *)user)->dropped++;
}

static bool call(struct scene *scene, const char *tool, const char *arguments)
{
    struct json_span span = {};

    if (arguments)
        span = (struct json_span){ .type = JSON_OBJECT, .text = str_of(arguments) };
    return room_desk_call(scene->desk, &scene->guest,
                          &(struct room_call){ .tool = str_of(tool),
                                               .arguments = span,
                                               .on_answer = on_answer,
                                               .on_dropped = on_dropped,
                                               .user = scene,
                                               .name = tool },
                          scene->fake.now);
}

static struct str answered(struct scene *scene)
{
    buf_clear(&scene->last);
    buf_put(&scene->last, buf_str(&scene->answers));
    buf_clear(&scene->answers);
    return buf_str(&scene->last);
}

static bool has(struct str text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

static void hear(struct scene *scene, struct room_news *own, const char *from,
                 const char *kind, const char *payload)
{
    static const struct str to = S("bot");
    struct heard heard = {
        .env = { .id = S("m1"),
                 .from = str_of(from),
                 .to = &to,
                 .to_count = own ? 1 : 0,
                 .payload = { .type = JSON_OBJECT, .text = str_of(payload) } },
    };

    CHECK_INT(kind_parse(str_of(kind), &heard.env.kind), OK);
    heard.env.kind.text = str_of(kind);
    room_desk_hear(scene->desk, own, &heard);
}

/* The names of the tools that are listed. */
static struct str listed(struct scene *scene)
{
    CLEANUP(buf_done) struct buf out, all;
    struct json_scan scan;
    struct json_span item;
    enum err err;

    buf_init(&out, ROOM);
    buf_init(&all, ROOM);
    room_desk_put_tools(scene->desk, &scene->guest, &out);
    buf_putf(&all, "[" STR_FMT "]", STR_ARG(buf_str(&out)));
    buf_clear(&scene->last);
    json_scan_init(&scan, buf_str(&all), 16);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &item, &err)) {
        buf_put(&scene->last, str_slice(item.text, 9, str_find(item.text, '"', 9)));
        buf_putc(&scene->last, ' ');
    }
    CHECK_INT(err, OK);
    return buf_str(&scene->last);
}

TEST(only_what_one_may_do_is_listed_and_can_be_called)
{
    static const struct {
        const char *capabilities;
        struct str listed;
    } cases[] = {
        { "[\"mcp/*\",\"chat\"]",
          S("room_chat room_who room_wait room_propose tool_search ") },
        { "[\"chat\"]", S("room_chat room_who room_wait tool_search ") },
        { "[\"mcp/proposal:tools/call:write\"]",
          S("room_who room_wait room_propose tool_search ") },
        { "[\"mcp/proposal:tools/call:other\"]", S("room_who room_wait tool_search ") },
    };

    FOR_EACH_CASE(c, cases) {
        struct scene scene;

        scene_open(&scene, c->capabilities);
        CHECK_STR(listed(&scene), c->listed);
        CHECK_INT(call(&scene, "room_chat", "{}"), has(c->listed, "room_chat"));
        CHECK_INT(call(&scene, "room_propose", "{}"), has(c->listed, "room_propose"));
        CHECK(!call(&scene, "room_burn", "{}"));
        scene_close(&scene);
    }
}

TEST(a_tool_of_the_same_name_hides_ours)
{
    struct scene scene;

    scene_open(&scene, "[\"chat\"]");
    showcase_begin(scene.showcase, S("files"), OFFER_TOOL);
    CHECK_INT(showcase_add(scene.showcase, S("[{\"name\":\"room_who\"}]")), OK);
    showcase_end(scene.showcase);
    CHECK_STR(listed(&scene), S("room_chat room_wait tool_search "));
    CHECK(!call(&scene, "room_who", "{}"));
    showcase_prefix(scene.showcase, true); /* files.room_who */
    CHECK(call(&scene, "room_who", "{}"));
    scene_close(&scene);
}

TEST(what_is_said_is_answered_when_the_room_has_taken_it)
{
    struct scene scene;

    scene_open(&scene, "[\"chat\"]");
    CHECK(call(&scene, "room_chat", "{\"text\":\"h\\u0069\",\"to\":[\"ann\",\"bob\"]}"));
    CHECK(has(fake_sent(&scene.fake), "\"to\":[\"ann\",\"bob\"]"));
    CHECK_STR(answered(&scene), S(""));
    fake_judge(&scene.fake);
    CHECK_STR(
        answered(&scene),
        S("{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"id\\\":\\\"me-1\\\"}\"}],"
          "\"structuredContent\":{\"id\":\"me-1\"}}\n"));
    scene_close(&scene);
}

TEST(what_the_room_refuses_is_a_tool_error)
{
    struct scene scene;

    scene_open(&scene, "[\"chat\"]");
    CHECK(call(&scene, "room_chat", "{\"text\":\"hi\"}"));
    fake_hear_from(&scene.fake, "system:gateway", "sys-9", "system/error",
                   "\"to\":[\"bot\"],\"correlation_id\":\"me-1\",\"payload\":{\"error\":"
                   "\"rate_limited\",\"message\":\"slow down\"}");
    fake_judge(&scene.fake);
    CHECK_STR(answered(&scene),
              S("{\"content\":[{\"type\":\"text\",\"text\":\"The room did not take it: "
                "slow down\"}],\"isError\":true}\n"));
    scene.fake.is_away = true;
    CHECK(call(&scene, "room_chat", "{\"text\":\"hi\"}"));
    CHECK(has(answered(&scene), "\"isError\":true"));
    scene_close(&scene);
}

TEST(arguments_are_checked)
{
    static const struct {
        const char *tool, *arguments, *said;
    } cases[] = {
        { "room_chat", "{}", "text" },
        { "room_chat", "{\"text\":\"\"}", "no text" },
        { "room_chat", "{\"text\":1}", "text: must be a string" },
        { "room_chat", "{\"text\":\"a\",\"to\":\"ann\"}", "to: must be a list" },
        { "room_chat", "[]", "no object" },
        { "room_chat", "{\"text\":\"a\",\"text\":\"b\"}", "cannot be read" },
        { "room_who", "{\"x\":1}", "x: " },
        { "room_wait", "{\"seconds\":-1}", "seconds" },
        { "room_wait", "{\"seconds\":\"1\"}", "seconds" },
        { "room_wait", "{\"after\":1}", "after" },
        { "tool_search", NULL, "query" },
        { "tool_search", "{\"query\":\"x\",\"limit\":1.5}", "limit" },
        { "room_propose", "{\"tool\":\"read\",\"arguments\":1}", "no object" },
        { "room_propose", "{\"tool\":\"burn\"}", "There is no tool" },
        { "room_propose", "{\"tool\":\"read\",\"to\":\"ann\"}", "There is no tool" },
    };
    struct scene scene;

    scene_open(&scene, "[\"mcp/*\",\"chat\"]");
    FOR_EACH_CASE(c, cases) {
        struct str said;

        CHECK(call(&scene, c->tool, c->arguments));
        said = answered(&scene);
        CHECK(has(said, "\"isError\":true"));
        CHECK(has(said, c->said));
    }
    CHECK_STR(fake_sent(&scene.fake), S(""));
    scene_close(&scene);
}

TEST(a_proposal_names_the_owners_own_tool)
{
    struct scene scene;
    struct str sent;

    scene_open(&scene, "[\"mcp/proposal:tools/call:read\"]");
    CHECK(
        call(&scene, "room_propose",
             "{\"tool\":\"files.read\",\"arguments\":{\"n\":1.50},\"reason\":\"why\"}"));
    sent = fake_sent(&scene.fake);
    CHECK(has(sent, "\"kind\":\"mcp/proposal:tools/call:read\""));
    CHECK(has(sent, "\"to\":[\"files\"]"));
    CHECK(has(sent, "{\"name\":\"read\",\"arguments\":{\"n\":1.50}}"));
    CHECK(has(sent, "\"why\""));
    fake_judge(&scene.fake);
    CHECK(has(answered(&scene), "\"structuredContent\":{\"id\":\"me-1\"}"));
    CHECK(call(&scene, "room_propose", "{\"tool\":\"write\"}"));
    CHECK(has(answered(&scene), "There is no tool"));
    CHECK(call(&scene, "room_propose", "{\"tool\":\"read\",\"to\":\"files\"}"));
    CHECK(has(fake_sent(&scene.fake), "\"arguments\":{}"));
    scene_close(&scene);
}

TEST(who_is_here_and_what_one_may_use_of_them)
{
    struct scene scene;

    scene_open(&scene, "[\"chat\"]");
    CHECK(call(&scene, "room_who", NULL));
    CHECK(
        has(answered(&scene),
            "\"structuredContent\":{\"you\":\"bot\",\"participants\":[{\"id\":\"files\","
            "\"type\":\"service\",\"tools\":2}]}}"));
    room_desk_use(scene.desk, NULL);
    CHECK(call(&scene, "room_who", NULL));
    CHECK(has(answered(&scene), "\"participants\":[]"));
    scene_close(&scene);
}

TEST(tools_are_found_by_who_may_use_them)
{
    struct scene scene;

    scene_open(&scene, "[\"chat\"]");
    CHECK(call(&scene, "tool_search", "{\"query\":\"read secret\"}"));
    CHECK(
        has(answered(&scene), "\"structuredContent\":{\"tools\":[{\"name\":\"read\"}]}"));
    CHECK(call(&scene, "tool_search", "{\"query\":\"read write\",\"limit\":1}"));
    CHECK(has(answered(&scene), "{\"tools\":[{\"name\":\"read\"}]}"));
    scene_close(&scene);
}

/* --- room_wait --- */

TEST(who_waits_is_told_what_comes_and_where_to_go_on)
{
    struct scene scene;

    scene_open(&scene, "[\"chat\"]");
    hear(&scene, NULL, "ann", "chat", "{\"text\":\"before\"}");
    CHECK(call(&scene, "room_wait", NULL));
    CHECK_STR(answered(&scene), S(""));
    CHECK_INT(room_desk_due_ms(scene.desk), scene.fake.now.mono_ms + ROOM_WAIT_MS);
    hear(&scene, NULL, "ann", "mcp/request:tools/call:x", "{}");
    hear(&scene, NULL, "bot", "chat", "{\"text\":\"mine\"}");
    CHECK_STR(answered(&scene), S(""));
    hear(&scene, NULL, "ann", "chat", "{\"text\":\"now\"}");
    CHECK(has(answered(&scene),
              "\"structuredContent\":{\"messages\":[{\"id\":\"m1\",\"from\":\"ann\","
              "\"kind\":\"chat\",\"payload\":{\"text\":\"now\"}}],\"next\":\"3\"}}"));
    hear(&scene, NULL, "ann", "mcp/reject", "{\"reason\":\"no\"}");
    hear(&scene, scene.own, "bob", "chat", "{\"text\":\"psst\"}");
    hear(&scene, NULL, "eve", "chat", "{\"text\":\"last\"}");
    CHECK_STR(answered(&scene), S(""));
    CHECK(call(&scene, "room_wait", "{\"after\":\"3\"}"));
    CHECK(has(answered(&scene),
              "{\"messages\":[{\"id\":\"m1\",\"from\":\"ann\",\"kind\":\"mcp/reject\","
              "\"payload\":{\"reason\":\"no\"}},{\"id\":\"m1\",\"from\":\"bob\",\"kind\":"
              "\"chat\",\"payload\":{\"text\":\"psst\"}},{\"id\":\"m1\",\"from\":\"eve\","
              "\"kind\":\"chat\",\"payload\":{\"text\":\"last\"}}],\"next\":\"6\"}"));
    CHECK_INT(room_desk_due_ms(scene.desk), UINT64_MAX);
    scene_close(&scene);
}

TEST(a_wait_ends_in_time_with_nothing)
{
    struct scene scene;
    uint64_t start;

    scene_open(&scene, "[\"chat\"]");
    start = scene.fake.now.mono_ms;
    CHECK(call(&scene, "room_wait", "{\"seconds\":3}"));
    CHECK(call(&scene, "room_wait", "{\"seconds\":99999999999}"));
    CHECK_INT(room_desk_due_ms(scene.desk), start + 3000);
    room_desk_tick(scene.desk, start + 2999);
    CHECK_STR(answered(&scene), S(""));
    room_desk_tick(scene.desk, start + 3000);
    CHECK(
        has(answered(&scene), "\"structuredContent\":{\"messages\":[],\"next\":\"0\"}"));
    CHECK_INT(room_desk_due_ms(scene.desk), start + ROOM_WAIT_MAX_MS);
    CHECK(call(&scene, "room_wait", "{\"seconds\":0}"));
    CHECK(has(answered(&scene), "\"messages\":[]"));
    scene_close(&scene);
}

TEST(a_desk_that_drains_lets_nobody_wait)
{
    struct scene scene;

    scene_open(&scene, "[\"chat\"]");
    hear(&scene, NULL, "ann", "chat", "{\"text\":\"before\"}");
    CHECK(call(&scene, "room_wait", NULL));
    CHECK(call(&scene, "room_chat", "{\"text\":\"hello\"}"));
    CHECK_STR(answered(&scene), S(""));
    room_desk_drain(scene.desk);
    CHECK(
        has(answered(&scene), "\"structuredContent\":{\"messages\":[],\"next\":\"1\"}"));
    CHECK_INT(room_desk_due_ms(scene.desk), UINT64_MAX);
    CHECK_STR(answered(&scene), S("")); /* what was said goes its way */
    room_desk_drain(NULL);
    scene_close(&scene);
}

TEST(what_is_said_to_one_alone_is_not_told_to_others)
{
    struct scene scene;
    struct room_news *others;

    scene_open(&scene, "[\"chat\"]");
    others = room_news_new(ROOM_OWN_NEWS, ROOM_OWN_NEWS_BYTES);
    CHECK(call(&scene, "room_wait", "{\"after\":\"0\"}"));
    hear(&scene, others, "ann", "chat", "{\"text\":\"not for you\"}");
    CHECK_STR(answered(&scene), S(""));
    hear(&scene, NULL, "ann", "chat", "{\"text\":\"for all\"}");
    CHECK(!has(answered(&scene), "not for you"));
    CHECK(call(&scene, "room_wait", "{\"after\":\"0\"}"));
    CHECK(!has(answered(&scene), "not for you"));
    room_news_free(others);
    scene_close(&scene);
}

TEST(what_is_addressed_is_not_for_all_and_what_is_for_all_comes_once)
{
    struct scene scene;
    static const struct str to = S("eve");
    struct heard heard = { .env = { .from = S("ann"), .kind = { .type = KIND_CHAT } } };

    scene_open(&scene, "[\"chat\"]");
    room_desk_hear(scene.desk, scene.own, &heard);
    heard.env.to = &to;
    heard.env.to_count = 1;
    room_desk_hear(scene.desk, NULL, &heard);
    CHECK(call(&scene, "room_wait", "{\"after\":\"0\",\"seconds\":0}"));
    CHECK(has(answered(&scene), "\"messages\":[]"));
    scene_close(&scene);
}

TEST(a_number_of_another_life_misses_nothing)
{
    struct scene scene;

    scene_open(&scene, "[\"chat\"]");
    hear(&scene, NULL, "ann", "chat", "{\"text\":\"one\"}");
    CHECK(call(&scene, "room_wait", "{\"after\":\"77\"}"));
    CHECK(has(answered(&scene), "\"one\""));
    CHECK(call(&scene, "room_wait", "{\"after\":\"nonsense\"}"));
    CHECK(has(answered(&scene), "\"one\""));
    CHECK(call(&scene, "room_wait", "{\"after\":\"1\"}"));
    CHECK_STR(answered(&scene), S(""));
    scene_close(&scene);
}

TEST(who_goes_is_not_answered)
{
    struct scene scene;

    scene_open(&scene, "[\"chat\"]");
    CHECK(call(&scene, "room_wait", NULL));
    CHECK(call(&scene, "room_chat", "{\"text\":\"hi\"}"));
    room_desk_cancel(scene.desk, "another");
    CHECK_INT(scene.dropped, 0);
    room_desk_leave(scene.desk, scene.fake.occupant);
    CHECK_INT(scene.dropped, 2);
    fake_judge(&scene.fake);
    hear(&scene, NULL, "ann", "chat", "{}");
    CHECK_STR(answered(&scene), S(""));
    CHECK(call(&scene, "room_wait", NULL));
    scene_close(&scene);
    CHECK_INT(scene.dropped, 3);
}

TEST(calls_that_wait_are_bounded)
{
    struct scene scene;

    scene_open(&scene, "[\"chat\"]");
    for (int i = 0; i < ROOM_CALLS; i++)
        CHECK(call(&scene, "room_wait", NULL));
    CHECK_STR(answered(&scene), S(""));
    CHECK(call(&scene, "room_wait", NULL));
    CHECK(has(answered(&scene), "Too many"));
    hear(&scene, NULL, "ann", "chat", "{}");
    CHECK(call(&scene, "room_wait", NULL));
    scene_close(&scene);
}

TEST(news_are_bounded_and_the_oldest_go)
{
    struct scene scene;
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, ROOM);
    scene_open(&scene, "[\"chat\"]");
    for (int i = 0; i < ROOM_NEWS + 2; i++) {
        buf_clear(&text);
        buf_putf(&text, "{\"text\":\"n%d.\"}", i);
        hear(&scene, NULL, "ann", "chat", buf_cstr(&text));
    }
    CHECK(call(&scene, "room_wait", "{\"after\":\"0\"}"));
    CHECK(!has(buf_str(&scene.answers), "n1."));
    CHECK(has(buf_str(&scene.answers), "n2."));
    (void)answered(&scene);
    buf_clear(&text);
    buf_put(&text, S("{\"text\":\""));
    for (int i = 0; i < ROOM_NEWS_PAYLOAD; i++)
        buf_putc(&text, 'x');
    buf_put(&text, S("\"}"));
    hear(&scene, scene.own, "ann", "chat", buf_cstr(&text));
    CHECK(call(&scene, "room_wait", "{\"after\":\"258\"}"));
    CHECK(has(answered(&scene), "\"kind\":\"chat\",\"payload_is_too_long\":true"));
    scene_close(&scene);
}
