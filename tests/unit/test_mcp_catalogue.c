/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "harness.h"
#include "mcp/catalogue.h"

enum { ROOM = 1 << 20 };

static int dropped;

static void count_drop(void *user)
{
    dropped += user != NULL;
}

static struct catalogue *make(size_t max_items, size_t max_bytes)
{
    return catalogue_new(&(struct catalogue_settings){
        .name = S("calc"),
        .version = S("1.2"),
        .max_items = max_items,
        .max_bytes = max_bytes,
        .drop = count_drop,
    });
}

static enum err add(struct catalogue *c, enum offer_type type, struct str key, void *user)
{
    const char *why;

    return catalogue_add(c, &(struct offer){ .type = type, .key = key }, user, &why);
}

/* What is answered to a request, as JSON; "" where it is not, and then *ret_item. */
struct asked {
    struct arena arena;
    struct rpc_reply reply;
    const struct catalogue_item *item;
    enum catalogue_verdict verdict;
};

static struct str ask_page(struct asked *a, const struct catalogue *c, struct str method,
                           struct str params, size_t page_bytes)
{
    struct rpc_request request;
    struct buf payload;
    const char *what;

    arena_reset(&a->arena);
    buf_clear(&a->reply.json);
    a->reply.is_error = false;
    a->item = NULL;
    buf_init(&payload, 10000);
    buf_putf(&payload,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" STR_FMT
             "\",\"params\":" STR_FMT "}",
             STR_ARG(method), STR_ARG(params));
    CHECK_INT(
        rpc_read(arena_str(&a->arena, buf_str(&payload)), &a->arena, &request, &what),
        OK);
    buf_done(&payload);
    a->verdict = catalogue_ask(c, &request, page_bytes, &a->arena, &a->reply, &a->item);
    return buf_str(&a->reply.json);
}

static struct str ask(struct asked *a, const struct catalogue *c, struct str method,
                      struct str params)
{
    return ask_page(a, c, method, params, ROOM);
}

static void asked_init(struct asked *a)
{
    *a = (struct asked){};
    arena_init(&a->arena, ROOM);
    buf_init(&a->reply.json, ROOM);
}

static void asked_done(struct asked *a)
{
    arena_done(&a->arena);
    buf_done(&a->reply.json);
}

TEST(the_version_asked_for_is_agreed_on_if_it_is_known)
{
    static const struct {
        const char *asked, *agreed;
    } cases[] = {
        { "2025-11-25", "2025-11-25" }, { "2025-06-18", "2025-06-18" },
        { "2025-03-26", "2025-03-26" }, { "2024-11-05", "2024-11-05" },
        { "2026-07-28", "2025-11-25" }, { "1999-01-01", "2025-11-25" },
        { "", "2025-11-25" },
    };
    struct catalogue *c = make(10, ROOM);
    struct asked a;

    asked_init(&a);
    FOR_EACH_CASE(c_, cases) {
        char params[100], want[300];

        (void)snprintf(params, sizeof(params), "{\"protocolVersion\":\"%s\"}", c_->asked);
        (void)snprintf(want, sizeof(want),
                       "{\"protocolVersion\":\"%s\",\"capabilities\":{},"
                       "\"serverInfo\":{\"name\":\"calc\",\"version\":\"1.2\"}}",
                       c_->agreed);
        CHECK_STR(ask(&a, c, S("initialize"), str_of(params)), str_of(want));
        CHECK_INT(a.verdict, CATALOGUE_ANSWERED);
    }
    CHECK_STR(ask(&a, c, S("initialize"), S("{\"protocolVersion\":1}")),
              S("{\"code\":-32602,\"message\":\"protocolVersion is missing\"}"));
    CHECK(a.reply.is_error);
    asked_done(&a);
    catalogue_free(c);
}

