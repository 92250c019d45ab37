/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "json/json.h"

enum { ROOM = 1 << 22 };

TEST(a_tree_holds_what_the_text_says)
{
    struct str text = S("{\"a\":[1,-2.50e+1,\"x\\ny\",null,true,false,[],{}],"
                        "\"b\\u0041\":\"\",\"\":{\"deep\":{\"er\":[[\"leaf\"]]}}}");
    static const struct {
        enum json_type type;
        struct str text;
    } items[] = {
        { JSON_NUMBER, S("1") },    { JSON_NUMBER, S("-2.50e+1") },
        { JSON_STRING, S("x\ny") }, { JSON_NULL, S("") },
        { JSON_TRUE, S("") },       { JSON_FALSE, S("") },
        { JSON_ARRAY, S("") },      { JSON_OBJECT, S("") },
    };
    const struct json *root, *at;
    struct arena arena;

    arena_init(&arena, ROOM);
    CHECK_INT(json_parse(text, &arena, &root, NULL), OK);
    CHECK_INT(root->type, JSON_OBJECT);
    CHECK_INT(root->count, 3);
    CHECK_INT(json_find(root, S("a"))->count, 8);
    at = json_find(root, S("a"))->first;
    FOR_EACH_CASE(c, items) {
        CHECK_INT(at->type, c->type);
        CHECK_STR(at->text, c->text);
        at = at->next;
    }
    CHECK(at == NULL);
    CHECK_STR(json_find(root, S("bA"))->text, S(""));
    CHECK_STR(root->first->next->key, S("bA"));
    at = json_find(json_find(json_find(root, S("")), S("deep")), S("er"));
    CHECK_STR(at->first->first->text, S("leaf"));
    CHECK(json_find(root, S("b")) == NULL);
    CHECK(json_find(at, S("a")) == NULL);
    CHECK(json_find(NULL, S("a")) == NULL);
    arena_done(&arena);
}

TEST(a_tree_knows_how_its_values_stood)
{
    struct str text = S(" { \"a\\u0062\" : [ 1.50 , \"x\\n\",{ } ,true], \"b\":null } ");
    const struct json *root, *list;
    struct arena arena;

    arena_init(&arena, ROOM);
    CHECK_INT(json_parse(text, &arena, &root, NULL), OK);
    CHECK_STR(root->raw, str_slice(text, 1, text.len - 1));
    list = root->first;
    CHECK_STR(list->key, S("ab"));
    CHECK_STR(list->raw, S("[ 1.50 , \"x\\n\",{ } ,true]"));
    CHECK_STR(list->first->raw, S("1.50"));
    CHECK_STR(list->first->next->raw, S("\"x\\n\""));
    CHECK_STR(list->first->next->next->raw, S("{ }"));
    CHECK_STR(list->first->next->next->next->raw, S("true"));
    CHECK_STR(list->next->raw, S("null"));
    arena_done(&arena);
}

TEST(only_a_string_has_a_text_to_show)
{
    const struct json *root;
    struct arena arena;

    arena_init(&arena, ROOM);
    CHECK_INT(json_parse(S("{\"a\":\"x\",\"b\":5}"), &arena, &root, NULL), OK);
    CHECK_STR(json_text(json_find(root, S("a"))), S("x"));
    CHECK_STR(json_text(json_find(root, S("b"))), S(""));
    CHECK_STR(json_text(json_find(root, S("c"))), S(""));
    arena_done(&arena);
}

TEST(any_value_may_be_the_root)
{
    static const struct {
        struct str text;
        enum json_type type;
    } cases[] = {
        { S(" 7 "), JSON_NUMBER }, { S("\"s\""), JSON_STRING }, { S("null"), JSON_NULL },
        { S("[]"), JSON_ARRAY },   { S("{ }\n"), JSON_OBJECT },
    };

    FOR_EACH_CASE(c, cases) {
        const struct json *root;
        struct arena arena;

        arena_init(&arena, ROOM);
        CHECK_INT(json_parse(c->text, &arena, &root, NULL), OK);
        CHECK_INT(root->type, c->type);
        CHECK(root->next == NULL);
        arena_done(&arena);
    }
}

