/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "cli/form.h"
#include "cli/page.h"
#include "harness.h"

/* clang-format off */
static const char schema[] =
    "{\"type\":\"object\",\"required\":[\"t\"],\"properties\":{"
    "\"t\":{\"type\":\"string\",\"minLength\":2,\"maxLength\":3,\"default\":5},"
    "\"mail\":{\"type\":\"string\",\"format\":\"email\"},"
    "\"uri\":{\"type\":\"string\",\"format\":\"uri\"},"
    "\"day\":{\"type\":\"string\",\"format\":\"date\"},"
    "\"time\":{\"type\":\"string\",\"format\":\"date-time\"},"
    "\"n\":{\"type\":\"number\",\"minimum\":-1.5,\"default\":3},"
    "\"i\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":5},"
    "\"b\":{\"type\":\"boolean\",\"default\":false},"
    "\"one\":{\"type\":\"string\",\"enum\":[\"2\",\"1\",\"x\"],\"enumNames\":[\"Two\",\"One\"],\"default\":\"y\"},"
    "\"some\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":2,\"items\":{\"anyOf\":["
    "{\"const\":\"a\",\"title\":\"Ah\"},{\"const\":\"b\",\"title\":\"Be\"},{\"const\":\"c\"}]},\"default\":[\"b\"]}}}";

static const struct {
    const char *field, *line, *json; /* NULL: it is none */
    const char *kind;                /* or why not */
} lines[] = {
    { "t", "ab", "\"ab\"", "text, 2 to 3 characters" },
    { "t", "äöü", "\"äöü\"", "text, 2 to 3 characters" },
    { "t", "a", NULL, "it must be at least 2 characters; it has 1" },
    { "t", "abcd", NULL, "it must be at most 3 characters; it has 4" },
    { "t", "\"\"", NULL, "it must be at least 2 characters; it has 0" },
    { "t", "\xff\xff", NULL, "it is no text in UTF-8" },
    { "mail", "a@b", "\"a@b\"", "an e-mail address" },
    { "mail", "a@b@c", NULL, "it must be an e-mail address" },
    { "mail", "@b", NULL, "it must be an e-mail address" },
    { "uri", "urn:x", "\"urn:x\"", "a URI, such as https://example.com/" },
    { "uri", "x y:z", NULL, "it must be a URI, such as https://example.com/" },
    { "uri", "1:z", NULL, "it must be a URI, such as https://example.com/" },
    { "day", "1900-02-28", "\"1900-02-28\"", "a date, YYYY-MM-DD" },
    { "day", "1900-02-29", NULL, "it must be a date, YYYY-MM-DD" },
    { "day", "2000-02-29", "\"2000-02-29\"", "a date, YYYY-MM-DD" },
    { "day", "2000-13-01", NULL, "it must be a date, YYYY-MM-DD" },
    { "day", "2000-00-01", NULL, "it must be a date, YYYY-MM-DD" },
    { "time", "1960-01-01T10:00:00Z", "\"1960-01-01T10:00:00Z\"", "a date and time, YYYY-MM-DDThh:mm:ssZ" },
    { "time", "1960-01-01T25:00:00Z", NULL, "it must be a date and time, YYYY-MM-DDThh:mm:ssZ" },
    { "time", "1960-01-01", NULL, "it must be a date and time, YYYY-MM-DDThh:mm:ssZ" },
    { "n", " 2.50 ", "2.50", "a number, at least -1.5" },
    { "n", "-2", NULL, "it must be at least -1.5" },
    { "n", "0x1", NULL, "it must be a number, such as 3 or -2.5" },
    { "i", "5", "5", "a whole number, 1 to 5" },
    { "i", "6", NULL, "it must be at most 5" },
    { "i", "1.5", NULL, "it must be a whole number" },
    { "b", "YES", "true", "yes or no" },
    { "b", "n", "false", "yes or no" },
    { "b", "1", NULL, "it must be yes or no" },
    { "one", "1", "\"1\"", "one of these" },
    { "one", "two", "\"2\"", "one of these" },
    { "one", "3", "\"x\"", "one of these" },
    { "one", "4", NULL, "\"4\" is none of them: a number from 1 to 3, or a name" },
    { "one", "0", NULL, "\"0\" is none of them: a number from 1 to 3, or a name" },
    { "some", "be,1, b", "[\"b\",\"a\"]", "some of these, with commas between them, 1 to 2 of them" },
    { "some", "a,b,c", NULL, "it must be at most 2 of them, not 3" },
    { "some", ",", NULL, "it must be at least 1 of them, not 0" },
    { "some", "a,z", NULL, "\"z\" is none of them: a number from 1 to 3, or a name" },
};
/* clang-format on */

static enum err read_form(const char *text, struct arena *arena, struct form *ret,
                          struct buf *why)
{
    const struct json *root;

    CHECK_INT(json_parse(str_of(text), arena, &root, NULL), OK);
    return form_read(root, arena, ret, why);
}