TEST(what_was_ever_offered_is_announced)
{
    struct catalogue *c = make(10, ROOM);
    struct asked a;

    asked_init(&a);
    CHECK_STR(ask(&a, c, S("ping"), S("{}")), S("{}"));
    CHECK_INT(add(c, OFFER_TOOL, S("t"), NULL), OK);
    CHECK_INT(add(c, OFFER_TEMPLATE, S("x:{t}"), NULL), OK);
    CHECK_INT(catalogue_remove(c, OFFER_TOOL, S("t")), OK);
    CHECK_STR(ask(&a, c, S("server/discover"), S("{}")),
              S("{\"supportedVersions\":[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\","
                "\"2025-03-26\",\"2024-11-05\"],\"capabilities\":{"
                "\"tools\":{\"listChanged\":true},\"resources\":{\"listChanged\":true}},"
                "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":"
                "{\"name\":\"calc\",\"version\":\"1.2\"}}}"));
    CHECK_INT(add(c, OFFER_PROMPT, S("p"), NULL), OK);
    (void)ask(&a, c, S("server/discover"), S("{}"));
    CHECK(strstr(buf_cstr(&a.reply.json), "\"prompts\":{\"listChanged\":true}"));
    asked_done(&a);
    catalogue_free(c);
}

#define CLAIM(version) \
    S("{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version "\"}}")

TEST(a_claimed_revision_decides_which_methods_there_are)
{
    static const struct {
        struct str method, params;
        long code; /* 0: answered */
    } cases[] = {
        { S("tools/list"), CLAIM("2026-07-28"), 0 },
        { S("tools/list"), CLAIM("2025-11-25"), 0 },
        { S("tools/list"), CLAIM("2027-01-01"), -32022 },
        { S("tools/call"), CLAIM("2027-01-01"), -32022 },
        { S("server/discover"), CLAIM("2026-07-28"), 0 },
        { S("ping"), CLAIM("2026-07-28"), -32601 },
        { S("initialize"), CLAIM("2026-07-28"), -32601 },
        { S("ping"), CLAIM("2025-06-18"), 0 },
    };
    struct catalogue *c = make(10, ROOM);
    struct asked a;

    asked_init(&a);
    FOR_EACH_CASE(c_, cases) {
        struct str json = ask(&a, c, c_->method, c_->params);
        char code[32];

        (void)snprintf(code, sizeof(code), "{\"code\":%ld,", c_->code);
        CHECK_INT(a.reply.is_error, c_->code != 0);
        CHECK_INT(a.verdict, CATALOGUE_ANSWERED);
        CHECK_INT(str_starts(json, str_of(code)), c_->code != 0);
    }
    CHECK_STR(ask(&a, c, S("tools/list"), CLAIM("x")),
              S("{\"code\":-32022,\"message\":\"unsupported protocol version\",\"data\":"
                "{\"supported\":[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\","
                "\"2025-03-26\",\"2024-11-05\"],\"requested\":\"x\"}}"));
    (void)ask(&a, c, S("own/method"), CLAIM("x"));
    CHECK_INT(a.verdict, CATALOGUE_OTHER);
    asked_done(&a);
    catalogue_free(c);
}

