/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as users of the library read and write it. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "harness.h"
#include "moot.h"

static struct moot_str json_text(const char *text)
{
    return (struct moot_str){ text, strlen(text) };
}

static struct str str(struct moot_str text)
{
    return (struct str){ text.ptr, text.len };
}

/* The options are wrong, but it reads. */
static struct moot *reader(void)
{
    struct moot *m;

    CHECK_INT(moot_new(NULL, &m), MOOT_INVALID);
    return m;
}

TEST(a_value_is_what_it_is_and_nothing_else)
{
    static const struct {
        const char *json, *text;
        double number;
        bool is_number, is_true;
    } cases[] = {
        { "\"a\\n\\u00e4\"", "a\n\xc3\xa4", 0, false, false },
        { "\"\"", "", 0, false, false },
        { "\"1\"", "1", 0, false, false },
        { "-1.5e1", NULL, -15, true, false },
        { "1e999", NULL, 0, false, false },
        { "true", NULL, 0, false, true },
        { "false", NULL, 0, false, false },
        { "null", NULL, 0, false, false },
        { "[]", NULL, 0, false, false },
        { "{}", NULL, 0, false, false },
        { "\"a\\u0000b\\u0000\"",
          "a\xef\xbf\xbd"
          "b\xef\xbf\xbd",
          0, false, false },
    };
    struct moot *m = reader();

    FOR_EACH_CASE(c, cases) {
        const struct moot_json *json = moot_parse(m, json_text(c->json));
        double number = 0;

        CHECK(json != NULL);
        CHECK_INT(moot_text(json) != NULL, c->text != NULL);
        CHECK_STR(str_of(moot_text(json)), str_of(c->text));
        CHECK_INT(moot_number(json, &number), c->is_number);
        CHECK(number == c->number);
        CHECK_INT(moot_is_true(json), c->is_true);
        CHECK(moot_first(json) == NULL && moot_next(json) == NULL);
        CHECK_STR(str_of(moot_key(json)), S(""));
        CHECK_STR(str(moot_raw(json)), str_of(c->json));
    }
    moot_free(m);
}

/* U+FFFD takes more room than what it stands for. */
TEST(a_text_full_of_nuls_does_not_reach_into_the_next)
{
    struct moot *m = reader();
    const struct moot_json *json;
    struct buf text;

    buf_init(&text, 1000);
    buf_put(&text, S("[\""));
    for (int i = 0; i < 64; i++)
        buf_put(&text, S("\\u0000"));
    buf_put(&text, S("\",\"next\"]"));
    json = moot_first(moot_parse(m, json_text(buf_cstr(&text))));
    CHECK_INT(strlen(moot_text(json)), 64 * 3);
    CHECK_STR(str_of(moot_text(moot_next(json))), S("next"));
    buf_done(&text);
    moot_free(m);
}

TEST(members_and_items_are_found_and_walked)
{
    struct moot *m = reader();
    const struct moot_json *json =
        moot_parse(m, json_text("{\"a\":[1,{\"b\" : [ ]}],\"\\u0063\":\"x\",\"\":2}"));
    const struct moot_json *list = moot_get(json, "a");

    CHECK(moot_first(json) == list);
    CHECK_STR(str_of(moot_key(list)), S("a"));
    CHECK_STR(str(moot_raw(moot_first(list))), S("1"));
    CHECK_STR(str(moot_raw(moot_next(moot_first(list)))), S("{\"b\" : [ ]}"));
    CHECK_STR(str(moot_raw(moot_get(moot_next(moot_first(list)), "b"))), S("[ ]"));
    CHECK(moot_next(moot_next(moot_first(list))) == NULL);
    CHECK_STR(str_of(moot_text(moot_get(json, "c"))), S("x"));
    CHECK_STR(str(moot_raw(moot_get(json, ""))), S("2"));
    CHECK(moot_get(json, "d") == NULL && moot_get(list, "a") == NULL);
    CHECK(moot_get(json, NULL) == NULL);
    moot_free(m);
}

TEST(nothing_is_asked_of_nothing)
{
    double number = 7;

    CHECK(!moot_get(NULL, "a") && !moot_first(NULL) && !moot_next(NULL));
    CHECK(!moot_text(NULL) && !moot_number(NULL, &number) && !moot_is_true(NULL));
    CHECK(number == 7);
    CHECK_STR(str_of(moot_key(NULL)), S(""));
    CHECK_INT(moot_raw(NULL).len, 0);
}

TEST(what_is_no_json_is_refused_with_a_reason)
{
    static const char *const cases[] = {
        "", " ", "{", "[1,]", "{\"a\":1,\"a\":2}", "'x'", "1 2", "\"\xff\""
    };
    struct moot *m = reader();

    FOR_EACH_CASE(c, cases) {
        CHECK(moot_parse(m, json_text(*c)) == NULL);
        CHECK(strlen(moot_why(m)) > 0);
        CHECK(!strstr(moot_why(m), "url"));
    }
    CHECK(moot_parse(m, (struct moot_str){ NULL, 0 }) == NULL);
    CHECK(moot_payload(m, NULL) == NULL);
    moot_free(m);
}

TEST(the_text_that_was_parsed_may_go)
{
    struct moot *m = reader();
    char *text = strdup("{\"a\":\"b\"}");
    const struct moot_json *json = moot_parse(m, json_text(text));

    memset(text, 'x', strlen(text));
    free(text);
    CHECK_STR(str(moot_raw(json)), S("{\"a\":\"b\"}"));
    CHECK_STR(str_of(moot_text(moot_get(json, "a"))), S("b"));
    moot_free(m);
}

TEST(json_as_large_as_an_envelope_is_read_and_more_is_refused)
{
    enum { ONES = 1 << 19 };
    struct moot *m = reader();
    char *text = malloc(ONES * 2 + 1);
    const struct moot_json *json;
    size_t count = 0;

    for (size_t i = 0; i < ONES; i++)
        memcpy(text + i * 2, i ? ",1" : "[1", 2);
    text[ONES * 2] = ']';
    json = moot_parse(m, (struct moot_str){ text, ONES * 2 + 1 });
    for (const struct moot_json *at = moot_first(json); at; at = moot_next(at))
        count++;
    CHECK_INT(count, ONES);
    /* What was given before is kept until the next step: at some time it is enough. */
    for (int i = 0; json && i < 10; i++)
        json = moot_parse(m, (struct moot_str){ text, ONES * 2 + 1 });
    CHECK(json == NULL);
    CHECK_STR(str_of(moot_why(m)), S("too large"));
    free(text);
    moot_free(m);
}

TEST(a_text_is_quoted_as_far_as_it_fits)
{
    static const struct {
        const char *text;
        size_t size;
        const char *out;
        size_t needs;
    } cases[] = {
        { "a", 10, "\"a\"", 3 },
        { "a\"\n\x01\\", 20, "\"a\\\"\\n\\u0001\\\\\"", 15 },
        { "", 3, "\"\"", 2 },
        { NULL, 3, "\"\"", 2 },
        { "abc", 4, "\"ab", 5 },
        { "abc", 1, "", 5 },
        { "\xff", 10, "\"\xef\xbf\xbd\"", 5 },
    };

    FOR_EACH_CASE(c, cases) {
        char out[32];

        memset(out, '#', sizeof(out));
        CHECK_INT(moot_quote(c->text, out, c->size), c->needs);
        CHECK_STR(str_of(out), str_of(c->out));
        CHECK(out[c->size] == '#');
    }
    CHECK_INT(moot_quote("abc", NULL, 0), 5);
}
