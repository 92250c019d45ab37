/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over what was scanned: less work, the same members. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "harness.h"
#include "json/scan.h"

/* Both find the same members in a copy of exactly that size. */
static void check_walk(struct str text)
{
    char *copy = xmalloc(text.len);
    struct json_scan strict, sure;
    struct json_member a, b;
    enum err err = OK, sure_err = OK;

    memcpy(copy, text.ptr, text.len);
    json_scan_init(&strict, (struct str){ copy, text.len }, JSON_MAX_DEPTH);
    json_walk_init(&sure, (struct json_span){ JSON_OBJECT, false, { copy, text.len } });
    CHECK_INT(json_object_begin(&strict), OK);
    CHECK_INT(json_object_begin(&sure), OK);
    while (json_object_next(&strict, &a, &err)) {
        CHECK(json_object_next(&sure, &b, &sure_err));
        CHECK(a.key.text.ptr == b.key.text.ptr && a.key.text.len == b.key.text.len);
        CHECK(a.value.text.ptr == b.value.text.ptr);
        CHECK_INT(b.value.text.len, a.value.text.len);
        CHECK_INT(b.value.type, a.value.type);
    }
    CHECK_INT(err, OK);
    CHECK(!json_object_next(&sure, &b, &sure_err));
    CHECK_INT(sure_err, OK);
    CHECK_INT(json_scan_end(&sure), OK);
    free(copy);
}

/* Every place that a quote, a backslash or a bracket can have among sixteen bytes. */
TEST(a_walk_finds_what_the_scan_found)
{
    static const struct str inner[] = {
        S("{}"),
        S("[]"),
        S("[[],{}]"),
        S("{\"a\":{\"b\":[1,\"]}\",{\"c\":null}]}}"),
        S("[\"\\\"]\",\"\\\\\",\"\\\\\\\"}\"]"),
        S("{\"\\\\\":\"{[\",\"]\":[\"\\u005d\"]}"),
        S("[\"\xe2\x82\xac]\",\"\xf0\x9f\x98\x80\",{\"\xc3\xa4\":[]}]"),
        S("[{\"x\":1.5e+3},[true,false,null],\"a longer text that fills more than one "
          "step\"]"),
    };

    FOR_EACH_CASE(value, inner)
        for (size_t pad = 0; pad < 34; pad++)
            for (size_t behind = 0; behind < 18; behind++) {
                struct buf text;

                buf_init(&text, 1000);
                buf_put(&text, S("{\"p\":["));
                for (size_t i = 0; i < pad; i++)
                    buf_putc(&text, ' ');
                buf_put(&text, *value);
                buf_put(&text, S("],\"q\":"));
                buf_put(&text, *value);
                for (size_t i = 0; i < behind; i++)
                    buf_putc(&text, ' ');
                buf_put(&text, S(",\"r\":0}"));
                check_walk(buf_str(&text));
                buf_done(&text);
            }
}

/* Nobody may do that; but it ends, inside the text. */
TEST(a_walk_over_what_is_no_json_fails)
{
    static const struct str cases[] = {
        S("{\"a\":{"),
        S("{\"a\":[\"]"),
        S("{\"a\":[1,2,3,4,5,6,7,8,9,10,11,12"),
        S("{\"a\":{\"b\":\"\\"),
        S("{\"a\":{\"b\":\"0123456789abcdef0123456789abcdef\\\"}"),
    };

    FOR_EACH_CASE(text, cases) {
        char *copy = xmalloc(text->len);
        struct json_scan walk;
        struct json_member m;
        enum err err;

        memcpy(copy, text->ptr, text->len);
        json_walk_init(&walk,
                       (struct json_span){ JSON_OBJECT, false, { copy, text->len } });
        CHECK_INT(json_object_begin(&walk), OK);
        CHECK(!json_object_next(&walk, &m, &err));
        CHECK_INT(err, ERR_INVALID);
        free(copy);
    }
}