TEST(lists_hold_what_was_offered_in_that_order)
{
    struct catalogue *c = make(10, ROOM);
    struct asked a;
    const char *why;

    asked_init(&a);
    CHECK_STR(ask(&a, c, S("tools/list"), S("{}")), S("{\"tools\":[]}"));
    CHECK_INT(add(c, OFFER_RESOURCE, S("x:b"), NULL), OK);
    CHECK_INT(add(c, OFFER_RESOURCE, S("x:a"), NULL), OK);
    CHECK_INT(add(c, OFFER_RESOURCE, S("x:c"), NULL), OK);
    CHECK_INT(add(c, OFFER_TEMPLATE, S("x:{t}"), NULL), OK);
    CHECK_INT(add(c, OFFER_PROMPT, S("p"), NULL), OK);
    /* What is replaced keeps its place. */
    CHECK_INT(
        catalogue_add(
            c,
            &(struct offer){ .type = OFFER_RESOURCE, .key = S("x:b"), .name = S("new") },
            NULL, &why),
        OK);
    CHECK_STR(
        ask(&a, c, S("resources/list"), S("{}")),
        S("{\"resources\":[{\"uri\":\"x:b\",\"name\":\"new\"},"
          "{\"uri\":\"x:a\",\"name\":\"x:a\"},{\"uri\":\"x:c\",\"name\":\"x:c\"}]}"));
    CHECK_STR(
        ask(&a, c, S("resources/templates/list"), S("{}")),
        S("{\"resourceTemplates\":[{\"uriTemplate\":\"x:{t}\",\"name\":\"x:{t}\"}]}"));
    CHECK_STR(ask(&a, c, S("prompts/list"), S("{}")),
              S("{\"prompts\":[{\"name\":\"p\"}]}"));
    CHECK_INT(catalogue_count(c, OFFER_RESOURCE), 3);
    asked_done(&a);
    catalogue_free(c);
}

/* The keys on a page, joined by blanks, and its cursor. */
static struct str page(struct asked *a, struct catalogue *c, const char *cursor,
                       struct buf *keys, struct str *ret_cursor)
{
    const struct json *root, *next;
    char params[100] = "{}";

    if (cursor)
        (void)snprintf(params, sizeof(params), "{\"cursor\":\"%s\"}", cursor);
    (void)ask_page(a, c, S("resources/list"), str_of(params), 80);
    CHECK_INT(json_parse(buf_str(&a->reply.json), &a->arena, &root, NULL), OK);
    buf_clear(keys);
    JSON_FOREACH(item, json_find(root, S("resources")))
        buf_putf(keys, STR_FMT " ", STR_ARG(json_find(item, S("uri"))->text));
    next = json_find(root, S("nextCursor"));
    *ret_cursor = next ? next->text : (struct str){};
    return buf_str(keys);
}

TEST(a_list_is_read_in_pages_whatever_changes_meanwhile)
{
    struct catalogue *c = make(10, ROOM);
    struct str next;
    struct asked a;
    struct buf keys;
    char cursor[32];

    asked_init(&a);
    buf_init(&keys, 1000);
    for (char key[] = "x:a"; key[2] <= 'e'; key[2]++)
        CHECK_INT(add(c, OFFER_RESOURCE, str_of(key), NULL), OK);
    CHECK_STR(page(&a, c, NULL, &keys, &next), S("x:a x:b "));
    (void)snprintf(cursor, sizeof(cursor), STR_FMT, STR_ARG(next));
    /* The one that the cursor stands on goes, and one behind it; another comes. */
    CHECK_INT(catalogue_remove(c, OFFER_RESOURCE, S("x:b")), OK);
    CHECK_INT(catalogue_remove(c, OFFER_RESOURCE, S("x:d")), OK);
    CHECK_INT(add(c, OFFER_RESOURCE, S("x:f"), NULL), OK);
    CHECK_STR(page(&a, c, cursor, &keys, &next), S("x:c x:e "));
    (void)snprintf(cursor, sizeof(cursor), STR_FMT, STR_ARG(next));
    CHECK_STR(page(&a, c, cursor, &keys, &next), S("x:f "));
    CHECK(next.ptr == NULL);
    buf_done(&keys);
    asked_done(&a);
    catalogue_free(c);
}

TEST(a_cursor_of_somebody_else_is_refused)
{
    static const struct str cases[] = {
        S("{\"cursor\":\"\"}"),   S("{\"cursor\":\"x\"}"), S("{\"cursor\":\"2\"}"),
        S("{\"cursor\":\"-1\"}"), S("{\"cursor\":1}"),     S("{\"cursor\":null}"),
    };
    struct catalogue *c = make(10, ROOM);
    struct asked a;

    asked_init(&a);
    CHECK_INT(add(c, OFFER_TOOL, S("t"), NULL), OK);
    FOR_EACH_CASE(c_, cases)
        CHECK_STR(ask(&a, c, S("tools/list"), *c_),
                  S("{\"code\":-32602,\"message\":\"the cursor is none of ours\"}"));
    CHECK_STR(ask(&a, c, S("tools/list"), S("{\"cursor\":\"1\"}")), S("{\"tools\":[]}"));
    asked_done(&a);
    catalogue_free(c);
}

