/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/redact.h"
#include "guard.h"
#include "harness.h"

#define KEY S("key")

static struct audit_redactor *redactor_of(const struct str *paths, size_t count)
{
    struct audit_redactor *redactor = NULL;
    const char *why = "";
    struct str bad;

    CHECK_INT(
        audit_redactor_new((struct str_list){ paths, count }, KEY, &redactor, &bad, &why),
        OK);
    CHECK_STR(str_of(why), S(""));
    return redactor;
}

static void check_redacted(const struct audit_redactor *redactor, struct str body,
                           struct str want)
{
    struct buf out;

    buf_init(&out, 1000000);
    buf_put(&out, S("\n")); /* what is there already stays */
    audit_redact(redactor, body, &out);
    CHECK_INT(out.ptr[0], '\n');
    CHECK_STR(str_slice(buf_str(&out), 1, out.len), want);
    buf_done(&out);
}

TEST(without_paths_a_body_comes_in_one_line)
{
    static const struct {
        struct str body, want;
    } cases[] = {
        { {}, S("") },
        { S("{\"a\":1}"), S("{\"a\":1}") },
        { S(" \r\n{\"a\"\t:\n1 }\n"), S("{\"a\" : 1 }") },
        { S("[1.0e5 , \"\\n\"]"), S("[1.0e5 , \"\\n\"]") },
        { S(" \"x\" "), S("\"x\"") },
        { S("null"), S("null") },
        /* no JSON */
        { S(""), S("\"\"") },
        { S("hello"), S("\"hello\"") },
        { S("{\"a\":"), S("\"{\\\"a\\\":\"") },
        { S("{} {}"), S("\"{} {}\"") },
        { S("a\nb\0c"), S("\"a\\nb\\u0000c\"") },
        { S("{\"a\":\"\xff\"}"), S("\"{\\\"a\\\":\\\"\xef\xbf\xbd\\\"}\"") },
        { S("{\"a\":\"\n\"}"), S("\"{\\\"a\\\":\\\"\\n\\\"}\"") },
    };
    struct audit_redactor *redactor = redactor_of(NULL, 0);

    CHECK(audit_redactor_is_empty(redactor));
    FOR_EACH_CASE(c, cases)
        check_redacted(redactor, c->body, c->want);
    audit_redactor_free(redactor);
}

/* HMAC-SHA-256 under "key" of: s3cret, 12, {"x": [1,2]}, tab TAB */
#define SECRET \
    "\"hmac-sha256:0574b240beed9f974397fa7ab464d416a1f485e3bb9350ac65d644ad98a06dbd\""
#define TWELVE \
    "\"hmac-sha256:9dbd4edd16f0ff60d8421dda7a074e4cb0264d29e6fbb51d63d79498fd47c59e\""
#define OBJECT \
    "\"hmac-sha256:c2763db880018e77ed4a23b969f896ebb927d90c5d76da88e048e8bd7784a1df\""
#define TABBED \
    "\"hmac-sha256:ccefef044130c4f0307f24c7787187b2e8b8aec9cb9fbd3f6f275c6eca98f640\""