TEST(what_the_scanner_refuses_is_no_tree)
{
    static const struct {
        struct str text;
        enum err err;
        size_t at;
    } cases[] = {
        { S(""), ERR_INVALID, 0 },           { S("{\"a\":1"), ERR_INVALID, 6 },
        { S("[1] 2"), ERR_INVALID, 4 },      { S("[\"\xff\"]"), ERR_UTF8, 2 },
        { S("{\"a\":01}"), ERR_INVALID, 6 },
    };

    FOR_EACH_CASE(c, cases) {
        const struct json *root = NULL;
        struct json_problem problem = {};
        struct arena arena;

        arena_init(&arena, ROOM);
        CHECK_INT(json_parse(c->text, &arena, &root, &problem), c->err);
        CHECK_INT(problem.at, c->at);
        CHECK(problem.what != NULL);
        CHECK(root == NULL);
        arena_done(&arena);
    }
}

TEST(a_name_given_twice_in_one_object_is_refused)
{
    static const struct {
        struct str text;
        enum err err;
        struct str field;
    } cases[] = {
        { S("{\"a\":1,\"a\":2}"), ERR_INVALID, S("a") },
        { S("{\"a\":1,\"\\u0061\":2}"), ERR_INVALID, S("a") },
        { S("{\"\":1,\"\":2}"), ERR_INVALID, S("") },
        { S("[{\"x\":{\"b\":1,\"c\":2,\"b\":3}}]"), ERR_INVALID, S("b") },
        { S("{\"a\":{\"a\":{\"a\":1}}}"), OK, S("") },
        { S("[{\"a\":1},{\"a\":1}]"), OK, S("") },
        { S("{\"a\":1,\"A\":2,\"a \":3,\"a\\u0000\":4}"), OK, S("") },
        { S("{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,"
            "\"c\":10}"),
          ERR_INVALID, S("c") },
        { S("{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,"
            "\"j\":10}"),
          OK, S("") },
    };

    FOR_EACH_CASE(c, cases) {
        struct json_problem problem = {};
        const struct json *root;
        struct arena arena;

        arena_init(&arena, ROOM);
        CHECK_INT(json_parse(c->text, &arena, &root, &problem), c->err);
        CHECK_STR(problem.field, c->field);
        arena_done(&arena);
    }
}