TEST(a_call_finds_what_it_names)
{
    static const struct {
        struct str method, params, found, error;
    } cases[] = {
        { S("tools/call"), S("{\"name\":\"t\"}"), S("t"), S("") },
        { S("tools/call"), S("{\"name\":\"t\",\"arguments\":{\"a\":1}}"), S("t"), S("") },
        { S("tools/call"), S("{\"name\":\"t\",\"arguments\":[]}"), S(""),
          S("{\"code\":-32602,\"message\":\"arguments are not an object\"}") },
        { S("tools/call"), S("{\"name\":\"t\",\"arguments\":null}"), S(""),
          S("{\"code\":-32602,\"message\":\"arguments are not an object\"}") },
        { S("tools/call"), S("{}"), S(""),
          S("{\"code\":-32602,\"message\":\"params do not name what is meant\"}") },
        { S("tools/call"), S("{\"name\":7}"), S(""),
          S("{\"code\":-32602,\"message\":\"params do not name what is meant\"}") },
        { S("tools/call"), S("{\"name\":\"p\"}"), S(""),
          S("{\"code\":-32602,\"message\":\"there is no such thing here\","
            "\"data\":{\"name\":\"p\"}}") },
        { S("tools/call"), S("{\"name\":\"t\\u0000\"}"), S(""),
          S("{\"code\":-32602,\"message\":\"there is no such thing here\","
            "\"data\":{\"name\":\"t\\u0000\"}}") },
        { S("prompts/get"), S("{\"name\":\"p\"}"), S("p"), S("") },
        { S("prompts/get"), S("{\"name\":\"t\"}"), S(""),
          S("{\"code\":-32602,\"message\":\"there is no such thing here\","
            "\"data\":{\"name\":\"t\"}}") },
        { S("resources/read"), S("{\"uri\":\"x:a\"}"), S("x:a"), S("") },
        { S("resources/read"), S("{\"uri\":\"x:b\"}"), S("x:{v}"), S("") },
        { S("resources/read"), S("{\"uri\":\"x:{v}\"}"), S(""),
          S("{\"code\":-32602,\"message\":\"there is no such thing here\","
            "\"data\":{\"uri\":\"x:{v}\"}}") },
        { S("resources/read"), S("{\"name\":\"x:a\"}"), S(""),
          S("{\"code\":-32602,\"message\":\"params do not name what is meant\"}") },
    };
    struct catalogue *c = make(10, ROOM);
    struct asked a;

    asked_init(&a);
    CHECK_INT(add(c, OFFER_TOOL, S("t"), NULL), OK);
    CHECK_INT(add(c, OFFER_PROMPT, S("p"), NULL), OK);
    CHECK_INT(add(c, OFFER_TEMPLATE, S("x:{v}"), NULL), OK);
    CHECK_INT(add(c, OFFER_TEMPLATE, S("x:{w}"), NULL), OK);
    CHECK_INT(add(c, OFFER_RESOURCE, S("x:a"), NULL), OK);
    FOR_EACH_CASE(c_, cases) {
        CHECK_STR(ask(&a, c, c_->method, c_->params), c_->error);
        CHECK_INT(a.verdict, c_->found.len ? CATALOGUE_FOUND : CATALOGUE_ANSWERED);
        CHECK_STR(a.item ? a.item->key : S(""), c_->found);
    }
    (void)ask(&a, c, S("completion/complete"), S("{}"));
    CHECK_INT(a.verdict, CATALOGUE_OTHER);
    asked_done(&a);
    catalogue_free(c);
}