/* clang-format off */
static const struct {
    struct str path, body, want;
} redactions[] = {
    { S("a"), S("{\"a\":\"s3cret\",\"b\":1}"), S("{\"a\":" SECRET ",\"b\":1}") },
    { S("a"), S("{\"b\":{\"a\":1},\"c\":[{\"a\":1}]}"), S("{\"b\":{\"a\":1},\"c\":[{\"a\":1}]}") },
    { S("a"), S("{ \"a\" :\n12\n}"), S("{ \"a\" : " TWELVE " }") },
    { S("a"), S("{\"a\":12,\"a\":12}"), S("{\"a\":" TWELVE ",\"a\":" TWELVE "}") },
    { S("a"), S("{\"\\u0061\":\"s3cr\\u0065t\"}"), S("{\"\\u0061\":" SECRET "}") },
    { S("a"), S("{\"a\":\"tab\\t\"}"), S("{\"a\":" TABBED "}") },
    { S("a"), S("{\"a\":{\"x\": [1,2]}}"), S("{\"a\":" OBJECT "}") },
    { S("a"), S("\"a\""), S("\"a\"") },
    { S("a"), S("[1]"), S("[1]") },
    { S("a.b"), S("{\"a\":{\"b\":12,\"c\":12},\"b\":12}"), S("{\"a\":{\"b\":" TWELVE ",\"c\":12},\"b\":12}") },
    { S("a.b"), S("{\"a\":[{\"b\":12}]}"), S("{\"a\":[{\"b\":12}]}") },
    { S("a.*.b"), S("{\"a\":[{\"b\":12},{\"b\":\"s3cret\"},[12]]}"), S("{\"a\":[{\"b\":" TWELVE "},{\"b\":" SECRET "},[12]]}") },
    { S("a.*"), S("{\"a\":[12,\"s3cret\"],\"b\":12}"), S("{\"a\":[" TWELVE "," SECRET "],\"b\":12}") },
    { S("*"), S("{\"a\":12,\"b\":\"s3cret\"}"), S("{\"a\":" TWELVE ",\"b\":" SECRET "}") },
    { S("*.*"), S("[[12],12,{\"x\":12}]"), S("[[" TWELVE "],12,{\"x\":" TWELVE "}]") },
    { S("**.a"), S("{\"a\":12,\"b\":{\"c\":[{\"a\":12},{\"d\":{\"a\":12}}]}}"), S("{\"a\":" TWELVE ",\"b\":{\"c\":[{\"a\":" TWELVE "},{\"d\":{\"a\":" TWELVE "}}]}}") },
    { S("x.**.a"), S("{\"a\":12,\"x\":{\"a\":12,\"y\":{\"z\":[{\"a\":12}]}}}"), S("{\"a\":12,\"x\":{\"a\":" TWELVE ",\"y\":{\"z\":[{\"a\":" TWELVE "}]}}}") },
    { S("**.a.**.b"), S("{\"a\":{\"c\":{\"a\":{\"b\":12}}},\"b\":12}"), S("{\"a\":{\"c\":{\"a\":{\"b\":" TWELVE "}}},\"b\":12}") },
    { S("a.**"), S("{\"a\":12,\"b\":12}"), S("{\"a\":" TWELVE ",\"b\":12}") },
    { S("**"), S("12"), S(TWELVE) },
    { S("**"), S("{\"x\": [1,2]}"), S(OBJECT) },
    { S("**.**.a"), S("{\"a\":12}"), S("{\"a\":" TWELVE "}") },
    { S("\"a.b\""), S("{\"a.b\":12,\"a\":{\"b\":12}}"), S("{\"a.b\":" TWELVE ",\"a\":{\"b\":12}}") },
    { S("x.\"a\\\"*\".y"), S("{\"x\":{\"a\\\"*\":{\"y\":12}}}"), S("{\"x\":{\"a\\\"*\":{\"y\":" TWELVE "}}}") },
    { S("\"*\""), S("{\"*\":12,\"a\":12}"), S("{\"*\":" TWELVE ",\"a\":12}") },
    { S("\"\""), S("{\"\":12,\"a\":12}"), S("{\"\":" TWELVE ",\"a\":12}") },
    { S("a"), S("{\"b\":\"]}\\\"{[\",\"c\":[[],{},\"\"],\"a\":12}"), S("{\"b\":\"]}\\\"{[\",\"c\":[[],{},\"\"],\"a\":" TWELVE "}") },
    { S("a.a"), S("{\"a\":{},\"b\":[],\"a\":{\"a\":12}}"), S("{\"a\":{},\"b\":[],\"a\":{\"a\":" TWELVE "}}") },
};
/* clang-format on */

TEST(what_a_path_names_is_replaced)
{
    struct guard guard;

    guard_init(&guard);
    FOR_EACH_CASE(c, redactions) {
        struct audit_redactor *redactor = redactor_of(&c->path, 1);
        char *end = guard_last(&guard, c->body.len);

        CHECK(!audit_redactor_is_empty(redactor));
        memcpy(end, c->body.ptr, c->body.len);
        check_redacted(redactor, (struct str){ end, c->body.len }, c->want);
        audit_redactor_free(redactor);
    }
    guard_done(&guard);
}

TEST(several_paths_hold_at_once)
{
    static const struct str paths[] = { S("a"), S("b.c"), S("b.*.d"), S("b.c") };
    struct audit_redactor *redactor = redactor_of(paths, 4);

    check_redacted(redactor,
                   S("{\"a\":12,\"b\":{\"c\":12,\"e\":{\"d\":12,\"f\":12}},\"c\":12}"),
                   S("{\"a\":" TWELVE ",\"b\":{\"c\":" TWELVE ",\"e\":{\"d\":" TWELVE
                     ",\"f\":12}},\"c\":12}"));
    audit_redactor_free(redactor);
}