TEST(names_are_compared_in_large_objects_without_taking_forever)
{
    struct arena arena;
    const struct json *root;
    struct buf text;

    buf_init(&text, 1 << 24);
    buf_putc(&text, '{');
    for (unsigned i = 0; i < 100'000; i++)
        buf_putf(&text, "\"%u\":0,", i);
    buf_put(&text, S("\"x\":0}"));
    arena_init(&arena, 1 << 28);
    CHECK_INT(json_parse(buf_str(&text), &arena, &root, NULL), OK);
    CHECK_INT(root->count, 100'001);
    text.len -= 6;
    buf_put(&text, S("\"77777\":0}"));
    CHECK_INT(json_parse(buf_str(&text), &arena, &root, NULL), ERR_INVALID);
    arena_done(&arena);
    buf_done(&text);
}

TEST(a_tree_is_at_most_128_deep)
{
    for (size_t depth = 127; depth <= 129; depth++) {
        const struct json *root;
        struct arena arena;
        struct buf text;

        buf_init(&text, 4096);
        for (size_t i = 0; i < depth; i++)
            buf_put(&text, i % 2 ? S("{\"a\":") : S("["));
        buf_put(&text, S("null"));
        for (size_t i = depth; i-- > 0;)
            buf_putc(&text, i % 2 ? '}' : ']');
        arena_init(&arena, ROOM);
        CHECK_INT(json_parse(buf_str(&text), &arena, &root, NULL),
                  depth <= 128 ? OK : ERR_TOO_DEEP);
        arena_done(&arena);
        buf_done(&text);
    }
}

TEST(a_tree_too_large_for_its_arena_is_refused_wherever_it_runs_out)
{
    struct str text = S("{\"a\\n\":[\"\\t\",1,true],\"b\":{},\"c\":0,\"d\":0,\"e\":0,"
                        "\"f\":0,\"g\":0,\"h\":0,\"i\":0,\"j\":0}");
    enum err err = ERR_TOO_BIG;
    size_t room = 0;

    for (; err == ERR_TOO_BIG && room < ROOM; room += 16) {
        struct json_problem problem = {};
        const struct json *root;
        struct arena arena;

        arena_init(&arena, room);
        err = json_parse(text, &arena, &root, &problem);
        if (err)
            CHECK_STR(str_of(problem.what), S("too large"));
        arena_done(&arena);
    }
    CHECK_INT(err, OK);
    CHECK(room > 500);
}

struct sample {
    struct str name;
    bool is_on;
    uint64_t count;
    struct str_list tags;
    const struct json *extra;
};

#define F(member, need) JSON_FIELD(struct sample, member, need)
static const struct json_field sample_fields[] = {
    F(name, JSON_REQUIRED), F(is_on, JSON_OPTIONAL), F(count, JSON_OPTIONAL),
    F(tags, JSON_OPTIONAL), F(extra, JSON_OPTIONAL),
};

static enum err read_sample(struct str text, struct arena *arena, struct sample *ret,
                            struct json_problem *problem)
{
    const struct json *root;
    enum err err = json_parse(text, arena, &root, problem);

    if (err)
        return err;
    return json_read(root, sample_fields,
                     sizeof(sample_fields) / sizeof(sample_fields[0]), arena, ret,
                     problem);
}

TEST(a_struct_is_filled_by_its_table)
{
    struct sample got = { .count = 7 };
    struct json_problem problem = {};
    struct arena arena;

    arena_init(&arena, ROOM);
    CHECK_INT(read_sample(S("{\"name\":\"n\",\"is_on\":true,\"tags\":[\"a\",\"\\u0062\"],"
                            "\"extra\":{\"x\":[1]}}"),
                          &arena, &got, &problem),
              OK);
    CHECK_STR(got.name, S("n"));
    CHECK(got.is_on);
    CHECK_INT(got.count, 7);
    CHECK_INT(got.tags.count, 2);
    if (got.tags.count == 2) {
        CHECK_STR(got.tags.items[0], S("a"));
        CHECK_STR(got.tags.items[1], S("b"));
    }
    CHECK_INT(json_find(got.extra, S("x"))->count, 1);
    CHECK_INT(read_sample(S("{\"name\":\"\",\"is_on\":false,\"tags\":[],"
                            "\"count\":18446744073709551615,\"extra\":null}"),
                          &arena, &got, &problem),
              OK);
    CHECK(!got.is_on);
    CHECK(got.count == UINT64_MAX);
    CHECK_INT(got.tags.count, 0);
    CHECK(got.extra && got.extra->type == JSON_NULL);
    arena_done(&arena);
}

TEST(what_the_table_does_not_allow_is_named)
{
    static const struct {
        struct str text, field;
    } cases[] = {
        { S("[]"), S("") },
        { S("7"), S("") },
        { S("{}"), S("name") },
        { S("{\"name\":1}"), S("name") },
        { S("{\"name\":null}"), S("name") },
        { S("{\"name\":\"n\",\"Name\":\"n\"}"), S("Name") },
        { S("{\"name\":\"n\",\"unknown\":1}"), S("unknown") },
        { S("{\"name\":\"n\",\"is_on\":1}"), S("is_on") },
        { S("{\"name\":\"n\",\"is_on\":\"true\"}"), S("is_on") },
        { S("{\"name\":\"n\",\"count\":-1}"), S("count") },
        { S("{\"name\":\"n\",\"count\":1.0}"), S("count") },
        { S("{\"name\":\"n\",\"count\":1e3}"), S("count") },
        { S("{\"name\":\"n\",\"count\":\"1\"}"), S("count") },
        { S("{\"name\":\"n\",\"count\":18446744073709551616}"), S("count") },
        { S("{\"name\":\"n\",\"tags\":\"a\"}"), S("tags") },
        { S("{\"name\":\"n\",\"tags\":[1]}"), S("tags") },
        { S("{\"name\":\"n\",\"tags\":[\"a\",null]}"), S("tags") },
        { S("{\"name\":\"n\",\"tags\":{}}"), S("tags") },
    };

    FOR_EACH_CASE(c, cases) {
        struct json_problem problem = {};
        struct sample got = {};
        struct arena arena;

        arena_init(&arena, ROOM);
        CHECK_INT(read_sample(c->text, &arena, &got, &problem), ERR_INVALID);
        CHECK_STR(problem.field, c->field);
        CHECK(problem.what && *problem.what);
        CHECK_INT(read_sample(c->text, &arena, &got, NULL), ERR_INVALID);
        arena_done(&arena);
    }
}