TEST(a_prompt_gets_the_arguments_it_requires)
{
    static const struct {
        struct str params;
        bool is_fine;
    } cases[] = {
        { S("{\"name\":\"p\",\"arguments\":{\"a\":\"1\"}}"), true },
        { S("{\"name\":\"p\",\"arguments\":{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}}"),
          true },
        { S("{\"name\":\"p\"}"), false },
        { S("{\"name\":\"p\",\"arguments\":{\"b\":\"1\"}}"), false },
        { S("{\"name\":\"p\",\"arguments\":{\"a\":1}}"), false },
        { S("{\"name\":\"p\",\"arguments\":{\"a\":\"1\",\"b\":null}}"), false },
    };
    struct catalogue *c = make(10, ROOM);
    struct asked a;
    const char *why;

    asked_init(&a);
    CHECK_INT(catalogue_add(c,
                            &(struct offer){
                                .type = OFFER_PROMPT,
                                .key = S("p"),
                                .arguments = S("[{\"name\":\"a\",\"required\":true},"
                                               "{\"name\":\"b\",\"required\":false}]") },
                            NULL, &why),
              OK);
    FOR_EACH_CASE(c_, cases) {
        (void)ask(&a, c, S("prompts/get"), c_->params);
        CHECK_INT(a.verdict, c_->is_fine ? CATALOGUE_FOUND : CATALOGUE_ANSWERED);
        CHECK_INT(a.reply.is_error, !c_->is_fine);
        CHECK_INT(a.item != NULL, c_->is_fine);
    }
    asked_done(&a);
    catalogue_free(c);
}

TEST(a_catalogue_has_bounds_and_drops_what_goes)
{
    struct catalogue *c = make(2, 200);
    static char wide[300];
    const char *why;

    dropped = 0;
    CHECK_INT(add(c, OFFER_TOOL, S("a"), wide), OK);
    CHECK_INT(add(c, OFFER_TOOL, S("b b"), wide), ERR_INVALID);
    CHECK_INT(add(c, OFFER_PROMPT, S("a"), wide), OK);
    CHECK_INT(add(c, OFFER_TOOL, S("c"), wide), ERR_OVERLOAD);
    CHECK_INT(dropped, 0);
    CHECK_INT(add(c, OFFER_TOOL, S("a"), wide + 1), OK); /* takes the place of one */
    CHECK_INT(dropped, 1);
    CHECK(catalogue_find(c, OFFER_TOOL, S("a"))->user == wide + 1);
    CHECK_INT(catalogue_remove(c, OFFER_TOOL, S("a")), OK);
    CHECK_INT(catalogue_remove(c, OFFER_TOOL, S("a")), ERR_NOT_FOUND);
    CHECK_INT(dropped, 2);
    memset(wide, 'w', sizeof(wide));
    CHECK_INT(catalogue_add(c,
                            &(struct offer){ .type = OFFER_TOOL,
                                             .key = S("d"),
                                             .description = { wide, sizeof(wide) } },
                            NULL, &why),
              ERR_OVERLOAD);
    for (int i = 0; i < 10; i++) /* what is gone takes no room */
        CHECK_INT(add(c, OFFER_TOOL, S("d"), NULL), OK);
    CHECK_INT(add(c, OFFER_TOOL, S("d"), wide), OK);
    catalogue_free(c);
    CHECK_INT(dropped, 4);
    catalogue_free(NULL);
}

TEST(one_description_has_a_bound_of_its_own)
{
    struct catalogue *c = make(2, 1 << 30);
    char *wide = calloc(1, OFFER_MAX_BYTES);
    const char *why;

    memset(wide, 'w', OFFER_MAX_BYTES);
    CHECK_INT(catalogue_add(c,
                            &(struct offer){ .type = OFFER_TOOL,
                                             .key = S("d"),
                                             .description = { wide, OFFER_MAX_BYTES } },
                            NULL, &why),
              ERR_TOO_BIG);
    free(wide);
    catalogue_free(c);
}