static const struct form_field *field_of(const struct form *form, const char *name)
{
    size_t at = 0;

    while (at < form->count && !str_eq(form->fields[at].name, str_of(name)))
        at++;
    CHECK(at < form->count);
    return &form->fields[at];
}

TEST(lines_are_judged_by_their_field)
{
    struct buf json, why, kind;
    struct arena arena;
    struct form form;

    arena_init(&arena, 1 << 20);
    buf_init(&json, 1000);
    buf_init(&why, 1000);
    buf_init(&kind, 1000);
    CHECK_INT(read_form(schema, &arena, &form, &why), OK);
    for (size_t i = 0; i < COUNT(lines); i++) {
        const struct form_field *field = field_of(&form, lines[i].field);
        enum err err = form_judge(field, str_of(lines[i].line), &json, &why);

        form_put_kind(&kind, field);
        CHECK_INT(err, lines[i].json ? OK : ERR_INVALID);
        if (lines[i].json)
            CHECK_STR(buf_str(&json), str_of(lines[i].json));
        CHECK_STR(lines[i].json ? buf_str(&kind) : buf_str(&why), str_of(lines[i].kind));
        buf_clear(&json);
        buf_clear(&why);
        buf_clear(&kind);
    }
    buf_done(&kind);
    buf_done(&why);
    buf_done(&json);
    arena_done(&arena);
}

TEST(defaults_count_where_they_are_answers)
{
    struct arena arena;
    struct form form;
    struct buf why;

    arena_init(&arena, 1 << 20);
    buf_init(&why, 1000);
    CHECK_INT(read_form(schema, &arena, &form, &why), OK);
    CHECK(field_of(&form, "t")->is_required && !field_of(&form, "n")->is_required);
    CHECK(!field_of(&form, "t")->preset && !field_of(&form, "one")->preset);
    CHECK_STR(field_of(&form, "n")->preset->raw, S("3"));
    CHECK_STR(field_of(&form, "b")->preset->raw, S("false"));
    CHECK_STR(field_of(&form, "some")->preset->raw, S("[\"b\"]"));
    buf_done(&why);
    arena_done(&arena);
}

TEST(what_no_form_has_is_refused)
{
    static const char *const wrong[] = {
        "{}",
        "{\"properties\":[]}",
        "{\"properties\":{\"a\":1}}",
        "{\"properties\":{\"a\":{\"type\":\"object\"}}}",
        "{\"properties\":{\"a\":{\"type\":\"array\"}}}",
        "{\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}}",
        "{\"properties\":{\"a\":{\"type\":\"string\",\"enum\":[]}}}",
        "{\"properties\":{\"a\":{\"type\":\"string\",\"enum\":[1]}}}",
        "{\"properties\":{\"a\":{\"type\":\"string\",\"oneOf\":[{\"title\":\"x\"}]}}}",
    };

    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct form form = {};
        struct arena arena;
        struct buf why;

        arena_init(&arena, 1 << 20);
        buf_init(&why, 1000);
        CHECK_INT(read_form(wrong[i], &arena, &form, &why), ERR_INVALID);
        CHECK(why.len > 0);
        buf_done(&why);
        arena_done(&arena);
    }
}

TEST(an_address_is_shown_with_the_host_that_a_browser_goes_to)
{
    /* clang-format off */
    static const struct {
        const char *url, *shown;
    } good[] = {
        { "https://example.com/a?b#c", "  address  https://example.com/a?b#c\n  host     example.com\n" },
        { "HTTPS://a.b:1", "  address  HTTPS://a.b:1\n  host     a.b:1\n" },
        { "https://good.com\\@evil.com/", "  address  https://good.com\\@evil.com/\n  host     good.com\n" },
        { "https://good.com@evil.com/", "  address  https://good.com@evil.com/\n  host     evil.com\n"
          "  careful: what stands before @ is a name and not the host\n" },
        { "https://x.xn--a/", "  address  https://x.xn--a/\n  host     x.xn--a\n"
          "  careful: the host has letters that may look like others\n" },
        { "http://a/", "  address  http://a/\n  host     a\n"
          "  careful: http: what you write there can be read on the way\n" },
    };
    /* clang-format on */
    static const char *const bad[] = { "",
                                       "https://",
                                       "https:///x",
                                       "ftp://a/",
                                       "javascript:alert(1)",
                                       "https://a b/",
                                       "https://a/\n",
                                       "https://me@/" };
    struct buf out;

    buf_init(&out, 1000);
    for (size_t i = 0; i < COUNT(good); i++) {
        CHECK(page_is_address(str_of(good[i].url)));
        page_put(&out, str_of(good[i].url));
        CHECK_STR(buf_str(&out), str_of(good[i].shown));
        buf_clear(&out);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK(!page_is_address(str_of(bad[i])));
    buf_done(&out);
}
