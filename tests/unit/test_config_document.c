/* SPDX-License-Identifier: Apache-2.0 */
#include "config/document.h"
#include "harness.h"

TEST(a_document_is_json_whose_places_are_known)
{
    static const struct str text = S("a: 1\nb:\n  - x: \"1\"\n    y: [~, no, {}]\n");
    static const struct {
        struct str at; /* the JSON from here on */
        uint32_t line, column;
    } cases[] = {
        { S("{\"a\""), 1, 1 },  { S("\"a\""), 1, 1 }, { S("1,"), 1, 4 },
        { S("\"b\""), 2, 1 },   { S("[{"), 3, 3 },    { S("{\"x\""), 3, 5 },
        { S("\"1\""), 3, 8 },   { S("\"y\""), 4, 5 }, { S("[null"), 4, 8 },
        { S("\"no\""), 4, 12 }, { S("{}]"), 4, 16 },
    };
    struct config_problem problem = {};
    struct config_document d = {};

    CHECK_INT(config_document_read(text, "x.yaml", &d, &problem), OK);
    CHECK_STR(buf_str(&d.json),
              S("{\"a\":1,\"b\":[{\"x\":\"1\",\"y\":[null,\"no\",{}]}]}"));
    FOR_EACH_CASE(c, cases) {
        const char *at = memmem(d.json.ptr, d.json.len, c->at.ptr, c->at.len);
        struct config_mark mark;

        CHECK(at != NULL);
        mark = config_document_mark(&d, at ? (size_t)(at - d.json.ptr) : 0);
        CHECK_INT(mark.line, c->line);
        CHECK_INT(mark.column, c->column);
    }
    config_document_done(&d);
}

TEST(what_settings_refuse_a_document_refuses)
{
    static const struct str cases[] = { S("a: 1\na: 2\n"), S("a: &x 1\n"), S("a: !t 1\n"),
                                        S("a: \"\\x07\"\n"), S("a: [\n") };

    FOR_EACH_CASE(c, cases) {
        struct config_problem problem = {};
        struct config_document d = {};

        CHECK_INT(config_document_read(*c, "x.yaml", &d, &problem), ERR_INVALID);
        CHECK_STR(str_of(problem.file), S("x.yaml"));
        CHECK(problem.mark.line > 0);
    }
}
