/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "harness.h"
#include "mcp/offer.h"

static enum err write_offer(const struct offer *offer, struct buf *out,
                            const char **ret_why)
{
    CLEANUP(arena_done) struct arena scratch;

    arena_init(&scratch, 1 << 20);
    buf_clear(out);
    *ret_why = "";
    return offer_write(offer, &scratch, out, ret_why);
}

TEST(an_offer_is_written_as_it_stands_in_lists)
{
    static const struct {
        struct offer offer;
        struct str json;
    } cases[] = {
        { { .type = OFFER_TOOL, .key = S("add") },
          S("{\"name\":\"add\",\"inputSchema\":{\"type\":\"object\"}}") },
        { { .type = OFFER_TOOL,
            .key = S("a/b-c_d.e"),
            .title = S("T\""),
            .description = S("D"),
            .mime_type = S("no/no"),
            .input_schema = S("{\"type\":\"object\",\"x\":1}"),
            .output_schema = S("{\"type\":\"object\"}"),
            .annotations = S("{\"readOnlyHint\":true}") },
          S("{\"name\":\"a/b-c_d.e\",\"title\":\"T\\\"\",\"description\":\"D\","
            "\"inputSchema\":{\"type\":\"object\",\"x\":1},"
            "\"outputSchema\":{\"type\":\"object\"},"
            "\"annotations\":{\"readOnlyHint\":true}}") },
        { { .type = OFFER_RESOURCE, .key = S("x:y") },
          S("{\"uri\":\"x:y\",\"name\":\"x:y\"}") },
        { { .type = OFFER_RESOURCE,
            .key = S("x:y"),
            .name = S("N"),
            .mime_type = S("text/plain") },
          S("{\"uri\":\"x:y\",\"name\":\"N\",\"mimeType\":\"text/plain\"}") },
        { { .type = OFFER_TEMPLATE, .key = S("x:{y}"), .name = S("N") },
          S("{\"uriTemplate\":\"x:{y}\",\"name\":\"N\"}") },
        { { .type = OFFER_PROMPT, .key = S("Code review") },
          S("{\"name\":\"Code review\"}") },
        { { .type = OFFER_PROMPT,
            .key = S("p"),
            .arguments = S("[{\"name\":\"a\",\"required\":true}]") },
          S("{\"name\":\"p\",\"arguments\":[{\"name\":\"a\",\"required\":true}]}") },
    };
    struct buf out;
    const char *why;

    buf_init(&out, 10000);
    FOR_EACH_CASE(c, cases) {
        CHECK_INT(write_offer(&c->offer, &out, &why), OK);
        CHECK_STR(buf_str(&out), c->json);
    }
    buf_done(&out);
}

TEST(what_cannot_be_offered_is_refused_with_a_reason)
{
    static const struct {
        struct offer offer;
        const char *why;
    } cases[] = {
        { { .type = OFFER_TOOL }, "the name of a tool has 1 to 128 characters" },
        { { .type = OFFER_TOOL, .key = S("a b") },
          "the name of a tool is made of letters, digits, _ - . and /" },
        { { .type = OFFER_TOOL, .key = S("a\0b") },
          "the name of a tool is made of letters, digits, _ - . and /" },
        { { .type = OFFER_TOOL, .key = S("a"), .input_schema = S("[]") },
          "the input schema is not a JSON object" },
        { { .type = OFFER_TOOL, .key = S("a"), .input_schema = S("{\"a\":1,\"a\":2}") },
          "the input schema is not a JSON object" },
        { { .type = OFFER_TOOL, .key = S("a"), .input_schema = S("{}") },
          "the input schema has no \"type\": \"object\"" },
        { { .type = OFFER_TOOL,
            .key = S("a"),
            .input_schema = S("{\"type\":[\"object\"]}") },
          "the input schema has no \"type\": \"object\"" },
        { { .type = OFFER_TOOL, .key = S("a"), .output_schema = S("true") },
          "the output schema is not a JSON object" },
        { { .type = OFFER_TOOL, .key = S("a"), .annotations = S("{") },
          "the annotations are not a JSON object" },
        { { .type = OFFER_TOOL, .key = S("a"), .title = S("\xff") },
          "a title, description, name or type is not UTF-8" },
        { { .type = OFFER_PROMPT, .key = S("a"), .description = S("\xc3") },
          "a title, description, name or type is not UTF-8" },
        { { .type = OFFER_RESOURCE, .key = S("x:a"), .name = S("\xff") },
          "a title, description, name or type is not UTF-8" },
        { { .type = OFFER_TOOL, .key = S("a"), .annotations = S("{\"a\":\"\xff\"}") },
          "the annotations are not a JSON object" },
        { { .type = OFFER_RESOURCE }, "a URI has 1 to 1024 characters" },
        { { .type = OFFER_RESOURCE, .key = S("logs") },
          "a URI begins with a scheme and a colon" },
        { { .type = OFFER_RESOURCE, .key = S(":x") },
          "a URI begins with a scheme and a colon" },
        { { .type = OFFER_RESOURCE, .key = S("1:x") },
          "a URI begins with a scheme and a colon" },
        { { .type = OFFER_RESOURCE, .key = S("x:a b") },
          "there is a character in the URI that none can hold" },
        { { .type = OFFER_RESOURCE, .key = S("x:\xc3\xa4") },
          "there is a character in the URI that none can hold" },
        { { .type = OFFER_TEMPLATE, .key = S("x:{+a}") },
          "between { and } stands one name of letters, digits, _ and ." },
        { { .type = OFFER_TEMPLATE, .key = S("{a}") },
          "a URI begins with a scheme and a colon" },
        { { .type = OFFER_PROMPT }, "the name of a prompt has 1 to 128 bytes" },
        { { .type = OFFER_PROMPT, .key = S("a\nb") },
          "the name of a prompt is text without control characters" },
        { { .type = OFFER_PROMPT, .key = S("\xff") },
          "the name of a prompt is text without control characters" },
        { { .type = OFFER_PROMPT, .key = S("p"), .arguments = S("{}") },
          "the arguments are not a JSON array" },
        { { .type = OFFER_PROMPT, .key = S("p"), .arguments = S("[{\"name\":1}]") },
          "each argument of a prompt is an object with a name" },
    };
    struct buf out;
    const char *why;

    buf_init(&out, 10000);
    FOR_EACH_CASE(c, cases) {
        CHECK_INT(write_offer(&c->offer, &out, &why), ERR_INVALID);
        CHECK_STR(str_of(why), str_of(c->why));
    }
    buf_done(&out);
}

TEST(an_offer_has_bounds)
{
    char name[200];
    struct offer tool = { .type = OFFER_TOOL, .key = { name, 128 } };
    struct buf out;
    const char *why;

    memset(name, 'n', sizeof(name));
    buf_init(&out, 1000);
    CHECK_INT(write_offer(&tool, &out, &why), OK);
    tool.key.len = 129;
    CHECK_INT(write_offer(&tool, &out, &why), ERR_INVALID);
    tool.key.len = 1;
    buf_done(&out);
    buf_init(&out, 100);
    tool.description = (struct str){ name, 100 };
    CHECK_INT(write_offer(&tool, &out, &why), ERR_TOO_BIG);
    buf_done(&out);
}