TEST(of_a_broken_text_nothing_is_kept_where_something_must_be_redacted)
{
    struct str path = S("a");
    struct audit_redactor *redactor = redactor_of(&path, 1);

    check_redacted(redactor, S("{\"a\":\"s3cret\""),
                   S("\"13 bytes that are no JSON: not recorded, because fields must be "
                     "redacted\""));
    audit_redactor_free(redactor);
}

/* So many brackets, opened and closed. */
static void write_deep(struct buf *out, size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        buf_putc(out, '[');
    for (size_t i = 0; i < depth; i++)
        buf_putc(out, ']');
}

TEST(depth_costs_nothing_and_has_a_limit)
{
    struct str path = S("**.a");
    struct audit_redactor *all = redactor_of(&path, 1);
    struct audit_redactor *none = redactor_of(NULL, 0);
    struct buf body, out;

    buf_init(&body, 10000);
    buf_init(&out, 10000);
    write_deep(&body, JSON_MAX_DEPTH - 1);
    check_redacted(all, buf_str(&body), buf_str(&body));
    check_redacted(none, buf_str(&body), buf_str(&body));
    buf_clear(&body);
    write_deep(&body, JSON_MAX_DEPTH);
    audit_redact(none, buf_str(&body), &out);
    CHECK_INT(out.ptr[0], '"');
    buf_done(&body);
    buf_done(&out);
    audit_redactor_free(all);
    audit_redactor_free(none);
}

TEST(a_path_that_means_nothing_is_refused)
{
    static const struct {
        struct str path, why;
    } cases[] = {
        { S(""), S("it is empty") },
        { S("."), S("a name is empty") },
        { S("a."), S("a name is empty") },
        { S("a..b"), S("a name is empty") },
        { S("a*"), S("a name with * or \" in it must stand in quotes") },
        { S("***"), S("a name with * or \" in it must stand in quotes") },
        { S("a\"b\""), S("a name with * or \" in it must stand in quotes") },
        { S("\"a"), S("what begins with a quote must be a string of JSON") },
        { S("a.\"b\"c"), S("a dot is missing behind the quotes") },
        { S("\"a\"."), S("a name is empty") },
        { S("\xff"), S("it is not UTF-8") },
    };

    FOR_EACH_CASE(c, cases) {
        struct str paths[] = { S("fine"), c->path, S("also.fine") };
        struct audit_redactor *redactor = NULL;
        const char *why = "";
        struct str bad = {};

        CHECK_INT(
            audit_redactor_new((struct str_list){ paths, 3 }, KEY, &redactor, &bad, &why),
            ERR_INVALID);
        CHECK_STR(bad, c->path);
        CHECK_STR(str_of(why), c->why);
        CHECK(!redactor);
    }
}

static void check_refused(struct str_list paths, struct str why)
{
    struct audit_redactor *redactor = NULL;
    const char *got = "";
    struct str bad;

    CHECK_INT(audit_redactor_new(paths, KEY, &redactor, &bad, &got), ERR_INVALID);
    CHECK_STR(str_of(got), why);
}

TEST(paths_have_limits)
{
    char text[AUDIT_PATH_BYTES + 1];
    struct str path = { text, sizeof(text) };
    struct str many[AUDIT_MAX_PATHS + 1];

    memset(text, 'a', sizeof(text));
    check_refused((struct str_list){ &path, 1 }, S("it is too long"));
    path.len = AUDIT_PATH_BYTES;
    audit_redactor_free(redactor_of(&path, 1));
    for (size_t i = 1; i < sizeof(text); i += 2)
        text[i] = '.';
    path.len = 2 * AUDIT_PATH_STEPS - 1;
    audit_redactor_free(redactor_of(&path, 1));
    path.len += 2;
    check_refused((struct str_list){ &path, 1 }, S("it has too many steps"));
    for (size_t i = 0; i <= AUDIT_MAX_PATHS; i++)
        many[i] = S("a");
    check_refused((struct str_list){ many, AUDIT_MAX_PATHS + 1 },
                  S("there are too many"));
}
