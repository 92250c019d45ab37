/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "harness.h"
#include "mcpdoor/rename.h"

enum { ROOM = 1 << 16 };

CLEANUP_FOR(struct showcase, showcase_free)

static struct json_span object(const char *text)
{
    return (struct json_span){ .type = JSON_OBJECT, .text = str_of(text) };
}

TEST(what_a_request_is_about_is_read_and_replaced_in_its_place)
{
    static const struct {
        struct str method;
        const char *params;
        int type; /* -1: about nothing */
        const char *name, *after;
    } cases[] = {
        { S("tools/call"),
          "{\"x\":1e2, \"name\" : \"a.r\\u0065ad\",\"arguments\":{\"name\":1}}",
          OFFER_TOOL, "a.read",
          "{\"x\":1e2, \"name\" : \"k\\\"y\",\"arguments\":{\"name\":1}}" },
        { S("prompts/get"), "{\"name\":\"p\"}", OFFER_PROMPT, "p",
          "{\"name\":\"k\\\"y\"}" },
        { S("resources/read"), "{\"uri\":\"a+f:\",\"name\":\"no\"}", OFFER_RESOURCE,
          "a+f:", "{\"uri\":\"k\\\"y\",\"name\":\"no\"}" },
        { S("resources/subscribe"), "{\"uri\":\"u\"}", OFFER_RESOURCE, "u",
          "{\"uri\":\"k\\\"y\"}" },
        { S("resources/unsubscribe"), "{\"uri\":\"u\"}", OFFER_RESOURCE, "u",
          "{\"uri\":\"k\\\"y\"}" },
        { S("completion/complete"),
          "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},\"name\":2}", OFFER_PROMPT,
          "p", "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"k\\\"y\"},\"name\":2}" },
        { S("completion/complete"),
          "{\"ref\":{\"uri\":\"t:{x}\",\"type\":\"ref/resource\"}}", OFFER_RESOURCE,
          "t:{x}", "{\"ref\":{\"uri\":\"k\\\"y\",\"type\":\"ref/resource\"}}" },
        { S("completion/complete"), "{\"ref\":\"p\"}", -1, "", "{\"ref\":\"p\"}" },
        { S("tools/call"), "{\"name\":1}", -1, "", "{\"name\":1}" },
        { S("tools/call"), "{}", -1, "", "{}" },
        { S("ping"), "{\"name\":\"a\"}", -1, "", "{\"name\":\"a\"}" },
    };

    FOR_EACH_CASE(c, cases) {
        CLEANUP(arena_done) struct arena scratch;
        CLEANUP(buf_done) struct buf out;
        struct named named = {};
        bool is_named;

        arena_init(&scratch, ROOM);
        buf_init(&out, ROOM);
        is_named = rename_read(c->method, object(c->params), &scratch, &named);
        CHECK_INT(is_named, c->type >= 0);
        CHECK_INT(is_named ? (int)named.type : -1, c->type);
        CHECK_STR(named.name, str_of(c->name));
        CHECK_INT(rename_params(&out, c->method, object(c->params), S("k\"y")), OK);
        CHECK_STR(buf_str(&out), str_of(c->after));
    }
}

TEST(params_that_already_say_it_stay_byte_for_byte)
{
    CLEANUP(buf_done) struct buf out, small;

    buf_init(&out, ROOM);
    buf_init(&small, 8);
    CHECK_INT(
        rename_params(&out, S("tools/call"), object("{\"name\":\"\\u0061\"}"), S("a")),
        OK);
    CHECK_STR(buf_str(&out), S("{\"name\":\"\\u0061\"}"));
    CHECK_INT(rename_params(&out, S("tools/call"), (struct json_span){}, S("a")), OK);
    CHECK_INT(rename_params(&small, S("tools/call"), object("{\"name\":\"b\"}"), S("a")),
              ERR_TOO_BIG);
}

static struct showcase *two_with_the_same(void)
{
    struct showcase *s = showcase_new(false);

    showcase_begin(s, S("a"), OFFER_RESOURCE);
    CHECK_INT(showcase_add(s, S("[{\"uri\":\"f:1\"},{\"uri\":\"f:2\"}]")), OK);
    showcase_end(s);
    showcase_begin(s, S("b"), OFFER_RESOURCE);
    CHECK_INT(showcase_add(s, S("[{\"uri\":\"f:1\"}]")), OK);
    showcase_end(s);
    return s;
}

TEST(uris_in_what_an_owner_says_are_those_of_here)
{
    static const struct {
        struct str method;
        const char *before, *after;
    } cases[] = {
        { S("resources/read"),
          "{\"contents\":[ {\"text\":\"f:1\",\"uri\":\"f:\\u0031\", \"n\":1.0},{\"uri\":\"f:2\"},"
          "7,{\"uri\":\"f:1\"}],\"uri\":\"f:1\"}",
          "{\"contents\":[ {\"text\":\"f:1\",\"uri\":\"a+f:1\", \"n\":1.0},{\"uri\":\"f:2\"},"
          "7,{\"uri\":\"a+f:1\"}],\"uri\":\"f:1\"}" },
        { S("tools/call"),
          "{\"content\":[{\"type\":\"text\",\"text\":\"f:1\",\"uri\":\"f:1\"},"
          "{\"type\":\"resource_link\",\"uri\":\"f:1\"},"
          "{\"resource\":{\"uri\":\"f:1\",\"text\":\"\"},\"type\":\"resource\"},"
          "{\"type\":\"resource\",\"resource\":3},\"x\",{\"uri\":\"f:1\"}],\"isError\":false}",
          "{\"content\":[{\"type\":\"text\",\"text\":\"f:1\",\"uri\":\"f:1\"},"
          "{\"type\":\"resource_link\",\"uri\":\"a+f:1\"},"
          "{\"resource\":{\"uri\":\"a+f:1\",\"text\":\"\"},\"type\":\"resource\"},"
          "{\"type\":\"resource\",\"resource\":3},\"x\",{\"uri\":\"f:1\"}],\"isError\":false}" },
        { S("prompts/get"),
          "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"resource\",\"resource\":"
          "{\"uri\":\"f:1\"}}},{\"content\":[{\"type\":\"resource_link\",\"uri\":\"f:1\"}]},1,{}]}",
          "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"resource\",\"resource\":"
          "{\"uri\":\"a+f:1\"}}},{\"content\":[{\"type\":\"resource_link\",\"uri\":\"a+f:1\"}]},1,{}]}" },
        { S("notifications/resources/updated"), "{\"uri\":\"f:1\"}",
          "{\"uri\":\"a+f:1\"}" },
        { S("notifications/resources/updated"), "{\"uri\":\"f:2\"}",
          "{\"uri\":\"f:2\"}" },
        { S("notifications/resources/updated"), "{}", "{}" },
        { S("tools/call"), "{\"content\":{\"uri\":\"f:1\"}}",
          "{\"content\":{\"uri\":\"f:1\"}}" },
        { S("ping"), "{\"uri\":\"f:1\"}", "{\"uri\":\"f:1\"}" },
    };
    CLEANUP(showcase_freep) struct showcase *s = two_with_the_same();

    FOR_EACH_CASE(c, cases) {
        CLEANUP(buf_done) struct buf out;

        buf_init(&out, ROOM);
        CHECK_INT(rename_result(&out, s, S("a"), c->method, object(c->before)), OK);
        CHECK_STR(buf_str(&out), str_of(c->after));
        buf_clear(&out);
        CHECK_INT(rename_result(&out, s, S("stranger"), c->method, object(c->before)),
                  OK);
        CHECK_STR(buf_str(&out), str_of(c->before));
    }
}
